// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Catalogue of a processor generation: its box types, events, names of filter
/// values and metrics, compiled in from the folder events/.  The manual is
/// Intel's uncore performance monitoring manual of the generation; §2.3 is a
/// section of it.
///
/// A box is a part of the uncore with its own counters.  A filter field
/// restricts the events of a box, for example to requests with one opcode.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/export.hpp>

namespace uncore {

class topology;

/// A box type.
struct box_info {
	std::string_view name;	  ///< "cbox"
	std::string_view title;	  ///< "CBo"
	std::string_view section; ///< of the manual, "§2.3"
	unsigned counters = 0;	  ///< number of a box's general counters
};

/// A field of a box type's configuration, at the position that the hardware
/// documents.  A driver may lack the field or publish another position
/// (pmu_info::formats).
struct field_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "filter_opc"
	std::string_view bits; ///< in the syntax of sysfs: "config1:52-60"
};

/// A documented event of a box type.
struct event_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "llc_lookup.any"
	/// The event's fields, in the syntax of sysfs:
	/// "event=0x34,umask=0x11,filter_state=?".
	std::string_view terms;
	std::string_view description;
	std::string_view category;
	std::string_view section; ///< of the manual, "§2.3.6"
	/// Factor from a count to a value in @c unit, if the unit is not a
	/// plain count: scale 64, unit "Bytes".
	double scale = 1;
	std::string_view unit;
	/// Members of perf_event_attr.
	uint64_t config = 0, config1 = 0, config2 = 0;
	/// Counters that can count the event, bit n for counter n; 0 for an
	/// event of a fixed or free-running counter.
	uint32_t counters = 0;
	/// Largest number of counts in a cycle of the box's clock.
	unsigned max_increment = 1;
	/// Filter fields that the caller must give a value ("filter_opc").
	std::span<const std::string_view> parameters;
};

/// A name for a value of a filter field: filter_opc=drd is 0x182.
struct value_info {
	std::string_view box, field, name, description, section;
	/// For a QPI opcode, the name of the value of field match_mc (message
	/// class) that the opcode belongs to; otherwise empty.
	std::string_view message_class;
	uint64_t value = 0;
	/// The field is a set of flags, so values can be combined:
	/// filter_state=i+s matches both states.
	bool combines = false;
};

/// A documented metric.
struct metric_info {
	std::string_view name; ///< "mem_bw_reads"
	std::string_view box;  ///< box type of the metric's events
	/// Formula in the syntax of perf's metrics.  Names of PMUs have no
	/// prefix, so the formula fits any driver: "imc@cas_count.rd@ * 64".
	std::string_view expression;
	std::string_view description;
	std::string_view note; ///< difference from the manual, and the reason
	std::string_view section; ///< of the manual
	double scale = 1; ///< factor from the expression's value to @c unit
	std::string_view unit; ///< "MB/s", "%", "cycles", ...
	std::span<const std::string_view> groups; ///< "memory", "llc", ...
	/// The events must be counted at the same time, in one group.
	bool one_group = false;
	/// Lowest and highest possible value, in @c unit; high is infinity if
	/// it is not known.
	double low = 0, high = 0;
	/// Formula with terms of @c expression, or empty.  If it is empty, the
	/// machine's value is computed from the counts of all packages
	/// together.  Otherwise it is the mean of the packages' values,
	/// weighted by this formula: for expressions with a factor that differs
	/// between packages, such as a clock.
	std::string_view weight = {};
};

/// The events, values and metrics of one generation.  A catalogue exists as
/// long as the program.  Box types and events are sorted by name.
class UNCORE_EXPORT catalogue {
public:
	/// Find the catalogue of a generation; nullptr if there is none.
	/// @param generation "hswep".
	static const catalogue *find(std::string_view generation);
	/// Names of all generations with a catalogue: "hswep", then the others
	/// from the newest to the oldest.
	static std::span<const std::string_view> generations();
	/// Catalogue for use without a machine: that of Haswell-EP.
	static const catalogue &standard();
	/// Catalogue of the machine's generation; standard() if the library has
	/// none for its processor.
	static const catalogue &of(const topology &machine);

	std::string_view generation() const { return generation_; }
	/// Name of the generation for users: "Haswell-EP/EX".
	std::string_view title() const { return title_; }
	std::span<const box_info> boxes() const { return boxes_; }
	std::span<const field_info> fields() const { return fields_; }
	std::span<const event_info> events() const { return events_; }
	std::span<const value_info> values() const { return values_; }
	std::span<const metric_info> metrics() const { return metrics_; }

	/// Look up an entry by name, in upper or lower case; nullptr if there
	/// is no such entry.
	const box_info *box(std::string_view name) const;
	const field_info *field(std::string_view box,
				std::string_view name) const;
	const event_info *event(std::string_view box,
				std::string_view name) const;
	const value_info *value(std::string_view box, std::string_view field,
				std::string_view name) const;
	const metric_info *metric(std::string_view name) const;
	std::vector<const metric_info *>
	metrics_of_group(std::string_view group) const;

	/// Return up to @p most names that are similar to a mistyped name, the
	/// most similar first.
	std::vector<std::string_view> nearest_events(std::string_view box,
						     std::string_view name,
						     unsigned most = 3) const;
	std::vector<std::string_view> nearest_metrics(std::string_view name,
						      unsigned most = 3) const;

private:
	friend struct catalogue_tables;

	std::string_view generation_, title_;
	std::span<const box_info> boxes_;
	std::span<const field_info> fields_;
	std::span<const event_info> events_;
	std::span<const value_info> values_;
	std::span<const metric_info> metrics_;
};

} // namespace uncore

// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The events, names of filter values and metrics of a processor generation,
/// compiled in from the event catalogue (events/).
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
	unsigned counters = 0;	  ///< general counters of a box
};

/// The bits of a field in the configuration of a box type, as the hardware has
/// them.  A driver may publish fewer fields, or other bits for a field.
struct field_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "filter_opc"
	std::string_view bits; ///< as in sysfs: "config1:52-60"
};

/// A documented event of a box type.
struct event_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "llc_lookup.any"
	/// Values of fields, as in sysfs: "event=0x34,umask=0x11,filter_state=?".
	std::string_view terms;
	std::string_view description;
	std::string_view category;
	std::string_view section; ///< of the manual, "§2.3.6"
	/// A count times scale is in this unit, as 64 and "Bytes"; 1 and "" for
	/// a plain count.
	double scale = 1;
	std::string_view unit;
	/// The members of perf_event_attr.
	uint64_t config = 0, config1 = 0, config2 = 0;
	/// Counters that can count the event, bit n for counter n; 0 for an
	/// event of a fixed or free-running counter.
	uint32_t counters = 0;
	/// The largest increment of the count in a cycle.
	unsigned max_increment = 1;
	/// Filter fields that the event needs ("filter_opc").
	std::span<const std::string_view> parameters;
};

/// A name for a value of a filter field: filter_opc=drd is 0x182.
struct value_info {
	std::string_view box, field, name, description, section;
	/// Name of the match_mc value (message class) to which a QPI opcode
	/// belongs, or empty.
	std::string_view message_class;
	uint64_t value = 0;
	/// The values of the field are flags: filter_state=i+s matches either
	/// state.
	bool combines = false;
};

/// A documented metric.
struct metric_info {
	std::string_view name; ///< "mem_bw_reads"
	std::string_view box;  ///< box type whose events it uses
	/// In the syntax of perf's metrics.  PMUs have no prefix, so that the
	/// expression is valid for any prefix: "imc@cas_count.rd@ * 64".
	std::string_view expression;
	std::string_view description;
	std::string_view note; ///< difference from the manual, or its reason
	std::string_view section;
	double scale = 1;
	std::string_view unit; ///< "MB/s", "%", "cycles", ...
	std::span<const std::string_view> groups; ///< "memory", "llc", ...
	/// The metric's events must be counted at the same time, in one group.
	bool one_group = false;
	/// The lowest and the highest possible value, in the metric's unit;
	/// infinity if the highest value is not known.
	double low = 0, high = 0;
	/// For metrics with a factor that differs between packages, such as a
	/// clock: the machine's value is the mean of the packages' values with
	/// this weight.  An expression of the terms of @expression; empty if the
	/// machine's value follows from sums over all packages.
	std::string_view weight = {};
};

/// The events, values and metrics of a generation, sorted by names of boxes and
/// events.  A catalogue exists as long as the program runs.
class UNCORE_EXPORT catalogue {
public:
	/// @param generation "hswep"
	/// @return nullptr for an unknown generation
	static const catalogue *find(std::string_view generation);
	/// The generations that find() knows, first the generation of
	/// standard(): "hswep", ...
	static std::span<const std::string_view> generations();
	/// The catalogue to use without a machine: Haswell-EP's.
	static const catalogue &standard();
	/// The catalogue of the machine's generation; standard() if there is no
	/// catalogue for its processor.
	static const catalogue &of(const topology &machine);

	std::string_view generation() const { return generation_; }
	/// Name of the generation for texts: "Haswell-EP/EX".
	std::string_view title() const { return title_; }
	std::span<const box_info> boxes() const { return boxes_; }
	std::span<const field_info> fields() const { return fields_; }
	std::span<const event_info> events() const { return events_; }
	std::span<const value_info> values() const { return values_; }
	std::span<const metric_info> metrics() const { return metrics_; }

	/// Look up a name, in upper or lower case; nullptr if it is unknown.
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

	/// Find up to @p most names that are closest to a mistyped name, closest
	/// name first.
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

// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What can be counted: the events, names of filter values and metrics of a
/// processor generation, compiled in from the event catalogue (events/).
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

/// Where a field of a box type's configuration is in the hardware's terms; a
/// driver may publish less, or something else.
struct field_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "filter_opc"
	std::string_view bits; ///< as in sysfs: "config1:52-60"
};

/// A documented event of a box type.
struct event_info {
	std::string_view box;  ///< "cbox"
	std::string_view name; ///< "llc_lookup.any"
	/// By fields, as in sysfs: "event=0x34,umask=0x11,filter_state=?".
	std::string_view terms;
	std::string_view description;
	std::string_view category;
	std::string_view section; ///< of the manual, "§2.3.6"
	/// What one count is, when not a plain count: scale 64, unit "Bytes".
	double scale = 1;
	std::string_view unit;
	/// perf_event_attr's words.
	uint64_t config = 0, config1 = 0, config2 = 0;
	/// Counters that can count it, bit n for counter n; 0 for an event
	/// of a fixed or free-running counter.
	uint32_t counters = 0;
	/// The most it can grow in a cycle.
	unsigned max_increment = 1;
	/// Filter fields that it cannot do without ("filter_opc").
	std::span<const std::string_view> parameters;
};

/// A name for a value of a filter field: filter_opc=drd is 0x182.
struct value_info {
	std::string_view box, field, name, description, section;
	/// The name of match_mc's value that a QPI opcode belongs to, or empty.
	std::string_view message_class;
	uint64_t value = 0;
	/// A field of flags: filter_state=i+s asks for either.
	bool combines = false;
};

/// A documented metric.
struct metric_info {
	std::string_view name; ///< "mem_bw_reads"
	std::string_view box;  ///< box type whose events it is of
	/// In the syntax of perf's metrics; PMUs have no prefix, so that it
	/// goes with any: "imc@cas_count.rd@ * 64".
	std::string_view expression;
	std::string_view description;
	std::string_view note; ///< how it differs from the manual, or why
	std::string_view section;
	double scale = 1;
	std::string_view unit; ///< "MB/s", "%", "cycles", ...
	std::span<const std::string_view> groups; ///< "memory", "llc", ...
	/// Its events must be counted at the same time, in one group.
	bool one_group = false;
	/// The lowest and the highest possible value, in its unit; infinity
	/// where the highest is not known.
	double low = 0, high = 0;
	/// Where factors differ from package to package, as clocks do: the
	/// machine's value is the mean of the packages', weighted by this.  In
	/// terms of @expression; empty where sums over the machine will do.
	std::string_view weight = {};
};

/// One generation's events, values and metrics.  Lives as long as the program;
/// names of boxes and events are in order.
class UNCORE_EXPORT catalogue {
public:
	/// @param generation "hswep"; nullptr is returned for an unknown one.
	static const catalogue *find(std::string_view generation);
	/// Those that find() knows, the newest knowledge first: "hswep", ...
	static std::span<const std::string_view> generations();
	/// Where no machine says which one: Haswell-EP's.
	static const catalogue &standard();
	/// The machine's; standard() where there is none for its processor.
	static const catalogue &of(const topology &machine);

	std::string_view generation() const { return generation_; }
	/// For people: "Haswell-EP/EX".
	std::string_view title() const { return title_; }
	std::span<const box_info> boxes() const { return boxes_; }
	std::span<const field_info> fields() const { return fields_; }
	std::span<const event_info> events() const { return events_; }
	std::span<const value_info> values() const { return values_; }
	std::span<const metric_info> metrics() const { return metrics_; }

	/// Names are looked up in any case; nullptr for none.
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

	/// Up to @p most names that are closest to a mistyped one, best first.
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

// SPDX-License-Identifier: GPL-2.0-or-later
// The series of uncore serve and the events that they count, from events/series.json.  A family
// is a set of series with the same meaning, such as the memory traffic of each channel.
// If a box cannot count all events at once, events earlier in the file are preferred
// (exporter/choice.hpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace cli {

struct label {
	std::string_view name, value;
};

/// An event whose count is added to a sample of a family.
struct counted_event {
	/// Name without the box type: "cas_count.rd".
	std::string_view event;
	std::vector<label> labels;
	/// Value of one count in the family's unit.
	double factor = 1;
	/// A more informative event or set.  This event is counted only if the
	/// machine does not count that event or set.
	std::string_view instead_of = {};
	/// Name of a set: consecutive events with the same name are counted
	/// together or not at all.
	std::string_view set = {};
};

/// A family of counters.
struct series {
	std::string_view name; ///< without _total: "uncore_memory_bytes"
	std::string_view unit; ///< end of the name, or empty
	std::string_view help;
	std::string_view box; ///< box type, "imc"
	std::vector<counted_event> events;
	/// Whether to omit the family if the traffic of cgroups is counted with
	/// intel_uncore: its equal events do not share a counter, so the boxes
	/// have too few counters for both.
	bool gives_way = false;
	/// "ring" or "mesh", if only boxes on one of these are counted.
	std::string_view interconnect = {};
};

/// The label with the number of a box, such as "channel" of iMCs.
struct instance_label {
	std::string_view box, name;
	/// Samples always have the label; else only with --per-box, and a sample
	/// is the sum of a socket's boxes.
	bool always = false;
};

std::span<const series> all_series();
/// Return the label of a box type; nullptr if a socket has a single box of the
/// type.
const instance_label *instance_label_of(std::string_view box);

} // namespace cli

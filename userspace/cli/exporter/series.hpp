// SPDX-License-Identifier: GPL-2.0-or-later
// Events that uncore serve counts, and their series, from series.json.  If a
// box cannot count all its events at once, the first events take precedence
// (exporter/choice.hpp).
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace cli {

struct label {
	std::string_view name, value;
};

/// An event that goes into a sample of a family.
struct counted_event {
	/// Name without the box type: "cas_count.rd".
	std::string_view event;
	std::vector<label> labels;
	/// Value of one count in the family's unit.
	double factor = 1;
	/// More informative event or set, which this event replaces if the
	/// machine does not count the former.
	std::string_view instead_of = {};
	/// Name of a set: neighbours with the same name are counted together or
	/// not at all.
	std::string_view set = {};
};

/// A family of counters.
struct series {
	std::string_view name; ///< without _total: "uncore_memory_bytes"
	std::string_view unit; ///< end of the name, or empty
	std::string_view help;
	std::string_view box; ///< box type, "imc"
	std::vector<counted_event> events;
	/// Whether the family is omitted if accounts of cgroups need the
	/// counters: under intel_uncore equal events do not share a counter.
	bool gives_way = false;
};

/// The label that distinguishes a box type's boxes.
struct instance_label {
	std::string_view box, name;
	bool always = false; ///< not only with --per-box
};

std::span<const series> all_series();
/// Return the label of a box type; nullptr if a socket has a single box of the
/// type.
const instance_label *instance_label_of(std::string_view box);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// Which events uncore serve counts, and as which series: series.json.  The
// first ones of a box come first where it cannot count all of them at once
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
	/// Without its box type: "cas_count.rd".
	std::string_view event;
	std::vector<label> labels;
	/// Of the family's unit, what one count is.
	double factor = 1;
	/// Only counted where that event or set is not, which says more.
	std::string_view instead_of = {};
	/// Neighbours with the same name are counted together or not at all.
	std::string_view set = {};
};

/// A family of counters.
struct series {
	std::string_view name; ///< without _total: "uncore_memory_bytes"
	std::string_view unit; ///< its end, or empty
	std::string_view help;
	std::string_view box; ///< box type, "imc"
	std::vector<counted_event> events;
	/// Left out where accounts of cgroups need the counters too: under
	/// intel_uncore equal events do not share a counter.
	bool gives_way = false;
};

/// The label that distinguishes a box type's boxes.
struct instance_label {
	std::string_view box, name;
	bool always = false; ///< not only with --per-box
};

std::span<const series> all_series();
/// nullptr for a box type of which a socket has one.
const instance_label *instance_label_of(std::string_view box);

} // namespace cli

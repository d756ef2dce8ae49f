// SPDX-License-Identifier: GPL-2.0-or-later
// Findings of uncore check, and their output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "arguments/subcommand.hpp"

namespace cli {

enum class verdict {
	good,
	note, ///< counting works, with a limitation
	bad,  ///< counting fails, or counts are wrong
};

/// A line of uncore check's output.
struct finding {
	const char *subject; ///< the thing that was checked
	verdict status;
	std::string text;
	std::string advice; ///< empty if there is nothing to do
};

bool none_bad(const std::vector<finding> &findings);

nlohmann::ordered_json to_json(const std::vector<finding> &findings);

/// Print findings.
/// @param summary last line of format::human.
void print(const std::vector<finding> &findings, format form,
	   const uncore::topology &machine, std::string_view summary);

} // namespace cli

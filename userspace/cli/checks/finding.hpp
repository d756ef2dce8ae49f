// SPDX-License-Identifier: GPL-2.0-or-later
// What uncore check finds out about a machine, and how it is printed.
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
	note, ///< works, and is good to know
	bad,  ///< nothing can be counted like this, or it is counted wrong
};

struct finding {
	const char *subject;
	verdict what;
	std::string text;
	std::string advice; ///< empty when nothing is to be done
};

bool none_bad(const std::vector<finding> &findings);

nlohmann::ordered_json to_json(const std::vector<finding> &findings);

/// @param last what it amounts to, for people.
void print(const std::vector<finding> &findings, format form,
	   const uncore::topology &machine, std::string_view last);

} // namespace cli

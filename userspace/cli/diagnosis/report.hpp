// SPDX-License-Identifier: GPL-2.0-or-later
// Output of uncore diagnose: the findings for people, as CSV and as JSON.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "diagnosis/rules.hpp"

namespace cli {

/// Number of findings that are shown.
inline constexpr size_t most_findings = 10;

struct diagnosis {
	double seconds = 0;
	unsigned rounds = 0; ///< each set of metrics was counted so often, or more
	std::vector<std::string> groups = {}; ///< counted groups of metrics
	std::vector<assessment> assessments = {};
	readings numbers = {};
	std::vector<absent_rule> absent = {};
	/// Rules that were counted without a value.
	std::vector<absent_rule> not_judged = {};

	/// The findings that are shown, the most important first.
	std::vector<const assessment *> findings() const;
	/// Other rules that were measured.
	std::vector<const assessment *> unremarkable() const;
};

/// Format a diagnosis for people, with lines of at most @p columns (0: any length).
/// @param out decides on colours; nullptr for none.
/// @param verbose also print rules without a finding, and rules that were left out.
std::string text_of(const diagnosis &result, bool verbose, size_t columns,
		    std::FILE *out);
std::string csv_of(const diagnosis &result);
/// Members of the document below its head.
nlohmann::ordered_json json_of(const diagnosis &result);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// Count events and metrics, and print the numbers as lines or as a table.
#pragma once

#include <functional>

#include "catalogue_tables.hpp"
#include "counting/count_report.hpp"
#include "counting/measurement.hpp"

namespace cli {

/// Layout for people.
struct count_layout {
	/// Scope of lines. A table has all scopes, and with scope::box a row
	/// for each box.
	uncore::scope scope = uncore::scope::machine;
	/// Group whose metrics are in a table; nullptr for lines.
	const uncore::metric_group *table = nullptr;
};

/// Open the counters that @p add adds, count as the options say, and print.
/// @param means means of several runs: the run is added to the means, which the
/// last run prints.
/// @return the exit status.
int count(const context &shared, count_options &options,
	  const count_layout &layout,
	  const std::function<uncore::result<void>(measurement &)> &add,
	  run_means *means = nullptr);

} // namespace cli

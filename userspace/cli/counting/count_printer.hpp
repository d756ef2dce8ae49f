// SPDX-License-Identifier: GPL-2.0-or-later
// Count events and metrics, and print the numbers as lines or as a table.
#pragma once

#include <functional>
#include <memory>

#include "catalogue_tables.hpp"
#include "counting/count_report.hpp"
#include "counting/measurement.hpp"

namespace cli {

/// Layout of the numbers for people: lines, or a table.
struct count_layout {
	/// Lines: a number for the machine, each socket, or each box.  A table
	/// has sockets and the machine; with scope::box all metrics are also
	/// shown for each box.
	uncore::scope scope = uncore::scope::machine;
	/// Group whose metrics are in a table; nullptr for lines.
	const uncore::metric_group *table = nullptr;
};

/// Make a report of numbers.  The arguments must outlive the report.
std::unique_ptr<report> make_report(measurement &counts,
				    const number_source &numbers,
				    const count_layout &layout);

/// Open the counters that @p add adds, count as the options say, and print.
/// @param means for one of several runs: add the numbers of this run to the means, and
/// print the means after the last run.  nullptr: print the numbers of this run.
/// @return the exit status.
int count(const context &shared, count_options &options,
	  const count_layout &layout,
	  const std::function<uncore::result<void>(measurement &)> &add,
	  run_means *means = nullptr);

} // namespace cli

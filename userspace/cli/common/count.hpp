// SPDX-License-Identifier: GPL-2.0-or-later
// The one way of stat and metric, from the command line to the last number:
// they differ in what is chosen, and in how people see it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/report.hpp"

namespace cli {

struct count_options {
	run_options run;
	format form = format::human;
	std::string output; ///< a file's path, empty for standard output
	std::string separator; ///< -x, empty for none
	unsigned timeout_ms = 0;
	bool append = false, metric_only = false;
};

/// Adds how long to count, in which form to print, and where to.
void add_count_options(parser &command, count_options &options);

/// What a subcommand adds to that.
struct count_hooks {
	/// Adds events and metrics.
	std::function<uncore::result<void>(measurement &to)> choose;
	/// The options are complete but for scopes and set.
	std::function<std::unique_ptr<report>(measurement &of,
					      report_options options, sink &to)>
		lay_out;
};

/// Counts, and reports.  @return the exit status.
int count(const context &shared, count_options &options,
	  const count_hooks &hooks);

} // namespace cli

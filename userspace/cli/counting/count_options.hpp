// SPDX-License-Identifier: GPL-2.0-or-later
// What stat and metric share of the way from the command line to the counters:
// start(), add events or metrics, open(), and run with a report.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/subcommand.hpp"
#include "counting/count_report.hpp"

namespace cli {

struct count_options {
	run_options run;
	format form = format::human;
	std::string output;    ///< a file's path, empty for standard output
	std::string separator; ///< -x, empty for none
	unsigned timeout_ms = 0;
	bool append = false, metric_only = false;
	std::vector<int> packages; ///< to count on; empty: all
};

/// Adds how long to count, in which form to print, and where to.
void add_count_options(parser &command, count_options &options);

/// Completes the options, and reads the machine.
uncore::result<std::unique_ptr<measurement>> start(const context &shared,
						   count_options &options);
/// Opens the output, and the counters of what was added.
uncore::result<void> open(measurement &wanted, const count_options &options,
			  sink &to);
/// How numbers are to be printed.
report_options form_of(const count_options &options,
		       std::vector<uncore::scope> scopes,
		       std::string_view set = {}, run_means *means = nullptr);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat with --for-each-cgroup, -G or --attribute.  A box counts for all tasks of its
// socket, so the counts of a set of tasks come from attribution, which divides them.
#pragma once

#include "arguments/subcommand.hpp"
#include "attribution/share_plan.hpp"
#include "counting/measurement.hpp"

namespace cli {

struct share_stat_options {
	share_request request;
	uncore::scope aggregation = uncore::scope::machine;
	/// Shortest time between two reads of a package's counters.
	unsigned resolution_us = 100;
	/// Limit of the command's tasks that exist at the same time.
	size_t max_tasks = attribution_options().max_followed;
};

/// Count and print. @return the exit status.
int count_shares(const context &shared, count_options &counting,
		 const share_stat_options &options);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat with --for-each-cgroup or -G.  A box counts for all tasks of its socket,
// so the counts of a cgroup come from attribution, which divides them among tasks.
#pragma once

#include "arguments/subcommand.hpp"
#include "attribution/cgroup_plan.hpp"
#include "counting/measurement.hpp"

namespace cli {

struct cgroup_stat_options {
	cgroup_request request;
	bool per_socket = false;
	/// Shortest time between two reads of a package's counters.
	unsigned resolution_us = 100;
};

/// Count and print. @return the exit status.
int count_cgroups(const context &shared, count_options &counting,
		  const cgroup_stat_options &options);

} // namespace cli

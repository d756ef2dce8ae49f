// SPDX-License-Identifier: GPL-2.0-or-later
// uncore stat with --for-each-cgroup or -G: attribution counts, as boxes count
// for all tasks of their sockets.
#pragma once

#include "arguments/subcommand.hpp"
#include "attribution/cgroup_plan.hpp"
#include "counting/measurement.hpp"

namespace cli {

struct cgroup_stat_options {
	cgroup_request request;
	bool per_socket = false;
	unsigned resolution_us = 100; ///< of attribution
};

/// Count and print. @return the exit status.
int count_cgroups(const context &shared, count_options &counting,
		  const cgroup_stat_options &options);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// Events and cgroups of uncore stat: from --for-each-cgroup and -G to counted
// events and printed counts.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_names.hpp"

namespace cli {

/// A -G, and the number of -e before the -G on the command line.
struct cgroup_option {
	size_t event_lists;
	std::string names;
};

/// The options of a command line.
struct cgroup_request {
	std::vector<std::string> event_lists; ///< of each -e
	std::vector<cgroup_option> in_order;  ///< of each -G
	std::string for_each;		      ///< --for-each-cgroup

	bool empty() const { return in_order.empty() && for_each.empty(); }
};

/// A cgroup as the user wrote it, and its path; both empty for no cgroup.
struct counted_cgroup {
	std::string written, path;

	/// No cgroup and the root cgroup have all counts, idle CPUs included:
	/// perf counts the idle task in the root cgroup.
	bool has_all() const { return path.empty() || path == "/"; }
};

/// An event in a cgroup: indices of the plan's columns and cgroups.
struct cgroup_event {
	size_t column, cgroup;
};

struct cgroup_plan {
	std::vector<attribution_column> columns;
	std::vector<counted_cgroup> cgroups;
	std::vector<cgroup_event> events; ///< in perf's order
};

/// Plan the counts of a command line; print a note for a period and for an
/// event code that is in no manual.
/// @p machine must outlive the plan.
/// Errors: of uncore::parse_events(); errc::invalid (-G names more cgroups than
/// there are events, no cgroup is named), errc::not_found (a cgroup does not
/// exist), errc::unsupported (an event of the cores, no cgroups are mounted).
uncore::result<cgroup_plan> plan_cgroups(const cgroup_request &request,
					 const uncore::topology &machine,
					 const cgroup_names &names);

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// The plan of uncore stat with --for-each-cgroup or -G: the events that attribution
// counts, and for each printed count its event and cgroup.
#pragma once

#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_names.hpp"

namespace cli {

/// A -G option.
struct cgroup_option {
	size_t event_lists; ///< number of -e before the -G
	std::string names;  ///< list of cgroups
};

/// The options of a command line.
struct cgroup_request {
	std::vector<std::string> event_lists; ///< of each -e
	std::vector<cgroup_option> in_order;  ///< each -G, in their order
	std::string for_each;		      ///< --for-each-cgroup

	bool empty() const { return in_order.empty() && for_each.empty(); }
};

/// A cgroup as the user wrote it, and its path; both empty for no cgroup.
struct counted_cgroup {
	std::string written, path;

	/// Does the cgroup have all counts, also those while CPUs are idle?  The
	/// root cgroup has, as perf counts the idle task in the root cgroup; and
	/// no cgroup means no restriction.
	bool has_all() const { return path.empty() || path == "/"; }
};

/// An event in a cgroup: indices of the plan's columns and cgroups.
struct cgroup_event {
	size_t column, cgroup;
};

struct cgroup_plan {
	std::vector<attribution_column> columns; ///< events to count
	std::vector<counted_cgroup> cgroups;
	/// Counts to print, in the order of perf stat.
	std::vector<cgroup_event> events;
};

/// Plan the counts of a command line.  Print a note for an event with a sample period,
/// which has no effect, and for an event code that is in no manual.
/// @p machine must outlive the plan.
/// Errors: of uncore::parse_events(); errc::invalid (-G names more cgroups than
/// there are events, no cgroup is named), errc::not_found (a cgroup does not
/// exist), errc::unsupported (an event of the cores, no cgroups are mounted).
uncore::result<cgroup_plan> plan_cgroups(const cgroup_request &request,
					 const uncore::topology &machine,
					 const cgroup_names &names);

} // namespace cli

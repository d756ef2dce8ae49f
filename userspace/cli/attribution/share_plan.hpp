// SPDX-License-Identifier: GPL-2.0-or-later
// The plan of uncore stat with --for-each-cgroup, -G or --attribute: the events that
// attribution counts, and for each printed count its event and its set of tasks.
#pragma once

#include <string>
#include <string_view>
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
struct share_request {
	std::vector<std::string> event_lists;	///< of each -e
	std::vector<cgroup_option> cgroups; ///< each -G, in their order
	std::string each_cgroup;	    ///< --for-each-cgroup
	/// --attribute: the command is told apart by tree or by cgroup.
	bool attribute = false, by_cgroup = false;
	std::string command; ///< name of the command

	bool empty() const
	{
		return cgroups.empty() && each_cgroup.empty() && !attribute;
	}
};

/// A set of tasks whose counts are printed.
struct counted_tasks {
	enum class kind {
		/// All counts, also those while CPUs are idle.
		all,
		/// The tasks of a cgroup and of the cgroups in it.
		cgroup,
		/// The command with all its descendants, and all tasks beside it.
		command,
		others,
		/// No task: the counts while CPUs are idle.
		idle,
	};

	kind type = kind::all;
	/// Name for programs: a cgroup as the user wrote it; "command", "other",
	/// "idle"; empty for all.
	std::string name;
	std::string title; ///< name for people
	std::string path;  ///< of the cgroup
};

/// A count to print: indices of the plan's columns and sets of tasks.
struct share {
	size_t column, tasks;
};

struct share_plan {
	std::vector<attribution_column> columns; ///< events to count
	attribution_by by = attribution_by::cgroup;
	std::vector<counted_tasks> tasks;
	/// Counts to print, in the order of perf stat.
	std::vector<share> shares;

	/// Does the plan divide all counts among its sets of tasks?
	bool divides = false;

	/// Name of the column of counted_tasks::name.
	std::string_view tasks_key() const
	{
		return divides ? "share" : "cgroup";
	}
};

/// Plan the counts of a command line.  Print a note for an event with a sample period,
/// which has no effect, and for an event code that is in no manual.
/// @p machine must outlive the plan.
/// Errors: of uncore::parse_events(); errc::invalid (-G names more cgroups than
/// there are events, no cgroup is named), errc::not_found (a cgroup does not
/// exist), errc::unsupported (an event of the cores, no cgroups are mounted).
uncore::result<share_plan> plan_shares(const share_request &request,
				       const uncore::topology &machine,
				       const cgroup_names &names);

} // namespace cli

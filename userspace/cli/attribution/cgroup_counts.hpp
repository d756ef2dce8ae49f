// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of cgroups for uncore stat.  Attribution gives accounts: the shares of tasks
// in the boxes' counts, with the id of each task's cgroup.  Here they are added up for
// the cgroups of the command line (the plan), which include their descendants.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>
#include <uncore/topology.hpp>

#include "attribution/attribution.hpp"
#include "attribution/cgroup_names.hpp"
#include "attribution/cgroup_plan.hpp"

namespace cli {

class cgroup_counts {
public:
	/// An event's count in a cgroup.
	struct number {
		uint64_t raw = 0; ///< without the event's scale
		/// CPU time of the cgroup's tasks.  Without a cgroup, and for the
		/// root cgroup: sum of the times for which the event's counters
		/// counted.
		uint64_t ns = 0;
	};

	/// @param sockets to count on; empty: all.
	/// @p plan, @p machine and @p names must outlive the object.
	cgroup_counts(const cgroup_plan &plan, const uncore::topology &machine,
		      const std::vector<int> &sockets, cgroup_names &names);

	void add(const account &account);
	/// Call after the last account: cgroups whose path is not known until now
	/// were removed.
	void end();
	/// Begin an interval of the output with the next account.
	void begin_interval();

	/// @param package index in topology::packages(); nullopt: all.
	number count(const cgroup_event &event, std::optional<size_t> package,
		     uncore::period when) const;
	double seconds(uncore::period when) const;
	/// Has a package counters of the event, and is it one of the sockets to
	/// count on?
	bool has_counters(const cgroup_event &event, size_t package) const;
	/// Describe counts that could be added to no cgroup, one line per reason.
	std::vector<std::string> losses() const;
	/// Number of missed context switches, as in struct account.
	uint64_t missed() const { return missed_; }
	/// Report missed switches in a line; empty without missed switches.
	std::string missed_line() const;

private:
	using clock = std::chrono::steady_clock;

	/// Counts [column][package], and CPU time [package].
	struct share {
		std::vector<std::vector<fixed_count>> counts;
		std::vector<uint64_t> ns;
	};
	/// Counts of a cgroup whose path is not known yet.
	struct waiting {
		share sum;
		clock::time_point since; ///< of the first count
	};
	/// Counts of an interval or of the whole run.
	struct sums {
		std::vector<share> cgroups; ///< by cgroup of the plan
		/// All counts of the packages: of no cgroup, and of the root.
		share root;
		double seconds = 0;
	};

	share empty_share() const;
	sums empty_sums() const;
	static void add(share &sum, const share &part);
	void add_packages(const account &account);
	void charge(uint64_t cgroup, const share &part);
	void charge_waiting(bool last);

	const cgroup_plan &plan_;
	cgroup_names &names_;
	std::vector<bool> chosen_; ///< by package
	/// Number of counters [column][package].
	std::vector<std::vector<unsigned>> counters_;
	std::map<uint64_t, waiting> waiting_; ///< by id of the cgroup
	sums interval_, total_;
	/// Counts that could be added to no cgroup: of removed cgroups, and of
	/// tasks for which attribution had no room.
	share removed_, other_;
	uint64_t missed_ = 0, looks_ = 0; ///< as in struct account
};

} // namespace cli

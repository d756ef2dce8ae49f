// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of sets of tasks for uncore stat.  Attribution gives accounts: the shares of
// tasks in the boxes' counts, with the id of each task's cgroup.  Here they are added up
// for the sets of tasks of the plan, and are the numbers of a report.  A cgroup includes
// its descendants.
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
#include "attribution/share_plan.hpp"
#include "counting/count_report.hpp"

namespace cli {

class share_counts : public number_source {
public:
	/// @param sockets to count on; empty: all.
	/// @p plan, @p machine and @p names must outlive the object.
	share_counts(const share_plan &plan, const uncore::topology &machine,
		     const std::vector<int> &sockets, cgroup_names &names);

	void add(const account &account);
	/// Call after the last account: cgroups whose path is not known until now
	/// were removed.
	void end();
	/// Begin an interval of the output with the next account.
	void begin_interval();

	/// Get the counts of the plan, of the machine or of each socket.
	std::vector<report_line> lines(uncore::scope line_scope,
				       uncore::period when) const override;
	double seconds(uncore::period when) const override;
	std::string_view tasks_key() const override
	{
		return plan_.tasks_key();
	}
	void add_to(nlohmann::ordered_json &document) const override;

	/// Describe counts that could be added to no cgroup, one line per reason.
	std::vector<std::string> losses() const;
	/// Report missed switches in a line; empty without missed switches.
	std::string missed_line() const;

private:
	using clock = std::chrono::steady_clock;

	/// The count of an event for a set of tasks.
	struct number {
		uint64_t raw = 0; ///< without the event's scale
		/// CPU time of the tasks.  Of all counts: sum of the times for
		/// which the event's counters counted.  Without a task: time of
		/// idle sockets.
		uint64_t ns = 0;
	};

	/// Counts [column][package], and CPU time [package].
	struct amount {
		std::vector<std::vector<fixed_count>> counts;
		std::vector<uint64_t> ns;
	};
	/// Counts of a cgroup whose path is not known yet.
	struct waiting {
		amount sum;
		clock::time_point since; ///< of the first count
	};
	/// Counts of an interval or of the whole run.
	struct sums {
		std::vector<amount> tasks; ///< by set of tasks of the plan
		double seconds = 0;
	};

	amount empty_amount() const;
	sums empty_sums() const;
	static void add(amount &sum, const amount &part);
	void add(counted_tasks::kind type, const amount &part);
	void add_packages(const account &account);
	void charge(uint64_t cgroup, const amount &part);
	void charge_waiting(bool last);
	uint64_t whole(const sums &period_sums, const share &share,
		       size_t package) const;
	/// @param package index in topology::packages(); nullopt: all.
	number count(const share &share, std::optional<size_t> package,
		     uncore::period when) const;
	report_line line(size_t share, std::optional<size_t> package,
			 uncore::period when) const;

	const share_plan &plan_;
	const uncore::topology &machine_;
	cgroup_names &names_;
	std::vector<bool> chosen_; ///< by package
	/// Number of counters [column][package].
	std::vector<std::vector<unsigned>> counters_;
	std::map<uint64_t, waiting> waiting_; ///< by id of the cgroup
	sums interval_, total_;
	/// All counts of the run; and counts that could be added to no cgroup: of
	/// removed cgroups, and of tasks for which attribution had no room.
	amount all_, removed_, other_;
	uint64_t missed_ = 0, looks_ = 0, unfollowed_ = 0; ///< as in account
};

} // namespace cli

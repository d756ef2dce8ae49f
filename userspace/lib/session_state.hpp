// SPDX-License-Identifier: LGPL-2.1-or-later
// State of a session: its groups, and the results of their last reads.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "box_watch.hpp"
#include "estimate.hpp"
#include "options.hpp"
#include "session.hpp"

namespace uncore {

/// perf's default turn, for a PMU without perf_event_mux_interval_ms.
constexpr std::chrono::nanoseconds usual_turn = std::chrono::milliseconds(4);

struct session::state {
	/// A group on one CPU, which one system call reads.
	struct unit {
		uint32_t group, cpu_index, members;
		int cpu;
		size_t words;	   ///< index of its first word
		size_t estimators; ///< index of its first estimator
		uint32_t box;	   ///< number in box_watch
		int clock;	   ///< member counting the box's clock, or -1
		bool clock_ran = false; ///< the clock ran in an earlier read
		bool lost = false;
	};

	/// A group's CPUs and their packages; its units are consecutive.
	struct group_place {
		std::vector<int> cpus, packages;
		size_t first_unit;
		/// Number of the group in the backend; none without a box.
		std::optional<unsigned> opened;
		std::chrono::nanoseconds turn; ///< perf's multiplexing interval
	};

	/// Units of a package, read from one of the package's CPUs.
	struct stop {
		int package;
		std::vector<int> cpus;
		std::vector<uint32_t> units;
	};

	/// Sums, updated at each read.
	struct watched_sums {
		std::vector<std::vector<counter_at>> counters;
		sum_estimator estimator;
	};

	state(plan groups_to_open, const topology &system,
	      const session_options &chosen,
	      std::shared_ptr<counter_backend> counters)
		: group_plan(std::move(groups_to_open)), machine(system),
		  options(chosen), backend(std::move(counters)),
		  boxes(machine, *backend, options.packages)
	{
	}

	plan group_plan;
	topology machine;
	session_options options;
	std::shared_ptr<counter_backend> backend;
	box_watch boxes;
	std::vector<std::string> news;
	std::vector<group_place> groups;
	std::vector<unit> units;
	std::vector<stop> tour;
	/// Words of the last read, and of the read before.
	std::vector<uint64_t> latest_words, previous_words;
	std::vector<estimator> estimators;
	std::vector<watched_sums> sums;
	std::chrono::nanoseconds started{}, read_at{}, read_before{},
		interval_began{};
	/// Duration of the last read.
	std::chrono::nanoseconds cost{};
	bool counting = false, multiplexed = false;
	/// The next read begins a new interval.
	bool interval_ended = false;
	std::vector<uint32_t> lagging; ///< units that lagged in the last read
	std::vector<uint64_t> words;   ///< of one unit, for recheck_lagging()

	result<void> open_group(uint32_t group);
	void add_units(uint32_t group, box_watch::place place);
	void plan_tour();
	void read_stop(const stop &package_stop);
	void lose(unit &u, condition cause);
	void check_boxes();
	void check_clocks();
	void begin_interval();
	void read_all();
	result<void> report();
	bool is_lagging(const unit &u) const;
	bool is_running(const unit &u);
	void recheck_lagging();
	stratum between(const unit &u, uint32_t member) const;
	bool read_unit(unit &u);
	void account(const unit &u);
	void add_up();
	stratum between(counter_at c) const
	{
		return between(unit_of(c.counter, c.cpu_index),
			       c.counter.member);
	}
	const unit &unit_of(counter_id id, size_t cpu_index) const
	{
		return units[groups[id.group].first_unit + cpu_index];
	}
};

} // namespace uncore

// SPDX-License-Identifier: LGPL-2.1-or-later
// State of a session: its groups, and the results of their last reads.
//
// A read of a group on one CPU is one read() system call in the layout of
// PERF_FORMAT_GROUP.  Its result is a list of 64-bit words: the number of
// events, the time enabled and the time running (in nanoseconds), then one
// count for each event (member) of the group.
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

/// Turn: the time after which perf exchanges the groups that count on a box, if
/// not all groups fit.  Each PMU's turn is in the file
/// perf_event_mux_interval_ms of its sysfs folder; this is perf's default, for
/// a PMU without the file.
constexpr std::chrono::nanoseconds usual_turn = std::chrono::milliseconds(4);

struct session::state {
	/// A group on one CPU: the events that one system call reads.
	struct unit {
		/// Index into groups, index into group_place::cpus, number of
		/// events.
		uint32_t group, cpu_index, members;
		int cpu;
		size_t words;	   ///< index of its first word in latest_words
		size_t estimators; ///< index of its first member's estimator
		uint32_t box;	   ///< number in box_watch
		int clock;	   ///< member counting the box's clock, or -1
		bool clock_ran = false; ///< the clock ran in an earlier read
		/// The box does not answer any more or the CPU went offline:
		/// the unit is not read again.
		bool lost = false;
	};

	/// CPUs on which a group is open, and the package of each CPU.
	struct group_place {
		std::vector<int> cpus, packages;
		/// Index of the unit on the first CPU; the units on the other
		/// CPUs follow.
		size_t first_unit;
		/// Number of the group in the backend; none if no box of the
		/// PMU answers.
		std::optional<unsigned> opened;
		std::chrono::nanoseconds turn; ///< perf's multiplexing interval
	};

	/// One stop of a read's tour of the packages: the units of a package.
	/// With session_options::visit_packages the reading thread migrates to
	/// one of the package's CPUs first.
	struct stop {
		int package; ///< -1 for CPUs that the topology does not have
		std::vector<int> cpus;
		std::vector<uint32_t> units;
	};

	/// A set of sums of session::add_up(), updated at each read.
	struct watched_sums {
		/// Counters of each sum.
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
	/// Words of all units in the last read, and in the read before.
	std::vector<uint64_t> latest_words, previous_words;
	/// One for each member of each unit.
	std::vector<estimator> estimators;
	std::vector<watched_sums> sums;
	/// Times of the backend's clock: of enable(), of the last read, of the
	/// read before, and of the begin of the interval.
	std::chrono::nanoseconds started{}, read_at{}, read_before{},
		interval_began{};
	/// Duration of the last read.
	std::chrono::nanoseconds cost{};
	/// The session is enabled; a group ran for less than its enabled time.
	bool counting = false, multiplexed = false;
	/// The last read was session::read(): the next one begins an interval.
	bool interval_ended = false;
	/// Units whose enabled time grew by less than the time between the last
	/// two reads: their CPU may be offline.
	std::vector<uint32_t> lagging;
	/// Words of one unit, which recheck_lagging() reads again.
	std::vector<uint64_t> words;

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

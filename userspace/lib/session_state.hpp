// SPDX-License-Identifier: LGPL-2.1-or-later
// What a session keeps: its groups, and what their last reads gave.
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

/// perf's own, where a PMU does not say how long a turn is.
constexpr std::chrono::nanoseconds usual_turn = std::chrono::milliseconds(4);

struct session::state {
	/// A group on one CPU: what one system call reads.
	struct unit {
		uint32_t group, cpu_index, members;
		int cpu;
		size_t words;	     ///< where its words are
		size_t estimators;   ///< where its members' estimators are
		uint32_t box;	     ///< of box_watch
		int clock;	     ///< the member that counts the box's clock, or -1
		bool ticked = false; ///< it ever did
		bool gone = false;
	};

	/// A group's CPUs and their packages; its units are in a row.
	struct group_place {
		std::vector<int> cpus, packages;
		size_t first_unit;
		/// The backend's number; none where every box was left out.
		std::optional<unsigned> opened;
		std::chrono::nanoseconds turn; ///< before perf lets another group count
	};

	/// The units of a package, which are read from one of its CPUs.
	struct stop {
		int package;
		std::vector<int> cpus;
		std::vector<uint32_t> units;
	};

	/// Sums that are added up at each read.
	struct watched_sums {
		std::vector<std::vector<counter_at>> counters;
		sum_estimator estimator;
	};

	state(plan planned, const topology &on, const session_options &wanted,
	      std::shared_ptr<counter_backend> counters)
		: what(std::move(planned)), machine(on), options(wanted),
		  backend(std::move(counters)),
		  boxes(machine, *backend, options.packages)
	{
	}

	plan what;
	topology machine;
	session_options options;
	std::shared_ptr<counter_backend> backend;
	box_watch boxes;
	std::vector<std::string> news;
	std::vector<group_place> groups;
	std::vector<unit> units;
	std::vector<stop> tour;
	/// What the last read gave, and the one before.
	std::vector<uint64_t> now, before;
	std::vector<estimator> estimators;
	std::vector<watched_sums> sums;
	std::chrono::nanoseconds started{}, read_at{}, read_before{}, interval_began{};
	/// That the last read took.
	std::chrono::nanoseconds cost{};
	bool counting = false, multiplexed = false;
	/// The next read is of a new interval.
	bool begins = false;
	std::vector<uint32_t> lagging; ///< units, in the last read
	std::vector<uint64_t> words;   ///< of one unit, for look_again()

	result<void> open_group(uint32_t group);
	void add_units(uint32_t group, box_watch::place where);
	void plan_tour();
	void read_stop(const stop &where);
	void lose(unit &u, condition why);
	void check_boxes();
	void check_clocks();
	void begin_interval();
	void read_all();
	result<void> report();
	bool lags(const unit &u) const;
	bool goes_on(const unit &u);
	void look_again();
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

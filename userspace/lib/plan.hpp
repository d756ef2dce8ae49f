// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which events are counted together.  A plan puts events into groups, each of
/// one PMU: a group's events count in the same cycles, and one system call
/// reads them all.  The planner knows how many counters a box has, which of
/// them an event may use and which filters events share; so it puts together
/// what fits, leaves groups that do not fit together to the kernel, which
/// multiplexes them, and refuses what can never be counted, with the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// Where a plan counts an event.
struct counter_id {
	uint32_t group = 0;  ///< index into plan::groups
	uint32_t member = 0; ///< index into counter_group::members

	bool operator==(const counter_id &) const = default;
};

/// Events that count in the same cycles.
struct counter_group {
	const pmu_info *pmu = nullptr; ///< nullptr: counted on every CPU
	std::vector<event> members;
	/// Was asked for as it is: nothing else is added.
	bool closed = false;
};

/// What a session counts.
struct plan {
	std::vector<counter_group> groups;
	/// PMUs whose groups do not fit at once, so that each counts for a part
	/// of the time.
	std::vector<const pmu_info *> multiplexed;
	/// In which order to open the groups, so that the kernel lets those of
	/// a metric that cannot count at once follow one another; empty for
	/// any.
	std::vector<uint32_t> order;
	/// How many turns there are on the PMU that has most.
	unsigned turns = 1;
};

/// Can these events count at once on one box?  They are taken to be of one PMU.
/// Events of PMUs that the catalogue does not know always pass.
/// Errors: errc::conflict, naming a smallest set of events that collide, and
/// what for: a counter, or a field of a filter.
result<void> fit(std::span<const event> events, std::string_view generation);

class planner {
public:
	/// For each term of what was added, where each of its events is
	/// counted. duration_time, which needs no counter, has none.
	using places = std::vector<std::vector<counter_id>>;

	explicit planner(const topology &machine);

	/// Adds events of a command line: a group in braces as it is, others to
	/// groups with room.
	/// Errors: errc::conflict, when a group in braces is of several boxes
	/// or can never be counted at once.
	result<places> add(const event_group &group);

	/// Adds a metric's events.  Those of one PMU go into one group, so that
	/// the metric is of one instant.
	/// @param split where they do not fit into one: put them into as few
	/// groups as will do, instead of failing.
	/// Errors: errc::conflict.
	result<places> add(std::span<const event_term> terms, bool split);

	/// The plan of all that was added.
	plan finish() &&;

private:
	using members = std::vector<const event *>;

	bool has_room(const counter_group &group, const members &more) const;
	uint32_t group_for(const members &wanted, bool closed);
	counter_id place(uint32_t group, const event &wanted);
	std::vector<members> split_up(const members &wanted) const;
	std::vector<uint32_t> order() const;
	unsigned turns_of(const pmu_info *which,
			  std::span<const uint32_t> order) const;

	topology machine_;
	std::string_view generation_;
	plan plan_;
	/// Groups of one PMU's events of a metric, where they are several.
	std::vector<std::vector<uint32_t>> parts_;
};

} // namespace uncore

// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planning of groups.  A plan puts events into groups, each of one PMU: the
/// events of a group count in the same cycles, and one system call reads the
/// group.  The planner knows the counters of a box, the counters that an event
/// may use and the filters that events share.  It groups events that fit on a
/// box together, and refuses events that can never be counted at once, with the
/// reason.
///
/// Groups that do not fit on a box at once are multiplexed: the kernel lets
/// some of them count for a turn (the PMU's perf_event_mux_interval_ms), then
/// the next ones.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// Position of an event in a plan.
struct counter_id {
	uint32_t group = 0;  ///< index into plan::groups
	uint32_t member = 0; ///< index into counter_group::members

	bool operator==(const counter_id &) const = default;
};

/// Events that count in the same cycles.
struct counter_group {
	const pmu_info *pmu = nullptr; ///< nullptr: counted on every CPU
	std::vector<event> members;
	/// The user wrote this group in braces: the planner adds no other
	/// events.
	bool closed = false;
};

/// Groups of events that a session counts.
struct plan {
	std::vector<counter_group> groups;
	/// PMUs whose groups do not fit on the box at once: each group counts
	/// for a part of the time.
	std::vector<const pmu_info *> multiplexed;
	/// Order in which to open the groups (indices); empty for any order.
	/// The kernel multiplexes groups in this order.  If a metric's events
	/// do not fit into one group, its groups follow one another.
	std::vector<uint32_t> order;
	/// Number of turns until all groups have counted, on the PMU with the
	/// most turns; 1 if no PMU is multiplexed.
	unsigned turns = 1;
};

/// Check that events of one PMU can count at once on one box.  Events of PMUs
/// that the catalogue does not know always pass.
/// Errors: errc::conflict, naming a smallest set of events that collide, and
/// the counter or the filter field for which the events collide.
result<void> fit(std::span<const event> events, std::string_view generation);

class planner {
public:
	/// For each added term, the positions of its events in the plan.  A
	/// term duration_time needs no counter, and has no position.
	using places = std::vector<std::vector<counter_id>>;

	explicit planner(const topology &machine);

	/// Add events of a command line.  A group in braces becomes a group of
	/// the plan; other events join groups that have room.
	/// Errors: errc::conflict, when the events of a group in braces are of
	/// several boxes or can never be counted at once.
	result<places> add(const event_group &group);

	/// Add a metric's events.  The events of one PMU go into one group, so
	/// that all of them count at the same time.
	/// @param split put events that do not fit into one group into as few
	/// groups as possible, instead of failing.
	/// Errors: errc::conflict.
	result<places> add(std::span<const event_term> terms, bool split);

	/// Finish the plan of all added events.
	plan finish() &&;

private:
	using members = std::vector<const event *>;

	bool has_room(const counter_group &group, const members &more) const;
	uint32_t group_for(const members &events, bool closed);
	counter_id place(uint32_t group, const event &added);
	std::vector<members> split_up(const members &events) const;
	std::vector<uint32_t> order() const;
	unsigned turns_of(const pmu_info *pmu,
			  std::span<const uint32_t> order) const;

	topology machine_;
	std::string_view generation_;
	plan plan_;
	/// Groups of a metric's events on one PMU, if there are several groups.
	std::vector<std::vector<uint32_t>> parts_;
};

} // namespace uncore

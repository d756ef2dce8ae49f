// SPDX-License-Identifier: LGPL-2.1-or-later
// Planning of groups: check that a set of events fits on a box, and put the
// events of a command line or a metric into groups.
//
// Events fit on a box if each of them gets a counter that can count it, and if
// they agree on the filters that they share (sharing.hpp).  Groups that do not
// fit at once are multiplexed: perf lets some of them count for a turn, then
// the next ones.
#include "plan.hpp"

#include <algorithm>
#include <bit>

#include "format.hpp"
#include "sharing.hpp"

namespace uncore {

namespace {

bool is_same_event(const event &a, const event &b)
{
	return a.type == b.type && a.config == b.config &&
	       a.config1 == b.config1 && a.config2 == b.config2 &&
	       a.exclude_user == b.exclude_user &&
	       a.exclude_kernel == b.exclude_kernel &&
	       a.exclude_hv == b.exclude_hv &&
	       a.sample_period == b.sample_period;
}

/// Check that an event needs a counter: duration_time is a time.
bool is_counter(const event &e)
{
	return e.type != event::duration_time;
}

bool is_uncore(const event &e)
{
	return e.pmu && e.pmu->driver != pmu_driver::other;
}

/// An event that needs a counter of a box, and its demand on the box.
struct claim {
	const event *requester;
	demand request;
};

/// Give claim @p i a counter.  If all counters that it can use are taken, move
/// other claims to other counters (bipartite matching by augmenting paths).
/// @param owner index of the claim that has each counter, or -1.
/// @param visited counters that were tried for claim @p i or on its behalf, one
/// bit each.
/// @return false if the claims before and claim @p i do not fit.
bool assign(const std::vector<claim> &claims, int i, std::array<int, 64> &owner,
	    uint64_t &visited)
{
	for (unsigned c = 0; c < owner.size(); c++) {
		if (!(claims[i].request.counters >> c & 1) || visited >> c & 1)
			continue;
		visited |= uint64_t{1} << c;
		if (owner[c] < 0 || assign(claims, owner[c], owner, visited)) {
			owner[c] = i;
			return true;
		}
	}
	return false;
}

/// Check that all claims get a counter at once.
bool have_counters(const std::vector<claim> &claims)
{
	std::array<int, 64> owner;

	owner.fill(-1);
	for (size_t i = 0; i < claims.size(); i++) {
		uint64_t visited = 0;

		if (!assign(claims, i, owner, visited))
			return false;
	}
	return true;
}

/// List the claims of events of one box.  Equal events share a counter, so they
/// have one claim.  Events of boxes that the catalogue does not have make no
/// claim: nothing is known about the box's counters.
std::vector<claim> claims_of(std::span<const event *const> events,
			     std::string_view generation)
{
	std::vector<claim> claims;

	for (const event *e : events) {
		demand request = demand_of(*e, generation);

		if (request.counters &&
		    std::none_of(claims.begin(), claims.end(),
				 [&](const claim &c) {
					 return is_same_event(*c.requester, *e);
				 }))
			claims.push_back({e, request});
	}
	return claims;
}

/// Filter for which two events need different values: its word (0, 1 or 2 for
/// config, config1 or config2), and the bits that differ.
struct clash {
	unsigned word;
	uint64_t bits;
};

std::optional<clash> filter_clash(const claim &a, const claim &b)
{
	for (unsigned word = 0; word < 3; word++) {
		uint64_t bits = (a.request.values[word] ^
				 b.request.values[word]) &
				a.request.filters[word] &
				b.request.filters[word];

		if (bits)
			return clash{word, bits};
	}
	return std::nullopt;
}

/// Check that events of one PMU can count at once on its box, as check() does,
/// but without an error message.
bool fits(std::span<const event *const> events, std::string_view generation)
{
	std::vector<claim> claims = claims_of(events, generation);

	for (size_t i = 0; i < claims.size(); i++)
		for (size_t j = 0; j < i; j++)
			if (filter_clash(claims[i], claims[j]))
				return false;
	return have_counters(claims);
}

/// List the events of claims for an error message: "a, b and c".
std::string list_of(const std::vector<claim> &claims)
{
	std::string text;

	for (size_t i = 0; i < claims.size(); i++)
		text += (i == 0			  ? ""
			 : i + 1 == claims.size() ? " and "
						  : ", ") +
			claims[i].requester->text;
	return text;
}

/// List counters for an error message.  Bits above 15 (see demand) are not
/// listed; without any other bit, the counter is the fixed one.
std::string counter_list(uint64_t counters)
{
	std::string text;

	for (unsigned c = 0; c < 16; c++)
		if (counters >> c & 1)
			text += uncore::format("{}{}", text.empty() ? "" : ", ",
					       c);
	if (text.empty())
		return "the fixed counter";
	return (std::popcount(counters) > 1 ? "counters " : "counter ") + text;
}

/// Make the error for claims that have too few counters.  Claims without which
/// the rest still has too few counters are dropped first, so that the message
/// names only events that conflict.
error too_few_counters(std::vector<claim> claims)
{
	uint64_t counters = 0;

	for (size_t i = 0; i < claims.size();) {
		std::vector<claim> fewer = claims;

		fewer.erase(fewer.begin() + i);
		if (have_counters(fewer))
			i++;
		else
			claims = std::move(fewer);
	}
	for (const claim &c : claims)
		counters |= c.request.counters;
	return {errc::conflict,
		uncore::format(
			"{} cannot be counted at once: {} events for {} of each {}",
			list_of(claims), claims.size(), counter_list(counters),
			claims.front().requester->pmu->box)};
}

/// Make the error for two claims that need different values of a filter.
error two_filters(const claim &a, const claim &b, const clash &difference,
		  std::string_view generation)
{
	return {errc::conflict,
		uncore::format(
			"{} and {} cannot be counted at once: each {} has one {} for all of its events",
			a.requester->text, b.requester->text,
			a.requester->pmu->box,
			shared_name(*a.requester, generation, difference.word,
				    difference.bits))};
}

/// Check that events of one PMU can count at once on its box.
/// Errors: errc::conflict, naming the events that conflict.
result<void> check(std::span<const event *const> events,
		   std::string_view generation)
{
	std::vector<claim> claims = claims_of(events, generation);

	for (size_t i = 0; i < claims.size(); i++)
		for (size_t j = 0; j < i; j++)
			if (auto difference =
				    filter_clash(claims[j], claims[i]))
				return two_filters(claims[j], claims[i],
						   *difference, generation);
	if (!have_counters(claims))
		return too_few_counters(std::move(claims));
	return {};
}

std::vector<const event *> pointers(std::span<const event> events)
{
	std::vector<const event *> list;

	for (const event &e : events)
		list.push_back(&e);
	return list;
}

} // namespace

result<void> fit(std::span<const event> events, std::string_view generation)
{
	return check(pointers(events), generation);
}

planner::planner(const topology &machine)
	: machine_(machine), generation_(machine_.generation())
{
}

/// Check that events of one PMU can be added to a group.
bool planner::has_room(const counter_group &group, const members &more) const
{
	// Core events and events of other PMUs stay alone: only the kernel
	// knows how many counters a core has.
	if (group.closed || group.pmu != more.front()->pmu ||
	    !is_uncore(*more.front()))
		return false;
	// The catalogue does not have the box: the number of its counters is
	// unknown.
	if (!demand_of(*more.front(), generation_).counters)
		return false;

	members together = pointers(group.members);

	together.insert(together.end(), more.begin(), more.end());
	return fits(together, generation_);
}

/// Add an event to a group, unless the group has an equal event.
counter_id planner::place(uint32_t index, const event &added)
{
	auto &members = plan_.groups[index].members;
	auto position = std::find_if(
		members.begin(), members.end(),
		[&](const event &e) { return is_same_event(e, added); });
	uint32_t member = position - members.begin();

	if (position == members.end())
		members.push_back(added);
	return {index, member};
}

/// Find a group with room for all @p events, or add an empty group for them.
/// @param closed the events are a group that the user wrote in braces: they get
/// a group of their own, to which no other event is added.
uint32_t planner::group_for(const members &events, bool closed)
{
	auto &groups = plan_.groups;

	if (!closed)
		for (uint32_t i = 0; i < groups.size(); i++)
			if (has_room(groups[i], events))
				return i;
	groups.push_back({events.front()->pmu, {}, closed});
	return groups.size() - 1;
}

/// Split the events of one PMU into few sets that each fit on its box: each
/// event joins the first set with room.
std::vector<planner::members> planner::split_up(const members &events) const
{
	std::vector<members> sets;

	for (const event *e : events) {
		auto room = std::find_if(
			sets.begin(), sets.end(), [&](const members &set) {
				members more = set;

				more.push_back(e);
				return is_uncore(*e) && fits(more, generation_);
			});
		if (room == sets.end())
			sets.push_back({e});
		else
			room->push_back(e);
	}
	return sets;
}

/// Check that all terms of a group in braces name the same PMUs: a group of
/// perf has the events of one hardware PMU.
static result<void> check_boxes(const event_group &group)
{
	const event_term *first = nullptr;

	for (const event_term &term : group.terms) {
		if (!is_counter(term.events.front()))
			continue;
		if (!first)
			first = &term;
		if (!std::equal(term.events.begin(), term.events.end(),
				first->events.begin(), first->events.end(),
				[](const event &a, const event &b) {
					return a.pmu == b.pmu;
				}))
			return error{
				errc::conflict,
				uncore::format(
					"{} and {} cannot be one group: they are counted by different boxes",
					first->text, term.text)};
	}
	return {};
}

result<planner::places> planner::add(const event_group &group)
{
	if (!group.braces || group.weak)
		return add(group.terms, true);
	if (auto checked = check_boxes(group); !checked)
		return checked.error();

	places counters(group.terms.size());
	size_t boxes = 0;

	// All terms have one event for each box, except duration_time, which
	// has one event in all.  So the longest term has the number of boxes.
	for (const event_term &term : group.terms)
		boxes = std::max(boxes, term.events.size());
	for (size_t i = 0; i < boxes; i++) {
		members together;

		for (const event_term &term : group.terms)
			if (is_counter(term.events.front()))
				together.push_back(&term.events[i]);
		if (together.empty())
			continue;
		if (auto checked = check(together, generation_); !checked)
			return checked.error();

		uint32_t index = group_for(together, true);

		for (size_t t = 0; t < counters.size(); t++)
			if (is_counter(group.terms[t].events.front()))
				counters[t].push_back(
					place(index, group.terms[t].events[i]));
	}
	return counters;
}

result<planner::places> planner::add(std::span<const event_term> terms,
				     bool split)
{
	// Events of each PMU, in order of appearance.  An event of the core or
	// of another PMU has an entry of its own, and so a group of its own.
	std::vector<std::pair<const pmu_info *, members>> by_pmu;
	places counters(terms.size());

	for (const event_term &term : terms)
		for (const event &e : term.events) {
			auto entry = std::find_if(
				by_pmu.begin(), by_pmu.end(), [&](auto &pair) {
					return pair.first == e.pmu &&
					       is_uncore(e);
				});
			if (!is_counter(e))
				continue;
			if (entry == by_pmu.end())
				by_pmu.push_back({e.pmu, {&e}});
			else
				entry->second.push_back(&e);
		}

	std::vector<std::pair<const event *, counter_id>> placed;

	for (auto &[pmu, events] : by_pmu) {
		auto checked = check(events, generation_);

		if (!checked && !split)
			return checked.error();

		// Groups of this PMU that the events were split into.
		std::vector<uint32_t> parts;

		for (const members &set : checked ? std::vector<members>{events}
						  : split_up(events)) {
			uint32_t index = group_for(set, false);

			parts.push_back(index);

			for (const event *e : set)
				placed.push_back({e, place(index, *e)});
		}
		if (parts.size() > 1)
			parts_.push_back(std::move(parts));
	}
	for (size_t t = 0; t < terms.size(); t++)
		for (const event &e : terms[t].events)
			for (auto &[placed_event, id] : placed)
				if (placed_event == &e)
					counters[t].push_back(id);
	return counters;
}

/// Order the groups for opening.  The kernel multiplexes groups in the order in
/// which they were opened.  If a metric's events are in several groups, these
/// follow one another: the traffic changes less between their turns.
std::vector<uint32_t> planner::order() const
{
	const uint32_t none = plan_.groups.size();
	std::vector<uint32_t> sequence;
	auto is_new = [&](uint32_t group) {
		return std::find(sequence.begin(), sequence.end(), group) ==
		       sequence.end();
	};
	// Find the first group that belongs to a metric of the last group and
	// is not in the sequence yet.
	auto next_of = [&](uint32_t last) {
		uint32_t next = none;

		for (const auto &parts : parts_)
			if (std::count(parts.begin(), parts.end(), last))
				for (uint32_t candidate : parts)
					if (is_new(candidate))
						next = std::min(next,
								candidate);
		return next;
	};

	for (uint32_t first = 0; first < none; first++)
		for (uint32_t next = first; next != none && is_new(next);
		     next = next_of(next))
			sequence.push_back(next);
	return sequence;
}

/// Count the turns of a PMU until all of its groups have counted.  In each turn
/// perf takes the next groups in order, as many as fit on the box at once.
unsigned planner::turns_of(const pmu_info *pmu,
			   std::span<const uint32_t> order) const
{
	unsigned turns = 0;
	members turn;

	for (uint32_t index : order) {
		const counter_group &group = plan_.groups[index];

		if (group.pmu != pmu)
			continue;

		members more = turn;

		for (const event &e : group.members)
			more.push_back(&e);
		if (turns && fits(more, generation_)) {
			turn = std::move(more);
			continue;
		}
		turn = pointers(group.members);
		turns++;
	}
	return turns;
}

plan planner::finish() &&
{
	plan_.order = order();
	// A PMU is multiplexed if the events of all of its groups do not fit on
	// its box at once.
	for (const counter_group &group : plan_.groups) {
		members together;

		if (!is_uncore(group.members.front()) ||
		    std::count(plan_.multiplexed.begin(),
			       plan_.multiplexed.end(), group.pmu))
			continue;
		for (const counter_group &candidate : plan_.groups)
			if (candidate.pmu == group.pmu)
				for (const event &e : candidate.members)
					together.push_back(&e);
		if (!fits(together, generation_))
			plan_.multiplexed.push_back(group.pmu);
	}
	for (const pmu_info *pmu : plan_.multiplexed)
		plan_.turns = std::max(plan_.turns, turns_of(pmu, plan_.order));
	return std::move(plan_);
}

} // namespace uncore

// SPDX-License-Identifier: LGPL-2.1-or-later
// Which events are counted together: does a set of events fit on a box, and
// into which groups go those of a command line or a metric.
#include "plan.hpp"

#include <algorithm>
#include <bit>

#include "format.hpp"
#include "sharing.hpp"

namespace uncore {

namespace {

bool same(const event &a, const event &b)
{
	return a.type == b.type && a.config == b.config &&
	       a.config1 == b.config1 && a.config2 == b.config2 &&
	       a.exclude_user == b.exclude_user &&
	       a.exclude_kernel == b.exclude_kernel &&
	       a.exclude_hv == b.exclude_hv &&
	       a.sample_period == b.sample_period;
}

bool is_counter(const event &e)
{
	return e.type != event::duration_time;
}

bool is_uncore(const event &e)
{
	return e.pmu && e.pmu->driver != pmu_driver::other;
}

/// An event and what it asks of its box.
struct claim {
	const event *asker;
	demand asked;
};

/// Gives claim @p i a counter, moving others out of the way: bipartite matching
/// by augmenting paths.  @p owner holds the claim on each counter, or -1.
bool assign(const std::vector<claim> &claims, int i, std::array<int, 32> &owner,
	    uint32_t &visited)
{
	for (unsigned c = 0; c < owner.size(); c++) {
		if (!(claims[i].asked.counters >> c & 1) || visited >> c & 1)
			continue;
		visited |= 1u << c;
		if (owner[c] < 0 || assign(claims, owner[c], owner, visited)) {
			owner[c] = i;
			return true;
		}
	}
	return false;
}

bool have_counters(const std::vector<claim> &claims)
{
	std::array<int, 32> owner;

	owner.fill(-1);
	for (size_t i = 0; i < claims.size(); i++) {
		uint32_t visited = 0;

		if (!assign(claims, i, owner, visited))
			return false;
	}
	return true;
}

/// Different events only: equal ones share a counter.
std::vector<claim> claims_of(std::span<const event *const> events,
			     std::string_view generation)
{
	std::vector<claim> claims;

	for (const event *e : events) {
		demand asked = demand_of(*e, generation);

		if (asked.counters && std::none_of(claims.begin(), claims.end(),
						   [&](const claim &c) {
							   return same(*c.asker,
								       *e);
						   }))
			claims.push_back({e, asked});
	}
	return claims;
}

/// The word of the configuration in which two events want different values of a
/// filter that they share, and the bits that differ.
struct clash {
	unsigned word;
	uint64_t bits;
};

std::optional<clash> filter_clash(const claim &a, const claim &b)
{
	const uint64_t left[] = {a.asker->config, a.asker->config1,
				 a.asker->config2};
	const uint64_t right[] = {b.asker->config, b.asker->config1,
				  b.asker->config2};

	for (unsigned word = 0; word < 3; word++) {
		uint64_t bits = (left[word] ^ right[word]) &
				a.asked.filters[word] & b.asked.filters[word];

		if (bits)
			return clash{word, bits};
	}
	return std::nullopt;
}

bool fits(std::span<const event *const> events, std::string_view generation)
{
	std::vector<claim> claims = claims_of(events, generation);

	for (size_t i = 0; i < claims.size(); i++)
		for (size_t j = 0; j < i; j++)
			if (filter_clash(claims[i], claims[j]))
				return false;
	return have_counters(claims);
}

std::string list_of(const std::vector<claim> &claims)
{
	std::string text;

	for (size_t i = 0; i < claims.size(); i++)
		text += (i == 0			  ? ""
			 : i + 1 == claims.size() ? " and "
						  : ", ") +
			claims[i].asker->text;
	return text;
}

std::string counter_list(uint32_t counters)
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

/// Takes away what is not needed for the collision.
error too_few_counters(std::vector<claim> claims)
{
	uint32_t counters = 0;

	for (size_t i = 0; i < claims.size();) {
		std::vector<claim> fewer = claims;

		fewer.erase(fewer.begin() + i);
		if (have_counters(fewer))
			i++;
		else
			claims = std::move(fewer);
	}
	for (const claim &c : claims)
		counters |= c.asked.counters;
	return {errc::conflict,
		uncore::format(
			"{} cannot be counted at once: {} events for {} of each {}",
			list_of(claims), claims.size(), counter_list(counters),
			claims.front().asker->pmu->box)};
}

error two_filters(const claim &a, const claim &b, const clash &where,
		  std::string_view generation)
{
	return {errc::conflict,
		uncore::format(
			"{} and {} cannot be counted at once: each {} has one {} for all of its events",
			a.asker->text, b.asker->text, a.asker->pmu->box,
			shared_name(*a.asker, generation, where.word,
				    where.bits))};
}

result<void> check(std::span<const event *const> events,
		   std::string_view generation)
{
	std::vector<claim> claims = claims_of(events, generation);

	for (size_t i = 0; i < claims.size(); i++)
		for (size_t j = 0; j < i; j++)
			if (auto where = filter_clash(claims[j], claims[i]))
				return two_filters(claims[j], claims[i], *where,
						   generation);
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

bool planner::has_room(const counter_group &group, const members &more) const
{
	// The kernel knows how many counters a core has; we do not.
	if (group.closed || group.pmu != more.front()->pmu ||
	    !is_uncore(*more.front()))
		return false;
	// Without a catalogue nothing is known about a box.
	if (!demand_of(*more.front(), generation_).counters)
		return false;

	members all = pointers(group.members);

	all.insert(all.end(), more.begin(), more.end());
	return fits(all, generation_);
}

counter_id planner::place(uint32_t index, const event &wanted)
{
	auto &members = plan_.groups[index].members;
	auto found =
		std::find_if(members.begin(), members.end(),
			     [&](const event &e) { return same(e, wanted); });
	uint32_t member = found - members.begin();

	if (found == members.end())
		members.push_back(wanted);
	return {index, member};
}

/// A group with room for all of @p wanted, if need be a new one.
uint32_t planner::group_for(const members &wanted, bool closed)
{
	auto &groups = plan_.groups;

	if (!closed)
		for (uint32_t i = 0; i < groups.size(); i++)
			if (has_room(groups[i], wanted))
				return i;
	groups.push_back({wanted.front()->pmu, {}, closed});
	return groups.size() - 1;
}

/// As few sets as possible, the first ones as large as possible.
std::vector<planner::members> planner::split_up(const members &wanted) const
{
	std::vector<members> sets;

	for (const event *e : wanted) {
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

/// A group in braces is of one box: each of its terms names the same PMUs.
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

	places where(group.terms.size());
	size_t boxes = 0;

	// duration_time is one event whatever the others are
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

		for (size_t t = 0; t < where.size(); t++)
			if (is_counter(group.terms[t].events.front()))
				where[t].push_back(
					place(index, group.terms[t].events[i]));
	}
	return where;
}

result<planner::places> planner::add(std::span<const event_term> terms,
				     bool split)
{
	// The events of each PMU, in order of appearance.
	std::vector<std::pair<const pmu_info *, members>> by_pmu;
	places where(terms.size());

	for (const event_term &term : terms)
		for (const event &e : term.events) {
			auto found = std::find_if(
				by_pmu.begin(), by_pmu.end(), [&](auto &entry) {
					return entry.first == e.pmu &&
					       is_uncore(e);
				});
			if (!is_counter(e))
				continue;
			if (found == by_pmu.end())
				by_pmu.push_back({e.pmu, {&e}});
			else
				found->second.push_back(&e);
		}

	std::vector<std::pair<const event *, counter_id>> placed;

	for (auto &[pmu, wanted] : by_pmu) {
		auto checked = check(wanted, generation_);

		if (!checked && !split)
			return checked.error();
		std::vector<uint32_t> parts;

		for (const members &set : checked ? std::vector<members>{wanted}
						  : split_up(wanted)) {
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
			for (auto &[asker, id] : placed)
				if (asker == &e)
					where[t].push_back(id);
	return where;
}

/// Each group is followed by one that is part of the same metric.
std::vector<uint32_t> planner::order() const
{
	const uint32_t none = plan_.groups.size();
	std::vector<uint32_t> all;
	auto is_new = [&](uint32_t group) {
		return std::find(all.begin(), all.end(), group) == all.end();
	};
	auto next_of = [&](uint32_t last) {
		uint32_t next = none;

		for (const auto &parts : parts_)
			if (std::count(parts.begin(), parts.end(), last))
				for (uint32_t other : parts)
					if (is_new(other))
						next = std::min(next, other);
		return next;
	};

	for (uint32_t first = 0; first < none; first++)
		for (uint32_t next = first; next != none && is_new(next);
		     next = next_of(next))
			all.push_back(next);
	return all;
}

unsigned planner::turns_of(const pmu_info *which,
			   std::span<const uint32_t> order) const
{
	unsigned turns = 0;
	members now;

	for (uint32_t index : order) {
		const counter_group &group = plan_.groups[index];

		if (group.pmu != which)
			continue;

		members more = now;

		for (const event &e : group.members)
			more.push_back(&e);
		if (turns && fits(more, generation_)) {
			now = std::move(more);
			continue;
		}
		now = pointers(group.members);
		turns++;
	}
	return turns;
}

plan planner::finish() &&
{
	plan_.order = order();
	for (const counter_group &group : plan_.groups) {
		members all;

		if (!is_uncore(group.members.front()) ||
		    std::count(plan_.multiplexed.begin(),
			       plan_.multiplexed.end(), group.pmu))
			continue;
		for (const counter_group &other : plan_.groups)
			if (other.pmu == group.pmu)
				for (const event &e : other.members)
					all.push_back(&e);
		if (!fits(all, generation_))
			plan_.multiplexed.push_back(group.pmu);
	}
	for (const pmu_info *which : plan_.multiplexed)
		plan_.turns =
			std::max(plan_.turns, turns_of(which, plan_.order));
	return std::move(plan_);
}

} // namespace uncore

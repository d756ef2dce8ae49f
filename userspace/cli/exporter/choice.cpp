// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

namespace cli {

using uncore::errc;

namespace {

/// Events that are counted together or not at all.
struct candidate {
	size_t family, event;
	std::vector<uncore::event_group> groups;
};
using candidates = std::vector<candidate>;

/// Does the machine just not have it?
bool is_missing(const uncore::error &failure)
{
	return failure.code != errc::no_driver && failure.code != errc::system;
}

class chooser {
public:
	explicit chooser(const uncore::topology &machine)
		: machine_(machine), planner_(machine)
	{
	}

	/// Chooses a family's events from @p first on that belong together.
	/// @return the event behind them.
	uncore::result<size_t> add(size_t family, size_t first);
	choice finish() &&;

private:
	uncore::result<bool> parse(const series &of, candidate &one) const;
	bool fits(const candidates &all) const;
	uncore::result<bool> take(const candidates &all);

	const uncore::topology &machine_;
	uncore::planner planner_;
	choice made_;
	/// What each box counts already.
	std::map<const uncore::pmu_info *, std::vector<uncore::event>> counted_;
	/// Events and names of sets that are not counted, of a family.
	std::set<std::pair<size_t, std::string_view>> lacking_;
};

/// @return whether the machine has the event.
uncore::result<bool> chooser::parse(const series &of, candidate &one) const
{
	auto parsed = uncore::parse_events(
		fmt::format("{}/{}/", of.box, of.events[one.event].event),
		machine_);

	if (!parsed) {
		if (is_missing(parsed.error()))
			return false;
		return parsed.error();
	}
	one.groups = *std::move(parsed);
	return true;
}

/// Can each box count these beside what it counts?
bool chooser::fits(const candidates &all) const
{
	auto counted = counted_;

	for (const candidate &one : all)
		for (const uncore::event_group &group : one.groups)
			for (const uncore::event &event :
			     group.terms.front().events) {
				auto &its = counted[event.pmu];

				its.push_back(event);
				if (!uncore::fit(its, machine_.generation()))
					return false;
			}
	return true;
}

uncore::result<bool> chooser::take(const candidates &all)
{
	if (!fits(all))
		return false;
	for (const candidate &one : all)
		for (const uncore::event_group &group : one.groups) {
			const auto places = planner_.add(group);
			const auto &events = group.terms.front().events;

			if (!places)
				return places.error();
			for (size_t i = 0; i < events.size(); i++) {
				made_.events.push_back(events[i]);
				made_.chosen.push_back({one.family, one.event,
							&made_.events.back(),
							places->front()[i]});
				counted_[events[i].pmu].push_back(events[i]);
			}
		}
	return true;
}

uncore::result<size_t> chooser::add(size_t family, size_t first)
{
	const series &of = all_series()[family];
	const counted_event &event = of.events[first];
	candidates all;
	bool has_all = true;
	size_t end = first;

	do {
		candidate one{family, end, {}};
		const auto has = parse(of, one);

		if (!has)
			return has.error();
		has_all &= *has;
		all.push_back(std::move(one));
		end++;
	} while (!event.set.empty() && end < of.events.size() &&
		 of.events[end].set == event.set);
	if (!event.instead_of.empty() &&
	    !lacking_.contains({family, event.instead_of}))
		return end;

	auto taken = has_all ? take(all) : uncore::result<bool>(false);

	if (!taken)
		return taken.error();
	if (!*taken)
		lacking_.emplace(family,
				 event.set.empty() ? event.event : event.set);
	return end;
}

choice chooser::finish() &&
{
	made_.plan = std::move(planner_).finish();
	return std::move(made_);
}

} // namespace

uncore::result<choice> choose_events(const uncore::topology &machine,
				     bool with_accounts)
{
	const bool few = with_accounts && !machine.pmus().empty() &&
			 machine.pmus().front().driver ==
				 uncore::pmu_driver::intel_uncore;
	chooser chosen(machine);

	for (size_t family = 0; family < all_series().size(); family++) {
		const series &of = all_series()[family];

		if (few && of.gives_way)
			continue;
		for (size_t event = 0; event < of.events.size();) {
			const auto next = chosen.add(family, event);

			if (!next)
				return next.error();
			event = *next;
		}
	}
	return std::move(chosen).finish();
}

} // namespace cli

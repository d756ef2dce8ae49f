// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"

namespace cli {

using uncore::errc;

namespace {

/// An event of all_series() that the machine may count, and the event on each box.
/// Candidates in one list are chosen together or not at all.
struct candidate {
	size_t family, event; ///< indices
	std::vector<uncore::event_group> groups;
};
using candidates = std::vector<candidate>;

/// Tell whether an error means that the machine lacks the event.
bool is_missing(const uncore::error &failure)
{
	return failure.code != errc::no_driver && failure.code != errc::system;
}

/// Chooses events in the order of all_series(), as long as they fit into the counters of
/// their boxes beside the events that were chosen before.
class chooser {
public:
	explicit chooser(const uncore::topology &machine)
		: machine_(machine), planner_(machine)
	{
	}

	/// Choose the event @p first of a family, and the events after it that are
	/// in the same set (counted_event::set), if they fit.
	/// @return the index of the next event.
	uncore::result<size_t> add(size_t family, size_t first);
	choice finish() &&;

private:
	uncore::result<bool> parse(const series &definition,
				   candidate &entry) const;
	bool fits(const candidates &list) const;
	uncore::result<bool> take(const candidates &list);

	const uncore::topology &machine_;
	uncore::planner planner_;
	choice choice_;
	/// Events chosen so far, by box.
	std::map<const uncore::pmu_info *, std::vector<uncore::event>> counted_;
	/// Family and name of each event or set that is not counted: an event
	/// that is instead_of this may be counted.
	std::set<std::pair<size_t, std::string_view>> lacking_;
};

/// Parse the event of a candidate.
/// @return whether the machine has the event.
uncore::result<bool> chooser::parse(const series &definition,
				    candidate &entry) const
{
	auto parsed = uncore::parse_events(
		fmt::format("{}/{}/", definition.box,
			    definition.events[entry.event].event),
		machine_);

	if (!parsed) {
		if (is_missing(parsed.error()))
			return false;
		return parsed.error();
	}
	entry.groups = *std::move(parsed);
	return true;
}

/// Check that each box can count the candidates and the events that were chosen for it
/// at the same time.
bool chooser::fits(const candidates &list) const
{
	auto counted = counted_;

	for (const candidate &entry : list)
		for (const uncore::event_group &group : entry.groups)
			for (const uncore::event &event :
			     group.terms.front().events) {
				auto &box_events = counted[event.pmu];

				box_events.push_back(event);
				if (!uncore::fit(box_events,
						 machine_.generation()))
					return false;
			}
	return true;
}

/// Choose the candidates, if they fit.
/// @return whether they were chosen.
uncore::result<bool> chooser::take(const candidates &list)
{
	if (!fits(list))
		return false;
	for (const candidate &entry : list)
		for (const uncore::event_group &group : entry.groups) {
			const auto places = planner_.add(group);
			const auto &events = group.terms.front().events;

			if (!places)
				return places.error();
			for (size_t i = 0; i < events.size(); i++) {
				choice_.events.push_back(events[i]);
				choice_.chosen.push_back(
					{entry.family, entry.event,
					 &choice_.events.back(),
					 places->front()[i]});
				counted_[events[i].pmu].push_back(events[i]);
			}
		}
	return true;
}

uncore::result<size_t> chooser::add(size_t family, size_t first)
{
	const series &definition = all_series()[family];
	const counted_event &event = definition.events[first];
	candidates list;
	bool all_supported = true;
	size_t end = first;

	do {
		candidate entry{family, end, {}};
		const auto supported = parse(definition, entry);

		if (!supported)
			return supported.error();
		all_supported &= *supported;
		list.push_back(std::move(entry));
		end++;
	} while (!event.set.empty() && end < definition.events.size() &&
		 definition.events[end].set == event.set);
	// Skip a replacement if the machine counts the event that it replaces.
	if (!event.instead_of.empty() &&
	    !lacking_.contains({family, event.instead_of}))
		return end;

	auto taken = all_supported ? take(list) : uncore::result<bool>(false);

	if (!taken)
		return taken.error();
	if (!*taken)
		lacking_.emplace(family,
				 event.set.empty() ? event.event : event.set);
	return end;
}

choice chooser::finish() &&
{
	choice_.plan = std::move(planner_).finish();
	return std::move(choice_);
}

} // namespace

uncore::result<choice> choose_events(const uncore::topology &machine,
				     bool with_accounts)
{
	const bool few = with_accounts && !machine.pmus().empty() &&
			 machine.pmus().front().driver ==
				 uncore::pmu_driver::intel_uncore;
	const auto *tables = uncore::catalogue_tables::find(
		uncore::catalogue::of(machine).generation());
	chooser chosen(machine);

	for (size_t family = 0; family < all_series().size(); family++) {
		const series &definition = all_series()[family];

		if ((few && definition.gives_way) ||
		    (!definition.interconnect.empty() &&
		     (!tables || tables->interconnect != definition.interconnect)))
			continue;
		for (size_t event = 0; event < definition.events.size();) {
			const auto next = chosen.add(family, event);

			if (!next)
				return next.error();
			event = *next;
		}
	}
	return std::move(chosen).finish();
}

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/counters.hpp"

namespace cli {

const uncore::event_info *event_for_trial(const uncore::topology &machine,
					  const uncore::pmu_info &pmu)
{
	if (pmu.field("event"))
		return nullptr;
	for (const auto &info : uncore::catalogue::of(machine).events())
		if (info.box == pmu.box)
			return &info;
	return nullptr;
}

uncore::result<counters> counters::open(const uncore::topology &machine,
					std::string_view events)
{
	auto groups = uncore::parse_events(events, machine);
	uncore::planner planner(machine);
	std::vector<counter_entry> entries;

	if (!groups)
		return groups.error();
	for (const uncore::event_group &group : *groups) {
		const auto ids = planner.add(group);

		if (!ids)
			return ids.error();
		for (size_t t = 0; t < group.terms.size(); t++)
			for (size_t e = 0; e < (*ids)[t].size(); e++)
				entries.push_back({group.terms[t].name,
						   group.terms[t].events[e].pmu,
						   (*ids)[t][e]});
	}
	auto opened =
		uncore::session::open(std::move(planner).finish(), machine);
	if (!opened)
		return opened.error();
	return counters(*std::move(opened), std::move(entries));
}

uncore::result<std::vector<counted>>
counters::during(const std::function<void()> &work)
{
	if (auto outcome = session_.enable(); !outcome)
		return outcome.error();
	work();
	if (auto outcome = session_.disable(); !outcome)
		return outcome.error();
	if (auto outcome = session_.read(); !outcome)
		return outcome.error();
	return totals();
}

uncore::result<std::vector<counted>> counters::so_far()
{
	if (!enabled_) {
		if (auto outcome = session_.enable(); !outcome)
			return outcome.error();
		enabled_ = true;
	}
	if (auto outcome = session_.read(); !outcome)
		return outcome.error();
	return totals();
}

std::vector<counted> counters::totals() const
{
	std::vector<counted> counts;

	for (const counter_entry &entry : entries_)
		for (size_t i = 0; i < session_.cpus(entry.id).size(); i++)
			counts.push_back({entry.name, entry.box,
					  session_.package(entry.id, i),
					  session_.total(entry.id, i)});
	return counts;
}

} // namespace cli

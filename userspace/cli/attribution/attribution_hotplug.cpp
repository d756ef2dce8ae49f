// SPDX-License-Identifier: GPL-2.0-or-later
// Follows changes while attribution runs: CPUs that go offline (departures) or come online,
// and boxes that die.  struct attribution_counter explains events, copies and shifts.
#include "attribution/attribution_state.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cli {

void attribution::state::cpu_online(int cpu, uint64_t departures_seen)
{
	int id = machine->package_of(cpu);

	// The topology from the start has no package for a CPU that was offline
	// then.  Only then read sysfs again, which is slow.
	if (id < 0) {
		auto topology = uncore::topology::read();

		id = topology ? topology->package_of(cpu) : -1;
	}

	for (unsigned i = 0; i < n_packages(); i++)
		if (machine->packages()[i].id == id)
			cpus[cpu] = i;
	if (!cpus.contains(cpu)) {
		warnings.push_back(fmt::format(
			"CPU {}: its socket was not there at the start, so its tasks are not accounted for",
			cpu));
		return;
	}
	auto outcome = open_cpu(cpu);
	unsigned tries = 0;

	while (!outcome && outcome.error().code == uncore::errc::gone &&
	       uncore::counts_events(cpu) && wait_to_retry(tries))
		outcome = open_cpu(cpu);

	// If the CPU went offline after @departures_seen was read, its events may
	// be lost.  The next follow_hotplug() sees a larger number of departures.
	departures[cpu] = departures_seen;
	// This CPU, or the CPU on which the package's events are open, went
	// offline.  Drop this CPU: the next follow_hotplug() opens it again.
	if (!outcome && outcome.error().code == uncore::errc::gone &&
	    any_went_offline(cpus.at(cpu))) {
		cpu_offline(cpu);
		return;
	}
	if (!outcome)
		warnings.push_back(fmt::format("CPU {} came online: {}", cpu,
					       outcome.error().message));
	run(programs->progs.look_here, cpu, 0);
}

/// Close the copies of a CPU, as they do not count again when the CPU is back online.
/// Delete their entries in the map of events first: the bases of later copies do not
/// fit them.  The package's event continues on another online CPU; without one, it is
/// closed as well.
void attribution::state::cpu_offline(int cpu)
{
	unsigned pkg = cpus.at(cpu);

	for (size_t i = 0; i < counters.size(); i++)
		delete_event(programs->maps.events, i * n_cpus + cpu);
	delete_event(programs->maps.weight_events, cpu);
	cpus.erase(cpu);
	weights.erase(cpu);
	bool last = std::none_of(cpus.begin(), cpus.end(), [&](auto &entry) {
		return entry.second == pkg;
	});

	for (auto &c : counters) {
		c.copies.erase(cpu);
		if (!last)
			continue;
		c.open.erase(pkg);
		c.shift.erase(pkg);
	}
}

/// Has the CPU gone offline since its events were opened?  It may be online again.
bool attribution::state::went_offline(int cpu) const
{
	return programs->bss->cpus[cpu].departures != departures[cpu];
}

bool attribution::state::any_went_offline(unsigned package) const
{
	return std::any_of(cpus.begin(), cpus.end(), [&](const auto &entry) {
		return entry.second == package && went_offline(entry.first);
	});
}

/// Close the events of CPUs that went offline, and open events on CPUs that came
/// online.
void attribution::state::follow_hotplug()
{
	std::vector<uint64_t> departures_seen(n_cpus);
	std::vector<int> offline;

	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		departures_seen[cpu] = programs->bss->cpus[cpu].departures;

	std::vector<int> online = online_cpus();

	if (online.empty())
		return;
	for (auto [cpu, pkg] : cpus)
		if (!std::binary_search(online.begin(), online.end(), cpu) ||
		    went_offline(cpu))
			offline.push_back(cpu);
	for (int cpu : offline)
		cpu_offline(cpu);
	for (int cpu : online)
		if (!cpus.contains(cpu) && static_cast<unsigned>(cpu) < n_cpus)
			cpu_online(cpu, departures_seen[cpu]);
}

/// Warn of boxes that died.  The count of a dead box does not change, so only boxes
/// whose count is the same as at the last account are checked.
void attribution::state::find_dead_boxes()
{
	for (size_t i = 0; i < counters.size(); i++) {
		attribution_counter &c = counters[i];

		for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
			int cpu = cpu_for(*c.event.pmu, cpus, pkg);
			const auto &p = programs->bss->packages[pkg];

			if (cpu < 0 || c.dead.contains(pkg) ||
			    p.now.seen[i] != before[pkg].seen[i])
				continue;
			if (box_answers(c.event, cpu))
				continue;
			c.dead.insert(pkg);
			warnings.push_back(fmt::format(
				"{} of socket {} does not answer any more: its counts stay as they are",
				c.event.pmu->name,
				machine->packages()[pkg].id));
		}
	}
}

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// Changes while attribution runs: hotplug of CPUs, and boxes that die.
#include "attribution/attribution_state.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cli {

void attribution::state::cpu_online(int cpu, uint64_t departures_seen)
{
	int id = machine->package_of(cpu);

	// All of sysfs takes long to read; most CPUs were online before.
	if (id < 0) {
		auto again = uncore::topology::read();

		id = again ? again->package_of(cpu) : -1;
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
	auto done = open_cpu(cpu);
	unsigned tries = 0;

	while (!done && done.error().code == uncore::errc::gone &&
	       uncore::counts_events(cpu) && ask_again(tries))
		done = open_cpu(cpu);

	// If it went offline since, it is handled as such, even if it is online
	// again by now.
	departures[cpu] = departures_seen;
	// Either it went offline, or the CPU that has its package's events did.
	// The next look tries again.
	if (!done && done.error().code == uncore::errc::gone &&
	    any_went_offline(cpus.at(cpu))) {
		cpu_offline(cpu);
		return;
	}
	if (!done)
		warnings.push_back(fmt::format("CPU {} came online: {}", cpu,
					       done.error().message));
	run(programs->progs.look_here, cpu, 0);
}

/// Its copies count nothing any more, also when it is online again.  Their
/// entries in the maps must not be read with the bases of later ones.  The
/// package's event continues on another CPU, if there is one.
void attribution::state::cpu_offline(int cpu)
{
	unsigned pkg = cpus.at(cpu);

	for (size_t i = 0; i < counters.size(); i++)
		take_out(programs->maps.events, i * n_cpus + cpu);
	take_out(programs->maps.weight_events, cpu);
	cpus.erase(cpu);
	weights.erase(cpu);
	bool last = std::none_of(cpus.begin(), cpus.end(), [&](auto &other) {
		return other.second == pkg;
	});

	for (auto &c : counters) {
		c.copies.erase(cpu);
		if (!last)
			continue;
		c.open.erase(pkg);
		c.shift.erase(pkg);
	}
}

/// Also when it is online again.
bool attribution::state::went_offline(int cpu) const
{
	return programs->bss->cpus[cpu].departures != departures[cpu];
}

bool attribution::state::any_went_offline(unsigned package) const
{
	return std::any_of(cpus.begin(), cpus.end(), [&](const auto &each) {
		return each.second == package && went_offline(each.first);
	});
}

void attribution::state::follow_hotplug()
{
	std::vector<uint64_t> departures_seen(n_cpus);
	std::vector<int> went;

	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		departures_seen[cpu] = programs->bss->cpus[cpu].departures;

	std::vector<int> now = online_cpus();

	if (now.empty())
		return;
	for (auto [cpu, pkg] : cpus)
		if (!std::binary_search(now.begin(), now.end(), cpu) ||
		    went_offline(cpu))
			went.push_back(cpu);
	for (int cpu : went)
		cpu_offline(cpu);
	for (int cpu : now)
		if (!cpus.contains(cpu) && static_cast<unsigned>(cpu) < n_cpus)
			cpu_online(cpu, departures_seen[cpu]);
}

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

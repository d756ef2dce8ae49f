// SPDX-License-Identifier: GPL-2.0-or-later
// What may happen while attribution runs: CPUs come and go, boxes die.
#include "attribution/attribution_state.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cli {

void attribution::state::cpu_came(int cpu, uint64_t had_gone)
{
	int id = machine->package_of(cpu);

	// All of sysfs takes long to read; most that come were there before.
	if (id < 0) {
		auto again = uncore::topology::read();

		id = again ? again->package_of(cpu) : -1;
	}

	for (unsigned i = 0; i < n_packages(); i++)
		if (machine->packages()[i].id == id)
			cpus[cpu] = i;
	if (!cpus.contains(cpu)) {
		warnings.push_back(fmt::format(
			"CPU {}: its socket was not there at the start, so "
			"its tasks are not accounted for",
			cpu));
		return;
	}
	auto done = open_cpu(cpu);
	unsigned tries = 0;

	while (!done && done.error().code == uncore::errc::gone &&
	       uncore::counts_events(cpu) && ask_again(tries))
		done = open_cpu(cpu);

	// If it has gone since it was looked for, it is to be taken for gone
	// even if it is back by now.
	departures[cpu] = had_gone;
	// That is why, or the CPU has gone that has its package's events.  The
	// next look tries again.
	if (!done && done.error().code == uncore::errc::gone &&
	    any_has_gone(cpus.at(cpu))) {
		cpu_went(cpu);
		return;
	}
	if (!done)
		warnings.push_back(fmt::format("CPU {} came online: {}", cpu,
					       done.error().message));
	run(programs->progs.look_here, cpu, 0);
}

/// Its copies count nothing any more, also when it has come back since.  What the
/// programs still have of them must not be read with the bases of those that follow.
/// The package's event goes on with another CPU, if there is one.
void attribution::state::cpu_went(int cpu)
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

/// Also when it is back already.
bool attribution::state::has_gone(int cpu) const
{
	return programs->bss->cpus[cpu].departures != departures[cpu];
}

bool attribution::state::any_has_gone(unsigned package) const
{
	return std::any_of(cpus.begin(), cpus.end(), [&](const auto &each) {
		return each.second == package && has_gone(each.first);
	});
}

void attribution::state::follow_hotplug()
{
	std::vector<uint64_t> had_gone(n_cpus);
	std::vector<int> went;

	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		had_gone[cpu] = programs->bss->cpus[cpu].departures;

	std::vector<int> now = online_cpus();

	if (now.empty())
		return;
	for (auto [cpu, pkg] : cpus)
		if (!std::binary_search(now.begin(), now.end(), cpu) ||
		    has_gone(cpu))
			went.push_back(cpu);
	for (int cpu : went)
		cpu_went(cpu);
	for (int cpu : now)
		if (!cpus.contains(cpu) && static_cast<unsigned>(cpu) < n_cpus)
			cpu_came(cpu, had_gone[cpu]);
}

void attribution::state::look_for_the_gone()
{
	for (size_t i = 0; i < counters.size(); i++) {
		attribution_counter &c = counters[i];

		for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
			int cpu = cpu_for(*c.event.pmu, cpus, pkg);
			const auto &p = programs->bss->packages[pkg];

			if (cpu < 0 || c.gone.contains(pkg) ||
			    p.now.seen[i] != before[pkg].seen[i])
				continue;
			if (box_answers(c.event, cpu))
				continue;
			c.gone.insert(pkg);
			warnings.push_back(fmt::format(
				"{} of socket {} does not answer any more: "
				"its counts stay as they are",
				c.event.pmu->name,
				machine->packages()[pkg].id));
		}
	}
}

} // namespace cli

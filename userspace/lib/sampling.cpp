// SPDX-License-Identifier: LGPL-2.1-or-later
// Check whether an event can be sampled, and list the CPUs that sample it.  To
// sample an event, the driver sets its counter so that it overflows after a
// number of counts, the sample period, and records the code that a CPU runs at
// the overflow.
#include "sampling.hpp"

#include <algorithm>

#include "perf_events.hpp"

namespace uncore {

/// Sample period of try_sampling(), in counts: so long that no sample is taken
/// before the event is closed again.
static constexpr uint64_t long_period = uint64_t{1} << 40;

/// Check for an event of a free-running counter, which can neither be set nor
/// stopped.  The catalogue restricts events of free-running and of fixed
/// counters to no general counter.  Of the two, only events of free-running
/// counters have a unit mask; a fixed counter can be set and stopped, and so be
/// sampled.
static bool is_free_running(const event &event)
{
	return event.info && !event.info->counters &&
	       (event.config >> 8 & 0xff);
}

/// Make the error for an event that cannot be sampled.
static error cannot(const event &event, const char *reason)
{
	return {errc::invalid, event.text + " cannot be sampled: " + reason};
}

std::optional<error> sampling_refusal(const event &event)
{
	if (event.type == event::duration_time)
		return cannot(event, "it is a time, which has no overflows");
	if (is_free_running(event))
		return cannot(
			event,
			"its counter is free-running, and no period can be written to it");
	if (event.pmu && event.pmu->driver == pmu_driver::intel_uncore)
		return cannot(
			event,
			"intel_uncore only counts; unload it and load xeon_uncore");
	return std::nullopt;
}

error not_sampled(const event &event)
{
	return cannot(event, "the driver only counts it");
}

result<void> try_sampling(const event &event)
{
	if (auto refusal = sampling_refusal(event))
		return *refusal;

	perf_event_attr attr = attributes_of(event);
	const int cpu = event.pmu && !event.pmu->cpus.empty()
				? event.pmu->cpus.front()
				: 0;

	attr.read_format = 0;
	attr.disabled = 1;
	attr.sample_period = long_period;

	const auto opened = perf_events::open_on(event, attr, cpu);

	if (opened)
		return {};
	// A driver that only counts refuses a sample period with EINVAL or
	// EOPNOTSUPP.
	if (opened.error().code == errc::invalid ||
	    opened.error().code == errc::unsupported)
		return not_sampled(event);
	return opened.error();
}

std::vector<int> sampled_cpus(const event &event, const topology &machine)
{
	std::vector<int> cpus;

	if (!event.pmu || event.pmu->cpus.empty())
		return machine.cpus();
	for (const package &socket : machine.packages())
		if (std::any_of(event.pmu->cpus.begin(), event.pmu->cpus.end(),
				[&](int cpu) {
					return machine.package_of(cpu) ==
					       socket.id;
				}))
			cpus.insert(cpus.end(), socket.cpus.begin(),
				    socket.cpus.end());
	// The topology has no package for the CPUs of the cpumask: sample on
	// these CPUs alone.
	return cpus.empty() ? event.pmu->cpus : cpus;
}

} // namespace uncore

// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the events that the programs read: an event per package and, if the
// kernel lets a CPU read only events of that CPU, a copy for each CPU.
//
// A package's event and its copies follow one counter of the box, but each counts from
// the moment at which it was opened.  The programs add a base to the count of each
// event: the counter's count at that moment.  So all CPUs get the same count.
#include "attribution/attribution_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace cli {

/// Format field of xeon_uncore's PMUs that makes an event a copy of the package's
/// event.  A copy takes no counter.
static constexpr const char *local_field = "local";

/// Attempts to open an event of a CPU that comes back online, and the time between
/// two attempts.
static constexpr unsigned max_tries = 20;
static constexpr std::chrono::milliseconds retry_delay{5};

uncore::result<void> attribution::state::set_event(bpf_map *map, uint32_t key,
						   int fd)
{
	int err = bpf_map_update_elem(bpf_map__fd(map), &key, &fd, BPF_ANY);

	if (err)
		return bpf_failure("giving an event to the BPF programs", err);
	return {};
}

void attribution::state::delete_event(bpf_map *map, uint32_t key)
{
	bpf_map_delete_elem(bpf_map__fd(map), &key);
}

int cpu_for(const uncore::pmu_info &pmu, const std::map<int, unsigned> &cpus,
	    unsigned package)
{
	for (int cpu : pmu.cpus) {
		auto entry = cpus.find(cpu);

		if (entry != cpus.end() && entry->second == package)
			return cpu;
	}
	// The PMU's CPU may have changed since the topology was read.
	for (auto [cpu, index] : cpus)
		if (index == package)
			return cpu;
	return -1;
}

/// Get the attributes of a pinned event, which perf does not multiplex: the counts
/// of a part of the time cannot be divided among the tasks of the whole time.
static perf_event_attr pinned(const uncore::event &event)
{
	perf_event_attr attributes = uncore::attributes_of(event);

	attributes.pinned = 1;
	return attributes;
}

static uncore::error no_counter(const uncore::event &event)
{
	return {uncore::errc::conflict,
		event.text +
			": all counters of its box that can count it are taken, or its filter is set for another event"};
}

/// Set shared: try to read a package's event on another CPU of the package.  Kernels
/// from 6.8 on allow the read.  One event of one package decides for all.
uncore::result<void> attribution::state::probe_sharing()
{
	if (options.each_cpu)
		return {};
	for (unsigned i = 0; i < n_packages() * counters.size(); i++) {
		const attribution_counter &c = counters[i / n_packages()];
		const unsigned pkg = i % n_packages();
		const auto &package_cpus = machine->packages()[pkg].cpus;
		int cpu = cpu_for(*c.event.pmu, cpus, pkg);

		if (cpu < 0 || package_cpus.size() < 2 || c.dead.contains(pkg))
			continue;
		int other_cpu = package_cpus[0] == cpu ? package_cpus[1]
						       : package_cpus[0];
		auto probe = uncore::perf_events::open_on(c.event,
							  pinned(c.event), cpu);

		if (!probe)
			return probe.error();
		auto outcome = set_event(programs->maps.events, other_cpu,
					 probe->fd());

		if (!outcome)
			return outcome;
		shared = run(programs->progs.try_read, other_cpu, other_cpu) ==
			 0;
		delete_event(programs->maps.events, other_cpu);
		return {};
	}
	return {};
}

/// Does each CPU have a copy of the counter's event?  xeon_uncore has no copies when
/// it replaces the in-tree driver (pmu_prefix=uncore).
bool attribution::state::has_copies(const attribution_counter &c) const
{
	return !shared && c.event.pmu->field(local_field);
}

/// Read the base of an event: the count that the event's counter had when the event
/// began.
uncore::result<uint64_t> attribution::state::read_base(int fd)
{
	int err = run(programs->progs.event_base, -1, fd);

	if (err)
		return bpf_failure("looking into an event", err);
	return programs->bss->base_found;
}

uncore::result<void> attribution::state::set_base(size_t index, int cpu,
						  uint64_t base)
{
	uint32_t key = index * n_cpus + cpu;
	int err = bpf_map_update_elem(bpf_map__fd(programs->maps.bases), &key,
				      &base, BPF_ANY);

	if (err)
		return bpf_failure("setting up the BPF maps", err);
	return {};
}

/// Tell the programs the counter's count, @p count.  Before the programs are
/// attached, the package's first account begins at this count.  Later, the event was
/// opened again: set shift, so that the programs continue at their last count.
uncore::result<void> attribution::state::begin(attribution_counter &c,
					       size_t index, unsigned pkg,
					       uint64_t count)
{
	__u64 &now = programs->bss->packages[pkg].now.seen[index];

	if (!link)
		now = count;
	else if (!c.shift.contains(pkg))
		c.shift[pkg] = now - count;
	return {};
}

/// Open a package's event, which gets a counter of the box.
uncore::result<void> attribution::state::open_counter(attribution_counter &c,
						      size_t index,
						      unsigned pkg)
{
	auto opened = uncore::perf_events::open_on(
		c.event, pinned(c.event), cpu_for(*c.event.pmu, cpus, pkg));

	if (!opened)
		return opened.error();
	auto now = opened->read();

	// A pinned event without a counter opens, but cannot be read.
	if (!now)
		return now.error().code == uncore::errc::not_found
			       ? no_counter(c.event)
			       : now.error();
	uint64_t base = 0;

	// Without copies all CPUs read this event, and need no base.
	if (has_copies(c)) {
		auto base_count = read_base(opened->fd());

		if (!base_count)
			return base_count.error();
		base = *base_count;
	}
	auto begun = begin(c, index, pkg, now->value + base);

	if (begun)
		c.open.insert_or_assign(pkg, *std::move(opened));
	return begun;
}

/// Open a copy of the event for a CPU that cannot read another CPU's event.
uncore::result<void> attribution::state::open_copy(attribution_counter &c,
						   size_t index, int cpu)
{
	perf_event_attr attributes = pinned(c.event);

	attributes.config |= c.event.pmu->field(local_field)->place(1);
	auto opened = uncore::perf_events::open_on(c.event, attributes, cpu);

	if (!opened)
		return opened.error();
	// read_base() needs the fields that the driver updates at a read.
	auto now = opened->read();

	// A copy has no counter if the package's event has none: while the package's CPUs
	// are offline, or since they were, which ends the event.
	if (!now && now.error().code == uncore::errc::not_found) {
		const auto original = c.open.find(cpus.at(cpu));

		if (!link && original != c.open.end() && !original->second.read())
			c.open.erase(original);
		return uncore::error{uncore::errc::gone,
				     fmt::format("{} has no counter on CPU {}",
						 c.event.text, cpu)};
	}
	if (!now)
		return now.error();
	auto base = read_base(opened->fd());

	if (!base)
		return base.error();
	auto outcome = set_base(index, cpu, *base + c.shift[cpus.at(cpu)]);

	if (outcome)
		outcome = set_event(programs->maps.events, index * n_cpus + cpu,
				    opened->fd());
	if (outcome)
		c.copies.insert_or_assign(cpu, *std::move(opened));
	return outcome;
}

/// Open the events with which @p cpu reads a counter.
uncore::result<void> attribution::state::open_on(attribution_counter &c,
						 size_t index, int cpu)
{
	unsigned pkg = cpus.at(cpu);
	uncore::result<void> outcome;

	if (c.dead.contains(pkg))
		return outcome;
	if (!c.open.contains(pkg))
		outcome = open_counter(c, index, pkg);
	if (!outcome)
		return outcome;
	if (has_copies(c))
		return open_copy(c, index, cpu);
	outcome = set_base(index, cpu, c.shift[pkg]);
	if (outcome)
		outcome = set_event(programs->maps.events, index * n_cpus + cpu,
				    c.open.at(pkg).fd());
	return outcome;
}

uncore::result<void> attribution::state::open_weight(int cpu)
{
	auto opened = uncore::perf_events::open_on(
		*options.weight, uncore::attributes_of(*options.weight), cpu);

	if (!opened)
		return opened.error();
	auto outcome =
		set_event(programs->maps.weight_events, cpu, opened->fd());

	if (outcome)
		weights.insert_or_assign(cpu, *std::move(opened));
	return outcome;
}

/// Tell the programs the package of @p cpu, and open the events that the CPU reads.
/// After an error continue with the other events: counters that this CPU cannot read
/// are read by other CPUs of the package.
/// @return the first error.
uncore::result<void> attribution::state::open_cpu(int cpu)
{
	uncore::result<void> outcome;

	// The CPU's tasks belong to the package, also if no event opens.
	programs->bss->cpus[cpu].package = cpus.at(cpu);
	departures[cpu] = programs->bss->cpus[cpu].departures;
	for (size_t i = 0; i < counters.size(); i++) {
		auto opened = open_on(counters[i], i, cpu);

		if (outcome)
			outcome = opened;
	}
	if (options.weight) {
		auto opened = open_weight(cpu);

		if (outcome)
			outcome = opened;
	}
	return outcome;
}

/// Wait before another attempt to open events of a CPU that came online: the driver
/// registers the PMUs of the CPU's package only after the CPU is online.
/// @return false after the last attempt.
bool attribution::state::wait_to_retry(unsigned &tries)
{
	if (++tries >= max_tries)
		return false;
	std::this_thread::sleep_for(retry_delay);
	return true;
}

bool box_answers(const uncore::event &event, int cpu)
{
	perf_event_attr attributes = uncore::attributes_of(event);

	attributes.disabled = 1;
	// A CPU that is offline gives the same error as a dead box.  If the CPU
	// came back between the attempt and the check, try once more.
	for (int tries = 0; tries < 2; tries++) {
		auto opened =
			uncore::perf_events::open_on(event, attributes, cpu);

		if (opened || opened.error().code != uncore::errc::gone ||
		    !uncore::counts_events(cpu))
			return true;
	}
	return false;
}

/// Handle errc::gone of an event, which has two causes.  If CPUs went offline, drop
/// them.  If attempts fail for max_tries with no CPU offline, exclude dead boxes.
/// @return whether to open the event again; false also for any other error.
bool attribution::state::drop_offline(const uncore::error &error,
				      unsigned &tries)
{
	if (error.code != uncore::errc::gone)
		return false;

	std::vector<int> offline;

	for (auto [cpu, pkg] : cpus)
		if (!uncore::counts_events(cpu))
			offline.push_back(cpu);
	for (int cpu : offline)
		cpu_offline(cpu);
	// A CPU that was offline at the attempt may be online again by now, and
	// the next attempt succeeds.  A dead box stays dead.
	if (!offline.empty() || wait_to_retry(tries))
		return true;
	tries = 0;
	return exclude_dead_boxes();
}

/// Mark dead boxes, so that the other boxes are counted without them.
/// @return whether a dead box was found.
bool attribution::state::exclude_dead_boxes()
{
	bool excluded = false;

	for (attribution_counter &c : counters)
		for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
			const int cpu = cpu_for(*c.event.pmu, cpus, pkg);

			if (cpu < 0 || c.open.contains(pkg) ||
			    c.dead.contains(pkg) || box_answers(c.event, cpu))
				continue;
			excluded = c.dead.insert(pkg).second;
			warnings.push_back(fmt::format(
				"{} of socket {} does not answer, and is not counted",
				c.event.pmu->name,
				machine->packages()[pkg].id));
		}
	std::sort(warnings.begin(), warnings.end());
	warnings.erase(std::unique(warnings.begin(), warnings.end()),
		       warnings.end());
	return excluded;
}

/// Warn if only one CPU per package can read an event, as there are neither shared
/// events nor copies.  Switches on the other CPUs then cannot read the counters, and
/// their tasks get parts of the counts of a longer time.
void attribution::state::warn_single_reader()
{
	for (const attribution_counter &c : counters) {
		if (shared || has_copies(c))
			continue;
		warnings.push_back(fmt::format(
			"{} is read on one CPU of each socket only, and tasks of other CPUs are attributed less exactly: {}",
			c.event.pmu->name,
			c.event.pmu->driver == uncore::pmu_driver::xeon_uncore
				? "load xeon_uncore without pmu_prefix=uncore, or use Linux 6.8"
				: "use xeon_uncore, or Linux 6.8"));
		return;
	}
}

uncore::result<void> attribution::state::open_everywhere()
{
	uncore::result<void> outcome;
	unsigned tries = 0;

	do
		outcome = probe_sharing();
	while (!outcome && drop_offline(outcome.error(), tries));
	for (auto entry = cpus.begin(); outcome && entry != cpus.end();) {
		int cpu = entry->first;

		outcome = open_cpu(cpu);
		// Try this CPU again, if it is still in cpus.
		if (!outcome && drop_offline(outcome.error(), tries))
			outcome = {};
		else
			++cpu;
		// drop_offline() may have removed the entry.
		entry = cpus.lower_bound(cpu);
	}
	if (outcome)
		warn_single_reader();
	return outcome;
}

} // namespace cli

// SPDX-License-Identifier: GPL-2.0-or-later
// Opens the events that the programs read: one a package, and where the kernel
// lets a CPU read none but its own, a copy for each CPU.  Says where each began
// to count.
#include "attribution/attribution_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace cli {

/// The field that makes an event a passive copy of its package's.
static constexpr const char *local_field = "local";

/// How often an event of a CPU that went offline is tried again, and the time
/// between two tries.
static constexpr unsigned most_tries = 20;
static constexpr std::chrono::milliseconds between_tries{5};

uncore::result<void> attribution::state::put(bpf_map *map, uint32_t key, int fd)
{
	int err = bpf_map_update_elem(bpf_map__fd(map), &key, &fd, BPF_ANY);

	if (err)
		return bpf_failure("giving an event to the BPF programs", err);
	return {};
}

void attribution::state::take_out(bpf_map *map, uint32_t key)
{
	bpf_map_delete_elem(bpf_map__fd(map), &key);
}

int cpu_for(const uncore::pmu_info &pmu, const std::map<int, unsigned> &cpus,
	    unsigned package)
{
	for (int cpu : pmu.cpus) {
		auto at = cpus.find(cpu);

		if (at != cpus.end() && at->second == package)
			return cpu;
	}
	// The PMU's CPU may have changed since the machine was read.
	for (auto [cpu, index] : cpus)
		if (index == package)
			return cpu;
	return -1;
}

/// Pinned: an event that only counts some of the time cannot be divided.
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

/// From 6.8 on a kernel lets each CPU of a package read the package's event.
uncore::result<void> attribution::state::probe_sharing()
{
	if (options.each_cpu)
		return {};
	for (unsigned i = 0; i < n_packages() * counters.size(); i++) {
		const attribution_counter &c = counters[i / n_packages()];
		const unsigned pkg = i % n_packages();
		const auto &all = machine->packages()[pkg].cpus;
		int cpu = cpu_for(*c.event.pmu, cpus, pkg);

		if (cpu < 0 || all.size() < 2 || c.dead.contains(pkg))
			continue;
		int other = all[0] == cpu ? all[1] : all[0];
		auto probe = uncore::perf_events::open_on(c.event,
							  pinned(c.event), cpu);

		if (!probe)
			return probe.error();
		auto done = put(programs->maps.events, other, probe->fd());

		if (!done)
			return done;
		shared = run(programs->progs.try_read, other, other) == 0;
		take_out(programs->maps.events, other);
		return {};
	}
	return {};
}

/// Whether each CPU has a copy of the counter's event.  The driver has none in
/// the place of the kernel's own.
bool attribution::state::has_copies(const attribution_counter &c) const
{
	return !shared && c.event.pmu->field(local_field);
}

/// What its counter had counted when an event began.
uncore::result<uint64_t> attribution::state::base_of(int fd)
{
	int err = run(programs->progs.event_base, -1, fd);

	if (err)
		return bpf_failure("looking into an event", err);
	return programs->bss->base_found;
}

uncore::result<void> attribution::state::set_base(size_t at, int cpu,
						  uint64_t base)
{
	uint32_t key = at * n_cpus + cpu;
	int err = bpf_map_update_elem(bpf_map__fd(programs->maps.bases), &key,
				      &base, BPF_ANY);

	if (err)
		return bpf_failure("setting up the BPF maps", err);
	return {};
}

/// Set the count at which a package's account begins: @p seen, which its
/// counter shows.  A counter that was closed continues from its last count.
uncore::result<void> attribution::state::begin(attribution_counter &c,
					       size_t at, unsigned pkg,
					       uint64_t seen)
{
	__u64 &now = programs->bss->packages[pkg].now.seen[at];

	if (!link)
		now = seen;
	else if (!c.shift.contains(pkg))
		c.shift[pkg] = now - seen;
	return {};
}

/// Opens the event that has the counter, once a package.
uncore::result<void> attribution::state::open_counter(attribution_counter &c,
						      size_t at, unsigned pkg)
{
	auto opened = uncore::perf_events::open_on(
		c.event, pinned(c.event), cpu_for(*c.event.pmu, cpus, pkg));

	if (!opened)
		return opened.error();
	auto now = opened->read();

	if (!now)
		return now.error().code == uncore::errc::not_found
			       ? no_counter(c.event)
			       : now.error();
	uint64_t base = 0;

	if (has_copies(c)) {
		auto found = base_of(opened->fd());

		if (!found)
			return found.error();
		base = *found;
	}
	auto done = begin(c, at, pkg, now->value + base);

	if (done)
		c.open.insert_or_assign(pkg, *std::move(opened));
	return done;
}

/// Opens a copy of it for one CPU, which may read no other CPU's event.
uncore::result<void> attribution::state::open_copy(attribution_counter &c,
						   size_t at, int cpu)
{
	perf_event_attr attributes = pinned(c.event);

	attributes.config |= c.event.pmu->field(local_field)->place(1);
	auto opened = uncore::perf_events::open_on(c.event, attributes, cpu);

	if (!opened)
		return opened.error();
	// Brings it up to date, which is what base_of() goes by.
	auto now = opened->read();

	if (!now)
		return now.error();
	auto base = base_of(opened->fd());

	if (!base)
		return base.error();
	auto done = set_base(at, cpu, *base + c.shift[cpus.at(cpu)]);

	if (done)
		done = put(programs->maps.events, at * n_cpus + cpu,
			   opened->fd());
	if (done)
		c.copies.insert_or_assign(cpu, *std::move(opened));
	return done;
}

/// Makes sure that @p cpu can read a counter.
uncore::result<void> attribution::state::open_on(attribution_counter &c,
						 size_t at, int cpu)
{
	unsigned pkg = cpus.at(cpu);
	uncore::result<void> done;

	if (c.dead.contains(pkg))
		return done;
	if (!c.open.contains(pkg))
		done = open_counter(c, at, pkg);
	if (!done)
		return done;
	if (has_copies(c))
		return open_copy(c, at, cpu);
	done = set_base(at, cpu, c.shift[pkg]);
	if (done)
		done = put(programs->maps.events, at * n_cpus + cpu,
			   c.open.at(pkg).fd());
	return done;
}

uncore::result<void> attribution::state::open_weight(int cpu)
{
	auto opened = uncore::perf_events::open_on(
		*options.weight, uncore::attributes_of(*options.weight), cpu);

	if (!opened)
		return opened.error();
	auto done = put(programs->maps.weight_events, cpu, opened->fd());

	if (done)
		weights.insert_or_assign(cpu, *std::move(opened));
	return done;
}

/// Makes @p cpu known to the programs, and able to read the counters: as many
/// as can be.  What it cannot read, others of its package can.
uncore::result<void> attribution::state::open_cpu(int cpu)
{
	uncore::result<void> done;

	// Whatever else fails, its tasks belong there.
	programs->bss->cpus[cpu].package = cpus.at(cpu);
	departures[cpu] = programs->bss->cpus[cpu].departures;
	for (size_t i = 0; i < counters.size(); i++) {
		auto opened = open_on(counters[i], i, cpu);

		if (done)
			done = opened;
	}
	if (options.weight) {
		auto opened = open_weight(cpu);

		if (done)
			done = opened;
	}
	return done;
}

/// Waits, as a CPU is online before the driver has its package's PMUs back.
/// @return whether to ask again for what did not answer.
bool attribution::state::ask_again(unsigned &tries)
{
	if (++tries >= most_tries)
		return false;
	std::this_thread::sleep_for(between_tries);
	return true;
}

bool box_answers(const uncore::event &event, int cpu)
{
	perf_event_attr attributes = uncore::attributes_of(event);

	attributes.disabled = 1;
	// the CPU may be online again after the first try
	for (int tries = 0; tries < 2; tries++) {
		auto opened =
			uncore::perf_events::open_on(event, attributes, cpu);

		if (opened || opened.error().code != uncore::errc::gone ||
		    !uncore::counts_events(cpu))
			return true;
	}
	return false;
}

/// CPUs that went offline while their events were opened are left out.  @return
/// whether to try again; else the failure is another one.
bool attribution::state::drop_offline(const uncore::error &why, unsigned &tries)
{
	if (why.code != uncore::errc::gone)
		return false;

	std::vector<int> went;

	for (auto [cpu, pkg] : cpus)
		if (!uncore::counts_events(cpu))
			went.push_back(cpu);
	for (int cpu : went)
		cpu_offline(cpu);
	// A CPU that was away may be back by now; a box that does not answer is
	// not.
	if (!went.empty() || ask_again(tries))
		return true;
	tries = 0;
	return leave_out_dead();
}

/// The others are counted.
bool attribution::state::leave_out_dead()
{
	bool any = false;

	for (attribution_counter &c : counters)
		for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
			const int cpu = cpu_for(*c.event.pmu, cpus, pkg);

			if (cpu < 0 || c.open.contains(pkg) ||
			    c.dead.contains(pkg) || box_answers(c.event, cpu))
				continue;
			any = c.dead.insert(pkg).second;
			warnings.push_back(fmt::format(
				"{} of socket {} does not answer, and is not counted",
				c.event.pmu->name,
				machine->packages()[pkg].id));
		}
	std::sort(warnings.begin(), warnings.end());
	warnings.erase(std::unique(warnings.begin(), warnings.end()),
		       warnings.end());
	return any;
}

/// Tasks of other CPUs have part in what is read there later.
void attribution::state::note_reading()
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
	uncore::result<void> done;
	unsigned tries = 0;

	do
		done = probe_sharing();
	while (!done && drop_offline(done.error(), tries));
	for (auto cpu = cpus.begin(); done && cpu != cpus.end();) {
		int number = cpu->first;

		done = open_cpu(number);
		if (!done && drop_offline(done.error(), tries))
			done = {};
		else
			++number;
		cpu = cpus.lower_bound(number);
	}
	if (done)
		note_reading();
	return done;
}

} // namespace cli

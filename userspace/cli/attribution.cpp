// SPDX-License-Identifier: GPL-2.0-or-later
// Which task caused the traffic: the user's side of bpf/attribution.bpf.c.
#include "attribution.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "attribution.h"
#include "attribution.skel.h"
#include "bpf_support.hpp"

namespace cli {

static_assert(fixed_bits == ATTR_FRACTION_BITS);

/// For a flip that meets a busy lock; the program itself waits 10 ms each time.
static constexpr int flip_tries = 500;

/// A CPU is looked at so often although its task does not change.  What comes
/// to a package in between must fit 44 bits, which a sum of all its occupancies
/// fills in some seconds.
static constexpr std::chrono::seconds longest_stretch(1);

static uncore::error too_many(std::string_view what, size_t n, size_t most)
{
	return {uncore::errc::unsupported,
		fmt::format("{} {} are too many: {} at most", n, what, most)};
}

static fixed_count fixed(uint64_t count, uint32_t fraction = 0)
{
	return (static_cast<fixed_count>(count) << fixed_bits) + fraction;
}

namespace {

/// An event, and where it is open.
struct counter {
	uncore::event event;
	unsigned column = 0;
	/// By CPU, or by index of the package.
	std::map<int, unique_fd> open;
	/// By index of the package: to be added to what the driver counts,
	/// since all CPUs of it were offline for a time.
	std::map<unsigned, uint64_t> shift;
	std::set<unsigned> gone; ///< packages whose box does not answer
};

using task_key = std::tuple<uint64_t, uint64_t, uint32_t, unsigned>;

} // namespace

struct attribution::state {
	attribution_options options;
	const uncore::topology *machine = nullptr;
	std::unique_ptr<attribution_bpf, bpf_deleter<attribution_bpf__destroy>>
		programs;
	std::unique_ptr<bpf_link, bpf_deleter<bpf_link__destroy>> link;
	std::vector<counter> counters;
	std::map<int, unique_fd> weights; ///< by CPU
	unsigned n_cpus = 0;
	bool shared = false; ///< one event a package serves its CPUs
	bool stopped = false;
	uint32_t epoch = 0;
	std::map<int, unsigned> cpus; ///< online: index of the package
	std::vector<attr_state> before;
	std::chrono::steady_clock::time_point looked;
	std::map<task_key, task_share> tasks;
	std::vector<package_account> packages;
	std::vector<std::string> warnings;

	size_t n_packages() const { return machine->packages().size(); }
	size_t n_columns() const { return options.columns.size(); }

	uncore::result<void> prepare();
	uncore::result<void> load();
	uncore::result<void> probe_sharing();
	uncore::result<void> open_everywhere();
	uncore::result<void> open_package(counter &c, size_t at, unsigned pkg);
	uncore::result<void> open_cpu(int cpu);
	bool drop_offline(const uncore::error &why);
	uncore::result<void> open_counter(counter &c, size_t at, int cpu,
					  unsigned pkg);
	uncore::result<void> put(bpf_map *map, uint32_t key, int fd);
	uncore::result<uint64_t> base_of(int fd);
	uncore::result<void> set_base(size_t at, int cpu, uint64_t base);
	uncore::result<void> begin(counter &c, size_t at, unsigned pkg,
				   uint64_t seen);
	uncore::result<void> attach();
	int run(bpf_program *program, int cpu, uint64_t argument);
	void look();
	uncore::result<void> flip();
	uncore::result<void> drain();
	void keep(const attr_key &key, const attr_share &share);
	uncore::result<void> drain_map(bpf_map *map);
	void drain_unkept(unsigned parity);
	void fold(size_t most);
	void follow_hotplug();
	void cpu_came(int cpu);
	void cpu_went(int cpu);
	void look_for_the_gone();
	void reset_accounts();
	uncore::result<account> settle();
	uncore::result<void> check(const account &a) const;
};

// --- loading

/// Puts the columns' events into one row, and checks that they fit.
uncore::result<void> attribution::state::prepare()
{
	size_t n = 0;

	if (options.columns.empty())
		return uncore::error{uncore::errc::invalid,
				     "there is nothing to count"};
	if (n_columns() > ATTR_MAX_COLUMNS)
		return too_many("columns", n_columns(), ATTR_MAX_COLUMNS);
	if (n_packages() > ATTR_MAX_PACKAGES)
		return too_many("packages", n_packages(), ATTR_MAX_PACKAGES);
	for (const auto &column : options.columns)
		n += column.events.size();
	if (n > ATTR_MAX_EVENTS)
		return too_many("counters", n, ATTR_MAX_EVENTS);
	for (unsigned i = 0; i < n_columns(); i++) {
		for (const auto &event : options.columns[i].events) {
			if (!event.pmu || event.pmu->cpus.empty())
				return uncore::error{
					uncore::errc::invalid,
					event.text +
						": a core counts that for its "
						"own tasks, so there is "
						"nothing to attribute; it can "
						"be a weight"};
			counters.push_back({event, i, {}, {}, {}});
		}
	}
	int possible = libbpf_num_possible_cpus();

	if (possible < 0 || possible > ATTR_MAX_CPUS)
		return too_many("CPUs", possible < 0 ? 0 : possible,
				ATTR_MAX_CPUS);
	n_cpus = possible;
	for (unsigned i = 0; i < n_packages(); i++)
		for (int cpu : machine->packages()[i].cpus)
			cpus[cpu] = i;
	return {};
}

uncore::result<void> attribution::state::load()
{
	programs.reset(attribution_bpf__open());
	if (!programs)
		return bpf_failure("opening the BPF programs", -errno);

	auto &maps = programs->maps;
	uint32_t size = std::max<size_t>(options.max_tasks, 1);
	uint32_t entries = counters.size() * n_cpus;

	programs->rodata->n_events = counters.size();
	programs->rodata->n_columns = n_columns();
	programs->rodata->n_cpus = n_cpus;
	programs->rodata->weighted = options.weight.has_value();
	for (size_t i = 0; i < counters.size(); i++)
		programs->rodata->column_of[i] = counters[i].column;
	if (bpf_map__set_max_entries(maps.events, entries) ||
	    bpf_map__set_max_entries(maps.bases, entries) ||
	    bpf_map__set_max_entries(maps.weight_events, n_cpus) ||
	    bpf_map__set_max_entries(maps.shares_even, size) ||
	    bpf_map__set_max_entries(maps.shares_odd, size) ||
	    bpf_map__set_max_entries(maps.rates,
				     options.weight ? 4 * size + 1024 : 1))
		return bpf_failure("sizing the BPF maps", -errno);

	int err = attribution_bpf__load(programs.get());

	if (err)
		return bpf_failure("loading the BPF programs", err);
	return {};
}

int attribution::state::run(bpf_program *program, int cpu, uint64_t argument)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	run.ctx_in = &argument;
	run.ctx_size_in = sizeof(argument);
	if (cpu >= 0) {
		run.flags = BPF_F_TEST_RUN_ON_CPU;
		run.cpu = cpu;
	}
	int err = bpf_prog_test_run_opts(bpf_program__fd(program), &run);

	return err ? err : static_cast<int>(run.retval);
}

// --- opening events

uncore::result<void> attribution::state::put(bpf_map *map, uint32_t key, int fd)
{
	int err = bpf_map_update_elem(bpf_map__fd(map), &key, &fd, BPF_ANY);

	if (err)
		return bpf_failure("giving an event to the BPF programs", err);
	return {};
}

/// The CPU of a package at which tools open a PMU's events, or -1.
static int cpu_for(const uncore::pmu &pmu, const std::map<int, unsigned> &cpus,
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
	perf_event_attr attributes = attributes_of(event);

	attributes.pinned = 1;
	return attributes;
}

static uncore::error no_counter(const uncore::event &event)
{
	return {uncore::errc::conflict,
		event.text + ": all counters of its box that can count it are "
			     "taken, or its filter is set for another event"};
}

/// From 6.8 on a kernel lets each CPU of a package read the package's event.
uncore::result<void> attribution::state::probe_sharing()
{
	const counter &c = counters.front();

	if (options.each_cpu)
		return {};
	for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
		const auto &all = machine->packages()[pkg].cpus;
		int cpu = cpu_for(*c.event.pmu, cpus, pkg);

		if (cpu < 0 || all.size() < 2)
			continue;
		int other = all[0] == cpu ? all[1] : all[0];
		auto fd = open_event(c.event, pinned(c.event), cpu);

		if (!fd)
			return fd.error();
		auto done = put(programs->maps.events, other, fd->get());

		if (!done)
			return done;
		shared = run(programs->progs.try_read, other, other) == 0;
		uint32_t key = other;

		bpf_map_delete_elem(bpf_map__fd(programs->maps.events), &key);
		return {};
	}
	return {};
}

/// Where a CPU's event began on the counter that it shares with others.
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

/// A package's counter shows @p seen. At the start, that is where accounts
/// begin; one that was away goes on from where it was.
uncore::result<void> attribution::state::begin(counter &c, size_t at,
					       unsigned pkg, uint64_t seen)
{
	__u64 &now = programs->bss->packages[pkg].now.seen[at];

	if (!link)
		now = seen;
	else if (!c.shift.contains(pkg))
		c.shift[pkg] = now - seen;
	return {};
}

uncore::result<void> attribution::state::open_counter(counter &c, size_t at,
						      int cpu, unsigned pkg)
{
	auto fd = open_event(c.event, pinned(c.event), cpu);

	if (!fd)
		return fd.error();
	auto now = read_event(fd->get());

	if (!now)
		return now.error().code == uncore::errc::not_found
			       ? no_counter(c.event)
			       : now.error();
	uint64_t base = 0;

	if (!shared) {
		auto found = base_of(fd->get());

		if (!found)
			return found.error();
		base = *found;
	}
	bool first = std::none_of(
		c.open.begin(), c.open.end(), [&](const auto &open) {
			return (shared ? static_cast<unsigned>(open.first)
				       : cpus[open.first]) == pkg;
		});

	if (first) {
		auto done = begin(c, at, pkg, now->value + base);

		if (!done)
			return done;
	}
	if (!shared) {
		auto done = set_base(at, cpu, base + c.shift[pkg]);

		if (!done)
			return done;
	}
	c.open[shared ? static_cast<int>(pkg) : cpu] = std::move(*fd);
	return {};
}

/// Makes sure that @p cpu can read all counters, and is known to the programs.
uncore::result<void> attribution::state::open_cpu(int cpu)
{
	unsigned pkg = cpus.at(cpu);

	for (size_t i = 0; i < counters.size(); i++) {
		counter &c = counters[i];
		int slot = shared ? static_cast<int>(pkg) : cpu;

		if (!c.open.contains(slot)) {
			int where =
				shared ? cpu_for(*c.event.pmu, cpus, pkg) : cpu;
			auto done = open_counter(c, i, where, pkg);

			if (!done)
				return done;
		}
		uncore::result<void> done;

		if (shared)
			done = set_base(i, cpu, c.shift[pkg]);
		if (done)
			done = put(programs->maps.events, i * n_cpus + cpu,
				   c.open[slot].get());
		if (!done)
			return done;
	}
	if (options.weight) {
		auto fd = open_event(*options.weight,
				     attributes_of(*options.weight), cpu);

		if (!fd)
			return fd.error();
		auto done = put(programs->maps.weight_events, cpu, fd->get());

		if (!done)
			return done;
		weights[cpu] = std::move(*fd);
	}
	programs->bss->cpus[cpu].package = pkg;
	return {};
}

/// CPUs that went offline while their events were opened are left out.  @return
/// whether there were any; else the failure is another one.
bool attribution::state::drop_offline(const uncore::error &why)
{
	if (why.code != uncore::errc::gone)
		return false;
	return std::erase_if(cpus, [](const auto &cpu) {
		return !counts_events(cpu.first);
	});
}

uncore::result<void> attribution::state::open_everywhere()
{
	uncore::result<void> done;

	do
		done = probe_sharing();
	while (!done && drop_offline(done.error()));
	for (auto cpu = cpus.begin(); done && cpu != cpus.end();) {
		int number = cpu->first;

		done = open_cpu(number);
		if (!done && drop_offline(done.error()))
			done = {};
		else
			++number;
		cpu = cpus.lower_bound(number);
	}
	if (!done || shared)
		return done;
	// An event may have moved to another counter while others were opened.
	for (size_t i = 0; i < counters.size(); i++) {
		for (const auto &[cpu, fd] : counters[i].open) {
			auto base = base_of(fd.get());

			if (!base)
				return base.error();
			done = set_base(i, cpu, *base);
			if (!done)
				return done;
		}
	}
	return {};
}

/// The first account begins when all CPUs have been looked at.
uncore::result<void> attribution::state::attach()
{
	before.resize(n_packages());
	reset_accounts();
	link.reset(bpf_program__attach(programs->progs.on_switch));
	if (!link)
		return bpf_failure("attaching to sched_switch", -errno);
	look();

	auto done = drain();

	for (unsigned i = 0; i < n_packages(); i++)
		before[i] = programs->bss->packages[i].flipped;
	reset_accounts();
	return done;
}

// --- looking, and taking the accounts out

void attribution::state::look()
{
	looked = std::chrono::steady_clock::now();
	// A CPU that is offline by now is not looked at: nothing runs there.
	for (auto [cpu, pkg] : cpus)
		run(programs->progs.look_here, cpu, 0);
}

/// The programs use the other map of shares from here on.
uncore::result<void> attribution::state::flip()
{
	for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
		int tries = 0, err;

		while ((err = run(programs->progs.flip, -1, pkg)) > 0)
			if (++tries == flip_tries)
				err = -EDEADLK;
		if (err < 0)
			return bpf_failure("closing the accounts", err);
	}
	epoch++;
	return {};
}

static void add(std::vector<fixed_count> &to, const attr_share &share)
{
	for (size_t i = 0; i < to.size(); i++)
		to[i] += fixed(share.count[i], share.fraction[i]);
}

void attribution::state::keep(const attr_key &key, const attr_share &share)
{
	if (key.package >= n_packages() || !share.stretches)
		return;
	task_share &task =
		tasks[{key.start_time, key.cgroup, key.pid, key.package}];

	task.start_time = key.start_time;
	task.cgroup = key.cgroup;
	task.pid = key.pid;
	task.tgid = share.tgid;
	task.package = key.package;
	if (share.comm[0])
		task.comm.assign(share.comm,
				 strnlen(share.comm, ATTR_COMM_LEN));
	task.cpu_ns += share.cpu_ns;
	task.counts.resize(n_columns());
	add(task.counts, share);
}

uncore::result<void> attribution::state::drain_map(bpf_map *map)
{
	// No more keys than this meet in one place of the hash map.
	uint32_t batch = std::clamp<size_t>(options.max_tasks, 1, 1024);
	std::vector<attr_key> keys(batch);
	std::vector<attr_share> shares(batch);
	uint32_t place = 0, n;
	bool first = true;
	int err;

	do {
		n = batch;
		err = bpf_map_lookup_and_delete_batch(
			bpf_map__fd(map), first ? nullptr : &place, &place,
			keys.data(), shares.data(), &n, nullptr);
		if (err && err != -ENOENT)
			return bpf_failure("reading the accounts", err);
		for (uint32_t i = 0; i < n; i++)
			keep(keys[i], shares[i]);
		first = false;
	} while (!err);
	return {};
}

void attribution::state::drain_unkept(unsigned parity)
{
	for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
		attr_share &share = programs->bss->packages[pkg].unkept[parity];
		package_account &p = packages[pkg];

		add(p.other, share);
		p.other_ns += share.cpu_ns;
		p.unkept += share.stretches;
		share = {};
		programs->bss->packages[pkg].entries[parity] = 0;
	}
}

uncore::result<void> attribution::state::drain()
{
	unsigned parity = epoch & 1;
	auto done = flip();

	if (done)
		done = drain_map(parity ? programs->maps.shares_odd
					: programs->maps.shares_even);
	if (!done)
		return done;
	drain_unkept(parity);
	if (tasks.size() > 4 * options.max_tasks)
		fold(options.max_tasks);
	return {};
}

/// Keeps the @p most active tasks, by the first column.
void attribution::state::fold(size_t most)
{
	if (tasks.size() <= most)
		return;
	std::vector<std::map<task_key, task_share>::iterator> order;

	for (auto at = tasks.begin(); at != tasks.end(); ++at)
		order.push_back(at);
	std::nth_element(
		order.begin(), order.begin() + most, order.end(),
		[](const auto &a, const auto &b) {
			return std::tie(a->second.counts[0], a->second.cpu_ns) >
			       std::tie(b->second.counts[0], b->second.cpu_ns);
		});
	for (size_t i = most; i < order.size(); i++) {
		const task_share &task = order[i]->second;
		package_account &p = packages[task.package];

		for (size_t c = 0; c < n_columns(); c++)
			p.other[c] += task.counts[c];
		p.other_ns += task.cpu_ns;
		p.folded++;
		tasks.erase(order[i]);
	}
}

void attribution::state::reset_accounts()
{
	packages.assign(n_packages(), {});
	for (unsigned i = 0; i < n_packages(); i++) {
		packages[i].id = machine->packages()[i].id;
		packages[i].other.assign(n_columns(), 0);
	}
	tasks.clear();
	warnings.clear();
}

/// What the packages' counters saw since the last account.
static void fill_package(package_account &p, const attr_state &now,
			 const attr_state &then,
			 const std::vector<counter> &counters, size_t n_columns)
{
	p.totals.assign(n_columns, 0);
	for (size_t i = 0; i < counters.size(); i++)
		p.totals[counters[i].column] += now.seen[i] - then.seen[i];
	for (size_t i = 0; i < n_columns; i++) {
		p.idle.push_back(now.idle[i] - then.idle[i]);
		p.left.push_back(now.left[i]);
		p.left_before.push_back(then.left[i]);
	}
	p.idle_ns = now.idle_ns - then.idle_ns;
	p.ns = then.at ? now.at - then.at : 0;
}

uncore::result<account> attribution::state::settle()
{
	account a;

	fold(options.max_tasks);
	for (unsigned i = 0; i < n_packages(); i++) {
		const attr_state &flipped = programs->bss->packages[i].flipped;

		fill_package(packages[i], flipped, before[i], counters,
			     n_columns());
		before[i] = flipped;
		a.missed += programs->bss->packages[i].missed;
	}
	for (auto &[key, task] : tasks)
		a.tasks.push_back(std::move(task));
	a.packages = std::move(packages);
	a.warnings = std::move(warnings);
	reset_accounts();
	auto good = check(a);

	if (!good)
		return good.error();
	return a;
}

/// The sum must be right; if it is not, no number is shown.
uncore::result<void> attribution::state::check(const account &a) const
{
	for (unsigned i = 0; i < a.packages.size(); i++) {
		const package_account &p = a.packages[i];

		for (size_t c = 0; c < n_columns(); c++) {
			fixed_count sum = p.other[c] + fixed(p.idle[c]) +
					  p.left[c] - p.left_before[c];

			for (const auto &task : a.tasks)
				if (task.package == i)
					sum += task.counts[c];
			if (sum != fixed(p.totals[c]))
				return uncore::error{
					uncore::errc::system,
					fmt::format("{} of package {}: the "
						    "shares add up to {}, the "
						    "counters saw {}",
						    options.columns[c].name,
						    p.id, to_double(sum),
						    p.totals[c])};
		}
	}
	return {};
}

// --- what may happen meanwhile

void attribution::state::cpu_came(int cpu)
{
	auto again = uncore::topology::read();
	int id = again ? again->package_of(cpu) : -1;

	for (unsigned i = 0; i < n_packages(); i++)
		if (machine->packages()[i].id == id)
			cpus[cpu] = i;
	if (!cpus.contains(cpu)) {
		warnings.push_back(fmt::format(
			"CPU {}: its package was not there at the start, so "
			"its tasks are not accounted for",
			cpu));
		return;
	}
	auto done = open_cpu(cpu);

	if (!done)
		warnings.push_back(fmt::format("CPU {} came online: {}", cpu,
					       done.error().message));
	run(programs->progs.look_here, cpu, 0);
}

/// Its last switch was to its idle task, so nothing of it is left over.
void attribution::state::cpu_went(int cpu)
{
	unsigned pkg = cpus.at(cpu);

	cpus.erase(cpu);
	weights.erase(cpu);
	bool last = std::none_of(cpus.begin(), cpus.end(), [&](auto &other) {
		return other.second == pkg;
	});

	for (auto &c : counters) {
		if (!shared)
			c.open.erase(cpu);
		else if (last)
			c.open.erase(pkg);
		if (last)
			c.shift.erase(pkg);
	}
}

void attribution::state::follow_hotplug()
{
	std::vector<int> now = online_cpus();
	std::vector<int> went;

	if (now.empty())
		return;
	for (auto [cpu, pkg] : cpus)
		if (!std::binary_search(now.begin(), now.end(), cpu))
			went.push_back(cpu);
	for (int cpu : went)
		cpu_went(cpu);
	for (int cpu : now)
		if (!cpus.contains(cpu) && static_cast<unsigned>(cpu) < n_cpus)
			cpu_came(cpu);
}

/// A box that died keeps its events at their last count; only who opens a new
/// one hears of it.
void attribution::state::look_for_the_gone()
{
	for (size_t i = 0; i < counters.size(); i++) {
		counter &c = counters[i];

		for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
			int cpu = cpu_for(*c.event.pmu, cpus, pkg);
			const auto &p = programs->bss->packages[pkg];

			if (cpu < 0 || c.gone.contains(pkg) ||
			    p.now.seen[i] != before[pkg].seen[i])
				continue;
			perf_event_attr attributes = attributes_of(c.event);

			attributes.disabled = 1;
			auto fd = open_event(c.event, attributes, cpu);

			if (fd || fd.error().code != uncore::errc::gone ||
			    !counts_events(cpu))
				continue;
			// the CPU may have come back in between
			fd = open_event(c.event, attributes, cpu);
			if (fd)
				continue;
			c.gone.insert(pkg);
			warnings.push_back(fmt::format(
				"{} of package {} does not answer any more: "
				"its counts stay as they are",
				c.event.pmu->name,
				machine->packages()[pkg].id));
		}
	}
}

// --- the outside

attribution::attribution() : state_(std::make_unique<state>()) {}

attribution::~attribution() = default;

uncore::result<std::unique_ptr<attribution>>
attribution::start(attribution_options options, const uncore::topology &machine)
{
	std::unique_ptr<attribution> a(new attribution);
	state &s = *a->state_;

	s.options = std::move(options);
	s.machine = &machine;
	capture_bpf_messages();
	auto done = s.prepare();

	if (done)
		done = check_bpf();
	if (done)
		done = s.load();
	if (done)
		done = s.open_everywhere();
	if (done)
		done = s.attach();
	if (!done)
		return done.error();
	return a;
}

uncore::result<void> attribution::tend()
{
	state &s = *state_;
	uint64_t entries = 0;

	if (s.stopped)
		return {};
	s.follow_hotplug();
	if (s.options.weight ||
	    std::chrono::steady_clock::now() - s.looked > longest_stretch)
		s.look();
	for (unsigned i = 0; i < s.n_packages(); i++)
		entries += s.programs->bss->packages[i].entries[s.epoch & 1];
	if (4 * entries < 3 * s.options.max_tasks)
		return {};
	return s.drain();
}

uncore::result<account> attribution::take()
{
	state &s = *state_;

	if (!s.stopped) {
		s.follow_hotplug();
		s.look();
	}
	s.look_for_the_gone();
	auto done = s.drain();

	if (!done)
		return done.error();
	return s.settle();
}

void attribution::stop()
{
	if (state_->stopped)
		return;
	state_->link.reset();
	state_->look();
	state_->stopped = true;
}

uint64_t attribution::looks() const
{
	uint64_t n = 0;

	for (unsigned i = 0; i < state_->n_cpus; i++)
		n += state_->programs->bss->cpus[i].looks;
	return n;
}

bool attribution::one_event_a_package() const
{
	return state_->shared;
}

} // namespace cli

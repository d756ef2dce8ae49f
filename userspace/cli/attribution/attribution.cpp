// SPDX-License-Identifier: GPL-2.0-or-later
// Attribution of traffic to tasks: loads and attaches the programs of
// bpf/attribution.bpf.c, and polls CPUs.  To poll a CPU means to run a program on the
// CPU that reads the counters and accounts for the running task, as the CPU's next
// context switch would.
#include "attribution/attribution.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "attribution/attribution_state.hpp"
#include "attribution/cgroup_names.hpp"

namespace cli {

/// Longest time between two polls.  A CPU whose task does not change has no context
/// switches, and only a poll accounts for the task.
static constexpr std::chrono::seconds longest_slice(1);

static_assert(int(attribution_by::task) == ATTR_BY_TASK &&
	      int(attribution_by::tree) == ATTR_BY_TREE &&
	      int(attribution_by::command) == ATTR_BY_COMMAND &&
	      int(attribution_by::cgroup) == ATTR_BY_CGROUP);

static uncore::error too_many(std::string_view name, size_t count, size_t limit)
{
	return {uncore::errc::unsupported,
		fmt::format("{} {} are too many: {} at most", count, name,
			    limit)};
}

// --- loading

void skeleton_deleter::operator()(attribution_bpf *programs) const
{
	attribution_bpf__destroy(programs);
}

/// List the columns' events in counters, and check the limits of the programs'
/// arrays.
uncore::result<void> attribution::state::prepare()
{
	size_t n = 0;

	if (options.columns.empty())
		return uncore::error{uncore::errc::invalid,
				     "there is nothing to count"};
	if (n_columns() > ATTR_MAX_COLUMNS)
		return too_many("columns", n_columns(), ATTR_MAX_COLUMNS);
	if (n_packages() > ATTR_MAX_PACKAGES)
		return too_many("sockets", n_packages(), ATTR_MAX_PACKAGES);
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
						": a core counts that for its own tasks, so there is nothing to attribute; it can be a weight"};
			counters.push_back({event, i, {}, {}, {}, {}});
		}
	}
	int possible = libbpf_num_possible_cpus();

	if (possible < 0 || possible > ATTR_MAX_CPUS)
		return too_many("CPUs", possible < 0 ? 0 : possible,
				ATTR_MAX_CPUS);
	n_cpus = possible;
	departures.resize(n_cpus);
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
	programs->rodata->v1_controller =
		controller_place(find_cgroups().controller);
	programs->rodata->resolution_ns = options.resolution.count();
	// Limit the time of a window, between two reads: the sum of time times
	// weight over all CPUs then is at most ATTR_MAX_RAN.
	programs->rodata->longest_ns =
		ATTR_MAX_RAN /
		(n_cpus * (options.weight ? ATTR_MAX_WEIGHT : 1));
	programs->rodata->weighted = options.weight.has_value();
	programs->rodata->by = static_cast<uint32_t>(options.by);
	programs->rodata->has_loop =
		!options.bounded_loops &&
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT,
					BPF_FUNC_loop, nullptr) == 1;
	for (size_t i = 0; i < counters.size(); i++)
		programs->rodata->column_of[i] = counters[i].column;
	if (bpf_map__set_max_entries(maps.events, entries) ||
	    bpf_map__set_max_entries(maps.bases, entries) ||
	    bpf_map__set_max_entries(maps.weight_events, n_cpus) ||
	    bpf_map__set_max_entries(maps.slices, 2 * n_cpus) ||
	    bpf_map__set_max_entries(maps.shares_even, size) ||
	    bpf_map__set_max_entries(maps.shares_odd, size) ||
	    bpf_map__set_max_entries(maps.trees,
				     follows() ? options.max_followed : 1) ||
	    bpf_map__set_max_entries(maps.rates,
				     options.weight ? 4 * size + 1024 : 1))
		return bpf_failure("sizing the BPF maps", -errno);

	int err = attribution_bpf__load(programs.get());

	if (err)
		return bpf_failure("loading the BPF programs", err);
	// on_hotplug counts how often each CPU goes offline.  Attach it before
	// events are opened: a CPU that goes offline and comes back between two
	// calls of follow_hotplug() has lost its events.
	hotplug_link.reset(bpf_program__attach(programs->progs.on_hotplug));
	if (!hotplug_link)
		return bpf_failure("attaching to cpuhp_exit", -errno);
	return follow();
}

/// Do the programs follow trees of tasks?
bool attribution::state::follows() const
{
	return options.by == attribution_by::tree ||
	       options.by == attribution_by::command;
}

/// Put each task that is started from now on into the tree of the task that started it.
uncore::result<void> attribution::state::follow()
{
	if (int err = run(programs->progs.adopt, -1, 0))
		return bpf_failure("finding the program's task", err);
	if (!follows())
		return {};
	// on_free first: an entry that on_fork makes must be removed.
	free_link.reset(bpf_program__attach(programs->progs.on_free));
	if (!free_link)
		return bpf_failure("attaching to sched_process_free", -errno);
	fork_link.reset(bpf_program__attach(programs->progs.on_fork));
	if (!fork_link)
		return bpf_failure("attaching to sched_process_fork", -errno);
	return {};
}

/// Run a program once.  @param cpu to run the program on; -1: this CPU.
/// @return the program's result, or a negative errno.
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

/// Attach the programs.  The first account begins with the read of a poll of all
/// CPUs; shares up to this read are dropped.
uncore::result<void> attribution::state::attach()
{
	before.resize(n_packages());
	reset_accounts();
	link.reset(bpf_program__attach(programs->progs.on_switch));
	if (!link)
		return bpf_failure("attaching to sched_switch", -errno);
	poll_cpus();

	auto outcome = drain();

	for (unsigned i = 0; i < n_packages(); i++)
		before[i] = programs->bss->packages[i].flipped;
	reset_accounts();
	return outcome;
}

// --- the interface

attribution::attribution() : state_(std::make_unique<state>()) {}

attribution::~attribution() = default;

static constexpr bpf_need needs[] = {{BPF_PROG_TYPE_RAW_TRACEPOINT,
				      BPF_FUNC_get_current_task_btf,
				      "bpf_get_current_task_btf()", "5.11"}};

uncore::result<std::unique_ptr<attribution>>
attribution::open(attribution_options options, const uncore::topology &machine)
{
	std::unique_ptr<attribution> a(new attribution);
	state &s = *a->state_;

	s.options = std::move(options);
	s.machine = &machine;
	capture_bpf_messages();
	auto outcome = s.prepare();

	if (outcome)
		outcome = check_bpf(needs);
	if (outcome)
		outcome = s.load();
	if (outcome)
		outcome = s.open_everywhere();
	if (!outcome)
		return outcome.error();
	return a;
}

uncore::result<void> attribution::enable()
{
	return state_->attach();
}

uncore::result<std::unique_ptr<attribution>>
attribution::start(attribution_options options, const uncore::topology &machine)
{
	auto opened = open(std::move(options), machine);

	if (!opened)
		return opened;
	if (auto outcome = (*opened)->enable(); !outcome)
		return outcome.error();
	return opened;
}

uint64_t attribution::launcher_cgroup() const
{
	return state_->programs->bss->launcher_cgroup;
}

uncore::result<void> attribution::tend()
{
	state &s = *state_;
	uint64_t entries = 0;

	if (s.stopped)
		return {};
	s.follow_hotplug();
	// The weight event of a CPU is read at context switches and polls only.
	if (s.options.weight ||
	    std::chrono::steady_clock::now() - s.last_poll > longest_slice)
		s.poll_cpus();
	for (unsigned i = 0; i < s.n_packages(); i++)
		entries += s.programs->bss->packages[i].entries[s.epoch & 1];
	// Empty the map of shares when three quarters are full.
	if (4 * entries < 3 * s.options.max_tasks)
		return {};
	return s.drain();
}

uncore::result<account> attribution::take()
{
	state &s = *state_;

	if (!s.stopped) {
		s.follow_hotplug();
		s.poll_cpus();
	}
	s.find_dead_boxes();
	auto drained = s.drain();

	if (!drained)
		return drained.error();
	return s.settle();
}

void attribution::stop()
{
	if (state_->stopped)
		return;
	state_->link.reset();
	state_->hotplug_link.reset();
	state_->fork_link.reset();
	state_->free_link.reset();
	state_->poll_cpus();
	state_->stopped = true;
}

} // namespace cli

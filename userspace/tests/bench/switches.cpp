// SPDX-License-Identifier: GPL-2.0-or-later
// Measure the time that attribution takes in each context switch on this machine's
// CPUs, without counters to read: only locks and accounts.  Run it on real CPUs, which
// wait for each other's locks.  In a virtual machine that runs all CPUs on one thread,
// no CPU waits for another CPU.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attribution.h"
#include "attribution.skel.h"

namespace {

constexpr auto warm_up = std::chrono::milliseconds(300);
constexpr auto duration = std::chrono::seconds(2);

struct unload {
	void operator()(attribution_bpf *programs) const
	{
		attribution_bpf__destroy(programs);
	}
};

using programs_ptr = std::unique_ptr<attribution_bpf, unload>;

/// Two tasks that pass a byte back and forth on the same CPU: two switches a round.
class pair {
public:
	explicit pair(int cpu)
	{
		int there[2], back[2];

		if (pipe(there) || pipe(back))
			return;
		tasks_.push_back(start(cpu, there[0], back[1], false));
		tasks_.push_back(start(cpu, back[0], there[1], true));
		for (int fd : {there[0], there[1], back[0], back[1]})
			close(fd);
	}

	pair(const pair &) = delete;
	pair &operator=(const pair &) = delete;

	~pair()
	{
		for (pid_t task : tasks_)
			if (task > 0)
				kill(task, SIGKILL);
		for (pid_t task : tasks_)
			if (task > 0)
				waitpid(task, nullptr, 0);
	}

private:
	/// Start a task.
	/// @param begins the task writes before its first read
	static pid_t start(int cpu, int in, int out, bool begins)
	{
		const pid_t parent = getpid(), task = fork();
		cpu_set_t set;
		char byte = 0;

		if (task)
			return task;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) ||
		    getppid() != parent)
			_exit(1);
		while (begins || read(in, &byte, 1) == 1) {
			begins = false;
			if (write(out, &byte, 1) != 1)
				break;
		}
		_exit(0);
	}

	std::vector<pid_t> tasks_;
};

/// Load the BPF programs; null if the kernel refuses them.
programs_ptr load(unsigned cpus, uint64_t resolution, attr_by by)
{
	programs_ptr p(attribution_bpf__open());

	if (!p)
		return p;
	p->rodata->n_columns = 2;
	p->rodata->n_cpus = cpus;
	p->rodata->resolution_ns = resolution;
	p->rodata->longest_ns = ATTR_MAX_RAN / cpus;
	p->rodata->by = by;
	p->rodata->has_loop =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT,
					BPF_FUNC_loop, nullptr) == 1;
	bpf_map__set_max_entries(p->maps.slices, 2 * cpus);
	bpf_map__set_max_entries(p->maps.shares_even, 8192);
	bpf_map__set_max_entries(p->maps.shares_odd, 8192);
	bpf_map__set_max_entries(p->maps.trees, 65536);
	if (attribution_bpf__load(p.get()))
		p.reset();
	return p;
}

/// Poll each CPU: from then on, its switches are accounted for.
void poll_cpus(const attribution_bpf &p, unsigned cpus)
{
	const int fd = bpf_program__fd(p.progs.look_here);

	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		uint64_t argument = 0;
		LIBBPF_OPTS(bpf_test_run_opts, run);

		run.ctx_in = &argument;
		run.ctx_size_in = sizeof(argument);
		run.flags = BPF_F_TEST_RUN_ON_CPU;
		run.cpu = cpu;
		bpf_prog_test_run_opts(fd, &run);
	}
}

/// Get the number and the time of the runs of the program on_switch.
bpf_prog_info runs_of(const attribution_bpf &p)
{
	bpf_prog_info info{};
	uint32_t size = sizeof(info);

	bpf_obj_get_info_by_fd(bpf_program__fd(p.progs.on_switch), &info,
			       &size);
	return info;
}

struct detach {
	void operator()(bpf_link *link) const { bpf_link__destroy(link); }
};

using link_ptr = std::unique_ptr<bpf_link, detach>;

/// Attach a program, if there is one.
link_ptr attach(const programs_ptr &p, bpf_program *program)
{
	return link_ptr(p && program ? bpf_program__attach(program) : nullptr);
}

/// Measure with pairs of tasks on @p busy CPUs, and print a line.
bool measure(unsigned busy, unsigned cpus, uint64_t resolution, attr_by by)
{
	const programs_ptr p = load(cpus, resolution, by);
	const link_ptr link = attach(p, p ? p->progs.on_switch : nullptr);
	const bool follows = by == ATTR_BY_TREE;
	const link_ptr free_link =
		attach(p, follows ? p->progs.on_free : nullptr);
	const link_ptr fork_link =
		attach(p, follows ? p->progs.on_fork : nullptr);

	if (!link || (follows && !fork_link)) {
		std::printf("# the BPF programs cannot be loaded here\n");
		return false;
	}
	poll_cpus(*p, cpus);

	std::vector<std::unique_ptr<pair>> pairs;

	for (unsigned cpu = 0; cpu < busy; cpu++)
		pairs.push_back(std::make_unique<pair>(cpu));
	std::this_thread::sleep_for(warm_up);

	const bpf_prog_info before = runs_of(*p);

	std::this_thread::sleep_for(duration);

	const bpf_prog_info after = runs_of(*p);
	const double n = after.run_cnt - before.run_cnt;

	std::printf(
		"# %-10u %-5s %-12s %14.0f %16.0f %8llu\n", busy,
		follows ? "tree" : "task",
		resolution ? "in 100 us" : "each switch", n / duration.count(),
		n ? (after.run_time_ns - before.run_time_ns) / n : 0.0,
		static_cast<unsigned long long>(p->bss->packages[0].missed));
	std::fflush(stdout);
	return n > 0;
}

} // namespace

int main()
{
	const int cpus = libbpf_num_possible_cpus();
	const int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	const unsigned online = std::thread::hardware_concurrency();

	if (cpus < 1 || cpus > ATTR_MAX_CPUS || stats < 0) {
		std::printf(
			"# needs root, and a kernel that times BPF programs\n");
		return 4;
	}
	libbpf_set_print(nullptr);
	std::printf("# this machine's CPUs, no counters\n# %-10s %-5s %-12s %14s "
		    "%16s %8s\n",
		    "CPUs", "by", "read", "switches/s", "ns a switch", "missed");
	for (unsigned busy : {1, 2, 4, 8})
		for (uint64_t resolution : {100000, 0})
			for (attr_by by : {ATTR_BY_TASK, ATTR_BY_TREE})
				if (busy <= online &&
				    !measure(busy, cpus, resolution, by))
					return 1;
	return 0;
}

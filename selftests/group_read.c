// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A group read is of one instant: two counters of a box that both count every
 * cycle, but are configured differently, never differ while real time goes on,
 * also when other events come and go beside them.  And it takes few counts from
 * others: who reads without end gets readings of a box that runs.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/tap.h"

enum { READS = 10000, DISTURB = 1000, STARTS = 500 };

/* Opens the group stopped and starts it as one. */
static bool start(struct event_group *g, const char *pmu, int cpu,
		  const char *const *events, unsigned int n)
{
	struct perf_event_attr attrs[MAX_GROUP];
	bool ok = true;
	int err;

	for (unsigned int i = 0; i < n; i++) {
		err = pmu_attr(&attrs[i], pmu, events[i]);
		ok &= check(!err, "%s/%s/: %s", pmu, events[i], strerror(-err));
	}
	attrs[0].disabled = 1;
	err = ok ? group_open_attr(g, attrs, cpu, n) : 0;
	ok &= check(!err, "open: %s", strerror(-err));
	return ok && check(!ioctl(g->fd[0], PERF_EVENT_IOC_ENABLE, 0), "enable");
}

/* Equal in each read, and never less than in the read before. */
static void test_reads(const char *kind, unsigned int index, int pkg,
		       const char *const *events, unsigned int n, bool disturb)
{
	uint64_t values[MAX_GROUP], before = 0, first = 0;
	struct event_reading times;
	struct event_group g = { 0 };
	char pmu[PMU_NAME_MAX];
	unsigned int reads = 0;
	int cpu, other = -1;
	bool ok;

	if (!pmu_name(pmu, kind, index)) {
		tap_skip("no such PMU", "%s_%u", kind, index);
		return;
	}
	cpu = pmu_cpu(pmu, pkg);
	ok = start(&g, pmu, cpu, events, n);
	for (; ok && reads < READS; reads++) {
		if (disturb && reads % DISTURB == DISTURB / 2)
			other = event_open(pmu, cpu, "%s,thresh=1,edge=1",
					   events[0]);
		if (disturb && reads % DISTURB == 0 && reads)
			close(other);
		ok &= check(!group_read(&g, values, &times), "read %u", reads);
		for (unsigned int i = 1; ok && i < n; i++)
			ok &= check_eq(values[i], values[0], "read %u: %s", reads,
				       events[i]);
		ok &= check(values[0] >= before, "read %u goes back from %" PRIu64
			    " to %" PRIu64, reads, before, values[0]);
		if (!reads)
			first = values[0];
		before = values[0];
	}
	ok &= check(before > first, "time stands still");
	ok &= check_eq(times.running, times.enabled, "multiplexed");
	if (disturb && other >= 0)
		close(other);
	group_close(&g);
	tap_ok(ok, "%s package %d: %u counters agree in %u group reads%s", pmu,
	       pkg, n, reads, disturb ? " while other events come and go" : "");
}

/* Reads a group of its own on another CPU of the package, until it is ended. */
static pid_t start_reader(const char *pmu, int cpu,
			  const char *const *events, unsigned int n)
{
	uint64_t values[MAX_GROUP];
	struct event_group g;
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		cpu_pin(cpu);
		if (group_open(&g, pmu, cpu, events, n) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		while (!group_read(&g, values, NULL))
			;
		_exit(1);
	}
	close(ready[1]);
	if (pid > 0 && read(ready[0], &c, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

/* A group starts in one cycle although another CPU lets go of the box meanwhile. */
static void test_two_cpus(const char *kind, int pkg)
{
	static const char *const theirs[] = {
		"clockticks", "clockticks,thresh=1",
	};
	static const char *const ours[] = {
		"clockticks,thresh=2,inv=1", "clockticks,thresh=3,inv=1",
	};
	int cpu = package_cpu(pkg, 0), other = package_cpu(pkg, 1);
	uint64_t values[MAX_GROUP];
	char pmu[PMU_NAME_MAX];
	unsigned int starts;
	struct event_group g;
	pid_t reader;
	bool ok;

	if (other < 0 || !pmu_name(pmu, kind, 0)) {
		tap_skip("one CPU, or no box", "%s: two CPUs", kind);
		return;
	}
	cpu_pin(cpu);
	reader = start_reader(pmu, other, theirs, 2);
	ok = check(reader > 0, "the reader does not start");
	for (starts = 0; ok && starts < STARTS; starts++) {
		g.n = 0;
		ok &= start(&g, pmu, cpu, ours, 2);
		ok = ok && check(!group_read(&g, values, NULL), "read") &&
		     check_eq(values[1], values[0], "start %u: %s", starts,
			      ours[1]);
		group_close(&g);
	}
	ok &= check(reader <= 0 || !waitpid(reader, NULL, WNOHANG),
		    "the reader has ended");
	if (reader > 0) {
		kill(reader, SIGKILL);
		waitpid(reader, NULL, 0);
	}
	tap_ok(ok, "%s package %d: %u groups start in one cycle each while another CPU reads one",
	       pmu, pkg, starts);
}

/*
 * Per mille of the cycles that somebody else's event has lost while groups of
 * its box were read for as many of the UBox's cycles: that box is never frozen.
 */
static bool loss(const char *pmu, int cpu, const char *ubox, uint64_t cycles,
		 uint64_t *lost)
{
	static const char *const two[] = {
		"clockticks", "clockticks,thresh=1",
	};
	uint64_t values[MAX_GROUP], from, to, now = 0;
	struct event_group g = { 0 };
	struct event_reading times;
	int clock, victim;
	bool ok;

	clock = event_open(ubox, cpu, "uclk");
	victim = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
	ok = start(&g, pmu, cpu, two, 2) &&
	     check(clock >= 0 && victim >= 0, "open");
	from = event_count(clock);
	to = event_count(victim);
	while (ok && now < cycles) {
		ok = check(!group_read(&g, values, &times), "read");
		now = event_count(clock) - from;
	}
	to = event_count(victim) - to;
	*lost = now > to ? (now - to) * 1000 / now : 0;
	group_close(&g);
	close(victim);
	close(clock);
	return ok;
}

static void test_budget(const char *kind, int pkg)
{
	const uint64_t cycles = 2500000000;	/* a second and more */
	uint64_t unlimited = 0, limited = 0, running;
	char pmu[PMU_NAME_MAX], ubox[PMU_NAME_MAX];
	bool ok;
	int cpu;

	ok = check(pmu_name(pmu, kind, 0) && pmu_name(ubox, "ubox", 0), "PMUs");
	cpu = pmu_cpu(pmu, pkg);
	/* from there, or the share that is lost is that of calls between CPUs */
	cpu_pin(cpu);
	ok = ok && !driver_freeze_budget(1000) &&
	     loss(pmu, cpu, ubox, cycles, &unlimited) &&
	     !driver_freeze_budget(10);
	running = package_stat(pkg, "group_unfrozen");
	ok = ok && loss(pmu, cpu, ubox, cycles, &limited);
	running = package_stat(pkg, "group_unfrozen") - running;
	ok &= check(running, "no group was read running");
	ok &= check(limited < unlimited / 2,
		    "%" PRIu64 " per mille lost, %" PRIu64 " without a limit",
		    limited, unlimited);
	tap_ok(ok, "%s: a tight loop of group reads takes %" PRIu64
	       " per mille from others, %" PRIu64 " without a limit", pmu,
	       limited, unlimited);
}

int main(void)
{
	static const char *const two[] = {
		"clockticks", "clockticks,thresh=1",
	};
	static const char *const four[] = {
		"clockticks", "clockticks,thresh=1", "clockticks,thresh=2,inv=1",
		"clockticks,thresh=3,inv=1",
	};
	int last;

	machine_setup("clock=real", "");
	last = packages() - 1;
	if (driver_freeze_budget(1000))
		tap_bail("no budget");
	test_reads("cbox", 0, 0, two, 2, false);
	test_reads("imc", 0, 0, two, 2, false);
	test_reads("cbox", 1, last, four, 4, false);
	test_reads("imc", 1, last, four, 4, false);
	test_reads("sbox", 0, last, two, 2, false);
	test_reads("ha", 0, last, two, 2, false);
	test_reads("cbox", 0, last, two, 2, true);
	test_reads("imc", 0, last, two, 2, true);
	/* these stay on a CPU of their package */
	test_two_cpus("cbox", 0);
	test_two_cpus("imc", last);
	test_budget("cbox", 0);
	test_budget("imc", last);
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A group read reads all members in the same cycle: two counters of a box that count
 * every cycle, with different configurations, never differ while the real clock runs,
 * also when other events of the box are opened and closed. And group reads cost other
 * events few counts: without freeze budget the box keeps counting during a read.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"

enum { READS = 10000, DISTURB = 1000, STARTS = 500 };

MACHINE_OF_ALL_TESTS("clock=real", "");

static const char *const ticks[] = {
	"clockticks", "clockticks,thresh=1", "clockticks,thresh=2,inv=1",
	"clockticks,thresh=3,inv=1",
};

/* Return the last package if @last is set, else the first. */
static int package_of(bool last)
{
	return last ? packages() - 1 : 0;
}

/* Open a group with a disabled leader, and start all members at once. */
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

FIXTURE(group_reads) {};

FIXTURE_VARIANT(group_reads)
{
	const char *type;
	unsigned int index, n;
	bool last;		/* in the last package, else the first */
	bool disturb;		/* other events are opened and closed at the same time */
};

FIXTURE_VARIANT_ADD(group_reads, cbox) { .type = "cbox", .n = 2 };
FIXTURE_VARIANT_ADD(group_reads, imc) { .type = "imc", .n = 2 };

FIXTURE_VARIANT_ADD(group_reads, cbox_1_four)
{
	.type = "cbox", .n = 4, .index = 1, .last = true,
};

FIXTURE_VARIANT_ADD(group_reads, imc_1_four)
{
	.type = "imc", .n = 4, .index = 1, .last = true,
};

FIXTURE_VARIANT_ADD(group_reads, sbox) { .type = "sbox", .n = 2, .last = true };
FIXTURE_VARIANT_ADD(group_reads, ha) { .type = "ha", .n = 2, .last = true };

/* irp_1 shares a box control with irp_0. */
FIXTURE_VARIANT_ADD(group_reads, irp_1)
{
	.type = "irp", .n = 2, .index = 1, .last = true,
};

FIXTURE_VARIANT_ADD(group_reads, cbox_disturbed)
{
	.type = "cbox", .n = 2, .last = true, .disturb = true,
};

FIXTURE_VARIANT_ADD(group_reads, imc_disturbed)
{
	.type = "imc", .n = 2, .last = true, .disturb = true,
};

FIXTURE_SETUP(group_reads)
{
	ASSERT_EQ(0, -driver_freeze_budget(1000));
}

FIXTURE_TEARDOWN(group_reads) { }

/* The counts of a read are equal, and never less than the counts of the last read. */
TEST_F(group_reads, counters_agree)
{
	uint64_t values[MAX_GROUP], before = 0, first = 0;
	int pkg = package_of(variant->last), cpu, other = -1;
	struct event_reading times;
	struct event_group g = { 0 };
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, variant->type, variant->index))
		SKIP(return, "no such PMU");
	cpu = pmu_cpu(pmu, pkg);
	ASSERT_TRUE(start(&g, pmu, cpu, ticks, variant->n));
	for (unsigned int reads = 0; reads < loops(READS); reads++) {
		if (variant->disturb && reads % DISTURB == DISTURB / 2)
			other = event_open(pmu, cpu, "%s,thresh=1,edge=1",
					   ticks[0]);
		if (variant->disturb && reads % DISTURB == 0 && reads)
			close(other);
		ASSERT_EQ(0, -group_read(&g, values, &times));
		for (unsigned int i = 1; i < variant->n; i++) {
			ASSERT_EQ(values[0], values[i]) {
				TH_LOG("read %u: %s", reads, ticks[i]);
			}
		}
		ASSERT_GE(values[0], before) {
			TH_LOG("read %u goes back", reads);
		}
		if (!reads)
			first = values[0];
		before = values[0];
	}
	EXPECT_GT(before, first) {
		TH_LOG("no time passed");
	}
	EXPECT_EQ(times.enabled, times.running);
	if (variant->disturb && other >= 0)
		close(other);
	group_close(&g);
}

/*
 * Start a process that opens another group on another CPU of the package, and reads it
 * until the process is killed. Return its PID, or -1.
 */
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
			cpu_relax();
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

FIXTURE(two_cpus) {};

FIXTURE_VARIANT(two_cpus)
{
	const char *type;
	bool last;		/* in the last package, else the first */
};

VARIANT_OF_TYPE(two_cpus, cbox);
FIXTURE_VARIANT_ADD(two_cpus, imc) { .type = "imc", .last = true };

FIXTURE_SETUP(two_cpus)
{
	ASSERT_EQ(0, -driver_freeze_budget(1000));
}

FIXTURE_TEARDOWN(two_cpus) { }

/*
 * All members of a group start in the same cycle, although another CPU freezes and
 * unfreezes the box at the same time for its own group.
 */
TEST_F(two_cpus, group_starts_in_one_cycle)
{
	const char *const *theirs = ticks, *const *ours = ticks + 2;
	int pkg = package_of(variant->last);
	int cpu = package_cpu(pkg, 0), other = package_cpu(pkg, 1);
	uint64_t values[MAX_GROUP];
	char pmu[PMU_NAME_MAX];
	struct event_group g;
	pid_t reader;

	if (other < 0 || !pmu_name(pmu, variant->type, 0))
		SKIP(return, "one CPU, or no box");
	cpu_pin(cpu);
	reader = start_reader(pmu, other, theirs, 2);
	ASSERT_GT(reader, 0);
	for (unsigned int starts = 0; starts < loops(STARTS); starts++) {
		g.n = 0;
		ASSERT_TRUE(start(&g, pmu, cpu, ours, 2));
		ASSERT_EQ(0, -group_read(&g, values, NULL));
		ASSERT_EQ(values[0], values[1]) {
			TH_LOG("start %u", starts);
		}
		group_close(&g);
	}
	EXPECT_EQ(0, waitpid(reader, NULL, WNOHANG)) {
		TH_LOG("the reader has ended");
	}
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
}

/*
 * Read a group of box @pmu again and again for @cycles cycles. Set @lost to the share of
 * these cycles, per mille, that an event of another user of the box lost. The clock of
 * the UBox, which is never frozen, counts the cycles.
 */
static bool loss(const char *pmu, int cpu, const char *ubox, uint64_t cycles,
		 uint64_t *lost)
{
	uint64_t values[MAX_GROUP], from, to, now = 0;
	struct event_group g = { 0 };
	struct event_reading times;
	int clock, victim;
	bool ok;

	clock = event_open(ubox, cpu, "uclk");
	victim = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
	ok = start(&g, pmu, cpu, ticks, 2) &&
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

PLAIN_FIXTURE(budget);

FIXTURE_VARIANT(budget)
{
	const char *type;
	bool last;		/* in the last package, else the first */
};

VARIANT_OF_TYPE(budget, cbox);
FIXTURE_VARIANT_ADD(budget, imc) { .type = "imc", .last = true };

TEST_F(budget, limits_what_a_tight_loop_takes)
{
	const uint64_t cycles = 2500000000;	/* more than a second */
	uint64_t unlimited = 0, limited = 0, running;
	char pmu[PMU_NAME_MAX], ubox[PMU_NAME_MAX];
	int pkg = package_of(variant->last), cpu;

	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	ASSERT_TRUE(pmu_name(ubox, "ubox", 0));
	cpu = pmu_cpu(pmu, pkg);
	/* on the perf CPU: otherwise reads wait for IPIs, which limits the lost share */
	cpu_pin(cpu);
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	ASSERT_TRUE(loss(pmu, cpu, ubox, cycles, &unlimited));
	ASSERT_EQ(0, -driver_freeze_budget(10));
	running = package_stat(pkg, "group_unfrozen");
	ASSERT_TRUE(loss(pmu, cpu, ubox, cycles, &limited));
	running = package_stat(pkg, "group_unfrozen") - running;
	TH_LOG("%s: %ju per mille lost, %ju without a limit", pmu,
	       (uintmax_t)limited, (uintmax_t)unlimited);
	EXPECT_GT(running, 0) {
		TH_LOG("no group was read running");
	}
	EXPECT_LT(limited, unlimited / 2);
}

TEST_HARNESS_MAIN

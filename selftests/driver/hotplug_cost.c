// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf CPU goes offline while many events are open: that takes no longer for many
 * events than for few, and multiplexed events do not count twice.
 */
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define TRACING		"/sys/kernel/tracing/"
#define PROBE		"grace_periods"

enum { MANY = 300, EVENTS = 8, MOVES = 6, WAIT_MS = 300 };

static int fds[MANY];

FIXTURE(perf_cpu)
{
	int cpu;
};

FIXTURE_SETUP(perf_cpu)
{
	machine_setup("clock=real", "");
	log_mark();
	self->cpu = pmu_cpu("hswep_cbox_0", packages() - 1);
	if (!cpu_can_leave(self->cpu) || package_cpu(packages() - 1, 1) < 0)
		SKIP(return, "the perf CPU cannot go offline");
}

FIXTURE_TEARDOWN(perf_cpu)
{
	if (!cpu_is_online(self->cpu))
		cpu_set_online(self->cpu, true);
	expect_nothing_left(_metadata);
}

/* --- how long it takes, in grace periods ------------------------------------------ */

FIXTURE(probe) {};

FIXTURE_SETUP(probe)
{
	machine_setup("clock=real", "");
	log_mark();
	if (access(TRACING "kprobe_events", W_OK))
		SKIP(return, "this kernel has no kprobe events");
	ASSERT_EQ(0, -file_write(TRACING "kprobe_events",
				 "p:" PROBE " synchronize_rcu"));
	ASSERT_EQ(0, -file_write(TRACING "events/kprobes/" PROBE "/enable", "1"));
}

FIXTURE_TEARDOWN(probe)
{
	file_write(TRACING "events/kprobes/" PROBE "/enable", "0");
	file_write(TRACING "kprobe_events", "-:" PROBE);
	expect_nothing_left(_metadata);
}

/* Calls of synchronize_rcu() so far, or -1 if they are not counted */
static long grace_periods(void)
{
	FILE *f = fopen(TRACING "kprobe_profile", "re");
	char name[64];
	long n, calls = -1;

	while (f && fscanf(f, "%63s %ld %*d", name, &n) == 2)
		if (!strcmp(name, PROBE))
			calls = n;
	if (f)
		fclose(f);
	return calls;
}

/* Grace periods that the perf CPU waits for while it goes offline with @n events */
static long leave(unsigned int n)
{
	int cpu = pmu_cpu("hswep_cbox_0", packages() - 1);
	long calls;

	for (unsigned int i = 0; i < n; i++)
		fds[i] = event_open("hswep_cbox_0", cpu, "clockticks,thresh=%u",
				    i % 4);
	calls = grace_periods();
	if (cpu_set_online(cpu, false))
		return -1;
	calls = grace_periods() - calls;
	cpu_set_online(cpu, true);
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
	return calls;
}

/* A grace period takes some 10 ms, and CPUs cannot change in the meantime. */
TEST_F_TIMEOUT(probe, leaves_as_fast_with_many_events, UNHURRIED)
{
	int cpu = pmu_cpu("hswep_cbox_0", packages() - 1);
	long few, many;

	if (!cpu_can_leave(cpu) || package_cpu(packages() - 1, 1) < 0)
		SKIP(return, "the perf CPU cannot go offline");
	few = leave(1);
	many = leave(MANY);
	TH_LOG("%ld grace periods with one event, %ld with %d", few, many, MANY);
	EXPECT_GT(few, 0);
	EXPECT_LT(many, few + MANY / 10);
}

/* --- what is counted ------------------------------------------------------------- */

/* Count and time of @fd since @last, as a rate in counts a nanosecond that it ran */
static double rate_since(int fd, struct event_reading *last)
{
	struct event_reading r;
	double rate;

	if (event_read(fd, &r) || r.running <= last->running)
		return 0;
	rate = (double)(r.value - last->value) / (r.running - last->running);
	*last = r;
	return rate;
}

/*
 * Each event counts every cycle while it runs. The rate before the first move is the
 * measure: a rotation costs the counts of a short time on both sides.
 */
TEST_F_TIMEOUT(perf_cpu, leaves_while_events_are_multiplexed, UNHURRIED)
{
	struct event_reading last[EVENTS] = {};
	int pkg = packages() - 1, fd[EVENTS];
	double still[EVENTS];

	for (unsigned int i = 0; i < EVENTS; i++) {
		fd[i] = event_open("hswep_cbox_0", self->cpu,
				   "clockticks,thresh=%u,inv=1", i + 2);
		ASSERT_GE(fd[i], 0);
	}
	sleep_ms(MOVES * WAIT_MS);
	for (unsigned int i = 0; i < EVENTS; i++)
		still[i] = rate_since(fd[i], &last[i]);
	for (int i = 0; i < MOVES; i++) {
		int cpu = pmu_cpu("hswep_cbox_0", pkg);

		/* long beside a move, in which perf's time runs and no event counts */
		sleep_ms(WAIT_MS);
		ASSERT_EQ(0, -cpu_set_online(cpu, false));
		sleep_ms(WAIT_MS);
		ASSERT_EQ(0, -cpu_set_online(cpu, true));
	}
	for (unsigned int i = 0; i < EVENTS; i++) {
		double moved = rate_since(fd[i], &last[i]);

		ASSERT_GT(still[i], 0);
		TH_LOG("event %u: %.3f cycles a ns before, %.3f times that beside moves",
		       i, still[i], moved / still[i]);
		EXPECT_GT(moved, still[i] * 0.95);
		EXPECT_LT(moved, still[i] * 1.05);
		EXPECT_LT(last[i].running, last[i].enabled);
		close(fd[i]);
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf CPU goes offline while many events are open: that takes no longer for many
 * events than for few, and multiplexed events do not count twice.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define RCU_EXPEDITED	"/sys/kernel/rcu_expedited"

enum { MANY = 300, EVENTS = 8, MOVES = 6 };

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
	file_write(RCU_EXPEDITED, "1");
	expect_nothing_left(_metadata);
}

/* The best time in milliseconds that the perf CPU takes to go offline with @n events */
static uint64_t leave_ms(unsigned int n)
{
	uint64_t best = UINT64_MAX, took;
	int pkg = packages() - 1;

	for (int round = 0; round < 3; round++) {
		int cpu = pmu_cpu("hswep_cbox_0", pkg);

		for (unsigned int i = 0; i < n; i++)
			fds[i] = event_open("hswep_cbox_0", cpu,
					    "clockticks,thresh=%u", i % 4);
		took = now_ns();
		if (cpu_set_online(cpu, false))
			return UINT64_MAX;
		took = now_ns() - took;
		best = took < best ? took : best;
		cpu_set_online(cpu, true);
		for (unsigned int i = 0; i < n; i++)
			close(fds[i]);
	}
	return best / 1000000;
}

/* vm/run has the kernel expedite grace periods; this test needs normal ones. */
TEST_F_TIMEOUT(perf_cpu, leaves_as_fast_with_many_events, UNHURRIED)
{
	uint64_t few, many;

	ASSERT_EQ(0, -file_write(RCU_EXPEDITED, "0"));
	few = leave_ms(1);
	many = leave_ms(MANY);
	TH_LOG("%ju ms with one event, %ju ms with %d", (uintmax_t)few,
	       (uintmax_t)many, MANY);
	/* a grace period takes some 10 ms */
	EXPECT_LT(many, few + MANY);
}

/* Each event counts every cycle while it runs, and so does its scaled count. */
TEST_F_TIMEOUT(perf_cpu, leaves_while_events_are_multiplexed, UNHURRIED)
{
	int pkg = packages() - 1, fd[EVENTS], uclk;
	struct event_reading r, clock;

	uclk = event_open("hswep_ubox", self->cpu, "uclk");
	ASSERT_GE(uclk, 0);
	for (unsigned int i = 0; i < EVENTS; i++) {
		fd[i] = event_open("hswep_cbox_0", self->cpu,
				   "clockticks,thresh=%u,inv=1", i + 2);
		ASSERT_GE(fd[i], 0);
	}
	for (int i = 0; i < MOVES; i++) {
		int cpu = pmu_cpu("hswep_cbox_0", pkg);

		/* long beside a move, in which perf's time runs and no event counts */
		sleep_ms(300);
		ASSERT_EQ(0, -cpu_set_online(cpu, false));
		sleep_ms(300);
		ASSERT_EQ(0, -cpu_set_online(cpu, true));
	}
	ASSERT_EQ(0, -event_read(uclk, &clock));
	for (unsigned int i = 0; i < EVENTS; i++) {
		double rate;

		ASSERT_EQ(0, -event_read(fd[i], &r));
		ASSERT_GT(r.running, 0);
		rate = (double)r.value / r.running * clock.enabled / clock.value;
		TH_LOG("event %u ran for %.1f %%, counted %.3f times the truth", i,
		       100.0 * r.running / r.enabled, rate);
		EXPECT_GT(rate, 0.95);
		EXPECT_LT(rate, 1.05);
		EXPECT_LT(r.running, r.enabled);
		close(fd[i]);
	}
	close(uclk);
}

TEST_HARNESS_MAIN

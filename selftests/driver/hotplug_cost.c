// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf CPU goes offline while many events are open. The migration of many events
 * takes no longer than the migration of a few events, and multiplexed events do not count
 * cycles twice.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define TRACING		"/sys/kernel/tracing/"
#define PROBE		"grace_periods"

#define RCU_EXPEDITED	"/sys/kernel/rcu_expedited"

enum { MANY = 300, OTHERS = 100, EVENTS = 8, STEPS = 100, CYCLES = 1000 };

static int fds[MANY];

/* --- duration of a migration, in grace periods ------------------------------------ */

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

/* Return the number of calls of synchronize_rcu() so far, or -1 if it is unknown. */
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

/*
 * Return the number of RCU grace periods for which the kernel waits while it takes the
 * perf CPU offline with @n open events; -1: the CPU does not go offline.
 */
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

/* A grace period takes some 10 ms, in which no other CPU can go online or offline. */
TEST_F(probe, leaves_as_fast_with_many_events)
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

/* --- counts during a migration --------------------------------------------------- */

FIXTURE(perf_cpu) { int cpu; };

/*
 * Open many events of another box, and do not expedite grace periods, so that a migration
 * takes long. All events of these tests count every cycle in which they have a counter.
 */
FIXTURE_SETUP(perf_cpu)
{
	machine_setup("clock=manual", "");
	log_mark();
	self->cpu = pmu_cpu("hswep_cbox_0", packages() - 1);
	if (!cpu_can_leave(self->cpu) || package_cpu(packages() - 1, 1) < 0)
		SKIP(return, "the perf CPU cannot go offline");
	for (unsigned int i = 0; i < OTHERS; i++) {
		fds[i] = event_open("hswep_cbox_1", self->cpu, "clockticks");
		ASSERT_GE(fds[i], 0);
	}
	ASSERT_EQ(0, -file_write(RCU_EXPEDITED, "0"));
}

FIXTURE_TEARDOWN(perf_cpu)
{
	file_write(RCU_EXPEDITED, "1");
	for (unsigned int i = 0; i < OTHERS; i++)
		close(fds[i]);
	if (!cpu_is_online(self->cpu))
		cpu_set_online(self->cpu, true);
	expect_nothing_left(_metadata);
}

/* The CPU that a thread takes offline, the error, and whether the thread has finished */
static struct {
	int cpu, err;
	atomic_bool finished;
} moving;

static void *move(void *arg)
{
	moving.err = cpu_set_online(moving.cpu, false);
	moving.finished = true;
	return arg;
}

/* Call @step until the perf CPU is offline, and then STEPS times more. */
static bool during_move(int cpu, void (*step)(void *arg), void *arg)
{
	pthread_t thread;

	moving.cpu = cpu;
	moving.finished = false;
	if (pthread_create(&thread, NULL, move, NULL))
		tap_bail("no thread");
	for (int more = STEPS; more; more -= moving.finished)
		step(arg);
	pthread_join(thread, NULL);
	return !moving.err;
}

/* Largest count of an event in a step, and the sum of the counts of all events */
struct steps {
	int fd[EVENTS];
	uint64_t count[EVENTS], steps, most, total;
};

static void advance_and_read(void *arg)
{
	struct steps *s = arg;

	sim_advance(CYCLES);
	s->steps++;
	for (unsigned int i = 0; i < EVENTS; i++) {
		uint64_t now = event_count(s->fd[i]), more = now - s->count[i];

		s->count[i] = now;
		s->most = more > s->most ? more : s->most;
		s->total += more;
	}
}

TEST_F(perf_cpu, leaves_while_events_are_multiplexed)
{
	struct steps s = {};

	for (unsigned int i = 0; i < EVENTS; i++) {
		s.fd[i] = event_open("hswep_cbox_0", self->cpu,
				     "clockticks,thresh=%u,inv=1", i + 2);
		ASSERT_GE(s.fd[i], 0);
	}
	EXPECT_TRUE(during_move(self->cpu, advance_and_read, &s));
	TH_LOG("at most %.3f of the cycles of one of %d steps, %.3f counters used",
	       (double)s.most / CYCLES, (int)s.steps,
	       (double)s.total / (s.steps * CYCLES));
	EXPECT_EQ(CYCLES, s.most);
	EXPECT_GT(s.total, 0);
	for (unsigned int i = 0; i < EVENTS; i++)
		close(s.fd[i]);
}

static void advance(void *arg)
{
	struct steps *s = arg;

	sim_advance(CYCLES);
	s->steps++;
}

/*
 * A group that the user has disabled does not compete for counters: an event beside the
 * group counts every cycle of the migration.
 */
TEST_F(perf_cpu, leaves_beside_a_disabled_group)
{
	int fd = event_open("hswep_cbox_0", self->cpu, "clockticks"), leader, member;
	struct perf_event_attr attr;
	struct steps s = {};

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_cbox_0", "clockticks,thresh=1"));
	attr.disabled = 1;
	leader = perf_open(&attr, -1, self->cpu, -1);
	ASSERT_GE(leader, 0);
	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_cbox_0", "clockticks,thresh=2,inv=1"));
	member = perf_open(&attr, -1, self->cpu, leader);
	ASSERT_GE(member, 0);
	EXPECT_TRUE(during_move(self->cpu, advance, &s));
	EXPECT_EQ(s.steps * CYCLES, event_count(fd));
	close(member);
	close(leader);
	close(fd);
}

static void pause_and_advance(void *arg)
{
	struct steps *s = arg;

	ioctl(s->fd[0], PERF_EVENT_IOC_DISABLE, 0);
	sim_advance(CYCLES);
	ioctl(s->fd[0], PERF_EVENT_IOC_ENABLE, 0);
	s->steps++;
}

/* perf enables events while perf migrates them: an event may count in one pause. */
TEST_F(perf_cpu, leaves_while_an_event_pauses)
{
	struct steps s = {};

	s.fd[0] = event_open("hswep_cbox_1", self->cpu, "clockticks,thresh=2,inv=1");
	ASSERT_GE(s.fd[0], 0);
	EXPECT_TRUE(during_move(self->cpu, pause_and_advance, &s));
	s.total = event_count(s.fd[0]);
	TH_LOG("%ju cycles in %ju pauses of %d", (uintmax_t)s.total,
	       (uintmax_t)s.steps, CYCLES);
	EXPECT_LE(s.total, CYCLES);
	sim_advance(CYCLES);
	EXPECT_EQ(s.total + CYCLES, event_count(s.fd[0]));
	close(s.fd[0]);
}

TEST_HARNESS_MAIN

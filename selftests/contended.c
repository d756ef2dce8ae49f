// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A box that all CPUs of its package work on at a time: each has many events there,
 * and opens and closes another without end, so that perf takes all of them off and
 * puts them on again, for which the driver would have the box stand still.  There is
 * always one that does.  Whoever comes to it is not kept waiting for the others, and
 * the box counts.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"

enum { MAX_CROWD = 64, EVENTS = 50, ROUNDS = 100, CYCLES = 1009,
       MOST_OPENS = 100000 };

MACHINE_OF_ALL_TESTS("clock=real", "");

/* All of them want this: they share one counter, and leave others free. */
static const char *const common = "clockticks";

struct crowd {
	pid_t pid[MAX_CROWD];
	unsigned int n;
};

static void come_and_go(const char *pmu, int cpu, int ready)
{
	int fd = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cpu_pin(cpu);
	for (unsigned int i = 0; i < EVENTS && fd >= 0; i++)
		fd = event_open(pmu, cpu, common);
	if (fd < 0 || write(ready, "", 1) != 1)
		_exit(1);
	for (;;) {
		fd = event_open(pmu, cpu, common);
		if (fd < 0)
			_exit(1);
		close(fd);
	}
}

/* One on each CPU of package 0 but the first.  They are there when this returns. */
static bool crowd_start(struct crowd *crowd, const char *pmu)
{
	int ready[2], cpu;
	unsigned int i;
	char c;

	crowd->n = 0;
	if (pipe(ready))
		return check(false, "pipe: %s", strerror(errno));
	while (crowd->n < MAX_CROWD && (cpu = package_cpu(0, crowd->n + 1)) >= 0) {
		pid_t pid = fork();

		if (!pid)
			come_and_go(pmu, cpu, ready[1]);
		if (pid < 0)
			break;
		crowd->pid[crowd->n++] = pid;
	}
	close(ready[1]);
	for (i = 0; i < crowd->n && read(ready[0], &c, 1) == 1; i++)
		;
	close(ready[0]);
	return check(i == crowd->n, "%u of %u came", i, crowd->n);
}

/* Are all of them still at it? */
static bool crowd_end(struct crowd *crowd)
{
	bool ok = true;

	for (unsigned int i = 0; i < crowd->n; i++) {
		ok &= check(!waitpid(crowd->pid[i], NULL, WNOHANG),
			    "number %u has left", i);
		kill(crowd->pid[i], SIGKILL);
		waitpid(crowd->pid[i], NULL, 0);
	}
	return ok;
}

/* Has the box counting and frozen again and again, until the driver leaves it be. */
static bool use_up(const char *pmu, int cpu)
{
	uint64_t before = package_stat(0, "group_unfrozen");

	for (unsigned int i = 0; i < MOST_OPENS; i++) {
		close(event_open(pmu, cpu, common));
		if (package_stat(0, "group_unfrozen") > before)
			return true;
	}
	return check(false, "it is still frozen after %u events", MOST_OPENS);
}

FIXTURE(box)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(box)
{
	const char *kind;
};

VARIANT_OF_KIND(box, cbox);
VARIANT_OF_KIND(box, pcu);

FIXTURE_SETUP(box)
{
	log_mark();
	cpu_pin(package_cpu(0, 0));
	ASSERT_TRUE(pmu_name(self->pmu, variant->kind, 0));
}

FIXTURE_TEARDOWN(box)
{
	expect_no_complaint(_metadata);
}

/* With the manual clock, and no time at all to stand still. */
TEST_F_TIMEOUT(box, starts_without_waiting_for_others, UNHURRIED)
{
	int cpu = package_cpu(0, 0), beside, fd;
	const char *pmu = self->pmu;
	struct crowd crowd;
	uint64_t start;

	ASSERT_EQ(0, -sim_clock_set("manual"));
	ASSERT_EQ(0, -driver_freeze_budget(0));
	beside = event_open(pmu, cpu, common);
	ASSERT_GE(beside, 0);
	ASSERT_TRUE(use_up(pmu, cpu));
	ASSERT_TRUE(crowd_start(&crowd, pmu));
	if (!crowd.n)
		SKIP(return, "one CPU");
	start = sim_cycles();
	for (unsigned int round = 0; round < loops(ROUNDS); round++) {
		fd = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, -sim_advance(CYCLES));
		ASSERT_EQ(CYCLES, event_count(fd)) {
			TH_LOG("round %u", round);
		}
		close(fd);
	}
	EXPECT_EQ(sim_cycles() - start, event_count(beside)) {
		TH_LOG("the event beside it");
	}
	EXPECT_TRUE(crowd_end(&crowd));
	close(beside);
}

/*
 * With the real clock, and the UBox's, which nobody has stand still.  Each alone may
 * have the box do that for as long as it likes.
 */
TEST_F_TIMEOUT(box, counts_though_there_is_always_one, UNHURRIED)
{
	const uint64_t cycles = 2500000000;	/* a second and more */
	int cpu = package_cpu(0, 0), clock, fd;
	uint64_t now = 0, counted, from;
	char ubox[PMU_NAME_MAX];
	struct crowd crowd;

	ASSERT_EQ(0, -sim_clock_set("real"));
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	ASSERT_TRUE(pmu_name(ubox, "ubox", 0));
	ASSERT_TRUE(crowd_start(&crowd, self->pmu));
	if (crowd.n < 2)
		SKIP(return, "one alone takes a rest now and then");
	clock = event_open(ubox, cpu, "uclk");
	fd = event_open(self->pmu, cpu, "clockticks,thresh=2,inv=1");
	ASSERT_GE(clock, 0);
	ASSERT_GE(fd, 0);
	from = event_count(clock);
	counted = event_count(fd);
	while (now < cycles) {
		sleep_ms(1);
		now = event_count(clock) - from;
	}
	counted = event_count(fd) - counted;
	TH_LOG("%ju of %ju cycles counted, among %u others", (uintmax_t)counted,
	       (uintmax_t)now, crowd.n);
	EXPECT_GT(counted, now / 2);
	EXPECT_TRUE(crowd_end(&crowd));
	close(fd);
	close(clock);
}

TEST_HARNESS_MAIN

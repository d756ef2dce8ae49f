// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time for which boxes stand still: what the driver says of it, in sysfs and as
 * time not running, against what the simulated hardware knows; and that a freeze
 * which comes after the last sampling event has gone is ended, too.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"

enum { KHZ = 2500000 };		/* the simulated hardware's UCLK */

static void __attribute__((constructor)) need_two_packages(void)
{
	if (packages() < 2)
		tap_skip_all("needs two packages");
}

/* In package 0: a sample each @period cycles. 0 or -errno. */
static int open_ticks(struct sampler *s, const char *pmu, const char *kind,
		      uint64_t period)
{
	return sampler_open(s, pmu, pmu_cpu(pmu, 0), period,
			    "config=%#" PRIx64, ticks_of(kind)->config);
}

/* --- sampling while time goes on ---------------------------------------------- */

FIXTURE(sampled)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(sampled)
{
	const char *kind;
};

VARIANT_OF_KIND(sampled, ha);
VARIANT_OF_KIND(sampled, pcu);

FIXTURE_SETUP(sampled)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=real", "");
	log_mark();
	ASSERT_TRUE(pmu_name(self->pmu, variant->kind, 0));
}

FIXTURE_TEARDOWN(sampled)
{
	expect_no_complaint(_metadata);
}

/* @a is @b, but for @percent of it? */
static bool about(double a, double b, double percent)
{
	return a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100);
}

/*
 * An overflow each cycle that package 0 counts. Package 1 has all the cycles
 * there are.
 */
TEST_F_TIMEOUT(sampled, what_stands_still_in_a_storm_is_accounted, UNHURRIED)
{
	enum { LONG_MS = 1500 };
	struct event_reading from[2], to[2];
	uint64_t frozen, said, uclk[2];
	double counted, running;
	struct sampler s;
	int fd[2];

	for (int pkg = 0; pkg < 2; pkg++) {
		fd[pkg] = event_open("hswep_ubox", pmu_cpu("hswep_ubox", pkg),
				     "uclk");
		ASSERT_GE(fd[pkg], 0);
	}
	for (int pkg = 0; pkg < 2; pkg++)
		ASSERT_EQ(0, -event_read(fd[pkg], &from[pkg]));
	frozen = sim_stat("frozen_ns");
	said = overflow_stat(0, "frozen_ns");
	ASSERT_EQ(0, -open_ticks(&s, self->pmu, variant->kind, 1));
	sleep_ms(LONG_MS);
	for (int pkg = 0; pkg < 2; pkg++)
		ASSERT_EQ(0, -event_read(fd[pkg], &to[pkg]));
	sampler_close(&s);
	/* a freeze that is under way ends */
	sleep_ms(50);
	frozen = sim_stat("frozen_ns") - frozen;
	said = overflow_stat(0, "frozen_ns") - said;
	for (int pkg = 0; pkg < 2; pkg++) {
		uclk[pkg] = to[pkg].value - from[pkg].value;
		close(fd[pkg]);
	}
	EXPECT_GT(frozen, 0);
	EXPECT_TRUE(about(said, frozen, 3)) {
		TH_LOG("overflow_frozen_ns says %ju of %ju ns",
		       (uintmax_t)said, (uintmax_t)frozen);
	}
	counted = (double)uclk[0] / uclk[1];
	running = (double)(to[0].running - from[0].running) /
		  (to[0].enabled - from[0].enabled);
	EXPECT_TRUE(running <= counted + 0.05 && running >= counted - 0.05) {
		TH_LOG("uclk ran for %.1f %% of the time, and counted %.1f %% of the cycles",
		       100 * running, 100 * counted);
	}
	EXPECT_EQ(to[1].enabled - from[1].enabled,
		  to[1].running - from[1].running) {
		TH_LOG("package 1 stood still");
	}
}

/*
 * Overflows with so much time between them that the clock tells little of how long
 * they froze the package: then the delay of an NMI that the driver measured when it was
 * loaded does.  A busy machine's delays are longer, then or now, so it is loaded anew for
 * each round, and one in which it is about right will do; without that delay there is
 * none.
 */
TEST_F_TIMEOUT(sampled, time_before_lone_nmis_is_accounted, UNHURRIED)
{
	enum { LONG_MS = 300, EVERY_MS = 10, ROUNDS = 8 };
	uint64_t frozen = 0, said = 0;
	struct sampler s;
	bool right = false;

	for (int i = 0; !right && i < ROUNDS; i++) {
		if (i)
			machine_setup("clock=real", "");
		ASSERT_EQ(0, -open_ticks(&s, self->pmu, variant->kind,
					 (uint64_t)EVERY_MS * KHZ));
		frozen = sim_stat("frozen_ns");
		said = overflow_stat(0, "frozen_ns");
		sleep_ms(LONG_MS);
		frozen = sim_stat("frozen_ns") - frozen;
		said = overflow_stat(0, "frozen_ns") - said;
		right = frozen && 2 * said >= frozen && said <= 2 * frozen;
		sampler_close(&s);
	}
	EXPECT_TRUE(right) {
		TH_LOG("overflow_frozen_ns says %ju of %ju ns",
		       (uintmax_t)said, (uintmax_t)frozen);
	}
}

/*
 * A storm has the package pause, for most of the time that is left to programs on
 * the event's CPU. It must not outlast the event: when close() returns there, all
 * boxes count again.
 */
TEST_F_TIMEOUT(sampled, pause_ends_with_the_last_event, UNHURRIED)
{
	enum { ROUNDS = 50 };
	uint64_t frozen = 0, before = sim_stat("frozen_ns");
	struct sampler s;

	cpu_pin(pmu_cpu(self->pmu, 0));
	for (unsigned int i = 0; i < loops(ROUNDS); i++) {
		ASSERT_EQ(0, -open_ticks(&s, self->pmu, variant->kind, 1));
		/* into a pause, at different times of it */
		usleep(15000 + i % 16 * 500);
		sampler_close(&s);
		frozen = sim_stat("frozen_ns");
		sleep_ms(10);
		ASSERT_EQ(frozen, sim_stat("frozen_ns")) {
			TH_LOG("frozen after it has gone, round %u", i);
		}
	}
	EXPECT_GT(frozen, before) {
		TH_LOG("nothing was frozen");
	}
}

/* --- groups ------------------------------------------------------------------ */

FIXTURE(grouped)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(grouped)
{
	const char *kind;
};

VARIANT_OF_KIND(grouped, cbox);
VARIANT_OF_KIND(grouped, imc);

FIXTURE_SETUP(grouped)
{
	machine_setup_once("clock=real", "");
	log_mark();
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->kind, 0));
}

FIXTURE_TEARDOWN(grouped)
{
	expect_no_complaint(_metadata);
}

/* Never less than what others lost. */
TEST_F_TIMEOUT(grouped, what_others_lose_is_accounted, UNHURRIED)
{
	static const char *const two[] = { "clockticks", "clockticks,thresh=1" };
	uint64_t clock_from, from, to, now = 0, said, values[2], lost;
	int cpu = pmu_cpu(self->pmu, 0), clock, victim;
	struct event_group g;

	clock = event_open("hswep_ubox", cpu, "uclk");
	ASSERT_GE(clock, 0);
	victim = event_open(self->pmu, cpu, "clockticks,thresh=2,inv=1");
	ASSERT_GE(victim, 0);
	ASSERT_EQ(0, -group_open(&g, self->pmu, cpu, two, 2));
	said = package_stat(0, "group_frozen_ns");
	/* the clock's time is within the other's: reading takes some, too */
	from = event_count(victim);
	clock_from = event_count(clock);
	while (now < 1000ULL * KHZ) {
		ASSERT_EQ(0, -group_read(&g, values, NULL));
		now = event_count(clock) - clock_from;
	}
	now = event_count(clock) - clock_from;
	to = event_count(victim) - from;
	said = package_stat(0, "group_frozen_ns") - said;
	lost = now > to ? (now - to) * 1000000 / KHZ : 0;
	EXPECT_GT(said, 0);
	EXPECT_GE(said, lost - lost / 10);
	EXPECT_LE(said, 1000000000);
	group_close(&g);
	close(victim);
	close(clock);
}

/* --- a clock that leaps --------------------------------------------------------- */

FIXTURE(leap) {};

FIXTURE_SETUP(leap)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=manual pace=0", "");
	log_mark();
}

FIXTURE_TEARDOWN(leap)
{
	expect_no_complaint(_metadata);
}

/*
 * So many cycles at once that their time, at the pace before, is beyond 64 bits of
 * nanoseconds: the driver reckons with it in its interrupt, and must not fault.
 */
TEST_F_TIMEOUT(leap, is_survived, UNHURRIED)
{
	enum { SLOWLY = 20, FEW = 40, LEAPS = 2 };
	const uint64_t leap = 1ULL << 46;
	uint64_t said = overflow_stat(0, "frozen_ns"), start = now_ns();
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	ASSERT_TRUE(pmu_name(pmu, "pcu", 0));
	ASSERT_EQ(0, -open_ticks(&s, pmu, "pcu", leap));
	/* some kHz, which the timer sees */
	for (int i = 0; i < SLOWLY; i++) {
		sim_advance(FEW);
		sleep_ms(10);
	}
	for (int i = 0; i < LEAPS; i++)
		sim_advance(leap);
	EXPECT_EQ(LEAPS, sampler_settle(&s, LEAPS));
	EXPECT_EQ(LEAPS * leap + SLOWLY * FEW, event_count(s.fd));
	sampler_close(&s);
	/* frozen no longer than this took */
	EXPECT_LE(overflow_stat(0, "frozen_ns") - said, now_ns() - start);
}

/* --- after the last one ------------------------------------------------------- */

FIXTURE(late_freeze)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(late_freeze)
{
	const char *kind;
};

VARIANT_OF_KIND(late_freeze, ha);
VARIANT_OF_KIND(late_freeze, pcu);

FIXTURE_SETUP(late_freeze)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=manual freeze_delay=1000", "");
	log_mark();
	ASSERT_TRUE(pmu_name(self->pmu, variant->kind, 0));
}

FIXTURE_TEARDOWN(late_freeze)
{
	expect_no_complaint(_metadata);
}

static void too_long(int signal)
{
	(void)signal;
}

/*
 * The counter overflows at cycle 500, the event is closed at 600, and the
 * package freezes at 1500. Nothing signals that to anybody any more.
 */
TEST_F_TIMEOUT(late_freeze, is_ended_without_any_event, UNHURRIED)
{
	struct sigaction action = { .sa_handler = too_long };
	struct sampler s;
	int witness, err;

	witness = event_open("hswep_cbox_0", pmu_cpu(self->pmu, 0), "clockticks");
	ASSERT_GE(witness, 0);
	ASSERT_EQ(0, -open_ticks(&s, self->pmu, variant->kind, 500));
	sim_advance(600);
	sampler_close(&s);
	/* the simulated hardware waits for somebody to unfreeze */
	sigaction(SIGALRM, &action, NULL);
	alarm(20);
	err = sim_advance(2000);
	alarm(0);
	EXPECT_EQ(0, -err);
	EXPECT_EQ(2600, event_count(witness));
	close(witness);
}

TEST_HARNESS_MAIN

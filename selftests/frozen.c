// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time for which boxes stand still: what the driver says of it, in sysfs and as
 * time not running, against what the simulated hardware knows; and that a freeze
 * which comes after the last sampling event has gone is ended, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { KHZ = 2500000 };		/* the simulated hardware's UCLK */

/* --- a storm ----------------------------------------------------------------- */

/* @a is @b, but for @percent of it? */
static bool about(double a, double b, double percent)
{
	return a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100);
}

/*
 * An overflow each cycle that package 0 counts. Package 1 has all the cycles
 * there are.
 */
static void test_storm(const char *kind)
{
	enum { LONG_MS = 1500 };
	uint64_t frozen, said, uclk[2];
	struct event_reading from[2], to[2];
	double counted, running;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	int fd[2];
	bool ok;

	pmu_name(pmu, kind, 0);
	for (int pkg = 0; pkg < 2; pkg++)
		fd[pkg] = event_open("hswep_ubox", pmu_cpu("hswep_ubox", pkg),
				     "uclk");
	for (int pkg = 0; pkg < 2; pkg++)
		event_read(fd[pkg], &from[pkg]);
	frozen = sim_stat("frozen_ns");
	said = overflow_stat(0, "frozen_ns");
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), 1,
				    "config=%#" PRIx64, ticks_of(kind)->config),
		      0, "%s opens", pmu);
	sleep_ms(LONG_MS);
	for (int pkg = 0; pkg < 2; pkg++)
		event_read(fd[pkg], &to[pkg]);
	sampler_close(&s);
	/* a freeze that is under way ends */
	sleep_ms(50);
	frozen = sim_stat("frozen_ns") - frozen;
	said = overflow_stat(0, "frozen_ns") - said;
	for (int pkg = 0; pkg < 2; pkg++) {
		uclk[pkg] = to[pkg].value - from[pkg].value;
		close(fd[pkg]);
	}
	counted = (double)uclk[0] / uclk[1];
	running = (double)(to[0].running - from[0].running) /
		  (to[0].enabled - from[0].enabled);
	ok &= check(frozen > 0, "nothing was frozen");
	ok &= check(about(said, frozen, 3), "overflow_frozen_ns says %" PRIu64
		    " of %" PRIu64 " ns", said, frozen);
	tap_ok(ok, "%s: in a storm overflow_frozen_ns is the time that package 0 stood still (%"
	       PRIu64 " of %" PRIu64 " ms)", pmu, said / 1000000,
	       frozen / 1000000);
	ok = check(running <= counted + 0.05 && running >= counted - 0.05,
		   "uclk ran for %.1f %% of the time, and counted %.1f %% of the cycles",
		   100 * running, 100 * counted);
	ok &= check(to[1].running - from[1].running ==
		    to[1].enabled - from[1].enabled, "package 1 stood still");
	tap_ok(ok, "%s: what stands still in a storm is time not running", pmu);
}

/*
 * Overflows with so much time between them that the clock tells little of how long
 * they froze the package: then the delay of an NMI that the driver has measured
 * does, which is the shortest there is.  A busy machine's are longer, in some rounds.
 */
static void test_lone(const char *kind)
{
	enum { LONG_MS = 300, EVERY_MS = 10, ROUNDS = 5 };
	uint64_t frozen = 0, said = 0;
	char pmu[PMU_NAME_MAX];
	bool ok, half = false;
	struct sampler s;

	pmu_name(pmu, kind, 0);
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0),
				    (uint64_t)EVERY_MS * KHZ, "config=%#" PRIx64,
				    ticks_of(kind)->config), 0, "%s opens", pmu);
	for (int i = 0; ok && !half && i < ROUNDS; i++) {
		frozen = sim_stat("frozen_ns");
		said = overflow_stat(0, "frozen_ns");
		sleep_ms(LONG_MS);
		frozen = sim_stat("frozen_ns") - frozen;
		said = overflow_stat(0, "frozen_ns") - said;
		ok &= check(said <= 1.2 * frozen, "%" PRIu64 " of %" PRIu64
			    " ns", said, frozen);
		half = said > 0 && 2 * said >= frozen;
	}
	sampler_close(&s);
	ok &= check(half, "%" PRIu64 " of %" PRIu64 " ns", said, frozen);
	tap_ok(ok, "%s: overflow_frozen_ns has the time before NMIs that come one by one (%"
	       PRIu64 " of %" PRIu64 " us)", pmu, said / 1000, frozen / 1000);
}

/* --- groups ------------------------------------------------------------------ */

/* Never less than what others lost. */
static void test_groups(const char *kind)
{
	static const char *const two[] = { "clockticks", "clockticks,thresh=1" };
	uint64_t clock_from, from, to, now = 0, said, values[2], lost;
	struct event_group g;
	char pmu[PMU_NAME_MAX];
	int cpu, clock, victim;
	unsigned int reads = 0;
	bool ok;

	pmu_name(pmu, kind, 0);
	cpu = pmu_cpu(pmu, 0);
	if (driver_freeze_budget(1000))
		tap_bail("freeze_budget");
	clock = event_open("hswep_ubox", cpu, "uclk");
	victim = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
	ok = check_eq(-group_open(&g, pmu, cpu, two, 2), 0, "%s: a group", pmu);
	said = package_stat(0, "group_frozen_ns");
	/* the clock's time is within the other's: reading takes some, too */
	from = event_count(victim);
	clock_from = event_count(clock);
	for (; ok && now < 1000ULL * KHZ; reads++) {
		ok = check(!group_read(&g, values, NULL), "read");
		now = event_count(clock) - clock_from;
	}
	now = event_count(clock) - clock_from;
	to = event_count(victim) - from;
	said = package_stat(0, "group_frozen_ns") - said;
	lost = now > to ? (now - to) * 1000000 / KHZ : 0;
	ok &= check(said > 0, "nothing stood still");
	ok &= check(said >= lost - lost / 10 && said <= 1000000000,
		    "group_frozen_ns says %" PRIu64 " of %" PRIu64 " ns", said,
		    lost);
	tap_ok(ok, "%s: group_frozen_ns has what others lost in %u group reads (%"
	       PRIu64 " of at least %" PRIu64 " us)", pmu, reads, said / 1000,
	       lost / 1000);
	group_close(&g);
	close(victim);
	close(clock);
}

/* --- after the last one ------------------------------------------------------- */

static void too_long(int signal)
{
	(void)signal;
}

/*
 * The counter overflows at cycle 500, the event is closed at 600, and the
 * package freezes at 1500. Nothing signals that to anybody any more.
 */
static void test_late_freeze(const char *kind)
{
	struct sigaction action = { .sa_handler = too_long };
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	int witness, err;
	bool ok;

	pmu_name(pmu, kind, 0);
	witness = event_open("hswep_cbox_0", pmu_cpu(pmu, 0), "clockticks");
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), 500,
				    "config=%#" PRIx64, ticks_of(kind)->config),
		      0, "%s opens", pmu);
	sim_advance(600);
	sampler_close(&s);
	/* the simulated hardware waits for somebody to unfreeze */
	sigaction(SIGALRM, &action, NULL);
	alarm(20);
	err = sim_advance(2000);
	alarm(0);
	ok &= check_eq(-err, 0, "errno of 2000 cycles more");
	ok &= check_eq(event_count(witness), 2600, "cycles of another box");
	close(witness);
	tap_ok(ok, "%s: a freeze that comes after the last sampling event has gone is ended",
	       pmu);
}

/*
 * A storm has the package pause, for most of the time that is left to programs on
 * the event's CPU. It must not outlast the event: when close() returns there, all
 * boxes count again.
 */
static void test_pause_ends(const char *kind)
{
	enum { ROUNDS = 50 };
	uint64_t frozen, before = sim_stat("frozen_ns");
	char pmu[PMU_NAME_MAX];
	cpu_set_t everywhere;
	struct sampler s;
	bool ok = true;
	int cpu;

	pmu_name(pmu, kind, 0);
	cpu = pmu_cpu(pmu, 0);
	sched_getaffinity(0, sizeof(everywhere), &everywhere);
	cpu_pin(cpu);
	for (unsigned int i = 0; ok && i < ROUNDS; i++) {
		ok = check_eq(-sampler_open(&s, pmu, cpu, 1, "config=%#" PRIx64,
					    ticks_of(kind)->config), 0,
			      "%s opens", pmu);
		/* into a pause, at different times of it */
		usleep(15000 + i % 16 * 500);
		sampler_close(&s);
		frozen = sim_stat("frozen_ns");
		sleep_ms(10);
		ok &= check_eq(sim_stat("frozen_ns"), frozen,
			       "round %u: ns frozen after it has gone", i);
	}
	ok &= check(frozen > before, "nothing was frozen");
	sched_setaffinity(0, sizeof(everywhere), &everywhere);
	tap_ok(ok, "%s: a pause ends with the last sampling event", pmu);
}

/*
 * So many cycles at once that their time, at the pace before, is beyond 64 bits of
 * nanoseconds: the driver reckons with it in its interrupt, and must not fault.
 */
static void test_leap(const char *kind)
{
	enum { SLOWLY = 20, FEW = 40, LEAPS = 2 };
	const uint64_t leap = 1ULL << 46;
	uint64_t said = overflow_stat(0, "frozen_ns"), start = now_ns();
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	pmu_name(pmu, kind, 0);
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), leap,
				    "config=%#" PRIx64, ticks_of(kind)->config),
		      0, "%s opens", pmu);
	/* some kHz, which the timer sees */
	for (int i = 0; i < SLOWLY; i++) {
		sim_advance(FEW);
		sleep_ms(10);
	}
	for (int i = 0; i < LEAPS; i++)
		sim_advance(leap);
	ok &= check_eq(sampler_settle(&s, LEAPS), LEAPS, "samples");
	ok &= check_eq(event_count(s.fd), LEAPS * leap + SLOWLY * FEW, "count");
	sampler_close(&s);
	said = overflow_stat(0, "frozen_ns") - said;
	ok &= check(said <= now_ns() - start, "frozen for %" PRIu64
		    " ns, longer than this took", said);
	tap_ok(ok, "%s: a clock that leaps is survived", pmu);
}

int main(void)
{
	catalogue(NULL);
	if (packages() < 2)
		tap_skip_all("needs two packages");
	machine_setup("clock=real", "");
	log_mark();
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_storm("ha");
	test_storm("pcu");
	test_lone("ha");
	test_lone("pcu");
	test_groups("cbox");
	test_groups("imc");
	test_pause_ends("ha");
	test_pause_ends("pcu");
	machine_setup("clock=manual", "");
	test_leap("pcu");
	machine_setup("clock=manual freeze_delay=1000", "");
	test_late_freeze("ha");
	test_late_freeze("pcu");
	tap_ok(log_clean(), "the kernel's log has no warning");
	return tap_end();
}

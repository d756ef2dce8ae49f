// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts that are never there, or late: where none comes everything is
 * polled, and the log and sysfs say so; late ones cost no sample, and no NMI of
 * ours is unknown to anybody. And control registers of which the whole value
 * wants the second write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { OVERFLOWS = 10, PERIOD = 1000, CYCLES = 20500 };

static const char *const some_kinds[] = { "ubox", "ha", "pcu", "cbox", "r3qpi" };
#define SOME	(sizeof(some_kinds) / sizeof(some_kinds[0]))

/* --- none comes ------------------------------------------------------------- */

static void test_no_pmi(void)
{
	uint64_t polled, pmis, frozen;
	bool ok;

	machine_setup_sim("clock=manual pmi=off");
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("looked for every millisecond"), packages(),
		       "lines that tell of it");
	ok &= check_eq(log_count("xeon_uncore: "), 1 + packages(),
		       "lines in the log, with the summary");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(overflow_stat(pkg, "cores"), 0,
			       "overflow_cores of package %d", pkg);
	log_show("every millisecond");
	tap_ok(ok, "no interrupt comes: one line a package, and overflow_cores is 0");

	ok = true;
	pmis = sim_stat("pmi");
	frozen = sim_stat("frozen_ns");
	for (int pkg = 0; pkg < packages(); pkg++) {
		polled = overflow_stat(pkg, "timer_served");
		for (unsigned int k = 0; k < SOME; k++)
			ok &= samples_exactly(some_kinds[k], pkg, OVERFLOWS);
		polled = overflow_stat(pkg, "timer_served") - polled;
		ok &= check_eq(polled, SOME * OVERFLOWS,
			       "overflows that the timer has found");
		ok &= check_eq(boxes_that_count(pkg, CYCLES), PACKAGE_BOXES,
			       "boxes of package %d that count", pkg);
	}
	/* a counter that interrupts nobody must not freeze the package either */
	ok &= check_eq(sim_stat("pmi") - pmis, 0, "PMIs that were sent");
	ok &= check_eq(sim_stat("frozen_ns") - frozen, 0,
		       "ns for which overflows froze a package");
	tap_ok(ok & log_clean(),
	       "no interrupt comes: all samples by polling, counts exact, nothing frozen");
}

/* --- late ones -------------------------------------------------------------- */

static const struct delay {
	const char *params;
	uint64_t lost;	/* cycles of each overflow in which nobody counts */
} delays[] = {
	{ "freeze_delay=300", 0 },
	{ "status_delay=70", 70 },
	{ "pmi_delay=90", 90 },
	{ "freeze_delay=300 status_delay=70 pmi_delay=90", 160 },
};

/*
 * Each cycle counts, but for those between freeze and PMI: in these the clock
 * goes on, and the package stands still.
 */
static bool cycles_exactly(const char *kind, int pkg, uint64_t lost)
{
	const struct cat_event *e = ticks_of(kind);
	uint64_t want = CYCLES / PERIOD, count;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!pmu_name(pmu, kind, 0))
		return check(false, "no PMU for %s", kind);
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, pkg), PERIOD,
				    "config=%#" PRIx64, e->config), 0,
		      "%s opens", pmu);
	sim_advance(CYCLES);
	count = event_count(s.fd);
	if (signals(kind) && lost)
		want = count / PERIOD;
	ok &= check_eq(sampler_settle(&s, want), want, "%s: samples", pmu);
	ok &= check_eq(count, CYCLES - (signals(kind) ? want * lost : 0),
		       "%s: count of %d cycles", pmu, CYCLES);
	ok &= sampler_clean(&s, pmu);
	sampler_close(&s);
	return ok;
}

static void test_delay(const struct delay *d)
{
	char params[96];
	bool ok;

	snprintf(params, sizeof(params), "clock=manual %s", d->params);
	machine_setup_sim(params);
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("xeon_uncore: "), 1, "lines in the log");
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check(overflow_stat(pkg, "cores") != 0,
			    "package %d is polled", pkg);
		for (unsigned int k = 0; k < SOME; k++) {
			ok &= samples_exactly(some_kinds[k], pkg, OVERFLOWS);
			/* freezes that were still to come */
			sim_advance(CYCLES);
			ok &= cycles_exactly(some_kinds[k], pkg, d->lost);
		}
		ok &= check_eq(overflow_stat(pkg, "spurious"), 0, "spurious");
	}
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	tap_ok(ok & log_clean(), "%s: counts and samples exact", d->params);
}

static bool set_pmi_delay(const char *cycles)
{
	FILE *f = fopen("/sys/module/xeon_uncore_sim/parameters/pmi_delay",
			"we");

	if (!f)
		return false;
	fputs(cycles, f);
	return !fclose(f);
}

/* So late that the timer has served them: nobody else may get these NMIs. */
static void test_very_late(void)
{
	const struct cat_event *e = ticks_of("ha");
	uint64_t late = 0, count;
	struct sampler s[2];
	bool ok;

	/* 60 ms: the timer looks every 20 */
	machine_setup("clock=real", "");
	log_mark();
	ok = check(set_pmi_delay("150000000"), "pmi_delay");
	for (int pkg = 0; pkg < 2; pkg++)
		ok &= check_eq(-sampler_open(&s[pkg], "hswep_ha_0",
					     pmu_cpu("hswep_ha_0", pkg % packages()),
					     20000003, "config=%#" PRIx64,
					     e->config), 0, "hswep_ha_0 opens");
	sleep_ms(1500);
	for (int pkg = 0; pkg < 2; pkg++)
		sampler_disable(&s[pkg]);
	for (int pkg = 0; pkg < 2; pkg++) {
		count = event_count(s[pkg].fd);
		ok &= check_eq(sampler_wait(&s[pkg], count / s[pkg].period),
			       count / s[pkg].period, "samples of a count of %" PRIu64,
			       count);
		ok &= check(count > 0, "nothing was counted");
		sampler_close(&s[pkg]);
		late += overflow_stat(pkg % packages(), "late");
	}
	ok &= check(late > 0, "no PMI was late");
	set_pmi_delay("0");
	/* for those that are on their way */
	sleep_ms(200);
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	tap_ok(ok & log_clean(), "PMIs that come after the timer: %" PRIu64
	       " are late, none is unknown, all samples are there", late);
}

/* --- errata=whole ------------------------------------------------------------ */

static void test_whole(void)
{
	bool ok = true;

	machine_setup("clock=manual errata=whole", "");
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check_eq(boxes_that_count(pkg, CYCLES), PACKAGE_BOXES,
			       "boxes of package %d that count", pkg);
		ok &= samples_exactly("sbox", pkg, OVERFLOWS);
		ok &= samples_exactly("r2pcie", pkg, OVERFLOWS);
		ok &= samples_exactly("r3qpi", pkg, OVERFLOWS);
	}
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	tap_ok(ok, "errata=whole: SBo, R2PCIe, R3QPI and all others are exact");
}

int main(void)
{
	catalogue(NULL);
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_no_pmi();
	for (unsigned int i = 0; i < sizeof(delays) / sizeof(delays[0]); i++)
		test_delay(&delays[i]);
	test_very_late();
	test_whole();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Broadwell has and Haswell has not: dies without SBos, 24 CBos, memory
 * channels that answer but have no clock. And the simulator's parameters, whose
 * limits are the model's. What all generations do is in the other programs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { CBOXES = 24, SBOXES = 4, BOXES = 48, CYCLES = 1000, OVERFLOWS = 3 };

#define SUMMARY	1	/* line in the log when the driver loads */

/* Loads the driver: how many lines does the log have beside its summary? */
static bool loads(const char *sim_params, const char *fault, int lines)
{
	bool ok;

	machine_setup_sim(sim_params);
	if (fault)
		sim_fault("%s", fault);
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("xeon_uncore: "), SUMMARY + lines, "lines");
	if (!ok)
		log_show("xeon_uncore");
	return ok;
}

static bool unloads(void)
{
	bool ok = check_eq(-driver_unload(), 0, "the driver unloads");

	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	sim_show_registers();
	return ok & log_clean();
}

static bool kind_there(const char *kind, unsigned int index)
{
	char pmu[PMU_NAME_MAX];

	return pmu_name(pmu, kind, index);
}

static void test_all_boxes(void)
{
	bool ok = loads("clock=manual", NULL, 0);

	ok &= check(kind_there("cbox", CBOXES - 1), "no PMU of CBo 23");
	ok &= check(kind_there("sbox", SBOXES - 1), "no PMU of SBo 3");
	ok &= check_eq(pmus_there(), BOXES, "PMUs");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES,
			       "boxes of package %d that count", pkg);
	tap_ok(ok, "%d boxes, %d of them CBos, count exactly", BOXES, CBOXES);
	ok = samples_exactly("cbox", 0, OVERFLOWS);
	ok &= samples_exactly("imc", packages() - 1, OVERFLOWS);
	tap_ok(ok & unloads(), "they sample exactly, and nothing is left behind");
}

/* CAPID4 tells a die without SBos; nothing is to be said about it. */
static void test_no_sboxes(void)
{
	bool ok = loads("clock=manual sboxes=0", NULL, 0);

	ok &= check(!kind_there("sbox", 0), "a PMU of SBo 0");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES - SBOXES,
			       "boxes of package %d that count", pkg);
	tap_ok(ok & unloads(), "a die without SBos has no PMU of them");

	/* nobody says that there are none: their registers fault */
	ok = loads("clock=manual sboxes=0 missing=capid@0", NULL, 1);
	ok &= check_eq(log_count("no capability registers"), 1, "lines");
	ok &= check(!kind_there("sbox", 0), "a PMU of SBo 0");
	tap_ok(ok & unloads(), "nor without capability registers");
}

static void test_no_clock(void)
{
	bool ok = loads("clock=manual", "no_clock pkg=0 box=imc_3 on", 1);
	char pmu[PMU_NAME_MAX];

	ok &= check_eq(log_count("bdwep_imc_3 of package 0: its clock stands still"),
		       1, "lines that tell of it");
	ok &= check(pmu_name(pmu, "imc", 3), "no PMU of the other package's");
	ok &= check(pmu_cpu(pmu, 0) < 0, "it is there");
	ok &= check_eq(-event_open(pmu, package_cpu(0, 0), "clockticks"), ENODEV,
		       "opening an event of it");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES - !pkg,
			       "boxes of package %d that count", pkg);
	tap_ok(ok & unloads(), "a memory channel without a clock is left out, with a line in the log");
}

static void test_parameters(void)
{
	static const struct {
		const char *params, *line;
	} bad[] = {
		{ "model=bdw", "model=bdw is not possible: give hswep bdwep" },
		{ "model=bdwep cboxes=25", "cboxes=25 is not possible: give 1 to 24" },
		{ "model=bdwep sboxes=2", "sboxes=2 is not possible: give 0 or 4" },
		{ "model=hswep cboxes=19", "cboxes=19 is not possible: give 1 to 18" },
		{ "model=hswep sboxes=0", "sboxes=0 is not possible: give 2 or 4" },
	};

	sim_unload();
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		bool ok;

		log_mark();
		ok = check_eq(-sim_load(bad[i].params), EINVAL, "errno");
		ok &= check_eq(log_count(bad[i].line), 1, "lines");
		tap_ok(ok, "%s is refused with one line", bad[i].params);
		if (!ok)
			log_show("xeon_uncore_sim");
	}
}

/* Tables of one processor do not drive another one's uncore. */
static void test_other_hardware(void)
{
	bool ok;

	machine_setup_sim("clock=manual model=hswep");
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("no UBox on PCI (device 8086:6f1e)"),
		       packages(), "lines");
	ok &= check(!kind_there("imc", 0), "an iMC of another generation");
	tap_ok(ok & unloads(), "PCI devices of Haswell are left alone");
}

int main(void)
{
	if (strcmp(generation()->name, "bdwep"))
		tap_skip_all("this processor is no Broadwell");
	catalogue(NULL);
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_all_boxes();
	test_no_sboxes();
	test_no_clock();
	test_parameters();
	test_other_hardware();
	return tap_end();
}

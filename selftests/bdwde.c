// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a D-1500 is no Broadwell-EP: it has 16 CBos at the most. What all
 * generations do is in the other programs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { CBOXES = 16, CYCLES = 1000 };

/* Boxes cbox_0 and so on, all of which count. */
static bool cboxes_count(void)
{
	char pmu[PMU_NAME_MAX];
	unsigned int found = 0;
	bool ok = true;

	while (pmu_name(pmu, "cbox", found)) {
		int fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");

		sim_advance(CYCLES);
		ok &= check_eq(event_count(fd), CYCLES, "%s", pmu);
		close(fd);
		found++;
	}
	return ok & check_eq(found, CBOXES, "CBos found");
}

/* What its register says, but for a number that there cannot be. */
static void test_cboxes(const char *params, const char *line)
{
	bool ok;

	machine_setup_sim(params);
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("CBos"), !!line, "lines of CBos");
	ok &= check(!line || log_count(line), "none is \"%s\"", line);
	ok &= cboxes_count();
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	ok &= check_eq(sim_stat("undefined"), 0, "undefined writes");
	tap_ok(ok & log_clean(), "%s: 16 CBos count, with %s", params,
	       line ? "one warning" : "nothing to say");
	if (!ok)
		log_show("xeon_uncore");
}

int main(void)
{
	if (strcmp(generation()->name, "bdwde"))
		tap_skip_all("this processor is no D-1500");
	test_cboxes("clock=manual", NULL);
	test_cboxes("clock=manual num_c=17",
		    "package 0 reports 17 CBos, expected 1 to 16");
	test_cboxes("clock=manual num_c=24",
		    "package 0 reports 24 CBos, expected 1 to 16");
	return tap_end();
}

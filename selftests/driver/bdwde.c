// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of a D-1500 from Broadwell-EP: it has at most 16 CBos. Other test
 * programs cover features of all generations.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

enum { CBOXES = 16, CYCLES = 1000 };

static void __attribute__((constructor)) need_d_1500(void)
{
	if (strcmp(generation()->name, "bdwde"))
		tap_skip_all("this processor is not D-1500");
}

FIXTURE(cboxes) {};

/* The driver uses the number of CBos that num_c reports, unless it exceeds 16. */
FIXTURE_VARIANT(cboxes)
{
	const char *params, *line;	/* of the simulator; expected in the log */
};

FIXTURE_VARIANT_ADD(cboxes, as_many_as_reported) { .params = "clock=manual" };

FIXTURE_VARIANT_ADD(cboxes, one_reported_too_much)
{
	.params = "clock=manual num_c=17",
	.line = "package 0 reports 17 CBos, expected 1 to 16",
};

FIXTURE_VARIANT_ADD(cboxes, as_many_reported_as_of_bdwep)
{
	.params = "clock=manual num_c=24",
	.line = "package 0 reports 24 CBos, expected 1 to 16",
};

FIXTURE_SETUP(cboxes)
{
	machine_setup_sim("%s", variant->params);
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(cboxes)
{
	expect_nothing_left(_metadata);
}

TEST_F(cboxes, sixteen_count)
{
	char pmu[PMU_NAME_MAX];
	unsigned int found = 0;

	EXPECT_EQ(!!variant->line, log_count("CBos")) {
		log_show("xeon_uncore");
	}
	if (variant->line) {
		EXPECT_EQ(1, log_count(variant->line));
	}
	while (pmu_name(pmu, "cbox", found)) {
		int fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");

		sim_advance(CYCLES);
		EXPECT_EQ(CYCLES, event_count(fd)) {
			TH_LOG("%s", pmu);
		}
		close(fd);
		found++;
	}
	EXPECT_EQ(CBOXES, found);
}

TEST_HARNESS_MAIN

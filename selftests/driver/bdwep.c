// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of Broadwell-EP from Haswell-EP: dies without SBos, 24 CBos, and memory
 * channels whose registers respond but whose clock does not run. Other test programs
 * cover features of all generations.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { CBOXES = 24, SBOXES = 4, BOXES = 49, CYCLES = 1000, OVERFLOWS = 3 };

static void __attribute__((constructor)) need_broadwell(void)
{
	if (strcmp(generation()->name, "bdwep"))
		tap_skip_all("this processor is not Broadwell");
}

FIXTURE_OF(bdwep, ASSERT_EQ(0, -max_sample_rate(100000000)),
	   expect_nothing_left(_metadata));

TEST_F(bdwep, all_boxes_count_and_sample_exactly)
{
	load_logging(_metadata, "clock=manual", NULL, 0);
	EXPECT_TRUE(box_exists("cbox", CBOXES - 1));
	EXPECT_TRUE(box_exists("sbox", SBOXES - 1));
	EXPECT_EQ(BOXES, pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(BOXES, boxes_that_count(pkg, CYCLES));
	EXPECT_TRUE(samples_exactly("cbox", 0, OVERFLOWS));
	EXPECT_TRUE(samples_exactly("imc", packages() - 1, OVERFLOWS));
}

/* CAPID4 shows that the die has no SBos: the driver logs nothing about SBos. */
TEST_F(bdwep, die_without_sboxes)
{
	load_logging(_metadata, "clock=manual sboxes=0", NULL, 0);
	EXPECT_FALSE(box_exists("sbox", 0));
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(BOXES - SBOXES, boxes_that_count(pkg, CYCLES));
}

/* Without CAPID4 the driver probes the SBos, and their registers fault. */
TEST_F(bdwep, die_without_sboxes_nor_capability_registers)
{
	load_logging(_metadata, "clock=manual sboxes=0 missing=capid@0", NULL, 1);
	EXPECT_EQ(1, log_count("no capability registers"));
	EXPECT_FALSE(box_exists("sbox", 0));
}

TEST_F(bdwep, channel_without_clock_is_left_out)
{
	char pmu[PMU_NAME_MAX];

	load_logging(_metadata, "clock=manual", "no_clock pkg=0 box=imc_3 on", 1);
	EXPECT_EQ(1, log_count("bdwep_imc_3 of package 0: its clock does not run"));
	/* imc_3 of the other package works */
	ASSERT_TRUE(pmu_name(pmu, "imc", 3));
	EXPECT_LT(pmu_cpu(pmu, 0), 0);
	EXPECT_EQ(ENODEV, -event_open(pmu, package_cpu(0, 0), "clockticks"));
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(BOXES - !pkg, boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
	}
}

/*
 * The CPU is a Broadwell, the simulated uncore a Haswell: the driver does not use its
 * tables of Broadwell for PCI devices of Haswell.
 */
TEST_F(bdwep, pci_devices_of_haswell_are_left_alone)
{
	machine_setup_sim("clock=manual model=hswep");
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	EXPECT_EQ(packages(), log_count("no UBox on PCI (device 8086:6f1e)"));
	EXPECT_FALSE(box_exists("imc", 0));
}

TEST_HARNESS_MAIN

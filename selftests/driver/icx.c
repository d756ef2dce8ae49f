// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of Ice Lake-SP from Skylake-SP: memory channels with registers in memory, whose
 * addresses a PCI function has. mesh.c has what both have in common.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/file.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

/* Boxes with counters to program, and those of them in a controller */
enum { CHANNELS = 12, BOXES = 82, IN_CONTROLLER = 3, CYCLES = 1000 };

static void __attribute__((constructor)) need_icelake(void)
{
	if (strcmp(generation()->name, "icx"))
		tap_skip_all("this processor is not Ice Lake-SP");
}

FIXTURE_OF(icx, (void)0, expect_nothing_left(_metadata));

/* A read of a channel's counter is one access. */
TEST_F(icx, a_channel_is_read_by_one_access)
{
	uint64_t before;
	int fd;

	load_logging(_metadata, "clock=manual", NULL, 0);
	fd = event_open("icx_imc_11", pmu_cpu("icx_imc_11", 0), "clockticks");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	before = sim_stat("memory_read");
	EXPECT_EQ(CYCLES, event_count(fd));
	EXPECT_EQ(before + 1, sim_stat("memory_read"));
	close(fd);
}

/* --- addresses that cannot be ------------------------------------------------- */

/* Registers of the function with the addresses */
enum { BASE = 0xd0, BAR0 = 0xd8, BAR1 = 0xdc };

FIXTURE(address) {};

FIXTURE_VARIANT(address)
{
	unsigned int reg;
	uint32_t value;		/* COPY: that of BAR0 */
	const char *reason;
	unsigned int controllers;	/* without boxes then */
	int lines;
};

#define COPY	0xffffffff

/* A controller has channels and free-running counters, of which each have a line. */
FIXTURE_VARIANT_ADD(address, bar_is_zero) {
	.reg = BAR1, .value = 0, .reason = "is not set", .controllers = 1, .lines = 2
};
FIXTURE_VARIANT_ADD(address, base_is_zero) {
	.reg = BASE, .value = 0, .reason = "is not set", .controllers = 4, .lines = 2
};
FIXTURE_VARIANT_ADD(address, base_is_in_ram) {
	.reg = BASE, .value = 2, .reason = "is in RAM", .controllers = 4, .lines = 8
};
FIXTURE_VARIANT_ADD(address, base_is_above_the_physical_bits) {
	.reg = BASE, .value = 1 << 28, .reason = "is beyond the processor's addresses",
	.controllers = 4, .lines = 8
};
FIXTURE_VARIANT_ADD(address, bars_overlap) {
	.reg = BAR1, .value = COPY, .reason = "is another box's", .controllers = 1, .lines = 2
};

FIXTURE_SETUP(address)
{
}

FIXTURE_TEARDOWN(address)
{
	expect_nothing_left(_metadata);
}

TEST_F(address, leaves_out_the_boxes_that_have_it)
{
	int last = packages() - 1;
	uint32_t value = variant->value;
	char function[16];

	machine_setup_sim("clock=manual");
	ASSERT_TRUE(pci_find(function, "imc", 0, "beside", last));
	if (value == COPY) {
		ASSERT_EQ(0, -pci_config_read(function, BAR0, &value));
	}
	ASSERT_EQ(0, -pci_config_write(function, variant->reg, value));
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	EXPECT_EQ(variant->lines, log_count(variant->reason)) {
		log_show("xeon_uncore");
	}
	EXPECT_EQ(BOXES, boxes_that_count(0, CYCLES));
	EXPECT_EQ(BOXES - variant->controllers * IN_CONTROLLER, boxes_that_count(last, CYCLES));
}

/* A controller without memory may have an address where no register answers. */
TEST_F(icx, a_controller_that_reads_all_ones_is_left_out)
{
	static const char *const dead[] = { "imc_3", "imc_4", "imc_5", "imc_free_running_1" };
	int last = packages() - 1;

	machine_setup_sim("clock=manual");
	for (unsigned int i = 0; i < sizeof(dead) / sizeof(*dead); i++)
		ASSERT_EQ(0, -sim_fault("dead_memory pkg=%d box=%s on", last, dead[i]));
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	EXPECT_EQ(BOXES, boxes_that_count(0, CYCLES));
	EXPECT_EQ(BOXES - IN_CONTROLLER, boxes_that_count(last, CYCLES));
	/* of the first channel, and of the free-running counters */
	EXPECT_EQ(2, log_count("read all ones")) {
		log_show("xeon_uncore");
	}
}

/* --- the function goes, a box dies ---------------------------------------------- */

TEST_F(icx, a_removed_function_takes_its_boxes)
{
	int last = packages() - 1, channel, cha;
	char function[16];

	load_logging(_metadata, "clock=manual", NULL, 0);
	channel = event_open("icx_imc_7", pmu_cpu("icx_imc_7", last), "clockticks");
	cha = event_open("icx_cha_7", pmu_cpu("icx_cha_7", last), "clockticks");
	ASSERT_GE(channel, 0);
	ASSERT_GE(cha, 0);
	sim_advance(CYCLES);
	ASSERT_TRUE(pci_find(function, "imc", 0, "beside", last));
	ASSERT_EQ(0, -file_write("/sys/bus/pci/drivers/xeon_uncore/unbind", function));
	EXPECT_EQ(1, log_count("removed while counting"));
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(channel));
	EXPECT_EQ(2 * CYCLES, event_count(cha));
	close(channel);
	close(cha);
	EXPECT_EQ(BOXES - CHANNELS, boxes_that_count(last, CYCLES));
	EXPECT_EQ(BOXES, boxes_that_count(0, CYCLES));
}

TEST_F(icx, a_box_that_reads_all_ones_keeps_its_last_count)
{
	int fd;

	load_logging(_metadata, "clock=manual", NULL, 0);
	fd = event_open("icx_imc_2", pmu_cpu("icx_imc_2", 0), "clockticks");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(fd));
	ASSERT_EQ(0, -sim_fault("dead_memory pkg=0 box=imc_2 on"));
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(fd));
	EXPECT_EQ(1, log_count("icx_imc_2 of package 0 stopped answering"));
	close(fd);
	EXPECT_EQ(BOXES - 1, boxes_that_count(0, CYCLES));
	ASSERT_EQ(0, -sim_fault("dead_memory pkg=0 box=imc_2 off"));
	/* the next load clears what the box held */
	ASSERT_EQ(0, -driver_unload());
	ASSERT_EQ(0, -driver_load(""));
}

/* --- exclusive=1 ------------------------------------------------------------------- */

TEST_F(icx, exclusive_keeps_programs_from_the_registers)
{
	uint32_t value;

	machine_setup_sim("clock=manual");
	EXPECT_EQ(0, -memory_read("imc", 3, 0, "ctl0", &value));
	ASSERT_EQ(0, -driver_load("exclusive=1"));
	EXPECT_EQ(EPERM, -memory_read("imc", 3, 0, "ctl0", &value));
	EXPECT_EQ(BOXES, boxes_that_count(0, CYCLES));
	ASSERT_EQ(0, -driver_unload());
	EXPECT_EQ(0, -memory_read("imc", 3, 0, "ctl0", &value));
}

/* Another driver's reservation takes a box from exclusive=1, and from nothing else. */
TEST_F(icx, exclusive_leaves_out_what_another_driver_has)
{
	static const struct {
		const char *params;
		unsigned int boxes;
		int lines;
	} loads[] = { { "exclusive=1", BOXES - 1, 1 }, { "", BOXES, 0 } };

	machine_setup_sim("clock=manual");
	ASSERT_EQ(0, -module_load("memory_user", "base=%#" PRIx64 " reserve=1",
				  memory_find("imc", 4, 0)));
	for (unsigned int i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		log_mark();
		ASSERT_EQ(0, -driver_load(loads[i].params));
		EXPECT_EQ(loads[i].lines, log_count("another driver has its registers")) {
			log_show("xeon_uncore");
		}
		EXPECT_EQ(loads[i].boxes, boxes_that_count(0, CYCLES));
		EXPECT_EQ(BOXES, boxes_that_count(packages() - 1, CYCLES));
		ASSERT_EQ(0, -driver_unload());
	}
	EXPECT_EQ(0, -module_unload("memory_user"));
}

TEST_HARNESS_MAIN

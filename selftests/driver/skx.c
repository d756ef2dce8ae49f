// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of Skylake-SP from Haswell-EP: a capability register with a bit for each CHA,
 * buses with a number of their own for each kind of box, controllers with the same device
 * IDs, and boxes that the driver polls for overflows. Other test programs cover features of
 * all generations.
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

enum { CHAS = 28, BOXES = 60, FEW = 20, CYCLES = 1000, OVERFLOWS = 3 };

static void __attribute__((constructor)) need_skylake(void)
{
	if (strcmp(generation()->name, "skx"))
		tap_skip_all("this processor is not Skylake-SP");
}

FIXTURE_OF(skx, ASSERT_EQ(0, -max_sample_rate(100000000)),
	   expect_nothing_left(_metadata));

TEST_F(skx, all_boxes_count_and_sample_exactly)
{
	load_logging(_metadata, "clock=manual", NULL, 0);
	EXPECT_EQ(BOXES, pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(BOXES, boxes_that_count(pkg, CYCLES));
	EXPECT_TRUE(samples_exactly("cha", 0, OVERFLOWS));
	EXPECT_TRUE(samples_exactly("imc", packages() - 1, OVERFLOWS));
	EXPECT_TRUE(samples_exactly("upi", packages() - 1, OVERFLOWS));
	EXPECT_TRUE(samples_exactly("iio", 0, OVERFLOWS));
}

/* CAPID6 has a bit for each CHA; a package may have fewer than the die. */
TEST_F(skx, chas_are_counted_in_the_capability_register)
{
	load_logging(_metadata, "clock=manual boxes=cha:20", NULL, 0);
	EXPECT_TRUE(box_exists("cha", FEW - 1));
	EXPECT_FALSE(box_exists("cha", FEW));
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(BOXES - CHAS + FEW, boxes_that_count(pkg, CYCLES));
}

/* Without the register the driver probes the CHAs; the others' registers fault. */
TEST_F(skx, chas_without_the_capability_register)
{
	load_logging(_metadata, "clock=manual boxes=cha:20 missing=capid@0", NULL, 1);
	EXPECT_EQ(1, log_count("no capability registers"));
	EXPECT_FALSE(box_exists("cha", FEW));
	EXPECT_EQ(BOXES - CHAS + FEW, boxes_that_count(0, CYCLES));
}

TEST_HARNESS_MAIN

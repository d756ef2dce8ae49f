// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Skylake-SP and Ice Lake-SP have in common that Haswell-EP has not: capability registers
 * with a bit for each CHA, buses with a number of their own for each kind of box, and boxes that
 * the driver polls for overflows. Other test programs cover features of all generations.
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

enum { CYCLES = 1000, OVERFLOWS = 3 };

/*
 * A generation: its boxes with counters to program, the CHAs among them, and a smaller number of
 * CHAs; on Ice Lake-SP one whose bits are in both registers. Boxes to sample in the first and in
 * the last package.
 */
static const struct mesh {
	const char *name;
	unsigned int boxes, chas, few;
	const char *first[2], *last[2];
} meshes[] = {
	/* controllers with the same device IDs */
	{ "skx", 60, 28, 20, { "cha", "iio" }, { "imc", "upi" } },
	/* channels in memory, M2PCIe in MSRs */
	{ "icx", 82, 40, 35, { "cha", "m2pcie" }, { "imc", "upi" } },
}, *mesh;

static void __attribute__((constructor)) need_mesh(void)
{
	for (unsigned int i = 0; i < sizeof(meshes) / sizeof(*meshes); i++)
		if (!strcmp(generation()->name, meshes[i].name))
			mesh = &meshes[i];
	if (!mesh)
		tap_skip_all("this processor is neither Skylake-SP nor Ice Lake-SP");
}

FIXTURE_OF(mesh, ASSERT_EQ(0, -max_sample_rate(100000000)),
	   expect_nothing_left(_metadata));

TEST_F(mesh, all_boxes_count_and_sample_exactly)
{
	load_logging(_metadata, "clock=manual", NULL, 0);
	EXPECT_EQ(mesh->boxes, pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(mesh->boxes, boxes_that_count(pkg, CYCLES));
	for (unsigned int i = 0; i < 2; i++) {
		EXPECT_TRUE(samples_exactly(mesh->first[i], 0, OVERFLOWS));
		EXPECT_TRUE(samples_exactly(mesh->last[i], packages() - 1, OVERFLOWS));
	}
}

/* The registers have a bit for each CHA; a package may have fewer than the die. */
TEST_F(mesh, chas_are_counted_in_the_capability_registers)
{
	char params[48];

	snprintf(params, sizeof(params), "clock=manual boxes=cha:%u", mesh->few);
	load_logging(_metadata, params, NULL, 0);
	EXPECT_TRUE(box_exists("cha", mesh->few - 1));
	EXPECT_FALSE(box_exists("cha", mesh->few));
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(mesh->boxes - mesh->chas + mesh->few, boxes_that_count(pkg, CYCLES));
}

/* Without the registers the driver probes the CHAs; the others' registers fault. */
TEST_F(mesh, chas_without_the_capability_registers)
{
	char params[64];

	snprintf(params, sizeof(params), "clock=manual boxes=cha:%u missing=capid@0", mesh->few);
	load_logging(_metadata, params, NULL, 1);
	/* each package has its own */
	EXPECT_EQ(1, log_count("package 0: no capability registers"));
	EXPECT_FALSE(box_exists("cha", mesh->few));
	EXPECT_EQ(mesh->boxes - mesh->chas + mesh->few, boxes_that_count(0, CYCLES));
}

TEST_HARNESS_MAIN

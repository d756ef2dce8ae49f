// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leftover register state of firmware, another tool or a kernel that crashed: frozen
 * boxes, status bits, running counters with enabled interrupts, filters. The driver logs
 * one line for each package, and then counts and samples as exactly as after a reset.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { CYCLES = 1009, TRAFFIC = 500, OVERFLOWS = 3 };

FIXTURE(dirty)
{
	unsigned int registers;	/* registers that differed from their reset values */
};

FIXTURE_VARIANT(dirty)
{
	const char *params;
	bool logged;	/* state on which other programs may depend; not a freeze alone */
	bool interrupts;	/* logged state of interrupts alone */
};

FIXTURE_VARIANT_ADD(dirty, freeze) { .params = "dirty=freeze" };
FIXTURE_VARIANT_ADD(dirty, status)
{
	.params = "dirty=status", .logged = true, .interrupts = true,
};

FIXTURE_VARIANT_ADD(dirty, counters) { .params = "dirty=counters", .logged = true };
FIXTURE_VARIANT_ADD(dirty, cores)
{
	.params = "dirty=cores", .logged = true, .interrupts = true,
};

FIXTURE_VARIANT_ADD(dirty, boxes) { .params = "dirty=boxes" };
FIXTURE_VARIANT_ADD(dirty, all) { .params = "dirty=all", .logged = true };

FIXTURE_VARIANT_ADD(dirty, all_44_bits)
{
	.params = "dirty=all counter_bits=44 counter_gp=1", .logged = true,
};

FIXTURE_SETUP(dirty)
{
	machine_setup_sim("clock=manual %s", variant->params);
	self->registers = sim_dirty_registers();
	log_mark();
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_EQ(0, -driver_load("events=none"));
}

FIXTURE_TEARDOWN(dirty)
{
	expect_nothing_left(_metadata);
}

/*
 * Check that the driver has cleared leftover filters: open events that set some filters
 * and leave others at their defaults, and send traffic that a filter with all bits set
 * would reject.
 */
static void expect_no_filters(struct __test_metadata *_metadata, int pkg)
{
	static const struct {
		const char *generation, *type, *event, *traffic;
	} filtered[] = {
		{ "hswep", "cbox", "event=0x35,umask=0x8",
		  "event=0x35 umask=0x8 opc=0x182 nid=0x1" },
		{ "hswep", "pcu", "event=0xb", "event=0xb freq=12" },
		{ "hswep", "qpi", "event=0x138,match_tx=1,match_mc=0xe,mask_mc=0xf",
		  "event=0x138 dir=tx match0=0x1c00" },
		{ "hswep", "qpi", "event=0x138,match_mc=0xe,mask_mc=0xf",
		  "event=0x138 dir=rx match0=0x1c00" },
		{ "icx", "cha", "event=0x35,umask=0xc001ff01,tid_en=1,filter_tid=5",
		  "event=0x35 umask=0xc001ff01 tid=5" },
	};
	char pmu[PMU_NAME_MAX];

	for (unsigned int i = 0; i < ARRAY_SIZE(filtered); i++) {
		int fd;

		if (strcmp(filtered[i].generation, generation()->name))
			continue;
		pmu_name(pmu, filtered[i].type, 0);
		fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", filtered[i].event);
		ASSERT_GE(fd, 0) {
			TH_LOG("%s/%s/ does not open: %s", pmu,
			       filtered[i].event, strerror(-fd));
		}
		ASSERT_EQ(0, -sim_traffic("pkg=%d box=%s %s count=%d", pkg,
					  pmu_box(pmu), filtered[i].traffic,
					  TRAFFIC));
		EXPECT_EQ(TRAFFIC, event_count(fd)) {
			TH_LOG("%s/%s/ of package %d", pmu, filtered[i].event,
			       pkg);
		}
		close(fd);
	}
}

TEST_F(dirty, told_in_one_line_a_package)
{
	bool absent = variant->interrupts && generation()->polled;
	int told = variant->logged && !absent ? packages() : 0;

	EXPECT_TRUE(absent || self->registers);
	/* the driver also logs its summary */
	EXPECT_EQ(1 + told, log_count("xeon_uncore: ") +
			    log_count("xeon_uncore 0000")) {
		log_show("xeon_uncore");
	}
	EXPECT_EQ(told, log_count("had left"));
}

TEST_F(dirty, boxes_count_exactly)
{
	EXPECT_EQ(package_boxes(), pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(package_boxes(), boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
		expect_no_filters(_metadata, pkg);
	}
}

TEST_F(dirty, samples_exactly)
{
	static const char *const types[] = { "pcu", "imc", "cbox", "cha" };

	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
			if (!box_type(types[i]))
				continue;
			EXPECT_TRUE(samples_exactly(types[i], pkg, OVERFLOWS)) {
				TH_LOG("%s of package %d", types[i], pkg);
			}
		}
	}
}

TEST_HARNESS_MAIN

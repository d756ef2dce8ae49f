// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hardware with missing or duplicate parts, as where firmware hides PCI functions or
 * fuses disable boxes. The driver logs one line for each part and package, and all
 * existing boxes of the package work.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { CYCLES = 1009, OVERFLOWS = 3 };

FIXTURE(missing)
{
	int lines;	/* expected number of lines in the log */
};

FIXTURE_VARIANT(missing)
{
	const char *params;
	const char *line;		/* text of the log line of a faulty package */
	int only;			/* the faulty package, -1: all packages */
	bool no_pci;			/* a faulty package has no boxes in PCI space */
	unsigned int lacks;		/* other boxes that a faulty package lacks */
	unsigned int others_lack;	/* boxes that the other packages lack, too */
	bool filters;			/* a faulty package has QPI's packet filters */
};

FIXTURE_VARIANT_ADD(missing, qpi_filters_of_one)
{
	.params = "missing=qpi_filters@1", .line = "filter", .only = 1,
};

FIXTURE_VARIANT_ADD(missing, extended)
{
	.params = "missing=extended", .line = "filter", .only = -1,
};

FIXTURE_VARIANT_ADD(missing, capid_of_one)
{
	.params = "missing=capid@1 sboxes=2", .line = "2fc0", .only = 1,
	.lacks = 2, .others_lack = 2, .filters = true,
};

FIXTURE_VARIANT_ADD(missing, ubox_of_first)
{
	.params = "missing=ubox@0", .line = "no UBox", .only = 0,
	.no_pci = true,
};

FIXTURE_VARIANT_ADD(missing, ubox_of_second)
{
	.params = "missing=ubox@1", .line = "no UBox", .only = 1,
	.no_pci = true,
};

FIXTURE_VARIANT_ADD(missing, ubox)
{
	.params = "missing=ubox", .line = "no UBox", .only = -1,
	.no_pci = true,
};

FIXTURE_VARIANT_ADD(missing, none_but_one_twice)
{
	.params = "twice=imc_0", .line = "a second hswep_imc_0", .only = -1,
	.filters = true,
};

FIXTURE_VARIANT_ADD(missing, bits_of_counters)
{
	.params = "counter_bits=44 counter_gp=1", .only = -1,
	.filters = true,
};

/* Number of boxes of a whole package, or of those whose registers are MSRs */
static unsigned int boxes_of(bool only_msrs)
{
	unsigned int n = 0;

	for (unsigned int k = 0; *box_types[k]; k++)
		if (!only_msrs || !box_type(box_types[k])->pci)
			n += most_boxes(box_types[k]);
	return n;
}

FIXTURE_SETUP(missing)
{
	for (int pkg = 0; pkg < packages(); pkg++)
		self->lines += variant->line &&
			       (variant->only < 0 || variant->only == pkg);
	machine_setup_sim("clock=manual %s", variant->params);
	log_mark();
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_EQ(0, -driver_load("events=none"));
}

FIXTURE_TEARDOWN(missing)
{
	expect_nothing_left(_metadata);
}

/*
 * An event with a QPI filter counts exactly the packets that match if the package has the
 * filters (@there), and is refused with ENODEV if not.
 */
static void expect_filters(struct __test_metadata *_metadata, int pkg, bool there)
{
	int fd = event_open("hswep_qpi_0", pmu_cpu("hswep_qpi_0", pkg),
			    "event=0x138,match_mc=0xe,mask_mc=0xf");

	if (!there) {
		EXPECT_EQ(ENODEV, -fd) {
			TH_LOG("of a filter in package %d", pkg);
		}
		return;
	}
	sim_traffic("pkg=%d box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=70",
		    pkg);
	sim_traffic("pkg=%d box=qpi_0 event=0x138 dir=rx match0=0 count=7", pkg);
	EXPECT_EQ(70, event_count(fd)) {
		TH_LOG("packets that match, package %d", pkg);
	}
	close(fd);
}

TEST_F(missing, told_in_one_line_a_package)
{
	if (packages() < 2)
		SKIP(return, "needs two packages");
	EXPECT_EQ(self->lines, variant->line ? log_count(variant->line) : 0);
	/* the driver also logs one line with a summary */
	EXPECT_EQ(1 + self->lines, log_count("xeon_uncore: ") +
				   log_count("xeon_uncore 0000")) {
		log_show("xeon_uncore");
	}
}

TEST_F(missing, the_others_count_and_sample_exactly)
{
	if (packages() < 2)
		SKIP(return, "needs two packages");
	for (int pkg = 0; pkg < packages(); pkg++) {
		bool whole = variant->only >= 0 && variant->only != pkg;
		unsigned int boxes = boxes_of(variant->no_pci && !whole) -
				     (whole ? variant->others_lack : variant->lacks);

		EXPECT_EQ(boxes, boxes_there(pkg)) {
			TH_LOG("boxes of package %d", pkg);
		}
		EXPECT_EQ(boxes, boxes_that_count(pkg, CYCLES)) {
			TH_LOG("boxes of package %d that count", pkg);
		}
		EXPECT_TRUE(samples_exactly("pcu", pkg, OVERFLOWS));
		if (variant->no_pci && !whole)
			continue;
		expect_filters(_metadata, pkg, whole || variant->filters);
		EXPECT_TRUE(samples_exactly("imc", pkg, OVERFLOWS));
	}
}

TEST_HARNESS_MAIN

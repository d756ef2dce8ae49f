// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of the in-tree driver, intel_uncore, on Skylake-SP and its successors, as
 * intree_differs.c has those on Haswell. Each test shows the results of both drivers on the
 * same simulated hardware.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/tap.h"

static const struct cat_event *event_of(const char *box, const char *name)
{
	const struct cat_event *e = cat_find(box, name);

	if (!e)
		tap_bail("the catalogue has no %s/%s/", box, name);
	return e;
}

/* Return the count of an event without a filter, while lines of traffic are sent. */
static int64_t count_of(enum driver driver, const char *box, const struct cat_event *e,
			const char *const *lines)
{
	char config[32];

	snprintf(config, sizeof(config), "config=%#" PRIx64, e->config);
	return driver_count(driver, box, config, lines);
}

/* intel_uncore publishes 16 bits of the extension, and writes none of them. */
TEST(upi_unit_mask_extension_is_not_written)
{
	const struct cat_event *e = event_of("upi", "txl_basic_hdr_match.req_opc");
	static const char *const lines[] = {
		"box=upi_0 event=0x4 umask=0x108 count=100",
		"box=upi_0 event=0x4 umask=0x8 count=10", NULL
	};
	const uint64_t controls[DRIVERS] = {
		[IN_TREE] = (e->config & UINT32_MAX) | CTL_EN, [OURS] = e->config | CTL_EN
	};
	const int64_t counts[DRIVERS] = { [IN_TREE] = 10, [OURS] = 100 };

	for (int d = 0; d < DRIVERS; d++) {
		const char *pmu;
		int fd;

		driver_setup(d, "clock=manual");
		pmu = driver_pmu(d, "upi_0");
		fd = event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64, e->config);
		EXPECT_EQ(controls[d], driver_control("upi_0"));
		close(fd);
		EXPECT_EQ(counts[d], count_of(d, "upi_0", e, lines));
	}
	driver_none();
}

/* Without a filter the TOR counts nothing; intel_uncore writes 0, as perf has asked. */
TEST(tor_has_no_neutral_filter)
{
	const struct cat_event *e = event_of("cha", "tor_inserts.ia_miss");
	static const char *const lines[] = {
		"box=cha_0 event=0x35 umask=0x21 count=100", NULL
	};
	const int64_t counts[DRIVERS] = { [IN_TREE] = 0, [OURS] = 100 };

	for (int d = 0; d < DRIVERS; d++) {
		driver_setup(d, "clock=manual");
		EXPECT_EQ(counts[d], count_of(d, "cha_0", e, lines));
	}
	driver_none();
}

/* intel_uncore publishes the threshold's 5 bits as 8, over two other fields. */
TEST(pcu_threshold_overlaps)
{
	struct perf_event_attr attr;

	driver_setup(IN_TREE, "clock=manual");
	EXPECT_EQ(0, -pmu_attr(&attr, driver_pmu(IN_TREE, "pcu"), "thresh=0x80"));
	EXPECT_EQ(1ULL << 31, attr.config);
	EXPECT_EQ(0, -pmu_attr(&attr, driver_pmu(IN_TREE, "pcu"), "occ_edge_det=1"));
	EXPECT_EQ(1ULL << 31, attr.config);
	driver_setup(OURS, "clock=manual");
	EXPECT_NE(0, -pmu_attr(&attr, driver_pmu(OURS, "pcu"), "thresh=0x80"));
	driver_none();
}

static void __attribute__((constructor)) require_in_tree(void)
{
	if (!in_tree_exists())
		tap_skip_all("no intel_uncore module for this kernel");
}

TEST_HARNESS_MAIN

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
#include "lib/c/sim.h"

/* An event's control register, and its count of transactions and of others; -1 if not opened */
struct result {
	int64_t control, count;
};

enum { COUNTERS = 4, CTL_EN = 1 << 22 };

/* Return the control register of the box's only enabled counter, or 0. */
static int64_t only_control(const char *box)
{
	char name[32];
	uint64_t ctl;

	for (int i = 0; i < COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s ctl%d", box, i);
		if (sim_register(0, name, &ctl) && ctl & CTL_EN)
			return ctl;
	}
	return 0;
}

/* Open an event with this configuration, and count the lines of traffic. */
static struct result measure(enum driver driver, const char *box, uint64_t config,
			     const char *const *lines)
{
	const char *pmu = driver_pmu(driver, box);
	int fd = event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64, config);
	struct result r = { -1, -1 };

	if (fd < 0)
		return r;
	r.control = only_control(box);
	for (; *lines; lines++)
		if (sim_traffic("pkg=0 box=%s %s", box, *lines))
			tap_bail("traffic '%s' is refused", *lines);
	r.count = event_count(fd);
	close(fd);
	return r;
}

/* Measure under intel_uncore, then under this driver. */
static void measure_both(const char *box, uint64_t config, const char *const *lines,
			 struct result results[DRIVERS])
{
	for (int d = 0; d < DRIVERS; d++) {
		driver_setup(d, "clock=manual");
		results[d] = measure(d, box, config, lines);
	}
	driver_none();
	for (int d = 0; d < DRIVERS; d++)
		tap_diag("%s: control %#" PRIx64 ", count %" PRId64, driver_names[d],
			 (uint64_t)results[d].control, results[d].count);
}

static const struct cat_event *event_of(const char *box, const char *name)
{
	const struct cat_event *e = cat_find(box, name);

	if (!e)
		tap_bail("the catalogue has no %s/%s/", box, name);
	return e;
}

/* intel_uncore publishes 16 bits of the extension, and writes none of them. */
TEST(upi_unit_mask_extension_is_not_written)
{
	const struct cat_event *e = event_of("upi", "txl_basic_hdr_match.req_opc");
	static const char *const lines[] = {
		"event=0x4 umask=0x108 count=100", "event=0x4 umask=0x8 count=10", NULL
	};
	struct result r[DRIVERS];

	measure_both("upi_0", e->config, lines, r);
	EXPECT_EQ(e->config | CTL_EN, r[OURS].control);
	EXPECT_EQ((e->config & UINT32_MAX) | CTL_EN, r[IN_TREE].control);
	EXPECT_EQ(100, r[OURS].count);
	EXPECT_EQ(10, r[IN_TREE].count);
}

/* Without a filter the TOR counts nothing; intel_uncore writes 0, as perf has asked. */
TEST(tor_has_no_neutral_filter)
{
	const struct cat_event *e = event_of("cha", "tor_inserts.ia_miss");
	static const char *const lines[] = { "event=0x35 umask=0x21 count=100", NULL };
	struct result r[DRIVERS];

	measure_both("cha_0", e->config, lines, r);
	EXPECT_EQ(100, r[OURS].count);
	EXPECT_EQ(0, r[IN_TREE].count);
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

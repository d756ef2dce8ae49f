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

/* An event of a box type whose unit mask goes on in the upper half of the control, or NULL */
static const struct cat_event *extended_event_of(const char *type)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, type) && e->config >> 32)
			return e;
	return NULL;
}

/*
 * intel_uncore publishes the extension of the unit mask, and writes none of it: without it an
 * event counts other transactions.
 */
FIXTURE(extension) {};

FIXTURE_VARIANT(extension)
{
	const char *type;
};

FIXTURE_VARIANT_ADD(extension, upi) { .type = "upi" };
FIXTURE_VARIANT_ADD(extension, m2m) { .type = "m2m" };

FIXTURE_SETUP(extension)
{
}

FIXTURE_TEARDOWN(extension)
{
	driver_none();
}

TEST_F(extension, of_the_unit_mask_is_not_written)
{
	const struct cat_event *e = extended_event_of(variant->type);
	char box[32], with[96], without[96];
	const char *const lines[] = { with, without, NULL };

	if (!e)
		SKIP(return, "no event has one");
	snprintf(box, sizeof(box), "%s%s", variant->type,
		 most_boxes(variant->type) > 1 ? "_0" : "");
	snprintf(with, sizeof(with), "box=%s event=%#x umask=%#" PRIx64 " count=100", box, e->code,
		 e->umask | e->config >> 32 << 8);
	snprintf(without, sizeof(without), "box=%s event=%#x umask=%#x count=10", box, e->code,
		 e->umask);
	for (int d = 0; d < DRIVERS; d++) {
		const char *pmu;
		int fd;

		driver_setup(d, "clock=manual");
		pmu = driver_pmu(d, box);
		fd = event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64, e->config);
		EXPECT_EQ((d == OURS ? e->config : (uint32_t)e->config) | CTL_EN,
			  driver_control(box));
		close(fd);
		EXPECT_EQ(d == OURS ? 100 : 10, count_of(d, box, e, lines));
	}
}

/* Without a filter the TOR counts nothing; intel_uncore writes 0, as perf has asked. */
TEST(tor_has_no_neutral_filter)
{
	const struct cat_event *e = event_of("cha", "tor_inserts.ia_miss");
	static const char *const lines[] = {
		"box=cha_0 event=0x35 umask=0x21 count=100", NULL
	};
	const int64_t counts[DRIVERS] = { [IN_TREE] = 0, [OURS] = 100 };

	driver_setup(OURS, "clock=manual");
	if (!pmu_has_field(driver_pmu(OURS, "cha_0"), "filter_opc0"))
		SKIP(return, "its unit mask has what filters have elsewhere");
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

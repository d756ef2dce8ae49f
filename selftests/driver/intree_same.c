// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The in-tree driver, intel_uncore, and this driver on the same simulated hardware: where
 * intel_uncore is right, both drivers have the same counts. The tests cover every event
 * of the catalogue that both drivers accept, its thresholds and edges, and the filters
 * that both drivers have. intree_differs.c has the faults and gaps of intel_uncore.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/filter_registers.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

/*
 * A box of each type; if a type has several boxes, not its first box. intel_uncore has one
 * PMU for the boxes of a function, whose first counters are those of the first box; and none
 * for UPI 3 to 5.
 */
static char boxes[BOX_TYPES][40];

static void choose_boxes(void)
{
	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct box_type *t = box_type(box_types[k]);
		unsigned int number = 1;

		if (t->in_function > 1)
			number = 0;
		else if (t->pci && t->boxes > 4 && strcmp(t->name, "upi"))
			number = 5;
		if (t->boxes == 1)
			snprintf(boxes[k], sizeof(boxes[k]), "%s", t->name);
		else
			snprintf(boxes[k], sizeof(boxes[k]), "%s_%u", t->name, number);
	}
}

/* Return the number of packages in which the tests measure, in turn. */
static int packages_used(void)
{
	return packages() > 1 ? 2 : 1;
}

/*
 * LEAD_IN cycles pass before a measurement, so that its first cycle has a previous cycle
 * for edges. A measurement is over CYCLES cycles and TRANSACTIONS transactions.
 */
enum { LEAD_IN = 48, CYCLES = 1000, TRANSACTIONS = 7 };

/* Return the index of a box type in box_types. */
static int type_of(const char *box)
{
	int type = 0;

	while (type < BOX_TYPES - 1 && strcmp(box_types[type], box))
		type++;
	return type;
}

/* Return why intel_uncore cannot count an event; NULL if it can. */
static const char *beyond_in_tree(const struct cat_event *e)
{
	if (e->free)
		return "free-running";
	if (!strcmp(e->box, "pcu") && e->code >= 0x100)
		return "ev_sel_ext of the PCU";
	if (!e->fixed && !(e->ctrs & 1))
		return "not for counter 0, which it would use";
	if (cat_is_relay(e))
		return "counts nothing alone, see below";
	if (e->config >> 32 && (!strcmp(e->box, "upi") || !strcmp(e->box, "m2m")))
		return "the unit mask's extension, see intree_differs_mesh.c";
	/* the second filter register has the opcodes, where the unit mask does not */
	if (!strcmp(e->box, "cha") && (e->code == 0x35 || e->code == 0x36) && !e->config1 &&
	    filter_registers("cha")[1].name)
		return "the filter's neutral value, see intree_differs_mesh.c";
	return NULL;
}

/* Counts of the cycles and of the transactions; @wave is -errno if open failed */
struct measured {
	int64_t wave, traffic;
};

static int open_raw(const char *pmu, int pkg, uint64_t config, uint64_t config1,
		    uint64_t config2)
{
	return event_open(pmu, pmu_cpu(pmu, pkg),
			  "config=%#" PRIx64 ",config1=%#" PRIx64
			  ",config2=%#" PRIx64, config, config1, config2);
}

/*
 * intel_uncore writes some control registers only once, although they must be written
 * twice; intree_differs.c shows the effect. Write these registers twice for intel_uncore,
 * so that the counts of both drivers can be compared.
 */
static void make_good(enum driver driver, const struct cat_event *e, int pkg)
{
	const char *box = boxes[type_of(e->box)];

	if (driver == IN_TREE && generation()->written_twice &&
	    (!strcmp(e->box, "sbox") || !strcmp(e->box, "r2pcie") ||
	     !strcmp(e->box, "r3qpi")) &&
	    !in_tree_write_twice(box, pkg, e->code))
		tap_bail("registers of %s cannot be written", box);
}

/* Count cycles and transactions of an event with bits @extra in its control register. */
static void measure(enum driver driver, const struct cat_event *e, int pkg,
		    uint64_t extra, struct measured *m)
{
	const char *box = boxes[type_of(e->box)];
	int fd = open_raw(driver_pmu(driver, box), pkg, e->config | extra,
			    e->config1, e->config2);
	uint64_t before;

	m->wave = fd;
	m->traffic = 0;
	if (fd < 0)
		return;
	make_good(driver, e, pkg);
	sim_advance(LEAD_IN);
	before = event_count(fd);
	sim_advance(CYCLES);
	m->wave = event_count(fd) - before;
	before = event_count(fd);
	if (!e->fixed &&
	    sim_traffic("pkg=%d box=%s event=%#x umask=%#x value=3 count=%d",
			pkg, box, e->code, e->umask, TRANSACTIONS))
		tap_bail("traffic for %s is refused", box);
	m->traffic = event_count(fd) - before;
	close(fd);
}

/* Shapes in which events are measured, if the box type has the fields */
static const struct shape_bits {
	const char *name;
	uint64_t bits;
} shapes[] = {
	{ "", 0 },
	{ " thresh=1", 1 << 24 },
	{ " thresh=2", 2 << 24 },
	{ " thresh=2 inv", 2 << 24 | 1 << 23 },
	{ " thresh=1 edge", 1 << 24 | 1 << 18 },
	{ " thresh=2 inv edge", 2 << 24 | 1 << 23 | 1 << 18 },
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/*
 * Return whether both drivers have the shape. Where CBos have no inv, on Ivy Bridge, this
 * driver has inv for the iMC, but intel_uncore does not.
 */
static bool has_shape(int shape)
{
	return !strstr(shapes[shape].name, "inv") ||
	       !generation_lacks("cbox", "inv");
}

/*
 * Number of events of a box type that are measured in all shapes. To save time, all
 * further events are measured in the first shape only.
 */
enum { SHAPED_EVENTS = 4 };

#define LOOKUP		"event=0x34 umask=0x53 "
#define TOR		"event=0x35 umask=0x49 "
#define PACKET		"event=0x138 dir=rx "

enum filter {
	CBOX_TID, CBOX_STATE, CBOX_NID, CBOX_OPC, CBOX_OPC_AND_NID,
	CBOX_OPC_AND_LINK, CBOX_OPC_AND_C6, CBOX_OPC_AND_NC, CBOX_OPC_AND_ISOC,
	PCU_BAND0, QPI_MATCH_AND_MASK, QPI_MATCH1_AND_MASK1, FILTERS
};

/*
 * Filters that both drivers have under the same names. Transactions that pass the filter
 * are sent 100 or 1000 times, transactions that do not pass once or 10 times.
 */
static const struct filter_case {
	const char *box, *event;
	const char *traffic[4];
	uint64_t want;
} filters[FILTERS] = {
	[CBOX_TID] = { "cbox_1",
	  "event=0x34,umask=0x03,tid_en=1,filter_tid=5,filter_state=0x1f",
	  { LOOKUP "state=2 tid=5 count=100", LOOKUP "state=2 tid=4 count=10" },
	  100 },
	[CBOX_STATE] = { "cbox_1",
	  "event=0x34,umask=0x03,filter_state=0x06",
	  { LOOKUP "state=2 count=100", LOOKUP "state=4 count=1000",
	    LOOKUP "state=8 count=10" }, 1100 },
	[CBOX_NID] = { "cbox_1",
	  "event=0x35,umask=0x48,filter_nid=0x2",
	  { TOR "nid=2 count=100", TOR "nid=1 count=10" }, 100 },
	[CBOX_OPC] = { "cbox_1",
	  "event=0x35,umask=0x01,filter_opc=0x182",
	  { TOR "opc=0x182 count=100", TOR "opc=0x180 count=10" }, 100 },
	[CBOX_OPC_AND_NID] = { "cbox_1",
	  "event=0x35,umask=0x41,filter_opc=0x182,filter_nid=0x5",
	  { TOR "opc=0x182 nid=4 count=100", TOR "opc=0x182 nid=1 count=1000",
	    TOR "opc=0x182 nid=2 count=10", TOR "opc=0x180 nid=1 count=1" },
	  1100 },
	[CBOX_OPC_AND_LINK] = { "cbox_1",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_link=0x2",
	  { TOR "opc=0x182 link=2 count=100", TOR "opc=0x182 link=1 count=10" },
	  100 },
	[CBOX_OPC_AND_C6] = { "cbox_1",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_c6=1",
	  { TOR "opc=0x182 c6=1 count=100", TOR "opc=0x182 nc=1 count=10" },
	  100 },
	[CBOX_OPC_AND_NC] = { "cbox_1",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_nc=1",
	  { TOR "opc=0x182 nc=1 count=100", TOR "opc=0x182 isoc=1 count=10" },
	  100 },
	[CBOX_OPC_AND_ISOC] = { "cbox_1",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_isoc=1",
	  { TOR "opc=0x182 isoc=1 count=100", TOR "opc=0x182 c6=1 count=10" },
	  100 },
	[PCU_BAND0] = { "pcu",
	  "event=0x0b,filter_band0=20",
	  { "event=0x0b freq=21 count=100", "event=0x0b freq=19 count=10" },
	  100 },
	[QPI_MATCH_AND_MASK] = { "qpi_0",
	  "event=0x138,match_mc=0xe,mask_mc=0xf",
	  { PACKET "match0=0x1c00 count=100", PACKET "match0=0x1800 count=10" },
	  100 },
	[QPI_MATCH1_AND_MASK1] = { "qpi_1",
	  "event=0x138,match_rds=0x8,mask_rds=0xf",
	  { PACKET "match1=0x80000 count=100",
	    PACKET "match1=0x40000 count=10" }, 100 },
};

/* Return why this generation does not have the filter, or NULL. */
static const char *missing_feature(const struct filter_case *f)
{
	char type[16];

	snprintf(type, sizeof(type), "%.*s", (int)strcspn(f->box, "_"), f->box);
	if (generation_lacks(type, f->event))
		return "no such field";
	if (strstr(f->event, "filter_link") && generation()->links_of.event != 0x35)
		return "links are of another event";
	if (!strcmp(type, "pcu") && !cat_find_code("pcu", 0x0b, 0))
		return "no such event";
	return NULL;
}

/* Return the count of a filter's event over its traffic, or -errno of open. */
static uint64_t filtered(enum driver driver, const struct filter_case *f,
			 int pkg)
{
	const char *pmu = driver_pmu(driver, f->box);
	int fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", f->event);
	uint64_t count;

	if (fd < 0)
		return fd;
	for (int i = 0; i < 4 && f->traffic[i]; i++)
		if (sim_traffic("pkg=%d box=%s %s", pkg, f->box, f->traffic[i]))
			tap_bail("traffic '%s' is refused", f->traffic[i]);
	count = event_count(fd);
	close(fd);
	return count;
}

/*
 * Count the TOR occupancy, which only counter 0 can count, and on another counter the
 * cycles in which counter 0 sees any entry.
 */
static void relayed(enum driver driver, uint64_t values[2])
{
	const char *events[] = { "event=0x36,umask=0x08", "event=0x1f,thresh=1" };
	const struct cat_event *filtered =
		cat_find("cha", "tor_occupancy.ia_miss_drd") ?:
		cat_find("cha", "tor_occupancy.ia_miss_drd_opt");
	const char *pmu = driver_pmu(driver, filtered ? "cha_1" : "cbox_1");
	struct event_group g;
	uint64_t before[2];

	/* on a mesh, the TOR counts nothing without a filter */
	if (filtered)
		events[0] = filtered->string;

	if (group_open(&g, pmu, pmu_cpu(pmu, 0), events, 2))
		return;
	sim_advance(LEAD_IN);
	group_read(&g, before, NULL);
	sim_advance(CYCLES);
	group_read(&g, values, NULL);
	for (int i = 0; i < 2; i++)
		values[i] -= before[i];
	group_close(&g);
}

/* Results of both drivers: [event][shape]. */
static struct measured (*results[DRIVERS])[SHAPES];
static uint64_t filter_results[DRIVERS][FILTERS][2];
static uint64_t relay_results[DRIVERS][2];

/* Return whether event @i is one of those that are measured in all shapes. */
static bool shaped(const struct cat_event *events, size_t i)
{
	size_t before = i;

	if (events[i].fixed)
		return false;
	while (before && !strcmp(events[before - 1].box, events[i].box))
		before--;
	return i - before < SHAPED_EVENTS;
}

static void measure_all(enum driver driver)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);

	driver_setup(driver, "clock=manual");
	results[driver] = calloc(n, sizeof(*results[driver]));
	for (size_t i = 0; i < n; i++) {
		if (beyond_in_tree(&e[i]))
			continue;
		for (int s = 0; s < (shaped(e, i) ? SHAPES : 1); s++)
			if (has_shape(s))
				measure(driver, &e[i], i % packages_used(), shapes[s].bits,
					&results[driver][i][s]);
	}
	for (int f = 0; f < FILTERS; f++)
		for (int pkg = 0; pkg < packages_used() && !missing_feature(&filters[f]); pkg++)
			filter_results[driver][f][pkg] =
				filtered(driver, &filters[f], pkg);
	relayed(driver, relay_results[driver]);
	driver_none();
}

/* Run all measurements under one driver, then under the other. The tests compare. */
static void __attribute__((constructor)) measure_both(void)
{
	if (!in_tree_exists())
		tap_skip_all("no intel_uncore module for this kernel");
	choose_boxes();
	for (int d = 0; d < DRIVERS; d++)
		measure_all(d);
}

PLAIN_FIXTURE(type);
FIXTURE_VARIANT(type) { const char *type; };
VARIANTS_OF_TYPES(type);

/* Compare the counts of an event in a shape; count the comparisons, and counts of 0. */
static bool compare(const struct cat_event *e, size_t i, int shape,
		    size_t *compared, size_t *zero)
{
	const struct measured *theirs = &results[IN_TREE][i][shape];
	const struct measured *ours = &results[OURS][i][shape];
	const char *box = boxes[type_of(e->box)], *name = shapes[shape].name;
	bool ok = check_eq(ours->wave, theirs->wave, "%s/%s/%s waves", box,
			   e->name, name);

	ok &= check_eq(ours->traffic, theirs->traffic, "%s/%s/%s traffic", box,
		       e->name, name);
	ok &= check(ours->wave >= 0, "%s/%s/%s: %s", box, e->name, name,
		    strerror(-ours->wave));
	++*compared;
	*zero += !ours->wave;
	return ok;
}

TEST_F(type, counts_are_the_same)
{
	size_t n, compared = 0, zero = 0;
	const struct cat_event *e = catalogue(&n);
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(e[i].box, variant->type))
			continue;
		if (beyond_in_tree(&e[i])) {
			TH_LOG("left out: %s: %s", e[i].name,
			       beyond_in_tree(&e[i]));
			continue;
		}
		for (int s = 0; s < (shaped(e, i) ? SHAPES : 1); s++)
			if (has_shape(s))
				ok &= compare(&e[i], i, s, &compared, &zero);
	}
	if (!compared)
		SKIP(return, "no events in the catalogue");
	EXPECT_TRUE(ok);
	EXPECT_LT(zero * 2, compared);
	TH_LOG("%zu counts, of which %zu are zero", compared, zero);
}

/* relayed() counts the same occupancies and cycles under both drivers. */
TEST(relayed_occupancy_is_the_same)
{
	for (int i = 0; i < 2; i++) {
		EXPECT_LT(0, relay_results[OURS][i]);
		EXPECT_EQ(relay_results[IN_TREE][i], relay_results[OURS][i]);
	}
}

PLAIN_FIXTURE(filter);
FIXTURE_VARIANT(filter) { enum filter filter; };
FIXTURE_VARIANT_ADD(filter, cbox_tid) { CBOX_TID };
FIXTURE_VARIANT_ADD(filter, cbox_state) { CBOX_STATE };
FIXTURE_VARIANT_ADD(filter, cbox_nid) { CBOX_NID };
FIXTURE_VARIANT_ADD(filter, cbox_opc) { CBOX_OPC };
FIXTURE_VARIANT_ADD(filter, cbox_opc_and_nid) { CBOX_OPC_AND_NID };
FIXTURE_VARIANT_ADD(filter, cbox_opc_and_link) { CBOX_OPC_AND_LINK };
FIXTURE_VARIANT_ADD(filter, cbox_opc_and_c6) { CBOX_OPC_AND_C6 };
FIXTURE_VARIANT_ADD(filter, cbox_opc_and_nc) { CBOX_OPC_AND_NC };
FIXTURE_VARIANT_ADD(filter, cbox_opc_and_isoc) { CBOX_OPC_AND_ISOC };
FIXTURE_VARIANT_ADD(filter, pcu_band0) { PCU_BAND0 };
FIXTURE_VARIANT_ADD(filter, qpi_match_and_mask) { QPI_MATCH_AND_MASK };
FIXTURE_VARIANT_ADD(filter, qpi_match1_and_mask1) { QPI_MATCH1_AND_MASK1 };

TEST_F(filter, passes_the_same_traffic)
{
	const struct filter_case *f = &filters[variant->filter];

	if (missing_feature(f))
		SKIP(return, "%s", missing_feature(f));
	for (int pkg = 0; pkg < packages_used(); pkg++) {
		for (int d = 0; d < DRIVERS; d++) {
			EXPECT_EQ(f->want, filter_results[d][variant->filter][pkg]) {
				TH_LOG("package %d under %s", pkg,
				       driver_names[d]);
			}
		}
	}
}

TEST_HARNESS_MAIN

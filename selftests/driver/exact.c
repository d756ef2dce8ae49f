// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exact counts: with the manual clock a known number of cycles gives a known count, for
 * every event of the catalogue, without and with threshold, invert and edge (§1.4), on
 * fixed and free-running counters, and for the PCU's configuration examples (Table
 * 2-165).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	MAX_PACKAGES = 16,
	MAX_SHAPES = 8,
	WARM_UP = 37,		/* not a multiple of a wave's period */
	CYCLES = 1009,
};

#define BIT(n)		(1ULL << (n))
#define PCU_BAND0	0x0b
#define VOLTAGE		0x03	/* cycles with a voltage transition */
#define PCU_BAND3	0x0e
#define QPI_CTO_COUNT	0x138	/* counts the packets that pass the port's filters */

static int n_packages;

static void __attribute__((constructor)) count_packages(void)
{
	n_packages = packages() < MAX_PACKAGES ? packages() : MAX_PACKAGES;
}

MACHINE_OF_ALL_TESTS("clock=manual", "");

FIXTURE(type) { unsigned int boxes; };

FIXTURE_VARIANT(type) { const char *type; };
VARIANTS_OF_TYPES(type);

FIXTURE_SETUP(type)
{
	char pmu[PMU_NAME_MAX];

	while (pmu_name(pmu, variant->type, self->boxes))
		self->boxes++;
}

FIXTURE_TEARDOWN(type)
{
	EXPECT_EQ(0, sim_stat("undefined"));
}

/* --- every box, the clock ------------------------------------------------ */

/* Return an event of a box type that counts each cycle on a general counter, or NULL. */
static const struct cat_event *general_ticks_of(const char *type)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, type) && !e->fixed && !e->free &&
		    e->period == 1 && e->wave[0] == 1)
			return e;
	return NULL;
}

/*
 * Return any event of a box type for a general counter, or NULL. The UBox has a clock
 * event for its fixed counter only.
 */
static const struct cat_event *plain_event_of(const char *type)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, type) && !e->fixed && !e->free)
			return e;
	return NULL;
}

/* All boxes of a type count at once in all packages: a mix-up of two boxes shows. */
TEST_F(type, every_box_counts)
{
	const struct cat_event *e = general_ticks_of(variant->type) ?:
				    plain_event_of(variant->type);
	int fd[MAX_PACKAGES][MOST_BOXES];
	char pmu[PMU_NAME_MAX];
	uint64_t start;

	if (!e)
		SKIP(return, "the catalogue has no event of it");
	if (!cat_has_waves(variant->type))
		SKIP(return, "it counts transactions only");
	ASSERT_LT(0, self->boxes);
	ASSERT_GE(MOST_BOXES, self->boxes);
	start = sim_cycles();
	for (unsigned int b = 0; b < self->boxes; b++) {
		pmu_name(pmu, variant->type, b);
		for (int p = 0; p < n_packages; p++) {
			fd[p][b] = event_open(pmu, pmu_cpu(pmu, p),
					      "config=%#" PRIx64, e->config);
			EXPECT_TRUE(check(fd[p][b] >= 0, "%s package %d: open: %s",
					  pmu, p, strerror(-fd[p][b])));
		}
	}
	ASSERT_EQ(0, sim_advance(100003));
	for (unsigned int b = 0; b < self->boxes; b++) {
		for (int p = 0; p < n_packages; p++) {
			EXPECT_TRUE(check_eq(event_count(fd[p][b]),
					     cat_expect(e, (struct shape){ 0 },
							start, 100003),
					     "%s_%u package %d", variant->type,
					     b, p));
			close(fd[p][b]);
		}
	}
	TH_LOG("%s of %u boxes in %d packages", e->name, self->boxes, n_packages);
}

/* --- every event, every shape -------------------------------------------- */

/* PCU occupancy events have separate invert and edge bits. */
static bool is_occupancy(const struct cat_event *e)
{
	return !strcmp(e->box, "pcu") && (e->code & 0x80);
}

/* Return the control bits of a shape: threshold, invert, edge. */
static uint64_t shape_bits(const struct cat_event *e, struct shape s)
{
	return (uint64_t)s.thresh << 24 |
	       (s.invert ? BIT(is_occupancy(e) ? 30 : 23) : 0) |
	       (s.edge ? BIT(is_occupancy(e) ? 31 : 18) : 0);
}

/* Return the largest threshold: the field has 5 bits in UBox and PCU, else 8. */
static unsigned int max_thresh(const struct cat_event *e)
{
	return !strcmp(e->box, "ubox") || !strcmp(e->box, "pcu") ? 31 : 255;
}

/* Write the shapes in which the event is counted to @s; return their number. */
static unsigned int shapes_of(const struct cat_event *e, struct shape *s)
{
	bool inverts = is_occupancy(e) || !generation_lacks(e->box, "inv");
	unsigned int n = 0, top = 0;

	for (unsigned int i = 0; i < e->period; i++)
		if (e->wave[i] > top)
			top = e->wave[i];
	if (top > max_thresh(e))
		top = max_thresh(e);
	s[n++] = (struct shape){ 0 };
	if (generation_lacks(e->box, "thresh"))
		return n;
	s[n++] = (struct shape){ .thresh = 1 };
	if (inverts) {
		s[n++] = (struct shape){ .thresh = 1, .invert = true };
		s[n++] = (struct shape){ .thresh = 1, .invert = true,
					 .edge = true };
	}
	s[n++] = (struct shape){ .thresh = 1, .edge = true };
	if (top > 1) {
		s[n++] = (struct shape){ .thresh = top };
		if (inverts)
			s[n++] = (struct shape){ .thresh = top, .invert = true };
		s[n++] = (struct shape){ .thresh = top, .edge = true };
	}
	return n;
}

/* Count @n shapes of an event as a group on one box; check the counts. */
static bool count_shapes(const struct cat_event *e, unsigned int box, int pkg,
			 const struct shape *s, unsigned int n)
{
	struct perf_event_attr attrs[MAX_SHAPES];
	uint64_t first[MAX_SHAPES], last[MAX_SHAPES], start = sim_cycles();
	struct event_group g = { 0 };
	char pmu[PMU_NAME_MAX];
	bool ok = pmu_name(pmu, e->box, box);
	int err;

	for (unsigned int i = 0; ok && i < n; i++) {
		pmu_attr(&attrs[i], pmu, "");
		attrs[i].config = e->config | shape_bits(e, s[i]);
		attrs[i].config1 = e->config1;
		attrs[i].config2 = e->config2;
	}
	err = ok ? group_open_attr(&g, attrs, pmu_cpu(pmu, pkg), n) : -ENOENT;
	ok = check(!err, "%s/%s/ package %d, %u shapes: open: %s", pmu, e->name,
		   pkg, n, strerror(-err));
	sim_advance(WARM_UP);
	ok = ok && check(!group_read(&g, first, NULL), "%s: read", pmu);
	sim_advance(CYCLES);
	ok = ok && check(!group_read(&g, last, NULL), "%s: read", pmu);
	for (unsigned int i = 0; ok && i < n; i++) {
		/* an edge needs a previous cycle, which the first cycle lacks */
		if (!s[i].edge)
			ok &= check_eq(first[i],
				       cat_expect(e, s[i], start, WARM_UP),
				       "%s/%s/ package %d thresh %u inv %d, first %d cycles",
				       pmu, e->name, pkg, s[i].thresh,
				       s[i].invert, WARM_UP);
		ok &= check_eq(last[i] - first[i],
			       cat_expect(e, s[i], start + WARM_UP, CYCLES),
			       "%s/%s/ package %d thresh %u inv %d edge %d",
			       pmu, e->name, pkg, s[i].thresh, s[i].invert,
			       s[i].edge);
	}
	group_close(&g);
	return ok;
}

/* Return whether the event counts only with a filter, or with an event on counter 0. */
static bool is_special(const struct cat_event *e)
{
	if (!strcmp(e->box, "pcu") && e->code >= PCU_BAND0 &&
	    e->code <= PCU_BAND3)
		return true;
	return cat_is_relay(e);
}

/* Return the number of boxes of the type that can count the event. */
static unsigned int boxes_for(const struct cat_event *e, unsigned int boxes)
{
	if (strcmp(e->box, "qpi") || e->code != QPI_CTO_COUNT)
		return boxes;
	for (boxes = 0; box_function("qpi", boxes, "filter"); boxes++)
		;
	return boxes;
}

/*
 * Count @n transactions by the event's name in sysfs, on a box that counts no cycles but
 * transactions only; check the count.
 */
static bool count_transactions(const struct cat_event *e, unsigned int box,
			       int pkg, uint64_t n)
{
	char pmu[PMU_NAME_MAX];
	bool ok = pmu_name(pmu, e->box, box);
	int fd;

	fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", e->name);
	ok &= check(fd >= 0, "%s/%s/ package %d: %s", pmu, e->name, pkg,
		    strerror(-fd));
	sim_advance(WARM_UP);
	ok &= check(!send_traffic(pmu, pkg, e, n, 1), "traffic");
	ok &= check_eq(event_count(fd), n, "%s/%s/ package %d", pmu, e->name,
		       pkg);
	close(fd);
	return ok;
}

TEST_F(type, names_in_sysfs_are_the_catalogues)
{
	unsigned int seen = 0;
	char pmu[PMU_NAME_MAX];
	size_t n;
	const struct cat_event *e = catalogue(&n);
	bool ok = true;

	for (size_t i = 0; self->boxes && i < n; i++) {
		struct perf_event_attr attr;

		if (strcmp(e[i].box, variant->type))
			continue;
		pmu_name(pmu, variant->type, seen++ % self->boxes);
		ok &= check(!pmu_attr(&attr, pmu, e[i].name),
			    "%s has no event %s", pmu, e[i].name);
		ok &= check_eq(attr.config, e[i].config, "%s/%s/ config", pmu,
			       e[i].name);
		ok &= check_eq(attr.config1, e[i].config1, "%s/%s/ config1",
			       pmu, e[i].name);
		ok &= check_eq(attr.config2, e[i].config2, "%s/%s/ config2",
			       pmu, e[i].name);
	}
	if (!seen)
		SKIP(return, "the catalogue has no event of it");
	EXPECT_TRUE(ok);
	TH_LOG("%u names", seen);
}

/*
 * Count an event in all its shapes, in groups of as many shapes as there are counters
 * that may count the event. @nth, the number of the event, selects the box and the
 * package, so that the events of a type are spread over all boxes.
 */
static bool count_all_shapes(const struct cat_event *e, unsigned int boxes,
			     unsigned int nth)
{
	unsigned int room = __builtin_popcount(e->ctrs), shapes;
	struct shape s[MAX_SHAPES];
	bool ok = true;

	shapes = shapes_of(e, s);
	for (unsigned int from = 0; from < shapes; from += room)
		ok &= count_shapes(e, nth % boxes_for(e, boxes),
				   (int)(nth / boxes) % n_packages, s + from,
				   shapes - from < room ? shapes - from : room);
	return ok;
}

/* Each event counts exactly, without and with thresh, inv and edge in combinations. */
TEST_F(type, every_event_counts_exactly)
{
	unsigned int seen = 0, counted = 0, every = slowness();
	size_t n;
	const struct cat_event *e = catalogue(&n);
	bool ok = true;

	for (size_t i = 0; self->boxes && i < n; i++) {
		if (strcmp(e[i].box, variant->type))
			continue;
		seen++;
		if (e[i].fixed || e[i].free || is_special(&e[i]))
			continue;
		/* on a slow machine, only some events */
		if ((seen - 1) % every)
			continue;
		counted++;
		if (cat_has_waves(variant->type))
			ok &= count_all_shapes(&e[i], self->boxes, counted);
		else
			ok &= count_transactions(&e[i], counted % self->boxes,
						 (int)counted % n_packages,
						 1000 + i);
	}
	if (!seen)
		SKIP(return, "the catalogue has no event of it");
	EXPECT_TRUE(ok);
	TH_LOG("%u events", counted);
}

/* --- fixed and free-running counters ------------------------------------- */

struct reads {
	uint32_t reg;
	unsigned int n;
};

static void count_read(const struct sim_access *a, void *arg)
{
	struct reads *r = arg;

	r->n += (a->type == SIM_RDMSR || a->type == SIM_PCIRD || a->type == SIM_MEMRD) &&
		a->reg == r->reg;
}

/*
 * Return whether a read of @fd reads the register of a box's free-running @event. All of these
 * count cycles, so only the address that the driver reads identifies the counter. The
 * simulator's register has the event's name.
 */
static bool reads_its_own(int fd, const char *type, const char *event, unsigned int box)
{
	struct reads r = { .reg = box_register(type, box, event) };

	sim_trace_clear();
	event_count(fd);
	sim_trace(count_read, &r);
	return check(r.reg && r.n, "%s: register %#x was not read", event, r.reg);
}

/* Count cycles with the event on each box of its type, in all packages. */
static bool counts_at_constant_rate(const struct cat_event *e)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;
	unsigned int b;

	for (b = 0; pmu_name(pmu, e->box, b); b++) {
		int fd[MAX_PACKAGES];

		for (int p = 0; p < n_packages; p++)
			fd[p] = event_open(pmu, pmu_cpu(pmu, p), "%s", e->name);
		sim_advance(65537 + b);
		for (int p = 0; p < n_packages; p++) {
			ok &= check(fd[p] >= 0, "%s/%s/ package %d: %s", pmu,
				    e->name, p, strerror(-fd[p]));
			ok &= check_eq(event_count(fd[p]), 65537 + b,
				       "%s/%s/ package %d", pmu, e->name, p);
			if (e->free)
				ok &= reads_its_own(fd[p], e->box, e->name, b);
			close(fd[p]);
		}
	}
	return ok & check(b, "no box has %s/%s/", e->box, e->name);
}

/* Counters that count cycles only: fixed counters, or free-running counters */
FIXTURE(counters) {};
FIXTURE_VARIANT(counters) { bool free; };
FIXTURE_VARIANT_ADD(counters, fixed) { .free = false };
FIXTURE_VARIANT_ADD(counters, free_running) { .free = true };

NO_UNDEFINED_WRITES(counters);

TEST_F(counters, count_each_cycle)
{
	unsigned int counted = 0;

	for_each_cat_event(e) {
		if ((variant->free ? !e->free : !e->fixed) || !box_type(e->box))
			continue;
		counted++;
		EXPECT_TRUE(counts_at_constant_rate(e));
	}
	if (!counted)
		SKIP(return, "the catalogue has none");
	TH_LOG("%u counters", counted);
}

/* Whether @msr was read, and whether any other register was accessed */
struct wanted_msr {
	uint32_t msr;
	bool wanted, other;
};

static void note_msr(const struct sim_access *a, void *arg)
{
	struct wanted_msr *w = arg;

	w->wanted |= a->type == SIM_RDMSR && a->reg == w->msr;
	w->other |= a->reg != w->msr;
}

FIXTURE(pcu)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_SETUP(pcu)
{
	ASSERT_TRUE(pmu_name(self->pmu, "pcu", 0));
}

FIXTURE_TEARDOWN(pcu)
{
	EXPECT_EQ(0, sim_stat("undefined"));
}

/*
 * All residencies have the same count on the simulated hardware, so only the address of
 * the MSR that the driver reads identifies the residency (Table 1-2, and Intel's SDM).
 */
TEST_F(pcu, residencies_are_read_from_their_msr_alone)
{
	static const struct {
		const char *name;
		uint32_t msr;
	} residencies[] = {
		{ "pkg_c2_residency", 0x60d },
		{ "pkg_c3_residency", 0x3f8 },
		{ "pkg_c6_residency", 0x3f9 },
	};

	if (!cat_find("pcu", residencies[0].name))
		SKIP(return, "the catalogue has none");
	for (size_t i = 0; i < sizeof(residencies) / sizeof(*residencies); i++) {
		struct wanted_msr seen = { .msr = residencies[i].msr };
		int fd = event_open(self->pmu, pmu_cpu(self->pmu, 0), "%s",
				    residencies[i].name);

		sim_trace_clear();
		event_count(fd);
		sim_trace(note_msr, &seen);
		EXPECT_TRUE(fd >= 0 && seen.wanted && !seen.other) {
			TH_LOG("%s, MSR %#x", residencies[i].name,
			       residencies[i].msr);
		}
		close(fd);
	}
}

/* An event on a fixed counter occupies no general counter. */
FIXTURE(fixed_counter) {};

FIXTURE_VARIANT(fixed_counter)
{
	const char *type;
	unsigned int general;
};

FIXTURE_VARIANT_ADD(fixed_counter, ubox) {
	.type = "ubox", .general = 2
};
FIXTURE_VARIANT_ADD(fixed_counter, imc) {
	.type = "imc", .general = 4
};

NO_UNDEFINED_WRITES(fixed_counter);

TEST_F(fixed_counter, is_in_one_group_with_all_general_ones)
{
	const struct cat_event *e = plain_event_of(variant->type);
	struct event_reading times;
	char pmu[PMU_NAME_MAX];
	struct event_group g = { 0 };
	uint64_t values[MAX_GROUP], start = sim_cycles();
	struct perf_event_attr attrs[MAX_GROUP];

	if (!e || !pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such event");
	pmu_attr(&attrs[0], pmu, "event=0xff");
	for (unsigned int i = 1; i <= variant->general; i++) {
		pmu_attr(&attrs[i], pmu, "");
		attrs[i].config = e->config |
				  shape_bits(e, (struct shape){ .thresh = i });
	}
	ASSERT_EQ(0, -group_open_attr(&g, attrs, pmu_cpu(pmu, 0),
				      variant->general + 1));
	sim_advance(CYCLES);
	ASSERT_EQ(0, -group_read(&g, values, &times));
	EXPECT_EQ(CYCLES, values[0]);
	for (unsigned int i = 1; i <= variant->general; i++) {
		EXPECT_TRUE(check_eq(values[i],
				     cat_expect(e, (struct shape){ .thresh = i },
						start, CYCLES),
				     "thresh %u", i));
	}
	group_close(&g);
}

/* --- events that depend on another event --------------------------------- */

FIXTURE(cbox) {};

NO_UNDEFINED_WRITES(cbox);

/* Counters 1 to 3 can threshold the occupancy that counter 0 sees (§2.3.1.1). */
TEST_F(cbox, counter0_occupancy_thresholds_the_event_of_counter_0)
{
	const struct cat_event *e = cat_find_code("cbox", 0x36, 0x08);
	const char *const events[] = {
		"event=0x36,umask=0x08",
		"event=0x1f",
		"event=0x1f,thresh=3",
		"event=0x1f,thresh=3,edge=1",
	};
	struct event_group g = { 0 };
	uint64_t a[4], b[4], start = sim_cycles();
	char pmu[PMU_NAME_MAX];

	if (!e || !pmu_name(pmu, "cbox", 1))
		SKIP(return, "no such event");
	ASSERT_EQ(0, -group_open(&g, pmu, pmu_cpu(pmu, n_packages - 1), events,
				 4));
	sim_advance(WARM_UP);
	ASSERT_EQ(0, -group_read(&g, a, NULL));
	sim_advance(CYCLES);
	ASSERT_EQ(0, -group_read(&g, b, NULL));
	for (unsigned int i = 0; i < 4; i++) {
		struct shape s = { .thresh = i > 1 ? 3 : 0, .edge = i == 3 };

		EXPECT_TRUE(check_eq(b[i] - a[i],
				     cat_expect(e, s, start + WARM_UP, CYCLES),
				     "%s", events[i]));
	}
	group_close(&g);
}

/*
 * Event 0x1f counts the occupancy event on counter 0. Without an occupancy event there,
 * event 0x1f must not run, and must not count another event that is on counter 0.
 */
TEST_F(cbox, counter0_occupancy_alone_is_not_counted)
{
	struct event_reading r;
	char pmu[PMU_NAME_MAX];
	int fd, beside;

	if (!pmu_name(pmu, "cbox", 1))
		SKIP(return, "no such event");
	fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0x1f");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	ASSERT_EQ(0, -event_read(fd, &r));
	EXPECT_EQ(0, r.value);
	EXPECT_EQ(0, r.running);
	/* clockticks can be on any counter, also on counter 0, but is not an occupancy */
	beside = event_open(pmu, pmu_cpu(pmu, 0), "clockticks");
	ASSERT_GE(beside, 0);
	sim_advance(CYCLES);
	ASSERT_EQ(0, -event_read(fd, &r));
	EXPECT_EQ(0, r.running);
	close(beside);
	close(fd);
}

/* Return the number of cycles in which the wave's frequency is @least or higher. */
static uint64_t cycles_at(const struct cat_event *e, unsigned int least,
			  uint64_t start, uint64_t cycles)
{
	uint64_t n = 0;

	for (uint64_t t = start; t < start + cycles; t++)
		n += e->wave[t % e->period] >= least;
	return n;
}

/* A group of all four bands counts the cycles at or above each band's frequency. */
TEST_F(pcu, four_frequency_bands)
{
	static const unsigned int least[] = { 10, 17, 20, 33 };
	const struct cat_event *e[4];
	char text[4][64];
	const char *events[4];
	struct event_group g = { 0 };
	uint64_t values[4], start = sim_cycles();

	for (unsigned int i = 0; i < 4; i++) {
		e[i] = cat_find_code("pcu", PCU_BAND0 + i, 0);
		if (!e[i])
			SKIP(return, "no such event");
		snprintf(text[i], sizeof(text[i]), "event=%#x,filter_band%u=%u",
			 PCU_BAND0 + i, i, least[i]);
		events[i] = text[i];
	}
	ASSERT_EQ(0, -group_open(&g, self->pmu, pmu_cpu(self->pmu, 0), events,
				 4));
	sim_advance(CYCLES);
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	for (unsigned int i = 0; i < 4; i++) {
		EXPECT_TRUE(check_eq(values[i],
				     cycles_at(e[i], least[i], start, CYCLES),
				     "%s", events[i]));
	}
	group_close(&g);
}

/* --- Table 2-165 --------------------------------------------------------- */

FIXTURE(pcu_table) {};

/* Events of counter controls 0 and 1, or NULL */
FIXTURE_VARIANT(pcu_table)
{
	const char *occupancy;
	struct shape shape;	/* of the occupancy event */
	const char *other;
};

/* Cycles with a voltage transition */
FIXTURE_VARIANT_ADD(pcu_table, case_1) { .other = "event=0x03" };
/* Cores in C0 */
FIXTURE_VARIANT_ADD(pcu_table, case_2) { .occupancy = "event=0x80,occ_sel=1" };
/* Cycles with more than 4 cores in C0 */
FIXTURE_VARIANT_ADD(pcu_table, case_3) {
	.occupancy = "event=0x80,occ_sel=1,thresh=5", .shape = { .thresh = 5 }
};
/* Transitions into more than 4 cores in C0 */
FIXTURE_VARIANT_ADD(pcu_table, case_4) {
	.occupancy = "event=0x80,occ_sel=1,thresh=5,occ_edge=1",
	.shape = { .thresh = 5, .edge = true }
};
/* Cycles with more than 4 cores in C0, and with a voltage transition */
FIXTURE_VARIANT_ADD(pcu_table, case_5) {
	.occupancy = "event=0x80,occ_sel=1,thresh=5", .shape = { .thresh = 5 },
	.other = "event=0x03"
};
/* Cycles with less than 4 cores in C0, and with 2.0 GHz or more */
FIXTURE_VARIANT_ADD(pcu_table, case_6) {
	.occupancy = "event=0x80,occ_sel=1,thresh=4,inv=1,occ_invert=1",
	.shape = { .thresh = 4, .invert = true },
	.other = "event=0x0b,filter_band0=0x14"
};

NO_UNDEFINED_WRITES(pcu_table);

/*
 * Return the expected count of the second event: a band has a wave; VOLTAGE has a wave
 * and the transactions that the test sends.
 */
static uint64_t other_count(const char *event, int pkg, uint64_t start,
			    uint64_t cycles)
{
	const struct cat_event *band = cat_find_code("pcu", PCU_BAND0, 0);
	const struct cat_event *volt = cat_find_code("pcu", VOLTAGE, 0);

	if (strstr(event, "band"))
		return cycles_at(band, 0x14, start, cycles);
	return 500 + pkg + cat_expect(volt, (struct shape){ 0 }, start, cycles);
}

/* Return why the generation does not have the case of the table, or NULL. */
static const char *
missing_feature(const FIXTURE_VARIANT(pcu_table) *v, const struct cat_event *occ)
{
	if (v->occupancy && generation_lacks("pcu", v->occupancy))
		return "no such field";
	/* Broadwell has no voltage transitions. */
	if (v->other && !strcmp(v->other, "event=0x03") &&
	    !cat_find_code("pcu", VOLTAGE, 0))
		return "no such event";
	if (!occ || !cat_find_code("pcu", PCU_BAND0, 0))
		return "the catalogue has no PCU events";
	return NULL;
}

TEST_F(pcu_table, counts_as_the_manual_has_it)
{
	const struct cat_event *occ = cat_find_code("pcu", 0x80, 0x40);
	const char *events[2], *reason = missing_feature(variant, occ);
	struct event_group g[MAX_PACKAGES] = { 0 };
	uint64_t a[MAX_PACKAGES][2], b[2], start;
	unsigned int n = 0;
	char pmu[PMU_NAME_MAX];

	if (reason)
		SKIP(return, "%s", reason);
	ASSERT_TRUE(pmu_name(pmu, "pcu", 0));
	if (variant->occupancy)
		events[n++] = variant->occupancy;
	if (variant->other)
		events[n++] = variant->other;
	for (int p = 0; p < n_packages; p++) {
		ASSERT_EQ(0, -group_open(&g[p], pmu, pmu_cpu(pmu, p), events, n));
	}
	sim_advance(WARM_UP);
	for (int p = 0; p < n_packages; p++) {
		ASSERT_EQ(0, -group_read(&g[p], a[p], NULL));
	}
	start = sim_cycles();
	sim_advance(CYCLES);
	for (int p = 0; p < n_packages; p++) {
		ASSERT_EQ(0, -sim_traffic("pkg=%d box=pcu event=0x03 count=%d",
					  p, 500 + p));
		ASSERT_EQ(0, -group_read(&g[p], b, NULL));
		if (variant->occupancy) {
			EXPECT_EQ(cat_expect(occ, variant->shape, start, CYCLES),
				  b[0] - a[p][0]);
		}
		if (variant->other) {
			EXPECT_EQ(other_count(variant->other, p, start, CYCLES),
				  b[n - 1] - a[p][n - 1]);
		}
	}
	for (int p = 0; p < n_packages; p++)
		group_close(&g[p]);
}

TEST_HARNESS_MAIN

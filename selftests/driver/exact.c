// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exactness: with the manual clock a known number of cycles gives the known
 * count, for every event of the catalogue, plain and with threshold, invert and
 * edge (§1.4), on fixed and free-running counters, and for the PCU's
 * configuration examples (Table 2-165).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/machine.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"
#include "lib/c/tap.h"

enum {
	MAX_PACKAGES = 4,
	MAX_BOXES = 24,
	MAX_SHAPES = 8,
	WARM_UP = 37,		/* not a multiple of a wave's period */
	CYCLES = 1009,
};

#define BIT(n)		(1ULL << (n))
#define PCU_BAND0	0x0b
#define VOLTAGE		0x03	/* cycles with a voltage transition */
#define PCU_BAND3	0x0e
#define CBO_OCCUPANCY0	0x1f	/* counts the entries that counter 0 sees (§2.3.1.1) */
#define QPI_CTO_COUNT	0x138	/* counts the packets that pass the port's filters */

static int n_packages;

/* --- every box, the clock ------------------------------------------------ */

/* An event of this box type that counts each cycle, for a general counter */
static const struct cat_event *general_ticks_of(const char *type)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, type) && !e[i].fixed && !e[i].free &&
		    e[i].period == 1 && e[i].wave[0] == 1)
			return &e[i];
	return NULL;
}

/* Any event for a general counter: the UBox has no clock event for these. */
static const struct cat_event *plain_event_of(const char *type)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, type) && !e[i].fixed && !e[i].free)
			return &e[i];
	return NULL;
}

/* All boxes of a type in all packages count at once, so that a mix-up shows. */
static void test_every_box(const char *type)
{
	const struct cat_event *e = general_ticks_of(type);
	int fd[MAX_PACKAGES][MAX_BOXES];
	char pmu[PMU_NAME_MAX];
	unsigned int boxes = 0;
	bool ok = true;
	uint64_t start;

	if (!e)
		e = plain_event_of(type);
	if (!e) {
		tap_skip("the catalogue has no event of it", "%s: every box",
			 type);
		return;
	}
	if (!cat_has_waves(type)) {
		tap_skip("it counts transactions only", "%s: every box", type);
		return;
	}
	start = sim_cycles();
	for (; boxes < MAX_BOXES && pmu_name(pmu, type, boxes); boxes++) {
		for (int p = 0; p < n_packages; p++) {
			fd[p][boxes] = event_open(pmu, pmu_cpu(pmu, p),
						  "config=%#" PRIx64, e->config);
			ok &= check(fd[p][boxes] >= 0, "%s package %d: open: %s",
				    pmu, p, strerror(-fd[p][boxes]));
		}
	}
	ok &= check(!sim_advance(100003), "advance");
	for (unsigned int b = 0; b < boxes; b++) {
		for (int p = 0; p < n_packages; p++) {
			ok &= check_eq(event_count(fd[p][b]),
				       cat_expect(e, (struct shape){ 0 }, start,
						  100003),
				       "%s_%u package %d", type, b, p);
			close(fd[p][b]);
		}
	}
	tap_ok(ok && boxes, "%s: %s of %u boxes in %d packages, 100003 cycles",
	       type, e->name, boxes, n_packages);
}

/* --- every event, every shape -------------------------------------------- */

/* PCU occupancy events have separate invert and edge bits. */
static bool is_occupancy(const struct cat_event *e)
{
	return !strcmp(e->box, "pcu") && (e->code & 0x80);
}

/* Control bits of a shape: threshold, invert, edge. */
static uint64_t shape_bits(const struct cat_event *e, struct shape s)
{
	return (uint64_t)s.thresh << 24 |
	       (s.invert ? BIT(is_occupancy(e) ? 30 : 23) : 0) |
	       (s.edge ? BIT(is_occupancy(e) ? 31 : 18) : 0);
}

/* The field has 5 bits in UBox and PCU. */
static unsigned int max_thresh(const struct cat_event *e)
{
	return !strcmp(e->box, "ubox") || !strcmp(e->box, "pcu") ? 31 : 255;
}

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

/* Some of an event's shapes as one group on one box. */
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
		/* The cycle before the first has no edge. */
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

static bool is_special(const struct cat_event *e)
{
	if (!strcmp(e->box, "pcu") && e->code >= PCU_BAND0 &&
	    e->code <= PCU_BAND3)
		return true;
	return !strcmp(e->box, "cbox") && e->code == CBO_OCCUPANCY0;
}

/* Return the number of boxes of the type that can count the event. */
static unsigned int boxes_for(const struct cat_event *e, unsigned int boxes)
{
	if (strcmp(e->box, "qpi") || e->code != QPI_CTO_COUNT)
		return boxes;
	return generation()->qpi_filters;
}

/* For boxes that count transactions only: the transactions of the event's name */
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

/*
 * Spread the shapes over packages and boxes of the type, as many at a time as there are
 * counters that may count the event.
 */
static void test_every_event(const char *type)
{
	unsigned int boxes = 0, seen = 0, counted = 0, every = slowness();
	char pmu[PMU_NAME_MAX];
	size_t n;
	const struct cat_event *e = catalogue(&n);
	bool ok = true, names = true;

	while (pmu_name(pmu, type, boxes))
		boxes++;
	for (size_t i = 0; boxes && i < n; i++) {
		struct perf_event_attr attr;
		struct shape s[MAX_SHAPES];
		unsigned int shapes, room;

		if (strcmp(e[i].box, type))
			continue;
		pmu_name(pmu, type, seen++ % boxes);
		names &= check(!pmu_attr(&attr, pmu, e[i].name),
			       "%s has no event %s", pmu, e[i].name);
		names &= check_eq(attr.config, e[i].config, "%s/%s/ config",
				  pmu, e[i].name);
		names &= check_eq(attr.config1, e[i].config1, "%s/%s/ config1",
				  pmu, e[i].name);
		names &= check_eq(attr.config2, e[i].config2, "%s/%s/ config2",
				  pmu, e[i].name);
		if (e[i].fixed || e[i].free || is_special(&e[i]))
			continue;
		/* some of them, where time is short */
		if ((seen - 1) % every)
			continue;
		counted++;
		if (!cat_has_waves(type)) {
			ok &= count_transactions(&e[i], counted % boxes,
						 (int)counted % n_packages,
						 1000 + i);
			continue;
		}
		shapes = shapes_of(&e[i], s);
		room = __builtin_popcount(e[i].ctrs);
		for (unsigned int from = 0; from < shapes; from += room)
			ok &= count_shapes(&e[i], counted % boxes_for(&e[i], boxes),
					   (int)(counted / boxes) % n_packages,
					   s + from,
					   shapes - from < room ? shapes - from :
								  room);
	}
	if (!seen) {
		tap_skip("the catalogue has no event of it", "%s: every event",
			 type);
		return;
	}
	tap_ok(names, "%s: %u named events in sysfs are the catalogue's", type,
	       seen);
	tap_ok(ok, "%s: %u events count exactly%s", type, counted,
	       generation_lacks(type, "thresh") ? "" :
	       "; thresh, inv and edge, separately and together");
}

/* --- fixed and free-running counters ------------------------------------- */

/*
 * All of these count cycles, so only the register that is read identifies the counter
 * (Tables 1-2, 2-178 and 2-179).
 */
static const struct {
	const char *event;
	uint32_t reg;
} free_running_registers[] = {
	{ "link_idle", 0xc8 }, { "link_llr", 0xd0 },
	{ "pkg_c2_residency", 0x60d }, { "pkg_c3_residency", 0x3f8 },
	{ "pkg_c6_residency", 0x3f9 },
};

enum {
	FREE_RUNNING = sizeof(free_running_registers) /
		       sizeof(*free_running_registers),
};

struct reads {
	uint32_t reg;
	unsigned int n;
};

static void count_read(const struct sim_access *a, void *arg)
{
	struct reads *r = arg;

	r->n += (a->type == SIM_RDMSR || a->type == SIM_PCIRD) &&
		a->reg == r->reg;
}

/* Return whether @fd is read from the register of the free-running @event. */
static bool reads_its_own(int fd, const char *event)
{
	struct reads r = { 0 };

	for (size_t i = 0; i < FREE_RUNNING; i++)
		if (!strcmp(free_running_registers[i].event, event))
			r.reg = free_running_registers[i].reg;
	sim_trace_clear();
	event_count(fd);
	sim_trace(count_read, &r);
	return check(r.reg && r.n, "%s: register %#x was not read", event, r.reg);
}

static void test_constant_rate(bool free_running)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);

	for (size_t i = 0; i < n; i++) {
		char pmu[PMU_NAME_MAX];
		bool ok = true;
		unsigned int b;

		if (free_running ? !e[i].free : !e[i].fixed)
			continue;
		for (b = 0; pmu_name(pmu, e[i].box, b); b++) {
			int fd[MAX_PACKAGES];

			for (int p = 0; p < n_packages; p++)
				fd[p] = event_open(pmu, pmu_cpu(pmu, p), "%s",
						   e[i].name);
			sim_advance(65537 + b);
			for (int p = 0; p < n_packages; p++) {
				ok &= check(fd[p] >= 0, "%s package %d: %s", pmu,
					    p, strerror(-fd[p]));
				ok &= check_eq(event_count(fd[p]), 65537 + b,
					       "%s package %d", pmu, p);
				if (free_running)
					ok &= reads_its_own(fd[p], e[i].name);
				close(fd[p]);
			}
		}
		tap_ok(ok && b, "%s: %s counter %s", e[i].box,
		       free_running ? "free-running" : "fixed", e[i].name);
	}
}

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

/*
 * All residencies count the same on the simulated hardware, so only the register that
 * was read identifies them (Table 1-2, and Intel's SDM).
 */
static void test_residencies(void)
{
	static const struct {
		const char *name;
		uint32_t msr;
	} residencies[] = {
		{ "pkg_c2_residency", 0x60d },
		{ "pkg_c3_residency", 0x3f8 },
		{ "pkg_c6_residency", 0x3f9 },
	};
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, "pcu", 0)) {
		tap_skip("no such PMU", "pcu: residencies");
		return;
	}
	for (size_t i = 0; i < sizeof(residencies) / sizeof(*residencies); i++) {
		struct wanted_msr seen = { .msr = residencies[i].msr };
		int fd = event_open(pmu, pmu_cpu(pmu, 0), "%s",
				    residencies[i].name);

		sim_trace_clear();
		event_count(fd);
		sim_trace(note_msr, &seen);
		tap_ok(fd >= 0 && seen.wanted && !seen.other,
		       "%s is read from MSR %#x alone", residencies[i].name,
		       residencies[i].msr);
		close(fd);
	}
}

/* A fixed counter takes no general counter. */
static void test_fixed_beside_general(const char *type, const char *fixed,
				      unsigned int general)
{
	const struct cat_event *e = plain_event_of(type);
	struct event_reading r[MAX_GROUP];
	char pmu[PMU_NAME_MAX];
	struct event_group g = { 0 };
	uint64_t values[MAX_GROUP], start = sim_cycles();
	struct perf_event_attr attrs[MAX_GROUP];
	bool ok = true;
	int err;

	if (!e || !pmu_name(pmu, type, 0)) {
		tap_skip("no such event", "%s: fixed counter beside the others",
			 type);
		return;
	}
	pmu_attr(&attrs[0], pmu, fixed);
	for (unsigned int i = 1; i <= general; i++) {
		pmu_attr(&attrs[i], pmu, "");
		attrs[i].config = e->config |
				  shape_bits(e, (struct shape){ .thresh = i });
	}
	err = group_open_attr(&g, attrs, pmu_cpu(pmu, 0), general + 1);
	ok &= check(!err, "open: %s", strerror(-err));
	sim_advance(CYCLES);
	ok &= check(!group_read(&g, values, &r[0]), "read");
	if (ok)
		ok &= check_eq(values[0], CYCLES, "%s", fixed);
	for (unsigned int i = 1; ok && i <= general; i++)
		ok &= check_eq(values[i],
			       cat_expect(e, (struct shape){ .thresh = i },
					  start, CYCLES), "thresh %u", i);
	group_close(&g);
	tap_ok(ok, "%s: the fixed counter in one group with %u general ones",
	       type, general);
}

/* --- events that depend on another event --------------------------------- */

/* Counters 1 to 3 can threshold the occupancy that counter 0 sees (§2.3.1.1). */
static void test_counter0_occupancy(void)
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
	bool ok;

	if (!e || !pmu_name(pmu, "cbox", 1)) {
		tap_skip("no such event", "cbox: counter0_occupancy");
		return;
	}
	ok = check(!group_open(&g, pmu, pmu_cpu(pmu, n_packages - 1), events, 4),
		   "open");
	sim_advance(WARM_UP);
	ok &= check(!group_read(&g, a, NULL), "read");
	sim_advance(CYCLES);
	ok &= check(!group_read(&g, b, NULL), "read");
	for (unsigned int i = 0; ok && i < 4; i++) {
		struct shape s = { .thresh = i > 1 ? 3 : 0, .edge = i == 3 };

		ok &= check_eq(b[i] - a[i],
			       cat_expect(e, s, start + WARM_UP, CYCLES), "%s",
			       events[i]);
	}
	group_close(&g);
	tap_ok(ok, "cbox: counter0_occupancy thresholds counter 0's tor_occupancy.all");
}

/* Cycles at or above a frequency of the wave */
static uint64_t cycles_at(const struct cat_event *e, unsigned int least,
			  uint64_t start, uint64_t cycles)
{
	uint64_t n = 0;

	for (uint64_t t = start; t < start + cycles; t++)
		n += e->wave[t % e->period] >= least;
	return n;
}

static void test_pcu_bands(void)
{
	static const unsigned int least[] = { 10, 17, 20, 33 };
	const struct cat_event *e[4];
	char text[4][64], pmu[PMU_NAME_MAX];
	const char *events[4];
	struct event_group g = { 0 };
	uint64_t values[4], start = sim_cycles();
	bool ok = pmu_name(pmu, "pcu", 0);

	for (unsigned int i = 0; i < 4; i++) {
		e[i] = cat_find_code("pcu", PCU_BAND0 + i, 0);
		if (!e[i] || !ok) {
			tap_skip("no such event", "pcu: frequency bands");
			return;
		}
		snprintf(text[i], sizeof(text[i]), "event=%#x,filter_band%u=%u",
			 PCU_BAND0 + i, i, least[i]);
		events[i] = text[i];
	}
	ok = check(!group_open(&g, pmu, pmu_cpu(pmu, 0), events, 4), "open");
	sim_advance(CYCLES);
	ok &= check(!group_read(&g, values, NULL), "read");
	for (unsigned int i = 0; ok && i < 4; i++)
		ok &= check_eq(values[i], cycles_at(e[i], least[i], start, CYCLES),
			       "%s", events[i]);
	group_close(&g);
	tap_ok(ok, "pcu: four frequency bands at once, of the wave's frequency");
}

/* --- Table 2-165 --------------------------------------------------------- */

struct pcu_case {
	unsigned int number;
	const char *what;
	const char *occupancy;		/* counter control 0, if used */
	struct shape shape;
	const char *other;		/* counter control 1, if used */
};

static const struct pcu_case pcu_cases[] = {
	{ 1, "cycles with a voltage transition", NULL, { 0 }, "event=0x03" },
	{ 2, "cores in C0", "event=0x80,occ_sel=1", { 0 }, NULL },
	{ 3, "cycles with more than 4 cores in C0",
	  "event=0x80,occ_sel=1,thresh=5", { .thresh = 5 }, NULL },
	{ 4, "transitions into more than 4 cores in C0",
	  "event=0x80,occ_sel=1,thresh=5,occ_edge=1",
	  { .thresh = 5, .edge = true }, NULL },
	{ 5, "cycles with more than 4 cores in C0, and with a voltage transition",
	  "event=0x80,occ_sel=1,thresh=5", { .thresh = 5 }, "event=0x03" },
	{ 6, "cycles with less than 4 cores in C0, and with 2.0 GHz or more",
	  "event=0x80,occ_sel=1,thresh=4,inv=1,occ_invert=1",
	  { .thresh = 4, .invert = true }, "event=0x0b,filter_band0=0x14" },
};

/* Does the table have the case's event? Broadwell has no voltage transitions. */
static bool has_event(const struct pcu_case *c)
{
	return !c->other || strcmp(c->other, "event=0x03") ||
	       cat_find_code("pcu", VOLTAGE, 0);
}

/* Count of the second counter: VOLTAGE has traffic as well, 0x0b a wave. */
static uint64_t other_count(const struct pcu_case *c, int pkg, uint64_t start,
			    uint64_t cycles)
{
	const struct cat_event *band = cat_find_code("pcu", PCU_BAND0, 0);
	const struct cat_event *volt = cat_find_code("pcu", VOLTAGE, 0);

	if (strstr(c->other, "band"))
		return cycles_at(band, 0x14, start, cycles);
	return 500 + pkg + cat_expect(volt, (struct shape){ 0 }, start, cycles);
}

static void test_pcu_case(const struct pcu_case *c, const struct cat_event *occ)
{
	const char *events[2];
	struct event_group g[MAX_PACKAGES] = { 0 };
	uint64_t a[MAX_PACKAGES][2], b[2], start;
	unsigned int n = 0;
	char pmu[PMU_NAME_MAX];
	bool ok = pmu_name(pmu, "pcu", 0);

	if (c->occupancy)
		events[n++] = c->occupancy;
	if (c->other)
		events[n++] = c->other;
	for (int p = 0; p < n_packages; p++) {
		int err = group_open(&g[p], pmu, pmu_cpu(pmu, p), events, n);

		ok &= check(!err, "open: %s", strerror(-err));
	}
	sim_advance(WARM_UP);
	for (int p = 0; ok && p < n_packages; p++)
		ok &= check(!group_read(&g[p], a[p], NULL), "read");
	start = sim_cycles();
	sim_advance(CYCLES);
	for (int p = 0; ok && p < n_packages; p++) {
		ok &= check(!sim_traffic("pkg=%d box=pcu event=0x03 count=%d", p,
					 500 + p), "traffic");
		ok &= check(!group_read(&g[p], b, NULL), "read");
		if (c->occupancy)
			ok &= check_eq(b[0] - a[p][0],
				       cat_expect(occ, c->shape, start, CYCLES),
				       "package %d: %s", p, c->occupancy);
		if (c->other)
			ok &= check_eq(b[n - 1] - a[p][n - 1],
				       other_count(c, p, start, CYCLES),
				       "package %d: %s", p, c->other);
	}
	for (int p = 0; p < n_packages; p++)
		group_close(&g[p]);
	tap_ok(ok, "pcu: Table 2-165 case %u: %s", c->number, c->what);
}

static void test_pcu_table(void)
{
	const struct cat_event *occ = cat_find_code("pcu", 0x80, 0x40);
	const struct cat_event *band = cat_find_code("pcu", PCU_BAND0, 0);

	for (size_t i = 0; i < sizeof(pcu_cases) / sizeof(*pcu_cases); i++) {
		const char *event = pcu_cases[i].occupancy;

		if (event && generation_lacks("pcu", event))
			tap_skip("no such field", "pcu: Table 2-165 case %zu",
				 i + 1);
		else if (!has_event(&pcu_cases[i]))
			tap_skip("no such event", "pcu: Table 2-165 case %zu",
				 i + 1);
		else if (occ && band)
			test_pcu_case(&pcu_cases[i], occ);
		else
			tap_skip("the catalogue has no PCU events",
				 "pcu: Table 2-165 case %zu", i + 1);
	}
}

int main(void)
{
	catalogue(NULL);
	machine_setup("clock=manual", "");
	n_packages = packages();
	if (n_packages > MAX_PACKAGES)
		n_packages = MAX_PACKAGES;
	for (unsigned int k = 0; k < BOX_TYPES && *box_types[k]; k++)
		test_every_box(box_types[k]);
	for (unsigned int k = 0; k < BOX_TYPES && *box_types[k]; k++)
		test_every_event(box_types[k]);
	test_constant_rate(false);
	test_constant_rate(true);
	test_residencies();
	test_fixed_beside_general("ubox", "uclk", 2);
	test_fixed_beside_general("imc", "dclk", 4);
	test_counter0_occupancy();
	test_pcu_bands();
	test_pcu_table();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which events may count together, and where: counter restrictions, filters as
 * shared resources, and equal events that share one counter. Where an event
 * went, the simulated control registers tell.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define CTL_SELECT	0x20ffffULL	/* event with extension, umask */
#define CTL_EN		(1ULL << 22)

enum { CYCLES = 1000, MAX_EVENTS = 8, PATIENCE_S = 30 };

/* --- helpers ------------------------------------------------------------- */

/* Counters (a bit each) of a box that are enabled for a control word's event. */
static unsigned int counters_with(const char *pmu, int pkg, uint64_t config)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t ctl = 0;
		char name[80];

		snprintf(name, sizeof(name), "%s ctl%u", pmu_box(pmu), i);
		if (sim_register(pkg, name, &ctl) && ctl & CTL_EN &&
		    (ctl & CTL_SELECT) == (config & CTL_SELECT))
			found |= 1U << i;
	}
	return found;
}

/*
 * How many general counters of a box are enabled. Where a register is control and
 * count at once, one that is not 0 is.
 */
static unsigned int counters_enabled(const char *pmu, int pkg)
{
	uint64_t enabled = generation_lacks("", "event") ? UINT64_MAX : CTL_EN;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t ctl = 0;
		char name[80];

		snprintf(name, sizeof(name), "%s ctl%u", pmu_box(pmu), i);
		n += sim_register(pkg, name, &ctl) && ctl & enabled;
	}
	return n;
}

/* Opens independent events, not a group; false and a comment if one fails. */
static bool open_all(int *fd, const char *pmu, int cpu,
		     const char *const *events, unsigned int n)
{
	bool ok = true;

	for (unsigned int i = 0; i < n; i++) {
		fd[i] = event_open(pmu, cpu, "%s", events[i]);
		ok &= check(fd[i] >= 0, "%s/%s/: %s", pmu, events[i],
			    strerror(-fd[i]));
	}
	return ok;
}

static void close_all(int *fd, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		close(fd[i]);
}

static bool unmultiplexed(int fd, const char *what)
{
	struct event_reading r;

	return check(!event_read(fd, &r), "%s: read", what) &&
	       check_eq(r.running, r.enabled, "%s: time running", what);
}

/* Polls for something that perf's rotation brings about. */
static bool wait_until(bool (*done)(void *arg), void *arg)
{
	time_t end = time(NULL) + PATIENCE_S;

	/* at no fixed moment of a turn: those may last as long as some sleep */
	for (unsigned int tries = 0; !done(arg); tries++) {
		if (time(NULL) > end)
			return false;
		usleep(700 * (1 + tries % 7));
	}
	return true;
}

/* --- counters ------------------------------------------------------------ */

static unsigned int general_counters(const char *kind)
{
	static const char *const two[] = { "ubox", "gbsq", "gsnpq" };

	for (unsigned int i = 0; i < COUNT(two); i++)
		if (!strcmp(kind, two[i]))
			return 2;
	return !strcmp(kind, "r3qpi") ? 3 : 4;
}

/* Alone, and with every other counter in use by unconstrained events. */
static bool lands_well(const struct cat_event *e, const char *pmu, int pkg,
		       unsigned int fillers)
{
	int cpu = pmu_cpu(pmu, pkg), fd, filler[4];
	unsigned int where;
	bool ok = true;

	for (unsigned int i = 0; i < fillers; i++)
		filler[i] = event_open(pmu, cpu, "event=0,thresh=%u,edge=%u",
				       1 + (i & 1), i >> 1);
	fd = event_open(pmu, cpu, "config=%#" PRIx64, e->config);
	ok &= check(fd >= 0, "%s: open: %s", e->name, strerror(-fd));
	where = counters_with(pmu, pkg, e->config);
	ok &= check(where && !(where & ~e->ctrs),
		    "%s with %u others is on counters %#x, may be on %#x",
		    e->name, fillers, where, e->ctrs);
	ok &= unmultiplexed(fd, e->name);
	for (unsigned int i = 0; i < fillers; i++) {
		ok &= unmultiplexed(filler[i], "an event beside it");
		close(filler[i]);
	}
	close(fd);
	return ok;
}

static void test_placement(const char *kind)
{
	unsigned int all = (1U << general_counters(kind)) - 1, n = 0;
	char pmu[PMU_NAME_MAX];
	size_t events;
	const struct cat_event *e = catalogue(&events);
	bool ok = true;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: restricted events", kind);
		return;
	}
	for (size_t i = 0; i < events; i++) {
		if (strcmp(e[i].box, kind) || e[i].fixed || e[i].free ||
		    e[i].ctrs == all)
			continue;
		n++;
		ok &= lands_well(&e[i], pmu, 0, 0);
		ok &= lands_well(&e[i], pmu, packages() - 1,
				 general_counters(kind) - 1);
	}
	if (n)
		tap_ok(ok, "%s: %u restricted events go only where they may",
		       kind, n);
	else
		tap_skip("it has none", "%s: restricted events", kind);
}

/*
 * Four events fill the box, one that is not on counter 0 ends, and then comes
 * one that needs counter 0: who is there must move, and loses nothing.
 */
static void test_moved_away(void)
{
	/* each cycle has one; none of those beyond it counts where inv is not */
	static const char *const with_inv[] = {
		"event=0", "event=0,thresh=1", "event=0,thresh=2,inv=1",
		"event=0,thresh=3,inv=1",
	}, *const without[] = {
		"event=0", "event=0,thresh=1", "event=0,thresh=2",
		"event=0,thresh=3",
	};
	bool inverts = !generation_lacks("cbox", "inv");
	const char *const *events = inverts ? with_inv : without;
	const struct cat_event *tor = cat_find_code("cbox", 0x36, 0x08);
	uint64_t start, gone = 2, ctl0 = 0;
	char pmu[PMU_NAME_MAX], name[80];
	int fd[4], last, cpu;
	bool ok;

	if (!tor || !pmu_name(pmu, "cbox", 2)) {
		tap_skip("no such event", "cbox: an event makes room");
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	snprintf(name, sizeof(name), "%s ctl0", pmu_box(pmu));
	ok = open_all(fd, pmu, cpu, events, 4);
	sim_advance(CYCLES);
	ok &= check(sim_register(0, name, &ctl0), "counter 0 is not in use");
	if (ctl0 >> 24 == 2)
		gone = 3;
	close(fd[gone]);
	start = sim_cycles();
	last = event_open(pmu, cpu, "event=0x36,umask=0x08");
	sim_advance(CYCLES);
	ok &= check_eq(counters_with(pmu, 0, 0x0836), 1, "tor_occupancy's counters");
	for (unsigned int i = 0; i < 4; i++) {
		if (i == gone)
			continue;
		ok &= check_eq(event_count(fd[i]),
			       inverts || i < 2 ? 2 * CYCLES : 0, "%s",
			       events[i]);
		ok &= unmultiplexed(fd[i], events[i]);
		close(fd[i]);
	}
	ok &= check_eq(event_count(last),
		       cat_expect(tor, (struct shape){ 0 }, start, CYCLES),
		       "tor_occupancy.all");
	ok &= unmultiplexed(last, "tor_occupancy.all");
	close(last);
	tap_ok(ok, "cbox: an event on counter 0 makes room for one that needs it");
}

/* --- as many as there are counters ---------------------------------------- */

/* Does an event ask for anything but itself: a filter, a threshold, an edge? */
static bool is_bare(const struct cat_event *e)
{
	bool selects = !generation_lacks(e->box, "event");

	return !e->config1 && !e->config2 &&
	       (!selects || !(e->config & ~CTL_SELECT));
}

/* Different events of a box that may be on any of its counters, and no others. */
static unsigned int find_different(const char *kind, const struct cat_event **found,
				   unsigned int most)
{
	unsigned int all = (1U << general_counters(kind)) - 1, n = 0;
	size_t events;
	const struct cat_event *e = catalogue(&events);

	for (size_t i = 0; i < events && n < most; i++) {
		bool seen = e[i].ctrs != all || !is_bare(&e[i]) ||
			    !cat_is_plain(&e[i], kind);

		for (unsigned int j = 0; j < n; j++)
			seen |= found[j]->config == e[i].config;
		if (!seen)
			found[n++] = &e[i];
	}
	return n;
}

static bool all_fit(const struct cat_event *const *e, const char *pmu, int pkg,
		    unsigned int n)
{
	uint64_t start = sim_cycles();
	int fd[MAX_EVENTS];
	bool ok = true;

	for (unsigned int i = 0; i < n; i++) {
		fd[i] = event_open(pmu, pmu_cpu(pmu, pkg), "%s", e[i]->string);
		ok &= check(fd[i] >= 0, "%s: %s", e[i]->name, strerror(-fd[i]));
	}
	ok &= check_eq(counters_enabled(pmu, pkg), n, "counters in use");
	sim_advance(CYCLES);
	for (unsigned int i = 0; ok && i < n; i++) {
		ok &= unmultiplexed(fd[i], e[i]->name);
		/* no other counter's count */
		if (cat_has_waves(e[i]->box))
			ok &= check_eq(event_count(fd[i]),
				       cat_expect(e[i], (struct shape){ 0 },
						  start, CYCLES),
				       "%s", e[i]->name);
	}
	close_all(fd, n);
	ok &= check_eq(counters_enabled(pmu, pkg), 0, "counters in use at last");
	return ok;
}

/* What a group of the first @n events comes to, 0 or -errno. */
static int group_of(const struct cat_event *const *e, const char *pmu, int pkg,
		    unsigned int n)
{
	const char *strings[MAX_EVENTS];
	struct event_group g;
	int err;

	for (unsigned int i = 0; i < n; i++)
		strings[i] = e[i]->string;
	err = group_open(&g, pmu, pmu_cpu(pmu, pkg), strings, n);
	if (!err)
		group_close(&g);
	return err;
}

static bool last_ran(void *arg)
{
	struct event_reading first, last;
	int *fd = arg;

	return !event_read(fd[0], &first) && !event_read(fd[1], &last) &&
	       first.running && last.running;
}

static bool take_turns(const struct cat_event *const *e, const char *pmu, int pkg,
		       unsigned int n)
{
	int fd[MAX_EVENTS], ends[2];
	bool ok = true;

	for (unsigned int i = 0; i < n; i++) {
		fd[i] = event_open(pmu, pmu_cpu(pmu, pkg), "%s", e[i]->string);
		ok &= check(fd[i] >= 0, "%s: %s", e[i]->name, strerror(-fd[i]));
	}
	ends[0] = fd[0];
	ends[1] = fd[n - 1];
	ok = ok && check(wait_until(last_ran, ends), "one of them never runs");
	close_all(fd, n);
	return ok;
}

static void test_full(const char *kind)
{
	unsigned int counters = general_counters(kind);
	const struct cat_event *e[MAX_EVENTS];
	char pmu[PMU_NAME_MAX];
	int pkg = packages() - 1;
	bool ok;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: a full box", kind);
		return;
	}
	if (find_different(kind, e, counters + 1) < counters + 1) {
		tap_skip("too few events", "%s: a full box", kind);
		return;
	}
	ok = all_fit(e, pmu, pkg, counters);
	ok &= check_eq(-group_of(e, pmu, pkg, counters), 0,
		       "a group of %u", counters);
	ok &= check_eq(-group_of(e, pmu, pkg, counters + 1), EINVAL,
		       "a group of one more");
	ok &= take_turns(e, pmu, pkg, counters + 1);
	tap_ok(ok, "%s: %u events fit, a group of one more does not, and alone they take turns",
	       kind, counters);
}

/* --- conflicts ----------------------------------------------------------- */

/* Two events that must not count at the same time, and traffic of each's own. */
struct conflict {
	const char *what, *kind;
	const char *event[2];
	const char *traffic[2];		/* NULL: only look at the times */
};

static const struct conflict conflicts[] = {
	{ "two events that need counter 0", "cbox",
	  { "event=0x36,umask=0x08", "event=0x11,umask=0x01" },
	  { "event=0x36 umask=0x08", "event=0x11 umask=0x01" } },
	{ "two opcodes", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x182",
	    "event=0x35,umask=0x01,filter_opc=0x180" },
	  { "event=0x35 umask=0x01 opc=0x182",
	    "event=0x35 umask=0x01 opc=0x180" } },
	{ "two states", "cbox",
	  { "event=0x34,umask=0x03,filter_state=0x1",
	    "event=0x34,umask=0x03,filter_state=0x10" },
	  { "event=0x34 umask=0x03 state=0x1",
	    "event=0x34 umask=0x03 state=0x10" } },
	{ "two nodes", "cbox",
	  { "event=0x35,umask=0x48,filter_nid=0x1",
	    "event=0x37,umask=0x41,filter_nid=0x2" },
	  { "event=0x35 umask=0x48 nid=0x1", "event=0x37 umask=0x41 nid=0x2" } },
	{ "two threads", "cbox",
	  { "event=0x35,umask=0x08,tid_en=1,filter_tid=2",
	    "event=0x13,umask=0x01,tid_en=1,filter_tid=3" },
	  { "event=0x35 umask=0x08 tid=2", "event=0x13 umask=0x01 tid=3" } },
	{ "two threads", "ubox",
	  { "event=0x42,umask=0x08,filter_tid=1",
	    "event=0x45,umask=0x01,filter_cid=1" },
	  { "event=0x42 umask=0x08 tid=1", "event=0x45 umask=0x01 tid=2" } },
	{ "two addresses", "ha",
	  { "event=0x20,umask=0x01,filter_addr=0x1000",
	    "event=0x20,umask=0x01,filter_addr=0x2000" },
	  { "event=0x20 umask=0x01 addr=0x1000",
	    "event=0x20 umask=0x01 addr=0x2000" } },
	{ "two opcodes", "ha",
	  { "event=0x20,umask=0x04,filter_opc=0x1",
	    "event=0x20,umask=0x08,filter_opc=0x2" },
	  { "event=0x20 umask=0x04 opc=0x1", "event=0x20 umask=0x08 opc=0x2" } },
	{ "two values of band 2", "pcu",
	  { "event=0x0d,filter_band2=20", "event=0x0d,filter_band2=30" },
	  { NULL, NULL } },
	{ "two packet filters", "qpi",
	  { "event=0x138,match_mc=0xe,mask_mc=0xf",
	    "event=0x138,match_mc=0xc,mask_mc=0xf" },
	  { "event=0x138 dir=rx match0=0x1c00",
	    "event=0x138 dir=rx match0=0x1800" } },
	{ "two packet masks of one match", "qpi",
	  { "event=0x138,match_mc=0xc,mask_mc=0x8",
	    "event=0x138,match_mc=0xc,mask_mc=0x4" },
	  { "event=0x138 dir=rx match0=0x1000",
	    "event=0x138 dir=rx match0=0x800" } },
};

/* Both have counted, so perf has given each of them a turn. */
static bool both_ran(void *arg)
{
	struct event_reading a, b;
	int *fd = arg;

	return !event_read(fd[0], &a) && !event_read(fd[1], &b) &&
	       a.running && b.running;
}

struct sender {
	const char *box, *traffic;
	int fd;
};

static bool counted(void *arg)
{
	struct sender *s = arg;

	return !sim_traffic("pkg=0 box=%s count=10 %s", s->box, s->traffic) &&
	       event_count(s->fd) > 0;
}

/* Not all generations have all events; of these all start with "event=". */
static bool known(const char *kind, const char *event)
{
	unsigned int code = 0;

	return sscanf(event, "event=%x", &code) == 1 && cat_has_code(kind, code);
}

/* The second box's PMU, or that of the only one. */
static bool any_pmu(char *pmu, const char *kind)
{
	return pmu_name(pmu, kind, 1) || pmu_name(pmu, kind, 0);
}

/* What this machine has not of what a test with @event wants, or NULL. */
static const char *lacking(const char *kind, const char *event)
{
	char pmu[PMU_NAME_MAX];

	if (!any_pmu(pmu, kind))
		return "no such PMU";
	if (!known(kind, event))
		return "no such event";
	return generation_lacks(kind, event) ? "no such field" : NULL;
}

static void test_conflict(const struct conflict *c)
{
	const char *lacks = lacking(c->kind, c->event[0]);
	struct event_reading first, second, last;
	char pmu[PMU_NAME_MAX];
	int fd[2];
	bool ok;

	if (lacks) {
		tap_skip(lacks, "%s: %s", c->kind, c->what);
		return;
	}
	any_pmu(pmu, c->kind);
	ok = open_all(fd, pmu, pmu_cpu(pmu, 0), c->event, 2);
	ok = ok && check(wait_until(both_ran, fd), "one of them never runs");
	for (unsigned int i = 0; ok && i < 2 && c->traffic[i]; i++) {
		struct sender s = { pmu_box(pmu), c->traffic[i], fd[i] };
		uint64_t other = event_count(fd[1 - i]);

		ok &= check(wait_until(counted, &s), "%s never counts its own",
			    c->event[i]);
		ok &= check_eq(event_count(fd[1 - i]), other,
			       "%s counts the other's traffic", c->event[1 - i]);
	}
	/* Turns do not overlap: together no longer than the first is open. */
	if (ok) {
		event_read(fd[0], &first);
		event_read(fd[1], &second);
		event_read(fd[0], &last);
		ok &= check(first.running + second.running <= last.enabled,
			    "they ran %" PRIu64 " and %" PRIu64 " of %" PRIu64 " ns",
			    first.running, second.running, last.enabled);
	}
	close_all(fd, 2);
	tap_ok(ok, "%s: %s never count together", c->kind, c->what);
}

/* --- no conflict --------------------------------------------------------- */

/* Events whose filters are independent, or the same. */
struct company {
	const char *what, *kind;
	const char *event[4];
	const char *traffic[4];
	uint64_t count[4];	/* of traffic; NULL traffic: nothing is expected */
};

static const struct company companies[] = {
	{ "opcode and state", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x182",
	    "event=0x34,umask=0x03,filter_state=0x10" },
	  { "event=0x35 umask=0x01 opc=0x182", "event=0x34 umask=0x03 state=0x10" },
	  { 13, 29 } },
	{ "node and thread", "cbox",
	  { "event=0x37,umask=0x41,filter_nid=0x2",
	    "event=0x13,umask=0x01,tid_en=1,filter_tid=7" },
	  { "event=0x37 umask=0x41 nid=0x2", "event=0x13 umask=0x01 tid=7" },
	  { 37, 53 } },
	{ "opcode, state, node and thread", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x182",
	    "event=0x34,umask=0x03,filter_state=0x10",
	    "event=0x37,umask=0x41,filter_nid=0x2",
	    "event=0x13,umask=0x01,tid_en=1,filter_tid=7" },
	  { "event=0x35 umask=0x01 opc=0x182", "event=0x34 umask=0x03 state=0x10",
	    "event=0x37 umask=0x41 nid=0x2", "event=0x13 umask=0x01 tid=7" },
	  { 11, 23, 31, 47 } },
	{ "one opcode in two events", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x181",
	    "event=0x36,umask=0x01,filter_opc=0x181" },
	  { "event=0x35 umask=0x01 opc=0x181", "event=0x36 umask=0x01 opc=0x181" },
	  { 101, 203 } },
	{ "address of one, opcode of the other", "ha",
	  { "event=0x20,umask=0x01,filter_addr=0x1000",
	    "event=0x20,umask=0x04,filter_opc=0x1" },
	  { "event=0x20 umask=0x01 addr=0x1000", "event=0x20 umask=0x04 opc=0x1" },
	  { 19, 43 } },
	{ "four bands", "pcu",
	  { "event=0x0b,filter_band0=12", "event=0x0c,filter_band1=20",
	    "event=0x0d,filter_band2=28", "event=0x0e,filter_band3=36" },
	  { "event=0x0b freq=12", "event=0x0c freq=20", "event=0x0d freq=28",
	    "event=0x0e freq=36" },
	  { 3, 5, 7, 9 } },
	{ "a packet filter and events without one", "qpi",
	  { "event=0x138,match_mc=0xe,mask_mc=0xf", "event=0x14", "event=0x08",
	    "event=0x13,umask=0x01" },
	  { "event=0x138 dir=rx match0=0x1c00" }, { 61 } },
};

/* Counters that some events with these codes may have, of the first @n. */
static unsigned int room(const struct company *c, unsigned int n)
{
	unsigned int ctrs = 0;
	size_t events;
	const struct cat_event *e = catalogue(&events);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int code = strtoul(c->event[i] + strlen("event="),
					    NULL, 0);

		for (size_t j = 0; j < events; j++)
			if (!strcmp(e[j].box, c->kind) && e[j].code == code)
				ctrs |= e[j].ctrs;
	}
	return __builtin_popcount(ctrs);
}

static void test_company(const struct company *c)
{
	const char *lacks = lacking(c->kind, c->event[0]);
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	int fd[4];
	bool ok;

	while (n < 4 && c->event[n])
		n++;
	if (!lacks && room(c, n) < n)
		lacks = "fewer counters may have them";
	if (lacks) {
		tap_skip(lacks, "%s: %s", c->kind, c->what);
		return;
	}
	any_pmu(pmu, c->kind);
	ok = open_all(fd, pmu, pmu_cpu(pmu, 0), c->event, n);
	for (unsigned int i = 0; i < n; i++)
		if (c->traffic[i])
			ok &= check(!sim_traffic("pkg=0 box=%s count=%" PRIu64 " %s",
						 pmu_box(pmu), c->count[i],
						 c->traffic[i]), "traffic");
	for (unsigned int i = 0; i < n; i++) {
		if (c->traffic[i])
			ok &= check_eq(event_count(fd[i]), c->count[i], "%s",
				       c->event[i]);
		ok &= unmultiplexed(fd[i], c->event[i]);
	}
	close_all(fd, n);
	tap_ok(ok, "%s: %s count together", c->kind, c->what);
}

/* --- equal events -------------------------------------------------------- */

static void test_copies(const char *kind, unsigned int index,
			const char *event, unsigned int others)
{
	static const char *const beside[] = {
		"event=0,thresh=1,edge=1", "event=0,thresh=2", "event=0,thresh=3",
	};
	char pmu[PMU_NAME_MAX];
	int copy[5], other[3];
	uint64_t count;
	bool ok = true;
	int pkg;

	pkg = packages() - 1;
	if (!pmu_name(pmu, kind, index)) {
		tap_skip("no such PMU", "%s: five copies", kind);
		return;
	}
	/* The package's CPUs take turns: a counter belongs to the box. */
	for (unsigned int i = 0; i < 5; i++) {
		int cpu = package_cpu(pkg, i % 2);

		if (cpu < 0)
			cpu = pmu_cpu(pmu, pkg);
		copy[i] = event_open(pmu, cpu, "%s", event);
		ok &= check(copy[i] >= 0, "copy %u: %s", i, strerror(-copy[i]));
	}
	ok &= open_all(other, pmu, pmu_cpu(pmu, pkg), beside, others);
	ok &= check_eq(counters_enabled(pmu, pkg), 1 + others, "counters in use");
	sim_advance(CYCLES);
	count = event_count(copy[0]);
	ok &= check(count > 0, "nothing is counted");
	for (unsigned int i = 0; i < 5; i++) {
		ok &= check_eq(event_count(copy[i]), count, "copy %u", i);
		ok &= unmultiplexed(copy[i], "copy");
	}
	for (unsigned int i = 0; i < others; i++)
		ok &= unmultiplexed(other[i], "an event beside them");
	close_all(copy, 5);
	close_all(other, others);
	ok &= check_eq(counters_enabled(pmu, pkg), 0, "counters in use at last");
	tap_ok(ok, "%s: five copies of one event beside %u others use one counter",
	       pmu, others);
}

/* Each counts from its own opening on, and until its own end. */
static void test_copies_come_and_go(const char *kind)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;
	int fd[3], cpu;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: copies come and go", kind);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	for (unsigned int i = 0; i < 3; i++) {
		fd[i] = event_open(pmu, cpu, "event=0");
		ok &= check(fd[i] >= 0, "copy %u: %s", i, strerror(-fd[i]));
		sim_advance(100);
	}
	for (unsigned int i = 0; i < 3; i++) {
		ok &= check_eq(event_count(fd[i]), 300, "copy %u", i);
		close(fd[i]);
		sim_advance(100);
	}
	tap_ok(ok, "%s: copies that come and go count from and to their own time",
	       pmu);
}

/* Copies in one group take one counter, so six members fit a box of four. */
static void test_copies_in_group(const char *kind)
{
	static const char *const with_inv[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2,inv=1", "event=0", "event=0,thresh=3,inv=1",
	}, *const without[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2", "event=0", "event=0,thresh=3",
	};
	bool inverts = !generation_lacks(kind, "inv");
	const char *const *events = inverts ? with_inv : without;
	struct event_group g = { 0 };
	uint64_t values[COUNT(with_inv)];
	struct event_reading times;
	char pmu[PMU_NAME_MAX];
	bool ok;
	int err;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: copies in a group", kind);
		return;
	}
	err = group_open(&g, pmu, pmu_cpu(pmu, 0), events, COUNT(with_inv));
	ok = check(!err, "open: %s", strerror(-err));
	sim_advance(CYCLES);
	ok = ok && check(!group_read(&g, values, &times), "read");
	for (unsigned int i = 0; ok && i < COUNT(with_inv); i++)
		ok &= check_eq(values[i], inverts || (i != 3 && i != 5) ?
			       CYCLES : 0, "%s", events[i]);
	if (ok)
		ok &= check_eq(times.running, times.enabled, "time running");
	group_close(&g);
	tap_ok(ok, "%s: a group of %zu with copies among them", pmu,
	       COUNT(with_inv));
}

int main(void)
{
	catalogue(NULL);
	machine_setup("clock=manual", "");
	for (unsigned int k = 0; k < BOX_KINDS && *box_kinds[k]; k++)
		test_placement(box_kinds[k]);
	for (unsigned int k = 0; k < BOX_KINDS && *box_kinds[k]; k++)
		test_full(box_kinds[k]);
	test_moved_away();
	for (unsigned int i = 0; i < COUNT(conflicts); i++)
		test_conflict(&conflicts[i]);
	for (unsigned int i = 0; i < COUNT(companies); i++)
		test_company(&companies[i]);
	test_copies("cbox", 5, "event=0", 0);
	test_copies("cbox", 5, "event=0", 3);
	test_copies("imc", 3, "event=0", 3);
	test_copies("r3qpi", 2, "event=0x01", 2);
	test_copies("sbox", 1, "event=0", 3);
	test_copies_come_and_go("cbox");
	test_copies_come_and_go("imc");
	test_copies_in_group("cbox");
	test_copies_in_group("ha");
	return tap_end();
}

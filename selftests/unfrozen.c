// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events come and go in boxes that count on meanwhile, because they have stood
 * still for as long as they may (freeze_budget=0 and what there was at first used
 * up): the events beside them miss nothing, and the new ones count themselves
 * alone, from their first cycle on, also where a control register takes effect
 * with its second write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum {
	MOST_OPENS = 100000,	/* that may be needed to use a budget up */
	MOST_EVENTS = 16,	/* of a kind, one after the other */
	MOST_RATES = 100,	/* a box has room for some more */
	CYCLES = 1009,
	ROUNDS = 200,
};

static int open_event(const char *pmu, const struct cat_event *e)
{
	return event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64
			  ",config1=%#" PRIx64 ",config2=%#" PRIx64, e->config,
			  e->config1, e->config2);
}

/*
 * Has the box counting and frozen again and again, until the driver leaves it
 * running. What has no box control (the UBox) is never frozen.
 */
static bool use_up(const char *pmu, const struct cat_event *beside)
{
	uint64_t before = package_stat(0, "group_unfrozen");

	if (!strcmp(pmu_box(pmu), "ubox"))
		return true;
	for (unsigned int i = 0; i < MOST_OPENS; i++) {
		close(open_event(pmu, beside));
		if (package_stat(0, "group_unfrozen") > before)
			return true;
	}
	return check(false, "%s is still frozen after %u events", pmu,
		     MOST_OPENS);
}

/* --- counts, with the manual clock --------------------------------------- */

/* One event beside another; the next one takes the counter that it leaves. */
static bool counts_beside(const char *pmu, const struct cat_event *e,
			  int anchor, const struct cat_event *anchor_event)
{
	uint64_t start = sim_cycles(), want, before = event_count(anchor);
	int fd = open_event(pmu, e);
	bool ok;

	if (!check(fd >= 0, "%s/%s/: %s", pmu, e->name, strerror(-fd)))
		return false;
	ok = check(!sim_advance(CYCLES), "advance");
	want = cat_expect(e, (struct shape){ 0 }, start, CYCLES);
	ok &= check_eq(event_count(fd), want, "%s/%s/", pmu, e->name);
	close(fd);
	ok &= check(!sim_advance(CYCLES), "advance");
	want = cat_expect(anchor_event, (struct shape){ 0 }, start, 2 * CYCLES);
	return ok & check_eq(event_count(anchor) - before, want,
			     "%s/%s/ beside %s", pmu, anchor_event->name,
			     e->name);
}

static void test_counts(const char *kind)
{
	const struct cat_event *anchor_event = plain_of(kind), *e;
	unsigned int events = 0;
	uint64_t unfrozen;
	char pmu[PMU_NAME_MAX];
	int anchor;
	size_t n;
	bool ok;

	if (!anchor_event || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: counts", kind);
		return;
	}
	anchor = open_event(pmu, anchor_event);
	ok = check(anchor >= 0, "%s opens", pmu);
	e = catalogue(&n);
	for (size_t i = 0; ok && i < n && events < MOST_EVENTS; i++) {
		if (!cat_is_plain(&e[i], kind) || &e[i] == anchor_event)
			continue;
		if (!events)
			ok &= use_up(pmu, &e[i]);
		unfrozen = package_stat(0, "group_unfrozen");
		ok &= counts_beside(pmu, &e[i], anchor, anchor_event);
		ok &= check(package_stat(0, "group_unfrozen") > unfrozen ||
			    !strcmp(kind, "ubox"), "%s was frozen", pmu);
		events++;
	}
	if (anchor >= 0)
		close(anchor);
	if (ok && !events)
		tap_skip("it has no other event", "%s: counts", kind);
	else
		tap_ok(ok, "%s: %u events come and go while it runs, and all counts are exact",
		       pmu, events);
}

/* --- nothing of another event, while time goes on -------------------------- */

/*
 * All that the kind can count happens in every cycle, but for two events: what
 * these count is something else.
 */
static bool all_but(const char *kind, const struct cat_event *a,
		    const struct cat_event *b)
{
	unsigned int taken = 0;
	size_t n;
	const struct cat_event *e = catalogue(&n);

	if (!check(!sim_rates("off") && !sim_rates("on"), "rates"))
		return false;
	for (size_t i = 0; i < n && taken < MOST_RATES; i++) {
		if (strcmp(e[i].box, kind) || e[i].fixed || e[i].free ||
		    e[i].code == a->code || e[i].code == b->code)
			continue;
		if (sim_rates("pkg=0 box=%s event=%#x umask=%#x rate=1", kind,
			      e[i].code, e[i].umask))
			return check(false, "%s has no rate", e[i].name);
		taken++;
	}
	/* with any unit mask, where the kind has an event 0 at all */
	if (a->code && b->code)
		sim_rates("pkg=0 box=%s event=0 umask=0xff rate=1",
				  kind);
	return check(taken, "no other event happens");
}

/*
 * Another event than these, and not the one whose code is 0: that is what a
 * counter that is off would count if only its enable bit took effect.
 */
static const struct cat_event *other_than(const char *kind,
					  const struct cat_event *a,
					  const struct cat_event *b)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (cat_is_plain(&e[i], kind) && e[i].code &&
		    e[i].code != a->code && (!b || e[i].code != b->code))
			return &e[i];
	return NULL;
}

static void test_nothing_else(const char *kind, const char *errata)
{
	const struct cat_event *rest = plain_of(kind), *quiet, *busy;
	uint64_t counted = 0;
	char pmu[PMU_NAME_MAX];
	unsigned int rounds;
	int anchor;
	bool ok;

	quiet = rest ? other_than(kind, rest, NULL) : NULL;
	busy = quiet ? other_than(kind, rest, quiet) : NULL;
	if (!busy || !pmu_name(pmu, kind, 0)) {
		tap_skip("too few events, or no box", "%s: nothing else", kind);
		return;
	}
	ok = all_but(kind, rest, quiet);
	anchor = open_event(pmu, rest);
	ok = ok && check(anchor >= 0, "%s opens", pmu) && use_up(pmu, busy);
	for (rounds = 0; ok && rounds < ROUNDS; rounds++) {
		int fd = open_event(pmu, busy);

		counted += event_count(fd);
		close(fd);
		fd = open_event(pmu, quiet);
		ok &= check_eq(event_count(fd), 0, "round %u: %s, which does not happen",
			       rounds, quiet->name);
		close(fd);
	}
	ok &= check(counted, "%s happens in every cycle and was not counted",
		    busy->name);
	ok &= check_eq(event_count(anchor), 0, "%s, which does not happen",
		       rest->name);
	close(anchor);
	tap_ok(ok, "%s: in %u changes of a counter while it runs nothing else is counted (%s needs a second write)",
	       pmu, rounds, errata);
}

int main(void)
{
	static const char *const errata[] = { "select", "whole" };
	char params[64];

	catalogue(NULL);
	machine_setup("clock=manual", "");
	if (driver_freeze_budget(0))
		tap_bail("freeze_budget");
	for (unsigned int k = 0; k < BOX_KINDS; k++)
		test_counts(box_kinds[k]);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(params, sizeof(params), "clock=real errata=%s",
			 errata[i]);
		machine_setup(params, "");
		if (driver_freeze_budget(0))
			tap_bail("freeze_budget");
		for (unsigned int k = 0; k < BOX_KINDS; k++)
			test_nothing_else(box_kinds[k], errata[i]);
	}
	return tap_end();
}

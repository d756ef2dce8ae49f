// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events are opened and closed in boxes that the driver does not freeze, because the
 * freeze budget is used up (freeze_budget=0, and the initial budget spent). The other
 * events of the box must not lose counts. A new event must count only its own
 * increments, from its first cycle on, also where a control register takes effect at
 * its second write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	MOST_OPENS = 100000,	/* events that use up the budget, at most */
	MOST_EVENTS = 16,	/* tested events of a box type */
	MOST_RATES = 100,	/* the simulator has room for some more rates of a box */
	CYCLES = 1009,
	ROUNDS = 200,
};

static void load(struct __test_metadata *_metadata, const char *sim_params)
{
	machine_setup_once(sim_params, "");
	ASSERT_EQ(0, -driver_freeze_budget(0));
}

static int open_event(const char *pmu, const struct cat_event *e)
{
	return event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64
			  ",config1=%#" PRIx64 ",config2=%#" PRIx64, e->config,
			  e->config1, e->config2);
}

/*
 * Return whether the box has a control register that freezes the box: the UBox has
 * none.
 */
static bool has_box_control(const char *pmu)
{
	return strcmp(pmu_box(pmu), "ubox");
}

/*
 * Open and close an event, for which the driver freezes the box, until the budget is
 * used up and the driver leaves the box running.
 */
static bool use_up(const char *pmu, const struct cat_event *beside)
{
	uint64_t before = package_stat(0, "group_unfrozen");

	if (!has_box_control(pmu))
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

/*
 * Count an event beside the event @anchor and close it, so that the next event gets the
 * same counter. Both counts must be exact.
 */
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

FIXTURE_OF(unfrozen, load(_metadata, "clock=manual"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(unfrozen) { const char *type; };

VARIANTS_OF_TYPES(unfrozen);

TEST_F(unfrozen, events_come_and_go_and_all_counts_are_exact)
{
	const struct cat_event *anchor_event = plain_of(variant->type), *e;
	unsigned int events = 0;
	uint64_t unfrozen;
	char pmu[PMU_NAME_MAX];
	int anchor;
	size_t n;

	ASSERT_NE(NULL, anchor_event);
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	anchor = open_event(pmu, anchor_event);
	ASSERT_GE(anchor, 0);
	e = catalogue(&n);
	for (size_t i = 0; i < n && events < MOST_EVENTS; i++) {
		if (!cat_is_plain(&e[i], variant->type) || &e[i] == anchor_event)
			continue;
		if (!events) {
			ASSERT_TRUE(use_up(pmu, &e[i]));
		}
		unfrozen = package_stat(0, "group_unfrozen");
		ASSERT_TRUE(counts_beside(pmu, &e[i], anchor, anchor_event));
		if (has_box_control(pmu)) {
			ASSERT_GT(package_stat(0, "group_unfrozen"), unfrozen) {
				TH_LOG("%s was frozen", pmu);
			}
		}
		events++;
	}
	close(anchor);
	if (!events)
		SKIP(return, "it has no other event");
}

/* --- no count of another event, while real time passes --------------------- */

/*
 * Let all events of the box type occur in every cycle, except events @a and @b: any
 * count of these is an error.
 */
static bool set_rates_except(const char *type, const struct cat_event *a,
			     const struct cat_event *b)
{
	unsigned int taken = 0;
	size_t n;
	const struct cat_event *e = catalogue(&n);

	if (!check(!sim_rates("off") && !sim_rates("on"), "rates"))
		return false;
	for (size_t i = 0; i < n && taken < MOST_RATES; i++) {
		if (strcmp(e[i].box, type) || e[i].fixed || e[i].free ||
		    e[i].code == a->code || e[i].code == b->code)
			continue;
		if (sim_rates("pkg=0 box=%s event=%#x umask=%#x rate=1", type,
			      e[i].code, e[i].umask))
			return check(false, "%s has no rate", e[i].name);
		taken++;
	}
	/* event 0 with any unit mask, whether or not the box type has an event 0 */
	if (a->code && b->code)
		sim_rates("pkg=0 box=%s event=0 umask=0xff rate=1", type);
	return check(taken, "no other event happens");
}

/*
 * Return a plain event of the box type other than @a and @b. Not the event with code 0: a
 * counter would count it if only the enable bit of the control register took effect.
 */
static const struct cat_event *other_than(const char *type,
					  const struct cat_event *a,
					  const struct cat_event *b)
{
	for_each_cat_event(e)
		if (cat_is_plain(e, type) && e->code &&
		    e->code != a->code && (!b || e->code != b->code))
			return e;
	return NULL;
}

/*
 * Open and close events @busy, which occurs, and @quiet, which does not, in turn in the
 * same counter: neither @quiet nor the event beside them may count.
 */
static void expect_nothing_else(struct __test_metadata *_metadata,
				const char *type)
{
	const struct cat_event *rest = plain_of(type), *quiet, *busy;
	uint64_t counted = 0;
	char pmu[PMU_NAME_MAX];
	int anchor, fd;

	quiet = rest ? other_than(type, rest, NULL) : NULL;
	busy = quiet ? other_than(type, rest, quiet) : NULL;
	if (!busy || !pmu_name(pmu, type, 0))
		SKIP(return, "too few events, or no box");
	ASSERT_TRUE(set_rates_except(type, rest, quiet));
	anchor = open_event(pmu, rest);
	ASSERT_GE(anchor, 0);
	ASSERT_TRUE(use_up(pmu, busy));
	for (unsigned int round = 0; round < loops(ROUNDS); round++) {
		fd = open_event(pmu, busy);
		counted += event_count(fd);
		close(fd);
		fd = open_event(pmu, quiet);
		ASSERT_EQ(0, event_count(fd)) {
			TH_LOG("round %u: %s, which does not happen", round,
			       quiet->name);
		}
		close(fd);
	}
	EXPECT_GT(counted, 0) {
		TH_LOG("%s happens in every cycle", busy->name);
	}
	EXPECT_EQ(0, event_count(anchor)) {
		TH_LOG("%s does not happen", rest->name);
	}
	close(anchor);
}

FIXTURE_OF(select_written_twice, load(_metadata, "clock=real errata=select"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(select_written_twice) { const char *type; };

VARIANTS_OF_TYPES(select_written_twice);

TEST_F(select_written_twice, nothing_else_is_counted)
{
	expect_nothing_else(_metadata, variant->type);
}

FIXTURE_OF(whole_written_twice, load(_metadata, "clock=real errata=whole"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(whole_written_twice) { const char *type; };

VARIANTS_OF_TYPES(whole_written_twice);

TEST_F(whole_written_twice, nothing_else_is_counted)
{
	expect_nothing_else(_metadata, variant->type);
}

TEST_HARNESS_MAIN

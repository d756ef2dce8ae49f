// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counter restrictions: an event gets only a counter that the catalogue allows, other
 * events move to make room, and events beyond the number of counters are multiplexed.
 * The simulated control registers show the counter of each event.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/multiplexing.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=manual", "");

#define NO_SHAPE	((struct shape){ 0 })
#define CTL_SELECT	0x20ffffULL	/* event with extension, umask */
#define CTL_EN		(1ULL << 22)

enum { CYCLES = 1000, MAX_EVENTS = 8 };

/*
 * Return the counters of a box, a bit each, whose control register is enabled and selects
 * the event of the control word @config.
 */
static unsigned int counters_with(const char *pmu, int pkg, uint64_t config)
{
	unsigned int counters = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t ctl = 0;
		char name[80];

		snprintf(name, sizeof(name), "%s ctl%u", pmu_box(pmu), i);
		if (sim_register(pkg, name, &ctl) && ctl & CTL_EN &&
		    (ctl & CTL_SELECT) == (config & CTL_SELECT))
			counters |= 1U << i;
	}
	return counters;
}

/* --- restricted events ---------------------------------------------------- */

/*
 * Open @e beside @fillers unrestricted events, and check that its counter is one that the
 * catalogue allows. No event may be multiplexed.
 */
static bool lands_well(const struct cat_event *e, const char *pmu, int pkg,
		       unsigned int fillers)
{
	int cpu = pmu_cpu(pmu, pkg), fd, filler[4];
	unsigned int counters;
	bool ok = true;

	for (unsigned int i = 0; i < fillers; i++)
		filler[i] = event_open(pmu, cpu, "event=0,thresh=%u,edge=%u",
				       1 + (i & 1), i >> 1);
	fd = event_open(pmu, cpu, "config=%#" PRIx64, e->config);
	ok &= check(fd >= 0, "%s: open: %s", e->name, strerror(-fd));
	counters = counters_with(pmu, pkg, e->config);
	ok &= check(counters && !(counters & ~e->ctrs),
		    "%s with %u others is on counters %#x, may be on %#x",
		    e->name, fillers, counters, e->ctrs);
	ok &= event_unmultiplexed(fd, e->name);
	for (unsigned int i = 0; i < fillers; i++) {
		ok &= event_unmultiplexed(filler[i], "an event beside it");
		close(filler[i]);
	}
	close(fd);
	return ok;
}

FIXTURE(type)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(type) { const char *type; };
VARIANTS_OF_TYPES(type);

FIXTURE_SETUP(type)
{
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
}

FIXTURE_TEARDOWN(type) { }

/*
 * counter0_occupancy counts only beside an occupancy on counter 0, which no event of
 * lands_well() is; exact.c tests it.
 */
static bool needs_an_occupancy(const struct cat_event *e)
{
	return !strcmp(e->name, "counter0_occupancy");
}

TEST_F(type, restricted_events_go_only_where_they_may)
{
	unsigned int counters = box_type(variant->type)->general, n = 0;

	for_each_cat_event(e) {
		if (strcmp(e->box, variant->type) || e->fixed || e->free ||
		    e->ctrs == (1U << counters) - 1 || needs_an_occupancy(e))
			continue;
		n++;
		EXPECT_TRUE(lands_well(e, self->pmu, 0, 0));
		EXPECT_TRUE(lands_well(e, self->pmu, packages() - 1,
				       counters - 1));
	}
	if (!n)
		SKIP(return, "it has none");
}

PLAIN_FIXTURE(cbox);

/*
 * Four events fill the box, and an event that is not on counter 0 is closed. Then an
 * event that needs counter 0 is opened: the event on counter 0 must move to the free
 * counter, and must not lose counts.
 */
TEST_F(cbox, event_on_counter_0_makes_room_for_one_that_needs_it)
{
	/*
	 * Event 0 adds one in each cycle. With a threshold of 2 or 3 it counts only if
	 * inv is set.
	 */
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
	uint64_t start, closed = 2, ctl0 = 0;
	char pmu[PMU_NAME_MAX], name[80];
	int fd[4], last, cpu;

	if (!tor || !pmu_name(pmu, "cbox", 2))
		SKIP(return, "no such event");
	cpu = pmu_cpu(pmu, 0);
	snprintf(name, sizeof(name), "%s ctl0", pmu_box(pmu));
	ASSERT_TRUE(events_open(fd, pmu, cpu, events, 4));
	sim_advance(CYCLES);
	EXPECT_TRUE(sim_register(0, name, &ctl0)) {
		TH_LOG("counter 0 is not in use");
	}
	if (ctl0 >> 24 == 2)
		closed = 3;
	close(fd[closed]);
	start = sim_cycles();
	last = event_open(pmu, cpu, "event=0x36,umask=0x08");
	ASSERT_GE(last, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(1, counters_with(pmu, 0, 0x0836)) {
		TH_LOG("tor_occupancy's counters");
	}
	for (unsigned int i = 0; i < 4; i++) {
		if (i == closed)
			continue;
		EXPECT_EQ(inverts || i < 2 ? 2 * CYCLES : 0, event_count(fd[i])) {
			TH_LOG("%s", events[i]);
		}
		EXPECT_TRUE(event_unmultiplexed(fd[i], events[i]));
		close(fd[i]);
	}
	EXPECT_EQ(cat_expect(tor, NO_SHAPE, start, CYCLES), event_count(last)) {
		TH_LOG("tor_occupancy.all");
	}
	EXPECT_TRUE(event_unmultiplexed(last, "tor_occupancy.all"));
	close(last);
}

/* --- as many events as there are counters --------------------------------- */

/* Return whether an event needs neither a filter nor a threshold nor an edge. */
static bool is_bare(const struct cat_event *e)
{
	bool selects = !generation_lacks(e->box, "event");

	return !e->config1 && !e->config2 &&
	       (!selects || !(e->config & ~CTL_SELECT));
}

/*
 * Find up to @most different events of a box type that may use each of its counters and
 * need no filter. Return their number.
 */
static unsigned int find_different(const char *type, const struct cat_event **different,
				   unsigned int most)
{
	unsigned int any_counter = (1U << box_type(type)->general) - 1, n = 0;
	size_t events;
	const struct cat_event *e = catalogue(&events);

	for (size_t i = 0; i < events && n < most; i++) {
		bool unfit = e[i].ctrs != any_counter || !is_bare(&e[i]) ||
			    !cat_is_plain(&e[i], type);

		for (unsigned int j = 0; j < n; j++)
			unfit |= different[j]->config == e[i].config;
		if (!unfit)
			different[n++] = &e[i];
	}
	return n;
}

/* Check that @n events count at the same time, each with a counter of its own. */
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
		ok &= event_unmultiplexed(fd[i], e[i]->name);
		/* an event that reads another event's counter has a wrong count */
		if (cat_has_waves(e[i]->box))
			ok &= check_eq(event_count(fd[i]),
				       cat_expect(e[i], NO_SHAPE, start,
						  CYCLES),
				       "%s", e[i]->name);
	}
	events_close(fd, n);
	ok &= check_eq(counters_enabled(pmu, pkg), 0, "counters in use at last");
	return ok;
}

/* Open and close a group of the first @n events. Return 0 or -errno. */
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

/*
 * Open @n events, one more than the box has counters, and check that the kernel's
 * rotation gives a counter to the first event and to the last.
 */
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
	ok = ok && check(wait_for_rotation(both_ran, ends), "one of them never runs");
	events_close(fd, n);
	return ok;
}

/*
 * As many events as there are counters count at the same time. One event more is
 * multiplexed, and a group with one event more is refused.
 */
TEST_F(type, full_box_has_events_take_turns)
{
	unsigned int counters = box_type(variant->type)->general;
	const struct cat_event *e[MAX_EVENTS];
	int pkg = packages() - 1;

	if (find_different(variant->type, e, counters + 1) < counters + 1)
		SKIP(return, "too few events");
	EXPECT_TRUE(all_fit(e, self->pmu, pkg, counters));
	EXPECT_EQ(0, -group_of(e, self->pmu, pkg, counters));
	EXPECT_EQ(EINVAL, -group_of(e, self->pmu, pkg, counters + 1));
	EXPECT_TRUE(take_turns(e, self->pmu, pkg, counters + 1));
}

TEST_HARNESS_MAIN

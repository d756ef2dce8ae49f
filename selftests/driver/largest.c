// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No event loses counts by its rate. Each event of a box type adds in every cycle as much as
 * any event of the type can, whatever the catalogue says of this event, while the simulated
 * clock runs in real time. The driver must not take the growth for the write of another
 * program.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=real", "");

enum {
	MOST_RATE = 255,	/* of the simulator */
	COUNT_US = 4000,
};

FIXTURE(type)
{
	char pmu[PMU_NAME_MAX];
	unsigned int most;	/* largest increment of the type's events */
};

FIXTURE_VARIANT(type) { const char *type; };

FIXTURE_SETUP(type)
{
	if (!pmu_name(self->pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	/* the events of a group are read at one instant */
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	for_each_cat_event(e)
		if (!strcmp(e->box, variant->type) && e->max_inc > self->most)
			self->most = e->max_inc;
	if (self->most > MOST_RATE)
		self->most = MOST_RATE;
}

FIXTURE_TEARDOWN(type)
{
	EXPECT_EQ(0, -sim_rates("off"));
}

/* Two events of the UBox, which cannot be frozen, are not read in the same cycle. */
VARIANT_OF_TYPE(type, cbox);
VARIANT_OF_TYPE(type, sbox);
VARIANT_OF_TYPE(type, ha);
VARIANT_OF_TYPE(type, imc);
VARIANT_OF_TYPE(type, irp);
VARIANT_OF_TYPE(type, pcu);
VARIANT_OF_TYPE(type, qpi);
VARIANT_OF_TYPE(type, r2pcie);
VARIANT_OF_TYPE(type, r3qpi);

/*
 * Return whether a counter of the box type is read as one register. Of other counters the
 * driver reads the lower half only, for a time in which an event that adds 1 in a cycle
 * cannot count 2^32.
 */
static bool is_read_at_once(const char *type)
{
	return !strcmp(type, "cbox") || !strcmp(type, "sbox") || !strcmp(type, "pcu");
}

/* Open a group of @e and an event of another code that has a counter beside @e. */
static const struct cat_event *open_pair(const char *pmu, const struct cat_event *e,
					 struct event_group *group)
{
	int cpu = pmu_cpu(pmu, 0);

	for_each_cat_event(other) {
		const char *const events[] = { other->string, e->string };

		if (!cat_is_plain(other, e->box) || other->code == e->code)
			continue;
		if (!group_open(group, pmu, cpu, events, 2))
			return other;
	}
	return NULL;
}

/* Count @e at @rate beside an event that adds 1 in every cycle. */
static void expect_all(struct __test_metadata *_metadata, const char *pmu,
		       const struct cat_event *e, unsigned int rate)
{
	const struct cat_event *other;
	struct event_group group;
	uint64_t begin[2], end[2];

	other = open_pair(pmu, e, &group);
	ASSERT_TRUE(other != NULL) {
		TH_LOG("%s: no event has a counter beside it", e->name);
	}
	ASSERT_EQ(0, -sim_rates("off"));
	ASSERT_EQ(0, -sim_rates("on"));
	ASSERT_EQ(0, -sim_rates("pkg=0 box=%s event=%#x umask=%#x rate=1", e->box,
				other->code, other->umask));
	ASSERT_EQ(0, -sim_rates("pkg=0 box=%s event=%#x umask=%#x rate=%u", e->box,
				e->code, e->umask, rate));
	ASSERT_EQ(0, -group_read(&group, begin, NULL));
	usleep(COUNT_US);
	ASSERT_EQ(0, -group_read(&group, end, NULL));
	group_close(&group);
	EXPECT_GT(end[0], begin[0]);
	EXPECT_EQ((end[0] - begin[0]) * rate, end[1] - begin[1]) {
		TH_LOG("%s at %u in a cycle", e->name, rate);
	}
}

TEST_F(type, counts_at_the_largest_increment)
{
	uint64_t writes = package_stat(0, "foreign_writes");
	bool at_once = is_read_at_once(variant->type);
	unsigned int last = ~0u, events = 0;

	for_each_cat_event(e) {
		if (!cat_is_plain(e, variant->type) || e->code == last || e->config1 ||
		    e->config2 || (e->max_inc == 1 && !at_once))
			continue;
		last = e->code;
		expect_all(_metadata, self->pmu, e, self->most);
		events++;
	}
	EXPECT_EQ(writes, package_stat(0, "foreign_writes"));
	if (!events)
		SKIP(return, "no event adds more than 1 in a cycle");
}

TEST_HARNESS_MAIN

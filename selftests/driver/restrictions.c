// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rules for events that count together: counter restrictions, filters as shared
 * resources, and equal events that share one counter. The simulated control registers
 * show the counter of each event.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=manual", "");

#define NO_SHAPE	((struct shape){ 0 })
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
 * Number of enabled general counters of a box. Where one register has both control and
 * count, a counter is enabled if the register is not 0.
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

/*
 * Open independent events, not a group. Return false and print a comment if one fails.
 */
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

/* Poll for a state that perf's rotation brings about. */
static bool wait_until(bool (*done)(void *arg), void *arg)
{
	time_t end = time(NULL) + PATIENCE_S;

	/* at random moments: a rotation interval may be as long as a sleep */
	for (unsigned int tries = 0; !done(arg); tries++) {
		if (time(NULL) > end)
			return false;
		usleep(700 * (1 + tries % 7));
	}
	return true;
}

/* --- counters ------------------------------------------------------------ */

static unsigned int general_counters(const char *type)
{
	static const char *const two[] = { "ubox", "irp", "gbsq", "gsnpq" };

	for (unsigned int i = 0; i < ARRAY_SIZE(two); i++)
		if (!strcmp(type, two[i]))
			return 2;
	return !strcmp(type, "r3qpi") ? 3 : 4;
}

/* Alone, and with all other counters in use by unrestricted events. */
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

FIXTURE(type)
{
	char pmu[PMU_NAME_MAX];
	bool there;
};

FIXTURE_VARIANT(type) { const char *type; };
VARIANTS_OF_ALL_TYPES(type);

FIXTURE_SETUP(type)
{
	self->there = pmu_name(self->pmu, variant->type, 0);
}

FIXTURE_TEARDOWN(type) { }

TEST_F(type, restricted_events_go_only_where_they_may)
{
	unsigned int counters = general_counters(variant->type), n = 0;

	if (!self->there)
		SKIP(return, "no such PMU");
	for_each_cat_event(e) {
		if (strcmp(e->box, variant->type) || e->fixed || e->free ||
		    e->ctrs == (1U << counters) - 1)
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
 * Four events fill the box, one that is not on counter 0 is closed, and then an event
 * that needs counter 0 is opened. The event on counter 0 must move, and loses no count.
 */
TEST_F(cbox, event_on_counter_0_makes_room_for_one_that_needs_it)
{
	/* each cycle has one increment; beyond it nothing counts unless inv is set */
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

	if (!tor || !pmu_name(pmu, "cbox", 2))
		SKIP(return, "no such event");
	cpu = pmu_cpu(pmu, 0);
	snprintf(name, sizeof(name), "%s ctl0", pmu_box(pmu));
	ASSERT_TRUE(open_all(fd, pmu, cpu, events, 4));
	sim_advance(CYCLES);
	EXPECT_TRUE(sim_register(0, name, &ctl0)) {
		TH_LOG("counter 0 is not in use");
	}
	if (ctl0 >> 24 == 2)
		gone = 3;
	close(fd[gone]);
	start = sim_cycles();
	last = event_open(pmu, cpu, "event=0x36,umask=0x08");
	ASSERT_GE(last, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(1, counters_with(pmu, 0, 0x0836)) {
		TH_LOG("tor_occupancy's counters");
	}
	for (unsigned int i = 0; i < 4; i++) {
		if (i == gone)
			continue;
		EXPECT_EQ(inverts || i < 2 ? 2 * CYCLES : 0, event_count(fd[i])) {
			TH_LOG("%s", events[i]);
		}
		EXPECT_TRUE(unmultiplexed(fd[i], events[i]));
		close(fd[i]);
	}
	EXPECT_EQ(cat_expect(tor, NO_SHAPE, start, CYCLES), event_count(last)) {
		TH_LOG("tor_occupancy.all");
	}
	EXPECT_TRUE(unmultiplexed(last, "tor_occupancy.all"));
	close(last);
}

/* --- as many events as there are counters --------------------------------- */

/* Return whether an event needs a filter, a threshold or an edge. */
static bool is_bare(const struct cat_event *e)
{
	bool selects = !generation_lacks(e->box, "event");

	return !e->config1 && !e->config2 &&
	       (!selects || !(e->config & ~CTL_SELECT));
}

/* Different events of a box that may use any of its counters, and need no filter */
static unsigned int find_different(const char *type, const struct cat_event **found,
				   unsigned int most)
{
	unsigned int all = (1U << general_counters(type)) - 1, n = 0;
	size_t events;
	const struct cat_event *e = catalogue(&events);

	for (size_t i = 0; i < events && n < most; i++) {
		bool seen = e[i].ctrs != all || !is_bare(&e[i]) ||
			    !cat_is_plain(&e[i], type);

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
		/* not the count of another counter */
		if (cat_has_waves(e[i]->box))
			ok &= check_eq(event_count(fd[i]),
				       cat_expect(e[i], NO_SHAPE, start,
						  CYCLES),
				       "%s", e[i]->name);
	}
	close_all(fd, n);
	ok &= check_eq(counters_enabled(pmu, pkg), 0, "counters in use at last");
	return ok;
}

/* Open a group of the first @n events. Return 0 or -errno. */
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

/* As many events as there are counters fit, and a group of one more does not. */
TEST_F(type, full_box_has_events_take_turns)
{
	unsigned int counters = general_counters(variant->type);
	const struct cat_event *e[MAX_EVENTS];
	int pkg = packages() - 1;

	if (!self->there)
		SKIP(return, "no such PMU");
	if (find_different(variant->type, e, counters + 1) < counters + 1)
		SKIP(return, "too few events");
	EXPECT_TRUE(all_fit(e, self->pmu, pkg, counters));
	EXPECT_EQ(0, -group_of(e, self->pmu, pkg, counters));
	EXPECT_EQ(EINVAL, -group_of(e, self->pmu, pkg, counters + 1));
	EXPECT_TRUE(take_turns(e, self->pmu, pkg, counters + 1));
}

/* --- conflicts ----------------------------------------------------------- */

/* Two events that must not count at the same time, and traffic of each */
PLAIN_FIXTURE(conflict);

FIXTURE_VARIANT(conflict)
{
	const char *type;
	const char *event[2];
	const char *traffic[2];		/* NULL: check only the times */
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_events_that_need_counter_0)
{
	.type = "cbox",
	.event = { "event=0x36,umask=0x08", "event=0x11,umask=0x01" },
	.traffic = { "event=0x36 umask=0x08", "event=0x11 umask=0x01" },
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_opcodes)
{
	.type = "cbox",
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x35,umask=0x01,filter_opc=0x180",
	},
	.traffic = { "event=0x35 umask=0x01 opc=0x182", "event=0x35 umask=0x01 opc=0x180" },
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_states)
{
	.type = "cbox",
	.event = {
		"event=0x34,umask=0x03,filter_state=0x1",
		"event=0x34,umask=0x03,filter_state=0x10",
	},
	.traffic = { "event=0x34 umask=0x03 state=0x1", "event=0x34 umask=0x03 state=0x10" },
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_nodes)
{
	.type = "cbox",
	.event = { "event=0x35,umask=0x48,filter_nid=0x1", "event=0x37,umask=0x41,filter_nid=0x2" },
	.traffic = { "event=0x35 umask=0x48 nid=0x1", "event=0x37 umask=0x41 nid=0x2" },
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_threads)
{
	.type = "cbox",
	.event = {
		"event=0x35,umask=0x08,tid_en=1,filter_tid=2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=3",
	},
	.traffic = { "event=0x35 umask=0x08 tid=2", "event=0x13 umask=0x01 tid=3" },
};

FIXTURE_VARIANT_ADD(conflict, ubox_two_threads)
{
	.type = "ubox",
	.event = { "event=0x42,umask=0x08,filter_tid=1", "event=0x45,umask=0x01,filter_cid=1" },
	.traffic = { "event=0x42 umask=0x08 tid=1", "event=0x45 umask=0x01 tid=2" },
};

FIXTURE_VARIANT_ADD(conflict, ha_two_addresses)
{
	.type = "ha",
	.event = {
		"event=0x20,umask=0x01,filter_addr=0x1000",
		"event=0x20,umask=0x01,filter_addr=0x2000",
	},
	.traffic = { "event=0x20 umask=0x01 addr=0x1000", "event=0x20 umask=0x01 addr=0x2000" },
};

FIXTURE_VARIANT_ADD(conflict, ha_two_opcodes)
{
	.type = "ha",
	.event = { "event=0x20,umask=0x04,filter_opc=0x1", "event=0x20,umask=0x08,filter_opc=0x2" },
	.traffic = { "event=0x20 umask=0x04 opc=0x1", "event=0x20 umask=0x08 opc=0x2" },
};

FIXTURE_VARIANT_ADD(conflict, pcu_two_values_of_band_2)
{
	.type = "pcu",
	.event = { "event=0x0d,filter_band2=20", "event=0x0d,filter_band2=30" },
};

FIXTURE_VARIANT_ADD(conflict, qpi_two_packet_filters)
{
	.type = "qpi",
	.event = { "event=0x138,match_mc=0xe,mask_mc=0xf", "event=0x138,match_mc=0xc,mask_mc=0xf" },
	.traffic = { "event=0x138 dir=rx match0=0x1c00", "event=0x138 dir=rx match0=0x1800" },
};

FIXTURE_VARIANT_ADD(conflict, qpi_two_packet_masks_of_one_match)
{
	.type = "qpi",
	.event = { "event=0x138,match_mc=0xc,mask_mc=0x8", "event=0x138,match_mc=0xc,mask_mc=0x4" },
	.traffic = { "event=0x138 dir=rx match0=0x1000", "event=0x138 dir=rx match0=0x800" },
};

/* Both have counted, so perf has scheduled each of them. */
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

/*
 * Not all generations have all events; the strings of the common ones start with
 * "event=".
 */
static bool known(const char *type, const char *event)
{
	unsigned int code = 0;

	return sscanf(event, "event=%x", &code) == 1 && cat_has_code(type, code);
}

/* The PMU of the second box, or of the only one */
static bool any_pmu(char *pmu, const char *type)
{
	return pmu_name(pmu, type, 1) || pmu_name(pmu, type, 0);
}

/* Return the missing feature that a test with @event needs, or NULL. */
static const char *lacking(const char *type, const char *event)
{
	char pmu[PMU_NAME_MAX];

	if (!any_pmu(pmu, type))
		return "no such PMU";
	if (!known(type, event))
		return "no such event";
	return generation_lacks(type, event) ? "no such field" : NULL;
}

TEST_F(conflict, never_count_together)
{
	const char *lacks = lacking(variant->type, variant->event[0]);
	struct event_reading first, second, last;
	char pmu[PMU_NAME_MAX];
	int fd[2];

	if (lacks)
		SKIP(return, "%s", lacks);
	any_pmu(pmu, variant->type);
	ASSERT_TRUE(open_all(fd, pmu, pmu_cpu(pmu, 0), variant->event, 2));
	ASSERT_TRUE(wait_until(both_ran, fd)) {
		TH_LOG("one of them never runs");
	}
	for (unsigned int i = 0; i < 2 && variant->traffic[i]; i++) {
		struct sender s = { pmu_box(pmu), variant->traffic[i], fd[i] };
		uint64_t other = event_count(fd[1 - i]);

		ASSERT_TRUE(wait_until(counted, &s)) {
			TH_LOG("%s never counts its own", variant->event[i]);
		}
		ASSERT_EQ(other, event_count(fd[1 - i])) {
			TH_LOG("%s counts the other's traffic",
			       variant->event[1 - i]);
		}
	}
	/*
	 * Their times do not overlap: the sum is not longer than the first event is
	 * open.
	 */
	ASSERT_EQ(0, -event_read(fd[0], &first));
	ASSERT_EQ(0, -event_read(fd[1], &second));
	ASSERT_EQ(0, -event_read(fd[0], &last));
	EXPECT_LE(first.running + second.running, last.enabled);
	close_all(fd, 2);
}

/* --- no conflict --------------------------------------------------------- */

/* Events whose filters are independent, or the same. */
PLAIN_FIXTURE(company);

FIXTURE_VARIANT(company)
{
	const char *type;
	const char *event[4];
	const char *traffic[4];
	uint64_t count[4];	/* of traffic; NULL traffic: nothing is expected */
};

FIXTURE_VARIANT_ADD(company, cbox_opcode_and_state)
{
	.type = "cbox", .count = { 13, 29 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x34,umask=0x03,filter_state=0x10",
	},
	.traffic = { "event=0x35 umask=0x01 opc=0x182", "event=0x34 umask=0x03 state=0x10" },
};

FIXTURE_VARIANT_ADD(company, cbox_node_and_thread)
{
	.type = "cbox", .count = { 37, 53 },
	.event = {
		"event=0x37,umask=0x41,filter_nid=0x2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=7",
	},
	.traffic = { "event=0x37 umask=0x41 nid=0x2", "event=0x13 umask=0x01 tid=7" },
};

FIXTURE_VARIANT_ADD(company, cbox_opcode_state_node_and_thread)
{
	.type = "cbox", .count = { 11, 23, 31, 47 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x34,umask=0x03,filter_state=0x10",
		"event=0x37,umask=0x41,filter_nid=0x2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=7",
	},
	.traffic = {
		"event=0x35 umask=0x01 opc=0x182",
		"event=0x34 umask=0x03 state=0x10",
		"event=0x37 umask=0x41 nid=0x2",
		"event=0x13 umask=0x01 tid=7",
	},
};

FIXTURE_VARIANT_ADD(company, cbox_one_opcode_in_two_events)
{
	.type = "cbox", .count = { 101, 203 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x181",
		"event=0x36,umask=0x01,filter_opc=0x181",
	},
	.traffic = { "event=0x35 umask=0x01 opc=0x181", "event=0x36 umask=0x01 opc=0x181" },
};

FIXTURE_VARIANT_ADD(company, ha_address_of_one_opcode_of_the_other)
{
	.type = "ha", .count = { 19, 43 },
	.event = {
		"event=0x20,umask=0x01,filter_addr=0x1000",
		"event=0x20,umask=0x04,filter_opc=0x1",
	},
	.traffic = { "event=0x20 umask=0x01 addr=0x1000", "event=0x20 umask=0x04 opc=0x1" },
};

FIXTURE_VARIANT_ADD(company, pcu_four_bands)
{
	.type = "pcu", .count = { 3, 5, 7, 9 },
	.event = {
		"event=0x0b,filter_band0=12",
		"event=0x0c,filter_band1=20",
		"event=0x0d,filter_band2=28",
		"event=0x0e,filter_band3=36",
	},
	.traffic = {
		"event=0x0b freq=12",
		"event=0x0c freq=20",
		"event=0x0d freq=28",
		"event=0x0e freq=36",
	},
};

FIXTURE_VARIANT_ADD(company, qpi_a_packet_filter_and_events_without_one)
{
	.type = "qpi", .count = { 61 },
	.event = {
		"event=0x138,match_mc=0xe,mask_mc=0xf",
		"event=0x14",
		"event=0x08",
		"event=0x13,umask=0x01",
	},
	.traffic = { "event=0x138 dir=rx match0=0x1c00" },
};

/* Counters, of the first @n, that some events with these codes may use */
static unsigned int room(const FIXTURE_VARIANT(company) *c, unsigned int n)
{
	unsigned int ctrs = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int code = strtoul(c->event[i] + strlen("event="),
					    NULL, 0);

		for_each_cat_event(e)
			if (!strcmp(e->box, c->type) && e->code == code)
				ctrs |= e->ctrs;
	}
	return __builtin_popcount(ctrs);
}

TEST_F(company, count_together)
{
	const char *lacks = lacking(variant->type, variant->event[0]);
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	int fd[4];

	while (n < 4 && variant->event[n])
		n++;
	if (!lacks && room(variant, n) < n)
		lacks = "fewer counters may have them";
	if (lacks)
		SKIP(return, "%s", lacks);
	any_pmu(pmu, variant->type);
	ASSERT_TRUE(open_all(fd, pmu, pmu_cpu(pmu, 0), variant->event, n));
	for (unsigned int i = 0; i < n; i++) {
		if (!variant->traffic[i])
			continue;
		ASSERT_EQ(0, -sim_traffic("pkg=0 box=%s count=%" PRIu64 " %s",
					  pmu_box(pmu), variant->count[i],
					  variant->traffic[i]));
	}
	for (unsigned int i = 0; i < n; i++) {
		if (variant->traffic[i]) {
			EXPECT_EQ(variant->count[i], event_count(fd[i])) {
				TH_LOG("%s", variant->event[i]);
			}
		}
		EXPECT_TRUE(unmultiplexed(fd[i], variant->event[i]));
	}
	close_all(fd, n);
}

/* --- equal events -------------------------------------------------------- */

PLAIN_FIXTURE(copies);

/* Five equal events, with others in the box. */
FIXTURE_VARIANT(copies)
{
	const char *type, *event;
	unsigned int index, others;
};

FIXTURE_VARIANT_ADD(copies, cbox_alone)
{
	.type = "cbox", .index = 5, .event = "event=0",
};

FIXTURE_VARIANT_ADD(copies, cbox)
{
	.type = "cbox", .index = 5, .event = "event=0", .others = 3,
};

FIXTURE_VARIANT_ADD(copies, imc)
{
	.type = "imc", .index = 3, .event = "event=0", .others = 3,
};

FIXTURE_VARIANT_ADD(copies, r3qpi)
{
	.type = "r3qpi", .index = 2, .event = "event=0x01", .others = 2,
};

FIXTURE_VARIANT_ADD(copies, sbox)
{
	.type = "sbox", .index = 1, .event = "event=0", .others = 3,
};

TEST_F(copies, use_one_counter)
{
	static const char *const beside[] = {
		"event=0,thresh=1,edge=1", "event=0,thresh=2", "event=0,thresh=3",
	};
	unsigned int others = variant->others;
	int copy[5], other[3], pkg = packages() - 1;
	char pmu[PMU_NAME_MAX];
	uint64_t count;

	if (!pmu_name(pmu, variant->type, variant->index))
		SKIP(return, "no such PMU");
	/* The CPUs of the package alternate: a counter belongs to the box. */
	for (unsigned int i = 0; i < 5; i++) {
		int cpu = package_cpu(pkg, i % 2);

		if (cpu < 0)
			cpu = pmu_cpu(pmu, pkg);
		copy[i] = event_open(pmu, cpu, "%s", variant->event);
		ASSERT_GE(copy[i], 0) {
			TH_LOG("copy %u: %s", i, strerror(-copy[i]));
		}
	}
	ASSERT_TRUE(open_all(other, pmu, pmu_cpu(pmu, pkg), beside, others));
	EXPECT_EQ(1 + others, counters_enabled(pmu, pkg));
	sim_advance(CYCLES);
	count = event_count(copy[0]);
	EXPECT_GT(count, 0);
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_EQ(count, event_count(copy[i])) {
			TH_LOG("copy %u", i);
		}
		EXPECT_TRUE(unmultiplexed(copy[i], "copy"));
	}
	for (unsigned int i = 0; i < others; i++)
		EXPECT_TRUE(unmultiplexed(other[i], "an event beside them"));
	close_all(copy, 5);
	close_all(other, others);
	EXPECT_EQ(0, counters_enabled(pmu, pkg));
}

PLAIN_FIXTURE(copies_of);
FIXTURE_VARIANT(copies_of) { const char *type; };
VARIANT_OF_TYPE(copies_of, cbox);
VARIANT_OF_TYPE(copies_of, imc);

/* Each event counts from its open to its close. */
TEST_F(copies_of, come_and_go)
{
	char pmu[PMU_NAME_MAX];
	int fd[3], cpu;

	if (!pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	cpu = pmu_cpu(pmu, 0);
	for (unsigned int i = 0; i < 3; i++) {
		fd[i] = event_open(pmu, cpu, "event=0");
		ASSERT_GE(fd[i], 0) {
			TH_LOG("copy %u: %s", i, strerror(-fd[i]));
		}
		sim_advance(100);
	}
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(300, event_count(fd[i])) {
			TH_LOG("copy %u", i);
		}
		close(fd[i]);
		sim_advance(100);
	}
}

PLAIN_FIXTURE(group_with_copies);
FIXTURE_VARIANT(group_with_copies) { const char *type; };
VARIANT_OF_TYPE(group_with_copies, cbox);
VARIANT_OF_TYPE(group_with_copies, ha);

/* Equal events take one counter, so six members fit a box of four. */
TEST_F(group_with_copies, counts)
{
	static const char *const with_inv[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2,inv=1", "event=0", "event=0,thresh=3,inv=1",
	}, *const without[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2", "event=0", "event=0,thresh=3",
	};
	bool inverts = !generation_lacks(variant->type, "inv");
	const char *const *events = inverts ? with_inv : without;
	struct event_group g = { 0 };
	uint64_t values[ARRAY_SIZE(with_inv)];
	struct event_reading times;
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	ASSERT_EQ(0, -group_open(&g, pmu, pmu_cpu(pmu, 0), events,
				 ARRAY_SIZE(with_inv)));
	sim_advance(CYCLES);
	ASSERT_EQ(0, -group_read(&g, values, &times));
	for (unsigned int i = 0; i < ARRAY_SIZE(with_inv); i++) {
		EXPECT_EQ(inverts || (i != 3 && i != 5) ? CYCLES : 0, values[i]) {
			TH_LOG("%s", events[i]);
		}
	}
	EXPECT_EQ(times.enabled, times.running);
	group_close(&g);
}

TEST_HARNESS_MAIN

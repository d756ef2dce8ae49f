// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features that only Xeon 7100 and 7400 have: a register that has both a counter and its
 * control, events of look-ups and snoops with conditions that must all hold, bus
 * sub-events that are ORed, and one register that freezes all boxes of a package.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define BIT(n)		(1ULL << (n))
#define NO_SHAPE	((struct shape){ 0 })

/* SDM 3B, §18.24.1 and §18.24.5 */
enum {
	MSR_FIRST = 0x107cc,
	MSR_LAST = 0x107d3,
	MSR_GLOBAL = 0x107d8,
	GLOBAL_FREEZE = 1,
	GLOBAL_UNFREEZE = 2,
	CYCLES = 1009,
	PACKAGE = 1,		/* the package of most tests */
};

static bool is_7400(void)
{
	return !strcmp(generation()->name, "xeon7400");
}

static void __attribute__((constructor)) need_frontside(void)
{
	if (!generation()->one_a_cycle)
		tap_skip_all("neither Xeon 7100 nor 7400");
	if (packages() <= PACKAGE)
		tap_skip_all("needs two packages");
}

/* Fixtures that load the simulator with other parameters come last. */
MACHINE_OF_ALL_TESTS("clock=manual", "");

/* --- conditions ----------------------------------------------------------- */

/* A format field of an event, and the key of sim_traffic() that the field selects by */
struct condition {
	const char *field, *key;
	unsigned int bits;
};

static const struct condition lookup_conditions[] = {
	{ "agent", "agent", 4 }, { "flow", "flow", 2 }, { "type", "type", 6 },
	{ "snoop", "snoop", 3 }, { "state", "state", 7 }, { NULL, NULL, 0 },
};

static const struct condition snoop_conditions[] = {
	{ "agent", "agent", 6 }, { "type", "type", 6 }, { "snoop", "snoop", 3 },
	{ "state", "state", 7 }, { NULL, NULL, 0 },
};

/* Return the number of agents of a format field, which leaves out reserved bits. */
static unsigned int agents(const char *type)
{
	if (!strcmp(type, "gbsq"))
		return is_7400() ? 3 : 4;
	return is_7400() ? 4 : 6;
}

/*
 * Return the bit of a transaction's agent for agent @i of the format field. The snoop
 * agents of Xeon 7400 are bits 0 to 2 and 5; bits 3 and 4 are reserved.
 */
static unsigned int agent_bit(const char *type, unsigned int i)
{
	return !strcmp(type, "gsnpq") && is_7400() && i == 3 ? 5 : i;
}

/*
 * Write an event string whose fields pass all transactions, except for @field, which
 * passes only @value.
 */
static void event_with(char *text, size_t size, const char *type,
		       const struct condition *conditions, const char *field,
		       unsigned int value)
{
	size_t at = 0;

	for (const struct condition *c = conditions; c->field; c++) {
		unsigned int bits = !strcmp(c->field, "agent") ? agents(type) :
								 c->bits;

		at += snprintf(text + at, size - at, "%s%s=%#x",
			       at ? "," : "", c->field,
			       !strcmp(c->field, field) ? value :
							  (1U << bits) - 1);
	}
}

/* Send @n transactions in which @key has bit @bit, and each other key bit 0. */
static bool send_one_bit(const char *type, const struct condition *conditions,
			 const char *key, unsigned int bit, uint64_t n)
{
	char text[256];
	size_t at = 0;

	for (const struct condition *c = conditions; c->field; c++)
		at += snprintf(text + at, sizeof(text) - at, " %s=%#x", c->key,
			       !strcmp(c->key, key) ? 1U << bit : 1);
	return !sim_traffic("pkg=%d box=%s count=%" PRIu64 "%s", PACKAGE, type,
			    n, text);
}

PLAIN_FIXTURE(conditions);

FIXTURE_VARIANT(conditions)
{
	const char *type, *field;
	const struct condition *all;	/* conditions of the box type */
};

#define LOOKUP(name)							\
	FIXTURE_VARIANT_ADD(conditions, gbsq_##name) {			\
		.type = "gbsq", .field = #name, .all = lookup_conditions, \
	}
#define SNOOP(name)							\
	FIXTURE_VARIANT_ADD(conditions, gsnpq_##name) {			\
		.type = "gsnpq", .field = #name, .all = snoop_conditions, \
	}

LOOKUP(agent);
LOOKUP(flow);
LOOKUP(type);
LOOKUP(snoop);
LOOKUP(state);
SNOOP(agent);
SNOOP(type);
SNOOP(snoop);
SNOOP(state);

/*
 * Each bit of a field passes its own transactions only. One event has a single bit of the
 * field and another event has all other bits: together they count every transaction once.
 */
TEST_F(conditions, bits_count_their_own)
{
	bool agent = !strcmp(variant->field, "agent");
	const struct condition *c = variant->all;
	char pmu[PMU_NAME_MAX], single[256], rest[256];
	const char *type = variant->type;
	unsigned int bits;

	while (strcmp(c->field, variant->field))
		c++;
	bits = agent ? agents(type) : c->bits;
	ASSERT_TRUE(pmu_name(pmu, type, 0));
	for (unsigned int i = 0; i < bits; i++) {
		uint64_t others = 0;
		int fd[2];

		event_with(single, sizeof(single), type, variant->all, c->field,
			   1U << i);
		event_with(rest, sizeof(rest), type, variant->all, c->field,
			   ((1U << bits) - 1) & ~(1U << i));
		fd[0] = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s", single);
		fd[1] = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s", rest);
		ASSERT_GE(fd[0], 0) {
			TH_LOG("%s/%s/ %s", pmu, single, strerror(-fd[0]));
		}
		ASSERT_GE(fd[1], 0) {
			TH_LOG("%s/%s/ %s", pmu, rest, strerror(-fd[1]));
		}
		for (unsigned int j = 0; j < bits; j++) {
			ASSERT_TRUE(send_one_bit(type, variant->all, c->key,
						 agent ? agent_bit(type, j) : j,
						 100 + j));
			others += j == i ? 0 : 100 + j;
		}
		EXPECT_EQ(100 + i, event_count(fd[0])) {
			TH_LOG("%s", single);
		}
		EXPECT_EQ(others, event_count(fd[1])) {
			TH_LOG("%s", rest);
		}
		close(fd[0]);
		close(fd[1]);
	}
}

/*
 * Fields that hold a number and not a bit mask. For each value of the field, the expected
 * count of transactions of all values; 10^(v+1) transactions have value v.
 */
PLAIN_FIXTURE(numbers);

FIXTURE_VARIANT(numbers)
{
	const char *type, *key;
	unsigned int from;		/* the first value of the field */
	uint64_t want[4], want_7400[4];	/* want_7400: if Xeon 7400 differs */
};

FIXTURE_VARIANT_ADD(numbers, gbsq_core)
{
	.type = "gbsq", .key = "core", .want = { 11110, 100, 1000, 10000 },
};

FIXTURE_VARIANT_ADD(numbers, gbsq_fill)
{
	.type = "gbsq", .key = "fill", .want = { 11010, 11000, 1000, 10000 },
};

/*
 * Values 4 to 7 select on Xeon 7100 cores: just one, this one, the other one, both. On
 * Xeon 7400 they select modules: 1, 1 or more, 2 or more, 3.
 */
FIXTURE_VARIANT_ADD(numbers, gsnpq_core_from_4)
{
	.type = "gsnpq", .key = "core", .from = 4,
	.want = { 1100, 100, 1000, 10000 },
	.want_7400 = { 100, 11100, 11000, 10000 },
};

FIXTURE_VARIANT_ADD(numbers, gsnpq_core_off)
{
	.type = "gsnpq", .key = "core", .want = { 11110, 11110, 11110, 11110 },
};

TEST_F(numbers, values_count_their_own)
{
	const struct cat_event *any = cat_find(variant->type,
					       !strcmp(variant->type, "gbsq") ?
					       "lookups.any" : "snoops.any");
	const uint64_t *want = is_7400() && variant->want_7400[0] ?
			       variant->want_7400 : variant->want;
	const char *key = variant->key, *field = key;
	char pmu[PMU_NAME_MAX];

	if (!strcmp(key, "core") && is_7400())
		field = "module";
	ASSERT_NE(NULL, any);
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	for (unsigned int value = 0; value < 4; value++) {
		uint64_t n = 10;
		int fd = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s,%s=%u",
				    any->name, field, variant->from + value);

		ASSERT_GE(fd, 0) {
			TH_LOG("%s=%u: %s", field, variant->from + value,
			       strerror(-fd));
		}
		for (unsigned int attr = 0; attr < 4; attr++, n *= 10) {
			/* a fill is with or without an eviction */
			if (!strcmp(key, "fill") && attr == 1)
				continue;
			ASSERT_EQ(0, -sim_traffic("pkg=%d box=%s agent=1 flow=1 type=1 snoop=1 state=1 %s=%u count=%" PRIu64,
						  PACKAGE, variant->type, key,
						  attr, n));
		}
		EXPECT_EQ(want[value], event_count(fd)) {
			TH_LOG("%s/%s=%u/", pmu, field, variant->from + value);
		}
		close(fd);
	}
}

/* --- the bus -------------------------------------------------------------- */

FIXTURE(fsb)
{
	char pmu[PMU_NAME_MAX];
	int cpu;
};

FIXTURE_SETUP(fsb)
{
	ASSERT_TRUE(pmu_name(self->pmu, "fsb", 0));
	self->cpu = pmu_cpu(self->pmu, PACKAGE);
}

FIXTURE_TEARDOWN(fsb)
{
	driver_freeze_budget(10);
}

/* A counter of several sub-events adds one in each cycle in which any of them occurs. */
TEST_F(fsb, sub_events_are_ored_cycle_by_cycle)
{
	static const char *const names[] = { "dbsy", "bnr", "l_hit", "l_defer" };
	const struct cat_event *e[ARRAY_SIZE(names)];
	uint64_t submask = 0, want = 0, start = sim_cycles();
	int fd;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		e[i] = cat_find("fsb", names[i]);
		ASSERT_NE(NULL, e[i]);
		submask |= e[i]->config;
	}
	for (uint64_t t = start; t < start + CYCLES; t++) {
		unsigned int any = 0;

		for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
			any |= e[i]->wave[t % e[i]->period];
		want += any != 0;
	}
	fd = event_open(self->pmu, self->cpu, "config=%#" PRIx64, submask);
	ASSERT_GE(fd, 0) {
		TH_LOG("open: %s", strerror(-fd));
	}
	sim_advance(CYCLES);
	EXPECT_EQ(want, event_count(fd));
	close(fd);
}

/* --- one register that freezes all boxes ---------------------------------- */

/* Writes of MSR_GLOBAL, reads of frozen counters, writes of running counters */
struct freezes {
	unsigned int freezes, unfreezes, other, reads_frozen, writes_running;
	bool frozen;
};

static void note_access(const struct sim_access *a, void *arg)
{
	struct freezes *f = arg;

	if (a->reg == MSR_GLOBAL && a->type == SIM_WRMSR) {
		f->freezes += a->value == GLOBAL_FREEZE;
		f->unfreezes += a->value == GLOBAL_UNFREEZE;
		f->other += a->value != GLOBAL_FREEZE &&
			    a->value != GLOBAL_UNFREEZE;
		f->frozen = a->value == GLOBAL_FREEZE;
	} else if (a->type == SIM_RDMSR) {
		f->reads_frozen += f->frozen;
	} else {
		f->writes_running += !f->frozen;
	}
}

/* All members of a group start, are read and stop between a freeze and an unfreeze. */
TEST_F(fsb, group_starts_is_read_and_stops_in_one_freeze_each)
{
	static const char *const events[] = { "dbsy", "drdy", "ioq_full" };
	struct freezes open = { 0 }, read = { 0 }, end = { 0 };
	struct perf_event_attr attrs[ARRAY_SIZE(events)];
	uint64_t values[MAX_GROUP];
	struct event_group g = { 0 };

	ASSERT_EQ(0, -driver_freeze_budget(1000));
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		ASSERT_EQ(0, -pmu_attr(&attrs[i], self->pmu, events[i]));
	}
	attrs[0].disabled = 1;
	ASSERT_EQ(0, -group_open_attr(&g, attrs, self->cpu, ARRAY_SIZE(events)));
	sim_trace_clear();
	ASSERT_EQ(0, ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	sim_trace(note_access, &open);
	sim_advance(CYCLES);
	sim_trace_clear();
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	sim_trace(note_access, &read);
	sim_trace_clear();
	ASSERT_EQ(0, ioctl(g.fd[0], PERF_EVENT_IOC_DISABLE, 0));
	sim_trace(note_access, &end);
	group_close(&g);
	EXPECT_EQ(1, open.freezes);
	EXPECT_EQ(1, open.unfreezes);
	EXPECT_EQ(0, open.writes_running) {
		TH_LOG("counters set while they run");
	}
	EXPECT_EQ(1, read.freezes);
	EXPECT_EQ(1, read.unfreezes);
	EXPECT_EQ(ARRAY_SIZE(events), read.reads_frozen);
	EXPECT_EQ(1, end.freezes);
	EXPECT_EQ(1, end.unfreezes);
	EXPECT_EQ(0, end.writes_running) {
		TH_LOG("counters stopped one by one");
	}
	EXPECT_EQ(0, open.other + read.other + end.other) {
		TH_LOG("other writes of the register for all");
	}
}

/* With the real clock, two counters of the bus clock never differ in a group read. */
TEST_F(fsb, group_reads_are_of_one_instant)
{
	enum { READS = 5000, DISTURB = 500 };
	static const char *const two[] = {
		"bus_clocks",
		/* the bus clock, ORed with a sub-event that never occurs */
		"submask=0x28001,valid=0x1",
	};
	uint64_t values[MAX_GROUP], before = 0;
	struct perf_event_attr attrs[ARRAY_SIZE(two)];
	struct event_group g = { 0 };
	char other[PMU_NAME_MAX];
	bool was_manual, fine = true;
	int fd = -1;

	ASSERT_TRUE(pmu_name(other, "gbsq", 0));
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	for (unsigned int i = 0; i < ARRAY_SIZE(two); i++) {
		ASSERT_EQ(0, -pmu_attr(&attrs[i], self->pmu, two[i]));
	}
	attrs[0].disabled = 1;
	ASSERT_EQ(0, -group_open_attr(&g, attrs, self->cpu, ARRAY_SIZE(two)));
	ASSERT_EQ(0, ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	sim_clock_run(&was_manual);
	for (unsigned int i = 0; fine && i < READS; i++) {
		/* open and close an event in gbsq, which the same register freezes */
		if (i % DISTURB == DISTURB / 2)
			fd = event_open(other, self->cpu, "lookups.any");
		else if (i && i % DISTURB == 0)
			close(fd);
		fine = !group_read(&g, values, NULL) &&
		       values[0] == values[1] && values[0] >= before;
		EXPECT_TRUE(fine) {
			TH_LOG("read %u: %ju and %ju after %ju", i,
			       (uintmax_t)values[0], (uintmax_t)values[1],
			       (uintmax_t)before);
		}
		before = values[0];
	}
	sim_clock_return(was_manual);
	EXPECT_GT(before, 0) {
		TH_LOG("no time passed");
	}
	close(fd);
	group_close(&g);
}

/* Use up the freeze budget by group reads, until a read does not freeze any more. */
static bool spend_budget(const struct event_group *g)
{
	uint64_t running = package_stat(PACKAGE, "group_unfrozen");
	uint64_t values[MAX_GROUP];
	bool ok = check(!driver_freeze_budget(0), "budget");

	while (ok && package_stat(PACKAGE, "group_unfrozen") == running)
		ok = check(!group_read(g, values, NULL), "read");
	return ok;
}

/* A group read freezes with the full freeze budget, and not without budget. */
TEST_F(fsb, shared_freeze_has_a_budget)
{
	static const char *const two[] = { "dbsy", "drdy" };
	struct freezes none = { 0 }, all = { 0 };
	struct event_group g = { 0 };
	uint64_t values[MAX_GROUP];

	ASSERT_EQ(0, -group_open(&g, self->pmu, self->cpu, two, 2));
	ASSERT_TRUE(spend_budget(&g));
	sim_trace_clear();
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	sim_trace(note_access, &none);
	EXPECT_EQ(0, none.freezes) {
		TH_LOG("freezes without budget");
	}
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	sim_trace_clear();
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	sim_trace(note_access, &all);
	EXPECT_EQ(1, all.freezes) {
		TH_LOG("freezes with all of it");
	}
	group_close(&g);
}

/*
 * Without freeze budget the box runs while the driver stops a counter. The events keep
 * their exact counts over several stops.
 */
TEST_F(fsb, counter_that_stops_while_its_box_runs_loses_nothing)
{
	static const char *const two[] = { "dbsy", "drdy" };
	const struct cat_event *e = cat_find("fsb", "drdy");
	const struct cat_event *alone = cat_find("fsb", "bnr");
	uint64_t start, period = 1 << 21;
	struct event_group g = { 0 };
	struct sampler s;
	int fd;

	ASSERT_EQ(0, -group_open(&g, self->pmu, self->cpu, two, 2));
	ASSERT_TRUE(spend_budget(&g));
	start = sim_cycles();
	fd = event_open(self->pmu, self->cpu, "%s", alone->name);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -sampler_open(&s, self->pmu, self->cpu, 1 << 20, "drdy"));
	for (int i = 1; i < 4; i++) {
		sim_advance(CYCLES);
		/* perf stops and restarts the sampling event to change its period */
		ASSERT_EQ(0, ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period));
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
		EXPECT_EQ(cat_expect(e, NO_SHAPE, start, i * CYCLES),
			  event_count(s.fd)) {
			TH_LOG("an event that samples, with another period");
		}
		EXPECT_EQ(cat_expect(alone, NO_SHAPE, start, i * CYCLES),
			  event_count(fd)) {
			TH_LOG("an event that is disabled");
		}
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	}
	close(fd);
	sampler_close(&s);
	group_close(&g);
}

/*
 * The register of a closed event is 0, counter and control. A disabled sampling event
 * does not count, and continues at its count when enabled.
 */
TEST_F(fsb, counter_that_is_off_is_0_and_begins_there)
{
	const struct cat_event *e = cat_find("fsb", "drdy");
	uint64_t value, start;
	struct sampler s;
	int fd;

	for (int i = 0; i < 3; i++) {
		start = sim_cycles();
		fd = event_open(self->pmu, self->cpu, "drdy");
		sim_advance(CYCLES);
		EXPECT_EQ(cat_expect(e, NO_SHAPE, start, CYCLES),
			  event_count(fd));
		close(fd);
		EXPECT_EQ(0, sim_dirty_registers());
	}
	/* a sampling event that stops keeps its counter */
	ASSERT_EQ(0, -sampler_open(&s, self->pmu, self->cpu, 1 << 20, "drdy"));
	start = sim_cycles();
	sim_advance(CYCLES);
	sampler_disable(&s);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, CYCLES), event_count(s.fd)) {
		TH_LOG("count of an event that samples");
	}
	sim_advance(CYCLES);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, CYCLES), event_count(s.fd)) {
		TH_LOG("while it is off");
	}
	sampler_enable(&s);
	start = sim_cycles();
	value = event_count(s.fd);
	sim_advance(CYCLES);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, CYCLES),
		  event_count(s.fd) - value) {
		TH_LOG("on again");
	}
	sampler_close(&s);
	EXPECT_EQ(0, sim_dirty_registers());
}

/* --- counters ------------------------------------------------------------- */

FIXTURE(gbsq)
{
	char pmu[PMU_NAME_MAX];
	int fd[3], cpu;
};

/* Open three events on two counters: the two equal events share a counter. */
FIXTURE_SETUP(gbsq)
{
	static const char *const names[] = {
		"lookups.any", "lookups.any", "lookups.prefetch",
	};

	ASSERT_TRUE(pmu_name(self->pmu, "gbsq", 0));
	self->cpu = pmu_cpu(self->pmu, PACKAGE);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		self->fd[i] = event_open(self->pmu, self->cpu, "%s", names[i]);
		ASSERT_GE(self->fd[i], 0);
	}
}

FIXTURE_TEARDOWN(gbsq)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(self->fd); i++)
		close(self->fd[i]);
}

TEST_F(gbsq, equal_events_share_a_counter)
{
	struct event_reading r = { 0 };
	uint64_t ctl, used = 0;
	char reg[32];

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(reg, sizeof(reg), "gbsq ctl%u", i);
		used += sim_register(PACKAGE, reg, &ctl);
	}
	EXPECT_EQ(2, used) {
		TH_LOG("counters in use");
	}
	ASSERT_EQ(0, -sim_traffic("pkg=%d box=gbsq agent=1 flow=2 type=1 snoop=1 state=1 count=77",
				  PACKAGE));
	for (unsigned int i = 0; i < ARRAY_SIZE(self->fd); i++) {
		EXPECT_EQ(0, -event_read(self->fd[i], &r));
		EXPECT_EQ(77, r.value) {
			TH_LOG("event %u", i);
		}
		EXPECT_EQ(r.enabled, r.running);
	}
}

/* Wait until both events have counted, for at most 30 seconds. */
static bool both_ran(int first, int second)
{
	struct event_reading a, b;

	for (int i = 0; i < 3000; i++, sleep_ms(10))
		if (!event_read(first, &a) && !event_read(second, &b) &&
		    a.running && b.running)
			return true;
	return false;
}

/* Three different events on two counters are multiplexed. */
TEST_F(gbsq, third_event_takes_turns_on_two_counters)
{
	int fd = event_open(self->pmu, self->cpu, "fills.any");

	ASSERT_GE(fd, 0) {
		TH_LOG("open: %s", strerror(-fd));
	}
	EXPECT_TRUE(both_ran(self->fd[1], fd)) {
		TH_LOG("one of them never ran");
	}
	close(fd);
}

/* --- counters left running by firmware or another tool ----------------------- */

FIXTURE(dirty) {};

FIXTURE_SETUP(dirty)
{
	machine_setup_sim("clock=manual dirty=all");
	EXPECT_EQ(9U * packages(), sim_dirty_registers());
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(dirty)
{
	EXPECT_TRUE(machine_leave());
}

TEST_F(dirty, counters_left_running_are_cleared)
{
	/* the overflow bits of each package remain: only a reset clears them */
	EXPECT_EQ(packages(), sim_dirty_registers()) {
		sim_show_registers();
	}
	EXPECT_EQ(packages(), log_count("had left 3 boxes counting")) {
		log_show("had left");
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What only Xeon 7100 and 7400 have: counters that share a register with their
 * control, look-ups and snoops by conditions that must all hold, sub-events of the
 * bus that are ORed, and one register that freezes all boxes of a package.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
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
	PACKAGE = 1,		/* where nothing says otherwise */
};

static bool is_7400(void)
{
	return !strcmp(generation()->name, "xeon7400");
}

/* --- conditions ----------------------------------------------------------- */

/* A field of a control, and the key that says the same of a transaction. */
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

/* Values of "agent" in order: where the 7400's field has a gap, none is there. */
static unsigned int agents(const char *kind)
{
	if (!strcmp(kind, "gbsq"))
		return is_7400() ? 3 : 4;
	return is_7400() ? 4 : 6;
}

/* What a transaction's agent is for bit @i of the field. */
static unsigned int agent_bit(const char *kind, unsigned int i)
{
	return !strcmp(kind, "gsnpq") && is_7400() && i == 3 ? 5 : i;
}

/* The event string that lets all pass, but in one field only @value. */
static void event_with(char *text, size_t size, const char *kind,
		       const struct condition *all, const char *field,
		       unsigned int value)
{
	size_t at = 0;

	for (const struct condition *c = all; c->field; c++) {
		unsigned int bits = !strcmp(c->field, "agent") ? agents(kind) :
								 c->bits;

		at += snprintf(text + at, size - at, "%s%s=%#x",
			       at ? "," : "", c->field,
			       !strcmp(c->field, field) ? value :
							  (1U << bits) - 1);
	}
}

static bool send_one_bit(const char *kind, const struct condition *all,
			 const char *key, unsigned int bit, uint64_t n)
{
	char text[256];
	size_t at = 0;

	for (const struct condition *c = all; c->field; c++)
		at += snprintf(text + at, sizeof(text) - at, " %s=%#x", c->key,
			       !strcmp(c->key, key) ? 1U << bit : 1);
	return !sim_traffic("pkg=%d box=%s count=%" PRIu64 "%s", PACKAGE, kind,
			    n, text);
}

/*
 * Each bit of a field lets its own transactions pass, and no others: two counters
 * with one bit and with all the others, whose counts must add up.
 */
static void test_field(const char *kind, const struct condition *all,
		       const struct condition *c)
{
	bool agent = !strcmp(c->field, "agent"), ok = true;
	unsigned int bits = agent ? agents(kind) : c->bits;
	char pmu[PMU_NAME_MAX], one[256], rest[256];

	ok &= check(pmu_name(pmu, kind, 0), "no %s", kind);
	for (unsigned int i = 0; ok && i < bits; i++) {
		uint64_t others = 0;
		int fd[2];

		event_with(one, sizeof(one), kind, all, c->field, 1U << i);
		event_with(rest, sizeof(rest), kind, all, c->field,
			   ((1U << bits) - 1) & ~(1U << i));
		fd[0] = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s", one);
		fd[1] = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s", rest);
		ok &= check(fd[0] >= 0 && fd[1] >= 0, "%s/%s/ %s", pmu, one,
			    strerror(fd[0] < 0 ? -fd[0] : -fd[1]));
		for (unsigned int j = 0; ok && j < bits; j++) {
			ok &= check(send_one_bit(kind, all, c->key, agent ?
						 agent_bit(kind, j) : j,
						 100 + j), "traffic");
			others += j == i ? 0 : 100 + j;
		}
		ok &= check_eq(event_count(fd[0]), 100 + i, "%s", one);
		ok &= check_eq(event_count(fd[1]), others, "%s", rest);
		close(fd[0]);
		close(fd[1]);
	}
	tap_ok(ok, "%s: %u bits of %s count their own", kind, bits, c->field);
}

static void test_conditions(const char *kind, const struct condition *all)
{
	for (const struct condition *c = all; c->field; c++)
		test_field(kind, all, c);
}

/*
 * Fields that are numbers: what each value counts of transactions with each, of
 * which there are 10 times 10 to the power of that one.
 */
static void test_number(const char *kind, const char *field, const char *key,
			unsigned int from, const uint64_t want[4])
{
	const struct cat_event *any = cat_find(kind, !strcmp(kind, "gbsq") ?
					       "lookups.any" : "snoops.any");
	char pmu[PMU_NAME_MAX];
	bool ok = check(any && pmu_name(pmu, kind, 0), "no %s", kind);

	for (unsigned int value = 0; ok && value < 4; value++) {
		uint64_t n = 10;
		int fd = event_open(pmu, pmu_cpu(pmu, PACKAGE), "%s,%s=%u",
				    any->name, field, from + value);

		ok &= check(fd >= 0, "%s=%u: %s", field, from + value,
			    strerror(-fd));
		for (unsigned int attr = 0; ok && attr < 4; attr++, n *= 10)
			/* to fill is with an eviction or without one */
			if (strcmp(key, "fill") || attr != 1)
				ok &= check(!sim_traffic("pkg=%d box=%s agent=1 flow=1 type=1 snoop=1 state=1 %s=%u count=%" PRIu64,
							 PACKAGE, kind, key,
							 attr, n), "traffic");
		ok &= check_eq(event_count(fd), want[value], "%s/%s=%u/", pmu,
			       field, from + value);
		close(fd);
	}
	tap_ok(ok, "%s: %s from %u on", kind, field, from);
}

static void test_numbers(void)
{
	static const uint64_t select[] = { 11110, 100, 1000, 10000 };
	static const uint64_t fill[] = { 11010, 11000, 1000, 10000 };
	/* just one core, this, the other, both; modules: 1, from 1, from 2, 3 */
	static const uint64_t cores[] = { 1100, 100, 1000, 10000 };
	static const uint64_t modules[] = { 100, 11100, 11000, 10000 };
	static const uint64_t off[] = { 11110, 11110, 11110, 11110 };
	const char *core = is_7400() ? "module" : "core";

	test_number("gbsq", core, "core", 0, select);
	test_number("gbsq", "fill", "fill", 0, fill);
	test_number("gsnpq", core, "core", 4, is_7400() ? modules : cores);
	test_number("gsnpq", core, "core", 0, off);
}

/* --- the bus -------------------------------------------------------------- */

/* Several sub-events in a counter add one in each cycle in which any holds. */
static void test_ored(void)
{
	static const char *const names[] = { "dbsy", "bnr", "l_hit", "l_defer" };
	const struct cat_event *e[COUNT(names)];
	uint64_t submask = 0, want = 0, start = sim_cycles();
	char pmu[PMU_NAME_MAX];
	bool ok = check(pmu_name(pmu, "fsb", 0), "no bus");
	int fd;

	for (unsigned int i = 0; i < COUNT(names); i++) {
		e[i] = cat_find("fsb", names[i]);
		submask |= e[i]->config;
	}
	for (uint64_t t = start; t < start + CYCLES; t++) {
		unsigned int any = 0;

		for (unsigned int i = 0; i < COUNT(names); i++)
			any |= e[i]->wave[t % e[i]->period];
		want += any != 0;
	}
	fd = event_open(pmu, pmu_cpu(pmu, PACKAGE), "config=%#" PRIx64, submask);
	ok &= check(fd >= 0, "open: %s", strerror(-fd));
	sim_advance(CYCLES);
	ok &= check_eq(event_count(fd), want, "count");
	close(fd);
	tap_ok(ok, "fsb: sub-events are ORed, cycle by cycle");
}

/* --- one freeze ----------------------------------------------------------- */

struct freezes {
	unsigned int freezes, thaws, other, reads_frozen, writes_running;
	bool frozen;
};

static void note_access(const struct sim_access *a, void *arg)
{
	struct freezes *f = arg;

	if (a->reg == MSR_GLOBAL && a->kind == SIM_WRMSR) {
		f->freezes += a->value == GLOBAL_FREEZE;
		f->thaws += a->value == GLOBAL_UNFREEZE;
		f->other += a->value != GLOBAL_FREEZE &&
			    a->value != GLOBAL_UNFREEZE;
		f->frozen = a->value == GLOBAL_FREEZE;
	} else if (a->kind == SIM_RDMSR) {
		f->reads_frozen += f->frozen;
	} else {
		f->writes_running += !f->frozen;
	}
}

/* The members of a group start, are read and stop between freeze and unfreeze. */
static void test_group_accesses(void)
{
	static const char *const events[] = { "dbsy", "drdy", "ioq_full" };
	struct freezes open = { 0 }, read = { 0 }, end = { 0 };
	struct perf_event_attr attrs[COUNT(events)];
	uint64_t values[MAX_GROUP];
	struct event_group g = { 0 };
	char pmu[PMU_NAME_MAX];
	bool ok = check(pmu_name(pmu, "fsb", 0) &&
			!driver_freeze_budget(1000), "no bus");

	for (unsigned int i = 0; i < COUNT(events); i++)
		ok &= check(!pmu_attr(&attrs[i], pmu, events[i]), "%s", events[i]);
	attrs[0].disabled = 1;
	ok = ok && check(!group_open_attr(&g, attrs, pmu_cpu(pmu, PACKAGE),
					  COUNT(events)), "open");
	sim_trace_clear();
	ok = ok && check(!ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0), "enable");
	sim_trace(note_access, &open);
	sim_advance(CYCLES);
	sim_trace_clear();
	ok = ok && check(!group_read(&g, values, NULL), "read");
	sim_trace(note_access, &read);
	sim_trace_clear();
	ok = ok && check(!ioctl(g.fd[0], PERF_EVENT_IOC_DISABLE, 0), "disable");
	sim_trace(note_access, &end);
	group_close(&g);
	driver_freeze_budget(10);
	ok &= check_eq(open.freezes, 1, "freezes to start");
	ok &= check_eq(open.thaws, 1, "unfreezes to start");
	ok &= check_eq(open.writes_running, 0, "counters set while they run");
	ok &= check_eq(read.freezes, 1, "freezes to read");
	ok &= check_eq(read.thaws, 1, "unfreezes to read");
	ok &= check_eq(read.reads_frozen, COUNT(events), "counters read frozen");
	ok &= check_eq(end.freezes, 1, "freezes to stop");
	ok &= check_eq(end.thaws, 1, "unfreezes to stop");
	ok &= check_eq(end.writes_running, 0, "counters stopped one by one");
	ok &= check_eq(open.other + read.other + end.other, 0,
		       "other writes of the register for all");
	tap_ok(ok, "a group starts, is read and stops in one freeze each");
}

/* While real time goes on, two counters of the bus clock never differ. */
static void test_one_instant(void)
{
	enum { READS = 5000, DISTURB = 500 };
	static const char *const two[] = {
		"bus_clocks",
		/* the same clock, and something that never happens */
		"submask=0x28001,valid=0x1",
	};
	uint64_t values[MAX_GROUP], before = 0;
	struct perf_event_attr attrs[COUNT(two)];
	char pmu[PMU_NAME_MAX], other[PMU_NAME_MAX];
	struct event_group g = { 0 };
	bool ok, was_manual;
	int fd = -1, cpu;

	ok = check(pmu_name(pmu, "fsb", 0) && pmu_name(other, "gbsq", 0) &&
		   !driver_freeze_budget(1000), "no bus");
	cpu = pmu_cpu(pmu, PACKAGE);
	for (unsigned int i = 0; i < COUNT(two); i++)
		ok &= check(!pmu_attr(&attrs[i], pmu, two[i]), "%s", two[i]);
	attrs[0].disabled = 1;
	ok = ok && check(!group_open_attr(&g, attrs, cpu, COUNT(two)), "open") &&
	     check(!ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0), "enable");
	sim_clock_run(&was_manual);
	for (unsigned int i = 0; ok && i < READS; i++) {
		/* a box that shares the freeze comes and goes */
		if (i % DISTURB == DISTURB / 2)
			fd = event_open(other, cpu, "lookups.any");
		else if (i && i % DISTURB == 0)
			close(fd);
		ok &= check(!group_read(&g, values, NULL), "read %u", i);
		ok &= check_eq(values[1], values[0], "read %u", i);
		ok &= check(values[0] >= before, "read %u goes back", i);
		before = values[0];
	}
	ok &= check(before > 0, "time stands still");
	sim_clock_return(was_manual);
	close(fd);
	group_close(&g);
	driver_freeze_budget(10);
	tap_ok(ok, "two bus clocks agree in %d group reads, while another box comes and goes",
	       READS);
}

/* Use up what a package has saved up to stand still: each freeze costs some of it. */
static bool spend_budget(const struct event_group *g)
{
	uint64_t running = package_stat(PACKAGE, "group_unfrozen");
	uint64_t values[MAX_GROUP];
	bool ok = check(!driver_freeze_budget(0), "budget");

	while (ok && package_stat(PACKAGE, "group_unfrozen") == running)
		ok = check(!group_read(g, values, NULL), "read");
	return ok;
}

/* Its count from one stop to the next, in a box that is not frozen for it. */
static bool stops_exactly(const char *pmu, int cpu)
{
	const struct cat_event *e = cat_find("fsb", "drdy");
	const struct cat_event *alone = cat_find("fsb", "bnr");
	uint64_t start = sim_cycles(), period = 1 << 21;
	struct sampler s;
	bool ok = true;
	int fd;

	fd = event_open(pmu, cpu, "%s", alone->name);
	ok &= check(!sampler_open(&s, pmu, cpu, 1 << 20, "drdy"), "open");
	for (int i = 1; ok && i < 4; i++) {
		sim_advance(CYCLES);
		/* stops the sampling event, and starts it again */
		ok &= check(!ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period),
			    "period");
		ok &= check(!ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), "disable");
		ok &= check_eq(event_count(s.fd),
			       cat_expect(e, NO_SHAPE, start, i * CYCLES),
			       "an event that samples, with another period");
		ok &= check_eq(event_count(fd),
			       cat_expect(alone, NO_SHAPE, start, i * CYCLES),
			       "an event that is disabled");
		ok &= check(!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), "enable");
	}
	close(fd);
	sampler_close(&s);
	return ok;
}

/* Beyond the budget nobody is frozen any more to be read. */
static void test_budget(void)
{
	static const char *const two[] = { "dbsy", "drdy" };
	struct freezes none = { 0 }, all = { 0 };
	struct event_group g = { 0 };
	uint64_t values[MAX_GROUP];
	char pmu[PMU_NAME_MAX];
	bool ok = check(pmu_name(pmu, "fsb", 0), "no bus");

	ok = ok && check(!group_open(&g, pmu, pmu_cpu(pmu, PACKAGE), two, 2),
			 "open") && spend_budget(&g);
	sim_trace_clear();
	ok = ok && check(!group_read(&g, values, NULL), "read");
	sim_trace(note_access, &none);
	ok &= check_eq(none.freezes, 0, "freezes without budget");
	tap_ok(ok & stops_exactly(pmu, pmu_cpu(pmu, PACKAGE)),
	       "a counter that stops while its box runs loses nothing");
	ok = ok && check(!driver_freeze_budget(1000), "budget");
	sim_trace_clear();
	ok = ok && check(!group_read(&g, values, NULL), "read");
	sim_trace(note_access, &all);
	ok &= check_eq(all.freezes, 1, "freezes with all of it");
	group_close(&g);
	driver_freeze_budget(10);
	tap_ok(ok, "the freeze that boxes share has a budget");
}

/* --- counters ------------------------------------------------------------- */

/* Equal events share a counter; what does not fit takes turns. */
static bool both_ran(const int *fd)
{
	struct event_reading a, b;

	for (int i = 0; i < 3000; i++, sleep_ms(10))
		if (!event_read(fd[0], &a) && !event_read(fd[2], &b) &&
		    a.running && b.running)
			return true;
	return false;
}

static void test_sharing(void)
{
	static const char *const names[] = {
		"lookups.any", "lookups.any", "lookups.prefetch", "fills.any",
	};
	struct event_reading r = { 0 };
	char pmu[PMU_NAME_MAX];
	bool ok = check(pmu_name(pmu, "gbsq", 0), "no L3");
	int fd[COUNT(names)], cpu = pmu_cpu(pmu, PACKAGE);
	uint64_t ctl, used = 0;
	char reg[32];

	for (unsigned int i = 0; i < 3; i++)
		fd[i] = event_open(pmu, cpu, "%s", names[i]);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(reg, sizeof(reg), "gbsq ctl%u", i);
		used += sim_register(PACKAGE, reg, &ctl);
	}
	ok &= check_eq(used, 2, "counters in use");
	ok &= check(!sim_traffic("pkg=%d box=gbsq agent=1 flow=2 type=1 snoop=1 state=1 count=77",
				 PACKAGE), "traffic");
	for (unsigned int i = 0; i < 3; i++) {
		ok &= check(!event_read(fd[i], &r), "read");
		ok &= check_eq(r.value, 77, "%s", names[i]);
		ok &= check_eq(r.running, r.enabled, "%s: time", names[i]);
	}
	tap_ok(ok, "equal events share a counter");
	fd[3] = event_open(pmu, cpu, "%s", names[3]);
	ok = check(fd[3] >= 0, "open: %s", strerror(-fd[3]));
	ok &= check(both_ran(fd + 1), "one of them never ran");
	for (unsigned int i = 0; i < COUNT(names); i++)
		close(fd[i]);
	tap_ok(ok, "a third event takes turns on two counters");
}

/* Opened stopped, or closed: the whole register is 0, and counts nothing. */
static void test_off_is_zero(void)
{
	char pmu[PMU_NAME_MAX];
	bool ok = check(pmu_name(pmu, "fsb", 0), "no bus");
	int cpu = pmu_cpu(pmu, PACKAGE), fd;
	uint64_t value, start;
	const struct cat_event *e = cat_find("fsb", "drdy");
	struct sampler s;

	for (int i = 0; ok && i < 3; i++) {
		start = sim_cycles();
		fd = event_open(pmu, cpu, "drdy");
		sim_advance(CYCLES);
		ok &= check_eq(event_count(fd),
			       cat_expect(e, NO_SHAPE, start, CYCLES), "count");
		close(fd);
		ok &= check_eq(sim_dirty_registers(), 0, "registers in use");
	}
	/* a sampling event that stops keeps its counter */
	ok &= check(!sampler_open(&s, pmu, cpu, 1 << 20, "drdy"), "open");
	start = sim_cycles();
	sim_advance(CYCLES);
	sampler_disable(&s);
	ok &= check_eq(event_count(s.fd), cat_expect(e, NO_SHAPE, start, CYCLES),
		       "count of an event that samples");
	sim_advance(CYCLES);
	ok &= check_eq(event_count(s.fd), cat_expect(e, NO_SHAPE, start, CYCLES),
		       "while it is off");
	sampler_enable(&s);
	start = sim_cycles();
	value = event_count(s.fd);
	sim_advance(CYCLES);
	ok &= check_eq(event_count(s.fd) - value,
		       cat_expect(e, NO_SHAPE, start, CYCLES), "on again");
	sampler_close(&s);
	ok &= check_eq(sim_dirty_registers(), 0, "registers in use");
	tap_ok(ok, "a counter that is off is 0, and begins there");
}

/* What firmware or another tool has left counting is cleared at load. */
static void test_dirty(void)
{
	bool ok;

	machine_setup_sim("clock=manual dirty=all");
	ok = check(sim_dirty_registers() == 9U * packages(), "%u registers",
		   sim_dirty_registers());
	log_mark();
	ok &= check(!driver_load(""), "the driver does not load");
	ok &= check_eq(sim_dirty_registers(), packages(),
		       "the overflow bits, which nothing clears, in each package");
	ok &= check(log_count("had left 3 boxes counting") == packages(),
		    "the log does not tell of it");
	log_show("had left");
	sim_show_registers();
	tap_ok(ok, "counters that were left running are cleared");
	driver_unload();
}

int main(void)
{
	catalogue(NULL);
	if (!generation()->one_a_cycle)
		tap_skip_all("neither Xeon 7100 nor 7400");
	machine_setup("clock=manual", "");
	if (packages() <= PACKAGE)
		tap_skip_all("needs two packages");
	test_conditions("gbsq", lookup_conditions);
	test_conditions("gsnpq", snoop_conditions);
	test_numbers();
	test_ored();
	test_group_accesses();
	test_budget();
	test_sharing();
	test_off_is_zero();
	test_one_instant();
	test_dirty();
	return tap_end();
}

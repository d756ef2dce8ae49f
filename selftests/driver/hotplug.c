// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs go offline and online while events count. With the manual clock the counts are
 * exactly those of the cycles that passed, whichever CPU programs the box.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define NO_SHAPE	((struct shape){ 0 })
#define ROUNDS		4	/* times that a test takes the perf CPU offline */

static void __attribute__((constructor)) need_two_packages(void)
{
	if (packages() < 2)
		tap_skip_all("needs two packages");
}

MACHINE_OF_ALL_TESTS("clock=manual", NULL);

/*
 * Return the @nth event of a box type that has no filter and that any general counter may
 * count, or NULL.
 */
static const struct cat_event *plain_event(const char *type, unsigned int nth)
{
	unsigned int counters = 0;

	for_each_cat_event(e)
		if (!strcmp(e->box, type))
			counters |= e->ctrs;
	for_each_cat_event(e)
		if (!strcmp(e->box, type) && !e->fixed && !e->free &&
		    e->ctrs == counters && !strchr(e->string, '?') && !nth--)
			return e;
	return NULL;
}

/* An event that counts during a test, one of each box type */
struct watched {
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event;
	int fd;
	uint64_t since;		/* cycle in which the event was opened */
};

#define MAX_WATCHED	BOX_TYPES
static struct watched watched[MAX_WATCHED];
static unsigned int n_watched;

/* A group that counts during a test */
struct watched_group {
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event[4];
	struct event_group group;
	uint64_t since;
};

static struct watched_group groups[3];	/* cbox, imc, fsb */
static unsigned int n_groups;

/* Open a group of up to four events of a box type. */
static void watch_group(const char *type, int cpu)
{
	struct watched_group *g = &groups[n_groups];
	const char *strings[4];
	unsigned int n = 0;

	/* the second box of the type, or the only box */
	if (!pmu_name(g->pmu, type, 1) && !pmu_name(g->pmu, type, 0))
		return;
	while (n < 4 && (g->event[n] = plain_event(type, n)))
		n++;
	for (unsigned int i = 0; i < n; i++)
		strings[i] = g->event[i]->string;
	g->since = sim_cycles();
	if (n && check_eq(-group_open(&g->group, g->pmu, cpu, strings, n), 0,
			  "a group on %s opens", g->pmu))
		n_groups++;
}

/* Open an event of each box type, and groups of cbox, imc and fsb, on @cpu. */
static void watch(int cpu)
{
	n_watched = 0;
	n_groups = 0;
	for (int k = 0; *box_types[k]; k++) {
		struct watched *w = &watched[n_watched];

		w->event = plain_event(box_types[k], 0);
		if (!w->event || !pmu_name(w->pmu, box_types[k], 0))
			continue;
		w->since = sim_cycles();
		w->fd = event_open(w->pmu, cpu, "%s", w->event->string);
		if (check(w->fd >= 0, "%s/%s/ on CPU %d: %s", w->pmu,
			  w->event->name, cpu, strerror(-w->fd)))
			n_watched++;
	}
	if (!generation()->one_a_cycle)
		watch_group(box_type_of_many(), cpu);
	watch_group("imc", cpu);
	watch_group("fsb", cpu);
}

/* Close the events and groups of watch(). */
static void unwatch(void)
{
	for (unsigned int i = 0; i < n_watched; i++)
		close(watched[i].fd);
	for (unsigned int i = 0; i < n_groups; i++)
		group_close(&groups[i].group);
}

/*
 * Return whether the events and groups of watch() have the counts of @cycles cycles since
 * watch(), and have run all the time.
 */
static bool exact(uint64_t cycles, const char *when)
{
	bool ok = n_watched > 0;

	for (unsigned int i = 0; i < n_watched; i++) {
		struct watched *w = &watched[i];
		struct event_reading r = { 0 };

		event_read(w->fd, &r);
		ok &= check_eq(r.value, cat_expect(w->event, NO_SHAPE, w->since,
						   cycles),
			       "%s/%s/ %s", w->pmu, w->event->name, when);
		ok &= check_eq(r.running, r.enabled, "%s/%s/ %s: time running",
			       w->pmu, w->event->name, when);
	}
	for (unsigned int i = 0; i < n_groups; i++) {
		struct watched_group *g = &groups[i];
		uint64_t values[4];

		ok &= check_eq(-group_read(&g->group, values, NULL), 0,
			       "group on %s is read %s", g->pmu, when);
		for (unsigned int j = 0; ok && j < g->group.n; j++)
			ok &= check_eq(values[j],
				       cat_expect(g->event[j], NO_SHAPE,
						  g->since, cycles),
				       "%s/%s/ in a group, %s", g->pmu,
				       g->event[j]->name, when);
	}
	return ok;
}

/* Return the package's perf CPU: the CPU in the cpumask of every PMU. */
static int home_cpu(int pkg)
{
	char pmu[PMU_NAME_MAX];

	return pmu_name(pmu, box_types[0], 0) ? pmu_cpu(pmu, pkg) : -1;
}

/* Return whether the cpumask of every PMU has @cpu for the package, or no CPU for -1. */
static bool cpumask_names(int pkg, int cpu)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int k = 0; *box_types[k]; k++)
		for (unsigned int i = 0; pmu_name(pmu, box_types[k], i); i++)
			ok &= check_eq(pmu_cpu(pmu, pkg), cpu,
				       "CPU of package %d in %s's cpumask", pkg,
				       pmu);
	return ok;
}

static bool leave(int cpu)
{
	return check_eq(-cpu_set_online(cpu, false), 0, "CPU %d goes offline", cpu);
}

static bool come_back(int cpu)
{
	return check_eq(-cpu_set_online(cpu, true), 0, "CPU %d comes back", cpu);
}

/* Return whether @reg is a control register or a counter of a box type. */
static bool is_counter_of(const struct box_type *t, uint32_t reg)
{
	static const char *const names[] = { "ctl%u", "ctr%u" };
	char name[16];

	for (unsigned int n = 0; n < ARRAY_SIZE(names); n++)
		for (unsigned int i = 0; i < t->general; i++)
			for (unsigned int box = 0; box < t->boxes; box++) {
				uint32_t at;

				snprintf(name, sizeof(name), names[n], i);
				at = box_register(t->name, box, name);
				/* a counter that is no MSR has two halves */
				if (at && (reg == at ||
					   ((t->pci || t->memory) && n && reg == at + 4)))
					return true;
			}
	return false;
}

/*
 * Count writes of counters and control registers of boxes that do not interrupt or are no
 * MSRs.  A migration must not write these registers: a stopped counter loses cycles.
 */
static void note_stop(const struct sim_access *a, void *arg)
{
	unsigned int *stops = arg;

	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct box_type *t = box_type(box_types[k]);

		enum sim_access_type write = t->memory ? SIM_MEMWR :
					     t->pci ? SIM_PCIWR : SIM_WRMSR;

		if (a->type == write && (write != SIM_WRMSR || !t->interrupts) &&
		    is_counter_of(t, a->reg)) {
			++*stops;
			return;
		}
	}
}

/* Bring all CPUs online, also after a test that failed halfway. */
static void all_come_back(void)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (!cpu_is_online(cpu))
			come_back(cpu);
}

/* --- the perf CPU ------------------------------------------------------------ */

FIXTURE(perf_cpu) { int cpu; };

FIXTURE_VARIANT(perf_cpu) { int pkg; };
FIXTURE_VARIANT_ADD(perf_cpu, package_0) { .pkg = 0 };
FIXTURE_VARIANT_ADD(perf_cpu, package_1) { .pkg = 1 };

FIXTURE_SETUP(perf_cpu)
{
	self->cpu = home_cpu(variant->pkg);
}

FIXTURE_TEARDOWN(perf_cpu)
{
	all_come_back();
}

/*
 * The perf CPU goes offline and comes back. The other CPU of the package becomes the perf
 * CPU, and remains the perf CPU. No event loses cycles or counts cycles twice.
 */
TEST_F(perf_cpu, leaves_and_nothing_is_lost_or_doubled)
{
	int pkg = variant->pkg, first = self->cpu, second;
	unsigned int stops = 0;

	second = package_cpu(pkg, 0) == first ? package_cpu(pkg, 1) :
						package_cpu(pkg, 0);
	if (second < 0)
		SKIP(return, "needs two CPUs in a package");
	if (!cpu_can_leave(first))
		SKIP(return,
		     "this kernel keeps CPU 0 online (6.1 needs cpu0_hotplug)");
	watch(first);
	sim_advance(1003);
	EXPECT_TRUE(exact(1003, "before"));
	sim_trace_clear();
	ASSERT_TRUE(leave(first));
	sim_trace(note_stop, &stops);
	EXPECT_EQ(0, stops) {
		TH_LOG("writes to counters while events move");
	}
	EXPECT_TRUE(cpumask_names(pkg, second));
	sim_advance(507);
	EXPECT_TRUE(exact(1510, "with the perf CPU offline"));
	ASSERT_TRUE(come_back(first));
	EXPECT_TRUE(cpumask_names(pkg, second));
	sim_advance(211);
	EXPECT_TRUE(exact(1721, "with the perf CPU back"));

	for (int i = 0; i < ROUNDS; i++) {
		int now = i % 2 ? first : second, next = i % 2 ? second : first;

		ASSERT_TRUE(leave(now));
		ASSERT_TRUE(cpumask_names(pkg, next));
		sim_advance(13);
		ASSERT_TRUE(come_back(now));
		sim_advance(17);
	}
	EXPECT_TRUE(exact(1721 + 30 * ROUNDS, "after all moves"));
	unwatch();
}

/* Advance the simulator's clock while CPUs go offline and online. */
static atomic_bool stop_clock;

static void *clock_thread(void *arg)
{
	while (!stop_clock) {
		sim_advance(10);
		cpu_relax();
	}
	return arg;
}

/* Take the perf CPU offline and online, ROUNDS times, while the clock advances. */
static bool move_under_way(int pkg)
{
	pthread_t clock;
	bool ok = true;

	stop_clock = false;
	if (pthread_create(&clock, NULL, clock_thread, NULL))
		tap_bail("no thread");
	for (int i = 0; i < ROUNDS && ok; i++) {
		int now = home_cpu(pkg);

		ok = leave(now) & come_back(now);
	}
	stop_clock = true;
	pthread_join(clock, NULL);
	return ok;
}

/*
 * Cycles pass during a migration. The box is frozen while perf changes the events of the
 * box, so events may lose some cycles, but must not count any cycle twice.
 */
TEST_F(perf_cpu, leaves_while_the_clock_runs_and_nothing_is_doubled)
{
	uint64_t began = sim_cycles(), passed;

	if (!cpu_can_leave(self->cpu) || package_cpu(variant->pkg, 1) < 0)
		SKIP(return, "its perf CPU cannot leave");
	watch(self->cpu);
	EXPECT_TRUE(move_under_way(variant->pkg));
	passed = sim_cycles() - began;
	EXPECT_GT(n_watched, 0);
	for (unsigned int i = 0; i < n_watched; i++) {
		struct watched *w = &watched[i];
		uint64_t n = event_count(w->fd);
		uint64_t most = cat_expect(w->event, NO_SHAPE, began, passed);

		EXPECT_TRUE(n <= most && (n || !most)) {
			TH_LOG("%s/%s/: %ju of at most %ju", w->pmu,
			       w->event->name, (uintmax_t)n, (uintmax_t)most);
		}
	}
	unwatch();
}

/* --- a CPU that is not in the cpumask ------------------------------------------ */

/* Register writes, and register writes that are not from @cpu */
struct programmers {
	int cpu, writes, elsewhere;
};

static void note_programmer(const struct sim_access *a, void *arg)
{
	struct programmers *p = arg;

	if (a->type != SIM_WRMSR && a->type != SIM_PCIWR)
		return;
	p->writes++;
	p->elsewhere += a->cpu != p->cpu;
}

/* Return a CPU that can go offline and is not the package's perf CPU, or -1. */
static int other_cpu_of(int pkg)
{
	int cpu;

	for (unsigned int i = 0; (cpu = package_cpu(pkg, i)) >= 0; i++)
		if (cpu != home_cpu(pkg) && cpu_can_leave(cpu))
			return cpu;
	return -1;
}

FIXTURE(other_cpu)
{
	struct programmers who;
	int other;
	const struct cat_event *event;
	char pmu[PMU_NAME_MAX];
	bool exists;		/* the event, the PMU and the other CPU */
	uint64_t start;
	int ours, theirs;	/* the event on the perf CPU and on the other CPU */
};

FIXTURE_VARIANT(other_cpu)
{
	const char *type;
	int pkg;
};

#define OTHER_CPU(name, package)					\
	FIXTURE_VARIANT_ADD(other_cpu, name##_of_package_##package) {	\
		.type = #name, .pkg = package,				\
	}

OTHER_CPU(cbox, 0);
OTHER_CPU(imc, 0);
OTHER_CPU(fsb, 0);
OTHER_CPU(cbox, 1);
OTHER_CPU(imc, 1);
OTHER_CPU(fsb, 1);

/* Open the event on the other CPU first: the perf CPU must program the box anyway. */
FIXTURE_SETUP(other_cpu)
{
	const struct cat_event *e = plain_event(variant->type, 0);

	self->event = e;
	self->who.cpu = home_cpu(variant->pkg);
	self->other = other_cpu_of(variant->pkg);
	self->exists = e && pmu_name(self->pmu, variant->type, 0) &&
		       self->other >= 0;
	if (!self->exists)
		return;
	sim_trace_clear();
	self->start = sim_cycles();
	self->theirs = event_open(self->pmu, self->other, "%s", e->string);
	ASSERT_GE(self->theirs, 0) {
		TH_LOG("open on CPU %d: %s", self->other,
		       strerror(-self->theirs));
	}
	sim_trace(note_programmer, &self->who);
	self->ours = event_open(self->pmu, home_cpu(variant->pkg), "%s",
				e->string);
	ASSERT_GE(self->ours, 0);
}

FIXTURE_TEARDOWN(other_cpu)
{
	all_come_back();
}

/*
 * All events of a package run on the perf CPU. An event that was opened on another CPU
 * goes on counting when that CPU goes offline.
 */
TEST_F(other_cpu, events_opened_there_run_on_the_perf_cpu)
{
	const struct cat_event *e = self->event;
	uint64_t start = self->start;

	if (!e)
		SKIP(return, "no plain event");
	if (!self->exists)
		SKIP(return, "no second CPU that can leave");
	EXPECT_GT(self->who.writes, 0);
	EXPECT_EQ(0, self->who.elsewhere) {
		TH_LOG("writes that are not from CPU %d", self->who.cpu);
	}
	sim_advance(104);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 104), event_count(self->theirs));
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 104), event_count(self->ours));

	ASSERT_TRUE(leave(self->other));
	sim_advance(50);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 154), event_count(self->ours));
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 154), event_count(self->theirs));
	ASSERT_TRUE(come_back(self->other));
	sim_advance(25);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 179), event_count(self->ours));
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 179), event_count(self->theirs));
	close(self->ours);
	close(self->theirs);
}

/* --- a whole package ------------------------------------------------------------ */

FIXTURE(package)
{
	const char *type;
	int cpus[16], n;	/* CPUs of package 1 */
	bool can_leave;		/* all CPUs of package 1 can go offline */
};

FIXTURE_SETUP(package)
{
	self->type = cat_find("fsb", "bus_clocks") ? "fsb" : box_type_of_many();
	self->can_leave = true;
	for (; self->n < 16 && package_cpu(1, self->n) >= 0; self->n++) {
		self->cpus[self->n] = package_cpu(1, self->n);
		self->can_leave &= cpu_can_leave(self->cpus[self->n]);
	}
}

FIXTURE_TEARDOWN(package)
{
	all_come_back();
}

/*
 * All CPUs of package 1 go offline. Events of package 1 end and keep their counts,
 * events of package 0 keep counting, and new events of package 1 count when its CPUs are
 * back online.
 */
TEST_F(package, leaves_and_comes_back)
{
	const struct cat_event *e = plain_event(self->type, 0);
	unsigned int dirty = sim_dirty_registers();
	int last = self->cpus[self->n - 1], fd;
	uint64_t start = sim_cycles();
	char pmu[PMU_NAME_MAX];

	if (!self->can_leave || !e || !pmu_name(pmu, self->type, 0))
		SKIP(return, "its CPUs cannot leave");
	fd = event_open(pmu, home_cpu(0), "%s", e->string);
	watch(home_cpu(1));
	EXPECT_GT(n_watched, 0);
	sim_advance(600);
	for (int i = 0; i < self->n; i++) {
		ASSERT_TRUE(leave(self->cpus[i]));
	}
	sim_advance(400);
	for (unsigned int i = 0; i < n_watched; i++) {
		EXPECT_EQ(cat_expect(watched[i].event, NO_SHAPE, start, 600),
			  event_count(watched[i].fd)) {
			TH_LOG("%s/%s/ of the package that left",
			       watched[i].pmu, watched[i].event->name);
		}
	}
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 1000), event_count(fd)) {
		TH_LOG("the other package's event");
	}
	EXPECT_TRUE(cpumask_names(1, -1));
	for (int i = 0; i < self->n; i++)
		EXPECT_EQ(ENODEV, -event_open(pmu, self->cpus[i], "%s",
					      e->string));
	unwatch();

	for (int i = self->n - 1; i >= 0; i--) {
		ASSERT_TRUE(come_back(self->cpus[i]));
	}
	EXPECT_TRUE(cpumask_names(1, last));
	watch(last);
	sim_advance(320);
	EXPECT_TRUE(exact(320, "after the package came back"));
	unwatch();
	close(fd);
	EXPECT_EQ(dirty, sim_dirty_registers()) {
		sim_show_registers();
	}
}

/*
 * perf dissolves the groups of a package when the package's last CPU goes offline. When a
 * CPU is back, perf would let events join a former leader, but would not detach these
 * members when the leader is closed: the members would keep a pointer to freed memory.
 * The driver refuses such members with ENODEV.
 */
TEST_F(package, groups_that_left_take_no_more_members)
{
	const struct cat_event *e = plain_event(self->type, 0);
	int last = self->cpus[self->n - 1], leader, member;
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];

	if (!self->can_leave || !e || !pmu_name(pmu, self->type, 0))
		SKIP(return, "its CPUs cannot leave");
	ASSERT_EQ(0, pmu_attr(&attr, pmu, e->string));
	leader = perf_open(&attr, -1, home_cpu(1), -1);
	ASSERT_LE(0, leader);
	for (int i = 0; i < self->n; i++) {
		ASSERT_TRUE(leave(self->cpus[i]));
	}
	for (int i = 0; i < self->n; i++) {
		ASSERT_TRUE(come_back(self->cpus[i]));
	}
	member = perf_open(&attr, -1, last, leader);
	EXPECT_EQ(ENODEV, -member);
	if (member >= 0)
		close(member);
	close(leader);
}

/* --- the UBox's clock, which keeps its value until a package is reset ------------ */

FIXTURE(clock)
{
	char ubox[PMU_NAME_MAX];
	int cpu;
};

FIXTURE_VARIANT(clock) { int pkg; };
FIXTURE_VARIANT_ADD(clock, package_0) { .pkg = 0 };
FIXTURE_VARIANT_ADD(clock, package_1) { .pkg = 1 };

FIXTURE_SETUP(clock)
{
	self->cpu = home_cpu(variant->pkg);
}

FIXTURE_TEARDOWN(clock)
{
	all_come_back();
}

/*
 * The UBox cannot be frozen: two events that share the UBox's clock lose no cycle, while
 * the CPUs on which they were opened go offline in turn and the clock advances.
 */
TEST_F(clock, events_that_share_it_move_and_miss_nothing)
{
	uint64_t began = sim_cycles();
	int twin[2];

	if (!cpu_can_leave(self->cpu) || package_cpu(variant->pkg, 1) < 0)
		SKIP(return, "its perf CPU cannot leave");
	if (!pmu_name(self->ubox, "ubox", 0))
		SKIP(return, "there is no UBox");
	for (int i = 0; i < 2; i++) {
		twin[i] = event_open(self->ubox, package_cpu(variant->pkg, i),
				     "event=0xff");
		ASSERT_GE(twin[i], 0) {
			TH_LOG("clock %d: %s", i, strerror(-twin[i]));
		}
	}
	EXPECT_TRUE(move_under_way(variant->pkg));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(sim_cycles() - began, event_count(twin[i])) {
			TH_LOG("clock %d", i);
		}
		close(twin[i]);
	}
}

TEST_HARNESS_MAIN

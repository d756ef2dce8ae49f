// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs leave and come back while events count: with the manual clock, counts
 * are exactly the cycles that passed, whoever programs the box.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define NO_SHAPE	((struct shape){ 0 })
#define ROUNDS		4
#define UBOX_EN		(1U << 22)

/* The @nth event that any general counter may count and that has no filter. */
static const struct cat_event *plain_event(const char *kind, unsigned int nth)
{
	size_t n;
	const struct cat_event *e = catalogue(&n);
	unsigned int all = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, kind))
			all |= e[i].ctrs;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, kind) && !e[i].fixed && !e[i].free &&
		    e[i].ctrs == all && !strchr(e[i].string, '?') && !nth--)
			return &e[i];
	return NULL;
}

/* What counts during a test: an event of each kind of box, and groups. */
struct watched {
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event;
	int fd;
	uint64_t since;
};

#define MAX_WATCHED	BOX_KINDS
static struct watched watched[MAX_WATCHED];
static unsigned int n_watched;

struct watched_group {
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event[4];
	struct event_group group;
	uint64_t since;
};

static struct watched_group groups[3];	/* cbox, imc, fsb */
static unsigned int n_groups;

static void watch_group(const char *kind, int cpu)
{
	struct watched_group *g = &groups[n_groups];
	const char *strings[4];
	unsigned int n = 0;

	/* the second box, or the only one */
	if (!pmu_name(g->pmu, kind, 1) && !pmu_name(g->pmu, kind, 0))
		return;
	while (n < 4 && (g->event[n] = plain_event(kind, n)))
		n++;
	for (unsigned int i = 0; i < n; i++)
		strings[i] = g->event[i]->string;
	g->since = sim_cycles();
	if (n && check_eq(-group_open(&g->group, g->pmu, cpu, strings, n), 0,
			  "a group on %s opens", g->pmu))
		n_groups++;
}

static void watch(int cpu)
{
	n_watched = 0;
	n_groups = 0;
	for (int k = 0; k < BOX_KINDS; k++) {
		struct watched *w = &watched[n_watched];

		w->event = plain_event(box_kinds[k], 0);
		if (!w->event || !pmu_name(w->pmu, box_kinds[k], 0))
			continue;
		w->since = sim_cycles();
		w->fd = event_open(w->pmu, cpu, "%s", w->event->string);
		if (check(w->fd >= 0, "%s/%s/ on CPU %d: %s", w->pmu,
			  w->event->name, cpu, strerror(-w->fd)))
			n_watched++;
	}
	watch_group("cbox", cpu);
	watch_group("imc", cpu);
	watch_group("fsb", cpu);
}

static void unwatch(void)
{
	for (unsigned int i = 0; i < n_watched; i++)
		close(watched[i].fd);
	for (unsigned int i = 0; i < n_groups; i++)
		group_close(&groups[i].group);
}

/* Are all counts what @cycles cycles since watch() give, and never paused? */
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

/* The CPU that perf's tools use for a package, as every PMU's cpumask has it. */
static int home_cpu(int pkg)
{
	char pmu[PMU_NAME_MAX];

	return pmu_name(pmu, box_kinds[0], 0) ? pmu_cpu(pmu, pkg) : -1;
}

/* Does every PMU name @cpu (-1: none) for the package? */
static bool cpumask_names(int pkg, int cpu)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int k = 0; k < BOX_KINDS; k++)
		for (unsigned int i = 0; pmu_name(pmu, box_kinds[k], i); i++)
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

/*
 * Writes to a CBo's or a PCI box's counters and their control registers (Tables
 * 1-2, 1-3): a move must leave them alone, or cycles pass unseen.
 */
static void note_stop(const struct sim_access *a, void *arg)
{
	const struct generation *g = generation();
	unsigned int *stops = arg;
	unsigned int reg = (a->reg - g->cbox_msr) % g->cbox_stride;

	if (a->kind == SIM_WRMSR && a->reg >= g->cbox_msr &&
	    a->reg < g->cbox_msr + g->cboxes * g->cbox_stride)
		*stops += reg - g->cbox_ctl < 4 || reg - g->cbox_ctr < 4;
	else if (a->kind == SIM_PCIWR)
		*stops += (a->reg >= 0xa0 && a->reg < 0xc0) ||
			  (a->reg >= 0xd8 && a->reg < 0xe8);
}

/* The perf CPU leaves and comes back; the other one takes over, and stays. */
static void perf_cpu_leaves(int pkg)
{
	int first = home_cpu(pkg), second;
	unsigned int stops = 0;
	bool ok;

	second = package_cpu(pkg, 0) == first ? package_cpu(pkg, 1) :
						package_cpu(pkg, 0);
	if (second < 0) {
		tap_skip("needs two CPUs in a package",
			 "package %d: its perf CPU leaves", pkg);
		return;
	}
	if (!cpu_can_leave(first)) {
		tap_skip("this kernel keeps CPU 0 online (6.1 needs cpu0_hotplug)",
			 "package %d: its perf CPU leaves", pkg);
		return;
	}
	watch(first);
	sim_advance(1003);
	ok = exact(1003, "before");
	sim_trace_clear();
	ok &= leave(first);
	sim_trace(note_stop, &stops);
	ok &= check_eq(stops, 0, "writes to counters while events move");
	tap_ok(ok & cpumask_names(pkg, second),
	       "package %d: cpumask follows when its perf CPU leaves", pkg);
	sim_advance(507);
	tap_ok(exact(1510, "with the perf CPU offline"),
	       "package %d: nothing lost, nothing doubled when its perf CPU leaves",
	       pkg);
	ok = come_back(first) & cpumask_names(pkg, second);
	sim_advance(211);
	tap_ok(ok & exact(1721, "with the perf CPU back"),
	       "package %d: counting goes on when the CPU is back", pkg);

	ok = true;
	for (int i = 0; i < ROUNDS && ok; i++) {
		int now = i % 2 ? first : second, next = i % 2 ? second : first;

		ok = leave(now) & cpumask_names(pkg, next);
		sim_advance(13);
		ok &= come_back(now);
		sim_advance(17);
	}
	tap_ok(ok & exact(1721 + 30 * ROUNDS, "after all moves"),
	       "package %d: %d moves, every count exact", pkg, ROUNDS);
	unwatch();
}

static bool ubox_clock_runs(int pkg)
{
	uint64_t ctl = 0;

	return sim_register(pkg, "ubox fixed_ctl", &ctl) && (ctl & UBOX_EN);
}

/*
 * The driver uses the UBox's clock itself while something samples, and leaves it
 * to an event of the UBox that samples.  It must not stop it for others.
 */
static void clock_beside_sampler(int pkg)
{
	struct event_reading r = { 0 };
	int first = home_cpu(pkg), fd;
	char ubox[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!signals("ubox")) {
		tap_skip("overflows do not freeze a package, so the driver needs no clock",
			 "package %d: a clock beside a sampling event", pkg);
		return;
	}
	if (!cpu_can_leave(first) || package_cpu(pkg, 1) < 0) {
		tap_skip("needs two CPUs in a package, and one that may leave",
			 "package %d: a clock beside a sampling event", pkg);
		return;
	}
	if (!pmu_name(ubox, "ubox", 0)) {
		tap_skip("there is no UBox",
			 "package %d: a clock beside a sampling event", pkg);
		return;
	}
	ok = check_eq(-sampler_open(&s, ubox, first, 1 << 30, "event=0x46"), 0,
		      "a sampling event opens");
	for (int i = 0; ok && i < 1000 && !ubox_clock_runs(pkg); i++)
		sleep_ms(10);
	ok &= check(ubox_clock_runs(pkg), "the driver starts the UBox's clock");
	fd = event_open(ubox, first, "event=0xff");
	ok &= check(fd >= 0, "the UBox's clock opens: %s", strerror(-fd));
	for (int i = 0; ok && i < 2; i++) {
		int leaves = home_cpu(pkg);

		sim_advance(1000);
		ok = leave(leaves);
		sim_advance(1000);
		ok &= check_eq(-event_read(fd, &r), 0, "the clock is read");
		ok &= check_eq(r.value, 2000 * (i + 1),
			       "cycles when %d CPUs have left", i + 1);
		ok &= come_back(leaves);
	}
	tap_ok(ok, "package %d: the clock goes on beside a sampling event that moves",
	       pkg);
	close(fd);
	sampler_close(&s);
}

/* Time that goes on by itself. */
static atomic_bool stop_clock;

static void *clock_thread(void *arg)
{
	while (!stop_clock)
		sim_advance(10);
	return arg;
}

/* The perf CPU leaves and comes back, four times, while time goes on. */
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
 * Cycles pass while the events are moving.  Perf freezes a box while it changes
 * its events, so some may be lost; none may be counted twice.
 */
static void moves_under_way(int pkg)
{
	int first = home_cpu(pkg);
	uint64_t began = sim_cycles(), passed;
	bool ok;

	if (!cpu_can_leave(first) || package_cpu(pkg, 1) < 0) {
		tap_skip("its perf CPU cannot leave",
			 "package %d: moves while the clock runs", pkg);
		return;
	}
	watch(first);
	ok = move_under_way(pkg);
	passed = sim_cycles() - began;
	for (unsigned int i = 0; i < n_watched; i++) {
		struct watched *w = &watched[i];
		uint64_t n = event_count(w->fd);
		uint64_t most = cat_expect(w->event, NO_SHAPE, began, passed);

		ok &= check(n <= most && (n || !most),
			    "%s/%s/: %ju of at most %ju", w->pmu,
			    w->event->name, (uintmax_t)n, (uintmax_t)most);
	}
	unwatch();
	tap_ok(ok, "package %d: nothing doubled when it moves while the clock runs",
	       pkg);
}

/*
 * The UBox cannot be frozen: two events that share its clock, on CPUs that leave
 * in turn while time goes on, miss nothing.
 */
static void shared_clock_moves(int pkg)
{
	uint64_t began = sim_cycles();
	char ubox[PMU_NAME_MAX];
	int twin[2];
	bool ok;

	if (!cpu_can_leave(home_cpu(pkg)) || package_cpu(pkg, 1) < 0) {
		tap_skip("its perf CPU cannot leave",
			 "package %d: a shared clock moves", pkg);
		return;
	}
	if (!pmu_name(ubox, "ubox", 0)) {
		tap_skip("there is no UBox", "package %d: a shared clock moves",
			 pkg);
		return;
	}
	ok = true;
	for (int i = 0; i < 2; i++) {
		twin[i] = event_open(ubox, package_cpu(pkg, i), "event=0xff");
		ok &= check(twin[i] >= 0, "clock %d: %s", i,
			    strerror(-twin[i]));
	}
	ok &= move_under_way(pkg);
	for (int i = 0; i < 2; i++) {
		ok &= check_eq(event_count(twin[i]), sim_cycles() - began,
			       "clock %d", i);
		close(twin[i]);
	}
	tap_ok(ok, "package %d: events that share a clock miss nothing when they move",
	       pkg);
}

struct programmers {
	int cpu, writes, elsewhere;
};

static void note_programmer(const struct sim_access *a, void *arg)
{
	struct programmers *p = arg;

	if (a->kind != SIM_WRMSR && a->kind != SIM_PCIWR)
		return;
	p->writes++;
	p->elsewhere += a->cpu != p->cpu;
}

/* An event opened on a CPU that the cpumask does not name stays on it. */
static void other_cpu(const char *kind, int pkg)
{
	const struct cat_event *e = plain_event(kind, 0);
	char pmu[PMU_NAME_MAX];
	struct programmers who = { .cpu = -1 };
	int perf_cpu = home_cpu(pkg), a, b, c;
	uint64_t start;
	bool ok;

	for (unsigned int i = 0; who.cpu < 0 && package_cpu(pkg, i) >= 0; i++)
		if (package_cpu(pkg, i) != perf_cpu &&
		    cpu_can_leave(package_cpu(pkg, i)))
			who.cpu = package_cpu(pkg, i);
	if (!e || !pmu_name(pmu, kind, 0) || who.cpu < 0) {
		tap_skip(e ? "no second CPU that can leave" : "no plain event",
			 "package %d: %s on a CPU outside the cpumask", pkg, kind);
		return;
	}
	sim_trace_clear();
	start = sim_cycles();
	b = event_open(pmu, who.cpu, "%s", e->string);
	sim_trace(note_programmer, &who);
	ok = check(b >= 0, "open on CPU %d: %s", who.cpu, strerror(-b));
	ok &= check(who.writes > 0 && !who.elsewhere,
		    "%d writes, %d of them not from CPU %d", who.writes,
		    who.elsewhere, who.cpu);
	a = event_open(pmu, perf_cpu, "%s", e->string);
	sim_advance(104);
	ok &= check_eq(event_count(b), cat_expect(e, NO_SHAPE, start, 104),
		       "on CPU %d", who.cpu);
	ok &= check_eq(event_count(a), cat_expect(e, NO_SHAPE, start, 104),
		       "on the perf CPU");
	tap_ok(ok, "package %d: %s counts the same from a CPU outside the cpumask",
	       pkg, pmu);

	ok = leave(who.cpu);
	sim_advance(50);
	ok &= check_eq(event_count(a), cat_expect(e, NO_SHAPE, start, 154),
		       "on the perf CPU, the other one offline");
	ok &= check_eq(event_count(b), cat_expect(e, NO_SHAPE, start, 104),
		       "on the CPU that left");
	c = event_open(pmu, who.cpu, "%s", e->string);
	ok &= check_eq(-c, ENODEV, "open on a CPU that is offline");
	ok &= come_back(who.cpu);
	sim_advance(25);
	ok &= check_eq(event_count(a), cat_expect(e, NO_SHAPE, start, 179),
		       "on the perf CPU, the other one back");
	ok &= check_eq(event_count(b), cat_expect(e, NO_SHAPE, start, 104),
		       "on the CPU that had left");
	c = event_open(pmu, who.cpu, "%s", e->string);
	sim_advance(16);
	ok &= check_eq(event_count(c),
		       cat_expect(e, NO_SHAPE, start + 179, 16),
		       "opened anew on the CPU that had left");
	tap_ok(ok, "package %d: %s keeps its count when that CPU leaves, and ends there",
	       pkg, pmu);
	close(a);
	close(b);
	close(c);
}

/* A whole package goes: its events end with their counts, others go on. */
static void package_leaves(int pkg, int witness_pkg)
{
	int cpus[16], n = 0, dirty = sim_dirty_registers(), fd;
	const char *kind = cat_find("fsb", "bus_clocks") ? "fsb" : "cbox";
	const struct cat_event *e = plain_event(kind, 0);
	char cbox[PMU_NAME_MAX];
	bool ok = true;
	uint64_t start;

	for (; n < 16 && package_cpu(pkg, n) >= 0; n++)
		cpus[n] = package_cpu(pkg, n);
	for (int i = 0; i < n; i++)
		ok &= cpu_can_leave(cpus[i]);
	if (!ok || !e || !pmu_name(cbox, kind, 0)) {
		tap_skip("its CPUs cannot leave", "package %d leaves", pkg);
		return;
	}
	start = sim_cycles();
	fd = event_open(cbox, home_cpu(witness_pkg), "%s", e->string);
	watch(home_cpu(pkg));
	sim_advance(600);
	for (int i = 0; i < n; i++)
		ok &= leave(cpus[i]);
	sim_advance(400);
	for (unsigned int i = 0; i < n_watched; i++)
		ok &= check_eq(event_count(watched[i].fd),
			       cat_expect(watched[i].event, NO_SHAPE, start, 600),
			       "%s/%s/ of the package that left",
			       watched[i].pmu, watched[i].event->name);
	ok &= check_eq(event_count(fd), cat_expect(e, NO_SHAPE, start, 1000),
		       "the other package's event");
	ok &= cpumask_names(pkg, -1);
	for (int i = 0; i < n; i++)
		ok &= check_eq(-event_open(cbox, cpus[i], "%s", e->string),
			       ENODEV, "open on CPU %d", cpus[i]);
	tap_ok(ok, "package %d: all CPUs leave, counts stay at the last cycle seen",
	       pkg);
	unwatch();

	ok = true;
	for (int i = n - 1; i >= 0; i--)
		ok &= come_back(cpus[i]);
	ok &= cpumask_names(pkg, cpus[n - 1]);
	watch(cpus[n - 1]);
	sim_advance(320);
	tap_ok(ok & exact(320, "after the package came back"),
	       "package %d: all CPUs come back, new events count", pkg);
	unwatch();
	close(fd);
	tap_eq(sim_dirty_registers(), dirty,
	       "package %d: registers as before it left", pkg);
}

int main(void)
{
	machine_setup("clock=manual", NULL);
	if (packages() < 2)
		tap_skip_all("needs two packages");
	for (int pkg = 0; pkg < 2; pkg++) {
		perf_cpu_leaves(pkg);
		moves_under_way(pkg);
		other_cpu("cbox", pkg);
		other_cpu("imc", pkg);
		other_cpu("fsb", pkg);
	}
	package_leaves(1, 0);
	/* these use counters that stay as they are until a package is reset */
	for (int pkg = 0; pkg < 2; pkg++) {
		shared_clock_moves(pkg);
		clock_beside_sampler(pkg);
	}
	return tap_end();
}

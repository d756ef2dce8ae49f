// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sampling is exact: with the manual clock N = period x k increments give k
 * samples, none lost and none twice, in every box type, for several counters,
 * boxes and packages that overflow in the same cycle, and with counting events
 * beside them. The moments are the interrupt's or, where none comes, a timer's.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
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
#define NO_SHAPE	((struct shape){ 0 })

enum {
	PERIOD = 7,
	OVERFLOWS = 6300,	/* of each kind, in each of two packages */
	MANY = 6250,		/* of each type that signals: 10^5 of Haswell's 8 */
	MAX_SAMPLERS = 64,
};

static uint64_t overflows;	/* of boxes that signal */
static unsigned int signalling;	/* which are so many, a type in each package */

/* Exactly @samples, @count counted, nothing odd; drains the buffer. */
static bool is_exact(struct sampler *s, uint64_t samples, uint64_t count,
		     const char *what)
{
	bool ok = check_eq(sampler_settle(s, samples), samples, "%s: samples",
			   what);

	ok &= check_eq(event_count(s->fd), count, "%s: count", what);
	ok &= check_eq(s->throttled, 0, "%s: throttled", what);
	return ok & sampler_clean(s, what);
}

static bool open_sampler(struct sampler *s, const char *pmu, int pkg,
			 uint64_t period, const struct cat_event *e)
{
	int err = sampler_open(s, pmu, pmu_cpu(pmu, pkg), period,
			       "config=%#" PRIx64, e->config);

	return check_eq(-err, 0, "%s/%s/ package %d opens", pmu, e->name, pkg);
}

/* The first box of package 0, the last one of the last package. */
static bool pick_box(char *pmu, const char *kind, int pkg)
{
	unsigned int n = 0;

	while (pmu_name(pmu, kind, n))
		n++;
	return n && pmu_name(pmu, kind, pkg ? n - 1 : 0);
}

/* --- one event ----------------------------------------------------------- */

/* Who serves an overflow clears what says so: others would serve it again. */
static bool no_status_left(const char *pmu, int pkg)
{
	uint64_t status = 0;
	char name[80];

	snprintf(name, sizeof(name), "%s box_status", pmu_box(pmu));
	sim_register(pkg, name, &status);
	return check_eq(status, 0, "%s: status", pmu);
}

static bool count_out(const char *kind, const struct cat_event *e, int pkg)
{
	uint64_t before = overflow_stat(pkg, "count");
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	ok = pick_box(pmu, kind, pkg) && open_sampler(&s, pmu, pkg, PERIOD, e);
	if (!ok)
		return false;
	send_traffic(pmu, pkg, e, (uint64_t)PERIOD * OVERFLOWS + 3, 1);
	ok &= is_exact(&s, OVERFLOWS, (uint64_t)PERIOD * OVERFLOWS + 3, pmu);
	/* the rest of a period that has begun */
	send_traffic(pmu, pkg, e, PERIOD - 4, 1);
	ok &= is_exact(&s, OVERFLOWS, (uint64_t)PERIOD * (OVERFLOWS + 1) - 1,
		       "one before the next");
	send_traffic(pmu, pkg, e, 1, 1);
	ok &= is_exact(&s, OVERFLOWS + 1, (uint64_t)PERIOD * (OVERFLOWS + 1),
		       "the next");
	ok &= check_eq(overflow_stat(pkg, "count") - before, OVERFLOWS + 1,
		       "overflow_count");
	if (signals(kind)) {
		overflows += s.samples;
		ok &= no_status_left(pmu, pkg);
	}
	sampler_close(&s);
	return ok;
}

static void test_kind(const char *kind)
{
	const struct cat_event *e = plain_of(kind);
	uint64_t pmi = sim_stat("pmi"), timer = 0;
	bool ok = true;

	if (!e) {
		tap_skip("the catalogue has no event for it", "%s: samples",
			 kind);
		return;
	}
	if (signals(kind))
		signalling += packages();
	for (int pkg = 0; pkg < packages(); pkg++) {
		timer -= overflow_stat(pkg, "timer_served");
		ok &= count_out(kind, e, pkg);
		timer += overflow_stat(pkg, "timer_served");
	}
	tap_ok(ok, "%s/%s/: %d times %d increments, %d samples in each package",
	       kind, e->name, OVERFLOWS + 1, PERIOD, OVERFLOWS + 1);
	pmi = sim_stat("pmi") - pmi;
	/*
	 * The timer may be there before the interrupt, but never before the
	 * overflow: with the last increment of each period there is one.
	 */
	if (signals(kind))
		tap_ok(check_eq(pmi, (OVERFLOWS + 1U) * packages(), "PMIs") &&
		       timer < (OVERFLOWS + 1U) * packages(),
		       "%s: by interrupt (%" PRIu64 " of them, %" PRIu64
		       " by the timer)", kind, pmi, timer);
	else
		tap_ok(pmi == 0 && timer == (OVERFLOWS + 1U) * packages(),
		       "%s: by the timer, without any interrupt", kind);
}

/* Increments larger than the period: one overflow, several samples. */
static void test_steps(const char *kind)
{
	static const struct {
		uint64_t period;
		unsigned int value, n;
	} steps[] = {
		{ 1, 1, 100 }, { 3, 10, 100 }, { 10, 3, 200 }, { 1, 20, 20 },
		{ 1000, 999, 50 },
	};
	const struct cat_event *e = plain_of(kind);
	int pkg = packages() - 1;
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	if (!e || !pick_box(pmu, kind, pkg)) {
		tap_skip("no event, or no box", "%s: steps", kind);
		return;
	}
	if (generation()->one_a_cycle) {
		tap_skip("no increment is larger than one", "%s: steps", kind);
		return;
	}
	for (unsigned int i = 0; i < COUNT(steps); i++) {
		uint64_t total = (uint64_t)steps[i].n * steps[i].value;
		struct sampler s;

		if (!open_sampler(&s, pmu, pkg, steps[i].period, e)) {
			ok = false;
			continue;
		}
		send_traffic(pmu, pkg, e, steps[i].n, steps[i].value);
		ok &= is_exact(&s, total / steps[i].period, total, pmu);
		sampler_close(&s);
	}
	tap_ok(ok, "%s/%s/: increments larger and smaller than the period", kind,
	       e->name);
}

/* An event that grows by different amounts, in every cycle. */
static const struct cat_event *uneven_of(const char *kind)
{
	const struct cat_event *best = NULL;
	size_t n;
	const struct cat_event *e = catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, kind) && !e[i].fixed && !e[i].free &&
		    !strchr(e[i].string, '?') &&
		    (!best || e[i].max_inc > best->max_inc))
			best = &e[i];
	return best;
}

static void test_cycles(const char *kind)
{
	const struct cat_event *event[] = {
		ticks_of(kind), uneven_of(kind),
		!strcmp(kind, "imc") ? cat_find("imc", "dclk") : NULL,
	};

	for (unsigned int i = 0; i < COUNT(event); i++) {
		const struct cat_event *e = event[i];
		uint64_t start = sim_cycles(), n, timer;
		char pmu[PMU_NAME_MAX];
		struct sampler s;
		bool ok;

		if (!e || !cat_has_waves(kind))
			continue;
		timer = overflow_stat(0, "timer_served");
		ok = pick_box(pmu, kind, 0) && open_sampler(&s, pmu, 0, 97, e);
		sim_advance(2011);
		n = cat_expect(e, NO_SHAPE, start, 2011);
		ok &= is_exact(&s, n / 97, n, pmu);
		sampler_close(&s);
		timer = overflow_stat(0, "timer_served") - timer;
		ok &= check(!signals(kind) || timer < n / 97,
			    "all by the timer, none by interrupt");
		tap_ok(ok, "%s/%s/%s: %" PRIu64 " increments in 2011 cycles",
		       kind, e->name, e->fixed ? " (fixed)" : "", n);
	}
}

/*
 * A period of more than half the counter, or that nearly fills it. Of counters
 * in PCI space the driver reads 32 bits when no more can have passed in the
 * time, and here cycles take none: for them 32 bits are the most.
 */
static void test_wide(const char *kind, unsigned int bits)
{
	const struct cat_event *e = ticks_of(kind);
	const uint64_t periods[] = { (1ULL << (bits - 1)) + 5,
				     (1ULL << bits) - 1 };
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	if (!e || !pick_box(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: long periods", kind);
		return;
	}
	for (unsigned int i = 0; i < COUNT(periods); i++) {
		struct sampler s;

		if (!open_sampler(&s, pmu, 0, periods[i], e)) {
			ok = false;
			continue;
		}
		sim_advance(periods[i] - 1);
		ok &= is_exact(&s, 0, periods[i] - 1, "one before the first");
		sim_advance(1);
		ok &= is_exact(&s, 1, periods[i], "the first");
		sim_advance(periods[i]);
		ok &= is_exact(&s, 2, 2 * periods[i], "the second");
		sampler_close(&s);
	}
	tap_ok(ok, "%s/%s/: periods up to %u bits", kind, e->name, bits);
}

/* --- what an event can be told ------------------------------------------- */

static void test_control(const char *kind)
{
	const struct cat_event *e = ticks_of(kind);
	uint64_t period = 30;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!e || !pick_box(pmu, kind, 0) || !open_sampler(&s, pmu, 0, 100, e)) {
		tap_skip("no event, or no box", "%s: control", kind);
		return;
	}
	sim_advance(160);
	ok = is_exact(&s, 1, 160, "at first");
	sampler_disable(&s);
	sim_advance(1000);
	ok &= is_exact(&s, 1, 160, "disabled");
	sampler_enable(&s);
	sim_advance(39);
	ok &= is_exact(&s, 1, 199, "enabled");
	sim_advance(1);
	tap_ok(ok & is_exact(&s, 2, 200, "with the rest of the period"),
	       "%s: a pause takes nothing from the period", pmu);

	s.period = period;
	ok = check(!ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period), "new period");
	sim_advance(29);
	ok &= is_exact(&s, 2, 229, "one before the new period");
	sim_advance(1);
	ok &= is_exact(&s, 3, 230, "the new period");
	sim_advance(300);
	tap_ok(ok & is_exact(&s, 13, 530, "ten more"),
	       "%s: a new period from its announcement on", pmu);
	sampler_disable(&s);
	if (signals(kind)) {
		/* perf disables the event when the last of them has come */
		ok = check(!ioctl(s.fd, PERF_EVENT_IOC_REFRESH, 3), "refresh");
		for (int i = 0; i < 5; i++) {
			sim_advance(30);
			sampler_settle(&s, 0);
		}
		tap_ok(ok & is_exact(&s, 16, 620, "three more"),
		       "%s: three samples and no more when that is asked", pmu);
	}
	sampler_close(&s);
}

/* --- several at once ----------------------------------------------------- */

static struct sampler samplers[MAX_SAMPLERS];
static unsigned int n_samplers;

static bool add_sampler(const char *pmu, int pkg, uint64_t period,
			const struct cat_event *e)
{
	struct sampler *s = &samplers[n_samplers];

	if (n_samplers == MAX_SAMPLERS || !open_sampler(s, pmu, pkg, period, e))
		return false;
	n_samplers++;
	return true;
}

/* All of them, after @cycles cycles in which they all counted each. */
static bool all_exact(uint64_t cycles)
{
	bool ok = n_samplers > 0;

	for (unsigned int i = 0; i < n_samplers; i++) {
		char what[32];

		snprintf(what, sizeof(what), "sampler %u", i);
		sampler_wait(&samplers[i], cycles / samplers[i].period);
		ok &= check_eq(event_count(samplers[i].fd), cycles, "%s: count",
			       what);
		ok &= sampler_clean(&samplers[i], what);
	}
	sleep_ms(60);
	for (unsigned int i = 0; i < n_samplers; i++)
		ok &= check_eq(sampler_drain(&samplers[i]),
			       cycles / samplers[i].period,
			       "sampler %u: samples of period %" PRIu64, i,
			       samplers[i].period);
	return ok;
}

static void close_all(void)
{
	while (n_samplers)
		sampler_close(&samplers[--n_samplers]);
}

static void test_one_box(const char *kind)
{
	static const uint64_t periods[2][4] = {
		{ 100, 100, 100, 100 }, { 60, 90, 150, 100 },
	};
	const struct cat_event *e = ticks_of(kind);
	char pmu[PMU_NAME_MAX];
	unsigned int n;

	if (!e || e->fixed || !pick_box(pmu, kind, 0)) {
		tap_skip("only one counter has a clock", "%s: several in one box",
			 kind);
		return;
	}
	n = __builtin_popcount(e->ctrs);
	for (unsigned int i = 0; i < 2; i++) {
		bool ok = true;

		for (unsigned int j = 0; j < n; j++)
			ok &= add_sampler(pmu, 0, periods[i][j], e);
		sim_advance(3600);
		ok &= all_exact(3600);
		close_all();
		tap_ok(ok, "%s: %u equal events of one box, %s", pmu, n,
		       i ? "different periods" : "always in the same cycle");
	}
}

static void test_two_boxes(const char *kind)
{
	const struct cat_event *e = ticks_of(kind);
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	if (!e || !pmu_name(pmu, kind, 1)) {
		tap_skip("there is only one", "%s: two boxes", kind);
		return;
	}
	for (unsigned int i = 0; pmu_name(pmu, kind, i); i++)
		ok &= add_sampler(pmu, 0, 500, e);
	sim_advance(20000);
	ok &= all_exact(20000);
	tap_ok(ok, "%s: all %u boxes in the same cycle", kind, n_samplers);
	close_all();
}

static void test_everything(void)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int k = 0; k < BOX_KINDS; k++) {
			const struct cat_event *e = ticks_of(box_kinds[k]);

			/* not all generations have all types */
			if (e)
				ok &= pick_box(pmu, box_kinds[k], pkg) &&
				      add_sampler(pmu, pkg, 400, e);
		}
	}
	sim_advance(20000);
	ok &= all_exact(20000);
	tap_ok(ok, "%u samplers of all box types in %d packages, in the same cycle",
	       n_samplers, packages());
	close_all();
}

/* --- counting beside it -------------------------------------------------- */

static void test_counting_beside(const char *kind)
{
	static const char *const beside[][2] = {
		{ "cbox", "clockticks" }, { "sbox", "clockticks" },
		{ "ha", "clockticks" }, { "ubox", "uclk" }, { "imc", "dclk" },
		{ "qpi", "clockticks" }, { "pcu", "clockticks" },
		{ "pcu", "pkg_c2_residency" }, { "r3qpi", "clockticks" },
		{ "fsb", "bus_clocks" },
	};
	const struct cat_event *e = ticks_of(kind);
	int fd[2 * COUNT(beside) + 1], n = 0;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	ok = e && pick_box(pmu, kind, 0) && open_sampler(&s, pmu, 0, 1000, e);
	if (!ok) {
		tap_skip("no event, or no box", "%s: counting beside it", kind);
		return;
	}
	/* the same event in the same box, if it can be counted twice */
	if (!e->fixed)
		fd[n++] = event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64,
				     e->config);
	for (unsigned int i = 0; i < COUNT(beside); i++) {
		if ((e->fixed && !strcmp(kind, beside[i][0])) ||
		    !cat_find(beside[i][0], beside[i][1]))
			continue;
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++) {
			pick_box(pmu, beside[i][0], pkg);
			fd[n++] = event_open(pmu, pmu_cpu(pmu, pkg), "%s",
					     beside[i][1]);
		}
	}
	sim_advance(50000);
	ok &= is_exact(&s, 50, 50000, "the sampler");
	for (int i = 0; i < n; i++) {
		ok &= check_eq(event_count(fd[i]), 50000, "counter %d", i);
		close(fd[i]);
	}
	sampler_close(&s);
	tap_ok(ok, "%s: %d counters beside a sampler lose nothing", kind, n);
}

static bool any_signals(void)
{
	char pmu[PMU_NAME_MAX];

	for (unsigned int k = 0; k < BOX_KINDS; k++)
		if (signals(box_kinds[k]) && pmu_name(pmu, box_kinds[k], 0))
			return true;
	return false;
}

int main(void)
{
	int err;

	catalogue(NULL);
	machine_setup("clock=manual", "");
	/* here samples come as fast as the machine can give them */
	err = max_sample_rate(100000000);
	if (err)
		tap_bail("perf_event_max_sample_rate: %s", strerror(-err));
	for (unsigned int k = 0; k < BOX_KINDS && *box_kinds[k]; k++)
		test_kind(box_kinds[k]);
	for (unsigned int k = 0; k < BOX_KINDS && *box_kinds[k]; k++) {
		test_steps(box_kinds[k]);
		test_cycles(box_kinds[k]);
		test_one_box(box_kinds[k]);
		test_two_boxes(box_kinds[k]);
	}
	test_wide("ubox", generation()->narrow);
	test_wide("cbox", generation()->narrow);
	test_wide("pcu", 48);
	test_wide("imc", 32);
	test_wide("qpi", 32);
	test_wide("fsb", 32);
	test_control("ha");
	test_control("imc");
	test_control("ubox");
	test_control("cbox");
	test_control("fsb");
	test_everything();
	for (unsigned int k = 0; k < BOX_KINDS && *box_kinds[k]; k++)
		test_counting_beside(box_kinds[k]);
	if (!any_signals())
		tap_ok(!signalling && !sim_stat("pmi"),
		       "no box signals, and no interrupt has come");
	else
		tap_ok(signalling && overflows >= (uint64_t)MANY * signalling,
		       "%" PRIu64 " overflows of boxes that signal", overflows);
	return tap_end();
}

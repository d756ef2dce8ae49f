// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sampling while cycles follow time: a stopped event has had exactly count /
 * period samples, perf's frequency mode finds its period, and counting events
 * beside it lose the frozen time and nothing else.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

enum {
	UCLK_KHZ = 400000,	/* slow, as emulated CPUs are */
	MAX_SAMPLERS = 2 * BOX_KINDS,
	BESIDE = 6,
};

static bool last_box(char *pmu, const char *kind)
{
	unsigned int n = 0;

	while (pmu_name(pmu, kind, n))
		n++;
	return n && pmu_name(pmu, kind, n - 1);
}

/* --- events that have been stopped --------------------------------------- */

/* It is disabled: all samples of what it counted have come, or are coming. */
static bool all_there(struct sampler *s, const char *what)
{
	uint64_t count = event_count(s->fd), want = count / s->period;
	bool ok = check_eq(sampler_settle(s, want), want,
			   "%s: samples of a count of %" PRIu64, what, count);

	ok &= check(count > 0, "%s: it counted nothing", what);
	return ok & sampler_clean(s, what);
}

/* For a while, all box types of all packages together. */
static void test_together(void)
{
	struct sampler s[MAX_SAMPLERS];
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	uint64_t sum = 0;
	bool ok = true;

	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		const struct cat_event *e = ticks_of(box_kinds[k]);

		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++, n++) {
			int err = -ENODEV;

			if (last_box(pmu, box_kinds[k]))
				err = sampler_open(&s[n], pmu,
						   pmu_cpu(pmu, pkg),
						   20000003 + 1000000 * n,
						   "config=%#" PRIx64,
						   e->config);
			ok &= check_eq(-err, 0, "%s opens", pmu);
		}
	}
	sleep_ms(2000);
	for (unsigned int i = 0; i < n; i++)
		sampler_disable(&s[i]);
	for (unsigned int i = 0; i < n; i++) {
		ok &= all_there(&s[i], box_kinds[i / 2]);
		sum += s[i].samples;
		sampler_close(&s[i]);
	}
	tap_ok(ok && sum, "%u events of all box types at once: all of %" PRIu64
	       " samples", n, sum);
}

/* Stopped and started often, so that overflows are often just on their way. */
static void test_on_and_off(const char *kind, unsigned int rounds)
{
	const struct cat_event *e = ticks_of(kind);
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok = true;
	int err;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: on and off", kind);
		return;
	}
	err = sampler_open(&s, pmu, pmu_cpu(pmu, 0), 400009,
			   "config=%#" PRIx64, e->config);
	ok = check_eq(-err, 0, "%s opens", pmu);
	for (unsigned int i = 0; ok && i < rounds; i++) {
		usleep(500 + 37 * (i % 50));
		ok &= check_eq(sampler_disable(&s), 0, "disable");
		if (i % 10 == 9)
			ok &= all_there(&s, pmu);
		ok &= check_eq(sampler_enable(&s), 0, "enable");
	}
	sampler_disable(&s);
	ok &= all_there(&s, pmu);
	tap_ok(ok, "%s: all of %" PRIu64 " samples, though it was stopped %u times",
	       pmu, s.samples, rounds);
	sampler_close(&s);
}

/* --- frequency ----------------------------------------------------------- */

static uint64_t period_sum, period_max;

static void add_period(struct sampler *s, const struct sample *sample)
{
	(void)s;
	period_sum += sample->period;
	if (sample->period > period_max)
		period_max = sample->period;
}

static void spin_ms(unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (now_ns() < end)
		;
}

/*
 * On a CPU that is busy all the time, or one that mostly idles and so has no
 * tick.  The first half second is for finding the period.
 */
static void test_frequency(const char *kind, unsigned int frequency, bool busy)
{
	void (*pass_ms)(unsigned int ms) = busy ? spin_ms : sleep_ms;
	const struct cat_event *e = ticks_of(kind);
	uint64_t count, start, ns, want, before;
	char pmu[PMU_NAME_MAX];
	struct perf_event_attr attr;
	struct sampler s;
	bool ok;
	int err;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: frequency", kind);
		return;
	}
	pmu_attr(&attr, pmu, "");
	attr.config = e->config;
	attr.freq = 1;
	attr.sample_freq = frequency;
	attr.disabled = 1;
	cpu_pin(busy ? pmu_cpu(pmu, packages() - 1) : 0);
	err = sampler_open_attr(&s, &attr, pmu_cpu(pmu, packages() - 1));
	s.each = add_period;
	period_sum = period_max = 0;
	sampler_enable(&s);
	pass_ms(500);
	before = sampler_drain(&s);
	start = now_ns();
	pass_ms(2000);
	sampler_disable(&s);
	ns = now_ns() - start;
	sampler_settle(&s, 0);
	count = event_count(s.fd);
	want = frequency * ns / 1000000000;
	ok = check_eq(-err, 0, "%s opens", pmu);
	ok &= check(s.samples - before > want / 2 &&
		    s.samples - before < want * 2,
		    "%" PRIu64 " samples, expected about %" PRIu64,
		    s.samples - before, want);
	/* a sample stands for all that was counted since the one before it */
	ok &= check(period_sum <= count && count - period_sum <= 2 * period_max,
		    "the samples' periods add up to %" PRIu64 ", the count is %" PRIu64,
		    period_sum, count);
	ok &= sampler_clean(&s, pmu);
	tap_ok(ok, "%s: %u samples a second on %s CPU, and their periods add up to the count",
	       pmu, frequency, busy ? "a busy" : "an idle");
	sampler_close(&s);
}

/* --- counting beside it -------------------------------------------------- */

/* Counters of package 0, read between two readings of one in package 1. */
struct instant {
	uint64_t here[BESIDE];
	uint64_t there, spread;
	uint64_t frozen_ns;
};

/* The best of some tries: the one with the least time between. */
static void look(const int *here, unsigned int n, int there,
		 struct instant *best)
{
	best->spread = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		struct instant now;
		uint64_t first, last;

		now.frozen_ns = sim_stat("frozen_ns");
		first = event_count(there);
		for (unsigned int j = 0; j < n; j++)
			now.here[j] = event_count(here[j]);
		last = event_count(there);
		now.there = first + (last - first) / 2;
		now.spread = (last - first) / 2 + 1;
		if (now.spread < best->spread)
			*best = now;
	}
}

/*
 * Package 1 is not sampled and has all the cycles there are. What package 0
 * counted less is the time that the simulator says it was frozen for.
 */
static void test_frozen_time(const char *kind)
{
	static const char *const beside[BESIDE][2] = {
		{ "cbox", "clockticks" }, { "ha", "clockticks" },
		{ "ubox", "uclk" }, { "imc", "dclk" }, { "pcu", "clockticks" },
		{ "qpi", "clockticks" },
	};
	const struct cat_event *e = ticks_of(kind);
	struct instant before, after;
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	uint64_t frozen, freezes;
	const char *name[BESIDE];
	int here[BESIDE], there;
	struct sampler s;
	bool ok = true;

	if (packages() < 2 || !pmu_name(pmu, kind, 0)) {
		tap_skip("needs two packages", "%s: frozen time", kind);
		return;
	}
	/* another box than the sampler's: that one also stops to be programmed */
	for (unsigned int i = 0; i < BESIDE; i++) {
		if (!strcmp(beside[i][0], kind) || !last_box(pmu, beside[i][0]))
			continue;
		name[n] = beside[i][0];
		here[n++] = event_open(pmu, pmu_cpu(pmu, 0), "%s", beside[i][1]);
	}
	pmu_name(pmu, "cbox", 0);
	there = event_open(pmu, pmu_cpu(pmu, 1), "clockticks");
	cpu_pin(pmu_cpu(pmu, 0));
	look(here, n, there, &before);
	freezes = sim_stat("pmi");
	pmu_name(pmu, kind, 0);
	ok &= check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), 1000000,
				     "config=%#" PRIx64, e->config), 0,
		       "%s opens", pmu);
	sleep_ms(1000);
	sampler_close(&s);
	sleep_ms(50);
	freezes = sim_stat("pmi") - freezes;
	look(here, n, there, &after);
	frozen = (after.frozen_ns - before.frozen_ns) * (UCLK_KHZ / 1000) / 1000;
	for (unsigned int i = 0; i < n; i++) {
		int64_t lost = (after.there - before.there) -
			       (after.here[i] - before.here[i]);
		int64_t more = lost - (int64_t)frozen;
		/* a cycle at both ends of each freeze, besides */
		int64_t grain = before.spread + after.spread + 2 * freezes;

		ok &= check(more <= grain && -more <= grain,
			    "%s lost %" PRIi64 " cycles, frozen for %" PRIu64
			    ", grain %" PRIi64, name[i], lost, frozen,
			    grain);
		close(here[i]);
	}
	close(there);
	tap_ok(ok && freezes && s.samples <= freezes,
	       "%s: in %" PRIu64 " overflows counters lose the frozen %" PRIu64
	       " cycles and nothing else", kind, freezes, frozen);
}

int main(void)
{
	char params[64];

	catalogue(NULL);
	snprintf(params, sizeof(params), "clock=real uclk_khz=%u", UCLK_KHZ);
	machine_setup(params, "");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_together();
	for (unsigned int k = 0; k < BOX_KINDS; k++)
		test_on_and_off(box_kinds[k], 100);
	for (int busy = 0; busy < 2; busy++) {
		test_frequency("ha", 200, busy);
		test_frequency("ubox", 50, busy);
		test_frequency("cbox", 50, busy);
	}
	test_frozen_time("ha");
	test_frozen_time("pcu");
	return tap_end();
}

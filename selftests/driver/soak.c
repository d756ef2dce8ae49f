// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Long runs with the real clock. The samples of many overflows are compared with counts
 * of the hardware, and CPUs go offline and online while events sample: no sample may be
 * lost or doubled. The options set the duration; the default suits "make check".
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define CTL_EV_SEL	0xffULL
#define CTL_OV_EN	(1ULL << 20)
#define CTL_EN		(1ULL << 22)

enum {
	OVERFLOWS = 10000,
	CYCLES = 30,		/* times that a CPU goes offline and online */
	UCLK_KHZ = 400000,
	OFTEN = 4000037,	/* sample period: some 100 samples a second of each event */
	SELDOM = 40000003,	/* sample period that leaves CPUs the time for hotplug */
	PROGRESS_S = 60,
	MAX_PAIRS = 64,
};

/**
 * struct pair - a sampling event and an equal counting event in the same box
 * @keep: a third event, which keeps the box counting when the other two are disabled
 * @counter: the counting event
 * @ctr: number of the hardware counter of @counter
 * @truth: last value of this hardware counter
 */
struct pair {
	char pmu[PMU_NAME_MAX];
	int pkg, keep, counter;
	struct sampler sampler;
	unsigned int ctr;
	uint64_t truth;
};

static struct pair pairs[MAX_PAIRS];
static unsigned int n_pairs;
static uint64_t period;

/* Read a register from the simulator, without the driver. */
static uint64_t reg(const struct pair *p, const char *name, unsigned int n)
{
	uint64_t value = 0;
	char text[64];

	snprintf(text, sizeof(text), "%s %s%u", pmu_box(p->pmu), name, n);
	sim_register(p->pkg, text, &value);
	return value;
}

/* Find the hardware counter that counts @e with overflow interrupts disabled. */
static bool find_counter(struct pair *p, const struct cat_event *e)
{
	for (p->ctr = 0; p->ctr < 4; p->ctr++) {
		uint64_t ctl = reg(p, "ctl", p->ctr);

		if ((ctl & CTL_EN) && (ctl & CTL_EV_SEL) == (e->config & CTL_EV_SEL) &&
		    !(ctl & CTL_OV_EN) && !(ctl >> 24))
			return true;
	}
	return false;
}

/*
 * Open the events of a pair. @group: the sampling event leads the counting event, so that
 * both start and stop in the same cycle. The counting event is found by its control
 * register, which does not enable interrupts; so the box must be able to interrupt.
 */
static bool open_pair(struct pair *p, const char *type, int pkg,
		      const struct cat_event *e, bool group)
{
	struct perf_event_attr attr;
	int cpu, err;

	p->pkg = pkg;
	if (!pmu_name(p->pmu, type, 0))
		return check(false, "no %s", type);
	cpu = pmu_cpu(p->pmu, pkg);
	p->keep = event_open(p->pmu, cpu, "config=%#" PRIx64,
			     e->config | (uint64_t)1 << 24);
	pmu_attr(&attr, p->pmu, "");
	attr.config = e->config;
	attr.disabled = 1;
	attr.sample_period = period;
	err = sampler_open_attr(&p->sampler, &attr, cpu);
	attr.sample_period = 0;
	attr.disabled = !group;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	p->counter = perf_open(&attr, -1, cpu, group ? p->sampler.fd : -1);
	return check(!err && p->keep >= 0 && p->counter >= 0,
		     "%s of package %d opens", p->pmu, pkg);
}

/* Enable both events of a pair. The counting event has counted 0 until then. */
static bool start_pair(struct pair *p, const struct cat_event *e, bool group)
{
	bool ok = !sampler_enable(&p->sampler);

	if (!group)
		ok &= !ioctl(p->counter, PERF_EVENT_IOC_ENABLE, 0);
	return check(ok && find_counter(p, e), "%s starts", p->pmu);
}

static bool open_pairs(bool group)
{
	bool ok = true;

	n_pairs = 0;
	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct cat_event *e = ticks_of(box_types[k]);

		/* a UBox cannot be frozen, so its events do not start in one cycle */
		if (!e || e->fixed || !signals(box_types[k]) ||
		    !strcmp(box_types[k], "ubox"))
			continue;
		/* three counters: for the sampling, the counting and the keeping event */
		if (__builtin_popcount(e->ctrs) < 3)
			continue;
		for (int pkg = 0; pkg < packages(); pkg++) {
			struct pair *p = &pairs[n_pairs++];

			ok = ok && open_pair(p, box_types[k], pkg, e, group) &&
			     start_pair(p, e, group);
		}
	}
	return ok && n_pairs;
}

static void stop_pair(struct pair *p)
{
	sampler_disable(&p->sampler);
	ioctl(p->counter, PERF_EVENT_IOC_DISABLE, 0);
	p->truth = reg(p, "ctr", p->ctr);
}

static void close_pair(struct pair *p)
{
	close(p->counter);
	sampler_close(&p->sampler);
	close(p->keep);
}

static uint64_t take_samples(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < n_pairs; i++)
		n += sampler_drain(&pairs[i].sampler);
	return n;
}

/* Print the progress of a long run, once in PROGRESS_S seconds. */
static void progress(const char *what, uint64_t done, uint64_t all)
{
	static uint64_t reported;

	if (now_ns() - reported < PROGRESS_S * 1000000000ULL)
		return;
	if (reported)
		tap_diag("%s: %" PRIu64 " of %" PRIu64, what, done, all);
	reported = now_ns();
}

/*
 * Disable all pairs, compare samples and counts with the hardware's counts, and close the
 * pairs. Add the number of samples to @samples.
 */
static bool account(const char *what, bool group, uint64_t *samples)
{
	uint64_t lost = 0, doubled = 0;
	bool ok = true;

	for (unsigned int i = 0; i < n_pairs; i++)
		stop_pair(&pairs[i]);
	for (unsigned int i = 0; i < n_pairs; i++) {
		struct pair *p = &pairs[i];
		uint64_t count = event_count(p->sampler.fd), got, want;

		/*
		 * Outside a group, the sampling event pauses while events migrate, so
		 * it has fewer cycles than the counting event.
		 */
		want = (group ? p->truth : count) / period;
		got = sampler_settle(&p->sampler, want);
		*samples += got;
		lost += want > got ? want - got : 0;
		doubled += got > want ? got - want : 0;
		ok &= check_eq(got, want, "%s of package %d: samples", p->pmu,
			       p->pkg);
		ok &= check_eq(event_count(p->counter), p->truth,
			       "%s of package %d: the event beside it", p->pmu,
			       p->pkg);
		if (group)
			ok &= check_eq(count, p->truth,
				       "%s of package %d: the sampler's count",
				       p->pmu, p->pkg);
		/* outside a group, samples are of more than one CPU */
		if (!group)
			p->sampler.odd = 0;
		ok &= sampler_clean(&p->sampler, p->pmu);
		close_pair(p);
	}
	tap_diag("%s: %" PRIu64 " samples lost, %" PRIu64 " doubled", what,
		 lost, doubled);
	return ok;
}

/*
 * Take the perf CPU of a package offline, with interrupts pending, and then online again.
 */
static bool cycle_cpu(int pkg)
{
	int cpu = pmu_cpu("hswep_pcu", pkg);
	int err = cpu_set_online(cpu, false);

	if (!check(!err, "CPU %d leaves: %s", cpu, strerror(-err)))
		return false;
	sleep_ms(5);
	err = cpu_set_online(cpu, true);
	return check(!err, "CPU %d comes back: %s", cpu, strerror(-err));
}

/* Options of the command line: number of overflows, and of CPUs that go offline */
static uint64_t overflows = OVERFLOWS, hotplugs = CYCLES;

FIXTURE(soak) {};

FIXTURE_SETUP(soak) { }

FIXTURE_TEARDOWN(soak)
{
	expect_no_complaint(_metadata);
}

TEST_F(soak, overflows_give_a_sample_each_and_counts_are_the_hardwares)
{
	uint64_t samples = 0;
	bool ok;

	period = OFTEN;
	ok = open_pairs(true);
	while (ok && (samples = take_samples()) < overflows) {
		progress("overflows", samples, overflows);
		sleep_ms(20);
	}
	samples = 0;
	EXPECT_TRUE(account("overflows", true, &samples) && ok);
	EXPECT_GE(samples, overflows);
	TH_LOG("%ju overflows of %u events", (uintmax_t)samples, n_pairs);
}

TEST_F(soak, cpus_leave_and_return_and_no_sample_is_lost_or_doubled)
{
	uint64_t samples = 0;
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= cpu_can_leave(package_cpu(pkg, 0)) &&
		      package_cpu(pkg, 1) >= 0;
	if (!ok)
		SKIP(return, "needs two CPUs a package that can all leave (6.1: cpu0_hotplug)");
	period = SELDOM;
	ok = open_pairs(false);
	for (uint64_t i = 0; i < hotplugs && ok; i++) {
		ok = cycle_cpu(i % packages());
		take_samples();
		progress("CPUs", i, hotplugs);
	}
	EXPECT_TRUE(account("CPUs", false, &samples) && ok);
	EXPECT_LT(0, samples);
	TH_LOG("%ju CPUs left and returned under %u events: %ju samples",
	       (uintmax_t)hotplugs, n_pairs, (uintmax_t)samples);
}

static void prepare(int argc, char **argv)
{
	static const struct option names[] = {
		{ "overflows", required_argument, NULL, 'o' },
		{ "hotplugs", required_argument, NULL, 'h' },
		{ }
	};
	char params[64];
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == 'o')
			overflows = strtoull(optarg, NULL, 0);
		else if (c == 'h')
			hotplugs = strtoull(optarg, NULL, 0);
		else
			tap_bail("usage: soak [--overflows N] [--hotplugs N]");
	}
	snprintf(params, sizeof(params), "clock=real uclk_khz=%u", UCLK_KHZ);
	machine_setup(params, "freeze_budget=1000");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	log_mark();
}

HARNESS_MAIN_AFTER(prepare);

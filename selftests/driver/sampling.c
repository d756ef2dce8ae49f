// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sampling is exact. With the manual clock, N = period x k increments give samples of k
 * periods, without a lost or a repeated sample: for every box type, for several counters,
 * boxes and packages that overflow in the same cycle, and beside counting events. If
 * overflows of the box interrupt, each period has a sample. Otherwise the driver's timer
 * takes one sample for all periods that have ended.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define NO_SHAPE	((struct shape){ 0 })

enum {
	PERIOD = 7,
	OVERFLOWS = 6300,	/* for each box type, in each of two packages */
	MAX_SAMPLERS = 64,
};

_Static_assert(OVERFLOWS * 2 * 8 >= 100000, "of Haswell's 8 types that signal");

MACHINE_OF_ALL_TESTS("clock=manual", "");

/*
 * Drain the buffer, and check that the samples have exactly @periods periods, that the
 * count is @count, and that there is no other record.
 */
static bool is_exact(struct sampler *s, uint64_t periods, uint64_t count,
		     const char *what)
{
	bool ok = check_eq(sampler_settle(s, periods), periods, "%s: periods",
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

/* Find the PMU of the first box of a type for package 0, of the last box for others. */
static bool pick_box(char *pmu, const char *type, int pkg)
{
	unsigned int n = 0;

	while (pmu_name(pmu, type, n))
		n++;
	return n && pmu_name(pmu, type, pkg ? n - 1 : 0);
}

/* --- one event ----------------------------------------------------------- */

/*
 * Check that the handler of an overflow has cleared the box status; otherwise another CPU
 * would handle the overflow again.
 */
static bool no_status_left(const char *pmu, int pkg)
{
	uint64_t status = 0;
	char name[80];

	snprintf(name, sizeof(name), "%s box_status", pmu_box(pmu));
	sim_register(pkg, name, &status);
	return check_eq(status, 0, "%s: status", pmu);
}

/* Return whether this generation has a box type whose overflows interrupt. */
static bool any_signals(void)
{
	char pmu[PMU_NAME_MAX];

	for (unsigned int k = 0; *box_types[k]; k++)
		if (signals(box_types[k]) && pmu_name(pmu, box_types[k], 0))
			return true;
	return false;
}

static void prepare(struct __test_metadata *_metadata)
{
	/* samples of these tests arrive as fast as the machine can deliver them */
	ASSERT_EQ(0, -max_sample_rate(100000000));
}

/* Check that there was no PMI on a machine without overflow interrupts. */
static void expect_no_pmi_where_none_signals(struct __test_metadata *_metadata)
{
	if (!any_signals()) {
		EXPECT_EQ(0, sim_stat("pmi"));
	}
}

FIXTURE(type)
{
	const struct cat_event *plain, *ticks;
};

FIXTURE_VARIANT(type) { const char *type; };

VARIANTS_OF_TYPES(type);

FIXTURE_SETUP(type)
{
	prepare(_metadata);
	self->plain = plain_of(variant->type);
	self->ticks = ticks_of(variant->type);
}

FIXTURE_TEARDOWN(type)
{
	expect_no_pmi_where_none_signals(_metadata);
}

/* Each overflow of an event gives a sample, also when a period is sent in two parts. */
static void expect_each_overflow(struct __test_metadata *_metadata,
				 const char *type, const struct cat_event *e,
				 int pkg)
{
	uint64_t before = overflow_stat(pkg, "count");
	uint64_t merged = package_stat(pkg, "throttled");
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	ASSERT_TRUE(pick_box(pmu, type, pkg));
	ASSERT_TRUE(open_sampler(&s, pmu, pkg, PERIOD, e));
	send_traffic(pmu, pkg, e, (uint64_t)PERIOD * OVERFLOWS + 3, 1);
	EXPECT_TRUE(is_exact(&s, OVERFLOWS, (uint64_t)PERIOD * OVERFLOWS + 3,
			     pmu));
	/* three increments of the next period have been sent: leave out the last one */
	send_traffic(pmu, pkg, e, PERIOD - 4, 1);
	EXPECT_TRUE(is_exact(&s, OVERFLOWS,
			     (uint64_t)PERIOD * (OVERFLOWS + 1) - 1,
			     "one before the next"));
	send_traffic(pmu, pkg, e, 1, 1);
	EXPECT_TRUE(is_exact(&s, OVERFLOWS + 1,
			     (uint64_t)PERIOD * (OVERFLOWS + 1), "the next"));
	merged = package_stat(pkg, "throttled") - merged;
	before = overflow_stat(pkg, "count") - before;
	EXPECT_EQ(OVERFLOWS + 1, before + merged);
	/*
	 * two overflows give one sample if the second precedes the delivery of the
	 * first
	 */
	EXPECT_LE(s.samples, before);
	if (signals(type)) {
		EXPECT_EQ(0, merged);
		EXPECT_TRUE(no_status_left(pmu, pkg));
	}
	sampler_close(&s);
}

/*
 * The driver finds overflows by interrupt or, for boxes that do not interrupt, by
 * timer.
 */
TEST_F(type, each_overflow_gives_a_sample)
{
	const uint64_t want = (uint64_t)(OVERFLOWS + 1) * packages();
	uint64_t pmi = sim_stat("pmi"), timer = 0, merged = 0;

	if (!self->plain)
		SKIP(return, "no event, or no box");
	/*
	 * no limit: the driver arms each counter again at once, however slow interrupts
	 * are
	 */
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	for (int pkg = 0; pkg < packages(); pkg++) {
		timer -= overflow_stat(pkg, "timer_served");
		merged -= package_stat(pkg, "throttled");
		expect_each_overflow(_metadata, variant->type, self->plain, pkg);
		timer += overflow_stat(pkg, "timer_served");
		merged += package_stat(pkg, "throttled");
	}
	EXPECT_EQ(0, -driver_freeze_budget(10));
	pmi = sim_stat("pmi") - pmi;
	TH_LOG("%s: %ju interrupts, %ju by the timer", self->plain->name,
	       (uintmax_t)pmi, (uintmax_t)timer);
	/*
	 * The timer may find some overflows before their interrupts arrive, but
	 * interrupts must find others.
	 */
	if (signals(variant->type)) {
		EXPECT_EQ(want, pmi);
		EXPECT_LT(timer, want);
	} else {
		EXPECT_EQ(0, pmi);
		EXPECT_EQ(want, timer + merged);
	}
}

/* An increment larger than the period gives one overflow: a sample of several periods. */
TEST_F(type, steps_larger_and_smaller_than_the_period)
{
	static const struct {
		uint64_t period;
		unsigned int value, n;
	} steps[] = {
		{ 1, 1, 100 }, { 3, 10, 100 }, { 10, 3, 200 }, { 1, 20, 20 },
		{ 1000, 999, 50 },
	};
	const struct cat_event *e = self->plain;
	int pkg = packages() - 1;
	char pmu[PMU_NAME_MAX];

	if (!e || !pick_box(pmu, variant->type, pkg))
		SKIP(return, "no event, or no box");
	if (generation()->one_a_cycle)
		SKIP(return, "no increment is larger than one");
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		uint64_t total = (uint64_t)steps[i].n * steps[i].value;
		struct sampler s;

		ASSERT_TRUE(open_sampler(&s, pmu, pkg, steps[i].period, e));
		send_traffic(pmu, pkg, e, steps[i].n, steps[i].value);
		EXPECT_TRUE(is_exact(&s, total / steps[i].period, total, pmu));
		sampler_close(&s);
	}
}

/* Return the event of a box type with the largest increments, which differ by cycle. */
static const struct cat_event *uneven_of(const char *type)
{
	const struct cat_event *best = NULL;

	for_each_cat_event(e)
		if (!strcmp(e->box, type) && !e->fixed && !e->free &&
		    !strchr(e->string, '?') &&
		    (!best || e->max_inc > best->max_inc))
			best = e;
	return best;
}

TEST_F(type, all_increments_in_2011_cycles)
{
	const struct cat_event *event[] = {
		self->ticks, uneven_of(variant->type),
		!strcmp(variant->type, "imc") ? cat_find("imc", "dclk") : NULL,
	};
	unsigned int tried = 0;

	if (!cat_has_waves(variant->type))
		SKIP(return, "no event, or no box");
	for (unsigned int i = 0; i < ARRAY_SIZE(event); i++) {
		const struct cat_event *e = event[i];
		uint64_t start = sim_cycles(), n, timer;
		char pmu[PMU_NAME_MAX];
		struct sampler s;

		if (!e)
			continue;
		timer = overflow_stat(0, "timer_served");
		ASSERT_TRUE(pick_box(pmu, variant->type, 0));
		ASSERT_TRUE(open_sampler(&s, pmu, 0, 97, e));
		sim_advance(2011);
		n = cat_expect(e, NO_SHAPE, start, 2011);
		EXPECT_TRUE(is_exact(&s, n / 97, n, pmu)) {
			TH_LOG("%s", e->name);
		}
		sampler_close(&s);
		timer = overflow_stat(0, "timer_served") - timer;
		EXPECT_TRUE(!signals(variant->type) || timer < n / 97) {
			TH_LOG("%s: all by the timer, none by interrupt", e->name);
		}
		tried++;
	}
	if (!tried)
		SKIP(return, "no event, or no box");
}

/*
 * Periods of more than half of a counter's range, and of nearly all of it. The driver
 * reads only the low 32 bits of a PCI counter if the time since the last read is too
 * short for more increments. In this test cycles take no time, so PCI counters are
 * tested up to 32 bits.
 */
FIXTURE_OF(long_periods, prepare(_metadata),
	   expect_no_pmi_where_none_signals(_metadata));

FIXTURE_VARIANT(long_periods)
{
	const char *type;
	unsigned int bits;	/* width; 0: that of the generation's narrow counters */
};

VARIANT_OF_TYPE(long_periods, cbox);

/* the UBox's clock has a fixed counter, which is not narrow */
FIXTURE_VARIANT_ADD(long_periods, ubox) { .type = "ubox", .bits = 48 };
FIXTURE_VARIANT_ADD(long_periods, pcu) { .type = "pcu", .bits = 48 };
FIXTURE_VARIANT_ADD(long_periods, imc) { .type = "imc", .bits = 32 };
FIXTURE_VARIANT_ADD(long_periods, qpi) { .type = "qpi", .bits = 32 };
FIXTURE_VARIANT_ADD(long_periods, fsb) { .type = "fsb", .bits = 32 };

/*
 * A counter of 44 bits or more does not reach its end within a test. For these the test
 * checks the value from which the counter starts.
 */
TEST_F(long_periods, end_in_the_right_cycle)
{
	unsigned int bits = variant->bits ? variant->bits : generation()->narrow;
	const struct cat_event *e = ticks_of(variant->type);
	const uint64_t most = (1ULL << bits) - 1;
	/* a period of more than @most takes several overflows */
	const uint64_t periods[] = { (1ULL << (bits - 1)) + 5, most, most + 5,
				     INT64_MAX };
	char pmu[PMU_NAME_MAX];

	if (!e || !pick_box(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct sampler s;

		ASSERT_TRUE(open_sampler(&s, pmu, 0, periods[i], e));
		if (bits > 32) {
			if (signals(variant->type))
				EXPECT_TRUE(counter_is_set(pmu, most + 1 -
							   (periods[i] < most ?
							    periods[i] : most)));
			sampler_close(&s);
			continue;
		}
		if (periods[i] > most) {
			sampler_close(&s);
			continue;
		}
		sim_advance(periods[i] - 1);
		EXPECT_TRUE(is_exact(&s, 0, periods[i] - 1,
				     "one before the first"));
		sim_advance(1);
		EXPECT_TRUE(is_exact(&s, 1, periods[i], "the first"));
		sim_advance(periods[i]);
		EXPECT_TRUE(is_exact(&s, 2, 2 * periods[i], "the second"));
		sampler_close(&s);
	}
}

/* --- controlling an event ------------------------------------------------ */

FIXTURE(control)
{
	struct sampler s;
	bool open;
};

FIXTURE_VARIANT(control) { const char *type; };

VARIANT_OF_TYPE(control, ha);
VARIANT_OF_TYPE(control, imc);
VARIANT_OF_TYPE(control, ubox);
VARIANT_OF_TYPE(control, cbox);
VARIANT_OF_TYPE(control, fsb);

FIXTURE_SETUP(control)
{
	const struct cat_event *e = ticks_of(variant->type);
	char pmu[PMU_NAME_MAX];

	prepare(_metadata);
	if (!e || !pick_box(pmu, variant->type, 0))
		return;
	self->open = open_sampler(&self->s, pmu, 0, 100, e);
	ASSERT_TRUE(self->open);
}

FIXTURE_TEARDOWN(control)
{
	if (self->open)
		sampler_close(&self->s);
	expect_no_pmi_where_none_signals(_metadata);
}

/*
 * A disabled event keeps the remainder of its period. A new period is in effect from the
 * ioctl on. A limit of samples (PERF_EVENT_IOC_REFRESH) disables the event.
 */
TEST_F(control, pause_new_period_and_limit)
{
	struct sampler *s = &self->s;
	uint64_t period = 30;

	if (!self->open)
		SKIP(return, "no event, or no box");
	sim_advance(160);
	EXPECT_TRUE(is_exact(s, 1, 160, "at first"));
	sampler_disable(s);
	sim_advance(1000);
	EXPECT_TRUE(is_exact(s, 1, 160, "disabled"));
	sampler_enable(s);
	sim_advance(39);
	EXPECT_TRUE(is_exact(s, 1, 199, "enabled"));
	sim_advance(1);
	EXPECT_TRUE(is_exact(s, 2, 200, "with the rest of the period"));

	s->period = period;
	ASSERT_EQ(0, ioctl(s->fd, PERF_EVENT_IOC_PERIOD, &period));
	sim_advance(29);
	EXPECT_TRUE(is_exact(s, 2, 229, "one before the new period"));
	sim_advance(1);
	EXPECT_TRUE(is_exact(s, 3, 230, "the new period"));
	sim_advance(300);
	EXPECT_TRUE(is_exact(s, 13, 530, "ten more"));

	sampler_disable(s);
	if (!signals(variant->type))
		return;
	/* perf disables the event after three samples */
	ASSERT_EQ(0, ioctl(s->fd, PERF_EVENT_IOC_REFRESH, 3));
	for (int i = 0; i < 5; i++) {
		sim_advance(30);
		sampler_settle(s, 0);
	}
	EXPECT_TRUE(is_exact(s, 16, 620, "three more"));
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

/* Check that each sampler has counted @cycles cycles and has all their samples. */
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

TEST_F(type, several_in_one_box)
{
	static const uint64_t periods[2][4] = {
		/* overflows always in the same cycle, and in different cycles */
		{ 100, 100, 100, 100 },
		{ 60, 90, 150, 100 },
	};
	const struct cat_event *e = self->ticks;
	char pmu[PMU_NAME_MAX];
	unsigned int n;

	if (!e || !pick_box(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	if (e->fixed)
		SKIP(return, "only one counter has a clock");
	n = __builtin_popcount(e->ctrs);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < n; j++) {
			ASSERT_TRUE(add_sampler(pmu, 0, periods[i][j], e));
		}
		sim_advance(3600);
		EXPECT_TRUE(all_exact(3600)) {
			TH_LOG("%u in %s, %s", n, pmu, i ? "different periods" :
			       "the same period");
		}
		close_all();
	}
}

TEST_F(type, all_boxes_in_the_same_cycle)
{
	const struct cat_event *e = self->ticks;
	char pmu[PMU_NAME_MAX];

	if (!e || !pmu_name(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	if (!pmu_name(pmu, variant->type, 1))
		SKIP(return, "there is only one");
	for (unsigned int i = 0; pmu_name(pmu, variant->type, i); i++) {
		ASSERT_TRUE(add_sampler(pmu, 0, 500, e));
	}
	sim_advance(20000);
	EXPECT_TRUE(all_exact(20000));
	close_all();
}

FIXTURE_OF(all_types, prepare(_metadata),
	   expect_no_pmi_where_none_signals(_metadata));

TEST_F(all_types, of_all_packages_in_the_same_cycle)
{
	char pmu[PMU_NAME_MAX];

	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int k = 0; *box_types[k]; k++) {
			const struct cat_event *e = ticks_of(box_types[k]);

			/* not all generations have all types */
			if (!e)
				continue;
			ASSERT_TRUE(pick_box(pmu, box_types[k], pkg));
			ASSERT_TRUE(add_sampler(pmu, pkg, 400, e));
		}
	}
	sim_advance(20000);
	EXPECT_TRUE(all_exact(20000));
	close_all();
}

/* --- counting beside a sampling event ------------------------------------ */

TEST_F(type, counters_beside_it_lose_nothing)
{
	static const char *const beside[][2] = {
		{ "cbox", "clockticks" }, { "sbox", "clockticks" },
		{ "ha", "clockticks" }, { "ubox", "uclk" }, { "imc", "dclk" },
		{ "qpi", "clockticks" }, { "pcu", "clockticks" },
		{ "pcu", "pkg_c2_residency" }, { "r3qpi", "clockticks" },
		{ "fsb", "bus_clocks" },
	};
	const struct cat_event *e = self->ticks;
	int fd[2 * ARRAY_SIZE(beside) + 1], n = 0;
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	if (!e || !pick_box(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	ASSERT_TRUE(open_sampler(&s, pmu, 0, 1000, e));
	/* the same event in the same box, unless only a fixed counter has the event */
	if (!e->fixed)
		fd[n++] = event_open(pmu, pmu_cpu(pmu, 0), "config=%#" PRIx64,
				     e->config);
	for (unsigned int i = 0; i < ARRAY_SIZE(beside); i++) {
		if ((e->fixed && !strcmp(variant->type, beside[i][0])) ||
		    !cat_find(beside[i][0], beside[i][1]))
			continue;
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++) {
			pick_box(pmu, beside[i][0], pkg);
			fd[n++] = event_open(pmu, pmu_cpu(pmu, pkg), "%s",
					     beside[i][1]);
		}
	}
	EXPECT_GT(n, 0);
	sim_advance(50000);
	EXPECT_TRUE(is_exact(&s, 50, 50000, "the sampler"));
	for (int i = 0; i < n; i++) {
		EXPECT_EQ(50000, event_count(fd[i])) {
			TH_LOG("counter %d of %d", i, n);
		}
		close(fd[i]);
	}
	sampler_close(&s);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples with the real clock, at perf's default limit of the sample rate. For any box
 * type and any sample period, however short: the sum of the samples' periods is the
 * event's count, the count and the time for which the box did not count are all cycles of
 * the clock, and samples are in order of time.
 */
#include <inttypes.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/share.h"
#include "lib/c/sim.h"

enum { KHZ = 2500000, LONG_MS = 1000, DRAIN_MS = 20 };

/* Largest period of a sample, and number of samples with another period than requested */
static uint64_t largest, other_periods;

/* Requested sample period */
static uint64_t requested;

static void note_period(struct sampler *s, const struct sample *sample)
{
	(void)s;
	if (sample->period > largest)
		largest = sample->period;
	other_periods += sample->period != requested;
}

/* Open a sampling event that counts each cycle. Return 0 or -errno. */
static int open_clock(struct sampler *s, const char *pmu, const char *type,
		      uint64_t period)
{
	int err = sampler_open(s, pmu, pmu_cpu(pmu, 0), period,
			       "config=%#" PRIx64, ticks_of(type)->config);

	requested = period;
	largest = 0;
	other_periods = 0;
	s->each = note_period;
	/* accept samples with any period: note_period() counts other periods */
	s->period = 0;
	return err;
}

static void drain_for(struct sampler *s, unsigned int ms)
{
	for (unsigned int i = 0; i < ms / DRAIN_MS; i++) {
		sleep_ms(DRAIN_MS);
		sampler_drain(s);
	}
}

FIXTURE(sums)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(sums) { const char *type; };

VARIANTS_OF_TYPES(sums);

FIXTURE_SETUP(sums)
{
	machine_setup_once("clock=real", "");
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
}

FIXTURE_TEARDOWN(sums)
{
	expect_no_complaint(_metadata);
}

static void drain(void *s)
{
	sampler_drain(s);
}

/*
 * Sample with a period for LONG_MS. The samples' periods add up to the count, except for
 * the last period, which has not ended.
 */
static void expect_sums(struct __test_metadata *_metadata, const char *pmu,
			const char *type, uint64_t period)
{
	struct share share = { .khz = KHZ };
	uint64_t count, rest;
	struct sampler s;

	ASSERT_EQ(0, -open_clock(&s, pmu, type, period));
	share.fd = s.fd;
	share_measure(&share, 1, LONG_MS, drain, &s);
	EXPECT_EQ(0, -sampler_disable(&s));
	count = event_count(s.fd);
	sampler_settle(&s, 1);
	rest = count - s.weight;
	TH_LOG("%s/period=%ju/: %ju samples, largest %ju, throttled %ju times; their sum is %.2f %% of the count; counted %.2f %%, typically %.2f %%, paused %.2f %%, by overflows %.2f %%, charged %.2f %%, running %.2f %%",
	       pmu, (uintmax_t)period, (uintmax_t)s.samples, (uintmax_t)largest,
	       (uintmax_t)s.throttled, 100.0 * s.weight / count,
	       100 * share.counted, 100 * share.typical, 100 * share.paused,
	       100 * share.frozen, 100 * share.charged, 100 * share.running);
	EXPECT_GT(s.samples, 0);
	EXPECT_EQ(0, s.lost);
	/* no sample of another CPU, or older than the sample before */
	EXPECT_EQ(0, s.odd);
	EXPECT_LE(s.weight, count);
	/* the period that has not ended */
	EXPECT_LT(rest, period);
	EXPECT_EQ(1, share.running);
	EXPECT_GE(share.counted + share.paused, 0.995);
	/* overflows of a polled box do not freeze the package */
	EXPECT_TRUE(signals(type) || share.counted >= 0.995);
	sampler_close(&s);
}

TEST_F(sums, are_the_count_which_is_the_truth)
{
	expect_sums(_metadata, self->pmu, variant->type, 1000);
	expect_sums(_metadata, self->pmu, variant->type, 100000);
	expect_sums(_metadata, self->pmu, variant->type, 1000000);
}

/* --- fixed periods of boxes that interrupt --------------------------------------- */

FIXTURE(fixed)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(fixed)
{
	const char *type;
	uint64_t period;
};

FIXTURE_VARIANT_ADD(fixed, ha) { .type = "ha", .period = 1000000 };
FIXTURE_VARIANT_ADD(fixed, ha_short) { .type = "ha", .period = 50000 };
FIXTURE_VARIANT_ADD(fixed, pcu) { .type = "pcu", .period = 1000000 };
FIXTURE_VARIANT_ADD(fixed, imc) { .type = "imc", .period = 10000000 };

FIXTURE_SETUP(fixed)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=real", "");
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	/*
	 * Without a budget, interrupts may take all of the time of the event's CPU.  The
	 * samples are read on another one.
	 */
	cpu_pin(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	ASSERT_NE(pmu_cpu(self->pmu, 0), sysconf(_SC_NPROCESSORS_ONLN) - 1);
}

FIXTURE_TEARDOWN(fixed)
{
	EXPECT_EQ(0, -driver_freeze_budget(10));
	expect_no_complaint(_metadata);
}

/*
 * An overflow freezes the package, so no cycle is counted before the counter is armed
 * with the next period: each sample has the requested period, unless throttling merges
 * periods.
 */
TEST_F(fixed, periods_are_as_asked_unless_throttled)
{
	uint64_t throttled = package_stat(0, "throttled");
	struct sampler s;

	ASSERT_EQ(0, -open_clock(&s, self->pmu, variant->type, variant->period));
	drain_for(&s, LONG_MS);
	sampler_disable(&s);
	sampler_settle(&s, 1);
	throttled = package_stat(0, "throttled") - throttled;
	TH_LOG("%ju samples, %ju of another period, the largest %ju; throttled %ju times by the driver, %ju by perf",
	       (uintmax_t)s.samples, (uintmax_t)other_periods,
	       (uintmax_t)largest, (uintmax_t)throttled,
	       (uintmax_t)s.throttled);
	EXPECT_GT(s.samples, 10);
	EXPECT_EQ(0, s.odd);
	EXPECT_EQ(0, s.lost);
	EXPECT_LE(other_periods, throttled + s.throttled);
	sampler_close(&s);
}

TEST_HARNESS_MAIN

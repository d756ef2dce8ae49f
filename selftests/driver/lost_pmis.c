// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overflows of a box freeze its package, and the PMIs of the box never arrive, so that
 * only a timer ends these freezes. The freeze budget limits these freezes as well: all
 * events of the package run all the time and count nearly all cycles. The driver's
 * statistic of frozen time accounts for the missing cycles.
 */
#include <inttypes.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/share.h"
#include "lib/c/sim.h"

enum { KHZ = 2500000, LONG_MS = 10000, SETTLE_MS = 1000 };

/* Events of package 0 that count meanwhile */
static const struct {
	const char *type, *event;
} beside[] = {
	{ "ubox", "uclk" }, { "cbox", "clockticks" }, { "imc", "dclk" },
	{ "qpi", "clockticks" },
};

enum { BESIDE = ARRAY_SIZE(beside) };

FIXTURE(lost)
{
	struct sampler s;	/* of the box without PMIs */
	int fd[BESIDE];
};

FIXTURE_VARIANT(lost)
{
	const char *type;
	uint64_t period;
};

FIXTURE_VARIANT_ADD(lost, ha) { .type = "ha", .period = 1000 };
FIXTURE_VARIANT_ADD(lost, pcu) { .type = "pcu", .period = 1000000 };
FIXTURE_VARIANT_ADD(lost, imc) { .type = "imc", .period = 100000000 };

FIXTURE_SETUP(lost)
{
	char pmu[PMU_NAME_MAX];

	machine_setup("clock=real", "");
	log_mark();
	for (unsigned int i = 0; i < BESIDE; i++) {
		ASSERT_TRUE(pmu_name(pmu, beside[i].type, 0));
		self->fd[i] = event_open(pmu, pmu_cpu(pmu, 0), "%s", beside[i].event);
		ASSERT_GE(self->fd[i], 0);
	}
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	ASSERT_EQ(0, -sim_fault("no_pmi pkg=0 box=%s on", pmu_box(pmu)));
	ASSERT_EQ(0, -sampler_open(&self->s, pmu, pmu_cpu(pmu, 0), variant->period,
				   "config=%#" PRIx64,
				   ticks_of(variant->type)->config));
}

FIXTURE_TEARDOWN(lost)
{
	sampler_close(&self->s);
	for (unsigned int i = 0; i < BESIDE; i++)
		close(self->fd[i]);
	expect_nothing_left(_metadata);
}

static void drain(void *s)
{
	sampler_drain(s);
}

TEST_F(lost, cost_others_no_more_than_the_budget)
{
	struct share share[BESIDE];

	for (unsigned int i = 0; i < BESIDE; i++)
		share[i] = (struct share){ .fd = self->fd[i], .khz = KHZ };
	/* let the freezes use up the budget's credit for bursts */
	sleep_ms(SETTLE_MS);
	share_measure(share, BESIDE, LONG_MS, drain, &self->s);
	for (unsigned int i = 0; i < BESIDE; i++) {
		TH_LOG("%s counted %.2f %%, typically %.2f %%, frozen %.2f %%, charged %.2f %%, running %.2f %%",
		       beside[i].type, 100 * share[i].counted,
		       100 * share[i].typical, 100 * share[i].frozen,
		       100 * share[i].charged, 100 * share[i].running);
		EXPECT_EQ(1, share[i].running);
		EXPECT_GE(share[i].counted + share[i].frozen, 0.995);
		EXPECT_GE(share[i].counted + share[i].charged, 0.985);
		EXPECT_GE(share[i].typical, 0.985);
	}
	EXPECT_GT(sampler_drain(&self->s), 0);
}

TEST_HARNESS_MAIN

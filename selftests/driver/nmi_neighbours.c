// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other users of NMIs during sampling: a listener on NMI_UNKNOWN, which must not see
 * the uncore's PMIs, and a core PMU that unmasks LVTPC late, so that PMIs are dropped.
 */
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { PERIOD = 1000003, LONG_MS = 3000 };

FIXTURE(neighbours)
{
	struct sampler s;
};

FIXTURE_VARIANT(neighbours)
{
	const char *kind;
};

VARIANT_OF_KIND(neighbours, ha);
VARIANT_OF_KIND(neighbours, pcu);

FIXTURE_SETUP(neighbours)
{
	char pmu[PMU_NAME_MAX];

	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=real uclk_khz=400000", "freeze_budget=1000");
	log_mark();
	ASSERT_TRUE(pmu_name(pmu, variant->kind, 0));
	ASSERT_EQ(0, -sampler_open(&self->s, pmu, pmu_cpu(pmu, 0), PERIOD,
				   "clockticks"));
}

FIXTURE_TEARDOWN(neighbours)
{
	sampler_close(&self->s);
	EXPECT_EQ(0, -sim_core_pmu("off"));
	EXPECT_EQ(0, -sim_nmi_listener(false));
	expect_no_complaint(_metadata);
}

/*
 * Also threads that share a core and get the PMI without being the first to handle it.
 */
TEST_F_TIMEOUT(neighbours, listener_hears_of_no_pmi, UNHURRIED)
{
	uint64_t before = sim_stat("nmi_unknown"), pmis = sim_stat("pmi");

	EXPECT_EQ(0, -sim_nmi_listener(true));
	sleep_ms(LONG_MS);
	EXPECT_GT(sampler_drain(&self->s), 100);
	EXPECT_GT(sim_stat("pmi"), pmis + 100);
	EXPECT_EQ(before, sim_stat("nmi_unknown")) {
		TH_LOG("of %ju PMIs", (uintmax_t)(sim_stat("pmi") - pmis));
	}
}

/* Time for which package 0 is frozen by each sample, in ns */
static uint64_t frozen_each(struct sampler *s)
{
	uint64_t frozen = sim_stat("frozen_ns"), samples = sampler_drain(s);

	sleep_ms(LONG_MS);
	frozen = sim_stat("frozen_ns") - frozen;
	samples = sampler_drain(s) - samples;
	return samples ? frozen / samples : UINT64_MAX;
}

/*
 * If only the timer found dropped PMIs, each would freeze the package for up to 20 ms.
 * The core PMU's handler takes the same time in both cases, but drops PMIs only when it
 * unmasks LVTPC late.
 */
TEST_F_TIMEOUT(neighbours, dropped_pmis_are_found_at_once, UNHURRIED)
{
	uint64_t early, late, dropped;

	EXPECT_EQ(0, -sim_core_pmu("hz=4000 us=100 unmask=early"));
	early = frozen_each(&self->s);
	dropped = sim_stat("pmi_dropped");
	EXPECT_EQ(0, -sim_core_pmu("hz=4000 us=100 unmask=late"));
	late = frozen_each(&self->s);
	EXPECT_EQ(0, -sim_core_pmu("off"));
	dropped = sim_stat("pmi_dropped") - dropped;
	TH_LOG("frozen for %ju ns a sample beside an early core PMU, %ju beside a late one; %ju PMIs dropped",
	       (uintmax_t)early, (uintmax_t)late, (uintmax_t)dropped);
	EXPECT_GT(dropped, 20);
	EXPECT_LT(late, early + 1000000);
}

TEST_HARNESS_MAIN

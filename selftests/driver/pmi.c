// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts (PMIs) that never arrive, or arrive late. Without interrupts the driver
 * polls all boxes, and reports it in the log and in sysfs. A late interrupt must not
 * lose samples, and its NMI must not be unknown to the kernel. Also tests control
 * registers that must be written twice.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { OVERFLOWS = 10, PERIOD = 1000, CYCLES = 20500 };

static const char *const some_types[] = { "ubox", "ha", "pcu", "cbox", "r3qpi" };
#define SOME	ARRAY_SIZE(some_types)

/* --- no interrupt arrives --------------------------------------------------- */

FIXTURE(no_pmi) {};

FIXTURE_SETUP(no_pmi)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_sim("clock=manual pmi=off");
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(no_pmi)
{
	EXPECT_TRUE(log_clean());
	EXPECT_TRUE(machine_leave());
}

TEST_F(no_pmi, told_in_one_line_a_package)
{
	EXPECT_EQ(packages(), log_count("polled every millisecond"));
	/* the driver also logs one line with a summary */
	EXPECT_EQ(1 + packages(), log_count("xeon_uncore: "));
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_EQ(0, overflow_stat(pkg, "cores"));
	log_show("every millisecond");
}

TEST_F(no_pmi, all_samples_by_polling_and_nothing_frozen)
{
	uint64_t pmis = sim_stat("pmi"), frozen = sim_stat("frozen_ns"), polled;

	for (int pkg = 0; pkg < packages(); pkg++) {
		polled = overflow_stat(pkg, "timer_served");
		for (unsigned int k = 0; k < SOME; k++)
			EXPECT_TRUE(samples_exactly(some_types[k], pkg,
						    OVERFLOWS));
		polled = overflow_stat(pkg, "timer_served") - polled;
		EXPECT_EQ(SOME * OVERFLOWS, polled) {
			TH_LOG("overflows that the timer has found");
		}
		EXPECT_EQ(package_boxes(), boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
	}
	/* an overflow that cannot interrupt must not freeze the package */
	EXPECT_EQ(pmis, sim_stat("pmi"));
	EXPECT_EQ(frozen, sim_stat("frozen_ns"));
}

/* --- late interrupts -------------------------------------------------------- */

FIXTURE(late) {};

FIXTURE_VARIANT(late)
{
	const char *params;
	uint64_t lost;	/* cycles after each overflow that are not counted */
};

FIXTURE_VARIANT_ADD(late, freeze) { .params = "freeze_delay=300" };
FIXTURE_VARIANT_ADD(late, status) { .params = "status_delay=70", .lost = 70 };
FIXTURE_VARIANT_ADD(late, pmi) { .params = "pmi_delay=90", .lost = 90 };

FIXTURE_VARIANT_ADD(late, all)
{
	.params = "freeze_delay=300 status_delay=70 pmi_delay=90",
	.lost = 160,
};

FIXTURE_SETUP(late)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_sim("clock=manual %s", variant->params);
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(late)
{
	expect_nothing_left(_metadata);
}

/*
 * Let cycles pass at once, and check the count and the samples. Each cycle counts,
 * except the @lost cycles between the freeze and the PMI of each overflow, in which the
 * clock runs while the package is frozen.
 */
static bool cycles_exactly(const char *type, int pkg, uint64_t lost)
{
	const struct cat_event *e = ticks_of(type);
	uint64_t want = CYCLES / PERIOD, count;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!pmu_name(pmu, type, 0))
		return check(false, "no PMU for %s", type);
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, pkg), PERIOD,
				    "config=%#" PRIx64, e->config), 0,
		      "%s opens", pmu);
	sim_advance(CYCLES);
	count = event_count(s.fd);
	if (signals(type) && lost)
		want = count / PERIOD;
	ok &= check_eq(sampler_settle(&s, want), want, "%s: samples", pmu);
	ok &= check_eq(count, CYCLES - (signals(type) ? want * lost : 0),
		       "%s: count of %d cycles", pmu, CYCLES);
	ok &= sampler_clean(&s, pmu);
	sampler_close(&s);
	return ok;
}

TEST_F(late, counts_and_samples_exact)
{
	EXPECT_EQ(1, log_count("xeon_uncore: "));
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_NE(0, overflow_stat(pkg, "cores")) {
			TH_LOG("package %d is polled", pkg);
		}
		for (unsigned int k = 0; k < SOME; k++) {
			EXPECT_TRUE(samples_exactly(some_types[k], pkg,
						    OVERFLOWS));
			/* let pending freezes take effect */
			sim_advance(CYCLES);
			EXPECT_TRUE(cycles_exactly(some_types[k], pkg,
						   variant->lost));
		}
	}
}

#define SIM_PARAMETERS	"/sys/module/xeon_uncore_sim/parameters/"

static bool set_pmi_delay(const char *cycles)
{
	return !file_write(SIM_PARAMETERS "pmi_delay", cycles);
}

FIXTURE_OF(pmi, ASSERT_EQ(0, -max_sample_rate(100000000)),
	   expect_nothing_left(_metadata));

/*
 * PMIs arrive so late that the timer has handled their overflows. The driver must claim
 * these NMIs, so that no other handler gets them.
 */
TEST_F(pmi, late_after_the_timer)
{
	const struct cat_event *e = ticks_of("ha");
	uint64_t late = 0, count;
	struct sampler s[2];

	machine_setup("clock=real", "freeze_budget=1000");
	log_mark();
	/* a delay of 60 ms: the timer polls every 20 ms */
	ASSERT_TRUE(set_pmi_delay("150000000"));
	for (int pkg = 0; pkg < 2; pkg++)
		ASSERT_EQ(0, -sampler_open(&s[pkg], "hswep_ha_0",
					   pmu_cpu("hswep_ha_0", pkg % packages()),
					   20000003, "config=%#" PRIx64,
					   e->config));
	sleep_ms(1500);
	for (int pkg = 0; pkg < 2; pkg++)
		sampler_disable(&s[pkg]);
	for (int pkg = 0; pkg < 2; pkg++) {
		count = event_count(s[pkg].fd);
		EXPECT_EQ(count / s[pkg].period,
			  sampler_wait(&s[pkg], count / s[pkg].period));
		EXPECT_GT(count, 0);
		sampler_close(&s[pkg]);
		late += overflow_stat(pkg % packages(), "late");
	}
	EXPECT_GT(late, 0);
	TH_LOG("%ju are late", (uintmax_t)late);
	set_pmi_delay("0");
	/* wait for the late PMIs */
	sleep_ms(200);
}

/*
 * A CPU unfreezes the package in its interrupt handler, and the simulator keeps the CPU
 * there until after the NMI of the next overflow. The handler must not take that NMI for
 * the NMI that it has handled, or the package stays frozen until the timer polls.
 */
TEST_F(pmi, in_the_handler_of_the_one_before)
{
	enum { NEXT = 40, NEXT_PERIOD = 1000 };
	const char *pmu = "hswep_ha_0";
	struct sampler s;
	uint64_t polled;

	machine_setup("clock=manual", "freeze_budget=1000");
	log_mark();
	/* this thread runs on another CPU, so that the event's CPU is idle */
	cpu_pin(pmu_other_cpu(pmu, 0));
	ASSERT_EQ(0, -sampler_open(&s, pmu, pmu_cpu(pmu, 0), NEXT_PERIOD,
				   "config=%#" PRIx64, ticks_of("ha")->config));
	ASSERT_EQ(0, -file_write(SIM_PARAMETERS "unfrozen_us", "2000"));
	polled = overflow_stat(0, "timer_served");
	sim_advance(NEXT * NEXT_PERIOD);
	EXPECT_EQ(NEXT, sampler_settle(&s, NEXT));
	polled = overflow_stat(0, "timer_served") - polled;
	EXPECT_EQ(0, -file_write(SIM_PARAMETERS "unfrozen_us", "0"));
	EXPECT_LE(polled, NEXT / 8) {
		TH_LOG("the timer has found %ju of %d overflows",
		       (uintmax_t)polled, NEXT);
	}
	EXPECT_TRUE(sampler_clean(&s, pmu));
	sampler_close(&s);
}

/*
 * The control registers of SBo, R2PCIe and R3QPI take all bits at the second write
 * only: the driver must write each register twice.
 */
TEST_F(pmi, whole_control_registers_are_written_twice)
{
	machine_setup("clock=manual errata=whole", "");
	log_mark();
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(package_boxes(), boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
		EXPECT_TRUE(samples_exactly("sbox", pkg, OVERFLOWS));
		EXPECT_TRUE(samples_exactly("r2pcie", pkg, OVERFLOWS));
		EXPECT_TRUE(samples_exactly("r3qpi", pkg, OVERFLOWS));
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PMIs without an overflow. While an event samples, the driver claims such a PMI as a
 * late PMI, takes no sample and unmasks LVTPC again. Without a sampling event the
 * driver does not claim the PMI, and the driver never claims an NMI that is not a PMI.
 * Run this test where the log may report unknown NMIs.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define UNKNOWN	"NMI received for unknown reason"

enum {
	PERIOD = 7,
	SPURIOUS = 3,
	LATE_MS = 1200,
	IDLE_MS = 3000,
	PATIENCE_MS = 5000,
};

/* Send a PMI every half second, because the kernel limits the rate of its messages. */
static void send_spurious(int pkg)
{
	for (int i = 0; i < SPURIOUS; i++) {
		sim_fault("spurious_pmi pkg=%d cores=0x1", pkg);
		sleep_ms(500);
	}
}

FIXTURE(spurious) {};

/* Leave LVTPC in NMI mode, as a kernel does with a core PMU that counts nothing. */
FIXTURE_SETUP(spurious)
{
	machine_setup_sim("clock=manual");
	ASSERT_EQ(0, -sim_core_pmu("hz=1"));
	ASSERT_EQ(0, -sim_core_pmu("off"));
	ASSERT_EQ(0, -driver_load(NULL));
}

FIXTURE_TEARDOWN(spurious)
{
	EXPECT_TRUE(machine_leave());
}

TEST_F(spurious, while_nobody_samples_no_concern_of_ours)
{
	/* wait until the driver has unregistered the NMI handlers of its load */
	sleep_ms(IDLE_MS);
	for (int pkg = 0; pkg < packages(); pkg++) {
		uint64_t before = overflow_stat(pkg, "late");

		log_mark();
		send_spurious(pkg);
		EXPECT_EQ(before, overflow_stat(pkg, "late")) {
			TH_LOG("package %d", pkg);
		}
		/*
		 * each PMI is unknown, or only the first if no handler unmasks LVTPC
		 * after it
		 */
		EXPECT_TRUE(log_count(UNKNOWN) >= 1 &&
			    log_count(UNKNOWN) <= SPURIOUS) {
			TH_LOG("package %d", pkg);
		}
	}
}

FIXTURE_OF(spurious_beside, machine_setup("clock=manual", ""),
	   EXPECT_TRUE(machine_leave()));

FIXTURE_VARIANT(spurious_beside) { const char *type; };

VARIANT_OF_TYPE(spurious_beside, ha);
VARIANT_OF_TYPE(spurious_beside, pcu);

TEST_F(spurious_beside, taken_for_late_ones)
{
	const struct cat_event *e = plain_of(variant->type);
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	uint64_t before;

	if (!e || !pmu_name(pmu, variant->type, 0) || !signals(variant->type))
		SKIP(return, "no event, no box, or no PMI");
	for (int pkg = 0; pkg < packages(); pkg++) {
		TH_LOG("%s in package %d", pmu, pkg);
		ASSERT_EQ(0, -sampler_open(&s, pmu, pmu_cpu(pmu, pkg), PERIOD,
					   "config=%#" PRIx64, e->config));
		send_traffic(pmu, pkg, e, 10 * PERIOD, 1);
		/* wait for late PMIs of these overflows, on a CPU that was delayed */
		sleep_ms(LATE_MS);
		before = overflow_stat(pkg, "late");
		log_mark();
		send_spurious(pkg);
		EXPECT_EQ(SPURIOUS, overflow_stat(pkg, "late") - before);
		EXPECT_EQ(0, log_count(UNKNOWN));
		send_traffic(pmu, pkg, e, 10 * PERIOD, 1);
		EXPECT_EQ(20, sampler_settle(&s, 20));
		EXPECT_EQ(20 * PERIOD, event_count(s.fd));
		sampler_close(&s);
	}
}

/*
 * An NMI that is not a PMI arrives at the instruction that the last PMI interrupted,
 * when no PMI can be pending any more. The driver must leave the NMI to the kernel,
 * which finds it unknown.
 */
TEST_F(spurious_beside, nmi_where_a_pmi_was_is_left_to_the_kernel)
{
	const struct cat_event *e = plain_of(variant->type);
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	uint64_t before;
	int cpu;

	if (!e || !pmu_name(pmu, variant->type, 0) || !signals(variant->type))
		SKIP(return, "no event, no box, or no PMI");
	cpu = pmu_cpu(pmu, 0);
	/*
	 * this thread runs on another CPU, so that the event's CPU is idle when the PMI
	 * arrives
	 */
	cpu_pin(pmu_other_cpu(pmu, 0));
	ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64, e->config));
	send_traffic(pmu, 0, e, PERIOD, 1);
	EXPECT_EQ(1, sampler_settle(&s, 1));
	sleep_ms(LATE_MS);
	before = overflow_stat(0, "late");
	log_mark();
	EXPECT_EQ(0, -sim_fault("nmi cpu=%d", cpu));
	for (unsigned int i = 0; i < PATIENCE_MS && !log_count(UNKNOWN); i++)
		sleep_ms(1);
	EXPECT_EQ(1, log_count(UNKNOWN));
	EXPECT_EQ(before, overflow_stat(0, "late"));
	sampler_close(&s);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On a machine with a core PMU, LVTPC of every CPU delivers NMIs from boot on, also on
 * CPUs without a sampling event, and the UBox interrupts all threads of a core. The
 * kernel must not find a PMI's NMI unknown, because it may then panic. The tests sample
 * on each CPU, right after the driver was loaded and later, beside an active core PMU
 * and an idle one, and after a CPU came online. And PMIs must not be lost: interrupts,
 * not the driver's timer, find the overflows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/lapic.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	KHZ = 400000,
	PERIOD = 1000003,
	SAMPLED_MS = 500,
	COUNTED_MS = 2000,
	/*
	 * the driver unregisters its NMI handlers some 2 s after the last sampling
	 * event
	 */
	LATER_MS = 3000,
	LEAST_PMIS = 100,
};

static void __attribute__((constructor)) map_lapic(void)
{
	lapic_map();
}

/* Set LVTPC of every CPU to NMI, as the kernel does on a machine with a core PMU. */
static void expect_nmis(void)
{
	int cpu;

	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int n = 0; (cpu = package_cpu(pkg, n)) >= 0; n++)
			set_lvtpc(cpu, LVT_NMI);
	cpu_pin(package_cpu(0, 0));
}

FIXTURE(sampled)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_VARIANT(sampled)
{
	bool core_pmu;		/* the core PMU is active */
	unsigned int wait_ms;	/* from the load of the driver on */
};

FIXTURE_VARIANT_ADD(sampled, at_once) { };
FIXTURE_VARIANT_ADD(sampled, later) { .wait_ms = LATER_MS };
FIXTURE_VARIANT_ADD(sampled, at_once_beside_core_pmu) { .core_pmu = true };
FIXTURE_VARIANT_ADD(sampled, later_beside_core_pmu)
{
	.core_pmu = true,
	.wait_ms = LATER_MS,
};

FIXTURE_SETUP(sampled)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_sim("clock=real uclk_khz=%d", KHZ);
	expect_nmis();
	ASSERT_EQ(0, -sim_nmi_listener(true));
	if (variant->core_pmu)
		ASSERT_EQ(0, -sim_core_pmu("hz=1000 us=20 unmask=late"));
	log_mark();
	ASSERT_EQ(0, -driver_load(NULL));
	ASSERT_TRUE(pmu_name(self->pmu, "ha", 0));
}

FIXTURE_TEARDOWN(sampled)
{
	EXPECT_EQ(0, -sim_core_pmu("off"));
	EXPECT_EQ(0, -sim_nmi_listener(false));
	expect_no_complaint(_metadata);
	EXPECT_TRUE(machine_leave());
}

/* Open one sampling event, on @cpu of package 0. Return the number of unknown NMIs. */
static uint64_t unknown_nmis(const char *pmu, int cpu)
{
	uint64_t unknown = sim_stat("nmi_unknown"), pmis = sim_stat("pmi");
	struct sampler s;

	check_eq(-driver_freeze_budget(1000), 0, "as many PMIs as overflows");
	check_eq(-sampler_open(&s, pmu, cpu, PERIOD, "clockticks"), 0,
		 "%s opens on CPU %d", pmu, cpu);
	sleep_ms(SAMPLED_MS);
	check(sampler_wait(&s, LEAST_PMIS) >= LEAST_PMIS, "CPU %d: samples", cpu);
	sampler_close(&s);
	pmis = sim_stat("pmi") - pmis;
	check(pmis >= LEAST_PMIS, "CPU %d: %ju PMIs", cpu, (uintmax_t)pmis);
	unknown = sim_stat("nmi_unknown") - unknown;
	printf("# sampled on CPU %d: %ju PMIs, %ju unknown NMIs\n", cpu,
	       (uintmax_t)pmis, (uintmax_t)unknown);
	return unknown;
}

TEST_F(sampled, on_any_cpu_no_nmi_is_unknown)
{
	int cpu;

	for (unsigned int n = 0; (cpu = package_cpu(0, n)) >= 0; n++) {
		sleep_ms(variant->wait_ms);
		EXPECT_EQ(0, unknown_nmis(self->pmu, cpu));
	}
}

/*
 * The last CPU of package 0 comes online; sample there, then on each CPU of the
 * package.
 */
TEST_F(sampled, after_a_cpu_came_online_no_nmi_is_unknown)
{
	int cpu, last = -1;

	for (unsigned int n = 0; (cpu = package_cpu(0, n)) >= 0; n++)
		last = cpu;
	if (!cpu_can_leave(last))
		SKIP(return, "CPU %d cannot be taken offline", last);
	ASSERT_EQ(0, -driver_unload());
	ASSERT_EQ(0, -cpu_set_online(last, false));
	ASSERT_EQ(0, -driver_load(NULL));
	sleep_ms(variant->wait_ms);
	ASSERT_EQ(0, -cpu_set_online(last, true));
	set_lvtpc(last, LVT_NMI);
	cpu_pin(package_cpu(0, 0));
	EXPECT_EQ(0, unknown_nmis(self->pmu, last));
	for (unsigned int n = 0; (cpu = package_cpu(0, n)) >= 0; n++)
		EXPECT_EQ(0, unknown_nmis(self->pmu, cpu));
}

/*
 * If no CPU takes a PMI, the package stays frozen until the driver's timer finds the
 * overflow. A freeze budget of 1000 is no limit: the driver arms every counter at once,
 * so the timer has no other overflows to find.
 */
TEST_F(sampled, interrupts_and_not_the_timer_find_overflows)
{
	uint64_t overflows, timer;
	struct sampler s;

	sleep_ms(variant->wait_ms);
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	overflows = overflow_stat(0, "count");
	timer = overflow_stat(0, "timer_served");
	ASSERT_EQ(0, -sampler_open(&s, self->pmu, package_cpu(0, 1), PERIOD,
				   "clockticks"));
	sleep_ms(COUNTED_MS);
	sampler_close(&s);
	overflows = overflow_stat(0, "count") - overflows;
	timer = overflow_stat(0, "timer_served") - timer;
	TH_LOG("%ju overflows, %ju found by the timer", (uintmax_t)overflows,
	       (uintmax_t)timer);
	EXPECT_GT(overflows, LEAST_PMIS);
	/* an interrupt is late if the host stops the CPU */
	EXPECT_LT(timer, overflows / 2);
}

/* --- without a core PMU ----------------------------------------------------------- */

/* LVTPC is masked until the driver writes the register. */
FIXTURE(armed)
{
	char pmu[PMU_NAME_MAX];
};

FIXTURE_SETUP(armed)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup("clock=real uclk_khz=400000", "freeze_budget=1000");
	log_mark();
	ASSERT_TRUE(pmu_name(self->pmu, "ha", 0));
}

FIXTURE_TEARDOWN(armed)
{
	expect_no_complaint(_metadata);
	EXPECT_TRUE(machine_leave());
}

/* Enable a sampling event. Return the number of PMIs that CPUs of the package dropped. */
static uint64_t dropped_pmis(struct sampler *s)
{
	uint64_t dropped = sim_stat("pmi_dropped");

	check_eq(-sampler_enable(s), 0, "the event starts");
	check(sampler_wait(s, LEAST_PMIS) >= LEAST_PMIS, "samples");
	sampler_disable(s);
	sleep_ms(SAMPLED_MS);
	return sim_stat("pmi_dropped") - dropped;
}

/* Open a sampling event that is disabled. Return 0 or -errno. */
static int open_disabled(struct sampler *s, const char *pmu, int cpu)
{
	struct perf_event_attr attr;
	int err = pmu_attr(&attr, pmu, "clockticks");

	attr.sample_period = PERIOD;
	attr.disabled = 1;
	return err ? err : sampler_open_attr(s, &attr, cpu);
}

TEST_F(armed, all_cpus_take_the_pmis_of_an_event_of_one)
{
	struct sampler s;

	sleep_ms(LATER_MS);
	ASSERT_EQ(0, -open_disabled(&s, self->pmu, package_cpu(0, 0)));
	EXPECT_EQ(0, dropped_pmis(&s));
	sampler_close(&s);
}

TEST_F(armed, so_does_a_cpu_that_comes_online)
{
	int cpu, last = -1;
	struct sampler s;

	for (unsigned int n = 0; (cpu = package_cpu(0, n)) >= 0; n++)
		last = cpu;
	if (!cpu_can_leave(last))
		SKIP(return, "CPU %d cannot be taken offline", last);
	ASSERT_EQ(0, -cpu_set_online(last, false));
	ASSERT_EQ(0, -open_disabled(&s, self->pmu, package_cpu(0, 0)));
	ASSERT_EQ(0, -cpu_set_online(last, true));
	EXPECT_EQ(0, dropped_pmis(&s));
	sampler_close(&s);
}

TEST_HARNESS_MAIN

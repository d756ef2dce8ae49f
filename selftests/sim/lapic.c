// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator's path from PMI to NMI. Without the driver: the local APIC of a CPU drops
 * a PMI while LVTPC is masked or not in NMI mode, and masks LVTPC when it delivers an NMI;
 * IA32_DEBUGCTL and pmi=off. With the driver: another program masks LVTPC. The kernel
 * logs unknown NMIs of this test, and must let /dev/mem map the local APIC
 * (iomem=relaxed).
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/lapic.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define DEBUGCTL	0x1d9
#define DEBUGCTL_PMI	(1 << 13)

enum { LIMIT_MS = 10000, ARRIVE_MS = 50, PERIOD = 7 };
/* The driver restores LVTPC within this time after the last sampling event. */
enum { LINGER_MS = 3000 };

/*
 * Send a PMI to the core of @cpu, core @rank of package @pkg. Check that @arrive NMIs, 0
 * or 1, arrive, and that LVTPC drops the PMI if none arrives. Without the driver a PMI
 * that arrives is an unknown NMI.
 */
static bool sends(int cpu, int pkg, unsigned int rank, unsigned int arrive,
		  const char *when)
{
	uint64_t before = sim_stat("nmi_unknown"), dropped = sim_stat("pmi_dropped");
	uint64_t end = now_ns() + LIMIT_MS * 1000000ULL;
	bool ok;

	ok = check_eq(-sim_fault("spurious_pmi pkg=%d cores=%#x", pkg,
				 1 << rank), 0, "the fault is taken");
	/* wait for the NMI or the drop; then give time to PMIs that must not arrive */
	while (sim_stat("nmi_unknown") == before &&
	       sim_stat("pmi_dropped") == dropped && now_ns() < end)
		sleep_ms(1);
	sleep_ms(ARRIVE_MS);
	ok &= check_eq(sim_stat("nmi_unknown") - before, arrive,
		       "CPU %d: NMIs with %s", cpu, when);
	ok &= check_eq(sim_stat("pmi_dropped") - dropped, !arrive,
		       "CPU %d: dropped PMIs with %s", cpu, when);
	return ok;
}

/* Map the local APIC once: the tests, which are child processes, inherit the mapping. */
static void __attribute__((constructor)) map_lapic(void)
{
	lapic_map();
}

FIXTURE(strict) {};

FIXTURE_SETUP(strict) { }

FIXTURE_TEARDOWN(strict)
{
	EXPECT_TRUE(machine_leave());
}

/* Expect a CPU to get PMIs only through an unmasked LVTPC in NMI mode. */
static void expect_lvtpc_obeyed(struct __test_metadata *_metadata, int cpu,
				int pkg, unsigned int rank)
{
	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	EXPECT_TRUE(sends(cpu, pkg, rank, 0, "LVTPC masked"));
	set_lvtpc(cpu, LVT_FIXED);
	EXPECT_TRUE(sends(cpu, pkg, rank, 0, "LVTPC in fixed mode"));
	EXPECT_EQ(LVT_FIXED, get_lvtpc(cpu));
	set_lvtpc(cpu, LVT_NMI);
	EXPECT_TRUE(sends(cpu, pkg, rank, 1, "LVTPC in NMI mode"));
	EXPECT_EQ(LVT_NMI | LVT_MASKED, get_lvtpc(cpu)) {
		TH_LOG("CPU %d: LVTPC after an NMI", cpu);
	}
	EXPECT_TRUE(sends(cpu, pkg, rank, 0, "LVTPC not written again"));
	set_lvtpc(cpu, LVT_NMI);
	EXPECT_TRUE(sends(cpu, pkg, rank, 1, "LVTPC written again"));
}

/* Expect a CPU to get PMIs only with bit 13 of IA32_DEBUGCTL. */
static void expect_debugctl_obeyed(struct __test_metadata *_metadata, int cpu,
				   int pkg, unsigned int rank)
{
	uint64_t value = ~0ULL;

	set_lvtpc(cpu, LVT_NMI);
	EXPECT_EQ(0, -msr_read(cpu, DEBUGCTL, &value));
	EXPECT_EQ(0, value);
	EXPECT_TRUE(sends(cpu, pkg, rank, 0, "IA32_DEBUGCTL clear"));
	EXPECT_EQ(LVT_NMI, get_lvtpc(cpu));
	EXPECT_NE(0, msr_write(cpu, DEBUGCTL, 1ULL << 40)) {
		TH_LOG("a reserved bit does not fault");
	}
	EXPECT_EQ(0, -msr_write(cpu, DEBUGCTL, DEBUGCTL_PMI));
	EXPECT_EQ(0, -msr_read(cpu, DEBUGCTL, &value));
	EXPECT_EQ(DEBUGCTL_PMI, value);
	EXPECT_TRUE(sends(cpu, pkg, rank, 1, "IA32_DEBUGCTL bit 13"));
}

/* Call @expect for each CPU of each package. */
static void on_each_cpu(struct __test_metadata *_metadata,
			void (*expect)(struct __test_metadata *_metadata, int cpu,
				       int pkg, unsigned int rank))
{
	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int n = 0; package_cpu(pkg, n) >= 0; n++) {
			TH_LOG("CPU %d", package_cpu(pkg, n));
			expect(_metadata, package_cpu(pkg, n), pkg, n);
		}
}

TEST_F(strict, pmi_comes_through_nmi_mode_and_masks)
{
	machine_setup_sim("clock=manual lvtpc=strict");
	ASSERT_EQ(0, -sim_nmi_listener(true));
	on_each_cpu(_metadata, expect_lvtpc_obeyed);
}

TEST_F(strict, pmi_needs_bit_13_of_debugctl)
{
	if (system("modprobe msr"))
		SKIP(return, "the kernel has no msr driver");
	machine_setup_sim("clock=manual lvtpc=strict debugctl=1");
	ASSERT_EQ(0, -sim_nmi_listener(true));
	on_each_cpu(_metadata, expect_debugctl_obeyed);
}

TEST_F(strict, pmi_off_sends_none)
{
	machine_setup_sim("clock=manual lvtpc=strict pmi=off");
	ASSERT_EQ(0, -sim_nmi_listener(true));
	set_lvtpc(0, LVT_NMI);
	EXPECT_TRUE(sends(0, 0, 0, 0, "pmi=off"));
}

TEST_F(strict, other_words_are_refused)
{
	machine_setup_sim("clock=manual");
	EXPECT_EQ(0, -sim_unload());
	EXPECT_EQ(EINVAL, -sim_load("lvtpc=no"));
	EXPECT_EQ(EINVAL, -sim_load("pmi=no"));
	EXPECT_EQ(0, -sim_load("clock=manual"));
}

/* Open a sampling event, make it overflow @n times, expect @n samples, and close it. */
static bool samples(const char *pmu, int cpu, unsigned int n)
{
	struct sampler s;
	bool ok;

	ok = check_eq(-sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				    plain_of("ha")->config), 0, "%s opens", pmu);
	for (unsigned int i = 0; i < n; i++)
		send_traffic(pmu, 0, plain_of("ha"), PERIOD, 1);
	ok &= check_eq(sampler_settle(&s, n), n, "samples");
	sampler_close(&s);
	return ok;
}

FIXTURE_OF(masked, machine_setup("clock=manual lvtpc=strict", ""),
	   EXPECT_TRUE(machine_leave()));

/* Each start of a sampling event unmasks LVTPC of the event's CPU. */
TEST_F(masked, until_the_next_event)
{
	const char *pmu = "hswep_ha_0";
	int cpu = pmu_cpu(pmu, 0);
	uint64_t dropped;

	for (int i = 0; i < 2; i++) {
		set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
		dropped = sim_stat("pmi_dropped");
		EXPECT_TRUE(samples(pmu, cpu, 3));
		EXPECT_EQ(dropped, sim_stat("pmi_dropped"));
		EXPECT_EQ(LVT_NMI, get_lvtpc(cpu));
	}
}

/* While LVTPC is masked it drops the PMIs, and the driver's timer finds the overflows. */
TEST_F(masked, while_an_event_samples)
{
	const char *pmu = "hswep_ha_0";
	int cpu = pmu_cpu(pmu, 0);
	uint64_t dropped = sim_stat("pmi_dropped");
	struct sampler s;

	ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				   plain_of("ha")->config));
	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	for (int i = 0; i < 3; i++)
		send_traffic(pmu, 0, plain_of("ha"), PERIOD, 1);
	EXPECT_EQ(3, sampler_settle(&s, 3));
	EXPECT_GT(sim_stat("pmi_dropped"), dropped);
	sampler_close(&s);
}

/*
 * Another program masked LVTPC in NMI mode before the first sampling event. The driver
 * must not mask LVTPC again after the last event, because LVTPC would then drop all PMIs
 * of a core PMU. It does restore LVTPC that was masked in fixed mode.
 */
TEST_F(masked, at_first_is_not_left_masked)
{
	const char *pmu = "hswep_ha_0";
	int cpu = pmu_cpu(pmu, 0);

	sleep_ms(LINGER_MS);
	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	EXPECT_TRUE(samples(pmu, cpu, 3));
	sleep_ms(LINGER_MS);
	EXPECT_EQ(LVT_NMI, get_lvtpc(cpu));
	set_lvtpc(cpu, LVT_FIXED | LVT_MASKED);
	EXPECT_TRUE(samples(pmu, cpu, 3));
	sleep_ms(LINGER_MS);
	EXPECT_EQ(LVT_FIXED | LVT_MASKED, get_lvtpc(cpu));
}

TEST_HARNESS_MAIN

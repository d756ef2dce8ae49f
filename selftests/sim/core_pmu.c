// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulated core PMU, which sends NMIs through LVTPC at a given rate, and claims them
 * by a handler like perf's; and the listener on NMI_UNKNOWN. No driver is loaded, so PMIs
 * of the uncore are unknown NMIs, which the kernel logs.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/lapic.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { HZ = 2000, LIMIT_MS = 10000, LOG_LIMIT_MS = 5500 };
enum { SOME = 200, PMIS = 400, SOME_DROPPED = 5 };

static void __attribute__((constructor)) map_lapic(void)
{
	lapic_map();
}

/* Wait until statistic @stat is at least @value. Return false after LIMIT_MS. */
static bool wait_for(const char *stat, uint64_t value)
{
	uint64_t end = now_ns() + LIMIT_MS * 1000000ULL;

	while (sim_stat(stat) < value && now_ns() < end)
		sleep_ms(1);
	return sim_stat(stat) >= value;
}

FIXTURE(core_pmu)
{
	int cpu;
};

FIXTURE_VARIANT(core_pmu)
{
	const char *unmask;	/* when the NMI handler unmasks LVTPC */
};

FIXTURE_VARIANT_ADD(core_pmu, early) { .unmask = "early" };
FIXTURE_VARIANT_ADD(core_pmu, late) { .unmask = "late" };

FIXTURE_SETUP(core_pmu)
{
	machine_setup_sim("clock=real");
	log_mark();
	self->cpu = package_cpu(0, 0);
}

FIXTURE_TEARDOWN(core_pmu)
{
	EXPECT_EQ(0, -sim_core_pmu("off"));
	set_lvtpc(self->cpu, LVT_FIXED | LVT_MASKED);
	EXPECT_TRUE(machine_leave());
}

/*
 * The kernel calls the listener for each NMI that no handler claims, and for no claimed
 * NMI. The kernel logs ten unknown NMIs in five seconds, and no more, so wait until it
 * logs each NMI of this test.
 */
TEST_F(core_pmu, listener_hears_unclaimed_nmis_only)
{
	sleep_ms(LOG_LIMIT_MS);
	set_lvtpc(self->cpu, LVT_NMI);
	EXPECT_EQ(0, -sim_nmi_listener(true));
	EXPECT_EQ(0, -sim_core_pmu("hz=%d unmask=%s cpus=%d", HZ,
				   variant->unmask, self->cpu));
	EXPECT_TRUE(wait_for("core_pmi", SOME));
	EXPECT_EQ(0, sim_stat("nmi_unknown"));
	EXPECT_EQ(0, -sim_core_pmu("off"));
	for (int i = 1; i <= 3; i++) {
		set_lvtpc(self->cpu, LVT_NMI);
		EXPECT_EQ(0, -sim_fault("spurious_pmi pkg=0 cores=0x1"));
		EXPECT_TRUE(wait_for("nmi_unknown", i));
	}
	EXPECT_EQ(3, sim_stat("nmi_unknown"));
	/* the listener does not claim NMIs: the kernel logs each NMI */
	EXPECT_EQ(3, log_count("NMI received for unknown reason"));
	EXPECT_EQ(0, -sim_nmi_listener(false));
	set_lvtpc(self->cpu, LVT_NMI);
	EXPECT_EQ(0, -sim_fault("spurious_pmi pkg=0 cores=0x1"));
	sleep_ms(50);
	EXPECT_EQ(3, sim_stat("nmi_unknown"));
	/* unloading the simulator unregisters the listener */
	EXPECT_EQ(0, -sim_nmi_listener(true));
}

/* The handler claims all NMIs of the chosen CPU; other CPUs get no NMI. */
TEST_F(core_pmu, interrupts_chosen_cpus_and_claims_all)
{
	int other = package_cpu(0, 1);
	uint64_t before = nmis(self->cpu), others = nmis(other);

	EXPECT_EQ(0, -sim_core_pmu("hz=%d unmask=%s cpus=%d", HZ,
				   variant->unmask, self->cpu));
	EXPECT_TRUE(wait_for("core_pmi", SOME));
	EXPECT_EQ(0, -sim_core_pmu("off"));
	EXPECT_EQ(nmis(self->cpu) - before, sim_stat("core_pmi"));
	EXPECT_EQ(others, nmis(other));
	EXPECT_EQ(0, sim_stat("core_pmi_dropped"));
	EXPECT_EQ(LVT_NMI, get_lvtpc(self->cpu));
	EXPECT_EQ(0, log_count("NMI received for unknown reason"));
	before = sim_stat("core_pmi");
	sleep_ms(20);
	EXPECT_EQ(before, sim_stat("core_pmi"));
}

/*
 * A masked LVTPC drops the core PMU's NMIs. The overflow bit stays set, and the handler
 * finds the bit in a later NMI.
 */
TEST_F(core_pmu, masked_entry_drops_them)
{
	uint64_t claimed;

	set_lvtpc(self->cpu, LVT_NMI);
	EXPECT_EQ(0, -sim_core_pmu("hz=%d unmask=%s cpus=%d", HZ,
				   variant->unmask, self->cpu));
	EXPECT_TRUE(wait_for("core_pmi", SOME));
	set_lvtpc(self->cpu, LVT_NMI | LVT_MASKED);
	claimed = sim_stat("core_pmi");
	EXPECT_TRUE(wait_for("core_pmi_dropped", SOME));
	EXPECT_EQ(claimed, sim_stat("core_pmi"));
	set_lvtpc(self->cpu, LVT_NMI);
	EXPECT_TRUE(wait_for("core_pmi", claimed + SOME));
}

/*
 * Like perf's handler, the core PMU's handler unmasks LVTPC in NMIs of other sources, but
 * only while the core PMU is on.
 */
TEST_F(core_pmu, unmasks_in_every_nmi_while_active)
{
	int other = package_cpu(0, 1);
	uint64_t pmis = nmis(other);

	set_lvtpc(other, LVT_NMI);
	EXPECT_EQ(0, -sim_core_pmu("hz=%d unmask=%s cpus=%d", HZ,
				   variant->unmask, self->cpu));
	EXPECT_EQ(0, -sim_fault("spurious_pmi pkg=0 cores=0x2"));
	sleep_ms(50);
	EXPECT_EQ(pmis + 1, nmis(other));
	EXPECT_EQ(LVT_NMI, get_lvtpc(other));
	EXPECT_EQ(0, -sim_core_pmu("off"));
	EXPECT_EQ(0, -sim_fault("spurious_pmi pkg=0 cores=0x2"));
	sleep_ms(50);
	EXPECT_EQ(pmis + 2, nmis(other));
	EXPECT_EQ(LVT_NMI | LVT_MASKED, get_lvtpc(other));
	set_lvtpc(other, LVT_FIXED | LVT_MASKED);
}

/* Send a PMI of the uncore to CPU 0, at any time of the core PMU's period. */
static int send_pmi(int number)
{
	int err = -sim_fault("spurious_pmi pkg=0 cores=0x1");

	usleep(500 + number % 250);
	return err;
}

/*
 * Another CPU sends PMIs of the uncore. LVTPC drops a PMI that arrives while the core
 * PMU's handler has LVTPC masked: only a handler that unmasks late drops many. LVTPC is
 * masked for 40 % of the time if timers are on time. On a busy host timers are late, and
 * only some PMIs of a thousand arrive in that time: the test sends PMIs until enough are
 * dropped.
 */
TEST_F(core_pmu, drops_pmis_of_the_uncore_only_if_late)
{
	bool late = variant->unmask[0] == 'l';
	uint64_t end = now_ns() + 3 * LIMIT_MS * 1000000ULL;
	int sent = 0;

	set_lvtpc(self->cpu, LVT_NMI);
	cpu_pin(package_cpu(0, 1));
	EXPECT_EQ(0, -sim_core_pmu("hz=4000 us=100 unmask=%s cpus=%d",
				   variant->unmask, self->cpu));
	ASSERT_TRUE(wait_for("core_pmi", SOME));
	while (sent < PMIS)
		ASSERT_EQ(0, send_pmi(sent++));
	while (late && sim_stat("pmi_dropped") < SOME_DROPPED && now_ns() < end)
		ASSERT_EQ(0, send_pmi(sent++));
	sleep_ms(50);
	TH_LOG("%ju of %d dropped", (uintmax_t)sim_stat("pmi_dropped"), sent);
	if (late) {
		EXPECT_GE(sim_stat("pmi_dropped"), SOME_DROPPED);
	} else {
		EXPECT_LT(sim_stat("pmi_dropped"), PMIS / 10);
	}
	EXPECT_LT(sim_stat("pmi_dropped"), sent * 9 / 10);
}

FIXTURE_OF(control, machine_setup_sim("clock=manual"),
	   EXPECT_TRUE(machine_leave()));

TEST_F(control, refuses_what_it_does_not_know)
{
	EXPECT_EQ(EINVAL, -sim_core_pmu("hz=0"));
	EXPECT_EQ(EINVAL, -sim_core_pmu("hz=10001"));
	EXPECT_EQ(EINVAL, -sim_core_pmu("hz=1000 unmask=never"));
	EXPECT_EQ(EINVAL, -sim_core_pmu("hz=1000 cpus=x"));
	EXPECT_EQ(EINVAL, -sim_core_pmu("hz=1000 cores=1"));
	EXPECT_EQ(EINVAL, -sim_core_pmu("unmask=late"));
	EXPECT_EQ(0, sim_stat("core_pmi"));
}

/* The core PMU interrupts a CPU again that went offline and came back online. */
TEST_F(control, follows_cpus_that_come_back)
{
	int cpu = package_cpu(0, 1);
	uint64_t claimed;

	if (!cpu_can_leave(cpu))
		SKIP(return, "CPU %d cannot be taken offline", cpu);
	EXPECT_EQ(0, -sim_core_pmu("hz=%d cpus=%d", HZ, cpu));
	EXPECT_TRUE(wait_for("core_pmi", SOME));
	ASSERT_EQ(0, -cpu_set_online(cpu, false));
	claimed = sim_stat("core_pmi");
	sleep_ms(20);
	EXPECT_EQ(claimed, sim_stat("core_pmi"));
	ASSERT_EQ(0, -cpu_set_online(cpu, true));
	EXPECT_TRUE(wait_for("core_pmi", claimed + SOME));
	/* unloading the simulator stops the core PMU */
}

TEST_HARNESS_MAIN

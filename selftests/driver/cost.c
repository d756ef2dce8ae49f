// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Register accesses of a group of four events, which dominate the cost on real
 * hardware. The numbers are exact and the same in each run.
 */
#include <sys/ioctl.h>

#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

/* Four configurations of event 0, which any counter of the box can count */
enum { EVENTS = 4 };
static const char *const events[EVENTS] = {
	"config=0x00000000", "config=0x01000000", "config=0x02000000",
	"config=0x03000000",
};

enum phase { START, READ, STOP, PHASES };
static const char *const phase_names[PHASES] = { "start", "read", "stop" };

/* Most accesses of a phase, as documented: four counters, a freeze and an unfreeze */
enum { MOST = EVENTS + 2 };

static uint64_t accesses(void)
{
	return sim_stat("msr_read") + sim_stat("msr_write") +
	       sim_stat("pci_read") + sim_stat("pci_write");
}

FIXTURE(cost)
{
	unsigned int ours[PHASES];	/* accesses of xeon_uncore */
};

FIXTURE_VARIANT(cost) { const char *box; };
FIXTURE_VARIANT_ADD(cost, cbox) { .box = "cbox_0" };
FIXTURE_VARIANT_ADD(cost, imc) { .box = "imc_0" };

/*
 * Further writes when the first event of a package starts, because other programs may
 * have written the registers: unfreeze the package, reset the box.
 */
enum { FIRST = 2 };

/*
 * Count the register accesses of each phase of a group under @driver. Like perf stat,
 * open the group with a disabled leader, and enable the group through the leader.
 */
static void measure(struct __test_metadata *_metadata, enum driver driver,
		    const char *box, unsigned int cost[PHASES])
{
	struct perf_event_attr attrs[EVENTS];
	struct event_group group;
	uint64_t values[EVENTS];
	const char *pmu;
	int err;

	driver_setup(driver, "clock=manual");
	pmu = driver_pmu(driver, box);
	/* a slow machine could use up the default freeze budget */
	if (driver == OURS)
		ASSERT_EQ(0, -driver_freeze_budget(1000));
	for (int i = 0; i < EVENTS; i++)
		ASSERT_EQ(0, -pmu_attr(&attrs[i], pmu, events[i]));
	attrs[0].disabled = 1;
	ASSERT_EQ(0, -group_open_attr(&group, attrs, pmu_cpu(pmu, 0), EVENTS));
	for (int phase = START; phase < PHASES; phase++) {
		sim_stats_clear();
		if (phase == READ)
			err = -group_read(&group, values, NULL);
		else
			err = ioctl(group.fd[0], phase == START ?
				    PERF_EVENT_IOC_ENABLE :
				    PERF_EVENT_IOC_DISABLE, 0);
		ASSERT_EQ(0, err) {
			TH_LOG("%s: %s", pmu, phase_names[phase]);
		}
		cost[phase] = accesses();
		sim_advance(1000);
	}
	group_close(&group);
}

FIXTURE_SETUP(cost)
{
	measure(_metadata, OURS, variant->box, self->ours);
}

FIXTURE_TEARDOWN(cost)
{
	driver_none();
	EXPECT_TRUE(machine_leave());
}

TEST_F(cost, few_accesses)
{
	for (int phase = START; phase < PHASES; phase++) {
		TH_LOG("%s: %s of a 4-event group takes %u accesses",
		       variant->box, phase_names[phase], self->ours[phase]);
		EXPECT_LT(0, self->ours[phase]);
		EXPECT_GE(MOST + (phase == START ? FIRST : 0), self->ours[phase]);
	}
}

TEST_F(cost, half_of_intel_uncore)
{
	unsigned int theirs[PHASES];

	if (!in_tree_exists())
		SKIP(return, "no intel_uncore module for this kernel");
	measure(_metadata, IN_TREE, variant->box, theirs);
	for (int phase = START; phase < PHASES; phase++) {
		if (phase == READ)
			continue;
		TH_LOG("%s: %s takes %u accesses, intel_uncore's %u",
		       variant->box, phase_names[phase], self->ours[phase],
		       theirs[phase]);
		EXPECT_LE(2 * (self->ours[phase] - (phase == START ? FIRST : 0)),
			  theirs[phase]);
	}
}

TEST_HARNESS_MAIN

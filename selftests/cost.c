// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a group of four events costs in register accesses, which are the price
 * of counting on real hardware. The counts are exact and the same in each run.
 */
#include <sys/ioctl.h>

#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/rival.h"
#include "lib/sim.h"
#include "lib/tap.h"

/* Four configurations of an event that every counter of the box may count. */
enum { EVENTS = 4 };
static const char *const events[EVENTS] = {
	"config=0x00000000", "config=0x01000000", "config=0x02000000",
	"config=0x03000000",
};

enum phase { START, READ, STOP, PHASES };
static const char *const phase_names[PHASES] = { "start", "read", "stop" };

static const char *const boxes[] = { "cbox_0", "imc_0" };
enum { BOXES = sizeof(boxes) / sizeof(boxes[0]) };

/* What the driver promises: four counters, and freeze and unfreeze. */
enum { MOST = EVENTS + 2 };

static uint64_t accesses(void)
{
	return sim_stat("msr_read") + sim_stat("msr_write") +
	       sim_stat("pci_read") + sim_stat("pci_write");
}

/* perf stat opens a group like this, and enables it through its leader. */
static void measure(const char *pmu, uint64_t cost[PHASES])
{
	struct perf_event_attr attrs[EVENTS];
	struct event_group group;
	uint64_t values[EVENTS];
	bool ok = true;

	for (int i = 0; i < EVENTS; i++)
		ok &= !pmu_attr(&attrs[i], pmu, events[i]);
	attrs[0].disabled = 1;
	if (!ok || group_open_attr(&group, attrs, pmu_cpu(pmu, 0), EVENTS))
		tap_bail("a group on %s does not open", pmu);
	for (int phase = START; phase < PHASES; phase++) {
		sim_stats_clear();
		if (phase == READ)
			ok &= !group_read(&group, values, NULL);
		else
			ok &= !ioctl(group.fd[0], phase == START ?
				     PERF_EVENT_IOC_ENABLE :
				     PERF_EVENT_IOC_DISABLE, 0);
		cost[phase] = accesses();
		sim_advance(1000);
	}
	if (!ok)
		tap_bail("start, read or stop failed on %s", pmu);
	group_close(&group);
}

static void measure_all(enum driver driver, uint64_t cost[BOXES][PHASES])
{
	driver_setup(driver, "clock=manual");
	for (int b = 0; b < BOXES; b++)
		measure(driver_pmu(driver, boxes[b]), cost[b]);
	driver_none();
}

int main(void)
{
	uint64_t cost[DRIVERS][BOXES][PHASES] = { 0 };
	bool rival = rival_exists();

	measure_all(OURS, cost[OURS]);
	if (rival)
		measure_all(IN_TREE, cost[IN_TREE]);
	for (int b = 0; b < BOXES; b++) {
		for (int phase = START; phase < PHASES; phase++) {
			unsigned int ours = cost[OURS][b][phase];
			unsigned int theirs = cost[IN_TREE][b][phase];

			tap_ok(ours && ours <= MOST,
			       "%s: %s of a 4-event group takes %u accesses, at most %d",
			       boxes[b], phase_names[phase], ours, MOST);
			if (phase == READ)
				continue;
			if (!rival)
				tap_skip("no intel_uncore module for this kernel",
					 "%s: %s takes half of intel_uncore's at most",
					 boxes[b], phase_names[phase]);
			else
				tap_ok(2 * ours <= theirs,
				       "%s: %s takes half of intel_uncore's %u accesses at most",
				       boxes[b], phase_names[phase], theirs);
		}
	}
	return tap_end();
}

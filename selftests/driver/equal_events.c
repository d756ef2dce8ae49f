// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Equal events, which share one counter of their box: their counts, their lifetimes, and
 * groups with equal members.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/multiplexing.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=manual", "");

enum { CYCLES = 1000 };

PLAIN_FIXTURE(copies);

/* Five equal events of box @index, and @others different events of the same box */
FIXTURE_VARIANT(copies)
{
	const char *type, *event;
	unsigned int index, others;
};

FIXTURE_VARIANT_ADD(copies, cbox_alone)
{
	.type = "cbox",
	.index = 5,
	.event = "event=0",
};

FIXTURE_VARIANT_ADD(copies, cbox)
{
	.type = "cbox",
	.index = 5,
	.event = "event=0",
	.others = 3,
};

FIXTURE_VARIANT_ADD(copies, imc)
{
	.type = "imc",
	.index = 1,
	.event = "event=0",
	.others = 3,
};

FIXTURE_VARIANT_ADD(copies, r3qpi)
{
	.type = "r3qpi",
	.index = 2,
	.event = "event=0x01",
	.others = 2,
};

FIXTURE_VARIANT_ADD(copies, sbox)
{
	.type = "sbox",
	.index = 1,
	.event = "event=0",
	.others = 3,
};

TEST_F(copies, use_one_counter)
{
	static const char *const beside[] = {
		"event=0,thresh=1,edge=1", "event=0,thresh=2", "event=0,thresh=3",
	};
	unsigned int others = variant->others;
	int copy[5], other[3], pkg = packages() - 1;
	char pmu[PMU_NAME_MAX];
	uint64_t count;

	if (!pmu_name(pmu, variant->type, variant->index))
		SKIP(return, "no such PMU");
	/*
	 * Two CPUs of the package alternate: the counter belongs to the box, not to a
	 * CPU.
	 */
	for (unsigned int i = 0; i < 5; i++) {
		int cpu = package_cpu(pkg, i % 2);

		if (cpu < 0)
			cpu = pmu_cpu(pmu, pkg);
		copy[i] = event_open(pmu, cpu, "%s", variant->event);
		ASSERT_GE(copy[i], 0) {
			TH_LOG("copy %u: %s", i, strerror(-copy[i]));
		}
	}
	ASSERT_TRUE(events_open(other, pmu, pmu_cpu(pmu, pkg), beside, others));
	EXPECT_EQ(1 + others, counters_enabled(pmu, pkg));
	sim_advance(CYCLES);
	count = event_count(copy[0]);
	EXPECT_GT(count, 0);
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_EQ(count, event_count(copy[i])) {
			TH_LOG("copy %u", i);
		}
		EXPECT_TRUE(event_unmultiplexed(copy[i], "copy"));
	}
	for (unsigned int i = 0; i < others; i++)
		EXPECT_TRUE(event_unmultiplexed(other[i], "an event beside them"));
	events_close(copy, 5);
	events_close(other, others);
	EXPECT_EQ(0, counters_enabled(pmu, pkg));
}

PLAIN_FIXTURE(copies_of);

FIXTURE_VARIANT(copies_of) { const char *type; };

VARIANT_OF_TYPE(copies_of, cbox);
VARIANT_OF_TYPE(copies_of, imc);

/* Equal events are opened and closed one after another; each counts while it is open. */
TEST_F(copies_of, come_and_go)
{
	char pmu[PMU_NAME_MAX];
	int fd[3], cpu;

	if (!pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	cpu = pmu_cpu(pmu, 0);
	for (unsigned int i = 0; i < 3; i++) {
		fd[i] = event_open(pmu, cpu, "event=0");
		ASSERT_GE(fd[i], 0) {
			TH_LOG("copy %u: %s", i, strerror(-fd[i]));
		}
		sim_advance(100);
	}
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(300, event_count(fd[i])) {
			TH_LOG("copy %u", i);
		}
		close(fd[i]);
		sim_advance(100);
	}
}

PLAIN_FIXTURE(group_with_copies);

FIXTURE_VARIANT(group_with_copies) { const char *type; };

VARIANT_OF_TYPE(group_with_copies, cbox);
VARIANT_OF_TYPE(group_with_copies, ha);

/* Equal events need one counter, so six members fit into a box of four counters. */
TEST_F(group_with_copies, counts)
{
	static const char *const with_inv[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2,inv=1", "event=0", "event=0,thresh=3,inv=1",
	}, *const without[] = {
		"event=0", "event=0", "event=0,thresh=1",
		"event=0,thresh=2", "event=0", "event=0,thresh=3",
	};
	bool inverts = !generation_lacks(variant->type, "inv");
	const char *const *events = inverts ? with_inv : without;
	struct event_group g = { 0 };
	uint64_t values[ARRAY_SIZE(with_inv)];
	struct event_reading times;
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	ASSERT_EQ(0, -group_open(&g, pmu, pmu_cpu(pmu, 0), events,
				 ARRAY_SIZE(with_inv)));
	sim_advance(CYCLES);
	ASSERT_EQ(0, -group_read(&g, values, &times));
	for (unsigned int i = 0; i < ARRAY_SIZE(with_inv); i++) {
		EXPECT_EQ(inverts || (i != 3 && i != 5) ? CYCLES : 0, values[i]) {
			TH_LOG("%s", events[i]);
		}
	}
	EXPECT_EQ(times.enabled, times.running);
	group_close(&g);
}

TEST_HARNESS_MAIN

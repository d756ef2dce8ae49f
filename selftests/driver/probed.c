// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers on which the sources disagree, so that the driver probes them when it is
 * loaded: the addresses of the counters of the two IRPs of a package, which are in one
 * PCI function and have two counters each, and the width of fixed counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

enum { UNITS = 2, CYCLES = 1000, STARTS = 50 };

/* An IRP event that counts transactions */
#define INSERTS "event=0x0a"

/* --- IRP ------------------------------------------------------------------ */

FIXTURE(irp)
{
	char pmu[UNITS][PMU_NAME_MAX];
};

FIXTURE_VARIANT(irp)
{
	const char *sim;	/* addresses of the counters */
	bool undecided;		/* the driver cannot find out the addresses */
};

FIXTURE_VARIANT_ADD(irp, table_1_3) { .sim = "irp_counters=0" };
FIXTURE_VARIANT_ADD(irp, table_2_144) { .sim = "irp_counters=1" };
/* Registers at both addresses keep written values: the driver uses Table 1-3. */
FIXTURE_VARIANT_ADD(irp, undecided) { .sim = "irp_counters=2", .undecided = true };

/* Load the driver, which logs one line a package if it cannot find out the addresses. */
static void load(struct __test_metadata *_metadata, const char *sim,
		 bool undecided, const char *driver)
{
	machine_setup_sim("clock=manual %s", sim);
	log_mark();
	ASSERT_EQ(0, -driver_load(driver));
	/* the sources differ only for Haswell and Broadwell */
	EXPECT_EQ(undecided && generation()->written_twice ? packages() : 0,
		  log_count("do not tell where the counters are")) {
		log_show("xeon_uncore");
	}
}

FIXTURE_SETUP(irp)
{
	load(_metadata, variant->sim, variant->undecided, "");
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		ASSERT_TRUE(pmu_name(self->pmu[unit], "irp", unit)) {
			TH_LOG("no IRP %u", unit);
		}
	}
}

FIXTURE_TEARDOWN(irp)
{
	expect_nothing_left(_metadata);
}

/* Number of transactions for each IRP of a package */
static uint64_t share(int pkg, unsigned int unit)
{
	return 1000 + 100 * unit + pkg;
}

static void send_shares(void)
{
	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int unit = 0; unit < UNITS; unit++)
			sim_traffic("pkg=%d box=irp_%u " INSERTS " count=%" PRIu64,
				    pkg, unit, share(pkg, unit));
}

TEST_F(irp, counts_what_is_its_own_on_both_counters)
{
	static const char *const events[] = { INSERTS, INSERTS ",thresh=1" };
	struct event_group g[8][UNITS];
	uint64_t values[2];

	ASSERT_LE(packages(), 8);
	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int unit = 0; unit < UNITS; unit++) {
			const char *pmu = self->pmu[unit];

			ASSERT_EQ(0, -group_open(&g[pkg][unit], pmu,
						 pmu_cpu(pmu, pkg), events, 2));
		}
	}
	send_shares();
	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int unit = 0; unit < UNITS; unit++) {
			ASSERT_EQ(0, -group_read(&g[pkg][unit], values, NULL));
			for (unsigned int i = 0; i < 2; i++) {
				EXPECT_EQ(share(pkg, unit), values[i]) {
					TH_LOG("%s package %d %s",
					       self->pmu[unit], pkg, events[i]);
				}
			}
			group_close(&g[pkg][unit]);
		}
	}
}

TEST_F(irp, has_no_third_counter)
{
	static const char *const events[] = {
		INSERTS, INSERTS ",thresh=1", INSERTS ",thresh=2",
	};
	struct event_group g;

	for (unsigned int unit = 0; unit < UNITS; unit++) {
		const char *pmu = self->pmu[unit];

		EXPECT_EQ(EINVAL, -group_open(&g, pmu, pmu_cpu(pmu, 0), events, 3));
	}
}

/*
 * One box control register freezes both IRPs. An IRP must go on counting while events
 * of the other IRP are opened and closed.
 */
TEST_F(irp, goes_on_while_the_other_one_starts_and_stops)
{
	static const char *const events[] = { INSERTS, INSERTS ",thresh=1" };

	for (unsigned int unit = 0; unit < UNITS; unit++) {
		const char *pmu = self->pmu[unit], *other = self->pmu[!unit];
		int fd = event_open(pmu, pmu_cpu(pmu, 0), INSERTS);
		uint64_t sent = 0, values[2];
		struct event_group g;

		ASSERT_GE(fd, 0);
		for (unsigned int i = 0; i < STARTS; i++) {
			sim_traffic("pkg=0 box=irp_%u " INSERTS " count=7", unit);
			ASSERT_EQ(0, -group_open(&g, other, pmu_cpu(other, 0),
						 events, 2));
			sim_traffic("pkg=0 box=irp_%u " INSERTS " count=11", unit);
			sim_traffic("pkg=0 box=irp_%u " INSERTS " count=5", !unit);
			ASSERT_EQ(0, -group_read(&g, values, NULL));
			EXPECT_EQ(5, values[0]);
			EXPECT_EQ(5, values[1]);
			sent += 18;
			ASSERT_EQ(sent, event_count(fd)) {
				TH_LOG("%s, start %u of the other one", pmu, i);
			}
			group_close(&g);
		}
		close(fd);
	}
}

TEST_F(irp, goes_with_its_function)
{
	int fd[UNITS], last = packages() - 1;
	char function[16];

	for (unsigned int unit = 0; unit < UNITS; unit++) {
		const char *pmu = self->pmu[unit];

		fd[unit] = event_open(pmu, pmu_cpu(pmu, last), INSERTS);
		ASSERT_GE(fd[unit], 0);
	}
	send_shares();
	ASSERT_TRUE(pci_find(function, "irp", 0, "box", last));
	ASSERT_EQ(0, -file_write("/sys/bus/pci/drivers/xeon_uncore/unbind",
				 function));
	send_shares();
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		EXPECT_EQ(share(last, unit), event_count(fd[unit])) {
			TH_LOG("%s after its function went", self->pmu[unit]);
		}
		close(fd[unit]);
		EXPECT_EQ(ENODEV, -event_open(self->pmu[unit],
					      package_cpu(last, 0), INSERTS));
	}
	EXPECT_EQ(1, log_count("removed while counting"));
}

/* --- with pmu_prefix=uncore: both IRPs are one box of four counters ------------- */

FIXTURE(irp_as_one_box) {};

FIXTURE_VARIANT(irp_as_one_box)
{
	const char *sim;
	bool undecided;
};

FIXTURE_VARIANT_ADD(irp_as_one_box, table_1_3) { .sim = "irp_counters=0" };
FIXTURE_VARIANT_ADD(irp_as_one_box, table_2_144) { .sim = "irp_counters=1" };

FIXTURE_SETUP(irp_as_one_box)
{
	load(_metadata, variant->sim, variant->undecided, "pmu_prefix=uncore");
}

FIXTURE_TEARDOWN(irp_as_one_box)
{
	expect_nothing_left(_metadata);
}

TEST_F(irp_as_one_box, has_the_counters_of_both_units)
{
	static const char *const events[] = {
		INSERTS, INSERTS ",thresh=1", INSERTS ",thresh=1,edge=1",
		INSERTS ",edge=1",
	};
	unsigned int counters[UNITS] = { 0 };
	struct event_group g;
	uint64_t values[4];

	EXPECT_LT(pmu_type("uncore_irp_0"), 0);
	ASSERT_GE(pmu_type("uncore_irp"), 0);
	ASSERT_EQ(0, -group_open(&g, "uncore_irp", pmu_cpu("uncore_irp", 0),
				 events, 4));
	send_shares();
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int unit = 0; unit < UNITS; unit++)
			counters[unit] += values[i] == share(0, unit);
	for (unsigned int unit = 0; unit < UNITS; unit++) {
		EXPECT_EQ(2, counters[unit]) {
			TH_LOG("counters of unit %u", unit);
		}
	}
	group_close(&g);
}

/* --- fixed counters ----------------------------------------------------------- */

FIXTURE(fixed) {};

FIXTURE_VARIANT(fixed)
{
	const char *type;
	unsigned int bits;
};

FIXTURE_VARIANT_ADD(fixed, ubox_34) { .type = "ubox", .bits = 34 };
FIXTURE_VARIANT_ADD(fixed, ubox_48) { .type = "ubox", .bits = 48 };
FIXTURE_VARIANT_ADD(fixed, imc_34) { .type = "imc", .bits = 34 };
FIXTURE_VARIANT_ADD(fixed, imc_48) { .type = "imc", .bits = 48 };

FIXTURE_SETUP(fixed)
{
	if (generation()->one_a_cycle)
		return;
	machine_setup_sim("clock=manual fixed_bits=%u", variant->bits);
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	EXPECT_EQ(0, log_count("of all ones"));
}

FIXTURE_TEARDOWN(fixed)
{
	expect_nothing_left(_metadata);
}

/*
 * Each round advances the count by half of a counter of 34 bits, which is 2 s at 4 GHz.
 * After five rounds a counter of 34 bits has wrapped around twice.
 */
TEST_F(fixed, goes_around_twice)
{
	const uint64_t half = 1ULL << 33;
	char pmu[PMU_NAME_MAX];
	uint64_t before;
	int fd;

	if (generation()->one_a_cycle)
		SKIP(return, "no such counters");
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0xff");
	ASSERT_GE(fd, 0);
	before = event_count(fd);
	for (unsigned int round = 1; round <= 5; round++) {
		sim_advance(half);
		/*
		 * The driver reads the high half of a PCI counter only if a second has
		 * passed since the last read.
		 */
		if (!strcmp(variant->type, "imc"))
			sleep(1);
		EXPECT_EQ(round * half, event_count(fd) - before) {
			TH_LOG("round %u of %s", round, pmu);
		}
	}
	close(fd);
}

TEST_HARNESS_MAIN

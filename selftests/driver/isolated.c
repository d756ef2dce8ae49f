// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Isolated CPUs (isolcpus=, nohz_full=) program the counters of a package only
 * while it has no other CPU online.  The VM's kernel gets a parameter that isolates
 * the first CPU of each package.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

#define PCU	"hswep_pcu"

static bool in_list(const char *path, int cpu)
{
	int first, last;
	bool in = false;
	FILE *f = fopen(path, "re");

	while (f && !in && fscanf(f, "%d", &first) == 1) {
		last = first;
		if (fscanf(f, "-%d", &last) == 1)
			last = last < first ? first : last;
		in = cpu >= first && cpu <= last;
		if (fgetc(f) != ',')
			break;
	}
	if (f)
		fclose(f);
	return in;
}

static bool isolated(int cpu)
{
	return in_list("/sys/devices/system/cpu/isolated", cpu) ||
	       in_list("/sys/devices/system/cpu/nohz_full", cpu);
}

static void __attribute__((constructor)) need_isolation(void)
{
	if (packages() < 2 || !isolated(package_cpu(1, 0)) ||
	    isolated(package_cpu(1, 1)) || package_cpu(1, 2) >= 0)
		tap_skip_all("needs two packages of two CPUs, the first of each isolated");
}

MACHINE_OF_ALL_TESTS("clock=manual", NULL);

FIXTURE(isolated)
{
	int cpu[2];	/* of package 1: isolated, and the other */
	int fd;
};

FIXTURE_SETUP(isolated)
{
	self->cpu[0] = package_cpu(1, 0);
	self->cpu[1] = package_cpu(1, 1);
	self->fd = event_open(PCU, pmu_cpu(PCU, 1), "config=0");
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(isolated)
{
	close(self->fd);
}

TEST_F(isolated, cpus_are_not_chosen)
{
	for (int pkg = 0; pkg < 2; pkg++) {
		int cpu = pmu_cpu(PCU, pkg);

		EXPECT_FALSE(isolated(cpu)) {
			TH_LOG("CPU %d of package %d", cpu, pkg);
		}
	}
}

/*
 * Migration disturbs all users of a package: a CPU that comes back online changes
 * nothing.
 */
TEST_F(isolated, cpu_steps_in_and_stays)
{
	ASSERT_EQ(0, -cpu_set_online(self->cpu[1], false));
	EXPECT_EQ(self->cpu[0], pmu_cpu(PCU, 1));
	sim_advance(1009);
	EXPECT_EQ(1009, event_count(self->fd));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[1], true));
	EXPECT_EQ(self->cpu[0], pmu_cpu(PCU, 1));
	sim_advance(1009);
	EXPECT_EQ(2018, event_count(self->fd));
	/* and when it goes offline, the first one is chosen again */
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], false));
	EXPECT_EQ(self->cpu[1], pmu_cpu(PCU, 1));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], true));
	EXPECT_EQ(self->cpu[1], pmu_cpu(PCU, 1));
}

/* The first CPU of a package that comes back online is its only CPU. */
TEST_F(isolated, cpu_serves_a_package_that_comes_back)
{
	ASSERT_EQ(0, -cpu_set_online(self->cpu[1], false));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], false));
	EXPECT_EQ(-1, pmu_cpu(PCU, 1));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], true));
	EXPECT_EQ(self->cpu[0], pmu_cpu(PCU, 1));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[1], true));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], false));
	EXPECT_EQ(self->cpu[1], pmu_cpu(PCU, 1));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], true));
}

TEST_HARNESS_MAIN

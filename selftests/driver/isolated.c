// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An isolated CPU (isolcpus=, nohz_full=) programs the counters of its package only if
 * the package has no other CPU online. A kernel parameter of the VM
 * isolates the first CPU of each package.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

#define PCU	"hswep_pcu"

/* Return whether the CPU list in a file of sysfs has the CPU. */
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
	int cpu[2];	/* CPUs of package 1: the isolated CPU, the other CPU */
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

/* With all CPUs online, the perf CPU of each package is not an isolated CPU. */
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
 * The isolated CPU becomes the perf CPU when the other CPU goes offline, and remains the
 * perf CPU when the other CPU is back: a migration disturbs all users of a package.
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
	/* the isolated CPU goes offline: the other CPU becomes the perf CPU again */
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], false));
	EXPECT_EQ(self->cpu[1], pmu_cpu(PCU, 1));
	ASSERT_EQ(0, -cpu_set_online(self->cpu[0], true));
	EXPECT_EQ(self->cpu[1], pmu_cpu(PCU, 1));
}

/*
 * Both CPUs of the package go offline. The isolated CPU comes back first, as the only CPU
 * of the package, and so becomes the perf CPU.
 */
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

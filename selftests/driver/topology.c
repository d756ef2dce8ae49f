// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines with other numbers of packages, dies, nodes, cores and threads. If packages have
 * several dies, each die is a package here. Every PMU has a CPU of each package, and traffic of
 * a package is counted only in this package, on whichever CPU the count is read. A sampling
 * event on each CPU gets its samples by PMIs that interrupt CPUs of its package only. The
 * shape of the machine is an option of the VM; the arguments are parameters of the
 * simulator.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	MAX_PACKAGES = 16,
	MAX_CPUS = 256,
	CYCLES = 10007,
	PERIOD = 1000,
	OVERFLOWS = 10,
};

static int n_packages;

/* Return whether all PMUs exist and @fn returns true for each. */
static bool each_pmu(bool (*fn)(const char *pmu, const char *type))
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (unsigned int k = 0; *box_types[k]; k++)
		for (unsigned int i = 0; i < most_boxes(box_types[k]); i++)
			ok &= check(pmu_name(pmu, box_types[k], i),
				    "%s %u is there", box_types[k], i) &&
			      fn(pmu, box_types[k]);
	return ok;
}

static bool has_cpus(const char *pmu, const char *type)
{
	bool ok = true;

	(void)type;
	for (int pkg = 0; pkg < n_packages; pkg++)
		ok &= check(pmu_cpu(pmu, pkg) >= 0, "%s: a CPU of package %d",
			    pmu, pkg);
	return ok;
}

/* Open an event of a PMU in each package. */
static void open_all(const char *pmu, uint64_t config, int *fd)
{
	for (int pkg = 0; pkg < n_packages; pkg++) {
		fd[pkg] = event_open(pmu, pmu_cpu(pmu, pkg),
				     "config=%#" PRIx64, config);
		check(fd[pkg] >= 0, "%s opens in package %d", pmu, pkg);
	}
}

static void close_all(const int *fd)
{
	for (int pkg = 0; pkg < n_packages; pkg++)
		if (fd[pkg] >= 0)
			close(fd[pkg]);
}

static bool counts_cycles(const char *pmu, const char *type)
{
	const struct cat_event *e = ticks_of(type);
	int fd[MAX_PACKAGES];
	bool ok = true;

	if (!e)
		return true;
	open_all(pmu, e->config, fd);
	sim_advance(CYCLES);
	for (int pkg = 0; pkg < n_packages; pkg++)
		ok &= check_eq(event_count(fd[pkg]), CYCLES,
			       "%s: cycles of package %d", pmu, pkg);
	close_all(fd);
	return ok;
}

/* Move this task to @cpu, or allow all CPUs for -1. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < MAX_CPUS; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_bail("this task cannot run on CPU %d", cpu);
}

/*
 * Send another number of transactions to each package: each event counts its own. Read the
 * counts on a CPU of each package.
 */
static bool counts_own(const char *pmu, const char *type)
{
	const struct cat_event *e = plain_of(type);
	int fd[MAX_PACKAGES];
	bool ok = true;

	if (!e)
		return true;
	open_all(pmu, e->config, fd);
	for (int reader = 0; reader < n_packages; reader++) {
		for (int pkg = 0; pkg < n_packages; pkg++)
			send_traffic(pmu, pkg, e, 100 + pkg, 1);
		run_on(package_cpu(reader, 0));
		for (int pkg = 0; pkg < n_packages; pkg++)
			ok &= check_eq(event_count(fd[pkg]), (100 + pkg) * (reader + 1),
				       "%s: transactions of package %d, read in package %d",
				       pmu, pkg, reader);
		run_on(-1);
	}
	close_all(fd);
	return ok;
}

/*
 * Read the number of NMIs of each CPU. /proc/interrupts has a column for each online CPU.
 */
static void read_nmis(uint64_t *counts)
{
	static char line[1 << 14];
	FILE *f = fopen("/proc/interrupts", "re");
	int cpu[MAX_CPUS], n = 0, used;
	char *position;

	if (!f || !fgets(line, sizeof(line), f))
		tap_bail("/proc/interrupts cannot be read");
	for (position = line; n < MAX_CPUS && sscanf(position, " CPU%d%n", &cpu[n], &used) == 1;
	     position += used)
		n++;
	while (fgets(line, sizeof(line), f)) {
		position = strstr(line, "NMI:");
		if (!position)
			continue;
		position += strlen("NMI:");
		for (int i = 0; i < n; i++, position += used)
			if (sscanf(position, "%" SCNu64 "%n", &counts[cpu[i]], &used) != 1)
				tap_bail("no NMIs of CPU %d", cpu[i]);
	}
	fclose(f);
}

/* Check that the event's CPU got NMIs, and that CPUs of other packages got none. */
static bool nmis_came_to(int cpu, const uint64_t *before, const uint64_t *after)
{
	bool ok = check(after[cpu] > before[cpu], "CPU %d gets NMIs", cpu);

	for (int pkg = 0; pkg < n_packages; pkg++) {
		int other;

		if (pkg == cpu_package(cpu))
			continue;
		for (unsigned int n = 0; (other = package_cpu(pkg, n)) >= 0; n++)
			ok &= check_eq(after[other] - before[other], 0,
				       "NMIs of CPU %d for an event of CPU %d",
				       other, cpu);
	}
	return ok;
}

/* Open an event on @cpu, send transactions and check samples, count and NMIs. */
static bool samples_on(const char *type, int cpu, int pkg)
{
	static uint64_t before[MAX_CPUS], after[MAX_CPUS];
	const struct cat_event *e = plain_of(type);
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!e || !pmu_name(pmu, type, 0))
		return check(false, "%s has a box and an event", type);
	if (!check_eq(-sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				    e->config), 0, "%s opens on CPU %d", pmu,
		      cpu))
		return false;
	read_nmis(before);
	send_traffic(pmu, pkg, e, OVERFLOWS * PERIOD, 1);
	ok = check_eq(sampler_settle(&s, OVERFLOWS), OVERFLOWS,
		      "%s: samples on CPU %d", pmu, cpu);
	read_nmis(after);
	ok &= check_eq(event_count(s.fd), OVERFLOWS * PERIOD,
		       "%s: count on CPU %d", pmu, cpu);
	ok &= sampler_clean(&s, pmu);
	if (!generation()->polled)
		ok &= nmis_came_to(cpu, before, after);
	sampler_close(&s);
	return ok;
}

FIXTURE(pmus) {};

NO_UNDEFINED_WRITES(pmus);

TEST_F(pmus, have_a_cpu_of_each_package)
{
	EXPECT_TRUE(each_pmu(has_cpus));
}

TEST_F(pmus, count_the_cycles_of_each_package)
{
	EXPECT_TRUE(each_pmu(counts_cycles));
}

TEST_F(pmus, count_what_happens_in_their_package)
{
	EXPECT_TRUE(each_pmu(counts_own));
}

FIXTURE(type) {};

FIXTURE_VARIANT(type) { const char *type; };

VARIANT_OF_TYPE(type, ha);
VARIANT_OF_TYPE(type, pcu);

NO_UNDEFINED_WRITES(type);

/* An event on each CPU samples exactly, and PMIs do not interrupt other packages. */
TEST_F(type, overflows_give_samples_on_each_cpu)
{
	int cpu;

	for (int pkg = 0; pkg < n_packages; pkg++) {
		for (unsigned int n = 0; (cpu = package_cpu(pkg, n)) >= 0; n++) {
			EXPECT_TRUE(samples_on(variant->type, cpu, pkg));
		}
	}
}

static void prepare(int argc, char **argv)
{
	char params[256] = "clock=manual";

	for (int i = 1; i < argc; i++) {
		strncat(params, " ", sizeof(params) - strlen(params) - 1);
		strncat(params, argv[i], sizeof(params) - strlen(params) - 1);
	}
	machine_setup(params, NULL);
	n_packages = packages();
}

HARNESS_MAIN_AFTER(prepare);

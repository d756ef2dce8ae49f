// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the driver while intel_uncore loads or is loaded; let a load fail late, while a
 * program opens events; refuse events of cgroups, which perf alone does not refuse; and
 * log the name of a program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

#define OURS_NAME	"xeon_uncore"
#define IN_TREE_NAME	"intel_uncore"
#define PCU		"hswep_pcu"

static void __attribute__((constructor)) need_two_packages(void)
{
	if (packages() < 2)
		tap_skip_all("needs two packages");
}

/* Each test loads the modules that it needs. */
FIXTURE(loading) {};

FIXTURE_SETUP(loading)
{
	driver_none();
}

FIXTURE_TEARDOWN(loading)
{
	EXPECT_EQ(0, -module_unload(IN_TREE_NAME));
	EXPECT_TRUE(machine_leave());
}

/* --- loading at the same time as intel_uncore ----------------------------- */

enum { RACES = 30, RACE_STEP_US = 8000, RACE_STEPS = 15, RACE_EARLIEST = -12 };

/* Numbers of rounds after which a driver, both drivers or no driver was loaded */
struct race {
	int won[DRIVERS];
	int both, neither;
};

/* Return whether the PMU counts cycles exactly. */
static bool counts_cycles(const char *pmu)
{
	int fd = event_open(pmu, pmu_cpu(pmu, 0), "config=0");
	bool ok;

	sim_advance(1009);
	ok = check_eq(event_count(fd), 1009, "cycles of %s", pmu);
	close(fd);
	return ok;
}

/*
 * Load both drivers at the same time. intel_uncore starts to load @us microseconds after
 * this driver; if @us is negative, before this driver.
 */
static bool race_once(struct race *r, int us)
{
	int status, err, module = driver_open();
	bool ours, in_tree, ok = true;
	pid_t child;

	log_mark();
	child = fork();
	if (!child) {
		if (us > 0)
			usleep(us);
		execlp("modprobe", "modprobe", "-q", IN_TREE_NAME, NULL);
		_exit(127);
	}
	if (us < 0)
		usleep(-us);
	err = driver_load_from(module, "events=none");
	close(module);
	waitpid(child, &status, 0);

	ours = module_loaded(OURS_NAME);
	in_tree = module_loaded(IN_TREE_NAME);
	r->both += ours && in_tree;
	r->neither += !ours && !in_tree;
	r->won[OURS] += ours;
	r->won[IN_TREE] += in_tree;
	ok &= check(!(ours && in_tree), "%d us: both are loaded", us);
	ok &= check(ours == !err, "%d us: insmod says %s", us, strerror(-err));
	ok &= check(in_tree == !status, "%d us: modprobe ends with %d", us,
		    status);
	ok &= check_eq(log_count("not loaded: "), 1,
		       "%d us: lines on the one that is not loaded", us);
	if (ours && !in_tree)
		ok &= counts_cycles(PCU);
	if (in_tree && !ours)
		ok &= counts_cycles("uncore_pcu");
	ok &= check(log_clean(), "%d us: the log", us);
	driver_none();
	return ok;
}

/* One of the drivers refuses to load and logs one line; the other driver counts. */
TEST_F(loading, together_with_intel_uncore)
{
	struct race r = { 0 };

	if (!in_tree_exists())
		SKIP(return, "no " IN_TREE_NAME " module for this kernel");
	machine_setup_sim("clock=manual");
	machine_allow_undefined();
	/* bring intel_uncore's file into the page cache, where this driver's file is */
	EXPECT_EQ(0, system("modprobe " IN_TREE_NAME));
	driver_none();
	for (int i = 0; i < RACES; i++) {
		EXPECT_TRUE(race_once(&r, (i % RACE_STEPS + RACE_EARLIEST) *
					  RACE_STEP_US));
	}
	TH_LOG("%d races: %d won by " OURS_NAME ", %d by " IN_TREE_NAME
	       ", %d by both, %d by neither", RACES, r.won[OURS],
	       r.won[IN_TREE], r.both, r.neither);
}

/* The driver that loads second refuses to load, and one line of the log names why. */
TEST_F(loading, beside_intel_uncore_in_either_order)
{
	if (!in_tree_exists())
		SKIP(return, "no " IN_TREE_NAME " module for this kernel");
	driver_setup(IN_TREE, "clock=manual");
	log_mark();
	EXPECT_EQ(EBUSY, -driver_load(NULL));
	EXPECT_EQ(1, log_count("not loaded: " IN_TREE_NAME " drives this uncore"));
	driver_change(OURS);
	log_mark();
	EXPECT_NE(0, system("modprobe -q " IN_TREE_NAME));
	EXPECT_EQ(1, log_count(IN_TREE_NAME " not loaded: "));
	EXPECT_TRUE(counts_cycles(PCU));
}

/* --- loading that fails when PMUs are registered --------------------------- */

enum { TYPES = 128, FAILURES = 5 };

/* A thread that opens events on new PMUs */
struct opener {
	pthread_t thread;
	atomic_bool stop;
	bool foreign[TYPES];	/* PMU types of other drivers */
	int cpu;
	int opened, refused;	/* events */
};

static int open_type(unsigned int type, int cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = type };

	return perf_open(&attr, -1, cpu, -1);
}

/* Open an event on every PMU that appears, and keep it open. */
static void *open_events(void *data)
{
	struct opener *o = data;

	while (!atomic_load(&o->stop)) {
		for (unsigned int type = 6; type < TYPES; type++) {
			int fd = o->foreign[type] ? -ENOENT :
						    open_type(type, o->cpu);

			o->opened += fd >= 0;
			o->refused += fd == -ENODEV;
		}
	}
	return NULL;
}

/*
 * The simulator registers a PMU named hswep_r3qpi_2, so that the load fails after the
 * driver has registered some PMUs. No event may open on these PMUs.
 */
TEST_F(loading, a_failure_after_some_pmus_opens_no_event)
{
	struct opener o = { .cpu = package_cpu(1, 0) };

	machine_setup_sim("clock=manual other_pmu=hswep_r3qpi_2");
	log_mark();
	for (unsigned int type = 0; type < TYPES; type++) {
		int fd = open_type(type, o.cpu);

		o.foreign[type] = fd != -ENOENT || type < 6;
		if (fd >= 0)
			close(fd);
	}
	o.foreign[pmu_type("hswep_r3qpi_2")] = true;
	if (pthread_create(&o.thread, NULL, open_events, &o))
		tap_bail("no thread");
	for (int i = 0; i < FAILURES; i++) {
		EXPECT_EQ(EBUSY, -driver_load(NULL));
		EXPECT_FALSE(module_loaded(OURS_NAME));
	}
	atomic_store(&o.stop, true);
	pthread_join(o.thread, NULL);
	TH_LOG("%d loads that fail: %d events opened, %d refused", FAILURES,
	       o.opened, o.refused);
	EXPECT_EQ(0, o.opened);
	EXPECT_LT(0, o.refused);
	EXPECT_TRUE(log_clean());
	EXPECT_EQ(0, sim_dirty_registers());
}

/* --- cgroups --------------------------------------------------------------- */

#define CGROUPS	"/tmp/loading-cgroups"

/* Create a cgroup; return a descriptor of its directory or -errno. */
static int open_cgroup(void)
{
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return -errno;
	/* the kernel enables the controller of perf with the first other controller */
	file_write(CGROUPS "/cgroup.subtree_control", "+pids");
	mkdir(CGROUPS "/loading", 0755);
	return open(CGROUPS "/loading", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
}

static int open_in_cgroup(const struct perf_event_attr *attr, int cgroup, int cpu)
{
	return syscall(SYS_perf_event_open, attr, cgroup, cpu, -1,
		       PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC) < 0 ? -errno : 0;
}

TEST_F(loading, events_of_a_cgroup_are_refused)
{
	struct perf_event_attr leader = {
		.size = sizeof(leader), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	}, uncore;
	int cgroup = open_cgroup(), cpu, fd;

	if (cgroup < 0)
		tap_bail("no cgroup: %s", strerror(-cgroup));
	machine_setup("clock=manual", NULL);
	cpu = pmu_cpu(PCU, 0);
	if (pmu_attr(&uncore, PCU, "config=0"))
		tap_bail("no " PCU);
	EXPECT_EQ(EINVAL, -open_in_cgroup(&uncore, cgroup, cpu));
	fd = syscall(SYS_perf_event_open, &leader, cgroup, cpu, -1,
		     PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		tap_bail("a cgroup's CPU clock: %s", strerror(errno));
	/* an uncore event in a group whose leader is an event of the cgroup */
	EXPECT_EQ(EINVAL, -perf_open(&uncore, -1, cpu, fd));
	close(fd);
	close(cgroup);
	rmdir(CGROUPS "/loading");
	umount(CGROUPS);
	rmdir(CGROUPS);
}

/* --- a name in the log ------------------------------------------------------ */

/*
 * The driver masks an unknown bit of config and logs the name of the program, in one line
 * and without control characters.
 */
TEST_F(loading, log_names_the_program)
{
	static char log[1 << 20];
	struct perf_event_attr attr;
	int fd, n;

	machine_setup("clock=manual", "pmu_prefix=uncore");
	klogctl(5 /* clear */, NULL, 0);
	prctl(PR_SET_NAME, "a\nforged\033[7m");
	if (pmu_attr(&attr, "uncore_pcu", "config=0x8000000000000000"))
		tap_bail("no uncore_pcu");
	fd = perf_open(&attr, -1, pmu_cpu("uncore_pcu", 0), -1);
	EXPECT_LE(0, fd);
	close(fd);
	n = klogctl(3 /* read all */, log, sizeof(log) - 1);
	log[n < 0 ? 0 : n] = '\0';
	EXPECT_TRUE(strstr(log, "forged"));
	EXPECT_FALSE(strstr(log, "] forged"));
	EXPECT_FALSE(strstr(log, "\nforged"));
	EXPECT_FALSE(strchr(log, '\033'));
}

TEST_HARNESS_MAIN

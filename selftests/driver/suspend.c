// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System sleep: all CPUs except one go offline, and the uncore loses or keeps its
 * register values. Counts must continue without a jump, and sampling must continue.
 *
 * The VM's disk does not work after a sleep. So this program is linked statically,
 * copies all files that it needs into memory first, and ends the VM itself, as
 * selftests/vm/tap-run and selftests/vm/init do otherwise. It must be the only test of
 * its VM.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define MEMORY	"/dev/shm/suspend"

enum {
	BEFORE = 1003,		/* cycles before the first sleep */
	AFTER = 507,		/* cycles after each sleep */
	PERIOD = 100,
	SLEEPS = 2,
	MAX_WATCHED = 16,
	SAMPLERS = 3,
};

/* --- files in memory ---------------------------------------------------------- */

/* Copy a file. Skip the program if the file does not exist. */
static void copy(const char *source, const char *target)
{
	int in = open(source, O_RDONLY | O_CLOEXEC);
	int out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	char buffer[1 << 16];
	ssize_t n;

	if (in < 0)
		tap_skip_all("%s: %s", source, strerror(errno));
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (out < 0 || write(out, buffer, n) != n)
			tap_bail("%s: %s", target, strerror(errno));
	close(in);
	close(out);
}

/* Copy modules, tables and this program to /dev/shm, and execute the copy. */
static void move_into_memory(char **argv)
{
	const char *build = getenv("UNCORE_BUILD");
	char path[512];

	if (!build)
		tap_skip_all("UNCORE_BUILD is not set: not a test VM");
	mkdir(MEMORY, 0755);
	mkdir(MEMORY "/kmod", 0755);
	mkdir(MEMORY "/kmod/sim", 0755);
	snprintf(path, sizeof(path), "%s/kmod/xeon_uncore.ko", build);
	copy(path, MEMORY "/kmod/xeon_uncore.ko");
	snprintf(path, sizeof(path), "%s/kmod/sim/xeon_uncore_sim.ko", build);
	copy(path, MEMORY "/kmod/sim/xeon_uncore_sim.ko");
	if (strcmp(generation()->name, "hswep"))
		snprintf(path, sizeof(path), "%s/../catalogue-%s.tsv", build,
			 generation()->name);
	else
		snprintf(path, sizeof(path), "%s/../catalogue.tsv", build);
	copy(getenv("UNCORE_CATALOGUE") ?: path, MEMORY "/catalogue.tsv");
	file_of_build(path, sizeof(path), "machines.tsv");
	copy(path, MEMORY "/machines.tsv");
	copy("/proc/self/exe", MEMORY "/suspend");
	setenv("UNCORE_BUILD", MEMORY, 1);
	setenv("UNCORE_CATALOGUE", MEMORY "/catalogue.tsv", 1);
	if (chdir(MEMORY))
		tap_bail(MEMORY ": %s", strerror(errno));
	argv[0] = MEMORY "/suspend";
	execv(argv[0], argv);
	tap_bail("%s: %s", argv[0], strerror(errno));
}

/*
 * Serial ports of selftests/vm/run, because virtio's ports may be dead after a sleep,
 * as in Linux 7.3.
 */
#define OUTPUT	"/dev/ttyS1"
#define STATUS	"/dev/ttyS2"

/* Open a serial port that passes all bytes unchanged. */
static int serial_port(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios settings;

	if (fd < 0 || tcgetattr(fd, &settings))
		return -1;
	cfmakeraw(&settings);
	return tcsetattr(fd, TCSANOW, &settings) ? -1 : fd;
}

/* Send standard output and error to the serial port. */
static void redirect_to_serial_port(void)
{
	int fd = serial_port(OUTPUT);

	if (fd < 0)
		tap_skip_all("%s: %s", OUTPUT, strerror(errno));
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/*
 * Report the exit status to selftests/vm/run and power the VM off. Other processes of
 * the VM cannot run any more.
 */
static void power_off(int status)
{
	int port = serial_port(STATUS);

	printf("\n##end suspend %d\n", status);
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	if (dprintf(port, "exit 0\n") > 0)
		tcdrain(port);
	reboot(RB_POWER_OFF);
	pause();
}

/* Exit handler: end the VM when the parent process of all tests, @tests, exits. */
static void end(int status, void *tests)
{
	if (getpid() == (pid_t)(intptr_t)tests)
		power_off(status);
}

/* Prepare the program before the harness begins. */
static void __attribute__((constructor)) prepare(int argc, char **argv)
{
	(void)argc;
	if (access("/sys/power/pm_test", W_OK))
		tap_skip_all("this kernel cannot test a sleep");
	if (strcmp(argv[0], MEMORY "/suspend"))
		move_into_memory(argv);
	redirect_to_serial_port();
	on_exit(end, (void *)(intptr_t)getpid());
}

/* --- sleep --------------------------------------------------------------------- */

/*
 * Suspend and resume CPUs and devices. With pm_test=core the kernel does not call the
 * firmware, and resumes at once.
 */
static int fall_asleep(void)
{
	int err = file_write("/sys/power/pm_test", "core");

	file_write("/sys/power/mem_sleep", "deep");
	return err ?: file_write("/sys/power/state", "mem");
}

/* --- events -------------------------------------------------------------------- */

static struct {
	char name[96];
	int fd;
} watched[MAX_WATCHED];

static unsigned int n_watched;

/* Open an event on CPU 0, the CPU that stays online. */
static void watch(const char *pmu, const char *event)
{
	int fd = event_open(pmu, 0, "%s", event);

	if (fd < 0)
		tap_bail("%s/%s/: %s", pmu, event, strerror(-fd));
	snprintf(watched[n_watched].name, sizeof(watched[0].name), "%s/%s/",
		 pmu, event);
	watched[n_watched++].fd = fd;
}

/* Check that all watched events have counted @cycles. */
static bool all_count(uint64_t cycles, const char *when)
{
	bool ok = true;

	for (unsigned int i = 0; i < n_watched; i++)
		ok &= check_eq(event_count(watched[i].fd), cycles, "%s %s",
			       watched[i].name, when);
	return ok;
}

/*
 * Return whether boxes of a type have an event that counts without traffic. Boxes that
 * count only transactions have no such event.
 */
static bool ticks(const char *type)
{
	return cat_has_waves(type) && ticks_of(type);
}

static void watch_free(const char *type, const char *name)
{
	char pmu[PMU_NAME_MAX];

	if (cat_find(type, name) && pmu_name(pmu, type, 0))
		watch(pmu, name);
}

/* Watch an event of each box type, and the free-running counters. */
static void watch_all(void)
{
	char pmu[PMU_NAME_MAX], config[32];

	n_watched = 0;
	for (unsigned int k = 0; *box_types[k]; k++) {
		if (!pmu_name(pmu, box_types[k], 0) || !ticks(box_types[k]))
			continue;
		snprintf(config, sizeof(config), "config=%#" PRIx64,
			 ticks_of(box_types[k])->config);
		watch(pmu, config);
	}
	if (!n_watched)
		tap_bail("nothing to watch");
	watch_free("qpi", "link_idle");
	watch_free("pcu", "pkg_c6_residency");
}

/*
 * Open sampling events: of a box with overflow interrupts, if the generation has one,
 * and of a polled box. Return the number of events.
 */
static unsigned int open_samplers(struct sampler *s, char (*pmu)[PMU_NAME_MAX])
{
	static const char *const types[SAMPLERS] = { "ha", "cbox", "fsb" };
	char config[32];
	unsigned int n = 0;

	for (unsigned int i = 0; i < SAMPLERS; i++) {
		if (!pmu_name(pmu[n], types[i], 1) &&
		    !pmu_name(pmu[n], types[i], 0))
			continue;
		snprintf(config, sizeof(config), "config=%#" PRIx64,
			 ticks_of(types[i])->config);
		if (!check_eq(-sampler_open(&s[n], pmu[n], 0, PERIOD, "%s",
					    config), 0, "%s opens", pmu[n]))
			tap_bail("no sampling before the sleep");
		n++;
	}
	return n;
}

/* Return whether the machine has a box of that type. */
static bool type_exists(const char *type)
{
	char pmu[PMU_NAME_MAX];

	return pmu_name(pmu, type, 0);
}

/* Check that an event has counted @cycles and has all samples. */
static bool sampled(struct sampler *s, uint64_t cycles, const char *when)
{
	bool ok = check_eq(sampler_settle(s, cycles / PERIOD), cycles / PERIOD,
			   "samples %s", when);

	return ok & check_eq(event_count(s->fd), cycles,
			     "count of what samples, %s", when);
}

FIXTURE(asleep) {};

FIXTURE_VARIANT(asleep) { const char *params; };

FIXTURE_VARIANT_ADD(asleep, registers_reset) { .params = "clock=manual resume=reset" };
FIXTURE_VARIANT_ADD(asleep, registers_kept) { .params = "clock=manual resume=keep" };

FIXTURE_SETUP(asleep)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup(variant->params, "");
	log_mark();
}

FIXTURE_TEARDOWN(asleep)
{
	expect_nothing_left(_metadata);
}

TEST_F(asleep, counts_and_sampling_go_on_without_a_jump)
{
	static const char *const sampling[] = { "pcu", "imc", "gbsq", "fsb" };
	char pmu[SAMPLERS][PMU_NAME_MAX];
	uint64_t cycles = BEFORE;
	struct sampler s[SAMPLERS];
	unsigned int samplers;

	watch_all();
	samplers = open_samplers(s, pmu);
	sim_advance(cycles);
	ASSERT_TRUE(all_count(cycles, "before"));
	for (unsigned int sleep = 0; sleep < SLEEPS; sleep++) {
		ASSERT_EQ(0, -fall_asleep());
		ASSERT_TRUE(all_count(cycles, "after the sleep"));
		sim_advance(AFTER);
		cycles += AFTER;
		ASSERT_TRUE(all_count(cycles, "and then"));
	}
	for (unsigned int i = 0; i < samplers; i++) {
		EXPECT_TRUE(sampled(&s[i], cycles, pmu[i]));
		EXPECT_TRUE(sampler_clean(&s[i], pmu[i]));
		sampler_close(&s[i]);
	}
	for (unsigned int i = 0; i < n_watched; i++)
		close(watched[i].fd);

	/* events that are opened after the sleeps count and sample exactly, too */
	for (int pkg = 0; pkg < packages(); pkg++) {
		if (ticks(box_types[0])) {
			EXPECT_EQ(pmus_there(), boxes_that_count(pkg, AFTER)) {
				TH_LOG("of package %d", pkg);
			}
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(sampling); i++)
			if (type_exists(sampling[i]))
				EXPECT_TRUE(samples_exactly(sampling[i], pkg, 3));
	}
}

TEST_HARNESS_MAIN

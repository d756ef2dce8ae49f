// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load and unload the modules of this build; take CPUs offline and online; read the
 * kernel's log.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "machine.h"
#include "perf.h"
#include "sim.h"
#include "tap.h"

#define DRIVER	"xeon_uncore"
#define SIM	"xeon_uncore_sim"

enum { UNLOAD_TRIES = 250, MAX_PARAMS = 512 };

/* State of the modules, in memory that all processes of the program share */
static struct {
	bool ours;			/* the program loaded the simulator */
	char params[2 * MAX_PARAMS];	/* parameters of machine_setup_once(), or "" */
} *loaded;

/* Find module @file in modules.dep, like modprobe; write its path to @path. */
static bool installed_path(char *path, size_t size, const char *release,
			   const char *file)
{
	char folder[128], line[4096];
	bool found = false;
	FILE *f;

	snprintf(folder, sizeof(folder), "/lib/modules/%s", release);
	snprintf(path, size, "%s/modules.dep", folder);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		char *end = strchr(line, ':'), *slash;

		if (!end)
			continue;
		*end = '\0';
		slash = strrchr(line, '/');
		found = slash && !strcmp(slash + 1, file);
		if (found && (size_t)snprintf(path, size, "%s/%s", folder, line) >= size)
			found = false;
	}
	fclose(f);
	return found;
}

/* Write the path of module @file, such as "sim/xeon_uncore_sim.ko", to @path. */
static void module_path(char *path, size_t size, const char *file)
{
	const char *build = getenv("UNCORE_BUILD");
	const char *name = strrchr(file, '/');
	struct utsname u;

	uname(&u);
	if (build) {
		snprintf(path, size, "%s/kmod/%s", build, file);
		return;
	}
	snprintf(path, size, "build/%s/kmod/%s", u.release, file);
	if (access(path, F_OK) &&
	    !installed_path(path, size, u.release, name ? name + 1 : file))
		snprintf(path, size, "build/%s/kmod/%s", u.release, file);
}

/* Open a module's file; return a descriptor or -errno. */
static int open_module(const char *file)
{
	char path[512];
	int fd;

	module_path(path, sizeof(path), file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int load_from(int fd, const char *params)
{
	return syscall(SYS_finit_module, fd, params ? params : "", 0) ? -errno : 0;
}

static int load(const char *file, const char *params)
{
	int fd = open_module(file), err;

	if (fd < 0)
		return fd;
	err = load_from(fd, params);
	close(fd);
	return err;
}

bool module_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	return access(path, F_OK) == 0;
}

static int unload(const char *name)
{
	if (!module_loaded(name))
		return 0;
	if (loaded)
		loaded->params[0] = '\0';
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int driver_open(void)
{
	return open_module(DRIVER ".ko");
}

int driver_load(const char *params)
{
	int fd = driver_open(), err;

	if (fd < 0)
		return fd;
	err = driver_load_from(fd, params);
	close(fd);
	return err;
}

int driver_load_from(int fd, const char *params)
{
	bool was_manual;
	char with_events[256];
	int err;

	if (!params || !strstr(params, "events=")) {
		snprintf(with_events, sizeof(with_events), "%s events=all",
			 params ? params : "");
		params = with_events;
	}
	sim_clock_run(&was_manual);
	err = load_from(fd, params);
	sim_clock_return(was_manual);
	/*
	 * On the manual clock a freeze loses no counts. With a freeze budget the number
	 * of samples would depend on the speed of the host.
	 */
	if (!err && was_manual && !strstr(params, "freeze_budget="))
		err = driver_freeze_budget(1000);
	return err;
}

int sim_load(const char *params)
{
	return load("sim/" SIM ".ko", params);
}

int module_load(const char *name, const char *params, ...)
{
	char file[64], text[256];
	va_list args;

	va_start(args, params);
	vsnprintf(text, sizeof(text), params, args);
	va_end(args);
	snprintf(file, sizeof(file), "../modules/%s.ko", name);
	return load(file, text);
}

unsigned int slowness(void)
{
	const char *text = getenv("UNCORE_SLOWNESS");
	unsigned int times = text ? strtoul(text, NULL, 10) : 1;

	return times ? times : 1;
}

unsigned int loops(unsigned int rounds)
{
	return (rounds + slowness() - 1) / slowness();
}

int driver_freeze_budget(unsigned int per_mille)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", per_mille);
	return file_write("/sys/module/" DRIVER "/parameters/freeze_budget",
			  text);
}

int driver_unload(void)
{
	return unload(DRIVER);
}

int module_unload(const char *name)
{
	int err = unload(name);

	for (int i = 0; i < UNLOAD_TRIES && err == -EAGAIN; i++) {
		usleep(20000);
		err = unload(name);
	}
	return err;
}

int sim_unload(void)
{
	return unload(SIM);
}

/* Undefined writes do not fail the program; undefined writes have failed the program. */
static bool undefined_allowed, undefined_seen;

void machine_allow_undefined(void)
{
	undefined_allowed = true;
}

/* Report the undefined writes of the driver, which has just been unloaded. */
static void judge_writes(void)
{
	uint64_t n = sim_present() ? sim_stat("undefined") : 0;

	if (n && n != UINT64_MAX && !undefined_allowed) {
		tap_diag("%ju writes that the manual leaves undefined",
			 (uintmax_t)n);
		undefined_seen = true;
	}
	undefined_allowed = false;
}

bool machine_leave(void)
{
	int err = module_unload(DRIVER);

	if (!err) {
		judge_writes();
		err = module_unload(SIM);
	}
	if (err)
		tap_diag("modules do not unload: %s", strerror(-err));
	return !err && !undefined_seen;
}

static void leave_at_exit(void)
{
	/* the results have been printed already; fail the exit status */
	if (!machine_leave() && undefined_seen) {
		fflush(stdout);
		_exit(EXIT_FAILURE);
	}
}

void machine_require(void)
{
	static bool registered;
	char path[512];

	if (geteuid())
		tap_skip_all("needs root");
	module_path(path, sizeof(path), "sim/" SIM ".ko");
	if (access(path, F_OK))
		tap_skip_all("%s is not built", path);
	if (registered)
		return;
	loaded = mmap(NULL, sizeof(*loaded), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (loaded == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	atexit(leave_at_exit);
	registered = true;
}

void machine_setup_sim(const char *sim_params, ...)
{
	char params[MAX_PARAMS];
	va_list args;
	int err, n;

	machine_require();
	/* mount() fails if debugfs is mounted already, which is fine */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	err = driver_unload();
	if (!err && loaded->ours)
		judge_writes();
	if (!err)
		err = sim_unload();
	loaded->ours = true;
	if (err)
		tap_bail("modules do not unload: %s", strerror(-err));
	n = snprintf(params, sizeof(params), "packages=%d ", packages());
	va_start(args, sim_params);
	vsnprintf(params + n, sizeof(params) - n, sim_params, args);
	va_end(args);
	err = sim_load(params);
	if (err)
		tap_bail(SIM ".ko: %s", strerror(-err));
}

void machine_setup(const char *sim_params, const char *driver_params)
{
	int err;

	machine_setup_sim("%s", sim_params ? sim_params : "");
	err = driver_load(driver_params);
	if (err)
		tap_bail(DRIVER ".ko: %s", strerror(-err));
}

void machine_setup_once(const char *sim_params, const char *driver_params)
{
	char params[sizeof(loaded->params)];

	machine_require();
	snprintf(params, sizeof(params), "%s | %s", sim_params, driver_params);
	if (strcmp(loaded->params, params)) {
		machine_setup(sim_params, driver_params);
		strcpy(loaded->params, params);
	}
	log_mark();
}

static void cpu_file(char *path, size_t size, int cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%d/online", cpu);
}

void cpu_pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		tap_bail("cannot run on CPU %d: %s", cpu, strerror(errno));
}

pid_t cpu_spinner(int cpu, int nice)
{
	pid_t pid = fork();

	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cpu_pin(cpu);
	setpriority(PRIO_PROCESS, 0, nice);
	for (;;)
		cpu_relax();
}

void cpu_spinner_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int cpu_set_online(int cpu, bool online)
{
	int tries = 10, err;
	char path[64];

	cpu_file(path, sizeof(path), cpu);
	do
		err = file_write(path, online ? "1" : "0");
	while (err == -EIO && online && --tries);
	return err;
}

bool cpu_is_online(int cpu)
{
	char path[64], state = '1';
	int fd;

	cpu_file(path, sizeof(path), cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &state, 1) != 1)
			state = '1';
		close(fd);
	}
	return state == '1';
}

bool cpu_can_leave(int cpu)
{
	char path[64];

	cpu_file(path, sizeof(path), cpu);
	return access(path, W_OK) == 0;
}

/* Records that read() has returned from /dev/kmsg since log_mark() */
static int log_fd = -1;
static char log_text[1 << 18];
static size_t log_used;

void log_mark(void)
{
	if (log_fd < 0)
		log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log_fd < 0 || lseek(log_fd, 0, SEEK_END))
		tap_bail("/dev/kmsg: %s", strerror(errno));
	log_used = 0;
}

/*
 * Append new records of the kernel log to log_text. Each read() returns one record, or
 * EPIPE if the kernel overwrote records that were not yet read.
 */
static void log_fill(void)
{
	char record[8192];
	ssize_t n;

	for (;;) {
		n = read(log_fd, record, sizeof(record));
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			break;
		if (log_used + n < sizeof(log_text)) {
			memcpy(log_text + log_used, record, n);
			log_used += n;
		}
	}
	log_text[log_used] = '\0';
}

/* Count the log's lines that contain @text; print them if @show. */
static int log_scan(const char *text, bool show)
{
	int count = 0;

	log_fill();
	for (char *line = log_text; *line;) {
		size_t length = strcspn(line, "\n");
		char copy[1024];

		snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
		if (strstr(copy, text)) {
			count++;
			if (show)
				tap_diag("log: %s", copy);
		}
		line += length + (line[length] == '\n');
	}
	return count;
}

int log_count(const char *text)
{
	return log_scan(text, false);
}

void log_show(const char *text)
{
	log_scan(text, true);
}

bool log_clean(void)
{
	static const char *const alarms[] = {
		"WARNING:", "BUG:", "Oops", "UBSAN:", "refcount_t:",
		"unknown reason",
	};
	bool clean = true;

	for (unsigned int i = 0; i < sizeof(alarms) / sizeof(*alarms); i++) {
		if (check(!log_count(alarms[i]), "the log has '%s':", alarms[i]))
			continue;
		log_show(alarms[i]);
		clean = false;
	}
	return clean;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads the modules of this build; reads the kernel's log.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "machine.h"
#include "perf.h"
#include "tap.h"

#define DRIVER	"xeon_uncore"
#define SIM	"xeon_uncore_sim"

static void module_path(char *path, size_t size, const char *file)
{
	const char *build = getenv("UNCORE_BUILD");
	struct utsname u;

	uname(&u);
	if (build)
		snprintf(path, size, "%s/kmod/%s", build, file);
	else
		snprintf(path, size, "build/%s/kmod/%s", u.release, file);
}

static int load(const char *file, const char *params)
{
	char path[512];
	int fd, err;

	module_path(path, sizeof(path), file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params ? params : "", 0) ? -errno : 0;
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
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

int driver_load(const char *params)
{
	return load(DRIVER ".ko", params);
}

int sim_load(const char *params)
{
	return load("sim/" SIM ".ko", params);
}

int driver_unload(void)
{
	return unload(DRIVER);
}

int sim_unload(void)
{
	return unload(SIM);
}

static void unload_all(void)
{
	int err = driver_unload();

	if (!err)
		err = sim_unload();
	if (err)
		tap_diag("modules do not unload: %s", strerror(-err));
}

void machine_setup_sim(const char *sim_params)
{
	static bool registered;
	char path[512], params[512];
	int err;

	if (geteuid())
		tap_skip_all("needs root");
	module_path(path, sizeof(path), "sim/" SIM ".ko");
	if (access(path, F_OK))
		tap_skip_all("%s is not built", path);
	if (!registered)
		atexit(unload_all);
	registered = true;
	/* Fails when it is mounted, which is as good. */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	err = driver_unload();
	if (!err)
		err = sim_unload();
	if (err)
		tap_bail("modules do not unload: %s", strerror(-err));
	snprintf(params, sizeof(params), "packages=%d %s", packages(),
		 sim_params ? sim_params : "");
	err = sim_load(params);
	if (err)
		tap_bail("%s: %s", path, strerror(-err));
}

void machine_setup(const char *sim_params, const char *driver_params)
{
	int err;

	machine_setup_sim(sim_params);
	err = driver_load(driver_params);
	if (err)
		tap_bail(DRIVER ".ko: %s", strerror(-err));
}

/* The log since the mark: what read() has given so far. */
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

/* One read() is one record; EPIPE says that old ones were overwritten. */
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

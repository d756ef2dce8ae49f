// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver's PMUs through perf_event_open(2) and sysfs.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"

#define DEVICES	"/sys/bus/event_source/devices"
#define CPUS	"/sys/devices/system/cpu"

/* Read a file without the white space at its end. Return 0 or -errno. */
static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
	return 0;
}

int pmu_file(const char *pmu, const char *file, char *text, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	return read_text(path, text, size);
}

bool pmu_has_field(const char *pmu, const char *field)
{
	char file[64], text[64];

	snprintf(file, sizeof(file), "format/%s", field);
	return !pmu_file(pmu, file, text, sizeof(text));
}

int pmu_type(const char *pmu)
{
	char text[32];

	return pmu_file(pmu, "type", text, sizeof(text)) ? -1 : atoi(text);
}

bool pmu_name(char *name, const char *type, unsigned int index)
{
	snprintf(name, PMU_NAME_MAX, "%s_%s_%u", generation()->name, type,
		 index);
	if (pmu_type(name) >= 0)
		return true;
	snprintf(name, PMU_NAME_MAX, "%s_%s", generation()->name, type);
	return index == 0 && pmu_type(name) >= 0;
}

const char *pmu_box(const char *pmu)
{
	return strchr(pmu, '_') + 1;
}

/* Return whether @cpu is in a list such as "0-3,8". */
static bool list_has(const char *list, int cpu)
{
	char *end;

	while (*list) {
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = *end == ',' ? end + 1 : end;
	}
	return false;
}

static int read_cpu_id(int cpu, const char *id)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), CPUS "/cpu%d/topology/%s", cpu, id);
	return read_text(path, text, sizeof(text)) ? -1 : atoi(text);
}

/*
 * Return the number of dies that each package has. The kernel's die ids begin with 0 in each
 * package before Linux 6.9, and in the first package only since then.
 */
static int dies_per_package(void)
{
	static int dies;
	int package, most = 0;

	/* an offline CPU has no ids: keep the number of the first call */
	for (int cpu = 0; !dies && cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		package = read_cpu_id(cpu, "physical_package_id");
		if (package == 0 && read_cpu_id(cpu, "die_id") > most)
			most = read_cpu_id(cpu, "die_id");
	}
	dies = dies ?: most + 1;
	return dies;
}

int cpu_package(int cpu)
{
	int package = read_cpu_id(cpu, "physical_package_id");
	int dies = dies_per_package();

	return dies == 1 || package < 0 ? package :
	       package * dies + read_cpu_id(cpu, "die_id") % dies;
}

int package_cpu(int pkg, unsigned int nth)
{
	char online[256];

	if (read_text(CPUS "/online", online, sizeof(online)))
		return -1;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (list_has(online, cpu) && cpu_package(cpu) == pkg && !nth--)
			return cpu;
	return -1;
}

int packages(void)
{
	int n = 0;

	while (package_cpu(n, 0) >= 0)
		n++;
	return n;
}

int pmu_cpu(const char *pmu, int pkg)
{
	char mask[256];

	if (pmu_file(pmu, "cpumask", mask, sizeof(mask)))
		return -1;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (list_has(mask, cpu) && cpu_package(cpu) == pkg)
			return cpu;
	return -1;
}

int pmu_other_cpu(const char *pmu, int pkg)
{
	int home = pmu_cpu(pmu, pkg), cpu;

	for (unsigned int i = 0; (cpu = package_cpu(pkg, i)) >= 0; i++)
		if (cpu != home)
			return cpu;
	return -1;
}

/*
 * Store @value in the bits of @attr that a format string such as "config:0-7,21" lists,
 * lowest bit first. Return 0, -ENOENT (bad format) or -ERANGE (too few bits).
 */
static int place(struct perf_event_attr *attr, const char *format,
		 uint64_t value)
{
	const char *p = strchr(format, ':');
	uint64_t word;
	char *end;

	if (!p)
		return -ENOENT;
	word = !strncmp(format, "config1:", 8) ? attr->config1 :
	       !strncmp(format, "config2:", 8) ? attr->config2 : attr->config;
	for (p++; *p; p = *end == ',' ? end + 1 : end) {
		unsigned int low = strtoul(p, &end, 10), high = low;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		for (; low <= high && low < 64; low++, value >>= 1) {
			word &= ~(1ULL << low);
			word |= (value & 1) << low;
		}
		if (*end && *end != ',')
			return -ENOENT;
	}
	if (!strncmp(format, "config1:", 8))
		attr->config1 = word;
	else if (!strncmp(format, "config2:", 8))
		attr->config2 = word;
	else
		attr->config = word;
	return value ? -ERANGE : 0;
}

/* Add the terms of an event string to @attr; an event name stands for its own string. */
static int apply(struct perf_event_attr *attr, const char *pmu,
		 const char *event)
{
	char copy[512], text[512], file[128], *save, *term, *value;
	int err = 0;

	snprintf(copy, sizeof(copy), "%s", event);
	for (term = strtok_r(copy, ",", &save); term && !err;
	     term = strtok_r(NULL, ",", &save)) {
		uint64_t number = 1;

		value = strchr(term, '=');
		if (value) {
			*value++ = '\0';
			number = strtoull(value, NULL, 0);
		}
		snprintf(file, sizeof(file), "events/%.100s", term);
		if (!value && !pmu_file(pmu, file, text, sizeof(text))) {
			err = apply(attr, pmu, text);
			continue;
		}
		snprintf(file, sizeof(file), "format/%.100s", term);
		if (!strcmp(term, "config"))
			attr->config = number;
		else if (!strcmp(term, "config1"))
			attr->config1 = number;
		else if (!strcmp(term, "config2"))
			attr->config2 = number;
		else if (pmu_file(pmu, file, text, sizeof(text)))
			err = -ENOENT;
		else
			err = place(attr, text, number);
	}
	return err;
}

int pmu_attr(struct perf_event_attr *attr, const char *pmu, const char *event)
{
	int type = pmu_type(pmu);

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (type < 0)
		return -ENOENT;
	attr->type = type;
	return apply(attr, pmu, event);
}

int perf_open(const struct perf_event_attr *attr, int pid, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int event_open(const char *pmu, int cpu, const char *event, ...)
{
	struct perf_event_attr attr;
	char text[512];
	va_list args;
	int err;

	va_start(args, event);
	vsnprintf(text, sizeof(text), event, args);
	va_end(args);
	err = pmu_attr(&attr, pmu, text);
	return err ? err : perf_open(&attr, -1, cpu, -1);
}

int event_read(int fd, struct event_reading *r)
{
	ssize_t n = read(fd, r, sizeof(*r));

	return n == sizeof(*r) ? 0 : n < 0 ? -errno : -EIO;
}

uint64_t event_count(int fd)
{
	struct event_reading r;

	return event_read(fd, &r) ? UINT64_MAX : r.value;
}

int group_open_attr(struct event_group *g, struct perf_event_attr *attrs,
		    int cpu, unsigned int n)
{
	g->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		int fd;

		attrs[i].read_format |= PERF_FORMAT_GROUP;
		fd = perf_open(&attrs[i], -1, cpu, i ? g->fd[0] : -1);
		if (fd < 0) {
			group_close(g);
			return fd;
		}
		g->fd[g->n++] = fd;
	}
	return 0;
}

int group_open(struct event_group *g, const char *pmu, int cpu,
	       const char *const *events, unsigned int n)
{
	struct perf_event_attr attrs[MAX_GROUP];

	g->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		int err = pmu_attr(&attrs[i], pmu, events[i]);

		if (err)
			return err;
	}
	return group_open_attr(g, attrs, cpu, n);
}

int group_read(const struct event_group *g, uint64_t *values,
	       struct event_reading *times)
{
	uint64_t buf[3 + MAX_GROUP];	/* nr, enabled, running, values */
	ssize_t n = g->n ? read(g->fd[0], buf, sizeof(buf)) : 0;

	if (n < 0)
		return -errno;
	if (n != (ssize_t)((3 + g->n) * sizeof(*buf)) || buf[0] != g->n)
		return -EIO;
	memcpy(values, buf + 3, g->n * sizeof(*values));
	if (times)
		*times = (struct event_reading){ buf[3], buf[1], buf[2] };
	return 0;
}

void group_close(struct event_group *g)
{
	while (g->n)
		close(g->fd[--g->n]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver's PMUs through perf_event_open(2) and sysfs: the PMU's files "format" and
 * "events" translate event strings, as in perf. The tests use no library, so that they
 * see the kernel's errors.
 */
#ifndef SELFTESTS_PERF_H
#define SELFTESTS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

#include "generation.h"

#define PMU_NAME_MAX	48
#define MAX_GROUP	32

/* Names of the box types "ubox", "cbox", ... of this generation; "" ends the list */
#define box_types	(generation()->types)

/*
 * Write the PMU name of box @index of a type ("hswep_cbox_3", "hswep_pcu") to
 * @name[PMU_NAME_MAX]. Return false if that PMU does not exist.
 */
bool pmu_name(char *name, const char *type, unsigned int index);
/* Box part of a PMU's name, "cbox_3", which the simulator's files use */
const char *pmu_box(const char *pmu);
/* perf's type number of a PMU, or -1 if the PMU does not exist */
int pmu_type(const char *pmu);
/* CPU of package @pkg in the PMU's cpumask, or -1 */
int pmu_cpu(const char *pmu, int pkg);
/* First online CPU of package @pkg that is not in the PMU's cpumask, or -1 */
int pmu_other_cpu(const char *pmu, int pkg);
/*
 * Read /sys/bus/event_source/devices/@pmu/@file into @text, without the newline. Return 0
 * or -errno.
 */
int pmu_file(const char *pmu, const char *file, char *text, size_t size);
/* Return whether a PMU has a field in its folder "format". */
bool pmu_has_field(const char *pmu, const char *field);

/* Package of a CPU, or the number of its die where packages have several; or -1 */
int cpu_package(int cpu);
/* The @nth (from 0) online CPU of a package, or -1 */
int package_cpu(int pkg, unsigned int nth);
/* Number of packages of the machine */
int packages(void);

/*
 * Translate the name of an event ("clockticks"), fields of the format
 * ("event=0x34,umask=0x11,filter_state=0x1f") or a mixture into @attr. A later term
 * replaces an earlier term, and the value "?" is 0. config=, config1= and config2= set
 * raw values. Return 0, -ENOENT (no such PMU, event or field) or -ERANGE (a value is
 * wider than its field).
 */
int pmu_attr(struct perf_event_attr *attr, const char *pmu, const char *event);

/* Call perf_event_open(2). @group is -1 for no group. Return a descriptor or -errno. */
int perf_open(const struct perf_event_attr *attr, int pid, int cpu, int group);
/* Translate an event string and open the event on @cpu. Return a descriptor or -errno. */
int event_open(const char *pmu, int cpu, const char *event, ...)
	__attribute__((format(printf, 3, 4)));

struct event_reading {
	uint64_t value, enabled, running;
};

/* Read the value and the times of an event. Return 0 or -errno. */
int event_read(int fd, struct event_reading *r);
/* Count of an event; UINT64_MAX if read(2) fails */
uint64_t event_count(int fd);

struct event_group {
	unsigned int n;
	int fd[MAX_GROUP];
};

/* Open @n event strings as a group, whose leader is the first event. Return 0 or -errno. */
int group_open(struct event_group *g, const char *pmu, int cpu,
	       const char *const *events, unsigned int n);
/* Open a group as group_open(), from the attributes of its events. */
int group_open_attr(struct event_group *g, struct perf_event_attr *attrs,
		    int cpu, unsigned int n);
/*
 * Read the values of all events of the group by one read(2). @times gets the leader's
 * value and the times of the group, and may be NULL. Return 0 or -errno.
 */
int group_read(const struct event_group *g, uint64_t *values,
	       struct event_reading *times);
void group_close(struct event_group *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver's PMUs through perf_event_open(2) and sysfs, like any program: event
 * strings are translated with the PMU's format and events files. No library is used, so
 * that the kernel's answers are visible.
 */
#ifndef SELFTESTS_PERF_H
#define SELFTESTS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

#include "generation.h"

#define PMU_NAME_MAX	48
#define MAX_GROUP	16

/* "ubox", "cbox", ... in the order of the manual's chapter 2; "" ends the list. */
#define box_types	(generation()->types)

/*
 * Write the PMU name of box @index of a type ("hswep_cbox_3", "hswep_pcu") to
 * @name[PMU_NAME_MAX]. Return false if that PMU does not exist.
 */
bool pmu_name(char *name, const char *type, unsigned int index);
/* The box part of a PMU's name, as in the simulator's files: "cbox_3" */
const char *pmu_box(const char *pmu);
/* perf's type number of a PMU, or -1 */
int pmu_type(const char *pmu);
/* The CPU of package @pkg in the PMU's cpumask, or -1. */
int pmu_cpu(const char *pmu, int pkg);
/* The first online CPU of package @pkg that is not in the PMU's cpumask, or -1. */
int pmu_other_cpu(const char *pmu, int pkg);
/* Read /sys/bus/event_source/devices/@pmu/@file, without the newline. */
int pmu_file(const char *pmu, const char *file, char *text, size_t size);

/* Package of a CPU, or -1. */
int cpu_package(int cpu);
/* The @nth (from 0) online CPU of a package, or -1. */
int package_cpu(int pkg, unsigned int nth);
/* Number of packages of the machine */
int packages(void);

/*
 * Translates "clockticks", "event=0x34,umask=0x11,filter_state=0x1f" or a
 * mixture of both into @attr; a later term replaces an earlier one, "?" is 0.
 * config=, config1= and config2= set raw values. Returns 0, -ENOENT (no such
 * PMU, event or field), -ERANGE (value wider than its field).
 */
int pmu_attr(struct perf_event_attr *attr, const char *pmu, const char *event);

/* perf_event_open(2): a descriptor or -errno. @group is -1 for no group. */
int perf_open(const struct perf_event_attr *attr, int pid, int cpu, int group);
/* Translate and open for one CPU; a descriptor or -errno. */
int event_open(const char *pmu, int cpu, const char *event, ...)
	__attribute__((format(printf, 3, 4)));

struct event_reading {
	uint64_t value, enabled, running;
};

/* 0 or -errno. */
int event_read(int fd, struct event_reading *r);
/* The value alone; UINT64_MAX when it cannot be read. */
uint64_t event_count(int fd);

struct event_group {
	unsigned int n;
	int fd[MAX_GROUP];
};

/* Opens @n event strings as one group, the first one leads. 0 or -errno. */
int group_open(struct event_group *g, const char *pmu, int cpu,
	       const char *const *events, unsigned int n);
/* As group_open(), from attributes. */
int group_open_attr(struct event_group *g, struct perf_event_attr *attrs,
		    int cpu, unsigned int n);
/* One read(2) of the whole group; @times may be NULL. 0 or -errno. */
int group_read(const struct event_group *g, uint64_t *values,
	       struct event_reading *times);
void group_close(struct event_group *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What attribution.bpf.c and its user share: limits, and the layout of the
 * maps and of the global variables.
 */
#ifndef XEON_UNCORE_BPF_ATTRIBUTION_H
#define XEON_UNCORE_BPF_ATTRIBUTION_H

#ifdef __cplusplus
#include <linux/types.h>
extern "C" {
#endif

#define ATTR_MAX_EVENTS		64	/* counters that are read at a switch */
#define ATTR_MAX_COLUMNS	16	/* sums of them that are kept per task */
#define ATTR_MAX_PACKAGES	8
#define ATTR_MAX_CPUS		1024	/* a power of two */

/* Shares are fixed-point numbers: counts times 2^20. */
#define ATTR_FRACTION_BITS	20
#define ATTR_FRACTION_MASK	((1ULL << ATTR_FRACTION_BITS) - 1)

#define ATTR_COMM_LEN		16

/**
 * struct attr_key - a task, in a package and a cgroup
 * @start_time: tells apart tasks that had the same number; both 0: all tasks
 *	that found no room
 * @cgroup: id of the cgroup (version 2) it was in
 * @pid: its thread number
 * @package: index of the package that it ran in
 */
struct attr_key {
	__u64 start_time;
	__u64 cgroup;
	__u32 pid;
	__u32 package;
};

/**
 * struct attr_share - what a task got since the last flip
 * @comm: its name when it was last seen
 * @tgid: its process
 * @stretches: how often it was looked at
 * @cpu_ns: time on a CPU of the package
 * @count: whole counts, one a column
 * @fraction: and what is beyond them, in 2^-20 counts
 */
struct attr_share {
	char comm[ATTR_COMM_LEN];
	__u32 tgid;
	__u32 stretches;
	__u64 cpu_ns;
	__u64 count[ATTR_MAX_COLUMNS];
	__u32 fraction[ATTR_MAX_COLUMNS];
};

/**
 * struct attr_state - the accounts of a package, as of one moment
 * @seen: what each counter showed
 * @left: a column's counts that are too few to be divided, in 2^-20 counts
 * @idle: a column's counts while no task ran
 * @idle_ns: time while no task ran
 * @at: when that was, nanoseconds of the monotonic clock
 */
struct attr_state {
	__u64 seen[ATTR_MAX_EVENTS];
	__u64 left[ATTR_MAX_COLUMNS];
	__u64 idle[ATTR_MAX_COLUMNS];
	__u64 idle_ns;
	__u64 at;
};

/**
 * struct attr_package - a package
 * @lock: 1 while somebody changes the members below
 * @running: CPUs that run a task
 * @weight: sum of their weights
 * @epoch: odd or even: which map of shares is in use
 * @entries: shares in each of the two maps, of this package
 * @missed: looks that were given up because @lock was not to be had; what they
 *	would have accounted for, the next one does
 * @sum: counts per unit of weight until now, in 2^-20 counts; wraps
 * @measured: of the weight event on all CPUs, with @measured_ns: a mean rate
 * @now: the accounts; the user says what counters show at the start
 * @flipped: a copy of them from the last flip
 * @unkept: shares for which the map had no room, one for each map
 */
struct attr_package {
	__u32 lock;
	__u32 running;
	__u64 weight;
	__u32 epoch;
	__u32 entries[2];
	__u64 missed;
	__u64 sum[ATTR_MAX_COLUMNS];
	__u64 measured;
	__u64 measured_ns;
	struct attr_state now;
	struct attr_state flipped;
	struct attr_share unkept[2];
} __attribute__((aligned(64)));

/**
 * struct attr_cpu - a CPU
 * @package: index of its package; set by the user
 * @watched: it has been looked at and takes part
 * @pid: the task that runs, 0: idle
 * @comm, @tgid, @start_time, @cgroup: of that task, when it got the CPU
 * @weight: its weight
 * @since: when it was last looked at
 * @measured: what the weight event showed then
 * @sum: the package's @sum then
 * @looks: how often it was looked at
 */
struct attr_cpu {
	__u32 package;
	__u32 watched;
	__u32 pid;
	__u32 tgid;
	__u64 start_time;
	__u64 cgroup;
	__u64 weight;
	__u64 since;
	__u64 measured;
	__u64 looks;
	__u64 sum[ATTR_MAX_COLUMNS];
	char comm[ATTR_COMM_LEN];
} __attribute__((aligned(64)));

#ifdef __cplusplus
}
#endif

#endif

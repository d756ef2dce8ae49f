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

/* Tasks with a slice each on a CPU between two reads; a power of two. */
#define ATTR_CPU_TASKS		64
/* With this number of tasks on a CPU the counters are read early. */
#define ATTR_CPU_CROWD		48
/* Reads that a package may save up for the moment when it becomes idle. */
#define ATTR_SPARE_READS	8

/* Weights of tasks are from 1 to this. */
#define ATTR_MAX_WEIGHT		(1 << 16)
/* Of a window, time times weight of all tasks is at most this. */
#define ATTR_MAX_RAN		(1ULL << 62)

#define ATTR_COMM_LEN		16

/**
 * struct attr_rate - of an event that each CPU counts for itself
 * @measured: what it counted
 * @ns: in which time
 */
struct attr_rate {
	__u64 measured;
	__u64 ns;
};

/**
 * struct attr_task - a task that gets a CPU
 * @start_time, @cgroup, @pid: as in &struct attr_key
 * @tgid: its process
 * @comm: its name
 */
struct attr_task {
	__u64 start_time;
	__u64 cgroup;
	__u32 pid;
	__u32 tgid;
	char comm[ATTR_COMM_LEN];
};

/**
 * struct attr_number - a count with 64 binary places
 * @whole: whole counts
 * @fraction: and what is beyond them, in 2^-64 counts
 */
struct attr_number {
	__u64 whole;
	__u64 fraction;
};

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
 * @named: the window at which that was
 * @tgid: its process
 * @stretches: how often it was on a CPU, or looked at there
 * @cpu_ns: time on a CPU of the package
 * @count: counts, one a column
 */
struct attr_share {
	char comm[ATTR_COMM_LEN];
	__u32 named;
	__u32 tgid;
	__u64 stretches;
	__u64 cpu_ns;
	struct attr_number count[ATTR_MAX_COLUMNS];
};

/**
 * struct attr_slice - the time slices of a task that ended on a CPU in a window
 * @key: the task
 * @comm, @tgid: its name and process
 * @stretches: how often it was on the CPU
 * @window: number of the window; with another number this place is free
 * @ns: time on the CPU
 * @ran: the same, times its weight
 */
struct attr_slice {
	struct attr_key key;
	char comm[ATTR_COMM_LEN];
	__u32 tgid;
	__u32 stretches;
	__u64 window;
	__u64 ns;
	__u64 ran;
};

/**
 * struct attr_slices - all time slices that ended on a CPU in a window
 * @used: number of @slice in use
 * @place: indexes of those
 * @slice: by a hash of the task; the last one is for tasks without a place
 */
struct attr_slices {
	__u32 used;
	__u16 place[ATTR_CPU_TASKS + 2];
	struct attr_slice slice[ATTR_CPU_TASKS + 1];
};

/**
 * struct attr_window - the time between two reads of a package's counters
 * @entered: number of CPUs that have switched in the window
 * @charging: number of them whose slices have been charged
 * @charged: number of slices of the next one that have been charged
 * @locked: at the end of the window: number of them whose locks are held
 * @opened: when it began
 * @weight: at its end: sum of the weights of tasks on those CPUs
 * @ran: at its end: the time of their slices, times weight, less that of the tasks
 *	that they run before these began
 * @delta: at its end: counts of each column's counters in it
 * @sum: the package's sums at its begin
 * @rate: after its end: counts for each ns and unit of weight
 * @cpu: numbers of the @entered CPUs
 */
struct attr_window {
	__u32 entered;
	__u32 charging;
	__u32 charged;
	__u32 locked;
	__u64 opened;
	__u64 weight;
	__u64 ran;
	__u64 delta[ATTR_MAX_COLUMNS];
	struct attr_number sum[ATTR_MAX_COLUMNS];
	struct attr_number rate[ATTR_MAX_COLUMNS];
	__u16 cpu[ATTR_MAX_CPUS];
};

/**
 * struct attr_state - the accounts of a package, as of one read of its counters
 * @seen: what each counter showed
 * @remainder: a column's counts that are too few to be divided
 * @idle: a column's counts while no task ran
 * @idle_ns: time while no task ran
 * @at: when that was, nanoseconds of the monotonic clock
 */
struct attr_state {
	__u64 seen[ATTR_MAX_EVENTS];
	struct attr_number remainder[ATTR_MAX_COLUMNS];
	__u64 idle[ATTR_MAX_COLUMNS];
	__u64 idle_ns;
	__u64 at;
};

/**
 * struct attr_package - a package
 * @lock: 0, or not while a CPU changes the members below.  Exception: @running and
 *	@idle change with a CPU's lock as well
 * @missed: switches that were given up because a lock was busy; the next one
 *	accounts for their time
 * @weight: sum of the weights of tasks on CPUs that have not entered the window
 * @ran: at the end of a window: time of all tasks in it, times weight
 * @reads: how often the counters were read
 * @entries: shares in each of the two maps, of this package
 * @idle_seen: the idle time up to the last read
 * @running: CPUs that run a task
 * @idle: sum of the times at which the package became busy, less those at which it
 *	became idle; wraps
 * @window: number of the window that is open; its lowest bit says which of two
 * @opened: when it began
 * @read_at: when a CPU last began to read the counters
 * @spare: reads that were saved up, as the time for which they would have done
 * @mean: of the weight event, of all CPUs
 * @epoch: odd or even: which map of shares is in use
 * @sum: what a task of weight 1 would have got that ran all the time until the
 *	open window; wraps
 * @now: the accounts; the user says what counters show at the start
 * @flipped: a copy of them from the last flip
 * @dropped: shares for which the map had no room, one for each map
 */
struct attr_package {
	__u32 lock;
	__u32 entries[2];
	__u64 missed;
	__u64 weight;
	__u64 ran;
	__u64 reads;
	__u64 idle_seen;
	/* changes when the package becomes busy or idle */
	__u32 running __attribute__((aligned(64)));
	__u64 idle;
	/* read at each switch, changes with each window */
	__u64 window __attribute__((aligned(64)));
	__u64 opened;
	__u64 read_at;
	__u64 spare;
	struct attr_rate mean;
	__u32 epoch;
	struct attr_number sum[ATTR_MAX_COLUMNS];
	struct attr_state now;
	struct attr_state flipped;
	struct attr_share dropped[2];
} __attribute__((aligned(64)));

/**
 * struct attr_cpu - a CPU
 * @package: index of its package; set by the user
 * @watched: it has been looked at and takes part
 * @lock: 0, or not while its members are changed without the package's lock
 * @pid: the task that runs, 0: idle
 * @comm, @tgid, @start_time, @cgroup: of that task, when it got the CPU
 * @weight: its weight
 * @since: when it got the CPU, or was last given a share
 * @entered: the last window in which the CPU has switched
 * @used: tasks with a slice in that window
 * @ran: time of those slices, times weight
 * @measured_at: when the weight event was last read
 * @measured: what it showed then
 * @grown: what it counted in the window
 * @looks: how often it was looked at
 * @departures: how often it went offline
 * @sum: the package's @sum, such that what that grew by is the task's
 */
struct attr_cpu {
	__u32 package;
	__u32 watched;
	__u32 lock;
	__u32 pid;
	__u32 tgid;
	__u32 used;
	__u64 start_time;
	__u64 cgroup;
	__u64 weight;
	__u64 since;
	__u64 entered;
	__u64 ran;
	__u64 measured_at;
	__u64 measured;
	struct attr_rate grown;
	__u64 looks;
	__u64 departures;
	char comm[ATTR_COMM_LEN];
	struct attr_number sum[ATTR_MAX_COLUMNS];
} __attribute__((aligned(64)));

#ifdef __cplusplus
}
#endif

#endif

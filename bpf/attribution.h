/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface of attribution.bpf.c and user space: limits, and the layout of the
 * maps and of the global variables.
 */
#ifndef XEON_UNCORE_BPF_ATTRIBUTION_H
#define XEON_UNCORE_BPF_ATTRIBUTION_H

#ifdef __cplusplus
#include <linux/types.h>
extern "C" {
#endif

#define ATTR_MAX_EVENTS		128	/* counters read at a switch */
#define ATTR_MAX_COLUMNS	16	/* sums of counters per task */
#define ATTR_MAX_PACKAGES	8
#define ATTR_MAX_CPUS		1024	/* a power of two */

/* Tasks that can have their own slice in a CPU's table of a window; a power of two. */
#define ATTR_CPU_TASKS		64
/* Number of tasks in a CPU's table that causes an early read of the counters. */
#define ATTR_CPU_CROWD		48
/* Number of reads that a package may save for the times when the package becomes idle. */
#define ATTR_SPARE_READS	8

/* Largest weight of a task; the smallest is 1. */
#define ATTR_MAX_WEIGHT		(1 << 16)
/* Limit of the sum of time times weight over all tasks in a window. */
#define ATTR_MAX_RAN		(1ULL << 62)

#define ATTR_COMM_LEN		16

/**
 * enum attr_by - the sets of tasks that have a share each
 * @ATTR_BY_TASK: each task
 * @ATTR_BY_TREE: the tree of each process that existed when the programs were attached, and
 *	of the user's command: the process, and all processes that it and its descendants
 *	have started since
 * @ATTR_BY_COMMAND: the user's command with all its descendants, and all other tasks
 * @ATTR_BY_CGROUP: the tasks of each cgroup
 */
enum attr_by {
	ATTR_BY_TASK,
	ATTR_BY_TREE,
	ATTR_BY_COMMAND,
	ATTR_BY_CGROUP,
};

/**
 * struct attr_owner - owner of the counts of a set of tasks
 * @start_time: distinguishes processes that had the same @pid
 * @pid: by task, the task; by tree or command, the process at the root of the tree; both
 *	members are 0 by cgroup, and for all tasks that are not the command's
 */
struct attr_owner {
	__u64 start_time;
	__u64 pid;
};

/**
 * struct attr_rate - rate of the weight event, which each CPU counts for itself
 * @measured: count of the event
 * @ns: time in which the event had this count
 */
struct attr_rate {
	__u64 measured;
	__u64 ns;
};

/**
 * struct attr_task - a task that gets a CPU
 * @start_time: distinguishes tasks that had the same @pid
 * @cgroup: id of the task's cgroup (version 2), 0 if no share needs the cgroup
 * @pid: thread number of the task
 * @tgid: process of the task; by tree, the process at the root
 * @comm: name of the task; by tree, name of the root, empty for other tasks of the tree
 * @owner: owner of the task's counts
 */
struct attr_task {
	__u64 start_time;
	__u64 cgroup;
	__u32 pid;
	__u32 tgid;
	char comm[ATTR_COMM_LEN];
	struct attr_owner owner;
};

/**
 * struct attr_number - a fixed-point count with 64 bits after the binary point
 * @whole: whole counts
 * @fraction: fraction of a count, in 2^-64 counts
 */
struct attr_number {
	__u64 whole;
	__u64 fraction;
};

/**
 * struct attr_key - the tasks of an owner, in a package and a cgroup
 * @start_time, @pid: as in &struct attr_owner
 * @cgroup: as in &struct attr_task
 * @package: index of the package that the tasks ran in
 */
struct attr_key {
	__u64 start_time;
	__u64 cgroup;
	__u32 pid;
	__u32 package;
};

/**
 * struct attr_share - counts and time of an owner's tasks since flip() last changed the map
 * @comm: last known name of the owner
 * @named: window in which @comm was read
 * @tgid: process of the task
 * @stretches: number of the task's time slices on a CPU; a poll within a slice adds 1
 * @cpu_ns: time on CPUs of the package
 * @count: counts by column
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
 * @comm, @tgid: name and process of the task
 * @stretches: number of time slices on the CPU
 * @window: number of the window; the place is free if the number is not the table's
 * @ns: time on the CPU
 * @ran: time on the CPU, times the task's weight
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
 * @place: indexes of the used slices
 * @slice: slices by a hash of the task; the last slice is for all tasks without a place
 */
struct attr_slices {
	__u32 used;
	__u16 place[ATTR_CPU_TASKS + 2];
	struct attr_slice slice[ATTR_CPU_TASKS + 1];
};

/**
 * struct attr_window - the time between two reads of a package's counters
 * @entered: number of CPUs that have switched in the window
 * @charging: number of @entered CPUs whose slices have been charged
 * @charged: number of slices that have been charged of the CPU after these
 * @locked: at the end of the window: number of @entered CPUs whose locks are held
 * @opened: time at which the window began
 * @weight: at the end: sum of the weights of tasks on @entered CPUs
 * @ran: at the end: on @entered CPUs, time of the slices that have ended, times weight,
 *	less the time in the window before the running tasks began, times weight
 * @delta: at the end: counts of each column's counters in the window
 * @sum: the package's @sum at the begin of the window
 * @rate: after the end: counts per ns and unit of weight
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
 * struct attr_state - the accounts of a package at a read of its counters
 * @seen: count of each counter
 * @remainder: counts of a column that the last division left over
 * @idle: counts of a column while no task ran
 * @idle_ns: time while no task ran
 * @at: time of the read, nanoseconds of the monotonic clock
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
 * @lock: 0 if free.  The holder may change the members below.  Exception: a CPU with
 *	only its own lock changes @running and @idle as well
 * @missed: number of switches that were not accounted because a lock was busy; the next
 *	switch of the CPU accounts for their time
 * @weight: sum of the weights of tasks on CPUs that have not entered the window
 * @ran: at the end of a window: time of all tasks in the window, times weight
 * @reads: number of reads of the counters
 * @entries: shares of this package in each of the two maps
 * @idle_seen: idle time until the last read
 * @running: CPUs that run a task
 * @idle: sum of the times at which the package became busy, less the times at which
 *	the package became idle; wraps
 * @window: number of the open window; the lowest bit selects one of two windows
 * @opened: time at which the open window began
 * @read_at: time at which a CPU last began to read the counters
 * @spare: credit of reads, in ns: a read costs the resolution (pay_read())
 * @mean: mean rate of the weight event on all CPUs
 * @epoch: an even number selects the map shares_even, an odd number shares_odd
 * @sum: counts that a task of weight 1 would have that ran all the time until the open
 *	window; wraps
 * @now: the accounts; user space sets the counters' counts at the start
 * @flipped: copy of @now from the last call of flip()
 * @dropped: counts and time of tasks without room in the map, for each map
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
 * @package: index of the CPU's package; set by user space
 * @watched: not 0 after the first poll, from which on the CPU's switches are accounted
 * @lock: 0 if free.  The holder may change members without the package's lock
 * @pid: the running task, 0: idle
 * @comm, @tgid, @start_time, @cgroup, @owner: identity of the task when it got the CPU
 * @weight: weight of the task
 * @since: time at which the task got the CPU, or was last charged
 * @entered: last window in which the CPU has switched
 * @used: number of tasks with a slice in the @entered window
 * @ran: time of slices in the @entered window, times weight
 * @measured_at: time of the last read of the weight event
 * @measured: count of the weight event at the last read
 * @grown: counts of the weight event that are not yet in the package's @mean
 * @looks: number of switches and polls
 * @departures: number of times the CPU went offline
 * @sum: the package's @sum when the task was last charged, adjusted if the task got the
 *	CPU within a window: the task is charged the growth of the package's @sum over
 *	this value
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
	struct attr_owner owner;
	struct attr_number sum[ATTR_MAX_COLUMNS];
} __attribute__((aligned(64)));

#ifdef __cplusplus
}
#endif

#endif

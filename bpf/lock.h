/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of packages and CPUs.
 *
 * Tracing programs cannot use bpf_spin_lock().  A program that takes one of these locks
 * stays on its CPU, does not run in an NMI, and holds the lock for a moment only.  But a
 * hypervisor may take the holder's CPU away, and newer RT kernels may preempt the holder
 * at other tracepoints than sched_switch, so every wait is bounded.  A CPU whose wait
 * times out marks the lock as stalled.  Until the holder unlocks, no other CPU waits for
 * a stalled lock.  Waiting CPUs only read the lock word, so that the cache line stays
 * with the holder.
 *
 * Order: a package's lock before the locks of its CPUs.  A program that has only a CPU's
 * lock waits for no further lock.
 *
 * The including file provides packages[], cpus[], has_loop, and cpu_locks.  If cpu_locks
 * is false, every program takes the package's lock, and CPUs need no locks.
 */
#ifndef XEON_UNCORE_BPF_LOCK_H
#define XEON_UNCORE_BPF_LOCK_H

#include "attribution.h"

/* Longest wait for a lock.  After this time the waiting CPU marks the lock as stalled. */
#define LOCK_NS		(10 * 1000 * 1000)
/* The kernel's limit for bpf_loop().  So many tries take far longer than LOCK_NS. */
#define LOCK_TRIES	(1 << 23)
/* Kernels without bpf_loop(): LOCK_ROUNDS^3 tries take less than LOCK_NS. */
#define LOCK_ROUNDS	50

enum { LOCK_FREE, LOCK_HELD, LOCK_STALLED };

/* Flag in the number of a lock: the rest of the number is a CPU, not a package. */
#define CPU_LOCK	(1U << 31)

static __u32 *lock_word(__u32 number)
{
	if (number & CPU_LOCK)
		return &cpus[number % ATTR_MAX_CPUS].lock;
	return &packages[number % ATTR_MAX_PACKAGES].lock;
}

static __u32 lock_state(const __u32 *word)
{
	return *(const volatile __u32 *)word;
}

static bool try_lock(__u32 *word)
{
	return lock_state(word) == LOCK_FREE &&
	       __sync_val_compare_and_swap(word, LOCK_FREE, LOCK_HELD) ==
		       LOCK_FREE;
}

struct lock_wait {
	__u64 until;
	__u32 number;
	bool locked;
};

/* Try to take a lock.  @return not 0 if the wait is over; @w->locked has the outcome. */
static long wait_step(__u32 i, struct lock_wait *w)
{
	__u32 *word = lock_word(w->number);

	(void)i;
	w->locked = try_lock(word);
	return w->locked || lock_state(word) == LOCK_STALLED ||
	       bpf_ktime_get_ns() > w->until;
}

/*
 * Try LOCK_ROUNDS times to take a lock, without bpf_loop().  @return 1 if this CPU has
 * the lock, 0 if the lock is still busy, -1 if the lock is stalled or the time is over.
 */
__noinline int wait_round(__u32 number, __u64 until)
{
	struct lock_wait w = { until, number, false };
	__u32 i;

	for (i = 0; i < LOCK_ROUNDS; i++)
		if (wait_step(i, &w))
			return w.locked ? 1 : -1;
	return 0;
}

/* Call wait_round() up to LOCK_ROUNDS times.  @return as wait_round(). */
__noinline int wait_rounds(__u32 number, __u64 until)
{
	int outcome = 0;
	__u32 i;

	for (i = 0; i < LOCK_ROUNDS && !outcome; i++)
		outcome = wait_round(number, until);
	return outcome;
}

/* Wait for a busy lock.  @return true if this CPU has the lock. */
static __noinline bool wait_for_lock(__u32 number)
{
	struct lock_wait w = { bpf_ktime_get_ns() + LOCK_NS, number, false };
	int outcome = 0;
	__u32 i;

	if (has_loop) {
		bpf_loop(LOCK_TRIES, wait_step, &w, 0);
		return w.locked;
	}
	for (i = 0; i < LOCK_ROUNDS && !outcome; i++)
		outcome = wait_rounds(number, w.until);
	return outcome == 1;
}

/* Take a lock, or mark it as stalled and return false. */
static __always_inline bool lock(__u32 *word, __u32 number)
{
	if (try_lock(word) || wait_for_lock(number))
		return true;
	__sync_val_compare_and_swap(word, LOCK_HELD, LOCK_STALLED);
	return false;
}

static __always_inline void unlock(__u32 *word)
{
	/* an atomic exchange, because it is a memory barrier as well */
	__sync_lock_test_and_set(word, LOCK_FREE);
}

static __always_inline bool lock_package(__u32 package)
{
	package %= ATTR_MAX_PACKAGES;
	return lock(&packages[package].lock, package);
}

static __always_inline void unlock_package(__u32 package)
{
	unlock(&packages[package % ATTR_MAX_PACKAGES].lock);
}

static bool lock_cpu(__u32 cpu)
{
	cpu %= ATTR_MAX_CPUS;
	return !cpu_locks || lock(&cpus[cpu].lock, CPU_LOCK | cpu);
}

static void unlock_cpu(__u32 cpu)
{
	if (cpu_locks)
		unlock(&cpus[cpu % ATTR_MAX_CPUS].lock);
}

#endif

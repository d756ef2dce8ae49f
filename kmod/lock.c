// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's locks.  Every read of an event takes a box's lock.  A BPF program may read
 * an event wherever a probe can be put: with any lock of the kernel held, and inside of
 * the driver's own locks, as register accesses have tracepoints.  So a read never waits
 * without bound.
 *
 * - In an NMI, and if the reader's CPU holds or waits for one of the driver's locks
 *   (unc_busy), a read does not wait at all.
 * - If another CPU holds the box's lock, a read waits for a limited time: the other CPU may
 *   be waiting for a lock that the reader's caller holds.
 *
 * A read that does not get the lock returns the event's last count.  That must not
 * happen to a system call, so a system call's read waits longer.
 */
#include "compat.h"
#include "lock.h"

/*
 * Longest wait (ns) of a read for a lock, with interrupts off.  The CPU that holds the
 * lock makes some ten register accesses, which take some ten microseconds, unless a
 * hypervisor stops that CPU.
 */
#define UNC_PATIENCE_NS		NSEC_PER_MSEC
#define UNC_PATIENCE_SYSCALL_NS	(100 * NSEC_PER_MSEC)
/*
 * Longest time (ns) between two tries that counts as waiting.  A longer time means that a
 * hypervisor has stopped the reader's CPU.  If that time counted, the read could give up
 * and return an old count although the lock is free.
 */
#define UNC_TRY_NS		(UNC_PATIENCE_NS / 10)

/* Locks of the driver that this CPU holds or waits for. */
static DEFINE_PER_CPU(unsigned int, unc_busy);

/**
 * unc_lock_raw() - take one of the driver's locks
 * @lock: the lock
 *
 * Context: any but NMI, interrupts off.
 */
void unc_lock_raw(raw_spinlock_t *lock)
	__acquires(lock)
{
	__this_cpu_inc(unc_busy);
	raw_spin_lock(lock);
}

/**
 * unc_lock_raw_release() - release a lock that unc_lock_raw() took
 * @lock: the lock
 */
void unc_lock_raw_release(raw_spinlock_t *lock)
	__releases(lock)
{
	raw_spin_unlock(lock);
	__this_cpu_dec(unc_busy);
}

/**
 * unc_lock_box() - take a box's lock where interrupts may be on
 * @box: the box
 *
 * Return: the CPU's interrupt flags, for unc_lock_release().
 * Context: any but NMI.
 */
unsigned long unc_lock_box(struct unc_box *box)
	__acquires(&box->lock)
{
	unsigned long flags;

	local_irq_save(flags);
	unc_lock_raw(&box->lock);
	return flags;
}

/**
 * unc_lock_release() - release a box's lock and restore the interrupt flags
 * @box: the box
 * @flags: from unc_lock_box() or unc_lock_to_read()
 */
void unc_lock_release(struct unc_box *box, unsigned long flags)
	__releases(&box->lock)
{
	unc_lock_raw_release(&box->lock);
	local_irq_restore(flags);
}

/* Try to take a box's lock for a time of @ns. */
static bool unc_trylock_for(struct unc_box *box, u64 ns)
{
	u64 now, before = ktime_get_mono_fast_ns();
	u64 waited = 0;

	while (!raw_spin_trylock(&box->lock)) {
		if (waited >= ns)
			return false;
		cpu_relax();
		now = ktime_get_mono_fast_ns();
		waited += min_t(u64, now - before, UNC_TRY_NS);
		before = now;
	}
	return true;
}

/*
 * Check whether a system call reads an event: then perf has the event's context locked.
 * Such a read may wait longer, because no holder of a box's lock waits for a context's
 * lock.  If another CPU has the context locked, a BPF program's read is taken for a
 * system call's, and waits as long.
 */
static bool unc_lock_for_syscall(const struct perf_event *event)
{
	return raw_spin_is_locked(&event->ctx->lock);
}

/**
 * unc_lock_to_read() - take a box's lock to read an event
 * @box: the box
 * @event: the event
 * @flags: gets the CPU's interrupt flags, for unc_lock_release()
 *
 * Return: whether the lock was taken.  It is not taken in an NMI, inside of one of the
 * driver's locks, and when it is not free in time.
 * Context: any.
 */
bool unc_lock_to_read(struct unc_box *box, const struct perf_event *event,
		      unsigned long *flags)
	unc_true_acquires(&box->lock)
{
	u64 patience = unc_lock_for_syscall(event) ? UNC_PATIENCE_SYSCALL_NS :
						     UNC_PATIENCE_NS;

	if (in_nmi())
		return false;
	local_irq_save(*flags);
	if (!__this_cpu_read(unc_busy)) {
		__this_cpu_inc(unc_busy);
		if (unc_trylock_for(box, patience))
			return true;
		__this_cpu_dec(unc_busy);
	}
	local_irq_restore(*flags);
	return false;
}

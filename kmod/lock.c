// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's locks.  A BPF program may read an event wherever a probe can be
 * put: with any lock of the kernel held, and inside of the driver's own locks, as
 * register accesses have tracepoints.  So a reader never waits without bound.
 *
 * - Inside of the driver's locks on the same CPU (unc_busy), and in an NMI, it does
 *   not wait at all.
 * - For a lock that another CPU holds it waits for a limited time: that CPU may be
 *   waiting for a lock that the reader's caller holds.
 *
 * A reader that does not get the lock returns the event's last count.  That must not
 * happen to a system call, so a system call's read waits longer.
 */
#include "compat.h"
#include "lock.h"

/*
 * How long a reader waits, with interrupts off.  A lock's holder makes some ten register
 * accesses, which take some ten microseconds, unless a hypervisor stops its CPU.
 */
#define UNC_PATIENCE_NS		NSEC_PER_MSEC
#define UNC_PATIENCE_SYSCALL_NS	(100 * NSEC_PER_MSEC)
/*
 * Between two tries no more than this counts as waiting: a hypervisor may have stopped
 * this CPU, and a read that gave up then would return an old count.
 */
#define UNC_TRY_NS		(UNC_PATIENCE_NS / 10)

/* Locks of the driver that this CPU holds or waits for. */
static DEFINE_PER_CPU(unsigned int, unc_busy);

/* Take one of the driver's locks.  Context: any but NMI, interrupts off. */
void unc_lock_raw(raw_spinlock_t *lock)
	__acquires(lock)
{
	__this_cpu_inc(unc_busy);
	raw_spin_lock(lock);
}

/* Release it. */
void unc_lock_raw_release(raw_spinlock_t *lock)
	__releases(lock)
{
	raw_spin_unlock(lock);
	__this_cpu_dec(unc_busy);
}

/*
 * Take a box's lock where interrupts may be on.  Returns their flags for
 * unc_lock_release().
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

/* Release a box's lock. */
void unc_lock_release(struct unc_box *box, unsigned long flags)
	__releases(&box->lock)
{
	unc_lock_raw_release(&box->lock);
	local_irq_restore(flags);
}

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
 * Whether an event is read for a system call: perf then has the event's context locked.
 * No holder of a box's lock waits for a context's lock.  If another CPU happens to have
 * the context locked, a BPF program's read takes the longer wait.
 */
static bool unc_lock_for_syscall(const struct perf_event *event)
{
	return raw_spin_is_locked(&event->ctx->lock);
}

/*
 * Take the lock of @box to read @event, if that can be done here.  Returns false, without
 * the lock, in an NMI, inside of one of the driver's locks, and when the lock is not free
 * in time.
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

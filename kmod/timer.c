// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer of a package.  It reads running counters before they can wrap twice, and
 * calls unc_overflow_poll() for samples that no interrupt announces.  The timer fires on
 * the perf CPU, the CPU that programs the package's counters.  The timer runs while a box
 * counts, and some seconds longer if events have sampled.
 *
 * Callers set a deadline, the time at which the timer has to fire at the latest.  A later
 * deadline does not replace an earlier one until the timer has fired.
 *
 * An irq_work starts the timer, because no lock of a box may be held then: starting a
 * timer takes locks of the kernel under which a BPF program may read an event, and that
 * read takes a box's lock (lock.c).
 */
#include <linux/delay.h>

#include "access.h"
#include "compat.h"
#include "freeze.h"
#include "global.h"
#include "lock.h"
#include "package.h"
#include "refresh.h"
#include "timer.h"

/*
 * Time (ns) between two reads of narrow counters, which have at most 32 bits, and of all
 * others.  At the fastest clock a counter of 32 bits wraps in 0.86 s, and a counter of 44
 * bits that grows by 128 a cycle wraps in 27 s.  Wide counters are read more often than
 * that, because the driver verifies the registers of a box at the same time.
 */
#define UNC_TIMER_NARROW	(400 * NSEC_PER_MSEC)
#define UNC_TIMER_WIDE		(2 * NSEC_PER_SEC)
/* Time (ns) for which one interrupt verifies boxes, and until the next one goes on. */
#define UNC_TIMER_SLICE		(50 * NSEC_PER_USEC)
#define UNC_TIMER_GO_ON		NSEC_PER_MSEC
/* Time (ns) until the timer is moved again to a perf CPU that did not accept the IPI. */
#define UNC_TIMER_RETRY		(10 * NSEC_PER_MSEC)

/* Move a deadline earlier.  Returns false if the deadline was no later than @at. */
static bool unc_nearer(atomic64_t *deadline, s64 at)
{
	s64 old = atomic64_read(deadline);

	do {
		if (old <= at)
			return false;
	} while (!atomic64_try_cmpxchg(deadline, &old, at));
	return true;
}

/* --- deadlines ---------------------------------------------------------------- */

/*
 * Start the timer on this CPU, unless it fires earlier.  @at is monotonic ns.
 * @pkg->timer.lock is held, interrupts are off, on a CPU of the package.
 */
static void unc_timer_start(struct unc_package *pkg, s64 at)
{
	s64 now = ktime_get_mono_fast_ns();

	if (at >= pkg->timer.expires)
		return;
	WRITE_ONCE(pkg->timer.expires, at);
	hrtimer_start(&pkg->timer.timer, ns_to_ktime(max_t(s64, at - now, 0)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Start the timer for a deadline.  Hard interrupt, on the CPU that set the deadline. */
static void unc_timer_wanted(struct irq_work *work)
{
	struct unc_package *pkg = container_of(work, struct unc_package,
					       timer.work);

	raw_spin_lock(&pkg->timer.lock);
	unc_timer_start(pkg, atomic64_xchg(&pkg->timer.wanted, UNC_NEVER));
	raw_spin_unlock(&pkg->timer.lock);
}

/**
 * unc_timer_want() - have the timer fire no later than a deadline
 * @pkg: the package
 * @at: the deadline (monotonic clock, ns)
 *
 * Context: any but NMI, on a CPU of the package, interrupts off; locks of boxes may be
 * held.
 */
void unc_timer_want(struct unc_package *pkg, u64 at)
{
	if ((s64)at >= READ_ONCE(pkg->timer.expires))
		return;
	if (unc_nearer(&pkg->timer.wanted, at))
		irq_work_queue(&pkg->timer.work);
}

/**
 * unc_timer_refresh_by() - have the timer read a counter that is about to start
 * @pkg: the package
 * @narrow: the counter has at most 32 bits
 *
 * Context: as of unc_timer_want().
 */
void unc_timer_refresh_by(struct unc_package *pkg, bool narrow)
{
	u64 now = ktime_get_mono_fast_ns();
	u64 at = now + (narrow ? UNC_TIMER_NARROW : UNC_TIMER_WIDE);

	if (narrow)
		unc_nearer(&pkg->timer.refresh_narrow, at);
	else if (unc_nearer(&pkg->timer.refresh, at))
		pkg->timer.next_box = 0;
	unc_timer_want(pkg, at);
}

/* --- work ---------------------------------------------------------------- */

/* Read a box's narrow counters.  Returns whether a narrow counter is in use. */
static bool unc_timer_refresh_narrow(struct unc_box *box)
{
	bool narrow = false;
	unsigned int ctr;

	for (ctr = 0; ctr < unc_box_counters(box); ctr++) {
		if (box->ctr[ctr].slot < 0 || unc_access_bits(box, ctr) > 32)
			continue;
		narrow = true;
		unc_refresh_slot(box, &box->slot[box->ctr[ctr].slot]);
	}
	return narrow;
}

static bool unc_timer_refresh_all_narrow(struct unc_package *pkg)
{
	struct unc_box *box;
	bool narrow = false;
	unsigned int b;

	for_each_box(pkg, b, box) {
		/* not locked: a box that starts at this moment sets a deadline itself */
		if (!READ_ONCE(box->use.active))
			continue;
		unc_lock_raw(&box->lock);
		narrow |= unc_timer_refresh_narrow(box);
		unc_lock_raw_release(&box->lock);
	}
	return narrow;
}

/*
 * Read the counters and verify the registers of boxes that count, then undo what other
 * programs may have done to the package.  The register accesses of all boxes of a big
 * machine take hundreds of microseconds.  So one call stops after UNC_TIMER_SLICE, and
 * the next call continues at timer.next_box.  Returns true after the last box.
 */
static bool unc_timer_verify(struct unc_package *pkg)
{
	unsigned int *b = &pkg->timer.next_box;
	u64 begin = ktime_get_mono_fast_ns();
	struct unc_box *box;
	u64 frozen;

	for (; (box = unc_package_next_box(pkg, b)); ++*b) {
		if (!READ_ONCE(box->use.active))
			continue;
		if (ktime_get_mono_fast_ns() - begin > UNC_TIMER_SLICE)
			return false;
		unc_lock_raw(&box->lock);
		unc_refresh_verify(box);
		unc_lock_raw_release(&box->lock);
	}
	*b = 0;
	frozen = unc_global_heal(pkg);
	atomic64_add(frozen, &pkg->stats.overflow_frozen_ns);
	unc_freeze_charge(pkg, frozen);
	return true;
}

/*
 * Check whether a deadline for reading counters is reached, and clear it.  Returns false
 * also if no box counts.  The deadline is cleared before the counters are read: a counter
 * that starts meanwhile sets the deadline again.
 */
static bool unc_timer_reached(struct unc_package *pkg, atomic64_t *deadline, s64 now)
{
	if (atomic64_read(deadline) > now)
		return false;
	atomic64_set(deadline, UNC_NEVER);
	return atomic_read(&pkg->active);
}

/* Poll, and read counters whose deadline is reached.  Returns the time to fire again. */
static s64 unc_timer_work(struct unc_package *pkg)
{
	s64 next = pkg->timer.poll(pkg);
	s64 now = ktime_get_mono_fast_ns();

	if (unc_timer_reached(pkg, &pkg->timer.refresh_narrow, now) &&
	    unc_timer_refresh_all_narrow(pkg))
		unc_nearer(&pkg->timer.refresh_narrow, now + UNC_TIMER_NARROW);
	if (unc_timer_reached(pkg, &pkg->timer.refresh, now))
		unc_nearer(&pkg->timer.refresh, now + (unc_timer_verify(pkg) ?
						       UNC_TIMER_WIDE : UNC_TIMER_GO_ON));
	next = min_t(s64, next, atomic64_read(&pkg->timer.refresh_narrow));
	return min_t(s64, next, atomic64_read(&pkg->timer.refresh));
}

/*
 * Handle the timer on the perf CPU.  On another CPU, kick the perf CPU, which starts the
 * timer again there: a follower's CPU may have started the timer, and the kernel moves
 * the timers of a CPU that goes offline to any other CPU.
 * Context: hard interrupt.
 */
static enum hrtimer_restart unc_timer_fire(struct hrtimer *timer)
{
	struct unc_package *pkg = container_of(timer, struct unc_package,
					       timer.timer);
	unsigned int home = READ_ONCE(pkg->cpu);
	s64 next = UNC_NEVER;

	raw_spin_lock(&pkg->timer.lock);
	/* if another CPU has started the timer again, keep the time of that start */
	if (!hrtimer_is_queued(timer))
		WRITE_ONCE(pkg->timer.expires, UNC_NEVER);
	raw_spin_unlock(&pkg->timer.lock);

	if (home == smp_processor_id())
		next = unc_timer_work(pkg);
	else if (home < nr_cpu_ids &&
		 smp_call_function_single_async(home, &pkg->timer.kick))
		next = ktime_get_mono_fast_ns() + UNC_TIMER_RETRY;

	raw_spin_lock(&pkg->timer.lock);
	unc_timer_start(pkg, next);
	raw_spin_unlock(&pkg->timer.lock);
	return HRTIMER_NORESTART;
}

/**
 * unc_timer_online() - fire the timer at once on this CPU
 * @data: the package
 *
 * Called on a CPU that comes online, because the timer stops while all CPUs of the
 * package are offline.  Called also on the perf CPU when the timer has fired on another
 * CPU.
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_timer_online(void *data)
{
	struct unc_package *pkg = data;

	raw_spin_lock(&pkg->timer.lock);
	unc_timer_start(pkg, ktime_get_mono_fast_ns());
	raw_spin_unlock(&pkg->timer.lock);
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_timer_init() - prepare a package's timer
 * @pkg: the package
 * @poll: called when the timer fires; returns when to fire again
 */
void unc_timer_init(struct unc_package *pkg,
		    u64 (*poll)(struct unc_package *pkg))
{
	pkg->timer.poll = poll;
	unc_hrtimer_setup(&pkg->timer.timer, unc_timer_fire, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_PINNED_HARD);
	raw_spin_lock_init(&pkg->timer.lock);
	pkg->timer.expires = UNC_NEVER;
	atomic64_set(&pkg->timer.wanted, UNC_NEVER);
	atomic64_set(&pkg->timer.refresh, UNC_NEVER);
	atomic64_set(&pkg->timer.refresh_narrow, UNC_NEVER);
	pkg->timer.work = IRQ_WORK_INIT_HARD(unc_timer_wanted);
	INIT_CSD(&pkg->timer.kick, unc_timer_online, pkg);
}

/**
 * unc_timer_exit() - stop a package's timer for good
 * @pkg: the package, of which no event counts any more
 *
 * Context: process, after the hotplug callbacks are removed.
 */
void unc_timer_exit(struct unc_package *pkg)
{
	irq_work_sync(&pkg->timer.work);
	hrtimer_cancel(&pkg->timer.timer);
	/* the timer may have kicked the perf CPU, which starts the timer once more */
	unc_csd_wait(&pkg->timer.kick);
	synchronize_rcu();
	hrtimer_cancel(&pkg->timer.timer);
}

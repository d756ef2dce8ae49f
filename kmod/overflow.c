// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handling a package's overflows: find the counters that overflowed, and start the
 * package again.
 *
 * An overflow in a box that signals freezes all boxes of the package, and the UBox sends
 * a PMI, an interrupt (nmi.c, pmi.c).  No box of the package counts until the overflow is
 * handled.  So the handling makes as few register accesses as possible, and its time is
 * charged to the package's freeze budget (freeze.c).
 *
 * The package's timer polls counters that cause no PMI: those of boxes that do not
 * signal, and counters that wait to be armed, which means set to overflow (sampling.c).
 * More rarely the timer looks for overflows whose PMI was lost: the watch.
 *
 * A counter's value decides whether a sample is due, not a status bit.  So no sample is
 * lost or taken twice, whichever CPU reads the counter first, and however often.
 */
#include "access.h"
#include "freeze.h"
#include "global.h"
#include "lock.h"
#include "nmi.h"
#include "overflow.h"
#include "package.h"
#include "pmi.h"
#include "refresh.h"
#include "sampling.h"

/* Time (ns) between two polls of the timer. */
#define UNC_POLL_NS	NSEC_PER_MSEC		/* of counters that cause no PMI */
#define UNC_WATCH_NS	(20 * NSEC_PER_MSEC)	/* for overflows whose PMI was lost */

/* Return the bits of the global status that an overflow of a box sets. */
static u64 unc_overflow_bits(const struct unc_box *box)
{
	return box->type->overflow.status ? box->type->overflow.status[box->index] :
				   box->type->overflow.status_bits;
}

/* --- the interrupt --------------------------------------------------------- */

/*
 * Account for the samples of a frozen box, and arm the counters that overflowed.  The
 * package has been frozen since @since (monotonic ns).
 */
static void unc_overflow_handle_box(struct unc_box *box, u64 since)
{
	unsigned int i;

	unc_lock_raw(&box->lock);
	for (i = 0; i < unc_box_slots(box) && box->use.samplers; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!unc_slot_in_use(slot) || !slot->sampling.period)
			continue;
		unc_refresh_slot(box, slot);
		unc_sampling_account(box, slot,
				     ktime_get_mono_fast_ns() - since);
		if (slot->sampling.armed && unc_sampling_is_due(slot))
			unc_sampling_arm(box, slot);
	}
	unc_access_clear_status(box);
	unc_lock_raw_release(&box->lock);
}

/*
 * Handle the overflows of a frozen package.  Returns false if there are none: another CPU
 * may have handled them.
 *
 * The freeze is charged from @since on, the time at which the package stopped.  If that
 * time is not known (0), the freeze is charged from the last time at which the status was
 * clear.
 */
static bool unc_overflow_handle(struct unc_package *pkg, u64 since)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 status, frozen, now = ktime_get_mono_fast_ns();
	unsigned int b;

	unc_lock_raw(&ov->lock);
	status = unc_global_status();
	if (!status) {
		WRITE_ONCE(ov->clear, now);
		unc_lock_raw_release(&ov->lock);
		return false;
	}
	since = max(since, READ_ONCE(ov->clear));
	/* boxes may share a bit: boxes without sampling events have not set it */
	for_each_set_bit(b, pkg->samplers, unc.boxes_per_package) {
		if (unc_overflow_bits(pkg->boxes[b]) & status)
			unc_overflow_handle_box(pkg->boxes[b], since);
	}
	unc_global_clear(status);
	unc_global_unfreeze(ov);
	now = ktime_get_mono_fast_ns();
	WRITE_ONCE(ov->clear, now);
	frozen = now - since;
	atomic64_add(frozen, &pkg->stats.overflow_frozen_ns);
	unc_freeze_charge(pkg, frozen);
	unc_lock_raw_release(&ov->lock);
	unc_pmi_kick(pkg);
	return true;
}

/* --- the timer --------------------------------------------------------------- */

/* Arm a counter of a box that signals if that is allowed now, or disarm the counter. */
static void unc_overflow_poll_arm(struct unc_box *box, struct unc_slot *slot)
{
	bool armed = slot->sampling.armed;

	if (!unc_sampling_has_pmi(box, slot)) {
		/*
		 * An overflow would freeze the package, and no PMI would end the freeze.
		 * So unc_sampling_rearm() sets the counter to 0 and does not arm it.
		 */
		if (armed)
			unc_sampling_rearm(box, slot);
	} else if ((!armed || unc_sampling_is_due(slot)) &&
		   unc_sampling_may_arm(box, slot)) {
		unc_sampling_rearm(box, slot);
	}
}

static void unc_overflow_poll_slot(struct unc_box *box, struct unc_slot *slot)
{
	unc_refresh_slot(box, slot);
	unc_sampling_account(box, slot, 0);
	if (slot->arm)
		unc_overflow_poll_arm(box, slot);
}

/*
 * Poll the sampling counters of a box that cause no PMI; with @watch all of them.  A
 * counter that unc_box_end() has still to program is skipped.  Returns whether a counter
 * waits to be armed.
 */
static bool unc_overflow_poll_box(struct unc_box *box, bool watch)
{
	bool waiting = false;
	unsigned int i;

	unc_lock_raw(&box->lock);
	for (i = 0; i < unc_box_slots(box) && !box->dead; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!unc_slot_in_use(slot) || !slot->sampling.period ||
		    box->ctr[slot->ctr].dirty)
			continue;
		if (watch || !slot->arm || !slot->sampling.armed ||
		    !unc_sampling_has_pmi(box, slot))
			unc_overflow_poll_slot(box, slot);
		waiting |= slot->arm && !slot->sampling.armed;
	}
	unc_lock_raw_release(&box->lock);
	return waiting;
}

static bool unc_overflow_poll_boxes(struct unc_package *pkg, bool watch)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned int n = unc.boxes_per_package, i, b;
	bool waiting = false;

	unc_lock_raw(&ov->lock);
	/*
	 * Begin with another box each time: arming the counters of the first boxes may
	 * use up the freeze budget, and the last boxes would get no sample.
	 */
	b = find_next_bit(pkg->samplers, n, ov->first + 1);
	ov->first = b < n ? b : find_first_bit(pkg->samplers, n);
	for (i = 0; i < n; i++) {
		b = (ov->first + i) % n;
		if (test_bit(b, pkg->samplers))
			waiting |= unc_overflow_poll_box(pkg->boxes[b], watch);
	}
	unc_lock_raw_release(&ov->lock);
	return waiting;
}

/*
 * End the watch some time after the last sampling event has gone (@ov->watch.until): an
 * overflow of that event may show up late.
 */
static void unc_overflow_end_watch(struct unc_overflow *ov, u64 now)
{
	if (atomic_read(&ov->signalled) ||
	    (s64)(now - READ_ONCE(ov->watch.until)) < 0)
		return;
	unc_lock_raw(&ov->ctl_lock);
	/* a sampling event may have been added */
	if (!atomic_read(&ov->signalled))
		WRITE_ONCE(ov->watch.on, false);
	unc_lock_raw_release(&ov->ctl_lock);
}

/*
 * Handle an overflow whose PMI was lost.  At the first sight of an overflow its PMI may
 * be on its way.  So while PMIs are expected, the overflow is left to its PMI, and
 * handled only if the status has not been clear until the next call.  Returns whether to
 * call again soon for that.
 */
static bool unc_overflow_find(struct unc_package *pkg, u64 now)
{
	struct unc_watch *watch = &pkg->overflow.watch;
	u64 clear = READ_ONCE(pkg->overflow.clear);

	if (unc_global_status() && watch->clear != clear &&
	    atomic_read(&pkg->overflow.signalled)) {
		watch->clear = clear;
		return true;
	}
	unc_overflow_handle(pkg, 0);
	unc_overflow_end_watch(&pkg->overflow, now);
	return false;
}

/**
 * unc_overflow_poll() - poll a package's sampling counters, for the package's timer
 * @pkg: the package
 *
 * Polls boxes that do not signal and counters that wait to be armed.  Less often, looks
 * for overflows whose PMI was lost.  Delivers the samples that are due.
 *
 * Return: time of the next call (monotonic ns), UNC_NEVER for never.
 * Context: hard interrupt, on a CPU of the package.
 */
u64 unc_overflow_poll(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	u64 before, next = UNC_NEVER;
	struct pt_regs here;
	bool watch, waiting, deferred;

	if (bitmap_empty(pkg->samplers, unc.boxes_per_package) &&
	    !READ_ONCE(ov->watch.on))
		return UNC_NEVER;
	unc_pmi_in_handler(true);
	before = atomic64_read(&pkg->stats.overflows);
	watch = READ_ONCE(ov->watch.on) && (s64)(now - READ_ONCE(ov->watch.next)) >= 0;
	if (watch) {
		WRITE_ONCE(ov->watch.next, now + UNC_WATCH_NS);
		if (unc_overflow_find(pkg, now))
			WRITE_ONCE(ov->watch.next, now + UNC_POLL_NS);
	}
	waiting = unc_overflow_poll_boxes(pkg, watch);
	before = atomic64_read(&pkg->stats.overflows) - before;
	atomic64_add(before, &pkg->stats.by_timer);
	/* clear before the delivery: another CPU may defer a sample at any time */
	deferred = xchg(&ov->deferred, false);
	if (before || deferred) {
		unc_sampling_deliver(pkg, unc_pmi_regs(&here));
		unc_pmi_kick(pkg);
	}
	unc_pmi_in_handler(false);

	/* wait as long as this poll took: polling takes at most half of the time */
	before = ktime_get_mono_fast_ns();
	waiting &= atomic_read(&ov->signalled) != 0;
	if (atomic_read(&ov->polled) || waiting)
		next = before + max_t(u64, UNC_POLL_NS, before - now);
	if (READ_ONCE(ov->watch.on))
		next = min_t(u64, next, READ_ONCE(ov->watch.next));
	return next;
}

/**
 * unc_overflow_work() - handle overflows after a PMI, and deliver samples
 *
 * Runs on each CPU with sampling events.  The first CPU handles the counters and
 * unfreezes the package.  Each CPU delivers the samples of its events.
 *
 * Context: hard interrupt.
 */
void unc_overflow_work(void)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct pt_regs *regs = NULL, here;
	struct unc_hit hit;

	if (!pkg)
		return;
	unc_pmi_in_handler(true);
	if (unc_nmi_take_hit(&hit)) {
		if (!unc_overflow_handle(pkg, hit.stamp - pkg->overflow.latency))
			atomic64_inc(&pkg->stats.late);
		/*
		 * Use the registers that the NMI saved, unless the scheduler has switched
		 * to another task since the NMI.
		 */
		if (!hit.own && hit.task == current)
			regs = &hit.regs;
	}
	unc_sampling_deliver(pkg, regs ?: unc_pmi_regs(&here));
	unc_pmi_in_handler(false);
}

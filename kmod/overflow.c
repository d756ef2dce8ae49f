// SPDX-License-Identifier: GPL-2.0-only
/*
 * A package's overflows: finding the counters that overflowed, and starting the
 * package again.
 *
 * A box that signals freezes all boxes of its package and has the UBox send a PMI
 * (pmi.c).  Until it is handled nothing counts there, so the way from overflow to
 * unfreeze has as few register accesses as possible, and its time is charged to the
 * package's freeze budget.  Boxes that do not signal are polled by the package's timer.
 * Either way samples are due by the counter's value and not by status bits, so none is
 * lost or doubled, whichever CPU reads first and however often.
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

/* How often the timer polls. */
#define UNC_POLL_NS	NSEC_PER_MSEC		/* boxes that do not signal */
#define UNC_WATCH_NS	(20 * NSEC_PER_MSEC)	/* for overflows without a PMI */

static u64 unc_overflow_bits(const struct unc_box *box)
{
	return box->type->overflow.status ? box->type->overflow.status[box->index] :
				   box->type->overflow.status_bits;
}

/* --- the interrupt --------------------------------------------------------- */

/* Find a frozen box's counters that overflowed, and set them again. */
static void unc_overflow_handle_box(struct unc_box *box, u64 since)
{
	unsigned int i;

	unc_lock_raw(&box->lock);
	for (i = 0; i < UNC_MAX_COUNTERS && box->use.samplers; i++) {
		struct unc_slot *slot = &box->slot[i];

		if ((!slot->users && !slot->migrating) || !slot->sampling.period)
			continue;
		unc_refresh_slot(box, slot);
		unc_sampling_account(box, slot,
				     ktime_get_mono_fast_ns() - since);
		/* it may have been accounted before, as an event was taken off */
		if (slot->sampling.armed &&
		    slot->sampling.set != slot->sampling.next)
			unc_sampling_arm(box, slot);
	}
	unc_access_clear_status(box);
	unc_lock_raw_release(&box->lock);
}

/* The package counts again: charge the time that it did not. */
static void unc_overflow_end(struct unc_package *pkg, u64 since)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	u64 frozen = now - since + ov->latency;

	/* one that comes without a pause leaves its CPU nothing else to do */
	if (since - ov->handled < (now - since) / 4)
		ov->storm++;
	else
		ov->storm = 0;
	ov->handled = now;
	atomic64_add(frozen, &pkg->stats.overflow_frozen_ns);
	unc_freeze_charge(pkg, frozen);
}

/*
 * Handle the overflows of a frozen package, unless another CPU has.  @status is that of
 * the freeze with number @freeze, read at @since; 0: it was not read.
 */
static void unc_overflow_handle(struct unc_package *pkg, u64 status, u64 since,
				u32 freeze)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned int b;

	unc_lock_raw(&ov->lock);
	if (!status || freeze != ov->freeze) {
		status = unc_global_status();
		since = ktime_get_mono_fast_ns();
	}
	if (!status) {
		unc_lock_raw_release(&ov->lock);
		return;
	}
	/* boxes share bits; only one with samplers has set its own */
	for_each_set_bit(b, pkg->samplers, unc.boxes_per_package) {
		if (unc_overflow_bits(pkg->boxes[b]) & status)
			unc_overflow_handle_box(pkg->boxes[b], since);
	}
	unc_global_clear(status);
	/* not before the status is cleared; see unc_look() */
	smp_wmb();
	WRITE_ONCE(ov->freeze, ov->freeze + 1);
	unc_global_unfreeze(ov);
	unc_overflow_end(pkg, since);
	unc_lock_raw_release(&ov->lock);
	unc_pmi_kick(pkg);
}

/* --- the timer --------------------------------------------------------------- */

/* Read a counter that is, or is to be, set to overflow, and set it if it has to be. */
static void unc_overflow_poll_signalling(struct unc_box *box,
					 struct unc_slot *slot)
{
	struct unc_sampling *s = &slot->sampling;

	bool signalled = unc_sampling_has_pmi(box, slot);

	if (s->armed ? signalled && s->set == s->next &&
	    (s64)(slot->total - s->next) < 0 :
		       !signalled || !unc_freeze_allowed(box->pkg))
		return;
	unc_sampling_rearm(box, slot);
}

static void unc_overflow_poll_slot(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_sampling *s = &slot->sampling;

	unc_refresh_slot(box, slot);
	unc_sampling_pace(slot, unc_access_bits(box, slot->ctr));
	if (slot->arm) {
		unc_overflow_poll_signalling(box, slot);
		return;
	}
	if ((s64)(ktime_get_mono_fast_ns() - s->rest) < 0) {
		s->armed = false;
		return;
	}
	/* perf throttled its events, or another program wrote it */
	if (!s->armed)
		unc_sampling_merge(slot);
	s->armed = true;
	unc_sampling_account(box, slot, 0);
}

/* Poll a box; returns whether a counter waits to be armed. */
static bool unc_overflow_poll_box(struct unc_box *box, bool watch)
{
	bool waiting = false;
	unsigned int i;

	unc_lock_raw(&box->lock);
	for (i = 0; i < UNC_MAX_COUNTERS && !box->dead; i++) {
		struct unc_slot *slot = &box->slot[i];

		if ((!slot->users && !slot->migrating) || !slot->sampling.period ||
		    box->ctr[slot->ctr].dirty)
			continue;
		if (watch || !slot->arm || !slot->sampling.armed ||
		    !unc_sampling_has_pmi(box, slot))
			unc_overflow_poll_slot(box, slot);
		waiting |= !slot->sampling.armed;
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
	/* the first box may use up the freeze budget: another one each time */
	b = find_next_bit(pkg->samplers, n, ov->first + 1);
	ov->first = b < n ? b : find_first_bit(pkg->samplers, n);
	for (i = 0; i < n; i++) {
		b = (ov->first + i) % n;
		if (test_bit(b, pkg->samplers))
			waiting |= unc_overflow_poll_box(pkg->boxes[b], watch);
	}
	ov->storm = 0;
	unc_lock_raw_release(&ov->lock);
	return waiting;
}

/* End the polling for late overflows of the last sampling event, when it is time. */
static void unc_overflow_end_watch(struct unc_overflow *ov, u64 now)
{
	if (atomic_read(&ov->signalled) ||
	    (s64)(now - READ_ONCE(ov->watch.until)) < 0)
		return;
	unc_lock_raw(&ov->cores.lock);
	/* a sampling event may have been added */
	if (!atomic_read(&ov->signalled))
		WRITE_ONCE(ov->watch.on, false);
	unc_lock_raw_release(&ov->cores.lock);
}

static bool unc_overflow_watch(struct unc_package *pkg, u64 now)
{
	struct unc_overflow *ov = &pkg->overflow;

	if (!READ_ONCE(ov->watch.on) || now - ov->watch.last < UNC_WATCH_NS)
		return false;
	ov->watch.last = now;
	/*
	 * The status is read again under the lock: another CPU may have handled this
	 * overflow, and the bits may be those of the next one.
	 */
	if (unc_global_status())
		unc_overflow_handle(pkg, 0, now, 0);
	unc_overflow_end_watch(ov, now);
	return true;
}

/*
 * What the package's timer does for sampling.  Polls boxes that do not signal and
 * counters that are to be armed; and less often for overflows without a PMI.  Returns
 * when it is to be called again (monotonic ns), UNC_NEVER for never.
 * Context: hard interrupt, on a CPU of the package.
 */
u64 unc_overflow_poll(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	u64 before, next = UNC_NEVER;
	struct pt_regs here;
	bool waiting;

	if (bitmap_empty(pkg->samplers, unc.boxes_per_package) &&
	    !READ_ONCE(ov->watch.on))
		return UNC_NEVER;
	unc_pmi_in_handler(true);
	before = atomic64_read(&pkg->stats.overflows);
	waiting = unc_overflow_poll_boxes(pkg, unc_overflow_watch(pkg, now));
	before = atomic64_read(&pkg->stats.overflows) - before;
	atomic64_add(before, &pkg->stats.by_timer);
	if (before) {
		unc_sampling_deliver(pkg, unc_pmi_regs(&here));
		unc_pmi_kick(pkg);
	}
	unc_pmi_in_handler(false);

	/* this too takes at most half of the time */
	before = ktime_get_mono_fast_ns();
	waiting &= atomic_read(&ov->signalled) != 0;
	if (atomic_read(&ov->polled) || waiting)
		next = before + max_t(u64, UNC_POLL_NS, before - now);
	if (READ_ONCE(ov->watch.on))
		next = min_t(u64, next, before + UNC_WATCH_NS);
	return next;
}

/*
 * What a PMI leads to, on each CPU with sampling events.  The first CPU to come handles
 * the hardware, every one its own events.
 * Context: hard interrupt.
 */
void unc_overflow_work(void)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_hit *hit = this_cpu_ptr(&unc_nmi.hit);
	bool pending = READ_ONCE(hit->pending);
	struct pt_regs here, *regs = NULL;

	if (!pkg)
		return;
	unc_pmi_in_handler(true);
	if (pending) {
		unc_overflow_handle(pkg, hit->status, hit->stamp, hit->freeze);
		/* the NMI may have hit the scheduler, and another task runs now */
		if (!hit->own && hit->task == current) {
			here = hit->regs;
			regs = &here;
		}
		/*
		 * unc_pmi_kick() leaves out a CPU while this is set.  An overflow that
		 * another CPU handles after this CPU has taken its samples needs a kick.
		 */
		WRITE_ONCE(hit->pending, false);
		smp_mb();	/* pairs with unc_pmi_kick() */
	}
	unc_sampling_deliver(pkg, regs ?: unc_pmi_regs(&here));
	unc_pmi_in_handler(false);
}

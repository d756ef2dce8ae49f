// SPDX-License-Identifier: GPL-2.0-only
/*
 * A package's overflows: finding out whose counter it was, letting the package
 * count again, and accounts of what that cost.
 *
 * A box that signals freezes all boxes of its package and has the UBox send a
 * PMI (pmi.c).  Until it is served nobody counts, so the way from overflow to
 * unfreeze has as few register accesses as can be.  Boxes that do not signal are
 * polled by the package's timer.  Either way samples are due by the counter's
 * value and not by status bits, so none is lost or doubled, whoever looks first
 * and however often.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "xeon_uncore.h"
#include "compat.h"

/*
 * Serving overflows takes at most about half of the time: a package that has
 * used up this much more (ns) than it has left idle stays frozen for as long.
 */
#define UNC_MAX_CREDIT	(5 * (s64)NSEC_PER_MSEC)

/* How often the timer looks. */
#define UNC_POLL_NS	NSEC_PER_MSEC		/* boxes that do not signal */
#define UNC_WATCH_NS	(20 * NSEC_PER_MSEC)	/* for signals that got lost */

/*
 * When the package froze is not known, only when the NMI came.  What that leaves
 * out is put right by the clock, which stood still with the package: where it was
 * frozen for more than this part of the time, or for that much more of it than was
 * accounted, as the CPU was held up or the NMI was.  Else the measured delay
 * between the two is nearer to the truth than a clock whose pace was measured.
 */
#define UNC_DENSE	8
#define UNC_LONGER	16

u64 unc_global_bits(const struct unc_box *box)
{
	return box->type->global ? box->type->global[box->index] :
				   box->type->global_bits;
}

/* --- the clock that stands still with the package ------------------------ */

static const u64 unc_clock_config[3] = { UNC_EVENT_FIXED };

/* Have the clock tick, unless a sampling event has it. */
static void unc_clock_begin(struct unc_overflow *ov)
{
	struct unc_box *box = ov->clock;
	unsigned long flags;

	if (!box || ov->clock_on)
		return;
	flags = unc_lock(box);
	unc_box_freeze(box);
	ov->clock_on = !box->dead &&
		       unc_slot_get(box, unc_clock_config, NULL);
	unc_box_thaw(box);
	unc_unlock(box, flags);
}

static void unc_clock_drop(struct unc_overflow *ov, struct unc_box *box)
{
	struct unc_slot *slot;

	if (!ov->clock_on || box->ctr[UNC_FIXED].slot < 0)
		return;
	ov->clock_on = false;
	slot = &box->slot[box->ctr[UNC_FIXED].slot];
	unc_box_freeze(box);
	unc_box_leave(box, slot);
	unc_box_release(box, slot);
	unc_box_thaw(box);
}

static void unc_clock_end(struct unc_overflow *ov)
{
	struct unc_box *box = ov->clock;
	unsigned long flags;

	if (!box)
		return;
	flags = unc_lock(box);
	unc_clock_drop(ov, box);
	unc_unlock(box, flags);
}

/**
 * unc_clock_yield() - leave the clock to an event
 * @box: the box in which an event is about to look for a counter, locked
 *
 * An event that samples has its counter for itself.
 */
void unc_clock_yield(struct unc_box *box)
{
	struct unc_overflow *ov = &box->pkg->overflow;

	if (ov->clock == box)
		unc_clock_drop(ov, box);
}

/* How many cycles the package has counted since the last look; false: unknown. */
static bool unc_clock_passed(struct unc_overflow *ov, u64 *cycles)
{
	struct unc_box *box = ov->clock;
	unsigned long flags;
	bool known = false;
	u64 total;
	s8 slot;

	if (!box || !ov->clock_khz)
		return false;
	flags = unc_lock(box);
	slot = box->ctr[UNC_FIXED].slot;
	if (slot >= 0 && !box->dead) {
		unc_box_refresh(box, &box->slot[slot]);
		total = box->slot[slot].total;
		/* it may be another slot's */
		known = ov->clock_at &&
			ov->clock_serial == box->slot[slot].serial;
		*cycles = total - ov->clock_total;
		ov->clock_total = total;
		ov->clock_serial = box->slot[slot].serial;
		ov->clock_at = ktime_get_mono_fast_ns();
	}
	unc_unlock(box, flags);
	return known;
}

/* Nothing has overflowed for @ns: how fast is the clock now? */
static void unc_clock_measure(struct unc_overflow *ov, u64 cycles, u64 ns)
{
	u64 khz;

	if (ns < UNC_POLL_NS)
		return;
	khz = unc_mul_div(cycles, NSEC_PER_MSEC, ns);
	if (khz && khz <= unc.gen->max_khz)
		ov->clock_khz = khz;
}

/* --- accounts ------------------------------------------------------------ */

/*
 * What the clock says of the last @ns, for @accounted of which the package was
 * frozen: for how much longer (ns, or shorter) it was.
 */
static s64 unc_frozen_more(const struct unc_overflow *ov, u64 cycles, s64 ns,
			   s64 accounted)
{
	u64 ran = unc_mul_div(cycles, NSEC_PER_MSEC, ov->clock_khz);
	s64 more = ns - (s64)min_t(u64, ran, ns) - accounted;

	if (accounted < ns / UNC_DENSE && more < ns / UNC_LONGER)
		return 0;
	return more;
}

/*
 * Look at the clock, for its pace when there were no overflows since the last
 * look, else for whether time was accounted right.
 *
 * Context: hard interrupt, on a CPU of the package, @ov->lock is held.
 */
static void unc_clock_look(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 before = ov->clock_at, cycles;
	bool quiet = before > ov->served && !ov->thaw_at;
	bool known = unc_clock_passed(ov, &cycles);
	s64 ns = ov->clock_at - before, more;

	if (known && quiet) {
		unc_clock_measure(ov, cycles, ns);
	} else if (known) {
		unc_raw_lock(&ov->select_lock);
		more = unc_frozen_more(ov, cycles, ns, unc_frozen_ns(pkg) -
				       ov->clock_frozen);
		unc_account_frozen(ov, more);
		unc_raw_unlock(&ov->select_lock);
	}
	ov->clock_frozen = unc_frozen_ns(pkg);
}

/*
 * In a storm the timer may get no turn, and what is accounted for one overflow is
 * wrong by much of it: then who serves looks, too.
 */
static bool unc_clock_is_due(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	s64 passed = ov->served - ov->clock_at;
	s64 frozen;

	if (passed < (s64)UNC_POLL_NS)
		return false;
	frozen = unc_frozen_ns(pkg) - ov->clock_frozen;
	return passed > (s64)UNC_WATCH_NS || frozen > passed / 2;
}

/* When had a package frozen whose NMI came at @came?  The guess is put right later. */
static u64 unc_guess_frozen(const struct unc_overflow *ov, u64 came)
{
	s64 gap = max_t(s64, came - ov->served, 0);

	return came - min_t(s64, gap, ov->latency);
}

/*
 * An overflow that froze the package at @since and came to us at @came is served,
 * but for the unfreezing.  Do that now, or leave it to the timer when overflows
 * follow one another so fast that the machine would do nothing else.  Counters
 * lose nothing by it that a freeze an overflow would not cost them anyway, and it
 * is accounted like one.
 */
static void unc_end_freeze(struct unc_package *pkg, u64 since, u64 came)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	s64 rested = min_t(s64, came - ov->served, UNC_MAX_CREDIT);

	if (ov->thaw_at)
		return;
	/* a CPU that was held up once owes no more for it than a busy one */
	ov->credit = clamp_t(s64, ov->credit + rested, -UNC_MAX_CREDIT,
			     UNC_MAX_CREDIT);
	ov->credit -= now - came;
	/* the last event may have gone, and with it the reason to wait */
	if (ov->credit > -UNC_MAX_CREDIT || !atomic_read(&ov->signalled)) {
		unc_unfreeze(ov, since);
		return;
	}
	unc_stay_frozen(ov, since, now + UNC_MAX_CREDIT);
	ov->credit = 0;
	unc_timer_want(pkg, ov->thaw_at);
}

/* --- serving ------------------------------------------------------------- */

/* Find a frozen box's counters that overflowed, and set them again. */
static void unc_serve_box(struct unc_box *box, u64 since)
{
	unsigned long flags;
	unsigned int i;

	flags = unc_lock(box);
	box->still = true;
	for (i = 0; i < UNC_MAX_COUNTERS && box->samplers; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!slot->users || !slot->event)
			continue;
		unc_box_refresh(box, slot);
		if (unc_sampling_account(box, slot,
					 ktime_get_mono_fast_ns() - since))
			unc_sampling_arm(box, slot);
	}
	box->still = false;
	unc_clear_status(box);
	unc_unlock(box, flags);
}

/**
 * unc_overflow_serve() - serve a frozen package, unless somebody else has
 * @pkg: the package
 * @status: global status as it was seen, 0: it has not been looked at
 * @since: when that was
 * @freeze: number of the freeze to which @status belongs
 *
 * Context: hard interrupt, on a CPU of the package.
 */
void unc_overflow_serve(struct unc_package *pkg, u64 status, u64 since,
			u32 freeze)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned int b;

	unc_raw_lock(&ov->lock);
	if (!status || freeze != ov->freeze) {
		status = unc_global_status();
		since = ktime_get_mono_fast_ns();
	}
	/* frozen on purpose for a while: that is served already */
	if (!status)
		goto out;
	/* boxes share bits; only one with samplers has set its own */
	for_each_set_bit(b, pkg->samplers, unc.boxes_per_package) {
		if (unc_global_bits(pkg->boxes[b]) & status)
			unc_serve_box(pkg->boxes[b], since);
	}
	unc_raw_lock(&ov->select_lock);
	unc_global_clear(status);
	/* not before the status is gone; unc_nmi() */
	smp_wmb();
	WRITE_ONCE(ov->freeze, ov->freeze + 1);
	unc_end_freeze(pkg, unc_guess_frozen(ov, since), since);
	unc_raw_unlock(&ov->select_lock);
	if (unc_clock_is_due(pkg))
		unc_clock_look(pkg);
out:
	unc_raw_unlock(&ov->lock);
}

/* Account the samples of a counter that nothing has signalled. */
static void unc_poll_slot(struct unc_box *box, struct unc_slot *slot)
{
	bool nearer;

	unc_box_refresh(box, slot);
	nearer = unc_pace(slot, unc_counter_bits(box, slot->ctr));
	if (!nearer && (s64)(slot->total - slot->next) < 0)
		return;
	if (!unc_box_signals(box)) {
		unc_sampling_account(box, slot, 0);
		return;
	}
	/* a counter that signals is set again, standing still */
	unc_box_freeze_surely(box);
	if (!box->frozen)
		unc_box_run(box, slot, false);
	unc_box_refresh(box, slot);
	unc_sampling_account(box, slot, 0);
	unc_sampling_arm(box, slot);
	if (!box->frozen && !unc_is_stopped(slot->event))
		unc_box_run(box, slot, true);
	unc_box_thaw(box);
}

static void unc_poll_box(struct unc_box *box)
{
	unsigned long flags;
	unsigned int i;

	flags = unc_lock(box);
	for (i = 0; i < UNC_MAX_COUNTERS && !box->dead; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (slot->users && slot->event && !box->ctr[slot->ctr].dirty)
			unc_poll_slot(box, slot);
	}
	unc_unlock(box, flags);
}

/* Look for a freeze that no PMI has told of, also when nobody samples any more. */
static void unc_watch(struct unc_package *pkg, u64 now)
{
	struct unc_overflow *ov = &pkg->overflow;

	ov->watched = now;
	/*
	 * To be looked at again, locked: since then another CPU may have served it,
	 * and what is there now be the next one's, not to be cleared unserved.
	 */
	if (unc_global_status()) {
		unc_overflow_serve(pkg, 0, now, 0);
		return;
	}
	unc_raw_lock(&ov->lock);
	unc_clock_look(pkg);
	unc_raw_unlock(&ov->lock);
}

/* May we stop looking for what the last sampling event has left? */
static void unc_end_watch(struct unc_overflow *ov, u64 now)
{
	if (atomic_read(&ov->signalled) ||
	    (s64)(now - READ_ONCE(ov->watch_until)) < 0)
		return;
	unc_clock_end(ov);
	unc_raw_lock(&ov->select_lock);
	/* one may just have come */
	if (!atomic_read(&ov->signalled))
		WRITE_ONCE(ov->watching, false);
	unc_raw_unlock(&ov->select_lock);
}

static void unc_thaw_if_due(struct unc_overflow *ov, u64 now)
{
	unc_raw_lock(&ov->select_lock);
	if (ov->thaw_at && (s64)(now - ov->thaw_at) >= 0)
		unc_unfreeze(ov, ov->frozen_at);
	unc_raw_unlock(&ov->select_lock);
}

/**
 * unc_overflow_poll() - what the package's timer does for sampling
 * @pkg: the package
 *
 * Polls boxes that do not signal; and less often looks for overflows whose
 * status or PMI got lost.
 *
 * Context: hard interrupt, on a CPU of the package.
 * Return: when it is to be called again (monotonic ns), UNC_NEVER for never.
 */
u64 unc_overflow_poll(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	u64 before, next = UNC_NEVER;
	struct pt_regs here;
	bool watch, was;
	unsigned int b;

	if (!atomic_read(&ov->polled) && !READ_ONCE(ov->watching))
		return UNC_NEVER;
	was = unc_pmi_serving(true);
	before = atomic64_read(&ov->count);
	unc_thaw_if_due(ov, now);
	watch = READ_ONCE(ov->watching) && now - ov->watched >= UNC_WATCH_NS;
	if (watch) {
		if (atomic_read(&ov->signalled))
			unc_clock_begin(ov);
		unc_watch(pkg, now);
		unc_end_watch(ov, now);
	}
	unc_raw_lock(&ov->lock);
	for_each_set_bit(b, pkg->samplers, unc.boxes_per_package) {
		if (watch || !unc_box_signals(pkg->boxes[b]))
			unc_poll_box(pkg->boxes[b]);
	}
	unc_raw_unlock(&ov->lock);
	atomic64_add(atomic64_read(&ov->count) - before, &ov->timer_served);
	unc_overflow_charge(ov, unc_deliver(pkg, unc_present_regs(&here)));
	unc_pmi_serving(was);

	/* this too takes at most half of the time */
	before = ktime_get_mono_fast_ns();
	if (atomic_read(&ov->polled))
		next = before + max_t(u64, UNC_POLL_NS, before - now);
	if (READ_ONCE(ov->watching))
		next = min_t(u64, next, before + UNC_WATCH_NS);
	if (READ_ONCE(ov->thaw_at))
		next = min_t(u64, next, READ_ONCE(ov->thaw_at));
	return next;
}

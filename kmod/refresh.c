// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a box's counters, and verifying its registers.
 *
 * A slot, which is what the box counts for one or more equal events, has a total of 64
 * bits.  A refresh reads the slot's counter and adds the growth since the last read to
 * the total, modulo the counter's width.
 *
 * Other programs may write the registers.  Growth that the hardware cannot have counted
 * is not added, and changed control registers are written again.
 *
 * All functions are called with the box's lock held and interrupts off, on a CPU of the
 * box's package.
 */
#include "access.h"
#include "compat.h"
#include "refresh.h"
#include "report.h"

/*
 * Counts that are always accepted.  Two clocks may differ a little, and traffic that is
 * injected into the simulator takes no time.
 */
#define UNC_SLACK	(1ULL << 16)

/*
 * Return the largest growth that is accepted in @ns: twice that of any event of the box
 * type with its largest increment in each cycle of the fastest clock.  The documented
 * largest increment of one event may be too small, and the growth would be lost.
 */
static u64 unc_refresh_most(const struct unc_slot *slot, u64 ns)
{
	u64 most = unc_mul_div(ns, 2ULL * U32_MAX, slot->most_ns);

	return most < U64_MAX - UNC_SLACK ? most + UNC_SLACK : U64_MAX;
}

/*
 * Continue a slot from its counter's present value, without adding the growth: another
 * program has written the counter or its control.
 */
static void unc_refresh_resync(struct unc_box *box, struct unc_slot *slot)
{
	/* 0: read both halves of the counter */
	slot->stamp = 0;
	/* the growth came from a dead box, which reads all ones, and not from a program */
	if (!unc_access_read_counter(box, slot, &slot->raw))
		return;
	/* the counter no longer overflows at the next sample: the timer arms it again */
	slot->sampling.armed = false;
	unc_report_foreign(box);
}

/**
 * unc_refresh_slot() - bring a slot's total up to date
 * @box: the box, which is locked
 * @slot: the slot
 *
 * Adds nothing when the box does not answer.  Adds nothing either when the counter has
 * grown by more than the box can count since the last read: then another program wrote
 * the counter.
 */
void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot)
{
	unsigned int shift = 64 - unc_access_bits(box, slot->ctr);
	u64 before = slot->stamp;
	u64 raw, grown;

	/* unc_box_end() has still to program the counter for the slot */
	if (box->ctr[slot->ctr].dirty)
		return;
	if (!unc_access_read_counter(box, slot, &raw))
		return;
	grown = ((raw << shift) - (slot->raw << shift)) >> shift;
	/* a counter of 64 bits does not wrap: a value that decreased is not growth */
	if (!shift && (s64)grown < 0)
		return;
	if (before && grown > UNC_SLACK &&
	    grown > unc_refresh_most(slot, ktime_get_boot_fast_ns() - before)) {
		unc_refresh_resync(box, slot);
		return;
	}
	slot->total += grown;
	slot->raw = raw;
}

/**
 * unc_refresh_box() - bring the totals of all slots of a box up to date
 * @box: the box, which is locked
 */
void unc_refresh_box(struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; ctr < unc_box_counters(box); ctr++) {
		if (box->ctr[ctr].slot >= 0)
			unc_refresh_slot(box, &box->slot[box->ctr[ctr].slot]);
	}
}

/*
 * Write a control register again that another program has changed.  The counter may have
 * counted another event since, so its growth is not added.
 */
static void unc_refresh_verify_ctl(struct unc_box *box, unsigned int ctr)
{
	const struct unc_layout *layout = box->type->layout;
	u64 mask = box->type->regs.ctl_mask | layout->en | layout->ov_en;
	struct unc_counter *c = &box->ctr[ctr];

	if (box->dead || c->slot < 0 || c->dirty ||
	    !((unc_access_read_ctl(box, ctr) ^ c->ctl) & mask))
		return;
	unc_access_write_ctl(box, ctr, c->ctl);
	unc_refresh_resync(box, &box->slot[c->slot]);
}

/**
 * unc_refresh_verify() - bring all totals up to date, and check a box's registers
 * @box: the box
 *
 * Control registers that another program has changed are written again.  The freeze bit
 * cannot be read, so the box is unfrozen in any case.
 */
void unc_refresh_verify(struct unc_box *box)
{
	unsigned int ctr;

	for_each_programmed(box->type, ctr)
		unc_refresh_verify_ctl(box, ctr);
	unc_refresh_box(box);
	if (box->dead || box->hw.frozen || !box->type->regs.box_ctl)
		return;
	/*
	 * Another program may have written box control.  A box control that boxes share
	 * is written only if its value is not known (access.c).
	 */
	box->hw.box_ctl_known = false;
	unc_access_write_box_ctl(box, 0);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a box's counters into the totals of its slots, and verifying its registers:
 * other programs write them, too.  All functions are called with the box's lock held and
 * interrupts off, on a CPU of its package.
 */
#include "access.h"
#include "compat.h"
#include "refresh.h"
#include "report.h"

/* Counts that may come at once, in no time: injected traffic, skew of clocks. */
#define UNC_SLACK	(1ULL << 16)

/* Return the most counts of a slot in some time: twice those of the fastest clock. */
static u64 unc_refresh_most(const struct unc_slot *slot, u64 ns)
{
	u64 most = unc_mul_div(ns, 2ULL * U32_MAX, slot->low_ns);

	return most < U64_MAX - UNC_SLACK ? most + UNC_SLACK : U64_MAX;
}

/* Continue from the value that another program wrote to the counter. */
static void unc_refresh_resync(struct unc_box *box, struct unc_slot *slot)
{
	slot->stamp = 0;
	/* a dead box reads all ones, which no program wrote */
	if (!unc_access_read_counter(box, slot, &slot->raw))
		return;
	slot->sampling.armed = false;
	unc_report_foreign(box);
}

/**
 * unc_refresh_slot() - bring a slot's total up to date
 * @box: the box, which is locked
 * @slot: the slot
 *
 * Adds nothing when the box does not answer.  Adds nothing either when the counter has
 * grown by more than its event can count in the time: another program wrote the counter.
 */
void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot)
{
	unsigned int shift = 64 - unc_access_bits(box, slot->ctr);
	u64 before = slot->stamp;
	u64 raw, grown;

	/* assigned a counter, but not started yet */
	if (box->ctr[slot->ctr].dirty)
		return;
	if (!unc_access_read_counter(box, slot, &raw))
		return;
	grown = ((raw << shift) - (slot->raw << shift)) >> shift;
	/* a counter of 64 bits never wraps: a value that decreases has not changed */
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

	for (ctr = 0; ctr < UNC_MAX_COUNTERS; ctr++) {
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
	/* another program may have written box control: have a shared one written, too */
	box->hw.box_ctl_known = false;
	unc_access_write_box_ctl(box, 0);
}

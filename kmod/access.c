// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box's registers, however they are reached (struct unc_space).  Every function
 * here is called with the box's lock held and interrupts off, on a CPU of the
 * box's package, and never in an NMI: some accesses take a lock of the kernel's,
 * which the interrupted code may hold.
 *
 * An access costs hundreds of cycles, or thousands.  So nothing here reads a
 * control register back, except once at load.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "xeon_uncore.h"

static u32 unc_ctl_reg(const struct unc_type *type, unsigned int ctr)
{
	if (ctr == UNC_FIXED)
		return type->fixed_ctl;
	return type->ctl[ctr];
}

static u32 unc_ctr_reg(const struct unc_type *type, unsigned int ctr)
{
	if (ctr == UNC_FIXED)
		return type->fixed_ctr;
	if (ctr >= UNC_FREERUN0)
		return type->freerun[ctr - UNC_FREERUN0].reg;
	return type->ctr[ctr];
}

/**
 * unc_counter_bits() - width of a counter
 * @box: its box
 * @ctr: its index
 */
unsigned int unc_counter_bits(const struct unc_box *box, unsigned int ctr)
{
	if (ctr >= UNC_FREERUN0)
		return box->type->freerun[ctr - UNC_FREERUN0].bits;
	/* only general counters are narrower than documented anywhere */
	return ctr == UNC_FIXED ? box->type->bits : box->bits;
}

static u64 unc_counter_mask(const struct unc_box *box, unsigned int ctr)
{
	return GENMASK_ULL(unc_counter_bits(box, ctr) - 1, 0);
}

/* Returns 0, or a negative errno for a register that faults. */
static int unc_try_write(struct unc_box *box, u32 reg, u64 value)
{
	const struct unc_space *space = box->type->space;

	if (box->dead)
		return 0;
	if (space->try_write)
		return space->try_write(box, reg, value);
	space->write(box, reg, value);
	return 0;
}

static void unc_write(struct unc_box *box, u32 reg, u64 value)
{
	if (!box->dead)
		box->type->space->write(box, reg, value);
}

/**
 * unc_read_counter() - read what a slot's counter holds
 * @box: the box
 * @slot: the slot; its stamp is renewed
 * @value: where to put the value
 *
 * Return: false when the box is, or just turned out to be, dead.
 */
bool unc_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value)
{
	u32 reg = unc_ctr_reg(box->type, slot->ctr);
	u64 mask = unc_counter_mask(box, slot->ctr);
	u64 before = ktime_get_mono_fast_ns();

	if (box->dead ||
	    !box->type->space->read_counter(box, reg, slot, mask, value))
		return false;
	*value &= mask;
	slot->stamp = before;
	return true;
}

/**
 * unc_write_counter() - set a counter
 * @box: the box
 * @ctr: general or fixed counter
 * @value: its new value
 */
void unc_write_counter(struct unc_box *box, unsigned int ctr, u64 value)
{
	u32 reg = unc_ctr_reg(box->type, ctr);

	if (box->dead)
		return;
	if (box->type->layout->count)
		value |= box->ctr[ctr].ctl;
	box->type->space->write_counter(box, reg, value);
}

/**
 * unc_read_ctl() - what a control register holds, as others have left it
 * @box: the box
 * @ctr: general or fixed counter
 */
u64 unc_read_ctl(struct unc_box *box, unsigned int ctr)
{
	u32 reg = unc_ctl_reg(box->type, ctr);

	return box->type->space->read(box, reg) & ~box->type->layout->count;
}

/* A register is one that must be written twice with the same value. */
static void unc_write_twice(struct unc_box *box, u32 reg, u32 value)
{
	unc_write(box, reg, value);
	unc_write(box, reg, value);
}

/**
 * unc_write_ctl() - program a counter
 * @box: the box
 * @ctr: general or fixed counter
 * @value: its control register
 *
 * Where the count is in the same register, it is 0 then.
 *
 * Where it takes two writes, a counter in a box that runs must not count what
 * the first one may have left, so it is given its event before it is enabled.
 */
void unc_write_ctl(struct unc_box *box, unsigned int ctr, u64 value)
{
	u32 reg = unc_ctl_reg(box->type, ctr);
	u64 en = box->type->layout->en;

	if (box->type->quirks & UNC_QUIRK_WRITE_TWICE) {
		if (!box->frozen && (value & en))
			unc_write_twice(box, reg, value & ~en);
		unc_write_twice(box, reg, value);
	} else {
		unc_write(box, reg, value);
	}
	box->ctr[ctr].ctl = value;
}

/**
 * unc_write_filter() - program a filter register
 * @box: the box
 * @i: index into the type's table
 * @value: its new value
 */
void unc_write_filter(struct unc_box *box, unsigned int i, u32 value)
{
	const struct unc_type *type = box->type;

	box->filter[i] = value;
	if (!box->dead)
		type->space->write_filter(box, type->filters[i].reg, value);
}

/* Set the bits that @value has more than @from, one a write, the highest first. */
static void unc_step_box_ctl(struct unc_box *box, u32 from, u32 value)
{
	u32 step = from & value;
	u32 more = value & ~step;

	/* bits 17:16 must be 1 in every write, so they come first */
	while (more) {
		u32 bit = BIT(fls(more) - 1);

		step |= bit;
		more &= ~bit;
		unc_try_write(box, box->type->box_ctl, step);
	}
}

/**
 * unc_write_box_ctl() - write the box control register
 * @box: the box; one that has the register
 * @value: bits of its layout, but those that are always 1
 */
void unc_write_box_ctl(struct unc_box *box, u32 value)
{
	u32 reg = box->type->box_ctl;
	u32 base = box->type->box_ctl_base;

	value |= base;
	if (!(box->type->quirks & UNC_QUIRK_STEPWISE)) {
		unc_write(box, reg, value);
	} else {
		/* it cannot be read: see whether the constant bits are set */
		if (!box->box_ctl_known) {
			if (unc_try_write(box, reg, base))
				unc_step_box_ctl(box, 0, base);
			box->box_ctl = base;
		}
		if (value & ~box->box_ctl)
			unc_step_box_ctl(box, box->box_ctl, value);
		else
			unc_write(box, reg, value);
	}
	box->box_ctl_known = true;
	box->box_ctl = value;
}

/**
 * unc_clear_status() - clear all overflow bits of a box
 * @box: the box
 */
void unc_clear_status(struct unc_box *box)
{
	if (box->type->status)
		unc_write(box, box->type->status, box->type->status_mask);
}

/**
 * unc_box_reachable() - can its registers be accessed?
 * @box: the box
 */
bool unc_box_reachable(const struct unc_box *box)
{
	return !box->dead && (box->pdev || !box->type->space->map);
}

/**
 * unc_box_present() - does the box answer at all?
 * @box: the box
 */
bool unc_box_present(struct unc_box *box)
{
	return box->type->space->present(box);
}

/* Give counter 0 as many ones as it takes: bits that it lacks may fault. */
static void unc_write_ones(struct unc_box *box)
{
	u32 reg = unc_ctr_reg(box->type, 0);
	unsigned int bits = box->type->bits;

	if (!box->type->space->try_write) {
		unc_write_counter(box, 0, GENMASK_ULL(bits - 1, 0));
		return;
	}
	while (unc_try_write(box, reg, GENMASK_ULL(bits - 1, 0)) && bits > 32)
		bits--;
}

/**
 * unc_probe_box() - see how wide a box's counters are
 * @box: the box, frozen, its control registers clear
 *
 * Public sources disagree on 44 or 48 bits, so counter 0 is given all ones to
 * see which of them it keeps.  Leaves the counter at that.
 *
 * Return: 0, or -ENODEV when it keeps nothing.
 */
int unc_probe_box(struct unc_box *box)
{
	unsigned int documented = box->type->bits;
	struct unc_slot probe = { .ctr = 0 };
	u64 kept;

	box->bits = documented;
	unc_write_ones(box);
	/* a hypervisor may read absent MSRs as 0 and ignore writes */
	if (!unc_read_counter(box, &probe, &kept) || !kept)
		return -ENODEV;
	box->bits = fls64(kept);
	box->kept = 0;
	if (kept != GENMASK_ULL(documented - 1, 0) >> (documented - box->bits) ||
	    (box->bits <= 32 && box->bits != documented)) {
		/* reported where a message may be printed */
		box->kept = kept;
		box->bits = documented;
	}
	return 0;
}

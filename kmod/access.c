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
#include "access.h"
#include "lock.h"

static u32 unc_ctl_reg(const struct unc_box *box, unsigned int ctr)
{
	if (ctr == UNC_FIXED)
		return box->type->regs.fixed_ctl;
	return box->type->regs.ctl[box->io.first + ctr];
}

static u32 unc_ctr_reg(const struct unc_box *box, unsigned int ctr)
{
	const struct unc_type *type = box->type;

	if (ctr == UNC_FIXED)
		return type->regs.fixed_ctr;
	if (ctr >= UNC_FREERUN0)
		return type->freerun[ctr - UNC_FREERUN0].reg;
	return (box->probed.other_ctr ? type->regs.moved.ctr : type->regs.ctr)[box->io.first + ctr];
}

/* Width of a counter. */
unsigned int unc_access_bits(const struct unc_box *box, unsigned int ctr)
{
	if (ctr >= UNC_FREERUN0)
		return box->type->freerun[ctr - UNC_FREERUN0].bits;
	return ctr == UNC_FIXED ? box->probed.fixed_bits : box->probed.bits;
}

static u64 unc_counter_mask(const struct unc_box *box, unsigned int ctr)
{
	return GENMASK_ULL(unc_access_bits(box, ctr) - 1, 0);
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

/*
 * Read what a slot's counter holds.  Returns false when the box is, or just turned out
 * to be, dead.
 */
bool unc_access_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value)
{
	u32 reg = unc_ctr_reg(box, slot->ctr);
	u64 mask = unc_counter_mask(box, slot->ctr);
	u64 before = ktime_get_boot_fast_ns();

	if (box->dead ||
	    !box->type->space->read_counter(box, reg, slot, mask, value))
		return false;
	*value &= mask;
	slot->stamp = before;
	return true;
}

/* Set a counter. */
void unc_access_write_counter(struct unc_box *box, unsigned int ctr, u64 value)
{
	u32 reg = unc_ctr_reg(box, ctr);

	if (box->dead)
		return;
	if (box->type->layout->count)
		value |= box->ctr[ctr].ctl;
	box->type->space->write_counter(box, reg, value);
}

/* What a control register holds, as others have left it. */
u64 unc_access_read_ctl(struct unc_box *box, unsigned int ctr)
{
	u32 reg = unc_ctl_reg(box, ctr);

	return box->type->space->read(box, reg) & ~box->type->layout->count;
}

/* A register is one that must be written twice with the same value. */
static void unc_write_twice(struct unc_box *box, u32 reg, u32 value)
{
	unc_write(box, reg, value);
	unc_write(box, reg, value);
}

/* Does a counter of the box count as soon as its registers let it? */
static bool unc_has_enabled(const struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; ctr < box->type->general; ctr++) {
		if (box->ctr[ctr].ctl & box->type->layout->en)
			return true;
	}
	return false;
}

/*
 * Bring the box control up to date that the boxes of a function share.  It
 * freezes all of them, so it is set only while one of them is frozen that has a
 * counter enabled: a box without one does not count anyway.
 */
static void unc_write_shared_ctl(struct unc_box *box)
{
	struct unc_function *f = box->io.function;
	const struct unc_type *type = box->type;
	u32 frz = type->layout->frz, bit = BIT(box->index % type->pci.in_function);
	u32 frozen;

	if (box->dead)
		return;
	unc_lock_raw(&f->lock);
	frozen = f->frozen & ~bit;
	if ((box->hw.box_ctl & frz) && unc_has_enabled(box))
		frozen |= bit;
	if (!box->hw.box_ctl_known || !frozen != !f->frozen)
		unc_write(box, type->regs.box_ctl,
			  type->regs.box_ctl_base | (frozen ? frz : 0));
	f->frozen = frozen;
	unc_lock_raw_release(&f->lock);
	box->hw.box_ctl_known = true;
}

/*
 * Program a counter.  Where the count is in the same register, it is 0 then.  Where it
 * takes two writes, a counter in a box that runs must not count what the first one may
 * have left, so it is given its event before it is enabled. A shared box control is
 * frozen before a counter is enabled, and not unfrozen before it is disabled.
 */
void unc_access_write_ctl(struct unc_box *box, unsigned int ctr, u64 value)
{
	u32 reg = unc_ctl_reg(box, ctr);
	u64 en = box->type->layout->en;

	if (box->io.function && (value & en)) {
		box->ctr[ctr].ctl = value;
		unc_write_shared_ctl(box);
	}
	if (box->type->quirks & UNC_QUIRK_WRITE_TWICE) {
		if (!box->hw.frozen && (value & en))
			unc_write_twice(box, reg, value & ~en);
		unc_write_twice(box, reg, value);
	} else {
		unc_write(box, reg, value);
	}
	box->ctr[ctr].ctl = value;
	if (box->io.function && !(value & en))
		unc_write_shared_ctl(box);
}

/* How many filter registers a box has. */
unsigned int unc_access_num_filters(const struct unc_type *type)
{
	unsigned int n = 0;

	while (type->filter.regs && type->filter.regs[n].reg)
		n++;
	return n;
}

/* Program a filter register. */
void unc_access_write_filter(struct unc_box *box, unsigned int i, u32 value)
{
	const struct unc_type *type = box->type;

	box->filter[i] = value;
	if (!box->dead)
		type->space->write_filter(box, type->filter.regs[i].reg, value);
}

/*
 * Write @value where no write may set two bits: a register that holds @from gets its new
 * bits one a write, the highest first, as bits 17:16 must be 1 in every write.  Returns
 * an error if a write faults, which has changed nothing then.
 */
static int unc_step_box_ctl(struct unc_box *box, u32 from, u32 value)
{
	u32 step = from & value;
	u32 more = value & ~step;
	int err;

	do {
		u32 bit = more ? BIT(fls(more) - 1) : 0;

		step |= bit;
		more &= ~bit;
		err = unc_try_write(box, box->type->regs.box_ctl, step);
	} while (more && !err);
	return err;
}

/*
 * Write the box control register of a box that has one: bits of its layout, but those
 * that are always 1.
 */
void unc_access_write_box_ctl(struct unc_box *box, u32 value)
{
	u32 reg = box->type->regs.box_ctl;
	u32 base = box->type->regs.box_ctl_base;

	if (box->io.function) {
		box->hw.box_ctl = value;
		unc_write_shared_ctl(box);
		return;
	}
	value |= base;
	/* it cannot be read, and firmware or another program may have cleared bits */
	if (!(box->type->quirks & UNC_QUIRK_STEPWISE))
		unc_write(box, reg, value);
	else if (unc_step_box_ctl(box, box->hw.box_ctl_known ? box->hw.box_ctl : base, value))
		unc_step_box_ctl(box, 0, value);
	box->hw.box_ctl_known = true;
	box->hw.box_ctl = value;
}

/* Clear all overflow bits of a box. */
void unc_access_clear_status(struct unc_box *box)
{
	if (box->type->regs.status)
		unc_write(box, box->type->regs.status,
			  box->type->regs.status_mask << box->io.first);
}

/* Give a counter as many ones as it takes: bits that it lacks may fault. */
static void unc_write_ones(struct unc_box *box, unsigned int ctr)
{
	u32 reg = unc_ctr_reg(box, ctr);
	unsigned int bits = box->type->bits;

	if (!box->type->space->try_write) {
		unc_access_write_counter(box, ctr, GENMASK_ULL(bits - 1, 0));
		return;
	}
	while (unc_try_write(box, reg, GENMASK_ULL(bits - 1, 0)) && bits > 32)
		bits--;
}

/*
 * The width of counter @ctr, or 0 when it keeps nothing of all ones.  What it
 * keeps that makes no sense is reported where a message may be printed.
 */
static u8 unc_probe_width(struct unc_box *box, unsigned int ctr)
{
	unsigned int documented = box->type->bits, bits;
	struct unc_slot probe = { .ctr = ctr };
	u64 kept;

	unc_write_ones(box, ctr);
	if (!unc_access_read_counter(box, &probe, &kept) || !kept)
		return 0;
	bits = fls64(kept);
	if (kept == GENMASK_ULL(documented - 1, 0) >> (documented - bits) &&
	    (bits > 32 || bits == documented))
		return bits;
	box->probed.kept = kept;
	return documented;
}

#define UNC_PATTERN	0x5a5a5a5a

/* Is there a register that keeps what is written?  It is left as it was. */
static bool unc_keeps(struct unc_box *box, u32 reg)
{
	const struct unc_space *space = box->type->space;
	u64 before = space->read(box, reg);
	bool keeps;

	space->write(box, reg, UNC_PATTERN);
	keeps = space->read(box, reg) == UNC_PATTERN;
	space->write(box, reg, ~UNC_PATTERN);
	keeps &= space->read(box, reg) == (u32)~UNC_PATTERN;
	space->write(box, reg, before);
	return keeps;
}

/* Public sources disagree on where counters are: see which addresses have one. */
static void unc_probe_addresses(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	bool here, there;

	if (!type->regs.moved.only_old)
		return;
	here = unc_keeps(box, type->regs.moved.only_old);
	there = unc_keeps(box, type->regs.moved.only_new);
	box->probed.other_ctr = there && !here;
	box->probed.undecided = here == there;
}

/*
 * See where a box's counters are and how wide; the box is frozen, its control
 * registers are clear.
 *
 * Public sources disagree on 44 or 48 bits, so counter 0 and the fixed counter are
 * given all ones to see which of them they keep.  Leaves counter 0 at that.
 *
 * Returns 0, or -ENODEV when counter 0 keeps nothing.
 */
int unc_access_probe(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	u8 bits;

	box->probed.kept = 0;
	box->probed.bits = type->bits;
	box->probed.fixed_bits = type->bits;
	unc_probe_addresses(box);
	bits = unc_probe_width(box, 0);
	/* a hypervisor may read absent MSRs as 0 and ignore writes */
	if (!bits)
		return -ENODEV;
	box->probed.bits = bits;
	if (type->regs.fixed_ctl) {
		bits = unc_probe_width(box, UNC_FIXED);
		box->probed.fixed_bits = bits ?: type->bits;
		unc_access_write_counter(box, UNC_FIXED, 0);
	}
	return 0;
}

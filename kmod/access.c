// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses to a box's registers, in MSR or PCI space (struct unc_space).  Callers hold
 * the box's lock, have interrupts off, and run on a CPU of the box's package.  They are
 * never in an NMI: some accesses take a lock of the kernel, which the interrupted code
 * may hold.
 *
 * An access takes hundreds or thousands of cycles.  So the driver remembers the values
 * that it wrote to control registers, and reads these registers only at load and to
 * verify them (refresh.c).
 */
#include "access.h"
#include "lock.h"

static u32 unc_ctl_reg(const struct unc_box *box, unsigned int ctr)
{
	if (ctr == UNC_FIXED)
		return box->type->regs.fixed_ctl;
	return box->type->regs.ctl[box->io.first + ctr];
}

/* The space adds the box's place among the boxes of its type, but for a place of @f's own. */
static u32 unc_freerun_reg(const struct unc_box *box, const struct unc_freerun *f)
{
	return f->places ? f->reg + f->places[box->index] - box->io.place : f->reg;
}

static u32 unc_ctr_reg(const struct unc_box *box, unsigned int ctr)
{
	const struct unc_type *type = box->type;

	if (ctr == UNC_FIXED)
		return type->regs.fixed_ctr;
	if (ctr >= UNC_FREERUN0)
		return unc_freerun_reg(box, &type->freerun[ctr - UNC_FREERUN0]);
	return (box->probed.other_ctr ? type->regs.moved.ctr : type->regs.ctr)[box->io.first + ctr];
}

/**
 * unc_access_is_present() - check whether a box answers
 * @box: the box
 */
bool unc_access_is_present(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	u32 reg = type->regs.box_ctl;

	if (!reg)
		reg = type->general ? type->regs.ctl[0] : unc_ctr_reg(box, UNC_FREERUN0);
	return type->space->present(box, reg);
}

/**
 * unc_access_bits() - return the width of a counter in bits
 * @box: the box
 * @ctr: the counter
 */
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

/*
 * Write a register of a box that is not dead.  Returns 0, or a negative errno if the
 * write faults.
 */
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
 * unc_access_read_counter() - read the counter of a slot
 * @box: the box
 * @slot: the slot; gets the time of the read
 * @value: gets the counter's value
 *
 * Return: false when the box is dead, which the read may have found out.
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

/**
 * unc_access_write_counter() - set a counter
 * @box: the box
 * @ctr: the counter
 * @value: the counter's new value
 */
void unc_access_write_counter(struct unc_box *box, unsigned int ctr, u64 value)
{
	u32 reg = unc_ctr_reg(box, ctr);

	if (box->dead)
		return;
	/* the register has the control as well: write the control that it holds */
	if (box->type->layout->count)
		value |= box->ctr[ctr].ctl;
	box->type->space->write_counter(box, reg, value);
}

/**
 * unc_access_read_ctl() - read a counter's control, which other programs may have written
 * @box: the box
 * @ctr: the counter
 *
 * Return: the control, without the count if both share the register.
 */
u64 unc_access_read_ctl(struct unc_box *box, unsigned int ctr)
{
	u32 reg = unc_ctl_reg(box, ctr);

	return box->type->space->read_ctl(box, reg) & ~box->type->layout->count;
}

static void unc_write_ctl(struct unc_box *box, u32 reg, u64 value)
{
	if (!box->dead)
		box->type->space->write_ctl(box, reg, value);
}

/* Write a control that takes a value only when the value is written twice. */
static void unc_write_ctl_twice(struct unc_box *box, u32 reg, u64 value)
{
	unc_write_ctl(box, reg, value);
	unc_write_ctl(box, reg, value);
}

/* Check whether a general counter of the box is enabled. */
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
 * Write the box control that all boxes of a PCI function share.  Its freeze bit stops all
 * of these boxes.  So the bit is set only while one of the boxes that is frozen has an
 * enabled counter.  A frozen box without enabled counters does not need the bit.
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

/**
 * unc_access_write_ctl() - write the control of a counter
 * @box: the box
 * @ctr: the counter
 * @value: the control's new value
 *
 * Clears the count where control and count share a register.
 *
 * A control that takes two writes may hold a mix of old and new value between them.  In
 * a box that counts, such a control is written without its enable bit first.
 *
 * The shared box control of a frozen box is frozen before a counter is enabled, and
 * stays frozen until the counter is disabled.
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
			unc_write_ctl_twice(box, reg, value & ~en);
		unc_write_ctl_twice(box, reg, value);
	} else {
		unc_write_ctl(box, reg, value);
	}
	box->ctr[ctr].ctl = value;
	if (box->io.function && !(value & en))
		unc_write_shared_ctl(box);
}

/**
 * unc_access_num_filters() - return the number of filter registers of a box type
 * @type: the box type
 */
unsigned int unc_access_num_filters(const struct unc_type *type)
{
	unsigned int n = 0;

	while (type->filter.regs && type->filter.regs[n].reg)
		n++;
	return n;
}

/**
 * unc_access_write_filter() - write a filter register
 * @box: the box
 * @i: index of the filter register
 * @value: the register's new value
 */
void unc_access_write_filter(struct unc_box *box, unsigned int i, u32 value)
{
	const struct unc_type *type = box->type;

	box->filter[i] = value;
	if (!box->dead)
		type->space->write_filter(box, type->filter.regs[i].reg, value);
}

/*
 * Change a box control from @from to @value where no write may set two bits.  Each write
 * sets one more bit, the highest first, as bits 17:16 must be 1 in every write.  Returns
 * a negative errno if a write faults; that write has changed nothing.
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

/**
 * unc_access_write_box_ctl() - write the box control
 * @box: a box that has a box control
 * @value: bits of the box type's layout, without the bits that must always be 1
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
	/*
	 * Write in steps from the value that the register holds.  The register cannot be
	 * read.  A write that faults shows that firmware or another program has cleared
	 * bits: then begin with no bit set.
	 */
	if (!(box->type->quirks & UNC_QUIRK_STEPWISE))
		unc_write(box, reg, value);
	else if (unc_step_box_ctl(box, box->hw.box_ctl_known ? box->hw.box_ctl : base, value))
		unc_step_box_ctl(box, 0, value);
	box->hw.box_ctl_known = true;
	box->hw.box_ctl = value;
}

/**
 * unc_access_clear_status() - clear all overflow bits of a box
 * @box: the box
 */
void unc_access_clear_status(struct unc_box *box)
{
	if (box->type->regs.status)
		unc_write(box, box->type->regs.status,
			  box->type->regs.status_mask << box->io.first);
}

/*
 * Set all bits of a counter.  A write of more bits than the counter has may fault, so
 * after a fault a write with one bit less is tried.
 */
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
 * Find the width of counter @ctr in bits: set all bits, and see which bits the counter
 * keeps.  Returns 0 when the counter keeps no bit.
 *
 * If the kept bits are not a plausible width, the width is the documented one, and the
 * value is stored for a message: no message is printed with the box's lock held.
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

/* Check whether a register keeps written values.  Restores the register's old value. */
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

/* Find the addresses of the counters, on which public sources disagree. */
static void unc_probe_addresses(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	bool here, there;	/* which of the two address tables the registers fit */

	if (!type->regs.moved.only_old)
		return;
	here = unc_keeps(box, type->regs.moved.only_old);
	there = unc_keeps(box, type->regs.moved.only_new);
	box->probed.other_ctr = there && !here;
	box->probed.undecided = here == there;
}

/* Return whether a free-running counter of a box has counted since the power came on. */
static bool unc_has_counted(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	unsigned int i;

	for (i = 0; i < type->num_freerun; i++)
		if (type->space->read(box, unc_ctr_reg(box, UNC_FREERUN0 + i)))
			return true;
	return false;
}

/**
 * unc_access_probe() - find the addresses and the width of a box's counters
 * @box: the box, which is frozen, and whose controls are clear
 *
 * Public sources disagree on 44 or 48 bits.  So all bits of counter 0 and of the fixed
 * counter are set, and read back.  The fixed counter is cleared again, counter 0 is not:
 * the caller clears it.
 *
 * Return: 0, or -ENODEV when the box has a counter 0 that keeps no bit, or has free-running
 * counters alone, which are all 0.
 */
int unc_access_probe(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	u8 bits;

	box->probed.kept = 0;
	box->probed.bits = type->bits;
	box->probed.fixed_bits = type->bits;
	/* a hypervisor may read absent MSRs as 0 and ignore writes */
	if (type->general) {
		unc_probe_addresses(box);
		bits = unc_probe_width(box, 0);
		if (!bits)
			return -ENODEV;
		box->probed.bits = bits;
	} else if (!unc_has_counted(box)) {
		return -ENODEV;
	}
	if (type->regs.fixed_ctl) {
		bits = unc_probe_width(box, UNC_FIXED);
		box->probed.fixed_bits = bits ?: type->bits;
		unc_access_write_counter(box, UNC_FIXED, 0);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register access.  Every function here is called with the box's lock held and
 * interrupts off, on a CPU of the box's package, and never in an NMI:
 * configuration space that is not memory-mapped takes pci_config_lock, which the
 * interrupted code may hold.
 *
 * An MSR access costs hundreds of cycles, a PCI one about a microsecond through
 * the ports and less in memory.  So nothing here reads a control register back,
 * except once at load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/pci.h>

#include "xeon_uncore.h"
#include "compat.h"

static u32 unc_msr(const struct unc_box *box, u32 reg)
{
	return reg + box->index * box->type->stride;
}

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

static u32 unc_config_read(struct pci_dev *pdev, void __iomem *regs, u32 reg)
{
	u32 value;

	if (regs)
		return readl(regs + reg);
	/* what cannot be read reads all ones */
	pci_read_config_dword(pdev, reg, &value);
	return value;
}

static void unc_config_write(struct pci_dev *pdev, void __iomem *regs, u32 reg,
			     u32 value)
{
	if (regs)
		writel(value, regs + reg);
	else
		pci_write_config_dword(pdev, reg, value);
}

static u32 unc_pci_read(struct unc_box *box, u32 reg)
{
	return unc_config_read(box->pdev, box->regs, reg);
}

static void unc_pci_write(struct unc_box *box, u32 reg, u32 value)
{
	unc_config_write(box->pdev, box->regs, reg, value);
}

/* Returns 0, or -EIO for an MSR that faults. */
static int unc_write_safe(struct unc_box *box, u32 reg, u32 value)
{
	if (box->dead)
		return 0;
	if (box->type->space == UNC_MSR)
		return wrmsrq_safe(unc_msr(box, reg), value);
	unc_pci_write(box, reg, value);
	return 0;
}

static void unc_write(struct unc_box *box, u32 reg, u64 value)
{
	if (box->dead)
		return;
	if (box->type->space == UNC_MSR)
		wrmsrq(unc_msr(box, reg), value);
	else
		unc_pci_write(box, reg, lower_32_bits(value));
}

static void unc_report_gone(struct irq_work *work)
{
	struct unc_box *box = container_of(work, struct unc_box, gone);

	pci_warn(box->pdev,
		 "%s of package %d stopped answering: its events stay at their last count; reload %s once it is back\n",
		 box->name, box->pkg->phys_id, KBUILD_MODNAME);
}

/**
 * unc_init_gone() - prepare the report of a box that stops answering
 * @box: the box
 *
 * It is made from an interrupt of its own: who reads a counter may be a BPF
 * program that the scheduler runs with a run queue locked, and a message may
 * wake somebody.
 */
void unc_init_gone(struct unc_box *box)
{
	init_irq_work(&box->gone, unc_report_gone);
}

/* A function that is gone reads all ones everywhere, its IDs included. */
static bool unc_pci_gone(struct unc_box *box)
{
	if (unc_pci_read(box, PCI_VENDOR_ID) == U32_MAX) {
		box->dead = true;
		irq_work_queue(&box->gone);
	}
	return box->dead;
}

/*
 * Put together the 64 bits of a counter whose low half is @lo, by reading the
 * high half as well.  A counter that runs may carry in between.
 */
static bool unc_read_high(struct unc_box *box, u32 reg, u32 lo, u64 *value)
{
	u32 hi, again;

	for (;;) {
		hi = unc_pci_read(box, reg + 4);
		if (hi == U32_MAX && unc_pci_gone(box))
			return false;
		if (box->frozen || box->still)
			break;
		again = unc_pci_read(box, reg);
		if (again >= lo)
			break;
		lo = again;
	}
	*value = (u64)hi << 32 | lo;
	return true;
}

/**
 * unc_read_counter() - read what a slot's counter holds
 * @box: the box
 * @slot: the slot; its stamp is renewed
 * @value: where to put the value
 *
 * The high half of a PCI counter is read only when the low one may have gone
 * round since the last read.
 *
 * Return: false when the box is, or just turned out to be, dead.
 */
bool unc_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value)
{
	u32 reg = unc_ctr_reg(box->type, slot->ctr);
	u64 mask = unc_counter_mask(box, slot->ctr);
	u64 before = ktime_get_mono_fast_ns();
	u32 lo;

	if (box->dead)
		return false;
	if (box->type->space == UNC_MSR) {
		rdmsrq(unc_msr(box, reg), *value);
	} else {
		lo = unc_pci_read(box, reg);
		if (lo == U32_MAX && unc_pci_gone(box))
			return false;
		if (mask == U32_MAX)
			*value = lo;
		else if (slot->stamp && ktime_get_mono_fast_ns() -
					slot->stamp < slot->low_ns)
			*value = slot->raw + (u32)(lo - (u32)slot->raw);
		else if (!unc_read_high(box, reg, lo, value))
			return false;
	}
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
	if (box->type->space == UNC_MSR) {
		wrmsrq(unc_msr(box, reg), value);
	} else {
		unc_pci_write(box, reg, lower_32_bits(value));
		unc_pci_write(box, reg + 4, upper_32_bits(value));
	}
}

/**
 * unc_read_ctl() - what a control register holds, as others have left it
 * @box: the box
 * @ctr: general or fixed counter
 */
u64 unc_read_ctl(struct unc_box *box, unsigned int ctr)
{
	u32 reg = unc_ctl_reg(box->type, ctr);
	u64 value = 0;

	if (box->type->space == UNC_PCI)
		value = unc_pci_read(box, reg);
	else
		rdmsrq_safe(unc_msr(box, reg), &value);
	return value & ~box->type->layout->count;
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
 *
 * Where the filters are in a PCI function of their own that is absent, nothing
 * is written; event_init refuses events that need them.
 */
void unc_write_filter(struct unc_box *box, unsigned int i, u32 value)
{
	u32 reg = box->type->filters[i].reg;

	box->filter[i] = value;
	if (!box->type->filters_apart)
		unc_write(box, reg, value);
	else if (box->filter_pdev && !box->dead)
		unc_config_write(box->filter_pdev, box->filter_regs, reg,
				 value);
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
		unc_write_safe(box, box->type->box_ctl, step);
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
			if (unc_write_safe(box, reg, base))
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
 * unc_box_present() - does the box answer at all?
 * @box: the box
 *
 * Absent MSRs fault.
 */
bool unc_box_present(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	u64 value;

	if (type->space == UNC_PCI)
		return box->pdev && !unc_pci_gone(box);
	return !rdmsrq_safe(unc_msr(box, type->box_ctl ?: type->ctl[0]), &value);
}

/* Give counter 0 as many ones as it takes: bits that it lacks may fault. */
static void unc_write_ones(struct unc_box *box)
{
	unsigned int bits = box->type->bits;

	if (box->type->space == UNC_PCI) {
		unc_write_counter(box, 0, GENMASK_ULL(bits - 1, 0));
		return;
	}
	while (wrmsrq_safe(unc_msr(box, unc_ctr_reg(box->type, 0)),
			   GENMASK_ULL(bits - 1, 0)) && bits > 32)
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

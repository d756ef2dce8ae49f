// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boxes with registers in the configuration space of a PCI function, which may be
 * removed.  An access takes no lock where pci.c has mapped that space.  Elsewhere an
 * access takes about a microsecond, and the lock of the machine's two ports.
 */
#include <linux/io.h>
#include <linux/pci.h>

#include "report.h"

/* Most reads of the high half of a counter whose low half decreases at each read. */
#define UNC_CARRIES	4

static u32 unc_config_read(struct pci_dev *pdev, void __iomem *regs, u32 reg)
{
	u32 value;

	if (regs)
		return readl(regs + reg);
	/* all ones, if the read fails */
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

static u64 unc_pci_read(struct unc_box *box, u32 reg)
{
	return unc_config_read(box->io.pdev, box->io.regs, reg);
}

static void unc_pci_write(struct unc_box *box, u32 reg, u64 value)
{
	unc_config_write(box->io.pdev, box->io.regs, reg, lower_32_bits(value));
}

/* Check whether the controls of a box's counters have 64 bits. */
static bool unc_pci_has_wide_ctl(const struct unc_box *box)
{
	return upper_32_bits(box->type->regs.ctl_mask);
}

static u64 unc_pci_read_ctl(struct unc_box *box, u32 reg)
{
	u64 ctl = unc_pci_read(box, reg);

	if (unc_pci_has_wide_ctl(box))
		ctl |= unc_pci_read(box, reg + 4) << 32;
	return ctl;
}

/* The enable bit is in the lower half. */
static void unc_pci_write_ctl(struct unc_box *box, u32 reg, u64 value)
{
	bool enable = value & box->type->layout->en;
	bool wide = unc_pci_has_wide_ctl(box);

	if (wide && enable)
		unc_pci_write(box, reg + 4, upper_32_bits(value));
	unc_pci_write(box, reg, value);
	if (wide && !enable)
		unc_pci_write(box, reg + 4, upper_32_bits(value));
}

/* A removed function reads all ones everywhere, its IDs included. */
static bool unc_pci_gone(struct unc_box *box)
{
	if (unc_pci_read(box, PCI_VENDOR_ID) == U32_MAX)
		unc_report_dead(box);
	return box->dead;
}

static bool unc_pci_present(struct unc_box *box, u32 reg)
{
	return box->io.pdev && !unc_pci_gone(box);
}

/*
 * Write a filter, unless it is in a separate function that is absent: event_init
 * refuses events that need such a filter.
 */
static void unc_pci_write_filter(struct unc_box *box, u32 reg, u64 value)
{
	if (!box->type->filter.apart)
		unc_pci_write(box, reg, value);
	else if (box->io.filter_pdev)
		unc_config_write(box->io.filter_pdev, box->io.filter_regs, reg,
				 lower_32_bits(value));
}

/*
 * Read the high half of a counter whose low half has just read @lo.  Returns both halves.
 *
 * Between the two reads a running counter may carry from the low to the high half.  Then
 * the low half has decreased, and the high half is read again.  A counter carries at most
 * about once a second.  So a low half that decreases again was written by another
 * program, or the hardware is broken: the number of tries is limited.
 */
static bool unc_read_high(struct unc_box *box, u32 reg, u32 lo, u64 *value)
{
	u32 hi, again;
	int tries;

	for (tries = 0; tries < UNC_CARRIES; tries++) {
		hi = unc_pci_read(box, reg + 4);
		if (hi == U32_MAX && unc_pci_gone(box))
			return false;
		if (box->hw.frozen)
			break;
		again = unc_pci_read(box, reg);
		if (again >= lo)
			break;
		lo = again;
	}
	*value = (u64)hi << 32 | lo;
	return true;
}

/* Read a counter; its high half only if the low half may have wrapped since @slot->stamp. */
static bool unc_pci_read_counter(struct unc_box *box, u32 reg,
				 const struct unc_slot *slot, u64 mask,
				 u64 *value)
{
	u32 lo = unc_pci_read(box, reg);

	if (lo == U32_MAX && unc_pci_gone(box))
		return false;
	if (mask == U32_MAX)
		*value = lo;
	else if (slot->stamp && ktime_get_boot_fast_ns() - slot->stamp <
				slot->low_ns)
		*value = slot->raw + (u32)(lo - (u32)slot->raw);
	else if (!unc_read_high(box, reg, lo, value))
		return false;
	return true;
}

static void unc_pci_write_counter(struct unc_box *box, u32 reg, u64 value)
{
	unc_pci_write(box, reg, value);
	unc_pci_write(box, reg + 4, value >> 32);
}

const struct unc_space unc_space_pci = {
	.pci		= true,
	.present	= unc_pci_present,
	.read		= unc_pci_read,
	.write		= unc_pci_write,
	.read_ctl	= unc_pci_read_ctl,
	.write_ctl	= unc_pci_write_ctl,
	.write_filter	= unc_pci_write_filter,
	.read_counter	= unc_pci_read_counter,
	.write_counter	= unc_pci_write_counter,
};

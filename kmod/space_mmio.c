// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boxes with registers in memory, at an address that a PCI function has.  An access takes no
 * lock.  A counter is read by one load of 64 bits, and all else is written in 32 bits, as
 * intel_uncore does.  The function may be removed, and then the registers read all ones.
 */
#include <linux/io.h>

#include "report.h"

static u64 unc_mmio_read(struct unc_box *box, u32 reg)
{
	return readl(box->io.regs + reg);
}

static void unc_mmio_write(struct unc_box *box, u32 reg, u64 value)
{
	writel(lower_32_bits(value), box->io.regs + reg);
}

static bool unc_mmio_present(struct unc_box *box, u32 reg)
{
	return box->io.regs && readl(box->io.regs + reg) != U32_MAX;
}

/* A counter has 48 bits, so one that reads all ones is not there. */
static bool unc_mmio_read_counter(struct unc_box *box, u32 reg,
				  const struct unc_slot *slot, u64 mask,
				  u64 *value)
{
	*value = readq(box->io.regs + reg);
	if (*value == U64_MAX)
		unc_report_dead(box);
	return !box->dead;
}

static void unc_mmio_write_counter(struct unc_box *box, u32 reg, u64 value)
{
	unc_mmio_write(box, reg, value);
	unc_mmio_write(box, reg + 4, upper_32_bits(value));
}

const struct unc_space unc_space_mmio = {
	.pci		= true,
	.present	= unc_mmio_present,
	.read		= unc_mmio_read,
	.write		= unc_mmio_write,
	.read_ctl	= unc_mmio_read,
	.write_ctl	= unc_mmio_write,
	.write_filter	= unc_mmio_write,
	.read_counter	= unc_mmio_read_counter,
	.write_counter	= unc_mmio_write_counter,
};

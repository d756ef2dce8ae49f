// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boxes with registers in MSRs, which each package has.  An access takes hundreds of
 * cycles and no lock.  An access to an MSR that the box lacks faults.
 */
#include "compat.h"
#include "state.h"

static u32 unc_msr(const struct unc_box *box, u32 reg)
{
	return reg + box->io.place;
}

static bool unc_msr_present(struct unc_box *box, u32 reg)
{
	u64 value;

	return !rdmsrq_safe(unc_msr(box, reg), &value);
}

static u64 unc_msr_read(struct unc_box *box, u32 reg)
{
	u64 value = 0;

	rdmsrq_safe(unc_msr(box, reg), &value);
	return value;
}

static void unc_msr_write(struct unc_box *box, u32 reg, u64 value)
{
	wrmsrq(unc_msr(box, reg), value);
}

/* Sources of some generations do not say whether a part has a filter that its kin has. */
static void unc_msr_write_filter(struct unc_box *box, u32 reg, u64 value)
{
	wrmsrq_safe(unc_msr(box, reg), value);
}

static int unc_msr_try_write(struct unc_box *box, u32 reg, u64 value)
{
	return wrmsrq_safe(unc_msr(box, reg), value);
}

static bool unc_msr_read_counter(struct unc_box *box, u32 reg,
				 const struct unc_slot *slot, u64 mask,
				 u64 *value)
{
	rdmsrq(unc_msr(box, reg), *value);
	return true;
}

const struct unc_space unc_space_msr = {
	.present	= unc_msr_present,
	.read		= unc_msr_read,
	.write		= unc_msr_write,
	.read_ctl	= unc_msr_read,
	.write_ctl	= unc_msr_write,
	.try_write	= unc_msr_try_write,
	.write_filter	= unc_msr_write_filter,
	.read_counter	= unc_msr_read_counter,
	.write_counter	= unc_msr_write,
};

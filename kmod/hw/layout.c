// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bits of control registers that several generations share.  Sections are those of
 * Intel's uncore manual 331051 and of the SDM, volume 3B.
 */
#include "hw.h"

#define CTL_EVENT	GENMASK_ULL(7, 0)
#define CTL_EDGE	BIT_ULL(18)
#define CTL_OV_EN	BIT_ULL(20)
#define CTL_EXT		BIT_ULL(21)
#define CTL_EN		BIT_ULL(22)
#define CTL_INV		BIT_ULL(23)

/* Tables 2-7 and 2-14 and those like them; Sandy Bridge has no .ov_en */
const struct unc_layout unc_layout_e5 = {
	.event	= CTL_EVENT,
	.ext	= CTL_EXT,
	.thresh	= GENMASK_ULL(31, 24),
	.edge	= CTL_EDGE,
	.invert	= CTL_INV,
	.en	= CTL_EN,
	.ov_en	= CTL_OV_EN,
	.frz	= BIT(8),
	.rst	= GENMASK(1, 0),
};

/* Table 2-158: occupancy events have separate edge and invert bits */
const struct unc_layout unc_layout_e5_pcu = {
	.event	= CTL_EVENT,
	.ext	= CTL_EXT,
	.thresh	= GENMASK_ULL(28, 24),
	.edge	= CTL_EDGE | BIT_ULL(31),
	.invert	= CTL_INV | BIT_ULL(30),
	.en	= CTL_EN,
	.ov_en	= CTL_OV_EN,
	.frz	= BIT(8),
	.rst	= GENMASK(1, 0),
};

/*
 * SDM §18.24: the upper half of a counter's register is the control, all of whose bits
 * select what is counted, and the lower half is the count.  Saturation, bit 59, is not
 * offered: a count that stops at its end cannot be extended.
 */
const struct unc_layout unc_layout_joint = { .count = U32_MAX };

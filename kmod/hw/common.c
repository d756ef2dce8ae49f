// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables that several generations have alike: Ivy Bridge, Haswell and Broadwell,
 * or, where it is said, Sandy Bridge as well.  Sections are those of Intel's uncore
 * manual 331051.
 */
#include "hw.h"

#define E5_COMMON		\
	.event	= CTL_EVENT,	\
	.ext	= CTL_EXT,	\
	.en	= BIT_ULL(22),	\
	.ov_en	= BIT_ULL(20),	\
	.frz	= BIT(8),	\
	.rst	= BIT(1) | BIT(0)

/* Tables 2-7 and 2-14 and those like them; Sandy Bridge has no .ov_en */
const struct unc_layout unc_e5_layout = {
	E5_COMMON,
	.thresh	= CTL_THRESH8,
	.edge	= CTL_EDGE,
	.invert	= CTL_INV,
};

/* Table 2-158: occupancy events have separate edge and invert bits */
const struct unc_layout unc_e5_pcu_layout = {
	E5_COMMON,
	.thresh	= CTL_THRESH5,
	.edge	= CTL_EDGE | BIT_ULL(31),
	.invert	= CTL_INV | BIT_ULL(30),
};

/* Address and opcode to match, §2.5 */
const struct unc_filter_reg unc_ha_filters[] = {
	{ .reg = 0x40, .word = 1, .mask = GENMASK(31, 6) },
	{ .reg = 0x44, .word = 1, .shift = 32, .mask = GENMASK(13, 0) },
	{ .reg = 0x48, .word = 1, .shift = 48, .mask = GENMASK(5, 0) },
	{ }
};

/*
 * Tables 1-2, 2-163 and 2-164.  Residencies of a core, 0x3fc and 0x3fd, are each
 * core's own; the kernel's cstate_core has them.
 */
const struct unc_freerun unc_package_residencies[4] = {
	{ .umask = 0x12, .bits = 64, .reg = 0x60d },	/* C2 */
	{ .umask = 0x13, .bits = 64, .reg = 0x3f8 },	/* C3 */
	{ .umask = 0x14, .bits = 64, .reg = 0x3f9 },	/* C6 */
	{ }
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables that Xeon 7100 and 7400 share, for a generation's file to include
 * once it has defined
 *
 *	OF(box, what)	its generated table, such as xeon7100_gbsq_events
 *	UP(box, what)	its generated macro, such as XEON7100_GBSQ_BOXES
 *	GBSQ_CTL	bits of a GBSQ control
 *	GSNPQ_CTL	bits of a GSNPQ control
 *
 * It gets FRONTSIDE_COMMON, which is the rest of struct unc_generation.  Sections
 * are those of the SDM, volume 3B, "Performance monitoring on Intel Xeon processor
 * 7100 and 7400 series".  Saturation, bit 59, is not offered: a count that
 * stops at its end cannot be extended.
 */

/* MSR_EMON_L3_GL_CTL, §18.24.5; its overflow bits are left alone */
#define GLOBAL_FREEZE		BIT(0)
#define GLOBAL_UNFREEZE		BIT(1)

/* §18.24.4: which sub-events, and a bit that must be set */
#define FSB_VALID		BIT_ULL(58)
#define FSB_CTL			(GENMASK_ULL(57, 32) | FSB_VALID)

/*
 * Of a counter's register the upper half is the control, all of whose bits say
 * what is counted, and the lower one the count.
 */
static const struct unc_layout joint_layout = { .count = U32_MAX };

#define BOX(box, BOX_)							\
	.name = #box, .space = &unc_space_msr,				\
	.layout = &joint_layout,					\
	.quirks = UNC_QUIRK_FREEZE_ALL,					\
	.max_boxes = UP(BOX_, BOXES), .bits = UP(BOX_, WIDTH),		\
	.regs.ctl = UP(BOX_, CONTROL), .regs.ctr = UP(BOX_, CONTROL),	\
	.max_inc = 1, EVENTS_OF(box)

static const struct unc_type box_types[] = {
	{
		BOX(gbsq, GBSQ), .general = 2, .regs.ctl_mask = GBSQ_CTL,
	}, {
		BOX(gsnpq, GSNPQ), .general = 2, .regs.ctl_mask = GSNPQ_CTL,
	}, {
		BOX(fsb, FSB), .general = 4, .regs.ctl_mask = FSB_CTL,
		.regs.ctl_must = FSB_VALID,
	},
};

#define FRONTSIDE_COMMON					\
	.types = box_types,					\
	.num_types = ARRAY_SIZE(box_types),			\
	.max_khz = 5000000,					\
	.global.ctl = UP(GLOBAL, CONTROL),			\
	.global.freeze = GLOBAL_FREEZE,				\
	.global.unfreeze = GLOBAL_UNFREEZE

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of Xeon 7100 and 7400: three groups of counters on the L3 cache and the
 * front-side bus. Sections are those of the SDM, volume 3B, "Performance monitoring on Intel
 * Xeon processor 7100 and 7400 series"; bits are those of the upper halves of the registers.
 *
 * The file of a generation includes this file after it has defined
 *
 * - WAVES(box): the table of events,
 * - GBSQ_AGENTS and GSNPQ_AGENTS: the bits of the fields agent_select,
 * - GSNPQ_CORES: the comparison of GSNPQ's core_select, enum model_filter_op.
 */
#ifndef XEON_UNCORE_SIM_HW_FRONTSIDE_H
#define XEON_UNCORE_SIM_HW_FRONTSIDE_H

#include "rows.h"

#define SATURATE	MODEL_BIT(27)
#define FSB_VALID	MODEL_BIT(26)
#define FSB_SUBEVENTS	0x03ffffffu

#define ROW_JOINT(where, i, fields, must) \
	{ .at = (where), .type = REG_JOINT, .index = (i), .keep = (fields), \
	  .zero = (u32)~(fields), .one = (must), .name = "ctl" #i }

#define CONDITION(how, what, at, bits) \
	{ .op = (how), .attr = (what), .shift = (at), .width = (bits) }

/* --- look-ups of the L3, §18.24.2 ------------------------------------------- */

#define GBSQ_CTL	(0x07fffff0u | GBSQ_AGENTS | SATURATE)

static const struct model_reg gbsq_regs[] = {
	ROW_JOINT(0x107cc, 0, GBSQ_CTL, 0),
	ROW_JOINT(0x107cd, 1, GBSQ_CTL, 0),
};

static const struct model_filter gbsq_filters[] = {
	CONDITION(FILTER_MEETS, ATTR_AGENT, 0, 4),
	CONDITION(FILTER_MEETS, ATTR_FLOW, 4, 2),
	CONDITION(FILTER_MEETS, ATTR_TYPE, 6, 6),
	CONDITION(FILTER_MEETS, ATTR_SNOOP, 12, 3),
	CONDITION(FILTER_MEETS, ATTR_STATE, 15, 7),
	CONDITION(FILTER_EQUAL_IF_SET, ATTR_CORE, 22, 2),
	CONDITION(FILTER_FILL, ATTR_FILL, 24, 2),
	CONDITION(FILTER_NEEDS, ATTR_CROSS, 26, 1),
};

/* --- snoops, §18.24.3 --------------------------------------------------------- */

#define GSNPQ_CTL	(0x03ffffc0u | GSNPQ_AGENTS | SATURATE)

static const struct model_reg gsnpq_regs[] = {
	ROW_JOINT(0x107ce, 0, GSNPQ_CTL, 0),
	ROW_JOINT(0x107cf, 1, GSNPQ_CTL, 0),
};

static const struct model_filter gsnpq_filters[] = {
	CONDITION(FILTER_MEETS, ATTR_AGENT, 0, 6),
	CONDITION(FILTER_MEETS, ATTR_TYPE, 6, 6),
	CONDITION(FILTER_MEETS, ATTR_SNOOP, 12, 3),
	CONDITION(FILTER_MEETS, ATTR_STATE, 15, 7),
	CONDITION(GSNPQ_CORES, ATTR_CORE, 22, 3),
	CONDITION(FILTER_NEEDS, ATTR_BLOCK, 25, 1),
};

/* --- the front-side bus, §18.24.4, and the common register, §18.24.5 ---------- */

#define FSB_CTL		(FSB_SUBEVENTS | FSB_VALID)

static const struct model_reg fsb_regs[] = {
	ROW_JOINT(0x107d0, 0, FSB_CTL, FSB_VALID),
	ROW_JOINT(0x107d1, 1, FSB_CTL, FSB_VALID),
	ROW_JOINT(0x107d2, 2, FSB_CTL, FSB_VALID),
	ROW_JOINT(0x107d3, 3, FSB_CTL, FSB_VALID),
	{ .at = 0x107d8, .type = REG_JOINT_GLOBAL, .name = "gl_ctl" },
};

/* .status_shift is the bit of a box's counter 0 in the fields of the common register. */
static const struct model_type box_types[] = {
	{
		.name = "gbsq", BOXES(1, 1), .counters = 2, .quirks = QUIRK_JOINT,
		.saturate = SATURATE, .status_shift = 0,
		.first = 0x107cc, .last = 0x107cd,
		TABLES(gbsq), FILTERS(gbsq),
	},
	{
		.name = "gsnpq", BOXES(1, 1), .counters = 2, .quirks = QUIRK_JOINT,
		.saturate = SATURATE, .status_shift = 2,
		.first = 0x107ce, .last = 0x107cf,
		TABLES(gsnpq), FILTERS(gsnpq),
	},
	{
		.name = "fsb", BOXES(1, 1), .counters = 4, .quirks = QUIRK_JOINT,
		.subevents = FSB_SUBEVENTS, .must = FSB_VALID,
		.status_shift = 4, .first = 0x107d0, .last = 0x107d8,
		TABLES(fsb),
	},
};

#define FRONTSIDE_COMMON \
	.counter_bits = 48, .freezes = true, \
	.types = box_types, .ntypes = MODEL_COUNT(box_types)

#endif

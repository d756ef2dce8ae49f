/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros for the tables of a generation: rows of registers, boxes and PCI functions. The
 * macros do not depend on the generation.
 */
#ifndef XEON_UNCORE_SIM_HW_ROWS_H
#define XEON_UNCORE_SIM_HW_ROWS_H

#include "model/priv.h"

/*
 * Fields of a counter's control register from Sandy Bridge to Broadwell. All boxes have the
 * same layout (§1.2), but some boxes lack a field, and the PCU's layout differs (below).
 */
#define CTL_EV_SEL		0x000000ffu
#define CTL_UMASK		0x0000ff00u
#define CTL_Q_OCC_RST		MODEL_BIT(16)	/* 329468, Table 2-40 */
#define CTL_RST			MODEL_BIT(17)
#define CTL_EDGE_DET		MODEL_BIT(18)
#define CTL_TID_EN		MODEL_BIT(19)
#define CTL_OV_EN		MODEL_BIT(20)
#define CTL_EV_SEL_EXT		MODEL_BIT(21)
#define CTL_EN			MODEL_BIT(22)
#define CTL_INVERT		MODEL_BIT(23)
#define CTL_THRESH_SHIFT	24

/* Fields of the PCU's control registers, Table 2-158 */
#define CTL_OCC_EVENT		MODEL_BIT(7)	/* in ev_sel */
#define CTL_OCC_SEL		0x0000c000u
#define CTL_OCC_INVERT		MODEL_BIT(30)
#define CTL_OCC_EDGE_DET	MODEL_BIT(31)

#define BOX_CTL_RST_CTRL	MODEL_BIT(0)
#define BOX_CTL_RST_CTRS	MODEL_BIT(1)
#define BOX_CTL_FRZ		MODEL_BIT(8)
#define BOX_CTL_FRZ_EN		MODEL_BIT(16)	/* 327043, Table 2-9 */

/* U_MSR_PMON_GLOBAL_CTL, Table 2-2 */
#define GLOBAL_CTL_UNFRZ_ALL	MODEL_BIT(29)
#define GLOBAL_CTL_WK_ON_PMI	MODEL_BIT(30)
#define GLOBAL_CTL_FRZ_ALL	MODEL_BIT(31)

#define BOX_CTL_LAYOUT \
	.rst_ctrl = BOX_CTL_RST_CTRL, .rst_ctrs = BOX_CTL_RST_CTRS, \
	.frz = BOX_CTL_FRZ
#define CTL_LAYOUT \
	.ev_sel = CTL_EV_SEL, .ev_sel_ext = CTL_EV_SEL_EXT, .umask = CTL_UMASK, \
	.q_occ_rst = CTL_Q_OCC_RST, .edge_det = CTL_EDGE_DET, .ov_en = CTL_OV_EN, \
	.en = CTL_EN, .invert = CTL_INVERT, .thresh_shift = CTL_THRESH_SHIFT

static const struct model_layout e5_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .frz_en = BOX_CTL_FRZ_EN,
};

/* The bits of the global control register that freeze, unfreeze and wake */
#define GLOBAL_CTL_BITS \
	.freezes = true, .frz_all = GLOBAL_CTL_FRZ_ALL, \
	.unfrz_all = GLOBAL_CTL_UNFRZ_ALL, .wk_on_pmi = GLOBAL_CTL_WK_ON_PMI

#define THRESH_8	(0xffu << CTL_THRESH_SHIFT)
#define THRESH_5	(0x1fu << CTL_THRESH_SHIFT)
#define BOX_CTL_WO	(BOX_CTL_FRZ | BOX_CTL_RST_CTRS | BOX_CTL_RST_CTRL)
#define BOX_CTL_ONE	0x00030000
#define BOX_CTL_RST	(BOX_CTL_RST_CTRS | BOX_CTL_RST_CTRL)

/*
 * Rows of register tables. @where is the address, @rsv the reserved bits, which must be
 * written as 0. In PCI space a counter has 8 bytes, and every other register 4. An MSR is
 * accessed as a whole, and its .bytes are not used.
 */
#define ROW_BOX_CTL(where, must) \
	{ .at = (where), .bytes = 4, .type = REG_BOX_CTL, .wo = BOX_CTL_WO, \
	  .one = (must), .name = "box_ctl" }
/* box control with .frz_en, without which .frz has no effect; @acts: bits with an effect */
#define ROW_BOX_CTL_EN(where, acts, rsv) \
	{ .at = (where), .bytes = 4, .type = REG_BOX_CTL, \
	  .wo = BOX_CTL_FRZ_EN | (acts), .zero = (rsv), .name = "box_ctl" }
#define ROW_STATUS(where, ov, rsv) \
	{ .at = (where), .bytes = 4, .type = REG_STATUS, .keep = (ov), \
	  .zero = (rsv), .name = "box_status" }
#define ROW_CTL(where, i, fields, rsv) \
	{ .at = (where), .bytes = 4, .type = REG_CTL, .index = (i), \
	  .keep = (fields), .wo = CTL_RST, .zero = (rsv), .name = "ctl" #i }
/* control with 64 bits in PCI space; @fields as in a control with 32 bits and above */
#define ROW_CTL_64(where, i, fields) \
	{ .at = (where), .bytes = 8, .type = REG_CTL, .index = (i), \
	  .keep = (fields), .wo = CTL_RST, .name = "ctl" #i }
#define ROW_CTR(where, i) \
	{ .at = (where), .bytes = 8, .type = REG_CTR, .index = (i), \
	  .name = "ctr" #i }
#define ROW_FIXED_CTL(where, fields, rst, rsv) \
	{ .at = (where), .bytes = 4, .type = REG_CTL, .index = MODEL_FIXED, \
	  .keep = (fields), .wo = (rst), .zero = (rsv), \
	  .name = "fixed_ctl" }
#define ROW_FIXED_CTR(where) \
	{ .at = (where), .bytes = 8, .type = REG_CTR, .index = MODEL_FIXED, \
	  .name = "fixed_ctr" }
#define ROW_FILTER(where, i, fields, rsv, text) \
	{ .at = (where), .bytes = 4, .type = REG_FILTER, .index = (i), \
	  .keep = (fields), .zero = (rsv), .name = (text) }
#define ROW_ABSENT(where) \
	{ .at = (where), .bytes = 4, .type = REG_ABSENT, .name = "absent" }
#define ROW_FREE(where, i, text) \
	{ .at = (where), .bytes = 4, .type = REG_FREE, .index = (i), \
	  .name = (text) }

/*
 * Registers of a box in PCI space: three or four counters and their control registers at
 * the usual offsets, and further rows
 */
#define PCI_REGS_3(table, fields, rsv, ...) \
	static const struct model_reg table[] = { \
		ROW_CTR(0xa0, 0), ROW_CTL(0xd8, 0, fields, rsv), \
		ROW_CTR(0xa8, 1), ROW_CTL(0xdc, 1, fields, rsv), \
		ROW_CTR(0xb0, 2), ROW_CTL(0xe0, 2, fields, rsv), \
		__VA_ARGS__ \
	}
#define PCI_REGS_4(table, fields, rsv, ...) \
	PCI_REGS_3(table, fields, rsv, \
		   ROW_CTR(0xb8, 3), ROW_CTL(0xe4, 3, fields, rsv), \
		   __VA_ARGS__)

/*
 * The two IRPs of a function, with two counters each. The second counter of either IRP
 * and the first counter of IRP 1 have two possible addresses.
 */
#define IRP_REGS(table, ctr01, ctr10, ctr11, fields, rsv, ...) \
	static const struct model_reg table[] = { \
		IRP_CTR(0xa0, 0, 0), IRP_CTR(ctr01, 0, 1), \
		IRP_CTR(ctr10, 1, 0), IRP_CTR(ctr11, 1, 1), \
		IRP_CTL(0xd8, 0, 0, fields, rsv), IRP_CTL(0xdc, 0, 1, fields, rsv), \
		IRP_CTL(0xe0, 1, 0, fields, rsv), IRP_CTL(0xe4, 1, 1, fields, rsv), \
		ROW_BOX_CTL(0xf4, BOX_CTL_ONE), ROW_STATUS(0xf8, 0xf, 0), \
		__VA_ARGS__ \
	}
#define IRP_CTR(where, of, i) \
	{ .at = (where), .bytes = 8, .type = REG_CTR, .index = (i), \
	  .box = (of), .name = "ctr" #i }
#define IRP_CTL(where, of, i, fields, rsv) \
	{ .at = (where), .bytes = 4, .type = REG_CTL, .index = (i), \
	  .box = (of), .keep = (fields), .wo = CTL_RST, .zero = (rsv), \
	  .name = "ctl" #i }

/*
 * Smallest and largest number of boxes of a type in a package. BOXES_AS: as many as of another
 * type
 */
#define BOXES(min, max)		.boxes = { (min), (max) }
#define BOXES_NUMBERED(min, max)	.boxes = { (min), (max), .numbered = true }
#define BOXES_AS(min, max, other)	.boxes = { (min), (max), .as = (other) }

/* Tables of a box type. WAVES(box), the table of events, is the generation's. */
#define TABLES(box)	TABLES_OF(box, e5_layout)
#define TABLES_OF(box, fields) \
	.layout = &(fields), \
	.regs = box##_regs, .nregs = MODEL_COUNT(box##_regs), \
	.waves = WAVES(box), .nwaves = MODEL_COUNT(WAVES(box))
#define FILTERS(box) \
	.filters = box##_filters, .nfilters = MODEL_COUNT(box##_filters)

/* --- PCI functions -------------------------------------------------------- */

#define DEVFN(device, function)	((device) << 3 | (function))
#define CLASS_PERFORMANCE	0x110100
#define CLASS_SYSTEM		0x088000
#define CLASS_BRIDGE		0x060400
#define CLASS_ETHERNET		0x020000
#define CLASS_NVME		0x010802

/*
 * Rows of functions, with the device ID @did, for box @i of type @of. PMON: the function has
 * the PMON registers of the box. BESIDE: another function of the box's device.
 */
#define PMON(device, function, did, of, i) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_PERFORMANCE, .type = (of), .box = (i), \
	  .pmon = true }
#define BESIDE(device, function, did, of, i) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_SYSTEM, .type = (of), .box = (i) }
#define BESIDE_REGS(device, function, did, of, i, table) \
	BESIDE_MAYBE(device, function, did, of, i, table, 0)
#define BESIDE_MAYBE(device, function, did, of, i, table, lacks) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_SYSTEM, .type = (of), .box = (i), \
	  .missing = (lacks), .regs = (table), .nregs = MODEL_COUNT(table) }
#define QPI_FILTER(device, did, i) \
	{ .devfn = DEVFN(device, 6), .id = (did), \
	  .class_code = CLASS_PERFORMANCE, .type = "qpi", .box = (i), \
	  .pcie = true, .missing = MODEL_MISSING_QPI_FILTERS, \
	  .regs = qpi_filter_regs, \
	  .nregs = MODEL_COUNT(qpi_filter_regs) }

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Haswell-EP/EX (Xeon E5/E7 v3) as tables for the model: registers with their
 * fields, filters, status bits, PCI functions, errata.  No code; sections and
 * tables are those of the uncore reference manual, document 331051.
 */
#include "model_priv.h"
#include "generated/hswep_waves.h"

/* Fields of counters' control registers that all have, and reserved bits */
#define CTL_COMMON	(CTL_EV_SEL | CTL_UMASK | CTL_EDGE_DET | CTL_EN | \
			 CTL_INVERT)
#define THRESH_8	(0xffu << CTL_THRESH_SHIFT)
#define THRESH_5	(0x1fu << CTL_THRESH_SHIFT)
#define BOX_CTL_WO	(BOX_CTL_FRZ | BOX_CTL_RST_CTRS | BOX_CTL_RST_CTRL)
#define BOX_CTL_ONE	0x00030000

/*
 * Rows of register tables.  In PCI space a counter has 8 bytes and all other
 * registers 4; an MSR has its size from the access.
 */
#define ROW_BOX_CTL(where, must) \
	{ .at = (where), .bytes = 4, .kind = REG_BOX_CTL, .wo = BOX_CTL_WO, \
	  .one = (must), .name = "box_ctl" }
#define ROW_STATUS(where, ov, rsv) \
	{ .at = (where), .bytes = 4, .kind = REG_STATUS, .keep = (ov), \
	  .zero = (rsv), .name = "box_status" }
#define ROW_CTL(where, i, fields, rsv) \
	{ .at = (where), .bytes = 4, .kind = REG_CTL, .index = (i), \
	  .keep = (fields), .wo = CTL_RST, .zero = (rsv), .name = "ctl" #i }
#define ROW_CTR(where, i) \
	{ .at = (where), .bytes = 8, .kind = REG_CTR, .index = (i), \
	  .name = "ctr" #i }
#define ROW_FIXED_CTL(where, fields, rst) \
	{ .at = (where), .bytes = 4, .kind = REG_CTL, .index = MODEL_FIXED, \
	  .keep = (fields), .wo = (rst), .zero = MODEL_BIT(21), \
	  .name = "fixed_ctl" }
#define ROW_FIXED_CTR(where) \
	{ .at = (where), .bytes = 8, .kind = REG_CTR, .index = MODEL_FIXED, \
	  .name = "fixed_ctr" }
#define ROW_FILTER(where, i, fields, rsv, text) \
	{ .at = (where), .bytes = 4, .kind = REG_FILTER, .index = (i), \
	  .keep = (fields), .zero = (rsv), .name = (text) }
#define ROW_FREE(where, i, text) \
	{ .at = (where), .bytes = 4, .kind = REG_FREE, .index = (i), \
	  .name = (text) }

/* --- UBox, §2.1.5 and §2.2.2 -------------------------------------------- */

#define UBOX_CTL	(CTL_COMMON | CTL_OV_EN | THRESH_5)
#define UBOX_CTL_RSV	(MODEL_BIT(21) | MODEL_BIT(16))

static const struct model_reg ubox_regs[] = {
	{ .at = 0x700, .kind = REG_GLOBAL_CTL, .name = "global_ctl",
	  .keep = GLOBAL_CTL_PMI_CORE_SEL | GLOBAL_CTL_WK_ON_PMI,
	  .wo = GLOBAL_CTL_FRZ_ALL | GLOBAL_CTL_UNFRZ_ALL,
	  .zero = MODEL_BIT(28) | MODEL_BIT(27) },
	{ .at = 0x701, .kind = REG_GLOBAL_STATUS, .name = "global_status" },
	{ .at = 0x702, .kind = REG_GLOBAL_CONFIG, .name = "global_config",
	  .keep = 0x1f },
	ROW_FIXED_CTL(0x703, CTL_EN | CTL_OV_EN, 0),
	ROW_FIXED_CTR(0x704),
	ROW_CTL(0x705, 0, UBOX_CTL, UBOX_CTL_RSV),
	ROW_CTL(0x706, 1, UBOX_CTL, UBOX_CTL_RSV),
	/* not in the manual: thread 0, core 5:1 */
	ROW_FILTER(0x707, 0, 0x3f, 0, "filter"),
	ROW_STATUS(0x708, 0x3, 0),
	ROW_CTR(0x709, 0),
	ROW_CTR(0x70a, 1),
};

static const struct model_filter ubox_filters[] = {
	{ .first = 0x42, .last = 0x42, .op = FILTER_EQUAL, .attr = ATTR_TID,
	  .width = 6 },
	{ .first = 0x45, .last = 0x45, .op = FILTER_EQUAL, .attr = ATTR_TID,
	  .width = 6 },
};

static const u64 ubox_ov[] = { 1ULL << 1 };

/* --- CBo, §2.3.2 -------------------------------------------------------- */

#define CBOX_CTL	(CTL_COMMON | CTL_TID_EN | THRESH_8)
#define CBOX_CTL_RSV	(MODEL_BIT(21) | MODEL_BIT(20) | MODEL_BIT(16))

static const struct model_reg cbox_regs[] = {
	ROW_BOX_CTL(0x0, BOX_CTL_ONE),
	ROW_CTL(0x1, 0, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x2, 1, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x3, 2, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x4, 3, CBOX_CTL, CBOX_CTL_RSV),
	/* Tables 2-18 and 2-19 lack link (8:6) and c6 (29) */
	ROW_FILTER(0x5, 0, 0x00fe01ff, 0xff01fe00, "filter0"),
	ROW_FILTER(0x6, 1, 0xfff0ffff, 0, "filter1"),
	ROW_STATUS(0x7, 0xf, 0),
	ROW_CTR(0x8, 0),
	ROW_CTR(0x9, 1),
	ROW_CTR(0xa, 2),
	ROW_CTR(0xb, 3),
};

#define CBOX_NID(from, to) \
	{ .first = (from), .last = (to), .umask = 0x40, .drop_umask = true, \
	  .op = FILTER_MEETS, .attr = ATTR_NID, .reg = 1, .width = 16 }
#define CBOX_OPCODE(how, what, filter, at, bits) \
	{ .first = 0x35, .last = 0x36, .umask = 0x01, .op = (how), \
	  .attr = (what), .reg = (filter), .shift = (at), .width = (bits) }

static const struct model_filter cbox_filters[] = {
	{ .last = 0xff, .ctl = CTL_TID_EN, .op = FILTER_EQUAL,
	  .attr = ATTR_TID, .width = 6 },
	/* LLC_LOOKUP: without umask bit 0 it counts nothing (§2.3.6) */
	{ .first = 0x34, .last = 0x34, .umask = 0x01, .op = FILTER_UMASK },
	{ .first = 0x34, .last = 0x34, .op = FILTER_MEETS, .attr = ATTR_STATE,
	  .shift = 17, .width = 7 },
	CBOX_NID(0x28, 0x2a),
	CBOX_NID(0x31, 0x37),
	CBOX_OPCODE(FILTER_EQUAL, ATTR_OPC, 1, 20, 9),
	CBOX_OPCODE(FILTER_NEEDS, ATTR_C6, 1, 29, 1),
	CBOX_OPCODE(FILTER_NEEDS, ATTR_NC, 1, 30, 1),
	CBOX_OPCODE(FILTER_NEEDS, ATTR_ISOC, 1, 31, 1),
	CBOX_OPCODE(FILTER_MEETS_IF_SET, ATTR_LINK, 0, 6, 3),
};

/* --- SBo, §2.4.2 -------------------------------------------------------- */

static const struct model_reg sbox_regs[] = {
	ROW_BOX_CTL(0x0, BOX_CTL_ONE),
	ROW_CTL(0x1, 0, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x2, 1, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x3, 2, CBOX_CTL, CBOX_CTL_RSV),
	ROW_CTL(0x4, 3, CBOX_CTL, CBOX_CTL_RSV),
	ROW_STATUS(0x5, 0xf, 0),
	ROW_CTR(0x6, 0),
	ROW_CTR(0x7, 1),
	ROW_CTR(0x8, 2),
	ROW_CTR(0x9, 3),
};

/* Counters' control registers are much alike in PCI space */
#define PCI_CTL		(CTL_COMMON | CTL_OV_EN | THRESH_8)
#define PCI_CTL_RSV	(MODEL_BIT(21) | MODEL_BIT(16))

/* --- HA, §2.5.1 --------------------------------------------------------- */

static const struct model_reg ha_regs[] = {
	ROW_FILTER(0x40, 0, 0xffffffc0, 0, "addrmatch0"),
	ROW_FILTER(0x44, 1, 0x00003fff, 0, "addrmatch1"),
	ROW_FILTER(0x48, 2, 0x0000003f, 0, "opcodematch"),
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTR(0xb8, 3),
	ROW_CTL(0xd8, 0, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xdc, 1, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe0, 2, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe4, 3, PCI_CTL, PCI_CTL_RSV),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)),
};

/* ADDR_OPC_MATCH, Table 2-68 */
static const struct model_filter ha_filters[] = {
	{ .first = 0x20, .last = 0x20, .umask = 0x01, .op = FILTER_EQUAL,
	  .attr = ATTR_ADDR, .reg = 0, .shift = 6, .width = 40 },
	{ .first = 0x20, .last = 0x20, .umask = 0x1e, .op = FILTER_EQUAL,
	  .attr = ATTR_OPC, .reg = 2, .width = 6 },
};

static const u64 ha_ov[] = { 1ULL << 21, 1ULL << 22 };

/* --- iMC, §2.6.3 -------------------------------------------------------- */

static const struct model_reg imc_regs[] = {
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTR(0xb8, 3),
	ROW_FIXED_CTR(0xd0),
	ROW_CTL(0xd8, 0, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xdc, 1, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe0, 2, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe4, 3, PCI_CTL, PCI_CTL_RSV),
	ROW_FIXED_CTL(0xf0, CTL_INVERT | CTL_EN | CTL_OV_EN, MODEL_BIT(19)),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0x1f, MODEL_BIT(5)),
};

/* iMC0 has channels 0-3, iMC1 4-7 */
static const u64 imc_ov[] = {
	1ULL << 23, 1ULL << 23, 1ULL << 23, 1ULL << 23,
	1ULL << 24, 1ULL << 24, 1ULL << 24, 1ULL << 24,
};

/* --- IRP, §2.7.2; counters as in Table 1-3 ------------------------------- */

static const struct model_reg irp_regs[] = {
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTR(0xb8, 3),
	ROW_CTL(0xd8, 0, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xdc, 1, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe0, 2, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe4, 3, PCI_CTL, PCI_CTL_RSV),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, 0),
};

static const u64 irp_ov[] = { 1ULL << 34 };

/* --- PCU, §2.8.2 -------------------------------------------------------- */

#define PCU_CTL		(CTL_EV_SEL | CTL_OCC_SEL | CTL_EDGE_DET | CTL_OV_EN | \
			 CTL_EV_SEL_EXT | CTL_EN | CTL_INVERT | THRESH_5 | \
			 CTL_OCC_INVERT | CTL_OCC_EDGE_DET)
#define PCU_CTL_RSV	(MODEL_BIT(29) | 0x3f00)

static const struct model_reg pcu_regs[] = {
	ROW_FREE(0x3f8, 0, "pkg_c3_residency"),
	ROW_FREE(0x3fc, 1, "core_c3_residency"),
	ROW_FREE(0x3fd, 2, "core_c6_residency"),
	ROW_FREE(0x60d, 3, "pkg_c2_residency"),
	ROW_BOX_CTL(0x710, BOX_CTL_ONE),
	ROW_CTL(0x711, 0, PCU_CTL, PCU_CTL_RSV),
	ROW_CTL(0x712, 1, PCU_CTL, PCU_CTL_RSV),
	ROW_CTL(0x713, 2, PCU_CTL, PCU_CTL_RSV),
	ROW_CTL(0x714, 3, PCU_CTL, PCU_CTL_RSV),
	ROW_FILTER(0x715, 0, 0xffffffff, 0, "filter"),
	ROW_STATUS(0x716, 0xf, 0),
	ROW_CTR(0x717, 0),
	ROW_CTR(0x718, 1),
	ROW_CTR(0x719, 2),
	ROW_CTR(0x71a, 3),
};

#define PCU_BAND(event, at) \
	{ .first = (event), .last = (event), .op = FILTER_REACHES, \
	  .attr = ATTR_FREQ, .shift = (at), .width = 8 }

static const struct model_filter pcu_filters[] = {
	PCU_BAND(0x0b, 0),
	PCU_BAND(0x0c, 8),
	PCU_BAND(0x0d, 16),
	PCU_BAND(0x0e, 24),
};

static const u64 pcu_ov[] = { 1ULL << 2 };

/* --- QPI link layer, §2.9.2 --------------------------------------------- */

#define QPI_CTL		(PCI_CTL | CTL_EV_SEL_EXT)
#define QPI_CTL_RSV	MODEL_BIT(16)

static const struct model_reg qpi_regs[] = {
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTR(0xb8, 3),
	ROW_FREE(0xc8, 0, "link_idle"),
	ROW_FREE(0xd0, 1, "link_llr"),
	ROW_CTL(0xd8, 0, QPI_CTL, QPI_CTL_RSV),
	ROW_CTL(0xdc, 1, QPI_CTL, QPI_CTL_RSV),
	ROW_CTL(0xe0, 2, QPI_CTL, QPI_CTL_RSV),
	ROW_CTL(0xe4, 3, QPI_CTL, QPI_CTL_RSV),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)),
};

/* Tables 2-172 to 2-175, in the filter's own PCI function */
#define ROW_PACKET0(where, i, text) \
	ROW_FILTER(where, i, 0x8003fff8, 0x7ffc0007, text)
#define ROW_PACKET1(where, i, text) \
	ROW_FILTER(where, i, 0x000f000f, 0xfff0fff0, text)

static const struct model_reg qpi_filter_regs[] = {
	ROW_PACKET0(0x228, 0, "rx_match0"),
	ROW_PACKET1(0x22c, 1, "rx_match1"),
	ROW_PACKET0(0x238, 2, "rx_mask0"),
	ROW_PACKET1(0x23c, 3, "rx_mask1"),
	ROW_PACKET0(0x200, 4, "tx_match0"),
	ROW_PACKET1(0x204, 5, "tx_match1"),
	ROW_PACKET0(0x210, 6, "tx_mask0"),
	ROW_PACKET1(0x214, 7, "tx_mask1"),
};

/* CTO_COUNT */
static const struct model_filter qpi_filters[] = {
	{ .first = 0x138, .last = 0x138, .op = FILTER_PACKET },
};

static const u64 qpi_ov[] = { 1ULL << 25, 1ULL << 25, 1ULL << 26 };

/* --- R2PCIe, §2.10.2 ---------------------------------------------------- */

static const struct model_reg r2pcie_regs[] = {
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTR(0xb8, 3),
	ROW_CTL(0xd8, 0, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xdc, 1, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe0, 2, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe4, 3, PCI_CTL, PCI_CTL_RSV),
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0xf, 0),
};

static const u64 r2pcie_ov[] = { 1ULL << 29 };

/* --- R3QPI, §2.11.2 ----------------------------------------------------- */

static const struct model_reg r3qpi_regs[] = {
	ROW_CTR(0xa0, 0),
	ROW_CTR(0xa8, 1),
	ROW_CTR(0xb0, 2),
	ROW_CTL(0xd8, 0, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xdc, 1, PCI_CTL, PCI_CTL_RSV),
	ROW_CTL(0xe0, 2, PCI_CTL, PCI_CTL_RSV),
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0x7, MODEL_BIT(3)),
};

static const u64 r3qpi_ov[] = {
	1ULL << 35 | 1ULL << 27, 1ULL << 35 | 1ULL << 27,
	1ULL << 35 | 1ULL << 28,
};

/* --- box types ---------------------------------------------------------- */

#define TABLES(box) \
	.regs = box##_regs, .nregs = MODEL_COUNT(box##_regs), \
	.waves = hswep_##box##_waves, \
	.nwaves = MODEL_COUNT(hswep_##box##_waves)
#define FILTERS(box) \
	.filters = box##_filters, .nfilters = MODEL_COUNT(box##_filters)

const struct model_type model_types[MODEL_BOX_KINDS] = {
	[MODEL_UBOX] = {
		.name = "ubox", .counters = 2, .has_fixed = true,
		.quirks = QUIRK_NARROW, .thresh = 0x1f,
		.first = 0x700, .last = 0x70a,
		.ov = ubox_ov, .ov_fixed = 1ULL << 0,
		TABLES(ubox), FILTERS(ubox),
	},
	[MODEL_CBOX] = {
		.name = "cbox", .numbered = true, .counters = 4,
		.thresh = 0xff, .relay = 0x1f,
		.first = 0xe00, .last = 0xf1f, .base = 0xe00, .stride = 16,
		TABLES(cbox), FILTERS(cbox),
	},
	[MODEL_SBOX] = {
		.name = "sbox", .numbered = true, .counters = 4,
		.quirks = QUIRK_NARROW | QUIRK_WRITE_TWICE |
			  QUIRK_ONE_BIT_A_WRITE,
		.thresh = 0xff,
		.first = 0x720, .last = 0x747, .base = 0x720, .stride = 10,
		TABLES(sbox),
	},
	[MODEL_HA] = {
		.name = "ha", .numbered = true, .pci = true, .counters = 4,
		.thresh = 0xff, .ov = ha_ov,
		TABLES(ha), FILTERS(ha),
	},
	[MODEL_IMC] = {
		.name = "imc", .numbered = true, .pci = true, .counters = 4,
		.has_fixed = true, .status_shift = 1, .fixed_status = 1,
		.thresh = 0xff, .ov = imc_ov,
		TABLES(imc),
	},
	[MODEL_IRP] = {
		.name = "irp", .pci = true, .counters = 4,
		.thresh = 0xff, .ov = irp_ov,
		TABLES(irp),
	},
	[MODEL_PCU] = {
		.name = "pcu", .counters = 4, .quirks = QUIRK_OCCUPANCY,
		.thresh = 0x1f, .first = 0x3f8, .last = 0x71a, .ov = pcu_ov,
		TABLES(pcu), FILTERS(pcu),
	},
	[MODEL_QPI] = {
		.name = "qpi", .numbered = true, .pci = true, .counters = 4,
		.quirks = QUIRK_RST_STICKS, .thresh = 0xff, .ov = qpi_ov,
		TABLES(qpi), FILTERS(qpi),
	},
	[MODEL_R2PCIE] = {
		.name = "r2pcie", .pci = true, .counters = 4,
		.quirks = QUIRK_WRITE_TWICE, .thresh = 0xff, .ov = r2pcie_ov,
		TABLES(r2pcie),
	},
	[MODEL_R3QPI] = {
		.name = "r3qpi", .numbered = true, .pci = true, .counters = 3,
		.quirks = QUIRK_NARROW | QUIRK_WRITE_TWICE, .thresh = 0xff,
		.ov = r3qpi_ov,
		TABLES(r3qpi),
	},
};

/* --- PCI functions, Table 1-3 and what a board has beside them ------------ */

/* §1.6.1: node ID, and the node of each of 8 packages in 3 bits */
static const struct model_reg node_regs[] = {
	{ .at = 0x40, .bytes = 4, .kind = REG_NODE_ID, .name = "node_id" },
	{ .at = 0x54, .bytes = 4, .kind = REG_CONST, .keep = 076543210,
	  .name = "node_map" },
};

/* bits 7:6 say which die it is; 0 is the one with two SBos */
static const struct model_reg die_regs[] = {
	{ .at = 0x94, .bytes = 4, .kind = REG_DIE, .keep = 0x80,
	  .name = "capid4" },
};

/* Table 2-177: 9.6 GT/s */
static const struct model_reg rate_regs[] = {
	{ .at = 0xd4, .bytes = 4, .kind = REG_CONST, .keep = 7,
	  .name = "qpi_rate_status" },
};

#define DEVFN(device, function)	((device) << 3 | (function))
#define CLASS_PERFORMANCE	0x110100
#define CLASS_SYSTEM		0x088000

#define PMON(device, function, did, of, i) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_PERFORMANCE, .kind = (of), .box = (i), \
	  .pmon = true }
#define BESIDE(device, function, did, of, i) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_SYSTEM, .kind = (of), .box = (i) }
#define BESIDE_REGS(device, function, did, of, i, table) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_SYSTEM, .kind = (of), .box = (i), \
	  .regs = (table), .nregs = MODEL_COUNT(table) }
#define QPI_FILTER(device, did, i) \
	{ .devfn = DEVFN(device, 6), .id = (did), \
	  .class_code = CLASS_PERFORMANCE, .kind = MODEL_QPI, .box = (i), \
	  .pcie = true, .regs = qpi_filter_regs, \
	  .nregs = MODEL_COUNT(qpi_filter_regs) }

const struct model_function model_functions[] = {
	{ .devfn = DEVFN(5, 0), .io_bus = true, .id = 0x2f28,
	  .class_code = CLASS_SYSTEM, .kind = MODEL_IRP },
	{ .devfn = DEVFN(5, 6), .io_bus = true, .id = 0x2f39,
	  .class_code = CLASS_PERFORMANCE, .kind = MODEL_IRP, .pmon = true },

	BESIDE_REGS(8, 0, 0x2f80, MODEL_QPI, 0, rate_regs),
	PMON(8, 2, 0x2f32, MODEL_QPI, 0),
	QPI_FILTER(8, 0x2f86, 0),
	BESIDE_REGS(9, 0, 0x2f90, MODEL_QPI, 1, rate_regs),
	PMON(9, 2, 0x2f33, MODEL_QPI, 1),
	QPI_FILTER(9, 0x2f96, 1),
	BESIDE_REGS(10, 0, 0x2f40, MODEL_QPI, 2, rate_regs),
	PMON(10, 2, 0x2f3a, MODEL_QPI, 2),
	QPI_FILTER(10, 0x2f46, 2),

	BESIDE(11, 0, 0x2f81, MODEL_R3QPI, 0),
	PMON(11, 1, 0x2f36, MODEL_R3QPI, 0),
	PMON(11, 2, 0x2f37, MODEL_R3QPI, 1),
	PMON(11, 5, 0x2f3e, MODEL_R3QPI, 2),

	BESIDE(16, 0, 0x2f1d, MODEL_R2PCIE, 0),
	PMON(16, 1, 0x2f34, MODEL_R2PCIE, 0),
	BESIDE_REGS(16, 5, 0x2f1e, MODEL_UBOX, 0, node_regs),

	BESIDE(18, 0, 0x2fa0, MODEL_HA, 0),
	PMON(18, 1, 0x2f30, MODEL_HA, 0),
	PMON(18, 5, 0x2f38, MODEL_HA, 1),

	/* Table 1-3 has the devices of each iMC's channels the wrong way round */
	PMON(20, 0, 0x2fb0, MODEL_IMC, 0),
	PMON(20, 1, 0x2fb1, MODEL_IMC, 1),
	PMON(21, 0, 0x2fb4, MODEL_IMC, 2),
	PMON(21, 1, 0x2fb5, MODEL_IMC, 3),
	PMON(23, 0, 0x2fd0, MODEL_IMC, 4),
	PMON(23, 1, 0x2fd1, MODEL_IMC, 5),
	PMON(24, 0, 0x2fd4, MODEL_IMC, 6),
	PMON(24, 1, 0x2fd5, MODEL_IMC, 7),

	BESIDE(30, 0, 0x2f98, MODEL_PCU, 0),
	BESIDE_REGS(30, 3, 0x2fc0, MODEL_PCU, 0, die_regs),
};

const unsigned int model_nfunctions = MODEL_COUNT(model_functions);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of Haswell-EP/EX (Xeon E5/E7 v3) and Broadwell (Xeon E5/E7 v4, Xeon D):
 * registers with their fields, filters, status bits, PCI functions, errata. Sections and
 * tables are those of the uncore reference manual of v3, document 331051.
 *
 * The file of a generation includes this file after it has defined
 *
 * - WAVES(box): the table of events,
 * - DEVICE(low): the PCI device ID with the lower byte @low,
 * - MAX_CBOXES: the largest number of CBos,
 * - CORE_SEL: the bits of the global control register that select cores,
 * - ONE_SOCKET, if the generation has neither SBo nor QPI nor R3QPI,
 * - SBOXES: otherwise, the number of SBos of the smallest die.
 */

#include "common.h"

/* Fields that all control registers of general counters have, except the PCU's */
#define CTL_COMMON	(CTL_EV_SEL | CTL_UMASK | CTL_EDGE_DET | CTL_EN | \
			 CTL_INVERT)

/* --- UBox, §2.1.5 and §2.2.2 -------------------------------------------- */

#define UBOX_CTL	(CTL_COMMON | CTL_OV_EN | THRESH_5)
#define UBOX_CTL_RSV	(MODEL_BIT(21) | MODEL_BIT(16))

static const struct model_reg ubox_regs[] = {
	{ .at = 0x700, .type = REG_GLOBAL_CTL, .name = "global_ctl",
	  .keep = CORE_SEL | GLOBAL_CTL_WK_ON_PMI,
	  .wo = GLOBAL_CTL_FRZ_ALL | GLOBAL_CTL_UNFRZ_ALL,
	  .zero = MODEL_BIT(28) | MODEL_BIT(27) },
	{ .at = 0x701, .type = REG_GLOBAL_STATUS, .name = "global_status" },
	{ .at = 0x702, .type = REG_GLOBAL_CONFIG, .name = "global_config",
	  .keep = 0x1f },
	ROW_FIXED_CTL(0x703, CTL_EN | CTL_OV_EN, 0, MODEL_BIT(21)),
	ROW_FIXED_CTR(0x704),
	ROW_CTL(0x705, 0, UBOX_CTL, UBOX_CTL_RSV),
	ROW_CTL(0x706, 1, UBOX_CTL, UBOX_CTL_RSV),
	/* the fields are not in the manual: thread in bit 0, core in bits 5:1 */
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
	/* link (filter0 8:6) and c6 (filter1 29) are not in Tables 2-18 and 2-19 */
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
	/* LLC_LOOKUP counts nothing without bit 0 of the umask (§2.3.6) */
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

#ifndef ONE_SOCKET
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
#endif

/* Most control registers of counters in PCI space have these fields and reserved bits. */
#define PCI_CTL		(CTL_COMMON | CTL_OV_EN | THRESH_8)
#define PCI_CTL_RSV	(MODEL_BIT(21) | MODEL_BIT(16))

/* --- HA, §2.5.1 --------------------------------------------------------- */

PCI_REGS_4(ha_regs, PCI_CTL, PCI_CTL_RSV,
	ROW_FILTER(0x40, 0, 0xffffffc0, 0, "addrmatch0"),
	ROW_FILTER(0x44, 1, 0x00003fff, 0, "addrmatch1"),
	ROW_FILTER(0x48, 2, 0x0000003f, 0, "opcodematch"),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)));

static const u64 ha_ov[] = { 1ULL << 21, 1ULL << 22 };

/* --- iMC, §2.6.3 -------------------------------------------------------- */

PCI_REGS_4(imc_regs, PCI_CTL, PCI_CTL_RSV,
	ROW_FIXED_CTR(0xd0),
	ROW_FIXED_CTL(0xf0, CTL_INVERT | CTL_EN | CTL_OV_EN, MODEL_BIT(19),
		      MODEL_BIT(21)),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0x1f, MODEL_BIT(5)));

/* bit 23 is iMC0, with channels 0-3; bit 24 iMC1, with channels 4-7 */
static const u64 imc_ov[] = {
	1ULL << 23, 1ULL << 23, 1ULL << 23, 1ULL << 23,
	1ULL << 24, 1ULL << 24, 1ULL << 24, 1ULL << 24,
};

/* --- IRP, §2.7.2: counters as in Table 1-3, and as in Table 2-144 ---------- */

IRP_REGS(irp_regs, 0xa8, 0xb0, 0xb8, PCI_CTL, PCI_CTL_RSV);
IRP_REGS(irp_regs_2_144, 0xb0, 0xb8, 0xc0, PCI_CTL, PCI_CTL_RSV);
/* the counters of Table 1-3, and at 0xc0, a counter of Table 2-144, a plain register */
IRP_REGS(irp_regs_both, 0xa8, 0xb0, 0xb8, PCI_CTL, PCI_CTL_RSV,
	ROW_FILTER(0xc0, 0, 0xffffffff, 0, "reserved"));

static const u64 irp_ov[] = { 1ULL << 34, 1ULL << 34 };

/* --- PCU, §2.8.2 -------------------------------------------------------- */

#define PCU_CTL		(CTL_EV_SEL | CTL_OCC_SEL | CTL_EDGE_DET | CTL_OV_EN | \
			 CTL_EV_SEL_EXT | CTL_EN | CTL_INVERT | THRESH_5 | \
			 CTL_OCC_INVERT | CTL_OCC_EDGE_DET)
#define PCU_CTL_RSV	(MODEL_BIT(29) | 0x3f00)

/* Table 1-2 has MSRs 0x3fc and 0x3fd as well, but by the SDM they belong to the cores. */
PCU_REGS_710(BOX_CTL_ONE, PCU_CTL, PCU_CTL_RSV,
	ROW_FREE(0x3f8, 0, "pkg_c3_residency"),
	/* in Table 1-2, but not in Table 2-155 */
	ROW_FREE(0x3f9, 1, "pkg_c6_residency"),
	ROW_FREE(0x60d, 2, "pkg_c2_residency"));

static const u64 pcu_ov[] = { 1ULL << 2 };

/* --- QPI link layer, §2.9.2 --------------------------------------------- */

#ifndef ONE_SOCKET
#define QPI_CTL		(PCI_CTL | CTL_EV_SEL_EXT)
#define QPI_CTL_RSV	MODEL_BIT(16)

PCI_REGS_4(qpi_regs, QPI_CTL, QPI_CTL_RSV,
	ROW_FREE(0xc8, 0, "link_idle"),
	ROW_FREE(0xd0, 1, "link_llr"),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)));

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

static const u64 qpi_ov[] = { 1ULL << 25, 1ULL << 25, 1ULL << 26 };
#endif

/* --- R2PCIe, §2.10.2 ---------------------------------------------------- */

PCI_REGS_4(r2pcie_regs, PCI_CTL, PCI_CTL_RSV,
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0xf, 0));

static const u64 r2pcie_ov[] = { 1ULL << 29 };

/* --- R3QPI, §2.11.2 ----------------------------------------------------- */

#ifndef ONE_SOCKET
PCI_REGS_3(r3qpi_regs, PCI_CTL, PCI_CTL_RSV,
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0x7, MODEL_BIT(3)));

static const u64 r3qpi_ov[] = {
	1ULL << 35 | 1ULL << 27, 1ULL << 35 | 1ULL << 27,
	1ULL << 35 | 1ULL << 28,
};
#endif

/* --- box types ---------------------------------------------------------- */

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.quirks = QUIRK_NARROW, .thresh = 0x1f,
		.first = 0x700, .last = 0x70a,
		.ov = ubox_ov, .ov_fixed = 1ULL << 0,
		TABLES(ubox), FILTERS(ubox),
	},
	{
		.name = "cbox", BOXES(1, MAX_CBOXES), .counters = 4,
		.thresh = 0xff, .relay = 0x1f,
		.first = 0xe00, .last = 0xe00 + MAX_CBOXES * 16 - 1,
		.base = 0xe00, .stride = 16,
		TABLES(cbox), FILTERS(cbox),
	},
	{
		.name = "ha", BOXES(1, 2), .pci = true, .counters = 4,
		.thresh = 0xff, .ov = ha_ov,
		TABLES(ha), FILTERS(ha),
	},
	{
		.name = "imc", BOXES(1, 8), .pci = true, .counters = 4,
		.has_fixed = true, .status_shift = 1, .fixed_status = 1,
		.thresh = 0xff, .ov = imc_ov,
		.clock = MODEL_DCLK,
		TABLES(imc),
	},
	{
		.name = "irp", BOXES(2, 2), .pci = true, .counters = 2,
		.thresh = 0xff, .ov = irp_ov, .in_function = 2,
		.other_regs = { irp_regs_2_144, irp_regs_both },
		.nother_regs = { MODEL_COUNT(irp_regs_2_144),
				 MODEL_COUNT(irp_regs_both) },
		TABLES(irp),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4,
		.thresh = 0x1f, .first = 0x3f8, .last = 0x71a, .ov = pcu_ov,
		.clock = MODEL_PCLK,
		TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "r2pcie", BOXES(1, 1), .pci = true, .counters = 4,
		.quirks = QUIRK_WRITE_TWICE, .thresh = 0xff, .ov = r2pcie_ov,
		TABLES(r2pcie),
	},
#ifndef ONE_SOCKET
	{
		.name = "sbox", .boxes = { SBOXES, 4, .ends = true }, .counters = 4,
		.quirks = QUIRK_NARROW | QUIRK_WRITE_TWICE |
			  QUIRK_WRITE_WHOLE | QUIRK_ONE_BIT_A_WRITE,
		.thresh = 0xff,
		.first = 0x720, .last = 0x747, .base = 0x720, .stride = 10,
		TABLES(sbox),
	},
	{
		.name = "qpi", BOXES(1, 3), .pci = true, .counters = 4,
		.quirks = QUIRK_RST_STICKS, .thresh = 0xff, .ov = qpi_ov,
		.clock = MODEL_QCLK,
		TABLES(qpi), FILTERS(qpi),
	},
	{
		.name = "r3qpi", BOXES_AS(1, 3, "qpi"), .pci = true, .counters = 3,
		.quirks = QUIRK_NARROW | QUIRK_WRITE_TWICE | QUIRK_WRITE_WHOLE,
		.thresh = 0xff,
		.ov = r3qpi_ov,
		TABLES(r3qpi),
	},
#endif
};

/* --- PCI functions: Table 1-3, and other functions of boards --------------- */

/* bits 7:6 are the number of the die; die 0 has the fewest SBos */
static const struct model_reg die_regs[] = {
	{ .at = 0x94, .bytes = 4, .type = REG_DIE, .keep = 0x80,
	  .name = "capid4" },
};

#ifndef ONE_SOCKET
/* Table 2-177: 7 means 9.6 GT/s */
static const struct model_reg rate_regs[] = {
	{ .at = 0xd4, .bytes = 4, .type = REG_CONST, .keep = 7,
	  .name = "qpi_rate_status" },
};
#endif

static const struct model_function functions[] = {
	{ .devfn = DEVFN(5, 0), .bus = 1, .id = DEVICE(0x28),
	  .class_code = CLASS_SYSTEM, .type = "irp" },
	{ .devfn = DEVFN(5, 6), .bus = 1, .id = DEVICE(0x39),
	  .class_code = CLASS_PERFORMANCE, .type = "irp", .pmon = true },

#ifndef ONE_SOCKET
	BESIDE_REGS(8, 0, DEVICE(0x80), "qpi", 0, rate_regs),
	PMON(8, 2, DEVICE(0x32), "qpi", 0),
	QPI_FILTER(8, DEVICE(0x86), 0),
	BESIDE_REGS(9, 0, DEVICE(0x90), "qpi", 1, rate_regs),
	PMON(9, 2, DEVICE(0x33), "qpi", 1),
	QPI_FILTER(9, DEVICE(0x96), 1),
	BESIDE_REGS(10, 0, DEVICE(0x40), "qpi", 2, rate_regs),
	PMON(10, 2, DEVICE(0x3a), "qpi", 2),
	QPI_FILTER(10, DEVICE(0x46), 2),

	BESIDE(11, 0, DEVICE(0x81), "r3qpi", 0),
	PMON(11, 1, DEVICE(0x36), "r3qpi", 0),
	PMON(11, 2, DEVICE(0x37), "r3qpi", 1),
	PMON(11, 5, DEVICE(0x3e), "r3qpi", 2),
#endif

	BESIDE(16, 0, DEVICE(0x1d), "r2pcie", 0),
	PMON(16, 1, DEVICE(0x34), "r2pcie", 0),
	BESIDE_MAYBE(16, 5, DEVICE(0x1e), "ubox", 0, node_regs,
		     MODEL_MISSING_UBOX),

	BESIDE(18, 0, DEVICE(0xa0), "ha", 0),
	PMON(18, 1, DEVICE(0x30), "ha", 0),
	PMON(18, 5, DEVICE(0x38), "ha", 1),

	/* Table 1-3 has the two devices of each iMC's channels in the wrong order */
	PMON(20, 0, DEVICE(0xb0), "imc", 0),
	PMON(20, 1, DEVICE(0xb1), "imc", 1),
	PMON(21, 0, DEVICE(0xb4), "imc", 2),
	PMON(21, 1, DEVICE(0xb5), "imc", 3),
	PMON(23, 0, DEVICE(0xd0), "imc", 4),
	PMON(23, 1, DEVICE(0xd1), "imc", 5),
	PMON(24, 0, DEVICE(0xd4), "imc", 6),
	PMON(24, 1, DEVICE(0xd5), "imc", 7),

	BESIDE(30, 0, DEVICE(0x98), "pcu", 0),
	BESIDE_MAYBE(30, 3, DEVICE(0xc0), "pcu", 0, die_regs,
		     MODEL_MISSING_CAPID),
};

/* Address of the second function of model_config.twice, which no other function has */
#define SECOND_DEVFN	DEVFN(22, 0)

#define HASWELL_COMMON \
	.types = box_types, .ntypes = MODEL_COUNT(box_types), \
	.functions = functions, .nfunctions = MODEL_COUNT(functions), \
	.nbuses = 2, .ubox_highest = true, .second_devfn = SECOND_DEVFN, .ubox_device = DEVICE(0x1e), \
	GLOBAL_CTL_BITS, .core_sel = CORE_SEL, .counter_bits = 48, \
	.num_c = "cbox", .die = "sbox"

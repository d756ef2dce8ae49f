// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Ivy Bridge-EP/EX (Xeon E5/E7 v2). Sections and tables are those of its uncore
 * manual, document 329468. The iMC is from the datasheet of the E7 v2. Facts of pages that
 * were not available are from the in-tree driver and LIKWID.
 */
#include "model/priv.h"
#include "generated/ivbep_waves.h"

#define WAVES(box)	ivbep_##box##_waves

#include "sandybridge.h"

#define MAX_CBOXES	15
#define CORE_SEL	0x00007fff	/* Table 2-2 */

/* Only the iMC has .invert: in all other boxes bit 23 is reserved, as is bit 21. */
#define CTL_COMMON	(CTL_EV_SEL | CTL_UMASK | CTL_EDGE_DET | CTL_EN | \
			 CTL_OV_EN)
#define CTL_RSV		(CTL_INVERT | MODEL_BIT(21))
#define THRESH_7	(0x7fu << CTL_THRESH_SHIFT)

/* --- UBox, §2.1.5 and §2.2.3 ---------------------------------------------- */

#define UBOX_CTL	(CTL_COMMON | THRESH_5)

UBOX_REGS(UBOX_CTL, CTL_RSV,
	{ .at = 0xc00, .type = REG_GLOBAL_CTL, .name = "global_ctl",
	  .keep = CORE_SEL | GLOBAL_CTL_WK_ON_PMI,
	  .wo = GLOBAL_CTL_FRZ_ALL | GLOBAL_CTL_UNFRZ_ALL,
	  .zero = MODEL_BIT(28) | MODEL_BIT(27) },
	{ .at = 0xc01, .type = REG_GLOBAL_STATUS, .name = "global_status" },
	{ .at = 0xc06, .type = REG_GLOBAL_CONFIG, .name = "global_config",
	  .keep = 0x1f },
	ROW_FIXED_CTL(0xc08, CTL_EN | CTL_OV_EN, 0, MODEL_BIT(21)),
	ROW_STATUS(0xc15, 0x3, 0));

/* Table 2-3: bit 1 for the general counters; bit 0, .ov_fixed, for the fixed counter */
static const u64 ubox_ov[] = { 1ULL << 1 };

/* --- CBo, §2.3.3 ----------------------------------------------------------- */

#define CBOX_CTL	(CTL_COMMON | CTL_TID_EN | THRESH_8)

/*
 * link (filter0 8:5) and c6 (filter1 29) are from the in-tree driver; the manual has reserved
 * bits there
 */
CBOX_REGS(CBOX_CTL, CTL_RSV,
	ROW_BOX_CTL(0x04, BOX_CTL_ONE),
	ROW_FILTER(0x14, 0, 0x007e01ff, 0xff81fe00, "filter0"),
	ROW_FILTER(0x1a, 1, 0xfff0ffff, 0, "filter1"));

CBOX_FILTERS(17, 6,
	/* retries for lack of QPI credits can be filtered by link: 327043 §2.3.3.3 */
	{ .first = 0x31, .last = 0x33, .umask = 0x10, .op = FILTER_MEETS_IF_SET,
	  .attr = ATTR_LINK, .shift = 5, .width = 4 },
	CBOX_NID(0x34, 1, 0, 16), CBOX_NID(0x35, 1, 0, 16),
	CBOX_NID(0x36, 1, 0, 16), CBOX_NID(0x37, 1, 0, 16),
	CBOX_REQUEST(FILTER_EQUAL, ATTR_OPC, 1, 20, 9),
	CBOX_REQUEST(FILTER_NEEDS, ATTR_C6, 1, 29, 1),
	CBOX_REQUEST(FILTER_NEEDS, ATTR_NC, 1, 30, 1),
	CBOX_REQUEST(FILTER_NEEDS, ATTR_ISOC, 1, 31, 1));

static const u64 cbox_ov[MAX_CBOXES] = {
	1ULL << 3, 1ULL << 4, 1ULL << 5, 1ULL << 6, 1ULL << 7,
	1ULL << 8, 1ULL << 9, 1ULL << 10, 1ULL << 11, 1ULL << 12,
	1ULL << 13, 1ULL << 14, 1ULL << 15, 1ULL << 16, 1ULL << 17,
};

/* Most control registers of counters in PCI space have these fields. */
#define PCI_CTL		(CTL_COMMON | THRESH_8)

/* --- HA, §2.4.3; bit 16 of a control register clears a queue's occupancy ------ */

/* BT_OCCUPANCY, TXR_AD_OCCUPANCY, TXR_AK_OCCUPANCY and TXR_BL_OCCUPANCY */
#define HA_QUEUES	{ 0x43, 0x28, 0x30, 0x34 }

HA_REGS(PCI_CTL, CTL_RSV,
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)));

static const u64 ha_ov[] = { 1ULL << 18, 1ULL << 19 };

/* --- iMC, §2.5.4 and the datasheet's 13.2.4.4 ------------------------------- */

#define IMC_CTL		(CTL_COMMON | CTL_INVERT | THRESH_7)

PCI_REGS_4(imc_regs, IMC_CTL, MODEL_BIT(21),
	ROW_FIXED_CTR(0xd0),
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_FIXED_CTL(0xf0, CTL_EN | CTL_OV_EN, MODEL_BIT(19), MODEL_BIT(21)),
	/* Table 2-73: bit 0 is the overflow of the fixed counter */
	ROW_STATUS(0xf8, 0x1f, MODEL_BIT(5)));

static const u64 imc_ov[] = {
	1ULL << 20, 1ULL << 20, 1ULL << 20, 1ULL << 20,
	1ULL << 21, 1ULL << 21, 1ULL << 21, 1ULL << 21,
};

/* --- IRP, §2.6: two IRPs with two counters each, which cannot signal overflows -- */

#define IRP_CTL_BITS	(PCI_CTL & ~CTL_OV_EN)

IRP_REGS(irp_regs, 0xb0, 0xb8, 0xc0, IRP_CTL_BITS, CTL_RSV | CTL_OV_EN);

/* --- PCU, §2.7.3 ------------------------------------------------------------ */

#define PCU_CTL		(CTL_EV_SEL | CTL_OCC_SEL | CTL_EDGE_DET | CTL_OV_EN | \
			 CTL_EV_SEL_EXT | CTL_EN | THRESH_5 | CTL_OCC_INVERT | \
			 CTL_OCC_EDGE_DET)
#define PCU_RSV		(CTL_INVERT | MODEL_BIT(29))

PCU_REGS(PCU_CTL, PCU_RSV,
	ROW_BOX_CTL(0xc24, BOX_CTL_ONE),
	ROW_STATUS(0xc35, 0xf, 0));

static const u64 pcu_ov[] = { 1ULL << 2 };

/* --- QPI, §2.8.3 ------------------------------------------------------------ */

#define QPI_CTL		(PCI_CTL | CTL_EV_SEL_EXT)

PCI_REGS_4(qpi_regs, QPI_CTL, CTL_INVERT,
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, MODEL_BIT(4)));

/* bit 22 is QPI 0, with ports 0 and 1; bit 23 QPI 1, with port 2 */
static const u64 qpi_ov[] = { 1ULL << 22, 1ULL << 22, 1ULL << 23 };

/* --- R2PCIe, §2.9.3, and R3QPI, §2.10.3 -------------------------------------- */

PCI_REGS_4(r2pcie_regs, PCI_CTL, CTL_RSV,
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0xf, 0));

static const u64 r2pcie_ov[] = { 1ULL << 26 };

PCI_REGS_3(r3qpi_regs, PCI_CTL, CTL_RSV,
	ROW_BOX_CTL(0xf4, BOX_CTL_ONE),
	ROW_STATUS(0xf8, 0x7, MODEL_BIT(3)));

static const u64 r3qpi_ov[] = { 1ULL << 24, 1ULL << 24, 1ULL << 25 };

/* --- box types --------------------------------------------------------------- */

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.quirks = QUIRK_NARROW, .thresh = 0x1f,
		.first = 0xc00, .last = 0xc17,
		.ov = ubox_ov, .ov_fixed = 1ULL << 0,
		TABLES(ubox),
	},
	{
		.name = "cbox", BOXES(1, MAX_CBOXES), .counters = 4,
		.quirks = QUIRK_NARROW | QUIRK_NO_STATUS,
		.thresh = 0xff, .relay = 0x1f,
		CBOX_MSRS(MAX_CBOXES), .ov = cbox_ov,
		TABLES(cbox), FILTERS(cbox),
	},
	{
		.name = "ha", BOXES(1, 2), .pci = true, .counters = 4,
		.thresh = 0xff, .ov = ha_ov, .queues = HA_QUEUES,
		TABLES(ha), FILTERS(ha),
	},
	{
		.name = "imc", BOXES(1, 8), .pci = true, .counters = 4,
		.has_fixed = true, .status_shift = 1, .fixed_status = 1,
		.thresh = 0x7f, .ov = imc_ov, .clock = MODEL_DCLK,
		TABLES(imc),
	},
	{
		.name = "irp", BOXES(2, 2), .pci = true, .counters = 2,
		.thresh = 0xff, .in_function = 2,
		TABLES(irp),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4,
		.thresh = 0x1f, .first = 0x3f8, .last = 0xc39, .ov = pcu_ov,
		.clock = MODEL_PCLK,
		TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "qpi", BOXES(1, 3), .pci = true, .counters = 4,
		.thresh = 0xff, .ov = qpi_ov, .clock = MODEL_QCLK,
		TABLES(qpi), FILTERS(qpi),
	},
	{
		.name = "r2pcie", BOXES(1, 1), .pci = true, .counters = 4,
		.quirks = QUIRK_NARROW, .thresh = 0xff, .ov = r2pcie_ov,
		TABLES(r2pcie),
	},
	{
		.name = "r3qpi", BOXES_AS(1, 3, "qpi"), .pci = true, .counters = 3,
		.quirks = QUIRK_NARROW, .thresh = 0xff, .ov = r3qpi_ov,
		TABLES(r3qpi),
	},
};

/* --- PCI functions, and other functions of boards ------------------------------ */

static const struct model_function functions[] = {
	{ .devfn = DEVFN(5, 0), .bus = 1, .id = 0x0e28,
	  .class_code = CLASS_SYSTEM, .type = "irp" },
	{ .devfn = DEVFN(5, 6), .bus = 1, .id = 0x0e39,
	  .class_code = CLASS_PERFORMANCE, .type = "irp", .pmon = true },

	BESIDE(8, 0, 0x0e80, "qpi", 0),
	PMON(8, 2, 0x0e32, "qpi", 0),
	QPI_FILTER(8, 0x0e86, 0),
	BESIDE(9, 0, 0x0e90, "qpi", 1),
	PMON(9, 2, 0x0e33, "qpi", 1),
	QPI_FILTER(9, 0x0e96, 1),
	BESIDE(24, 0, 0x0e40, "qpi", 2),
	PMON(24, 2, 0x0e3a, "qpi", 2),

	BESIDE_MAYBE(11, 0, 0x0e1e, "ubox", 0, node_regs,
		     MODEL_MISSING_UBOX),

	BESIDE(14, 0, 0x0ea0, "ha", 0),
	PMON(14, 1, 0x0e30, "ha", 0),
	BESIDE(28, 0, 0x0e60, "ha", 0),
	PMON(28, 1, 0x0e38, "ha", 1),

	/* devices and functions by the datasheet, in the order of the channels */
	PMON(16, 4, 0x0eb4, "imc", 0),
	PMON(16, 5, 0x0eb5, "imc", 1),
	PMON(16, 0, 0x0eb0, "imc", 2),
	PMON(16, 1, 0x0eb1, "imc", 3),
	PMON(30, 4, 0x0ef4, "imc", 4),
	PMON(30, 5, 0x0ef5, "imc", 5),
	PMON(30, 0, 0x0ef0, "imc", 6),
	PMON(30, 1, 0x0ef1, "imc", 7),

	BESIDE(18, 0, 0x0e82, "r3qpi", 2),
	PMON(18, 5, 0x0e3e, "r3qpi", 2),
	BESIDE(19, 0, 0x0e1d, "r2pcie", 0),
	PMON(19, 1, 0x0e34, "r2pcie", 0),
	PMON(19, 5, 0x0e36, "r3qpi", 0),
	PMON(19, 6, 0x0e37, "r3qpi", 1),
};

const struct model_generation model_ivbep = {
	.name = "ivbep", .cpu_family = 6, .cpu_model = 62, .ubox_device = 0x0e1e,
	.counter_bits = 44, GLOBAL_CTL_BITS, .core_sel = CORE_SEL,
	.types = box_types, .ntypes = MODEL_COUNT(box_types), .num_c = "cbox",
	.functions = functions, .nfunctions = MODEL_COUNT(functions),
	.nbuses = 2, .ubox_highest = true, .second_devfn = DEVFN(22, 0),
};

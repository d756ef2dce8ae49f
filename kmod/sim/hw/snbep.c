// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Sandy Bridge-EP (Xeon E5-2600). Sections and tables are those of its uncore
 * manual, document 327043. Facts of pages that were not available are from the in-tree driver
 * and LIKWID.
 *
 * The uncore cannot interrupt (§2.1): it has neither global registers nor overflow bits nor
 * .ov_en. At the addresses that these registers have on later generations (ROW_ABSENT),
 * accesses to MSRs fault and writes are reported.
 */
#include "model/priv.h"
#include "generated/snbep_waves.h"

#define WAVES(box)	snbep_##box##_waves

#include "sandybridge.h"

#define MAX_CBOXES	8

/* Fields; bits that must be 0: 16, 21:20, and 17 in boxes without .rst */
#define CTL_COMMON	(CTL_EV_SEL | CTL_UMASK | CTL_EDGE_DET | CTL_EN | \
			 CTL_INVERT)
#define CTL_RSV		(MODEL_BIT(21) | MODEL_BIT(20) | MODEL_BIT(16))
#define CTL_RSV_NO_RST	(CTL_RSV | CTL_RST)
#define FIXED_RSV	(MODEL_BIT(21) | MODEL_BIT(20))
#define BOX_CTL_RSV	MODEL_BIT(17)

/* --- UBox, Tables 2-1 to 2-5 ------------------------------------------------ */

/* Table 2-5 gives the fixed counter 44 bits, but calls it 48 bits wide, as §2.2.2 does */
UBOX_REGS(CTL_COMMON | THRESH_5, CTL_RSV,
	ROW_FIXED_CTL(0xc08, CTL_EN, 0, FIXED_RSV),
	ROW_ABSENT(0xc00), ROW_ABSENT(0xc01), ROW_ABSENT(0xc06),
	ROW_ABSENT(0xc15));

/* --- CBo, Tables 2-8 to 2-12 ------------------------------------------------ */

/*
 * Fields of the filter by the in-tree driver: opcode 31:23, state 22:18, node 17:10, thread
 * 4:0
 */
CBOX_REGS(CTL_COMMON | CTL_TID_EN | THRESH_8, CTL_RSV,
	ROW_BOX_CTL_EN(0x04, BOX_CTL_WO, BOX_CTL_RSV),
	ROW_FILTER(0x14, 0, 0xfffffc1f, 0x000003e0, "filter"));

/* §2.3.3.3 filters QPI_CREDITS by link as well, but the filter has no field for the link. */
CBOX_FILTERS(18, 5,
	CBOX_NID(0x34, 0, 10, 8), CBOX_NID(0x35, 0, 10, 8),
	CBOX_NID(0x36, 0, 10, 8), CBOX_NID(0x37, 0, 10, 8),
	CBOX_REQUEST(FILTER_EQUAL, ATTR_OPC, 0, 23, 9));

#define PCI_CTL		(CTL_COMMON | THRESH_8)

/* --- HA, Tables 2-34 to 2-39, and iMC, 2-59 to 2-61: no reset bits -------------- */

HA_REGS(PCI_CTL, CTL_RSV_NO_RST,
	ROW_ABSENT(0xf8),
	ROW_BOX_CTL_EN(0xf4, BOX_CTL_FRZ, BOX_CTL_RSV | BOX_CTL_RST));

/* the fixed counter's .rst is from LIKWID */
PCI_REGS_4(imc_regs, PCI_CTL, CTL_RSV_NO_RST,
	ROW_FIXED_CTR(0xd0),
	ROW_FIXED_CTL(0xf0, CTL_EN, MODEL_BIT(19), FIXED_RSV),
	ROW_ABSENT(0xf8),
	ROW_BOX_CTL_EN(0xf4, BOX_CTL_FRZ, BOX_CTL_RSV | BOX_CTL_RST));

/* --- PCU, Tables 2-74 to 2-77 ------------------------------------------------ */

#define PCU_CTL		(CTL_EV_SEL | CTL_OCC_SEL | CTL_EDGE_DET | CTL_INVERT | \
			 CTL_EV_SEL_EXT | CTL_EN | THRESH_5 | CTL_OCC_INVERT | \
			 CTL_OCC_EDGE_DET)
#define PCU_RSV		(MODEL_BIT(29) | MODEL_BIT(20) | MODEL_BIT(16))

/* The C3 and C6 counters of §2.6.3.3, 0x3fc and 0x3fd, belong to the cores by the SDM. */
PCU_REGS(PCU_CTL, PCU_RSV,
	ROW_BOX_CTL_EN(0xc24, BOX_CTL_WO, BOX_CTL_RSV),
	ROW_ABSENT(0xc35));

/* --- QPI, Tables 2-85 and 2-86 ----------------------------------------------- */

PCI_REGS_4(qpi_regs, PCI_CTL | CTL_EV_SEL_EXT, MODEL_BIT(20) | MODEL_BIT(16),
	ROW_ABSENT(0xf8),
	ROW_BOX_CTL_EN(0xf4, BOX_CTL_WO, BOX_CTL_RSV));

/* --- R2PCIe, §2.8, and R3QPI, §2.9; reset bits by the in-tree driver ------------- */

PCI_REGS_4(r2pcie_regs, PCI_CTL, CTL_RSV,
	ROW_ABSENT(0xf8),
	ROW_BOX_CTL_EN(0xf4, BOX_CTL_WO, BOX_CTL_RSV));

PCI_REGS_3(r3qpi_regs, PCI_CTL, CTL_RSV,
	ROW_ABSENT(0xf8),
	ROW_BOX_CTL_EN(0xf4, BOX_CTL_WO, BOX_CTL_RSV));

/* --- box types --------------------------------------------------------------- */

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.quirks = QUIRK_NARROW | QUIRK_NO_STATUS, .thresh = 0x1f,
		.first = 0xc00, .last = 0xc17,
		TABLES(ubox),
	},
	{
		.name = "cbox", BOXES(1, MAX_CBOXES), .counters = 4,
		.quirks = QUIRK_NARROW | QUIRK_NO_STATUS,
		.thresh = 0xff, .relay = 0x1f, CBOX_MSRS(MAX_CBOXES),
		TABLES(cbox), FILTERS(cbox),
	},
	{
		.name = "ha", BOXES(1, 1), .pci = true, .counters = 4,
		.quirks = QUIRK_NO_STATUS, .thresh = 0xff,
		TABLES(ha), FILTERS(ha),
	},
	{
		.name = "imc", BOXES(1, 4), .pci = true, .counters = 4,
		.has_fixed = true, .quirks = QUIRK_NO_STATUS, .thresh = 0xff,
		.clock = MODEL_DCLK,
		TABLES(imc),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4,
		.quirks = QUIRK_NO_STATUS,
		.thresh = 0x1f, .first = 0x3f8, .last = 0xc39,
		.clock = MODEL_PCLK,
		TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "qpi", BOXES(1, 2), .pci = true, .counters = 4,
		.quirks = QUIRK_NO_STATUS, .thresh = 0xff, .clock = MODEL_QCLK,
		TABLES(qpi), FILTERS(qpi),
	},
	{
		.name = "r2pcie", BOXES(1, 1), .pci = true, .counters = 4,
		.quirks = QUIRK_NARROW | QUIRK_NO_STATUS, .thresh = 0xff,
		TABLES(r2pcie),
	},
	{
		.name = "r3qpi", BOXES_AS(1, 2, "qpi"), .pci = true, .counters = 3,
		.quirks = QUIRK_NARROW | QUIRK_NO_STATUS, .thresh = 0xff,
		TABLES(r3qpi),
	},
};

/* --- PCI functions: Tables 2-33, 2-59 and others, and other functions of boards -- */

static const struct model_function functions[] = {
	BESIDE(8, 0, 0x3c80, "qpi", 0),
	PMON(8, 2, 0x3c41, "qpi", 0),
	QPI_FILTER(8, 0x3c86, 0),
	BESIDE(9, 0, 0x3c90, "qpi", 1),
	PMON(9, 2, 0x3c42, "qpi", 1),
	QPI_FILTER(9, 0x3c96, 1),

	BESIDE_MAYBE(11, 0, 0x3ce0, "ubox", 0, node_regs,
		     MODEL_MISSING_UBOX),

	BESIDE(14, 0, 0x3ca0, "ha", 0),
	PMON(14, 1, 0x3c46, "ha", 0),

	PMON(16, 0, 0x3cb0, "imc", 0),
	PMON(16, 1, 0x3cb1, "imc", 1),
	PMON(16, 4, 0x3cb4, "imc", 2),
	PMON(16, 5, 0x3cb5, "imc", 3),

	BESIDE(19, 0, 0x3ce4, "r2pcie", 0),
	PMON(19, 1, 0x3c43, "r2pcie", 0),
	PMON(19, 5, 0x3c44, "r3qpi", 0),
	PMON(19, 6, 0x3c45, "r3qpi", 1),
};

const struct model_generation model_snbep = {
	.name = "snbep", .cpu_family = 6, .cpu_model = 45,
	.ubox_device = 0x3ce0,
	.counter_bits = 44,
	.types = box_types, .ntypes = MODEL_COUNT(box_types),
	.functions = functions, .nfunctions = MODEL_COUNT(functions),
	.nbuses = 2, .ubox_highest = true, .second_devfn = DEVFN(22, 0),
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of the processors of model 85: Skylake-SP, Cascade Lake-SP and Cooper Lake-SP.
 * The manual of the first, document 336274, was not available: addresses and fields are from the
 * in-tree driver, PCM, LIKWID and libpfm4, which agree. Cooper Lake's are from PCM, but for the
 * device IDs of its six M3UPI, which no source has: the model has no M3UPI there.
 *
 * Guesses by Haswell: bit 62 of the global control and its core mask, the order of stages of an
 * overflow, and the iMC's bits of the box status. No source has the global status bit of UPI 3
 * to 5, of the third M3UPI, of stack 5's IIO and IRP, and of M2PCIe: their overflows signal
 * nothing, and software has to poll them. The clock of the IRP is a guess, too.
 *
 * The file of a generation includes this file after it has defined WAVES(box), the table of events,
 * and LINKS, the number of UPI links of a package: 3, or 6 on Cooper Lake.
 */

#include "mesh.h"

#define MAX_CHAS	28
#define CORE_SEL	0x0fffffffu	/* a bit for each core */

#define WK_ON_PMI	(1ULL << 62)
#define BUSES_VALID	(1ULL << 63)

/* --- UBox ------------------------------------------------------------------ */

UBOX_REGS(
	/* CPUBUSNO */
	{ .at = 0x300, .type = REG_BUSES, .keep = BUSES_VALID, .name = "buses" },
	{ .at = 0x700, .type = REG_GLOBAL_CTL, .name = "global_ctl",
	  .keep = CORE_SEL | WK_ON_PMI, .wo = FRZ_ALL | UNFRZ_ALL },
	{ .at = 0x701, .type = REG_GLOBAL_STATUS, .name = "global_status" });

static const u64 ubox_ov[] = { 1ULL << 1 };

/* --- CHA ------------------------------------------------------------------- */

#define CHA_CTL		(CTL | CTL_TID_EN | THRESH_8)

CHA_REGS(CHA_CTL,
	ROW_FILTER(0x5, 0, 0x07fe1fff, 0, "filter0"),
	ROW_FILTER(0x6, 1, 0xfffffe3b, 0, "filter1"));

/* TOR_INSERTS and TOR_OCCUPANCY */
#define CHA_TOR(how, what, at, bits) \
	{ .first = 0x35, .last = 0x36, .op = (how), .attr = (what), .reg = 1, \
	  .shift = (at), .width = (bits) }

/*
 * A counter of requests in the TOR needs one of the queues of bits 3:0, and a hit or a miss of
 * bits 5:4, and counts requests that have both.
 */
static const struct model_filter cha_filters[] = {
	COMMON(0x35, 0x36, 0x0f), COMMON(0x35, 0x36, 0x30),
	{ .last = 0xff, .ctl = CTL_TID_EN, .op = FILTER_EQUAL,
	  .attr = ATTR_TID, .width = 9 },
	{ .first = 0x38, .last = 0x38, .op = FILTER_MEETS_IF_SET,
	  .attr = ATTR_LINK, .shift = 9, .width = 4 },
	{ .first = 0x34, .last = 0x34, .op = FILTER_MEETS, .attr = ATTR_STATE,
	  .shift = 17, .width = 10 },
	CHA_TOR(FILTER_MEETS, ATTR_HOME, 0, 2),
	CHA_TOR(FILTER_OPCODES, ATTR_OPC, 3, 26),
	CHA_TOR(FILTER_MEETS, ATTR_MEMORY, 4, 2),
	CHA_TOR(FILTER_NEEDS, ATTR_C6, 29, 1),
	CHA_TOR(FILTER_NEEDS, ATTR_NC, 30, 1),
	CHA_TOR(FILTER_NEEDS, ATTR_ISOC, 31, 1),
};

static const u64 cha_ov[MAX_CHAS] = {
	1ULL << 3, 1ULL << 4, 1ULL << 5, 1ULL << 6, 1ULL << 7, 1ULL << 8,
	1ULL << 9, 1ULL << 10, 1ULL << 11, 1ULL << 12, 1ULL << 13, 1ULL << 14,
	1ULL << 15, 1ULL << 16, 1ULL << 17, 1ULL << 18, 1ULL << 19, 1ULL << 20,
	1ULL << 21, 1ULL << 22, 1ULL << 23, 1ULL << 24, 1ULL << 25, 1ULL << 26,
	1ULL << 27, 1ULL << 28, 1ULL << 29, 1ULL << 30,
};

/* --- PCU ------------------------------------------------------------------- */

PCU_REGS_710(0, PCU_CTL, 0);

static const u64 pcu_ov[] = { 1ULL << 2 };

/* --- iMC: a box is a channel ------------------------------------------------ */

PCI_REGS_4(imc_regs, CTL | THRESH_8, 0,
	ROW_FIXED_CTR(0xd0),
	ROW_FIXED_CTL(0xf0, CTL_EN | CTL_OV_EN, MODEL_BIT(19), 0),
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0x1f, 0));

static const u64 imc_ov[] = {
	1ULL << 39, 1ULL << 39, 1ULL << 39, 1ULL << 40, 1ULL << 40, 1ULL << 40,
};

/* --- M2M: between the mesh and a controller; controls are 8 bytes apart ------- */

static const struct model_reg m2m_regs[] = {
	ROW_CTR(0x200, 0), ROW_CTL(0x228, 0, MESH_CTL, 0),
	ROW_CTR(0x208, 1), ROW_CTL(0x230, 1, MESH_CTL, 0),
	ROW_CTR(0x210, 2), ROW_CTL(0x238, 2, MESH_CTL, 0),
	ROW_CTR(0x218, 3), ROW_CTL(0x240, 3, MESH_CTL, 0),
	ROW_BOX_CTL(0x258, 0),
	ROW_STATUS(0x260, 0xf, 0),
	/*
	 * Match, mask and opcode, by LIKWID alone: they keep their values, and no event
	 * is known that obeys them.
	 */
	ROW_FILTER(0x268, 0, 0xffffffff, 0, "addrmatch0"),
	ROW_FILTER(0x26c, 1, 0xffffffff, 0, "addrmatch1"),
	ROW_FILTER(0x270, 2, 0xffffffff, 0, "addrmask0"),
	ROW_FILTER(0x274, 3, 0xffffffff, 0, "addrmask1"),
	ROW_FILTER(0x278, 4, 0xffffffff, 0, "opcodemm"),
};

static const u64 m2m_ov[] = { 1ULL << 62, 1ULL << 63 };

/* --- UPI: a control has 64 bits, with more of the unit mask in the upper half --- */

#define UPI_UMASK_EXT	(0xffefffULL << 32)
#define UPI_CTL		(CTL | THRESH_8 | UPI_UMASK_EXT)

static const struct model_layout upi_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .umask_ext = UPI_UMASK_EXT,
};

static const struct model_reg upi_regs[] = {
	ROW_CTR(0x318, 0), ROW_CTL_64(0x350, 0, UPI_CTL),
	ROW_CTR(0x320, 1), ROW_CTL_64(0x358, 1, UPI_CTL),
	ROW_CTR(0x328, 2), ROW_CTL_64(0x360, 2, UPI_CTL),
	ROW_CTR(0x330, 3), ROW_CTL_64(0x368, 3, UPI_CTL),
	ROW_BOX_CTL(0x378, 0),
	ROW_STATUS(0x37c, 0xf, 0),
	ROW_LINK_PEER(0x94), ROW_LINK_STATUS(0x120),
};

static const u64 upi_ov[LINKS] = { 1ULL << 41, 1ULL << 42, 1ULL << 43 };

/* --- M3UPI: between the mesh and UPI, with three counters ----------------------- */

#if LINKS == 3
PCI_REGS_3(m3upi_regs, MESH_CTL, 0,
	ROW_BOX_CTL(0xf4, 0),
	ROW_STATUS(0xf8, 0x7, 0));

static const u64 m3upi_ov[] = { 1ULL << 46, 1ULL << 47, 0 };
#endif

/* --- M2PCIe: between the mesh and a stack; no source names a box status ---------- */

PCI_REGS_4(m2pcie_regs, MESH_CTL, 0,
	ROW_BOX_CTL(0xf4, 0));

/* --- IIO: an IO stack, with a threshold of 12 bits ------------------------------- */

#define MAX_STACKS	6
#define STACK_MSRS	.first = 0xa40, .last = 0xa40 + MAX_STACKS * 0x20 - 1, \
			.base = 0xa40, .stride = 0x20

#define IIO_CH_MASK	(0xffULL << 36)	/* a bit for each port, or part, of the stack */
#define IIO_FC_MASK	(0x7ULL << 44)	/* posted, non-posted, completion */
#define IIO_CTL		(CTL | IIO_THRESH | IIO_CH_MASK | IIO_FC_MASK)

STACK_REGS(iio_regs, IIO_CTL, ROW_STATUS(0x7, 0xf, 0));

static const struct model_filter iio_filters[] = {
	/* DATA_REQ_OF_CPU, TXN_REQ_OF_CPU */
	IIO_MASK(0x83, 0x84, ATTR_PORT, 36, 8),
	IIO_MASK(0x83, 0x84, ATTR_FC, 44, 3),
	/* DATA_REQ_BY_CPU, TXN_REQ_BY_CPU, COMP_BUF_INSERTS */
	IIO_MASK(0xc0, 0xc2, ATTR_PORT, 36, 8),
	IIO_MASK(0xc0, 0xc2, ATTR_FC, 44, 3),
	/* COMP_BUF_OCCUPANCY */
	IIO_MASK(0xd5, 0xd5, ATTR_FC, 44, 3),
};

/* with the IRP of the stack */
static const u64 stack_ov[MAX_STACKS] = {
	1ULL << 56, 1ULL << 57, 1ULL << 58, 1ULL << 59, 1ULL << 60, 0,
};

/* --- IIO free running: software can neither stop nor write these counters --------- */

/* @mask: unit mask of the event as the in-tree driver has it */
#define ROW_STACK_FREE(where, distance, i, mask, text) \
	{ .at = (where), .type = REG_FREE, .index = (i), .stride = (distance), \
	  .bits = 36, .counts = true, .code = 0xff, .umask = (mask), \
	  .name = (text) }
#define ROW_PORT_FREE(where, i, mask, text) \
	ROW_STACK_FREE(where, 0x10, i, mask, text)

static const struct model_reg iio_free_running_regs[] = {
	ROW_STACK_FREE(0xa45, 0x20, 0, 0x10, "ioclk"),
	/* in 4 bytes */
	ROW_PORT_FREE(0xb00, 1, 0x20, "bw_in_port0"),
	ROW_PORT_FREE(0xb01, 2, 0x21, "bw_in_port1"),
	ROW_PORT_FREE(0xb02, 3, 0x22, "bw_in_port2"),
	ROW_PORT_FREE(0xb03, 4, 0x23, "bw_in_port3"),
	ROW_PORT_FREE(0xb04, 5, 0x24, "bw_out_port0"),
	ROW_PORT_FREE(0xb05, 6, 0x25, "bw_out_port1"),
	ROW_PORT_FREE(0xb06, 7, 0x26, "bw_out_port2"),
	ROW_PORT_FREE(0xb07, 8, 0x27, "bw_out_port3"),
	/* cycles */
	ROW_PORT_FREE(0xb08, 9, 0x30, "util_in_port0"),
	ROW_PORT_FREE(0xb09, 10, 0x31, "util_out_port0"),
	ROW_PORT_FREE(0xb0a, 11, 0x32, "util_in_port1"),
	ROW_PORT_FREE(0xb0b, 12, 0x33, "util_out_port1"),
	ROW_PORT_FREE(0xb0c, 13, 0x34, "util_in_port2"),
	ROW_PORT_FREE(0xb0d, 14, 0x35, "util_out_port2"),
	ROW_PORT_FREE(0xb0e, 15, 0x36, "util_in_port3"),
	ROW_PORT_FREE(0xb0f, 16, 0x37, "util_out_port3"),
};

/* --- IRP: beside the IIO of each stack, with two counters -------------------------- */

static const struct model_reg irp_regs[] = {
	ROW_BOX_CTL(0x18, 0),
	ROW_CTR(0x19, 0), ROW_CTL(0x1b, 0, MESH_CTL, 0),
	ROW_CTR(0x1a, 1), ROW_CTL(0x1c, 1, MESH_CTL, 0),
	ROW_STATUS(0x1f, 0x3, 0),
};

/* --- box types --------------------------------------------------------------- */

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.thresh = 0x1f, .first = 0x300, .last = 0x70a,
		.ov = ubox_ov, .ov_fixed = 1ULL << 0,
		TABLES(ubox), FILTERS(ubox),
	},
	{
		.name = "cha", BOXES(1, MAX_CHAS), .counters = 4,
		.thresh = 0xff, .relay = 0x1f,
		.first = 0xe00, .last = 0xe00 + MAX_CHAS * 16 - 1,
		.base = 0xe00, .stride = 16, .ov = cha_ov,
		TABLES(cha), FILTERS(cha),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4, .thresh = 0x1f,
		.first = 0x710, .last = 0x71a, .ov = pcu_ov, .clock = MODEL_PCLK,
		TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "imc", BOXES(1, 6), .pci = true, .counters = 4,
		.has_fixed = true, .status_shift = 1, .fixed_status = 1,
		.thresh = 0xff, .ov = imc_ov, .clock = MODEL_DCLK,
		TABLES(imc),
	},
	{
		.name = "m2m", BOXES(1, 2), .pci = true, .counters = 4,
		.thresh = 0xff, .ov = m2m_ov, TABLES(m2m),
	},
	{
		.name = "upi", BOXES(0, LINKS), .pci = true, .counters = 4,
		.thresh = 0xff, .ov = upi_ov, .clock = MODEL_QCLK,
		TABLES_OF(upi, upi_layout), FILTERS(upi),
	},
#if LINKS == 3
	{
		.name = "m3upi", BOXES_AS(0, 3, "upi"), .pci = true, .counters = 3,
		.thresh = 0xff, .ov = m3upi_ov, TABLES(m3upi),
	},
#endif
	{
		.name = "m2pcie", BOXES(1, 4), .pci = true, .counters = 4,
		.quirks = QUIRK_NO_STATUS, .thresh = 0xff, TABLES(m2pcie),
	},
	{
		.name = "iio", BOXES(1, MAX_STACKS), .counters = 4,
		.thresh = 0xfff, STACK_MSRS, .ov = stack_ov, .clock = MODEL_IOCLK,
		TABLES(iio), FILTERS(iio),
	},
	{
		.name = "irp", BOXES_AS(1, MAX_STACKS, "iio"), .counters = 2,
		.thresh = 0xff, STACK_MSRS, .ov = stack_ov, .clock = MODEL_IOCLK,
		TABLES(irp),
	},
	{
		.name = "iio_free_running", BOXES_AS(1, MAX_STACKS, "iio"),
		.first = 0xa45, .last = 0xb0f + (MAX_STACKS - 1) * 0x10,
		.clock = MODEL_IOCLK,
		TABLES(iio_free_running),
	},
};

/* --- PCI functions, and other functions of their devices ----------------------- */

static const struct model_reg ubox_pci_regs[] = {
	{ .at = 0xc0, .bytes = 4, .type = REG_NODE_ID, .name = "node_id" },
	{ .at = 0xcc, .bytes = 4, .type = REG_BUSES, .name = "buses0" },
	{ .at = 0xd0, .bytes = 4, .type = REG_BUSES, .index = 4, .name = "buses4" },
	{ .at = 0xd4, .bytes = 4, .type = REG_NODE_MAP, .name = "node_map" },
};

/* bits 27:0: the CHAs of the die by position */
static const struct model_reg capid_regs[] = {
	{ .at = 0x9c, .bytes = 4, .type = REG_BOX_MASK, .name = "capid6" },
};

#define ON_BUS(number, device, function, did, of, i, ...) \
	{ .bus = (number), .devfn = DEVFN(device, function), .id = (did), \
	  .type = (of), .box = (i), __VA_ARGS__ }
#define COUNTERS(number, device, function, did, of, i, ...) \
	ON_BUS(number, device, function, did, of, i, \
	       .class_code = CLASS_PERFORMANCE, .pmon = true, __VA_ARGS__)
#define CHANNEL(device, function, did, i) \
	COUNTERS(2, device, function, did, "imc", i)
#define OTHER(number, device, did, of, i) \
	ON_BUS(number, device, 0, did, of, i, .class_code = CLASS_SYSTEM)

/* the root port of a part of stack @i, with the bus @lower below */
#define ROOT_PORT(number, part, did, i, lower) \
	ON_BUS(number, part, 0, did, "iio", i, .class_code = CLASS_BRIDGE, \
	       .below = (lower))

static const struct model_function functions[] = {
	OTHER(0, 8, 0x2016, "ubox", 0),
	ON_BUS(0, 8, 2, 0x2014, "ubox", 0, .class_code = CLASS_SYSTEM,
	       .missing = MODEL_MISSING_UBOX, .regs = ubox_pci_regs,
	       .nregs = MODEL_COUNT(ubox_pci_regs)),

	OTHER(1, 30, 0x2080, "pcu", 0),
	ON_BUS(1, 30, 3, 0x2083, "pcu", 0, .class_code = CLASS_SYSTEM,
	       .missing = MODEL_MISSING_CAPID, .regs = capid_regs,
	       .nregs = MODEL_COUNT(capid_regs)),

	/* both controllers have the same device IDs */
	OTHER(2, 10, 0x2040, "imc", 0),
	CHANNEL(10, 2, 0x2042, 0),
	CHANNEL(10, 6, 0x2046, 1),
	OTHER(2, 11, 0x2048, "imc", 2),
	CHANNEL(11, 2, 0x204a, 2),
	OTHER(2, 12, 0x2040, "imc", 3),
	CHANNEL(12, 2, 0x2042, 3),
	CHANNEL(12, 6, 0x2046, 4),
	OTHER(2, 13, 0x2048, "imc", 5),
	CHANNEL(13, 2, 0x204a, 5),

	/* each stack has a root bus, with a root port for each part that has a device */
	OTHER(0, 5, 0x2024, "iio", 0),
	OTHER(1, 5, 0x2024, "iio", 1),
	ROOT_PORT(1, 0, 0x2030, 1, 6),
	ON_BUS(6, 0, 0, 0x1583, "iio", 1, .class_code = CLASS_ETHERNET),
	OTHER(2, 5, 0x2024, "iio", 2),
	ROOT_PORT(2, 0, 0x2030, 2, 7),
	ON_BUS(7, 0, 0, 0x0a54, "iio", 2, .class_code = CLASS_NVME),
	OTHER(3, 5, 0x2024, "iio", 3),
	ROOT_PORT(3, 2, 0x2032, 3, 8),
	ON_BUS(8, 0, 0, 0x0a54, "iio", 3, .class_code = CLASS_NVME),
	OTHER(4, 5, 0x2024, "iio", 4),
	OTHER(5, 5, 0x2024, "iio", 5),

	/* the registers are above 0xff */
	COUNTERS(2, 8, 0, 0x2066, "m2m", 0, .pcie = true),
	COUNTERS(2, 9, 0, 0x2066, "m2m", 1, .pcie = true),

	COUNTERS(3, 14, 0, 0x2058, "upi", 0, .pcie = true),
	COUNTERS(3, 15, 0, 0x2058, "upi", 1, .pcie = true),
	COUNTERS(3, 16, 0, 0x2058, "upi", 2, .pcie = true),

	/* the bus of M3UPI and M2PCIe is UPI's: no source names another */
#if LINKS == 3
	OTHER(3, 18, 0x204c, "m3upi", 0),
	COUNTERS(3, 18, 1, 0x204d, "m3upi", 0),
	COUNTERS(3, 18, 2, 0x204e, "m3upi", 1),
	COUNTERS(3, 18, 5, 0x204d, "m3upi", 2),
#else
	COUNTERS(3, 14, 4, 0x2058, "upi", 3, .pcie = true),
	COUNTERS(3, 15, 4, 0x2058, "upi", 4, .pcie = true),
	COUNTERS(3, 16, 4, 0x2058, "upi", 5, .pcie = true),
#endif

	OTHER(3, 21, 0x2018, "m2pcie", 0),
	COUNTERS(3, 21, 1, 0x2088, "m2pcie", 0),
	OTHER(3, 22, 0x2018, "m2pcie", 1),
	COUNTERS(3, 22, 1, 0x2088, "m2pcie", 1),
	OTHER(3, 23, 0x2018, "m2pcie", 2),
	COUNTERS(3, 23, 1, 0x2088, "m2pcie", 2),
	COUNTERS(3, 21, 5, 0x2088, "m2pcie", 3),
};

#define SKYLAKE_COMMON \
	.cpu_family = 6, .cpu_model = 85, .ubox_device = 0x2014, .counter_bits = 48, \
	.freezes = true, .frz_all = FRZ_ALL, .unfrz_all = UNFRZ_ALL, \
	.wk_on_pmi = WK_ON_PMI, .core_sel = CORE_SEL, \
	.types = box_types, .ntypes = MODEL_COUNT(box_types), .num_c = "cha", \
	.functions = functions, .nfunctions = MODEL_COUNT(functions), \
	.nbuses = 6, .second_devfn = DEVFN(25, 0)

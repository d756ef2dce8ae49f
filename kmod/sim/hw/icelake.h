/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of Ice Lake-SP, model 106, and Ice Lake-D, model 108. Intel's manual, document 639778,
 * was not available: addresses and fields are from the in-tree driver, PCM and LIKWID, which
 * agree.
 *
 * Guesses by Skylake-SP: the bits of box controls, the iMC's bits of the box status, and the
 * clocks of IRP and M2PCIe. The global status is in two registers, and no source has the boxes
 * of their bits: overflows signal nothing, and software has to poll them.
 *
 * The file of a generation defines before it includes this file:
 *
 * - WAVES(box), the table of events,
 * - CONTROLLERS, the number of memory controllers, 1 or 4,
 * - ONE_SOCKET, if the generation has neither UPI nor M3UPI,
 * - SAD_0 to SAD_5, the stack of each number that address decoders have.
 */

#include "icelake_snowridge.h"

#define MAX_CHAS	40
#define MAX_STACKS	6
#define CHANNELS	3	/* of a controller */

/* --- UBox ------------------------------------------------------------------ */

UBOX_REGS(
	{ .at = 0x700, .type = REG_GLOBAL_CTL, .name = "global_ctl",
	  .wo = FRZ_ALL | UNFRZ_ALL },
	{ .at = 0x70e, .type = REG_CONST, .name = "global_status0" },
	{ .at = 0x70f, .type = REG_CONST, .name = "global_status1" });

/* --- PCU ------------------------------------------------------------------- */

PCU_REGS_710(0, PCU_CTL, 0);

/* --- CHA ------------------------------------------------------------------------ */

CHA_REGS(CHA_CTL, CHA_FILTER0);

/* three ranges, in which the CHAs are 14 MSRs apart */
static const u16 cha_bases[MAX_CHAS] = {
	0xe00, 0xe0e, 0xe1c, 0xe2a, 0xe38, 0xe46,
	0xe54, 0xe62, 0xe70, 0xe7e, 0xe8c, 0xe9a,
	0xea8, 0xeb6, 0xec4, 0xed2, 0xee0, 0xeee,
	0xf0a, 0xf18, 0xf26, 0xf34, 0xf42, 0xf50,
	0xf5e, 0xf6c, 0xf7a, 0xf88, 0xf96, 0xfa4,
	0xfb2, 0xfc0, 0xfce, 0xfdc,
	0xb60, 0xb6e, 0xb7c, 0xb8a, 0xb98, 0xba6,
};

/* --- memory controllers: places in the package's window of memory --------------- */

static const u32 channels[CONTROLLERS * CHANNELS] = {
	CHANNEL(0, 0), CHANNEL(0, 1), CHANNEL(0, 2),
#if CONTROLLERS > 1
	CHANNEL(1, 0), CHANNEL(1, 1), CHANNEL(1, 2),
	CHANNEL(2, 0), CHANNEL(2, 1), CHANNEL(2, 2),
	CHANNEL(3, 0), CHANNEL(3, 1), CHANNEL(3, 2),
#endif
};

static const u32 controllers[CONTROLLERS] = {
	CONTROLLER(0),
#if CONTROLLERS > 1
	CONTROLLER(1), CONTROLLER(2), CONTROLLER(3),
#endif
};

/* --- iMC free running -------------------------------------------------------------- */

IMC_FREE_RUNNING_REGS(
	/* lines of persistent memory */
	ROW_MEMORY_FREE(0x22a0, 3, 0x30, "ddrt_read"),
	ROW_MEMORY_FREE(0x22a8, 4, 0x31, "ddrt_write"));

#ifndef ONE_SOCKET

/* --- UPI ------------------------------------------------------------------------ */

#define UPI_UMASK_EXT	(0xffffffULL << 32)
#define UPI_CTL		(MESH_CTL | UPI_UMASK_EXT)

static const struct model_layout upi_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .umask_ext = UPI_UMASK_EXT,
};

static const struct model_reg upi_regs[] = {
	ROW_BOX_CTL(0x318, 0),
	ROW_CTR(0x320, 0), ROW_CTL_64(0x350, 0, UPI_CTL),
	ROW_CTR(0x328, 1), ROW_CTL_64(0x358, 1, UPI_CTL),
	ROW_CTR(0x330, 2), ROW_CTL_64(0x360, 2, UPI_CTL),
	ROW_CTR(0x338, 3), ROW_CTL_64(0x368, 3, UPI_CTL),
	ROW_STATUS(0x37c, 0xf, 0),
	ROW_LINK_PEER(0x94), ROW_LINK_STATUS(0x120),
};

/* --- M3UPI: between the mesh and UPI --------------------------------------------- */

static const struct model_reg m3upi_regs[] = {
	ROW_BOX_CTL(0xa0, 0),
	ROW_CTR(0xa8, 0), ROW_CTL(0xd8, 0, MESH_CTL, 0),
	ROW_CTR(0xb0, 1), ROW_CTL(0xdc, 1, MESH_CTL, 0),
	ROW_CTR(0xb8, 2), ROW_CTL(0xe0, 2, MESH_CTL, 0),
	ROW_CTR(0xc0, 3), ROW_CTL(0xe4, 3, MESH_CTL, 0),
	ROW_STATUS(0xf8, 0xf, 0),
};

#endif

/* --- IO stacks: the MSRs of M2PCIe, IRP and IIO of a stack follow one another ------- */

#define STACK_MSRS(table, number) \
	.first = 0xa40, .last = 0xb2f, .bases = (table), .span = (number)
#define STACKS(first) \
	{ (first), (first) + 0x20, (first) + 0x40, (first) + 0x90, (first) + 0xb0, \
	  (first) + 0xd0 }

static const u16 m2pcie_bases[MAX_STACKS] = STACKS(0xa40);
static const u16 irp_bases[MAX_STACKS] = STACKS(0xa4a);
static const u16 iio_bases[MAX_STACKS] = STACKS(0xa50);

static const struct model_reg m2pcie_regs[] = {
	ROW_BOX_CTL(0x0, 0),
	ROW_CTR(0x1, 0), ROW_CTL(0x6, 0, MESH_CTL, 0),
	ROW_CTR(0x2, 1), ROW_CTL(0x7, 1, MESH_CTL, 0),
	ROW_CTR(0x3, 2), ROW_CTL(0x8, 2, MESH_CTL, 0),
	ROW_CTR(0x4, 3), ROW_CTL(0x9, 3, MESH_CTL, 0),
	ROW_STATUS(0x5, 0xf, 0),
};

static const struct model_reg irp_regs[] = {
	ROW_BOX_CTL(0x0, 0),
	ROW_CTR(0x1, 0), ROW_CTL(0x3, 0, MESH_CTL, 0),
	ROW_CTR(0x2, 1), ROW_CTL(0x4, 1, MESH_CTL, 0),
	ROW_STATUS(0x5, 0x3, 0),
};

STACK_REGS(iio_regs, IIO_CTL, ROW_STATUS(0x7, 0xf, 0));

/* --- IIO free running ------------------------------------------------------------- */

static const u16 ioclk_bases[MAX_STACKS] = STACKS(0xa55);
static const u16 port_bases[MAX_STACKS] = { 0xaa0, 0xab0, 0xac0, 0xb30, 0xb40, 0xb50 };

IIO_FREE_RUNNING_REGS(ioclk_bases);

/* --- box types --------------------------------------------------------------- */

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.thresh = 0x1f, .first = 0x700, .last = 0x70f,
		TABLES(ubox), FILTERS(ubox),
	},
	{
		.name = "cha", BOXES(1, MAX_CHAS), .counters = 4,
		.thresh = 0xff, .relay = 0x1f,
		.first = 0xb60, .last = 0xfe9, .bases = cha_bases, .span = 14,
		TABLES_OF(cha, cha_layout), FILTERS(cha),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4, .thresh = 0x1f,
		.first = 0x710, .last = 0x71a, .clock = MODEL_PCLK,
		TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "imc", BOXES(1, CONTROLLERS * CHANNELS), .memory = channels,
		.counters = 4, .has_fixed = true, .status_shift = 1,
		.fixed_status = 1, .thresh = 0xff, .clock = MODEL_DCLK,
		TABLES(imc),
	},
	{
		.name = "imc_free_running", BOXES_NUMBERED(1, CONTROLLERS),
		.memory = controllers, .clock = MODEL_DCLK,
		TABLES(imc_free_running),
	},
	{
		.name = "m2m", BOXES_NUMBERED(1, CONTROLLERS), .pci = true, .counters = 4,
		.thresh = 0xff, TABLES_OF(m2m, m2m_layout),
	},
#ifndef ONE_SOCKET
	{
		.name = "upi", BOXES(0, 3), .pci = true, .counters = 4,
		.thresh = 0xff, .clock = MODEL_QCLK,
		TABLES_OF(upi, upi_layout), FILTERS(upi),
	},
	{
		.name = "m3upi", BOXES_AS(0, 3, "upi"), .pci = true, .counters = 4,
		.thresh = 0xff, TABLES(m3upi),
	},
#endif
	{
		.name = "m2pcie", BOXES_AS(1, MAX_STACKS, "iio"), .counters = 4,
		.thresh = 0xff, STACK_MSRS(m2pcie_bases, 10), TABLES(m2pcie),
	},
	{
		.name = "iio", BOXES(1, MAX_STACKS), .counters = 4,
		.thresh = 0xfff, STACK_MSRS(iio_bases, 12), .clock = MODEL_IOCLK,
		TABLES(iio), FILTERS(iio),
	},
	{
		.name = "irp", BOXES_AS(1, MAX_STACKS, "iio"), .counters = 2,
		.thresh = 0xff, STACK_MSRS(irp_bases, 6), .clock = MODEL_IOCLK,
		TABLES(irp),
	},
	{
		.name = "iio_free_running", BOXES_AS(1, MAX_STACKS, "iio"),
		.first = 0xa55, .last = 0xb57, .bases = port_bases, .span = 8,
		.clock = MODEL_IOCLK, TABLES(iio_free_running),
	},
};

/* --- PCI functions, and other functions of their devices ----------------------- */

static const struct model_reg memory_pci_regs[] = {
	ROW_MEMORY_BASE(0xd0),
	MEMORY_BAR(0xd8, 0, "mem0_bar"),
#if CONTROLLERS > 1
	MEMORY_BAR(0xdc, 1, "mem1_bar"),
	MEMORY_BAR(0xe0, 2, "mem2_bar"),
	MEMORY_BAR(0xe4, 3, "mem3_bar"),
#endif
};

/* CAPID6 and CAPID7: the CHAs of the die by position */
static const struct model_reg capid_regs[] = {
	{ .at = 0x9c, .bytes = 4, .type = REG_BOX_MASK, .name = "capid6" },
	{ .at = 0xa0, .bytes = 4, .type = REG_BOX_MASK, .index = 32, .name = "capid7" },
};

/* the mesh's function of each stack on the stack's root bus */
STACK_NUMBER(0);
STACK_NUMBER(1);
STACK_NUMBER(2);
STACK_NUMBER(3);
STACK_NUMBER(4);
STACK_NUMBER(5);

static const struct model_function functions[] = {
	SYSTEM(0, 0, 0x3450, "ubox", 0, .missing = MODEL_MISSING_UBOX,
	       TABLE(ubox_pci_regs)),
	SYSTEM(0, 1, 0x3451, "imc", 0, TABLE(memory_pci_regs)),

	/* the next bus has the CHAs and the capability registers */
	SYSTEM(0, 0, 0x344c, "cha", 0, .bus = 7),
	SYSTEM(30, 0, 0x3458, "pcu", 0, .bus = 7),
	SYSTEM(30, 3, 0x345b, "pcu", 0, .bus = 7, .missing = MODEL_MISSING_CAPID,
	       TABLE(capid_regs)),

#ifndef ONE_SOCKET
	SYSTEM(2, 0, 0x3440, "upi", 0),
	COUNTERS(2, 1, 0x3441, "upi", 0),
	SYSTEM(3, 0, 0x3440, "upi", 1),
	COUNTERS(3, 1, 0x3441, "upi", 1),
	SYSTEM(4, 0, 0x3440, "upi", 2),
	COUNTERS(4, 1, 0x3441, "upi", 2),

	SYSTEM(5, 0, 0x3445, "m3upi", 0),
	COUNTERS(5, 1, 0x3446, "m3upi", 0),
	SYSTEM(6, 0, 0x3445, "m3upi", 1),
	COUNTERS(6, 1, 0x3446, "m3upi", 1),
	SYSTEM(7, 0, 0x3445, "m3upi", 2),
	COUNTERS(7, 1, 0x3446, "m3upi", 2),
#endif

	COUNTERS(12, 0, 0x344a, "m2m", 0),
#if CONTROLLERS > 1
	COUNTERS(13, 0, 0x344a, "m2m", 1),
	COUNTERS(14, 0, 0x344a, "m2m", 2),
	COUNTERS(15, 0, 0x344a, "m2m", 3),
#endif

	/*
	 * lower buses: a root bus for each stack, in the order of their numbers, with its devices
	 * below root ports
	 */
	STACK(0),
	STACK(1),
	ROOT_PORT(1, 2, 0x347a, 8),
	DEVICE(1, 8, 0x1583, CLASS_ETHERNET),
	STACK(2),
	ROOT_PORT(2, 2, 0x347a, 9),
	DEVICE(2, 9, 0x0a54, CLASS_NVME),
	STACK(3),
	STACK(4),
	ROOT_PORT(4, 4, 0x347c, 10),
	DEVICE(4, 10, 0x0a54, CLASS_NVME),
	STACK(5),
};

#define ICELAKE_COMMON \
	.cpu_family = 6, .ubox_device = 0x3450, .counter_bits = 48, \
	.freezes = true, .frz_all = FRZ_ALL, .unfrz_all = UNFRZ_ALL, \
	.types = box_types, .ntypes = MODEL_COUNT(box_types), .num_c = "cha", \
	.functions = functions, .nfunctions = MODEL_COUNT(functions), \
	.nbuses = 8, .ubox_highest = true, .above = 1, .second_devfn = DEVFN(25, 0)

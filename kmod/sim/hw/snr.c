// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Snow Ridge (Atom P5900). Addresses and fields are from the in-tree driver, and the
 * stacks' numbers from PCM as well. No manual was available, and no list of PCI functions: the
 * root buses are as Ice Lake-SP's.
 *
 * The in-tree driver neither freezes the package nor reads a status, and no other source has
 * registers for that: an overflow sets no bit. Guesses by Skylake-SP: the bits of box controls, and
 * the clocks of IRP and M2PCIe.
 *
 * Left out: the counters of the PCIe root port 8086:334a, a function of another driver.
 */
#include "model/priv.h"
#include "generated/snr_waves.h"

#define WAVES(box)	snr_##box##_waves
#define ONE_SOCKET

/* the stack of each number that address decoders have */
enum { SAD_0 = 1, SAD_1 = 4, SAD_2 = 3, SAD_3 = 2, SAD_4 = 0 };

#include "icelake_snowridge.h"

#define MAX_CHAS	6
#define MAX_STACKS	5
#define CHANNELS	2

/* --- UBox ------------------------------------------------------------------------ */

static const struct model_reg ubox_regs[] = {
	ROW_CTL(0x1f91, 0, CTL | THRESH_5, 0), ROW_CTR(0x1f98, 0),
	ROW_CTL(0x1f92, 1, CTL | THRESH_5, 0), ROW_CTR(0x1f99, 1),
	ROW_FIXED_CTL(0x1f93, CTL_EN | CTL_OV_EN, 0, 0),
	ROW_FIXED_CTR(0x1f94),
};

/* --- CHA, PCU and IO stacks: the MSRs of a box are at most 16 ---------------------- */

#define MSRS(from, boxes) \
	.first = (from), .last = (from) + 16 * (boxes) - 1, .base = (from), .stride = 16
/* CHA and PCU have their counters above their controls, and a filter. */
#define FILTERED_REGS(table, fields, filter) \
	static const struct model_reg table[] = { \
		ROW_BOX_CTL(0x0, 0), \
		ROW_CTL(0x1, 0, fields, 0), ROW_CTR(0x8, 0), \
		ROW_CTL(0x2, 1, fields, 0), ROW_CTR(0x9, 1), \
		ROW_CTL(0x3, 2, fields, 0), ROW_CTR(0xa, 2), \
		ROW_CTL(0x4, 3, fields, 0), ROW_CTR(0xb, 3), \
		filter, \
	}

FILTERED_REGS(cha_regs, CHA_CTL, CHA_FILTER0);
FILTERED_REGS(pcu_regs, PCU_CTL, ROW_FILTER(0xc, 0, 0xffffffff, 0, "filter"));

STACK_REGS(iio_regs, IIO_CTL);
STACK_REGS(m2pcie_regs, MESH_CTL);

static const struct model_reg irp_regs[] = {
	ROW_BOX_CTL(0x0, 0),
	ROW_CTR(0x1, 0), ROW_CTL(0x8, 0, MESH_CTL, 0),
	ROW_CTR(0x2, 1), ROW_CTL(0x9, 1, MESH_CTL, 0),
};

/* --- free-running counters --------------------------------------------------------- */

/* the clock is the last MSR but three of a stack's IRP */
static const u16 ioclk_bases[MAX_STACKS] = { 0x1eac, 0x1ebc, 0x1ecc, 0x1edc, 0x1eec };

IIO_FREE_RUNNING_REGS(ioclk_bases);
IMC_FREE_RUNNING_REGS();

/* --- box types --------------------------------------------------------------- */

static const u32 channels[] = { CHANNEL(0, 0), CHANNEL(0, 1) };
static const u32 controllers[] = { CONTROLLER(0) };

static const struct model_type box_types[] = {
	{
		.name = "ubox", BOXES(1, 1), .counters = 2, .has_fixed = true,
		.thresh = 0x1f, .quirks = QUIRK_NO_STATUS,
		.first = 0x1f91, .last = 0x1f99, TABLES(ubox),
	},
	{
		.name = "cha", BOXES(1, MAX_CHAS), .counters = 4,
		.thresh = 0xff, .quirks = QUIRK_NO_STATUS, .relay = 0x1f,
		MSRS(0x1c00, MAX_CHAS), TABLES_OF(cha, cha_layout), FILTERS(cha),
	},
	{
		.name = "pcu", BOXES(1, 1), .counters = 4, .thresh = 0x1f,
		.quirks = QUIRK_NO_STATUS, .clock = MODEL_PCLK,
		MSRS(0x1ef0, 1), TABLES_OF(pcu, e5_pcu_layout), FILTERS(pcu),
	},
	{
		.name = "imc", BOXES(1, CHANNELS), .memory = channels,
		.counters = 4, .has_fixed = true, .thresh = 0xff,
		.quirks = QUIRK_NO_STATUS, .clock = MODEL_DCLK, TABLES(imc),
	},
	{
		.name = "imc_free_running", BOXES(1, 1), .memory = controllers,
		.clock = MODEL_DCLK, TABLES(imc_free_running),
	},
	{
		.name = "m2m", BOXES(1, 1), .pci = true, .counters = 4,
		.thresh = 0xff, .quirks = QUIRK_NO_STATUS,
		TABLES_OF(m2m, m2m_layout),
	},
	{
		.name = "m2pcie", BOXES_AS(1, MAX_STACKS, "iio"), .counters = 4,
		.thresh = 0xff, .quirks = QUIRK_NO_STATUS,
		MSRS(0x1e50, MAX_STACKS), TABLES(m2pcie),
	},
	{
		.name = "iio", BOXES(1, MAX_STACKS), .counters = 4,
		.thresh = 0xfff, .quirks = QUIRK_NO_STATUS, .clock = MODEL_IOCLK,
		MSRS(0x1e00, MAX_STACKS), TABLES(iio), FILTERS(iio),
	},
	{
		.name = "irp", BOXES_AS(1, MAX_STACKS, "iio"), .counters = 2,
		.thresh = 0xff, .quirks = QUIRK_NO_STATUS, .clock = MODEL_IOCLK,
		MSRS(0x1ea0, MAX_STACKS), TABLES(irp),
	},
	{
		.name = "iio_free_running", BOXES_AS(1, MAX_STACKS, "iio"),
		.clock = MODEL_IOCLK, .first = 0x1eac, .last = 0x1f47,
		.base = 0x1f00, .stride = 16, TABLES(iio_free_running),
	},
};

/* --- PCI functions, and other functions of their devices ----------------------- */

static const struct model_reg memory_pci_regs[] = {
	ROW_MEMORY_BASE(0xd0),
	MEMORY_BAR(0xd8, 0, "mem0_bar"),
};

/* the mesh's function of each stack on the stack's root bus */
STACK_NUMBER(0);
STACK_NUMBER(1);
STACK_NUMBER(2);
STACK_NUMBER(3);
STACK_NUMBER(4);

static const struct model_function functions[] = {
	SYSTEM(0, 0, 0x3460, "ubox", 0, .missing = MODEL_MISSING_UBOX,
	       TABLE(ubox_pci_regs)),
	SYSTEM(0, 1, 0x3451, "imc", 0, TABLE(memory_pci_regs)),
	COUNTERS(12, 0, 0x344a, "m2m", 0),

	/* lower buses: a root bus for each stack, in the order of their numbers */
	STACK(0),
	STACK(1),
	ROOT_PORT(1, 5, 0x334b, 6),
	DEVICE(1, 6, 0x1583, CLASS_ETHERNET),
	STACK(2),
	STACK(3),
	STACK(4),
};

const struct model_generation model_snr = {
	.name = "snr", .cpu_family = 6, .cpu_model = 134,
	.ubox_device = 0x3460, .counter_bits = 48,
	.types = box_types, .ntypes = MODEL_COUNT(box_types), .num_c = "cha",
	.functions = functions, .nfunctions = MODEL_COUNT(functions),
	.nbuses = 6, .ubox_highest = true, .second_devfn = DEVFN(25, 0),
};

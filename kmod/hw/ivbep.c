// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ivy Bridge-EP/EX (Xeon E5/E7 v2, family 6 model 62): Intel's manual 329468, of
 * which the sections are; where its pages were missing, the kernel's own
 * driver and LIKWID.  Addresses of counters and controls are events/ivbep's.
 */
#include <linux/pci.h>

#include "hw.h"
#include "generated/ivbep_events.h"
#include "generated/ivbep_fields.h"
#include "generated/ivbep_regs.h"

#define MSR_GLOBAL_CONFIG	0xc06

#define OF(box, what)	ivbep_##box##_##what
#define REG(what)	IVBEP_##what

/*
 * Bits of the counter control registers that format fields are.  Bit 23, invert,
 * is reserved ("SW must write to 0") but in the iMC, by the datasheet of the E7
 * v2 (13.2.4.4); the kernel's driver hides it there, too.  Bit 16 of the HA is
 * never set: it clears a queue's occupancy, which would be wrong from then on
 * until the queue is empty (Table 2-40).
 */
#define CTL_COMMON	(GENMASK_ULL(15, 0) | BIT_ULL(18))
#define CTL_INVERT	BIT_ULL(23)
#define BOX_CTL_BASE	BOX_CTL_ONES

#include "sandybridge.h"

enum {
	TYPE_UBOX, TYPE_CBOX, TYPE_HA, TYPE_IMC, TYPE_IRP, TYPE_IRP_IN_TREE,
	TYPE_PCU, TYPE_QPI, TYPE_R2PCIE, TYPE_R3QPI,
};

/* Tables 2-16 and 2-17; link (8:5) and c6 (29) are the kernel's driver's */
static const struct unc_filter_reg cbox_filters[] = {
	{ .reg = 0xd14, .word = 1, .mask = GENMASK(22, 17) | GENMASK(8, 0) },
	{ .reg = 0xd1a, .word = 1, .shift = 32,
	  .mask = GENMASK(31, 20) | GENMASK(15, 0) },
	{ }
};

/* --- global status bits (Table 2-3) ---------------------------------------- */

static const u64 cbox_global[IVBEP_CBOX_BOXES] = {
	BIT_ULL(3), BIT_ULL(4), BIT_ULL(5), BIT_ULL(6), BIT_ULL(7),
	BIT_ULL(8), BIT_ULL(9), BIT_ULL(10), BIT_ULL(11), BIT_ULL(12),
	BIT_ULL(13), BIT_ULL(14), BIT_ULL(15), BIT_ULL(16), BIT_ULL(17),
};
static const u64 ha_global[] = { BIT_ULL(18), BIT_ULL(19) };
/* by controller, of which each has four channels */
static const u64 imc_global[] = {
	BIT_ULL(20), BIT_ULL(20), BIT_ULL(20), BIT_ULL(20),
	BIT_ULL(21), BIT_ULL(21), BIT_ULL(21), BIT_ULL(21),
};
/* three ports share two bits, and sources differ on how */
#define QPI_GLOBAL	GENMASK_ULL(23, 22)
#define R3QPI_GLOBAL	GENMASK_ULL(25, 24)

/* --- all of them ----------------------------------------------------------- */

/* The box status register of a box in PCI space, and a bit for each counter */
#define STATUS(BOX_, counters)				\
	.regs.status = IVBEP_##BOX_##_BOX_STATUS,	\
	.regs.status_mask = GENMASK((counters) - 1, 0)

/* no bit of the global status is its: polled */
#define IRP									\
	.name = "irp", .space = &unc_space_pci, .layout = &unc_e5_layout,	\
	.bits = REG(IRP_WIDTH), CONTROLLED(IRP), .pci.io_bus = true,		\
	.regs.ctl = REG(IRP_CONTROL), .regs.ctr = REG(IRP_COUNTER),		\
	.max_inc = 128,								\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8

static const struct unc_type box_types[] = {
	[TYPE_UBOX] = {
		UBOX, .regs.status = 0xc15, .regs.status_mask = GENMASK(1, 0),
		.overflow.signals = true, .overflow.status_bits = GENMASK_ULL(1, 0),
	},
	/* it has no status register, and its overflows are signalled (§2.3.3.2) */
	[TYPE_CBOX] = { CBOX, .overflow.signals = true, .overflow.status = cbox_global },
	[TYPE_HA] = { HA, STATUS(HA, 4), .overflow.signals = true, .overflow.status = ha_global },
	[TYPE_IMC] = {
		/*
		 * Four counters, as the manual has it and the kernel's driver.
		 * The datasheet's fifth control register, 0xe8, is left alone.
		 */
		IMC, STATUS(IMC, 5),
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH7 | CTL_INVERT,
		.overflow.signals = true, .overflow.status = imc_global,
	},
	[TYPE_IRP] = {
		IRP, STATUS(IRP, 2), .general = 2,
		.max_boxes = REG(IRP_BOXES), .pci.in_function = REG(IRP_IN_FUNCTION),
		.quirks = UNC_QUIRK_NO_RESET,
		.pci.in_tree = &box_types[TYPE_IRP_IN_TREE],
		EVENTS_OF(irp),
	},
	[TYPE_IRP_IN_TREE] = {
		IRP, STATUS(IRP, 4), .max_boxes = 1, .general = 4,
		NAMES_OF(irp),
	},
	[TYPE_PCU] = {
		PCU, .regs.status = 0xc35, .regs.status_mask = GENMASK(3, 0),
		.overflow.signals = true, .overflow.status_bits = BIT_ULL(2),
	},
	[TYPE_QPI] = {
		QPI, STATUS(QPI, 4), .overflow.signals = true, .overflow.status_bits = QPI_GLOBAL,
	},
	[TYPE_R2PCIE] = {
		R2PCIE, STATUS(R2PCIE, 4),
		.overflow.signals = true, .overflow.status_bits = BIT_ULL(26),
	},
	[TYPE_R3QPI] = {
		R3QPI, STATUS(R3QPI, 3),
		.overflow.signals = true, .overflow.status_bits = R3QPI_GLOBAL,
	},
};

static const struct pci_device_id box_pci_ids[] = {
	BOX_PCI(0x0e30, TYPE_HA, 0, UNC_PCI_BOX),
	BOX_PCI(0x0e38, TYPE_HA, 1, UNC_PCI_BOX),
	BOX_PCI(0x0eb4, TYPE_IMC, 0, UNC_PCI_BOX),
	BOX_PCI(0x0eb5, TYPE_IMC, 1, UNC_PCI_BOX),
	BOX_PCI(0x0eb0, TYPE_IMC, 2, UNC_PCI_BOX),
	BOX_PCI(0x0eb1, TYPE_IMC, 3, UNC_PCI_BOX),
	BOX_PCI(0x0ef4, TYPE_IMC, 4, UNC_PCI_BOX),
	BOX_PCI(0x0ef5, TYPE_IMC, 5, UNC_PCI_BOX),
	BOX_PCI(0x0ef0, TYPE_IMC, 6, UNC_PCI_BOX),
	BOX_PCI(0x0ef1, TYPE_IMC, 7, UNC_PCI_BOX),
	BOX_PCI(0x0e39, TYPE_IRP, 0, UNC_PCI_BOX),
	BOX_PCI(0x0e32, TYPE_QPI, 0, UNC_PCI_BOX),
	BOX_PCI(0x0e33, TYPE_QPI, 1, UNC_PCI_BOX),
	BOX_PCI(0x0e3a, TYPE_QPI, 2, UNC_PCI_BOX),
	/* that of port 2 is not known */
	BOX_PCI(0x0e86, TYPE_QPI, 0, UNC_PCI_FILTER),
	BOX_PCI(0x0e96, TYPE_QPI, 1, UNC_PCI_FILTER),
	BOX_PCI(0x0e34, TYPE_R2PCIE, 0, UNC_PCI_BOX),
	BOX_PCI(0x0e36, TYPE_R3QPI, 0, UNC_PCI_BOX),
	BOX_PCI(0x0e37, TYPE_R3QPI, 1, UNC_PCI_BOX),
	BOX_PCI(0x0e3e, TYPE_R3QPI, 2, UNC_PCI_BOX),
	{ }
};

static unsigned int count_boxes(const struct unc_package *pkg,
				const struct unc_type *type)
{
	if (type == &box_types[TYPE_CBOX])
		return unc_die_cboxes(pkg, MSR_GLOBAL_CONFIG, IVBEP_CBOX_BOXES);
	return type->max_boxes;
}

const struct unc_generation unc_ivbep = {
	.name = "ivbep",
	.rival = "ivbep_uncore",
	.types = box_types,
	.num_types = ARRAY_SIZE(box_types),
	.pci_ids = box_pci_ids,
	.ubox_device = IVBEP_GLOBAL_UBOX_DEVICE,
	.map_bus = map_bus,
	.map_io_bus = unc_package_of_io_bus,
	.max_khz = 5000000,
	.global.ctl = IVBEP_GLOBAL_CONTROL,
	.global.status = IVBEP_GLOBAL_STATUS,
	.global.freeze = BIT(31),		/* Table 2-2 */
	.global.wake = BIT(30),
	.global.unfreeze = BIT(29),
	.global.cores = GENMASK(14, 0),
	.count_boxes = count_boxes,
};

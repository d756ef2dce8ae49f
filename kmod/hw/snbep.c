// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sandy Bridge-EP (Xeon E5-2600, family 6 model 45): Intel's manual 327043, whose
 * sections and tables these are; where its pages were missing, the kernel's
 * own driver and LIKWID.  Overflows are not signalled (§2.1): there are neither
 * global registers nor overflow bits, and all boxes are polled.
 */
#include <linux/pci.h>

#include "hw.h"
#include "generated/snbep_events.h"
#include "generated/snbep_fields.h"
#include "generated/snbep_regs.h"

#define OF(box, what)	snbep_##box##_##what
#define REG(what)	SNBEP_##what

#define CTL_COMMON	(GENMASK_ULL(15, 0) | BIT_ULL(18) | BIT_ULL(23))
/*
 * A freeze is ignored without .frz_en, and §2.1.1 wants that left alone once it is
 * set.  Bit 17 is reserved here, "SW must write to 0".
 */
#define BOX_CTL_BASE	BIT(16)

#include "sandybridge.h"

enum {
	TYPE_UBOX, TYPE_CBOX, TYPE_HA, TYPE_IMC, TYPE_PCU, TYPE_QPI, TYPE_R2PCIE,
	TYPE_R3QPI,
};

/* §2.3.3.3; opcode, state, node, thread as in libpfm4, where 9:5 have no name */
static const struct unc_filter_reg cbox_filters[] = {
	{ .reg = 0xd14, .word = 1, .mask = GENMASK(31, 10) | GENMASK(4, 0) },
	{ }
};

/*
 * Bits 1:0 of box control reset a box except in HA and iMC, where software must
 * write 0 (Tables 2-34 and 2-60).  The pages on R2PCIe and R3QPI were missing,
 * so these bits are not used there, either.
 */
static const struct unc_type box_types[] = {
	[TYPE_UBOX] = { UBOX },
	[TYPE_CBOX] = { CBOX },
	[TYPE_HA] = { HA, .quirks = UNC_QUIRK_NO_RESET },
	[TYPE_IMC] = {
		IMC, .regs.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.quirks = UNC_QUIRK_NO_RESET,
	},
	[TYPE_PCU] = { PCU },
	[TYPE_QPI] = { QPI },
	[TYPE_R2PCIE] = { R2PCIE, .quirks = UNC_QUIRK_NO_RESET },
	[TYPE_R3QPI] = { R3QPI, .quirks = UNC_QUIRK_NO_RESET },
};

/* The kernel's driver; functions are those of Tables 2-33, 2-59 and their like */
static const struct pci_device_id box_pci_ids[] = {
	BOX_PCI(0x3c46, TYPE_HA, 0, UNC_PCI_BOX),
	BOX_PCI(0x3cb0, TYPE_IMC, 0, UNC_PCI_BOX),
	BOX_PCI(0x3cb1, TYPE_IMC, 1, UNC_PCI_BOX),
	BOX_PCI(0x3cb4, TYPE_IMC, 2, UNC_PCI_BOX),
	BOX_PCI(0x3cb5, TYPE_IMC, 3, UNC_PCI_BOX),
	BOX_PCI(0x3c41, TYPE_QPI, 0, UNC_PCI_BOX),
	BOX_PCI(0x3c42, TYPE_QPI, 1, UNC_PCI_BOX),
	BOX_PCI(0x3c86, TYPE_QPI, 0, UNC_PCI_FILTER),
	BOX_PCI(0x3c96, TYPE_QPI, 1, UNC_PCI_FILTER),
	BOX_PCI(0x3c43, TYPE_R2PCIE, 0, UNC_PCI_BOX),
	BOX_PCI(0x3c44, TYPE_R3QPI, 0, UNC_PCI_BOX),
	BOX_PCI(0x3c45, TYPE_R3QPI, 1, UNC_PCI_BOX),
	{ }
};

/*
 * No register says how many CBos there are; others take it for the number of
 * cores, of which firmware may have switched some off.  All are looked for, and
 * those that do not answer are left out.
 */
static unsigned int count_boxes(const struct unc_package *pkg,
				const struct unc_type *type)
{
	return type->max_boxes;
}

const struct unc_generation unc_snbep = {
	.name = "snbep",
	.rival = "snbep_uncore",
	.types = box_types,
	.num_types = ARRAY_SIZE(box_types),
	.pci_ids = box_pci_ids,
	.ubox_device = SNBEP_GLOBAL_UBOX_DEVICE,
	.map_bus = map_bus,
	.map_io_bus = unc_package_of_io_bus,
	.max_khz = 5000000,
	.count_boxes = count_boxes,
};

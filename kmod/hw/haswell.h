/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables that Haswell and Broadwell share, for a generation's file to
 * include once it has defined
 *
 *	OF(box, what)	its generated table, such as hswep_cbox_events
 *	DEVICE(low)	its PCI device with that lower byte
 *	REG(what)	if events/ has its registers: a generated one, such as
 *			BDWEP_GLOBAL_CONTROL
 *	MAX_CBOXES	how many a package has at most
 *	MIN_SBOXES	how many SBos the smallest die has
 *	IMC_QUIRKS	enum unc_quirk of a memory channel
 *	ONE_SOCKET	if that is all that there is: no SBo, no QPI, no R3QPI
 *
 * It gets box_types[], box_pci_ids[] and HASWELL_COMMON, which is the rest of
 * struct unc_generation.  Sections are those of Intel's uncore manual 331051.
 */

#define MAX_SBOXES	4

enum {
	TYPE_UBOX, TYPE_CBOX, TYPE_HA, TYPE_IMC, TYPE_IRP, TYPE_IRP_IN_TREE,
	TYPE_PCU, TYPE_R2PCIE,
#ifndef ONE_SOCKET
	TYPE_SBOX, TYPE_QPI, TYPE_R3QPI,
#endif
};

/* U_MSR_PMON_GLOBAL_CTL, _STATUS and _CONFIG, Tables 2-2 to 2-4 */
#define MSR_GLOBAL_CTL		0x700
#define MSR_GLOBAL_STATUS	0x701
#define MSR_GLOBAL_CONFIG	0x702
#define GLOBAL_WAKE		BIT(30)
#define GLOBAL_UNFREEZE		BIT(29)
#define GLOBAL_FREEZE		BIT(31)

/* Bits of the counter control registers that format fields are. */
#define CTL_COMMON	(GENMASK_ULL(15, 0) | BIT_ULL(18) | BIT_ULL(23))

/* --- UBox (§2.2) --------------------------------------------------------- */

#define UBOX_TID	BIT_ULL(0)
#define UBOX_CID	GENMASK_ULL(5, 1)

static const struct unc_filter_reg ubox_filters[] = {
	{ .reg = 0x707, .word = 1, .mask = UBOX_TID | UBOX_CID },
	{ }
};

/* --- CBo (§2.3) ---------------------------------------------------------- */

#define CBOX_TID	GENMASK_ULL(5, 0)
#define CBOX_LINK	GENMASK_ULL(8, 6)
#define CBOX_STATE	GENMASK_ULL(23, 17)
#define CBOX_NID	GENMASK_ULL(47, 32)
#define CBOX_OPC	GENMASK_ULL(60, 52)
#define CBOX_C6		BIT_ULL(61)
#define CBOX_NC		BIT_ULL(62)
#define CBOX_ISOC	BIT_ULL(63)

static const struct unc_filter_reg cbox_filters[] = {
	{ .reg = 0xe05, .word = 1, .mask = CBOX_TID | CBOX_LINK | CBOX_STATE },
	{ .reg = 0xe06, .word = 1, .shift = 32,
	  .mask = (CBOX_NID | CBOX_OPC | CBOX_C6 | CBOX_NC | CBOX_ISOC) >> 32 },
	{ }
};

/* --- PCU (§2.8) ---------------------------------------------------------- */

#define PCU_EVENT	(CTL_EVENT | CTL_EXT)

static const struct unc_filter_reg pcu_filters[] = {
	{ .reg = 0x715, .word = 1, .mask = GENMASK(31, 0) },
	{ }
};

/* --- QPI (§2.9) ---------------------------------------------------------- */

#ifndef ONE_SOCKET

#define QPI_TX		BIT_ULL(32)	/* of config: not a register's bit */

static const struct unc_filter_reg qpi_filters[] = {
	{ .reg = 0x228, .word = 1, .mask = U32_MAX, .when = QPI_TX },
	{ .reg = 0x22c, .word = 1, .shift = 32, .mask = U32_MAX, .when = QPI_TX },
	{ .reg = 0x238, .word = 2, .mask = U32_MAX, .when = QPI_TX },
	{ .reg = 0x23c, .word = 2, .shift = 32, .mask = U32_MAX, .when = QPI_TX },
	{ .reg = 0x200, .word = 1, .mask = U32_MAX, .when = QPI_TX, .is = QPI_TX },
	{ .reg = 0x204, .word = 1, .shift = 32, .mask = U32_MAX, .when = QPI_TX,
	  .is = QPI_TX },
	{ .reg = 0x210, .word = 2, .mask = U32_MAX, .when = QPI_TX, .is = QPI_TX },
	{ .reg = 0x214, .word = 2, .shift = 32, .mask = U32_MAX, .when = QPI_TX,
	  .is = QPI_TX },
	{ }
};

/* Receive side idle and in retry, Tables 2-178 and 2-179. */
static const struct unc_freerun qpi_freerun[] = {
	{ .umask = 0x10, .bits = 32, .reg = 0xc8 },
	{ .umask = 0x11, .bits = 32, .reg = 0xd0 },
	{ }
};

#endif

/* --- global status bits (Table 2-3) -------------------------------------- */

static const u64 ha_global[] = { BIT_ULL(21), BIT_ULL(22) };
/* by controller, of which each has four channels */
static const u64 imc_global[] = {
	BIT_ULL(23), BIT_ULL(23), BIT_ULL(23), BIT_ULL(23),
	BIT_ULL(24), BIT_ULL(24), BIT_ULL(24), BIT_ULL(24),
};
#ifndef ONE_SOCKET
/* QPI 0 has ports 0 and 1, QPI 1 has port 2 (Table 1-3) */
static const u64 qpi_global[] = { BIT_ULL(25), BIT_ULL(25), BIT_ULL(26) };
/* ov_rq is set with either of ov_rq0 and ov_rq1 */
static const u64 r3qpi_global[] = {
	BIT_ULL(27) | BIT_ULL(35), BIT_ULL(27) | BIT_ULL(35),
	BIT_ULL(28) | BIT_ULL(35),
};
#endif

/* --- all of them --------------------------------------------------------- */

#define MSR_SPACE	.space = &unc_space_msr, .bits = 48
#define MSR_BOX		MSR_SPACE, .layout = &unc_e5_layout

/* The addresses that PCI boxes share (Table 1-3). */
#define PCI_BOX						\
	.space = &unc_space_pci,			\
	.layout = &unc_e5_layout, .bits = 48,		\
	.regs.box_ctl = 0xf4, .regs.status = 0xf8,	\
	.regs.ctl = { 0xd8, 0xdc, 0xe0, 0xe4 },		\
	.regs.ctr = { 0xa0, 0xa8, 0xb0, 0xb8 }

/*
 * §2.7.1: "two sets of two" counters, of IRP 0 and IRP 1, in one function with one
 * box control and one status.  Counters by Table 1-3 and the kernel's driver, or by
 * Table 2-144 and LIKWID: 0xa8 or 0xc0 is one of them, the other is not.
 */
#define IRP						\
	.name = "irp", PCI_BOX, .pci.io_bus = true,	\
	.moved.ctr = { 0xa0, 0xb0, 0xb8, 0xc0 },	\
	.moved.only_old = 0xa8, .moved.only_new = 0xc0,	\
	.max_inc = 127,					\
	.regs.box_ctl_base = BOX_CTL_ONES,		\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,	\
	.overflow.signals = true, .overflow.status_bits = BIT_ULL(34)

static const struct unc_type box_types[] = {
	[TYPE_UBOX] = {
		.name = "ubox", MSR_BOX,
		.max_boxes = 1, .general = 2, .max_inc = 1,
		.regs.status = 0x708, .regs.status_mask = GENMASK(1, 0),
		.regs.ctl = { 0x705, 0x706 },
		.regs.ctr = { 0x709, 0x70a },
		.regs.fixed_ctl = 0x703, .regs.fixed_ctr = 0x704,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH5,
		.filter.uses = OF(ubox, uses),
		.filter.regs = ubox_filters,
		.overflow.signals = true, .overflow.status_bits = GENMASK_ULL(1, 0),
		EVENTS_OF(ubox),
	},
	[TYPE_CBOX] = {
		.name = "cbox", MSR_BOX,
		.max_boxes = MAX_CBOXES, .general = 4, .max_inc = 20,
		.regs.box_ctl = 0xe00, .regs.status = 0xe07, .regs.status_mask = GENMASK(3, 0),
		.regs.ctl = { 0xe01, 0xe02, 0xe03, 0xe04 },
		.regs.ctr = { 0xe08, 0xe09, 0xe0a, 0xe0b },
		.regs.stride = 0x10,
		.regs.box_ctl_base = BOX_CTL_ONES,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8 | BIT_ULL(19),
		.filter.uses = OF(cbox, uses),
		.filter.regs = cbox_filters,
		EVENTS_OF(cbox),
	},
	[TYPE_HA] = {
		.name = "ha", PCI_BOX, .regs.status_mask = GENMASK(3, 0),
		.max_boxes = 2, .general = 4, .max_inc = 512,
		.regs.box_ctl_base = BOX_CTL_ONES,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.filter.uses = OF(ha, uses), .filter.regs = unc_ha_filters,
		.overflow.signals = true, .overflow.status = ha_global,
		EVENTS_OF(ha),
	},
	[TYPE_IMC] = {
		.name = "imc", PCI_BOX, .regs.status_mask = GENMASK(4, 0),
		.max_boxes = 8, .general = 4, .max_inc = 255,
		.quirks = IMC_QUIRKS,
		.regs.fixed_ctl = 0xf0, .regs.fixed_ctr = 0xd0,
		.regs.box_ctl_base = BOX_CTL_ONES,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.overflow.signals = true, .overflow.status = imc_global,
		EVENTS_OF(imc),
	},
	[TYPE_IRP] = {
		IRP, .max_boxes = 2, .pci.in_function = 2, .general = 2,
		.regs.status_mask = GENMASK(1, 0),
		.quirks = UNC_QUIRK_NO_RESET,
		.pci.in_tree = &box_types[TYPE_IRP_IN_TREE],
		EVENTS_OF(irp),
	},
	[TYPE_IRP_IN_TREE] = {
		IRP, .max_boxes = 1, .general = 4,
		.regs.status_mask = GENMASK(3, 0),
		NAMES_OF(irp),
	},
	[TYPE_PCU] = {
		.name = "pcu", MSR_SPACE, .layout = &unc_e5_pcu_layout,
		.max_boxes = 1, .general = 4, .max_inc = 31,
		.regs.box_ctl = 0x710, .regs.status = 0x716, .regs.status_mask = GENMASK(3, 0),
		.regs.ctl = { 0x711, 0x712, 0x713, 0x714 },
		.regs.ctr = { 0x717, 0x718, 0x719, 0x71a },
		.regs.box_ctl_base = BOX_CTL_ONES,
		.regs.ctl_mask = PCU_EVENT | GENMASK_ULL(15, 14) | BIT_ULL(18) |
			    BIT_ULL(23) | CTL_THRESH5 | GENMASK_ULL(31, 30),
		.filter.uses = OF(pcu, uses),
		.filter.regs = pcu_filters, FREERUN(unc_package_residencies),
		.overflow.signals = true, .overflow.status_bits = BIT_ULL(2),
		EVENTS_OF(pcu),
	},
	[TYPE_R2PCIE] = {
		.name = "r2pcie", PCI_BOX, .regs.status_mask = GENMASK(3, 0),
		.max_boxes = 1, .general = 4, .max_inc = 31,
		/* ignored there today; written as in all other boxes */
		.regs.box_ctl_base = BOX_CTL_ONES,
		.quirks = UNC_QUIRK_WRITE_TWICE,	/* §2.10.2.2 */
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.overflow.signals = true, .overflow.status_bits = BIT_ULL(29),
		EVENTS_OF(r2pcie),
	},
#ifndef ONE_SOCKET
	[TYPE_SBOX] = {
		.name = "sbox", MSR_BOX,
		.max_boxes = MAX_SBOXES, .general = 4, .max_inc = 12,
		.regs.box_ctl = 0x720, .regs.status = 0x725, .regs.status_mask = GENMASK(3, 0),
		.regs.ctl = { 0x721, 0x722, 0x723, 0x724 },
		.regs.ctr = { 0x726, 0x727, 0x728, 0x729 },
		.regs.stride = 10,
		.regs.box_ctl_base = BOX_CTL_ONES,
		/* §2.4.1; box control a bit at a time, or #GP */
		.quirks = UNC_QUIRK_WRITE_TWICE | UNC_QUIRK_STEPWISE,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8 | BIT_ULL(19),
		EVENTS_OF(sbox),
	},
	[TYPE_QPI] = {
		.name = "qpi", PCI_BOX, .regs.status_mask = GENMASK(3, 0),
		.max_boxes = 3, .general = 4, .max_inc = 255,
		.regs.box_ctl_base = BOX_CTL_ONES,
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8 | CTL_EXT,
		.filter.uses = OF(qpi, uses),
		.filter.regs = qpi_filters, .filter.apart = true,
		FREERUN(qpi_freerun),
		.overflow.signals = true, .overflow.status = qpi_global,
		EVENTS_OF(qpi),
	},
	[TYPE_R3QPI] = {
		.name = "r3qpi", PCI_BOX, .regs.status_mask = GENMASK(2, 0),
		.max_boxes = 3, .general = 3, .max_inc = 63,
		.regs.box_ctl_base = BOX_CTL_ONES,
		.quirks = UNC_QUIRK_WRITE_TWICE,	/* §2.11.1 */
		.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.overflow.signals = true, .overflow.status = r3qpi_global,
		EVENTS_OF(r3qpi),
	},
#endif
};

/*
 * Device IDs by their lower byte: Table 1-3, with the channels of the iMC in the order of IDs.  Not
 * a MODULE_DEVICE_TABLE: loaded on its own, the driver would race with the
 * kernel's for the boxes.
 */
static const struct pci_device_id box_pci_ids[] = {
	BOX_PCI(DEVICE(0x30), TYPE_HA, 0, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x38), TYPE_HA, 1, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xb0), TYPE_IMC, 0, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xb1), TYPE_IMC, 1, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xb4), TYPE_IMC, 2, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xb5), TYPE_IMC, 3, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xd0), TYPE_IMC, 4, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xd1), TYPE_IMC, 5, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xd4), TYPE_IMC, 6, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0xd5), TYPE_IMC, 7, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x39), TYPE_IRP, 0, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x34), TYPE_R2PCIE, 0, UNC_PCI_BOX),
#ifndef ONE_SOCKET
	BOX_PCI(DEVICE(0x32), TYPE_QPI, 0, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x33), TYPE_QPI, 1, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x3a), TYPE_QPI, 2, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x86), TYPE_QPI, 0, UNC_PCI_FILTER),
	BOX_PCI(DEVICE(0x96), TYPE_QPI, 1, UNC_PCI_FILTER),
	BOX_PCI(DEVICE(0x46), TYPE_QPI, 2, UNC_PCI_FILTER),
	BOX_PCI(DEVICE(0x36), TYPE_R3QPI, 0, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x37), TYPE_R3QPI, 1, UNC_PCI_BOX),
	BOX_PCI(DEVICE(0x3e), TYPE_R3QPI, 2, UNC_PCI_BOX),
#endif
	{ }
};

#define NODE_ID		0x40
#define NODE_MAP	0x54

#ifdef REG
/* what is typed here is what events/ says, which the reference shows */
static_assert(REG(GLOBAL_CONTROL) == MSR_GLOBAL_CTL);
static_assert(REG(GLOBAL_STATUS) == MSR_GLOBAL_STATUS);
static_assert(REG(GLOBAL_UBOX_DEVICE) == DEVICE(0x1e));
static_assert(REG(GLOBAL_CAPABILITY_DEVICE) == DEVICE(0xc0));
static_assert(REG(GLOBAL_NODE_ID) == NODE_ID);
static_assert(REG(GLOBAL_NODE_MAP) == NODE_MAP);
#endif

static int map_bus(struct pci_dev *ubox)
{
	return unc_ubox_package(ubox, NODE_ID, NODE_MAP);
}

static unsigned int count_boxes(const struct unc_package *pkg,
				const struct unc_type *type)
{
	if (type == &box_types[TYPE_CBOX])
		return unc_die_cboxes(pkg, MSR_GLOBAL_CONFIG, MAX_CBOXES);
#ifndef ONE_SOCKET
	if (type == &box_types[TYPE_SBOX])
		return unc_die_sboxes(pkg, DEVICE(0xc0), MAX_SBOXES,
				      MIN_SBOXES);
#endif
	return type->max_boxes;
}

#define HASWELL_COMMON						\
	.types = box_types,					\
	.num_types = ARRAY_SIZE(box_types),			\
	.pci_ids = box_pci_ids,					\
	.ubox_device = DEVICE(0x1e),		/* §1.6.1 */	\
	.map_bus = map_bus,					\
	.map_io_bus = unc_package_of_io_bus,			\
	.max_khz = 5000000,					\
	.global.ctl = MSR_GLOBAL_CTL,				\
	.global.status = MSR_GLOBAL_STATUS,			\
	.global.freeze = GLOBAL_FREEZE,				\
	.global.unfreeze = GLOBAL_UNFREEZE,			\
	.global.wake = GLOBAL_WAKE,				\
	.count_boxes = count_boxes

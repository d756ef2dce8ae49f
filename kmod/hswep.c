// SPDX-License-Identifier: GPL-2.0-only
/*
 * Haswell-EP/EX (Xeon E5/E7 v3, family 6 model 63): tables, and the two
 * registers that say how many CBos and SBos a package has.  Sections are those
 * of Intel's uncore manual 331051.
 */
#include <linux/pci.h>
#include <asm/msr.h>

#include "xeon_uncore.h"
#include "generated/hswep_events.h"

enum {
	HSWEP_UBOX, HSWEP_CBOX, HSWEP_SBOX, HSWEP_HA, HSWEP_IMC,
	HSWEP_IRP, HSWEP_PCU, HSWEP_QPI, HSWEP_R2PCIE, HSWEP_R3QPI,
};

#define HSWEP_MSR_GLOBAL_CONFIG		0x702	/* Table 2-4 */
#define HSWEP_GLOBAL_CONFIG_NUM_C	GENMASK(4, 0)
#define HSWEP_MAX_CBOXES		18

/* U_MSR_PMON_GLOBAL_CTL and _STATUS, Tables 2-2 and 2-3 */
#define HSWEP_MSR_GLOBAL_CTL		0x700
#define HSWEP_MSR_GLOBAL_STATUS		0x701
#define HSWEP_GLOBAL_WAKE		BIT(30)
#define HSWEP_GLOBAL_UNFREEZE		BIT(29)
#define HSWEP_GLOBAL_CORES		GENMASK(17, 0)

#define HSWEP_DEV_CAPID			0x2fc0	/* device 30 function 3 */
#define HSWEP_CAPID4			0x94
#define HSWEP_CAPID4_CHOP		GENMASK(7, 6)

/* "SW must write to 1" (Table 2-14 and alike). */
#define HSWEP_BOX_CTL_ONES		GENMASK(17, 16)

/* Format fields that most boxes have. */
#define F_EVENT		{ "event", 0, GENMASK_ULL(7, 0) }
#define F_EVENT_EXT	{ "event", 0, GENMASK_ULL(7, 0) | BIT_ULL(21) }
#define F_UMASK		{ "umask", 0, GENMASK_ULL(15, 8) }
#define F_EDGE		{ "edge", 0, BIT_ULL(18) }
#define F_TID_EN	{ "tid_en", 0, BIT_ULL(19) }
#define F_INV		{ "inv", 0, BIT_ULL(23) }
#define F_THRESH5	{ "thresh", 0, GENMASK_ULL(28, 24) }
#define F_THRESH8	{ "thresh", 0, GENMASK_ULL(31, 24) }

/* Bits of the counter control registers that those fields are. */
#define CTL_COMMON	(GENMASK_ULL(15, 0) | BIT_ULL(18) | BIT_ULL(23))
#define CTL_THRESH5	GENMASK_ULL(28, 24)
#define CTL_THRESH8	GENMASK_ULL(31, 24)

#define EVENTS_OF(box)						\
	.info = hswep_##box##_info,				\
	.num_info = ARRAY_SIZE(hswep_##box##_info),		\
	.events = hswep_##box##_events,				\
	.num_events = ARRAY_SIZE(hswep_##box##_events)

/* --- UBox (§2.2) --------------------------------------------------------- */

#define UBOX_TID	BIT_ULL(0)
#define UBOX_CID	GENMASK_ULL(5, 1)

static const struct unc_field ubox_fields[] = {
	F_EVENT, F_UMASK, F_EDGE, F_INV, F_THRESH5,
	{ "filter_tid", 1, UBOX_TID },
	{ "filter_cid", 1, UBOX_CID },
	{ }
};

/* EVENT_MSG and PHOLD_CYCLES look at the filter always (§2.2.5). */
static const struct unc_filter_use ubox_uses[] = {
	{ UNC_CTL_EVENT, 0x42, { 0, UBOX_TID | UBOX_CID } },
	{ UNC_CTL_EVENT, 0x45, { 0, UBOX_TID | UBOX_CID } },
	{ }
};

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
#define CBOX_REQUEST	(CBOX_OPC | CBOX_C6 | CBOX_NC | CBOX_ISOC | CBOX_LINK)

static const struct unc_field cbox_fields[] = {
	F_EVENT, F_UMASK, F_EDGE, F_TID_EN, F_INV, F_THRESH8,
	{ "filter_tid", 1, CBOX_TID },
	{ "filter_link", 1, CBOX_LINK },
	{ "filter_state", 1, CBOX_STATE },
	{ "filter_nid", 1, CBOX_NID },
	{ "filter_opc", 1, CBOX_OPC },
	{ "filter_c6", 1, CBOX_C6 },
	{ "filter_nc", 1, CBOX_NC },
	{ "filter_isoc", 1, CBOX_ISOC },
	{ }
};

/* Unit mask bit 6 of these events is "of the node in the filter" (§2.3.6). */
#define CBOX_NID_USE(event) \
	{ BIT_ULL(14) | UNC_CTL_EVENT, BIT_ULL(14) | (event), { 0, CBOX_NID } }
/* Bit 0 of the TOR events' is "of the opcode in the filter". */
#define CBOX_REQUEST_USE(event) \
	{ BIT_ULL(8) | UNC_CTL_EVENT, BIT_ULL(8) | (event), { 0, CBOX_REQUEST } }

static const struct unc_filter_use cbox_uses[] = {
	{ BIT_ULL(19), BIT_ULL(19), { 0, CBOX_TID } },
	{ UNC_CTL_EVENT, 0x34, { 0, CBOX_STATE } },
	CBOX_NID_USE(0x28), CBOX_NID_USE(0x29), CBOX_NID_USE(0x2a),
	CBOX_NID_USE(0x31), CBOX_NID_USE(0x32), CBOX_NID_USE(0x33),
	CBOX_NID_USE(0x34), CBOX_NID_USE(0x35), CBOX_NID_USE(0x36),
	CBOX_NID_USE(0x37),
	CBOX_REQUEST_USE(0x35), CBOX_REQUEST_USE(0x36),
	{ }
};

static const struct unc_filter_reg cbox_filters[] = {
	{ .reg = 0xe05, .word = 1, .mask = CBOX_TID | CBOX_LINK | CBOX_STATE },
	{ .reg = 0xe06, .word = 1, .shift = 32,
	  .mask = (CBOX_NID | CBOX_OPC | CBOX_C6 | CBOX_NC | CBOX_ISOC) >> 32 },
	{ }
};

/* --- SBo (§2.4) ---------------------------------------------------------- */

static const struct unc_field sbox_fields[] = {
	F_EVENT, F_UMASK, F_EDGE, F_TID_EN, F_INV, F_THRESH8, { }
};

/* --- HA (§2.5) ----------------------------------------------------------- */

#define HA_ADDR		GENMASK_ULL(45, 6)
#define HA_OPC		GENMASK_ULL(53, 48)

static const struct unc_field ha_fields[] = {
	F_EVENT, F_UMASK, F_EDGE, F_INV, F_THRESH8,
	/* a byte address: bits 5:0 exist, and must be 0 */
	{ "filter_addr", 1, GENMASK_ULL(45, 0) },
	{ "filter_opc", 1, HA_OPC },
	{ }
};

/* ADDR_OPC_MATCH: ADDR is unit mask bit 0, OPC, AD, BL and AK are 1 to 4. */
#define HA_MATCH_USE(bit, field) \
	{ BIT_ULL(bit) | UNC_CTL_EVENT, BIT_ULL(bit) | 0x20, { 0, field } }

static const struct unc_filter_use ha_uses[] = {
	HA_MATCH_USE(8, HA_ADDR),
	HA_MATCH_USE(9, HA_OPC), HA_MATCH_USE(10, HA_OPC),
	HA_MATCH_USE(11, HA_OPC), HA_MATCH_USE(12, HA_OPC),
	{ }
};

static const struct unc_filter_reg ha_filters[] = {
	{ .reg = 0x40, .word = 1, .mask = GENMASK(31, 6) },
	{ .reg = 0x44, .word = 1, .shift = 32, .mask = GENMASK(13, 0) },
	{ .reg = 0x48, .word = 1, .shift = 48, .mask = GENMASK(5, 0) },
	{ }
};

/* --- iMC, IRP, R2PCIe, R3QPI (§2.6, §2.7, §2.10, §2.11) ------------------ */

static const struct unc_field plain_fields[] = {
	F_EVENT, F_UMASK, F_EDGE, F_INV, F_THRESH8, { }
};

/* --- PCU (§2.8) ---------------------------------------------------------- */

static const struct unc_field pcu_fields[] = {
	F_EVENT_EXT,
	/* only chooses between the free-running counters, see below */
	{ "umask", 0, GENMASK_ULL(13, 8) },
	{ "occ_sel", 0, GENMASK_ULL(15, 14) },
	F_EDGE, F_INV, F_THRESH5,
	{ "occ_invert", 0, BIT_ULL(30) },
	{ "occ_edge", 0, BIT_ULL(31) },
	{ "filter_band0", 1, GENMASK_ULL(7, 0) },
	{ "filter_band1", 1, GENMASK_ULL(15, 8) },
	{ "filter_band2", 1, GENMASK_ULL(23, 16) },
	{ "filter_band3", 1, GENMASK_ULL(31, 24) },
	{ }
};

#define PCU_EVENT	(UNC_CTL_EVENT | UNC_CTL_EXT)

static const struct unc_filter_use pcu_uses[] = {
	{ PCU_EVENT, 0x0b, { 0, GENMASK_ULL(7, 0) } },
	{ PCU_EVENT, 0x0c, { 0, GENMASK_ULL(15, 8) } },
	{ PCU_EVENT, 0x0d, { 0, GENMASK_ULL(23, 16) } },
	{ PCU_EVENT, 0x0e, { 0, GENMASK_ULL(31, 24) } },
	{ }
};

static const struct unc_filter_reg pcu_filters[] = {
	{ .reg = 0x715, .word = 1, .mask = GENMASK(31, 0) },
	{ }
};

/* Residencies, Tables 2-161 to 2-164. */
static const struct unc_freerun pcu_freerun[] = {
	{ .umask = 0x10, .bits = 64, .reg = 0x3fc },	/* some core in C3 */
	{ .umask = 0x11, .bits = 64, .reg = 0x3fd },	/* some core in C6 */
	{ .umask = 0x12, .bits = 64, .reg = 0x60d },	/* package in C2 */
	{ .umask = 0x13, .bits = 64, .reg = 0x3f8 },	/* package in C3 */
	{ }
};

/* --- QPI (§2.9) ---------------------------------------------------------- */

#define QPI_TX		BIT_ULL(32)	/* of config: not a register's bit */
/* What MATCH0/MASK0 and MATCH1/MASK1 do not reserve, Tables 2-172 to 2-175. */
#define QPI_PKT		(BIT_ULL(31) | GENMASK_ULL(17, 3) | \
			 GENMASK_ULL(35, 32) | GENMASK_ULL(51, 48))

static const struct unc_field qpi_fields[] = {
	F_EVENT_EXT, F_UMASK, F_EDGE, F_INV, F_THRESH8,
	{ "match_tx", 0, QPI_TX },
	{ "match0", 1, GENMASK_ULL(31, 0) },
	{ "match1", 1, GENMASK_ULL(63, 32) },
	{ "match_vnw", 1, GENMASK_ULL(4, 3) },
	{ "match_opc", 1, GENMASK_ULL(8, 5) },
	{ "match_mc", 1, GENMASK_ULL(12, 9) },
	{ "match_dnid", 1, GENMASK_ULL(17, 13) },
	{ "match_rnid4", 1, BIT_ULL(31) },
	{ "match_rnid30", 1, GENMASK_ULL(35, 32) },
	{ "match_rds", 1, GENMASK_ULL(51, 48) },
	{ "mask0", 2, GENMASK_ULL(31, 0) },
	{ "mask1", 2, GENMASK_ULL(63, 32) },
	{ "mask_vnw", 2, GENMASK_ULL(4, 3) },
	{ "mask_opc", 2, GENMASK_ULL(8, 5) },
	{ "mask_mc", 2, GENMASK_ULL(12, 9) },
	{ "mask_dnid", 2, GENMASK_ULL(17, 13) },
	{ "mask_rnid4", 2, BIT_ULL(31) },
	{ "mask_rnid30", 2, GENMASK_ULL(35, 32) },
	{ "mask_rds", 2, GENMASK_ULL(51, 48) },
	{ }
};

/*
 * CTO_COUNT counts packets that pass either side's filter (§2.9.2.3), so the
 * side is a filter field as well: one port matches receive or transmit.
 */
static const struct unc_filter_use qpi_uses[] = {
	{ UNC_CTL_EVENT | UNC_CTL_EXT, 0x38 | UNC_CTL_EXT,
	  { QPI_TX, QPI_PKT, QPI_PKT } },
	{ }
};

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

/* --- global status bits (Table 2-3) -------------------------------------- */

static const u64 ha_global[] = { BIT_ULL(21), BIT_ULL(22) };
/* by controller, of which each has four channels */
static const u64 imc_global[] = {
	BIT_ULL(23), BIT_ULL(23), BIT_ULL(23), BIT_ULL(23),
	BIT_ULL(24), BIT_ULL(24), BIT_ULL(24), BIT_ULL(24),
};
/* QPI 0 has ports 0 and 1, QPI 1 has port 2 (Table 1-3) */
static const u64 qpi_global[] = { BIT_ULL(25), BIT_ULL(25), BIT_ULL(26) };
/* ov_rq is set with either of ov_rq0 and ov_rq1 */
static const u64 r3qpi_global[] = {
	BIT_ULL(27) | BIT_ULL(35), BIT_ULL(27) | BIT_ULL(35),
	BIT_ULL(28) | BIT_ULL(35),
};

/* --- all of them --------------------------------------------------------- */

/* The layout that PCI boxes share (Table 1-3). */
#define PCI_BOX					\
	.space = UNC_PCI,			\
	.bits = 48,				\
	.box_ctl = 0xf4, .status = 0xf8,	\
	.ctl0 = 0xd8, .ctr0 = 0xa0

static const struct unc_type hswep_types[] = {
	[HSWEP_UBOX] = {
		.name = "ubox", .space = UNC_MSR,
		.max_boxes = 1, .general = 2, .bits = 48, .max_inc = 1,
		.status = 0x708, .status_mask = GENMASK(1, 0),
		.ctl0 = 0x705, .ctr0 = 0x709,
		.fixed_ctl = 0x703, .fixed_ctr = 0x704,
		.ctl_mask = CTL_COMMON | CTL_THRESH5,
		.fields = ubox_fields, .uses = ubox_uses,
		.filters = ubox_filters,
		.signals = true, .global_bits = GENMASK_ULL(1, 0),
		EVENTS_OF(ubox),
	},
	[HSWEP_CBOX] = {
		.name = "cbox", .space = UNC_MSR,
		.max_boxes = HSWEP_MAX_CBOXES, .general = 4, .bits = 48,
		.max_inc = 20,
		.box_ctl = 0xe00, .status = 0xe07, .status_mask = GENMASK(3, 0),
		.ctl0 = 0xe01, .ctr0 = 0xe08, .stride = 0x10,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = CTL_COMMON | CTL_THRESH8 | BIT_ULL(19),
		.fields = cbox_fields, .uses = cbox_uses,
		.filters = cbox_filters,
		EVENTS_OF(cbox),
	},
	[HSWEP_SBOX] = {
		.name = "sbox", .space = UNC_MSR,
		.max_boxes = 4, .general = 4, .bits = 48, .max_inc = 12,
		.box_ctl = 0x720, .status = 0x725, .status_mask = GENMASK(3, 0),
		.ctl0 = 0x721, .ctr0 = 0x726, .stride = 10,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		/* §2.4.2.2; box control a bit at a time, or #GP */
		.quirks = UNC_QUIRK_WRITE_TWICE | UNC_QUIRK_STEPWISE,
		.ctl_mask = CTL_COMMON | CTL_THRESH8 | BIT_ULL(19),
		.fields = sbox_fields,
		EVENTS_OF(sbox),
	},
	[HSWEP_HA] = {
		.name = "ha", PCI_BOX, .status_mask = GENMASK(3, 0),
		.max_boxes = 2, .general = 4, .max_inc = 512,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.fields = ha_fields, .uses = ha_uses, .filters = ha_filters,
		.signals = true, .global = ha_global,
		EVENTS_OF(ha),
	},
	[HSWEP_IMC] = {
		.name = "imc", PCI_BOX, .status_mask = GENMASK(4, 0),
		.max_boxes = 8, .general = 4, .max_inc = 255,
		.fixed_ctl = 0xf0, .fixed_ctr = 0xd0,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.fields = plain_fields,
		.signals = true, .global = imc_global,
		EVENTS_OF(imc),
	},
	[HSWEP_IRP] = {
		.name = "irp", PCI_BOX, .status_mask = GENMASK(3, 0),
		.max_boxes = 1, .general = 4, .max_inc = 127,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.fields = plain_fields,
		.signals = true, .global_bits = BIT_ULL(34),
		EVENTS_OF(irp),
	},
	[HSWEP_PCU] = {
		.name = "pcu", .space = UNC_MSR,
		.max_boxes = 1, .general = 4, .bits = 48, .max_inc = 31,
		.box_ctl = 0x710, .status = 0x716, .status_mask = GENMASK(3, 0),
		.ctl0 = 0x711, .ctr0 = 0x717,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = PCU_EVENT | GENMASK_ULL(15, 14) | BIT_ULL(18) |
			    BIT_ULL(23) | CTL_THRESH5 | GENMASK_ULL(31, 30),
		.fields = pcu_fields, .uses = pcu_uses,
		.filters = pcu_filters, .freerun = pcu_freerun,
		.signals = true, .global_bits = BIT_ULL(2),
		EVENTS_OF(pcu),
	},
	[HSWEP_QPI] = {
		.name = "qpi", PCI_BOX, .status_mask = GENMASK(3, 0),
		.max_boxes = 3, .general = 4, .max_inc = 255,
		.box_ctl_base = HSWEP_BOX_CTL_ONES,
		.ctl_mask = CTL_COMMON | CTL_THRESH8 | UNC_CTL_EXT,
		.fields = qpi_fields, .uses = qpi_uses,
		.filters = qpi_filters, .filters_apart = true,
		.freerun = qpi_freerun,
		.signals = true, .global = qpi_global,
		EVENTS_OF(qpi),
	},
	[HSWEP_R2PCIE] = {
		.name = "r2pcie", PCI_BOX, .status_mask = GENMASK(3, 0),
		.max_boxes = 1, .general = 4, .max_inc = 31,
		.quirks = UNC_QUIRK_WRITE_TWICE,	/* §2.10.2.2 */
		.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.fields = plain_fields,
		.signals = true, .global_bits = BIT_ULL(29),
		EVENTS_OF(r2pcie),
	},
	[HSWEP_R3QPI] = {
		.name = "r3qpi", PCI_BOX, .status_mask = GENMASK(2, 0),
		.max_boxes = 3, .general = 3, .max_inc = 63,
		.quirks = UNC_QUIRK_WRITE_TWICE,	/* §2.11.2.2 */
		.ctl_mask = CTL_COMMON | CTL_THRESH8,
		.fields = plain_fields,
		.signals = true, .global = r3qpi_global,
		EVENTS_OF(r3qpi),
	},
};

#define HSWEP_PCI(id, type, index, role) \
	{ PCI_VDEVICE(INTEL, id), .driver_data = UNC_PCI_DATA(type, index, role) }

/*
 * Device IDs: Table 1-3, with the channels of the iMC in the order of IDs.  Not
 * a MODULE_DEVICE_TABLE: loaded on its own, the driver would race with the
 * kernel's for the boxes.
 */
static const struct pci_device_id hswep_pci_ids[] = {
	HSWEP_PCI(0x2f30, HSWEP_HA, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2f38, HSWEP_HA, 1, UNC_PCI_BOX),
	HSWEP_PCI(0x2fb0, HSWEP_IMC, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2fb1, HSWEP_IMC, 1, UNC_PCI_BOX),
	HSWEP_PCI(0x2fb4, HSWEP_IMC, 2, UNC_PCI_BOX),
	HSWEP_PCI(0x2fb5, HSWEP_IMC, 3, UNC_PCI_BOX),
	HSWEP_PCI(0x2fd0, HSWEP_IMC, 4, UNC_PCI_BOX),
	HSWEP_PCI(0x2fd1, HSWEP_IMC, 5, UNC_PCI_BOX),
	HSWEP_PCI(0x2fd4, HSWEP_IMC, 6, UNC_PCI_BOX),
	HSWEP_PCI(0x2fd5, HSWEP_IMC, 7, UNC_PCI_BOX),
	HSWEP_PCI(0x2f39, HSWEP_IRP, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2f32, HSWEP_QPI, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2f33, HSWEP_QPI, 1, UNC_PCI_BOX),
	HSWEP_PCI(0x2f3a, HSWEP_QPI, 2, UNC_PCI_BOX),
	HSWEP_PCI(0x2f86, HSWEP_QPI, 0, UNC_PCI_FILTER),
	HSWEP_PCI(0x2f96, HSWEP_QPI, 1, UNC_PCI_FILTER),
	HSWEP_PCI(0x2f46, HSWEP_QPI, 2, UNC_PCI_FILTER),
	HSWEP_PCI(0x2f34, HSWEP_R2PCIE, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2f36, HSWEP_R3QPI, 0, UNC_PCI_BOX),
	HSWEP_PCI(0x2f37, HSWEP_R3QPI, 1, UNC_PCI_BOX),
	HSWEP_PCI(0x2f3e, HSWEP_R3QPI, 2, UNC_PCI_BOX),
	{ }
};

static unsigned int hswep_count_cboxes(const struct unc_package *pkg)
{
	u64 config = 0;
	unsigned int n;

	/* a register that faults reads as 0 here and is reported below */
	rdmsrl_safe_on_cpu(pkg->cpu, HSWEP_MSR_GLOBAL_CONFIG, &config);
	n = config & HSWEP_GLOBAL_CONFIG_NUM_C;
	if (n >= 1 && n <= HSWEP_MAX_CBOXES)
		return n;
	pr_warn_once("xeon_uncore: package %d reports %u CBos, expected 1 to %d; looking for %d, and those that do not answer are left out\n",
		     pkg->phys_id, n, HSWEP_MAX_CBOXES, HSWEP_MAX_CBOXES);
	return HSWEP_MAX_CBOXES;
}

/* Dies of the smallest kind have two SBos, all others four. */
static unsigned int hswep_count_sboxes(const struct unc_package *pkg)
{
	struct pci_dev *pdev = NULL;
	u32 capid4;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, HSWEP_DEV_CAPID,
				      pdev))) {
		if (unc_package_of_bus(pdev->bus->number) != pkg)
			continue;
		if (pci_read_config_dword(pdev, HSWEP_CAPID4, &capid4))
			capid4 = HSWEP_CAPID4_CHOP;
		pci_dev_put(pdev);
		return capid4 & HSWEP_CAPID4_CHOP ? 4 : 2;
	}
	return 4;
}

static unsigned int hswep_count_boxes(const struct unc_package *pkg,
				      const struct unc_type *type)
{
	if (type == &hswep_types[HSWEP_CBOX])
		return hswep_count_cboxes(pkg);
	if (type == &hswep_types[HSWEP_SBOX])
		return hswep_count_sboxes(pkg);
	return type->max_boxes;
}

const struct unc_generation unc_haswell_ep = {
	.name = "hswep",
	.types = hswep_types,
	.num_types = ARRAY_SIZE(hswep_types),
	.pci_ids = hswep_pci_ids,
	.rival = "hswep_uncore",
	.ubox_device = 0x2f1e,		/* §1.6.1 */
	.node_id = 0x40,
	.node_map = 0x54,
	.max_khz = 5000000,
	.global_ctl = HSWEP_MSR_GLOBAL_CTL,
	.global_status = HSWEP_MSR_GLOBAL_STATUS,
	.unfreeze = HSWEP_GLOBAL_UNFREEZE,
	.wake = HSWEP_GLOBAL_WAKE,
	.cores = HSWEP_GLOBAL_CORES,
	.count_boxes = hswep_count_boxes,
};

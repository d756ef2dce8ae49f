/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Sandy Bridge and Ivy Bridge have alike: rows of box_types[] without what
 * a box does on an overflow, for a generation's file to include once it has
 * defined
 *
 *	OF(box, what)	its generated table, such as ivbep_cbox_events
 *	REG(what)	its generated register, such as IVBEP_CBOX_CONTROL
 *	CTL_COMMON	format fields that most control registers have
 *	BOX_CTL_BASE	bits that are always 1 in a box control
 *
 * Addresses of counters and controls are those of events/.
 */

/* The generated parts of a row.  Some counters have 44 bits: seen at load. */
#define BOX(box, BOX_)						\
	BOX_WITHOUT_LAYOUT(box, BOX_), .layout = &unc_e5_layout
#define BOX_WITHOUT_LAYOUT(box, BOX_)						\
	.name = #box,								\
	.max_boxes = REG(BOX_##_BOXES), .bits = 48,				\
	.regs.ctl = REG(BOX_##_CONTROL), .regs.ctr = REG(BOX_##_COUNTER),	\
	EVENTS_OF(box)
#define CONTROLLED(BOX_)					\
	.regs.box_ctl = REG(BOX_##_BOX_CONTROL), .regs.box_ctl_base = BOX_CTL_BASE
#define PCI_BOX(box, BOX_)					\
	BOX(box, BOX_), .space = &unc_space_pci, CONTROLLED(BOX_)
#define FIXED(BOX_)					\
	.regs.fixed_ctl = REG(BOX_##_FIXED_CONTROL),	\
	.regs.fixed_ctr = REG(BOX_##_FIXED_COUNTER)

#define UBOX							\
	BOX(ubox, UBOX), .space = &unc_space_msr, FIXED(UBOX),	\
	.general = 2, .max_inc = 1,				\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH5

#define CBOX								\
	BOX(cbox, CBOX), .space = &unc_space_msr, CONTROLLED(CBOX),	\
	.general = 4, .max_inc = 20, .regs.stride = REG(CBOX_STRIDE),	\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8 | BIT_ULL(19),	\
	.filter.uses = OF(cbox, uses), .filter.regs = cbox_filters

#define HA						\
	PCI_BOX(ha, HA), .general = 4, .max_inc = 512,	\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8,	\
	.filter.uses = OF(ha, uses), .filter.regs = unc_ha_filters

/* without its format fields */
#define IMC							\
	PCI_BOX(imc, IMC), FIXED(IMC), .general = 4, .max_inc = 255

/* its invert bit is the other boxes' */
#define PCU								\
	BOX_WITHOUT_LAYOUT(pcu, PCU), .layout = &unc_e5_pcu_layout,	\
	.space = &unc_space_msr, CONTROLLED(PCU),			\
	.general = 4, .max_inc = 31,					\
	.regs.ctl_mask = CTL_EVENT | CTL_EXT | GENMASK_ULL(15, 14) |	\
		    (CTL_COMMON & ~GENMASK_ULL(15, 0)) | CTL_THRESH5 |	\
		    GENMASK_ULL(31, 30),				\
	.filter.uses = OF(pcu, uses), .filter.regs = pcu_filters,	\
	FREERUN(unc_package_residencies)

#define QPI							\
	PCI_BOX(qpi, QPI), .general = 4, .max_inc = 255,	\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8 | CTL_EXT,	\
	.filter.uses = OF(qpi, uses),				\
	.filter.regs = qpi_filters, .filter.apart = true

#define R2PCIE							\
	PCI_BOX(r2pcie, R2PCIE), .general = 4, .max_inc = 31,	\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8

#define R3QPI							\
	PCI_BOX(r3qpi, R3QPI), .general = 3, .max_inc = 63,	\
	.regs.ctl_mask = CTL_COMMON | CTL_THRESH8

/* 327043 Table 2-77, 329468 §2.7.3 */
static const struct unc_filter_reg pcu_filters[] = {
	{ .reg = 0xc34, .word = 1, .mask = U32_MAX },
	{ }
};

/*
 * One a port, of what is received: 327043 Tables 2-88 to 2-91, 329468 Tables 2-133
 * to 2-136.
 */
static const struct unc_filter_reg qpi_filters[] = {
	{ .reg = 0x228, .word = 1, .mask = U32_MAX },
	{ .reg = 0x22c, .word = 1, .shift = 32, .mask = U32_MAX },
	{ .reg = 0x238, .word = 2, .mask = U32_MAX },
	{ .reg = 0x23c, .word = 2, .shift = 32, .mask = U32_MAX },
	{ }
};

static int map_bus(struct pci_dev *ubox)
{
	return unc_ubox_package(ubox, REG(GLOBAL_NODE_ID), REG(GLOBAL_NODE_MAP));
}

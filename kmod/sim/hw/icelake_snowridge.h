/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Ice Lake and Snow Ridge have in common: fields of CHA and IO stacks, and tables of the boxes
 * of memory. The addresses of MSRs, and the numbers of boxes, are in the files that include this
 * file after they have defined WAVES(box), the table of events.
 */
#ifndef XEON_UNCORE_SIM_HW_ICELAKE_SNOWRIDGE_H
#define XEON_UNCORE_SIM_HW_ICELAKE_SNOWRIDGE_H

#include "mesh.h"

/* --- CHA: more of the unit mask is in the upper half of the control ------------- */

#define CHA_UMASK_EXT	(0x3ffffffULL << 32)
#define CHA_CTL		(MESH_CTL | CTL_TID_EN | CHA_UMASK_EXT)
#define CHA_FILTER0	ROW_FILTER(0x5, 0, 0x1ff, 0, "filter0")

static const struct model_layout cha_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .umask_ext = CHA_UMASK_EXT,
};

static const struct model_filter cha_filters[] = {
	{ .last = 0xff, .ctl = CTL_TID_EN, .op = FILTER_EQUAL,
	  .attr = ATTR_TID, .width = 9 },
};

/* --- memory controllers: places in the package's window of memory --------------- */

#define CONTROLLER(n)	(0x10000 + 0x40000 * (n))
#define CHANNEL(n, i)	(CONTROLLER(n) + 0x22800 + 0x4000 * (i))

/* --- iMC: a box is a channel, with its registers in memory ----------------------- */

static const struct model_reg imc_regs[] = {
	ROW_BOX_CTL(0x00, 0),
	ROW_CTR(0x08, 0), ROW_CTL(0x40, 0, MESH_CTL, 0),
	ROW_CTR(0x10, 1), ROW_CTL(0x44, 1, MESH_CTL, 0),
	ROW_CTR(0x18, 2), ROW_CTL(0x48, 2, MESH_CTL, 0),
	ROW_CTR(0x20, 3), ROW_CTL(0x4c, 3, MESH_CTL, 0),
	ROW_FIXED_CTR(0x38),
	ROW_FIXED_CTL(0x54, CTL_EN | CTL_OV_EN, MODEL_BIT(19), 0),
	ROW_STATUS(0x5c, 0x1f, 0),
};

/* --- iMC free running: software can neither stop nor write these counters --------- */

/* @mask: unit mask of the event as the in-tree driver has it */
#define ROW_MEMORY_FREE(where, i, mask, text) \
	{ .at = (where), .bytes = 8, .type = REG_FREE, .index = (i), .bits = 48, \
	  .counts = true, .code = 0xff, .umask = (mask), .name = (text) }

/* Lines of 64 bytes, and the clock; further arguments are other counters. */
#define IMC_FREE_RUNNING_REGS(...) \
	static const struct model_reg imc_free_running_regs[] = { \
		ROW_MEMORY_FREE(0x2290, 0, 0x20, "read"), \
		ROW_MEMORY_FREE(0x2298, 1, 0x21, "write"), \
		ROW_MEMORY_FREE(0x22b0, 2, 0x10, "dclk"), \
		__VA_ARGS__ \
	}

/* --- M2M: between the mesh and a controller ------------------------------------- */

#define M2M_UMASK_EXT	(0xffULL << 32)
#define M2M_CTL		(MESH_CTL | M2M_UMASK_EXT)

static const struct model_layout m2m_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .umask_ext = M2M_UMASK_EXT,
};

static const struct model_reg m2m_regs[] = {
	ROW_BOX_CTL(0x438, 0),
	ROW_CTR(0x440, 0), ROW_CTL_64(0x468, 0, M2M_CTL),
	ROW_CTR(0x448, 1), ROW_CTL_64(0x470, 1, M2M_CTL),
	ROW_CTR(0x450, 2), ROW_CTL_64(0x478, 2, M2M_CTL),
	ROW_CTR(0x458, 3), ROW_CTL_64(0x480, 3, M2M_CTL),
	ROW_STATUS(0x4a8, 0xf, 0),
};

/* --- IO stacks ----------------------------------------------------------------------- */

/* IIO: with a threshold of 12 bits */
#define IIO_CH_MASK	(0xfffULL << 36)	/* a bit for each port, or part, of the stack */
#define IIO_FC_MASK	(0x7ULL << 48)		/* posted, non-posted, completion */
#define IIO_CTL		(CTL | IIO_THRESH | IIO_CH_MASK | IIO_FC_MASK)

static const struct model_filter iio_filters[] = {
	/* DATA_REQ_OF_CPU, TXN_REQ_OF_CPU */
	IIO_MASK(0x83, 0x84, ATTR_PORT, 36, 12),
	IIO_MASK(0x83, 0x84, ATTR_FC, 48, 3),
	/* DATA_REQ_BY_CPU, TXN_REQ_BY_CPU, COMP_BUF_INSERTS */
	IIO_MASK(0xc0, 0xc2, ATTR_PORT, 36, 12),
	IIO_MASK(0xc0, 0xc2, ATTR_FC, 48, 3),
	/* COMP_BUF_OCCUPANCY */
	IIO_MASK(0xd5, 0xd5, ATTR_FC, 48, 3),
};

/* @where: offset from the ports' counters, or a register with @places of its own */
#define ROW_STACK_FREE(where, places, i, mask, text) \
	{ .at = (where), .bases = (places), .type = REG_FREE, .index = (i), \
	  .bits = 48, .counts = true, .code = 0xff, .umask = (mask), .name = (text) }
#define ROW_PORT_FREE(port, text) \
	ROW_STACK_FREE(port, NULL, 1 + (port), 0x20 + (port), text)
/* The clock, of the registers @clocks, and the data of each port in 32 bytes */
#define IIO_FREE_RUNNING_REGS(clocks) \
	static const struct model_reg iio_free_running_regs[] = { \
		ROW_STACK_FREE(0xff, clocks, 0, 0x10, "ioclk"), \
		ROW_PORT_FREE(0, "bw_in_port0"), ROW_PORT_FREE(1, "bw_in_port1"), \
		ROW_PORT_FREE(2, "bw_in_port2"), ROW_PORT_FREE(3, "bw_in_port3"), \
		ROW_PORT_FREE(4, "bw_in_port4"), ROW_PORT_FREE(5, "bw_in_port5"), \
		ROW_PORT_FREE(6, "bw_in_port6"), ROW_PORT_FREE(7, "bw_in_port7"), \
	}

/* --- PCI functions, and other functions of their devices ----------------------- */

static const struct model_reg ubox_pci_regs[] = {
	{ .at = 0xc0, .bytes = 4, .type = REG_NODE_ID, .name = "node_id" },
	{ .at = 0xd4, .bytes = 4, .type = REG_NODE_MAP, .name = "node_map" },
};

#define ROW_MEMORY_BASE(where) \
	{ .at = (where), .bytes = 4, .type = REG_MEMORY_BASE, .name = "memory_base" }
/* bits 22:12 of a controller's address */
#define MEMORY_BAR(where, n, text) \
	{ .at = (where), .bytes = 4, .type = REG_MEMORY_BAR, .index = 1 + (n), \
	  .keep = CONTROLLER(n) >> 12, .name = (text) }

#define SYSTEM(device, function, did, of, i, ...) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_SYSTEM, .type = (of), .box = (i), __VA_ARGS__ }
#define TABLE(table)	.regs = (table), .nregs = MODEL_COUNT(table)
#define COUNTERS(device, function, did, of, i) \
	{ .devfn = DEVFN(device, function), .id = (did), \
	  .class_code = CLASS_PERFORMANCE, .type = (of), .box = (i), \
	  .pmon = true, .pcie = true }

/*
 * Registers of the mesh's function on a stack's root bus: the number @n that address decoders have
 * for the stack in bits 6:4, the package in bits 3:0
 */
#define STACK_NUMBER(n) \
	static const struct model_reg sad_##n##_regs[] = { \
		{ .at = 0x3f4, .bytes = 4, .type = REG_PACKAGE, .keep = (n) << 4, \
		  .name = "sad_control" }, \
	}
/* The stacks' root buses follow one another in the order of their numbers; SAD_<n> is the box. */
#define STACK_BUS(n)	(1 + (n))
#define STACK(n) \
	SYSTEM(0, 0, 0x09a2, "iio", SAD_##n, .bus = STACK_BUS(n), .pcie = true, \
	       TABLE(sad_##n##_regs))
/* a root port of stack @n, with the bus @lower below, and a device there */
#define ROOT_PORT(n, device, did, lower) \
	{ .bus = STACK_BUS(n), .devfn = DEVFN(device, 0), .id = (did), \
	  .class_code = CLASS_BRIDGE, .type = "iio", .box = SAD_##n, .below = (lower) }
#define DEVICE(n, lower, did, class) \
	{ .bus = (lower), .id = (did), .class_code = (class), .type = "iio", .box = SAD_##n }

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Skylake-SP, its successors and Ice Lake-SP have in common: fields and tables of boxes of
 * processors with a mesh. The file of a generation includes this file after it has defined
 * WAVES(box), the table of events.
 */
#ifndef XEON_UNCORE_SIM_HW_MESH_H
#define XEON_UNCORE_SIM_HW_MESH_H

#include "pcu.h"

#define FRZ_ALL		(1ULL << 63)
#define UNFRZ_ALL	(1ULL << 61)

/* Fields that the control registers of all boxes have, except the PCU's */
#define CTL		(CTL_EV_SEL | CTL_UMASK | CTL_EDGE_DET | CTL_OV_EN | \
			 CTL_EN | CTL_INVERT)
#define MESH_CTL	(CTL | THRESH_8)

/* The UBox's registers, after those of the package, and filters */
#define UBOX_REGS(...) \
	static const struct model_reg ubox_regs[] = { \
		__VA_ARGS__, \
		/* PCM takes the number of CHAs from bits 5:0 */ \
		{ .at = 0x702, .type = REG_GLOBAL_CONFIG, .name = "global_config", \
		  .keep = 0x3f }, \
		ROW_FIXED_CTL(0x703, CTL_EN | CTL_OV_EN, 0, 0), \
		ROW_FIXED_CTR(0x704), \
		ROW_CTL(0x705, 0, CTL | THRESH_5, 0), \
		ROW_CTL(0x706, 1, CTL | THRESH_5, 0), \
		/* thread in bit 0, core in bits 5:1 */ \
		ROW_FILTER(0x707, 0, 0x3f, 0, "filter"), \
		ROW_STATUS(0x708, 0x3, 0), \
		ROW_CTR(0x709, 0), \
		ROW_CTR(0x70a, 1), \
	}; \
	/* IPI_RCVD, DOORBELL_RCVD and INT_PRIO of EVENT_MSG */ \
	static const struct model_filter ubox_filters[] = { \
		{ .first = 0x42, .last = 0x42, .umask = 0x1c, .op = FILTER_EQUAL, \
		  .attr = ATTR_TID, .width = 6 }, \
	}

/* A CHA's registers; further arguments are its filters */
#define CHA_REGS(fields, ...) \
	static const struct model_reg cha_regs[] = { \
		ROW_BOX_CTL(0x0, 0), \
		ROW_CTL(0x1, 0, fields, 0), \
		ROW_CTL(0x2, 1, fields, 0), \
		ROW_CTL(0x3, 2, fields, 0), \
		ROW_CTL(0x4, 3, fields, 0), \
		__VA_ARGS__, \
		ROW_STATUS(0x7, 0xf, 0), \
		ROW_CTR(0x8, 0), \
		ROW_CTR(0x9, 1), \
		ROW_CTR(0xa, 2), \
		ROW_CTR(0xb, 3), \
	}

#define PCU_CTL		(CTL_EV_SEL | CTL_OCC_SEL | CTL_EDGE_DET | CTL_OV_EN | \
			 CTL_EN | CTL_INVERT | THRESH_5 | CTL_OCC_INVERT | \
			 CTL_OCC_EDGE_DET)

/*
 * An event that needs a bit of each of two groups of its unit mask counts what has a bit of
 * both in common.
 */
#define COMMON(from, to, bits) \
	{ .first = (from), .last = (to), .umask = (bits), .drop_umask = true, \
	  .op = FILTER_COMMON }

#ifndef ONE_SOCKET
/* A UPI link's TXL_FLITS and RXL_FLITS: one of the slots of bits 2:0, and a flit of bits 7:3 */
static const struct model_filter upi_filters[] = {
	COMMON(0x02, 0x03, 0x07), COMMON(0x02, 0x03, 0xf8),
};
#endif

#define ROW_LINK_PEER(where) \
	{ .at = (where), .bytes = 4, .type = REG_LINK_PEER, .name = "link_peer" }
#define ROW_LINK_STATUS(where) \
	{ .at = (where), .bytes = 4, .type = REG_LINK_STATUS, .keep = MODEL_BIT(4), \
	  .name = "link_status" }

/* Registers of a box of an IO stack, with its counters below its controls; rows may follow */
#define STACK_REGS(table, fields, ...) \
	static const struct model_reg table[] = { \
		ROW_BOX_CTL(0x0, 0), \
		ROW_CTR(0x1, 0), ROW_CTL(0x8, 0, fields, 0), \
		ROW_CTR(0x2, 1), ROW_CTL(0x9, 1, fields, 0), \
		ROW_CTR(0x3, 2), ROW_CTL(0xa, 2, fields, 0), \
		ROW_CTR(0x4, 3), ROW_CTL(0xb, 3, fields, 0), \
		__VA_ARGS__ \
	}
/* The threshold of an IIO has 12 bits. */
#define IIO_THRESH	(0xfffULL << CTL_THRESH_SHIFT)

/* Masks of an IO stack's control itself: a mask of 0 counts nothing */
#define IIO_MASK(from, to, what, at, bits) \
	{ .first = (from), .last = (to), .in_ctl = true, .op = FILTER_MEETS, \
	  .attr = (what), .shift = (at), .width = (bits) }

#endif

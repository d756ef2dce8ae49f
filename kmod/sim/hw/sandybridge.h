/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of Sandy Bridge (document 327043) and Ivy Bridge (329468): MSR addresses, the
 * filter registers of QPI, and the filters of a CBo's events.
 */
#ifndef XEON_UNCORE_SIM_HW_SANDYBRIDGE_H
#define XEON_UNCORE_SIM_HW_SANDYBRIDGE_H

#include "common.h"

/* 327043 Table 2-1, 329468 §2.2.3 */
#define UBOX_REGS(fields, rsv, ...) \
	static const struct model_reg ubox_regs[] = { \
		ROW_FIXED_CTR(0xc09), \
		ROW_CTL(0xc10, 0, fields, rsv), ROW_CTR(0xc16, 0), \
		ROW_CTL(0xc11, 1, fields, rsv), ROW_CTR(0xc17, 1), \
		__VA_ARGS__ \
	}

/* 327043 Table 2-8, 329468 §2.3.3: MSRs from 0xd00 on; no register has the number 0xd00 */
#define CBOX_REGS(fields, rsv, ...) \
	static const struct model_reg cbox_regs[] = { \
		ROW_CTL(0x10, 0, fields, rsv), ROW_CTR(0x16, 0), \
		ROW_CTL(0x11, 1, fields, rsv), ROW_CTR(0x17, 1), \
		ROW_CTL(0x12, 2, fields, rsv), ROW_CTR(0x18, 2), \
		ROW_CTL(0x13, 3, fields, rsv), ROW_CTR(0x19, 3), \
		__VA_ARGS__ \
	}
#define CBOX_MSRS(boxes) \
	.first = 0xd00, .last = 0xd00 + (boxes) * 32 - 1, \
	.base = 0xd00, .stride = 32

/*
 * Filters of a CBo: the thread, for any event, and the line state, for LLC_LOOKUP, which
 * counts nothing without bit 0 of the unit mask. CBOX_NID: the target node, with bit 6 of the
 * unit mask. CBOX_REQUEST: attributes of requests, for TOR events with bit 0.
 */
#define CBOX_FILTERS(state_at, state_bits, ...) \
	static const struct model_filter cbox_filters[] = { \
		{ .last = 0xff, .ctl = CTL_TID_EN, .op = FILTER_EQUAL, \
		  .attr = ATTR_TID, .width = 5 }, \
		{ .first = 0x34, .last = 0x34, .umask = 0x01, \
		  .op = FILTER_UMASK }, \
		{ .first = 0x34, .last = 0x34, .op = FILTER_MEETS, \
		  .attr = ATTR_STATE, .shift = (state_at), \
		  .width = (state_bits) }, \
		__VA_ARGS__ \
	}
#define CBOX_NID(event, filter, at, bits) \
	{ .first = (event), .last = (event), .umask = 0x40, \
	  .drop_umask = true, .op = FILTER_MEETS, .attr = ATTR_NID, \
	  .reg = (filter), .shift = (at), .width = (bits) }
#define CBOX_REQUEST(how, what, filter, at, bits) \
	{ .first = 0x35, .last = 0x36, .umask = 0x01, .op = (how), \
	  .attr = (what), .reg = (filter), .shift = (at), .width = (bits) }

/* 327043 §2.6.3, 329468 §2.7.3 */
#define PCU_REGS(fields, rsv, ...) \
	static const struct model_reg pcu_regs[] = { \
		ROW_FREE(0x3f8, 0, "pkg_c3_residency"), \
		ROW_FREE(0x3f9, 1, "pkg_c6_residency"), \
		ROW_FREE(0x60d, 2, "pkg_c2_residency"), \
		ROW_CTL(0xc30, 0, fields, rsv), ROW_CTR(0xc36, 0), \
		ROW_CTL(0xc31, 1, fields, rsv), ROW_CTR(0xc37, 1), \
		ROW_CTL(0xc32, 2, fields, rsv), ROW_CTR(0xc38, 2), \
		ROW_CTL(0xc33, 3, fields, rsv), ROW_CTR(0xc39, 3), \
		ROW_FILTER(0xc34, 0, 0xffffffff, 0, "filter"), \
		__VA_ARGS__ \
	}

/* HA_PCI_PMON_BOX_ADDRMATCH and OPCODEMATCH, 327043 Tables 2-37 to 2-39 */
#define HA_REGS(fields, rsv, ...) \
	PCI_REGS_4(ha_regs, fields, rsv, \
		   ROW_FILTER(0x40, 0, 0xffffffc0, 0, "addrmatch0"), \
		   ROW_FILTER(0x44, 1, 0x00003fff, 0, "addrmatch1"), \
		   ROW_FILTER(0x48, 2, 0x0000003f, 0, "opcodematch"), \
		   __VA_ARGS__)

/* 327043 Tables 2-88 to 2-91, 329468 Tables 2-133 to 2-136: filters of received packets */
static const struct model_reg qpi_filter_regs[] = {
	ROW_PACKET0(0x228, 0, "rx_match0"),
	ROW_PACKET1(0x22c, 1, "rx_match1"),
	ROW_PACKET0(0x238, 2, "rx_mask0"),
	ROW_PACKET1(0x23c, 3, "rx_mask1"),
};

#endif

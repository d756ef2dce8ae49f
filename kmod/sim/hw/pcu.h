/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of the PCU from Sandy Bridge to Skylake: layout of its control registers, and
 * filters. Tables are those of Intel's uncore manual 331051.
 */
#ifndef XEON_UNCORE_SIM_HW_PCU_H
#define XEON_UNCORE_SIM_HW_PCU_H

#include "rows.h"

/* The PCU's occupancy events have occ_sel as unit mask, and own bits for their comparison. */
static const struct model_layout e5_pcu_layout = {
	CTL_LAYOUT, BOX_CTL_LAYOUT, .frz_en = BOX_CTL_FRZ_EN,
	.occ_event = CTL_OCC_EVENT, .occ_invert = CTL_OCC_INVERT,
	.occ_edge_det = CTL_OCC_EDGE_DET,
};

/*
 * Table 2-155: the PCU's registers since Haswell, and further ones. @box_ones: bits of the box
 * control that software has to write as 1; @fields and @rsv: fields and reserved bits of the four
 * control registers.
 */
#define PCU_REGS_710(box_ones, fields, rsv, ...) \
	static const struct model_reg pcu_regs[] = { \
		ROW_BOX_CTL(0x710, box_ones), \
		ROW_CTL(0x711, 0, fields, rsv), ROW_CTR(0x717, 0), \
		ROW_CTL(0x712, 1, fields, rsv), ROW_CTR(0x718, 1), \
		ROW_CTL(0x713, 2, fields, rsv), ROW_CTR(0x719, 2), \
		ROW_CTL(0x714, 3, fields, rsv), ROW_CTR(0x71a, 3), \
		ROW_FILTER(0x715, 0, 0xffffffff, 0, "filter"), \
		ROW_STATUS(0x716, 0xf, 0), \
		__VA_ARGS__ \
	}

/* PCU_MSR_PMON_BOX_FILTER, Table 2-160 */
#define PCU_BAND(event, at) \
	{ .first = (event), .last = (event), .op = FILTER_REACHES, \
	  .attr = ATTR_FREQ, .shift = (at), .width = 8 }

static const struct model_filter pcu_filters[] = {
	PCU_BAND(0x0b, 0),
	PCU_BAND(0x0c, 8),
	PCU_BAND(0x0d, 16),
	PCU_BAND(0x0e, 24),
};

#endif

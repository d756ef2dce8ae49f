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

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tables of Ivy Bridge, Haswell and Broadwell: filters, and registers outside
 * the boxes. Sections and tables are those of Intel's uncore manual 331051.
 */
#ifndef XEON_UNCORE_SIM_HW_COMMON_H
#define XEON_UNCORE_SIM_HW_COMMON_H

#include "pcu.h"

/* ADDR_OPC_MATCH, Table 2-68 */
static const struct model_filter ha_filters[] = {
	{ .first = 0x20, .last = 0x20, .umask = 0x01, .op = FILTER_EQUAL,
	  .attr = ATTR_ADDR, .reg = 0, .shift = 6, .width = 40 },
	{ .first = 0x20, .last = 0x20, .umask = 0x1e, .op = FILTER_EQUAL,
	  .attr = ATTR_OPC, .reg = 2, .width = 6 },
};

#ifndef ONE_SOCKET
/* Match and mask registers, Tables 2-172 to 2-175, in a separate PCI function */
#define ROW_PACKET0(where, i, text) \
	ROW_FILTER(where, i, 0x8003fff8, 0x7ffc0007, text)
#define ROW_PACKET1(where, i, text) \
	ROW_FILTER(where, i, 0x000f000f, 0xfff0fff0, text)

/* filter of CTO_COUNT */
static const struct model_filter qpi_filters[] = {
	{ .first = 0x138, .last = 0x138, .op = FILTER_PACKET },
};
#endif

/* §1.6.1: node ID of the package, and the map with the node ID of 8 packages, 3 bits each */
static const struct model_reg node_regs[] = {
	{ .at = 0x40, .bytes = 4, .type = REG_NODE_ID, .name = "node_id" },
	{ .at = 0x54, .bytes = 4, .type = REG_NODE_MAP, .name = "node_map" },
};

#endif

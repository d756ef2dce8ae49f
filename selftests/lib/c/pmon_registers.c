// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Addresses of the control and filter registers of each box type, by the manual.
 */
#include <stddef.h>
#include <string.h>

#include "generation.h"
#include "pmon_registers.h"

#define HA_FILTERS { \
	{ "addrmatch0", 1, 0, BITS(6, 31), 0x40 }, \
	{ "addrmatch1", 1, 32, BITS(0, 13), 0x44 }, \
	{ "opcodematch", 1, 48, BITS(0, 5), 0x48 } }
#define QPI_RX_FILTERS \
	{ "rx_match0", 1, 0, 0x8003fff8, 0x228 }, \
	{ "rx_match1", 1, 32, 0x000f000f, 0x22c }, \
	{ "rx_mask0", 2, 0, 0x8003fff8, 0x238 }, \
	{ "rx_mask1", 2, 32, 0x000f000f, 0x23c }

static const struct pmon_type haswell[BOX_TYPES] = {
	{ "ubox", 2, 0, 0x705, 1, 0x703,
	  .filters = { { "filter", 1, 0, 0x3f, 0x707 } } },
	{ "cbox", 4, 0x10, 0xe01, 1, 0,
	  .filters = {
		{ "filter0", 1, 0, BITS(17, 23) | BITS(0, 8), 0xe05 },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15), 0xe06 } } },
	{ "sbox", 4, 10, 0x721, 1, 0, .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f30, 0x2f38 },
	  .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0,
	  .ids = { 0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5,
		   0x2fd0, 0x2fd1, 0x2fd4, 0x2fd5 } },
	{ "irp", 2, 8, 0xd8, 4, 0, .ids = { 0x2f39, 0x2f39 } },
	{ "pcu", 4, 0, 0x711, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0x715 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f32, 0x2f33, 0x2f3a },
	  .filter_ids = { 0x2f86, 0x2f96, 0x2f46 },
	  .filters = {
		QPI_RX_FILTERS,
		{ "tx_match0", 1, 0, 0x8003fff8, 0x200 },
		{ "tx_match1", 1, 32, 0x000f000f, 0x204 },
		{ "tx_mask0", 2, 0, 0x8003fff8, 0x210 },
		{ "tx_mask1", 2, 32, 0x000f000f, 0x214 } } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f34 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f36, 0x2f37, 0x2f3e } },
};

static const struct pmon_type ivy_bridge[BOX_TYPES] = {
	{ "ubox", 2, 0, 0xc10, 1, 0xc08, .ids = { 0 } },
	{ "cbox", 4, 0x20, 0xd10, 1, 0,
	  .filters = {
		{ "filter0", 1, 0, BITS(17, 22) | BITS(0, 8), 0xd14 },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15), 0xd1a } } },
	{ "sbox", .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f30, 0x2f38 },
	  .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0,
	  .ids = { 0x2fb4, 0x2fb5, 0x2fb0, 0x2fb1,
		   0x2ff4, 0x2ff5, 0x2ff0, 0x2ff1 } },
	{ "irp", 2, 8, 0xd8, 4, 0, .ids = { 0x2f39, 0x2f39 } },
	{ "pcu", 4, 0, 0xc30, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0xc34 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f32, 0x2f33, 0x2f3a },
	  .filter_ids = { 0x2f86, 0x2f96 }, .filters = { QPI_RX_FILTERS } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f34 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f36, 0x2f37, 0x2f3e } },
};

static const struct pmon_type sandy_bridge[BOX_TYPES] = {
	{ "ubox", 2, 0, 0xc10, 1, 0xc08, .ids = { 0 } },
	{ "cbox", 4, 0x20, 0xd10, 1, 0,
	  .filters = {
		{ "filter", 1, 0, BITS(10, 31) | BITS(0, 4), 0xd14 } } },
	{ "sbox", .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f46 }, .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0, .ids = { 0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5 } },
	{ "irp", .ids = { 0 } },
	{ "pcu", 4, 0, 0xc30, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0xc34 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f41, 0x2f42 },
	  .filter_ids = { 0x2f86, 0x2f96 }, .filters = { QPI_RX_FILTERS } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f43 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f44, 0x2f45 } },
};

static const struct pmon_type front_side[BOX_TYPES] = {
	{ "gbsq", 2, .ctl = 0x107cc, .ctl_step = 1, .joint = true },
	{ "gsnpq", 2, .ctl = 0x107ce, .ctl_step = 1, .joint = true },
	{ "fsb", 4, .ctl = 0x107d0, .ctl_step = 1, .joint = true },
};

static const struct {
	const char *generation;
	const struct pmon_type *types;
} generations[] = {
	{ "ivbep", ivy_bridge },
	{ "snbep", sandy_bridge },
	{ "xeon7100", front_side },
	{ "xeon7400", front_side },
	/* Haswell, and Broadwell with the same registers */
	{ NULL, haswell },
};

const struct pmon_type *pmon_types(void)
{
	unsigned int i = 0;

	while (generations[i].generation &&
	       strcmp(generations[i].generation, generation()->name))
		i++;
	return generations[i].types;
}

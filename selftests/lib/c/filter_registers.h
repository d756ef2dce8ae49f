/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which bits of config1 and config2 program the filter registers of a box type, from the
 * manual and not from the driver's tables.
 */
#ifndef SELFTESTS_FILTER_REGISTERS_H
#define SELFTESTS_FILTER_REGISTERS_H

#include <stdint.h>

enum { MAX_FILTERS = 8 };	/* filter registers of a box */

#define BITS(lo, hi)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

/**
 * struct filter_register - a filter register of a box type
 * @name: as in the simulator's register file; NULL ends the list of a box type
 * @word: 1 or 2 if bits of config1 or of config2 program the register
 * @shift: position of the register's bit 0 in that word
 * @mask: bits of the register
 */
struct filter_register {
	const char *name;
	unsigned int word, shift;
	uint64_t mask;
};

/* Filter registers of a box type of this machine's generation; the list may be empty */
const struct filter_register *filter_registers(const char *type);

#endif

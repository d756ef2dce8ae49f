/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of the control and filter registers of each box type, from the manual and not
 * from the driver's tables.
 */
#ifndef SELFTESTS_PMON_REGISTERS_H
#define SELFTESTS_PMON_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_GENERAL = 4,	/* general counters of a box */
	MAX_FILTERS = 8,	/* filter registers of a box */
};

#define BITS(lo, hi)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))

/**
 * struct pmon_filter - a filter register of a box type
 * @name: as in the simulator's register file
 * @word: 1 or 2 if bits of config1 or of config2 program the register
 * @shift: position of the register's bit 0 in that word
 * @mask: bits of the register
 * @reg: MSR of box 0, or offset in the PCI function
 */
struct pmon_filter {
	const char *name;
	unsigned int word, shift;
	uint64_t mask;
	unsigned int reg;
};

/**
 * struct pmon_type - registers of a box type
 * @name: as in PMU names; NULL ends the list of a generation
 * @general: number of general counters
 * @stride: distance between the registers of two boxes
 * @ctl: control register of counter 0 of box 0: MSR, or offset in the PCI function
 * @ctl_step: distance between the control registers of a box
 * @fixed: control register of the fixed counter; 0: none
 * @joint: a control register is the upper half of the counter's register, and has no
 *	enable bit
 * @ids: PCI device IDs of the boxes' functions; 0: the registers are MSRs. The IDs are
 *	Haswell's; those of other generations have the same lower byte.
 * @filter_ids: PCI device IDs of the functions with the filter registers, if these are
 *	not in the boxes' functions
 * @filters: the filter registers
 */
struct pmon_type {
	const char *name;
	unsigned int general, stride, ctl, ctl_step, fixed;
	bool joint;
	uint16_t ids[8], filter_ids[8];
	struct pmon_filter filters[MAX_FILTERS];
};

/* Box types of this machine's generation, up to BOX_TYPES */
const struct pmon_type *pmon_types(void);

#endif

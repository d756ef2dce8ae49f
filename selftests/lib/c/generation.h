/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests know of the machine's processor generation beside the PMUs' files in sysfs
 * and the event catalogue: its box types, registers and PCI functions, which the simulated
 * hardware's tables say (selftests/sim/machines), and a few properties.
 */
#ifndef SELFTESTS_GENERATION_H
#define SELFTESTS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#define BOX_TYPES	16	/* most box types of a generation, and the end of their list */
#define MOST_BOXES	64	/* of a type in a package */

/**
 * struct box_type - a box type of the generation
 * @name: as in the names of PMUs
 * @boxes: largest number of boxes in a package
 * @pci: the registers are in PCI configuration space
 * @memory: the registers are in memory; neither: they are MSRs
 * @in_function: number of boxes in a PCI function
 * @general: number of general counters of a box
 * @interrupts: an overflow sends an interrupt, and the driver takes it
 * @places: distance of each box's MSRs from the first box's; in memory the offset of each box
 *	in the package's window
 */
struct box_type {
	char name[24];
	unsigned int boxes;
	bool pci, memory;
	unsigned int in_function, general;
	bool interrupts;
	int places[MOST_BOXES];
};

/**
 * struct box_function - a PCI function of a box
 * @type: the box type
 * @box: number of the box in its package
 * @has: what the function has of the box: "box" (counters), "filter" (the filter registers
 *	alone), or "beside"
 * @device: device ID
 * @slot, @function: where it is on its bus
 */
struct box_function {
	char type[24];
	unsigned int box;
	char has[8];
	uint16_t device;
	unsigned int slot, function;
};

/**
 * struct generation - a generation of processors
 * @name: name in the names of PMUs
 * @types: names of the box types; "" after the last box type
 * @narrow: width in bits of the counters that may be narrower than 48 bits
 * @tids, @states, @nids: bits of a CBo's filter_tid, filter_state and filter_nid
 * @links_of: event of a CBo that obeys filter_link, by code and unit mask
 * @one_a_cycle: no counter adds more than one in a cycle
 * @polled: the driver uses no overflow interrupts, as no source says how to choose a core
 * @in_tree_sim: simulator parameters that intel_uncore needs in order not to fault
 * @written_twice: some control registers must be written twice in a row
 * @lacks: format fields that Haswell's boxes have and boxes of this generation lack:
 *	"type/field" for a box type, or "field" for all box types except those with
 *	"type+field"
 */
struct generation {
	const char *name;
	const char *types[BOX_TYPES];
	unsigned int narrow;
	unsigned int tids, states, nids;
	struct {
		unsigned int event, umask;
	} links_of;
	bool one_a_cycle;
	bool polled;
	const char *in_tree_sim;
	bool written_twice;
	const char *lacks[12];
};

/* Generation of this machine's processor, or Haswell's if the processor is of none */
const struct generation *generation(void);
/* The generation's box type with that name, or NULL */
const struct box_type *box_type(const char *name);
/* Return whether @name is, or begins with, a box type that only other generations have. */
bool names_absent_type(const char *name);
/* The type of a box, "imc_0" or "pcu", or NULL; @index gets the box's number */
const struct box_type *box_named(const char *box, unsigned int *index);
/* Name of the first box type of which a package may have several boxes, or of the first */
const char *box_type_of_many(void);
/*
 * Largest number of boxes in a package: of a type, 0 if there is no such type; and of all types
 * that have counters to program
 */
unsigned int most_boxes(const char *type);
unsigned int package_boxes(void);
/*
 * First box type in MSRs (@pci: in PCI space) with at least @general general counters whose
 * overflows interrupt or not (@interrupts); NULL if there is none
 */
const struct box_type *box_type_like(bool pci, bool interrupts, unsigned int general);
/*
 * Address of a register of a box, by its name in the simulator's file "registers": an MSR, or
 * an offset in the box's function. 0 if there is no such register.
 */
uint32_t box_register(const char *type, unsigned int box, const char *name);
/* The PCI function of a box that has "box", "filter" or "beside"; NULL: there is none */
const struct box_function *box_function(const char *type, unsigned int box,
					const char *has);
/*
 * Return whether @event, such as "event=0,inv=1", has a format field that boxes of type
 * @type lack in this generation.
 */
bool generation_lacks(const char *type, const char *event);

#endif

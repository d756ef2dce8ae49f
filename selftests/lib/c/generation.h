/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a processor generation that the tests can take neither from the PMUs'
 * files in sysfs nor from the event catalogue.
 */
#ifndef SELFTESTS_GENERATION_H
#define SELFTESTS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#define BOX_TYPES	10	/* number in the generation with the most box types */

/**
 * struct generation - a generation of processors
 * @name: name in the names of PMUs
 * @types: box types; "" after the last box type
 * @cpu_family, @cpu_model: family and model of the processors
 * @cboxes, @has, @imcs: largest number of CBos, home agents and memory channels of a
 *	package
 * @devices: upper byte of the PCI device IDs; the lower byte is 0
 * @narrow: width in bits of the counters that may be narrower than 48 bits
 * @tids, @states, @nids: bits of a CBo's filter_tid, filter_state and filter_nid
 * @links_of: event of a CBo that obeys filter_link, by code and unit mask
 * @cbox_msr: first MSR of CBo 0, or of all counters in a generation without CBos
 * @cbox_stride: distance of the MSRs of two CBos
 * @cbox_ctl, @cbox_ctr: first control register and first counter, counted from @cbox_msr
 * @one_a_cycle: no counter adds more than one in a cycle
 * @qpi_filters: number of QPI ports whose filters are known
 * @in_tree_sim: simulator parameters that intel_uncore needs in order not to fault
 * @written_twice: some control registers must be written twice in a row
 * @polled: box types whose overflows do not interrupt
 * @lacks: format fields that Haswell's boxes have and boxes of this generation lack:
 *	"type/field" for a box type, or "field" for all box types except those with
 *	"type+field"
 */
struct generation {
	const char *name;
	const char *const *types;
	unsigned int cpu_family, cpu_model, cboxes, has, imcs;
	uint16_t devices;
	unsigned int narrow;
	unsigned int tids, states, nids;
	struct {
		unsigned int event, umask;
	} links_of;
	uint32_t cbox_msr, cbox_stride, cbox_ctl, cbox_ctr;
	unsigned int qpi_filters;
	bool one_a_cycle;
	const char *in_tree_sim;
	bool written_twice;
	const char *polled[9], *lacks[12];
};

/* Generation of this machine's processor, or Haswell's if the processor is of none */
const struct generation *generation(void);
/* PCI device ID of this generation that corresponds to Haswell's ID @haswell */
uint16_t generation_device(uint16_t haswell);
/*
 * Return whether @event, such as "event=0,inv=1", has a format field that boxes of type
 * @type lack in this generation.
 */
bool generation_lacks(const char *type, const char *event);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of a processor generation that tests need. Everything else comes from the
 * PMUs or from the catalogue.
 */
#ifndef SELFTESTS_GENERATION_H
#define SELFTESTS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#define BOX_TYPES	10	/* of the generation with the most */

/**
 * struct generation - a generation of processors
 * @name: as in PMU names
 * @types: its box types; "" beyond the last one
 * @cpu_family, @cpu_model: the processors
 * @cboxes, @has, @imcs: most CBos, home agents and memory channels of a package
 * @devices: PCI device ID whose lower byte is 0
 * @narrow: bits of the counters that may be narrower than 48
 * @tids, @states, @nids: bits of a CBo's filter_tid, filter_state and filter_nid
 * @links_of: the event of a CBo that filter_link is for, by code and unit mask
 * @cbox_msr, @cbox_stride: where the MSRs of CBos begin, and their distance; of
 *	all counters where there are no CBos
 * @cbox_ctl, @cbox_ctr: the first control and counter, from there on
 * @one_a_cycle: no counter adds more than one in a cycle
 * @qpi_filters: ports whose filters are known
 * @in_tree_sim: parameters of a simulated machine that the kernel's driver can bear
 * @written_twice: some control registers must be written twice in a row
 * @polled: types of boxes whose overflows do not interrupt
 * @lacks: fields that Haswell's boxes have and these have not, "type/field" or
 *	"field" for all types but those of "type+field"
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

/* Generation of this machine, or the first one if none matches */
const struct generation *generation(void);
/* The device of this generation that corresponds to a Haswell device */
uint16_t generation_device(uint16_t haswell);
/*
 * Return whether @event, such as "event=0,inv=1", has a field that boxes of @type lack.
 */
bool generation_lacks(const char *type, const char *event);

#endif

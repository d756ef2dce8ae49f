// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Table of the generations that the tests know. The family and the model of the processor
 * choose the row.
 */
#include <stdio.h>
#include <string.h>

#include "generation.h"

static const char *const uncore[BOX_TYPES] = {
	"ubox", "cbox", "sbox", "ha", "imc",
	"irp", "pcu", "qpi", "r2pcie", "r3qpi",
};

static const char *const frontside[BOX_TYPES] = {
	"gbsq", "gsnpq", "fsb", "", "", "", "", "", "", "",
};

#define UNCORE(model)	.types = uncore, .cpu_family = 6, .cpu_model = (model)

/* Eight counters in consecutive MSRs, without interrupts, thresholds and edges */
#define FRONTSIDE(family, model)				\
	.types = frontside, .cpu_family = (family), .cpu_model = (model), \
	.cboxes = 1, .cbox_msr = 0x107cc, .cbox_stride = 8, .cbox_ctr = 4, \
	.narrow = 32, .one_a_cycle = true,			\
	.polled = { "gbsq", "gsnpq", "fsb" },			\
	.lacks = { "event", "inv", "thresh", "edge" }

#define HASWELL						\
	.has = 2, .imcs = 8, .written_twice = true,	\
	.tids = 0x3f, .states = 0x7f, .nids = 0xffff, .links_of = { 0x35, 0x01 }, \
	.cbox_msr = 0xe00, .cbox_stride = 0x10, .cbox_ctl = 1, .cbox_ctr = 8, \
	.narrow = 48, .polled = { "cbox", "sbox" }

#define SANDY_BRIDGE					\
	.narrow = 44, .tids = 0x1f, .qpi_filters = 2,	\
	.cbox_msr = 0xd00, .cbox_stride = 0x20, .cbox_ctl = 0x10, \
	.cbox_ctr = 0x16

static const struct generation generations[] = {
	{ "hswep", UNCORE(63), .cboxes = 18, .devices = 0x2f00,
	  .qpi_filters = 3, HASWELL },
	{ "bdwep", UNCORE(79), .cboxes = 24, .devices = 0x6f00,
	  .qpi_filters = 3, HASWELL },
	{ "bdwde", UNCORE(86), .cboxes = 16, .devices = 0x6f00, HASWELL },
	{ "ivbep", UNCORE(62), .cboxes = 15, .devices = 0x0e00,
	  .has = 2, .imcs = 8, SANDY_BRIDGE, .states = 0x3f, .nids = 0xffff,
	  .links_of = { 0x32, 0x10 }, .polled = { "irp" },
	  /* intel_uncore (6.1) supports two R3QPI boxes, and faults with a third */
	  .in_tree_sim = "qpi_ports=2",
	  .lacks = { "inv", "imc+inv", "ubox/filter_tid", "ubox/filter_cid",
		     "qpi/match_tx", "sbox/event" } },
	{ "snbep", UNCORE(45), .cboxes = 8, .devices = 0x3c00,
	  .has = 1, .imcs = 4, SANDY_BRIDGE, .states = 0x1f, .nids = 0xff,
	  .polled = { "ubox", "cbox", "ha", "imc", "pcu", "qpi", "r2pcie",
		      "r3qpi" },
	  .lacks = { "ubox/filter_tid", "ubox/filter_cid", "cbox/filter_link",
		     "cbox/filter_c6", "cbox/filter_nc", "cbox/filter_isoc",
		     "qpi/match_tx", "sbox/event", "irp/event" } },
	{ "xeon7100", FRONTSIDE(15, 6) },
	{ "xeon7400", FRONTSIDE(6, 29) },
};

enum { GENERATIONS = sizeof(generations) / sizeof(*generations) };

static void read_processor(unsigned int *family, unsigned int *model)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	while (f && !*model && fgets(line, sizeof(line), f)) {
		sscanf(line, "cpu family : %u", family);
		sscanf(line, "model : %u", model);
	}
	if (f)
		fclose(f);
}

const struct generation *generation(void)
{
	static const struct generation *found;

	if (!found) {
		unsigned int family = 0, model = 0;

		read_processor(&family, &model);
		found = generations;
		for (unsigned int i = 0; i < GENERATIONS; i++)
			if (generations[i].cpu_family == family &&
			    generations[i].cpu_model == model)
				found = &generations[i];
	}
	return found;
}

uint16_t generation_device(uint16_t haswell)
{
	return haswell - generations[0].devices + generation()->devices;
}

/* Return whether boxes of @type do not have @field. */
static bool lacks(const char *type, const char *field)
{
	const char *const *row = generation()->lacks;
	size_t length = strlen(type);
	bool found = false;

	for (; *row; row++) {
		const char *name = strpbrk(*row, "/+");

		if (!name)
			found |= !strcmp(*row, field);
		else if (name - *row == (long)length &&
			 !strncmp(*row, type, length) && !strcmp(name + 1, field))
			return *name == '/';
	}
	return found;
}

bool generation_lacks(const char *type, const char *event)
{
	char copy[512], *save, *term;

	snprintf(copy, sizeof(copy), "%s", event);
	for (term = strtok_r(copy, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		term[strcspn(term, "=")] = '\0';
		if (lacks(type, term))
			return true;
	}
	return false;
}

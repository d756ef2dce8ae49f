// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Broadwell-EP/EX (Xeon E5/E7 v4): the registers of Haswell, with more CBos and
 * cores, other PCI device IDs, and a die without SBos.
 */
#include "model/priv.h"
#include "generated/bdwep_waves.h"

#define WAVES(box)	bdwep_##box##_waves
#define DEVICE(low)	(0x6f00 + (low))
#define MAX_CBOXES	24
#define CORE_SEL	0x00ffffff	/* a bit for each core */
#define SBOXES		0

#include "haswell.h"

const struct model_generation model_bdwep = {
	.name = "bdwep", .cpu_family = 6, .cpu_model = 79,
	HASWELL_COMMON,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Xeon 7100, which has two cores with two threads each.
 */
#include "model/priv.h"
#include "generated/xeon7100_waves.h"

#define WAVES(box)	xeon7100_##box##_waves
#define GBSQ_AGENTS	0x0000000fu	/* logical processors */
#define GSNPQ_AGENTS	0x0000003fu	/* and other agents on the bus */
#define GSNPQ_CORES	FILTER_CORES

#include "frontside.h"

const struct model_generation model_xeon7100 = {
	.name = "xeon7100", .cpu_family = 15, .cpu_model = 6,
	FRONTSIDE_COMMON,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Xeon 7400, which has three modules with two cores each.
 */
#include "model/priv.h"
#include "generated/xeon7400_waves.h"

#define WAVES(box)	xeon7400_##box##_waves
#define GBSQ_AGENTS	0x00000007u	/* modules */
#define GSNPQ_AGENTS	0x00000027u	/* and the central agent */
#define GSNPQ_CORES	FILTER_MODULES

#include "frontside.h"

const struct model_generation model_xeon7400 = {
	.name = "xeon7400", .cpu_family = 6, .cpu_model = 29,
	FRONTSIDE_COMMON,
};

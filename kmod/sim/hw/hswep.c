// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Haswell-EP/EX (Xeon E5/E7 v3), by document 331051.
 */
#include "model/priv.h"
#include "generated/hswep_waves.h"

#define WAVES(box)	hswep_##box##_waves
#define DEVICE(low)	(0x2f00 + (low))
#define MAX_CBOXES	18
#define CORE_SEL	0x0003ffff	/* Table 2-2 */
#define SBOXES		2

#include "haswell.h"

const struct model_generation model_hswep = {
	.name = "hswep", .cpu_family = 6, .cpu_model = 63,
	HASWELL_COMMON,
};

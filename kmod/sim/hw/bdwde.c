// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Broadwell-DE (Xeon D-1500): Broadwell-EP without the links between sockets (QPI,
 * R3QPI) and between rings (SBo).
 */
#include "model/priv.h"
#include "generated/bdwde_waves.h"

#define WAVES(box)	bdwde_##box##_waves
#define DEVICE(low)	(0x6f00 + (low))
#define MAX_CBOXES	16
#define CORE_SEL	0x0000ffff	/* a bit for each core */
#define ONE_SOCKET

#include "haswell.h"

const struct model_generation model_bdwde = {
	.name = "bdwde", .cpu_family = 6, .cpu_model = 86,
	HASWELL_COMMON,
};

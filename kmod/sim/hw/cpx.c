// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Cooper Lake-SP: Cascade Lake-SP with six links. */
#include "model/priv.h"
#include "generated/cpx_waves.h"

#define WAVES(box)	cpx_##box##_waves
#define LINKS		6

#include "skylake.h"

const struct model_generation model_cpx = {
	.name = "cpx", .steppings = 0x0c00,
	SKYLAKE_COMMON,
};

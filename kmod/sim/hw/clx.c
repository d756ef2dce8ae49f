// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Cascade Lake-SP: Skylake-SP with events of persistent memory. */
#include "model/priv.h"
#include "generated/clx_waves.h"

#define WAVES(box)	clx_##box##_waves
#define LINKS		3

#include "skylake.h"

const struct model_generation model_clx = {
	.name = "clx", .steppings = 0x00e0,
	SKYLAKE_COMMON,
};

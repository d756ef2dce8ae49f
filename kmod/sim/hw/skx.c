// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Skylake-SP. */
#include "model/priv.h"
#include "generated/skx_waves.h"

#define WAVES(box)	skx_##box##_waves
#define LINKS		3

#include "skylake.h"

const struct model_generation model_skx = {
	.name = "skx", .steppings = 0x001f,
	SKYLAKE_COMMON,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Ice Lake-SP. */
#include "model/priv.h"
#include "generated/icx_waves.h"

#define WAVES(box)	icx_##box##_waves

#include "icelake.h"

const struct model_generation model_icx = {
	.name = "icx", .cpu_model = 106,
	ICELAKE_COMMON,
};

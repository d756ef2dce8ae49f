// SPDX-License-Identifier: GPL-2.0-only
/* Tables of Ice Lake-SP. */
#include "model/priv.h"
#include "generated/icx_waves.h"

#define WAVES(box)	icx_##box##_waves
#define CONTROLLERS	4

enum { SAD_0 = 5, SAD_1 = 0, SAD_2 = 1, SAD_3 = 2, SAD_4 = 3, SAD_5 = 4 };

#include "icelake.h"

const struct model_generation model_icx = {
	.name = "icx", .cpu_model = 106,
	ICELAKE_COMMON,
};

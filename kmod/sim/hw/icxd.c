// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of Ice Lake-D (Xeon D-1700 and D-2700): Ice Lake-SP with one socket and other numbers of
 * stacks, which PCM has. The boot messages of a machine show one M2M.
 */
#include "model/priv.h"
#include "generated/icxd_waves.h"

#define WAVES(box)	icxd_##box##_waves
#define CONTROLLERS	1
#define ONE_SOCKET

enum { SAD_0 = 2, SAD_1 = 5, SAD_2 = 1, SAD_3 = 0, SAD_4 = 3, SAD_5 = 4 };

#include "icelake.h"

const struct model_generation model_icxd = {
	.name = "icxd", .cpu_model = 108,
	ICELAKE_COMMON,
};

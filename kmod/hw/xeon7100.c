// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7100 (family 15 model 6): two cores with two threads each on one L3 and one bus.
 */
#include "hw.h"
#include "generated/xeon7100_events.h"
#include "generated/xeon7100_fields.h"
#include "generated/xeon7100_regs.h"

#define OF(box, what)	xeon7100_##box##_##what
#define UP(box, what)	XEON7100_##box##_##what

/* §18.24.2: agent 35:32, ... cross_snoop 58 */
#define GBSQ_CTL	GENMASK_ULL(58, 32)
/* §18.24.3: agent 37:32, ... block_snoop 57 */
#define GSNPQ_CTL	GENMASK_ULL(57, 32)

#include "frontside.h"

const struct unc_generation unc_xeon7100 = {
	.name = "xeon7100",
	FRONTSIDE_COMMON,
};

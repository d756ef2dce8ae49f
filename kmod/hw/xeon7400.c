// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xeon 7400 (family 6 model 29): three dual-core modules on one L3 and one bus.
 */
#include "hw.h"
#include "generated/xeon7400_events.h"
#include "generated/xeon7400_fields.h"
#include "generated/xeon7400_regs.h"

#define OF(box, what)	xeon7400_##box##_##what
#define UP(box, what)	XEON7400_##box##_##what

/* §18.24.2: agents are modules, 34:32 */
#define GBSQ_CTL	(GENMASK_ULL(58, 36) | GENMASK_ULL(34, 32))
/* §18.24.3: and the central agent, 37 */
#define GSNPQ_CTL	(GENMASK_ULL(57, 37) | GENMASK_ULL(34, 32))

#include "frontside.h"

const struct unc_generation unc_xeon7400 = {
	.name = "xeon7400",
	FRONTSIDE_COMMON,
};

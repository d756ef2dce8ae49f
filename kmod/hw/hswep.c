// SPDX-License-Identifier: GPL-2.0-only
/*
 * Haswell-EP/EX (Xeon E5/E7 v3, family 6 model 63): Intel's manual 331051.
 */
#include <linux/pci.h>

#include "hw.h"
#include "generated/hswep_events.h"
#include "generated/hswep_fields.h"

#define OF(box, what)	hswep_##box##_##what
#define DEVICE(low)	(0x2f00 + (low))
#define MAX_CBOXES	18
#define MIN_SBOXES	2
#define IMC_QUIRKS	0

#include "haswell.h"

const struct unc_generation unc_hswep = {
	.name = "hswep",
	.rival = "hswep_uncore",
	.global.cores = GENMASK(17, 0),	/* Table 2-2 */
	HASWELL_COMMON,
};

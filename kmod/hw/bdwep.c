// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broadwell-EP/EX (Xeon E5/E7 v4, family 6 model 79).  Its registers are
 * Haswell's, as the kernel's own driver and libpfm4 have it; no manual of it has
 * been read.
 */
#include <linux/pci.h>

#include "hw.h"
#include "generated/bdwep_events.h"
#include "generated/bdwep_fields.h"
#include "generated/bdwep_regs.h"

#define OF(box, what)	bdwep_##box##_##what
#define REG(what)	BDWEP_##what
#define DEVICE(low)	(0x6f00 + (low))
#define MAX_CBOXES	REG(CBOX_BOXES)
#define MIN_SBOXES	0	/* the smallest die has none */
/* channels without memory answer, and count what makes no sense */
#define IMC_QUIRKS	UNC_QUIRK_UNCLOCKED

#include "haswell.h"

const struct unc_generation unc_bdwep = {
	.name = "bdwep",
	.rival = "bdx_uncore",
	/* a core a bit, as in Table 2-2; bits 28:27 are reserved there */
	.global.cores = GENMASK(23, 0),
	HASWELL_COMMON,
};

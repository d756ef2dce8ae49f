// SPDX-License-Identifier: GPL-2.0-only
/*
 * Broadwell-DE (Xeon D-1500, family 6 model 86): Broadwell-EP's boxes except
 * those that join sockets and rings, as the kernel's own driver and libpfm4 have
 * it; no manual of it has been read.
 */
#include <linux/pci.h>

#include "hw.h"
#include "generated/bdwde_events.h"
#include "generated/bdwde_fields.h"
#include "generated/bdwde_regs.h"

#define OF(box, what)	bdwde_##box##_##what
#define REG(what)	BDWDE_##what
#define DEVICE(low)	(0x6f00 + (low))
#define MAX_CBOXES	REG(CBOX_BOXES)
/* channels without memory answer, and count what makes no sense */
#define IMC_QUIRKS	UNC_QUIRK_UNCLOCKED
#define ONE_SOCKET

#include "haswell.h"

const struct unc_generation unc_bdwde = {
	.name = "bdwde",
	.rival = "bdx_uncore",
	/* a core a bit, as in Table 2-2 */
	.global.cores = GENMASK(15, 0),
	HASWELL_COMMON,
};

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_REFRESH_H
#define XEON_UNCORE_REFRESH_H

#include "state.h"

void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot);
void unc_refresh_box(struct unc_box *box);
void unc_refresh_verify(struct unc_box *box);

#endif

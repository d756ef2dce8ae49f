/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_FREEZE_H
#define XEON_UNCORE_FREEZE_H

#include "state.h"

void unc_freeze_init(struct unc_package *pkg);
bool unc_freeze_allowed(struct unc_package *pkg);
void unc_freeze_charge(struct unc_package *pkg, u64 ns);
bool unc_freeze_get(struct unc_box *box, bool force);
void unc_freeze_put(struct unc_box *box);

#endif

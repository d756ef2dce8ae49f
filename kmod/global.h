/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_GLOBAL_H
#define XEON_UNCORE_GLOBAL_H

#include "state.h"

bool unc_global_look(u64 *ctl, u64 *status);
u64 unc_global_status(void);
void unc_global_clear(u64 status);
void unc_global_freeze(void);
void unc_global_restart(u64 ctl);
void unc_global_select(u64 cores);
void unc_global_unfreeze(struct unc_overflow *ov);
u64 unc_global_heal(struct unc_package *pkg);
void unc_global_sampler_begin(struct unc_overflow *ov);
bool unc_global_sampler_end(struct unc_overflow *ov);
int unc_global_init(struct unc_package *pkg);
void unc_global_exit(struct unc_package *pkg);

#endif

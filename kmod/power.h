/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_POWER_H
#define XEON_UNCORE_POWER_H

#include "state.h"

int unc_power_start(void);
void unc_power_stop(void);
void unc_power_suspend(struct unc_package *pkg);
void unc_power_resume(struct unc_package *pkg);
int unc_power_init(void);
void unc_power_exit(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_TIMER_H
#define XEON_UNCORE_TIMER_H

#include "state.h"

void unc_timer_want(struct unc_package *pkg, u64 at);
void unc_timer_refresh_by(struct unc_package *pkg, bool narrow);
void unc_timer_init(struct unc_package *pkg,
		    u64 (*poll)(struct unc_package *pkg));
void unc_timer_online(void *data);
void unc_timer_exit(struct unc_package *pkg);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_OVERFLOW_H
#define XEON_UNCORE_OVERFLOW_H

#include "state.h"

u64 unc_overflow_poll(struct unc_package *pkg);
void unc_overflow_work(void);

#endif

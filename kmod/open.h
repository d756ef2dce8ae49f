/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_OPEN_H
#define XEON_UNCORE_OPEN_H

#include "state.h"

int unc_open_event(struct perf_event *event);
int unc_open_check_period(struct perf_event *event, u64 period);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_OWN_EVENT_H
#define XEON_UNCORE_OWN_EVENT_H

#include "state.h"

struct unc_own_event;

struct unc_own_event *unc_own_event_get(struct perf_event *event, bool wait);
bool unc_own_event_is(const struct perf_event *event);
void unc_own_event_put(struct unc_own_event *own);
void unc_own_event_resched(struct work_struct *work);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_EVENT_H
#define XEON_UNCORE_EVENT_H

#include "state.h"

void unc_event_join(struct unc_event *ue, const struct unc_slot *slot);
void unc_event_count(struct unc_event *ue, const struct unc_slot *slot);
struct unc_slot *unc_event_slot(struct unc_event *ue);

#endif

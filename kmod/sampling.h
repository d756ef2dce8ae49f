/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_SAMPLING_H
#define XEON_UNCORE_SAMPLING_H

#include "state.h"

bool unc_sampling_has_pmi(const struct unc_box *box, const struct unc_slot *slot);
bool unc_sampling_is_due(const struct unc_slot *slot);
bool unc_sampling_may_arm(const struct unc_box *box, const struct unc_slot *slot);
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_rearm(struct unc_box *box, struct unc_slot *slot);
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns);
void unc_sampling_start(struct unc_box *box, struct unc_slot *slot, u64 carry);
void unc_sampling_flush(struct unc_event *ue, u64 weight);
void unc_sampling_deliver(struct unc_package *pkg, struct pt_regs *regs);
int unc_sampling_check(const struct perf_event *event, const struct unc_slot *slot);
void unc_sampling_describe(const struct perf_event *event, bool freq,
			   struct unc_slot *slot);
u64 unc_sampling_take(struct unc_event *ue, struct unc_slot *slot);
void unc_sampling_add(struct unc_event *ue);
void unc_sampling_del(struct unc_event *ue);
void unc_sampling_init(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_SLOT_H
#define XEON_UNCORE_SLOT_H

#include "state.h"

int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot);
bool unc_slot_equals(const struct unc_slot *a, const struct unc_slot *b);
bool unc_slot_fit_all(const struct unc_slot *slots, unsigned int n);
struct unc_slot *unc_slot_find(struct unc_box *box, const struct unc_slot *like);
struct unc_slot *unc_slot_get(struct unc_box *box, const struct unc_slot *like);

#endif

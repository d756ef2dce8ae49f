/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_BOX_H
#define XEON_UNCORE_BOX_H

#include "state.h"

bool unc_box_signals(const struct unc_box *box);
bool unc_box_start(struct unc_box *box);
void unc_box_retire(struct unc_box *box);
void unc_box_lose_filters(struct unc_box *box);
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot);
void unc_box_reprogram(struct unc_box *box);
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run);
void unc_box_begin(struct unc_box *box, bool force);
void unc_box_end(struct unc_box *box);
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr);
void unc_box_leave(struct unc_box *box, struct unc_slot *slot);
void unc_box_release(struct unc_box *box, struct unc_slot *slot);
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot);
void unc_box_end_migration(struct unc_box *box);

#endif

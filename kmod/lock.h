/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_LOCK_H
#define XEON_UNCORE_LOCK_H

#include "state.h"

void unc_lock_raw(raw_spinlock_t *lock) __acquires(lock);
void unc_lock_raw_release(raw_spinlock_t *lock) __releases(lock);
unsigned long unc_lock_box(struct unc_box *box) __acquires(&box->lock);
void unc_lock_release(struct unc_box *box, unsigned long flags)
	__releases(&box->lock);
bool unc_lock_to_read(struct unc_box *box, const struct perf_event *event,
		      unsigned long *flags);

#endif

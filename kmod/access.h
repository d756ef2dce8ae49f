/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_ACCESS_H
#define XEON_UNCORE_ACCESS_H

#include "state.h"

/* Check whether a counter has a control.  Free-running counters have none. */
static inline bool unc_access_is_programmed(unsigned int ctr)
{
	return ctr < UNC_FREERUN0;
}

static inline unsigned int unc_access_next_programmed(const struct unc_type *type,
						      int ctr)
{
	ctr++;
	if (ctr >= type->general && ctr <= UNC_FIXED)
		return type->regs.fixed_ctl ? UNC_FIXED : UNC_FREERUN0;
	return ctr;
}

/* The counters of a box type that have a control: general counters, then the fixed one. */
#define for_each_programmed(type, ctr)				\
	for ((ctr) = unc_access_next_programmed(type, -1);	\
	     unc_access_is_programmed(ctr);			\
	     (ctr) = unc_access_next_programmed(type, ctr))

bool unc_access_is_present(struct unc_box *box);
unsigned int unc_access_bits(const struct unc_box *box, unsigned int ctr);
bool unc_access_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value);
void unc_access_write_counter(struct unc_box *box, unsigned int ctr, u64 value);
u64 unc_access_read_ctl(struct unc_box *box, unsigned int ctr);
void unc_access_write_ctl(struct unc_box *box, unsigned int ctr, u64 value);
unsigned int unc_access_num_filters(const struct unc_type *type);
void unc_access_write_filter(struct unc_box *box, unsigned int i, u32 value);
void unc_access_write_box_ctl(struct unc_box *box, u32 value);
void unc_access_clear_status(struct unc_box *box);
int unc_access_probe(struct unc_box *box);

#endif

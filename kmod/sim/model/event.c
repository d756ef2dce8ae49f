// SPDX-License-Identifier: GPL-2.0-only
/*
 * The selection of a counter: the event and the comparison (§1.4) that its control
 * register selects, and the fields of the filters.
 */
#include "model/priv.h"

/*
 * Return the first row of an event code in the sorted table of waves. @count is set to the
 * number of its rows, which may be 0.
 */
const struct model_wave *model_find_event(const struct model_type *type,
					  u32 code, unsigned int *count)
{
	unsigned int low = 0, high = type->nwaves, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (type->waves[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	while (high < type->nwaves && type->waves[high].code == code)
		high++;
	*count = high - low;
	return &type->waves[low];
}

bool model_knows_event(const struct model_type *type, u32 code)
{
	unsigned int count;

	model_find_event(type, code, &count);
	return count;
}

/*
 * Return the event that counter @ctr selects. The CBo's relay event stands for the event
 * of counter 0 (§2.3.1.1). On counter 0 itself the relay event is an ordinary event.
 */
struct model_selection model_selected(const struct model_box *b, unsigned int ctr)
{
	const struct model_layout *l = b->type->layout;
	struct model_selection s = { .ctr = ctr, .ctl = b->ctl[ctr] };

	if (b->type->relay && ctr &&
	    model_field(s.ctl, l->ev_sel) == b->type->relay) {
		s.ctr = 0;
		s.ctl = b->ctl[0];
	}
	s.code = model_field(s.ctl, l->ev_sel);
	if (s.ctl & l->ev_sel_ext)
		s.code |= 0x100;
	s.umask = model_field(s.ctl, l->umask) | model_gather(s.ctl, l->umask_ext) << 8;
	/* §2.8.2.2: occ_sel is part of occupancy events only */
	if (l->occ_event && !(s.ctl & l->occ_event))
		s.umask = 0;
	return s;
}

/*
 * Return the comparison of counter @ctr. Occupancy events of the PCU have their own
 * edge-detect and invert bits (§2.8.2.2). Case 6 of Table 2-165 sets .invert and
 * .occ_invert for a '<' comparison, so the comparison is inverted if either bit is set.
 */
struct model_shape model_shape_of(const struct model_box *b, unsigned int ctr)
{
	const struct model_layout *l = b->type->layout;
	u64 ctl = b->ctl[ctr];
	struct model_shape s = {
		.thresh = (ctl >> l->thresh_shift) & b->type->thresh,
		.invert = ctl & l->invert,
		.edge = ctl & l->edge_det,
	};

	if (ctl & l->occ_event) {
		s.invert = ctl & (l->invert | l->occ_invert);
		s.edge = ctl & l->occ_edge_det;
	}
	return s;
}

/*
 * Return the value of a filter's field for a counter with the control @ctl. The field may span
 * two filter registers.
 */
u64 model_filter_field(const struct model_box *b, const struct model_filter *f, u64 ctl)
{
	u64 field = f->in_ctl ? ctl : b->filter[f->reg];

	if (!f->in_ctl && f->shift + f->width > 32)
		field |= (u64)b->filter[f->reg + 1] << 32;
	return (field >> f->shift) & ((1ULL << f->width) - 1);
}

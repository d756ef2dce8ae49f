// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a control register selects: an event, a comparison, a field of a filter.
 */
#include "model/priv.h"

/* The rows of an event code in the sorted table of waves. */
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
 * What counter @ctr has selected.  The CBo's relay event stands for counter
 * 0's event (§2.3.1.1); on counter 0 there is nothing to relay, and it is an
 * event like others.
 */
struct model_selection model_selected(const struct model_box *b, unsigned int ctr)
{
	struct model_selection s = { .ctr = ctr, .ctl = b->ctl[ctr] };

	if (b->type->relay && ctr &&
	    (s.ctl & CTL_EV_SEL) == b->type->relay) {
		s.ctr = 0;
		s.ctl = b->ctl[0];
	}
	s.code = s.ctl & CTL_EV_SEL;
	if (s.ctl & CTL_EV_SEL_EXT)
		s.code |= 0x100;
	s.umask = (s.ctl & CTL_UMASK) >> CTL_UMASK_SHIFT;
	/* §2.8.2.2: occ_sel is part of occupancy events only */
	if ((b->type->quirks & QUIRK_OCCUPANCY) && !(s.ctl & CTL_OCC_EVENT))
		s.umask = 0;
	return s;
}

/*
 * The PCU's occupancy events have an edge detector and an invert bit of their
 * own (§2.8.2.2); case 6 of Table 2-165 sets both invert bits and wants '<',
 * so either one inverts.
 */
struct model_shape model_shape_of(const struct model_box *b, unsigned int ctr)
{
	u32 ctl = b->ctl[ctr];
	struct model_shape s = {
		.thresh = (ctl >> CTL_THRESH_SHIFT) & b->type->thresh,
		.invert = ctl & CTL_INVERT,
		.edge = ctl & CTL_EDGE_DET,
	};

	if ((b->type->quirks & QUIRK_OCCUPANCY) && (ctl & CTL_OCC_EVENT)) {
		s.invert = ctl & (CTL_INVERT | CTL_OCC_INVERT);
		s.edge = ctl & CTL_OCC_EDGE_DET;
	}
	return s;
}

/* The field of a filter; it may span two registers. */
u64 model_filter_field(const struct model_box *b, const struct model_filter *f)
{
	u64 field = b->filter[f->reg];

	if (f->shift + f->width > 32)
		field |= (u64)b->filter[f->reg + 1] << 32;
	return (field >> f->shift) & ((1ULL << f->width) - 1);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joint counters of Xeon 7100 and 7400: the upper half of the register is the control, the
 * lower half the count. Sections are those of the SDM, volume 3B.
 */
#include "model/priv.h"

/* Code of the sub-event of bit 0 of the upper half: its bit number in the register */
#define SUBEVENT0		32

static bool counts(const struct model_box *b, unsigned int ctr)
{
	return (b->ctl[ctr] & b->type->must) == b->type->must;
}

static bool has_subevent(const struct model_box *b, unsigned int ctr, u32 code)
{
	return code >= SUBEVENT0 && code < SUBEVENT0 + 32 &&
	       (b->ctl[ctr] & b->type->subevents & MODEL_BIT(code - SUBEVENT0));
}

/*
 * Check the waves of a box type: they are ORed, so their periods must divide the longest
 * of them.
 */
bool model_joint_valid(const struct model_type *type)
{
	const struct model_wave *w = type->waves;
	unsigned int i, longest = 1;

	for (i = 0; i < type->nwaves; i++) {
		if (!w[i].period || w[i].period > MODEL_WAVE_MAX)
			return false;
		if (w[i].period > longest)
			longest = w[i].period;
	}
	for (i = 0; i < type->nwaves; i++)
		if (longest % w[i].period)
			return false;
	return true;
}

/*
 * Plan the increments of a counter. §18.24.4: the selected sub-events are ORed, and a cycle
 * in which any of them holds counts 1.
 */
void model_joint_plan(const struct model_box *b, unsigned int ctr,
		      struct model_plan *p)
{
	const struct model_wave *w = b->type->waves;
	const struct model_wave *end = w + b->type->nwaves;
	unsigned int t;

	*p = (struct model_plan){ .period = 1 };
	if (b->only_rates || !counts(b, ctr))
		return;
	for (; w < end; w++)
		if (has_subevent(b, ctr, w->code) && w->period > p->period)
			p->period = w->period;
	for (w = b->type->waves; w < end; w++)
		for (t = 0; has_subevent(b, ctr, w->code) && t < p->period; t++)
			p->inc[t] |= !!w->v[t % w->period];
}

/*
 * Return whether a counter counts a transaction: the sub-event is selected, or all
 * attributes match the conditions (§18.24.2, §18.24.3).
 */
bool model_joint_takes(const struct model_box *b, unsigned int ctr,
		       const struct model_txn *t)
{
	const struct model_filter *f = b->type->filters;
	const struct model_filter *end = f + b->type->nfilters;
	u64 field;

	if (!counts(b, ctr))
		return false;
	if (b->type->subevents)
		return has_subevent(b, ctr, t->code);
	for (; f < end; f++) {
		field = b->ctl[ctr] >> f->shift & (MODEL_BIT(f->width) - 1);
		if (!model_field_passes(f->op, field,
					model_attribute(t, f->attr, f)))
			return false;
	}
	return true;
}

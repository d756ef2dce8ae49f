// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters whose control is the upper half of their register and whose count is
 * the lower (Xeon 7100 and 7400), and the register that freezes, clears and tells
 * of all of them, MSR_EMON_L3_GL_CTL.  Sections are those of the SDM, volume 3B.
 */
#include "model/priv.h"

/* MSR_EMON_L3_GL_CTL, §18.24.5; the other bits are reserved */
#define GL_FREEZE		0x1u
#define GL_UNFREEZE		0x2u
#define GL_CLEAR		0x4u
#define GL_SELECT_SHIFT		16	/* whose counts GL_CLEAR clears */
#define GL_SELECT		0x00ff0000u
#define GL_OVERFLOW_SHIFT	48	/* which overflowed */

/* A sub-event is bit 32 + n of the register for bit n of the upper half. */
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

/* Waves are ORed, so their periods must go into the longest one. */
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

/* §18.24.4: sub-events are ORed; a cycle in which any of them holds adds one. */
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

/* §18.24.2, §18.24.3: all attributes must match. */
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

/* Controls read as 0: that they are kept is not said. */
u64 model_joint_global_read(const struct model *m, unsigned int pkg)
{
	u64 status = 0;
	unsigned int i;

	/* how the bits are cleared is not said: nothing clears them */
	for (i = 0; i < m->boxes; i++)
		if (m->box[pkg][i].type->quirks & QUIRK_JOINT)
			status |= m->box[pkg][i].status;
	return status << GL_OVERFLOW_SHIFT;
}

static void clear_counts(struct model *m, struct model_box *b, u32 select)
{
	unsigned int ctr;

	model_box_sync(m, b);
	for (ctr = 0; ctr < b->type->counters; ctr++)
		if (select & MODEL_BIT(ctr + b->type->status_shift))
			b->ctr[ctr] = 0;
}

void model_joint_global_write(struct model *m, unsigned int pkg, u64 value)
{
	u32 select = (value & GL_SELECT) >> GL_SELECT_SHIFT;
	unsigned int i;

	if (value & GL_FREEZE)
		model_set_frozen(m, pkg, true);
	for (i = 0; (value & GL_CLEAR) && i < m->boxes; i++)
		clear_counts(m, &m->box[pkg][i], select);
	if ((value & GL_UNFREEZE) && !(value & GL_FREEZE))
		model_set_frozen(m, pkg, false);
}

/* To freeze and unfreeze at once, or to write any other bit. */
bool model_joint_global_undefined(u64 value)
{
	return (value & ~(u64)(GL_FREEZE | GL_UNFREEZE | GL_CLEAR | GL_SELECT)) ||
	       ((value & GL_FREEZE) && (value & GL_UNFREEZE));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leftover register state, as firmware, an earlier kernel or another tool may leave it for
 * a driver.
 */
#include "model/priv.h"

/* Increments to the next overflow of a leftover counter; the latter for 32-bit counters */
#define DIRTY_DISTANCE	(1ULL << 40)
#define DIRTY_DISTANCE_32	(1ULL << 20)

/* Put a value into a field, @mask, which has bits without a gap. */
static u64 place(u64 value, u64 mask)
{
	return value * (mask & -mask) & mask;
}

/* Return the control bits of an event that a counter can count and that occurs, or 0. */
static u64 some_event(const struct model_type *type, unsigned int ctr)
{
	const struct model_layout *l = type->layout;
	const struct model_wave *w = type->waves, *end = w + type->nwaves;
	unsigned int t;

	for (; w < end; w++)
		for (t = 0; (w->ctrs & MODEL_BIT(ctr)) && t < w->period; t++)
			if (w->v[t])
				return place(w->code & 0xff, l->ev_sel) |
				       place(w->code >> 8, l->ev_sel_ext) |
				       place(w->umask & 0xff, l->umask) |
				       place(w->umask >> 8, l->umask_ext);
	return 0;
}

static void dirty_register(struct model *m, struct model_box *b,
			   const struct model_reg *r, u32 state)
{
	u64 ctl = b->type->layout->en | b->type->layout->ov_en;
	u64 size;

	switch (r->type) {
	case REG_STATUS:
		if (state & MODEL_DIRTY_STATUS)
			b->status = r->keep & model_own_status(b);
		break;
	case REG_BOX_CTL:
		if (state & MODEL_DIRTY_BOXES)
			b->box_ctl |= b->type->layout->frz;
		break;
	case REG_CTL:
		if (!(state & MODEL_DIRTY_COUNTERS))
			break;
		if (r->index != MODEL_FIXED)
			ctl |= some_event(b->type, r->index);
		b->ctl[r->index] = ctl & r->keep;
		break;
	case REG_CTR:
		if (!(state & MODEL_DIRTY_COUNTERS))
			break;
		size = 1ULL << model_ctr_bits(m, b, r->index);
		b->ctr[r->index] = size - (size > DIRTY_DISTANCE ?
					   DIRTY_DISTANCE : DIRTY_DISTANCE_32);
		break;
	case REG_JOINT:
		if (state & MODEL_DIRTY_STATUS)
			b->status |= MODEL_BIT(r->index + b->type->status_shift);
		if (!(state & MODEL_DIRTY_COUNTERS))
			break;
		b->ctl[r->index] = r->keep;
		b->ctr[r->index] = (1ULL << 32) - DIRTY_DISTANCE_32;
		break;
	case REG_JOINT_GLOBAL:
		break;
	case REG_FILTER:
		if (state & MODEL_DIRTY_COUNTERS)
			b->filter[r->index] = r->keep;
		break;
	default:
		break;
	}
}

static void dirty_box(struct model *m, struct model_box *b, u32 state)
{
	const struct model_function *f = m->gen->functions;
	const struct model_reg *regs;
	unsigned int i, k, count;

	model_box_sync(m, b);
	regs = model_type_regs(m, b->type, &count);
	for (i = 0; i < count; i++)
		if (model_reg_of(b, &regs[i]))
			dirty_register(m, b, &regs[i], state);
	/* the filter registers of QPI are in a separate PCI function */
	for (i = 0; i < m->gen->nfunctions; i++, f++)
		if (f->regs && model_function_of(f, b))
			for (k = 0; k < f->nregs; k++)
				dirty_register(m, b, &f->regs[k], state);
	model_box_changed(m, b);
}

static u64 all_status_bits(const struct model_box *b)
{
	return (b->type->ov ? b->type->ov[b->index] : 0) | b->type->ov_fixed;
}

void model_make_dirty(struct model *m, u32 state)
{
	struct model_package *p;
	unsigned int pkg, i;
	u64 status;
	u64 cores = 0;

	/* a generation without these registers has no leftover state in them */
	if (!m->gen->freezes)
		state &= ~MODEL_DIRTY_FREEZE;
	if ((state & MODEL_DIRTY_CORES) && m->gen->core_sel)
		cores = m->gen->core_sel | m->gen->wk_on_pmi;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		p = &m->pkg[pkg];
		status = 0;
		for (i = 0; i < m->boxes; i++) {
			dirty_box(m, &m->box[pkg][i], state);
			status |= all_status_bits(&m->box[pkg][i]);
		}
		if (state & MODEL_DIRTY_STATUS)
			__atomic_store_n(&p->status, status, __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&p->ctl, cores, __ATOMIC_SEQ_CST);
		if (state & MODEL_DIRTY_FREEZE)
			model_set_frozen(m, pkg, true);
	}
	m->deadline_known = false;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free-running counters that count an event: its waveform, transactions or rates. No freeze
 * stops these counters, and software cannot write them. Free-running counters of the box's clock
 * need no state of their own: model_reg_read() computes them from the time.
 */
#include "model/priv.h"

#define BOOT_COUNT	1000

void model_boot(struct model *m)
{
	unsigned int pkg, i, ctr;

	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		for (i = 0; i < m->boxes; i++)
			for (ctr = 0; ctr < MODEL_MAX_FREE; ctr++)
				m->box[pkg][i].free_count[ctr] += BOOT_COUNT + ctr;
}

/* Plan the increments of the event of a free-running counter. */
static void plan(const struct model_box *b, const struct model_reg *r, struct model_plan *p)
{
	const struct model_wave *w;
	unsigned int i, t, count;

	if (model_plan_free_rates(b, r->code, r->umask, p))
		return;
	*p = (struct model_plan){ .period = 1 };
	w = model_find_event(b->type, r->code, &count);
	for (i = 0; i < count; i++) {
		if (w[i].umask != r->umask)
			continue;
		p->period = w[i].period;
		for (t = 0; t < p->period; t++) {
			p->inc[t] = w[i].v[t];
			p->sum += w[i].v[t];
		}
	}
}

/* Add the counts of @cycles cycles of the box's clock from cycle @from on. */
void model_free_sync(struct model_box *b, u64 from, u64 cycles)
{
	const struct model_reg *r = b->type->regs, *end = r + b->type->nregs;
	struct model_plan p;

	for (; r < end; r++) {
		if (!r->counts)
			continue;
		plan(b, r, &p);
		b->free_count[r->index] += model_plan_count(b, &p, from, cycles);
	}
}

/* Count @count of the transactions @t. */
void model_free_traffic(struct model_box *b, const struct model_txn *t, u64 count)
{
	const struct model_reg *r = b->type->regs, *end = r + b->type->nregs;

	for (; r < end; r++)
		if (r->counts && r->code == t->code && r->umask == t->umask)
			b->free_count[r->index] += count * t->value;
}

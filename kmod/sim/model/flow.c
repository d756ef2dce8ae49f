// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interface of the fronts to rates: set the rate of a type of transaction in a box, and
 * let rates alone count. rate.c counts them.
 */
#include "model/priv.h"

size_t model_rates_size(const struct model *m)
{
	return sizeof(struct model_flow) * MODEL_MAX_FLOWS * m->boxes *
	       m->cfg.packages;
}

void model_give_rates(struct model *m, void *memory)
{
	struct model_flow *flow = memory;
	unsigned int pkg, i;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		for (i = 0; i < m->boxes; i++) {
			m->box[pkg][i].flow = flow;
			flow += MODEL_MAX_FLOWS;
		}
	}
}

int model_rate_check(struct model *m, const struct model_txn *t,
		     const struct model_rate *rate)
{
	struct model_box *b = model_box(m, t->pkg, t->box_type, t->box);

	if (!b || !b->flow || (b->type->quirks & QUIRK_JOINT) ||
	    !model_knows_event(b->type, t->code) ||
	    rate->whole > MODEL_MAX_RATE || rate->frac >= MODEL_RATE_ONE)
		return -1;
	return b->flows < MODEL_MAX_FLOWS || model_find_flow(b, t) ? 0 : -2;
}

/*
 * Return whether a change of a flow's rate changes the plan of a counter. Plans that add
 * all transactions (RATES_SUM) do not depend on the rate.
 */
static bool reshapes(const struct model_box *b, unsigned int flow)
{
	const struct model_plan *p;
	unsigned int ctr;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		p = &b->plan[ctr];
		if ((b->active & MODEL_BIT(ctr)) && p->rated &&
		    p->shape != RATES_SUM && model_plan_takes(p, flow))
			return true;
	}
	return false;
}

int model_rate(struct model *m, const struct model_txn *t,
	       const struct model_rate *rate)
{
	struct model_box *b = model_box(m, t->pkg, t->box_type, t->box);
	int ret = model_rate_check(m, t, rate);
	struct model_flow *f;
	bool replan = true;
	u64 now;

	if (ret)
		return ret;
	model_box_sync(m, b);
	now = model_box_cycles(m, b, m->cycles);
	f = model_find_flow(b, t);
	if (f) {
		model_flow_passed(f, now, &f->rest);
		replan = reshapes(b, f - b->flow);
	} else {
		f = &b->flow[b->flows++];
		*f = (struct model_flow){ .txn = *t };
	}
	f->from = now;
	f->rate = *rate;
	if (replan)
		model_box_changed(m, b);
	m->deadline_known = false;
	return 0;
}

/*
 * Stop or start the free-running counters of a box. They have no rate, so they stop while
 * events without a rate count 0. b->free_from is the value of a stopped counter, and of a
 * running counter the cycle in which it was 0.
 */
static void stop_free(const struct model *m, struct model_box *b, bool stop)
{
	u64 now = model_box_cycles(m, b, m->cycles);
	unsigned int i;

	if (b->only_rates == stop)
		return;
	for (i = 0; i < MODEL_MAX_FREE; i++)
		b->free_from[i] = now - b->free_from[i];
	b->only_rates = stop;
}

/*
 * Switch all boxes. @only: events without a rate count 0, or have their waveforms;
 * @forget: remove all rates
 */
static void set_all(struct model *m, bool only, bool forget)
{
	struct model_box *b;
	unsigned int pkg, i;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			model_box_sync(m, b);
			stop_free(m, b, only);
			if (forget)
				b->flows = 0;
			model_box_changed(m, b);
		}
	}
}

void model_only_rates(struct model *m)
{
	set_all(m, true, false);
}

void model_forget_rates(struct model *m)
{
	set_all(m, false, true);
}

unsigned int model_rates(const struct model *m, bool *only)
{
	unsigned int pkg, i, count = 0;

	*only = m->box[0][0].only_rates;
	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		for (i = 0; i < m->boxes; i++)
			count += m->box[pkg][i].flows;
	return count;
}

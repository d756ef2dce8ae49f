// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events at given rates instead of their waveforms: flows of transactions, so
 * many a cycle, which the counters' events and filters take as they take those
 * of traffic.  Where the rates come from is no business of the model's.
 */
#include "model/priv.h"

/* No count of so many cycles overflows; it is more than a day. */
#define HORIZON		(1ULL << 48)

/* --- flows --------------------------------------------------------------- */

/*
 * Transactions of a flow up to a cycle of the box's clock; @rest: what there is
 * of the next one.  In decimal parts, so that no rate that can be written is
 * rounded, and nothing drifts.
 */
static u64 flow_passed(const struct model_flow *f, u64 cycle, u32 *rest)
{
	u64 n = cycle - f->from, parts;

	parts = n % MODEL_RATE_ONE * f->rate.frac + f->rest;
	*rest = parts % MODEL_RATE_ONE;
	return n * f->rate.whole + n / MODEL_RATE_ONE * f->rate.frac +
	       parts / MODEL_RATE_ONE;
}

static bool same_kind(const struct model_txn *a, const struct model_txn *b)
{
	return a->code == b->code && a->umask == b->umask && a->tid == b->tid &&
	       a->state == b->state && a->link == b->link && a->nid == b->nid &&
	       a->opc == b->opc && a->nc == b->nc && a->c6 == b->c6 &&
	       a->isoc == b->isoc && a->addr == b->addr && a->dir == b->dir &&
	       a->pkt[0] == b->pkt[0] && a->pkt[1] == b->pkt[1] &&
	       a->freq == b->freq;
}

static struct model_flow *find_flow(const struct model_box *b,
				    const struct model_txn *t)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		if (same_kind(&b->flow[i].txn, t))
			return &b->flow[i];
	return NULL;
}

static bool has_flow_of(const struct model_box *b, u32 code)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		if (b->flow[i].txn.code == code)
			return true;
	return false;
}

/* --- what a counter makes of them ---------------------------------------- */

static bool plan_takes(const struct model_plan *p, unsigned int flow)
{
	return p->flows[flow / 32] & MODEL_BIT(flow % 32);
}

/* Of each flow whole transactions, so that parts add up to their sum. */
static u64 passed(const struct model_box *b, const struct model_plan *p,
		  u64 cycle)
{
	unsigned int i;
	u64 count = 0;
	u32 rest;

	for (i = 0; i < b->flows; i++)
		if (plan_takes(p, i))
			count += flow_passed(&b->flow[i], cycle, &rest);
	return count;
}

/* Of all flows together, whose value in a cycle is @steady or one more. */
static u64 passed_together(const struct model_box *b,
			   const struct model_plan *p, u64 cycle)
{
	u64 count = 0, parts = 0;
	unsigned int i;
	u32 rest;

	for (i = 0; i < b->flows; i++) {
		if (!plan_takes(p, i))
			continue;
		count += flow_passed(&b->flow[i], cycle, &rest);
		parts += rest;
	}
	return count + parts / MODEL_RATE_ONE;
}

/*
 * §1.4 for a value that is spread over the cycles as evenly as can be: @steady in
 * most, one more in some, or the other way round.  Those that are fewer have none
 * of their kind beside them, so each makes an edge.
 */
static u8 shape_rates(u32 steady, u32 frac, u32 thresh, bool invert, bool edge)
{
	u8 shape;

	if (!thresh)
		return RATES_SUM;
	if (thresh <= steady)
		shape = RATES_ALWAYS;
	else if (thresh == steady + 1 && frac)
		shape = RATES_HIGH;
	else
		shape = RATES_NEVER;
	if (edge) {
		if (shape != RATES_HIGH)
			return RATES_NEVER;
		return frac <= MODEL_RATE_ONE / 2 ? RATES_HIGH : RATES_LOW;
	}
	if (!invert)
		return shape;
	if (shape == RATES_HIGH)
		return RATES_LOW;
	return shape == RATES_ALWAYS ? RATES_NEVER : RATES_ALWAYS;
}

/*
 * Does counter @ctr, whose event has code @code, count flows, and which? False
 * when the event has its waveform.
 */
bool model_plan_rates(const struct model_box *b, unsigned int ctr, u32 code,
		      u32 thresh, bool invert, bool edge, struct model_plan *p)
{
	u64 parts = 0;
	unsigned int i;

	if (!b->only_rates && !has_flow_of(b, code))
		return false;
	*p = (struct model_plan){ .rated = true, .period = 1 };
	for (i = 0; i < b->flows; i++) {
		if (!model_takes(b, ctr, &b->flow[i].txn))
			continue;
		p->flows[i / 32] |= MODEL_BIT(i % 32);
		p->steady += b->flow[i].rate.whole;
		parts += b->flow[i].rate.frac;
	}
	p->steady += parts / MODEL_RATE_ONE;
	p->shape = shape_rates(p->steady, parts % MODEL_RATE_ONE, thresh,
			       invert, edge);
	return true;
}

/* What a counter adds in @cycles cycles from cycle @from on. */
u64 model_rates_count(const struct model_box *b, const struct model_plan *p,
		      u64 from, u64 cycles)
{
	u64 high;

	switch (p->shape) {
	case RATES_SUM:
		return passed(b, p, from + cycles) - passed(b, p, from);
	case RATES_ALWAYS:
		return cycles;
	case RATES_NEVER:
		return 0;
	default:
		break;
	}
	high = passed_together(b, p, from + cycles) -
	       passed_together(b, p, from) - cycles * p->steady;
	return p->shape == RATES_HIGH ? high : cycles - high;
}

/*
 * Cycles from @from on until a counter has added @need; U64_MAX: never, and
 * HORIZON: look again then.
 */
u64 model_rates_reach(const struct model_box *b, const struct model_plan *p,
		      u64 from, u64 need)
{
	u64 low = 0, high = HORIZON, middle, count;

	count = model_rates_count(b, p, from, high);
	if (count < need)
		return count ? HORIZON : U64_MAX;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (model_rates_count(b, p, from, middle) < need)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- for the front ------------------------------------------------------- */

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
	struct model_box *b = model_box(m, t->pkg, t->kind, t->box);

	if (!b || !b->flow || (b->type->quirks & QUIRK_JOINT) ||
	    !model_knows_event(b->type, t->code) ||
	    rate->whole > MODEL_MAX_RATE || rate->frac >= MODEL_RATE_ONE)
		return -1;
	return b->flows < MODEL_MAX_FLOWS || find_flow(b, t) ? 0 : -2;
}

/* Does another rate of a flow make a counter's plan another one? */
static bool reshapes(const struct model_box *b, unsigned int flow)
{
	const struct model_plan *p;
	unsigned int ctr;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		p = &b->plan[ctr];
		if ((b->active & MODEL_BIT(ctr)) && p->rated &&
		    p->shape != RATES_SUM && plan_takes(p, flow))
			return true;
	}
	return false;
}

int model_rate(struct model *m, const struct model_txn *t,
	       const struct model_rate *rate)
{
	struct model_box *b = model_box(m, t->pkg, t->kind, t->box);
	int ret = model_rate_check(m, t, rate);
	struct model_flow *f;
	bool replan = true;
	u64 now;

	if (ret)
		return ret;
	model_box_sync(m, b);
	now = model_box_cycles(m, b, m->cycles);
	f = find_flow(b, t);
	if (f) {
		flow_passed(f, now, &f->rest);
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

/* Free-running counters have no rate: they stand still while rates alone count. */
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

/* Cycles are counted from 0 again, and every flow with them. */
void model_restart_rates(struct model_box *b)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		b->flow[i].from = b->flow[i].rest = 0;
}

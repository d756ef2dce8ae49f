// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events at given rates instead of waves: flows of transactions at a number a
 * cycle, which events and filters select as they select those of traffic.
 */
#include "model/priv.h"

/* No count of this many cycles overflows; it is more than a day. */
#define HORIZON		(1ULL << 48)

/*
 * Transactions of a flow up to a cycle of the box's clock; @rest: what there is
 * of the next one.  In decimal parts, so that no rate that can be written is
 * rounded, and nothing drifts.
 */
u64 model_flow_passed(const struct model_flow *f, u64 cycle, u32 *rest)
{
	u64 n = cycle - f->from, parts;

	parts = n % MODEL_RATE_ONE * f->rate.frac + f->rest;
	*rest = parts % MODEL_RATE_ONE;
	return n * f->rate.whole + n / MODEL_RATE_ONE * f->rate.frac +
	       parts / MODEL_RATE_ONE;
}

static bool same_type(const struct model_txn *a, const struct model_txn *b)
{
	return a->code == b->code && a->umask == b->umask && a->tid == b->tid &&
	       a->state == b->state && a->link == b->link && a->nid == b->nid &&
	       a->opc == b->opc && a->nc == b->nc && a->c6 == b->c6 &&
	       a->isoc == b->isoc && a->addr == b->addr && a->dir == b->dir &&
	       a->pkt[0] == b->pkt[0] && a->pkt[1] == b->pkt[1] &&
	       a->freq == b->freq;
}

struct model_flow *model_find_flow(const struct model_box *b,
				   const struct model_txn *t)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		if (same_type(&b->flow[i].txn, t))
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

bool model_plan_takes(const struct model_plan *p, unsigned int flow)
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
		if (model_plan_takes(p, i))
			count += model_flow_passed(&b->flow[i], cycle, &rest);
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
		if (!model_plan_takes(p, i))
			continue;
		count += model_flow_passed(&b->flow[i], cycle, &rest);
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

/* Cycles are counted from 0 again, and every flow with them. */
void model_restart_rates(struct model_box *b)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		b->flow[i].from = b->flow[i].rest = 0;
}

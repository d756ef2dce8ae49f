// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events at given rates instead of waves: a flow is a type of transaction with its rate,
 * the number of transactions in a cycle. Events and filters select the transactions of a
 * flow like traffic.
 */
#include "model/priv.h"

/*
 * Largest number of cycles for which a count is computed, more than a day: the count fits
 * in 64 bits.
 */
#define HORIZON		(1ULL << 48)

/*
 * Return the number of transactions of a flow from cycle @f->from of the box's clock up to
 * @cycle. @rest is set to the fraction of the next transaction that has passed. Fractions
 * are decimal, in parts of MODEL_RATE_ONE: rates are not rounded, and counts do not drift.
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
	       a->isoc == b->isoc && a->remote == b->remote &&
	       a->near == b->near && a->port == b->port && a->fc == b->fc &&
	       a->addr == b->addr && a->dir == b->dir &&
	       a->pkt[0] == b->pkt[0] && a->pkt[1] == b->pkt[1] &&
	       a->freq == b->freq;
}

/* Return the flow of a box with the properties of @t, or NULL. */
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

/* Return whether a counter counts the transactions of a flow, by its number. */
bool model_plan_takes(const struct model_plan *p, unsigned int flow)
{
	return p->flows[flow / 32] & MODEL_BIT(flow % 32);
}

/*
 * Return the number of whole transactions of the counter's flows up to @cycle. Each flow
 * is rounded down by itself, so that the counts of filtered counters add up to the count
 * of a counter without the filter.
 */
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

/*
 * Return the number of transactions of the counter's flows up to @cycle with their
 * fractions added up, so that the sum in a cycle is p->steady or one more.
 */
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
 * Return the count of a comparison (§1.4) of the sum of flows. The sum is @steady + 1 in
 * high cycles, a part @frac of all cycles that is spread evenly, and @steady in the other,
 * low cycles. If high cycles are fewer than low cycles, no two high cycles are adjacent,
 * so each makes an edge. Otherwise no two low cycles are adjacent, and there is an edge
 * after each of them.
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
 * Plan a counter that counts flows. Return false if its event has a waveform instead: the
 * box has no flow with the event code @code, and events without a rate have waveforms.
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

/*
 * Plan a free-running counter of an event. Return false if the event has a waveform, as
 * model_plan_rates().
 */
bool model_plan_free_rates(const struct model_box *b, u32 code, u64 umask,
			   struct model_plan *p)
{
	unsigned int i;

	if (!b->only_rates && !has_flow_of(b, code))
		return false;
	*p = (struct model_plan){ .rated = true, .period = 1, .shape = RATES_SUM };
	for (i = 0; i < b->flows; i++)
		if (b->flow[i].txn.code == code && b->flow[i].txn.umask == umask)
			p->flows[i / 32] |= MODEL_BIT(i % 32);
	return true;
}

/* Return the count of a counter of flows in @cycles cycles from cycle @from on. */
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
 * Return the number of cycles from cycle @from on until the count of a counter of flows
 * reaches @need; U64_MAX: never. HORIZON: not within HORIZON cycles, and the caller has to
 * ask again then.
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

/* Start all flows of a box anew at cycle 0, to which the model's time is set. */
void model_restart_rates(struct model_box *b)
{
	unsigned int i;

	for (i = 0; i < b->flows; i++)
		b->flow[i].from = b->flow[i].rest = 0;
}

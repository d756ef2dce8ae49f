// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as waves: plan the increment of a counter in each cycle of a period from its
 * control register, and compute counts over any number of cycles in closed form.
 */
#include "model/priv.h"

/*
 * Check the table of waves of a box type: it must be sorted, and the periods of an event's
 * subevents must divide the longest of them, so that their sum has the longest period.
 */
bool model_waves_valid(const struct model_type *type)
{
	const struct model_wave *w = type->waves, *event;
	unsigned int i, j, count, longest;

	if (type->quirks & QUIRK_JOINT)
		return model_joint_valid(type);
	for (i = 0; i < type->nwaves; i++) {
		if (!w[i].period || w[i].period > MODEL_WAVE_MAX)
			return false;
		if (i && (w[i].code < w[i - 1].code ||
			  (w[i].code == w[i - 1].code &&
			   w[i].umask <= w[i - 1].umask)))
			return false;
	}
	for (i = 0; i < type->nwaves; i += count) {
		event = model_find_event(type, w[i].code, &count);
		longest = 1;
		for (j = 0; j < count; j++)
			if (model_one_bit(event[j].umask) &&
			    event[j].period > longest)
				longest = event[j].period;
		for (j = 0; j < count; j++)
			if (model_one_bit(event[j].umask) &&
			    longest % event[j].period)
				return false;
	}
	return true;
}

/*
 * The wave of a frequency-band event is a frequency. Replace each value by 1 if it reaches
 * the field of the filter, else by 0.
 */
static void compare_bands(const struct model_box *b, u32 code,
			  struct model_plan *p)
{
	const struct model_filter *f;
	unsigned int i, t;

	for (i = 0; i < b->type->nfilters; i++) {
		f = &b->type->filters[i];
		if (f->op != FILTER_REACHES || code < f->first ||
		    code > f->last)
			continue;
		for (t = 0; t < p->period; t++)
			p->inc[t] = p->inc[t] >= model_filter_field(b, f, 0);
	}
}

/*
 * Return 1 plus the cycle at whose beginning software last cleared the occupancy of an
 * event's queue; 0: never.
 */
static u64 cleared_at(const struct model_box *b, u32 code)
{
	unsigned int i;

	for (i = 0; i < MODEL_MAX_QUEUES && b->type->queues[i]; i++)
		if (b->type->queues[i] == code)
			return b->cleared[i];
	return 0;
}

/* Clear the occupancy of the queue of an event (.q_occ_rst) in the present cycle. */
void model_clear_queue(const struct model *m, struct model_box *b, u32 code)
{
	unsigned int i;

	for (i = 0; i < MODEL_MAX_QUEUES && b->type->queues[i]; i++)
		if (b->type->queues[i] == code)
			b->cleared[i] = 1 + model_box_cycles(m, b, m->cycles);
}

/*
 * Return the value of a wave in cycle @t. @cleared is the return value of cleared_at().
 *
 * The occupancy of a cleared queue counts from 0 at the clear, follows the arrivals and
 * departures of entries, and never drops below 0. So it is the value of the wave in cycle
 * @t minus the smallest value of the wave from the cycle before the clear up to @t.
 */
static unsigned int wave_value(const struct model_wave *w, u64 cleared, u64 t)
{
	unsigned int value = w->v[t % w->period], least = value, back, before;

	if (!cleared)
		return value;
	for (back = 1; back < w->period && back <= t + 2 - cleared; back++) {
		before = w->v[(t + w->period - back) % w->period];
		if (before < least)
			least = before;
	}
	return value - least;
}

/**
 * struct rows - rows of the table of waves that belong to a counter's event code
 * @w: the first row
 * @count: number of rows
 * @row: the row with the umask of the counter, or NULL
 * @max_inc: without @row, the largest increment of the rows
 */
struct rows {
	const struct model_wave *w, *row;
	unsigned int count, max_inc;
};

/*
 * Return the value of a selected event in cycle @t, before the threshold. The value of a
 * umask without a row is the sum of the subevents whose bits it has, up to the largest
 * increment. Only subevents with MODEL_ANY and a row are added: conditions have no sum.
 */
static u16 raw_value(const struct rows *r, const struct model_selection *s,
		     u64 cleared, u64 t)
{
	const struct model_wave *w;
	unsigned int sum = 0;

	if (r->row)
		return wave_value(r->row, cleared, t);
	for (w = r->w; w < r->w + r->count; w++)
		if (w->rule == MODEL_ANY && model_one_bit(w->umask) &&
		    (w->umask & s->umask) && !(w->zeros & s->umask) &&
		    (w->ctrs & MODEL_BIT(s->ctr)))
			sum += wave_value(w, cleared, t);
	return sum < r->max_inc ? sum : r->max_inc;
}

/*
 * Plan the value of a counter's event in each cycle, before the threshold. After a clear
 * of a queue the first period is planned in p->head. After it the smallest value of the
 * wave has passed, so that from then on each period is equal.
 */
static void raw_values(const struct model_box *b, unsigned int ctr,
		       struct model_plan *p)
{
	struct model_selection s = model_selected(b, ctr);
	u64 cleared = cleared_at(b, s.code), from = 0;
	struct rows r = { 0 };
	const struct model_wave *w;
	unsigned int t;

	memset(p, 0, sizeof(*p));
	p->period = 1;
	r.w = model_find_event(b->type, s.code, &r.count);
	for (w = r.w; w < r.w + r.count && !r.row; w++) {
		if (w->umask == s.umask) {
			if (!(w->ctrs & MODEL_BIT(s.ctr)))
				return;
			r.row = w;
			p->period = w->period;
			break;
		}
		if (w->max_inc > r.max_inc)
			r.max_inc = w->max_inc;
		if (model_one_bit(w->umask) && w->period > p->period)
			p->period = w->period;
	}
	if (cleared) {
		p->head_from = cleared - 1;
		p->heads = p->period;
		from = (p->head_from / p->period + 2) * p->period;
	}
	for (t = 0; t < p->heads; t++)
		p->head[t] = raw_value(&r, &s, cleared, p->head_from + t);
	for (t = 0; t < p->period; t++)
		p->inc[t] = raw_value(&r, &s, cleared, from + t);
	if (r.row)
		compare_bands(b, s.code, p);
}

static bool compares(const struct model_shape *s, u16 value)
{
	return (value >= s->thresh) != s->invert;
}

/*
 * Replace the values of @n cycles by the outcome of the comparison, 0 or 1. @before is the
 * value in the cycle before them.
 */
static void compare(const struct model_shape *s, u16 before, u16 *inc, unsigned int n)
{
	bool was = compares(s, before), is;
	unsigned int t;

	for (t = 0; t < n; t++, was = is) {
		is = compares(s, inc[t]);
		inc[t] = is && !(s->edge && was);
	}
}

/*
 * Plan the increments of general counter @ctr. §1.4: the event's value is compared with the
 * threshold; .invert and .edge_det work on the outcome and have no effect without a
 * threshold. An edge is a cycle in which the comparison holds, but not in the cycle before.
 * Before the first cycle of a period comes the last cycle of the period. Before the first
 * cycle after a clear of a queue the value is 0.
 */
void model_plan_counter(const struct model_box *b, unsigned int ctr,
			struct model_plan *p)
{
	struct model_shape s = model_shape_of(b, ctr);

	if (model_plan_rates(b, ctr, model_selected(b, ctr).code, s.thresh, s.invert,
			     s.edge, p))
		return;
	raw_values(b, ctr, p);
	if (!s.thresh)
		return;
	compare(&s, 0, p->head, p->heads);
	compare(&s, p->inc[p->period - 1], p->inc, p->period);
}

/* Return whether p->head has the increment of a cycle. */
static bool in_head(const struct model_plan *p, u64 cycle)
{
	return cycle >= p->head_from && cycle - p->head_from < p->heads;
}

/* Return the count of a counter in @cycles cycles from cycle @from on, modulo 2^64. */
u64 model_plan_count(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 cycles)
{
	unsigned int rest, t;
	u64 count = 0;

	if (p->rated)
		return model_rates_count(b, p, from, cycles);
	for (; cycles && in_head(p, from); from++, cycles--)
		count += p->head[from - p->head_from];
	count += cycles / p->period * p->sum;
	rest = cycles % p->period;
	t = from % p->period;
	while (rest--) {
		count += p->inc[t];
		if (++t == p->period)
			t = 0;
	}
	return count;
}

/*
 * Return the number of cycles from cycle @from on until the count of a counter reaches
 * @need; U64_MAX: never.
 */
u64 model_plan_reach(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 need)
{
	u64 cycles, periods, start = from;
	unsigned int t;

	if (p->rated)
		return model_rates_reach(b, p, from, need);
	for (; in_head(p, from); from++) {
		if (p->head[from - p->head_from] >= need)
			return from + 1 - start;
		need -= p->head[from - p->head_from];
	}
	if (!p->sum)
		return U64_MAX;
	t = from % p->period;
	periods = (need - 1) / p->sum;
	need -= periods * p->sum;
	for (cycles = periods * p->period + 1; p->inc[t] < need; cycles++) {
		need -= p->inc[t];
		if (++t == p->period)
			t = 0;
	}
	return from - start + cycles;
}

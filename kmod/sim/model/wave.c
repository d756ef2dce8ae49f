// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as waves: from a control register to what a counter adds in each cycle,
 * and from there, in closed form, to any number of cycles.
 */
#include "model/priv.h"

/*
 * Are the waves what the model relies on?  Sorted, and the periods of an
 * event's subevents divide the longest, so that their sum has that period.
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

/* A frequency band's wave is a frequency, which its filter compares. */
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
			p->inc[t] = p->inc[t] >= model_filter_field(b, f);
	}
}

/* 1 and the cycle from which on an event's queue was counted anew; 0: it was not. */
static u64 cleared_at(const struct model_box *b, u32 code)
{
	unsigned int i;

	for (i = 0; i < MODEL_MAX_QUEUES && b->type->queues[i]; i++)
		if (b->type->queues[i] == code)
			return b->cleared[i];
	return 0;
}

void model_clear_queue(const struct model *m, struct model_box *b, u32 code)
{
	unsigned int i;

	for (i = 0; i < MODEL_MAX_QUEUES && b->type->queues[i]; i++)
		if (b->type->queues[i] == code)
			b->cleared[i] = 1 + model_box_cycles(m, b, m->cycles);
}

/*
 * A wave's value in cycle @t.  Of a queue that has been cleared it is what a
 * counter of its entries would hold that was 0 then, follows arrivals and departures,
 * and never drops below 0: less than there is by the least that there has been
 * since, counting from what was cleared.
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

/* What a counter can have selected: one row of the table, or some of @count. */
struct rows {
	const struct model_wave *w, *one;
	unsigned int count, max_inc;
};

/*
 * The event's own value in cycle @t.  A umask that the table has not is the sum
 * of its subevents as far as they have a name, up to the largest increment;
 * conditions have no sum.
 */
static u8 raw_value(const struct rows *r, const struct model_selection *s,
		    u64 cleared, u64 t)
{
	const struct model_wave *w;
	unsigned int sum = 0;

	if (r->one)
		return wave_value(r->one, cleared, t);
	for (w = r->w; w < r->w + r->count; w++)
		if (w->rule == MODEL_ANY && model_one_bit(w->umask) &&
		    (w->umask & s->umask) && !(w->zeros & s->umask) &&
		    (w->ctrs & MODEL_BIT(s->ctr)))
			sum += wave_value(w, cleared, t);
	return sum < r->max_inc ? sum : r->max_inc;
}

/*
 * The event's own value in each cycle.  A queue that has been cleared repeats
 * itself a period later: by then the least that there ever is has been seen.
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
	for (w = r.w; w < r.w + r.count && !r.one; w++) {
		if (w->umask == s.umask) {
			if (!(w->ctrs & MODEL_BIT(s.ctr)))
				return;
			r.one = w;
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
	if (r.one)
		compare_bands(b, s.code, p);
}

static bool compares(const struct model_shape *s, u8 value)
{
	return (value >= s->thresh) != s->invert;
}

/* @before: the value in the cycle before the first of these */
static void compare(const struct model_shape *s, u8 before, u8 *inc, unsigned int n)
{
	bool was = compares(s, before), is;
	unsigned int t;

	for (t = 0; t < n; t++, was = is) {
		is = compares(s, inc[t]);
		inc[t] = is && !(s->edge && was);
	}
}

/*
 * §1.4: the threshold comes first, .invert and .edge_det work on its outcome
 * and do nothing without it.  An edge is a cycle whose comparison holds while
 * that of the cycle before did not; the first cycle follows the last, and that
 * in which a queue was cleared.
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

/* Is the cycle one of those that differ? */
static bool in_head(const struct model_plan *p, u64 cycle)
{
	return cycle >= p->head_from && cycle - p->head_from < p->heads;
}

/* What a counter adds in @cycles cycles from cycle @from on, modulo 2^64. */
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

/* Cycles from @from on until a counter has added @need; U64_MAX: never. */
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

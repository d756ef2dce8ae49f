// SPDX-License-Identifier: GPL-2.0-only
/*
 * How counters count: from a control register to what the counter adds in
 * each cycle, and from there, in closed form, to any number of cycles; and
 * which transactions a counter takes.  What follows from an overflow is not
 * here but in model.c.
 */
#include "model/priv.h"

/* The event of a counter: @ctr is another one where @relay applies. */
struct selection {
	u32 code, umask, ctl;
	unsigned int ctr;
};

/* What a control register makes of an event's value (§1.4). */
struct shape {
	u32 thresh;
	bool invert, edge;
};

/* --- cycles ------------------------------------------------------------- */

/* The rows of an event code in the sorted table of waves. */
static const struct model_wave *find_event(const struct model_type *type,
					   u32 code, unsigned int *count)
{
	unsigned int low = 0, high = type->nwaves, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (type->waves[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	while (high < type->nwaves && type->waves[high].code == code)
		high++;
	*count = high - low;
	return &type->waves[low];
}

bool model_knows_event(const struct model_type *type, u32 code)
{
	unsigned int count;

	find_event(type, code, &count);
	return count;
}

static bool one_bit(u32 value)
{
	return value && !(value & (value - 1));
}

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
		event = find_event(type, w[i].code, &count);
		longest = 1;
		for (j = 0; j < count; j++)
			if (one_bit(event[j].umask) &&
			    event[j].period > longest)
				longest = event[j].period;
		for (j = 0; j < count; j++)
			if (one_bit(event[j].umask) &&
			    longest % event[j].period)
				return false;
	}
	return true;
}

/*
 * What counter @ctr has selected.  The CBo's relay event stands for counter
 * 0's event (§2.3.1.1); on counter 0 there is nothing to relay, and it is an
 * event like others.
 */
static struct selection selected(const struct model_box *b, unsigned int ctr)
{
	struct selection s = { .ctr = ctr, .ctl = b->ctl[ctr] };

	if (b->type->relay && ctr &&
	    (s.ctl & CTL_EV_SEL) == b->type->relay) {
		s.ctr = 0;
		s.ctl = b->ctl[0];
	}
	s.code = s.ctl & CTL_EV_SEL;
	if (s.ctl & CTL_EV_SEL_EXT)
		s.code |= 0x100;
	s.umask = (s.ctl & CTL_UMASK) >> CTL_UMASK_SHIFT;
	/* §2.8.2.2: occ_sel is part of occupancy events only */
	if ((b->type->quirks & QUIRK_OCCUPANCY) && !(s.ctl & CTL_OCC_EVENT))
		s.umask = 0;
	return s;
}

/*
 * The PCU's occupancy events have an edge detector and an invert bit of their
 * own (§2.8.2.2); case 6 of Table 2-165 sets both invert bits and wants '<',
 * so either one inverts.
 */
static struct shape shape_of(const struct model_box *b, unsigned int ctr)
{
	u32 ctl = b->ctl[ctr];
	struct shape s = {
		.thresh = (ctl >> CTL_THRESH_SHIFT) & b->type->thresh,
		.invert = ctl & CTL_INVERT,
		.edge = ctl & CTL_EDGE_DET,
	};

	if ((b->type->quirks & QUIRK_OCCUPANCY) && (ctl & CTL_OCC_EVENT)) {
		s.invert = ctl & (CTL_INVERT | CTL_OCC_INVERT);
		s.edge = ctl & CTL_OCC_EDGE_DET;
	}
	return s;
}

/* The field of a filter; it may span two registers. */
static u64 filter_field(const struct model_box *b, const struct model_filter *f)
{
	u64 field = b->filter[f->reg];

	if (f->shift + f->width > 32)
		field |= (u64)b->filter[f->reg + 1] << 32;
	return (field >> f->shift) & ((1ULL << f->width) - 1);
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
			p->inc[t] = p->inc[t] >= filter_field(b, f);
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
 * counter of its entries would hold that was 0 then, follows what comes and goes,
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
 * of its subevents as far as they have a name, up to the largest increment; of
 * conditions there is no sum.
 */
static u8 raw_value(const struct rows *r, const struct selection *s,
		    u64 cleared, u64 t)
{
	const struct model_wave *w;
	unsigned int sum = 0;

	if (r->one)
		return wave_value(r->one, cleared, t);
	for (w = r->w; w < r->w + r->count; w++)
		if (w->rule == MODEL_ANY && one_bit(w->umask) &&
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
	struct selection s = selected(b, ctr);
	u64 cleared = cleared_at(b, s.code), from = 0;
	struct rows r = { 0 };
	const struct model_wave *w;
	unsigned int t;

	memset(p, 0, sizeof(*p));
	p->period = 1;
	r.w = find_event(b->type, s.code, &r.count);
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
		if (one_bit(w->umask) && w->period > p->period)
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

static bool compares(const struct shape *s, u8 value)
{
	return (value >= s->thresh) != s->invert;
}

/* @before: the value in the cycle before the first of these */
static void compare(const struct shape *s, u8 before, u8 *inc, unsigned int n)
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
static void plan_counter(const struct model_box *b, unsigned int ctr,
			 struct model_plan *p)
{
	struct shape s = shape_of(b, ctr);

	if (model_plan_rates(b, ctr, selected(b, ctr).code, s.thresh, s.invert,
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
static u64 plan_count(const struct model_box *b, const struct model_plan *p,
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
static u64 plan_reach(const struct model_box *b, const struct model_plan *p,
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

unsigned int model_ctr_bits(const struct model *m, const struct model_box *b,
			    unsigned int ctr)
{
	if (b->type->quirks & QUIRK_JOINT)
		return 32;
	if (ctr == MODEL_FIXED)
		return m->cfg.fixed_bits;
	if (b->type->quirks & QUIRK_NARROW)
		return m->cfg.counter_bits;
	return MODEL_COUNTER_BITS;
}

/* @count more, with which the counter is @over its end, or not. */
static void count_on(const struct model *m, struct model_box *b,
		     unsigned int ctr, u64 count, bool over)
{
	u64 last = (1ULL << model_ctr_bits(m, b, ctr)) - 1;

	if (over && (b->ctl[ctr] & b->type->saturate))
		b->ctr[ctr] = last;
	else
		b->ctr[ctr] = (b->ctr[ctr] + count) & last;
}

/* The bit that says in the box's status register that @ctr overflowed. */
static u32 status_bit(const struct model_box *b, unsigned int ctr)
{
	if (b->type->quirks & QUIRK_NO_STATUS)
		return 0;
	if (ctr == MODEL_FIXED)
		return b->type->fixed_status;
	return MODEL_BIT(ctr + model_status_shift(b));
}

bool model_box_counts(const struct model *m, const struct model_box *b)
{
	return !m->pkg[b->pkg].frozen && !(b->box_ctl & BOX_CTL_FRZ) &&
	       !(b->faults & (MODEL_BIT(MODEL_FAULT_DEAD_PCI) |
			      MODEL_BIT(MODEL_FAULT_NO_CLOCK)));
}

/*
 * Account for the cycles since the box was last looked at.  Returns the
 * counters that overflowed and had no status bit set before.
 */
unsigned int model_box_sync(const struct model *m, struct model_box *b)
{
	u64 from = model_box_cycles(m, b, b->stamp), size, need, count;
	u64 cycles = model_box_cycles(m, b, m->cycles) - from;
	unsigned int ctr, overflowed = 0;
	const struct model_plan *p;
	bool over;
	u32 bit;

	b->stamp = m->cycles;
	if (!cycles || !b->active || !model_box_counts(m, b))
		return 0;
	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(b->active & MODEL_BIT(ctr)))
			continue;
		p = &b->plan[ctr];
		size = 1ULL << model_ctr_bits(m, b, ctr);
		need = size - b->ctr[ctr];
		count = plan_count(b, p, from, cycles);
		/* a wave's count may have wrapped; a search takes long */
		over = p->rated ? count >= need :
				  plan_reach(b, p, from, need) <= cycles;
		if (over) {
			bit = status_bit(b, ctr);
			if (!(b->status & bit))
				overflowed |= MODEL_BIT(ctr);
			b->status |= bit;
		}
		count_on(m, b, ctr, count, over);
	}
	return overflowed;
}

static bool is_enabled(const struct model_box *b, unsigned int ctr)
{
	if (b->type->quirks & QUIRK_JOINT)
		return b->ctl[ctr];
	return (b->ctl[ctr] & CTL_EN) && !(b->held & MODEL_BIT(ctr));
}

/* Does its overflow tell the UBox? */
static bool is_armed(const struct model_box *b, unsigned int ctr)
{
	return !(b->type->quirks & QUIRK_JOINT) && (b->ctl[ctr] & CTL_OV_EN);
}

/* A control or filter register changed: the box must have been synced. */
void model_box_changed(struct model *m, struct model_box *b)
{
	unsigned int ctr, t, was_armed = b->armed;
	struct model_plan *p;

	b->active = 0;
	b->armed = 0;
	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		p = &b->plan[ctr];
		if (!is_enabled(b, ctr))
			continue;
		if (b->type->quirks & QUIRK_JOINT)
			model_joint_plan(b, ctr, p);
		else if (ctr == MODEL_FIXED)
			*p = (struct model_plan){ .period = 1, .inc = { 1 } };
		else
			plan_counter(b, ctr, p);
		for (p->sum = 0, t = 0; t < p->period; t++)
			p->sum += p->inc[t];
		b->active |= MODEL_BIT(ctr);
		if (is_armed(b, ctr))
			b->armed |= MODEL_BIT(ctr);
	}
	if (was_armed || b->armed)
		m->deadline_known = false;
}

/*
 * The UCLK cycle at the end of which the box next tells the UBox of an overflow;
 * U64_MAX: never.  A counter whose status bit is set tells nothing (§2.2.1.1
 * and its like).
 */
u64 model_box_deadline(const struct model *m, const struct model_box *b)
{
	u64 deadline = U64_MAX, from, size, cycles;
	unsigned int ctr;

	if (!b->armed || !model_box_counts(m, b))
		return U64_MAX;
	from = model_box_cycles(m, b, b->stamp);
	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(b->armed & MODEL_BIT(ctr)) ||
		    (b->status & status_bit(b, ctr)))
			continue;
		size = 1ULL << model_ctr_bits(m, b, ctr);
		cycles = plan_reach(b, &b->plan[ctr], from, size - b->ctr[ctr]);
		if (cycles < U64_MAX - from && from + cycles < deadline)
			deadline = from + cycles;
	}
	return deadline == U64_MAX ? U64_MAX : model_box_uclk(m, b, deadline);
}

/* --- transactions ------------------------------------------------------- */

u64 model_attribute(const struct model_txn *t, unsigned int attr,
		    const struct model_filter *f)
{
	switch (attr) {
	case ATTR_TID:
		return t->tid;
	case ATTR_STATE:
		return t->state;
	case ATTR_LINK:
		return t->link;
	case ATTR_NID:
		return t->nid;
	case ATTR_OPC:
		return t->opc;
	case ATTR_NC:
		return t->nc;
	case ATTR_C6:
		return t->c6;
	case ATTR_ISOC:
		return t->isoc;
	case ATTR_ADDR:
		/* the bits that the field has: cache lines, not bytes */
		return (t->addr & ((1ULL << (f->shift + f->width)) - 1)) >>
		       f->shift;
	case ATTR_FREQ:
		return t->freq;
	case ATTR_AGENT:
		return t->agent;
	case ATTR_FLOW:
		return t->flow;
	case ATTR_TYPE:
		return t->type;
	case ATTR_SNOOP:
		return t->snoop;
	case ATTR_CORE:
		return t->core;
	case ATTR_FILL:
		return t->fill;
	case ATTR_CROSS:
		return t->cross;
	case ATTR_BLOCK:
		return t->block;
	default:
		return 0;
	}
}

/*
 * §2.9.2.3: match and mask words of one direction follow each other in the
 * order match 0, match 1, mask 0, mask 1.  A direction without any mask bit
 * is not armed, or the reset state would let every packet of the other
 * direction count.
 */
static bool packet_matches(const struct model_box *b, const struct model_txn *t)
{
	const u32 *match = &b->filter[t->dir == MODEL_TX ? 4 : 0];
	const u32 *mask = match + 2;

	if (!mask[0] && !mask[1])
		return false;
	return !((t->pkt[0] ^ match[0]) & mask[0]) &&
	       !((t->pkt[1] ^ match[1]) & mask[1]);
}

/* Does an attribute pass a filter's field? */
bool model_field_passes(unsigned int op, u64 field, u64 attr)
{
	switch (op) {
	case FILTER_EQUAL:
		return attr == field;
	case FILTER_MEETS:
		return attr & field;
	case FILTER_MEETS_IF_SET:
		return !field || (attr & field);
	case FILTER_NEEDS:
		return !field || attr;
	case FILTER_EQUAL_IF_SET:
		return !field || attr == field;
	case FILTER_FILL:
		return !field || (field == 1 ? attr != 0 : attr == field);
	case FILTER_CORES:
		/* bit 2 switches it on; one core, or just the cores in the field */
		if (!(field & 4))
			return true;
		return field & 3 ? attr == (field & 3) : attr == 1 || attr == 2;
	case FILTER_MODULES:
		if (!(field & 4))
			return true;
		/* 0 one module, 1 one or more, 2 two or more, 3 all three */
		return field & 3 ? attr >= (field & 3) : attr == 1;
	default:
		return attr >= field;
	}
}

static bool filter_passes(const struct model_box *b,
			  const struct model_filter *f,
			  const struct model_txn *t)
{
	if (f->op == FILTER_UMASK)
		return false;
	if (f->op == FILTER_PACKET)
		return packet_matches(b, t);
	return model_field_passes(f->op, filter_field(b, f),
				  model_attribute(t, f->attr, f));
}

static bool filter_applies(const struct model_filter *f,
			   const struct selection *s)
{
	if (s->code < f->first || s->code > f->last)
		return false;
	if ((s->ctl & f->ctl) != f->ctl)
		return false;
	if (f->op == FILTER_UMASK)
		return !(s->umask & f->umask);
	return !f->umask || (s->umask & f->umask);
}

/* Does the event that counter @ctr selects take the transaction? */
bool model_takes(const struct model_box *b, unsigned int ctr,
		 const struct model_txn *t)
{
	struct selection s = selected(b, ctr);
	u32 umask = s.umask, dropped = 0;
	const struct model_filter *f;
	const struct model_wave *w;
	unsigned int i, count, ctrs = 0, idle = 0;
	enum model_rule rule;

	if (b->type->quirks & QUIRK_JOINT)
		return model_joint_takes(b, ctr, t);
	if (s.code != t->code)
		return false;
	w = find_event(b->type, s.code, &count);
	rule = w->rule;
	for (i = 0; i < count; i++) {
		ctrs |= w[i].ctrs;
		/* one name may have another rule than the event's others */
		if (w[i].umask == s.umask)
			rule = w[i].rule;
		if (w[i].zeros & s.umask)
			idle |= w[i].umask;
	}
	if (!(ctrs & MODEL_BIT(s.ctr)))
		return false;

	for (i = 0; i < b->type->nfilters; i++) {
		f = &b->type->filters[i];
		if (!filter_applies(f, &s))
			continue;
		if (!filter_passes(b, f, t))
			return false;
		if (f->drop_umask)
			dropped |= f->umask;
	}
	umask &= ~dropped;
	if (rule == MODEL_ALL)
		return (umask & t->umask) == umask;
	if (rule == MODEL_EXACT)
		return umask == t->umask;
	if (!umask)
		return dropped || !t->umask;
	return umask & ~idle & t->umask;
}

/*
 * What one transaction adds to a counter.  It has a cycle to itself with idle
 * cycles around, so an edge detector sees one rising edge; an inverted
 * comparison holds in the idle cycles, which are not the transaction's.
 */
static u32 increment(const struct model_box *b, unsigned int ctr,
		     const struct model_txn *t)
{
	struct shape s = shape_of(b, ctr);

	/* "durations add at most one a bus clock" */
	if (b->type->quirks & QUIRK_JOINT)
		return 1;
	if (!s.thresh)
		return t->value;
	return !s.invert && t->value >= s.thresh;
}

s64 model_traffic(struct model *m, const struct model_txn *t)
{
	struct model_box *b = model_box(m, t->pkg, t->kind, t->box);
	u32 inc[MODEL_MAX_COUNTERS] = { 0 };
	u64 reach[MODEL_MAX_COUNTERS];
	unsigned int ctr, overflowed;
	u64 size, step, done = 0;
	u32 bit;

	if (!b)
		return -1;
	model_box_sync(m, b);
	if (!model_box_counts(m, b))
		return t->count;
	for (ctr = 0; ctr < b->type->counters; ctr++)
		if ((b->active & MODEL_BIT(ctr)) && model_takes(b, ctr, t))
			inc[ctr] = increment(b, ctr, t);

	while (done < t->count) {
		/* up to the next overflow that the UBox hears of */
		step = t->count - done;
		for (ctr = 0; ctr < b->type->counters; ctr++) {
			if (!inc[ctr])
				continue;
			size = 1ULL << model_ctr_bits(m, b, ctr);
			reach[ctr] = (size - b->ctr[ctr] - 1) / inc[ctr] + 1;
			if ((b->armed & MODEL_BIT(ctr)) && reach[ctr] < step &&
			    !(b->status & status_bit(b, ctr)))
				step = reach[ctr];
		}
		overflowed = 0;
		for (ctr = 0; ctr < b->type->counters; ctr++) {
			if (!inc[ctr])
				continue;
			if (reach[ctr] <= step) {
				bit = status_bit(b, ctr);
				if (!(b->status & bit))
					overflowed |= MODEL_BIT(ctr);
				b->status |= bit;
			}
			count_on(m, b, ctr, step * inc[ctr], reach[ctr] <= step);
		}
		done += step;
		m->deadline_known = false;
		if (model_overflow(m, b, overflowed & b->armed))
			break;
	}
	return done;
}

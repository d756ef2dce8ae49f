// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of a box over time: add the counts of the cycles that have passed, plan
 * the increments of each counter from the control registers, and find the next overflow.
 */
#include "model/priv.h"

/* Width of a counter in bits. */
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

/*
 * Add @count to a counter. With @over the counter overflows: it wraps, or stops at its
 * largest value if model_type.saturate is set in its control.
 */
void model_count_on(const struct model *m, struct model_box *b,
		    unsigned int ctr, u64 count, bool over)
{
	u64 last = (1ULL << model_ctr_bits(m, b, ctr)) - 1;

	if (over && (b->ctl[ctr] & b->type->saturate))
		b->ctr[ctr] = last;
	else
		b->ctr[ctr] = (b->ctr[ctr] + count) & last;
}

/* Bit of the box status that an overflow of counter @ctr sets; 0: none. */
u32 model_status_bit(const struct model_box *b, unsigned int ctr)
{
	if (b->type->quirks & QUIRK_NO_STATUS)
		return 0;
	if (ctr == MODEL_FIXED)
		return b->type->fixed_status;
	return MODEL_BIT(ctr + model_status_shift(b));
}

/* Return whether the box counts: it is not frozen, dead or without a clock. */
bool model_box_counts(const struct model *m, const struct model_box *b)
{
	return !m->pkg[b->pkg].frozen && !(b->box_ctl & b->type->layout->frz) &&
	       !(b->faults & (MODEL_BIT(MODEL_FAULT_DEAD_PCI) |
			      MODEL_BIT(MODEL_FAULT_NO_CLOCK)));
}

/*
 * Bring the counters of a box up to the present: add the counts since @b->stamp. Return
 * the counters, a bit each, that overflowed and whose status bit was not set before.
 */
unsigned int model_box_sync(const struct model *m, struct model_box *b)
{
	u64 from = model_box_cycles(m, b, b->stamp);
	u64 cycles = model_box_cycles(m, b, m->cycles) - from;
	unsigned int ctr, overflowed = 0;
	const struct model_plan *p;
	u64 size, need, count;
	bool over;
	u32 bit;

	b->stamp = m->cycles;
	if (!cycles)
		return 0;
	model_free_sync(b, from, cycles);
	if (!b->active || !model_box_counts(m, b))
		return 0;
	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(b->active & MODEL_BIT(ctr)))
			continue;
		p = &b->plan[ctr];
		size = 1ULL << model_ctr_bits(m, b, ctr);
		need = size - b->ctr[ctr];
		count = model_plan_count(b, p, from, cycles);
		/*
		 * The count of a wave may have wrapped at 2^64, so look for the
		 * overflow. For rates that search would take long, and their count
		 * does not wrap.
		 */
		over = p->rated ? count >= need :
				  model_plan_reach(b, p, from, need) <= cycles;
		if (over) {
			bit = model_status_bit(b, ctr);
			if (!(b->status & bit))
				overflowed |= MODEL_BIT(ctr);
			b->status |= bit;
		}
		model_count_on(m, b, ctr, count, over);
	}
	return overflowed;
}

/* Note the time at which a box stops counting, and for how long it did not count. */
static void note_pause(struct model *m, struct model_box *b)
{
	bool counting = b->active && model_box_counts(m, b);

	if (counting == b->counting)
		return;
	b->counting = counting;
	if (!counting)
		b->paused_at = model_now_ns(m);
	else if (b->paused_at)
		m->paused_ns += model_now_ns(m) - b->paused_at;
}

static bool is_enabled(const struct model_box *b, unsigned int ctr)
{
	if (b->type->quirks & QUIRK_JOINT)
		return b->ctl[ctr];
	return (b->ctl[ctr] & b->type->layout->en) && !(b->held & MODEL_BIT(ctr));
}

/* Return whether an overflow of the counter is signalled to the UBox. */
static bool is_armed(const struct model_box *b, unsigned int ctr)
{
	return !(b->type->quirks & QUIRK_JOINT) && (b->ctl[ctr] & b->type->layout->ov_en);
}

/*
 * Plan the counters of a box again after a change of a control register, a filter or a
 * rate. The caller has called model_box_sync() before the change.
 */
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
			model_plan_counter(b, ctr, p);
		for (p->sum = 0, t = 0; t < p->period; t++)
			p->sum += p->inc[t];
		b->active |= MODEL_BIT(ctr);
		if (is_armed(b, ctr))
			b->armed |= MODEL_BIT(ctr);
	}
	if (was_armed || b->armed)
		m->deadline_known = false;
	note_pause(m, b);
}

/*
 * Return the cycle of the model's time at the end of which the box next signals an
 * overflow to the UBox; U64_MAX: never. A counter whose bit in the box status is set
 * signals nothing (§2.2.1.1, and the same in the sections of the other boxes).
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
		    (b->status & model_status_bit(b, ctr)))
			continue;
		size = 1ULL << model_ctr_bits(m, b, ctr);
		cycles = model_plan_reach(b, &b->plan[ctr], from, size - b->ctr[ctr]);
		if (cycles < U64_MAX - from && from + cycles < deadline)
			deadline = from + cycles;
	}
	return deadline == U64_MAX ? U64_MAX : model_box_uclk(m, b, deadline);
}

/* Freeze or unfreeze all boxes of a package. */
void model_set_frozen(struct model *m, unsigned int pkg, bool frozen)
{
	struct model_package *p = &m->pkg[pkg];
	unsigned int i;

	if (p->frozen == frozen)
		return;
	for (i = 0; i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	p->frozen = frozen;
	for (i = 0; i < m->boxes; i++)
		note_pause(m, &m->box[pkg][i]);
	if (p->by_overflow)
		m->frozen_ns += model_now_ns(m) - p->frozen_at;
	p->by_overflow = false;
	p->frozen_at = model_now_ns(m);
	m->deadline_known = false;
}

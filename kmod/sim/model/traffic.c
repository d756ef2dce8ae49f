// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic: transactions of the fronts that pass a box and that its counters count.
 */
#include "model/priv.h"

/*
 * Return the increment of a counter by one transaction. A transaction has its own cycle
 * with idle cycles around it, so an edge detector counts one rising edge. An inverted
 * comparison holds in the idle cycles, which do not belong to the transaction, so the
 * increment is 0.
 */
static u32 increment(const struct model_box *b, unsigned int ctr,
		     const struct model_txn *t)
{
	struct model_shape s = model_shape_of(b, ctr);

	/* "durations add at most one a bus clock" */
	if (b->type->quirks & QUIRK_JOINT)
		return 1;
	if (!s.thresh)
		return t->value;
	return !s.invert && t->value >= s.thresh;
}

/*
 * Transactions pass in steps: a step ends with the next overflow that reaches the UBox, or
 * with the last transaction.
 */
s64 model_traffic(struct model *m, const struct model_txn *t)
{
	struct model_box *b = model_box(m, t->pkg, t->box_type, t->box);
	u32 inc[MODEL_MAX_COUNTERS] = { 0 };
	u64 reach[MODEL_MAX_COUNTERS];
	unsigned int ctr, overflowed;
	u64 size, step, passed = 0;
	u32 bit;

	if (!b)
		return -1;
	model_box_sync(m, b);
	if (!model_box_counts(m, b)) {
		model_free_traffic(b, t, t->count);
		return t->count;
	}
	for (ctr = 0; ctr < b->type->counters; ctr++)
		if ((b->active & MODEL_BIT(ctr)) && model_takes(b, ctr, t))
			inc[ctr] = increment(b, ctr, t);

	while (passed < t->count) {
		/* the transactions up to the next overflow that reaches the UBox */
		step = t->count - passed;
		for (ctr = 0; ctr < b->type->counters; ctr++) {
			if (!inc[ctr])
				continue;
			size = 1ULL << model_ctr_bits(m, b, ctr);
			reach[ctr] = (size - b->ctr[ctr] - 1) / inc[ctr] + 1;
			if ((b->armed & MODEL_BIT(ctr)) && reach[ctr] < step &&
			    !(b->status & model_status_bit(b, ctr)))
				step = reach[ctr];
		}
		overflowed = 0;
		for (ctr = 0; ctr < b->type->counters; ctr++) {
			if (!inc[ctr])
				continue;
			if (reach[ctr] <= step) {
				bit = model_status_bit(b, ctr);
				if (!(b->status & bit))
					overflowed |= MODEL_BIT(ctr);
				b->status |= bit;
			}
			model_count_on(m, b, ctr, step * inc[ctr], reach[ctr] <= step);
		}
		passed += step;
		m->deadline_known = false;
		if (model_overflow(m, b, overflowed & b->armed))
			break;
	}
	model_free_traffic(b, t, passed);
	return passed;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's time: advance it in steps that end at each overflow that reaches the UBox.
 */
#include "model/priv.h"

int model_set_uclk(struct model *m, unsigned int pkg, u32 khz)
{
	u32 nominal = m->cfg.clock_khz[MODEL_UCLK];
	unsigned int i;

	if (pkg >= m->cfg.packages || !nominal || khz > MODEL_MAX_KHZ)
		return -1;
	for (i = 0; i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	model_change_uclk(m, pkg, khz);
	m->deadline_known = false;
	return 0;
}

/*
 * Handle the deadline, which is the present cycle: let armed counters overflow, and perform
 * the due stages of the messages to the UBoxes. Return true if the last stage of a message
 * has passed.
 */
static bool serve_deadline(struct model *m)
{
	struct model_message message;
	unsigned int pkg, i, overflowed;
	struct model_box *b;
	bool finished = false;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		message = (struct model_message){ 0 };
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			if (!b->armed)
				continue;
			overflowed = model_box_sync(m, b);
			model_note_overflow(m, b, overflowed & b->armed, &message);
		}
		if (message.bits)
			model_post_message(m, pkg, &message);
		finished |= model_serve_messages(m, pkg);
	}
	m->deadline_known = false;
	return finished;
}

/*
 * Return the cycle at the end of which an armed counter overflows or a stage of a message
 * is due, whichever is first; U64_MAX: none
 */
static u64 deadline(struct model *m)
{
	unsigned int pkg, i;
	u64 next;

	if (m->deadline_known)
		return m->deadline;
	m->deadline = U64_MAX;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		next = model_message_deadline(&m->pkg[pkg]);
		if (next < m->deadline)
			m->deadline = next;
		for (i = 0; i < m->boxes; i++) {
			next = model_box_deadline(m, &m->box[pkg][i]);
			if (next < m->deadline)
				m->deadline = next;
		}
	}
	m->deadline_known = true;
	return m->deadline;
}

/*
 * Only overflows that are signalled to the UBox are simulated in their cycle. All other
 * counts are brought up to date when a box is accessed.
 */
u64 model_advance(struct model *m, u64 cycles)
{
	u64 left = cycles, next, step;

	for (;;) {
		next = deadline(m);
		step = next - m->cycles;
		if (next == U64_MAX || step > left) {
			m->cycles += left;
			return cycles;
		}
		m->cycles += step;
		left -= step;
		if (serve_deadline(m))
			return cycles - left;
	}
}

/*
 * An overflow whose bit of the global status is set freezes nothing, so this function
 * ignores its counter. The box status alone does not prevent such an overflow: the UBox's fixed
 * counter has no bit there, and software may have cleared the box status but not the
 * global status.
 */
u64 model_cycles_to_freeze(const struct model *m)
{
	u64 next = U64_MAX, status, at;
	unsigned int pkg, i, ctr;
	struct model_box b;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		at = model_message_deadline(&m->pkg[pkg]);
		if (at < next)
			next = at;
		status = model_status_to_be(m, pkg);
		for (i = 0; i < m->boxes; i++) {
			if (!m->box[pkg][i].armed)
				continue;
			b = m->box[pkg][i];
			for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++)
				if (status & model_global_bits(&b, ctr))
					b.armed &= ~MODEL_BIT(ctr);
			at = model_box_deadline(m, &b);
			if (at < next)
				next = at;
		}
	}
	return next == U64_MAX ? U64_MAX : next - m->cycles;
}

void model_restart_cycles(struct model *m)
{
	struct model_package *p;
	struct model_box *b;
	unsigned int pkg, i, k;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		p = &m->pkg[pkg];
		for (i = 0; i < p->messages; i++)
			for (k = p->message[i].stage; k < STAGES; k++)
				p->message[i].at[k] -= m->cycles;
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			model_box_sync(m, b);
			b->stamp = 0;
			model_restart_rates(b);
			for (k = 0; k < MODEL_MAX_FREE && !b->only_rates; k++)
				b->free_from[k] -=
					model_box_cycles(m, b, m->cycles);
		}
		p->uclk_from = p->uclk_cycles = 0;
	}
	m->cycles = 0;
	m->deadline_known = false;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: the clocks of the boxes, and what a package's UBox does about overflows
 * (§2.1.1), when it is due.  What a counter adds in a number of cycles is in
 * model/count.c.
 */
#include "model/priv.h"

/* --- clocks -------------------------------------------------------------- */

static u32 common_divisor(u32 a, u32 b)
{
	u32 rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static struct model_ratio ratio_of(u32 khz, u32 uclk)
{
	u32 divisor = common_divisor(khz, uclk);

	return (struct model_ratio){ khz / divisor, uclk / divisor };
}

void model_init_clocks(struct model *m)
{
	u32 uclk = m->cfg.clock_khz[MODEL_UCLK], khz;
	unsigned int i;

	for (i = 0; i < MODEL_CLOCKS; i++) {
		khz = m->cfg.clock_khz[i];
		m->ratio[i] = (struct model_ratio){ 1, 1 };
		if (khz)
			m->ratio[i] = ratio_of(khz, uclk);
	}
	for (i = 0; i < m->cfg.packages; i++) {
		m->pkg[i].uclk = (struct model_ratio){ 1, 1 };
		m->pkg[i].uclk_khz = uclk;
	}
}

/* Whole cycles of a clock in the first @cycles cycles of the model's time. */
static u64 scale(const struct model_ratio *r, u64 cycles)
{
	if (r->num == r->den)
		return cycles;
	/* in two parts, neither of which overflows */
	return cycles / r->den * r->num + cycles % r->den * r->num / r->den;
}

/* The first cycle of the model's time at whose end so many of a clock have passed. */
static u64 unscale(const struct model_ratio *r, u64 cycles)
{
	u64 whole, rest;

	if (r->num == r->den)
		return cycles;
	if (!r->num)
		return cycles ? U64_MAX : 0;
	whole = cycles / r->num;
	rest = cycles % r->num;
	if (whole >= U64_MAX / r->den)
		return U64_MAX;
	return whole * r->den + (rest * r->den + r->num - 1) / r->num;
}

/*
 * Cycles that the box's clock has had at cycle @at of the model's time.  For UCLK
 * @at must not be before its frequency last changed.
 */
u64 model_box_cycles(const struct model *m, const struct model_box *b, u64 at)
{
	const struct model_package *p = &m->pkg[b->pkg];

	if (b->type->clock != MODEL_UCLK)
		return scale(&m->ratio[b->type->clock], at);
	return p->uclk_cycles + scale(&p->uclk, at - p->uclk_from);
}

/* The first cycle of the model's time at whose end so many of the box's have passed. */
u64 model_box_uclk(const struct model *m, const struct model_box *b, u64 cycles)
{
	const struct model_package *p = &m->pkg[b->pkg];
	u64 at;

	if (b->type->clock != MODEL_UCLK)
		return unscale(&m->ratio[b->type->clock], cycles);
	if (cycles <= p->uclk_cycles)
		return p->uclk_from;
	at = unscale(&p->uclk, cycles - p->uclk_cycles);
	return at < U64_MAX - p->uclk_from ? p->uclk_from + at : U64_MAX;
}

int model_set_uclk(struct model *m, unsigned int pkg, u32 khz)
{
	u32 nominal = m->cfg.clock_khz[MODEL_UCLK];
	struct model_package *p;
	unsigned int i;

	if (pkg >= m->cfg.packages || !nominal || khz > MODEL_MAX_KHZ)
		return -1;
	for (i = 0; i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	p = &m->pkg[pkg];
	p->uclk_cycles += scale(&p->uclk, m->cycles - p->uclk_from);
	p->uclk_from = m->cycles;
	p->uclk = ratio_of(khz, nominal);
	p->uclk_khz = khz;
	m->deadline_known = false;
	return 0;
}

u32 model_uclk(const struct model *m, unsigned int pkg)
{
	return pkg < m->cfg.packages ? m->pkg[pkg].uclk_khz : 0;
}

/* --- what follows from an overflow --------------------------------------- */

static u64 global_bits(const struct model_box *b, unsigned int ctr)
{
	if (ctr == MODEL_FIXED && b->type->ov_fixed)
		return b->type->ov_fixed;
	return b->type->ov ? b->type->ov[b->index] : 0;
}

/* Bits of the global status that are set, or that nothing can keep away. */
static u64 status_to_be(const struct model *m, unsigned int pkg)
{
	const struct model_package *p = &m->pkg[pkg];
	u64 status = __atomic_load_n(&p->status, __ATOMIC_SEQ_CST);
	unsigned int i;

	for (i = 0; i < p->messages; i++)
		if (p->message[i].stage <= STAGE_STATUS)
			status |= p->message[i].bits;
	return status;
}

/*
 * The UBox receives word of overflows.  "In order to see a new freeze" the
 * status must have been cleared (§2.2.1.1), so an overflow that finds its bit
 * set is none of its business.  @word gathers all overflows of one cycle.
 */
static void note_overflow(const struct model *m, const struct model_box *b,
			  unsigned int ctrs, struct model_message *word)
{
	u64 bits, status = status_to_be(m, b->pkg);
	unsigned int ctr;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(ctrs & MODEL_BIT(ctr)))
			continue;
		bits = global_bits(b, ctr);
		if (!bits || (status & bits))
			continue;
		word->bits |= bits;
		if (!(b->faults & MODEL_BIT(MODEL_FAULT_NO_PMI)))
			word->pmi = true;
	}
}

static void freeze_by_overflow(struct model *m, unsigned int pkg)
{
	struct model_package *p = &m->pkg[pkg];

	model_set_frozen(m, pkg, true);
	if (p->by_overflow)
		return;
	p->by_overflow = true;
	/* software may have frozen it before, while the overflow was on its way */
	p->frozen_at = model_now_ns(m);
}

static void send_pmi(struct model *m, unsigned int pkg)
{
	u32 ctl = __atomic_load_n(&m->pkg[pkg].ctl, __ATOMIC_SEQ_CST);
	u32 cores = ctl & m->gen->core_sel;

	if (cores && m->ops.pmi)
		m->ops.pmi(m->ctx, pkg, cores, ctl & GLOBAL_CTL_WK_ON_PMI);
}

/* Do what is due of a message. Is it done with? */
static bool message_done(struct model *m, unsigned int pkg,
			 struct model_message *word)
{
	for (; word->stage < STAGES; word->stage++) {
		if (word->at[word->stage] > m->cycles)
			return false;
		if (word->stage == STAGE_FREEZE)
			freeze_by_overflow(m, pkg);
		else if (word->stage == STAGE_STATUS)
			__atomic_fetch_or(&m->pkg[pkg].status, word->bits,
					  __ATOMIC_SEQ_CST);
		else if (word->pmi)
			send_pmi(m, pkg);
	}
	return true;
}

/* Has software been told of a freeze just now? */
static bool serve_messages(struct model *m, unsigned int pkg)
{
	struct model_package *p = &m->pkg[pkg];
	unsigned int i = 0;
	bool told = false;

	while (i < p->messages) {
		if (!message_done(m, pkg, &p->message[i])) {
			i++;
			continue;
		}
		told = true;
		p->message[i] = p->message[--p->messages];
	}
	if (told)
		m->told |= MODEL_BIT(pkg);
	return told;
}

/* A queue that is full takes the overflow along with the last in it. */
static void post_message(struct model *m, unsigned int pkg,
			 struct model_message *word)
{
	struct model_package *p = &m->pkg[pkg];

	m->deadline_known = false;
	if (p->messages == MODEL_MAX_MESSAGES) {
		p->message[MODEL_MAX_MESSAGES - 1].bits |= word->bits;
		p->message[MODEL_MAX_MESSAGES - 1].pmi |= word->pmi;
		return;
	}
	word->stage = STAGE_FREEZE;
	word->at[STAGE_FREEZE] = m->cycles + m->delays.freeze;
	word->at[STAGE_STATUS] = word->at[STAGE_FREEZE] + m->delays.status;
	word->at[STAGE_PMI] = word->at[STAGE_STATUS];
	if (word->pmi)
		word->at[STAGE_PMI] += m->delays.pmi;
	p->message[p->messages++] = *word;
}

/* Counters @ctrs of @b, all with ov_en, overflowed. Did that freeze the package? */
bool model_overflow(struct model *m, struct model_box *b, unsigned int ctrs)
{
	struct model_message word = { 0 };

	note_overflow(m, b, ctrs, &word);
	if (!word.bits)
		return false;
	post_message(m, b->pkg, &word);
	serve_messages(m, b->pkg);
	return m->pkg[b->pkg].frozen;
}

/* --- passing -------------------------------------------------------------- */

/* It is the deadline: let the armed counters overflow. Was software told? */
static bool serve_deadline(struct model *m)
{
	struct model_message word;
	unsigned int pkg, i, overflowed;
	struct model_box *b;
	bool told = false;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		word = (struct model_message){ 0 };
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			if (!b->armed)
				continue;
			overflowed = model_box_sync(m, b);
			note_overflow(m, b, overflowed & b->armed, &word);
		}
		if (word.bits)
			post_message(m, pkg, &word);
		told |= serve_messages(m, pkg);
	}
	m->deadline_known = false;
	return told;
}

/* The cycle at the end of which the next of the messages' stages is due. */
static u64 message_deadline(const struct model_package *p)
{
	const struct model_message *word;
	u64 next = U64_MAX;
	unsigned int i;

	for (i = 0; i < p->messages; i++) {
		word = &p->message[i];
		if (word->at[word->stage] < next)
			next = word->at[word->stage];
	}
	return next;
}

static u64 deadline(struct model *m)
{
	unsigned int pkg, i;
	u64 next;

	if (m->deadline_known)
		return m->deadline;
	m->deadline = U64_MAX;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		next = message_deadline(&m->pkg[pkg]);
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
 * Only overflows that the UBox hears of are simulated on time; all other
 * counting is done when a box is looked at.
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
 * The UBox's fixed counter has no status bit in the box, and any box may have
 * been cleared while the UBox was not: those overflows freeze nothing.
 */
u64 model_cycles_to_freeze(const struct model *m)
{
	u64 next = U64_MAX, status, at;
	unsigned int pkg, i, ctr;
	struct model_box b;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		at = message_deadline(&m->pkg[pkg]);
		if (at < next)
			next = at;
		status = status_to_be(m, pkg);
		for (i = 0; i < m->boxes; i++) {
			if (!m->box[pkg][i].armed)
				continue;
			b = m->box[pkg][i];
			for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++)
				if (status & global_bits(&b, ctr))
					b.armed &= ~MODEL_BIT(ctr);
			at = model_box_deadline(m, &b);
			if (at < next)
				next = at;
		}
	}
	return next == U64_MAX ? U64_MAX : next - m->cycles;
}

bool model_pending(const struct model *m)
{
	unsigned int pkg;

	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		if (m->pkg[pkg].messages)
			return true;
	return false;
}

u32 model_told(struct model *m)
{
	u32 told = m->told;

	m->told = 0;
	return told;
}

void model_set_delays(struct model *m, const struct model_delays *delays)
{
	m->delays = *delays;
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

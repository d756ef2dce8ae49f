// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a package's UBox does about overflows (§2.1.1): it freezes the package,
 * sets the global status and sends a PMI, each when it is due.
 */
#include "model/priv.h"

u64 model_global_bits(const struct model_box *b, unsigned int ctr)
{
	if (ctr == MODEL_FIXED && b->type->ov_fixed)
		return b->type->ov_fixed;
	return b->type->ov ? b->type->ov[b->index] : 0;
}

/* Bits of the global status that are set, or that nothing can keep away. */
u64 model_status_to_be(const struct model *m, unsigned int pkg)
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
void model_note_overflow(const struct model *m, const struct model_box *b,
			 unsigned int ctrs, struct model_message *word)
{
	u64 bits, status = model_status_to_be(m, b->pkg);
	unsigned int ctr;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(ctrs & MODEL_BIT(ctr)))
			continue;
		bits = model_global_bits(b, ctr);
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

/* Deliver freeze messages that are due; true if there was one. */
bool model_serve_messages(struct model *m, unsigned int pkg)
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
void model_post_message(struct model *m, unsigned int pkg,
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

	model_note_overflow(m, b, ctrs, &word);
	if (!word.bits)
		return false;
	model_post_message(m, b->pkg, &word);
	model_serve_messages(m, b->pkg);
	return m->pkg[b->pkg].frozen;
}

/* The cycle at the end of which the next of the messages' stages is due. */
u64 model_message_deadline(const struct model_package *p)
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

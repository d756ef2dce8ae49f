// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reaction of a package's UBox to an overflow. Sections (§) are those of Intel's
 * uncore manual 331051.
 *
 * A box whose counter overflows sends a message to the UBox (struct model_message). The
 * UBox acts on a message in three stages, each after its delay (§2.1.1): it freezes the
 * package, sets the box's bits in the global status, and sends a PMI, an interrupt, to
 * cores. Software then handles the overflow: it reads and sets the counters, clears the
 * status and unfreezes the package.
 *
 * A counter's overflow reaches the UBox if ov_en is set in the counter's control. If time
 * passes, the overflows of all boxes of a package in a cycle are sent as one message
 * (time.c). If transactions pass a box, the box's overflows are a message (traffic.c).
 *
 * A message is pending until its last stage has passed. The order and the delays of the
 * stages are assumptions: see Documentation/simulator.rst.
 */
#include "model/priv.h"

/* Bits of the global status that an overflow of counter @ctr sets. */
u64 model_global_bits(const struct model_box *b, unsigned int ctr)
{
	if (ctr == MODEL_FIXED && b->type->ov_fixed)
		return b->type->ov_fixed;
	return b->type->ov ? b->type->ov[b->index] : 0;
}

/* Return the bits of the global status that are set or that a pending message will set. */
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
 * Add the overflows of a box's counters @ctrs, a bit each, to @message, which may have
 * overflows of other boxes of the package in the same cycle.
 *
 * The UBox ignores an overflow whose bit of the global status is set or will be set: "in
 * order to see a new freeze" software must have cleared the status (§2.2.1.1). With
 * MODEL_FAULT_NO_PMI of the box the overflow freezes the package and causes no PMI.
 */
void model_note_overflow(const struct model *m, const struct model_box *b,
			 unsigned int ctrs, struct model_message *message)
{
	u64 bits, status = model_status_to_be(m, b->pkg);
	unsigned int ctr;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(ctrs & MODEL_BIT(ctr)))
			continue;
		bits = model_global_bits(b, ctr);
		if (!bits || (status & bits))
			continue;
		message->bits |= bits;
		if (!(b->faults & MODEL_BIT(MODEL_FAULT_NO_PMI)))
			message->pmi = true;
	}
}

/*
 * Freeze a package because of an overflow. The time from now to the unfreeze is added to
 * model.frozen_ns, also if software had frozen the package before the overflow.
 */
static void freeze_by_overflow(struct model *m, unsigned int pkg)
{
	struct model_package *p = &m->pkg[pkg];

	model_set_frozen(m, pkg, true);
	/* an earlier overflow has frozen the package, and its time is counted already */
	if (p->by_overflow)
		return;
	p->by_overflow = true;
	p->frozen_at = model_now_ns(m);
}

/* Send a PMI to the cores that the global control selects. Without a core it is lost. */
static void send_pmi(struct model *m, unsigned int pkg)
{
	u64 ctl = __atomic_load_n(&m->pkg[pkg].ctl, __ATOMIC_SEQ_CST);
	u32 cores = ctl & m->gen->core_sel;

	if (cores && m->ops.pmi)
		m->ops.pmi(m->ctx, pkg, cores, ctl & m->gen->wk_on_pmi);
}

/* Perform the stages of a message that are due. Return true after the last stage. */
static bool message_done(struct model *m, unsigned int pkg,
			 struct model_message *message)
{
	for (; message->stage < STAGES; message->stage++) {
		if (message->at[message->stage] > m->cycles)
			return false;
		if (message->stage == STAGE_FREEZE)
			freeze_by_overflow(m, pkg);
		else if (message->stage == STAGE_STATUS)
			__atomic_fetch_or(&m->pkg[pkg].status, message->bits,
					  __ATOMIC_SEQ_CST);
		else if (message->pmi)
			send_pmi(m, pkg);
	}
	return true;
}

/*
 * Perform the due stages of all messages of a package, and remove the messages whose last
 * stage has passed. Return whether a message was removed. model_told() reports the package
 * of a removed message, also if no PMI was sent.
 */
bool model_serve_messages(struct model *m, unsigned int pkg)
{
	struct model_package *p = &m->pkg[pkg];
	unsigned int i = 0;
	bool finished = false;

	while (i < p->messages) {
		if (!message_done(m, pkg, &p->message[i])) {
			i++;
			continue;
		}
		finished = true;
		p->message[i] = p->message[--p->messages];
	}
	if (finished)
		m->told |= MODEL_BIT(pkg);
	return finished;
}

/*
 * Queue a message to the UBox. model_set_delays() has set the delays of its stages.
 *
 * If the queue is full, add the overflows to the last message in the queue. Stages of
 * the last message that have passed are not repeated: if its status stage has passed, the
 * added bits never reach the global status. If an added overflow causes a PMI, the last
 * message sends one.
 */
void model_post_message(struct model *m, unsigned int pkg,
			struct model_message *message)
{
	struct model_package *p = &m->pkg[pkg];

	/* the next stage may be due earlier than the deadline that was computed last */
	m->deadline_known = false;
	if (p->messages == MODEL_MAX_MESSAGES) {
		p->message[MODEL_MAX_MESSAGES - 1].bits |= message->bits;
		p->message[MODEL_MAX_MESSAGES - 1].pmi |= message->pmi;
		return;
	}
	message->stage = STAGE_FREEZE;
	message->at[STAGE_FREEZE] = m->cycles + m->delays.freeze;
	message->at[STAGE_STATUS] = message->at[STAGE_FREEZE] + m->delays.status;
	message->at[STAGE_PMI] = message->at[STAGE_STATUS];
	if (message->pmi)
		message->at[STAGE_PMI] += m->delays.pmi;
	p->message[p->messages++] = *message;
}

/*
 * Send the UBox a message: the counters @ctrs of @b, a bit each, overflowed. Their
 * controls have ov_en set. Return true if the package is frozen now. Return false if the
 * package counts on, because the freeze is delayed or the UBox ignores the overflows.
 */
bool model_overflow(struct model *m, struct model_box *b, unsigned int ctrs)
{
	struct model_message message = { 0 };

	model_note_overflow(m, b, ctrs, &message);
	if (!message.bits)
		return false;
	model_post_message(m, b->pkg, &message);
	model_serve_messages(m, b->pkg);
	return m->pkg[b->pkg].frozen;
}

/*
 * Return the cycle at the end of which the next stage of a message of a package is due;
 * U64_MAX: no message is pending.
 */
u64 model_message_deadline(const struct model_package *p)
{
	const struct model_message *message;
	u64 next = U64_MAX;
	unsigned int i;

	for (i = 0; i < p->messages; i++) {
		message = &p->message[i];
		if (message->at[message->stage] < next)
			next = message->at[message->stage];
	}
	return next;
}

/*
 * Return whether any package has a pending message: a freeze, a write of the global status
 * or a PMI is still to come.
 */
bool model_pending(const struct model *m)
{
	unsigned int pkg;

	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		if (m->pkg[pkg].messages)
			return true;
	return false;
}

/*
 * Return and clear the packages, a bit each, in which the last stage of a message has
 * passed. The last stage is the PMI, which tells software of the overflow. The stage passes
 * without a PMI if the box has MODEL_FAULT_NO_PMI or the global control selects no core.
 * The manual clock (clock/clock.c) then waits until software has handled the overflow.
 */
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

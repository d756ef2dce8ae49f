// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decide whether a counter counts a transaction, by its event, its umask and the filters.
 */
#include "model/priv.h"

/*
 * Compare a QPI packet with the match and mask registers of its direction (§2.9.2.3). The
 * four filter registers of a direction are in the order match 0, match 1, mask 0, mask 1.
 * A direction whose mask registers are 0 matches no packet: otherwise a counter for one
 * direction would count every packet of the other direction, whose registers have their
 * reset value 0.
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

static bool filter_passes(const struct model_box *b,
			  const struct model_filter *f,
			  const struct model_selection *s,
			  const struct model_txn *t)
{
	if (f->op == FILTER_UMASK)
		return false;
	if (f->op == FILTER_COMMON)
		return s->umask & t->umask & f->umask;
	if (f->op == FILTER_PACKET)
		return packet_matches(b, t);
	return model_field_passes(f->op, model_filter_field(b, f, s->ctl),
				  model_attribute(t, f->attr, f));
}

static bool filter_applies(const struct model_filter *f,
			   const struct model_selection *s)
{
	if (s->code < f->first || s->code > f->last)
		return false;
	if ((s->ctl & f->ctl) != f->ctl)
		return false;
	if (f->op == FILTER_UMASK)
		return !(s->umask & f->umask);
	return f->op == FILTER_COMMON || !f->umask || (s->umask & f->umask);
}

/* Return whether counter @ctr counts the transaction. */
bool model_takes(const struct model_box *b, unsigned int ctr,
		 const struct model_txn *t)
{
	struct model_selection s = model_selected(b, ctr);
	u64 umask = s.umask, dropped = 0, idle = 0;
	const struct model_filter *f;
	const struct model_wave *w;
	unsigned int i, count, ctrs = 0;
	enum model_rule rule;

	if (b->type->quirks & QUIRK_JOINT)
		return model_joint_takes(b, ctr, t);
	if (s.code != t->code)
		return false;
	w = model_find_event(b->type, s.code, &count);
	if (!count)
		return false;
	rule = w->rule;
	for (i = 0; i < count; i++) {
		ctrs |= w[i].ctrs;
		/* a subevent may have another rule than the first subevent */
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
		if (!filter_passes(b, f, &s, t))
			return false;
		if (f->drop_umask)
			dropped |= f->umask;
	}
	umask &= ~dropped;
	if (rule == MODEL_ALL)
		return (umask & t->umask) == umask;
	if (rule == MODEL_EXACT)
		return umask == (t->umask & ~dropped);
	if (!umask)
		return dropped || !t->umask;
	return umask & ~idle & t->umask;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event and its slot.  An event of the perf CPU has its slot while perf has it on the
 * counters.  A follower looks for one that an equal event has, each time.
 */
#include "event.h"
#include "slot.h"

static void unc_event_follow(struct unc_event *ue, const struct unc_slot *slot,
			     u64 total, u64 seq)
{
	ue->slot = slot - ue->box->slot;
	ue->serial = slot->serial;
	local64_set(&ue->event->hw.prev_count, total);
	ue->mark = total - ue->carry;
	ue->seq = seq;
}

/*
 * Have an event count and sample what a slot does from now on.  The slot is up to date
 * and its samples accounted; the box is locked.
 */
void unc_event_join(struct unc_event *ue, const struct unc_slot *slot)
{
	unc_event_follow(ue, slot, slot->total, slot->sampling.seq);
}

/*
 * Find the slot that an event has or follows.  Returns the slot, or NULL while nothing
 * counts the event.  The box is locked.
 */
struct unc_slot *unc_event_slot(struct unc_event *ue)
{
	struct unc_slot *slot;

	if (ue->follower && (ue->slot < 0 ||
			     ue->box->slot[ue->slot].serial != ue->serial)) {
		ue->slot = -1;
		slot = unc_slot_find(ue->box, &ue->want);
		/* it is in use since */
		if (slot)
			unc_event_follow(ue, slot, 0, 0);
	}
	if (ue->slot < 0)
		return NULL;
	slot = &ue->box->slot[ue->slot];
	if (!ue->follower || unc_slot_in_use(slot))
		return slot;
	/* free, maybe for a moment only: take its last counts */
	unc_event_count(ue, slot);
	return NULL;
}

/*
 * Add what a slot has counted since the last time.  Since Linux 6.8 a BPF program may
 * read an event on any CPU of its package, so this is all that a read may change.
 * hw.prev_count is the slot's total up to which the event has counted; less the event's
 * count it is where the event began, which is what programs need that read several
 * events of one slot (bpf/attribution.bpf.c).  The slot is up to date.
 */
void unc_event_count(struct unc_event *ue, const struct unc_slot *slot)
{
	u64 before;

	if (ue->event->hw.state & PERF_HES_STOPPED)
		return;
	before = local64_xchg(&ue->event->hw.prev_count, slot->total);
	local64_add(slot->total - before, &ue->event->count);
	ue->carry = slot->total - ue->mark;
}

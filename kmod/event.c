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

/**
 * unc_event_join() - begin to count and sample with a slot
 * @ue: the event, whose box is locked
 * @slot: the slot, which is up to date, and whose samples are accounted
 */
void unc_event_join(struct unc_event *ue, const struct unc_slot *slot)
{
	unc_event_follow(ue, slot, slot->total, slot->sampling.seq);
}

/**
 * unc_event_slot() - find the slot that an event has or follows
 * @ue: the event, whose box is locked
 *
 * Return: the slot, or NULL while no counter counts the event.
 */
struct unc_slot *unc_event_slot(struct unc_event *ue)
{
	struct unc_slot *slot;

	if (ue->follower && (ue->slot < 0 ||
			     ue->box->slot[ue->slot].serial != ue->serial)) {
		ue->slot = -1;
		slot = unc_slot_find(ue->box, &ue->want);
		/* a new slot: all of its counts are the follower's, too */
		if (slot)
			unc_event_follow(ue, slot, 0, 0);
	}
	if (ue->slot < 0)
		return NULL;
	slot = &ue->box->slot[ue->slot];
	if (!ue->follower || unc_slot_in_use(slot))
		return slot;
	/* the slot is free, maybe for a moment only: take its last counts */
	unc_event_count(ue, slot);
	return NULL;
}

/**
 * unc_event_count() - add a slot's new counts to an event
 * @ue: the event, whose box is locked
 * @slot: the event's slot, which is up to date
 *
 * hw.prev_count is the slot's total up to which the event has counted.  hw.prev_count
 * less the event's count is the total at which the event began: BPF programs that read
 * several events of one slot need that (bpf/attribution.bpf.c).
 *
 * Since Linux 6.8 a BPF program may read an event on any CPU of its package.  Such a
 * read may change these two fields only.
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event and its slot.  A slot is what a box counts for one event, or for several equal
 * events.  An event of the perf CPU has a slot, and the slot's counter, from perf's add
 * to perf's del.
 *
 * A follower is an event on another CPU.  It takes no counter, and reads the slot of an
 * equal event of the perf CPU.  Such a slot may be freed or taken by another event at any
 * time, so each use of the follower looks for the slot.
 */
#include "event.h"
#include "slot.h"

/*
 * Attach an event to a slot.  The event counts from @total on, and takes the samples
 * after number @seq.
 */
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
 * unc_event_join() - attach an event to a slot, from the slot's present total on
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
		/*
		 * The equal event has got a new slot since the last look.  The follower
		 * was active meanwhile, so all counts of the slot belong to it as well.
		 */
		if (slot)
			unc_event_follow(ue, slot, 0, 0);
	}
	if (ue->slot < 0)
		return NULL;
	slot = &ue->box->slot[ue->slot];
	if (!ue->follower || unc_slot_in_use(slot))
		return slot;
	/*
	 * The equal event was removed, maybe for a moment only.  The free slot keeps its
	 * last total, so add the counts up to that total.
	 */
	unc_event_count(ue, slot);
	return NULL;
}

/**
 * unc_event_count() - add a slot's new counts to an event
 * @ue: the event, whose box is locked
 * @slot: the event's slot, which is up to date
 *
 * hw.prev_count is the slot's total up to which the event has counted.  hw.prev_count
 * minus event->count is the slot's total at which the event began to count.  BPF programs
 * that read several events of one slot need this total (bpf/attribution.bpf.c).
 *
 * Since Linux 6.8 a BPF program may read an event on any CPU of its package.  Such a
 * read may change hw.prev_count and event->count only.
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callbacks of a perf PMU.  A PMU has the boxes of one type and index in all packages;
 * an event counts in the box of the package of its CPU.
 *
 * perf calls with interrupts off, mostly with an event context locked.  All events but
 * followers are on their package's perf CPU.  A follower stays on another CPU, takes no
 * counter, and reads the slot of an equal event of the perf CPU (event.c).
 *
 * A BPF program may call read() wherever a kprobe or an NMI can hit.
 *
 * Migration: when the perf CPU goes offline, perf removes its events and adds them on the
 * new perf CPU (pmus.c).  Their slots keep their counters meanwhile.
 */
#include "box.h"
#include "compat.h"
#include "event.h"
#include "freeze.h"
#include "lock.h"
#include "open.h"
#include "own_event.h"
#include "package.h"
#include "pmu.h"
#include "refresh.h"
#include "sampling.h"
#include "slot.h"

/* --- counting ------------------------------------------------------------ */

/*
 * Freeze a box until unc_end(), so that all changes take effect at once.  The box is
 * locked.  Later calls before unc_end() do nothing.
 */
static void unc_begin(struct unc_pmu *pmu, struct unc_box *box)
{
	struct unc_cpu *cpu = this_cpu_ptr(pmu->cpu);

	if (cpu->changing)
		return;
	cpu->changing = true;
	unc_box_begin(box, false);
}

/* Program the changes since unc_begin() and unfreeze the box. */
static void unc_end(struct unc_pmu *pmu)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_cpu *cpu = this_cpu_ptr(pmu->cpu);
	struct unc_box *box;

	if (!cpu->changing)
		return;
	cpu->changing = false;
	box = pkg->boxes[pmu->number];
	unc_lock_raw(&box->lock);
	unc_box_end(box);
	unc_lock_raw_release(&box->lock);
}

/*
 * Note that the PMU is disabled.  perf disables all PMUs of a CPU often, mostly without a
 * change to make.  So the box is frozen by the first change, not here.
 */
static void unc_pmu_disable(struct pmu *pmu)
{
	this_cpu_ptr(to_unc_pmu(pmu)->cpu)->disabled = true;
}

static void unc_pmu_enable(struct pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);

	cpu->disabled = false;
	/* perf enables the PMU after each event of a group: wait for the last event */
	if (!(cpu->txn & PERF_PMU_TXN_ADD))
		unc_end(to_unc_pmu(pmu));
}

/*
 * Return the tag of an event that is removed to migrate: the number of the migration and
 * the serial of the event's slot.  0: no migration is in progress.
 */
static u64 unc_migration_tag(const struct unc_box *box,
			     const struct unc_slot *slot)
{
	return box->use.migration ? (u64)box->use.migration << 32 | slot->serial : 0;
}

/*
 * Check whether perf removes an event to add it again at once.  During a migration that
 * is so in two cases.  On the new perf CPU, perf removes events that have migrated before
 * it adds the next event.  On the old perf CPU, the migrating task removes the events.
 * There perf may also remove an event because the user disables it.  Such an event must
 * not count on, and is not removed by the migrating task.
 */
static bool unc_is_migrating(const struct unc_box *box)
{
	return READ_ONCE(box->pkg->cpu) == smp_processor_id() ||
	       (box->use.migrator == current && !in_hardirq());
}

/*
 * Return the slot that has kept its counter for a migrating event, and give the slot to
 * the event; or NULL.
 */
static struct unc_slot *unc_migrated_slot(struct unc_event *ue)
{
	struct unc_slot *slot;
	u64 tag = ue->tag;

	ue->tag = 0;
	if (!tag || ue->slot < 0)
		return NULL;
	slot = &ue->box->slot[ue->slot];
	if (tag != unc_migration_tag(ue->box, slot) || !slot->migrating)
		return NULL;
	slot->migrating--;
	slot->users++;
	return slot;
}

/* Begin to count and sample an event with a slot; the box is locked. */
static void unc_join(struct unc_event *ue, struct unc_slot *slot)
{
	unc_refresh_slot(ue->box, slot);
	/* a sample that is due before the event joins belongs to the slot's other events */
	if (slot->sampling.period)
		unc_sampling_account(ue->box, slot, 0);
	unc_event_join(ue, slot);
}

/*
 * Attach a follower to the slot of an equal event; the box is locked.
 *
 * A follower that does not sample is a copy for local reads (UNC_CONFIG_LOCAL).  Its add
 * fails while no equal event counts.  During a change of the box the equal event may have
 * no counter for a moment; then a slot that has counted it is enough.
 */
static int unc_add_follower(struct unc_event *ue)
{
	struct unc_slot *slot = unc_slot_find(ue->box, &ue->want);

	ue->slot = -1;
	if (!is_sampling_event(ue->event) &&
	    !(slot && (unc_slot_in_use(slot) || ue->box->hw.changes)))
		return -EAGAIN;
	if (slot && unc_slot_in_use(slot))
		unc_join(ue, slot);
	else if (slot)
		unc_event_join(ue, slot);
	return 0;
}

/* Get the event a slot and a counter; the box is locked. */
static int unc_add_counter(struct unc_event *ue)
{
	struct unc_box *box = ue->box;
	struct unc_slot *slot;

	/* the perf CPU has changed while the event was being opened */
	if (READ_ONCE(box->pkg->cpu) != smp_processor_id())
		return -EAGAIN;
	unc_begin(to_unc_pmu(ue->event->pmu), box);
	/* a migrating event keeps its slot, and counts on from its last count */
	if (unc_migrated_slot(ue))
		return 0;
	slot = unc_slot_get(box, &ue->want);
	if (!slot)
		return -EAGAIN;
	/* the first event of the slot */
	if (slot->sampling.period && slot->users == 1 && !slot->migrating)
		unc_sampling_start(box, slot, ue->carry);
	unc_join(ue, slot);
	return 0;
}

/*
 * Begin to deliver samples of an event on this CPU.  A follower arms the slot's counter
 * if it is not armed: the slot's event may be the driver's own, which takes no samples,
 * and while no event takes samples no CPU gets PMIs and no counter is armed.
 */
static void unc_add_sampling(struct unc_event *ue)
{
	struct unc_slot *slot;

	unc_sampling_add(ue);
	slot = unc_event_slot(ue);
	if (ue->follower && slot && slot->arm && !slot->sampling.armed &&
	    !ue->box->ctr[slot->ctr].dirty) {
		unc_sampling_rearm(ue->box, slot);
		unc_event_join(ue, slot);
	}
}

/* Take over a sample period that the user has changed while the event was removed. */
static void unc_check_new_period(struct unc_event *ue)
{
	struct unc_sampling old = ue->want.sampling;

	if (!old.period)
		return;
	unc_sampling_describe(ue->event, old.freq, &ue->want);
	if (ue->want.sampling.freq != old.freq ||
	    ue->want.sampling.period != old.period)
		ue->carry = 0;
}

static int unc_event_add(struct perf_event *event, int how)
{
	struct unc_event *ue = event->pmu_private;
	struct unc_box *box = ue->box;
	int err;

	unc_lock_raw(&box->lock);
	unc_check_new_period(ue);
	if (box->dead || !unc_box_has_filters(box, &ue->want))
		err = -ENODEV;
	else if (ue->follower)
		err = unc_add_follower(ue);
	else
		err = unc_add_counter(ue);
	if (!err) {
		ue->throttled = false;
		event->hw.state = how & PERF_EF_START ? 0 : PERF_HES_STOPPED;
		if (is_sampling_event(event) && !unc_own_event_is(event))
			unc_add_sampling(ue);
	}
	unc_lock_raw_release(&box->lock);
	return err;
}

/* Bring an event up to date; the box is locked.  Returns the event's slot, or NULL. */
static struct unc_slot *unc_update(struct unc_event *ue)
{
	struct unc_slot *slot = unc_event_slot(ue);

	if (!slot)
		return NULL;
	unc_refresh_slot(ue->box, slot);
	unc_event_count(ue, slot);
	return slot;
}

/* Remove an event from its slot; the box is locked. */
static void unc_del_counter(struct unc_event *ue, struct unc_slot *slot)
{
	struct unc_box *box = ue->box;

	unc_begin(to_unc_pmu(ue->event->pmu), box);
	ue->tag = unc_is_migrating(box) ? unc_migration_tag(box, slot) : 0;
	if (ue->tag) {
		unc_update(ue);
		unc_box_migrate(box, slot);
		return;
	}
	unc_box_leave(box, slot);
	unc_event_count(ue, slot);
	if (slot->sampling.period)
		unc_sampling_account(box, slot, 0);
	unc_box_release(box, slot);
}

static void unc_del_follower(struct unc_event *ue)
{
	struct unc_slot *slot = unc_update(ue);

	/* the counter may have overflowed, with the PMI on its way: note the sample here */
	if (slot && slot->sampling.period)
		unc_sampling_account(ue->box, slot, 0);
}

/* Remove an event, and deliver a sample that is due.  A migrating event keeps its slot. */
static void unc_event_del(struct perf_event *event, int how)
{
	struct unc_event *ue = event->pmu_private;
	struct unc_box *box = ue->box;
	bool delivered = !list_empty(&ue->sampling);
	struct unc_slot *slot;
	u64 weight = 0;

	unc_lock_raw(&box->lock);
	slot = unc_event_slot(ue);
	if (slot && ue->follower)
		unc_del_follower(ue);
	else if (slot)
		unc_del_counter(ue, slot);
	if (slot && delivered && !ue->tag &&
	    !(event->hw.state & PERF_HES_STOPPED))
		weight = unc_sampling_take(ue, slot);
	if (!ue->tag)
		ue->slot = -1;
	if (delivered)
		unc_sampling_del(ue);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	unc_lock_raw_release(&box->lock);
	unc_sampling_flush(ue, weight);
}

/*
 * Stop an event.  The counter runs on, as it may count for other events, and this event
 * ignores the counts.
 *
 * perf also calls stop to throttle an event with too many samples.  Such an event counts
 * on and takes no samples.  The period of its next sample includes the counts meanwhile.
 */
static void unc_event_stop(struct perf_event *event, int how)
{
	struct unc_event *ue = event->pmu_private;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	unc_lock_raw(&ue->box->lock);
	unc_update(ue);
	if (event->hw.interrupts == UNC_THROTTLED)
		ue->throttled = true;
	else
		event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	unc_lock_raw_release(&ue->box->lock);
}

/*
 * Take over the sample period that the user has changed.  If the slot has other events,
 * which keep their period, this event moves to another slot.
 */
static void unc_set_period(struct unc_event *ue)
{
	struct unc_box *box = ue->box;
	struct unc_slot *slot = unc_event_slot(ue), *other;

	unc_sampling_describe(ue->event, ue->want.sampling.freq, &ue->want);
	ue->carry = 0;
	if (ue->follower || !slot || unc_slot_equals(slot, &ue->want))
		return;
	unc_begin(to_unc_pmu(ue->event->pmu), box);
	if (slot->users == 1 && !slot->migrating) {
		slot->sampling.freq = ue->want.sampling.freq;
		slot->sampling.period = ue->want.sampling.period;
	} else {
		other = unc_slot_get(box, &ue->want);
		/* no counter is free: the event keeps its old sample period */
		if (!other)
			return;
		slot->users--;
		slot = other;
	}
	unc_refresh_slot(box, slot);
	unc_sampling_start(box, slot, 0);
	box->ctr[slot->ctr].dirty = true;
	unc_event_join(ue, slot);
}

static void unc_event_start(struct perf_event *event, int how)
{
	struct unc_event *ue = event->pmu_private;
	struct unc_slot *slot;

	ue->throttled = false;
	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	unc_lock_raw(&ue->box->lock);
	if ((how & PERF_EF_RELOAD) && is_sampling_event(event))
		unc_set_period(ue);
	slot = unc_event_slot(ue);
	if (slot)
		unc_join(ue, slot);
	event->hw.state = 0;
	unc_lock_raw_release(&ue->box->lock);
}

/* --- reading ------------------------------------------------------------- */

static void unc_event_read(struct perf_event *event)
{
	struct unc_pmu *pmu = to_unc_pmu(event->pmu);
	struct unc_event *ue = event->pmu_private;
	unsigned long flags;

	if (!unc_lock_to_read(ue->box, event, &flags))
		return;
	/*
	 * Freeze the box, so that all members of a group are read in the same cycle;
	 * unc_commit_txn() ends the freeze.  If another CPU has frozen the box for a
	 * read, join that freeze only with freeze budget: reads that overlap would keep
	 * the box frozen.
	 */
	if ((this_cpu_ptr(pmu->cpu)->txn & PERF_PMU_TXN_READ) &&
	    event->group_leader->nr_siblings && unc_event_slot(ue) &&
	    (!ue->box->hw.changes || unc_freeze_allowed(ue->box->pkg)))
		unc_begin(pmu, ue->box);
	unc_update(ue);
	unc_lock_release(ue->box, flags);
}

static void unc_start_txn(struct pmu *pmu, unsigned int flags)
{
	this_cpu_ptr(to_unc_pmu(pmu)->cpu)->txn = flags;
}

static void unc_cancel_txn(struct pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);

	cpu->txn = 0;
	if (!cpu->disabled)
		unc_end(to_unc_pmu(pmu));
}

/*
 * End a transaction: start the counters that an ADD transaction has assigned, or end the
 * freeze of a READ transaction.
 */
static int unc_commit_txn(struct pmu *pmu)
{
	unc_cancel_txn(pmu);
	return 0;
}

const struct pmu unc_pmu_template = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_NO_EXCLUDE,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= unc_open_event,
	.pmu_enable	= unc_pmu_enable,
	.pmu_disable	= unc_pmu_disable,
	.add		= unc_event_add,
	.del		= unc_event_del,
	.start		= unc_event_start,
	.stop		= unc_event_stop,
	.read		= unc_event_read,
	.start_txn	= unc_start_txn,
	.commit_txn	= unc_commit_txn,
	.cancel_txn	= unc_cancel_txn,
	.check_period	= unc_open_check_period,
};

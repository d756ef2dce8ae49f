// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming a box.  All functions are called with the box's lock held
 * and interrupts off, on a CPU of the box's package.
 *
 * A change of a box lies between unc_box_begin() and unc_box_end().  unc_box_begin()
 * freezes the box: its counters stop.  Counters that get another slot are marked dirty.
 * unc_box_end() programs the dirty counters and unfreezes the box.  So the events of a
 * group start and stop in the same cycle.
 *
 * A box without events is parked: it stays frozen, with its control registers reset.
 *
 * Other programs write these registers, too.  While a box counts, the driver relies on
 * the values that it wrote last, and refresh.c verifies them.  A parked box that starts
 * is reset, and all of its registers are written.
 */
#include "access.h"
#include "box.h"
#include "freeze.h"
#include "global.h"
#include "package.h"
#include "refresh.h"

/* Check that no general or fixed counter has a slot.  Others are never programmed. */
static bool unc_box_is_unused(const struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; unc_access_is_programmed(ctr); ctr++) {
		if (box->ctr[ctr].slot >= 0)
			return false;
	}
	return true;
}

/**
 * unc_box_signals() - check whether overflows of a box interrupt a CPU
 * @box: the box
 *
 * Otherwise the package's timer polls the box's sampling counters.
 */
bool unc_box_signals(const struct unc_box *box)
{
	return box->type->overflow.signals && box->pkg->overflow.has_pmi;
}

/* Check whether firmware or another program has left a counter of the box enabled. */
static bool unc_box_is_dirty(struct unc_box *box)
{
	const struct unc_layout *layout = box->type->layout;
	u64 running = layout->en ? layout->en | layout->ov_en : U64_MAX;
	unsigned int ctr;

	for_each_programmed(box->type, ctr) {
		if (unc_access_read_ctl(box, ctr) & running)
			return true;
	}
	return false;
}

/* --- from and to an idle box ---------------------------------------------- */

static void unc_box_clear_filters(struct unc_box *box)
{
	unsigned int i;

	for (i = 0; i < unc_access_num_filters(box->type); i++)
		unc_access_write_filter(box, i, 0);
}

/*
 * Check whether one write of box control can clear the controls and counts of all general
 * counters.
 */
static bool unc_box_resets(const struct unc_box *box)
{
	return box->type->regs.box_ctl && !(box->type->quirks & UNC_QUIRK_NO_RESET);
}

static void unc_box_write_reset(struct unc_box *box)
{
	const struct unc_layout *layout = box->type->layout;

	unc_access_write_box_ctl(box, layout->frz | layout->rst);
}

/* Freeze a box, if it can be frozen alone, and clear all of its registers. */
static void unc_box_clear(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	unsigned int ctr;

	box->hw.idle = true;
	box->hw.box_ctl_known = false;
	if (type->regs.box_ctl) {
		unc_access_write_box_ctl(box, type->layout->frz);
		box->hw.frozen = true;
	}
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	for_each_programmed(type, ctr) {
		/* the manual does not say what a reset does to fixed counters */
		if (!unc_box_resets(box) || ctr == UNC_FIXED) {
			unc_access_write_ctl(box, ctr, 0);
			unc_access_write_counter(box, ctr, 0);
		}
		box->ctr[ctr].ctl = 0;
		box->ctr[ctr].raw = 0;
		box->ctr[ctr].known = true;
	}
	unc_access_clear_status(box);
	unc_box_clear_filters(box);
}

/**
 * unc_box_start() - bring a box from an unknown state to the driver's idle state
 * @box: the box, in a frozen package
 *
 * Freezes the box, clears its registers, and probes the width of its counters, in this
 * order.  The probe sets a counter to all ones: a counter that still ran with .ov_en
 * would overflow and freeze the package.  A box that does not answer is dead.
 *
 * Return: whether firmware or another program had left a counter enabled.
 */
bool unc_box_start(struct unc_box *box)
{
	bool dirty = false;

	box->dead = !unc_access_is_present(box);
	if (!box->dead) {
		dirty = unc_box_is_dirty(box);
		unc_box_clear(box);
		box->dead = unc_access_probe(box);
	}
	if (box->dead)
		return dirty;
	/* the probe has left counter 0 at all ones */
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	else if (box->type->general)
		unc_access_write_counter(box, 0, 0);
	return dirty;
}

/**
 * unc_box_retire() - stop using a box for good
 * @box: the box
 *
 * Brings the counts up to date and the registers to their state after a hardware reset.
 * Events may still exist, but no register of the box is accessed again.
 */
void unc_box_retire(struct unc_box *box)
{
	unc_refresh_box(box);
	if (!box->dead) {
		unc_box_clear(box);
		/* the box counts nothing: do not charge a freeze */
		box->hw.since = 0;
		unc_freeze_put(box);
	}
	box->dead = true;
}

/**
 * unc_box_lose_filters() - stop using filters whose PCI function is being removed
 * @box: the box
 *
 * Without its filter a counter would count other transactions.  So a box that uses a
 * filter is retired.
 */
void unc_box_lose_filters(struct unc_box *box)
{
	bool used = false;
	unsigned int i;

	for (i = 0; box->use.active && i < unc_access_num_filters(box->type); i++)
		used |= box->filter[i];
	if (used)
		unc_box_retire(box);
	else if (!box->dead)
		unc_box_clear_filters(box);
}

/**
 * unc_box_has_filters() - check whether a box has the filters that a slot uses
 * @box: the box
 * @slot: the slot
 *
 * Return: false when the PCI function of the filters is hidden or was removed.
 */
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot)
{
	return !box->type->filter.apart || box->io.filter_pdev ||
	       !(slot->fields[0] | slot->fields[1] | slot->fields[2]);
}

/**
 * unc_box_reprogram() - write all registers of a box after a loss of power
 * @box: the box; unc_power_suspend() has read its counters
 *
 * The slots keep their totals and count on from them.
 */
void unc_box_reprogram(struct unc_box *box)
{
	unsigned int ctr;

	if (box->dead)
		return;
	unc_box_clear(box);
	for (ctr = 0; ctr < unc_box_counters(box); ctr++) {
		struct unc_counter *c = &box->ctr[ctr];

		if (c->slot < 0)
			continue;
		c->dirty = true;
		c->known = unc_access_is_programmed(ctr);
	}
	/* program the box now, or if a change is in progress, at the end of that change */
	box->hw.changes++;
	unc_box_end(box);
}

/*
 * Write the filter registers for the slots in use.  These slots agree on the fields that
 * they share (slot.c), so the fields of all slots can be combined.
 */
static void unc_box_set_filters(struct unc_box *box)
{
	const struct unc_filter_reg *reg = box->type->filter.regs;
	u64 state[3] = { 0 }, used[3] = { 0 };
	unsigned int i, w;

	for (i = 0; i < unc_box_slots(box); i++) {
		const struct unc_slot *slot = &box->slot[i];

		if (!unc_slot_in_use(slot))
			continue;
		for (w = 0; w < 3; w++) {
			state[w] |= slot->config[w] & slot->fields[w];
			used[w] |= slot->fields[w];
		}
	}
	for (i = 0; reg && reg->reg; reg++, i++) {
		u32 mask = (used[reg->word] >> reg->shift) & reg->mask;
		u32 value = (state[reg->word] >> reg->shift) & mask;

		if (reg->when && (state[0] & reg->when) != reg->is)
			value = 0;
		/* fields that no slot uses keep their value, which may save the write */
		value |= box->filter[i] & ~mask;
		if (value == box->filter[i] &&
		    (!mask || (box->hw.filters_known & BIT(i))))
			continue;
		unc_access_write_filter(box, i, value);
		box->hw.filters_known |= BIT(i);
	}
}

/* Return the control of a counter that counts for a slot. */
static u64 unc_box_slot_ctl(const struct unc_box *box, const struct unc_slot *slot)
{
	const struct unc_type *type = box->type;
	bool signals = unc_box_signals(box);
	u64 ctl = type->layout->en;

	if (slot->sampling.period && signals)
		ctl |= type->layout->ov_en;
	if (slot->ctr != UNC_FIXED)
		ctl |= slot->config[0] & type->regs.ctl_mask;
	return ctl;
}

/*
 * Write the control of a counter, to start or to stop it for the same slot.
 *
 * Where one register holds control and count, the write sets the count to 0.  So the
 * counter is read first.  Counts between this read and the write are lost.
 */
static void unc_box_set_ctl(struct unc_box *box, unsigned int ctr, u64 ctl)
{
	struct unc_counter *c = &box->ctr[ctr];
	struct unc_slot *slot = c->slot < 0 ? NULL : &box->slot[c->slot];

	if (box->type->layout->count && slot) {
		unc_refresh_slot(box, slot);
		if (!c->dirty && !box->dead)
			slot->raw = 0;
	}
	unc_access_write_ctl(box, ctr, ctl);
}

/**
 * unc_box_run() - start or stop a counter that is programmed
 * @box: the box
 * @slot: the counter's slot
 * @run: true: start; false: stop
 *
 * Does nothing to a dirty counter: unc_box_end() programs and starts that counter.
 */
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run)
{
	if (!box->ctr[slot->ctr].dirty)
		unc_box_set_ctl(box, slot->ctr, run ? unc_box_slot_ctl(box, slot) : 0);
}

/*
 * Program a dirty counter: stop it if it has no slot, else set its count and write its
 * control.
 */
static void unc_box_program(struct unc_box *box, unsigned int ctr)
{
	struct unc_counter *c = &box->ctr[ctr];
	struct unc_slot *slot;

	c->dirty = false;
	if (c->slot < 0) {
		if (c->ctl)
			unc_access_write_ctl(box, ctr, 0);
		return;
	}
	slot = &box->slot[c->slot];
	if (box->type->layout->count) {
		/* control and count share a register: a write of the control sets count 0 */
		c->raw = 0;
		c->known = true;
	} else if (!box->hw.frozen && c->ctl) {
		/* the counter may still count its former event */
		unc_access_write_ctl(box, ctr, 0);
	}
	slot->stamp = c->known ? ktime_get_boot_fast_ns() : 0;
	slot->raw = c->raw;
	if (slot->arm)
		slot->arm(box, slot);
	else if (!c->known)
		unc_access_read_counter(box, slot, &slot->raw);
	if (unc_access_is_programmed(ctr))
		unc_access_write_ctl(box, ctr, unc_box_slot_ctl(box, slot));
	c->known = false;
}

/* Freeze a box without events, and reset its control registers. */
static void unc_box_park(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	bool reset = false;
	unsigned int ctr;

	box->hw.idle = true;
	/*
	 * Not earlier than here, at the end of a change: within one change perf may
	 * remove all events and add them again, and the package is not idle then.
	 */
	if (!atomic_read(&box->pkg->active))
		box->pkg->idle = true;
	for_each_programmed(type, ctr) {
		struct unc_counter *c = &box->ctr[ctr];

		c->dirty = false;
		if (!c->ctl)
			continue;
		if (!unc_box_resets(box) || ctr == UNC_FIXED)
			unc_access_write_ctl(box, ctr, 0);
		else
			reset = true;
	}
	if (!type->regs.box_ctl) {
		/* the box cannot be frozen alone: do not keep the whole package frozen */
		unc_freeze_put(box);
		return;
	}
	/* no event loses counts by the freeze from here on, so it is not charged */
	box->hw.since = 0;
	if (box->hw.frozen && !reset)
		return;
	if (unc_box_resets(box)) {
		unc_box_write_reset(box);
		for (ctr = 0; ctr < type->general; ctr++)
			box->ctr[ctr].ctl = 0;
	} else {
		unc_access_write_box_ctl(box, type->layout->frz);
	}
	box->hw.frozen = true;
}

/*
 * Prepare a parked box for its first events.  Other programs may have written any of its
 * registers, so the box is reset, and no register is assumed to hold the driver's value.
 */
static void unc_box_wake(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	struct unc_package *pkg = box->pkg;
	unsigned int ctr;

	box->hw.idle = false;
	box->hw.filters_known = 0;
	box->hw.box_ctl_known = false;
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	for_each_programmed(type, ctr) {
		struct unc_counter *c = &box->ctr[ctr];
		bool reset = unc_box_resets(box) && ctr != UNC_FIXED;

		/* leftover .ov_en would freeze the package */
		if (!reset && type->overflow.signals)
			unc_access_write_ctl(box, ctr, 0);
		c->known = reset;
		c->raw = 0;
		c->ctl = 0;
	}
	if (!pkg->idle)
		return;
	/* another program may have frozen the package while no box counted */
	pkg->idle = false;
	if (unc.gen->global.ctl && !(type->quirks & UNC_QUIRK_FREEZE_ALL))
		unc_global_unfreeze(&pkg->overflow);
}

/* --- changes --------------------------------------------------------------- */

/**
 * unc_box_begin() - begin to change or read several counters of a box
 * @box: the box
 * @force: freeze the box even if the package has no freeze budget (freeze.c)
 *
 * Freezes the box, if the hardware and the freeze budget allow that.  Counters of a box
 * that is not frozen are changed or read one after the other.  Calls nest: the outermost
 * unc_box_end() ends the change.
 */
void unc_box_begin(struct unc_box *box, bool force)
{
	if (box->hw.changes++ || box->hw.frozen || box->dead)
		return;
	if (!unc_freeze_get(box, force) &&
	    (box->type->regs.box_ctl || (box->type->quirks & UNC_QUIRK_FREEZE_ALL)))
		atomic64_inc(&box->pkg->stats.group_unfrozen);
}

/**
 * unc_box_end() - program the changed counters, and unfreeze the box
 * @box: the box
 */
void unc_box_end(struct unc_box *box)
{
	unsigned int ctr;

	if (--box->hw.changes)
		return;
	/* free-running counters are not programmed, only read */
	for (ctr = UNC_FREERUN0; ctr < unc_box_counters(box); ctr++) {
		if (box->ctr[ctr].dirty)
			unc_box_program(box, ctr);
	}
	if (unc_box_is_unused(box)) {
		unc_box_park(box);
		return;
	}
	if (box->hw.idle)
		unc_box_wake(box);
	unc_box_set_filters(box);
	for_each_programmed(box->type, ctr) {
		if (box->ctr[ctr].dirty)
			unc_box_program(box, ctr);
		/* other programs may write a counter without a slot: forget its value */
		if (box->ctr[ctr].slot < 0)
			box->ctr[ctr].known = false;
	}
	unc_freeze_put(box);
}

/**
 * unc_box_assign() - assign a counter to a slot, or take the counter from the slot
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot, which is up to date if it loses its counter
 * @ctr: the counter; -1: the slot loses its counter
 *
 * Marks the counter dirty; unc_box_end() writes its registers.
 */
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr)
{
	struct unc_counter *c;
	s8 index = slot - box->slot;

	if (ctr < 0) {
		c = &box->ctr[slot->ctr];
		/*
		 * If the counter is stopped, its value is the one that was just read.  A
		 * dirty counter was not programmed for this slot yet, and keeps @raw.
		 */
		if (!c->dirty) {
			c->raw = slot->raw;
			c->known = (box->hw.frozen || !c->ctl) && !box->dead &&
				   unc_access_is_programmed(slot->ctr);
		}
		c->slot = -1;
		c->dirty = unc_access_is_programmed(slot->ctr);
		return;
	}
	slot->ctr = ctr;
	c = &box->ctr[ctr];
	c->slot = index;
	c->dirty = true;
}

/**
 * unc_box_leave() - bring a slot's total up to date before the slot loses an event
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot
 *
 * If the event is the slot's last one and the box is not frozen, the counter is stopped
 * before it is read: counts after the read would be lost.
 */
void unc_box_leave(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_counter *c = &box->ctr[slot->ctr];

	if (slot->users + slot->migrating == 1 && !box->hw.frozen &&
	    unc_access_is_programmed(slot->ctr) && c->ctl && !c->dirty)
		unc_box_set_ctl(box, slot->ctr, 0);
	unc_refresh_slot(box, slot);
}

/* Take the counter from a slot without events. */
static void unc_box_free_slot(struct unc_box *box, struct unc_slot *slot)
{
	unc_box_assign(box, slot, -1);
	if (slot->sampling.period && !--box->use.samplers)
		clear_bit(box->number, box->pkg->samplers);
	if (!--box->use.active)
		atomic_dec(&box->pkg->active);
}

/**
 * unc_box_release() - remove an event from a slot
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot, which is free without events
 */
void unc_box_release(struct unc_box *box, struct unc_slot *slot)
{
	slot->users--;
	if (!unc_slot_in_use(slot))
		unc_box_free_slot(box, slot);
}

/**
 * unc_box_migrate() - keep a slot's counter for an event that migrates to a new perf CPU
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot
 */
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot)
{
	slot->users--;
	slot->migrating++;
}

/**
 * unc_box_end_migration() - free the slots whose events perf has not added again
 * @box: the box
 *
 * unc_box_migrate() has kept a counter for each event that perf removed from the old perf
 * CPU.  perf does not add an event that was closed or disabled during the migration, or
 * that does not fit the counters any more.
 */
void unc_box_end_migration(struct unc_box *box)
{
	unsigned int i;

	box->use.migration = 0;
	unc_box_begin(box, false);
	for (i = 0; i < unc_box_slots(box); i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!slot->migrating)
			continue;
		if (!slot->users) {
			/* unc_box_leave() stops the counter for the last event only */
			slot->migrating = 1;
			unc_box_leave(box, slot);
		}
		slot->migrating = 0;
		if (!slot->users)
			unc_box_free_slot(box, slot);
	}
	unc_box_end(box);
}

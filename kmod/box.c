// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming a box.  All functions are called with the box's lock held
 * and interrupts off, on a CPU of its package.
 *
 * Changes are collected between unc_box_begin() and unc_box_end() and reach the
 * hardware together, while the box is frozen, so that the events of a group start
 * and stop in the same cycle.  A box that counts nothing stays frozen, with its
 * control registers reset.
 *
 * Other programs write these registers, too.  So what the driver last wrote is
 * trusted only while the box counts: a box that starts is reset and all of its
 * registers are written.
 */
#include "access.h"
#include "box.h"
#include "freeze.h"
#include "global.h"
#include "package.h"
#include "refresh.h"

static bool unc_box_is_unused(const struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; unc_access_is_programmed(ctr); ctr++) {
		if (box->ctr[ctr].slot >= 0)
			return false;
	}
	return true;
}

/* Check whether an overflow of the box's counters interrupts. */
bool unc_box_signals(const struct unc_box *box)
{
	return box->type->overflow.signals && box->pkg->overflow.has_pmi;
}

/* Check for leftover register state: is a counter enabled? */
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

/* Does its box control clear controls and counters, but the fixed ones? */
static bool unc_box_resets(const struct unc_box *box)
{
	return box->type->regs.box_ctl && !(box->type->quirks & UNC_QUIRK_NO_RESET);
}

static void unc_box_write_reset(struct unc_box *box)
{
	const struct unc_layout *layout = box->type->layout;

	unc_access_write_box_ctl(box, layout->frz | layout->rst);
}

/* Freeze a box and clear all its registers, whatever they hold. */
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

/*
 * Bring a box of a frozen package from an unknown to the driver's idle state.  One that
 * does not answer is dead.  In this order: freeze, clear, probe.  A counter that is
 * probed while it runs with .ov_en would freeze the package.
 *
 * Returns whether a counter was left enabled.
 */
bool unc_box_start(struct unc_box *box)
{
	bool dirty = false;

	box->dead = !box->type->space->present(box);
	if (!box->dead) {
		dirty = unc_box_is_dirty(box);
		unc_box_clear(box);
		box->dead = unc_access_probe(box);
	}
	if (box->dead)
		return dirty;
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	else
		unc_access_write_counter(box, 0, 0);
	return dirty;
}

/*
 * Give up a box: bring its counts up to date and its registers to their state after a
 * hardware reset.  Events may still exist, but the box is never accessed again.
 */
void unc_box_retire(struct unc_box *box)
{
	unc_refresh_box(box);
	if (!box->dead) {
		unc_box_clear(box);
		box->hw.since = 0;
		unc_freeze_put(box);
	}
	box->dead = true;
}

/*
 * Stop using filters whose PCI function is being removed.  A counter that uses a
 * filter would count something else from now on: then the box is given up, too.
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

/*
 * Check whether a box has the filters that a slot uses.  Returns false when the PCI
 * function of its filters is hidden or was removed.
 */
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot)
{
	return !box->type->filter.apart || box->io.filter_pdev ||
	       !(slot->fields[0] | slot->fields[1] | slot->fields[2]);
}

/* Program a box again whose registers were lost; slots are up to date as of before. */
void unc_box_reprogram(struct unc_box *box)
{
	unsigned int ctr;

	if (box->dead)
		return;
	unc_box_clear(box);
	for (ctr = 0; ctr < UNC_MAX_COUNTERS; ctr++) {
		struct unc_counter *c = &box->ctr[ctr];

		if (c->slot < 0)
			continue;
		c->dirty = true;
		c->known = unc_access_is_programmed(ctr);
	}
	/* a change in progress programs it when it ends */
	box->hw.changes++;
	unc_box_end(box);
}

/* Write the filter registers for the slots in use. */
static void unc_box_set_filters(struct unc_box *box)
{
	const struct unc_filter_reg *reg = box->type->filter.regs;
	u64 state[3] = { 0 }, used[3] = { 0 };
	unsigned int i, w;

	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
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
		/* fields that no slot uses may stay as they are */
		value |= box->filter[i] & ~mask;
		if (value == box->filter[i] &&
		    (!mask || (box->hw.filters_known & BIT(i))))
			continue;
		unc_access_write_filter(box, i, value);
		box->hw.filters_known |= BIT(i);
	}
}

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
 * Write the control of a counter that keeps its slot, or stops.  Where that
 * sets the count to 0, what it was is taken first: a counter that runs is about to
 * be stopped, so what comes after the read is none of the slot's.
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

/* Start or stop the counter of a slot that samples, which was programmed before. */
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run)
{
	if (!box->ctr[slot->ctr].dirty)
		unc_box_set_ctl(box, slot->ctr, run ? unc_box_slot_ctl(box, slot) : 0);
}

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
		/* one write has it stop, begin at 0 and count something else */
		c->raw = 0;
		c->known = true;
	} else if (!box->hw.frozen && c->ctl) {
		/* it may still count what it counted before */
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

/* A box goes idle: stop its counters and reset its control registers. */
static void unc_box_park(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	bool reset = false;
	unsigned int ctr;

	box->hw.idle = true;
	/* not when a slot is freed: perf takes events off and puts them back in one change */
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
		/* other boxes may count on */
		unc_freeze_put(box);
		return;
	}
	/* frozen from here on at no event's cost */
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

/* A box starts to count: other programs may have written any of its registers. */
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
	pkg->idle = false;
	if (unc.gen->global.ctl && !(type->quirks & UNC_QUIRK_FREEZE_ALL))
		unc_global_unfreeze(&pkg->overflow);
}

/* --- changes --------------------------------------------------------------- */

/*
 * Begin to change or read several counters of a box.  Freezes it, if it can be frozen
 * and the budget allows that, or with @force; else the counters are changed or read one
 * after the other.  Nests; unc_box_end() ends it.
 */
void unc_box_begin(struct unc_box *box, bool force)
{
	if (box->hw.changes++ || box->hw.frozen || box->dead)
		return;
	if (!unc_freeze_get(box, force) &&
	    (box->type->regs.box_ctl || (box->type->quirks & UNC_QUIRK_FREEZE_ALL)))
		atomic64_inc(&box->pkg->stats.group_unfrozen);
}

/* End a change: program what has changed, and unfreeze the box. */
void unc_box_end(struct unc_box *box)
{
	unsigned int ctr;

	if (--box->hw.changes)
		return;
	/* free-running counters are not programmed, only read */
	for (ctr = UNC_FREERUN0; ctr < UNC_MAX_COUNTERS; ctr++) {
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
		/* from here on other programs may write it */
		if (box->ctr[ctr].slot < 0)
			box->ctr[ctr].known = false;
	}
	unc_freeze_put(box);
}

/*
 * Assign a hardware counter to a slot, or with -1 take it from a slot that the caller
 * has refreshed.  Call between unc_box_begin() and unc_box_end().
 */
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr)
{
	struct unc_counter *c;
	s8 index = slot - box->slot;

	if (ctr < 0) {
		c = &box->ctr[slot->ctr];
		/* a counter that was never started still is where it was */
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

/*
 * Refresh a slot that is about to lose a user.  In a box that counts, a counter that
 * loses its last user is stopped first, so that nothing is counted after the read.
 * Call between unc_box_begin() and unc_box_end().
 */
void unc_box_leave(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_counter *c = &box->ctr[slot->ctr];

	if (slot->users + slot->migrating == 1 && !box->hw.frozen &&
	    unc_access_is_programmed(slot->ctr) && c->ctl && !c->dirty)
		unc_box_set_ctl(box, slot->ctr, 0);
	unc_refresh_slot(box, slot);
}

/* Take the counter of a slot without users. */
static void unc_box_free_slot(struct unc_box *box, struct unc_slot *slot)
{
	unc_box_assign(box, slot, -1);
	if (slot->sampling.period && !--box->use.samplers)
		clear_bit(box->number, box->pkg->samplers);
	if (!--box->use.active)
		atomic_dec(&box->pkg->active);
}

/* Drop a user of a slot.  Call between unc_box_begin() and unc_box_end(). */
void unc_box_release(struct unc_box *box, struct unc_slot *slot)
{
	slot->users--;
	if (!unc_slot_in_use(slot))
		unc_box_free_slot(box, slot);
}

/*
 * Keep a slot running for a user that migrates to another CPU.  Call between
 * unc_box_begin() and unc_box_end().
 */
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot)
{
	slot->users--;
	slot->migrating++;
}

/*
 * Free the slots whose events did not migrate.  An event may have been closed or
 * disabled during the migration, or may not fit.
 */
void unc_box_end_migration(struct unc_box *box)
{
	unsigned int i;

	box->use.migration = 0;
	unc_box_begin(box, false);
	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!slot->migrating)
			continue;
		if (!slot->users) {
			slot->migrating = 1;
			unc_box_leave(box, slot);
		}
		slot->migrating = 0;
		if (!slot->users)
			unc_box_free_slot(box, slot);
	}
	unc_box_end(box);
}

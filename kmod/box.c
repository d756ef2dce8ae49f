// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box at work: freezing, programming, reading.  All functions are called
 * with the box's lock held and interrupts off, on a CPU of its package.
 *
 * Changes collect while somebody holds the box frozen and reach the hardware
 * together when the last one lets go, so that the events of a group start and
 * stop in the same cycle.  CPUs may follow upon one another in that without end:
 * what is to start does not wait for them in a box that goes on counting, and for
 * some milliseconds in one that stands still.  A box that counts nothing stays
 * frozen, with its control registers reset: starting it costs one write an event
 * and one to thaw.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include "xeon_uncore.h"

/* For how long (ns) a box may be frozen at once, at the cost of others' events. */
#define UNC_FREEZE_BURST	(5 * (s64)NSEC_PER_MSEC)

static unsigned int freeze_budget = 10;
module_param(freeze_budget, uint, 0644);
MODULE_PARM_DESC(freeze_budget,
		 "per mille of the time for which groups may keep a box frozen to be read or changed in one instant while other events count there; beyond it they are read running (default 10; 1000: no limit)");

/* A counter that the driver can start and stop. */
static bool unc_is_programmed(unsigned int ctr)
{
	return ctr < UNC_FREERUN0;
}

static bool unc_box_idle(const struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; unc_is_programmed(ctr); ctr++) {
		if (box->ctr[ctr].slot >= 0)
			return false;
	}
	return true;
}

static unsigned int unc_next_programmed(const struct unc_type *type,
					unsigned int ctr)
{
	ctr++;
	if (ctr >= type->general && ctr <= UNC_FIXED)
		return type->fixed_ctl ? UNC_FIXED : UNC_FREERUN0;
	return ctr;
}

/* General counters, then the fixed one where there is one. */
#define for_each_programmed(type, ctr)			\
	for ((ctr) = 0; unc_is_programmed(ctr);		\
	     (ctr) = unc_next_programmed(type, ctr))

/**
 * unc_box_signals() - does an overflow of the box's counters interrupt?
 * @box: the box
 */
bool unc_box_signals(const struct unc_box *box)
{
	return box->type->signals && box->pkg->overflow.pmi_cores;
}

/* Are a counter's control and its count one register? */
static bool unc_is_joint(const struct unc_box *box)
{
	return box->type->layout->count;
}

/* Did somebody leave a counter running? */
static bool unc_box_is_dirty(struct unc_box *box)
{
	const struct unc_layout *layout = box->type->layout;
	u64 running = layout->en ? layout->en | layout->ov_en : U64_MAX;
	unsigned int ctr;

	for_each_programmed(box->type, ctr) {
		if (unc_read_ctl(box, ctr) & running)
			return true;
	}
	return false;
}

/* --- standing still ------------------------------------------------------ */

/* Its own control register, or the package's, which others share. */
static bool unc_can_freeze(const struct unc_box *box)
{
	return box->type->box_ctl ||
	       (box->type->quirks & UNC_QUIRK_FREEZE_ALL);
}

/* Has it stood still for so little lately that it may once more? */
static bool unc_may_freeze(struct unc_freeze_account *account, u64 now)
{
	unsigned int budget = READ_ONCE(freeze_budget);

	if (budget >= 1000)
		return true;
	account->credit += div_u64((now - account->at) * budget, 1000);
	account->credit = min(account->credit, UNC_FREEZE_BURST);
	account->at = now;
	return account->credit > 0;
}

/* The box counts again: on whose account did it not? */
static void unc_charge(struct unc_freeze_account *account,
		       struct unc_package *pkg)
{
	u64 ns;

	if (!account->since)
		return;
	ns = ktime_get_mono_fast_ns() - account->since;
	account->since = 0;
	account->credit = max(account->credit - (s64)ns, -UNC_FREEZE_BURST);
	atomic64_add(ns, &pkg->frozen_ns);
}

/*
 * All boxes of the package stand still for as long as any of them wants it.
 * Returns false when they have done so for too long.
 */
static bool unc_share_freeze(struct unc_package *pkg, bool surely)
{
	struct unc_common_freeze *freeze = &pkg->freeze;
	u64 now = ktime_get_mono_fast_ns();
	bool may;

	unc_raw_lock(&freeze->lock);
	may = freeze->holders || surely ||
	      unc_may_freeze(&freeze->account, now);
	if (may && !freeze->holders++) {
		unc_package_freeze();
		/* where nothing counts, nobody loses by it */
		freeze->account.since = atomic_read(&pkg->active) ? now : 0;
	}
	unc_raw_unlock(&freeze->lock);
	return may;
}

static void unc_share_thaw(struct unc_package *pkg)
{
	struct unc_common_freeze *freeze = &pkg->freeze;

	unc_raw_lock(&freeze->lock);
	if (!--freeze->holders) {
		unc_package_thaw(0);
		unc_charge(&freeze->account, pkg);
	}
	unc_raw_unlock(&freeze->lock);
}

/**
 * unc_freeze_init() - prepare what boxes share to stand still
 * @pkg: their package
 */
void unc_freeze_init(struct unc_package *pkg)
{
	raw_spin_lock_init(&pkg->freeze.lock);
	pkg->freeze.account.credit = UNC_FREEZE_BURST;
	pkg->freeze.account.at = ktime_get_mono_fast_ns();
}

/* Returns false when it has stood still for too long, and goes on. */
static bool unc_freeze(struct unc_box *box, bool surely)
{
	u64 now = ktime_get_mono_fast_ns();

	if (box->dead)
		return true;
	if (!box->type->box_ctl) {
		box->frozen = unc_share_freeze(box->pkg, surely);
		return box->frozen;
	}
	if (!surely && !unc_may_freeze(&box->account, now))
		return false;
	unc_write_box_ctl(box, box->type->layout->frz);
	box->frozen = true;
	box->account.since = now;
	return true;
}

/* Count again. */
static void unc_thaw(struct unc_box *box)
{
	if (!box->frozen)
		return;
	box->frozen = false;
	if (!box->type->box_ctl) {
		unc_share_thaw(box->pkg);
		return;
	}
	unc_write_box_ctl(box, 0);
	unc_charge(&box->account, box->pkg);
}

/* --- from and to an idle box ---------------------------------------------- */

static void unc_box_clear_filters(struct unc_box *box)
{
	unsigned int i;

	for (i = 0; i < unc_num_filters(box->type); i++)
		unc_write_filter(box, i, 0);
}

/* Does its box control clear controls and counters, but the fixed ones? */
static bool unc_box_resets(const struct unc_box *box)
{
	return box->type->box_ctl && !(box->type->quirks & UNC_QUIRK_NO_RESET);
}

static void unc_box_write_reset(struct unc_box *box)
{
	const struct unc_layout *layout = box->type->layout;

	unc_write_box_ctl(box, layout->frz | layout->rst);
}

/* Freeze a box and clear all its registers, whatever they hold. */
static void unc_box_clear(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	unsigned int ctr;

	box->box_ctl_known = false;
	if (type->box_ctl) {
		unc_write_box_ctl(box, type->layout->frz);
		box->frozen = true;
	}
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	for_each_programmed(type, ctr) {
		/* what rst_ctrl and rst_ctrs do to fixed ones is not said */
		if (!unc_box_resets(box) || ctr == UNC_FIXED) {
			unc_write_ctl(box, ctr, 0);
			unc_write_counter(box, ctr, 0);
		}
		box->ctr[ctr].ctl = 0;
		box->ctr[ctr].raw = 0;
		box->ctr[ctr].known = true;
	}
	unc_clear_status(box);
	unc_box_clear_filters(box);
}

/**
 * unc_box_start() - bring a box from an unknown to the driver's idle state
 * @box: the box; its package is frozen
 * @found: set when somebody has left it running
 *
 * In this order: freeze, clear, probe.  A counter that is probed while it runs
 * with .ov_en would freeze the package.
 *
 * Return: 0 or a negative errno when the box does not answer.
 */
int unc_box_start(struct unc_box *box, bool *found)
{
	int err;

	box->account.credit = UNC_FREEZE_BURST;
	box->account.at = ktime_get_mono_fast_ns();
	box->started = true;
	if (!unc_box_present(box))
		return -ENODEV;
	if (unc_box_is_dirty(box))
		*found = true;
	unc_box_clear(box);
	err = unc_probe_box(box);
	if (err)
		return err;
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	else
		unc_write_counter(box, 0, 0);
	return 0;
}

/**
 * unc_box_restore() - bring a box back to its state after a hardware reset
 * @box: the box
 */
void unc_box_restore(struct unc_box *box)
{
	if (!unc_box_reachable(box))
		return;
	unc_box_clear(box);
	box->account.since = 0;
	unc_thaw(box);
}

/**
 * unc_box_lose_filters() - give up the filters, which are being taken away
 * @box: the box, locked, of a type whose filters are apart
 *
 * What counts with a filter would count something else from now on: then the box
 * is given up with them.
 */
void unc_box_lose_filters(struct unc_box *box)
{
	bool used = false;
	unsigned int i;

	for (i = 0; box->active && i < unc_num_filters(box->type); i++)
		used |= box->filter[i];
	if (used) {
		unc_box_refresh_all(box);
		unc_box_restore(box);
		box->dead = true;
	} else if (!box->dead) {
		unc_box_clear_filters(box);
	}
}

/**
 * unc_box_reprogram() - go on after the hardware has lost its registers
 * @box: the box; slots are up to date as of before the loss
 */
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
		c->known = unc_is_programmed(ctr);
	}
	/* whoever holds it thaws it */
	if (!box->freezes++)
		unc_box_thaw(box);
	else
		box->freezes--;
}

/**
 * unc_box_refresh() - bring a slot's total up to date
 * @box: the box
 * @slot: the slot
 *
 * A counter that does not answer adds nothing.
 */
void unc_box_refresh(struct unc_box *box, struct unc_slot *slot)
{
	unsigned int shift = 64 - unc_counter_bits(box, slot->ctr);
	u64 raw, grown;

	/* given a counter, but not started yet */
	if (box->ctr[slot->ctr].dirty)
		return;
	if (!unc_read_counter(box, slot, &raw))
		return;
	grown = ((raw << shift) - (slot->raw << shift)) >> shift;
	/* 64 bits never wrap: one that seems to go backwards has not moved */
	if (!shift && (s64)grown < 0)
		return;
	slot->total += grown;
	slot->raw = raw;
}

/**
 * unc_box_refresh_all() - bring every slot's total up to date
 * @box: the box
 */
void unc_box_refresh_all(struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; ctr < UNC_MAX_COUNTERS; ctr++) {
		if (box->ctr[ctr].slot >= 0)
			unc_box_refresh(box, &box->slot[box->ctr[ctr].slot]);
	}
}

/* What the filter registers must hold for the slots in use. */
static void unc_box_set_filters(struct unc_box *box)
{
	const struct unc_filter_reg *reg = box->type->filters;
	u64 state[3] = { 0 }, used[3] = { 0 };
	unsigned int i, w;

	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		const struct unc_slot *slot = &box->slot[i];

		if (!slot->users && !slot->held)
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
		/* fields that nobody uses may stay as they are */
		value |= box->filter[i] & ~mask;
		if (value != box->filter[i])
			unc_write_filter(box, i, value);
	}
}

static u64 unc_slot_ctl(const struct unc_box *box, const struct unc_slot *slot)
{
	const struct unc_type *type = box->type;
	bool signals = unc_box_signals(box);
	u64 ctl = type->layout->en;

	if (slot->event && signals)
		ctl |= type->layout->ov_en;
	if (slot->ctr != UNC_FIXED)
		ctl |= slot->config[0] & type->ctl_mask;
	return ctl;
}

/*
 * Write the control of a counter that goes on with its slot, or stops.  Where that
 * sets the count to 0, what it was is taken first: a counter that runs is about to
 * be stopped, so what comes after the read is none of the slot's.
 */
static void unc_set_ctl(struct unc_box *box, unsigned int ctr, u64 ctl)
{
	struct unc_counter *c = &box->ctr[ctr];
	struct unc_slot *slot = c->slot < 0 ? NULL : &box->slot[c->slot];

	if (unc_is_joint(box) && slot) {
		unc_box_refresh(box, slot);
		if (!c->dirty && !box->dead)
			slot->raw = 0;
	}
	unc_write_ctl(box, ctr, ctl);
}

/**
 * unc_box_run() - start or stop the counter of a slot that samples
 * @box: the box
 * @slot: the slot, whose counter has been programmed before
 * @run: start it
 */
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run)
{
	if (!box->ctr[slot->ctr].dirty)
		unc_set_ctl(box, slot->ctr, run ? unc_slot_ctl(box, slot) : 0);
}

static void unc_box_program(struct unc_box *box, unsigned int ctr)
{
	struct unc_counter *c = &box->ctr[ctr];
	struct unc_slot *slot;

	c->dirty = false;
	if (c->slot < 0) {
		if (c->ctl)
			unc_write_ctl(box, ctr, 0);
		return;
	}
	slot = &box->slot[c->slot];
	if (unc_is_joint(box)) {
		/* one write has it stop, begin at 0 and count something else */
		c->raw = 0;
		c->known = true;
	} else if (!box->frozen && c->ctl) {
		/* it may still count what it counted before */
		unc_write_ctl(box, ctr, 0);
	}
	slot->stamp = c->known ? ktime_get_mono_fast_ns() : 0;
	slot->raw = c->raw;
	if (slot->event && unc_box_signals(box))
		slot->arm(box, slot);
	else if (!c->known)
		unc_read_counter(box, slot, &slot->raw);
	if (slot->event && unc_is_stopped(slot->event))
		unc_write_ctl(box, ctr, 0);
	else if (unc_is_programmed(ctr))
		unc_write_ctl(box, ctr, unc_slot_ctl(box, slot));
	c->known = false;
}

/* Put the control registers and counters of a box that has gone idle to rest. */
static void unc_box_rest(struct unc_box *box)
{
	const struct unc_type *type = box->type;
	bool reset = false;
	unsigned int ctr;

	for_each_programmed(type, ctr) {
		struct unc_counter *c = &box->ctr[ctr];

		c->dirty = false;
		if (!c->ctl)
			continue;
		if (!unc_box_resets(box) || ctr == UNC_FIXED)
			unc_write_ctl(box, ctr, 0);
		else
			reset = true;
	}
	if (!type->box_ctl) {
		/* others may count on */
		unc_thaw(box);
		return;
	}
	/* it may stand still for as long as it likes */
	box->account.since = 0;
	if (box->frozen && !reset)
		return;
	if (!unc_box_resets(box)) {
		unc_write_box_ctl(box, type->layout->frz);
		box->frozen = true;
		return;
	}
	unc_box_write_reset(box);
	for (ctr = 0; ctr < type->general; ctr++)
		box->ctr[ctr] = (struct unc_counter){
			.slot = -1,
			.known = true,
		};
	/* the fixed counter may or may not have been reset with them */
	box->ctr[UNC_FIXED].known = false;
	box->frozen = true;
}

/* --- holding -------------------------------------------------------------- */

/* One more wants the box held.  Returns whether it is the first. */
static bool unc_begin_hold(struct unc_box *box)
{
	if (!box->freezes++)
		return true;
	if (!box->contended)
		box->contended = ktime_get_mono_fast_ns();
	return false;
}

/* One does no more.  Returns whether what has changed is to take effect now. */
static bool unc_leave_hold(struct unc_box *box)
{
	if (!--box->freezes) {
		box->contended = 0;
		return true;
	}
	return !box->frozen || ktime_get_mono_fast_ns() - box->contended >=
			       UNC_FREEZE_BURST;
}

/**
 * unc_box_freeze() - hold a box still, if it has not stood still too much
 * @box: the box
 *
 * Every call needs one of unc_box_thaw().  Where the box goes on counting, for
 * lack of a control register or of budget, this only puts off programming.
 */
void unc_box_freeze(struct unc_box *box)
{
	if (!unc_begin_hold(box) || box->frozen || !unc_can_freeze(box))
		return;
	if (!unc_freeze(box, false))
		atomic64_inc(&box->pkg->unfrozen);
}

/**
 * unc_box_freeze_surely() - hold a box still, as must be
 * @box: the box
 *
 * For what cannot be done while it counts; a box without a control register
 * counts all the same.
 */
void unc_box_freeze_surely(struct unc_box *box)
{
	unc_begin_hold(box);
	if (!box->frozen && unc_can_freeze(box))
		unc_freeze(box, true);
}

/**
 * unc_box_thaw() - let go of a box; the last one to do so makes all changes
 * since the freeze take effect
 * @box: the box
 *
 * Others may hold it for long, one after the other.  A box that counts meanwhile
 * needs no waiting for them; one that stands still has then stood still for long
 * enough.  They go on with one that counts.
 */
void unc_box_thaw(struct unc_box *box)
{
	unsigned int ctr;

	if (!unc_leave_hold(box))
		return;
	/* free-running counters have nothing to be programmed, only read */
	for (ctr = UNC_FREERUN0; ctr < UNC_MAX_COUNTERS; ctr++) {
		if (box->ctr[ctr].dirty)
			unc_box_program(box, ctr);
	}
	if (unc_box_idle(box)) {
		unc_box_rest(box);
		return;
	}
	unc_box_set_filters(box);
	for_each_programmed(box->type, ctr) {
		if (box->ctr[ctr].dirty)
			unc_box_program(box, ctr);
	}
	unc_thaw(box);
}

/**
 * unc_box_assign() - give a slot a hardware counter
 * @box: the box, held by unc_box_freeze()
 * @slot: the slot
 * @ctr: the counter, or -1 to take the slot's away, which the caller has
 *	refreshed
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
			c->known = (box->frozen || !c->ctl) && !box->dead &&
				   unc_is_programmed(slot->ctr);
		}
		c->slot = -1;
		c->dirty = unc_is_programmed(slot->ctr);
		return;
	}
	slot->ctr = ctr;
	c = &box->ctr[ctr];
	c->slot = index;
	c->dirty = true;
}

/**
 * unc_box_leave() - refresh a slot that is about to lose a user
 * @box: the box, held by unc_box_freeze()
 * @slot: the slot
 *
 * When the last one goes from a box that is not frozen, the counter is stopped
 * first, so that nothing is counted after the read.  While events move between
 * CPUs it must run on: another may join it.
 */
void unc_box_leave(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_counter *c = &box->ctr[slot->ctr];
	bool stays = slot->users > 1 || (box->hold && !slot->event);

	if (!stays && !box->frozen && unc_is_programmed(slot->ctr) && c->ctl)
		unc_set_ctl(box, slot->ctr, 0);
	unc_box_refresh(box, slot);
}

/**
 * unc_box_release() - drop a user of a slot
 * @box: the box, held by unc_box_freeze()
 * @slot: the slot
 */
void unc_box_release(struct unc_box *box, struct unc_slot *slot)
{
	if (--slot->users)
		return;
	if (box->hold && !slot->event) {
		slot->held = true;
		return;
	}
	unc_box_assign(box, slot, -1);
	if (!--box->active)
		atomic_dec(&box->pkg->active);
}

/**
 * unc_box_end_hold() - free the slots that nobody came back for
 * @box: the box
 */
void unc_box_end_hold(struct unc_box *box)
{
	unsigned int i;

	box->hold = 0;
	unc_box_freeze(box);
	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!slot->held)
			continue;
		slot->held = false;
		if (slot->users)
			continue;
		unc_box_leave(box, slot);
		unc_box_assign(box, slot, -1);
		if (!--box->active)
			atomic_dec(&box->pkg->active);
	}
	unc_box_thaw(box);
}

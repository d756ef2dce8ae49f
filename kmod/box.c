// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programming and reading a box.  All functions are called with the box's lock held
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
#include <linux/kernel.h>
#include <linux/ktime.h>

#include "xeon_uncore.h"

/* Counts that may come at once whatever the time passed: injected traffic, skew. */
#define UNC_SLACK	(1ULL << 16)
/* Reads until a clock that runs has moved. */
#define UNC_CLOCK_TRIES	10

/* A counter that the driver can start and stop. */
static bool unc_is_programmed(unsigned int ctr)
{
	return ctr < UNC_FREERUN0;
}

static bool unc_box_is_unused(const struct unc_box *box)
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
 * unc_box_signals() - check whether an overflow of the box's counters interrupts
 * @box: the box
 */
bool unc_box_signals(const struct unc_box *box)
{
	return box->type->signals && box->pkg->overflow.cores.reach;
}

/* Are a counter's control and its count one register? */
static bool unc_is_joint(const struct unc_box *box)
{
	return box->type->layout->count;
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
	return box->type->box_ctl && !(box->type->quirks & UNC_QUIRK_NO_RESET);
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
	if (type->box_ctl) {
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
 * unc_box_start() - bring a box from an unknown to the driver's idle state
 * @box: the box; its package is frozen
 * @found: set when a counter was left enabled
 *
 * In this order: freeze, clear, probe.  A counter that is probed while it runs
 * with .ov_en would freeze the package.
 *
 * Return: 0 or a negative errno when the box does not answer.
 */
int unc_box_start(struct unc_box *box, bool *found)
{
	int err;

	box->probed.started = true;
	if (!unc_access_present(box))
		return -ENODEV;
	if (unc_box_is_dirty(box))
		*found = true;
	unc_box_clear(box);
	err = unc_access_probe(box);
	if (err)
		return err;
	if (unc_box_resets(box))
		unc_box_write_reset(box);
	else
		unc_access_write_counter(box, 0, 0);
	return 0;
}

/**
 * unc_box_restore() - bring a box back to its state after a hardware reset
 * @box: the box
 */
void unc_box_restore(struct unc_box *box)
{
	if (!unc_access_reachable(box))
		return;
	unc_box_clear(box);
	box->hw.since = 0;
	unc_freeze_put(box);
}

/**
 * unc_box_lose_filters() - stop using filters whose PCI function is being removed
 * @box: the box, locked, of a type whose filters are in another function
 *
 * A counter that uses a filter would count something else from now on: then the box
 * is given up, too.
 */
void unc_box_lose_filters(struct unc_box *box)
{
	bool used = false;
	unsigned int i;

	for (i = 0; box->use.active && i < unc_access_num_filters(box->type); i++)
		used |= box->filter[i];
	if (used) {
		unc_refresh_box(box);
		unc_box_restore(box);
		box->dead = true;
	} else if (!box->dead) {
		unc_box_clear_filters(box);
	}
}

/**
 * unc_box_has_filters() - check whether a box has the filters that a slot uses
 * @box: the box
 * @slot: what is to be counted
 *
 * Return: false when the PCI function of its filters is hidden or was removed.
 */
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot)
{
	return !box->type->filters_apart || box->io.filter_pdev ||
	       !(slot->fields[0] | slot->fields[1] | slot->fields[2]);
}

/**
 * unc_box_reprogram() - program a box again whose registers were lost
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
	/* a change in progress programs it when it ends */
	box->hw.changes++;
	unc_box_end(box);
}

/* The most that a slot can count in some time: twice what the fastest clock allows. */
static u64 unc_refresh_most(const struct unc_slot *slot, u64 ns)
{
	u64 most = unc_mul_div(ns, 2ULL * U32_MAX, slot->low_ns);

	return most < U64_MAX - UNC_SLACK ? most + UNC_SLACK : U64_MAX;
}

/* Another program wrote the counter: count on from the value it has now. */
static void unc_refresh_resync(struct unc_box *box, struct unc_slot *slot)
{
	slot->stamp = 0;
	unc_access_read_counter(box, slot, &slot->raw);
	slot->sampling.armed = false;
	unc_report_foreign(box);
}

/**
 * unc_refresh_slot() - bring a slot's total up to date
 * @box: the box
 * @slot: the slot
 *
 * A counter that does not answer adds nothing, and neither does one that has changed
 * by more than it can count in the time passed: another program wrote it.
 */
void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot)
{
	unsigned int shift = 64 - unc_access_bits(box, slot->ctr);
	u64 before = slot->stamp;
	u64 raw, grown;

	/* assigned a counter, but not started yet */
	if (box->ctr[slot->ctr].dirty)
		return;
	if (!unc_access_read_counter(box, slot, &raw))
		return;
	grown = ((raw << shift) - (slot->raw << shift)) >> shift;
	/* 64 bits never wrap: one that seems to go backwards has not moved */
	if (!shift && (s64)grown < 0)
		return;
	if (before && grown > UNC_SLACK &&
	    grown > unc_refresh_most(slot, ktime_get_mono_fast_ns() - before)) {
		unc_refresh_resync(box, slot);
		return;
	}
	slot->total += grown;
	slot->raw = raw;
}

/**
 * unc_refresh_box() - bring every slot's total up to date
 * @box: the box
 */
void unc_refresh_box(struct unc_box *box)
{
	unsigned int ctr;

	for (ctr = 0; ctr < UNC_MAX_COUNTERS; ctr++) {
		if (box->ctr[ctr].slot >= 0)
			unc_refresh_slot(box, &box->slot[box->ctr[ctr].slot]);
	}
}

static void unc_refresh_verify_ctl(struct unc_box *box, unsigned int ctr)
{
	const struct unc_layout *layout = box->type->layout;
	u64 mask = box->type->ctl_mask | layout->en | layout->ov_en;
	struct unc_counter *c = &box->ctr[ctr];

	if (box->dead || c->slot < 0 || c->dirty ||
	    !((unc_access_read_ctl(box, ctr) ^ c->ctl) & mask))
		return;
	/* it may have counted another event */
	unc_access_write_ctl(box, ctr, c->ctl);
	unc_refresh_resync(box, &box->slot[c->slot]);
}

/* Does the fixed counter move within a few reads? */
static bool unc_refresh_clock_moves(struct unc_box *box)
{
	struct unc_slot clock = { .ctr = UNC_FIXED };
	unsigned int tries;
	u64 first, now;

	if (!unc_access_read_counter(box, &clock, &first))
		return false;
	for (tries = 0; tries < UNC_CLOCK_TRIES; tries++) {
		clock.stamp = 0;
		if (unc_access_read_counter(box, &clock, &now) && now != first)
			return true;
	}
	return false;
}

/*
 * The fixed counter stands still.  Its clock may have stopped, or another program may
 * have frozen the box or the package: then it moves once they are unfrozen.  An
 * overflow that has frozen the package shows in the status.
 */
static void unc_refresh_verify_clock(struct unc_box *box)
{
	if (unc.gen->global_status && unc_global_status())
		return;
	if (unc.gen->global_ctl)
		unc_global_unfreeze(&box->pkg->overflow);
	if (unc_refresh_clock_moves(box))
		unc_report_foreign(box);
}

/**
 * unc_refresh_verify_package() - check that no other program has frozen a package
 * @box: its box with a clock, see unc_package_clock_box()
 *
 * No register shows that.  So the clock, if no event counts it, is started for a moment.
 */
void unc_refresh_verify_package(struct unc_box *box)
{
	/* unc_refresh_verify() has checked it */
	if (box->ctr[UNC_FIXED].slot >= 0)
		return;
	unc_access_write_ctl(box, UNC_FIXED, box->type->layout->en);
	if (!unc_refresh_clock_moves(box))
		unc_refresh_verify_clock(box);
	unc_access_write_ctl(box, UNC_FIXED, 0);
}

/**
 * unc_refresh_verify() - bring all totals up to date, and check that the registers are
 * as the driver left them
 * @box: the box
 *
 * What another program has changed is written again.  A box that another program has
 * frozen does not tell, so it is unfrozen in any case.
 */
void unc_refresh_verify(struct unc_box *box)
{
	s8 fixed = box->ctr[UNC_FIXED].slot;
	struct unc_slot *clock = fixed < 0 ? NULL : &box->slot[fixed];
	u64 before = clock ? clock->total : 0;
	unsigned int ctr;

	unc_refresh_box(box);
	for_each_programmed(box->type, ctr)
		unc_refresh_verify_ctl(box, ctr);
	if (box->dead || box->hw.frozen)
		return;
	if (box->type->box_ctl) {
		/* a shared one is written only if it changes, or is not known */
		box->hw.box_ctl_known &= !box->io.function;
		unc_access_write_box_ctl(box, 0);
	}
	if (clock && clock->total == before && !box->ctr[UNC_FIXED].dirty)
		unc_refresh_verify_clock(box);
}

/* Write the filter registers for the slots in use. */
static void unc_box_set_filters(struct unc_box *box)
{
	const struct unc_filter_reg *reg = box->type->filters;
	u64 state[3] = { 0 }, used[3] = { 0 };
	unsigned int i, w;

	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		const struct unc_slot *slot = &box->slot[i];

		if (!slot->users && !slot->migrating)
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
		ctl |= slot->config[0] & type->ctl_mask;
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

	if (unc_is_joint(box) && slot) {
		unc_refresh_slot(box, slot);
		if (!c->dirty && !box->dead)
			slot->raw = 0;
	}
	unc_access_write_ctl(box, ctr, ctl);
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
	if (unc_is_joint(box)) {
		/* one write has it stop, begin at 0 and count something else */
		c->raw = 0;
		c->known = true;
	} else if (!box->hw.frozen && c->ctl) {
		/* it may still count what it counted before */
		unc_access_write_ctl(box, ctr, 0);
	}
	slot->stamp = c->known ? ktime_get_mono_fast_ns() : 0;
	slot->raw = c->raw;
	if (slot->arm)
		slot->arm(box, slot);
	else if (!c->known)
		unc_access_read_counter(box, slot, &slot->raw);
	if (unc_is_programmed(ctr))
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
	if (!type->box_ctl) {
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
		if (!reset && type->signals)
			unc_access_write_ctl(box, ctr, 0);
		c->known = reset;
		c->raw = 0;
		c->ctl = 0;
	}
	if (!pkg->idle)
		return;
	pkg->idle = false;
	if (unc.gen->global_ctl && !(type->quirks & UNC_QUIRK_FREEZE_ALL))
		unc_global_unfreeze(&pkg->overflow);
}

/* --- changes --------------------------------------------------------------- */

static void unc_box_begin_change(struct unc_box *box, bool force)
{
	if (box->hw.changes++ || box->hw.frozen || box->dead)
		return;
	if (!unc_freeze_get(box, force) &&
	    (box->type->box_ctl || (box->type->quirks & UNC_QUIRK_FREEZE_ALL)))
		atomic64_inc(&box->pkg->stats.group_unfrozen);
}

/**
 * unc_box_begin() - begin to change or read several counters of a box
 * @box: the box
 *
 * Freezes it, if it can be frozen and the budget allows that; else the counters are
 * changed or read one after the other.  Nests; unc_box_end() ends it.
 */
void unc_box_begin(struct unc_box *box)
{
	unc_box_begin_change(box, false);
}

/**
 * unc_box_begin_forced() - the same, also without budget
 * @box: the box; one without a control register counts on all the same
 */
void unc_box_begin_forced(struct unc_box *box)
{
	unc_box_begin_change(box, true);
}

/**
 * unc_box_end() - end a change: program what has changed, and unfreeze the box
 * @box: the box
 */
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

/**
 * unc_box_assign() - assign a hardware counter to a slot
 * @box: the box, between unc_box_begin() and unc_box_end()
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
			c->known = (box->hw.frozen || !c->ctl) && !box->dead &&
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
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot
 *
 * In a box that counts, a counter that loses its last user is stopped first, so that
 * nothing is counted after the read; but not while its events migrate.
 */
void unc_box_leave(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_counter *c = &box->ctr[slot->ctr];

	if (slot->users + slot->migrating == 1 && !box->hw.frozen && !box->use.migration &&
	    unc_is_programmed(slot->ctr) && c->ctl && !c->dirty)
		unc_box_set_ctl(box, slot->ctr, 0);
	unc_refresh_slot(box, slot);
}

/* Take the counter of a slot without users. */
static void unc_box_free_slot(struct unc_box *box, struct unc_slot *slot)
{
	unc_box_assign(box, slot, -1);
	if (slot->sampling.period && !--box->use.samplers)
		clear_bit(unc_package_box_number(box), box->pkg->samplers);
	if (--box->use.active)
		return;
	if (atomic_dec_and_test(&box->pkg->active))
		box->pkg->idle = true;
}

/**
 * unc_box_release() - drop a user of a slot
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot
 */
void unc_box_release(struct unc_box *box, struct unc_slot *slot)
{
	if (!--slot->users && !slot->migrating)
		unc_box_free_slot(box, slot);
}

/**
 * unc_box_migrate() - keep a slot running for a user that migrates to another CPU
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @slot: the slot
 */
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot)
{
	slot->users--;
	slot->migrating++;
}

/**
 * unc_box_end_migration() - free the slots whose events did not migrate
 * @box: the box
 *
 * An event may have been closed or disabled during the migration, or may not fit.
 */
void unc_box_end_migration(struct unc_box *box)
{
	unsigned int i;

	box->use.migration = 0;
	unc_box_begin(box);
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

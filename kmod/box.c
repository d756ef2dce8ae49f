// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box at work: freezing, programming, reading.  All functions are called
 * with the box's lock held and interrupts off, on a CPU of its package.
 *
 * Changes collect while somebody holds the box frozen and reach the hardware
 * together when the last one lets go, so that the events of a group start and
 * stop in the same cycle.  A box that counts nothing stays frozen, with its
 * control registers reset: starting it costs one write an event and one to thaw.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "xeon_uncore.h"

/* Locks of boxes that this CPU holds or waits for. */
static DEFINE_PER_CPU(unsigned int, unc_busy);

/**
 * unc_lock() - take a box's lock
 * @box: the box
 *
 * Context: any but NMI.
 * Return: the interrupt flags for unc_unlock().
 */
unsigned long unc_lock(struct unc_box *box)
	__acquires(&box->lock)
{
	unsigned long flags;

	local_irq_save(flags);
	__this_cpu_inc(unc_busy);
	raw_spin_lock(&box->lock);
	return flags;
}

/**
 * unc_unlock() - let go of a box's lock
 * @box: the box
 * @flags: what unc_lock() returned
 */
void unc_unlock(struct unc_box *box, unsigned long flags)
	__releases(&box->lock)
{
	raw_spin_unlock(&box->lock);
	__this_cpu_dec(unc_busy);
	local_irq_restore(flags);
}

/**
 * unc_interrupts_lock() - might taking a box's lock here deadlock?
 *
 * True in an NMI, which may have interrupted the holder of the lock or of
 * pci_lock, and in a BPF program on a probe inside of the driver.  An event that
 * is read there keeps the count that it last had: old, but not wrong.
 */
bool unc_interrupts_lock(void)
{
	return in_nmi() || this_cpu_read(unc_busy);
}

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
 * unc_box_reset() - bring a box to the driver's idle state, or back to reset
 * @box: the box
 * @restore: leave it as after a hardware reset, instead of frozen and probed
 *
 * Return: 0 or a negative errno when the box does not answer.
 */
int unc_box_reset(struct unc_box *box, bool restore)
{
	const struct unc_type *type = box->type;
	unsigned int ctr, i;
	int err;

	if (restore && box->dead)
		return 0;
	if (type->space == UNC_PCI && !box->pdev)
		return -ENODEV;
	if (!restore) {
		err = unc_probe_box(box);
		if (err)
			return err;
	}
	if (type->box_ctl)
		unc_write_box_ctl(box, UNC_BOX_FRZ | UNC_BOX_RST_CTRL |
				       UNC_BOX_RST_CTRS);
	for_each_programmed(type, ctr) {
		/* what rst_ctrl and rst_ctrs do to fixed ones is not said */
		if (!type->box_ctl || ctr == UNC_FIXED) {
			unc_write_ctl(box, ctr, 0);
			unc_write_counter(box, ctr, 0);
		}
		box->ctr[ctr].raw = 0;
		box->ctr[ctr].known = true;
	}
	unc_clear_status(box);
	for (i = 0; type->filters && type->filters[i].reg; i++)
		unc_write_filter(box, i, 0);
	box->frozen = type->box_ctl;
	if (restore && type->box_ctl) {
		unc_write_box_ctl(box, 0);
		box->frozen = false;
	}
	return 0;
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
	u64 raw;

	/* given a counter, but not started yet */
	if (box->ctr[slot->ctr].dirty)
		return;
	if (!unc_read_counter(box, slot, &raw))
		return;
	slot->total += ((raw << shift) - (slot->raw << shift)) >> shift;
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

static u32 unc_slot_ctl(const struct unc_type *type,
			const struct unc_slot *slot)
{
	u32 ctl = UNC_CTL_EN;

	if (slot->event && type->signals)
		ctl |= UNC_CTL_OV_EN;
	if (slot->ctr != UNC_FIXED)
		ctl |= slot->config[0] & type->ctl_mask;
	return ctl;
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
		unc_write_ctl(box, slot->ctr,
			      run ? unc_slot_ctl(box->type, slot) : 0);
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
	slot->stamp = c->known ? ktime_get_mono_fast_ns() : 0;
	slot->raw = c->raw;
	if (slot->event && box->type->signals)
		unc_sampling_arm(box, slot);
	else if (!c->known)
		unc_read_counter(box, slot, &slot->raw);
	if (slot->event && unc_is_stopped(slot->event))
		unc_write_ctl(box, ctr, 0);
	else if (unc_is_programmed(ctr))
		unc_write_ctl(box, ctr, unc_slot_ctl(box->type, slot));
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
		if (!type->box_ctl || ctr == UNC_FIXED)
			unc_write_ctl(box, ctr, 0);
		else
			reset = true;
	}
	if (!reset)
		return;
	unc_write_box_ctl(box, UNC_BOX_FRZ | UNC_BOX_RST_CTRL |
			       UNC_BOX_RST_CTRS);
	for (ctr = 0; ctr < type->general; ctr++)
		box->ctr[ctr] = (struct unc_counter){
			.slot = -1,
			.known = true,
		};
	/* the fixed counter may or may not have been reset with them */
	box->ctr[UNC_FIXED].known = false;
}

/**
 * unc_box_freeze() - hold a box still
 * @box: the box
 *
 * Every call needs one of unc_box_thaw().  A box without a control register
 * cannot be frozen: for it this only puts off programming.
 */
void unc_box_freeze(struct unc_box *box)
{
	if (box->freezes++ || box->frozen || !box->type->box_ctl)
		return;
	unc_write_box_ctl(box, UNC_BOX_FRZ);
	box->frozen = true;
}

/**
 * unc_box_thaw() - let go of a box; the last one to do so makes all changes
 * since the freeze take effect
 * @box: the box
 */
void unc_box_thaw(struct unc_box *box)
{
	unsigned int ctr;

	if (--box->freezes)
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
	if (box->frozen) {
		unc_write_box_ctl(box, 0);
		box->frozen = false;
	}
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
 * unc_box_last_read() - refresh a slot that is about to lose its last user
 * @box: the box
 * @slot: the slot
 *
 * Where the box cannot be frozen the counter is stopped first, so that nothing
 * is counted after the read.
 */
void unc_box_last_read(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_counter *c = &box->ctr[slot->ctr];

	if (!box->type->box_ctl && unc_is_programmed(slot->ctr) && c->ctl)
		unc_write_ctl(box, slot->ctr, 0);
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
	if (box->holding && !slot->event) {
		slot->held = true;
		return;
	}
	unc_box_assign(box, slot, -1);
	if (!--box->active)
		unc_timer_put(box->pkg);
}

/**
 * unc_box_end_hold() - free the slots that nobody came back for
 * @box: the box
 */
void unc_box_end_hold(struct unc_box *box)
{
	unsigned int i;

	box->holding = false;
	unc_box_freeze(box);
	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (!slot->held)
			continue;
		slot->held = false;
		if (slot->users)
			continue;
		unc_box_last_read(box, slot);
		unc_box_assign(box, slot, -1);
		if (!--box->active)
			unc_timer_put(box->pkg);
	}
	unc_box_thaw(box);
}

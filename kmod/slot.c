// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter assignment.  A slot (struct unc_slot) is the count of one event, or of several
 * equal events of the package's perf CPU that share the slot.  While a slot has events it
 * has a hardware counter that may count these events.  Slots move to other counters where
 * that makes room for a new slot.
 *
 * All counters of a box share the box's filter registers.  So two slots can count at the
 * same time only if each filter field that both use has the same value in both.
 *
 * A follower is an event of another CPU (event.c).  It reads the slot of an equal event of
 * the perf CPU, but does not keep the slot: a slot whose only readers are followers is free
 * and has no counter.
 *
 * Sections (§) are those of Intel's uncore manual 331051 (Haswell).
 */
#include <linux/bitfield.h>
#include <linux/bsearch.h>

#include "access.h"
#include "box.h"
#include "package.h"
#include "refresh.h"
#include "slot.h"
#include "timer.h"

static int unc_info_cmp(const void *key, const void *elt)
{
	const struct unc_event_info *info = elt;

	return *(const u16 *)key - info->code;
}

/* Find the table's row of the event that @config selects; NULL: not documented. */
static const struct unc_event_info *unc_info(const struct unc_type *type,
					     u64 config)
{
	u64 ctl = config & type->regs.ctl_mask;
	u16 code = ctl & type->layout->event;

	if (ctl & type->layout->ext)
		code |= 0x100;
	return bsearch(&code, type->events.info, type->events.num_info, sizeof(*type->events.info),
		       unc_info_cmp);
}

/*
 * Describe the slot of event=0xff, a code of this driver: umask=0 is the box's fixed
 * counter, and another umask is one of the free-running counters.  Neither has filters.
 */
static int unc_describe_special(const struct unc_type *type,
				struct unc_slot *slot)
{
	const u64 known = UNC_CONFIG_EVENT | UNC_CONFIG_UMASK;
	u8 umask = FIELD_GET(UNC_CONFIG_UMASK, slot->config[0]);
	unsigned int i;

	if (unc.lenient) {
		slot->config[0] &= known;
		slot->config[1] = 0;
		slot->config[2] = 0;
	}
	if ((slot->config[0] & ~known) ||
	    slot->config[1] || slot->config[2])
		return -EINVAL;
	if (!umask && type->regs.fixed_ctl) {
		slot->allowed = BIT(UNC_FIXED);
		return 0;
	}
	for (i = 0; i < type->num_freerun; i++) {
		if (umask == type->freerun[i].umask) {
			slot->allowed = BIT(UNC_FREERUN0 + i);
			return 0;
		}
	}
	return -EINVAL;
}

/* Add the filters of @use to an event with @config that obeys them. */
static void unc_use_filters(const struct unc_filter_use *use, const u64 config[3],
			    struct unc_slot *slot)
{
	bool given = false;
	unsigned int w;

	for (w = 0; w < 3; w++)
		given |= config[w] & use->fields[w];
	for (w = 0; w < 3; w++) {
		slot->fields[w] |= use->fields[w];
		if (!given)
			slot->config[w] |= use->neutral[w];
	}
}

/* Return the time (ns) in which @max_inc in each cycle of the fastest clock is 2^32. */
static u64 unc_wrap_ns(unsigned int max_inc)
{
	return div_u64((u64)U32_MAX * USEC_PER_SEC / max_inc, unc.gen->max_khz);
}

/**
 * unc_slot_describe() - describe the counter and filters that an event needs
 * @type: the event's box type
 * @config: config, config1 and config2 of the event
 * @slot: gets the description
 *
 * Gives filters their neutral value in @slot->config if the event has no value for them.
 * Refuses bits that the event does not use, and a control that counts nothing.  Refuses
 * edge and invert without a threshold: they modify the comparison with the threshold.
 *
 * With pmu_prefix=uncore (unc.lenient) the driver replaces intel_uncore.  Then it clears
 * unused bits in @slot->config, as intel_uncore does, and accepts edge and invert without
 * a threshold.
 *
 * Return: 0 or -EINVAL.
 */
int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot)
{
	const struct unc_layout *layout = type->layout;
	const struct unc_filter_use *use = type->filter.uses;
	const u64 ctl = config[0] & type->regs.ctl_mask;
	const struct unc_event_info *info;
	unsigned int max_inc, most, w;
	int err;

	*slot = (struct unc_slot){
		.config = { config[0], config[1], config[2] },
	};
	/* refuse a control of 0 in a layout without an enable bit: 0 stops the counter */
	if ((config[0] & type->regs.ctl_must) != type->regs.ctl_must ||
	    !(layout->en | ctl))
		return -EINVAL;
	if (!type->general && (ctl & layout->event) != UNC_EVENT_FIXED)
		return -EINVAL;
	if ((ctl & layout->event) == UNC_EVENT_FIXED) {
		err = unc_describe_special(type, slot);
		if (err)
			return err;
		max_inc = 1;
		most = slot->allowed & BIT(UNC_FIXED) ? 1 : type->max_inc;
	} else {
		u64 valid[3] = { type->regs.ctl_mask };

		if (!unc.lenient && (ctl & (layout->edge | layout->invert)) &&
		    !(ctl & layout->thresh))
			return -EINVAL;
		for (; use && use->mask; use++) {
			if ((config[0] & use->mask) == use->value)
				unc_use_filters(use, config, slot);
		}
		for (w = 0; w < 3; w++) {
			u64 wrong = config[w] & ~(valid[w] | slot->fields[w]);

			if (wrong && !unc.lenient)
				return -EINVAL;
			slot->config[w] &= ~wrong;
		}
		info = unc_info(type, config[0]);
		/* an undocumented event may use any general counter */
		slot->allowed = info ? info->ctrs : GENMASK(type->general - 1, 0);
		slot->of_ctr0 = info && info->of_ctr0;
		if (slot->of_ctr0)
			slot->allowed &= ~BIT(0);
		max_inc = info ? info->max_inc : type->max_inc;
		/*
		 * The documented maximum of an event that adds more than 1 in a cycle,
		 * such as an occupancy, may be too small.
		 */
		if (max_inc > 1)
			max_inc = max_t(unsigned int, max_inc, type->max_inc);
		most = max_t(unsigned int, max_inc, type->max_inc);
		/* with a threshold a counter counts at most 1 in a cycle */
		if (ctl & layout->thresh) {
			max_inc = 1;
			most = 1;
		}
	}
	slot->low_ns = unc_wrap_ns(max_inc);
	slot->most_ns = unc_wrap_ns(most);
	return 0;
}

/**
 * unc_slot_equals() - check whether two events can share a slot
 * @a: the description of an event
 * @b: the description of another event
 *
 * Sampling events share a slot only when they have the same period or frequency, as the
 * counter is set to overflow after that period.
 */
bool unc_slot_equals(const struct unc_slot *a, const struct unc_slot *b)
{
	if (a->sampling.freq != b->sampling.freq ||
	    !a->sampling.period != !b->sampling.period)
		return false;
	/* in frequency mode each slot adapts its period */
	if (!a->sampling.freq && a->sampling.period != b->sampling.period)
		return false;
	return !memcmp(a->config, b->config, sizeof(a->config));
}

/**
 * unc_slot_find() - find the slot that counts, or has counted, an event
 * @box: the box, which is locked
 * @like: the description of the event
 *
 * Return: the slot, which may be free, or NULL.
 */
struct unc_slot *unc_slot_find(struct unc_box *box, const struct unc_slot *like)
{
	unsigned int i;

	for (i = 0; i < unc_box_slots(box); i++) {
		struct unc_slot *slot = &box->slot[i];

		if (slot->serial && unc_slot_equals(slot, like))
			return slot;
	}
	return NULL;
}

/*
 * Give a free slot to an event.  With @again the slot is the one that the event, or an
 * equal event, had before: perf removes all events and adds them again whenever an event
 * is opened.  Such a slot keeps its serial, the number of a use of a slot.  By the serial
 * a follower recognises that the slot still counts the follower's event.  The slot keeps
 * its total as well: a follower adds the growth of the total since its last read.
 */
static void unc_slot_take(struct unc_box *box, struct unc_slot *slot,
			  const struct unc_slot *like, bool again)
{
	u64 total = slot->total, seq = slot->sampling.seq;
	u64 period = slot->sampling.period;
	u32 serial = slot->serial;

	*slot = *like;
	if (!again) {
		slot->serial = ++box->use.serial;
		return;
	}
	slot->serial = serial;
	slot->total = total;
	slot->sampling.seq = seq;
	/* in frequency mode, the period that the slot has adapted */
	slot->sampling.period = period;
}

static bool unc_filters_agree(const struct unc_slot *a,
			      const struct unc_slot *b)
{
	unsigned int w;

	for (w = 0; w < 3; w++) {
		if ((a->config[w] ^ b->config[w]) & a->fields[w] & b->fields[w])
			return false;
	}
	return true;
}

/*
 * Bipartite matching by augmenting paths: find a counter for slot @s.  If all counters
 * that the slot may use have owners, try to move one of the owners to another counter.
 *
 * @owner[c] is the slot on counter c, or -1.  @visited has a bit for each counter whose
 * owner the search has tried to move.  No owner is tried twice, so the depth is bounded
 * by the number of counters.
 */
static bool unc_match(const struct unc_slot *slots, s8 *owner, int s,
		      u32 *visited)
{
	int c;

	/* take counter 0 last: most events that are restricted to some counters need it */
	for (c = UNC_MAX_COUNTERS - 1; c >= 0; c--) {
		if ((slots[s].allowed & BIT(c)) && owner[c] < 0) {
			owner[c] = s;
			return true;
		}
	}
	for (c = UNC_MAX_COUNTERS - 1; c >= 0; c--) {
		if (!(slots[s].allowed & BIT(c)) || (*visited & BIT(c)))
			continue;
		*visited |= BIT(c);
		if (unc_match(slots, owner, owner[c], visited)) {
			owner[c] = s;
			return true;
		}
	}
	return false;
}

/**
 * unc_slot_fit_all() - check whether a box without other events can count several events
 * @slots: descriptions of the events
 * @n: number of events
 *
 * perf counts the events of a group at the same time or not at all.  open.c refuses a
 * group that would not fit even an idle box, as the group would never count.
 */
bool unc_slot_fit_all(const struct unc_slot *slots, unsigned int n)
{
	s8 owner[UNC_MAX_COUNTERS];
	unsigned int i, j;

	for (i = 0; i < UNC_MAX_COUNTERS; i++)
		owner[i] = -1;
	for (i = 0; i < n; i++) {
		u32 visited = 0;

		for (j = 0; j < i; j++) {
			if (!unc_filters_agree(&slots[i], &slots[j]))
				return false;
		}
		if (!unc_match(slots, owner, i, &visited))
			return false;
	}
	return true;
}

/*
 * Assign a counter to a slot that has none, and move other slots if necessary.  Returns
 * false, and assigns nothing, if the other slots leave no counter for the slot.
 */
static bool unc_place(struct unc_box *box, struct unc_slot *slot)
{
	const unsigned int counters = unc_box_counters(box);
	s8 owner[UNC_MAX_COUNTERS];
	u32 visited = 0;
	unsigned int c;

	for (c = 0; c < counters; c++)
		owner[c] = box->ctr[c].slot;
	if (!unc_match(box->slot, owner, slot - box->slot, &visited))
		return false;
	/*
	 * Take the counters from all slots that move, then assign the new counters.  A
	 * counter that has a new slot is dirty: unc_refresh_slot() would not read it for
	 * the old slot, and taking it from the old slot would take it from the new slot.
	 */
	for (c = 0; c < counters; c++) {
		s8 old = box->ctr[c].slot;

		if (old >= 0 && owner[c] != old) {
			unc_refresh_slot(box, &box->slot[old]);
			unc_box_assign(box, &box->slot[old], -1);
		}
	}
	for (c = 0; c < counters; c++) {
		if (owner[c] >= 0 && box->ctr[c].slot != owner[c])
			unc_box_assign(box, &box->slot[owner[c]], c);
	}
	return true;
}

/*
 * Check whether an event depends on an occupancy on counter 0, and counter 0 has none.
 * The event counter0_occupancy (§2.3.6) counts the occupancy that counter 0 has
 * selected.  If counter 0 has no event, counter0_occupancy counts the box's clock instead,
 * and the user would take clock cycles for an occupancy.
 * Occupancies are recognised by allowed == BIT(0): they are restricted to counter 0.
 */
static bool unc_lacks_ctr0(const struct unc_box *box, const struct unc_slot *like)
{
	s8 first = box->ctr[0].slot;

	return like->of_ctr0 &&
	       (first < 0 || box->slot[first].allowed != BIT(0));
}

/**
 * unc_slot_get() - find or make the slot of an event
 * @box: the box, between unc_box_begin() and unc_box_end()
 * @like: the description of the event
 *
 * Return: the slot, with one user more; or NULL when the box's other events leave no
 * counter or filter for the event.
 */
struct unc_slot *unc_slot_get(struct unc_box *box, const struct unc_slot *like)
{
	struct unc_slot *slot, *free, *again;
	struct unc_package *pkg = box->pkg;
	unsigned int i;

	if (unc_lacks_ctr0(box, like))
		return NULL;
	again = unc_slot_find(box, like);
	if (again && unc_slot_in_use(again)) {
		again->users++;
		return again;
	}
	for (free = again, i = 0; i < unc_box_slots(box); i++) {
		slot = &box->slot[i];
		/*
		 * Take the free slot whose use began first.  An event that perf has just
		 * removed may be added again, and then continues its former slot.
		 */
		if (!unc_slot_in_use(slot) && !again &&
		    (!free || slot->serial < free->serial))
			free = slot;
		if (!unc_slot_in_use(slot))
			continue;
		if (!unc_filters_agree(slot, like))
			return NULL;
	}
	if (!free)
		return NULL;
	unc_slot_take(box, free, like, again);
	if (!unc_place(box, free))
		return NULL;
	free->users = 1;
	if (free->sampling.period && !box->use.samplers++)
		set_bit(box->number, pkg->samplers);
	if (!box->use.active++)
		atomic_inc(&pkg->active);
	/*
	 * A read adds the growth modulo the counter's width, so the timer must read the
	 * counter before it can wrap twice.  A counter of at most 32 bits can wrap within
	 * a second, and is read more often than the wider counters.
	 */
	unc_timer_refresh_by(pkg, unc_access_bits(box, free->ctr) <= 32);
	return free;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hardware counter counts what.  Equal configurations share a slot; two
 * slots fit together when they ask the same of every filter field that both
 * obey; and a slot gets one of the counters that its event is allowed on,
 * moving others out of the way when it must.
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

/* event=0xff: the fixed counter, or a free-running one chosen by umask. */
static int unc_describe_special(const struct unc_type *type,
				struct unc_slot *slot)
{
	const struct unc_freerun *f = type->freerun;
	const u64 known = UNC_CONFIG_EVENT | UNC_CONFIG_UMASK;
	u8 umask = FIELD_GET(UNC_CONFIG_UMASK, slot->config[0]);

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
	for (; f && f->reg; f++) {
		if (umask == f->umask) {
			slot->allowed = BIT(UNC_FREERUN0 + (f - type->freerun));
			return 0;
		}
	}
	return -EINVAL;
}

/*
 * What a configuration asks of a box.  Returns 0, or -EINVAL for bits that this event
 * has no use for, or where bits are missing without which nothing counts, or a
 * threshold without which edge and invert mean nothing.  Where the driver stands in for
 * the kernel's own, which masks bits that it does not know, they are masked in
 * @slot->config, and the threshold may be missing.
 */
int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot)
{
	const struct unc_layout *layout = type->layout;
	const struct unc_filter_use *use = type->filter.uses;
	const u64 ctl = config[0] & type->regs.ctl_mask;
	const struct unc_event_info *info;
	unsigned int max_inc, w;
	int err;

	*slot = (struct unc_slot){
		.config = { config[0], config[1], config[2] },
	};
	/* without an enable bit, a control of 0 is a counter that is off */
	if ((config[0] & type->regs.ctl_must) != type->regs.ctl_must ||
	    !(layout->en | ctl))
		return -EINVAL;
	if ((ctl & layout->event) == UNC_EVENT_FIXED) {
		err = unc_describe_special(type, slot);
		if (err)
			return err;
		max_inc = 1;
	} else {
		u64 valid[3] = { type->regs.ctl_mask };

		if (!unc.lenient && (ctl & (layout->edge | layout->invert)) &&
		    !(ctl & layout->thresh))
			return -EINVAL;
		for (; use && use->mask; use++) {
			if ((config[0] & use->mask) != use->value)
				continue;
			for (w = 0; w < 3; w++)
				slot->fields[w] |= use->fields[w];
		}
		for (w = 0; w < 3; w++) {
			u64 wrong = config[w] & ~(valid[w] | slot->fields[w]);

			if (wrong && !unc.lenient)
				return -EINVAL;
			slot->config[w] &= ~wrong;
		}
		info = unc_info(type, config[0]);
		slot->allowed = info ? info->ctrs : GENMASK(type->general - 1, 0);
		slot->of_ctr0 = info && info->of_ctr0;
		if (slot->of_ctr0)
			slot->allowed &= ~BIT(0);
		max_inc = info ? info->max_inc : type->max_inc;
		/* an occupancy is not trusted to keep to what is documented */
		if (max_inc > 1)
			max_inc = max_t(unsigned int, max_inc, type->max_inc);
		if (!max_inc || (ctl & layout->thresh))
			max_inc = 1;
	}
	slot->low_ns = div_u64((u64)U32_MAX * USEC_PER_SEC / max_inc,
			       unc.gen->max_khz);
	return 0;
}

/*
 * Check whether two events can share a slot.  Events that sample share one only when
 * they have the same period or frequency: the counter is set to overflow for them.
 */
bool unc_slot_equals(const struct unc_slot *a, const struct unc_slot *b)
{
	if (a->sampling.freq != b->sampling.freq ||
	    !a->sampling.period != !b->sampling.period)
		return false;
	/* in frequency mode the period is the slot's own */
	if (!a->sampling.freq && a->sampling.period != b->sampling.period)
		return false;
	return !memcmp(a->config, b->config, sizeof(a->config));
}

/*
 * Find the slot of a box that counts, or has counted, a given event.  Returns the slot,
 * which may be free, or NULL.  The box is locked.
 */
struct unc_slot *unc_slot_find(struct unc_box *box, const struct unc_slot *like)
{
	unsigned int i;

	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (slot->serial && unc_slot_equals(slot, like))
			return slot;
	}
	return NULL;
}

/*
 * perf takes events off and adds them again whenever another one is opened.  One that
 * gets its slot again continues from the slot's total, so that followers, which read
 * it from time to time, miss nothing.
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
	/* in frequency mode, the one that was found to be right */
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
 * Bipartite matching by augmenting paths: find a counter for slot @s, moving
 * slots that already have one if need be.  @owner[c] is the slot on counter c,
 * or -1.  The depth is bounded by the number of counters.
 */
static bool unc_match(const struct unc_slot *slots, s8 *owner, int s,
		      u32 *visited)
{
	int c;

	/* counter 0 is the one that most restrictions ask for: leave it */
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

/*
 * Could these slots, as unc_slot_describe() fills them in, be counted at once by an
 * idle box?  There are at most UNC_MAX_COUNTERS.
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

static bool unc_place(struct unc_box *box, struct unc_slot *slot)
{
	s8 owner[UNC_MAX_COUNTERS];
	u32 visited = 0;
	unsigned int c;

	for (c = 0; c < UNC_MAX_COUNTERS; c++)
		owner[c] = box->ctr[c].slot;
	if (!unc_match(box->slot, owner, slot - box->slot, &visited))
		return false;
	/* take all that move off their counters before they get new ones */
	for (c = 0; c < UNC_MAX_COUNTERS; c++) {
		s8 old = box->ctr[c].slot;

		if (old >= 0 && owner[c] != old) {
			unc_refresh_slot(box, &box->slot[old]);
			unc_box_assign(box, &box->slot[old], -1);
		}
	}
	for (c = 0; c < UNC_MAX_COUNTERS; c++) {
		if (owner[c] >= 0 && box->ctr[c].slot != owner[c])
			unc_box_assign(box, &box->slot[owner[c]], c);
	}
	return true;
}

/*
 * An event of counter 0's occupancy (§2.3.6) counts something else while counter 0 has
 * no event that is restricted to that counter, as occupancies are.
 */
static bool unc_lacks_ctr0(const struct unc_box *box, const struct unc_slot *like)
{
	s8 first = box->ctr[0].slot;

	return like->of_ctr0 &&
	       (first < 0 || box->slot[first].allowed != BIT(0));
}

/*
 * Find or make the slot for an event, described by unc_slot_describe().  Call between
 * unc_box_begin() and unc_box_end().  Returns the slot, with one user more, or NULL
 * when what the box counts already leaves no counter or filter for it.
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
	for (free = again, i = 0; i < UNC_MAX_COUNTERS; i++) {
		slot = &box->slot[i];
		/* the oldest, as an event may come back for another */
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
	unc_timer_refresh_by(pkg, unc_access_bits(box, free->ctr) <= 32);
	return free;
}

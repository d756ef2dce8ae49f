// SPDX-License-Identifier: GPL-2.0-only
/*
 * Freezing boxes: a freeze stops all counters of a box, or of a package, at once.  A
 * group of events is started, stopped and read while its box is frozen.  An overflow of a
 * sampling event freezes the whole package.
 *
 * Every event loses counts while its box is frozen.  So a package has a budget for all
 * freezes, in per mille of the time.  Time adds to the package's credit, and each freeze
 * is charged with its duration.  While the credit is not positive, the driver reads and
 * changes a box while the box counts, and does not set counters to overflow.
 */
#include <linux/module.h>

#include "access.h"
#include "freeze.h"
#include "global.h"
#include "lock.h"

/* Largest credit (ns).  The smallest credit is -10 times this value. */
#define UNC_FREEZE_BURST	(5 * (s64)NSEC_PER_MSEC)

static unsigned int freeze_budget = 10;
module_param(freeze_budget, uint, 0644);
MODULE_PARM_DESC(freeze_budget,
		 "per mille of the time for which a package's boxes may be frozen while events count: by overflows of sampling events, and for groups to be read or changed in one instant (default 10; 1000: no limit)");

/**
 * unc_freeze_init() - set up a package's freeze budget
 * @pkg: the package
 */
void unc_freeze_init(struct unc_package *pkg)
{
	raw_spin_lock_init(&pkg->freeze.lock);
	pkg->freeze.credit = UNC_FREEZE_BURST;
	pkg->freeze.at = ktime_get_mono_fast_ns();
}

/* Add the time since the last call to the credit, and check it.  @freeze->lock is held. */
static bool unc_freeze_has_credit(struct unc_freeze *freeze)
{
	unsigned int budget = min(READ_ONCE(freeze_budget), 1000U);
	u64 now = ktime_get_mono_fast_ns();
	s64 passed = max_t(s64, now - freeze->at, 0);

	freeze->credit += div_u64(passed * budget, 1000);
	freeze->credit = min(freeze->credit, UNC_FREEZE_BURST);
	freeze->at = now;
	return budget == 1000 || freeze->credit > 0;
}

/* Charge a freeze of @ns.  @freeze->lock is held. */
static void unc_freeze_spend(struct unc_freeze *freeze, s64 ns)
{
	freeze->credit = max(freeze->credit - ns, -UNC_FREEZE_BURST * 10);
}

/**
 * unc_freeze_allowed() - check whether budget is left for a freeze
 * @pkg: the package
 *
 * Context: any but NMI, interrupts off.
 */
bool unc_freeze_allowed(struct unc_package *pkg)
{
	bool allowed;

	unc_lock_raw(&pkg->freeze.lock);
	allowed = unc_freeze_has_credit(&pkg->freeze);
	unc_lock_raw_release(&pkg->freeze.lock);
	return allowed;
}

/**
 * unc_freeze_charge() - charge a freeze of the package to the package's budget
 * @pkg: the package
 * @ns: duration of the freeze
 *
 * Context: any but NMI, interrupts off.
 */
void unc_freeze_charge(struct unc_package *pkg, u64 ns)
{
	unc_lock_raw(&pkg->freeze.lock);
	unc_freeze_spend(&pkg->freeze, ns);
	unc_lock_raw_release(&pkg->freeze.lock);
}

/*
 * Charge a freeze that began at @since (monotonic ns); 0: no event lost counts, so
 * nothing is charged.  The lock of the package's budget is held.
 */
static void unc_freeze_end(struct unc_package *pkg, u64 since)
{
	u64 ns = since ? ktime_get_mono_fast_ns() - since : 0;

	unc_freeze_spend(&pkg->freeze, ns);
	atomic64_add(ns, &pkg->stats.group_frozen_ns);
}

/*
 * Freeze the whole package for a box that cannot be frozen alone.  Boxes share this
 * freeze: the first box freezes the package, the last one unfreezes it.  Without credit a
 * box may join a freeze, but not begin one, unless with @force.  Returns whether the
 * package is frozen for the box.
 */
static bool unc_freeze_share_get(struct unc_package *pkg, bool force)
{
	struct unc_freeze *freeze = &pkg->freeze;
	bool ok;

	unc_lock_raw(&freeze->lock);
	ok = freeze->holders || unc_freeze_has_credit(freeze) || force;
	if (ok && !freeze->holders++) {
		unc_global_freeze();
		freeze->since = atomic_read(&pkg->active) ?
				ktime_get_mono_fast_ns() : 0;
	}
	unc_lock_raw_release(&freeze->lock);
	return ok;
}

/* Drop a box's reference to the shared freeze. */
static void unc_freeze_share_put(struct unc_package *pkg)
{
	struct unc_freeze *freeze = &pkg->freeze;

	unc_lock_raw(&freeze->lock);
	if (!--freeze->holders) {
		unc_global_restart(0);
		unc_freeze_end(pkg, freeze->since);
	}
	unc_lock_raw_release(&freeze->lock);
}

/**
 * unc_freeze_get() - stop all counters of a box at once
 * @box: the box, which is locked and not frozen
 * @force: freeze the box even if no budget is left; the freeze is charged all the same
 *
 * Return: whether the box is frozen.  It counts on where the hardware cannot freeze it,
 * or where no budget is left.
 */
bool unc_freeze_get(struct unc_box *box, bool force)
{
	if (!box->type->regs.box_ctl) {
		if (box->type->quirks & UNC_QUIRK_FREEZE_ALL)
			box->hw.frozen = unc_freeze_share_get(box->pkg, force);
		return box->hw.frozen;
	}
	if (!force && !unc_freeze_allowed(box->pkg))
		return false;
	box->hw.since = ktime_get_mono_fast_ns();
	unc_access_write_box_ctl(box, box->type->layout->frz);
	box->hw.frozen = true;
	return true;
}

/**
 * unc_freeze_put() - start all counters of a box at once
 * @box: the box, which is locked
 *
 * Charges the duration of the freeze to the package's budget, unless @box->hw.since
 * is 0: then no event lost counts.
 */
void unc_freeze_put(struct unc_box *box)
{
	if (!box->hw.frozen)
		return;
	box->hw.frozen = false;
	if (!box->type->regs.box_ctl) {
		unc_freeze_share_put(box->pkg);
		return;
	}
	unc_access_write_box_ctl(box, 0);
	unc_lock_raw(&box->pkg->freeze.lock);
	unc_freeze_end(box->pkg, box->hw.since);
	unc_lock_raw_release(&box->pkg->freeze.lock);
	box->hw.since = 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A package's own registers.  Global control freezes and unfreezes all boxes of the
 * package, and selects the cores that get the PMI, the interrupt of an overflow.  Global
 * status has a bit for each box that overflowed.  Some generations lack these registers:
 * then the functions do nothing.
 */
#include <linux/bitmap.h>

#include "compat.h"
#include "global.h"
#include "lock.h"
#include "package.h"

/* Time (ns) after the last sampling event in which its overflows may still show up. */
#define UNC_LINGER_NS	(2 * NSEC_PER_SEC)

/**
 * unc_global_look() - read the global registers, which may hold leftover state
 * @ctl: gets the control; unchanged where the generation has none
 * @status: gets the status; unchanged where the generation has none
 *
 * Return: false when a register does not answer.
 * Context: on a CPU of the package.
 */
bool unc_global_look(u64 *ctl, u64 *status)
{
	return !(unc.gen->global.ctl &&
		 rdmsrq_safe(unc.gen->global.ctl, ctl)) &&
	       !(unc.gen->global.status &&
		 rdmsrq_safe(unc.gen->global.status, status));
}

/**
 * unc_global_status() - read the overflow bits of this CPU's package
 *
 * Return: bits of boxes; 0 on a generation whose boxes do not signal.
 * Context: on a CPU of the package.
 */
u64 unc_global_status(void)
{
	u64 status = 0;

	if (unc.gen->global.status)
		rdmsrq(unc.gen->global.status, status);
	return status;
}

/**
 * unc_global_clear() - clear overflow bits of this CPU's package
 * @status: the bits to clear
 *
 * Context: on a CPU of the package.
 */
void unc_global_clear(u64 status)
{
	wrmsrq(unc.gen->global.status, status);
}

/**
 * unc_global_freeze() - stop all boxes of a package, where the generation can
 *
 * Context: on a CPU of the package.
 */
void unc_global_freeze(void)
{
	if (unc.gen->global.ctl)
		wrmsrq(unc.gen->global.ctl, unc.gen->global.freeze);
}

/**
 * unc_global_restart() - clear all overflows of a package, and start all of its boxes
 * @ctl: the cores to interrupt, as bits of the global control
 *
 * Context: on a CPU of the package.
 */
void unc_global_restart(u64 ctl)
{
	u64 status = unc_global_status();

	if (!unc.gen->global.ctl)
		return;
	if (status)
		unc_global_clear(status);
	wrmsrq(unc.gen->global.ctl, ctl | unc.gen->global.unfreeze);
}

/**
 * unc_global_select() - select the cores that a package interrupts
 * @cores: the cores, as bits of the global control
 *
 * Context: on a CPU of the package, whose boxes signal.
 */
void unc_global_select(u64 cores)
{
	wrmsrq(unc.gen->global.ctl, cores | unc.gen->global.wake);
}

/**
 * unc_global_unfreeze() - start a package that an overflow or another program froze
 * @ov: the package's overflows
 *
 * Context: interrupts off, on a CPU of the package.
 */
void unc_global_unfreeze(struct unc_overflow *ov)
{
	unc_lock_raw(&ov->ctl_lock);
	wrmsrq(unc.gen->global.ctl, ov->ctl | unc.gen->global.unfreeze);
	unc_lock_raw_release(&ov->ctl_lock);
}

/*
 * Unfreeze a package in which events sample, unless an overflow is still to be handled.
 * The package is frozen while the status is read.  Otherwise an overflow between the read
 * and the write of the unfreeze could freeze the package, and the write would unfreeze
 * the package before the overflow is handled.  Returns the time (ns) for which the
 * package was frozen; 0 if an overflow keeps the package frozen.
 */
static u64 unc_global_heal_sampling(struct unc_overflow *ov)
{
	u64 frozen = 0, since;

	/*
	 * Wait for a CPU that handles an overflow.  That CPU clears the status before it
	 * unfreezes the package.  If the package were unfrozen here between the two, the
	 * CPU's own unfreeze could undo the freeze of the next overflow.
	 */
	unc_lock_raw(&ov->lock);
	unc_lock_raw(&ov->ctl_lock);
	since = ktime_get_mono_fast_ns();
	wrmsrq(unc.gen->global.ctl, ov->ctl | unc.gen->global.freeze);
	if (!unc_global_status()) {
		wrmsrq(unc.gen->global.ctl, ov->ctl | unc.gen->global.unfreeze);
		frozen = ktime_get_mono_fast_ns() - since;
	}
	unc_lock_raw_release(&ov->ctl_lock);
	unc_lock_raw_release(&ov->lock);
	return frozen;
}

/*
 * Unfreeze a package in which no event samples.  The driver's counters then signal no
 * overflow, so a bit in the global status comes from another program, and is cleared.
 */
static void unc_global_heal_counting(struct unc_package *pkg)
{
	u64 status = unc_global_status();

	if (status)
		unc_global_clear(status);
	unc_lock_raw(&pkg->freeze.lock);
	/* boxes that cannot be frozen alone may have frozen the package (freeze.c) */
	if (!pkg->freeze.holders)
		unc_global_unfreeze(&pkg->overflow);
	unc_lock_raw_release(&pkg->freeze.lock);
}

/**
 * unc_global_heal() - unfreeze a package that another program may have frozen
 * @pkg: a package that counts
 *
 * The freeze cannot be read, so the package is unfrozen in any case, unless the global
 * status shows an overflow that is still to be handled.
 *
 * Return: for how long (ns) the package was frozen, to be charged to its budget.
 * Context: interrupts off, on a CPU of the package.
 */
u64 unc_global_heal(struct unc_package *pkg)
{
	if (!unc.gen->global.ctl)
		return 0;
	if (READ_ONCE(pkg->overflow.watch.on))
		return unc_global_heal_sampling(&pkg->overflow);
	unc_global_heal_counting(pkg);
	return 0;
}

/* --- cores to interrupt ---------------------------------------------------- */

/* Select all cores of a package, or none.  @ov->ctl_lock is held. */
static void unc_global_interrupt(struct unc_overflow *ov, bool on)
{
	ov->ctl = on ? unc.gen->global.cores | unc.gen->global.wake : 0;
	wrmsrq(unc.gen->global.ctl, ov->ctl);
}

/**
 * unc_global_sampler_begin() - count an event that begins to sample in a box that signals
 * @ov: the package's overflows
 *
 * From the first such event on, the package's PMI goes to all of its cores.
 *
 * Context: interrupts off, on a CPU of the package.
 */
void unc_global_sampler_begin(struct unc_overflow *ov)
{
	unc_lock_raw(&ov->ctl_lock);
	if (atomic_inc_return(&ov->signalled) == 1) {
		/* a freeze by an overflow is charged from this time on at the earliest */
		WRITE_ONCE(ov->clear, ktime_get_mono_fast_ns());
		WRITE_ONCE(ov->watch.on, true);
		unc_global_interrupt(ov, true);
	}
	unc_lock_raw_release(&ov->ctl_lock);
}

/**
 * unc_global_sampler_end() - count an event that stops sampling in a box that signals
 * @ov: the package's overflows
 *
 * After the last such event the PMI goes to no core.  But a counter may have overflowed
 * just before, or may overflow before it is stopped.  So the timer checks for overflows
 * at once, and every 20 ms for UNC_LINGER_NS.
 *
 * Returns whether no such event is left.
 * Context: interrupts off, on a CPU of the package.
 */
bool unc_global_sampler_end(struct unc_overflow *ov)
{
	u64 now = ktime_get_mono_fast_ns();
	bool last;

	unc_lock_raw(&ov->ctl_lock);
	last = !atomic_dec_return(&ov->signalled);
	if (last) {
		unc_global_interrupt(ov, false);
		WRITE_ONCE(ov->watch.until, now + UNC_LINGER_NS);
		WRITE_ONCE(ov->watch.next, now);
		WRITE_ONCE(ov->clear, now);
	}
	unc_lock_raw_release(&ov->ctl_lock);
	return last;
}

/* --- life cycle ----------------------------------------------------------- */

/**
 * unc_global_init() - prepare a package for sampling
 * @pkg: the package
 *
 * Return: 0 or -ENOMEM; unc_global_exit() cleans up in both cases.
 */
int unc_global_init(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;

	raw_spin_lock_init(&ov->lock);
	raw_spin_lock_init(&ov->ctl_lock);
	pkg->idle = true;
	pkg->samplers = bitmap_zalloc(unc.boxes_per_package, GFP_KERNEL);
	return pkg->samplers ? 0 : -ENOMEM;
}

/**
 * unc_global_exit() - undo unc_global_init()
 * @pkg: the package, of which no event samples any more
 */
void unc_global_exit(struct unc_package *pkg)
{
	bitmap_free(pkg->samplers);
}

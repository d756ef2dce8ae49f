// SPDX-License-Identifier: GPL-2.0-only
/*
 * A package's own registers: global control, which freezes it and selects the cores
 * to interrupt, and global status.  Where a generation has no such registers nothing
 * is done.
 */
#include <linux/slab.h>

#include "compat.h"
#include "global.h"
#include "lock.h"
#include "package.h"

/* After the last sampling event, its overflows may still show up for this long. */
#define UNC_LINGER_NS	(2 * NSEC_PER_SEC)

/*
 * Read the global control and status registers of this CPU's package, which may hold
 * leftover state, into @ctl and @status.  A register that the generation lacks leaves
 * its variable unchanged.  Returns false when a register does not answer.
 */
bool unc_global_look(u64 *ctl, u64 *status)
{
	return !(unc.gen->global.ctl &&
		 rdmsrq_safe(unc.gen->global.ctl, ctl)) &&
	       !(unc.gen->global.status &&
		 rdmsrq_safe(unc.gen->global.status, status));
}

/*
 * Read which boxes of this CPU's package have overflowed.  Returns bits of the boxes; 0
 * where no box signals.
 */
u64 unc_global_status(void)
{
	u64 status = 0;

	if (unc.gen->global.status)
		rdmsrq(unc.gen->global.status, status);
	return status;
}

/* Clear overflows that have been handled. */
void unc_global_clear(u64 status)
{
	wrmsrq(unc.gen->global.status, status);
}

/*
 * Stop all boxes of a package, if it can be frozen.
 * Context: on a CPU of the package.
 */
void unc_global_freeze(void)
{
	if (unc.gen->global.ctl)
		wrmsrq(unc.gen->global.ctl, unc.gen->global.freeze);
}

/*
 * Start all boxes of a package, with overflows cleared; @ctl has the cores to
 * interrupt.
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

/*
 * Select the cores that a package interrupts, by their bits of the global control.
 * Context: on a CPU of the package, which boxes can freeze.
 */
void unc_global_select(u64 cores)
{
	wrmsrq(unc.gen->global.ctl, cores | unc.gen->global.wake);
}

/*
 * Start a package that an overflow or another program froze.
 * Context: interrupts off, on a CPU of the package.
 */
void unc_global_unfreeze(struct unc_overflow *ov)
{
	unc_lock_raw(&ov->cores.lock);
	wrmsrq(unc.gen->global.ctl, ov->cores.ctl | unc.gen->global.unfreeze);
	unc_lock_raw_release(&ov->cores.lock);
}

/* --- cores to interrupt ---------------------------------------------------- */

/*
 * Change by @users how many sampling events need the interrupt of @core: its bit in
 * the global control register, or one beyond for all cores.
 * Context: interrupts off, on a CPU of the package, @ov->cores.lock held.
 */
void unc_global_select_core(struct unc_overflow *ov, int core, int users)
{
	const unsigned long cores = unc.gen->global.cores;
	unsigned int i;
	u64 ctl = 0;

	ov->cores.users[core] += users;
	for_each_set_bit(i, &cores, BITS_PER_LONG) {
		if (ov->cores.users[i])
			ctl |= BIT_ULL(i);
	}
	if (ov->cores.users[fls64(cores)])
		ctl |= cores;
	if (ctl)
		ctl |= unc.gen->global.wake;
	if (ctl != ov->cores.ctl)
		wrmsrq(unc.gen->global.ctl, ctl);
	ov->cores.ctl = ctl;
}

/*
 * A sampling event in a box that signals goes.  Its overflow may come even later than
 * this: the timer polls for it for a while.  Returns an overflow waits to be handled.
 * Context: interrupts off, on a CPU of the package.
 */
bool unc_global_deselect_core(struct unc_overflow *ov, int core)
{
	bool pending;

	unc_lock_raw(&ov->cores.lock);
	pending = unc_global_status();
	unc_global_select_core(ov, core, -1);
	WRITE_ONCE(ov->watch.until, ktime_get_mono_fast_ns() + UNC_LINGER_NS);
	atomic_dec(&ov->signalled);
	unc_lock_raw_release(&ov->cores.lock);
	return pending;
}

/* --- life cycle ----------------------------------------------------------- */

/*
 * Prepare a package for sampling.  Returns 0 or -ENOMEM; unc_global_exit() cleans up
 * either way.
 */
int unc_global_init(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;

	raw_spin_lock_init(&ov->lock);
	raw_spin_lock_init(&ov->cores.lock);
	pkg->idle = true;
	ov->cores.users = kcalloc(fls64(unc.gen->global.cores) + 1,
				  sizeof(*ov->cores.users), GFP_KERNEL);
	pkg->samplers = bitmap_zalloc(unc.boxes_per_package, GFP_KERNEL);
	return ov->cores.users && pkg->samplers ? 0 : -ENOMEM;
}

/* Free what unc_global_init() made; nothing samples any more. */
void unc_global_exit(struct unc_package *pkg)
{
	bitmap_free(pkg->samplers);
	kfree(pkg->overflow.cores.users);
}

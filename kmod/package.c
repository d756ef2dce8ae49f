// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a package does as a whole: stand still, count again, interrupt cores; and
 * accounts of that.  Where a generation has no such registers nothing is done.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "xeon_uncore.h"
#include "compat.h"

/* After the last sampling event, for so long an overflow of its may show up. */
#define UNC_LINGER_NS	(2 * NSEC_PER_SEC)

/**
 * unc_package_look() - see what others have left in this CPU's package
 * @ctl: where to put the global control register; untouched where there is none
 * @status: where to put the global status; the same
 *
 * Return: false when it has these registers and does not answer.
 */
bool unc_package_look(u64 *ctl, u64 *status)
{
	return !(unc.gen->global_ctl &&
		 rdmsrq_safe(unc.gen->global_ctl, ctl)) &&
	       !(unc.gen->global_status &&
		 rdmsrq_safe(unc.gen->global_status, status));
}

/**
 * unc_global_status() - who in this CPU's package has overflowed
 *
 * Return: bits of the boxes; 0 where no box signals.
 */
u64 unc_global_status(void)
{
	u64 status = 0;

	if (unc.gen->global_status)
		rdmsrq(unc.gen->global_status, status);
	return status;
}

/**
 * unc_global_clear() - their overflows are served
 * @status: those bits of the global status, which the package has
 */
void unc_global_clear(u64 status)
{
	wrmsrq(unc.gen->global_status, status);
}

/**
 * unc_package_freeze() - have all boxes of a package stand still, if it can
 *
 * Context: on a CPU of the package.
 */
void unc_package_freeze(void)
{
	if (unc.gen->global_ctl)
		wrmsrq(unc.gen->global_ctl, unc.gen->freeze);
}

/**
 * unc_package_thaw() - have them count again, with no overflow left over
 * @ctl: whom to interrupt, bits of the global control register
 *
 * Context: on a CPU of the package.
 */
void unc_package_thaw(u64 ctl)
{
	if (!unc.gen->global_ctl)
		return;
	if (unc.gen->global_status)
		unc_global_clear(unc_global_status());
	wrmsrq(unc.gen->global_ctl, ctl | unc.gen->unfreeze);
}

/**
 * unc_package_select() - whom a package that runs interrupts from now on
 * @cores: their bits of the global control register
 *
 * Context: on a CPU of the package, which boxes can freeze.
 */
void unc_package_select(u64 cores)
{
	wrmsrq(unc.gen->global_ctl, cores | unc.gen->wake);
}

/* --- frozen by an overflow ------------------------------------------------ */

/**
 * unc_unfreeze() - a package counts again that an overflow has kept frozen
 * @ov: its overflows, @ov->select_lock is held
 * @since: since when it was
 *
 * Context: interrupts off, on a CPU of the package.
 */
void unc_unfreeze(struct unc_overflow *ov, u64 since)
{
	wrmsrq(unc.gen->global_ctl, ov->ctl | unc.gen->unfreeze);
	ov->served = ktime_get_mono_fast_ns();
	write_seqcount_begin(&ov->frozen_seq);
	ov->frozen_ns += ov->served - since;
	WRITE_ONCE(ov->thaw_at, 0);
	write_seqcount_end(&ov->frozen_seq);
}

/**
 * unc_stay_frozen() - a package that an overflow has frozen is left so for a while
 * @ov: its overflows, @ov->select_lock is held
 * @since: since when it is
 * @until: when it is to be unfrozen
 *
 * Context: interrupts off.
 */
void unc_stay_frozen(struct unc_overflow *ov, u64 since, u64 until)
{
	write_seqcount_begin(&ov->frozen_seq);
	ov->frozen_at = since;
	WRITE_ONCE(ov->thaw_at, until);
	write_seqcount_end(&ov->frozen_seq);
}

/**
 * unc_account_frozen() - it was frozen for longer than was accounted
 * @ov: its overflows, @ov->select_lock is held
 * @ns: for so much longer, or shorter
 *
 * Context: interrupts off.
 */
void unc_account_frozen(struct unc_overflow *ov, s64 ns)
{
	write_seqcount_begin(&ov->frozen_seq);
	ov->frozen_ns += ns;
	write_seqcount_end(&ov->frozen_seq);
}

/**
 * unc_frozen_ns() - for how long overflows have kept a package frozen
 * @pkg: the package
 *
 * Context: any but NMI, which may have come upon an account being changed.
 * Return: nanoseconds since load, those of a pause that lasts included.
 */
u64 unc_frozen_ns(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned int seq;
	s64 pause;
	u64 ns;

	do {
		seq = read_seqcount_begin(&ov->frozen_seq);
		pause = ov->thaw_at ? ktime_get_mono_fast_ns() - ov->frozen_at :
				      0;
		ns = ov->frozen_ns + max_t(s64, pause, 0);
	} while (read_seqcount_retry(&ov->frozen_seq, seq));
	return ns;
}

/**
 * unc_overflow_charge() - sampling has kept a CPU busy
 * @ov: the package's overflows
 * @ns: for so long
 *
 * Context: interrupts off.
 */
void unc_overflow_charge(struct unc_overflow *ov, u64 ns)
{
	unc_raw_lock(&ov->select_lock);
	ov->credit -= ns;
	unc_raw_unlock(&ov->select_lock);
}

/* --- whom to interrupt ---------------------------------------------------- */

/**
 * unc_overflow_select() - a sampling event begins to ask for a core's interrupt
 * @ov: its package's overflows
 * @core: the core's bit in the global control register
 * @users: 1, or -1 when it asks no more
 *
 * Context: interrupts off, on a CPU of the package, @ov->select_lock held.
 */
void unc_overflow_select(struct unc_overflow *ov, int core, int users)
{
	const unsigned long cores = unc.gen->cores;
	unsigned int i;
	u64 ctl = 0;

	ov->core_users[core] += users;
	for_each_set_bit(i, &cores, BITS_PER_LONG) {
		if (ov->core_users[i])
			ctl |= BIT_ULL(i);
	}
	if (ctl)
		ctl |= unc.gen->wake;
	if (ctl != ov->ctl)
		wrmsrq(unc.gen->global_ctl, ctl);
	ov->ctl = ctl;
}

/**
 * unc_overflow_leave() - a sampling event in a box that signals goes
 * @ov: its package's overflows
 * @core: what it asked for
 *
 * Its overflow may be on the way, and even later than this: the timer looks for
 * it for a while.
 *
 * Context: interrupts off, on a CPU of the package.
 * Return: an overflow waits to be served.
 */
bool unc_overflow_leave(struct unc_overflow *ov, int core)
{
	bool pending;

	unc_raw_lock(&ov->select_lock);
	pending = unc_global_status();
	unc_overflow_select(ov, core, -1);
	WRITE_ONCE(ov->watch_until, ktime_get_mono_fast_ns() + UNC_LINGER_NS);
	if (atomic_dec_and_test(&ov->signalled) && ov->thaw_at)
		unc_unfreeze(ov, ov->frozen_at);
	unc_raw_unlock(&ov->select_lock);
	return pending;
}

/* --- life cycle ----------------------------------------------------------- */

/**
 * unc_overflow_package_init() - prepare a package for sampling
 * @pkg: the package
 *
 * Return: 0 or -ENOMEM; unc_overflow_package_exit() cleans up either way.
 */
int unc_overflow_package_init(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;

	raw_spin_lock_init(&ov->lock);
	raw_spin_lock_init(&ov->select_lock);
	seqcount_raw_spinlock_init(&ov->frozen_seq, &ov->select_lock);
	ov->core_users = kcalloc(fls64(unc.gen->cores),
				 sizeof(*ov->core_users), GFP_KERNEL);
	pkg->samplers = bitmap_zalloc(unc.boxes_per_package, GFP_KERNEL);
	return ov->core_users && pkg->samplers ? 0 : -ENOMEM;
}

/**
 * unc_overflow_package_exit() - free what that has made
 * @pkg: the package, in which nothing samples any more
 */
void unc_overflow_package_exit(struct unc_package *pkg)
{
	bitmap_free(pkg->samplers);
	kfree(pkg->overflow.core_users);
}

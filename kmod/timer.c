// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timer that reads running counters before they can wrap twice, and looks
 * after sampling where no interrupt does.  A package has one, which runs while
 * any of its boxes counts, on a CPU of the package.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/topology.h>

#include "xeon_uncore.h"
#include "compat.h"

/*
 * The narrowest counters, QPI's free-running ones of 32 bits, wrap in 0.86 s at
 * the fastest clock; a counter of 44 bits that grows by 128 a cycle in 27 s.
 */
#define UNC_TIMER_FAST	(400 * NSEC_PER_MSEC)
#define UNC_TIMER_FIRST	NSEC_PER_MSEC
#define UNC_TIMER_SLOW	(10 * NSEC_PER_SEC)

/* Refresh all boxes of a package; true: a narrow counter is among them. */
static bool unc_timer_refresh(struct unc_package *pkg)
{
	unsigned int b, ctr;
	bool narrow = false;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];
		unsigned long flags;

		/* racy, but a box that starts now need not be read now */
		if (!box || !READ_ONCE(box->active))
			continue;
		flags = unc_lock(box);
		unc_box_refresh_all(box);
		for (ctr = UNC_FREERUN0; ctr < UNC_MAX_COUNTERS; ctr++) {
			if (box->ctr[ctr].slot >= 0 &&
			    unc_counter_bits(box, ctr) <= 32)
				narrow = true;
		}
		unc_unlock(box, flags);
	}
	return narrow;
}

/* Do what is due; returns when to come again, in nanoseconds. */
static u64 unc_timer_work(struct unc_package *pkg)
{
	u64 next = unc_overflow_poll(pkg);
	u64 now = ktime_get_mono_fast_ns();

	if ((s64)(now - READ_ONCE(pkg->refresh)) >= 0)
		WRITE_ONCE(pkg->refresh, now + (unc_timer_refresh(pkg) ?
						UNC_TIMER_FAST :
						UNC_TIMER_SLOW));
	return min(next, pkg->refresh - now);
}

/*
 * Hard interrupt context.  When the CPU that it ran on goes offline, the
 * kernel moves a timer to any other; MSRs of this package can only be read
 * from its own CPUs, so the timer then goes back to one.
 */
static enum hrtimer_restart unc_timer_fire(struct hrtimer *timer)
{
	struct unc_package *pkg = container_of(timer, struct unc_package, timer);
	enum hrtimer_restart again = HRTIMER_NORESTART;
	unsigned int home;
	u64 next;

	if (!atomic_read(&pkg->active))
		return HRTIMER_NORESTART;
	if (unc_package_of_cpu(smp_processor_id()) != pkg) {
		home = READ_ONCE(pkg->cpu);
		if (home < nr_cpu_ids)
			smp_call_function_single_async(home, &pkg->kick);
		return HRTIMER_NORESTART;
	}
	next = unc_timer_work(pkg);
	raw_spin_lock(&pkg->timer_lock);
	/* somebody may have started it anew meanwhile */
	if (!hrtimer_is_queued(timer)) {
		again = HRTIMER_RESTART;
		hrtimer_forward_now(timer, ns_to_ktime(next));
	}
	raw_spin_unlock(&pkg->timer_lock);
	return again;
}

/* On a CPU of the package, interrupts off. */
static void unc_timer_start(void *data)
{
	struct unc_package *pkg = data;

	raw_spin_lock(&pkg->timer_lock);
	WRITE_ONCE(pkg->refresh, ktime_get_mono_fast_ns() + UNC_TIMER_FAST);
	/* what runs, and how often it must be looked after, is seen then */
	if (atomic_read(&pkg->active))
		hrtimer_start(&pkg->timer, ns_to_ktime(UNC_TIMER_FIRST),
			      HRTIMER_MODE_REL_PINNED_HARD);
	raw_spin_unlock(&pkg->timer_lock);
}

/**
 * unc_timer_init() - prepare a package's timer
 * @pkg: the package
 */
void unc_timer_init(struct unc_package *pkg)
{
	unc_hrtimer_setup(&pkg->timer, unc_timer_fire, CLOCK_MONOTONIC,
			  HRTIMER_MODE_REL_PINNED_HARD);
	raw_spin_lock_init(&pkg->timer_lock);
	INIT_CSD(&pkg->kick, unc_timer_start, pkg);
}

/**
 * unc_timer_get() - a box of the package begins to count
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_timer_get(struct unc_package *pkg)
{
	if (atomic_inc_return(&pkg->active) == 1)
		unc_timer_start(pkg);
}

/**
 * unc_timer_put() - a box of the package has stopped
 * @pkg: the package
 *
 * The timer is not cancelled: it may be waiting for the lock that the caller
 * holds.  It stops by itself when it next fires.
 */
void unc_timer_put(struct unc_package *pkg)
{
	atomic_dec(&pkg->active);
}

/**
 * unc_timer_soon() - something has started that needs the timer soon
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_timer_soon(struct unc_package *pkg)
{
	unc_timer_start(pkg);
}

/**
 * unc_timer_online() - a CPU of the package has come online
 * @pkg: the package, which may have had none
 *
 * Context: on that CPU, interrupts off.
 */
void unc_timer_online(struct unc_package *pkg)
{
	if (!hrtimer_active(&pkg->timer))
		unc_timer_start(pkg);
}

static void unc_nothing(void *data)
{
}

/**
 * unc_timer_exit() - stop a package's timer for good
 * @pkg: the package, in which nothing counts any more
 *
 * Context: process, after the hotplug callbacks are gone.
 */
void unc_timer_exit(struct unc_package *pkg)
{
	hrtimer_cancel(&pkg->timer);
	/* let a kick that is under way run, while there is code to run */
	on_each_cpu(unc_nothing, NULL, 1);
}

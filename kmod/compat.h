/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for (6.1 and
 * later).  The only file of the driver that may look at LINUX_VERSION_CODE.
 */
#ifndef XEON_UNCORE_COMPAT_H
#define XEON_UNCORE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
unc_hrtimer_setup(struct hrtimer *timer,
		  enum hrtimer_restart (*function)(struct hrtimer *),
		  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#else
#define unc_hrtimer_setup hrtimer_setup
#endif

/* Bits that newer kernels let a user set and that mean nothing to any box. */
static inline u64 unc_config3(const struct perf_event *event)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return event->attr.config3;
#else
	return 0;
#endif
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for (6.1 and
 * later).  The only file of the driver that may look at LINUX_VERSION_CODE.
 */
#ifndef XEON_UNCORE_COMPAT_H
#define XEON_UNCORE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
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

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define unc_assign_str(field, value)	__assign_str(field, value)
#else
#define unc_assign_str(field, value)	__assign_str(field)
#endif

typedef int (*unc_overflow_fn)(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs);

/*
 * perf_event_overflow() is what a PMU driver calls to deliver a sample, but no
 * kernel exports it to modules yet.  A kprobe finds it; it is removed before it
 * is ever hit.  NULL when it cannot be found: then there is no sampling.
 */
static inline unc_overflow_fn unc_find_overflow(void)
{
	static const u32 endbr64 = 0xfa1e0ff3;
	struct kprobe probe = { .symbol_name = "perf_event_overflow" };
	unsigned long addr;

	if (register_kprobe(&probe))
		return NULL;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	/* kprobes skip the landing pad that an indirect call needs */
	if (*(const u32 *)(addr - sizeof(endbr64)) == endbr64)
		addr -= sizeof(endbr64);
	return (unc_overflow_fn)addr;
}

/* hw.interrupts of a throttled event; perf's own name for it is private. */
#define UNC_THROTTLED	(~0ULL)

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

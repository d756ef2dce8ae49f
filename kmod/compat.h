/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for (6.1 and
 * later), and what none of them has.  The only file of the driver that may look at
 * LINUX_VERSION_CODE.
 */
#ifndef XEON_UNCORE_COMPAT_H
#define XEON_UNCORE_COMPAT_H

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>
#include <asm/msr.h>
/* sparse knows no __has_include. */
#ifndef __CHECKER__
#if __has_include("asm/cpuid/api.h")
#include <asm/cpuid/api.h>
#endif
#endif

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

/* 64 bits of an MSR: the l of old was short for long. */
#ifndef rdmsrq
#define rdmsrq			rdmsrl
#define rdmsrq_safe		rdmsrl_safe
#define rdmsrq_safe_on_cpu	rdmsrl_safe_on_cpu
#define wrmsrq			wrmsrl
#define wrmsrq_safe		wrmsrl_safe
#else
/* And what does them takes and returns 64 bits at once. */
#define UNC_NATIVE_MSR_WHOLE
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define unc_assign_str(field, value)	__assign_str(field, value)
#else
#define unc_assign_str(field, value)	__assign_str(field)
#endif

/* To checkers of locks: a function that returns true with @lock held. */
#ifdef __cond_acquires_impl_true
#define unc_true_acquires(lock)	__cond_acquires(true, lock)
#else
#define unc_true_acquires(lock)	__cond_acquires(lock)
#endif

typedef int (*unc_overflow_fn)(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs);
typedef void (*unc_tick_fn)(void);
typedef void (*unc_took_fn)(u64 sample_len_ns);

/*
 * Functions that a PMU driver calls, but that no kernel exports to modules yet.
 * A kprobe finds them; one that is disabled puts no breakpoint there.  NULL when
 * there is none such.
 */
static inline void *unc_find_function(const char *name)
{
	static const u32 endbr64 = 0xfa1e0ff3;
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long addr;

	if (register_kprobe(&probe))
		return NULL;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	/* kprobes skip the landing pad that an indirect call needs */
	if (*(const u32 *)(addr - sizeof(endbr64)) == endbr64)
		addr -= sizeof(endbr64);
	return (void *)addr;
}

/*
 * Callbacks for a system that sleeps and wakes.  In 6.19 and in later releases
 * of stable kernels (Kbuild looks) they get an argument, declared with
 * UNC_SYSCORE_ARGS, and what is registered is a struct around them.
 */
#ifdef UNC_STRUCT_SYSCORE
#define UNC_SYSCORE_ARGS	void *unused
#else
#define UNC_SYSCORE_ARGS	void
struct syscore {
	struct syscore_ops *ops;
};

#define register_syscore(syscore)	register_syscore_ops((syscore)->ops)
#define unregister_syscore(syscore)	unregister_syscore_ops((syscore)->ops)
#endif

/*
 * Has the CPU been set apart from the scheduler's domains (isolcpus=, an isolated
 * cpuset) or from the kernel's noise (nohz_full=)?  From 7.0 on cpusets change
 * the domains' mask under RCU.
 */
static inline bool unc_cpu_is_isolated(unsigned int cpu)
{
	bool isolated;

	rcu_read_lock();
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	isolated = cpu_is_isolated(cpu);
#else
	isolated = !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
		   !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
#endif
	rcu_read_unlock();
	return isolated;
}

/*
 * Does the event count only while tasks of some cgroup run?  perf itself refuses
 * that of an uncore's event, but not of its group's leader.
 */
static inline bool unc_counts_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->group_leader->cgrp;
#else
	return false;
#endif
}

/*
 * @a * @mul / @div, all of 64 bits, at most U64_MAX.  The kernel's own function
 * divides by hardware, which faults when the result does not fit.
 */
static inline u64 unc_mul_div(u64 a, u64 mul, u64 div)
{
	if (mul_u64_u64_shr(a, mul, 64) >= div)
		return U64_MAX;
	return mul_u64_u64_div_u64(a, mul, div);
}

/*
 * Wait for an asynchronous function call that nothing queues again.  The kernel unlocks a
 * call before it runs the function, with interrupts off: the caller waits for that with
 * synchronize_rcu().
 */
static inline void unc_csd_wait(call_single_data_t *csd)
{
	while (READ_ONCE(csd->node.u_flags) & CSD_FLAG_LOCK)
		usleep_range(50, 100);
}

/* perf's mark in hw.interrupts of an event that it throttles (kernel/events/core.c) */
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

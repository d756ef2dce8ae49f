/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that the driver is built for (6.1 and later), and
 * functions that no kernel has.  The only file of the driver that may look at
 * LINUX_VERSION_CODE.
 */
#ifndef XEON_UNCORE_COMPAT_H
#define XEON_UNCORE_COMPAT_H

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <linux/topology.h>
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

/* Accesses to 64 bits of an MSR: newer kernels have renamed rdmsrl() to rdmsrq(). */
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

/* For checkers of locks: the function returns true if it has taken @lock. */
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
 * Find the address of a function that no kernel exports to modules; NULL: not found.  The
 * registration of a kprobe gives the address.  The kprobe is disabled, so no breakpoint
 * is written to the function.
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
 * Callbacks for suspend and resume.  In 6.19 and in later releases of stable kernels
 * (Kbuild checks that) the callbacks have an argument, declared with UNC_SYSCORE_ARGS,
 * and a struct syscore with the callbacks is registered.
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
 * Check whether a CPU is isolated from the scheduler's domains (isolcpus=, an isolated
 * cpuset) or from the tick (nohz_full=).  From 7.0 on cpusets change the domains' mask
 * under RCU, so the check takes rcu_read_lock().
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

/* Return the number of dies that a package may have.  Linux 6.9 has renamed the function. */
static inline unsigned int unc_dies_per_package(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return topology_max_dies_per_package();
#else
	return topology_max_die_per_package();
#endif
}

/*
 * Return the number of a CPU's package.  If packages have several dies (Cascade Lake-AP),
 * each die has its own boxes, MSRs and PCI buses.  So each die is a package here, and its
 * number is the kernel's number of the die in the machine, which the UBoxes use as well.
 */
static inline int unc_cpu_package(unsigned int cpu)
{
	if (unc_dies_per_package() > 1)
		return topology_logical_die_id(cpu);
	return topology_physical_package_id(cpu);
}

/*
 * Check whether an event's group counts only while tasks of a cgroup run.  perf refuses a
 * cgroup for an uncore event, but not for the leader of the event's group.
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
 * Return @a * @mul / @div, or U64_MAX if the result does not fit 64 bits.  The kernel's
 * own function uses the division instruction, which faults in this case.
 */
static inline u64 unc_mul_div(u64 a, u64 mul, u64 div)
{
	if (mul_u64_u64_shr(a, mul, 64) >= div)
		return U64_MAX;
	return mul_u64_u64_div_u64(a, mul, div);
}

/*
 * Wait for an asynchronous function call (IPI) that is not queued again.  The kernel
 * unlocks @csd before it runs the function, with interrupts off.  So the caller must also
 * wait for the function, with synchronize_rcu().
 */
static inline void unc_csd_wait(call_single_data_t *csd)
{
	while (READ_ONCE(csd->node.u_flags) & CSD_FLAG_LOCK)
		usleep_range(50, 100);
}

/* Set flags of a mapping that has not been made yet. */
static inline void unc_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/*
 * From 7.0 on the driver of /dev/mem has mmap_mem_prepare(), which describes a mapping before it
 * is made, in place of mmap_mem().
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define UNC_MMAP_PREPARE
#endif

/* perf's mark in hw.interrupts of an event that it throttles (kernel/events/core.c) */
#define UNC_THROTTLED	(~0ULL)

/* Return config3, which newer kernels have, and which has no meaning for any box. */
static inline u64 unc_config3(const struct perf_event *event)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return event->attr.config3;
#else
	return 0;
#endif
}

#endif

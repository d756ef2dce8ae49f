// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MSR front: kprobes redirect accesses to simulated MSRs by native_{read,write}_msr*()
 * of the kernel to the model. Accesses to other MSRs are not changed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/tracepoint-defs.h>

#include "compat.h"
#include "sim.h"

static unsigned int sim_status_us, sim_status_clear_us;
module_param_named(status_us, sim_status_us, uint, 0644);
MODULE_PARM_DESC(status_us, "microseconds for which firmware or a hypervisor has a CPU that has just seen an overflow in the global status, but in an NMI (default 0)");
module_param_named(status_clear_us, sim_status_clear_us, uint, 0644);
MODULE_PARM_DESC(status_clear_us, "the same for a CPU that has seen no overflow in the global status (default 0)");

static unsigned int sim_unfrozen_us;
module_param_named(unfrozen_us, sim_unfrozen_us, uint, 0644);
MODULE_PARM_DESC(unfrozen_us, "microseconds for which firmware or a hypervisor has a CPU that has just unfrozen its package (default 0)");

/* Interval at which sim_unfrozen_delay() brings the model up to the present */
#define SIM_UNFROZEN_STEP_US	10

/*
 * Access an MSR of this CPU's package in the model, and record the access. Return MODEL_*.
 * Called under the model's lock, or for an MSR that model_msr_lockless() allows.
 */
static int sim_msr_model(bool write, u32 msr, u64 *value)
{
	unsigned int pkg = unc_cpu_package(smp_processor_id());
	int ret;

	/* A preemptible caller may have moved to another CPU since sim_probe_pre(). */
	if (pkg >= sim.config.packages)
		return MODEL_NOT_MINE;

	if (write)
		ret = model_msr_write(sim.model, pkg, msr, *value);
	else
		ret = model_msr_read(sim.model, pkg, msr, value);

	if (ret != MODEL_NOT_MINE) {
		sim_count(write ? SIM_MSR_WRITE : SIM_MSR_READ);
		sim_record_msr(write, msr, *value, ret);
	}
	return ret;
}

/*
 * In an NMI, bring the model up to the present before a read of the global status, if the
 * model's lock is free. A handler that has just unmasked LVTPC must see the overflows whose
 * PMIs were dropped while LVTPC was masked.
 */
static void sim_status_sync_nmi(bool write)
{
	if (write || !raw_spin_trylock(&sim.lock))
		return;
	sim_clock_sync();
	sim_clock_rearm();
	raw_spin_unlock(&sim.lock);
}

/*
 * Access an MSR in an NMI. The NMI may have interrupted this CPU while it holds the model's
 * lock, so waiting for the lock would never end. The registers that an NMI handler needs are
 * accessed without the lock. An access to another register takes the lock if the lock is
 * free; otherwise a read returns 0 and a write is lost.
 */
static int sim_msr_access_nmi(bool write, u32 msr, u64 *value)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 3);
	int ret;

	if (model_msr_lockless(sim.model, msr, write)) {
		/* the global status of a hidden NMI reads 0: sim_msr_read() sets 0 */
		if (!write && sim_nmi_hidden())
			return MODEL_OK;
		sim_status_sync_nmi(write);
		return sim_msr_model(write, msr, value);
	}

	if (!raw_spin_trylock(&sim.lock)) {
		if (__ratelimit(&limit))
			pr_warn("%s of MSR 0x%x in an NMI that interrupted a register access: %s\n",
				write ? "write" : "read", msr,
				write ? "lost" : "reads 0");
		if (!write)
			*value = 0;
		return MODEL_OK;
	}
	ret = sim_msr_model(write, msr, value);
	raw_spin_unlock(&sim.lock);
	return ret;
}

static bool sim_is_frozen(void)
{
	return model_frozen(sim.model,
			    unc_cpu_package(smp_processor_id()));
}

/*
 * Stop the CPU for the time of the parameter unfrozen_us after it has unfrozen its package.
 * The package counts meanwhile, so that the NMI of the next overflow interrupts the handler
 * of the previous overflow.
 */
static void sim_unfrozen_delay(void)
{
	unsigned int us = READ_ONCE(sim_unfrozen_us);
	u64 until = sim_clock_ns(NULL) + us * NSEC_PER_USEC;
	unsigned long flags;

	while (us && sim_clock_ns(NULL) < until) {
		flags = sim_lock();
		sim_clock_sync();
		sim_clock_rearm();
		sim_unlock(flags);
		sim_away(SIM_UNFROZEN_STEP_US);
	}
}

/* Access a simulated MSR in any context. Return MODEL_*. */
static int sim_msr_access(bool write, u32 msr, u64 *value)
{
	unsigned long flags;
	bool unfrozen;
	int ret;

	if (sim_lapic_claims(msr)) {
		ret = sim_lapic_msr(write, value);
		sim_record_msr(write, msr, *value, ret);
		return ret;
	}
	if (in_nmi())
		return sim_msr_access_nmi(write, msr, value);

	sim_hold_access();
	flags = sim_lock();
	sim_clock_sync();
	unfrozen = write && sim_is_frozen();
	ret = sim_msr_model(write, msr, value);
	unfrozen = unfrozen && !sim_is_frozen();
	if (write)
		sim_clock_rearm();
	sim_unlock(flags);
	if (unfrozen)
		sim_unfrozen_delay();
	return ret;
}

/*
 * Access an MSR of the virtual machine itself. native_*_safe() are inlined here, and the
 * inlined copies have no kprobe.
 */
static int sim_other_read(u32 msr, u64 *value)
{
#ifdef UNC_NATIVE_MSR_WHOLE
	return native_read_msr_safe(msr, value);
#else
	int err;

	*value = native_read_msr_safe(msr, &err);
	return err;
#endif
}

static int sim_other_write(u32 msr, u64 value)
{
#ifdef UNC_NATIVE_MSR_WHOLE
	return native_write_msr_safe(msr, value);
#else
	return native_write_msr_safe(msr, (u32)value, value >> 32);
#endif
}

/*
 * Stop the CPU after a read of the global status, for the time of the parameter status_us or
 * status_clear_us. The value may be out of date when the CPU continues. The global status is
 * the only register that model_msr_lockless() allows to write.
 */
static void sim_status_delay(u32 msr, u64 value)
{
	unsigned int us = READ_ONCE(*(value ? &sim_status_us : &sim_status_clear_us));

	if (us && !in_nmi() && model_msr_lockless(sim.model, msr, true))
		sim_away(us);
}

/*
 * Replacements of the probed functions for a simulated MSR. They run in the context of the
 * caller of the probed function.
 */
static int sim_msr_read(u32 msr, u64 *value)
{
	int err = 0;

	sim_nmi_resume();
	*value = 0;
	switch (sim_msr_access(false, msr, value)) {
	case MODEL_OK:
		sim_status_delay(msr, *value);
		break;
	case MODEL_NOT_MINE:
		return sim_other_read(msr, value);
	default:
		*value = 0;
		err = -EIO;
		break;
	}
	if (tracepoint_enabled(read_msr))
		do_trace_read_msr(msr, *value, err);
	return err;
}

static int sim_msr_write(u32 msr, u64 value)
{
	int err = 0;

	sim_nmi_resume();
	switch (sim_msr_access(true, msr, &value)) {
	case MODEL_OK:
		break;
	case MODEL_NOT_MINE:
		return sim_other_write(msr, value);
	default:
		err = -EIO;
		break;
	}
	if (tracepoint_enabled(write_msr))
		do_trace_write_msr(msr, value, err);
	return err;
}

static unsigned long long sim_native_read_msr(unsigned int msr)
{
	u64 value;

	if (sim_msr_read(msr, &value))
		pr_warn_once("unchecked MSR access: read of 0x%x at %pS\n",
			     msr, __builtin_return_address(0));
	return value;
}

static void sim_write_unchecked(u32 msr, u64 value, void *from)
{
	if (sim_msr_write(msr, value))
		pr_warn_once("unchecked MSR access: write of 0x%llx to 0x%x at %pS\n",
			     value, msr, from);
}

#ifdef UNC_NATIVE_MSR_WHOLE
static int sim_native_read_msr_safe(u32 msr, u64 *value)
{
	return sim_msr_read(msr, value);
}

static void sim_native_write_msr(u32 msr, u64 value)
{
	sim_write_unchecked(msr, value, __builtin_return_address(0));
}

static int sim_native_write_msr_safe(u32 msr, u64 value)
{
	return sim_msr_write(msr, value);
}
#else
static unsigned long long sim_native_read_msr_safe(unsigned int msr, int *err)
{
	u64 value;

	*err = sim_msr_read(msr, &value);
	return value;
}

static void sim_native_write_msr(unsigned int msr, u32 low, u32 high)
{
	sim_write_unchecked(msr, (u64)high << 32 | low,
			    __builtin_return_address(0));
}

static int sim_native_write_msr_safe(unsigned int msr, u32 low, u32 high)
{
	return sim_msr_write(msr, (u64)high << 32 | low);
}
#endif

/* A kprobe on a function, and the function's replacement for simulated MSRs */
struct sim_probe {
	struct kprobe kprobe;
	void *instead;
};

/* Jump to the replacement if the MSR, in %rdi, is simulated on this CPU. */
static int sim_probe_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct sim_probe *probe = container_of(p, struct sim_probe, kprobe);
	unsigned int pkg;

	if (!model_msr_claims(sim.model, (u32)regs->di) &&
	    !sim_lapic_claims(regs->di))
		return 0;

	pkg = unc_cpu_package(smp_processor_id());
	if (pkg >= sim.config.packages)
		return 0;

	regs->ip = (unsigned long)probe->instead;
	return 1;
}
NOKPROBE_SYMBOL(sim_probe_pre);

#define SIM_PROBE(name) {				\
	.kprobe = {					\
		.symbol_name = #name,			\
		.pre_handler = sim_probe_pre,		\
		.post_handler = sim_probe_post,		\
	},						\
	.instead = sim_##name,				\
}

static struct sim_probe sim_probes[] = {
	SIM_PROBE(native_read_msr),
	SIM_PROBE(native_read_msr_safe),
	SIM_PROBE(native_write_msr),
	SIM_PROBE(native_write_msr_safe),
};

static struct kprobe *sim_kprobes[ARRAY_SIZE(sim_probes)];

/**
 * sim_msr_init() - start the simulation of MSRs
 *
 * Return: 0, -ENOMEM, or -ENODEV if the functions of the kernel cannot be probed.
 */
int sim_msr_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(sim_probes); i++)
		sim_kprobes[i] = &sim_probes[i].kprobe;

	ret = register_kprobes(sim_kprobes, ARRAY_SIZE(sim_kprobes));
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		pr_err("cannot probe the kernel's native_read_msr() and its like (error %d): it must have CONFIG_KPROBES and CONFIG_PARAVIRT_XXL\n",
		       ret);
		return -ENODEV;
	}
	return 0;
}

/*
 * Log the number of accesses that kprobes missed. An access by an interrupt during another
 * probe's handler reaches the MSR of the virtual machine.
 */
static void sim_msr_log_missed(void)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_kprobes); i++)
		missed += sim_kprobes[i]->nmissed;
	if (missed)
		pr_info("%lu MSR accesses inside of another probe were not simulated\n",
			missed);
}

/**
 * sim_msr_exit() - stop the simulation of MSRs, and wait for the last access
 */
void sim_msr_exit(void)
{
	unregister_kprobes(sim_kprobes, ARRAY_SIZE(sim_kprobes));
	sim_msr_log_missed();

	/*
	 * A task may have been preempted in sim_native_*(), and another CPU may run these
	 * functions with interrupts off: wait for both.
	 */
	synchronize_rcu_tasks();
	synchronize_rcu();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt front: a PMI of the UBox becomes an NMI on the CPUs of the selected
 * cores.
 *
 * An NMI must not arrive during a kprobe's breakpoint: there the MSR accesses of the
 * driver's handler would miss their probe. So a PMI goes to its CPU as an ordinary
 * interrupt first, which cannot arrive there. A CPU that then sends the NMI to itself
 * would always be sampled in that interrupt's handler. So if the interrupt has
 * interrupted a program, another CPU sends the NMI, and the program mostly runs again
 * when it arrives. If it arrives during a breakpoint nevertheless, sim_nmi() sends the
 * PMI again.
 *
 * The local APIC decides once, when the PMI arrives at its CPU: an accepted PMI (which
 * masks LVTPC) gets its NMI whatever LVTPC is by then, like an NMI that hardware has
 * latched. The paths of a PMI are
 *
 *	sim_pmi_cpu() -> dropped, or accepted -> NMI
 *				     -> timer on another CPU -> NMI [-> again]
 *
 * Another PMI for a CPU with a pending one that has not reached the local APIC is
 * merged with it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include <asm/processor.h>
#include <asm/processor-flags.h>

#include "compat.h"
#include "sim.h"

static char *sim_pmi_switch = "on";
module_param_named(pmi, sim_pmi_switch, charp, 0444);
MODULE_PARM_DESC(pmi,
		 "\"on\", or \"off\": overflows set their status and freeze, but no PMI ever comes (default on)");

static char *sim_core_numbering = "rank";
module_param_named(core_numbering, sim_core_numbering, charp, 0444);
MODULE_PARM_DESC(core_numbering,
		 "Bit N of pmi_core_sel is \"rank\": the package's Nth core; \"id\": the core with id N (default rank)");

static bool sim_sleep;
module_param_named(sleep, sim_sleep, bool, 0444);
MODULE_PARM_DESC(sleep,
		 "PMIs to idle cores are lost without wk_on_pmi (default 0)");

static bool sim_pmis_off;
static bool sim_by_id;

#define SIM_MAX_CORE_ID	1024

/* Time that a CPU may need to return to the interrupted program */
#define SIM_RETURN_NS	(40 * NSEC_PER_USEC)

/**
 * struct sim_cpu - delivery of PMIs to one CPU
 * @csd: sends it there from another CPU
 * @work: sends it there from the CPU itself
 * @direct: @work must send the NMI itself
 * @wake: the pending PMI wakes a sleeping core
 * @return_csd: makes another CPU start @timer
 * @timer: sends the NMI to this CPU from another one
 * @again: sends an NMI that may have been missed once more
 * @seen: the last NMI's handler has read the global status
 * @sending: @return_csd or @timer has been started
 * @from_other: an NMI from another CPU is pending
 * @cpu: its number
 * @pkg: package, or -1 for a CPU that was never seen online
 * @core_id: of its core in the package (with gaps)
 */
struct sim_cpu {
	call_single_data_t csd;
	struct irq_work work;
	bool direct;
	bool wake;
	call_single_data_t return_csd;
	struct hrtimer timer;
	struct irq_work again;
	bool seen;
	atomic_t sending;
	bool from_other;
	unsigned int cpu;
	int pkg;
	unsigned int core_id;
};

static DEFINE_PER_CPU(struct sim_cpu, sim_cpus);

/*
 * Ids of a package's cores, whether or not their CPUs are online, by rank: bit N of
 * pmi_core_sel is the package's Nth core id.
 */
static DECLARE_BITMAP(sim_core_ids[MODEL_MAX_PACKAGES], SIM_MAX_CORE_ID);

/*
 * PMIs raised in an NMI, which must not send interrupts to another CPU: cores, and
 * above the bits of pmi_core_sel whether to wake them
 */
#define SIM_DEFERRED_WAKE	BIT(31)
static atomic_t sim_deferred[MODEL_MAX_PACKAGES];
static struct irq_work sim_deferred_work;

/* Packages whose PMIs go to the wrong cores, a bit each */
static unsigned long sim_misrouted;

/* Pending PMIs, for the unloading of the module */
static atomic_t sim_pmis_pending;
static enum cpuhp_state sim_cpuhp;

/* In hard-interrupt context on the target CPU, whose local APIC accepted the PMI */
static void sim_send_nmi(void)
{
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	atomic_dec(&sim_pmis_pending);
}

static void sim_pmi_plain(void *info)
{
	atomic_inc(&sim_pmis_pending);
	sim_send_nmi();
}

/**
 * sim_pmi_send_plain() - send a CPU an NMI that is not a PMI, from where a PMI is sent
 * @cpu: the CPU
 *
 * Return: 0, or -ENXIO if it is not online.
 */
int sim_pmi_send_plain(unsigned int cpu)
{
	return smp_call_function_single(cpu, sim_pmi_plain, NULL, 1);
}

/* On another CPU; with interrupts off here, the target cannot go offline. */
static enum hrtimer_restart sim_send_nmi_to(struct hrtimer *timer)
{
	struct sim_cpu *c = container_of(timer, struct sim_cpu, timer);

	/* a PMI that arrives later needs another NMI */
	atomic_set(&c->sending, 0);
	WRITE_ONCE(c->seen, false);
	WRITE_ONCE(c->from_other, true);
	if (cpu_online(c->cpu))
		apic->send_IPI(c->cpu, NMI_VECTOR);
	else
		sim_count(SIM_PMI_DROPPED);
	atomic_dec(&sim_pmis_pending);
	return HRTIMER_NORESTART;
}

static void sim_pmi_return(void *info)
{
	struct sim_cpu *c = info;

	hrtimer_start(&c->timer, ns_to_ktime(SIM_RETURN_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * Return whether the interrupt that carries the PMI has woken the core, which the PMI
 * itself would not have.
 */
static bool sim_asleep(struct sim_cpu *c)
{
	bool wake = xchg(&c->wake, false);

	return sim_sleep && !wake && is_idle_task(current);
}

/* In hard-interrupt context on the target CPU; @direct: it sends the NMI. */
static void sim_pmi_arrived(bool direct)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	unsigned int other = cpumask_any_but(cpu_online_mask, c->cpu);

	if (sim_asleep(c) || !sim_lapic_accepts()) {
		sim_count(SIM_PMI_DROPPED);
		atomic_dec(&sim_pmis_pending);
		return;
	}
	if (direct || current->flags & PF_KTHREAD || other >= nr_cpu_ids) {
		sim_send_nmi();
		return;
	}
	/* An NMI that has not been sent yet covers this PMI too. */
	if (atomic_xchg(&c->sending, 1)) {
		atomic_dec(&sim_pmis_pending);
		return;
	}
	if (smp_call_function_single_async(other, &c->return_csd)) {
		atomic_set(&c->sending, 0);
		sim_send_nmi();
	}
}

static void sim_pmi_csd(void *info)
{
	sim_pmi_arrived(false);
}

static void sim_pmi_work(struct irq_work *work)
{
	sim_pmi_arrived(this_cpu_xchg(sim_cpus.direct, false));
}

/*
 * The local APIC has accepted this PMI already: do not check it again. The handler that
 * missed it may have written LVTPC, too early.
 */
static void sim_pmi_again(struct irq_work *work)
{
	struct sim_cpu *c = container_of(work, struct sim_cpu, again);

	/* an NMI that is about to be sent covers both */
	if (!READ_ONCE(c->seen) && !atomic_read(&c->sending) &&
	    model_global_status(sim.model, c->pkg)) {
		sim_lapic_mask();
		sim_send_nmi();
	} else {
		atomic_dec(&sim_pmis_pending);
	}
}

/**
 * sim_pmi_seen() - the global status was read on this CPU, in an NMI
 */
void sim_pmi_seen(void)
{
	this_cpu_write(sim_cpus.seen, true);
}

/*
 * NMI context, before or after the driver's handler. An NMI from another CPU may arrive
 * where the handler's probes are missed. The handler then reads a global status of 0
 * and does not claim the NMI: claim it here, and send it again later.
 */
static int sim_nmi(unsigned int type, struct pt_regs *regs)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	if (!READ_ONCE(c->from_other))
		return NMI_DONE;
	WRITE_ONCE(c->from_other, false);
	if (READ_ONCE(c->seen) || user_mode(regs) || regs->flags & X86_EFLAGS_IF || c->pkg < 0 ||
	    !model_global_status(sim.model, c->pkg))
		return NMI_DONE;
	atomic_inc(&sim_pmis_pending);
	if (!irq_work_queue(&c->again))
		atomic_dec(&sim_pmis_pending);
	return NMI_HANDLED;
}

/*
 * Return whether a task's system call caused the overflow here, or time during one. The
 * task may sleep before another CPU could send an NMI.
 */
static bool sim_in_kernel(void)
{
	return !in_hardirq() || (get_irq_regs() && !user_mode(get_irq_regs()));
}

/* A PMI that is pending for the CPU covers this one too. */
static void sim_pmi_cpu(unsigned int cpu, bool wake)
{
	struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);
	bool sent;

	if (sim_core_pmu_masks(cpu, sim_clock_model_ns(NULL))) {
		sim_count(SIM_PMI_DROPPED);
		return;
	}
	if (wake)
		xchg(&c->wake, true);
	atomic_inc(&sim_pmis_pending);
	/* To itself the call below would run at once, under the model's lock */
	if (cpu == smp_processor_id()) {
		c->direct = sim_in_kernel();
		sent = irq_work_queue(&c->work);
	} else {
		sent = !smp_call_function_single_async(cpu, &c->csd);
	}
	if (!sent)
		atomic_dec(&sim_pmis_pending);
}

/* Bit of a CPU's core in pmi_core_sel */
static unsigned int sim_core_number(const struct sim_cpu *c)
{
	if (sim_by_id)
		return c->core_id;
	return bitmap_weight(sim_core_ids[c->pkg], c->core_id);
}

/* Under the model's lock. */
static void sim_pmi_cores(unsigned int pkg, u32 core_mask, bool wake)
{
	unsigned int cpu, core;
	struct sim_cpu *c;

	/* With interrupts off no CPU can be removed from the mask here. */
	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(&sim_cpus, cpu);
		if (READ_ONCE(c->pkg) != pkg)
			continue;
		core = sim_core_number(c);
		if (core < 32 && core_mask & BIT(core))
			sim_pmi_cpu(cpu, wake);
	}
}

static void sim_pmi_deferred(struct irq_work *work)
{
	unsigned long flags;
	unsigned int pkg;
	u32 core_mask;

	/* one sender at a time: the CPUs' csds need it */
	flags = sim_lock();
	for (pkg = 0; pkg < sim.config.packages; pkg++) {
		core_mask = atomic_xchg(&sim_deferred[pkg], 0);
		if (core_mask & ~SIM_DEFERRED_WAKE)
			sim_pmi_cores(pkg, core_mask & ~SIM_DEFERRED_WAKE,
				      core_mask & SIM_DEFERRED_WAKE);
	}
	sim_unlock(flags);
	atomic_dec(&sim_pmis_pending);
}

/* Send each core's PMI to the next core; a lone core gets its PMI. */
static u32 sim_next_cores(unsigned int pkg, u32 core_mask)
{
	unsigned int n = bitmap_weight(sim_core_ids[pkg], SIM_MAX_CORE_ID);
	unsigned int id, next;
	u32 mask = 0;

	if (n < 2 || n > 31)
		return core_mask;
	if (!sim_by_id)
		return (core_mask << 1 | core_mask >> (n - 1)) &
		       GENMASK(n - 1, 0);
	for_each_set_bit(id, sim_core_ids[pkg], 32) {
		next = find_next_bit(sim_core_ids[pkg], SIM_MAX_CORE_ID,
				     id + 1);
		if (next >= SIM_MAX_CORE_ID)
			next = find_first_bit(sim_core_ids[pkg],
					      SIM_MAX_CORE_ID);
		if (core_mask & BIT(id) && next < 32)
			mask |= BIT(next);
	}
	return mask;
}

/**
 * sim_pmi_misroute() - send a package's PMIs to the wrong cores, or stop that
 * @pkg: package
 * @on: true: to the wrong ones
 */
void sim_pmi_misroute(unsigned int pkg, bool on)
{
	assign_bit(pkg, &sim_misrouted, on);
}

/**
 * sim_pmi_misrouted() - check whether a package's PMIs go to the wrong cores
 * @pkg: package
 */
bool sim_pmi_misrouted(unsigned int pkg)
{
	return test_bit(pkg, &sim_misrouted);
}

/**
 * sim_pmi() - the model's UBox sends a PMI
 * @ctx: unused
 * @pkg: its package
 * @core_mask: pmi_core_sel (§2.1.5)
 * @wake: wake sleeping cores for it (wk_on_pmi)
 *
 * Called under the model's lock.
 */
void sim_pmi(void *ctx, unsigned int pkg, u32 core_mask, bool wake)
{
	sim_count(SIM_PMI);
	if (sim_pmis_off) {
		sim_count(SIM_PMI_DROPPED);
		return;
	}
	if (sim_pmi_misrouted(pkg))
		core_mask = sim_next_cores(pkg, core_mask);

	if (!in_nmi()) {
		sim_pmi_cores(pkg, core_mask, wake);
		return;
	}
	if (wake)
		core_mask |= SIM_DEFERRED_WAKE;
	atomic_or(core_mask, &sim_deferred[pkg]);
	atomic_inc(&sim_pmis_pending);
	if (!irq_work_queue(&sim_deferred_work))
		atomic_dec(&sim_pmis_pending);
}

static int sim_cpu_online(unsigned int cpu)
{
	struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);
	unsigned int pkg = topology_physical_package_id(cpu);
	unsigned int core_id = topology_core_id(cpu);

	if (pkg >= sim.config.packages || core_id >= SIM_MAX_CORE_ID)
		return 0;

	sim_lapic_online();
	/* a CPU that firmware had not announced */
	set_bit(core_id, sim_core_ids[pkg]);
	c->core_id = core_id;
	WRITE_ONCE(c->pkg, pkg);
	return 0;
}

static u32 sim_cpuid_eax(u32 leaf, u32 index)
{
	u32 eax, ebx, ecx, edx;

	cpuid_count(leaf, index, &eax, &ebx, &ecx, &edx);
	return eax;
}

/* Number of APIC id bits for the thread, and up to the core, by CPUID leaf 0xb */
#define CPUID_TOPOLOGY		0xb
#define CPUID_TOPOLOGY_BITS	0x1f

/*
 * Cores of a package by the APIC ids of their CPUs, which the kernel has of offline
 * CPUs, too
 */
static void sim_find_cores(void)
{
	unsigned int cpu, apicid, pkg, core, thread_bits, core_bits;

	/* then only CPUs that were online are known */
	if (boot_cpu_data.cpuid_level < CPUID_TOPOLOGY)
		return;
	thread_bits = sim_cpuid_eax(CPUID_TOPOLOGY, 0) & CPUID_TOPOLOGY_BITS;
	core_bits = sim_cpuid_eax(CPUID_TOPOLOGY, 1) & CPUID_TOPOLOGY_BITS;
	for_each_present_cpu(cpu) {
		apicid = apic->cpu_present_to_apicid(cpu);
		pkg = apicid >> core_bits;
		core = (apicid & (BIT(core_bits) - 1)) >> thread_bits;
		if (apicid != BAD_APICID && pkg < sim.config.packages &&
		    core < SIM_MAX_CORE_ID)
			set_bit(core, sim_core_ids[pkg]);
	}
}

static int sim_check_pmi_parameters(void)
{
	sim_pmis_off = !strcmp(sim_pmi_switch, "off");
	if (!sim_pmis_off && strcmp(sim_pmi_switch, "on")) {
		pr_err("invalid pmi=%s (expected on or off)\n",
		       sim_pmi_switch);
		return -EINVAL;
	}
	sim_by_id = !strcmp(sim_core_numbering, "id");
	if (!sim_by_id && strcmp(sim_core_numbering, "rank")) {
		pr_err("invalid core_numbering=%s (expected id or rank)\n",
		       sim_core_numbering);
		return -EINVAL;
	}
	return 0;
}

/**
 * sim_pmi_init() - find the CPUs that can get PMIs, now and when they come online
 *
 * Return: 0 or a negative error.
 */
int sim_pmi_init(void)
{
	unsigned int cpu;
	int ret;

	ret = sim_check_pmi_parameters();
	ret = ret ?: sim_lapic_init();
	if (ret)
		return ret;
	sim_find_cores();

	for_each_possible_cpu(cpu) {
		struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);

		c->cpu = cpu;
		c->pkg = -1;
		INIT_CSD(&c->csd, sim_pmi_csd, NULL);
		INIT_CSD(&c->return_csd, sim_pmi_return, c);
		unc_hrtimer_setup(&c->timer, sim_send_nmi_to, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED_HARD);
		c->work = IRQ_WORK_INIT_HARD(sim_pmi_work);
		c->again = IRQ_WORK_INIT_HARD(sim_pmi_again);
	}
	sim_deferred_work = IRQ_WORK_INIT_HARD(sim_pmi_deferred);

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "xeon_uncore_sim:pmi",
				sim_cpu_online, NULL);
	if (ret < 0) {
		pr_err("cannot follow CPU hotplug (error %d)\n", ret);
		return ret;
	}
	sim_cpuhp = ret;
	ret = register_nmi_handler(NMI_LOCAL, sim_nmi, NMI_FLAG_FIRST, "sim");
	if (ret)
		cpuhp_remove_state_nocalls(sim_cpuhp);
	return ret;
}

/**
 * sim_pmi_exit() - wait for the last PMI; no new ones are raised
 */
void sim_pmi_exit(void)
{
	cpuhp_remove_state_nocalls(sim_cpuhp);
	while (atomic_read(&sim_pmis_pending))
		usleep_range(100, 1000);
	unregister_nmi_handler(NMI_LOCAL, "sim");
	/* The last one has been counted, but may still run code of this module. */
	synchronize_rcu();
}

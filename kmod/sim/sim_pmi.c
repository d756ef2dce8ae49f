// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt front: a PMI of the UBox becomes an NMI on the CPUs of the
 * cores that it is sent to.
 *
 * An NMI must not hit in the middle of a kprobe's breakpoint: there the MSR
 * accesses of the driver's handler would miss their probe.  So a PMI goes to its
 * CPU as an ordinary interrupt first, which cannot come there.  A CPU that then
 * sends the NMI to itself would always be found in that interrupt's handler.
 * Where it has interrupted a program, another CPU sends it, and the program
 * mostly runs again when it comes.  Should it be in the middle of a breakpoint
 * instead, sim_nmi() sees to it that the PMI comes again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include <asm/processor-flags.h>

#include "sim.h"

#define SIM_MAX_CORE_ID	1024

/* What a CPU may need to be back in the program that it was taken from. */
#define SIM_RETURN_NS	(40 * NSEC_PER_USEC)

/**
 * struct sim_cpu - the way to one CPU
 * @csd: sends it there from another CPU
 * @work: sends it there from the CPU itself
 * @direct: @work is to send the NMI itself
 * @return_csd: has another CPU start @timer
 * @timer: sends the NMI to this CPU from another one
 * @again: sends an NMI that may have been missed once more
 * @seen: the last NMI's handler has read the global status
 * @sending: @return_csd or @timer has been started
 * @from_other: an NMI from another CPU is on its way
 * @cpu: its number
 * @pkg: package, or -1 for a CPU that was never seen online
 * @core_id: of its core, as the kernel numbers them (with gaps)
 */
struct sim_cpu {
	call_single_data_t csd;
	struct irq_work work;
	bool direct;
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
 * Core ids that were ever seen in a package.  pmi_core_sel numbers the cores
 * without gaps, so bit N is the package's Nth core id.
 */
static DECLARE_BITMAP(sim_core_ids[MODEL_MAX_PACKAGES], SIM_MAX_CORE_ID);

/* PMIs raised in an NMI, which must not send anything to another CPU. */
static atomic_t sim_deferred[MODEL_MAX_PACKAGES];
static struct irq_work sim_deferred_work;

/* Packages whose PMIs go to the wrong cores, a bit each. */
static unsigned long sim_misrouted;

/* PMIs on their way, for the end of the module. */
static atomic_t sim_pmis_pending;
static enum cpuhp_state sim_cpuhp;

/* In hard-interrupt context on the target CPU. */
static void sim_send_nmi(void)
{
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	atomic_dec(&sim_pmis_pending);
}

/* On another CPU; with interrupts off here, the target cannot go offline. */
static enum hrtimer_restart sim_send_nmi_to(struct hrtimer *timer)
{
	struct sim_cpu *c = container_of(timer, struct sim_cpu, timer);

	/* a PMI that comes after this needs an NMI of its own */
	atomic_set(&c->sending, 0);
	WRITE_ONCE(c->from_other, true);
	if (cpu_online(c->cpu))
		apic->send_IPI(c->cpu, NMI_VECTOR);
	atomic_dec(&sim_pmis_pending);
	return HRTIMER_NORESTART;
}

static void sim_pmi_return(void *info)
{
	struct sim_cpu *c = info;

	hrtimer_start(&c->timer, ns_to_ktime(SIM_RETURN_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* In hard-interrupt context on the target CPU. */
static void sim_pmi_arrived(void)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);
	unsigned int other = cpumask_any_but(cpu_online_mask, c->cpu);

	if (current->flags & PF_KTHREAD || other >= nr_cpu_ids) {
		sim_send_nmi();
		return;
	}
	/* One that is under way serves for this one too. */
	if (atomic_xchg(&c->sending, 1)) {
		atomic_dec(&sim_pmis_pending);
		return;
	}
	smp_call_function_single_async(other, &c->return_csd);
}

static void sim_pmi_csd(void *info)
{
	sim_pmi_arrived();
}

static void sim_pmi_work(struct irq_work *work)
{
	if (this_cpu_xchg(sim_cpus.direct, false))
		sim_send_nmi();
	else
		sim_pmi_arrived();
}

static void sim_pmi_again(struct irq_work *work)
{
	struct sim_cpu *c = container_of(work, struct sim_cpu, again);

	if (!READ_ONCE(c->seen) && model_global_status(sim.model, c->pkg))
		sim_send_nmi();
	else
		atomic_dec(&sim_pmis_pending);
}

/**
 * sim_pmi_seen() - the global status was read on this CPU, in an NMI
 */
void sim_pmi_seen(void)
{
	this_cpu_write(sim_cpus.seen, true);
}

/*
 * NMI context, before the driver's handler.  An NMI that another CPU has sent
 * may have come where that handler's probes are missed.  Then it reads a global
 * status of 0 and takes the NMI for somebody else's: claim it, and later send it
 * again.
 */
static int sim_nmi(unsigned int type, struct pt_regs *regs)
{
	struct sim_cpu *c = this_cpu_ptr(&sim_cpus);

	if (!READ_ONCE(c->from_other))
		return NMI_DONE;
	WRITE_ONCE(c->from_other, false);
	WRITE_ONCE(c->seen, false);
	if (user_mode(regs) || regs->flags & X86_EFLAGS_IF || c->pkg < 0 ||
	    !model_global_status(sim.model, c->pkg))
		return NMI_DONE;
	atomic_inc(&sim_pmis_pending);
	if (!irq_work_queue(&c->again))
		atomic_dec(&sim_pmis_pending);
	return NMI_HANDLED;
}

/*
 * Has a task caused the overflow here with a system call, or did time in the
 * middle of one?  It may sleep before another CPU could send an NMI.
 */
static bool sim_in_kernel(void)
{
	return !in_hardirq() || (get_irq_regs() && !user_mode(get_irq_regs()));
}

/* A PMI that is already under way to the CPU serves for this one too. */
static void sim_pmi_cpu(unsigned int cpu)
{
	struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);
	bool sent;

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

static void sim_pmi_cores(unsigned int pkg, u32 core_mask)
{
	unsigned int cpu, core;
	struct sim_cpu *c;

	/* With interrupts off no CPU can leave the mask under our feet. */
	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(&sim_cpus, cpu);
		if (READ_ONCE(c->pkg) != pkg)
			continue;
		core = bitmap_weight(sim_core_ids[pkg], c->core_id);
		if (core < 32 && core_mask & BIT(core))
			sim_pmi_cpu(cpu);
	}
}

static void sim_pmi_deferred(struct irq_work *work)
{
	unsigned int pkg;
	u32 core_mask;

	for (pkg = 0; pkg < sim.config.packages; pkg++) {
		core_mask = atomic_xchg(&sim_deferred[pkg], 0);
		if (core_mask)
			sim_pmi_cores(pkg, core_mask);
	}
	atomic_dec(&sim_pmis_pending);
}

/* Every core's PMI to the next one; a lone core keeps its own. */
static u32 sim_next_cores(unsigned int pkg, u32 core_mask)
{
	unsigned int n = bitmap_weight(sim_core_ids[pkg], SIM_MAX_CORE_ID);

	if (n < 2 || n > 31)
		return core_mask;
	return (core_mask << 1 | core_mask >> (n - 1)) & GENMASK(n - 1, 0);
}

/**
 * sim_pmi_misroute() - send a package's PMIs to the wrong cores, or stop that
 * @pkg: package
 * @on: to the wrong ones
 */
void sim_pmi_misroute(unsigned int pkg, bool on)
{
	assign_bit(pkg, &sim_misrouted, on);
}

/**
 * sim_pmi_misrouted() - do a package's PMIs go to the wrong cores?
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
 * @wake: wake sleeping cores for it; ours always wake, as no virtual CPU
 *	sleeps too deep for an interrupt
 *
 * Called under the model's lock.
 */
void sim_pmi(void *ctx, unsigned int pkg, u32 core_mask, bool wake)
{
	sim_count(SIM_PMI);
	if (sim_pmi_misrouted(pkg))
		core_mask = sim_next_cores(pkg, core_mask);

	if (!in_nmi()) {
		sim_pmi_cores(pkg, core_mask);
		return;
	}
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

	set_bit(core_id, sim_core_ids[pkg]);
	c->core_id = core_id;
	WRITE_ONCE(c->pkg, pkg);
	return 0;
}

/**
 * sim_pmi_init() - learn the CPUs that can get PMIs, now and as they come
 *
 * Return: 0 or a negative error.
 */
int sim_pmi_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);

		c->cpu = cpu;
		c->pkg = -1;
		INIT_CSD(&c->csd, sim_pmi_csd, NULL);
		INIT_CSD(&c->return_csd, sim_pmi_return, c);
		hrtimer_init(&c->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		c->timer.function = sim_send_nmi_to;
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
 * sim_pmi_exit() - wait for the last PMI; nobody may raise new ones
 */
void sim_pmi_exit(void)
{
	cpuhp_remove_state_nocalls(sim_cpuhp);
	while (atomic_read(&sim_pmis_pending))
		usleep_range(100, 1000);
	unregister_nmi_handler(NMI_LOCAL, "sim");
	/* The last one is past its count, but maybe not past our code. */
	synchronize_rcu();
}

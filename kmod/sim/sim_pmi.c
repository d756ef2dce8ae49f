// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt front: a PMI of the UBox becomes an NMI on the CPUs of the
 * cores that it is sent to.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>

#include "sim.h"

#define SIM_MAX_CORE_ID	1024

/**
 * struct sim_cpu - the way to one CPU
 * @csd: sends it there from another CPU
 * @work: sends it there from the CPU itself
 * @pkg: package, or -1 for a CPU that was never seen online
 * @core_id: of its core, as the kernel numbers them (with gaps)
 */
struct sim_cpu {
	call_single_data_t csd;
	struct irq_work work;
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

/*
 * In hard-interrupt context on the target CPU: an NMI sent from here cannot
 * hit in the middle of a kprobe's breakpoint, which runs with interrupts off.
 * There the handler's own MSR accesses would miss their probe.
 */
static void sim_send_nmi(void)
{
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	atomic_dec(&sim_pmis_pending);
}

static void sim_pmi_csd(void *info)
{
	sim_send_nmi();
}

static void sim_pmi_work(struct irq_work *work)
{
	sim_send_nmi();
}

/* A PMI that is already under way to the CPU serves for this one too. */
static void sim_pmi_cpu(unsigned int cpu)
{
	struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);
	bool sent;

	atomic_inc(&sim_pmis_pending);
	/* To itself the call below would run at once, under the model's lock */
	if (cpu == smp_processor_id())
		sent = irq_work_queue(&c->work);
	else
		sent = !smp_call_function_single_async(cpu, &c->csd);
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

		c->pkg = -1;
		INIT_CSD(&c->csd, sim_pmi_csd, NULL);
		c->work = IRQ_WORK_INIT_HARD(sim_pmi_work);
	}
	sim_deferred_work = IRQ_WORK_INIT_HARD(sim_pmi_deferred);

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "xeon_uncore_sim:pmi",
				sim_cpu_online, NULL);
	if (ret < 0) {
		pr_err("cannot follow CPU hotplug (error %d)\n", ret);
		return ret;
	}
	sim_cpuhp = ret;
	return 0;
}

/**
 * sim_pmi_exit() - wait for the last PMI; nobody may raise new ones
 */
void sim_pmi_exit(void)
{
	cpuhp_remove_state_nocalls(sim_cpuhp);
	while (atomic_read(&sim_pmis_pending))
		usleep_range(100, 1000);
	/* The last one is past its count, but maybe not past our code. */
	synchronize_rcu();
}

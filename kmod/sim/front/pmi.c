// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt front: a PMI of the UBox becomes an NMI (nmi.c) on the CPUs of the
 * selected cores.
 *
 * The model finds an overflow in a register access or in the interrupt of the clock's timer.
 * If the timer has interrupted a program on a selected CPU, an NMI at once would always
 * sample the timer's handler. So another CPU sends the NMI a moment later, when the program
 * usually runs again:
 *
 *	sim_pmi_cpu() -> NMI
 *		      -> timer on another CPU -> NMI
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/processor.h>

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

static bool sim_pmis_off;
static bool sim_by_id;

#define SIM_MAX_CORE_ID	1024

/* Time that a CPU needs to return from the timer's interrupt to the program */
#define SIM_RETURN_NS	(40 * NSEC_PER_USEC)

/**
 * struct sim_cpu - delivery of PMIs to one CPU
 * @return_csd: function call by which another CPU starts @timer
 * @timer: sends the NMI to this CPU; runs on another CPU
 * @returning: causes of the NMI that @timer is to send, SIM_NMI_*; 0: none
 * @cpu: number of this CPU
 * @pkg: package of this CPU, or -1 if it has not been online
 * @core_id: id of this CPU's core in the package; ids may have gaps
 */
struct sim_cpu {
	call_single_data_t return_csd;
	struct hrtimer timer;
	atomic_t returning;
	unsigned int cpu;
	int pkg;
	unsigned int core_id;
};

static DEFINE_PER_CPU(struct sim_cpu, sim_cpus);

/*
 * Core ids of each package, a bit for each id, whether or not the CPUs are online. By
 * "rank", bit N of pmi_core_sel selects the core with the Nth id.
 */
static DECLARE_BITMAP(sim_core_ids[MODEL_MAX_PACKAGES], SIM_MAX_CORE_ID);

/* The kernel's core ids have the number of the die above these bits. */
static unsigned int sim_core_id_bits = ~0U;

/* Packages whose PMIs go to the wrong cores, a bit each */
static unsigned long sim_misrouted;

static enum cpuhp_state sim_cpuhp;

/**
 * sim_pmi_send_plain() - send a CPU an NMI that is not a PMI
 * @cpu: the CPU
 *
 * Return: 0, or -ENXIO if the CPU is not online.
 */
int sim_pmi_send_plain(unsigned int cpu)
{
	unsigned long flags;
	bool online;

	/* The CPU cannot go offline while this CPU has interrupts off. */
	local_irq_save(flags);
	online = cpu_online(cpu);
	if (online)
		sim_nmi_send(cpu, SIM_NMI_PLAIN);
	local_irq_restore(flags);
	return online ? 0 : -ENXIO;
}

/*
 * Send the NMI from another CPU. The target CPU cannot go offline while this CPU has
 * interrupts off.
 */
static enum hrtimer_restart sim_pmi_timer(struct hrtimer *timer)
{
	struct sim_cpu *c = container_of(timer, struct sim_cpu, timer);
	u32 causes = atomic_xchg(&c->returning, 0);

	if (cpu_online(c->cpu))
		sim_nmi_send(c->cpu, causes);
	else
		sim_count(SIM_PMI_DROPPED);
	return HRTIMER_NORESTART;
}

/* Start the timer; runs on another CPU than the target of the NMI. */
static void sim_pmi_return(void *info)
{
	struct sim_cpu *c = info;

	hrtimer_start(&c->timer, ns_to_ktime(SIM_RETURN_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * Return whether this is a hard interrupt's handler that has interrupted user mode. A task
 * in a system call gets the NMI at once, because the task may sleep soon.
 */
static bool sim_pmi_interrupts_program(void)
{
	return !in_nmi() && in_hardirq() && get_irq_regs() &&
	       user_mode(get_irq_regs());
}

/*
 * Let another CPU send the NMI after SIM_RETURN_NS. If an NMI is already waiting to be sent,
 * the causes are added to it. Without another CPU, send the NMI at once.
 */
static void sim_pmi_after_return(struct sim_cpu *c, u32 causes)
{
	unsigned int other = cpumask_any_but(cpu_online_mask, c->cpu);

	if (atomic_fetch_or(causes, &c->returning))
		return;
	if (other >= nr_cpu_ids ||
	    smp_call_function_single_async(other, &c->return_csd))
		sim_nmi_send(c->cpu, atomic_xchg(&c->returning, 0));
}

/* Send a PMI to a CPU, unless the core PMU's NMI had LVTPC masked at the overflow. */
static void sim_pmi_cpu(unsigned int cpu, u32 causes)
{
	if (sim_core_pmu_masks(cpu, sim_clock_model_ns(NULL)))
		sim_count(SIM_PMI_DROPPED);
	else if (cpu == smp_processor_id() && sim_pmi_interrupts_program())
		sim_pmi_after_return(per_cpu_ptr(&sim_cpus, cpu), causes);
	else
		sim_nmi_send(cpu, causes);
}

/* Return the number of the bit in pmi_core_sel that selects a CPU's core. */
static unsigned int sim_core_number(const struct sim_cpu *c)
{
	if (sim_by_id)
		return c->core_id;
	return bitmap_weight(sim_core_ids[c->pkg], c->core_id);
}

/* Send a PMI to the CPUs of the selected cores. Called under the model's lock. */
static void sim_pmi_cores(unsigned int pkg, u32 core_mask, u32 causes)
{
	unsigned int cpu, core;
	struct sim_cpu *c;

	/* No CPU can go offline while this CPU has interrupts off. */
	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(&sim_cpus, cpu);
		if (READ_ONCE(c->pkg) != pkg)
			continue;
		core = sim_core_number(c);
		if (core < 32 && core_mask & BIT(core))
			sim_pmi_cpu(cpu, causes);
	}
}

/*
 * Return the wrong cores for a mask of pmi_core_sel: the next core instead of each core. In a
 * package with a single core it is the right core.
 */
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
 * sim_pmi_misroute() - switch the fault that a package's PMIs go to the wrong cores
 * @pkg: package
 * @on: true: to the wrong cores; false: to the right cores
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
 * sim_pmi() - send a PMI of a UBox; model_ops.pmi
 * @ctx: unused
 * @pkg: package of the UBox
 * @core_mask: pmi_core_sel (§2.1.5)
 * @wake: the PMI wakes sleeping cores (wk_on_pmi)
 *
 * Context: under the model's lock; any, NMIs included.
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
	sim_pmi_cores(pkg, core_mask,
		      wake ? SIM_NMI_PMI | SIM_NMI_WAKE : SIM_NMI_PMI);
}

static int sim_cpu_online(unsigned int cpu)
{
	struct sim_cpu *c = per_cpu_ptr(&sim_cpus, cpu);
	unsigned int pkg = unc_cpu_package(cpu);
	unsigned int core_id = topology_core_id(cpu) & sim_core_id_bits;

	if (pkg >= sim.config.packages || core_id >= SIM_MAX_CORE_ID)
		return 0;

	sim_lapic_online();
	/* sim_find_cores() may not have found a CPU that firmware did not announce */
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

/*
 * CPUID leaves with the number of APIC id bits for the thread, and up to the core. In the
 * second leaf the die's bits are not a part of the core's.
 */
#define CPUID_TOPOLOGY		0xb
#define CPUID_TOPOLOGY_DIES	0x1f
#define CPUID_TOPOLOGY_BITS	0x1f

/*
 * Find the cores of all packages by the APIC ids of their CPUs. The kernel has the APIC ids
 * of offline CPUs as well.
 */
static void sim_find_cores(void)
{
	u32 leaf = unc_dies_per_package() > 1 ? CPUID_TOPOLOGY_DIES : CPUID_TOPOLOGY;
	unsigned int cpu, apicid, pkg, core, thread_bits, core_bits;

	/* without the leaf, sim_cpu_online() adds the core of each CPU that comes online */
	if (boot_cpu_data.cpuid_level < leaf)
		return;
	thread_bits = sim_cpuid_eax(leaf, 0) & CPUID_TOPOLOGY_BITS;
	core_bits = sim_cpuid_eax(leaf, 1) & CPUID_TOPOLOGY_BITS;
	sim_core_id_bits = BIT(core_bits - thread_bits) - 1;
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
 * sim_pmi_init() - find the CPUs to which PMIs go, and follow CPUs that come online
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
		INIT_CSD(&c->return_csd, sim_pmi_return, c);
		unc_hrtimer_setup(&c->timer, sim_pmi_timer, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED_HARD);
	}

	ret = sim_nmi_init();
	if (ret)
		return ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "xeon_uncore_sim:pmi",
				sim_cpu_online, NULL);
	if (ret < 0) {
		pr_err("cannot follow CPU hotplug (error %d)\n", ret);
		sim_nmi_exit();
		return ret;
	}
	sim_cpuhp = ret;
	return 0;
}

static bool sim_pmi_is_returning(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (atomic_read(&per_cpu(sim_cpus, cpu).returning))
			return true;
	return false;
}

/**
 * sim_pmi_exit() - wait until the last PMI has been sent; the model raises no PMIs any more
 */
void sim_pmi_exit(void)
{
	cpuhp_remove_state_nocalls(sim_cpuhp);
	while (sim_pmi_is_returning())
		usleep_range(100, 1000);
	/* The last timer has sent its NMI, but may still run. */
	synchronize_rcu();
	sim_nmi_exit();
}

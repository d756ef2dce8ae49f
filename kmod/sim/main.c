// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life cycle of the simulator: check the module parameters of the machine, and start and
 * stop the parts of the simulator in order. The hardware itself is in model/.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <asm/processor.h>

#include "sim.h"

/* Default of counter_bits: the width that the generation has */
#define ALL	U32_MAX

struct sim sim = {
	.config = {
		.packages = 2,
		.counter_bits = ALL,
		.fixed_bits = MODEL_COUNTER_BITS,
		.num_c = -1,
		.twice = -1,
		.clock_khz[MODEL_UCLK] = 2500000,
	},
	.lock = __RAW_SPIN_LOCK_UNLOCKED(sim.lock),
};

static char *sim_model_name = "";
module_param_named(model, sim_model_name, charp, 0444);
MODULE_PARM_DESC(model,
		 "Generation that is simulated, such as hswep (default: that of this machine's processor, or hswep)");
module_param_named(packages, sim.config.packages, uint, 0444);
MODULE_PARM_DESC(packages, "Simulated sockets, or dies where sockets have several, 1-16 (default 2)");
module_param_named(counter_bits, sim.config.counter_bits, uint, 0444);
MODULE_PARM_DESC(counter_bits,
		 "Width of counters that may be narrow, such as the UBox's, 44 or 48 (default: the model's)");
module_param_named(fixed_bits, sim.config.fixed_bits, uint, 0444);
MODULE_PARM_DESC(fixed_bits, "Width of fixed counters, 32-48 (default 48)");
module_param_named(num_c, sim.config.num_c, int, 0444);
MODULE_PARM_DESC(num_c,
		 "What U_MSR_PMON_GLOBAL_CONFIG.num_c reads, 0-63, and the number of CHAs in CAPID6 (default -1: the number of boxes)");
module_param_named(node_map, sim.config.node_map, uint, 0444);
MODULE_PARM_DESC(node_map,
		 "Node id of each of eight packages, an octal digit each from the right (default 076543210)");

module_param_named(irp_counters, sim.config.irp_counters, uint, 0444);
MODULE_PARM_DESC(irp_counters,
		 "Where the IRPs' counters are on Haswell and Broadwell: 0 as in Table 1-3 of the manual (default), 1 as in Table 2-144, 2 as in Table 1-3 with one more register that keeps what is written");

static int sim_check_range(const char *name, unsigned int value,
			   unsigned int min, unsigned int max)
{
	if (value >= min && value <= max)
		return 0;

	pr_err("invalid %s=%u (expected %u to %u)\n", name, value, min, max);
	return -EINVAL;
}

static int sim_check_choice(const char *name, unsigned int value,
			    unsigned int a, unsigned int b)
{
	if (value == a || value == b)
		return 0;

	pr_err("invalid %s=%u (expected %u or %u)\n", name, value, a, b);
	return -EINVAL;
}

static int sim_check_config(struct model_config *c)
{
	int ret;

	ret = sim_check_range("packages", c->packages, 1, MODEL_MAX_PACKAGES);
	ret = ret ?: sim_boxes_check(c);
	ret = ret ?: sim_check_range("domain_packages", c->segment_packages, 0,
				     c->packages);
	ret = ret ?: sim_check_choice("counter_bits", c->counter_bits, 44, 48);
	ret = ret ?: sim_check_range("irp_counters", c->irp_counters, 0, 2);
	ret = ret ?: sim_check_range("fixed_bits", c->fixed_bits,
				     MODEL_MIN_FIXED_BITS, MODEL_COUNTER_BITS);
	ret = ret ?: sim_clock_check(c);
	ret = ret ?: sim_quirk_check();
	ret = ret ?: sim_delay_check();
	ret = ret ?: sim_memory_check(c);
	if (!ret && (c->num_c < -1 || c->num_c > 63)) {
		pr_err("invalid num_c=%d (expected 0 to 63, or -1)\n",
		       c->num_c);
		ret = -EINVAL;
	}
	return ret;
}

/*
 * Return the generation of model=, or NULL if the name is unknown. Without model= it is the
 * generation of this processor, or else the first generation.
 */
static const struct model_generation *sim_find_model(void)
{
	const struct model_generation *const *gen;

	for (gen = model_generations; *gen; gen++) {
		if (*sim_model_name ? !strcmp((*gen)->name, sim_model_name) :
				      boot_cpu_data.x86 ==
				      (*gen)->cpu_family &&
				      boot_cpu_data.x86_model ==
				      (*gen)->cpu_model &&
				      (!(*gen)->steppings || (*gen)->steppings &
				       BIT(boot_cpu_data.x86_stepping)))
			return *gen;
	}
	return *sim_model_name ? NULL : model_generations[0];
}

/* Choose the generation, and replace ALL by the width that the generation has. */
static int sim_choose_model(struct model_config *c)
{
	const struct model_generation *const *gen;
	unsigned int used = 0;
	char names[96] = "";

	c->gen = sim_find_model();
	if (!c->gen) {
		for (gen = model_generations; *gen; gen++)
			used += scnprintf(names + used, sizeof(names) - used,
					  " %s", (*gen)->name);
		pr_err("invalid model=%s (expected one of:%s)\n", sim_model_name,
		       names);
		return -EINVAL;
	}
	if (c->counter_bits == ALL)
		c->counter_bits = c->gen->counter_bits;
	return 0;
}

/*
 * Return the PCI device ID of a real UBox of any generation, or 0. Simulated boxes must not
 * hide real boxes.
 */
static u16 sim_real_uncore(void)
{
	const struct model_generation *const *gen;
	struct pci_dev *ubox;

	for (gen = model_generations; *gen; gen++) {
		if (!(*gen)->ubox_device)
			continue;
		ubox = pci_get_device(PCI_VENDOR_ID_INTEL, (*gen)->ubox_device,
				      NULL);
		pci_dev_put(ubox);
		if (ubox)
			return (*gen)->ubox_device;
	}
	return 0;
}

static const struct model_ops sim_model_ops = {
	.pmi = sim_pmi,
	.now_ns = sim_clock_model_ns,
	.undefined = sim_undefined,
};

/*
 * Set sim.model under the model's lock: delay.c checks sim.model under the lock when a
 * parameter is written.
 */
static void sim_model_publish(struct model *m)
{
	unsigned long flags;

	flags = sim_lock();
	sim.model = m;
	if (m)
		model_set_delays(m, &sim.delays);
	sim_unlock(flags);
}

static int sim_model_init(void)
{
	struct model *m = kvzalloc(model_size(), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	if (model_init(m, &sim.config, &sim_model_ops, NULL)) {
		pr_err("invalid node_map=0%o (expected a different node id for each package)\n",
		       sim.config.node_map);
		kvfree(m);
		return -EINVAL;
	}
	model_boot(m);
	sim_model_publish(m);
	return 0;
}

static void sim_model_exit(void)
{
	struct model *m = sim.model;

	sim_model_publish(NULL);
	kvfree(m);
	sim_rate_exit();
}

/*
 * Parts of the simulator in the order of their start. A part may be used as soon as it is
 * started, so the parts that it needs come before it. The parts stop in reverse order. PCI
 * stops before MSRs and memory, because drivers that are unbound from PCI devices access them
 * as well.
 */
static const struct {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
} sim_parts[] = {
	{ "model", sim_model_init, sim_model_exit },
	{ "quirks", sim_quirk_init, sim_quirk_exit },
	{ "interrupts", sim_pmi_init, sim_pmi_exit },
	{ "holds", sim_hold_init, sim_hold_exit },
	{ "NMI listener", sim_nmi_listener_init, sim_nmi_listener_exit },
	{ "core PMU", sim_core_pmu_init, sim_core_pmu_exit },
	{ "clock", sim_clock_init, sim_clock_exit },
	{ "CPU hotplug", sim_hotplug_init, sim_hotplug_exit },
	{ "MSRs", sim_msr_init, sim_msr_exit },
	{ "registers in memory", sim_mapping_init, sim_mapping_exit },
	{ "PCI buses", sim_pci_init, sim_pci_exit },
	{ "power", sim_power_init, sim_power_exit },
	{ "other PMU", sim_other_pmu_init, sim_other_pmu_exit },
	{ "page faults", sim_page_faults_init, sim_page_faults_exit },
	{ "control files", sim_debugfs_init, sim_debugfs_exit },
	{ "device", sim_device_init, sim_device_exit },
};

/* Stop the first @parts parts in reverse order. */
static void sim_down(unsigned int parts)
{
	while (parts--)
		sim_parts[parts].exit();
}

static int __init sim_init(void)
{
	unsigned int i;
	u16 real;
	int ret;

	ret = sim_choose_model(&sim.config) ?: sim_check_config(&sim.config);
	if (ret)
		return ret;

	real = sim_real_uncore();
	if (real) {
		pr_err("this machine has a real uncore (PCI device 8086:%04x): not loading\n",
		       real);
		return -ENODEV;
	}

	for (i = 0; i < ARRAY_SIZE(sim_parts); i++) {
		ret = sim_parts[i].init();
		if (!ret)
			continue;
		if (ret == -ENOMEM)
			pr_err("no memory for the %s\n", sim_parts[i].name);
		sim_down(i);
		return ret;
	}
	sim_stats_clear();
	sim_trace_clear();
	return 0;
}

static void __exit sim_exit(void)
{
	sim_down(ARRAY_SIZE(sim_parts));
	sim_stats_log();
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_DESCRIPTION("Simulated Intel Xeon uncore performance monitors");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated uncore's life: parameters, and bringing its fronts up and
 * down in order.  What the hardware does is in model.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "sim.h"

#define UBOX_DEVICE_ID	0x2f1e

struct sim sim = {
	.config = {
		.packages = 2,
		.cboxes = 18,
		.sboxes = 4,
		.has = 2,
		.imcs = 8,
		.qpi_ports = 3,
		.counter_bits = 48,
		.num_c = -1,
	},
	.lock = __RAW_SPIN_LOCK_UNLOCKED(sim.lock),
};

module_param_named(packages, sim.config.packages, uint, 0444);
MODULE_PARM_DESC(packages, "Simulated sockets, 1-4 (default 2)");
module_param_named(cboxes, sim.config.cboxes, uint, 0444);
MODULE_PARM_DESC(cboxes, "CBos a package, 1-18 (default 18)");
module_param_named(sboxes, sim.config.sboxes, uint, 0444);
MODULE_PARM_DESC(sboxes, "SBos a package, 2 or 4 (default 4)");
module_param_named(has, sim.config.has, uint, 0444);
MODULE_PARM_DESC(has, "Home agents a package, 1-2 (default 2)");
module_param_named(imcs, sim.config.imcs, uint, 0444);
MODULE_PARM_DESC(imcs, "Memory channels a package, 1-8 (default 8)");
module_param_named(qpi_ports, sim.config.qpi_ports, uint, 0444);
MODULE_PARM_DESC(qpi_ports, "QPI ports a package, 1-3 (default 3)");
module_param_named(counter_bits, sim.config.counter_bits, uint, 0444);
MODULE_PARM_DESC(counter_bits,
		 "Width of UBox, SBo and R3QPI counters, 44 or 48 (default 48)");
module_param_named(num_c, sim.config.num_c, int, 0444);
MODULE_PARM_DESC(num_c,
		 "What U_MSR_PMON_GLOBAL_CONFIG.num_c reads, 0-31 (default -1: as cboxes)");

static int sim_check_range(const char *name, unsigned int value,
			   unsigned int min, unsigned int max)
{
	if (value >= min && value <= max)
		return 0;

	pr_err("%s=%u is not possible: give %u to %u\n", name, value, min, max);
	return -EINVAL;
}

static int sim_check_choice(const char *name, unsigned int value,
			    unsigned int a, unsigned int b)
{
	if (value == a || value == b)
		return 0;

	pr_err("%s=%u is not possible: give %u or %u\n", name, value, a, b);
	return -EINVAL;
}

static int sim_check_config(const struct model_config *c)
{
	int ret;

	ret = sim_check_range("packages", c->packages, 1, MODEL_MAX_PACKAGES);
	ret = ret ?: sim_check_range("cboxes", c->cboxes, 1, 18);
	ret = ret ?: sim_check_choice("sboxes", c->sboxes, 2, 4);
	ret = ret ?: sim_check_range("has", c->has, 1, 2);
	ret = ret ?: sim_check_range("imcs", c->imcs, 1, 8);
	ret = ret ?: sim_check_range("qpi_ports", c->qpi_ports, 1, 3);
	ret = ret ?: sim_check_choice("counter_bits", c->counter_bits, 44, 48);
	if (!ret && (c->num_c < -1 || c->num_c > 31)) {
		pr_err("num_c=%d is not possible: give 0 to 31, or -1\n",
		       c->num_c);
		ret = -EINVAL;
	}
	return ret;
}

/* Real boxes must not be hidden behind simulated ones. */
static bool sim_real_uncore(void)
{
	struct pci_dev *ubox;

	ubox = pci_get_device(PCI_VENDOR_ID_INTEL, UBOX_DEVICE_ID, NULL);
	pci_dev_put(ubox);
	return ubox;
}

static const struct model_ops sim_model_ops = {
	.pmi = sim_pmi,
	.now_ns = sim_clock_model_ns,
	.undefined = sim_undefined,
};

static int sim_model_init(void)
{
	int ret;

	sim.model = kvzalloc(model_size(), GFP_KERNEL);
	if (!sim.model)
		return -ENOMEM;

	ret = model_init(sim.model, &sim.config, &sim_model_ops, NULL);
	if (ret) {
		pr_err("the model refuses this configuration\n");
		kvfree(sim.model);
		return -EINVAL;
	}
	return 0;
}

static void sim_model_exit(void)
{
	kvfree(sim.model);
}

/*
 * From the inside out: a front may be used from the moment it is up, so all
 * that it leans on comes before it.  The order down is the same reversed; PCI
 * goes while MSRs still answer, as drivers that are unbound use both.
 */
static const struct {
	const char *what;
	int (*init)(void);
	void (*exit)(void);
} sim_parts[] = {
	{ "model", sim_model_init, sim_model_exit },
	{ "interrupts", sim_pmi_init, sim_pmi_exit },
	{ "clock", sim_clock_init, sim_clock_exit },
	{ "CPU hotplug", sim_hotplug_init, sim_hotplug_exit },
	{ "MSRs", sim_msr_init, sim_msr_exit },
	{ "PCI buses", sim_pci_init, sim_pci_exit },
	{ "page faults", sim_page_faults_init, sim_page_faults_exit },
	{ "control files", sim_debugfs_init, sim_debugfs_exit },
	{ "device", sim_device_init, sim_device_exit },
};

static void sim_down(unsigned int parts)
{
	while (parts--)
		sim_parts[parts].exit();
}

static int __init sim_init(void)
{
	unsigned int i;
	int ret;

	ret = sim_check_config(&sim.config);
	if (ret)
		return ret;

	if (sim_real_uncore()) {
		pr_err("this machine has a real uncore (PCI device 8086:%04x): not loading\n",
		       UBOX_DEVICE_ID);
		return -ENODEV;
	}

	for (i = 0; i < ARRAY_SIZE(sim_parts); i++) {
		ret = sim_parts[i].init();
		if (!ret)
			continue;
		if (ret == -ENOMEM)
			pr_err("no memory for the %s\n", sim_parts[i].what);
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
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_DESCRIPTION("Simulated Intel Xeon uncore performance monitors");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading, unloading and CPU hotplug.  Loading checks the CPU model and that intel_uncore
 * is not loaded, and then starts all parts of the driver in order.
 *
 * intel_uncore is the kernel's own driver of the same hardware.  The two drivers would
 * program the same registers, so only one of them may be loaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/device/driver.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <asm/cpu_device_id.h>

#include "nmi.h"
#include "overflow.h"
#include "package.h"
#include "package_sysfs.h"
#include "pci.h"
#include "pmi.h"
#include "pmi_probe.h"
#include "pmus.h"
#include "power.h"
#include "sampling.h"
#include "sysfs.h"
#include "timer.h"
#include "topology.h"
#include "hw/hw.h"

static char *pmu_prefix;
module_param(pmu_prefix, charp, 0444);
MODULE_PARM_DESC(pmu_prefix,
		 "first part of the PMUs' names (default: the generation's, such as hswep); \"uncore\" gives the names of the kernel's own driver");

/*
 * Processors with uncore counters that the driver does not support: without a manual,
 * a guess at registers gives wrong numbers at best.
 */
static const struct x86_cpu_id unc_unread_cpus[] = {
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 26, "Nehalem-EP"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 44, "Westmere-EP"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 46, "Nehalem-EX"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 47, "Westmere-EX"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 85, "Skylake-SP or a successor of unknown stepping"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 6, 143, "Sapphire Rapids"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 15, 3, "64-bit Xeon MP"),
	X86_MATCH_VENDOR_FAM_MODEL(INTEL, 15, 4, "64-bit Xeon MP"),
	{ }
};

/* --- other drivers ------------------------------------------------------- */

#define UNC_IN_TREE_MODULE	"intel_uncore"
/* Prefix of intel_uncore's PMUs.  With this prefix the driver behaves as intel_uncore. */
#define UNC_IN_TREE_PREFIX	"uncore"

/*
 * Check for intel_uncore.  A module has a folder in /sys/module; of a driver that is
 * built in, only the PCI driver is visible.
 */
static bool unc_in_tree_is_loaded(void)
{
	struct kobject *module = kset_find_obj(THIS_MODULE->mkobj.kobj.kset,
					       UNC_IN_TREE_MODULE);

	if (module) {
		kobject_put(module);
		return true;
	}
	return unc.gen->in_tree && driver_find(unc.gen->in_tree, &pci_bus_type);
}

/* intel_uncore had passed MODULE_STATE_COMING before the notifier was registered. */
static bool unc_in_tree_met;

static void unc_log_in_tree_failure(void)
{
	pr_err("%s not loaded: it would program the same registers; rmmod %s first\n",
	       UNC_IN_TREE_MODULE, KBUILD_MODNAME);
}

/* Notifier of modules: refuse a load of intel_uncore, and log why intel_uncore fails. */
static int unc_module_event(struct notifier_block *nb, unsigned long action,
			    void *data)
{
	const struct module *module = data;

	if (strcmp(module->name, UNC_IN_TREE_MODULE))
		return NOTIFY_DONE;
	if (action != MODULE_STATE_COMING)
		WRITE_ONCE(unc_in_tree_met, true);
	/*
	 * MODULE_STATE_GOING: the load failed because this driver has UNC_HOTPLUG_STATE,
	 * and intel_uncore itself logs nothing.
	 */
	if (action == MODULE_STATE_COMING ||
	    (action == MODULE_STATE_GOING && READ_ONCE(unc.ready)))
		unc_log_in_tree_failure();
	return action == MODULE_STATE_COMING ? notifier_from_errno(-EBUSY) :
					       NOTIFY_DONE;
}

static struct notifier_block unc_module_watch = {
	.notifier_call = unc_module_event,
};

static int unc_refuse_in_tree(void)
{
	pr_err("not loaded: %s drives this uncore; rmmod %s first (README says how to keep it away)\n",
	       UNC_IN_TREE_MODULE, UNC_IN_TREE_MODULE);
	return -EBUSY;
}

/* Look for intel_uncore, loaded or being loaded. */
static int unc_check_in_tree(void)
{
	return unc_in_tree_is_loaded() ? unc_refuse_in_tree() : 0;
}

/* Number of checks whether a failing load of intel_uncore has ended, and ms between them */
#define UNC_IN_TREE_TRIES	500
#define UNC_IN_TREE_MS		10

/*
 * Wait for an intel_uncore that was being loaded when this driver began to load.  Such an
 * intel_uncore passed MODULE_STATE_COMING before the notifier was registered, and had no
 * folder in /sys/module at the first check.  Its load fails, as it cannot get
 * UNC_HOTPLUG_STATE, but until then it may claim PCI functions and register PMUs.
 *
 * Returns 0, or -EAGAIN after intel_uncore was unloaded: the caller starts again.
 */
static int unc_outlast_in_tree(void)
{
	unsigned int tries = 0;

	if (!READ_ONCE(unc_in_tree_met) && !unc_in_tree_is_loaded())
		return 0;
	while (unc_in_tree_is_loaded()) {
		if (tries++ == UNC_IN_TREE_TRIES)
			return unc_refuse_in_tree();
		msleep(UNC_IN_TREE_MS);
	}
	WRITE_ONCE(unc_in_tree_met, false);
	/* The notifier logged nothing, as this driver was not ready. */
	unc_log_in_tree_failure();
	return -EAGAIN;
}

/* --- CPU hotplug --------------------------------------------------------- */

/*
 * The hotplug state that intel_uncore uses as well, as a module or built in.  A state has
 * one user: the second driver gets -EBUSY.
 */
#define UNC_HOTPLUG_STATE	CPUHP_AP_PERF_X86_UNCORE_ONLINE

/* Handle a CPU that comes online.  Runs on that CPU. */
static int unc_cpu_online(unsigned int cpu)
{
	struct unc_package *pkg = unc_package_of_cpu(cpu);
	unsigned long flags;

	if (!pkg) {
		pr_info_once("CPU %u is of a package that had no CPU online when the module was loaded: reload it to count there\n",
			     cpu);
		return 0;
	}
	local_irq_save(flags);
	unc_nmi_online();
	unc_pmi_probe_online();
	if (pkg->cpu >= nr_cpu_ids) {
		/* all CPUs of the package were offline: its registers may hold any value */
		unc_power_resume(pkg);
		WRITE_ONCE(pkg->cpu, unc_package_pick_cpu(pkg, nr_cpu_ids));
	}
	unc_timer_online(pkg);
	local_irq_restore(flags);
	return 0;
}

/*
 * Handle a CPU that goes offline.  Runs on that CPU.  If it is the package's perf CPU,
 * the package's events migrate to another CPU of the package.
 */
static int unc_cpu_offline(unsigned int cpu)
{
	struct unc_package *pkg = unc_package_of_cpu(cpu);
	unsigned long flags;
	unsigned int other;

	if (!pkg || pkg->cpu != cpu)
		return 0;
	other = unc_package_pick_cpu(pkg, cpu);
	WRITE_ONCE(pkg->cpu, other);
	if (other < nr_cpu_ids) {
		unc_pmus_migrate(pkg, cpu, other);
	} else {
		local_irq_save(flags);
		unc_power_suspend(pkg);
		local_irq_restore(flags);
	}
	return 0;
}

/* --- loading ------------------------------------------------------------- */

static bool unc_prefix_ok(const char *prefix)
{
	unsigned int n = 0;

	while (isalnum(prefix[n]) || prefix[n] == '_')
		n++;
	return !prefix[n] && n && n <= 32;
}

/* Log that the processor is not supported. */
static void __init unc_name_stranger(void)
{
	const struct x86_cpu_id *id = x86_match_cpu(unc_unread_cpus);
	const char *name = id ? (const char *)id->driver_data : NULL;

	if (name)
		pr_err("family %u model %u is %s, whose uncore this module has no manual of (stepping %u)\n",
		       boot_cpu_data.x86, boot_cpu_data.x86_model, name,
		       boot_cpu_data.x86_stepping);
	else
		pr_err("family %u model %u is not a processor whose uncore this module knows (stepping %u)\n",
		       boot_cpu_data.x86, boot_cpu_data.x86_model,
		       boot_cpu_data.x86_stepping);
}

/* Find the processor's generation, or NULL.  Generations may differ in stepping only. */
static const struct unc_generation *__init unc_find_generation(void)
{
	const struct x86_cpu_id *id = unc_cpus;

	for (; (id = x86_match_cpu(id)); id++) {
		const struct unc_generation *gen = (void *)id->driver_data;

		if (!gen->steppings || gen->steppings & BIT(boot_cpu_data.x86_stepping))
			return gen;
	}
	return NULL;
}

/* Check the CPU model, pmu_prefix=, events= and that intel_uncore is not loaded. */
static int __init unc_check_machine(void)
{
	unc.gen = unc_find_generation();
	if (!unc.gen) {
		unc_name_stranger();
		return -ENODEV;
	}
	unc.prefix = pmu_prefix ?: unc.gen->name;
	unc.lenient = !strcmp(unc.prefix, UNC_IN_TREE_PREFIX);
	if (!unc_prefix_ok(unc.prefix)) {
		pr_err("pmu_prefix=%s: want 1 to 32 letters, digits or _\n",
		       unc.prefix);
		return -EINVAL;
	}
	return unc_sysfs_check() ?: unc_check_in_tree();
}

/*
 * Find the packages, and register the callbacks that keep their perf CPUs up to date.
 * PCI probing takes locks that do not nest in the hotplug lock, so PCI probing comes
 * later.
 */
static int __init unc_find_packages(void)
{
	int err;

	cpus_read_lock();
	err = unc_topology_init();
	if (!err) {
		err = cpuhp_setup_state_cpuslocked(UNC_HOTPLUG_STATE,
						   "perf/x86/xeon_uncore:online",
						   unc_cpu_online,
						   unc_cpu_offline);
		if (err == -EBUSY)
			unc_refuse_in_tree();
	}
	cpus_read_unlock();
	if (err)
		unc_topology_exit();
	return err;
}

static void unc_log_summary(void)
{
	const struct unc_pmu *pmu;
	unsigned int n = 0;

	list_for_each_entry(pmu, &unc.pmus, list)
		n++;
	pr_info("%s: %u PMUs in %u packages, PCI registers by %s\n",
		unc.gen->name, n, unc.num_packages, unc_pci_access());
}

/* Undo unc_start(). */
static void unc_tear_down(void)
{
	unsigned int i;

	cpuhp_remove_state_nocalls(UNC_HOTPLUG_STATE);
	unc_pmus_unregister();
	unc_sysfs_exit();
	unc_package_sysfs_exit();
	for (i = 0; i < unc.num_packages; i++)
		unc_timer_exit(&unc.packages[i]);
	unc_power_stop();
	unc_pmi_exit();
	unc_pmi_probe_exit();
	unc_pci_exit();
	unc_topology_exit();
}

static int __init unc_start(void)
{
	unsigned int i;
	int err;

	err = unc_find_packages();
	if (err)
		return err;
	err = unc_pci_init();
	if (err)
		goto no_pci;
	err = unc_power_start();
	if (err) {
		pr_err("no uncore box answers: is this a virtual machine?\n");
		goto no_boxes;
	}
	unc_sampling_init();
	unc_pmi_init(unc_overflow_work);
	for (i = 0; i < unc.num_packages; i++)
		unc_pmi_probe_package(&unc.packages[i]);
	unc_topology_find_places();
	err = unc_package_sysfs_init() ?: unc_sysfs_init();
	if (!err)
		err = unc_pmus_register();
	if (!err)
		err = unc_outlast_in_tree();
	if (!err)
		err = unc_power_init();
	if (err)
		goto no_pmus;
	/* nothing fails from here on, so events may be opened */
	WRITE_ONCE(unc.ready, true);
	unc_log_summary();
	return 0;

no_pmus:
	unc_tear_down();
	return err;
no_boxes:
	unc_pci_exit();
no_pci:
	cpuhp_remove_state_nocalls(UNC_HOTPLUG_STATE);
	unc_topology_exit();
	return err;
}

/*
 * Load the driver.  The notifier is registered before the first check for intel_uncore,
 * and unregistered after the last register is restored.  It refuses loads of
 * intel_uncore.
 */
static int __init unc_init(void)
{
	int err = register_module_notifier(&unc_module_watch);

	if (err)
		return err;
	err = unc_check_machine() ?: unc_start();
	/*
	 * A load of intel_uncore that began before the notifier was registered has ended.
	 * The notifier refuses later loads, so a second start cannot meet another one.
	 */
	if (err == -EAGAIN)
		err = unc_start();
	if (err)
		unregister_module_notifier(&unc_module_watch);
	return err;
}

static void __exit unc_exit(void)
{
	unc_power_exit();
	unc_tear_down();
	unregister_module_notifier(&unc_module_watch);
}

module_init(unc_init);
module_exit(unc_exit);

MODULE_DESCRIPTION("perf PMUs for the uncore of Intel Xeon processors");
MODULE_LICENSE("GPL");

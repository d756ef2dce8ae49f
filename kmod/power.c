// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss of the registers, and handover to another kernel: suspend and resume, packages
 * all of whose CPUs were offline, reboot and kexec.
 *
 * Nothing can be done before a crash kernel starts; a driver that is loaded there
 * clears what it finds.
 */
#include <linux/cpu.h>
#include <linux/reboot.h>
#include <linux/smp.h>

#include "xeon_uncore.h"
#include "compat.h"

/**
 * unc_power_suspend() - bring all counts up to date, while there is power
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_power_suspend(struct unc_package *pkg)
{
	unsigned long flags;
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (!box || box->dead)
			continue;
		flags = unc_lock_box(box);
		unc_refresh_box(box);
		unc_lock_release(box, flags);
	}
}

/**
 * unc_power_resume() - program all boxes again, whatever their registers hold
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_power_resume(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned long flags;
	unsigned int b;

	unc_global_freeze();
	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (!box || box->dead)
			continue;
		flags = unc_lock_box(box);
		unc_box_reprogram(box);
		unc_lock_release(box, flags);
	}
	unc_lock_raw(&ov->cores.lock);
	unc_global_restart(ov->cores.ctl);
	unc_lock_raw_release(&ov->cores.lock);
}

/* With one CPU left and interrupts off; other packages' CPUs are offline. */
static int unc_suspend(UNC_SYSCORE_ARGS)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());

	if (pkg)
		unc_power_suspend(pkg);
	return 0;
}

static void unc_resume(UNC_SYSCORE_ARGS)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());

	if (pkg)
		unc_power_resume(pkg);
}

static struct unc_syscore unc_syscore = {
	.ops = {
		.suspend = unc_suspend,
		.resume = unc_resume,
	},
};

/* Reboot, power-off or kexec: nothing may be left running for the next kernel. */
static int unc_reboot(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	unc_power_stop();
	return NOTIFY_DONE;
}

static struct notifier_block unc_reboot_notifier = {
	.notifier_call = unc_reboot,
};

/**
 * unc_power_init() - register for suspend and reboot
 *
 * Return: 0 or a negative errno.
 */
int unc_power_init(void)
{
	int err = register_reboot_notifier(&unc_reboot_notifier);

	if (!err)
		unc_register_syscore(&unc_syscore);
	return err;
}

/**
 * unc_power_exit() - unregister from suspend and reboot
 */
void unc_power_exit(void)
{
	unc_unregister_syscore(&unc_syscore);
	unregister_reboot_notifier(&unc_reboot_notifier);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing all boxes into and out of service: load and unload, suspend and resume,
 * packages whose CPUs were all offline, reboot and kexec.
 *
 * No code of the driver runs before a crash kernel starts; a driver in the crash kernel
 * clears leftover state at load.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/reboot.h>

#include "access.h"
#include "box.h"
#include "compat.h"
#include "global.h"
#include "lock.h"
#include "package.h"
#include "power.h"
#include "refresh.h"

/* --- loading and unloading ------------------------------------------------ */

/* Leftover register state of a package. */
struct unc_found {
	struct unc_package *pkg;
	u64 status;		/* global status */
	u64 ctl;		/* global control */
	unsigned int running;	/* number of boxes with an enabled counter */
	bool answers;		/* a CPU is online, and the global registers answer */
};

/* Reads of a clock that must show that it runs, and the time (us) before each read. */
#define UNC_CLOCK_TRIES	10
#define UNC_CLOCK_US	10

/*
 * Check whether the clock of an idle box runs: let the fixed counter count the clock
 * until its value is not 0, and make the box idle again.  No event can use the box yet.
 *
 * In a package that sleeps the clock may stop.  This CPU is in the package and does not
 * sleep meanwhile.
 */
static bool unc_clock_runs(struct unc_box *box)
{
	struct unc_slot clock = { .ctr = UNC_FIXED };
	unsigned int tries = 0;
	u64 count = 0;

	unc_access_write_ctl(box, UNC_FIXED, box->type->layout->en);
	unc_access_write_box_ctl(box, 0);
	box->hw.frozen = false;
	while (!count && tries++ < UNC_CLOCK_TRIES) {
		udelay(UNC_CLOCK_US);
		/* 0: read both halves of the counter */
		clock.stamp = 0;
		if (!unc_access_read_counter(box, &clock, &count))
			break;
	}
	unc_box_start(box);
	return count;
}

/* Retire a box without a clock, which counts nothing or random values. */
static void unc_check_clock(struct unc_box *box)
{
	if (!(box->type->quirks & UNC_QUIRK_UNCLOCKED) || unc_clock_runs(box))
		return;
	box->probed.unclocked = true;
	unc_box_retire(box);
}

/* Call @visit for each box of a package, with the box's lock held. */
static void unc_visit_boxes(struct unc_package *pkg, void (*visit)(struct unc_box *box))
{
	struct unc_box *box;
	unsigned int b;

	for_each_box(pkg, b, box) {
		unc_lock_raw(&box->lock);
		if (!box->dead)
			visit(box);
		unc_lock_raw_release(&box->lock);
	}
}

/*
 * Clear and probe the boxes of a package, and note leftover register state in @data.  The
 * package is frozen first, so that no counter can overflow meanwhile.
 * Context: on a CPU of the package, interrupts off.
 */
static void unc_start_boxes(void *data)
{
	struct unc_found *found = data;
	struct unc_package *pkg = found->pkg;
	struct unc_box *box;
	unsigned int b;

	found->answers = unc_global_look(&found->ctl, &found->status);
	if (!found->answers)
		return;
	unc_global_freeze();
	for_each_box(pkg, b, box) {
		unc_lock_raw(&box->lock);
		/* its function may have been removed meanwhile */
		if (!box->dead)
			found->running += unc_box_start(box);
		unc_lock_raw_release(&box->lock);
	}
	/* clear the status as well: counters may have overflowed before the freeze */
	unc_global_restart(0);
	unc_visit_boxes(pkg, unc_check_clock);
}

static void unc_stop_boxes(void *data)
{
	unc_global_freeze();
	unc_visit_boxes(data, unc_box_retire);
	unc_global_restart(0);
}

/* Call @func on a CPU of a package; not at all, if all CPUs of the package are offline. */
static void unc_on_package(struct unc_package *pkg, smp_call_func_t func,
			   void *data)
{
	unsigned int cpu;

	cpus_read_lock();
	cpu = unc_package_pick_cpu(pkg, nr_cpu_ids);
	if (cpu < nr_cpu_ids)
		smp_call_function_single(cpu, func, data, 1);
	cpus_read_unlock();
}

/*
 * Return whether a box in memory does not answer, and is the first of its controller: a
 * processor may lack the other channels of all controllers.
 */
static bool unc_first_is_absent(const struct unc_box *box)
{
	return box->dead && box->io.address && !box->probed.unclocked &&
	       box->index % box->type->mmio.boxes == 0;
}

/* Log leftover register state of a package, and results of the probes. */
static void unc_report_found(const struct unc_found *found)
{
	const struct unc_package *pkg = found->pkg;
	const struct unc_box *box;
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		box = pkg->boxes[b];
		if (box && found->answers && unc_first_is_absent(box))
			pr_warn("%s of package %d: its registers at %pa read all ones (no memory there?): left out\n",
				box->name, pkg->id, &box->io.address);
		if (box && box->probed.unclocked)
			pr_warn("%s of package %d: its clock does not run (no memory there?): left out\n",
				box->name, pkg->id);
	}
	if (found->running || found->status || (found->ctl & unc.gen->global.cores))
		pr_info("package %d: firmware or another tool had left %u boxes counting, global status %#llx and control %#llx: all cleared\n",
			pkg->id, found->running, found->status,
			found->ctl);
	for_each_box(pkg, b, box) {
		if (box->probed.kept)
			pr_warn("%s of package %d: a counter keeps %#llx of all ones: taking its documented %u bits; is another program writing it?\n",
				box->name, pkg->id, box->probed.kept,
				box->type->bits);
		/* one message for all boxes of a PCI function: for its first box */
		if (box->probed.undecided && !box->io.first)
			pr_warn("%s of package %d: registers %#x and %#x do not tell where the counters are: taking the first reading\n",
				box->name, pkg->id, box->type->regs.moved.only_old,
				box->type->regs.moved.only_new);
	}
}

/**
 * unc_power_start() - clear and probe every box
 *
 * Boxes that do not answer are dead from the start.
 *
 * Return: 0, or -ENODEV when no box answers.
 * Context: process.
 */
int unc_power_start(void)
{
	unsigned int i, b, n = 0;
	struct unc_box *box;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_found found = { .pkg = &unc.packages[i] };

		unc_on_package(found.pkg, unc_start_boxes, &found);
		for_each_box(found.pkg, b, box) {
			if (!found.answers)
				box->dead = true;
		}
		unc_report_found(&found);
		for_each_box(found.pkg, b, box)
			n++;
	}
	return n ? 0 : -ENODEV;
}

/**
 * unc_power_stop() - retire every box
 *
 * Context: process.
 */
void unc_power_stop(void)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++)
		unc_on_package(&unc.packages[i], unc_stop_boxes,
			       &unc.packages[i]);
}

/* --- loss of the registers ------------------------------------------------- */

/**
 * unc_power_suspend() - bring all counts up to date before the power goes
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_power_suspend(struct unc_package *pkg)
{
	unc_visit_boxes(pkg, unc_refresh_box);
}

/**
 * unc_power_resume() - program all boxes, which may have lost their registers
 * @pkg: the package
 *
 * Context: on a CPU of the package, interrupts off.
 */
void unc_power_resume(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;

	unc_global_freeze();
	unc_visit_boxes(pkg, unc_box_reprogram);
	unc_lock_raw(&ov->ctl_lock);
	unc_global_restart(ov->ctl);
	unc_lock_raw_release(&ov->ctl_lock);
}

/*
 * Suspend.  Only this CPU is online, with interrupts off.  unc_cpu_offline() has
 * suspended the packages whose CPUs are all offline.
 */
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

static struct syscore_ops unc_syscore_ops = {
	.suspend = unc_suspend,
	.resume = unc_resume,
};
static struct syscore unc_syscore = { .ops = &unc_syscore_ops };

/* Retire all boxes before reboot, power-off or kexec: the next kernel finds them reset. */
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
		register_syscore(&unc_syscore);
	return err;
}

/**
 * unc_power_exit() - unregister from suspend and reboot
 */
void unc_power_exit(void)
{
	unregister_syscore(&unc_syscore);
	unregister_reboot_notifier(&unc_reboot_notifier);
}

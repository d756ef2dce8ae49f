// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log lines about a box: that it died, or that another program writes its registers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "report.h"

/*
 * Log that a box is dead, once for the box, or that another program writes registers,
 * once for the package.
 *
 * This is an irq_work because a message may wake a task, which takes a run queue's lock.
 * The caller of unc_report_dead() and unc_report_foreign() holds the box's lock.  It may
 * also be a BPF program that the scheduler runs with a run queue locked.
 */
static void unc_report(struct irq_work *work)
{
	struct unc_box *box = container_of(work, struct unc_box, report.work);
	struct unc_package *pkg = box->pkg;

	if (box->dead && !atomic_cmpxchg(&box->report.dead_logged, 0, 1))
		pr_warn("%s of package %d stopped answering: its events stop at their last count; reload %s once it is back\n",
			box->name, pkg->id, KBUILD_MODNAME);
	if (atomic64_read(&pkg->stats.foreign_writes) &&
	    !atomic_cmpxchg(&pkg->foreign_logged, 0, 1))
		pr_warn("%s of package %d: another program writes its registers; counts may be too small while it runs (PCM, LIKWID, wrmsr, setpci? /sys/module/%s/package%d/foreign_writes)\n",
			box->name, pkg->id, KBUILD_MODNAME, pkg->id);
	if (box->dead)
		schedule_work(&box->report.resched);
}

/**
 * unc_report_init() - set up a box's reports
 * @box: the box
 * @resched: has perf remove the events of a dead box; runs in process context
 */
void unc_report_init(struct unc_box *box, work_func_t resched)
{
	init_irq_work(&box->report.work, unc_report);
	INIT_WORK(&box->report.resched, resched);
}

/**
 * unc_report_exit() - wait for a box's pending reports
 * @box: the box, of which no new reports are made
 *
 * Context: process.
 */
void unc_report_exit(struct unc_box *box)
{
	irq_work_sync(&box->report.work);
	cancel_work_sync(&box->report.resched);
}

/**
 * unc_report_dead() - mark a box as dead, as it does not answer any more, and report that
 * @box: the box, which is locked
 */
void unc_report_dead(struct unc_box *box)
{
	box->dead = true;
	irq_work_queue(&box->report.work);
}

/**
 * unc_report_foreign() - report that another program writes registers of a box
 * @box: the box, which is locked and counts
 */
void unc_report_foreign(struct unc_box *box)
{
	atomic64_inc(&box->pkg->stats.foreign_writes);
	if (!atomic_read(&box->pkg->foreign_logged))
		irq_work_queue(&box->report.work);
}

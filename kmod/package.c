// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine: which packages and boxes there are, and how one is found.  All
 * else in the driver is built on this; topology.c fills it in.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "xeon_uncore.h"
#include "compat.h"

struct unc_machine unc = {
	.pmus = LIST_HEAD_INIT(unc.pmus),
};

/**
 * unc_package_of_id() - the package with a number
 * @id: topology_physical_package_id() of its CPUs
 *
 * Return: the package, or NULL when it had no CPU online at load.
 */
struct unc_package *unc_package_of_id(int id)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].phys_id == id)
			return &unc.packages[i];
	}
	return NULL;
}

/**
 * unc_package_of_cpu() - the package that a CPU is in
 * @cpu: the CPU
 *
 * Return: the package, or NULL when it had no CPU online at load.
 */
struct unc_package *unc_package_of_cpu(unsigned int cpu)
{
	return unc_package_of_id(topology_physical_package_id(cpu));
}

/**
 * unc_package_pick_cpu() - choose the CPU that programs a package's counters
 * @pkg: the package
 * @but: CPU that goes offline, or nr_cpu_ids
 *
 * An isolated CPU is chosen only where the package has no other one online.
 *
 * Context: CPU hotplug must be held off by the caller.
 * Return: the CPU, or nr_cpu_ids when the package has none online but @but.
 */
unsigned int unc_package_pick_cpu(const struct unc_package *pkg, unsigned int but)
{
	unsigned int cpu, isolated = nr_cpu_ids;

	for_each_online_cpu(cpu) {
		if (cpu == but || unc_package_of_cpu(cpu) != pkg)
			continue;
		if (!unc_cpu_is_isolated(cpu))
			return cpu;
		isolated = min(isolated, cpu);
	}
	return isolated;
}

/**
 * unc_package_of_bus() - the package whose uncore is on a PCI bus
 * @bus: the bus
 *
 * Return: the package, or NULL where no UBox says which.
 */
struct unc_package *unc_package_of_bus(struct pci_bus *bus)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];

		if (pkg->bus == bus->number && pkg->domain == pci_domain_nr(bus))
			return pkg;
	}
	return NULL;
}

/**
 * unc_package_box_place() - where a package keeps the pointer to a box
 * @pkg: the package
 * @type: the box's type
 * @index: which of that type
 */
struct unc_box **unc_package_box_place(const struct unc_package *pkg,
				       const struct unc_type *type, unsigned int index)
{
	const struct unc_type *t;
	unsigned int place = index;

	for (t = unc.gen->types; t != type; t++)
		place += t->max_boxes;
	return &pkg->boxes[place];
}

/**
 * unc_package_box_number() - a box's number among all of its package
 * @box: the box
 *
 * Return: its index in unc_package.boxes.
 */
unsigned int unc_package_box_number(const struct unc_box *box)
{
	return unc_package_box_place(box->pkg, box->type, box->index) - box->pkg->boxes;
}

/**
 * unc_package_any_box() - check whether any package has a box of a type and index
 * @type: the box's type
 * @index: which of that type
 */
bool unc_package_any_box(const struct unc_type *type, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		const struct unc_box *box;

		box = *unc_package_box_place(&unc.packages[i], type, index);
		if (box && !box->dead)
			return true;
	}
	return false;
}

/**
 * unc_package_clock_box() - find the box whose clock the driver may use
 * @pkg: the package
 *
 * Return: a box with a fixed counter that can overflow, and whose registers take no
 * lock; or NULL.
 */
struct unc_box *unc_package_clock_box(const struct unc_package *pkg)
{
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (box && !box->dead && box->type->space->lockless &&
		    box->type->signals && box->type->fixed_ctl)
			return box;
	}
	return NULL;
}

/**
 * unc_access_num_filters() - how many filter registers a box has
 * @type: its type
 */
unsigned int unc_access_num_filters(const struct unc_type *type)
{
	unsigned int n = 0;

	while (type->filters && type->filters[n].reg)
		n++;
	return n;
}

/**
 * unc_pmu_name() - what a box is called
 * @type: its type
 * @index: which of them
 *
 * Context: process.
 * Return: the name, to be freed with kfree(), or NULL.
 */
char *unc_pmu_name(const struct unc_type *type, unsigned int index)
{
	if (type->max_boxes == 1)
		return kasprintf(GFP_KERNEL, "%s_%s", unc.prefix, type->name);
	return kasprintf(GFP_KERNEL, "%s_%s_%u", unc.prefix, type->name, index);
}

/* --- reports -------------------------------------------------------------- */

/*
 * A box is found dead, or its registers changed, with its lock held, and perhaps by
 * a BPF program that the scheduler runs with a run queue locked.  A message may wake
 * a task, so it is printed from an irq_work.
 */
static void unc_report(struct irq_work *work)
{
	struct unc_box *box = container_of(work, struct unc_box, report.work);
	struct unc_package *pkg = box->pkg;

	if (box->dead && !atomic_cmpxchg(&box->report.dead_logged, 0, 1))
		pr_warn("%s of package %d stopped answering: its events stop at their last count; reload %s once it is back\n",
			box->name, pkg->phys_id, KBUILD_MODNAME);
	if (atomic64_read(&pkg->stats.foreign_writes) &&
	    !atomic_cmpxchg(&pkg->foreign_logged, 0, 1))
		pr_warn("%s of package %d: another program writes its registers; counts may be too small while it runs (PCM, LIKWID, wrmsr, setpci? /sys/module/%s/package%d/foreign_writes)\n",
			box->name, pkg->phys_id, KBUILD_MODNAME, pkg->phys_id);
	if (box->dead)
		schedule_work(&box->report.resched);
}

/* Process context: perf finds that the events of a dead box cannot be added. */
static void unc_report_resched(struct work_struct *work)
{
	struct unc_box *box = container_of(work, struct unc_box,
					   report.resched);

	if (unc.resched)
		unc.resched(box);
}

/**
 * unc_report_init() - set up a box's reports
 * @box: the box
 */
void unc_report_init(struct unc_box *box)
{
	init_irq_work(&box->report.work, unc_report);
	INIT_WORK(&box->report.resched, unc_report_resched);
}

/**
 * unc_report_exit() - wait for a box's reports to end
 * @box: the box, which nothing reports on any more
 *
 * Context: process.
 */
void unc_report_exit(struct unc_box *box)
{
	irq_work_sync(&box->report.work);
	cancel_work_sync(&box->report.resched);
}

/**
 * unc_report_dead() - a box has stopped answering
 * @box: the box, locked
 */
void unc_report_dead(struct unc_box *box)
{
	box->dead = true;
	irq_work_queue(&box->report.work);
}

/**
 * unc_report_foreign() - another program has written a register while it counted
 * @box: the box, locked
 */
void unc_report_foreign(struct unc_box *box)
{
	atomic64_inc(&box->pkg->stats.foreign_writes);
	if (!atomic_read(&box->pkg->foreign_logged))
		irq_work_queue(&box->report.work);
}

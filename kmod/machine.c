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
 * unc_pick_cpu() - choose the CPU that programs a package's counters
 * @pkg: the package
 * @but: CPU that goes offline, or nr_cpu_ids
 *
 * An isolated CPU is chosen only where the package has no other one online.
 *
 * Context: CPU hotplug must be held off by the caller.
 * Return: the CPU, or nr_cpu_ids when the package has none online but @but.
 */
unsigned int unc_pick_cpu(const struct unc_package *pkg, unsigned int but)
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
 * unc_box_place() - where a package keeps the pointer to a box
 * @pkg: the package
 * @type: the box's type
 * @index: which of that type
 */
struct unc_box **unc_box_place(const struct unc_package *pkg,
			       const struct unc_type *type, unsigned int index)
{
	const struct unc_type *t;
	unsigned int place = index;

	for (t = unc.gen->types; t != type; t++)
		place += t->max_boxes;
	return &pkg->boxes[place];
}

/**
 * unc_any_box() - does such a box answer in any package?
 * @type: the box's type
 * @index: which of that type
 */
bool unc_any_box(const struct unc_type *type, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		const struct unc_box *box;

		box = *unc_box_place(&unc.packages[i], type, index);
		if (box && !box->dead)
			return true;
	}
	return false;
}

/**
 * unc_num_filters() - how many filter registers a box has
 * @type: its type
 */
unsigned int unc_num_filters(const struct unc_type *type)
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

/* --- a box that goes ------------------------------------------------------ */

static void unc_report_gone(struct irq_work *work)
{
	struct unc_box *box = container_of(work, struct unc_box, gone);

	pci_warn(box->pdev,
		 "%s of package %d stopped answering: its events stay at their last count; reload %s once it is back\n",
		 box->name, box->pkg->phys_id, KBUILD_MODNAME);
}

/**
 * unc_init_gone() - prepare the report of a box that stops answering
 * @box: the box
 *
 * It is made from an interrupt of its own: who reads a counter may be a BPF
 * program that the scheduler runs with a run queue locked, and a message may
 * wake somebody.
 */
void unc_init_gone(struct unc_box *box)
{
	init_irq_work(&box->gone, unc_report_gone);
}

/**
 * unc_box_gone() - a box that has a PCI function has stopped answering
 * @box: the box, locked
 */
void unc_box_gone(struct unc_box *box)
{
	box->dead = true;
	irq_work_queue(&box->gone);
}

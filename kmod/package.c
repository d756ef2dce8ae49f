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

#include "compat.h"
#include "package.h"

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

		if (box && !box->dead && !box->type->space->pci &&
		    box->type->signals && box->type->fixed_ctl)
			return box;
	}
	return NULL;
}

/**
 * unc_package_any_box() - find a box of a type and index in any package
 * @type: the box's type
 * @index: which of that type
 *
 * Return: a box that is not dead, or NULL.
 */
struct unc_box *unc_package_any_box(const struct unc_type *type, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_box *box;

		box = *unc_package_box_place(&unc.packages[i], type, index);
		if (box && !box->dead)
			return box;
	}
	return NULL;
}

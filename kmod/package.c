// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's packages and boxes, and functions that find them.  topology.c fills the
 * machine in.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "compat.h"
#include "package.h"

struct unc_machine unc = {
	.pmus = LIST_HEAD_INIT(unc.pmus),
};

/**
 * unc_package_of_id() - find a package by its number
 * @id: the number, as in unc_cpu_package()
 *
 * Return: the package, or NULL when no CPU of the package was online at load.
 */
struct unc_package *unc_package_of_id(int id)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].id == id)
			return &unc.packages[i];
	}
	return NULL;
}

/**
 * unc_package_of_cpu() - find the package of a CPU
 * @cpu: the CPU
 *
 * Return: the package, or NULL when no CPU of the package was online at load.
 */
struct unc_package *unc_package_of_cpu(unsigned int cpu)
{
	return unc_package_of_id(unc_cpu_package(cpu));
}

/**
 * unc_package_of_node() - find a package by the node id of its UBox
 * @node: the node id
 *
 * Return: the package, or NULL.
 */
struct unc_package *unc_package_of_node(unsigned int node)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].node == node)
			return &unc.packages[i];
	}
	return NULL;
}

/**
 * unc_package_pick_cpu() - choose the CPU that programs a package's counters
 * @pkg: the package
 * @but: a CPU that is not to be chosen
 *
 * Chooses an isolated CPU only if all online CPUs of the package are isolated.
 *
 * Return: the CPU, or nr_cpu_ids when no CPU of the package but @but is online.
 * Context: the caller holds off CPU hotplug.
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
 * unc_package_has_bus() - check whether a PCI bus is one of a package's buses
 * @pkg: the package
 * @bus: the bus
 */
bool unc_package_has_bus(const struct unc_package *pkg, struct pci_bus *bus)
{
	return pkg->domain == pci_domain_nr(bus) && bus->number >= pkg->first_bus &&
	       bus->number <= pkg->last_bus;
}

/**
 * unc_package_of_bus() - find the package whose boxes are on a PCI bus
 * @bus: the bus
 *
 * Return: the package, or NULL for a bus that no UBox assigns to a package.
 */
struct unc_package *unc_package_of_bus(struct pci_bus *bus)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];

		if (unc_package_has_bus(pkg, bus))
			return pkg;
	}
	return NULL;
}

/**
 * unc_package_pci_row() - find a row of a PCI function in the generation's table
 * @pdev: the function
 * @after: the row after which to search; NULL: search from the first row on
 *
 * A function has several rows if it has the addresses of boxes of several types.
 *
 * Return: the row, or NULL: the function has no further registers of boxes.
 */
const struct unc_pci_row *unc_package_pci_row(const struct pci_dev *pdev,
					      const struct unc_pci_row *after)
{
	const struct unc_pci_row *row;

	for (row = after ? after + 1 : unc.gen->pci_rows; row->device; row++) {
		if (row->device == pdev->device &&
		    (row->devfn == UNC_PCI_ANYWHERE || row->devfn == pdev->devfn))
			return row;
	}
	return NULL;
}

/**
 * unc_package_box_number() - return a box's index in unc_package.boxes
 * @type: the box type
 * @index: the box's index among the boxes of its type
 */
unsigned int unc_package_box_number(const struct unc_type *type, unsigned int index)
{
	const struct unc_type *t;

	for (t = unc.gen->types; t != type; t++)
		index += t->max_boxes;
	return index;
}

/**
 * unc_package_clock_box() - find a box whose clock the driver may use
 * @pkg: the package
 *
 * Return: a box with a fixed counter that signals overflows, and with registers whose
 * accesses take no lock; or NULL.
 */
struct unc_box *unc_package_clock_box(const struct unc_package *pkg)
{
	struct unc_box *box;
	unsigned int b;

	for_each_box(pkg, b, box) {
		if (!box->type->space->pci && box->type->overflow.signals &&
		    box->type->regs.fixed_ctl)
			return box;
	}
	return NULL;
}

/**
 * unc_package_next_box() - find the next box that is not dead, for for_each_box()
 * @pkg: the package
 * @b: index in unc_package.boxes to begin with; gets the box's index
 *
 * Return: the box, or NULL after the last one.
 */
struct unc_box *unc_package_next_box(const struct unc_package *pkg, unsigned int *b)
{
	for (; *b < unc.boxes_per_package; (*b)++) {
		if (pkg->boxes[*b] && !pkg->boxes[*b]->dead)
			return pkg->boxes[*b];
	}
	return NULL;
}

/**
 * unc_package_any_box() - find a box in any package
 * @number: the box's index in unc_package.boxes
 *
 * Return: the first package's box that is not dead, or NULL.
 */
struct unc_box *unc_package_any_box(unsigned int number)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_box *box = unc.packages[i].boxes[number];

		if (box && !box->dead)
			return box;
	}
	return NULL;
}

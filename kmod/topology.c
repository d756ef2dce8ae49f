// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the machine's packages, the PCI buses of each package, and the boxes of a
 * package.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "access.h"
#include "compat.h"
#include "freeze.h"
#include "global.h"
#include "overflow.h"
#include "own_event.h"
#include "package.h"
#include "report.h"
#include "timer.h"
#include "topology.h"

static char *unc_topology_box_name(const struct unc_type *type, unsigned int index)
{
	if (type->max_boxes == 1)
		return kasprintf(GFP_KERNEL, "%s_%s", unc.prefix, type->name);
	return kasprintf(GFP_KERNEL, "%s_%s_%u", unc.prefix, type->name, index);
}

static void unc_topology_free_box(struct unc_box *box)
{
	kfree(box->name);
	kfree(box->place);
	kfree(box->slot);
	kfree(box->ctr);
	kfree(box->filter);
	kfree(box);
}

/**
 * unc_topology_box() - find a box, or make it
 * @pkg: the box's package
 * @type: the box type
 * @index: the box's index among the boxes of its type
 *
 * Return: the box, or NULL without memory.
 */
struct unc_box *unc_topology_box(struct unc_package *pkg,
				 const struct unc_type *type, unsigned int index)
{
	unsigned int number = unc_package_box_number(type, index);
	struct unc_box *box = pkg->boxes[number];
	unsigned int i;

	if (box)
		return box;
	box = kzalloc(sizeof(*box), GFP_KERNEL);
	if (!box)
		return NULL;
	box->type = type;
	box->name = unc_topology_box_name(type, index);
	box->slot = kcalloc(unc_box_slots(box), sizeof(*box->slot), GFP_KERNEL);
	box->ctr = kcalloc(unc_box_counters(box), sizeof(*box->ctr), GFP_KERNEL);
	box->filter = kcalloc(unc_access_num_filters(type), sizeof(*box->filter), GFP_KERNEL);
	if (!box->name || !box->slot || !box->ctr || !box->filter) {
		unc_topology_free_box(box);
		return NULL;
	}
	raw_spin_lock_init(&box->lock);
	box->index = index;
	box->io.place = type->regs.places ? type->regs.places[index] : 0;
	box->number = number;
	box->pkg = pkg;
	box->probed.bits = type->bits;
	box->probed.fixed_bits = type->bits;
	unc_report_init(box, unc_own_event_resched);
	for (i = 0; i < unc_box_counters(box); i++)
		box->ctr[i].slot = -1;
	pkg->boxes[number] = box;
	return box;
}

/*
 * Take bus @number, where another package has its UBox, and the buses beyond it as seen from
 * this package's UBox, from a package.
 */
static void unc_cut_buses(struct unc_package *pkg, int number)
{
	if (unc.gen->ubox.lowest)
		pkg->last_bus = min(pkg->last_bus, number - 1);
	else
		pkg->first_bus = max(pkg->first_bus, number + unc.gen->ubox.above + 1);
}

/*
 * Take the buses from a package that have a function which a bus nearer to the UBox has as
 * well: they belong to a package whose UBox is hidden.  @pdev is the function, on a bus of
 * the package.
 */
static void unc_cut_second(struct unc_package *pkg, const struct pci_dev *pdev)
{
	struct pci_dev *other = NULL;
	int from = pdev->bus->number;

	while ((other = pci_get_device(PCI_VENDOR_ID_INTEL, pdev->device, other))) {
		int number = other->bus->number;

		if (other->devfn == pdev->devfn && unc_package_has_bus(pkg, other->bus) &&
		    (unc.gen->ubox.lowest ? number > from : number < from))
			unc_cut_buses(pkg, number);
	}
}

/*
 * Find the buses of a package: from the bus of its UBox to the bus of another package's
 * UBox, in one direction.  The UBox of another package may be hidden; then the packages
 * are told apart by the functions that each of them has once.
 */
static void unc_find_range(struct unc_package *pkg, const struct pci_dev *ubox)
{
	struct pci_dev *pdev = NULL;
	int bus = ubox->bus->number;

	pkg->domain = pci_domain_nr(ubox->bus);
	pkg->first_bus = unc.gen->ubox.lowest ? bus : 0;
	pkg->last_bus = unc.gen->ubox.lowest ? U8_MAX : bus + unc.gen->ubox.above;
	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, ubox->device, pdev))) {
		if (unc_package_has_bus(pkg, pdev->bus) && pdev->bus->number != bus)
			unc_cut_buses(pkg, pdev->bus->number);
	}
	for_each_pci_dev(pdev) {
		if (unc_package_has_bus(pkg, pdev->bus) && unc_package_pci_row(pdev, NULL))
			unc_cut_second(pkg, pdev);
	}
}

/* Find the PCI buses of each package, one of which has the package's UBox. */
static void unc_find_buses(void)
{
	struct pci_dev *pdev = NULL;
	unsigned int i;

	if (!unc.gen->pci_ids)
		return;
	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL,
				      unc.gen->ubox.device, pdev))) {
		int id = unc.gen->map_bus(pdev);
		struct unc_package *pkg = unc_package_of_id(id);

		if (id < 0) {
			pci_warn(pdev, "UBox of an unknown package (error %d): what is on its buses is left out; has the bus a NUMA node?\n",
				 id);
			continue;
		}
		if (!pkg) {
			pci_warn(pdev, "UBox of package %d, which has no CPU online: what is on its buses is left out\n",
				 id);
			continue;
		}
		if (pkg->last_bus >= 0) {
			pci_warn(pdev, "a second UBox of package %d: left out\n",
				 id);
			continue;
		}
		unc_find_range(pkg, pdev);
		pkg->node = unc.gen->node_of(pdev);
	}
	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].last_bus < 0)
			pr_warn("package %d: no UBox on PCI (device 8086:%04x): its memory channels, links and all other boxes in PCI space are left out; is the uncore bus hidden by the firmware?\n",
				unc.packages[i].id, unc.gen->ubox.device);
	}
}

/* Make the boxes of a package that have no PCI function.  pci.c makes the other boxes. */
static int unc_create_boxes(struct unc_package *pkg)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int i, n, t;

	for (t = 0; t < unc.gen->num_types; t++, type++) {
		if (type->space->pci)
			continue;
		n = type->count.read ? type->count.read(pkg, type) : type->max_boxes;
		for (i = 0; i < n; i++) {
			if (!unc_topology_box(pkg, type, i))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Return the number of packages that have a CPU online. */
static unsigned int unc_count_packages(void)
{
	unsigned int cpu, n = 0;

	for_each_online_cpu(cpu)
		n += cpu == cpumask_first(topology_die_cpumask(cpu));
	return n;
}

static int unc_package_init(struct unc_package *pkg, unsigned int cpu)
{
	pkg->id = unc_cpu_package(cpu);
	pkg->die = topology_logical_die_id(cpu);
	pkg->cpu = unc_package_pick_cpu(pkg, nr_cpu_ids);
	pkg->first_bus = -1;
	pkg->last_bus = -1;
	pkg->node = -1;
	unc_freeze_init(pkg);
	unc_timer_init(pkg, unc_overflow_poll);
	pkg->boxes = kcalloc(unc.boxes_per_package, sizeof(*pkg->boxes),
			     GFP_KERNEL);
	if (!pkg->boxes)
		return -ENOMEM;
	return unc_global_init(pkg);
}

/**
 * unc_topology_init() - find the packages, their buses, and their boxes in MSR space
 *
 * Return: 0 or a negative errno; unc_topology_exit() cleans up in both cases.
 * Context: process; the caller holds off CPU hotplug.
 */
int unc_topology_init(void)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int cpu, i;
	int err;

	for (i = 0; i < unc.gen->num_types; i++)
		unc.boxes_per_package += type[i].max_boxes;

	unc.packages = kvcalloc(unc_count_packages(), sizeof(*unc.packages),
				GFP_KERNEL);
	if (!unc.packages)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		if (unc_package_of_cpu(cpu))
			continue;
		err = unc_package_init(&unc.packages[unc.num_packages++], cpu);
		if (err)
			return err;
	}
	unc_find_buses();
	for (i = 0; i < unc.num_packages; i++) {
		err = unc_create_boxes(&unc.packages[i]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * unc_topology_find_places() - find the places of boxes in the machine
 *
 * Context: process, after unc_pci_init().
 */
void unc_topology_find_places(void)
{
	struct unc_box *box;
	unsigned int i, b;

	for (i = 0; i < unc.num_packages; i++) {
		for_each_box(&unc.packages[i], b, box) {
			if (box->type->map.read)
				box->place = box->type->map.read(box);
		}
	}
}

static void unc_box_free(struct unc_box **place)
{
	if (!*place)
		return;
	unc_report_exit(*place);
	unc_topology_free_box(*place);
	*place = NULL;
}

/**
 * unc_topology_exit() - free all packages and boxes
 */
void unc_topology_exit(void)
{
	unsigned int i, b;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];

		unc_timer_exit(pkg);
		unc_global_exit(pkg);
		for (b = 0; pkg->boxes && b < unc.boxes_per_package; b++)
			unc_box_free(&pkg->boxes[b]);
		kfree(pkg->boxes);
	}
	unc.num_packages = 0;
	unc.boxes_per_package = 0;
	kvfree(unc.packages);
}

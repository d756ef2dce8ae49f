// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the machine's packages, the PCI bus of each package's uncore, and the boxes of
 * a package.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "access.h"
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
	box = kzalloc(struct_size(box, filter, unc_access_num_filters(type)),
		      GFP_KERNEL);
	if (!box)
		return NULL;
	box->name = unc_topology_box_name(type, index);
	if (!box->name) {
		kfree(box);
		return NULL;
	}
	raw_spin_lock_init(&box->lock);
	box->type = type;
	box->index = index;
	box->number = number;
	box->pkg = pkg;
	box->probed.bits = type->bits;
	box->probed.fixed_bits = type->bits;
	unc_report_init(box, unc_own_event_resched);
	for (i = 0; i < UNC_MAX_COUNTERS; i++)
		box->ctr[i].slot = -1;
	pkg->boxes[number] = box;
	return box;
}

/* Find the PCI bus of each package's uncore: each such bus has a UBox. */
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
			pci_warn(pdev, "UBox of an unknown package (error %d): what is on its bus is left out; has the bus a NUMA node?\n",
				 id);
			continue;
		}
		if (!pkg) {
			pci_warn(pdev, "UBox of package %d, which has no CPU online: what is on its bus is left out\n",
				 id);
			continue;
		}
		if (pkg->bus >= 0) {
			pci_warn(pdev, "a second UBox of package %d: left out\n",
				 id);
			continue;
		}
		pkg->domain = pci_domain_nr(pdev->bus);
		pkg->bus = pdev->bus->number;
	}
	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].bus < 0)
			pr_warn("package %d: no UBox on PCI (device 8086:%04x): its HA, iMC, QPI and other PCI boxes are left out; is the uncore bus hidden by the firmware?\n",
				unc.packages[i].phys_id, unc.gen->ubox.device);
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
		n += cpu == cpumask_first(topology_core_cpumask(cpu));
	return n;
}

static int unc_package_init(struct unc_package *pkg, unsigned int cpu)
{
	pkg->phys_id = topology_physical_package_id(cpu);
	pkg->cpu = unc_package_pick_cpu(pkg, nr_cpu_ids);
	pkg->bus = -1;
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

static void unc_box_free(struct unc_box **place)
{
	if (!*place)
		return;
	unc_report_exit(*place);
	kfree((*place)->name);
	kfree(*place);
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

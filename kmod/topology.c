// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages and the boxes in them: which there are, where their PCI functions
 * sit (§1.6.1), and bringing boxes into and out of service.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "xeon_uncore.h"

/**
 * unc_package_of_cpu() - the package that a CPU is in
 * @cpu: the CPU
 *
 * Return: the package, or NULL when it had no CPU online at load.
 */
struct unc_package *unc_package_of_cpu(unsigned int cpu)
{
	int id = topology_physical_package_id(cpu);
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].phys_id == id)
			return &unc.packages[i];
	}
	return NULL;
}

/**
 * unc_package_of_bus() - the package that a PCI bus belongs to
 * @bus: its number
 *
 * A bus without a UBox belongs to the package of the next higher bus with one;
 * that is how the IRP, which sits on the IO bus, is found.
 *
 * Return: the package, or NULL.
 */
struct unc_package *unc_package_of_bus(int bus)
{
	struct unc_package *best = NULL;
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];

		if (pkg->bus >= bus && (!best || pkg->bus < best->bus))
			best = pkg;
	}
	return best;
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
 * unc_box_create() - find a box's state, make it when there is none yet
 * @pkg: the package
 * @type: the box's type
 * @index: which of that type
 *
 * Return: the box, or NULL without memory.
 */
struct unc_box *unc_box_create(struct unc_package *pkg,
			       const struct unc_type *type, unsigned int index)
{
	struct unc_box **place = unc_box_place(pkg, type, index);
	struct unc_box *box = *place;
	unsigned int i;

	if (box)
		return box;
	box = kzalloc(sizeof(*box), GFP_KERNEL);
	if (!box)
		return NULL;
	box->name = unc_pmu_name(type, index);
	if (!box->name) {
		kfree(box);
		return NULL;
	}
	raw_spin_lock_init(&box->lock);
	box->type = type;
	box->index = index;
	box->pkg = pkg;
	box->bits = type->bits;
	unc_init_gone(box);
	for (i = 0; i < UNC_MAX_COUNTERS; i++)
		box->ctr[i].slot = -1;
	*place = box;
	return box;
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

/*
 * The UBox's own node id, looked up in its map of node ids, gives the number
 * of the package.  The manual's example forgets to shift the map's fields.
 */
static int unc_read_package_id(struct pci_dev *pdev)
{
	u32 node, map;
	unsigned int i;

	if (pci_read_config_dword(pdev, unc.gen->node_id, &node) ||
	    pci_read_config_dword(pdev, unc.gen->node_map, &map) ||
	    (node == U32_MAX && map == U32_MAX))
		return -EIO;
	for (i = 0; i < 8; i++) {
		if (((map >> (3 * i)) & 7) == (node & 7))
			return i;
	}
	return -ENODEV;
}

static void unc_find_buses(void)
{
	struct pci_dev *pdev = NULL;
	unsigned int i;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL,
				      unc.gen->ubox_device, pdev))) {
		int id = unc_read_package_id(pdev);

		for (i = 0; i < unc.num_packages; i++) {
			if (unc.packages[i].phys_id == id)
				unc.packages[i].bus = pdev->bus->number;
		}
	}
	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].bus < 0)
			pr_warn("package %d: no UBox on PCI (device 8086:%04x): its HA, iMC, QPI and other PCI boxes are left out; is the uncore bus hidden by the firmware?\n",
				unc.packages[i].phys_id, unc.gen->ubox_device);
	}
}

static int unc_create_msr_boxes(struct unc_package *pkg)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int i, n, t;

	for (t = 0; t < unc.gen->num_types; t++, type++) {
		if (type->space != UNC_MSR)
			continue;
		n = unc.gen->count_boxes(pkg, type);
		for (i = 0; i < n; i++) {
			if (!unc_box_create(pkg, type, i))
				return -ENOMEM;
		}
	}
	return 0;
}

/**
 * unc_topology_init() - find packages, their buses and their MSR boxes
 *
 * Context: process; CPU hotplug must be held off by the caller.
 * Return: 0 or a negative errno; unc_topology_exit() cleans up either way.
 */
int unc_topology_init(void)
{
	const struct unc_type *type = unc.gen->types;
	struct unc_package *pkg;
	unsigned int cpu, i;
	int err;

	for (i = 0; i < unc.gen->num_types; i++)
		unc.boxes_per_package += type[i].max_boxes;

	for_each_online_cpu(cpu) {
		if (unc_package_of_cpu(cpu))
			continue;
		if (unc.num_packages == UNC_MAX_PACKAGES) {
			pr_warn("more than %d packages: package %d is left out\n",
				UNC_MAX_PACKAGES,
				topology_physical_package_id(cpu));
			continue;
		}
		pkg = &unc.packages[unc.num_packages++];
		pkg->phys_id = topology_physical_package_id(cpu);
		pkg->cpu = cpu;
		pkg->bus = -1;
		unc_overflow_package_init(pkg);
		unc_timer_init(pkg);
		pkg->boxes = kcalloc(unc.boxes_per_package,
				     sizeof(*pkg->boxes), GFP_KERNEL);
		if (!pkg->boxes)
			return -ENOMEM;
	}
	unc_find_buses();
	for (i = 0; i < unc.num_packages; i++) {
		err = unc_create_msr_boxes(&unc.packages[i]);
		if (err)
			return err;
	}
	return 0;
}

static void unc_box_free(struct unc_box **place)
{
	if (!*place)
		return;
	irq_work_sync(&(*place)->gone);
	kfree((*place)->name);
	kfree(*place);
	*place = NULL;
}

/**
 * unc_topology_exit() - free what unc_topology_init() and box creation made
 */
void unc_topology_exit(void)
{
	unsigned int i, b;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];

		unc_timer_exit(pkg);
		if (!pkg->boxes)
			continue;
		for (b = 0; b < unc.boxes_per_package; b++)
			unc_box_free(&pkg->boxes[b]);
		kfree(pkg->boxes);
	}
}

struct unc_reset {
	struct unc_package *pkg;
	bool restore;
};

/* On a CPU of the package, interrupts off: MSRs are a package's own. */
static void unc_reset_boxes(void *data)
{
	struct unc_reset *reset = data;
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = reset->pkg->boxes[b];
		unsigned long flags;

		if (!box)
			continue;
		flags = unc_lock(box);
		if (unc_box_reset(box, reset->restore))
			box->dead = true;
		unc_unlock(box, flags);
	}
}

/* A package without a CPU online is left as it is: no way to its MSRs. */
static void unc_reset_package(struct unc_reset *reset)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (unc_package_of_cpu(cpu) == reset->pkg) {
			smp_call_function_single(cpu, unc_reset_boxes, reset, 1);
			break;
		}
	}
	cpus_read_unlock();
}

/**
 * unc_boxes_start() - reset and probe every box; those that do not answer are
 * dead from the start
 *
 * Context: process.
 * Return: 0, or -ENODEV when no box answers.
 */
int unc_boxes_start(void)
{
	unsigned int i, b, n = 0;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_reset reset = { .pkg = &unc.packages[i] };

		unc_reset_package(&reset);
		for (b = 0; b < unc.boxes_per_package; b++) {
			struct unc_box *box = reset.pkg->boxes[b];

			if (!box)
				continue;
			if (!box->dead)
				n++;
		}
	}
	return n ? 0 : -ENODEV;
}

/**
 * unc_boxes_stop() - give every box its reset state back
 *
 * Context: process.
 */
void unc_boxes_stop(void)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_reset reset = {
			.pkg = &unc.packages[i],
			.restore = true,
		};

		unc_reset_package(&reset);
	}
}

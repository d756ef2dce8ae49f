// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packages and the boxes in them: which there are, where their PCI functions
 * sit, and bringing boxes into and out of service.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "xeon_uncore.h"
#include "compat.h"

/**
 * unc_topology_box() - find a box's state, make it when there is none yet
 * @pkg: the package
 * @type: the box's type
 * @index: which of that type
 *
 * Return: the box, or NULL without memory.
 */
struct unc_box *unc_topology_box(struct unc_package *pkg,
				 const struct unc_type *type, unsigned int index)
{
	struct unc_box **place = unc_package_box_place(pkg, type, index);
	struct unc_box *box = *place;
	unsigned int i;

	if (box)
		return box;
	box = kzalloc(struct_size(box, filter, unc_access_num_filters(type)),
		      GFP_KERNEL);
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
	box->probed.bits = type->bits;
	box->probed.fixed_bits = type->bits;
	unc_report_init(box);
	for (i = 0; i < UNC_MAX_COUNTERS; i++)
		box->ctr[i].slot = -1;
	*place = box;
	return box;
}

static void unc_find_buses(void)
{
	struct pci_dev *pdev = NULL;
	unsigned int i;

	if (!unc.gen->pci_ids)
		return;
	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL,
				      unc.gen->ubox_device, pdev))) {
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
				unc.packages[i].phys_id, unc.gen->ubox_device);
	}
}

/* Boxes that pci.c cannot find by a PCI function. */
static int unc_create_boxes(struct unc_package *pkg)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int i, n, t;

	for (t = 0; t < unc.gen->num_types; t++, type++) {
		if (type->space->map)
			continue;
		n = unc.gen->count_boxes ? unc.gen->count_boxes(pkg, type) :
					   type->max_boxes;
		for (i = 0; i < n; i++) {
			if (!unc_topology_box(pkg, type, i))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Those with a CPU online. */
static unsigned int unc_count_packages(void)
{
	unsigned int cpu, first, n = 0;

	for_each_online_cpu(cpu) {
		for_each_online_cpu(first) {
			if (topology_physical_package_id(first) ==
			    topology_physical_package_id(cpu))
				break;
		}
		n += first == cpu;
	}
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
 * unc_topology_init() - find packages, their buses and boxes without a function
 *
 * Context: process; CPU hotplug must be held off by the caller.
 * Return: 0 or a negative errno; unc_topology_exit() cleans up either way.
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
 * unc_topology_exit() - free what unc_topology_init() and box creation made
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
	kvfree(unc.packages);
}

/* --- bringing boxes into and out of service ------------------------------ */

/**
 * struct unc_found - what others have left in a package
 * @pkg: the package
 * @status: its global status
 * @ctl: its global control register
 * @running: boxes with a counter enabled
 */
struct unc_found {
	struct unc_package *pkg;
	u64 status;
	u64 ctl;
	unsigned int running;
};

/*
 * On a CPU of the package, interrupts off: registers are a package's own.  First all
 * of it is frozen, so that nothing can overflow while it is cleared.
 */
static void unc_start_boxes(void *data)
{
	struct unc_found *found = data;
	struct unc_package *pkg = found->pkg;
	unsigned int b;

	if (!unc_global_look(&found->ctl, &found->status))
		return;
	unc_global_freeze();
	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];
		bool running = false;
		unsigned long flags;

		if (!box || box->dead)
			continue;
		flags = unc_lock_box(box);
		if (unc_box_start(box, &running))
			box->dead = true;
		found->running += running;
		unc_lock_release(box, flags);
	}
	/* with what overflowed before it was frozen */
	unc_global_restart(0);
}

static void unc_stop_boxes(void *data)
{
	struct unc_package *pkg = data;
	unsigned long flags;
	unsigned int b;

	unc_global_freeze();
	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (!box)
			continue;
		flags = unc_lock_box(box);
		unc_refresh_box(box);
		unc_box_restore(box);
		/* an event may still exist: the box is never accessed again */
		box->dead = true;
		unc_lock_release(box, flags);
	}
	unc_global_restart(0);
}

/* A package without a CPU online is left as it is: no way to its MSRs. */
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

#define UNC_CLOCK_TRIES	20

/*
 * Let the fixed counter run until it moves.  The box is idle, and is idle
 * again afterwards: no event can use it yet.
 */
static bool unc_clock_runs(struct unc_box *box)
{
	struct unc_slot clock = { .ctr = UNC_FIXED };
	unsigned int tries = 0;
	bool running = false;
	unsigned long flags;
	u64 count = 0;

	flags = unc_lock_box(box);
	unc_access_write_ctl(box, UNC_FIXED, box->type->layout->en);
	unc_access_write_box_ctl(box, 0);
	box->hw.frozen = false;
	unc_lock_release(box, flags);
	while (!count && tries++ < UNC_CLOCK_TRIES) {
		usleep_range(50, 100);
		flags = unc_lock_box(box);
		clock.stamp = 0;
		if (!unc_access_read_counter(box, &clock, &count))
			tries = UNC_CLOCK_TRIES;
		unc_lock_release(box, flags);
	}
	flags = unc_lock_box(box);
	if (unc_box_start(box, &running))
		box->dead = true;
	unc_lock_release(box, flags);
	return count;
}

/* A box without a clock counts nothing, or random values. */
static void unc_leave_out_unclocked(struct unc_package *pkg)
{
	unsigned long flags;
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (!box || box->dead ||
		    !(box->type->quirks & UNC_QUIRK_UNCLOCKED) ||
		    unc_clock_runs(box))
			continue;
		flags = unc_lock_box(box);
		unc_box_restore(box);
		box->dead = true;
		unc_lock_release(box, flags);
		pr_warn("%s of package %d: its clock stands still (no memory there?): left out\n",
			box->name, pkg->phys_id);
	}
}

static void unc_report_found(const struct unc_found *found)
{
	const struct unc_package *pkg = found->pkg;
	unsigned int b;

	if (found->running || found->status || (found->ctl & unc.gen->cores))
		pr_info("package %d: firmware or another tool had left %u boxes counting, global status %#llx and control %#llx: all cleared\n",
			pkg->phys_id, found->running, found->status,
			found->ctl);
	for (b = 0; b < unc.boxes_per_package; b++) {
		const struct unc_box *box = pkg->boxes[b];

		if (box && box->probed.kept)
			pr_warn("%s of package %d: a counter keeps %#llx of all ones: taking its documented %u bits; is another program writing it?\n",
				box->name, pkg->phys_id, box->probed.kept,
				box->type->bits);
		/* once for all boxes of a function */
		if (box && box->probed.undecided && !box->io.first)
			pr_warn("%s of package %d: registers %#x and %#x do not tell where the counters are: taking the first reading\n",
				box->name, pkg->phys_id, box->type->only_ctr,
				box->type->only_other_ctr);
	}
}

/**
 * unc_power_start() - clear and probe every box; those that do not answer are
 * dead from the start
 *
 * Context: process.
 * Return: 0, or -ENODEV when no box answers.
 */
int unc_power_start(void)
{
	unsigned int i, b, n = 0;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_found found = { .pkg = &unc.packages[i] };

		unc_on_package(found.pkg, unc_start_boxes, &found);
		unc_report_found(&found);
		unc_leave_out_unclocked(found.pkg);
		for (b = 0; b < unc.boxes_per_package; b++) {
			struct unc_box *box = found.pkg->boxes[b];

			/* not even reached, where the package does not answer */
			if (box && !box->probed.started)
				box->dead = true;
			if (box && !box->dead)
				n++;
		}
	}
	return n ? 0 : -ENODEV;
}

/**
 * unc_power_stop() - give every box its reset state back, for good
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

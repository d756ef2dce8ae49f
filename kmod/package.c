// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine: which packages and boxes there are, and how one is found.  All
 * else in the driver is built on this; topology.c fills it in.
 */
#include <linux/pci.h>
#include <linux/slab.h>

#include "compat.h"
#include "package.h"

struct unc_machine unc = {
	.pmus = LIST_HEAD_INIT(unc.pmus),
};

/*
 * The package with a number.  Returns the package, or NULL when it had no CPU online at
 * load.
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

/*
 * The package that a CPU is in.  Returns the package, or NULL when it had no CPU online
 * at load.
 */
struct unc_package *unc_package_of_cpu(unsigned int cpu)
{
	return unc_package_of_id(topology_physical_package_id(cpu));
}

/*
 * Choose the CPU that programs a package's counters.  An isolated CPU is chosen only
 * where the package has no other one online.  Returns the CPU, or nr_cpu_ids when the
 * package has none online but @but.
 * Context: CPU hotplug must be held off by the caller.
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

/*
 * The package whose uncore is on a PCI bus.  Returns the package, or NULL where no UBox
 * says which.
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

/* Where a package keeps the pointer to a box. */
struct unc_box **unc_package_box_place(const struct unc_package *pkg,
				       const struct unc_type *type, unsigned int index)
{
	const struct unc_type *t;
	unsigned int place = index;

	for (t = unc.gen->types; t != type; t++)
		place += t->max_boxes;
	return &pkg->boxes[place];
}

/* A box's number among all of its package.  Returns its index in unc_package.boxes. */
unsigned int unc_package_box_number(const struct unc_box *box)
{
	return unc_package_box_place(box->pkg, box->type, box->index) - box->pkg->boxes;
}

/*
 * Find the box whose clock the driver may use.  Returns a box with a fixed counter that
 * can overflow, and whose registers take no lock; or NULL.
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

/* Find the first box from a place on that answers, or NULL; for for_each_box(). */
struct unc_box *unc_package_next_box(const struct unc_package *pkg, unsigned int *b)
{
	for (; *b < unc.boxes_per_package; (*b)++) {
		if (pkg->boxes[*b] && !pkg->boxes[*b]->dead)
			return pkg->boxes[*b];
	}
	return NULL;
}

/*
 * Find a box of a type and index in any package.  Returns a box that is not dead, or
 * NULL.
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

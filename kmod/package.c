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

/* A box's number among all that a package may have: its index in unc_package.boxes. */
unsigned int unc_package_box_number(const struct unc_type *type, unsigned int index)
{
	const struct unc_type *t;

	for (t = unc.gen->types; t != type; t++)
		index += t->max_boxes;
	return index;
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

/* Find a box with a number in any package.  Returns one that is not dead, or NULL. */
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver.  It claims the functions that have registers or filters of boxes, and
 * retires a box when its function is removed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/acpi.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "box.h"
#include "lock.h"
#include "mmio.h"
#include "package.h"
#include "pci.h"
#include "topology.h"

/* --- reaching a function -------------------------------------------------- */

static bool mmconfig = true;
module_param(mmconfig, bool, 0444);
MODULE_PARM_DESC(mmconfig,
		 "reach PCI registers through memory (MMCONFIG) where the machine can, instead of through its two ports (default Y)");

/* Number of functions that are accessed through memory, and through ports. */
static unsigned int unc_pci_mapped, unc_pci_ported;

#define UNC_PCI_CONFIG_SIZE	4096

/* Address of a function's configuration space by the firmware's table, or 0. */
static phys_addr_t unc_pci_config_address(const struct pci_dev *pdev)
{
	const struct acpi_mcfg_allocation *entry, *end;
	struct acpi_table_header *table;
	u8 bus = pdev->bus->number;
	phys_addr_t address = 0;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_MCFG, 0, &table)))
		return 0;
	entry = (void *)table + sizeof(struct acpi_table_mcfg);
	end = (void *)table + table->length;
	for (; entry + 1 <= end; entry++) {
		if (entry->pci_segment == pci_domain_nr(pdev->bus) &&
		    bus >= entry->start_bus_number &&
		    bus <= entry->end_bus_number)
			address = entry->address +
				  (((phys_addr_t)bus << 8 | pdev->devfn) *
				   UNC_PCI_CONFIG_SIZE);
	}
	acpi_put_table(table);
	return address;
}

/*
 * Map a function's configuration space: accesses through memory take no lock, and a
 * fraction of the time.  The firmware's table may be wrong, so the mapping must show
 * the function's IDs.
 */
static void __iomem *unc_pci_map(struct pci_dev *pdev)
{
	phys_addr_t address = mmconfig ? unc_pci_config_address(pdev) : 0;
	void __iomem *regs = NULL;
	u32 id, class;

	if (address && pdev->cfg_size >= UNC_PCI_CONFIG_SIZE)
		regs = ioremap(address, UNC_PCI_CONFIG_SIZE);
	if (!regs)
		goto ports;
	id = readl(regs + PCI_VENDOR_ID);
	class = readl(regs + PCI_CLASS_REVISION);
	if (id == (u32)(pdev->device << 16 | pdev->vendor) &&
	    class == (pdev->class << 8 | pdev->revision)) {
		unc_pci_mapped++;
		return regs;
	}
	iounmap(regs);
ports:
	unc_pci_ported++;
	return NULL;
}

/**
 * unc_pci_access() - name the way to PCI registers, for the log
 */
const char *unc_pci_access(void)
{
	if (!unc.gen->pci_ids)
		return "nothing: there are none";
	if (!unc_pci_mapped)
		return "ports";
	return unc_pci_ported ? "memory and ports" : "memory";
}

/* --- claiming functions --------------------------------------------------- */

/* No function is claimed after the load: its box would have no PMU. */
static bool unc_pci_closed;

/* Check whether all filter registers of a function can be read. */
static bool unc_filters_reachable(struct pci_dev *pdev,
				  const struct unc_type *type)
{
	const struct unc_filter_reg *reg;
	u32 value;

	for (reg = type->filter.regs; reg->reg; reg++) {
		if (pci_read_config_dword(pdev, reg->reg, &value) ||
		    value == U32_MAX)
			return false;
	}
	return true;
}

/*
 * Find the box type of a function.  With pmu_prefix=uncore (unc.lenient) some types are
 * replaced by types like those of intel_uncore.
 */
static const struct unc_type *unc_pci_type(const struct unc_pci_row *row)
{
	const struct unc_type *type = &unc.gen->types[row->type];

	return unc.lenient && type->pci.in_tree ? type->pci.in_tree : type;
}

/* Return the number of boxes that a row of the table gives a function. */
static unsigned int unc_pci_boxes(const struct unc_pci_row *row)
{
	const struct unc_type *type = unc_pci_type(row);

	if (row->role == UNC_PCI_FILTER)
		return 1;
	return type->mmio.size ? type->max_boxes : max_t(u8, type->pci.in_function, 1);
}

/* Give a box the filter registers of a function. */
static int unc_pci_join_filter(struct pci_dev *pdev, struct unc_function *f,
			       struct unc_box *box)
{
	if (!unc_filters_reachable(pdev, box->type))
		return -ENODEV;
	f->regs = unc_pci_map(pdev);
	box->io.filter_regs = f->regs;
	box->io.filter_pdev = pdev;
	return 0;
}

/* Give a box the registers of a function, of whose boxes it is number @i. */
static int unc_pci_join_box(struct pci_dev *pdev, struct unc_function *f,
			    struct unc_box *box, unsigned int i)
{
	const struct unc_type *type = box->type;

	if (!i)
		f->regs = unc_pci_map(pdev);
	box->io.regs = f->regs;
	box->io.first = i * type->general;
	if (type->pci.in_function > 1)
		box->io.function = f;
	box->io.pdev = pdev;
	return 0;
}

/* Give a function's registers to a box of a row of the table. */
static int unc_pci_join(struct pci_dev *pdev, struct unc_function *f,
			struct unc_package *pkg, const struct unc_pci_row *row,
			unsigned int i)
{
	const struct unc_type *type = unc_pci_type(row);
	bool filter = row->role == UNC_PCI_FILTER;
	phys_addr_t address = 0;
	struct unc_box *box;
	int err;

	if (type->mmio.size) {
		address = unc_mmio_address(pdev, type, row->index + i);
		if (!address)
			return 0;
	}
	box = unc_topology_box(pkg, type, row->index + i);
	if (!box)
		return -ENOMEM;
	if (filter ? box->io.filter_pdev : box->io.pdev) {
		pci_warn(pdev, "a second %s of package %d: left out\n",
			 box->name, pkg->id);
		return -ENODEV;
	}
	if (address)
		err = unc_mmio_map(pdev, box, address);
	else if (filter)
		err = unc_pci_join_filter(pdev, f, box);
	else
		err = unc_pci_join_box(pdev, f, box, i);
	if (!err)
		f->box[f->num++] = box;
	/* boxes in memory do without one another */
	return address ? 0 : err;
}

/* Give a function's registers to all boxes of a row of the table. */
static int unc_pci_join_row(struct pci_dev *pdev, struct unc_function *f,
			    struct unc_package *pkg, const struct unc_pci_row *row)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < unc_pci_boxes(row) && !err; i++)
		err = unc_pci_join(pdev, f, pkg, row, i);
	return err;
}

/* Take a function's registers from its boxes, which nobody accesses any more. */
static void unc_pci_leave(struct pci_dev *pdev, struct unc_function *f)
{
	unsigned int i;

	for (i = 0; i < f->num; i++) {
		struct unc_box *box = f->box[i];

		if (pdev != box->io.pdev)
			continue;
		unc_mmio_unmap(box);
		box->io.regs = NULL;
		box->io.pdev = NULL;
		box->io.function = NULL;
	}
	if (f->regs)
		iounmap(f->regs);
	kfree(f);
}

static int unc_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct unc_pci_row *row = unc_package_pci_row(pdev, NULL);
	struct unc_package *pkg = unc_package_of_bus(pdev->bus);
	unsigned int num = 0;
	struct unc_function *f;
	int err = 0;

	/* a function without counters that has the device ID of one with counters */
	if (!row)
		return -ENODEV;
	if (unc_pci_closed) {
		dev_info(&pdev->dev, "%s_%u appeared late: reload %s to use it\n",
			 unc_pci_type(row)->name, row->index, KBUILD_MODNAME);
		return -ENODEV;
	}
	/* the package's UBox is missing or unknown, which unc_topology_init() has logged */
	if (!pkg)
		return -ENODEV;
	for (; row; row = unc_package_pci_row(pdev, row))
		num += unc_pci_boxes(row);
	f = kzalloc(struct_size(f, box, num), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	raw_spin_lock_init(&f->lock);
	while (!err && (row = unc_package_pci_row(pdev, row)))
		err = unc_pci_join_row(pdev, f, pkg, row);
	if (!err && f->num) {
		pci_set_drvdata(pdev, f);
		return 0;
	}
	unc_pci_leave(pdev, f);
	return err ?: -ENODEV;
}

/* Retire a box whose function is being removed; the box keeps its last counts. */
static void unc_pci_remove_box(struct unc_box *box)
{
	unsigned long flags;

	flags = unc_lock_box(box);
	/* stop the counters if the function still answers: none may overflow later */
	unc_box_retire(box);
	unc_lock_release(box, flags);
	/* a report of the dead box may be pending */
	irq_work_sync(&box->report.work);
}

/* Stop using the filters of a box, whose function is being removed. */
static void unc_pci_remove_filter(struct unc_box *box)
{
	unsigned long flags;

	flags = unc_lock_box(box);
	unc_box_lose_filters(box);
	box->io.filter_pdev = NULL;
	box->io.filter_regs = NULL;
	unc_lock_release(box, flags);
}

/* Release a function that is removed, or all functions when the driver is unloaded. */
static void unc_pci_remove(struct pci_dev *pdev)
{
	struct unc_function *f = pci_get_drvdata(pdev);
	const struct unc_box *first = NULL;
	unsigned int i, counted = 0;

	for (i = 0; i < f->num; i++) {
		struct unc_box *box = f->box[i];
		bool counting = READ_ONCE(box->use.active) && !box->dead;

		if (pdev == box->io.pdev)
			unc_pci_remove_box(box);
		else
			unc_pci_remove_filter(box);
		if (!counting || !box->dead)
			continue;
		/* have perf remove the box's events, which run no more */
		schedule_work(&box->report.resched);
		first = first ?: box;
		counted++;
	}
	/* the work opens an event, with which the module cannot be unloaded */
	for (i = 0; i < f->num; i++)
		flush_work(&f->box[i]->report.resched);
	if (counted == 1)
		dev_warn(&pdev->dev, "%s of package %d: removed while counting: its events stop at their last count\n",
			 first->name, first->pkg->id);
	else if (counted)
		dev_warn(&pdev->dev, "%s and %u more of package %d: removed while counting: their events stop at their last count\n",
			 first->name, counted - 1, first->pkg->id);
	unc_pci_leave(pdev, f);
}

static struct pci_driver unc_pci_driver = {
	.name = UNC_NAME,
	.probe = unc_pci_probe,
	.remove = unc_pci_remove,
};

/* Check whether the generation's table has a function with the filters of a box. */
static bool unc_pci_has_filters(const struct unc_type *type, unsigned int index)
{
	const struct unc_pci_row *row;

	for (row = unc.gen->pci_rows; row->device; row++) {
		if (&unc.gen->types[row->type] == type && row->index == index &&
		    row->role == UNC_PCI_FILTER)
			return true;
	}
	return false;
}

/*
 * Drop boxes of which only the filters' function was found.  A box without filters
 * stays: it counts events that need no filter.
 */
static void unc_pci_drop_incomplete(const struct unc_package *pkg,
				    const struct unc_type *type)
{
	unsigned int b, unfiltered = 0;

	for (b = 0; b < type->max_boxes; b++) {
		struct unc_box *box = pkg->boxes[unc_package_box_number(type, b)];

		if (!box)
			continue;
		if (!box->io.pdev)
			box->dead = true;
		else if (!box->io.filter_pdev && unc_pci_has_filters(type, b))
			unfiltered++;
	}
	if (unfiltered)
		pr_warn("package %d: the filters of %u %s boxes are hidden, or beyond reach (no MMCONFIG?): events with a filter are refused there\n",
			pkg->id, unfiltered, type->name);
}

/**
 * unc_pci_init() - claim the PCI functions and make their boxes
 *
 * Return: 0 or a negative errno.
 * Context: process.
 */
int unc_pci_init(void)
{
	unsigned int i, t;
	int err;

	if (!unc.gen->pci_ids)
		return 0;
	unc_pci_closed = false;
	unc_pci_driver.id_table = unc.gen->pci_ids;
	err = pci_register_driver(&unc_pci_driver);
	if (err)
		return err;
	unc_pci_closed = true;
	for (i = 0; i < unc.num_packages; i++) {
		for (t = 0; t < unc.gen->num_types; t++) {
			if (unc.gen->types[t].space->pci)
				unc_pci_drop_incomplete(&unc.packages[i],
							&unc.gen->types[t]);
		}
	}
	return 0;
}

/**
 * unc_pci_exit() - release the PCI functions
 *
 * Context: process.
 */
void unc_pci_exit(void)
{
	if (unc.gen->pci_ids)
		pci_unregister_driver(&unc_pci_driver);
}

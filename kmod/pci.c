// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver that claims the functions in which boxes have their
 * registers, and notices when one goes away.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "xeon_uncore.h"

/* Functions that appear after the module was loaded have no PMU to join. */
static bool unc_pci_closed;

static int unc_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct unc_type *type =
		&unc.gen->types[UNC_PCI_TYPE(id->driver_data)];
	unsigned int index = UNC_PCI_INDEX(id->driver_data);
	struct unc_package *pkg = unc_package_of_bus(pdev->bus->number);
	struct unc_box *box;

	if (unc_pci_closed) {
		dev_info(&pdev->dev, "%s_%u appeared late: reload %s to use it\n",
			 type->name, index, KBUILD_MODNAME);
		return -ENODEV;
	}
	if (!pkg) {
		dev_warn(&pdev->dev, "%s_%u: bus %02x is of no package: left out\n",
			 type->name, index, pdev->bus->number);
		return -ENODEV;
	}
	box = unc_box_create(pkg, type, index);
	if (!box)
		return -ENOMEM;
	if (UNC_PCI_ROLE(id->driver_data) == UNC_PCI_FILTER)
		box->filter_pdev = pdev;
	else
		box->pdev = pdev;
	pci_set_drvdata(pdev, box);
	return 0;
}

/*
 * The function is going away, or we are.  Its registers can still be written,
 * but events may be running: the box keeps its last counts from here on.
 */
static void unc_pci_remove(struct pci_dev *pdev)
{
	struct unc_box *box = pci_get_drvdata(pdev);
	unsigned long flags;
	bool counting;

	flags = unc_lock(box);
	counting = box->active;
	if (pdev == box->pdev) {
		unc_box_refresh_all(box);
		box->dead = true;
	} else {
		box->filter_pdev = NULL;
	}
	unc_unlock(box, flags);
	if (pdev == box->pdev) {
		/* dead: nobody looks at it any more but the report of that */
		irq_work_sync(&box->gone);
		box->pdev = NULL;
	}
	if (counting)
		dev_warn(&pdev->dev, "%s of package %d: removed while counting: its events stop at their last count\n",
			 box->name, box->pkg->phys_id);
}

static struct pci_driver unc_pci_driver = {
	.name = UNC_NAME,
	.probe = unc_pci_probe,
	.remove = unc_pci_remove,
};

/*
 * A box is of use with its own function only; filters without one would be
 * taken for a box.
 */
static void unc_pci_drop_incomplete(void)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int i, t, b;

	for (i = 0; i < unc.num_packages; i++) {
		for (t = 0; t < unc.gen->num_types; t++) {
			if (type[t].space != UNC_PCI)
				continue;
			for (b = 0; b < type[t].max_boxes; b++) {
				struct unc_box *box;

				box = *unc_box_place(&unc.packages[i],
						     &type[t], b);
				if (box && !box->pdev)
					box->dead = true;
			}
		}
	}
}

/**
 * unc_pci_init() - claim the PCI functions and make their boxes
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int unc_pci_init(void)
{
	int err;

	unc_pci_closed = false;
	unc_pci_driver.id_table = unc.gen->pci_ids;
	err = pci_register_driver(&unc_pci_driver);
	if (err)
		return err;
	unc_pci_closed = true;
	unc_pci_drop_incomplete();
	return 0;
}

/**
 * unc_pci_exit() - let the PCI functions go
 */
void unc_pci_exit(void)
{
	pci_unregister_driver(&unc_pci_driver);
}

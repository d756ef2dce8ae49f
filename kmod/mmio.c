// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding and mapping the registers of boxes in memory.  Their addresses are in registers of
 * a PCI function, not in BARs that the kernel knows, so the kernel does not check them: an
 * address that firmware has left out or set wrongly must not let the driver write to RAM.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <asm/processor.h>

#include "mmio.h"
#include "package.h"

static bool exclusive;
module_param(exclusive, bool, 0444);
MODULE_PARM_DESC(exclusive,
		 "keep other drivers and /dev/mem away from registers in memory, so that no other tool programs the same counters (default N)");

/* Fields of the registers, and the lowest bits of the address that the fields hold */
#define BASE		GENMASK(28, 0)
#define BASE_SHIFT	23
#define BAR		GENMASK(10, 0)
#define BAR_SHIFT	12

/* Find a box of any package whose memory overlaps with this memory of a box of the type. */
static const struct unc_box *unc_mmio_other(const struct unc_type *type,
					    phys_addr_t address)
{
	const struct unc_box *box;
	unsigned int i, b;

	for (i = 0; i < unc.num_packages; i++) {
		for_each_box(&unc.packages[i], b, box) {
			if (box->type == type && box->io.address &&
			    box->io.address < address + type->mmio.size &&
			    address < box->io.address + type->mmio.size)
				return box;
		}
	}
	return NULL;
}

/* Return why there can be no registers at an address, or NULL. */
static const char *unc_mmio_fault(const struct unc_type *type, phys_addr_t address)
{
	const phys_addr_t end = address + type->mmio.size;

	if (end > BIT_ULL(boot_cpu_data.x86_phys_bits))
		return "beyond the processor's addresses";
	if (region_intersects(address, type->mmio.size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return "in RAM";
	if (unc_mmio_other(type, address))
		return "another box's";
	return NULL;
}

/**
 * unc_mmio_address() - find the address of a box's registers
 * @pdev: the PCI function that has the address
 * @type: the box type
 * @index: the box's index among the boxes of its type
 *
 * A controller without memory has no address.  A wrong address is in the log.
 *
 * Return: the address, or 0 if the box is absent.
 * Context: process.
 */
phys_addr_t unc_mmio_address(struct pci_dev *pdev, const struct unc_type *type,
			     unsigned int index)
{
	const struct unc_type_mmio *mmio = &type->mmio;
	unsigned int controller = index / mmio->boxes;
	unsigned int in_controller = index % mmio->boxes;
	phys_addr_t address;
	const char *fault;
	u32 base, bar;

	if (pci_read_config_dword(pdev, mmio->base, &base) ||
	    pci_read_config_dword(pdev, mmio->bar + 4 * controller, &bar) ||
	    base == U32_MAX || bar == U32_MAX)
		return 0;
	address = ((phys_addr_t)(base & BASE) << BASE_SHIFT) +
		  ((phys_addr_t)(bar & BAR) << BAR_SHIFT) +
		  mmio->first + in_controller * mmio->stride;
	/* a controller at the base itself has other bits in its register, such as its size */
	fault = base && bar ? unc_mmio_fault(type, address) : "not set";
	if (!fault)
		return address;
	/*
	 * All boxes of a controller have the same fault, or even all boxes.  Only the controllers
	 * that a processor lacks have no address of their own.
	 */
	if (!in_controller && (base || !controller))
		dev_printk(base && !bar ? KERN_INFO : KERN_WARNING, &pdev->dev,
			   "memory controller %u: the address %pa of its %s registers is %s: left out\n",
			   controller, &address, type->name, fault);
	return 0;
}

/**
 * unc_mmio_map() - map a box's registers
 * @pdev: the PCI function that has the address
 * @box: the box
 * @address: from unc_mmio_address()
 *
 * Return: 0 or a negative errno, which is in the log.
 * Context: process.
 */
int unc_mmio_map(struct pci_dev *pdev, struct unc_box *box, phys_addr_t address)
{
	const u32 size = box->type->mmio.size;

	if (exclusive && !request_mem_region_exclusive(address, size, box->name)) {
		pci_warn(pdev, "%s of package %d: another driver has its registers at %pa, and exclusive=1: left out\n",
			 box->name, box->pkg->id, &address);
		return -EBUSY;
	}
	box->io.regs = ioremap(address, size);
	if (!box->io.regs) {
		pci_warn(pdev, "%s of package %d: its registers at %pa cannot be mapped: left out\n",
			 box->name, box->pkg->id, &address);
		if (exclusive)
			release_mem_region(address, size);
		return -ENOMEM;
	}
	box->io.address = address;
	box->io.pdev = pdev;
	return 0;
}

/**
 * unc_mmio_unmap() - release a box's registers, which nobody accesses any more
 * @box: a box, which has registers in memory or not
 *
 * Context: process.
 */
void unc_mmio_unmap(struct unc_box *box)
{
	if (!box->io.address)
		return;
	iounmap(box->io.regs);
	if (exclusive)
		release_mem_region(box->io.address, box->type->mmio.size);
	box->io.address = 0;
}

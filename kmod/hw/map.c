// SPDX-License-Identifier: GPL-2.0-only
/*
 * The place of a box in the machine: the PCI bus of a stack, the other end of a link.
 * The texts are those of intel_uncore, which perf iostat reads.
 */
#include <linux/bits.h>
#include <linux/bitfield.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "hw.h"
#include "../compat.h"

/* Fields of the MSR with a package's root buses: a byte for each stack */
#define BUSES_VALID	BIT_ULL(63)
#define BUS_BITS	8
#define BUS		GENMASK(BUS_BITS - 1, 0)

/* Field of the register of a stack's function: the stack as address decoders number it */
#define STACK		GENMASK(6, 4)

/* Fields of a link's status, and of its other end */
#define LINK_VALID	BIT(4)
#define PEER_NODE	GENMASK(19, 16)
#define PEER_PORT	GENMASK(12, 8)

/**
 * unc_map_bus() - tell the root bus of a stack
 * @box: the stack's box
 *
 * Return: "SEGMENT:BUS", which the caller frees; or NULL if the bus is unknown, the stack is
 * absent, or memory is short.  Only the first stack can have bus 0.
 */
char *unc_map_bus(const struct unc_box *box)
{
	const struct unc_package *pkg = box->pkg;
	u64 buses = 0;
	u8 bus;

	/* without a UBox on PCI the segment is unknown */
	if (pkg->last_bus < 0)
		return NULL;
	/* a register that faults reads as 0 */
	rdmsrq_safe_on_cpu(pkg->cpu, box->type->map.reg, &buses);
	bus = buses >> (BUS_BITS * box->index) & BUS;
	if (!(buses & BUSES_VALID) || (!bus && box->index))
		return NULL;
	return kasprintf(GFP_KERNEL, "%04x:%02x", pkg->domain, bus);
}

/**
 * unc_map_stack() - tell the root bus of a stack by a function of that bus
 * @box: the stack's box
 *
 * The function's register has a number of the stack, for which the type has the box.
 *
 * Return: "SEGMENT:BUS", which the caller frees; or NULL if the package has no function of
 * the stack, or memory is short.
 */
char *unc_map_stack(const struct unc_box *box)
{
	const struct unc_type_map *map = &box->type->map;
	struct pci_dev *pdev = NULL;
	char *place = NULL;
	u32 value;

	while (!place && (pdev = pci_get_device(PCI_VENDOR_ID_INTEL, map->device, pdev))) {
		if (unc_package_of_bus(pdev->bus) != box->pkg ||
		    pci_read_config_dword(pdev, map->reg, &value) || value == U32_MAX ||
		    FIELD_GET(STACK, value) >= box->type->max_boxes ||
		    map->stacks[FIELD_GET(STACK, value)] != box->index)
			continue;
		place = kasprintf(GFP_KERNEL, "%04x:%02x", pci_domain_nr(pdev->bus),
				  pdev->bus->number);
		if (!place)
			break;
	}
	pci_dev_put(pdev);
	return place;
}

/**
 * unc_map_link() - tell the other end of a link
 * @box: the link's box
 *
 * Return: "upi_Z,die_W" for link Z of the die W, which the caller frees; or NULL for a link
 * that is not connected, or if memory is short.
 */
char *unc_map_link(const struct unc_box *box)
{
	const struct unc_type_map *map = &box->type->map;
	struct pci_dev *pdev = box->io.pdev;
	const struct unc_package *peer;
	u32 status, end;

	if (!pdev || pci_read_config_dword(pdev, map->reg, &status) || status == U32_MAX ||
	    !(status & LINK_VALID) || pci_read_config_dword(pdev, map->peer, &end))
		return NULL;
	peer = unc_package_of_node(FIELD_GET(PEER_NODE, end));
	if (!peer)
		return NULL;
	return kasprintf(GFP_KERNEL, "%s_%lu,die_%d", box->type->name,
			 FIELD_GET(PEER_PORT, end), peer->die);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package of a PCI bus, on E5 and E7.  Each package has one bus for its uncore, with
 * the PCI device of the UBox, and an IO bus with a lower number.  Sections (§) are those
 * of Intel's manual 331051.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/pci.h>
#include <linux/topology.h>

#include "hw.h"

/* The UBox's map of node ids (§1.6.1): a field of NODE_BITS bits for each package. */
#define NODES		8
#define NODE_BITS	3
#define NODE_ID		GENMASK(NODE_BITS - 1, 0)

/* Return the number of the package whose CPUs are in a NUMA node, or a negative errno. */
static int unc_node_package(int node)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (cpu_to_node(cpu) == node)
			return topology_physical_package_id(cpu);
	}
	return -ENODEV;
}

/**
 * unc_bus_of_ubox() - find the number of a UBox's package
 * @ubox: the UBox
 *
 * The field of the map that holds the UBox's own node id has the number of the package.
 * The manual's example forgets to shift the map's fields.
 *
 * A field has 3 bits, so node ids repeat in machines of more than 8 nodes.  In such a
 * machine the NUMA node of the UBox's bus gives the package.  If firmware does not give
 * the bus a node, the map is used, which is still right for up to 8 packages.
 *
 * Return: the number, or a negative errno.
 */
int unc_bus_of_ubox(struct pci_dev *ubox)
{
	u32 node, map;
	unsigned int i;
	int id;

	if (nr_node_ids > NODES || unc.num_packages > NODES) {
		id = unc_node_package(pcibus_to_node(ubox->bus));
		if (id >= 0 || unc.num_packages > NODES)
			return id;
	}

	if (pci_read_config_dword(ubox, unc.gen->ubox.node_id, &node) ||
	    pci_read_config_dword(ubox, unc.gen->ubox.node_map, &map) ||
	    (node == U32_MAX && map == U32_MAX))
		return -EIO;
	for (i = 0; i < NODES; i++) {
		if (((map >> (NODE_BITS * i)) & NODE_ID) == (node & NODE_ID))
			return i;
	}
	return -ENODEV;
}

/* Check whether a PCI function is one that only an uncore bus has. */
static bool unc_is_uncore_bus(struct pci_dev *pdev)
{
	const struct pci_device_id *id = pci_match_id(unc.gen->pci_ids, pdev);

	return id && !unc.gen->types[UNC_PCI_TYPE(id->driver_data)].pci.io_bus;
}

/**
 * unc_bus_of_io() - find the package of an IO bus
 * @bus: the IO bus
 *
 * An IO bus belongs to the package of the next higher uncore bus.  If the UBox of that
 * uncore bus is hidden, its package is unknown, and so is the package of the IO bus.  The
 * uncore bus after it would give another package.
 *
 * Context: process.
 * Return: the package, or NULL.
 */
struct unc_package *unc_bus_of_io(struct pci_bus *bus)
{
	struct pci_bus *best = NULL;
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev) {
		if (pci_domain_nr(pdev->bus) == pci_domain_nr(bus) &&
		    pdev->bus->number >= bus->number &&
		    (!best || pdev->bus->number < best->number) &&
		    unc_is_uncore_bus(pdev))
			best = pdev->bus;
	}
	return best ? unc_package_of_bus(best) : NULL;
}

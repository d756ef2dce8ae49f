// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package of a PCI bus, on E5 and E7: each package has one bus for its uncore,
 * with a UBox, and one below it for IO.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/pci.h>
#include <linux/topology.h>

#include "hw.h"

/* The node-id map: NODES fields of NODE_BITS bits. */
#define NODES		8
#define NODE_BITS	3
#define NODE_ID		GENMASK(NODE_BITS - 1, 0)

/* The number of the package whose CPUs are in a NUMA node, or a negative errno. */
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
 * unc_bus_of_ubox() - the number of the package that a UBox is in
 * @ubox: the UBox
 *
 * The UBox's own node id, looked up in its map of node ids, gives the number
 * of the package.  The manual's example forgets to shift the map's fields.
 *
 * Node ids repeat in machines of more than 8 nodes.  There the bus's NUMA node
 * decides, which firmware may leave out; the map is still right for 8 packages.
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

/* Is it a function that only an uncore bus has? */
static bool unc_is_uncore_bus(struct pci_dev *pdev)
{
	const struct pci_device_id *id = pci_match_id(unc.gen->pci_ids, pdev);

	return id && !unc.gen->types[UNC_PCI_TYPE(id->driver_data)].pci.io_bus;
}

/**
 * unc_bus_of_io() - the package that an IO bus belongs to
 * @bus: the bus
 *
 * That is the package of the next higher uncore bus, also when this one's UBox
 * is hidden, so that its package is unknown.
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

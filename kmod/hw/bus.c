// SPDX-License-Identifier: GPL-2.0-only
/*
 * The package of a UBox, by the UBox's registers.  Sections (§) are those of Intel's manual
 * 331051.
 */
#include <linux/cpumask.h>
#include <linux/nodemask.h>
#include <linux/pci.h>
#include <linux/topology.h>

#include "hw.h"
#include "../compat.h"

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
			return unc_cpu_package(cpu);
	}
	return -ENODEV;
}

/**
 * unc_bus_node() - read the node id of a UBox
 * @ubox: the UBox
 *
 * Return: the node id, or a negative errno.
 */
int unc_bus_node(struct pci_dev *ubox)
{
	u32 node;

	if (pci_read_config_dword(ubox, unc.gen->ubox.node_id, &node) || node == U32_MAX)
		return -EIO;
	return node & NODE_ID;
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

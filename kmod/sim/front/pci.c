// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI front: a root bus for each bus of each package. Accesses to their configuration space
 * go to the model.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/topology.h>
#include <asm/pci.h>

#include "compat.h"
#include "sim.h"

/**
 * struct sim_bus - a simulated root bus
 * @sysdata: x86's data of a root bus, to which bus->sysdata points
 * @busn: number of the bus as a resource
 * @name: name of @busn
 * @bridge: host bridge of the kernel, freed by sim_remove_bus(); NULL: none
 * @pkg: package of the bus
 * @index: number of the bus in the list of the package's buses
 * @below: number of the bus below its root port in this list; 0: none
 */
struct sim_bus {
	struct pci_sysdata sysdata;
	struct resource busn;
	char name[32];
	struct pci_host_bridge *bridge;
	unsigned int pkg;
	unsigned int index, below;
};

static unsigned short sim_domain;
module_param_named(pci_domain, sim_domain, ushort, 0444);
MODULE_PARM_DESC(pci_domain, "First PCI domain of the simulated buses (default 0)");
module_param_named(domain_packages, sim.config.segment_packages, uint, 0444);
MODULE_PARM_DESC(domain_packages, "Packages whose buses are in one PCI domain (default: all)");

/* The CPU stops with the kernel's lock of configuration space held and interrupts off. */
static unsigned int sim_pci_us;
module_param_named(pci_us, sim_pci_us, uint, 0644);
MODULE_PARM_DESC(pci_us, "microseconds that an access to a PMON register in configuration space takes, as when firmware or a hypervisor has the CPU (default 0)");

static struct sim_bus sim_buses[MODEL_MAX_PACKAGES][MODEL_MAX_BUSES];

/*
 * Offset of the first PMON register of each function on each bus, or 0 for a function
 * without PMON registers; the same in every package. Statistics, holds and
 * delays are for accesses from this offset on, not for those of a bus scan.
 */
static u16 sim_pmon_start[MODEL_MAX_BUSES][256];

/* Fill sim_pmon_start[]. */
static void sim_find_pmons(void)
{
	unsigned int bus, devfn;
	unsigned long flags;

	for (bus = 0; bus < sim.config.gen->nbuses; bus++) {
		for (devfn = 0; devfn < 256; devfn++) {
			flags = sim_lock();
			sim_pmon_start[bus][devfn] =
				model_pci_first_register(sim.model, bus, devfn);
			sim_unlock(flags);
		}
	}
}

/* Return the number of a bus, or of the bus below it, in the list of the package's buses. */
static unsigned int sim_bus_index(const struct sim_bus *b, const struct pci_bus *bus)
{
	return bus->number == b->busn.start ? b->index : b->below;
}

static bool sim_is_pmon(const struct sim_bus *b, const struct pci_bus *bus,
			unsigned int devfn, int where)
{
	u16 start = sim_pmon_start[sim_bus_index(b, bus)][devfn];

	return start && where >= start;
}

static struct sim_bus *to_sim_bus(struct pci_bus *bus)
{
	return container_of(bus->sysdata, struct sim_bus, sysdata);
}

/*
 * Return whether the access is in an NMI, and warn. On hardware such an access can deadlock:
 * the interrupted code may hold the lock of the configuration mechanism.
 */
static bool sim_pci_forbidden(void)
{
	return WARN_ONCE(in_nmi(), "PCI configuration access in an NMI\n");
}

/* Result of an access: without MMCONFIG, offsets above 0xff cannot be accessed. */
static int sim_pci_result(const struct sim_bus *b, int where)
{
	return model_pci_reachable(sim.model, b->pkg, where) ?
	       PCIBIOS_SUCCESSFUL : PCIBIOS_BAD_REGISTER_NUMBER;
}

static void sim_pci_delay(const struct sim_bus *b, const struct pci_bus *bus,
			  unsigned int devfn, int where)
{
	if (sim_is_pmon(b, bus, devfn, where))
		sim_away(READ_ONCE(sim_pci_us));
}

static int sim_pci_read(struct pci_bus *bus, unsigned int devfn, int where,
			int size, u32 *value)
{
	struct sim_bus *b = to_sim_bus(bus);
	unsigned long flags;

	*value = ~0;
	if (sim_pci_forbidden())
		return PCIBIOS_SET_FAILED;

	if (sim_is_pmon(b, bus, devfn, where))
		sim_hold_access();
	flags = sim_lock();
	sim_clock_sync();
	*value = model_pci_read(sim.model, b->pkg, sim_bus_index(b, bus), devfn, where,
				size);
	if (sim_is_pmon(b, bus, devfn, where)) {
		sim_count(SIM_PCI_READ);
		sim_record_pci(false, bus->number, devfn, where, *value);
	}
	sim_unlock(flags);
	sim_pci_delay(b, bus, devfn, where);
	return sim_pci_result(b, where);
}

static int sim_pci_write(struct pci_bus *bus, unsigned int devfn, int where,
			 int size, u32 value)
{
	struct sim_bus *b = to_sim_bus(bus);
	unsigned long flags;

	if (sim_pci_forbidden())
		return PCIBIOS_SET_FAILED;

	if (sim_is_pmon(b, bus, devfn, where))
		sim_hold_access();
	flags = sim_lock();
	sim_clock_sync();
	model_pci_write(sim.model, b->pkg, sim_bus_index(b, bus), devfn, where, size,
			value);
	if (sim_is_pmon(b, bus, devfn, where)) {
		sim_count(SIM_PCI_WRITE);
		sim_record_pci(true, bus->number, devfn, where, value);
		sim_clock_rearm();
	}
	sim_unlock(flags);
	sim_pci_delay(b, bus, devfn, where);
	return sim_pci_result(b, where);
}

static struct pci_ops sim_pci_ops = {
	.read = sim_pci_read,
	.write = sim_pci_write,
};

/* NUMA node of a package, by an online CPU of the package */
static int sim_package_node(unsigned int pkg)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (unc_cpu_package(cpu) == pkg)
			return cpu_to_node(cpu);
	return NUMA_NO_NODE;
}

static int sim_add_bus(struct sim_bus *b, unsigned int pkg, unsigned int index)
{
	u8 number = model_bus_number(&sim.config, pkg, index);
	struct pci_host_bridge *bridge;
	int ret;

	bridge = pci_alloc_host_bridge(0);
	if (!bridge)
		return -ENOMEM;

	b->pkg = pkg;
	b->index = index;
	b->below = model_bus_below(&sim.config, index);
	b->sysdata.domain = sim_domain + model_segment(&sim.config, pkg);
	b->sysdata.node = sim_package_node(pkg);
	snprintf(b->name, sizeof(b->name), "sim bus %u of package %u", index,
		 pkg);
	b->busn = (struct resource) {
		.name = b->name,
		.start = number,
		.end = number + !!b->below,
		.flags = IORESOURCE_BUS,
	};

	bridge->busnr = number;
	bridge->ops = &sim_pci_ops;
	bridge->sysdata = &b->sysdata;
	pci_add_resource(&bridge->windows, &b->busn);
	ret = pci_scan_root_bus_bridge(bridge);
	if (ret) {
		pr_err("cannot add PCI bus %04x:%02x (error %d): is the number taken?\n",
		       b->sysdata.domain, number, ret);
		pci_free_host_bridge(bridge);
		return ret;
	}
	b->bridge = bridge;
	pci_bus_add_devices(bridge->bus);
	return 0;
}

static void sim_remove_bus(struct sim_bus *b)
{
	if (!b->bridge)
		return;

	pci_stop_root_bus(b->bridge->bus);
	pci_remove_root_bus(b->bridge->bus);
	pci_free_host_bridge(b->bridge);
	b->bridge = NULL;
}

/**
 * sim_pci_init() - add the buses and their devices, to which drivers may bind at once
 *
 * Return: 0, or a negative error, for example if a bus number is in use.
 */
int sim_pci_init(void)
{
	unsigned int pkg, bus;
	int ret = 0;

	if (!sim.config.gen->nfunctions)
		return 0;
	sim_find_pmons();

	pci_lock_rescan_remove();
	for (pkg = 0; pkg < sim.config.packages && !ret; pkg++)
		for (bus = 0; bus < sim.config.gen->nbuses && !ret; bus++)
			ret = sim_add_bus(&sim_buses[pkg][bus], pkg, bus);
	pci_unlock_rescan_remove();

	if (ret)
		sim_pci_exit();
	return ret;
}

/**
 * sim_pci_exit() - unbind drivers and remove the devices and buses
 */
void sim_pci_exit(void)
{
	unsigned int pkg, bus;

	pci_lock_rescan_remove();
	for (pkg = 0; pkg < sim.config.packages; pkg++)
		for (bus = 0; bus < sim.config.gen->nbuses; bus++)
			sim_remove_bus(&sim_buses[pkg][bus]);
	pci_unlock_rescan_remove();
}

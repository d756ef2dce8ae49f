// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of CBos and SBos of a package, which depends on the package's die.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pci.h>

#include "hw.h"
#include "../compat.h"

/* Field of U_MSR_PMON_GLOBAL_CONFIG: number of CBos */
#define GLOBAL_CONFIG_NUM_C	GENMASK(4, 0)

/* Capability register of device 30 function 3; CHOP is 0 on the smallest die */
#define CAPID4			0x94
#define CAPID4_CHOP		GENMASK(7, 6)

/**
 * unc_die_cboxes() - read the number of CBos from the global configuration register
 * @pkg: the package
 * @type: the CBo
 *
 * Return: the number, or the maximum when the register has 0 or more than the maximum.
 */
unsigned int unc_die_cboxes(const struct unc_package *pkg,
			    const struct unc_type *type)
{
	const unsigned int most = type->max_boxes;
	u64 config = 0;
	unsigned int n;

	/* a register that faults reads as 0 here and is reported below */
	rdmsrq_safe_on_cpu(pkg->cpu, unc.gen->global.config, &config);
	n = config & GLOBAL_CONFIG_NUM_C;
	if (n >= 1 && n <= most)
		return n;
	pr_warn_once("package %d reports %u CBos, expected 1 to %u; looking for %u, and those that do not answer are left out\n",
		     pkg->phys_id, n, most, most);
	return most;
}

/**
 * unc_die_sboxes() - find the number of SBos by the die in the capability registers
 * @pkg: the package
 * @type: the SBo; the smallest die has count.min, all other dies have max_boxes
 *
 * Return: the number of SBos, or the maximum if the capability registers are hidden.
 */
unsigned int unc_die_sboxes(const struct unc_package *pkg,
			    const struct unc_type *type)
{
	const u16 device = unc.gen->capability_device;
	struct pci_dev *pdev = NULL;
	u32 capid4;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, device, pdev))) {
		if (unc_package_of_bus(pdev->bus) != pkg)
			continue;
		if (pci_read_config_dword(pdev, CAPID4, &capid4))
			capid4 = CAPID4_CHOP;
		pci_dev_put(pdev);
		return capid4 & CAPID4_CHOP ? type->max_boxes : type->count.min;
	}
	/* without a UBox the package's buses are unknown, which is in the log already */
	if (pkg->last_bus >= 0)
		pr_warn("package %d: no capability registers on PCI (device 8086:%04x): looking for %u SBos, and those that do not answer are left out\n",
			pkg->phys_id, device, type->max_boxes);
	return type->max_boxes;
}

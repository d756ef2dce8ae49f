// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of CBos and SBos of a package, which depends on its die.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pci.h>

#include "hw.h"
#include "../compat.h"

/* of U_MSR_PMON_GLOBAL_CONFIG */
#define GLOBAL_CONFIG_NUM_C	GENMASK(4, 0)

/* of device 30 function 3 */
#define CAPID4			0x94
#define CAPID4_CHOP		GENMASK(7, 6)

/**
 * unc_die_cboxes() - read the number of CBos from the global configuration register
 * @pkg: the package
 * @type: the CBo
 *
 * Return: the number, or the maximum when the register makes no sense.
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
 * unc_die_sboxes() - read from the capability registers which die a package has
 * @pkg: the package
 * @type: the SBo, of which the smallest die has the minimum and others the maximum
 *
 * Return: the number, or the maximum without capability registers.
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
	/* without a UBox no bus is known to be the package's, and the log says so */
	if (pkg->bus >= 0)
		pr_warn("package %d: no capability registers on PCI (device 8086:%04x): looking for %u SBos, and those that do not answer are left out\n",
			pkg->phys_id, device, type->max_boxes);
	return type->max_boxes;
}

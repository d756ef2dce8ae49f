// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers that say how many CBos and SBos a package has, which depends on
 * its die; where they are is the generation's.
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
 * unc_die_cboxes() - how many CBos a package has
 * @pkg: the package
 * @msr: the global configuration register
 * @most: how many the manual knows
 */
unsigned int unc_die_cboxes(const struct unc_package *pkg, u32 msr,
			    unsigned int most)
{
	u64 config = 0;
	unsigned int n;

	/* a register that faults reads as 0 here and is reported below */
	rdmsrq_safe_on_cpu(pkg->cpu, msr, &config);
	n = config & GLOBAL_CONFIG_NUM_C;
	if (n >= 1 && n <= most)
		return n;
	pr_warn_once("package %d reports %u CBos, expected 1 to %u; looking for %u, and those that do not answer are left out\n",
		     pkg->phys_id, n, most, most);
	return most;
}

/**
 * unc_die_sboxes() - how many SBos a package has
 * @pkg: the package
 * @device: the PCI device with the capability registers
 * @most: of all dies but the smallest kind
 * @least: of that
 */
unsigned int unc_die_sboxes(const struct unc_package *pkg, u16 device,
			    unsigned int most, unsigned int least)
{
	struct pci_dev *pdev = NULL;
	u32 capid4;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, device, pdev))) {
		if (unc_package_of_bus(pdev->bus) != pkg)
			continue;
		if (pci_read_config_dword(pdev, CAPID4, &capid4))
			capid4 = CAPID4_CHOP;
		pci_dev_put(pdev);
		return capid4 & CAPID4_CHOP ? most : least;
	}
	/* without a UBox no bus is known to be the package's, and the log says so */
	if (pkg->bus >= 0)
		pr_warn("package %d: no capability registers on PCI (device 8086:%04x): looking for %u SBos, and those that do not answer are left out\n",
			pkg->phys_id, device, most);
	return most;
}

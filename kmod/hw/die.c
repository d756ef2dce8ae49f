// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of CBos, SBos and CHAs of a package, which depends on the package's die.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/pci.h>

#include "hw.h"
#include "../compat.h"

/* Field of U_MSR_PMON_GLOBAL_CONFIG: number of CBos */
#define GLOBAL_CONFIG_NUM_C	GENMASK(4, 0)

/* Field of Haswell's capability register CAPID4, which is 0 on the smallest die */
#define CAPID4_CHOP		GENMASK(7, 6)

/*
 * Read the capability register of @pkg, and the next one as the upper half where the CHAs are
 * in both.  False, with a line in the log, if they are hidden.
 */
static bool read_capability(const struct unc_package *pkg,
			    const struct unc_type *type, u64 *value)
{
	const struct unc_capability *capability = &unc.gen->capability;
	struct pci_dev *pdev = NULL;
	u32 low, high = 0;
	bool found;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_INTEL, capability->device, pdev))) {
		if (unc_package_of_bus(pdev->bus) != pkg)
			continue;
		found = !pci_read_config_dword(pdev, capability->reg, &low) &&
			(!upper_32_bits(capability->chas) ||
			 !pci_read_config_dword(pdev, capability->reg + 4, &high));
		pci_dev_put(pdev);
		if (!found)
			break;
		*value = (u64)high << 32 | low;
		return true;
	}
	/* without a UBox the package's buses are unknown, which is in the log already */
	if (pkg->last_bus >= 0)
		pr_warn("package %d: no capability registers on PCI (device 8086:%04x): looking for %u boxes of type %s, and those that do not answer are left out\n",
			pkg->id, capability->device, type->max_boxes, type->name);
	return false;
}

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
		     pkg->id, n, most, most);
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
	u64 capid4;

	if (!read_capability(pkg, type, &capid4))
		return type->max_boxes;
	return capid4 & CAPID4_CHOP ? type->max_boxes : type->count.min;
}

/**
 * unc_die_chas() - count the CHAs of a die in the capability registers
 * @pkg: the package
 * @type: the CHA
 *
 * The register has the CHAs' positions on the die; their numbers are without gaps.  Ice Lake
 * has them in two registers.
 *
 * Return: the number of CHAs, or the maximum if the capability registers are hidden or have
 * no CHA.
 */
unsigned int unc_die_chas(const struct unc_package *pkg,
			  const struct unc_type *type)
{
	u64 capid6;

	if (!read_capability(pkg, type, &capid6))
		return type->max_boxes;
	return min_t(unsigned int, hweight64(capid6 & unc.gen->capability.chas) ?: type->max_boxes,
		     type->max_boxes);
}

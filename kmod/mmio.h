/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_MMIO_H
#define XEON_UNCORE_MMIO_H

#include "state.h"

phys_addr_t unc_mmio_address(struct pci_dev *pdev, const struct unc_type *type,
			     unsigned int index);
int unc_mmio_map(struct pci_dev *pdev, struct unc_box *box, phys_addr_t address);
void unc_mmio_unmap(struct unc_box *box);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_MEMORY_H
#define XEON_UNCORE_MEMORY_H

#include "state.h"

phys_addr_t unc_memory_address(struct pci_dev *pdev, const struct unc_type *type,
			       unsigned int index);
int unc_memory_map(struct pci_dev *pdev, struct unc_box *box, phys_addr_t address);
void unc_memory_unmap(struct unc_box *box);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PCI_H
#define XEON_UNCORE_PCI_H

#include "state.h"

const char *unc_pci_access(void);
int unc_pci_init(void);
void unc_pci_exit(void);

#endif

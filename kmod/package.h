/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PACKAGE_H
#define XEON_UNCORE_PACKAGE_H

#include "state.h"

struct pci_bus;
struct pci_dev;

extern struct unc_machine unc;

struct unc_package *unc_package_of_id(int id);
struct unc_package *unc_package_of_cpu(unsigned int cpu);
struct unc_package *unc_package_of_node(unsigned int node);
bool unc_package_has_bus(const struct unc_package *pkg, struct pci_bus *bus);
struct unc_package *unc_package_of_bus(struct pci_bus *bus);
const struct unc_pci_row *unc_package_pci_row(const struct pci_dev *pdev,
					      const struct unc_pci_row *after);
unsigned int unc_package_box_number(const struct unc_type *type, unsigned int index);
struct unc_box *unc_package_clock_box(const struct unc_package *pkg);
struct unc_box *unc_package_any_box(unsigned int number);
unsigned int unc_package_pick_cpu(const struct unc_package *pkg, unsigned int but);
struct unc_box *unc_package_next_box(const struct unc_package *pkg, unsigned int *b);

/* The boxes of a package that answer. */
#define for_each_box(pkg, b, box)					\
	for ((b) = 0; ((box) = unc_package_next_box(pkg, &(b))); (b)++)

#endif

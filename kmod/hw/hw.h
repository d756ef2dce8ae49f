/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions and layouts that the tables of the generations refer to.  The tables are
 * generated from events/, a file for each generation.
 */
#ifndef XEON_UNCORE_HW_H
#define XEON_UNCORE_HW_H

#include <linux/build_bug.h>

#include "../package.h"
#include "generated/generations.h"

/* layout.c */
extern const struct unc_layout unc_layout_e5, unc_layout_e5_pcu, unc_layout_joint;

/* bus.c */
int unc_bus_of_ubox(struct pci_dev *ubox);
int unc_bus_node(struct pci_dev *ubox);

/* map.c */
char *unc_map_bus(const struct unc_box *box);
char *unc_map_stack(const struct unc_box *box);
char *unc_map_link(const struct unc_box *box);

/* die.c */
unsigned int unc_die_cboxes(const struct unc_package *pkg,
			    const struct unc_type *type);
unsigned int unc_die_sboxes(const struct unc_package *pkg,
			    const struct unc_type *type);
unsigned int unc_die_chas(const struct unc_package *pkg,
			  const struct unc_type *type);

#endif

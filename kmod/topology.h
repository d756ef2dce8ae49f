/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_TOPOLOGY_H
#define XEON_UNCORE_TOPOLOGY_H

#include "state.h"

int unc_topology_init(void);
void unc_topology_exit(void);
void unc_topology_find_places(void);
struct unc_box *unc_topology_box(struct unc_package *pkg,
				 const struct unc_type *type, unsigned int index);

#endif

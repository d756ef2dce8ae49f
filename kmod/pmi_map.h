/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PMI_MAP_H
#define XEON_UNCORE_PMI_MAP_H

#include "state.h"

void unc_pmi_map_measure(struct unc_package *pkg);
void unc_pmi_map_online(void);
int unc_pmi_map_core(const struct unc_package *pkg, unsigned int cpu);
void unc_pmi_map_exit(void);

#endif

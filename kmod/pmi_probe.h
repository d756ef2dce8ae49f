/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PMI_PROBE_H
#define XEON_UNCORE_PMI_PROBE_H

#include "state.h"

void unc_pmi_probe_package(struct unc_package *pkg);
void unc_pmi_probe_online(void);
void unc_pmi_probe_exit(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PMU_H
#define XEON_UNCORE_PMU_H

#include "state.h"

extern const struct pmu unc_pmu_template;

#endif

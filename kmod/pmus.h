/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PMUS_H
#define XEON_UNCORE_PMUS_H

#include "state.h"

int unc_pmus_register(void);
void unc_pmus_unregister(void);
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to);

#endif

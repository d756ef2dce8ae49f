/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PACKAGE_SYSFS_H
#define XEON_UNCORE_PACKAGE_SYSFS_H

#include "state.h"

int unc_package_sysfs_init(void);
void unc_package_sysfs_exit(void);

#endif

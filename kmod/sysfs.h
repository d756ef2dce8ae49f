/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_SYSFS_H
#define XEON_UNCORE_SYSFS_H

#include "state.h"

int unc_sysfs_check(void);
int unc_sysfs_init(void);
void unc_sysfs_exit(void);
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type);

#endif

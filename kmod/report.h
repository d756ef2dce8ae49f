/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_REPORT_H
#define XEON_UNCORE_REPORT_H

#include "state.h"

void unc_report_init(struct unc_box *box, work_func_t resched);
void unc_report_exit(struct unc_box *box);
void unc_report_dead(struct unc_box *box);
void unc_report_foreign(struct unc_box *box);

#endif

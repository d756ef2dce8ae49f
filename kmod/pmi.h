/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_PMI_H
#define XEON_UNCORE_PMI_H

#include "state.h"

void unc_pmi_in_handler(bool on);
void unc_pmi_caller(struct pt_regs *here);
struct pt_regs *unc_pmi_regs(struct pt_regs *here);
void unc_pmi_kick(struct unc_package *pkg);
void unc_pmi_init(void (*work)(void));
void unc_pmi_exit(void);

#endif

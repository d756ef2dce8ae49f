/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_NMI_H
#define XEON_UNCORE_NMI_H

#include <linux/percpu.h>
#include <linux/ptrace.h>

#include "state.h"

/* What an NMI interrupted, for the work that it queues. */
struct unc_hit {
	struct pt_regs regs;	/* without a stack, if interrupts were off */
	struct task_struct *task;
	u64 status;		/* global status as the handler saw it; 0: not read */
	u64 stamp;		/* when that was */
	u32 freeze;		/* the package freeze to which @status belongs */
	bool pending;		/* the work is queued, and those above are valid */
	bool own;		/* of the driver's handlers, which are not sampled */
};

/* The NMIs of a CPU. */
struct unc_nmi {
	struct irq_work work;	/* does what an NMI must not */
	struct unc_hit hit;
	bool in_handler;	/* this CPU handles overflows or delivers samples */
	bool armed;		/* its LVTPC delivers NMIs, as the driver knows */
	u32 lvtpc;		/* what LVTPC held before the driver armed it */
	u64 masked_since;	/* it was found masked since the last NMI, or 0 */
	bool is_pmi;		/* the NMI that is being handled is a PMI */
	u64 unmasked_at;	/* when the last NMI's handlers unmasked it, or 0 */
	unsigned long unmasked_ip;	/* the address that this NMI interrupted */
};

DECLARE_PER_CPU(struct unc_nmi, unc_nmi);

int unc_nmi_get(void);
void unc_nmi_put(void);
void unc_nmi_arm(void *unused);
void unc_nmi_measure_begin(struct unc_package *pkg, struct cpumask *answered);
void unc_nmi_measure_end(void);
void unc_nmi_exit(void);

#endif

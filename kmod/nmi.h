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
	u64 stamp;		/* time of the NMI (monotonic ns) */
	bool own;		/* it interrupted the driver's handlers: not sampled */
	bool pending;		/* the work is queued, and those above are valid */
};

/* The NMIs of a CPU. */
struct unc_nmi {
	struct irq_work work;	/* does what an NMI must not */
	struct unc_hit hit;
	bool in_handler;	/* this CPU handles overflows or delivers samples */
	bool armed;		/* @lvtpc is what LVTPC held before the driver set it */
	u32 lvtpc;
	bool is_pmi;		/* the NMI that is being handled is a PMI */
	u64 unmasked_at;	/* when the last NMI's handlers unmasked LVTPC, or 0 */
	unsigned long unmasked_ip;	/* the address that this NMI interrupted */
};

DECLARE_PER_CPU(struct unc_nmi, unc_nmi);

int unc_nmi_get(void);
void unc_nmi_put(void);
void unc_nmi_arm(void *unused);
void unc_nmi_online(void);
bool unc_nmi_take_hit(struct unc_hit *hit);
void unc_nmi_probe_begin(struct unc_package *pkg);
bool unc_nmi_probe_answered(void);
void unc_nmi_probe_end(void);
void unc_nmi_exit(void);

#endif

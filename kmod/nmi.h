/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef XEON_UNCORE_NMI_H
#define XEON_UNCORE_NMI_H

#include <linux/percpu.h>
#include <linux/ptrace.h>

#include "state.h"

/* Code that a PMI interrupted, for the irq_work that handles the PMI. */
struct unc_hit {
	struct pt_regs regs;	/* stack pointers are 0 if interrupts were off */
	struct task_struct *task;
	u64 stamp;		/* time of the NMI (monotonic ns) */
	/* the NMI interrupted the driver's own handlers: @regs is not set */
	bool own;
	bool pending;		/* the irq_work is queued, the members above are valid */
};

/* The NMIs of a CPU. */
struct unc_nmi {
	struct irq_work work;	/* handles overflows and delivers samples */
	struct unc_hit hit;
	bool in_handler;	/* this CPU handles overflows or delivers samples */
	bool armed;		/* the driver has set LVTPC */
	u32 lvtpc;		/* value that the driver restores when it disarms */
	bool is_pmi;		/* the NMI that is being handled is a PMI */
	/* time (monotonic ns) at which the previous NMI's handler unmasked LVTPC; or 0 */
	u64 unmasked_at;
	unsigned long unmasked_ip;	/* the address that the previous NMI interrupted */
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

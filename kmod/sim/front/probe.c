// SPDX-License-Identifier: GPL-2.0-only
/* What the kprobes of the MSR, NMI and hotplug fronts share. */
#include <linux/kprobes.h>

#include "sim.h"

/**
 * sim_probe_post() - post-handler of all kprobes that change regs->ip
 * @p: the probe
 * @regs: not used
 * @flags: not used
 *
 * Does nothing. The kernel does not optimise a kprobe with a post-handler into a jump. In an
 * optimised kprobe a changed regs->ip would have no effect.
 */
void sim_probe_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(sim_probe_post);

/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks on functions of the kernel by ftrace. */
#ifndef XEON_UNCORE_SIM_HOOK_H
#define XEON_UNCORE_SIM_HOOK_H

#include <linux/ftrace.h>

/**
 * struct sim_hook - redirection of a kernel function
 * @function: name of the function
 * @takes: return whether a call is redirected, by the registers at the function's entry;
 *	called in any context in which the function is called
 * @instead: function with the same arguments that runs in place of the kernel's
 * @ops: registration at ftrace
 * @text: copy of @function for ftrace
 */
struct sim_hook {
	const char *function;
	bool (*takes)(const struct pt_regs *regs);
	void *instead;
	struct ftrace_ops ops;
	char text[32];
};

int sim_hooks_set(struct sim_hook *hooks, unsigned int count);
void sim_hooks_remove(struct sim_hook *hooks, unsigned int count);

#endif

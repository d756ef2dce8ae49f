// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks: calls of a kernel function go to a function of the simulator if the hook takes them.
 * Unlike a kprobe, a hook by ftrace also has an effect in a handler of a probe, so a BPF
 * program on a probe reaches the simulated memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>

#include "front/hook.h"

/*
 * Called at the entry of a hooked function, in any context. There is no protection against
 * recursion: ->takes() does not call a hooked function.
 */
static void notrace sim_hook_call(unsigned long ip, unsigned long parent_ip,
				  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct sim_hook *hook = container_of(ops, struct sim_hook, ops);
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (hook->takes(regs))
		regs->ip = (unsigned long)hook->instead;
}

/* Send the calls of a function to @hook->instead if @hook->takes() returns true. */
static int sim_hook_set(struct sim_hook *hook)
{
	int ret;

	hook->ops.func = sim_hook_call;
	/* permanent: as long as the hook is set, kernel.ftrace_enabled cannot be cleared */
	hook->ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY |
			  FTRACE_OPS_FL_PERMANENT;
	/* ftrace changes the name, and may sleep */
	strscpy(hook->text, hook->function, sizeof(hook->text));
	ret = ftrace_set_filter(&hook->ops, hook->text, strlen(hook->text), 0);
	if (!ret)
		ret = register_ftrace_function(&hook->ops);
	if (ret)
		ftrace_free_filter(&hook->ops);
	return ret;
}

/**
 * sim_hooks_set() - set hooks
 * @hooks: the hooks
 * @count: number of @hooks
 *
 * Return: 0, -ENOMEM, or -ENODEV if the kernel does not have a function or does not let it be
 * hooked (the log names the function).
 */
int sim_hooks_set(struct sim_hook *hooks, unsigned int count)
{
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = sim_hook_set(&hooks[i]);
		if (!ret)
			continue;
		sim_hooks_remove(hooks, i);
		if (ret == -ENOMEM)
			return ret;
		pr_err("cannot hook the kernel's %s() (error %d): not loading, because registers in memory cannot be simulated\n",
		       hooks[i].function, ret);
		return -ENODEV;
	}
	return 0;
}

/**
 * sim_hooks_remove() - remove hooks, the last first, and wait for the last call that they took
 * @hooks: the hooks
 * @count: number of @hooks
 */
void sim_hooks_remove(struct sim_hook *hooks, unsigned int count)
{
	while (count--) {
		unregister_ftrace_function(&hooks[count].ops);
		ftrace_free_filter(&hooks[count].ops);
	}
	/* tasks that were preempted in a replacement, and CPUs with interrupts off */
	synchronize_rcu_tasks();
	synchronize_rcu();
}

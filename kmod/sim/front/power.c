// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss of power: the registers after a sleep to memory (S3), and the control file
 * "reset", which does the same while the machine runs. Also logs the register state
 * that a reboot would leave for the next kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "compat.h"
#include "sim.h"

static char *sim_resume_mode = "reset";
module_param_named(resume, sim_resume_mode, charp, 0444);
MODULE_PARM_DESC(resume,
		 "Registers after the system slept: \"reset\" or \"keep\" (default reset)");

/**
 * sim_power_reset() - hardware reset of all registers
 */
void sim_power_reset(void)
{
	sim_change(model_reset);
}

/* Registered before any driver of the hardware is, so it runs before theirs. */
static void sim_resume(UNC_SYSCORE_ARGS)
{
	sim_power_reset();
}

static void sim_left(void *arg, unsigned int pkg, const char *name, u64 value)
{
	unsigned int *left = arg;

	/* log the first ones only */
	if (++*left <= 8)
		pr_info("left: package %u %s %#llx\n", pkg, name, value);
}

/*
 * The kernel's last code before firmware, or the next kernel: one CPU, no interrupts. A
 * reset of the CPUs does not reach the uncore's registers.
 */
static void sim_shutdown(UNC_SYSCORE_ARGS)
{
	unsigned int left = 0;
	unsigned long flags;

	flags = sim_lock();
	sim_clock_sync();
	model_show_dirty(sim.model, sim_left, &left);
	sim_unlock(flags);
	pr_info("%u registers left set\n", left);
}

static struct syscore_ops sim_syscore_ops = {
	.resume = sim_resume,
	.shutdown = sim_shutdown,
};
static struct syscore sim_syscore = { .ops = &sim_syscore_ops };

/**
 * sim_power_init() - register for the system's sleep and shutdown
 *
 * Return: 0, or -EINVAL for an invalid parameter.
 */
int sim_power_init(void)
{
	bool forget = !strcmp(sim_resume_mode, "reset");

	if (!forget && strcmp(sim_resume_mode, "keep")) {
		pr_err("invalid resume=%s (expected reset or keep)\n",
		       sim_resume_mode);
		return -EINVAL;
	}
	if (!forget)
		sim_syscore_ops.resume = NULL;
	register_syscore(&sim_syscore);
	return 0;
}

/**
 * sim_power_exit() - unregister from sleep and shutdown
 */
void sim_power_exit(void)
{
	unregister_syscore(&sim_syscore);
}

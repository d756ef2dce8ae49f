// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss of power: reset the registers after a sleep to memory (S3), and for the control file
 * "reset" while the machine runs. At a shutdown, log the register state that a reboot would
 * leave for the next kernel.
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
	sim_change(model_boot);
}

/*
 * The simulator is registered before any driver of its hardware, so this function runs
 * before the resume functions of drivers.
 */
static void sim_resume(UNC_SYSCORE_ARGS)
{
	sim_power_reset();
}

static void sim_log_register(void *arg, unsigned int pkg, const char *name, u64 value)
{
	unsigned int *count = arg;

	/* log only the first registers */
	if (++*count <= 8)
		pr_info("left: package %u %s %#llx\n", pkg, name, value);
}

/*
 * Runs last before firmware or the next kernel, on one CPU and with interrupts off. Log the
 * registers that differ from their reset values: a reset of the CPUs does not reset the
 * uncore's registers.
 */
static void sim_shutdown(UNC_SYSCORE_ARGS)
{
	unsigned int count = 0;
	unsigned long flags;

	flags = sim_lock();
	sim_clock_sync();
	model_show_dirty(sim.model, sim_log_register, &count);
	sim_unlock(flags);
	pr_info("%u registers left set\n", count);
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
	bool reset = !strcmp(sim_resume_mode, "reset");

	if (!reset && strcmp(sim_resume_mode, "keep")) {
		pr_err("invalid resume=%s (expected reset or keep)\n",
		       sim_resume_mode);
		return -EINVAL;
	}
	if (!reset)
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

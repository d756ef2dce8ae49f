// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loss of power: what a sleep to memory (S3) leaves of the registers, and the
 * control file "reset", which does the same while the machine runs.
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

static struct unc_syscore sim_syscore = {
	.ops.resume = sim_resume,
};

static bool sim_forgets;

/**
 * sim_power_init() - follow the system's sleep
 *
 * Return: 0, or -EINVAL for a parameter that makes no sense.
 */
int sim_power_init(void)
{
	sim_forgets = !strcmp(sim_resume_mode, "reset");
	if (!sim_forgets && strcmp(sim_resume_mode, "keep")) {
		pr_err("resume=%s is not possible: give reset or keep\n",
		       sim_resume_mode);
		return -EINVAL;
	}
	if (sim_forgets)
		unc_register_syscore(&sim_syscore);
	return 0;
}

/**
 * sim_power_exit() - sleep is of no concern any more
 */
void sim_power_exit(void)
{
	if (sim_forgets)
		unc_unregister_syscore(&sim_syscore);
}

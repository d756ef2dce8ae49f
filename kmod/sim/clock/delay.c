// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters for the delays of an overflow (freeze_delay, status_delay, pmi_delay),
 * which can be written while the simulator runs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "sim.h"

#define SIM_MAX_DELAY	1000000000

static int sim_delay_set(const char *text, const struct kernel_param *kp)
{
	u32 *delay = kp->arg, value;
	unsigned long flags;
	bool running;
	int ret;

	ret = kstrtou32(text, 0, &value);
	/* The file of the parameter exists before and after the model. */
	flags = sim_lock();
	running = sim.model;
	if (running && !ret && value > SIM_MAX_DELAY)
		ret = -EINVAL;
	if (!ret)
		*delay = value;
	if (running && !ret) {
		sim_clock_sync();
		model_set_delays(sim.model, &sim.delays);
	}
	sim_unlock(flags);

	/* While the module loads, the kernel itself reports an invalid value. */
	if (ret && running)
		pr_err("invalid %s=%.*s (expected 0 to %u)\n", kp->name,
		       (int)strcspn(text, "\n"), text, SIM_MAX_DELAY);
	return ret;
}

/**
 * sim_delay_check() - check the delays that the module was loaded with
 *
 * Return: 0, or -EINVAL (the log names the invalid parameter).
 */
int sim_delay_check(void)
{
	const struct {
		const char *name;
		u32 value;
	} delays[] = {
		{ "freeze_delay", sim.delays.freeze },
		{ "status_delay", sim.delays.status },
		{ "pmi_delay", sim.delays.pmi },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		if (delays[i].value <= SIM_MAX_DELAY)
			continue;
		pr_err("invalid %s=%u (expected 0 to %u)\n", delays[i].name,
		       delays[i].value, SIM_MAX_DELAY);
		return -EINVAL;
	}
	return 0;
}

static const struct kernel_param_ops sim_delay_ops = {
	.set = sim_delay_set,
	.get = param_get_uint,
};

module_param_cb(freeze_delay, &sim_delay_ops, &sim.delays.freeze, 0644);
MODULE_PARM_DESC(freeze_delay,
		 "UCLK cycles from an overflow to the freeze (default 0)");
module_param_cb(status_delay, &sim_delay_ops, &sim.delays.status, 0644);
MODULE_PARM_DESC(status_delay,
		 "UCLK cycles from the freeze to the global status (default 0)");
module_param_cb(pmi_delay, &sim_delay_ops, &sim.delays.pmi, 0644);
MODULE_PARM_DESC(pmi_delay,
		 "UCLK cycles from the global status to the PMI (default 0)");

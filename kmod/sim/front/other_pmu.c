// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for another module's PMU. It has no events, and takes a name that a driver may
 * want to register.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/perf_event.h>

#include "sim.h"

static char *sim_other_pmu = "";
module_param_named(other_pmu, sim_other_pmu, charp, 0444);
MODULE_PARM_DESC(other_pmu, "Name of a PMU of another module (default: there is none)");

static int sim_other_pmu_event(struct perf_event *event)
{
	return -ENOENT;
}

static struct pmu sim_pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.event_init = sim_other_pmu_event,
};

/**
 * sim_other_pmu_init() - register a PMU with the name of the parameter other_pmu, if any
 *
 * Return: 0 or a negative error.
 */
int sim_other_pmu_init(void)
{
	int ret = *sim_other_pmu ?
		  perf_pmu_register(&sim_pmu, sim_other_pmu, -1) : 0;

	if (ret)
		pr_err("other_pmu=%s cannot be registered (error %d)\n",
		       sim_other_pmu, ret);
	return ret;
}

/**
 * sim_other_pmu_exit() - undo sim_other_pmu_init()
 */
void sim_other_pmu_exit(void)
{
	if (*sim_other_pmu)
		perf_pmu_unregister(&sim_pmu);
}

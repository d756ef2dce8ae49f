// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "uclk": change the frequency of a package's UCLK while the simulator
 * runs, as uncore frequency scaling does, or stop the clock, as package C6 does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": uclk: " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "sim.h"

/**
 * sim_uclk_line() - set the frequency of a package's UCLK
 * @line: "pkg=0 khz=1200000"; khz=0 stops the clock
 *
 * Return: 0, or -EINVAL for an invalid line (the log names the cause).
 */
int sim_uclk_line(char *line)
{
	unsigned long flags;
	unsigned int pkg;
	int end = 0;
	u32 khz;

	if (sscanf(line, "pkg=%u khz=%u%n", &pkg, &khz, &end) != 2 ||
	    line[end]) {
		pr_warn("\"%s\": invalid line (expected pkg=N khz=N)\n", line);
		return -EINVAL;
	}
	if (pkg >= sim.config.packages) {
		pr_warn("pkg=%u: invalid value (expected 0 to %u)\n", pkg,
			sim.config.packages - 1);
		return -EINVAL;
	}
	if (khz && (khz < SIM_MIN_KHZ || khz > SIM_MAX_KHZ)) {
		pr_warn("khz=%u: invalid value (expected 0, or %u to %u)\n",
			khz, SIM_MIN_KHZ, SIM_MAX_KHZ);
		return -EINVAL;
	}

	flags = sim_lock();
	sim_clock_sync();
	model_set_uclk(sim.model, pkg, khz);
	sim_clock_rearm();
	sim_unlock(flags);
	return 0;
}

/**
 * sim_uclk_show() - print the frequency of each package's UCLK, in the format of
 * sim_uclk_line()
 * @s: output
 */
void sim_uclk_show(struct seq_file *s)
{
	unsigned int pkg;

	for (pkg = 0; pkg < sim.config.packages; pkg++)
		seq_printf(s, "pkg=%u khz=%u\n", pkg,
			   model_uclk(sim.model, pkg));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Support for CPUs that come online while the MSR front has a breakpoint (kprobe) in
 * native_write_msr().
 *
 * A CPU that comes online writes two MSRs through native_write_msr() before it can take a
 * breakpoint, and would triple-fault:
 *
 * - TSC_AUX in setup_getcpu(), before the CPU has an interrupt table. The kernel skips this
 *   write on CPUs without RDTSCP and RDPID. So this file hides the two features while a CPU
 *   comes up, and the CPU writes TSC_AUX later, in sim_write_tsc_aux().
 *
 * - GS_BASE in load_percpu_segment() (before 6.4). The function clears GS, by which
 *   exceptions find the per-CPU variables, and then sets it again. The startup code has set
 *   GS_BASE already, so a kprobe skips the function.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/cpuhotplug.h>
#include <linux/kprobes.h>
#include <linux/topology.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/segment.h>

#include "sim.h"

static const unsigned int sim_aux_features[] = {
	X86_FEATURE_RDTSCP, X86_FEATURE_RDPID,
};

/* Hidden features, a bit for each of sim_aux_features[]; CPUs come up one at a time. */
static unsigned long sim_hidden;

static enum cpuhp_state sim_prepare_state, sim_online_state;

static int sim_hide_features(unsigned int cpu)
{
	unsigned long *caps = (unsigned long *)boot_cpu_data.x86_capability;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_aux_features); i++)
		if (test_and_clear_bit(sim_aux_features[i], caps))
			__set_bit(i, &sim_hidden);
	return 0;
}

static int sim_show_features(unsigned int cpu)
{
	unsigned long *caps = (unsigned long *)boot_cpu_data.x86_capability;
	unsigned int i;

	for_each_set_bit(i, &sim_hidden, ARRAY_SIZE(sim_aux_features))
		set_bit(sim_aux_features[i], caps);
	sim_hidden = 0;
	return 0;
}

/* Runs on the new CPU, before any user task, which could read TSC_AUX, runs there. */
static int sim_write_tsc_aux(unsigned int cpu)
{
	bool missed = sim_hidden;

	sim_show_features(cpu);
	if (missed)
		wrmsr(MSR_TSC_AUX,
		      cpu_to_node(cpu) << VDSO_CPUNODE_BITS | cpu, 0);
	return 0;
}

/* The probed function jumps here, and so returns at once. */
static void sim_nothing(void)
{
}

static int sim_skip_pre(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)sim_nothing;
	return 1;
}
NOKPROBE_SYMBOL(sim_skip_pre);

static struct kprobe sim_segment_probe = {
	.symbol_name = "load_percpu_segment",
	.pre_handler = sim_skip_pre,
	.post_handler = sim_probe_post,
};

static bool sim_segment_probed;

/**
 * sim_hotplug_init() - support CPUs that come online
 *
 * Return: 0 or a negative error.
 */
int sim_hotplug_init(void)
{
	int ret;

	/* Kernels without load_percpu_segment() do not need this probe. */
	ret = register_kprobe(&sim_segment_probe);
	if (ret && ret != -ENOENT) {
		pr_err("cannot probe load_percpu_segment() (error %d)\n", ret);
		return ret;
	}
	sim_segment_probed = !ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					"xeon_uncore_sim:prepare",
					sim_hide_features, sim_show_features);
	if (ret < 0)
		goto err_probe;
	sim_prepare_state = ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					"xeon_uncore_sim:online",
					sim_write_tsc_aux, NULL);
	if (ret < 0)
		goto err_prepare;
	sim_online_state = ret;
	return 0;

err_prepare:
	cpuhp_remove_state_nocalls(sim_prepare_state);
err_probe:
	pr_err("cannot follow CPU hotplug (error %d)\n", ret);
	if (sim_segment_probed)
		unregister_kprobe(&sim_segment_probe);
	return ret;
}

/**
 * sim_hotplug_exit() - undo sim_hotplug_init(), after sim_msr_exit()
 */
void sim_hotplug_exit(void)
{
	/* The removal of a state waits for a CPU that is coming up at present. */
	if (sim_segment_probed)
		unregister_kprobe(&sim_segment_probe);
	cpuhp_remove_state_nocalls(sim_online_state);
	cpuhp_remove_state_nocalls(sim_prepare_state);
}

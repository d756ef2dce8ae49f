// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probing at load whether a package's PMI reaches a CPU, and how long that takes.  The
 * PMI is the interrupt that the UBox sends when a counter overflows.
 *
 * The probe makes the UBox's clock, a counter, overflow some times, with the PMI sent to
 * all cores.  If no PMI arrives, the package's timer polls all boxes that sample.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sort.h>

#include "access.h"
#include "compat.h"
#include "global.h"
#include "lock.h"
#include "nmi.h"
#include "package.h"
#include "pmi_probe.h"

/* Bit of IA32_DEBUGCTL that lets a CPU receive PMIs of the uncore. */
#define UNC_DEBUGCTL_PMI	BIT_ULL(13)

/* Longest time (ns) to wait for a PMI. */
#define UNC_ANSWER_NS		(50 * NSEC_PER_MSEC)
/* Number of overflows whose delay is measured. */
#define UNC_PROBES		7

/* CPUs get PMIs only with UNC_DEBUGCTL_PMI set. */
static bool unc_debugctl_needed;
/* The driver has set UNC_DEBUGCTL_PMI on the CPU, and clears the bit at unload. */
static DEFINE_PER_CPU(bool, unc_debugctl);

/* A probe. */
struct unc_probe {
	struct unc_package *pkg;
	struct unc_box *box;	/* box whose fixed counter, a clock, overflows */
	bool overflowed;	/* the global status has shown the last overflow */
	u64 delay[UNC_PROBES];	/* ns from each overflow to its PMI */
};

/*
 * Stop the clock of a box, and set it to overflow after @left cycles.  Start the clock
 * with the control @ctl, unless @ctl is 0.
 */
static void unc_probe_set_clock(struct unc_box *box, u64 ctl, u64 left)
{
	u64 mask = GENMASK_ULL(unc_access_bits(box, UNC_FIXED) - 1, 0);
	unsigned long flags;

	flags = unc_lock_box(box);
	unc_access_write_ctl(box, UNC_FIXED, 0);
	unc_access_clear_status(box);
	unc_access_write_counter(box, UNC_FIXED, (mask + 1 - left) & mask);
	if (ctl)
		unc_access_write_ctl(box, UNC_FIXED, ctl);
	unc_lock_release(box, flags);
}

/*
 * Have the clock overflow once.  Returns the time (ns) until the first PMI, or 0
 * when none came.
 */
static u64 unc_probe_overflow(struct unc_probe *probe)
{
	const struct unc_layout *layout = probe->box->type->layout;
	u64 start, passed;
	bool answered;

	unc_nmi_probe_begin(probe->pkg);
	unc_global_select(unc.gen->global.cores);
	start = ktime_get_mono_fast_ns();
	unc_probe_set_clock(probe->box, layout->en | layout->ov_en, 1);
	do {
		passed = ktime_get_mono_fast_ns() - start;
		answered = unc_nmi_probe_answered();
		cond_resched();
		/* leave time to the core's other thread, or to the hypervisor */
		cpu_relax();
	} while (!answered && passed < UNC_ANSWER_NS);
	probe->overflowed = unc_global_status() != 0;
	unc_nmi_probe_end();
	unc_probe_set_clock(probe->box, 0, 0);
	unc_global_restart(0);
	return answered ? max_t(u64, passed, 1) : 0;
}

/* Let this CPU receive PMIs of the uncore. */
static void unc_debugctl_allow(void *unused)
{
	u64 value;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value) ||
	    (value & UNC_DEBUGCTL_PMI) ||
	    wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, value | UNC_DEBUGCTL_PMI))
		return;
	this_cpu_write(unc_debugctl, true);
}

static void unc_debugctl_restore(void *unused)
{
	u64 value;

	if (this_cpu_read(unc_debugctl) &&
	    !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value))
		wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, value & ~UNC_DEBUGCTL_PMI);
	this_cpu_write(unc_debugctl, false);
}

/*
 * Check whether an overflow leads to a PMI.  If the overflow shows in the status and no
 * PMI comes, try again with UNC_DEBUGCTL_PMI set on all CPUs.
 */
static bool unc_probe_first(struct unc_probe *probe)
{
	if (unc_probe_overflow(probe))
		return true;
	if (!probe->overflowed)
		return false;
	on_each_cpu(unc_debugctl_allow, NULL, 1);
	if (!unc_probe_overflow(probe))
		return false;
	unc_debugctl_needed = true;
	return true;
}

static int unc_probe_cmp(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Probe the PMI, and measure its latency, with which the driver charges each freeze by an
 * overflow (freeze.c).  The latency is the median of some delays: one delay of a CPU that
 * was busy must not raise the charge of every freeze.
 * Context: process, on a CPU of the package.
 */
static int unc_probe_run(void *data)
{
	struct unc_probe *probe = data;
	unsigned int i;

	if (!unc_probe_first(probe))
		return 0;
	for (i = 0; i < UNC_PROBES; i++)
		probe->delay[i] = unc_probe_overflow(probe) ?: UNC_ANSWER_NS;
	sort(probe->delay, UNC_PROBES, sizeof(*probe->delay), unc_probe_cmp, NULL);
	probe->pkg->overflow.latency = probe->delay[UNC_PROBES / 2];
	probe->pkg->overflow.has_pmi = true;
	return 0;
}

/**
 * unc_pmi_probe_package() - find out whether a package's PMI reaches a CPU
 * @pkg: the package; nothing counts there yet
 *
 * Sets its overflow.has_pmi and overflow.latency.
 *
 * Context: process.
 */
void unc_pmi_probe_package(struct unc_package *pkg)
{
	struct unc_probe probe = {
		.pkg = pkg,
		.box = unc_package_clock_box(pkg),
	};
	unsigned int cpu;

	if (!probe.box || unc_nmi_get())
		return;
	cpus_read_lock();
	cpu = unc_package_pick_cpu(pkg, nr_cpu_ids);
	if (cpu < nr_cpu_ids)
		smp_call_on_cpu(cpu, unc_probe_run, &probe, false);
	cpus_read_unlock();
	if (!pkg->overflow.has_pmi)
		pr_warn("package %d: %s: boxes are polled every millisecond instead\n",
			pkg->id, probe.overflowed ?
			"no CPU gets the uncore's interrupt" :
			"the UBox's clock does not count, so its interrupt cannot be tried");
	unc_nmi_put();
}

/**
 * unc_pmi_probe_online() - let a CPU that came online receive PMIs
 *
 * Context: on that CPU, interrupts off.
 */
void unc_pmi_probe_online(void)
{
	this_cpu_write(unc_debugctl, false);
	if (unc_debugctl_needed)
		unc_debugctl_allow(NULL);
}

/**
 * unc_pmi_probe_exit() - undo what the probe has changed on CPUs
 */
void unc_pmi_probe_exit(void)
{
	on_each_cpu(unc_debugctl_restore, NULL, 1);
}

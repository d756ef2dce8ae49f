// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPUs each bit of pmi_core_sel interrupts.
 *
 * A PMI that is sent to all cores of a socket interrupts CPUs on which nothing
 * samples, isolated ones among them.  The manual numbers cores in pmi_core_sel without
 * saying how; cores may be fused off, and threads share a core's bit.  So it is
 * measured at load: the UBox's clock overflows, with one bit set at a time.  Two rounds
 * must agree; else all cores are interrupted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/sort.h>

#include "access.h"
#include "compat.h"
#include "global.h"
#include "lock.h"
#include "nmi.h"
#include "package.h"
#include "pmi_map.h"

/* Lets a CPU receive PMIs of the uncore; IA32_DEBUGCTL. */
#define UNC_DEBUGCTL_PMI	BIT_ULL(13)

/* How long (ns) to wait for a PMI that should come. */
#define UNC_ANSWER_NS	(50 * NSEC_PER_MSEC)
/* A PMI is absent after this time, or this multiple of the slowest one seen. */
#define UNC_ABSENT_NS	(200 * NSEC_PER_USEC)
#define UNC_ABSENT	8
/* Pairs of rounds until two agree. */
#define UNC_TRIES	3

/* Bit of the global control register that interrupts the CPU, or -1. */
static DEFINE_PER_CPU(int, unc_core) = -1;
/* CPUs need UNC_DEBUGCTL_PMI set; and on which CPUs the driver has set it. */
static bool unc_debugctl_needed;
static DEFINE_PER_CPU(bool, unc_debugctl);

/* A measurement. */
struct unc_map {
	struct unc_package *pkg;
	struct unc_box *box;		/* its clock overflows */
	struct cpumask *cpus;		/* CPUs of the package that answer */
	struct cpumask *answered;	/* CPUs that got the last PMI */
	bool overflowed;		/* the global status has shown the last overflow */
	u64 delay[2 * BITS_PER_LONG];	/* ns until the first answer to each one */
	unsigned int delays;		/* how many of these there are */
	u64 slowest;			/* the same of the slowest answer of all */
	unsigned int patience;		/* factor on the wait for PMIs that may not come */
};

static void unc_map_set_clock(struct unc_box *box, u64 ctl, u64 left)
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

/* How long to wait for a PMI that may not come. */
static u64 unc_map_absent_ns(const struct unc_map *map)
{
	return clamp_t(u64, UNC_ABSENT * map->patience * map->slowest,
		       UNC_ABSENT_NS, UNC_ANSWER_NS);
}

/*
 * Overflow once, with PMIs to @cores.  Waits @first_ns for an answer, and after each
 * answer to a single core's bit a little for that of a sibling.
 */
static void unc_map_overflow(struct unc_map *map, u64 cores, u64 first_ns)
{
	const struct unc_layout *layout = map->box->type->layout;
	u64 start, passed, wait = first_ns;
	unsigned int n, before = 0;

	cpumask_clear(map->answered);
	map->overflowed = false;
	unc_global_select(cores);
	start = ktime_get_mono_fast_ns();
	unc_map_set_clock(map->box, layout->en | layout->ov_en, 1);
	do {
		map->overflowed |= unc_global_status() != 0;
		passed = ktime_get_mono_fast_ns() - start;
		n = cpumask_weight(map->answered);
		if (n != before) {
			map->slowest = max(map->slowest, passed);
			if (hweight64(cores) == 1) {
				wait = passed + unc_map_absent_ns(map);
				if (!before)
					map->delay[map->delays++] = passed;
			}
			before = n;
		}
		cond_resched();
		/* the other CPU may be a thread of this core, or of the host */
		cpu_relax();
	} while (passed < wait && !cpumask_subset(map->cpus, map->answered));
	unc_map_set_clock(map->box, 0, 0);
	unc_global_restart(0);
}

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

/* Interrupt all cores; leaves in @map->cpus the CPUs that answer. */
static bool unc_map_all(struct unc_map *map)
{
	unc_map_overflow(map, unc.gen->global.cores, UNC_ANSWER_NS);
	if (map->overflowed && cpumask_empty(map->answered)) {
		on_each_cpu_mask(map->cpus, unc_debugctl_allow, NULL, 1);
		unc_map_overflow(map, unc.gen->global.cores, UNC_ANSWER_NS);
		unc_debugctl_needed |= !cpumask_empty(map->answered);
	}
	cpumask_copy(map->cpus, map->answered);
	return !cpumask_empty(map->cpus);
}

static bool unc_map_is_complete(const struct unc_map *map)
{
	unsigned int cpu;

	for_each_cpu(cpu, map->cpus) {
		if (per_cpu(unc_core, cpu) < 0)
			return false;
	}
	return true;
}

/* One bit after the other.  Returns the bits that reach a CPU. */
static u64 unc_map_each(struct unc_map *map)
{
	const unsigned long cores = unc.gen->global.cores;
	unsigned int bit, cpu;
	u64 reach = 0;

	for_each_set_bit(bit, &cores, BITS_PER_LONG) {
		if (unc_map_is_complete(map))
			break;
		unc_map_overflow(map, BIT_ULL(bit), unc_map_absent_ns(map));
		if (cpumask_empty(map->answered))
			continue;
		reach |= BIT_ULL(bit);
		for_each_cpu(cpu, map->answered)
			per_cpu(unc_core, cpu) = bit;
	}
	return reach;
}

/* Check that each bit reaches the same CPUs again, and no others. */
static bool unc_map_agrees(struct unc_map *map, u64 reach)
{
	const unsigned long bits = reach;
	unsigned int bit, cpu;

	if (!unc_map_is_complete(map))
		return false;
	for_each_set_bit(bit, &bits, BITS_PER_LONG) {
		unc_map_overflow(map, BIT_ULL(bit), UNC_ANSWER_NS);
		for_each_cpu(cpu, map->cpus) {
			if ((per_cpu(unc_core, cpu) == bit) !=
			    cpumask_test_cpu(cpu, map->answered))
				return false;
		}
	}
	return true;
}

static void unc_map_forget(const struct unc_map *map)
{
	unsigned int cpu;

	for_each_cpu(cpu, map->cpus)
		per_cpu(unc_core, cpu) = -1;
}

static int unc_map_cmp(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median: a CPU that was held up once must not raise the charge of every freeze. */
static u64 unc_map_latency(struct unc_map *map)
{
	if (!map->delays)
		return 0;
	sort(map->delay, map->delays, sizeof(*map->delay), unc_map_cmp, NULL);
	return map->delay[(map->delays - 1) / 2];
}

static u64 unc_map_cores(struct unc_map *map)
{
	unsigned int try;
	u64 reach;

	for (try = 0; try < UNC_TRIES; try++) {
		unc_map_forget(map);
		map->patience = 1 << 2 * try;
		map->delays = 0;
		reach = unc_map_each(map);
		if (unc_map_agrees(map, reach))
			return reach;
		/* let late PMIs come */
		msleep(20);
	}
	unc_map_forget(map);
	pr_warn("package %d: no two attempts agree on which CPUs its interrupt reaches: all are interrupted while something samples\n",
		map->pkg->phys_id);
	return unc.gen->global.cores;
}

/* On a CPU of the package; process context. */
static int unc_map_run(void *data)
{
	struct unc_map *map = data;

	unc_nmi_measure_begin(map->pkg, map->answered);
	if (unc_map_all(map)) {
		map->pkg->overflow.cores.reach = unc_map_cores(map);
		map->pkg->overflow.latency = unc_map_latency(map);
	}
	unc_nmi_measure_end();
	return 0;
}

static void unc_map_package(struct unc_map *map)
{
	unsigned int cpu;

	cpumask_clear(map->cpus);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (unc_package_of_cpu(cpu) == map->pkg)
			cpumask_set_cpu(cpu, map->cpus);
	}
	cpu = cpumask_first(map->cpus);
	if (cpu < nr_cpu_ids) {
		on_each_cpu_mask(map->cpus, unc_nmi_arm, NULL, 1);
		smp_call_on_cpu(cpu, unc_map_run, map, false);
	}
	cpus_read_unlock();
	if (!map->pkg->overflow.cores.reach)
		pr_warn("package %d: %s: boxes are polled every millisecond instead\n",
			map->pkg->phys_id, map->overflowed ?
			"no CPU gets the uncore's interrupt" :
			"the UBox's clock does not count, so its interrupt cannot be tried");
}

/*
 * Find out which CPUs the uncore's interrupt reaches.  Nothing counts yet.  Where it
 * reaches none all boxes are polled.
 * Context: process.
 */
void unc_pmi_map_measure(struct unc_package *pkg)
{
	/* one package at a time, while the module is loaded */
	static struct cpumask cpus, answered;
	struct unc_map map = {
		.pkg = pkg,
		.cpus = &cpus,
		.answered = &answered,
		.box = unc_package_clock_box(pkg),
		.patience = 1,
	};

	if (!map.box || unc_nmi_get())
		return;
	unc_map_package(&map);
	unc_nmi_put();
}

/* Let a CPU that came online receive PMIs.  Context: on that CPU, interrupts off. */
void unc_pmi_map_online(void)
{
	this_cpu_write(unc_debugctl, false);
	if (unc_debugctl_needed)
		unc_debugctl_allow(NULL);
}

/*
 * Find which bit sends a CPU the interrupt, in a package where some bit reaches some
 * CPU. Returns the bit; that of another core for a CPU that came online later or that
 * no bit reaches; or one beyond the generation's bits, for all cores, when that is not
 * known.
 */
int unc_pmi_map_core(const struct unc_package *pkg, unsigned int cpu)
{
	unsigned int other;

	for_each_cpu(other, topology_sibling_cpumask(cpu)) {
		if (per_cpu(unc_core, other) >= 0)
			return per_cpu(unc_core, other);
	}
	for_each_online_cpu(other) {
		if (unc_package_of_cpu(other) == pkg &&
		    per_cpu(unc_core, other) >= 0)
			return per_cpu(unc_core, other);
	}
	return fls64(unc.gen->global.cores);
}

/* Undo what the measurement has changed on CPUs. */
void unc_pmi_map_exit(void)
{
	on_each_cpu(unc_debugctl_restore, NULL, 1);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "core_pmu": a core PMU, whose counter on each CPU overflows at a fixed
 * rate and interrupts through LVTPC, and an NMI handler like perf's.
 *
 * Like perf's handler, the handler is registered without NMI_FLAG_FIRST. It writes LVTPC in
 * every NMI while any counter is active, also in NMIs that a core PMU did not cause. It
 * unmasks LVTPC at its start ("early", before Haswell) or at its end ("late", Haswell and
 * later).
 *
 * Hardware drops a PMI of the uncore that arrives while LVTPC is masked, also while the CPU
 * is in an NMI handler. In the simulator the PMI reaches its CPU as an NMI, which waits for
 * the end of the handler. So each CPU records when LVTPC was last masked, and front/pmi.c
 * drops a PMI whose overflow was in that time (sim_core_pmu_masks()).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": core_pmu: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/nmi.h>

#include "compat.h"
#include "sim.h"

#define SIM_CORE_PMU_MAX_HZ	10000
#define SIM_CORE_PMU_MAX_US	100
/* Default duration of the handler: the time that perf takes for a sample with a call chain */
#define SIM_CORE_PMU_US		20

/**
 * struct sim_core - counter of a CPU
 * @timer: fires at each overflow
 * @overflowed: overflow status bit
 * @masked_from: time at which the delivery of an NMI last masked LVTPC
 * @masked_to: time at which the handler unmasked LVTPC; U64_MAX: not yet
 */
struct sim_core {
	struct hrtimer timer;
	bool overflowed;
	u64 masked_from, masked_to;
};

static DEFINE_PER_CPU(struct sim_core, sim_cores);

/**
 * struct sim_core_request - contents of a line of "core_pmu"
 * @cpus: CPUs whose counter is active
 * @hz: overflows a second
 * @us: duration of the handler, in microseconds
 * @late: the handler unmasks LVTPC at its end, not at its start
 */
struct sim_core_request {
	struct cpumask cpus;
	u32 hz, us;
	bool late;
};

static struct {
	struct mutex lock;	/* serialises changes of @request */
	struct sim_core_request request;	/* the request in effect */
	bool active;		/* some CPU's counter is active */
	enum cpuhp_state online;
} sim_core_pmu = { .lock = __MUTEX_INITIALIZER(sim_core_pmu.lock) };

/* --- hardware ------------------------------------------------------------ */

/* Record that the delivery of the present NMI has masked LVTPC. */
static void sim_core_masked(struct sim_core *core)
{
	/*
	 * In this order: between the two writes sim_core_pmu_masks() finds an interval
	 * that ends before it begins.
	 */
	WRITE_ONCE(core->masked_from, sim_clock_ns(NULL));
	/* pairs with smp_rmb() in sim_core_pmu_masks() */
	smp_wmb();
	WRITE_ONCE(core->masked_to, U64_MAX);
}

static void sim_core_unmask(struct sim_core *core)
{
	sim_lapic_unmask();
	WRITE_ONCE(core->masked_to, sim_clock_ns(NULL));
}

/**
 * sim_core_pmu_masks() - check whether LVTPC was masked for the core PMU's NMI handler
 * @cpu: CPU
 * @ns: time to check, now or a moment ago
 *
 * The host may stop a virtual CPU in the handler. LVTPC is taken as masked for the nominal
 * time of the handler at most; otherwise nearly all PMIs would be dropped on a busy host.
 *
 * Context: any.
 * Return: true if the LVTPC of @cpu was masked at the time @ns.
 */
bool sim_core_pmu_masks(unsigned int cpu, u64 ns)
{
	const struct sim_core *core = per_cpu_ptr(&sim_cores, cpu);
	u64 us = READ_ONCE(sim_core_pmu.request.us);
	u64 from, to = READ_ONCE(core->masked_to);

	smp_rmb();	/* pairs with smp_wmb() in sim_core_masked() */
	from = READ_ONCE(core->masked_from);
	return READ_ONCE(sim_core_pmu.active) && ns >= from && ns < to &&
	       ns < from + us * NSEC_PER_USEC;
}

/*
 * Let a counter overflow. If LVTPC drops the PMI, the overflow status bit stays set, and the
 * handler of the next NMI finds it.
 */
static enum hrtimer_restart sim_core_overflow(struct hrtimer *timer)
{
	struct sim_core *core = container_of(timer, struct sim_core, timer);
	u32 hz = READ_ONCE(sim_core_pmu.request.hz);

	if (!hz)
		return HRTIMER_NORESTART;
	WRITE_ONCE(core->overflowed, true);
	sim_nmi_send(smp_processor_id(), SIM_NMI_CORE);
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / hz));
	return HRTIMER_RESTART;
}

/* --- the handler --------------------------------------------------------- */

/* NMI handler, like perf's. */
static int sim_core_nmi(unsigned int type, struct pt_regs *regs)
{
	struct sim_core *core = this_cpu_ptr(&sim_cores);
	bool late = READ_ONCE(sim_core_pmu.request.late);
	bool overflowed;

	if (!READ_ONCE(sim_core_pmu.active) || sim_nmi_hidden())
		return NMI_DONE;
	/* masked by the delivery of this NMI, of the core PMU or of the uncore */
	if (sim_lapic_masked())
		sim_core_masked(core);
	if (!late)
		sim_core_unmask(core);
	overflowed = READ_ONCE(core->overflowed);
	if (overflowed) {
		WRITE_ONCE(core->overflowed, false);
		sim_count(SIM_CORE_PMI);
		sim_away(READ_ONCE(sim_core_pmu.request.us));
	}
	if (late)
		sim_core_unmask(core);
	return overflowed ? NMI_HANDLED : NMI_DONE;
}

/* --- starting and stopping ----------------------------------------------- */

/*
 * Start the counter of this CPU. LVTPC is set to NMI mode, as perf does at the boot of a
 * CPU.
 */
static void sim_core_start(void *info)
{
	struct sim_core *core = this_cpu_ptr(&sim_cores);
	u32 hz = READ_ONCE(sim_core_pmu.request.hz);

	if (!hz)
		return;
	core->overflowed = false;
	core->masked_to = 0;
	if (!sim_lapic_nmi_mode())
		sim_lapic_unmask();
	hrtimer_start(&core->timer, ns_to_ktime(NSEC_PER_SEC / hz),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static int sim_core_online(unsigned int cpu)
{
	if (cpumask_test_cpu(cpu, &sim_core_pmu.request.cpus))
		sim_core_start(NULL);
	return 0;
}

static int sim_core_offline(unsigned int cpu)
{
	hrtimer_cancel(&per_cpu_ptr(&sim_cores, cpu)->timer);
	return 0;
}

/* Replace the request in effect. With @r->hz = 0 all counters stop. */
static void sim_core_set(const struct sim_core_request *r)
{
	unsigned int cpu;

	mutex_lock(&sim_core_pmu.lock);
	cpus_read_lock();
	WRITE_ONCE(sim_core_pmu.request.hz, 0);
	for_each_online_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(&sim_cores, cpu)->timer);
	/* Wait for pending NMIs while their handler is active. */
	synchronize_rcu();
	WRITE_ONCE(sim_core_pmu.active, r->hz);
	sim_core_pmu.request = *r;
	for_each_cpu_and(cpu, cpu_online_mask, &r->cpus)
		smp_call_function_single(cpu, sim_core_start, NULL, true);
	cpus_read_unlock();
	mutex_unlock(&sim_core_pmu.lock);
}

/* --- control file -------------------------------------------------------- */

static int sim_core_number(const char *key, const char *text, u32 min, u32 max,
			   u32 *number)
{
	u64 value;

	if (sim_parse_u64(text, max, &value) || value < min) {
		pr_warn("%s=%s: invalid value (expected %u to %u)\n", key, text,
			min, max);
		return -EINVAL;
	}
	*number = value;
	return 0;
}

static int sim_core_word(char *word, struct sim_core_request *r)
{
	char *value = strchr(word, '=');

	if (!value) {
		pr_warn("\"%s\" is not key=value\n", word);
		return -EINVAL;
	}
	*value++ = '\0';
	if (!strcmp(word, "hz"))
		return sim_core_number("hz", value, 1, SIM_CORE_PMU_MAX_HZ,
				       &r->hz);
	if (!strcmp(word, "us"))
		return sim_core_number("us", value, 0, SIM_CORE_PMU_MAX_US,
				       &r->us);
	if (!strcmp(word, "unmask")) {
		r->late = !strcmp(value, "late");
		if (r->late || !strcmp(value, "early"))
			return 0;
		pr_warn("unmask=%s: invalid value (expected early or late)\n",
			value);
		return -EINVAL;
	}
	if (!strcmp(word, "cpus")) {
		if (!cpulist_parse(value, &r->cpus))
			return 0;
		pr_warn("cpus=%s is not a list of CPUs\n", value);
		return -EINVAL;
	}
	pr_warn("unknown key \"%s\" (expected hz, unmask, cpus or us)\n", word);
	return -EINVAL;
}

/**
 * sim_core_pmu_line() - switch the core PMU on or off
 * @line: "hz=2000 unmask=late cpus=0-3 us=20" or "off"; changed.  Without cpus=
 *	all CPUs have an active counter.
 *
 * Return: 0, -EINVAL for an invalid line (the log names the cause), -ENOMEM.
 */
int sim_core_pmu_line(char *line)
{
	struct sim_core_request *r;
	char *word;
	int ret = 0;

	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	if (strcmp(line, "off")) {
		r->us = SIM_CORE_PMU_US;
		r->late = true;
		cpumask_copy(&r->cpus, cpu_possible_mask);
		while (!ret && (word = strsep(&line, " \t")))
			if (*word)
				ret = sim_core_word(word, r);
		if (!ret && !r->hz) {
			pr_warn("hz= is missing\n");
			ret = -EINVAL;
		}
	}
	if (!ret)
		sim_core_set(r);
	kfree(r);
	return ret;
}

/**
 * sim_core_pmu_show() - print the request in effect, in the format of sim_core_pmu_line()
 * @s: output
 */
void sim_core_pmu_show(struct seq_file *s)
{
	const struct sim_core_request *r = &sim_core_pmu.request;

	mutex_lock(&sim_core_pmu.lock);
	if (r->hz)
		seq_printf(s, "hz=%u unmask=%s cpus=%*pbl us=%u\n", r->hz,
			   r->late ? "late" : "early", cpumask_pr_args(&r->cpus),
			   r->us);
	else
		seq_puts(s, "off\n");
	mutex_unlock(&sim_core_pmu.lock);
}

/**
 * sim_core_pmu_init() - prepare the counters and register the handler
 *
 * Return: 0 or a negative error.
 */
int sim_core_pmu_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu)
		unc_hrtimer_setup(&per_cpu_ptr(&sim_cores, cpu)->timer,
				  sim_core_overflow, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED_HARD);
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					"xeon_uncore_sim:core_pmu",
					sim_core_online, sim_core_offline);
	if (ret < 0)
		return ret;
	sim_core_pmu.online = ret;
	ret = register_nmi_handler(NMI_LOCAL, sim_core_nmi, 0, "sim_core_pmu");
	if (ret)
		cpuhp_remove_state_nocalls(sim_core_pmu.online);
	return ret;
}

/**
 * sim_core_pmu_exit() - stop all counters
 */
void sim_core_pmu_exit(void)
{
	char off[] = "off";

	if (sim_core_pmu.active)
		sim_core_pmu_line(off);
	cpuhp_remove_state_nocalls(sim_core_pmu.online);
	unregister_nmi_handler(NMI_LOCAL, "sim_core_pmu");
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The UBox's interrupt, a PMI, which the local APIC delivers as an NMI: which
 * CPUs it reaches, telling it from other NMIs, and from there to the work that
 * an NMI must not do.
 *
 * Whose NMI is it?  The local APIC masks its performance-counter entry (LVTPC)
 * when it delivers, so an NMI that finds the entry masked is a PMI.  The handler
 * serves it if the global status says that a box overflowed.  If it does not, and
 * neither perf's core PMU nor anybody else claims the NMI, it is one of ours that
 * came late: somebody has found and served its overflow before.  However it was,
 * the entry is unmasked again, or that CPU would get no PMI of anybody any more.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>

#include "xeon_uncore.h"
#include "compat.h"

#define UNC_LVT_MODE	(APIC_MODE_MASK | APIC_LVT_MASKED)
#define UNC_LVT_MASKED	(APIC_DM_NMI | APIC_LVT_MASKED)

/* Lets a CPU receive PMIs of the uncore; IA32_DEBUGCTL. */
#define UNC_DEBUGCTL_PMI	BIT_ULL(13)

/* A PMI that has masked LVTPC is an NMI within this, even on a CPU held up. */
#define UNC_COMING_NS	NSEC_PER_SEC

/**
 * struct unc_pmi - a CPU's way from NMI to samples
 * @work: does what an NMI must not
 * @csd: asks this CPU to deliver its events' samples
 * @asked: it has been asked and has not begun
 * @regs: registers of what the NMI interrupted, while @pending; those of its stack
 *	are 0 if it had interrupts off
 * @task: and the task
 * @status: global status as the NMI handler saw it
 * @stamp: when that was
 * @noted: the freeze to which @status belongs
 * @pending: @work is queued and those above are valid, but for @regs when
 *	@serving was found
 * @serving: this CPU serves overflows or delivers samples
 * @own: the NMI interrupted that, and not what samples are about
 * @armed: its LVTPC delivers NMIs, as far as we know
 * @masked_since: when LVTPC was first found masked since the last NMI, or 0
 * @came: the NMI that is being handled, or that was last, is a PMI
 * @rearmed_ip: where the last NMI for which LVTPC was unmasked has interrupted;
 *	another one may have been waiting
 * @lvtpc: what LVTPC held before we came
 * @debugctl: IA32_DEBUGCTL has been changed
 * @core: bit of the global control register that sends it PMIs, or -1
 */
struct unc_pmi {
	struct irq_work work;
	call_single_data_t csd;
	atomic_t asked;
	struct pt_regs regs;
	struct task_struct *task;
	u64 status;
	u64 stamp;
	u32 noted;
	bool pending;
	bool serving;
	bool own;
	bool armed;
	bool came;
	u64 masked_since;
	unsigned long rearmed_ip;
	u32 lvtpc;
	bool debugctl;
	int core;
};

static DEFINE_PER_CPU(struct unc_pmi, unc_pmi);
static bool unc_pmi_ready;
/* What a PMI leads to: it is done above. */
static const struct unc_pmi_calls *unc_pmi_calls;

/* --- from hard interrupts ------------------------------------------------ */

/**
 * unc_pmi_serving() - an NMI that comes now does not take our registers for a
 * sample
 * @on: begin or end
 *
 * Context: hard interrupt.
 * Return: what it was before.
 */
bool unc_pmi_serving(bool on)
{
	bool was = this_cpu_read(unc_pmi.serving);

	this_cpu_write(unc_pmi.serving, on);
	barrier();
	return was;
}

/**
 * unc_present_regs() - where this CPU is, when no NMI has kept it
 * @here: room for registers
 *
 * Not all interrupts leave their registers to be found.  Then it is where the
 * task left user space, and the scheduler for a task that never was there: it has
 * just been switched to, or rests.
 */
struct pt_regs *unc_present_regs(struct pt_regs *here)
{
	if (get_irq_regs())
		return get_irq_regs();
	if (!(current->flags & PF_KTHREAD))
		return task_pt_regs(current);
	perf_fetch_caller_regs(here);
	here->ip = (unsigned long)schedule;
	return here;
}

/* The first one to come serves the hardware, every one its own events. */
static void unc_pmi_work(struct irq_work *work)
{
	struct unc_pmi *pmi = container_of(work, struct unc_pmi, work);
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	bool noted = READ_ONCE(pmi->pending);
	struct pt_regs here, *regs = NULL;

	unc_pmi_serving(true);
	unc_pmi_calls->serve(pkg, noted ? pmi->status : 0, pmi->stamp, pmi->noted);
	/* the NMI may have hit the scheduler: another task has come since */
	if (noted && !pmi->own && pmi->task == current)
		regs = &pmi->regs;
	unc_overflow_charge(&pkg->overflow,
			    unc_pmi_calls->deliver(pkg, regs ?:
						   unc_present_regs(&here)));
	if (noted)
		WRITE_ONCE(pmi->pending, false);
	unc_pmi_serving(false);
}

/* Asked by another CPU of the package. */
static void unc_pmi_carried(void *data)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct pt_regs here;

	/* from here on it can be asked again */
	atomic_set_release(this_cpu_ptr(&unc_pmi.asked), 0);
	if (!pkg)
		return;
	unc_pmi_serving(true);
	unc_overflow_charge(&pkg->overflow,
			    unc_pmi_calls->deliver(pkg,
						   unc_present_regs(&here)));
	unc_pmi_serving(false);
}

/**
 * unc_pmi_carry() - have another CPU deliver its samples
 * @cpu: the CPU
 *
 * Several CPUs may ask at a time, and one request may be under way only.
 *
 * Context: hard interrupt, no lock of a box held.
 */
void unc_pmi_carry(unsigned int cpu)
{
	struct unc_pmi *pmi = per_cpu_ptr(&unc_pmi, cpu);

	if (atomic_xchg(&pmi->asked, 1))
		return;
	/* a CPU that is going offline has its events taken off in order */
	if (smp_call_function_single_async(cpu, &pmi->csd))
		atomic_set(&pmi->asked, 0);
}

/**
 * unc_pmi_raise() - do on this CPU what a PMI would have done
 *
 * Context: any; interrupts off.
 */
void unc_pmi_raise(void)
{
	irq_work_queue(&this_cpu_ptr(&unc_pmi)->work);
}

/* --- LVTPC --------------------------------------------------------------- */

static bool unc_lvtpc_is_masked(void)
{
	return (apic->read(APIC_LVTPC) & UNC_LVT_MODE) == UNC_LVT_MASKED;
}

static void unc_lvtpc_unmask(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/*
 * LVTPC of a CPU that takes PMIs is masked.  Our handlers never leave it so: a
 * PMI is on its way, unless that takes so long that somebody else has masked it.
 */
static bool unc_pmi_is_coming(struct unc_pmi *pmi)
{
	u64 now = ktime_get_mono_fast_ns();

	if (!pmi->masked_since)
		WRITE_ONCE(pmi->masked_since, now);
	return now - pmi->masked_since < UNC_COMING_NS;
}

/* On each CPU, interrupts off.  The kernel does this when it uses a core PMU. */
static void unc_lvtpc_arm(void *unused)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	u32 lvtpc = apic->read(APIC_LVTPC);
	bool coming = pmi->armed &&
		      (lvtpc & UNC_LVT_MODE) == UNC_LVT_MASKED &&
		      unc_pmi_is_coming(pmi);

	/* the next one to be found masked has a second of its own */
	if (!coming)
		WRITE_ONCE(pmi->masked_since, 0);
	if (!pmi->armed)
		pmi->lvtpc = lvtpc;
	if (lvtpc != APIC_DM_NMI && !coming)
		unc_lvtpc_unmask();
	WRITE_ONCE(pmi->armed, true);
}

static void unc_lvtpc_restore(void *unused)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	u64 debugctl;

	if (pmi->armed && pmi->lvtpc != APIC_DM_NMI)
		apic->write(APIC_LVTPC, pmi->lvtpc);
	pmi->armed = false;
	if (pmi->debugctl && !rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &debugctl))
		wrmsrq_safe(MSR_IA32_DEBUGCTLMSR,
			    debugctl & ~UNC_DEBUGCTL_PMI);
	pmi->debugctl = false;
}

/* --- NMI: MSRs and the local APIC only, no lock -------------------------- */

/* Has an NMI interrupted our own interrupt handlers? */
static bool unc_is_own(const struct unc_pmi *pmi, struct pt_regs *regs)
{
	/* an NMI counts as a hard interrupt itself */
	return pmi->serving ||
	       (hardirq_count() > HARDIRQ_OFFSET &&
		within_module(instruction_pointer(regs), THIS_MODULE));
}

/*
 * Samples are made when interrupts are on again.  By then the stack of a kernel that
 * had them off is no longer what @regs say: its functions have returned, and others
 * have been called.  Without it perf's call chain is the address that was hit, and
 * user space's, instead of whatever lies there.
 */
static void unc_keep_regs(struct unc_pmi *pmi, struct pt_regs *regs)
{
	pmi->regs = *regs;
	if (regs_irqs_disabled(regs)) {
		pmi->regs.sp = 0;
		pmi->regs.bp = 0;
	}
}

static void unc_note(struct unc_pmi *pmi, struct pt_regs *regs, u64 status,
		     u32 freeze)
{
	if (!READ_ONCE(pmi->pending)) {
		pmi->own = unc_is_own(pmi, regs);
		if (!pmi->own)
			unc_keep_regs(pmi, regs);
		pmi->task = current;
		pmi->status = status;
		pmi->noted = freeze;
		pmi->stamp = ktime_get_mono_fast_ns();
		WRITE_ONCE(pmi->pending, true);
	}
	irq_work_queue(&pmi->work);
}

/* The first handler.  Even a PMI that nobody expects must not leave LVTPC masked. */
static int unc_nmi(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	struct unc_overflow *ov;
	u64 status;
	u32 freeze;

	pmi->came = false;
	WRITE_ONCE(pmi->masked_since, 0);
	if (!pkg || !pmi->armed)
		return NMI_DONE;
	ov = &pkg->overflow;
	pmi->came = unc_lvtpc_is_masked();
	if (!READ_ONCE(ov->watching) && !READ_ONCE(ov->measuring))
		return NMI_DONE;
	if (READ_ONCE(ov->measuring)) {
		/* one that is late finds no status: no answer, but ours */
		if (pmi->came && unc_global_status())
			cpumask_set_cpu(smp_processor_id(), &ov->answered);
		return pmi->came ? NMI_HANDLED : NMI_DONE;
	}
	freeze = READ_ONCE(ov->freeze);
	/* a later freeze's status must not pass for this one's; serve() */
	smp_rmb();
	status = unc_global_status();
	if (!status)
		return NMI_DONE;
	unc_note(pmi, regs, status, freeze);
	/* another kind of NMI may just have been the first to see it */
	return pmi->came ? NMI_HANDLED : NMI_DONE;
}

/*
 * The last handler, after perf's, which unmasks LVTPC as late as its counters
 * want it.  One that was masked only now belongs to an NMI that waits.
 */
static int unc_nmi_end(unsigned int type, struct pt_regs *regs)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	struct unc_package *pkg;

	if (!pmi->came || !unc_lvtpc_is_masked())
		return NMI_DONE;
	unc_lvtpc_unmask();
	pmi->rearmed_ip = instruction_pointer(regs);
	pkg = unc_package_of_cpu(smp_processor_id());
	/* an overflow whose PMI was dropped while the entry was masked */
	if (READ_ONCE(pkg->overflow.watching) &&
	    !READ_ONCE(pkg->overflow.measuring) && !READ_ONCE(pmi->pending) &&
	    unc_global_status())
		irq_work_queue(&pmi->work);
	return NMI_DONE;
}

/* Only called when nobody has claimed the NMI. */
static int unc_nmi_unknown(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);

	if (!pkg || !READ_ONCE(pkg->overflow.watching))
		return NMI_DONE;
	if (pmi->came) {
		atomic64_inc(&pkg->overflow.late);
		return NMI_HANDLED;
	}
	/* it waited while LVTPC was unmasked for the one before */
	if (pmi->rearmed_ip && pmi->rearmed_ip == instruction_pointer(regs)) {
		pmi->rearmed_ip = 0;
		return NMI_HANDLED;
	}
	atomic64_inc(&pkg->overflow.spurious);
	return NMI_DONE;
}

/* --- which core is which bit --------------------------------------------- */

/*
 * The manual numbers cores in pmi_core_sel and does not say how, cores
 * may be fused off, and firmware may have its own ideas.  So it is measured, at
 * load: a clock overflows, with one bit at a time, and who gets the PMI?
 */

/* For how long (ns) to wait for the first answer of all. */
#define UNC_ANSWER_NS	(50 * NSEC_PER_MSEC)
/* So many times the longest delay seen, or this, is long enough for the others. */
#define UNC_ABSENT	8
#define UNC_ABSENT_NS	(200 * NSEC_PER_USEC)
/* An answer that comes late looks like that of another core: measure anew. */
#define UNC_TRIES	3

/**
 * struct unc_ping - attempts to interrupt
 * @box: the box with the clock
 * @cores: bits to try
 * @wait: for so long (ns) for somebody to answer
 * @everybody: wait for all of these that long, or NULL: little longer than for the
 *	first
 * @whole_cores: who answers is enough when all threads of its core have; else all
 *	others have to be seen not to
 * @overflowed: the global status has shown the overflow
 * @delay: how long (ns) the slowest that came took
 * @slowest: the same of all attempts so far
 * @patience: how much longer than usual to wait for the others
 */
struct unc_ping {
	struct unc_box *box;
	u64 cores;
	u64 wait;
	const struct cpumask *everybody;
	bool whole_cores;
	bool overflowed;
	u64 delay;
	u64 slowest;
	unsigned int patience;
};

static void unc_ping_clock(struct unc_box *box, u64 ctl, u64 left)
{
	u64 mask = GENMASK_ULL(unc_counter_bits(box, UNC_FIXED) - 1, 0);
	unsigned long flags;

	flags = unc_lock(box);
	unc_write_ctl(box, UNC_FIXED, 0);
	unc_clear_status(box);
	unc_write_counter(box, UNC_FIXED, (mask + 1 - left) & mask);
	if (ctl)
		unc_write_ctl(box, UNC_FIXED, ctl);
	unc_unlock(box, flags);
}

/* Who has not answered for so long will not. */
static u64 unc_absent(const struct unc_ping *ping)
{
	return clamp_t(u64, UNC_ABSENT * ping->patience * ping->slowest,
		       UNC_ABSENT_NS, UNC_ANSWER_NS);
}

/* Has of each core that answers every thread done so that can? */
static bool unc_cores_are_whole(const struct unc_overflow *ov)
{
	unsigned int cpu, thread;

	for_each_cpu(cpu, &ov->answered) {
		for_each_cpu(thread, topology_sibling_cpumask(cpu)) {
			if (per_cpu(unc_pmi, thread).armed &&
			    !cpumask_test_cpu(thread, &ov->answered))
				return false;
		}
	}
	return true;
}

/*
 * Have the clock overflow, and wait: for somebody to answer, and then a little
 * more for others.  Process context, on a CPU of the package.
 */
static void unc_ping(struct unc_ping *ping)
{
	const struct unc_layout *layout = ping->box->type->layout;
	struct unc_overflow *ov = &ping->box->pkg->overflow;
	u64 start, passed, wait = ping->wait;
	unsigned int n, before = 0;

	cpumask_clear(&ov->answered);
	ping->overflowed = false;
	ping->delay = 0;
	unc_package_select(ping->cores);
	start = ktime_get_mono_fast_ns();
	unc_ping_clock(ping->box, layout->en | layout->ov_en, 1);
	do {
		ping->overflowed |= unc_global_status() != 0;
		passed = ktime_get_mono_fast_ns() - start;
		n = cpumask_weight(&ov->answered);
		if (n != before) {
			before = n;
			ping->delay = passed;
			ping->slowest = max(ping->slowest, passed);
			if (!ping->everybody)
				wait = passed + unc_absent(ping);
			else if (cpumask_subset(ping->everybody, &ov->answered))
				break;
			if (ping->whole_cores && unc_cores_are_whole(ov))
				break;
		}
		cond_resched();
		/* who answers may share this processor, as a thread or a guest's */
		cpu_relax();
	} while (passed < wait);
	unc_ping_clock(ping->box, 0, 0);
	unc_package_thaw(0);
}

/* A CPU may have to be told that the uncore interrupts it. */
static bool unc_debugctl_needed;

static void unc_debugctl_allow(void *unused)
{
	u64 value;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &value) ||
	    (value & UNC_DEBUGCTL_PMI) ||
	    wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, value | UNC_DEBUGCTL_PMI))
		return;
	this_cpu_write(unc_pmi.debugctl, true);
}

/* All cores at once: who answers at all, and how fast? */
static bool unc_ping_all(struct unc_ping *ping, const struct cpumask *cpus)
{
	const struct cpumask *answered = &ping->box->pkg->overflow.answered;

	ping->cores = unc.gen->cores;
	ping->wait = UNC_ANSWER_NS;
	/* whoever is left out here gets its samples from another core for good */
	ping->everybody = cpus;
	unc_ping(ping);
	if (ping->overflowed && cpumask_empty(answered)) {
		on_each_cpu_mask(cpus, unc_debugctl_allow, NULL, 1);
		unc_ping(ping);
		unc_debugctl_needed |= !cpumask_empty(answered);
	}
	ping->everybody = NULL;
	return !cpumask_empty(answered);
}

/* One core after the other, until all CPUs of @left are accounted for. */
static u64 unc_ping_each(struct unc_ping *ping, struct cpumask *left)
{
	struct unc_overflow *ov = &ping->box->pkg->overflow;
	const unsigned long cores = unc.gen->cores;
	unsigned int bit, cpu;
	u64 reach = 0;

	for_each_set_bit(bit, &cores, BITS_PER_LONG) {
		if (cpumask_empty(left))
			break;
		ping->cores = BIT_ULL(bit);
		unc_ping(ping);
		if (cpumask_empty(&ov->answered))
			continue;
		reach |= BIT_ULL(bit);
		for_each_cpu(cpu, &ov->answered)
			per_cpu(unc_pmi, cpu).core = bit;
		cpumask_andnot(left, left, &ov->answered);
	}
	return reach;
}

/* Does each core's bit reach those again that it seemed to reach? */
static bool unc_ping_again(struct unc_ping *ping, u64 reach,
			   const struct cpumask *cpus)
{
	struct unc_overflow *ov = &ping->box->pkg->overflow;
	const unsigned long bits = reach;
	unsigned int bit, cpu;
	u64 fastest = U64_MAX;

	for_each_set_bit(bit, &bits, BITS_PER_LONG) {
		ping->cores = BIT_ULL(bit);
		unc_ping(ping);
		for_each_cpu(cpu, cpus) {
			if ((per_cpu(unc_pmi, cpu).core == bit) !=
			    cpumask_test_cpu(cpu, &ov->answered))
				return false;
		}
		fastest = min(fastest, ping->delay);
	}
	ov->latency = fastest;
	return true;
}

static void unc_ping_khz(struct unc_ping *ping)
{
	struct unc_overflow *ov = &ping->box->pkg->overflow;
	struct unc_slot clock = { .ctr = UNC_FIXED };
	unsigned long flags;
	u64 start, count = 0;

	unc_ping_clock(ping->box, ping->box->type->layout->en, 0);
	start = ktime_get_mono_fast_ns();
	udelay(100);
	flags = unc_lock(ping->box);
	unc_read_counter(ping->box, &clock, &count);
	start = ktime_get_mono_fast_ns() - start;
	unc_unlock(ping->box, flags);
	unc_ping_clock(ping->box, 0, 0);
	ov->clock_khz = min_t(u64, unc_mul_div(count, NSEC_PER_MSEC, start),
			      unc.gen->max_khz);
}

static void unc_lvtpc_look(void *masked)
{
	if (this_cpu_read(unc_pmi.armed) && unc_lvtpc_is_masked())
		WRITE_ONCE(*(bool *)masked, true);
}

/*
 * Wait for PMIs that are on their way: where one has been delivered and not been
 * handled, LVTPC is masked.  Process context.
 */
static void unc_pmi_settle(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		bool masked = false;

		usleep_range(5000, 6000);
		on_each_cpu(unc_lvtpc_look, &masked, 1);
		if (!masked)
			return;
	}
}

/* A box with a clock that can overflow, and that nobody has to wait for. */
static struct unc_box *unc_clock_box(const struct unc_package *pkg)
{
	unsigned int b;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (box && !box->dead && box->type->space->lockless &&
		    box->type->signals && box->type->fixed_ctl)
			return box;
	}
	return NULL;
}

struct unc_measurement {
	struct unc_package *pkg;
	cpumask_var_t cpus, left;
	const char *why;
};

/* Which bit reaches which of @cpus; 0: none does, or no two attempts agree. */
static u64 unc_measure_cores(struct unc_measurement *m, struct unc_ping *ping)
{
	unsigned int try, cpu;
	u64 reach;

	if (!unc_ping_all(ping, m->cpus)) {
		m->why = ping->overflowed ?
			"no CPU gets the uncore's interrupt" :
			"its clock does not count, so no overflow could be tried";
		return 0;
	}
	cpumask_and(m->cpus, m->cpus, &m->pkg->overflow.answered);
	for (try = 0; try < UNC_TRIES; try++) {
		for_each_cpu(cpu, m->cpus)
			per_cpu(unc_pmi, cpu).core = -1;
		cpumask_copy(m->left, m->cpus);
		ping->patience = 1 << 2 * try;
		ping->wait = unc_absent(ping);
		/* who else answers, if anybody does, is seen the second time */
		ping->whole_cores = true;
		reach = unc_ping_each(ping, m->left);
		ping->whole_cores = false;
		ping->wait = UNC_ANSWER_NS;
		if (reach && cpumask_empty(m->left) &&
		    unc_ping_again(ping, reach, m->cpus))
			return reach;
		/* let the late ones come */
		msleep(20);
	}
	m->why = "no two attempts agree on whom its interrupt reaches";
	return 0;
}

/* On a CPU of the package; process context. */
static int unc_measure(void *data)
{
	struct unc_measurement *m = data;
	struct unc_overflow *ov = &m->pkg->overflow;
	struct unc_ping ping = { .box = ov->clock, .patience = 1 };

	m->why = NULL;
	WRITE_ONCE(ov->measuring, true);
	ov->pmi_cores = unc_measure_cores(m, &ping);
	if (ov->pmi_cores)
		unc_ping_khz(&ping);
	unc_pmi_settle();
	WRITE_ONCE(ov->measuring, false);
	return 0;
}

/**
 * unc_pmi_measure() - find out whom the uncore's interrupt reaches
 * @pkg: the package; nothing counts there yet
 *
 * Where it reaches nobody all boxes are polled.
 *
 * Context: process.
 */
void unc_pmi_measure(struct unc_package *pkg)
{
	struct unc_measurement m = { .pkg = pkg };
	unsigned int cpu;

	pkg->overflow.clock = unc_clock_box(pkg);
	if (!pkg->overflow.clock)
		return;
	if (!zalloc_cpumask_var(&m.cpus, GFP_KERNEL))
		return;
	if (!zalloc_cpumask_var(&m.left, GFP_KERNEL))
		goto out;
	m.why = "none of its CPUs is online";
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (unc_package_of_cpu(cpu) == pkg)
			cpumask_set_cpu(cpu, m.cpus);
	}
	cpu = cpumask_first(m.cpus);
	if (cpu < nr_cpu_ids) {
		on_each_cpu_mask(m.cpus, unc_lvtpc_arm, NULL, 1);
		smp_call_on_cpu(cpu, unc_measure, &m, false);
	}
	cpus_read_unlock();
	if (m.why)
		pr_warn("package %d: %s: overflows are looked for every millisecond instead\n",
			pkg->phys_id, m.why);
	free_cpumask_var(m.left);
out:
	free_cpumask_var(m.cpus);
}

/**
 * unc_pmi_core() - which bit sends a CPU the interrupt
 * @pkg: its package, where some bit reaches some CPU
 * @cpu: the CPU
 *
 * Return: the bit, or that of another core, from which samples are carried
 * over, for a CPU that came online later or that no bit reaches.
 */
int unc_pmi_core(const struct unc_package *pkg, unsigned int cpu)
{
	unsigned int thread;

	for_each_cpu(thread, topology_sibling_cpumask(cpu)) {
		int core = per_cpu(unc_pmi, thread).core;

		if (core >= 0)
			return core;
	}
	return __ffs64(pkg->overflow.pmi_cores);
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_pmi_arm() - have this CPU take PMIs, whatever others have made of its LVTPC
 *
 * Context: interrupts off.
 */
void unc_pmi_arm(void)
{
	unc_lvtpc_arm(NULL);
}

/**
 * unc_pmi_cpu_online() - a CPU of a package with boxes has come online
 *
 * Context: on that CPU, interrupts off.
 */
void unc_pmi_cpu_online(void)
{
	if (!unc_pmi_ready)
		return;
	this_cpu_write(unc_pmi.armed, false);
	unc_lvtpc_arm(NULL);
	if (unc_debugctl_needed)
		unc_debugctl_allow(NULL);
}

/**
 * unc_pmi_init() - make ready for overflow interrupts, where there are any
 * @calls: what a PMI leads to
 *
 * Return: 0 or a negative errno.
 */
int unc_pmi_init(const struct unc_pmi_calls *calls)
{
	unsigned int cpu;
	int err;

	unc_pmi_calls = calls;
	for_each_possible_cpu(cpu) {
		struct unc_pmi *pmi = &per_cpu(unc_pmi, cpu);

		pmi->work = IRQ_WORK_INIT_HARD(unc_pmi_work);
		INIT_CSD(&pmi->csd, unc_pmi_carried, NULL);
		pmi->core = -1;
	}
	/* where no box signals all of them are polled, on the same ways */
	if (!unc.gen->global_status)
		return 0;
	/* the second goes behind perf's handler, which is there from boot on */
	err = register_nmi_handler(NMI_LOCAL, unc_nmi, NMI_FLAG_FIRST,
				   UNC_NAME);
	if (err)
		return err;
	err = register_nmi_handler(NMI_LOCAL, unc_nmi_end, 0, UNC_NAME "_end");
	if (err)
		goto no_end;
	err = register_nmi_handler(NMI_UNKNOWN, unc_nmi_unknown, 0, UNC_NAME);
	if (err)
		goto no_unknown;
	unc_pmi_ready = true;
	return 0;

no_unknown:
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
no_end:
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	return err;
}

/**
 * unc_pmi_exit() - no more overflow interrupts
 *
 * Context: process; no event is left, and the boxes are reset.
 */
void unc_pmi_exit(void)
{
	unsigned int cpu, i;
	bool late = false;

	for (i = 0; i < unc.num_packages; i++)
		late |= unc.packages[i].overflow.watching;
	/* a PMI that is on its way must still find us */
	if (late) {
		msleep(50);
		unc_pmi_settle();
	}
	if (unc_pmi_ready) {
		unregister_nmi_handler(NMI_UNKNOWN, UNC_NAME);
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
		on_each_cpu(unc_lvtpc_restore, NULL, 1);
	}
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(unc_pmi, cpu).work);
	/* let requests between CPUs that are under way run */
	kick_all_cpus_sync();
}

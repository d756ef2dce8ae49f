// SPDX-License-Identifier: GPL-2.0-only
/*
 * The UBox's interrupt, a PMI, which the local APIC delivers as an NMI: telling it
 * from other NMIs, and from there to the work that an NMI must not do.
 *
 * The local APIC masks its performance-counter entry (LVTPC) when it delivers a PMI.
 * So an NMI that finds the entry masked is a PMI, of the uncore or of the core PMU, and
 * is claimed while the package samples, also when another CPU has handled its overflow
 * already.  Handlers are registered while sampling events exist: the first one looks
 * at LVTPC, the last one, behind perf's, unmasks it unless perf has.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/unwind.h>

#include "xeon_uncore.h"
#include "compat.h"

#define UNC_LVT_MODE	(APIC_MODE_MASK | APIC_LVT_MASKED)
#define UNC_LVT_MASKED	(APIC_DM_NMI | APIC_LVT_MASKED)

/* A PMI that has masked LVTPC is an NMI within this, even on a CPU held up. */
#define UNC_COMING_NS	NSEC_PER_SEC
/* An NMI that was latched during another's handlers comes within this. */
#define UNC_LATCHED_NS	NSEC_PER_MSEC
/* Late PMIs are possible for this long after the last sampling event is closed. */
#define UNC_LATE_MS	2000

/**
 * struct unc_pmi - a CPU's way from NMI to samples
 * @work: does what an NMI must not
 * @csd: runs @work's function on behalf of another CPU
 * @kicked: @csd is on its way
 * @regs: registers of what the NMI interrupted, while @pending; those of its stack
 *	are 0 if it had interrupts off
 * @task: and the task
 * @status: global status as the NMI handler saw it; 0: not read
 * @stamp: when that was
 * @freeze: the package freeze to which @status belongs
 * @pending: @work is queued, and those above are valid
 * @own: the NMI interrupted the driver's handlers, and not what samples are about
 * @in_handler: this CPU handles overflows or delivers samples
 * @armed: its LVTPC delivers NMIs, as far as the driver knows
 * @lvtpc: what LVTPC held before the driver armed it
 * @masked_since: when LVTPC was first found masked since the last NMI, or 0
 * @is_pmi: the NMI that is being handled is a PMI
 * @unmasked_at: when the last NMI's handlers unmasked LVTPC; 0: they did not
 * @unmasked_ip: the address that this NMI interrupted
 */
struct unc_pmi {
	struct irq_work work;
	call_single_data_t csd;
	atomic_t kicked;
	struct pt_regs regs;
	struct task_struct *task;
	u64 status;
	u64 stamp;
	u32 freeze;
	bool pending;
	bool own;
	bool in_handler;
	bool armed;
	u32 lvtpc;
	u64 masked_since;
	bool is_pmi;
	u64 unmasked_at;
	unsigned long unmasked_ip;
};

static DEFINE_PER_CPU(struct unc_pmi, unc_pmi);
/* Handlers in the files above. */
static const struct unc_pmi_calls *unc_pmi_calls;

/* The package whose PMIs are being measured, and the CPUs that got one. */
static struct unc_package *unc_pmi_measured;
static struct cpumask *unc_pmi_answered;

/* Sampling events, and users of the handlers; guarded by the mutex. */
static DEFINE_MUTEX(unc_pmi_mutex);
static unsigned int unc_pmi_users;
static bool unc_pmi_registered;

/* --- from hard interrupts ------------------------------------------------ */

/**
 * unc_pmi_in_handler() - keep an NMI that comes now from sampling the driver itself
 * @on: begin or end
 *
 * Context: hard interrupt.
 * Return: what it was before.
 */
bool unc_pmi_in_handler(bool on)
{
	bool was = this_cpu_read(unc_pmi.in_handler);

	this_cpu_write(unc_pmi.in_handler, on);
	barrier();
	return was;
}

/**
 * unc_pmi_caller() - say where this CPU is, outside of the driver
 * @here: gets the address that called it, and no stack
 *
 * Context: any but NMI, on the CPU to be sampled.
 */
void unc_pmi_caller(struct pt_regs *here)
{
	struct unwind_state state;
	unsigned long ip = 0;

	for (unwind_start(&state, current, NULL, NULL);
	     !ip && !unwind_done(&state); unwind_next_frame(&state)) {
		ip = unwind_get_return_address(&state);
		if (within_module(ip, THIS_MODULE))
			ip = 0;
	}
	memset(here, 0, sizeof(*here));
	perf_fetch_caller_regs(here);
	here->ip = ip ?: (unsigned long)schedule;
	here->sp = 0;
	here->bp = 0;
}

/**
 * unc_pmi_regs() - find the registers of what an interrupt has interrupted
 * @here: room for registers
 *
 * Not all interrupts leave their registers to be found, but the unwinder knows them.
 *
 * Context: hard interrupt, on the CPU to be sampled.
 * Return: these registers; @here, without a stack, where there are none.
 */
struct pt_regs *unc_pmi_regs(struct pt_regs *here)
{
	struct unwind_state state;
	struct pt_regs *regs;
	bool partial;

	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		regs = unwind_get_entry_regs(&state, &partial);
		if (regs && !partial)
			return regs;
	}
	unc_pmi_caller(here);
	return here;
}

/* The first CPU to come handles the hardware, every one its own events. */
static void unc_pmi_do_work(void)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	bool pending = READ_ONCE(pmi->pending);
	struct pt_regs here, *regs = NULL;
	bool was;

	if (!pkg)
		return;
	was = unc_pmi_in_handler(true);
	if (pending) {
		unc_pmi_calls->handle(pkg, pmi->status, pmi->stamp, pmi->freeze);
		/* the NMI may have hit the scheduler, and another task runs now */
		if (!pmi->own && pmi->task == current)
			regs = &pmi->regs;
	}
	unc_pmi_calls->deliver(pkg, regs ?: unc_pmi_regs(&here));
	if (pending)
		WRITE_ONCE(pmi->pending, false);
	unc_pmi_in_handler(was);
}

static void unc_pmi_work(struct irq_work *work)
{
	unc_pmi_do_work();
}

static void unc_pmi_kicked(void *data)
{
	/* from here on it can be kicked again */
	atomic_set_release(this_cpu_ptr(&unc_pmi.kicked), 0);
	unc_pmi_do_work();
}

/**
 * unc_pmi_kick() - have the other CPUs of a package deliver their samples
 * @pkg: the package
 *
 * A CPU that has got the PMI itself needs no kick: its work is still to run, or waits
 * for the caller.
 *
 * Context: hard interrupt, no lock of the driver held.
 */
void unc_pmi_kick(struct unc_package *pkg)
{
	unsigned int cpu;

	for_each_cpu(cpu, &pkg->sampling_cpus) {
		struct unc_pmi *pmi = per_cpu_ptr(&unc_pmi, cpu);

		if (cpu == smp_processor_id() || READ_ONCE(pmi->pending) ||
		    atomic_xchg(&pmi->kicked, 1))
			continue;
		/* a CPU that goes offline has its events taken off in order */
		if (smp_call_function_single_async(cpu, &pmi->csd))
			atomic_set(&pmi->kicked, 0);
	}
}

/**
 * unc_pmi_raise() - do on this CPU what a PMI would have done
 *
 * Context: interrupts off.
 */
void unc_pmi_raise(void)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);

	/* an NMI may come in between, and then knows better */
	if (!READ_ONCE(pmi->pending)) {
		pmi->own = true;
		pmi->status = 0;
		WRITE_ONCE(pmi->pending, true);
	}
	irq_work_queue(&pmi->work);
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
 * LVTPC of a CPU that takes PMIs is masked.  The driver never leaves it so: a PMI is
 * on its way, unless that takes so long that another program must have masked it.
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

	/* the next mask that is found starts its own second */
	if (!coming)
		WRITE_ONCE(pmi->masked_since, 0);
	if (!pmi->armed)
		pmi->lvtpc = lvtpc;
	if (lvtpc != APIC_DM_NMI && !coming)
		unc_lvtpc_unmask();
	WRITE_ONCE(pmi->armed, true);
}

/* Without handlers a PMI that came at the last moment has left the entry masked. */
static void unc_lvtpc_restore(void *unused)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);

	if (pmi->armed && apic->read(APIC_LVTPC) != pmi->lvtpc)
		apic->write(APIC_LVTPC, pmi->lvtpc);
	pmi->armed = false;
}

/* --- NMI: MSRs and the local APIC only, no lock -------------------------- */

/* Check whether an NMI interrupted the driver's own interrupt handlers. */
static bool unc_is_own(const struct unc_pmi *pmi, struct pt_regs *regs)
{
	/* an NMI counts as a hard interrupt itself */
	return pmi->in_handler ||
	       (hardirq_count() > HARDIRQ_OFFSET &&
		within_module(instruction_pointer(regs), THIS_MODULE));
}

/*
 * Samples are made when interrupts are on again.  By then the stack of a kernel that
 * had them off does not match @regs any more: its functions have returned, and others
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
		pmi->freeze = freeze;
		pmi->stamp = ktime_get_mono_fast_ns();
		WRITE_ONCE(pmi->pending, true);
	}
	irq_work_queue(&pmi->work);
}

/* Note an overflow, if there is one; returns whether. */
static bool unc_look(struct unc_overflow *ov, struct unc_pmi *pmi,
		     struct pt_regs *regs)
{
	u32 freeze = READ_ONCE(ov->freeze);
	u64 status;

	/* a later freeze's status must not be taken for this one's; see handle() */
	smp_rmb();
	status = unc_global_status();
	if (status)
		unc_note(pmi, regs, status, freeze);
	return status;
}

/*
 * This NMI was latched while the last one's handlers ran: a PMI that had masked LVTPC
 * before they unmasked it.
 */
static bool unc_was_latched(struct unc_pmi *pmi, struct pt_regs *regs)
{
	u64 at = pmi->unmasked_at;

	pmi->unmasked_at = 0;
	return at && pmi->unmasked_ip == instruction_pointer(regs) &&
	       ktime_get_mono_fast_ns() - at < UNC_LATCHED_NS;
}

/* One that is late finds no status: it is claimed, but does not answer. */
static int unc_nmi_measured(const struct unc_pmi *pmi)
{
	if (pmi->is_pmi && unc_global_status())
		cpumask_set_cpu(smp_processor_id(), unc_pmi_answered);
	return pmi->is_pmi ? NMI_HANDLED : NMI_DONE;
}

/* The first handler. */
static int unc_nmi(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	struct unc_overflow *ov;

	pmi->is_pmi = false;
	WRITE_ONCE(pmi->masked_since, 0);
	if (!pkg || !pmi->armed)
		return NMI_DONE;
	ov = &pkg->overflow;
	pmi->is_pmi = unc_lvtpc_is_masked() || unc_was_latched(pmi, regs);
	if (READ_ONCE(unc_pmi_measured) == pkg)
		return unc_nmi_measured(pmi);
	if (!READ_ONCE(ov->watch.on))
		return NMI_DONE;
	if (!unc_look(ov, pmi, regs) && pmi->is_pmi)
		atomic64_inc(&pkg->stats.late);
	return pmi->is_pmi ? NMI_HANDLED : NMI_DONE;
}

/*
 * The last handler, after perf's, which unmasks LVTPC early or late, as its counters
 * require.  In either case a PMI may have been dropped while the entry was masked.
 */
static int unc_nmi_end(unsigned int type, struct pt_regs *regs)
{
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	struct unc_package *pkg;

	if (!pmi->is_pmi)
		return NMI_DONE;
	if (unc_lvtpc_is_masked()) {
		unc_lvtpc_unmask();
		pmi->unmasked_ip = instruction_pointer(regs);
		pmi->unmasked_at = ktime_get_mono_fast_ns();
	}
	pkg = unc_package_of_cpu(smp_processor_id());
	if (READ_ONCE(pkg->overflow.watch.on) &&
	    READ_ONCE(unc_pmi_measured) != pkg && !READ_ONCE(pmi->pending))
		unc_look(&pkg->overflow, pmi, regs);
	return NMI_DONE;
}

/* --- registering the handlers --------------------------------------------- */

static int unc_nmi_register(void)
{
	int err = register_nmi_handler(NMI_LOCAL, unc_nmi, NMI_FLAG_FIRST,
				       UNC_NAME);

	if (err)
		return err;
	/* behind perf's handler, which is there from boot on */
	err = register_nmi_handler(NMI_LOCAL, unc_nmi_end, 0, UNC_NAME "_end");
	if (err)
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	else
		unc_pmi_registered = true;
	return err;
}

static void unc_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	unc_pmi_registered = false;
	on_each_cpu(unc_lvtpc_restore, NULL, 1);
}

/* Nothing has sampled for a while. */
static void unc_pmi_idle(struct work_struct *work)
{
	mutex_lock(&unc_pmi_mutex);
	if (!unc_pmi_users && unc_pmi_registered && unc_nmi_settle())
		unc_nmi_unregister();
	mutex_unlock(&unc_pmi_mutex);
}

static DECLARE_DELAYED_WORK(unc_pmi_idle_work, unc_pmi_idle);

/**
 * unc_nmi_get() - a sampling event is opened: have its PMIs handled
 *
 * Context: process.
 * Return: 0, or -ENOMEM; undone by unc_nmi_put().
 */
int unc_nmi_get(void)
{
	int err = 0;

	/* where no box signals, all are polled */
	if (!unc.gen->global_status)
		return 0;
	mutex_lock(&unc_pmi_mutex);
	if (!unc_pmi_registered)
		err = unc_nmi_register();
	if (!err)
		unc_pmi_users++;
	mutex_unlock(&unc_pmi_mutex);
	return err;
}

/**
 * unc_nmi_put() - a sampling event is closed
 *
 * Context: process.
 */
void unc_nmi_put(void)
{
	if (!unc.gen->global_status)
		return;
	mutex_lock(&unc_pmi_mutex);
	if (!--unc_pmi_users)
		mod_delayed_work(system_wq, &unc_pmi_idle_work,
				 msecs_to_jiffies(UNC_LATE_MS + 100));
	mutex_unlock(&unc_pmi_mutex);
}

static void unc_lvtpc_check(void *masked)
{
	if (this_cpu_read(unc_pmi.armed) && unc_lvtpc_is_masked())
		WRITE_ONCE(*(bool *)masked, true);
}

/**
 * unc_nmi_settle() - wait for PMIs that are on their way
 *
 * While one has been delivered and not been handled, LVTPC is masked.
 *
 * Context: process.
 * Return: false when some CPU's LVTPC stays masked.
 */
bool unc_nmi_settle(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		bool masked = false;

		usleep_range(5000, 6000);
		on_each_cpu(unc_lvtpc_check, &masked, 1);
		if (!masked)
			return true;
	}
	return false;
}

/**
 * unc_nmi_arm() - have this CPU take PMIs
 *
 * Context: interrupts off.
 */
void unc_nmi_arm(void)
{
	unc_lvtpc_arm(NULL);
}

/**
 * unc_nmi_cpu_online() - note that LVTPC of a CPU that came online is not armed
 *
 * Its LVTPC is as the kernel has set it up.
 *
 * Context: on that CPU, interrupts off.
 */
void unc_nmi_cpu_online(void)
{
	this_cpu_write(unc_pmi.armed, false);
}

/**
 * unc_nmi_measure_begin() - note which CPUs of a package get PMIs
 * @pkg: the package, in which nothing counts
 * @answered: CPUs that got one
 */
void unc_nmi_measure_begin(struct unc_package *pkg, struct cpumask *answered)
{
	unc_pmi_answered = answered;
	/* an NMI that sees the package finds the mask as well */
	smp_wmb();
	WRITE_ONCE(unc_pmi_measured, pkg);
}

/**
 * unc_nmi_measure_end() - go back to handling PMIs
 */
void unc_nmi_measure_end(void)
{
	unc_nmi_settle();
	WRITE_ONCE(unc_pmi_measured, NULL);
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_pmi_init() - set up the way from NMI to samples
 * @calls: what a PMI leads to
 */
void unc_pmi_init(const struct unc_pmi_calls *calls)
{
	unsigned int cpu;

	unc_pmi_calls = calls;
	for_each_possible_cpu(cpu) {
		struct unc_pmi *pmi = &per_cpu(unc_pmi, cpu);

		pmi->work = IRQ_WORK_INIT_HARD(unc_pmi_work);
		INIT_CSD(&pmi->csd, unc_pmi_kicked, NULL);
	}
}

/**
 * unc_pmi_exit() - end what unc_pmi_init() began
 *
 * Context: process; no event is left, and the boxes are reset.
 */
void unc_pmi_exit(void)
{
	unsigned int cpu;

	cancel_delayed_work_sync(&unc_pmi_idle_work);
	/* a PMI that is on its way must still find the handlers */
	if (unc_pmi_registered) {
		msleep(50);
		unc_nmi_settle();
		unc_nmi_unregister();
	}
	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu(unc_pmi, cpu).work);
		unc_csd_wait(&per_cpu(unc_pmi, cpu).csd);
	}
	synchronize_rcu();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NMI handlers.  When a counter overflows, the UBox of the package sends a PMI
 * (performance-monitoring interrupt) to cores, and a core's local APIC delivers the PMI
 * as an NMI.  The handlers tell PMIs from other NMIs, and queue the work that an NMI must
 * not do (pmi.c).
 *
 * LVTPC is the local APIC's entry for PMIs.  The local APIC masks LVTPC when it delivers
 * a PMI.  So an NMI that finds LVTPC masked is a PMI, of the uncore or of the core PMU.
 * No further PMI is delivered until software unmasks LVTPC.
 *
 * The handlers are registered while sampling events exist.  Then every CPU of the machine
 * claims PMIs, also a CPU without sampling events.  The reason: the UBox interrupts all
 * cores of a package, and an NMI that no handler claims may panic the machine.
 *
 * There are two handlers.  The first one runs before perf's handler and reads LVTPC.  The
 * last one runs after perf's handler and unmasks LVTPC, unless perf has unmasked it.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "global.h"
#include "nmi.h"
#include "package.h"

/* LVTPC: bits of the delivery mode and the mask, and their value in a masked NMI entry */
#define UNC_LVT_MODE	(APIC_MODE_MASK | APIC_LVT_MASKED)
#define UNC_LVT_MASKED	(APIC_DM_NMI | APIC_LVT_MASKED)

/*
 * While the handlers of an NMI run, the CPU latches the next NMI and takes it after them,
 * within this time (ns).
 */
#define UNC_LATCHED_NS	NSEC_PER_MSEC
/* Time (ms) after the last sampling event is closed in which a late PMI may come. */
#define UNC_LATE_MS	2000

DEFINE_PER_CPU(struct unc_nmi, unc_nmi);

/* The package whose PMI pmi_probe.c probes, and whether a CPU got that PMI. */
static struct unc_package *unc_nmi_probed;
static bool unc_nmi_answer;

/* Guards the number of sampling events and probes, and the registration of handlers. */
static DEFINE_MUTEX(unc_nmi_mutex);
static unsigned int unc_nmi_users;
static bool unc_nmi_registered;

/* --- LVTPC --------------------------------------------------------------- */

static bool unc_nmi_lvtpc_is_masked(void)
{
	return (apic->read(APIC_LVTPC) & UNC_LVT_MODE) == UNC_LVT_MASKED;
}

/**
 * unc_nmi_arm() - set this CPU's LVTPC to deliver PMIs as NMIs
 * @unused: not used
 *
 * The kernel does the same when it uses a core PMU.  LVTPC is unmasked, too, as another
 * program may have masked it.
 *
 * Context: interrupts off, handlers registered.
 */
void unc_nmi_arm(void *unused)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);
	u32 lvtpc = apic->read(APIC_LVTPC);

	/* unc_nmi_disarm() restores the value, but must not mask an entry of NMI mode */
	if (!nmi->armed)
		nmi->lvtpc = (lvtpc & UNC_LVT_MODE) == UNC_LVT_MASKED ?
			     APIC_DM_NMI : lvtpc;
	nmi->armed = true;
	if (lvtpc != APIC_DM_NMI)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/*
 * Restore this CPU's LVTPC after the handlers are unregistered.  A PMI that came just
 * before, and found no handler, has left LVTPC masked.
 */
static void unc_nmi_disarm(void *unused)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);

	if (nmi->armed && apic->read(APIC_LVTPC) != nmi->lvtpc)
		apic->write(APIC_LVTPC, nmi->lvtpc);
	nmi->armed = false;
}

/**
 * unc_nmi_online() - have a CPU that came online take PMIs, if handlers are registered
 *
 * Context: on that CPU, interrupts off; the kernel has set up its LVTPC.
 */
void unc_nmi_online(void)
{
	this_cpu_write(unc_nmi.armed, false);
	/* pairs with unc_nmi_register(), which arms the CPUs that are online */
	if (READ_ONCE(unc_nmi_registered))
		unc_nmi_arm(NULL);
}

/* --- NMI: the local APIC only, no lock ------------------------------------ */

/* Check whether an NMI interrupted the driver's own interrupt handlers. */
static bool unc_nmi_is_own(const struct unc_nmi *nmi, struct pt_regs *regs)
{
	/* an NMI counts as a hard interrupt itself */
	return nmi->in_handler ||
	       (hardirq_count() > HARDIRQ_OFFSET &&
		within_module(instruction_pointer(regs), THIS_MODULE));
}

/*
 * Keep the registers of the interrupted code for a sample.  An irq_work makes the sample,
 * after interrupts are on again.  If the NMI hit kernel code with interrupts off, the
 * stack no longer matches @regs by then: functions have returned, and others have been
 * called.  So the stack and frame pointers are cleared.  Without them perf's call chain
 * is the interrupted address and the callers in user space.
 */
static void unc_nmi_keep_regs(struct unc_hit *hit, struct pt_regs *regs)
{
	hit->regs = *regs;
	if (regs_irqs_disabled(regs)) {
		hit->regs.sp = 0;
		hit->regs.bp = 0;
	}
}

/*
 * Keep the registers and the task that this PMI interrupted, unless the irq_work has not
 * taken those of an earlier PMI yet.  Queue the irq_work that handles the overflow.
 */
static void unc_nmi_note(struct unc_nmi *nmi, struct pt_regs *regs)
{
	struct unc_hit *hit = &nmi->hit;

	if (!READ_ONCE(hit->pending)) {
		hit->own = unc_nmi_is_own(nmi, regs);
		if (!hit->own)
			unc_nmi_keep_regs(hit, regs);
		hit->task = current;
		hit->stamp = ktime_get_mono_fast_ns();
		barrier();
		WRITE_ONCE(hit->pending, true);
	}
	irq_work_queue(&nmi->work);
}

/*
 * Check whether this NMI is a PMI although LVTPC is not masked.  The local APIC may send
 * a second PMI, and mask LVTPC, while the handlers of another NMI run.  These handlers
 * then unmask LVTPC, and the CPU takes the latched NMI directly after them: at the
 * address at which they return.
 */
static bool unc_nmi_was_latched(struct unc_nmi *nmi, struct pt_regs *regs)
{
	u64 at = nmi->unmasked_at;

	nmi->unmasked_at = 0;
	return at && nmi->unmasked_ip == instruction_pointer(regs) &&
	       ktime_get_mono_fast_ns() - at < UNC_LATCHED_NS;
}

/*
 * The first handler.  CPUs with sampling events queue the work; all other CPUs only claim
 * the PMI.  The local APIC drops a PMI while LVTPC is masked.  The work finds the
 * overflow of a dropped PMI, too, because it reads the global status.
 */
static int unc_nmi_first(unsigned int type, struct pt_regs *regs)
{
	unsigned int cpu = smp_processor_id();
	struct unc_package *pkg = unc_package_of_cpu(cpu);
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);

	nmi->is_pmi = unc_nmi_lvtpc_is_masked() || unc_nmi_was_latched(nmi, regs);
	if (!nmi->is_pmi)
		return NMI_DONE;
	if (!pkg)
		return NMI_HANDLED;
	if (READ_ONCE(unc_nmi_probed) == pkg) {
		if (unc_global_status())
			WRITE_ONCE(unc_nmi_answer, true);
	} else if (atomic_read(&pkg->overflow.signalled) &&
		   cpumask_test_cpu(cpu, &pkg->sampling_cpus)) {
		unc_nmi_note(nmi, regs);
	}
	return NMI_HANDLED;
}

/* The last handler.  perf's handler may have unmasked LVTPC, early or late, or not. */
static int unc_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);

	if (nmi->is_pmi && unc_nmi_lvtpc_is_masked()) {
		apic->write(APIC_LVTPC, APIC_DM_NMI);
		nmi->unmasked_ip = instruction_pointer(regs);
		nmi->unmasked_at = ktime_get_mono_fast_ns();
	}
	return NMI_DONE;
}

/**
 * unc_nmi_take_hit() - take the registers and the task that this CPU's PMI interrupted
 * @hit: gets the registers, the task and the time of the NMI
 *
 * The caller reads the global status after this call.  So an NMI before this call is
 * covered by that read.  An NMI after this call is noted as a new hit and queues the work
 * again.
 *
 * Return: whether a PMI came since the last call.
 * Context: hard interrupt.
 */
bool unc_nmi_take_hit(struct unc_hit *hit)
{
	struct unc_hit *pending = this_cpu_ptr(&unc_nmi.hit);

	if (!READ_ONCE(pending->pending))
		return false;
	*hit = *pending;
	barrier();
	WRITE_ONCE(pending->pending, false);
	/* unc_pmi_kick() must see that this CPU has its samples still to deliver */
	smp_mb();
	return true;
}

/* --- registering the handlers --------------------------------------------- */

static int unc_nmi_register(void)
{
	int err = register_nmi_handler(NMI_LOCAL, unc_nmi_first, NMI_FLAG_FIRST,
				       UNC_NAME);

	if (err)
		return err;
	/* runs after perf's handler, which is registered at boot */
	err = register_nmi_handler(NMI_LOCAL, unc_nmi_last, 0, UNC_NAME "_end");
	if (err) {
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
		return err;
	}
	WRITE_ONCE(unc_nmi_registered, true);
	/* a CPU that comes online later arms itself: pairs with unc_nmi_online() */
	smp_mb();
	on_each_cpu(unc_nmi_arm, NULL, 1);
	return 0;
}

static void unc_nmi_unregister(void)
{
	WRITE_ONCE(unc_nmi_registered, false);
	/* a CPU that comes online later is not armed: pairs with unc_nmi_online() */
	smp_mb();
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	on_each_cpu(unc_nmi_disarm, NULL, 1);
}

/* Unregister the handlers some time after the last sampling event was closed. */
static void unc_nmi_idle(struct work_struct *work)
{
	mutex_lock(&unc_nmi_mutex);
	if (!unc_nmi_users && unc_nmi_registered)
		unc_nmi_unregister();
	mutex_unlock(&unc_nmi_mutex);
}

static DECLARE_DELAYED_WORK(unc_nmi_idle_work, unc_nmi_idle);

/**
 * unc_nmi_get() - register the handlers for a sampling event that is opened
 *
 * Return: 0, or -ENOMEM; undone by unc_nmi_put().
 * Context: process.
 */
int unc_nmi_get(void)
{
	int err = 0;

	/* no box of the generation signals: no PMI comes, and the timer polls */
	if (!unc.gen->global.status)
		return 0;
	mutex_lock(&unc_nmi_mutex);
	if (!unc_nmi_registered)
		err = unc_nmi_register();
	if (!err)
		unc_nmi_users++;
	mutex_unlock(&unc_nmi_mutex);
	return err;
}

/**
 * unc_nmi_put() - unregister the handlers if no sampling event is left
 *
 * The handlers stay registered for UNC_LATE_MS, for PMIs that are on their way.
 *
 * Context: process.
 */
void unc_nmi_put(void)
{
	if (!unc.gen->global.status)
		return;
	mutex_lock(&unc_nmi_mutex);
	if (!--unc_nmi_users)
		mod_delayed_work(system_wq, &unc_nmi_idle_work,
				 msecs_to_jiffies(UNC_LATE_MS + 100));
	mutex_unlock(&unc_nmi_mutex);
}

/**
 * unc_nmi_probe_begin() - watch for a PMI of a package in which no event counts
 * @pkg: the package
 *
 * Context: between unc_nmi_get() and unc_nmi_put().
 */
void unc_nmi_probe_begin(struct unc_package *pkg)
{
	WRITE_ONCE(unc_nmi_answer, false);
	/* an NMI that sees the package sets the answer after the line above clears it */
	smp_wmb();
	WRITE_ONCE(unc_nmi_probed, pkg);
}

/**
 * unc_nmi_probe_answered() - check whether a CPU got the probed package's PMI
 */
bool unc_nmi_probe_answered(void)
{
	return READ_ONCE(unc_nmi_answer);
}

/**
 * unc_nmi_probe_end() - go back to handling PMIs
 */
void unc_nmi_probe_end(void)
{
	WRITE_ONCE(unc_nmi_probed, NULL);
}

/**
 * unc_nmi_exit() - unregister the handlers, after waiting for PMIs that are on their way
 *
 * Context: process; no event is left, and the boxes are reset.
 */
void unc_nmi_exit(void)
{
	cancel_delayed_work_sync(&unc_nmi_idle_work);
	if (!unc_nmi_registered)
		return;
	msleep(50);
	unc_nmi_unregister();
}

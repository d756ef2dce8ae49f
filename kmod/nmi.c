// SPDX-License-Identifier: GPL-2.0-only
/*
 * The UBox's interrupt, a PMI, which the local APIC delivers as an NMI: telling a PMI
 * from other NMIs, and queueing the work that an NMI must not do.
 *
 * The local APIC masks its performance-counter entry (LVTPC) when it delivers a PMI.
 * So an NMI that finds the entry masked is a PMI, of the uncore or of the core PMU.
 * Handlers are registered while sampling events exist.  From then on every CPU of the
 * machine takes and claims PMIs, whether or not an event samples there: the UBox
 * interrupts all cores of a package, and an NMI that no handler claims may panic the
 * machine.  The first handler reads LVTPC, the last one, behind perf's, unmasks LVTPC
 * unless perf has.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "global.h"
#include "nmi.h"
#include "package.h"

#define UNC_LVT_MODE	(APIC_MODE_MASK | APIC_LVT_MASKED)
#define UNC_LVT_MASKED	(APIC_DM_NMI | APIC_LVT_MASKED)

/* An NMI that was latched during another NMI's handlers comes within this. */
#define UNC_LATCHED_NS	NSEC_PER_MSEC
/* Late PMIs are possible for this long after the last sampling event is closed. */
#define UNC_LATE_MS	2000

DEFINE_PER_CPU(struct unc_nmi, unc_nmi);

/* The package whose PMI is probed, and whether a CPU of the package got the PMI. */
static struct unc_package *unc_nmi_probed;
static bool unc_nmi_answer;

/* Sampling events, and other users of the handlers; guarded by the mutex. */
static DEFINE_MUTEX(unc_nmi_mutex);
static unsigned int unc_nmi_users;
static bool unc_nmi_registered;

/* --- LVTPC --------------------------------------------------------------- */

static bool unc_nmi_lvtpc_is_masked(void)
{
	return (apic->read(APIC_LVTPC) & UNC_LVT_MODE) == UNC_LVT_MASKED;
}

/**
 * unc_nmi_arm() - have this CPU take PMIs, as the kernel does when it uses a core PMU
 * @unused: not used
 *
 * Another program may have masked LVTPC: it is unmasked as well.
 *
 * Context: interrupts off, handlers registered.
 */
void unc_nmi_arm(void *unused)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);
	u32 lvtpc = apic->read(APIC_LVTPC);

	/* a masked entry of NMI mode is not to be masked again later */
	if (!nmi->armed)
		nmi->lvtpc = (lvtpc & UNC_LVT_MODE) == UNC_LVT_MASKED ?
			     APIC_DM_NMI : lvtpc;
	nmi->armed = true;
	if (lvtpc != APIC_DM_NMI)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/* Without handlers a PMI that came at the last moment has left the entry masked. */
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
 * Samples are made when interrupts are on again.  By then the stack of a kernel that
 * had interrupts off does not match @regs any more: its functions have returned, and
 * others have been called.  Without the stack perf's call chain is the interrupted
 * address and user space's callers.
 */
static void unc_nmi_keep_regs(struct unc_hit *hit, struct pt_regs *regs)
{
	hit->regs = *regs;
	if (regs_irqs_disabled(regs)) {
		hit->regs.sp = 0;
		hit->regs.bp = 0;
	}
}

/* Keep what this PMI interrupted, and queue the work that handles its overflow. */
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
 * This NMI was latched while the last one's handlers ran: a PMI that had masked LVTPC
 * before the handlers unmasked LVTPC.
 */
static bool unc_nmi_was_latched(struct unc_nmi *nmi, struct pt_regs *regs)
{
	u64 at = nmi->unmasked_at;

	nmi->unmasked_at = 0;
	return at && nmi->unmasked_ip == instruction_pointer(regs) &&
	       ktime_get_mono_fast_ns() - at < UNC_LATCHED_NS;
}

/*
 * The first handler.  Only CPUs on which events sample do work, others claim the PMI.
 * The work reads the global status, so an overflow whose PMI was dropped while LVTPC
 * was masked is found as well.
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

/* The last handler, after perf's, which unmasks LVTPC early, late or not at all. */
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
 * unc_nmi_take_hit() - take what the last PMI of this CPU interrupted
 * @hit: gets it
 *
 * The caller handles overflows only after this.  An NMI before the hit is taken needs
 * no hit of its own: the caller is about to read the status.  An NMI after that is
 * noted again.
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
	/* behind perf's handler, which is there from boot on */
	err = register_nmi_handler(NMI_LOCAL, unc_nmi_last, 0, UNC_NAME "_end");
	if (err) {
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
		return err;
	}
	WRITE_ONCE(unc_nmi_registered, true);
	/* a CPU that is not online yet arms itself: pairs with unc_nmi_online() */
	smp_mb();
	on_each_cpu(unc_nmi_arm, NULL, 1);
	return 0;
}

static void unc_nmi_unregister(void)
{
	WRITE_ONCE(unc_nmi_registered, false);
	/* a CPU that comes online after this is not armed: pairs with unc_nmi_online() */
	smp_mb();
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	on_each_cpu(unc_nmi_disarm, NULL, 1);
}

/* No event has sampled for a while. */
static void unc_nmi_idle(struct work_struct *work)
{
	mutex_lock(&unc_nmi_mutex);
	if (!unc_nmi_users && unc_nmi_registered)
		unc_nmi_unregister();
	mutex_unlock(&unc_nmi_mutex);
}

static DECLARE_DELAYED_WORK(unc_nmi_idle_work, unc_nmi_idle);

/**
 * unc_nmi_get() - have PMIs handled, for a sampling event that is opened
 *
 * Return: 0, or -ENOMEM; undone by unc_nmi_put().
 * Context: process.
 */
int unc_nmi_get(void)
{
	int err = 0;

	/* where no box signals, all are polled */
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
 * unc_nmi_put() - a sampling event is closed
 *
 * The handlers stay registered for a while, for PMIs that are on their way.
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
	/* an NMI that sees the package does not lose its answer */
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
 * unc_nmi_exit() - unregister the handlers, after PMIs that are on their way
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

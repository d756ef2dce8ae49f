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
#include <linux/delay.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "global.h"
#include "nmi.h"
#include "package.h"

#define UNC_LVT_MODE	(APIC_MODE_MASK | APIC_LVT_MASKED)
#define UNC_LVT_MASKED	(APIC_DM_NMI | APIC_LVT_MASKED)

/* A PMI that has masked LVTPC is an NMI within this, even on a CPU held up. */
#define UNC_COMING_NS	NSEC_PER_SEC
/* An NMI that was latched during another's handlers comes within this. */
#define UNC_LATCHED_NS	NSEC_PER_MSEC
/* Late PMIs are possible for this long after the last sampling event is closed. */
#define UNC_LATE_MS	2000

DEFINE_PER_CPU(struct unc_nmi, unc_nmi);

/* The package whose PMIs are being measured, and the CPUs that got one. */
static struct unc_package *unc_nmi_measured_pkg;
static struct cpumask *unc_nmi_answered;

/* Sampling events, and users of the handlers; guarded by the mutex. */
static DEFINE_MUTEX(unc_nmi_mutex);
static unsigned int unc_nmi_users;
static bool unc_nmi_registered;

/* --- LVTPC --------------------------------------------------------------- */

static bool unc_nmi_lvtpc_is_masked(void)
{
	return (apic->read(APIC_LVTPC) & UNC_LVT_MODE) == UNC_LVT_MASKED;
}

static void unc_nmi_lvtpc_unmask(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/*
 * LVTPC of a CPU that takes PMIs is masked.  The driver never leaves it so: a PMI is
 * on its way, unless that takes so long that another program must have masked it.
 */
static bool unc_nmi_is_coming(struct unc_nmi *nmi)
{
	u64 now = ktime_get_mono_fast_ns();

	if (!nmi->masked_since)
		WRITE_ONCE(nmi->masked_since, now);
	return now - nmi->masked_since < UNC_COMING_NS;
}

/*
 * Have this CPU take PMIs.  The kernel does this when it uses a core PMU.
 * Context: interrupts off.
 */
void unc_nmi_arm(void *unused)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);
	u32 lvtpc = apic->read(APIC_LVTPC);
	bool coming = nmi->armed &&
		      (lvtpc & UNC_LVT_MODE) == UNC_LVT_MASKED &&
		      unc_nmi_is_coming(nmi);

	/* the next mask that is found starts its own second */
	if (!coming)
		WRITE_ONCE(nmi->masked_since, 0);
	/* a PMI of the core PMU has masked it for now: it must not stay so */
	if (!nmi->armed)
		nmi->lvtpc = (lvtpc & UNC_LVT_MODE) == UNC_LVT_MASKED ?
			     APIC_DM_NMI : lvtpc;
	if (lvtpc != APIC_DM_NMI && !coming)
		unc_nmi_lvtpc_unmask();
	WRITE_ONCE(nmi->armed, true);
}

/* Without handlers a PMI that came at the last moment has left the entry masked. */
static void unc_nmi_lvtpc_restore(void *unused)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);

	if (nmi->armed && apic->read(APIC_LVTPC) != nmi->lvtpc)
		apic->write(APIC_LVTPC, nmi->lvtpc);
	nmi->armed = false;
}

/* --- NMI: MSRs and the local APIC only, no lock -------------------------- */

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
 * had them off does not match @regs any more: its functions have returned, and others
 * have been called.  Without it perf's call chain is the address that was hit, and
 * user space's, instead of whatever lies there.
 */
static void unc_nmi_keep_regs(struct unc_nmi *nmi, struct pt_regs *regs)
{
	nmi->hit.regs = *regs;
	if (regs_irqs_disabled(regs)) {
		nmi->hit.regs.sp = 0;
		nmi->hit.regs.bp = 0;
	}
}

static void unc_nmi_note(struct unc_nmi *nmi, struct pt_regs *regs, u64 status,
			 u32 freeze)
{
	if (!READ_ONCE(nmi->hit.pending)) {
		nmi->hit.own = unc_nmi_is_own(nmi, regs);
		if (!nmi->hit.own)
			unc_nmi_keep_regs(nmi, regs);
		nmi->hit.task = current;
		nmi->hit.status = status;
		nmi->hit.freeze = freeze;
		nmi->hit.stamp = ktime_get_mono_fast_ns();
		WRITE_ONCE(nmi->hit.pending, true);
	}
	irq_work_queue(&nmi->work);
}

/* Note an overflow, if there is one; returns whether. */
static bool unc_nmi_look(struct unc_overflow *ov, struct unc_nmi *nmi,
			 struct pt_regs *regs)
{
	u32 freeze = READ_ONCE(ov->freeze);
	u64 status;

	/* a later freeze's status must not be taken for this one's; see handle() */
	smp_rmb();
	status = unc_global_status();
	if (status)
		unc_nmi_note(nmi, regs, status, freeze);
	return status;
}

/*
 * This NMI was latched while the last one's handlers ran: a PMI that had masked LVTPC
 * before they unmasked it.
 */
static bool unc_nmi_was_latched(struct unc_nmi *nmi, struct pt_regs *regs)
{
	u64 at = nmi->unmasked_at;

	nmi->unmasked_at = 0;
	return at && nmi->unmasked_ip == instruction_pointer(regs) &&
	       ktime_get_mono_fast_ns() - at < UNC_LATCHED_NS;
}

/* One that is late finds no status: it is claimed, but does not answer. */
static int unc_nmi_measured(const struct unc_nmi *nmi)
{
	if (nmi->is_pmi && unc_global_status())
		cpumask_set_cpu(smp_processor_id(), unc_nmi_answered);
	return nmi->is_pmi ? NMI_HANDLED : NMI_DONE;
}

/* The first handler. */
static int unc_nmi_first(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);
	struct unc_overflow *ov;

	nmi->is_pmi = false;
	WRITE_ONCE(nmi->masked_since, 0);
	if (!pkg || !nmi->armed)
		return NMI_DONE;
	ov = &pkg->overflow;
	nmi->is_pmi = unc_nmi_lvtpc_is_masked() || unc_nmi_was_latched(nmi, regs);
	if (READ_ONCE(unc_nmi_measured_pkg) == pkg)
		return unc_nmi_measured(nmi);
	if (!READ_ONCE(ov->watch.on))
		return NMI_DONE;
	if (!unc_nmi_look(ov, nmi, regs) && nmi->is_pmi)
		atomic64_inc(&pkg->stats.late);
	return nmi->is_pmi ? NMI_HANDLED : NMI_DONE;
}

/*
 * The last handler, after perf's, which unmasks LVTPC early or late, as its counters
 * require.  In either case a PMI may have been dropped while the entry was masked.
 */
static int unc_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct unc_nmi *nmi = this_cpu_ptr(&unc_nmi);
	struct unc_package *pkg;

	if (!nmi->is_pmi)
		return NMI_DONE;
	if (unc_nmi_lvtpc_is_masked()) {
		unc_nmi_lvtpc_unmask();
		nmi->unmasked_ip = instruction_pointer(regs);
		nmi->unmasked_at = ktime_get_mono_fast_ns();
	}
	pkg = unc_package_of_cpu(smp_processor_id());
	if (READ_ONCE(pkg->overflow.watch.on) &&
	    READ_ONCE(unc_nmi_measured_pkg) != pkg && !READ_ONCE(nmi->hit.pending))
		unc_nmi_look(&pkg->overflow, nmi, regs);
	return NMI_DONE;
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
	if (err)
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	else
		unc_nmi_registered = true;
	return err;
}

static void unc_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME "_end");
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	unc_nmi_registered = false;
	on_each_cpu(unc_nmi_lvtpc_restore, NULL, 1);
}

static void unc_nmi_lvtpc_check(void *masked)
{
	if (this_cpu_read(unc_nmi.armed) && unc_nmi_lvtpc_is_masked())
		WRITE_ONCE(*(bool *)masked, true);
}

/*
 * Wait for PMIs that are on their way.  While one has been delivered and not been
 * handled, LVTPC is masked.  Returns false when some CPU's LVTPC stays masked.
 * Context: process.
 */
static bool unc_nmi_settle(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		bool masked = false;

		usleep_range(5000, 6000);
		on_each_cpu(unc_nmi_lvtpc_check, &masked, 1);
		if (!masked)
			return true;
	}
	return false;
}

/* Nothing has sampled for a while. */
static void unc_nmi_idle(struct work_struct *work)
{
	mutex_lock(&unc_nmi_mutex);
	if (!unc_nmi_users && unc_nmi_registered && unc_nmi_settle())
		unc_nmi_unregister();
	mutex_unlock(&unc_nmi_mutex);
}

static DECLARE_DELAYED_WORK(unc_nmi_idle_work, unc_nmi_idle);

/*
 * A sampling event is opened: have its PMIs handled.  Returns 0, or -ENOMEM; undone by
 * unc_nmi_put().
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

/* A sampling event is closed.  Context: process. */
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

/* Note in @answered which CPUs of a package get PMIs; nothing counts there. */
void unc_nmi_measure_begin(struct unc_package *pkg, struct cpumask *answered)
{
	unc_nmi_answered = answered;
	/* an NMI that sees the package finds the mask as well */
	smp_wmb();
	WRITE_ONCE(unc_nmi_measured_pkg, pkg);
}

/* Go back to handling PMIs. */
void unc_nmi_measure_end(void)
{
	unc_nmi_settle();
	WRITE_ONCE(unc_nmi_measured_pkg, NULL);
}

/*
 * Unregister the handlers, after PMIs that are on their way.
 * Context: process; no event is left, and the boxes are reset.
 */
void unc_nmi_exit(void)
{
	cancel_delayed_work_sync(&unc_nmi_idle_work);
	if (!unc_nmi_registered)
		return;
	msleep(50);
	unc_nmi_settle();
	unc_nmi_unregister();
}

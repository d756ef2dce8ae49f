// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling: from a counter's overflow to perf's samples.
 *
 * A box that can signal (§2.1.1) freezes all boxes of its package and has the
 * UBox send a PMI.  The NMI handler keeps the registers and queues an irq_work;
 * that one finds the counters, reloads them, clears the status, unfreezes
 * (§2.1.4) and delivers the samples.  In between nobody counts, so the way from
 * overflow to unfreeze has as few register accesses as can be.
 *
 * Boxes that cannot signal are polled by the package's timer.  Either way
 * samples are due by the counter's value and not by status bits, so none is
 * lost or doubled, whoever looks first and however often.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sched/task_stack.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#include "xeon_uncore.h"
#include "compat.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * Serving overflows takes at most about half of the time: a package that has
 * used up this much more (ns) than it has left idle stays frozen for as long.
 */
#define UNC_MAX_CREDIT	(5 * (s64)NSEC_PER_MSEC)

/* How often the timer looks. */
#define UNC_POLL_NS	NSEC_PER_MSEC		/* boxes that cannot signal */
#define UNC_WATCH_NS	(20 * NSEC_PER_MSEC)	/* for signals that got lost */
/* A PMI that comes this much after its overflow was served is not expected. */
#define UNC_LATE_NS	NSEC_PER_SEC

/**
 * struct unc_pmi - a CPU's way from NMI to samples
 * @work: does what an NMI must not
 * @csd: asks this CPU to deliver its events' samples
 * @regs: registers of what the NMI interrupted, while @pending
 * @status: global status as the NMI handler saw it
 * @stamp: when that was
 * @noted: the freeze to which @status belongs
 * @pending: @work is queued and the three above are valid, but for @regs when
 *	@serving was found
 * @serving: this CPU serves overflows or delivers samples
 * @own: the NMI interrupted that, and not what samples are about
 */
struct unc_pmi {
	struct irq_work work;
	call_single_data_t csd;
	struct pt_regs regs;
	u64 status;
	u64 stamp;
	u32 noted;
	bool pending;
	bool serving;
	bool own;
};

static DEFINE_PER_CPU(struct unc_pmi, unc_pmi);
static unc_overflow_fn unc_deliver_sample;

static u64 unc_global_bits(const struct unc_box *box)
{
	return box->type->global ? box->type->global[box->index] :
				   box->type->global_bits;
}

static u64 unc_global_status(void)
{
	u64 status;

	rdmsrl(unc.gen->global_status, status);
	return status;
}

/* --- one slot ------------------------------------------------------------ */

/**
 * unc_sampling_arm() - set a counter to overflow when its next sample is due
 * @box: the box, locked
 * @slot: the slot; its counter stands still
 */
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot)
{
	u64 mask = GENMASK_ULL(unc_counter_bits(box, slot->ctr) - 1, 0);
	/* one that is due already, but not accounted, comes at once */
	u64 left = clamp_t(s64, slot->next - slot->total, 1, mask);

	slot->stamp = ktime_get_mono_fast_ns();
	slot->raw = (mask + 1 - left) & mask;
	unc_write_counter(box, slot->ctr, slot->raw);
}

static u64 unc_period(const struct perf_event *event)
{
	return max_t(u64, event->hw.sample_period, 1);
}

/* Note the samples that became due; the slot is up to date. */
static bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
				 u64 frozen_ns)
{
	u64 period = unc_period(slot->event);
	u64 weight, n = 1;

	if ((s64)(slot->total - slot->next) < 0)
		return false;
	if (slot->event->attr.freq) {
		/* its period changes while it lasts: one sample for all of it */
		weight = slot->total - slot->last;
		slot->next = slot->total + period;
		slot->last = slot->total;
	} else {
		n += div64_u64(slot->total - slot->next, period);
		weight = n * period;
		slot->next += weight;
	}
	slot->due += n;
	slot->weight += weight;
	atomic64_add(n, &box->pkg->overflow.count);
	trace_overflow(box->name, slot->ctr, box->pkg->phys_id,
		       div64_u64(weight, n), frozen_ns);
	return true;
}

/**
 * unc_sampling_deliver() - hand samples to perf
 * @event: the event
 * @due: how many samples
 * @weight: the sum of their periods
 * @regs: where the event's CPU was
 *
 * Context: on the event's CPU, interrupts off, no lock of a box held.
 */
void unc_sampling_deliver(struct perf_event *event, u64 due, u64 weight,
			  struct pt_regs *regs)
{
	struct perf_sample_data data;
	u64 period;

	for (; due; due--) {
		period = div64_u64(weight, due);
		weight -= period;
		event->hw.last_period = period;
		unc_pace_hide_time(event);
		perf_sample_data_init(&data, 0, period);
		if (!unc_deliver_sample(event, &data, regs))
			continue;
		/* throttled: it is started again later, these are gone */
		event->pmu->stop(event, 0);
		break;
	}
}

/* --- a package's overflows ----------------------------------------------- */

/* The bit of this CPU's core in the global control register (§2.1.5.1). */
static unsigned int unc_core(void)
{
	unsigned int core = topology_core_id(smp_processor_id());

	/* on a part with more, any core will do: samples are carried over */
	return core < UNC_MAX_CORES && (BIT(core) & unc.gen->cores) ? core : 0;
}

/* @n PMIs are still on their way; interrupts are off. */
static void unc_owe(struct unc_overflow *ov, int n, u64 now)
{
	if ((s64)(now - ov->owed_until) > 0)
		atomic_set(&ov->owed, 0);
	WRITE_ONCE(ov->owed_until, now + UNC_LATE_NS);
	atomic_add(n, &ov->owed);
}

/* Is an NMI without a status one of those? */
static bool unc_was_owed(struct unc_overflow *ov, u64 now)
{
	return (s64)(READ_ONCE(ov->owed_until) - now) > 0 &&
	       atomic_dec_if_positive(&ov->owed) >= 0;
}

/*
 * Expect a PMI of each selected core, also of those that come too late to find a
 * status, except where it has come.  Both threads of a core may get it.  Too many
 * is no harm: they are forgotten when the time is up.
 */
static void unc_expect(struct unc_overflow *ov, u32 cores)
{
	const struct cpumask *threads = topology_sibling_cpumask(smp_processor_id());
	unsigned int core, missing = 0;

	for (core = 0; core < UNC_MAX_CORES; core++) {
		if ((cores & BIT(core)) &&
		    READ_ONCE(ov->came[core]) != ov->freeze)
			missing++;
	}
	if (missing)
		unc_owe(ov, missing * cpumask_weight(threads),
			ktime_get_mono_fast_ns());
}

/* All boxes count again; @ov->select_lock is held. */
static void unc_unfreeze(struct unc_overflow *ov, u64 since)
{
	wrmsrl(unc.gen->global_ctl, ov->ctl | unc.gen->unfreeze);
	ov->thaw_at = 0;
	ov->served = ktime_get_mono_fast_ns();
	atomic64_add(ov->served - since, &ov->frozen_ns);
}

/*
 * An overflow that began at @since is served, but for the unfreezing.  Do that
 * now, or leave it to the timer when overflows follow one another so fast that
 * the machine would do nothing else.  Counters lose nothing by it that a freeze
 * an overflow would not cost them anyway.
 */
static void unc_end_freeze(struct unc_package *pkg, u64 since)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();

	/* a CPU that was held up once owes no more for it than a busy one */
	ov->credit = clamp_t(s64, ov->credit + (since - ov->served),
			     -UNC_MAX_CREDIT, UNC_MAX_CREDIT);
	ov->credit -= now - since;
	/* the last event may have gone, and with it the timer */
	if (ov->credit > -UNC_MAX_CREDIT || !atomic_read(&ov->signalled)) {
		unc_unfreeze(ov, since);
		return;
	}
	ov->thaw_at = now + UNC_MAX_CREDIT;
	ov->frozen_at = since;
	ov->credit = 0;
	unc_timer_soon(pkg);
}

/*
 * Serve a frozen package, or one that turns out to have been served already.
 * @status: global status, @since: when it froze.  Interrupts are off.
 */
static void unc_serve(struct unc_package *pkg, u64 status, u64 since)
{
	struct unc_overflow *ov = &pkg->overflow;
	unsigned int b, i;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];
		unsigned long flags;

		/* boxes share bits; only one with samplers has set its own */
		if (!box || !box->type->signals || !READ_ONCE(box->samplers) ||
		    !(unc_global_bits(box) & status))
			continue;
		flags = unc_lock(box);
		box->still = true;
		for (i = 0; i < UNC_MAX_COUNTERS && box->samplers; i++) {
			struct unc_slot *slot = &box->slot[i];

			if (!slot->users || !slot->event)
				continue;
			unc_box_refresh(box, slot);
			if (unc_sampling_account(box, slot,
						 ktime_get_mono_fast_ns() -
						 since))
				unc_sampling_arm(box, slot);
		}
		box->still = false;
		unc_clear_status(box);
		unc_unlock(box, flags);
	}
	raw_spin_lock(&ov->select_lock);
	/* whoever finds no status any more must find that it was expected */
	unc_expect(ov, ov->ctl & unc.gen->cores);
	wrmsrl(unc.gen->global_status, status);
	/* not before the status is gone; unc_nmi() */
	smp_wmb();
	WRITE_ONCE(ov->freeze, ov->freeze + 1);
	unc_end_freeze(pkg, since);
	raw_spin_unlock(&ov->select_lock);
}

/* What unc_deliver() has to do for a slot. */
struct unc_todo {
	struct perf_event *event;	/* none: nothing */
	bool resume;			/* start it, it was throttled */
	u64 due, weight;		/* else deliver these samples */
};

/* On this CPU, that is; another CPU is asked to look for itself. */
static void unc_take_due(struct unc_box *box, struct unc_slot *slot,
			 struct unc_todo *todo)
{
	u64 now = ktime_get_mono_fast_ns();
	unsigned long flags;
	int cpu = -1;

	todo->event = NULL;
	flags = unc_lock(box);
	if (!slot->users || !slot->event)
		goto out;
	/* perf would lose sight of a throttled one that overflows */
	todo->resume = slot->event->hw.state & PERF_HES_STOPPED;
	if (todo->resume ? !unc_pace_may_resume(slot, now) : !slot->due)
		goto out;
	cpu = READ_ONCE(slot->event->oncpu);
	if (cpu != smp_processor_id())
		goto out;
	cpu = -1;
	todo->event = slot->event;
	unc_pace_interrupts(slot, now);
	if (todo->resume)
		goto out;
	todo->due = slot->due;
	todo->weight = slot->weight;
	slot->due = 0;
	slot->weight = 0;
	unc_event_catch_up(slot->event, slot);
out:
	unc_unlock(box, flags);
	/* busy: that CPU has not begun yet and will see these as well */
	if (cpu >= 0)
		smp_call_function_single_async(cpu,
					       &per_cpu(unc_pmi, cpu).csd);
}

/*
 * Deliver the samples of this CPU's events, and ask other CPUs to deliver
 * theirs.  Hard interrupt context: an event of this CPU cannot go away.
 */
static void unc_deliver(struct unc_package *pkg, struct pt_regs *regs)
{
	struct unc_todo todo;
	unsigned int b, i;

	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (!box || !READ_ONCE(box->samplers))
			continue;
		for (i = 0; i < UNC_MAX_COUNTERS; i++) {
			unc_take_due(box, &box->slot[i], &todo);
			if (!todo.event)
				continue;
			if (todo.resume)
				todo.event->pmu->start(todo.event, 0);
			else
				unc_sampling_deliver(todo.event, todo.due,
						     todo.weight, regs);
		}
	}
}

/**
 * unc_present_regs() - where this CPU is, when no NMI has kept it
 * @here: room for registers
 *
 * Not all interrupts leave their registers to be found.  Then it is where the
 * task left user space, and here for a task that never was there.
 */
struct pt_regs *unc_present_regs(struct pt_regs *here)
{
	if (get_irq_regs())
		return get_irq_regs();
	if (!(current->flags & PF_KTHREAD))
		return task_pt_regs(current);
	perf_fetch_caller_regs(here);
	return here;
}

/* An NMI that comes from here on does not take our registers for a sample. */
static void unc_serving(bool on)
{
	this_cpu_write(unc_pmi.serving, on);
	barrier();
}

/* The first one to come serves the hardware, every one its own events. */
static void unc_pmi_work(struct irq_work *work)
{
	struct unc_pmi *pmi = container_of(work, struct unc_pmi, work);
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_overflow *ov = &pkg->overflow;
	bool noted = pmi->pending;
	struct pt_regs here;
	u64 status, since;

	unc_serving(true);
	raw_spin_lock(&ov->lock);
	/* what the NMI handler saw holds unless somebody served it since */
	if (noted && pmi->noted == ov->freeze) {
		status = pmi->status;
		since = pmi->stamp;
	} else {
		status = unc_global_status();
		since = ktime_get_mono_fast_ns();
	}
	if (status)
		unc_serve(pkg, status, since);
	raw_spin_unlock(&ov->lock);
	since = ktime_get_mono_fast_ns();
	unc_deliver(pkg, noted && !pmi->own ? &pmi->regs :
					      unc_present_regs(&here));
	raw_spin_lock(&ov->select_lock);
	ov->credit -= ktime_get_mono_fast_ns() - since;
	raw_spin_unlock(&ov->select_lock);
	if (noted)
		WRITE_ONCE(pmi->pending, false);
	unc_serving(false);
}

/* Asked by another CPU of the package. */
static void unc_pmi_carried(void *data)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct pt_regs here;

	if (!pkg)
		return;
	unc_serving(true);
	unc_deliver(pkg, unc_present_regs(&here));
	unc_serving(false);
}

/* Has an NMI interrupted our own interrupt handlers? */
static bool unc_is_own(const struct unc_pmi *pmi, struct pt_regs *regs)
{
	/* an NMI counts as a hard interrupt itself */
	return pmi->serving ||
	       (hardirq_count() > HARDIRQ_OFFSET &&
		within_module(instruction_pointer(regs), THIS_MODULE));
}

/*
 * NMI context: MSRs only, no lock.  Returns at once while nobody samples.  A
 * PMI that is late, because somebody served its overflow before it came, is
 * still ours.
 */
static int unc_nmi(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());
	struct unc_pmi *pmi = this_cpu_ptr(&unc_pmi);
	struct unc_overflow *ov;
	u64 now, status;
	u32 freeze;

	if (!pkg)
		return NMI_DONE;
	ov = &pkg->overflow;
	if (!atomic_read(&ov->signalled) && !atomic_read(&ov->owed))
		return NMI_DONE;
	now = ktime_get_mono_fast_ns();
	freeze = READ_ONCE(ov->freeze);
	/* a later freeze's status must not pass for this one's; unc_serve() */
	smp_rmb();
	status = unc_global_status();
	if (!status)
		return unc_was_owed(ov, now) ? NMI_HANDLED : NMI_DONE;
	WRITE_ONCE(ov->came[unc_core()], freeze);
	if (!READ_ONCE(pmi->pending)) {
		pmi->own = unc_is_own(pmi, regs);
		if (!pmi->own)
			pmi->regs = *regs;
		pmi->status = status;
		pmi->noted = freeze;
		pmi->stamp = now;
		WRITE_ONCE(pmi->pending, true);
	}
	irq_work_queue(&pmi->work);
	/* the local APIC masks the entry when it delivers */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	return NMI_HANDLED;
}

/* NMI context; only called when nobody has claimed the NMI. */
static int unc_nmi_unknown(unsigned int type, struct pt_regs *regs)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());

	if (pkg && atomic_read(&pkg->overflow.signalled))
		atomic64_inc(&pkg->overflow.spurious);
	return NMI_DONE;
}

/* Account the samples of a box that nothing has signalled. */
static void unc_poll_slot(struct unc_box *box, struct unc_slot *slot)
{
	bool nearer;

	unc_box_refresh(box, slot);
	nearer = unc_pace(slot, unc_counter_bits(box, slot->ctr));
	if (!nearer && (s64)(slot->total - slot->next) < 0)
		return;
	if (!box->type->signals) {
		unc_sampling_account(box, slot, 0);
		return;
	}
	/* a counter that signals is set again, standing still */
	unc_box_freeze(box);
	unc_box_refresh(box, slot);
	unc_sampling_account(box, slot, 0);
	unc_sampling_arm(box, slot);
	unc_box_thaw(box);
}

static void unc_poll_box(struct unc_box *box)
{
	unsigned long flags;
	unsigned int i;

	flags = unc_lock(box);
	for (i = 0; i < UNC_MAX_COUNTERS; i++) {
		struct unc_slot *slot = &box->slot[i];

		if (slot->users && slot->event && !box->ctr[slot->ctr].dirty)
			unc_poll_slot(box, slot);
	}
	unc_unlock(box, flags);
}

/**
 * unc_overflow_poll() - what the package's timer does for sampling
 * @pkg: the package
 *
 * Polls boxes that cannot signal; and less often looks for overflows whose
 * status or PMI got lost.
 *
 * Context: hard interrupt, on a CPU of the package.
 * Return: nanoseconds until it should be called again, U64_MAX for never.
 */
u64 unc_overflow_poll(struct unc_package *pkg)
{
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();
	struct pt_regs here;
	u64 before, status;
	bool watch;
	unsigned int b;

	if (!atomic_read(&ov->polled) && !atomic_read(&ov->signalled))
		return U64_MAX;
	unc_serving(true);
	raw_spin_lock(&ov->lock);
	before = atomic64_read(&ov->count);
	raw_spin_lock(&ov->select_lock);
	if (ov->thaw_at && (s64)(now - ov->thaw_at) >= 0)
		unc_unfreeze(ov, ov->frozen_at);
	raw_spin_unlock(&ov->select_lock);
	watch = atomic_read(&ov->signalled) && now - ov->watched >= UNC_WATCH_NS;
	if (watch) {
		ov->watched = now;
		status = unc_global_status();
		if (status)
			unc_serve(pkg, status, now);
	}
	for (b = 0; b < unc.boxes_per_package; b++) {
		struct unc_box *box = pkg->boxes[b];

		if (box && READ_ONCE(box->samplers) &&
		    (watch || !box->type->signals))
			unc_poll_box(box);
	}
	atomic64_add(atomic64_read(&ov->count) - before, &ov->timer_served);
	raw_spin_unlock(&ov->lock);
	unc_deliver(pkg, unc_present_regs(&here));
	unc_serving(false);
	if (!atomic_read(&ov->polled) && !READ_ONCE(ov->thaw_at))
		return UNC_WATCH_NS;
	/* this too takes at most half of the time */
	return max_t(u64, UNC_POLL_NS, ktime_get_mono_fast_ns() - now);
}

/* --- events come and go -------------------------------------------------- */

/**
 * unc_sampling_check() - can this event be sampled?
 * @event: the event, which has a sample period
 * @box: its box
 * @slot: what it asks of the box
 *
 * Return: 0, or what open returns.
 */
int unc_sampling_check(const struct perf_event *event,
		       const struct unc_box *box, const struct unc_slot *slot)
{
	const u64 impossible = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_WEIGHT_TYPE |
			       PERF_SAMPLE_TRANSACTION |
			       PERF_SAMPLE_PHYS_ADDR |
			       PERF_SAMPLE_DATA_PAGE_SIZE;

	if (!unc_deliver_sample || event->attr.precise_ip ||
	    (event->attr.sample_type & impossible))
		return -EOPNOTSUPP;
	/* free-running counters cannot be set, nor stopped */
	if (slot->allowed & GENMASK(UNC_MAX_COUNTERS - 1, UNC_FREERUN0))
		return -EINVAL;
	if (!event->attr.freq && event->attr.sample_period >
	    GENMASK_ULL(unc_counter_bits(box, __ffs(slot->allowed)) - 1, 0))
		return -EINVAL;
	return 0;
}

/* Whom to interrupt has changed. */
static void unc_select_cores(struct unc_overflow *ov)
{
	u32 ctl = 0;
	unsigned int i;

	for (i = 0; i < UNC_MAX_CORES; i++) {
		if (ov->core_users[i])
			ctl |= BIT(i);
	}
	if (ctl)
		ctl |= unc.gen->wake;
	if (ctl != ov->ctl)
		wrmsrl(unc.gen->global_ctl, ctl);
	ov->ctl = ctl;
}

/**
 * unc_sampling_restart() - go on from what is left of the event's period
 * @slot: the slot, up to date
 */
void unc_sampling_restart(struct unc_slot *slot)
{
	struct hw_perf_event *hwc = &slot->event->hw;
	s64 left = local64_read(&hwc->period_left);

	/* perf sets it to 0 where it wants a new period */
	if (left <= 0)
		left = unc_period(slot->event);
	slot->next = slot->total + left;
	slot->last = slot->next - max_t(u64, unc_period(slot->event), left);
}

/**
 * unc_sampling_stop() - keep what is left of the event's period
 * @box: the box, locked
 * @slot: the slot, stopped and up to date
 *
 * What is due is noted first, and delivered later.
 */
void unc_sampling_stop(struct unc_box *box, struct unc_slot *slot)
{
	unc_sampling_account(box, slot, 0);
	local64_set(&slot->event->hw.period_left, slot->next - slot->total);
}

/**
 * unc_sampling_add() - an event that samples gets its slot
 * @box: the box, locked and frozen
 * @slot: the slot
 * @event: the event
 *
 * Context: on the event's CPU.
 */
void unc_sampling_add(struct unc_box *box, struct unc_slot *slot,
		      struct perf_event *event)
{
	struct unc_overflow *ov = &box->pkg->overflow;

	unc_sampling_restart(slot);
	unc_pace_begin(slot);
	/* counters that do not sample may have left bits since */
	if (!box->samplers++ && box->type->signals)
		unc_clear_status(box);
	if (box->type->signals) {
		raw_spin_lock(&ov->select_lock);
		atomic_inc(&ov->signalled);
		event->hw.last_cpu = unc_core();
		ov->core_users[event->hw.last_cpu]++;
		unc_select_cores(ov);
		raw_spin_unlock(&ov->select_lock);
	} else {
		atomic_inc(&ov->polled);
	}
	unc_timer_soon(box->pkg);
}

/**
 * unc_sampling_del() - an event that samples is about to lose its slot
 * @box: the box, locked and frozen
 * @slot: the slot, up to date
 *
 * Its overflow may be on the way: the package may be frozen for it, the PMI not
 * yet here.  That is served in any case.
 *
 * Context: on the event's CPU.
 */
void unc_sampling_del(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_overflow *ov = &box->pkg->overflow;
	struct perf_event *event = slot->event;
	bool pending;

	/* one that had stopped has been through this */
	if (!(event->hw.state & PERF_HES_STOPPED))
		unc_sampling_stop(box, slot);
	box->samplers--;
	if (!box->type->signals) {
		atomic_dec(&ov->polled);
		return;
	}
	raw_spin_lock(&ov->select_lock);
	pending = unc_global_status();
	/* once its core is no longer selected, nobody would expect its PMI */
	if (pending && ov->core_users[event->hw.last_cpu] == 1)
		unc_expect(ov, BIT(event->hw.last_cpu));
	ov->core_users[event->hw.last_cpu]--;
	unc_select_cores(ov);
	if (atomic_dec_and_test(&ov->signalled) && ov->thaw_at)
		unc_unfreeze(ov, ov->frozen_at);
	raw_spin_unlock(&ov->select_lock);
	if (pending)
		irq_work_queue(&this_cpu_ptr(&unc_pmi)->work);
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_overflow_package_init() - prepare a package for sampling
 * @pkg: the package
 */
void unc_overflow_package_init(struct unc_package *pkg)
{
	raw_spin_lock_init(&pkg->overflow.lock);
	raw_spin_lock_init(&pkg->overflow.select_lock);
	/* not the 0 that a CPU's last PMI was for */
	pkg->overflow.freeze = 1;
}

/**
 * unc_overflow_init() - make ready for overflow interrupts
 *
 * Return: 0 or a negative errno.
 */
int unc_overflow_init(void)
{
	unsigned int cpu;
	int err;

	unc_deliver_sample = unc_find_overflow();
	if (!unc_deliver_sample)
		pr_warn("this kernel hides perf_event_overflow() (no kprobes?): events can be counted, not sampled\n");
	for_each_possible_cpu(cpu) {
		struct unc_pmi *pmi = &per_cpu(unc_pmi, cpu);

		pmi->work = IRQ_WORK_INIT_HARD(unc_pmi_work);
		INIT_CSD(&pmi->csd, unc_pmi_carried, NULL);
	}
	err = register_nmi_handler(NMI_LOCAL, unc_nmi, 0, UNC_NAME);
	if (err)
		return err;
	err = register_nmi_handler(NMI_UNKNOWN, unc_nmi_unknown, 0, UNC_NAME);
	if (err)
		unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	return err;
}

/**
 * unc_overflow_exit() - no more overflow interrupts
 *
 * Context: process; no event is left.
 */
void unc_overflow_exit(void)
{
	unsigned int cpu, i;

	/* a PMI that is on its way must still find us */
	for (i = 0; i < unc.num_packages; i++) {
		struct unc_overflow *ov = &unc.packages[i].overflow;

		while (atomic_read(&ov->owed) &&
		       (s64)(ov->owed_until - ktime_get_mono_fast_ns()) > 0)
			msleep(20);
	}
	unregister_nmi_handler(NMI_UNKNOWN, UNC_NAME);
	unregister_nmi_handler(NMI_LOCAL, UNC_NAME);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(unc_pmi, cpu).work);
}

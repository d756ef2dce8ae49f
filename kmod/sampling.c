// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that sample: when their next sample is due, what happens when they come
 * and go, and how their samples get to perf.  overflow.c finds the counters that
 * overflowed, pmi.c is the interrupt.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "xeon_uncore.h"
#include "compat.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * perf's functions for drivers of core PMUs, which no kernel exports to modules
 * yet.  Without the first two there is no sampling.
 */
static unc_overflow_fn unc_deliver_sample;
static unc_tick_fn unc_perf_tick;
static unc_took_fn unc_sample_took;

/* When perf's tick was last done for it on an idle CPU. */
static DEFINE_PER_CPU(u64, unc_ticked);

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

/**
 * unc_sampling_account() - note the samples that became due
 * @box: the box, locked
 * @slot: the slot, up to date
 * @frozen_ns: for how long its overflow has kept the package frozen
 *
 * Return: whether any did.
 */
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
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

/* --- delivery ------------------------------------------------------------ */

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
	u64 period, before;

	for (; due; due--) {
		before = local_clock();
		period = div64_u64(weight, due);
		weight -= period;
		event->hw.last_period = period;
		unc_pace_hide_time(event);
		perf_sample_data_init(&data, 0, period);
		if (unc_deliver_sample(event, &data, regs)) {
			/* throttled: perf starts it again, these are gone */
			event->pmu->stop(event, 0);
			break;
		}
		/* perf lowers its limit when samples take too long */
		if (unc_sample_took)
			unc_sample_took(local_clock() - before);
	}
}

/*
 * perf counts an event's samples by the scheduler's tick, and lets a throttled
 * one go on in the next.  An idle CPU has no tick, and the uncore does not idle
 * with it: then it is done from here, as often.  Where the tick goes on while it
 * idles, perf's limit may be passed twice.
 */
static void unc_tick(u64 now)
{
	u64 *ticked = this_cpu_ptr(&unc_ticked);

	if (!is_idle_task(current) || now - *ticked < TICK_NSEC)
		return;
	*ticked = now;
	unc_perf_tick();
}

/* What there is to deliver for a slot. */
struct unc_todo {
	struct perf_event *event;
	u64 due, weight;
};

/* Take what is due on this CPU; @others gets the CPUs that have some as well. */
static unsigned int unc_take_due(struct unc_box *box, struct unc_todo *todo,
				 struct cpumask *others)
{
	unsigned int i, n = 0;
	unsigned long flags;
	int cpu;

	flags = unc_lock(box);
	for (i = 0; i < UNC_MAX_COUNTERS && box->samplers; i++) {
		struct unc_slot *slot = &box->slot[i];

		/* one that was stopped meanwhile keeps its own for later */
		if (!slot->users || !slot->event || !slot->due ||
		    (slot->event->hw.state & PERF_HES_STOPPED))
			continue;
		cpu = READ_ONCE(slot->event->oncpu);
		if (cpu != smp_processor_id()) {
			if (cpu >= 0)
				cpumask_set_cpu(cpu, others);
			continue;
		}
		todo[n++] = (struct unc_todo){
			.event = slot->event,
			.due = slot->due,
			.weight = slot->weight,
		};
		slot->due = 0;
		slot->weight = 0;
		unc_event_catch_up(slot->event, slot);
	}
	unc_unlock(box, flags);
	return n;
}

/* Interrupts are off: one for each CPU is enough. */
static DEFINE_PER_CPU(cpumask_t, unc_others);

/**
 * unc_deliver() - deliver the samples of this CPU's events, and ask other CPUs
 * to deliver theirs
 * @pkg: the package of this CPU
 * @regs: where this CPU was
 *
 * Context: hard interrupt: an event of this CPU cannot go away.
 * Return: for how long (ns) that has kept this CPU busy.
 */
u64 unc_deliver(struct unc_package *pkg, struct pt_regs *regs)
{
	struct cpumask *others = this_cpu_ptr(&unc_others);
	u64 start = ktime_get_mono_fast_ns();
	struct unc_todo todo[UNC_MAX_COUNTERS];
	unsigned int b, i, n, cpu;

	if (bitmap_empty(pkg->samplers, unc.boxes_per_package))
		return 0;
	unc_tick(start);
	cpumask_clear(others);
	for_each_set_bit(b, pkg->samplers, unc.boxes_per_package) {
		n = unc_take_due(pkg->boxes[b], todo, others);
		for (i = 0; i < n; i++)
			unc_sampling_deliver(todo[i].event, todo[i].due,
					     todo[i].weight, regs);
	}
	for_each_cpu(cpu, others)
		unc_pmi_carry(cpu);
	return ktime_get_mono_fast_ns() - start;
}

/* --- events come and go -------------------------------------------------- */

/**
 * unc_period_fits() - can a counter count that far?
 * @box: the box
 * @slot: what is counted
 * @period: events
 */
bool unc_period_fits(const struct unc_box *box, const struct unc_slot *slot,
		     u64 period)
{
	unsigned int bits = unc_counter_bits(box, __ffs(slot->allowed));

	return period <= GENMASK_ULL(bits - 1, 0);
}

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
	/*
	 * What only a core knows.  And the size of the instruction's page: perf
	 * walks page tables for it as a user's, and since Linux 6.5 it goes on for
	 * ever, in the interrupt, where an entry is one that only the kernel's
	 * tables have.
	 */
	const u64 impossible = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_WEIGHT_TYPE |
			       PERF_SAMPLE_TRANSACTION |
			       PERF_SAMPLE_PHYS_ADDR |
			       PERF_SAMPLE_DATA_PAGE_SIZE |
			       PERF_SAMPLE_CODE_PAGE_SIZE;

	if (!unc_deliver_sample || event->attr.precise_ip ||
	    (event->attr.sample_type & impossible))
		return -EOPNOTSUPP;
	/* free-running counters cannot be set, nor stopped */
	if (slot->allowed & GENMASK(UNC_MAX_COUNTERS - 1, UNC_FREERUN0))
		return -EINVAL;
	if (!event->attr.freq &&
	    !unc_period_fits(box, slot, event->attr.sample_period))
		return -EINVAL;
	return 0;
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

static unsigned int unc_place_of(const struct unc_box *box)
{
	return unc_box_place(box->pkg, box->type, box->index) - box->pkg->boxes;
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
	u64 now = ktime_get_mono_fast_ns();

	slot->arm = unc_sampling_arm;
	unc_sampling_restart(slot);
	unc_pace_begin(slot);
	if (!box->samplers++) {
		/* counters that do not sample may have left bits since */
		if (unc_box_signals(box))
			unc_clear_status(box);
		set_bit(unc_place_of(box), box->pkg->samplers);
	}
	if (!unc_box_signals(box)) {
		atomic_inc(&ov->polled);
		unc_timer_want(box->pkg, now + NSEC_PER_MSEC);
		return;
	}
	unc_pmi_arm();
	unc_raw_lock(&ov->select_lock);
	atomic_inc(&ov->signalled);
	WRITE_ONCE(ov->watching, true);
	event->hw.last_cpu = unc_pmi_core(box->pkg, smp_processor_id());
	unc_overflow_select(ov, event->hw.last_cpu, 1);
	unc_raw_unlock(&ov->select_lock);
	unc_timer_want(box->pkg, now + NSEC_PER_MSEC);
}

/**
 * unc_sampling_del() - an event that samples is about to lose its slot
 * @box: the box, locked and frozen
 * @slot: the slot, up to date
 *
 * Context: on the event's CPU.
 */
void unc_sampling_del(struct unc_box *box, struct unc_slot *slot)
{
	struct unc_overflow *ov = &box->pkg->overflow;
	struct perf_event *event = slot->event;

	/* one that had stopped has been through this */
	if (!(event->hw.state & PERF_HES_STOPPED))
		unc_sampling_stop(box, slot);
	if (!--box->samplers)
		clear_bit(unc_place_of(box), box->pkg->samplers);
	if (!unc_box_signals(box))
		atomic_dec(&ov->polled);
	else if (unc_overflow_leave(ov, event->hw.last_cpu))
		unc_pmi_raise();
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_sampling_init() - find what delivering samples takes
 *
 * Return: 0; without it events can be counted, but not sampled.
 */
int unc_sampling_init(void)
{
	unc_perf_tick = unc_find_function("perf_event_task_tick");
	unc_sample_took = unc_find_function("perf_sample_event_took");
	unc_deliver_sample = unc_find_function("perf_event_overflow");
	if (unc_deliver_sample && unc_perf_tick)
		return 0;
	unc_deliver_sample = NULL;
	pr_warn("this kernel hides perf_event_overflow() (no kprobes?): events can be counted, not sampled\n");
	return 0;
}

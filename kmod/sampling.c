// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that sample: when the next sample of a slot is due, and how samples get to
 * perf.
 *
 * Equal sampling events of a package share a slot.  It numbers its samples; each event
 * remembers which one it has delivered last, and each CPU delivers those of its
 * events (unc_sampling_deliver()).  So one counter gives samples on every CPU that has
 * an equal event.  overflow.c finds the counters that overflowed, pmi.c is the interrupt.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/sched/clock.h>

#include "access.h"
#include "box.h"
#include "compat.h"
#include "event.h"
#include "freeze.h"
#include "global.h"
#include "lock.h"
#include "nmi.h"
#include "package.h"
#include "pmi.h"
#include "pmi_map.h"
#include "refresh.h"
#include "sampling.h"
#include "timer.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Frequency mode: how long (ns) a rate is measured. */
#define UNC_PACE_NS	(20 * NSEC_PER_MSEC)
/* A period that is wrong by more than this factor is corrected at once. */
#define UNC_FAR_OFF	4
/* Overflows without a pause between them, after which the counter has to rest. */
#define UNC_STORM	64
/* A polled box can have any number of samples due; the most of one delivery. */
#define UNC_MAX_SAMPLES	16384
/* How long (ns) a throttled event's counter rests, unless perf starts it earlier. */
#define UNC_REST_NS	(100 * NSEC_PER_MSEC)

/*
 * perf's functions for drivers of core PMUs, which no kernel exports to modules
 * yet.  Without the first two events cannot be sampled.
 */
static unc_overflow_fn unc_perf_overflow;
static unc_tick_fn unc_perf_tick;
static unc_took_fn unc_perf_took;

/* When perf's tick was last done for it on an idle CPU. */
static DEFINE_PER_CPU(u64, unc_ticked);

/* Sampling events that are active on a CPU, which alone uses the list. */
static DEFINE_PER_CPU(struct list_head, unc_sampling_events);

/* --- one slot ------------------------------------------------------------ */

static void unc_sampling_set(struct unc_box *box, struct unc_slot *slot,
			     u64 value)
{
	slot->stamp = ktime_get_mono_fast_ns();
	slot->raw = value;
	unc_access_write_counter(box, slot->ctr, value);
}

/*
 * Check whether a CPU is interrupted for a slot's overflow.  A slot that is held has
 * events that are migrating, and that need the PMI again.  The box is locked.
 */
bool unc_sampling_has_pmi(const struct unc_box *box, const struct unc_slot *slot)
{
	return slot->migrating || atomic_read(&box->pkg->overflow.signalled);
}

/*
 * Not without budget, while perf throttles the slot's events, or while no event needs
 * the PMI: then the timer arms the counter later.
 */
static bool unc_sampling_may_arm(const struct unc_box *box,
				 const struct unc_slot *slot)
{
	const struct unc_overflow *ov = &box->pkg->overflow;

	return unc_freeze_allowed(box->pkg) && ov->storm < UNC_STORM &&
	       (s64)(ktime_get_mono_fast_ns() - slot->sampling.rest) >= 0 &&
	       unc_sampling_has_pmi(box, slot);
}

/*
 * Have one sample for all that has been counted, and a period.  The slot is up to
 * date, its counter was not armed for a while.
 */
void unc_sampling_merge(struct unc_slot *slot)
{
	slot->sampling.next = slot->total + slot->sampling.period;
	slot->sampling.merge = true;
}

/*
 * Set a counter to overflow when the next sample is due, if it may.  The box is
 * locked, the slot up to date, and its counter does not count.
 *
 * A counter that may not be armed starts at 0: it does not overflow before the timer
 * arms it.  Until then its counts are exact, and the next sample is for all of them.
 */
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot)
{
	u64 mask = GENMASK_ULL(unc_access_bits(box, slot->ctr) - 1, 0);
	struct unc_sampling *s = &slot->sampling;
	u64 left;

	if (!unc_sampling_may_arm(box, slot)) {
		if (s->armed && unc_sampling_has_pmi(box, slot))
			atomic64_inc(&box->pkg->stats.throttled);
		s->armed = false;
		unc_sampling_set(box, slot, 0);
		unc_timer_want(box->pkg, slot->stamp + NSEC_PER_MSEC);
		return;
	}
	if (!s->armed)
		unc_sampling_merge(slot);
	s->armed = true;
	s->set = s->next;
	/* one that is due already, but not accounted, comes at once */
	left = clamp_t(s64, s->next - slot->total, 1, mask);
	unc_sampling_set(box, slot, (mask + 1 - left) & mask);
}

/* Read a counter that counts, and arm it, if it may.  The box is locked. */
void unc_sampling_rearm(struct unc_box *box, struct unc_slot *slot)
{
	unc_box_begin(box, true);
	if (!box->hw.frozen)
		unc_box_run(box, slot, false);
	unc_refresh_slot(box, slot);
	unc_sampling_account(box, slot, 0);
	unc_sampling_arm(box, slot);
	if (!box->hw.frozen)
		unc_box_run(box, slot, true);
	unc_box_end(box);
}

/*
 * Number the samples that have become due.  Returns whether any has.  @frozen_ns is
 * how long the overflow has kept the package frozen, for the trace.  The box is
 * locked, the slot up to date.
 */
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns)
{
	struct unc_sampling *s = &slot->sampling;
	u64 n = 1;

	if ((s64)(slot->total - s->next) < 0 || !s->armed)
		return false;
	if (s->freq || s->merge) {
		s->mark = slot->total;
	} else {
		n = max_t(u64, div64_u64(slot->total - s->mark, s->period), 1);
		s->mark += n * s->period;
	}
	s->next = s->mark + s->period;
	s->merge = false;
	s->seq += n;
	s->frozen_ns = frozen_ns;
	atomic64_add(n, &box->pkg->stats.overflows);
	return true;
}

/* Start the samples of a slot with its first event.  The box is locked. */
void unc_sampling_start(struct unc_box *box, struct unc_slot *slot, u64 carry)
{
	struct unc_sampling *s = &slot->sampling;

	s->mark = slot->total - carry;
	s->next = slot->total + (carry < s->period ? s->period - carry : 1);
	s->armed = true;
	s->paced = ktime_get_mono_fast_ns();
	s->paced_total = slot->total;
	if (unc_box_signals(box)) {
		slot->arm = unc_sampling_arm;
		/* counters that do not sample may have left overflow bits */
		if (box->use.samplers == 1)
			unc_access_clear_status(box);
	}
	unc_timer_want(box->pkg, s->paced + NSEC_PER_MSEC);
}

/*
 * Adapt the period of a slot in frequency mode.  perf adapts a period from the
 * scheduler's tick, by the count since the last tick. That suits a core's events, which
 * stop when the core idles and has no tick.  The uncore works on, so the driver
 * measures the rate over time.  The slot is up to date.
 */
void unc_sampling_pace(struct unc_slot *slot, unsigned int bits)
{
	struct unc_sampling *s = &slot->sampling;
	u64 now = ktime_get_mono_fast_ns();
	u64 count = slot->total - s->paced_total;
	u64 passed = now - s->paced;
	u64 want;

	if (!s->freq || passed < UNC_PACE_NS)
		return;
	s->paced = now;
	s->paced_total = slot->total;
	if (!count)
		return;
	want = unc_mul_div(count, NSEC_PER_SEC, passed);
	want = clamp_t(u64, div64_u64(want, s->freq), 1,
		       GENMASK_ULL(bits - 1, 0));
	if (want < UNC_FAR_OFF * s->period && s->period < UNC_FAR_OFF * want)
		want = (want + s->period) / 2;
	s->period = want;
	/* sooner than planned */
	if ((s64)(s->next - slot->total) > (s64)(2 * want))
		s->next = slot->total + want;
}

/* --- delivery ------------------------------------------------------------ */

/* perf throttles a slot's events: not to be armed before it starts them again. */
static void unc_sampling_rest(struct unc_event *ue)
{
	struct unc_box *box = ue->box;

	unc_lock_raw(&box->lock);
	if (ue->slot >= 0 && box->slot[ue->slot].serial == ue->serial)
		box->slot[ue->slot].sampling.rest =
			ktime_get_mono_fast_ns() + UNC_REST_NS;
	unc_lock_raw_release(&box->lock);
}

/* On the event's CPU, interrupts off, no lock of the driver held. */
static void unc_sampling_output(struct unc_event *ue, u64 due, u64 weight,
				struct pt_regs *regs)
{
	struct perf_event *event = ue->event;
	struct perf_sample_data data;
	u64 period, before, rest;

	due = min_t(u64, due, UNC_MAX_SAMPLES);
	rest = (due - 1) * ue->want.sampling.period;
	/* the first one has what the event has counted since its last sample */
	if (ue->want.sampling.freq || rest >= weight)
		rest = weight - div64_u64(weight, due);
	for (; due; due--) {
		before = local_clock();
		period = weight - rest;
		weight = rest;
		rest = due > 2 ? weight - div64_u64(weight, due - 1) : 0;
		event->hw.last_period = period;
		perf_sample_data_init(&data, 0, period);
		if (unc_perf_overflow(event, &data, regs)) {
			/* throttled: perf starts it again, these are dropped */
			event->pmu->stop(event, 0);
			unc_sampling_rest(ue);
			break;
		}
		/* perf lowers its limit when samples take too long */
		if (unc_perf_took)
			unc_perf_took(local_clock() - before);
	}
}

/*
 * Deliver what was due for an event that is taken off.
 * Context: on the event's CPU, interrupts off, no lock of the driver held.
 */
void unc_sampling_flush(struct unc_event *ue, u64 due, u64 weight)
{
	struct pt_regs here;

	if (!due)
		return;
	unc_pmi_caller(&here);
	unc_sampling_output(ue, due, weight, &here);
}

/*
 * perf counts an event's samples by the scheduler's tick, and lets a throttled one go
 * on in the next.  An idle CPU has no tick: then it is done from here, as often.
 */
static void unc_sampling_tick(void)
{
	u64 *ticked = this_cpu_ptr(&unc_ticked);
	u64 now = ktime_get_mono_fast_ns();

	if (!is_idle_task(current) || now - *ticked < TICK_NSEC)
		return;
	*ticked = now;
	unc_perf_tick();
}

static void unc_sampling_deliver_event(struct unc_event *ue,
				       struct pt_regs *regs)
{
	struct unc_box *box = ue->box;
	u64 due = 0, weight, frozen_ns;
	struct unc_slot *slot;
	unsigned int ctr;

	unc_lock_raw(&box->lock);
	slot = unc_event_slot(ue);
	if (slot && !(ue->event->hw.state & PERF_HES_STOPPED)) {
		due = unc_sampling_take(ue, slot, &weight);
		unc_event_count(ue, slot);
		frozen_ns = slot->sampling.frozen_ns;
		ctr = slot->ctr;
	}
	unc_lock_raw_release(&box->lock);
	if (!due)
		return;
	trace_overflow(box->name, ctr, box->pkg->phys_id,
		       div64_u64(weight, due), frozen_ns);
	unc_sampling_output(ue, due, weight, regs);
}

/*
 * Deliver the samples of this CPU's events.
 * Context: hard interrupt: an event of this CPU cannot go away.
 */
void unc_sampling_deliver(struct unc_package *pkg, struct pt_regs *regs)
{
	struct list_head *events = this_cpu_ptr(&unc_sampling_events);
	struct unc_event *ue;

	if (list_empty(events))
		return;
	unc_sampling_tick();
	list_for_each_entry(ue, events, sampling)
		unc_sampling_deliver_event(ue, regs);
}

/* --- adding and removing events ------------------------------------------- */

/* Check that a counter can count that far. */
bool unc_sampling_fits(const struct unc_box *box, const struct unc_slot *slot,
		       u64 period)
{
	unsigned int bits = unc_access_bits(box, __ffs(slot->allowed));

	return period <= GENMASK_ULL(bits - 1, 0);
}

/* Check that an event can be sampled.  Returns 0, or what open returns. */
int unc_sampling_check(const struct perf_event *event,
		       const struct unc_box *box, const struct unc_slot *slot)
{
	/*
	 * Only a core knows these.  And the size of the instruction's page: perf
	 * walks page tables for it as a user's, and since Linux 6.5 that walk never
	 * ends, in the interrupt, at an entry that only the kernel's tables have.
	 */
	const u64 impossible = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_WEIGHT_TYPE |
			       PERF_SAMPLE_TRANSACTION |
			       PERF_SAMPLE_PHYS_ADDR |
			       PERF_SAMPLE_DATA_PAGE_SIZE |
			       PERF_SAMPLE_CODE_PAGE_SIZE;

	if (!unc_perf_overflow || event->attr.precise_ip ||
	    (event->attr.sample_type & impossible))
		return -EOPNOTSUPP;
	/* free-running counters cannot be set, nor stopped */
	if (slot->allowed & GENMASK(UNC_MAX_COUNTERS - 1, UNC_FREERUN0))
		return -EINVAL;
	if (!event->attr.freq &&
	    !unc_sampling_fits(box, slot, event->attr.sample_period))
		return -EINVAL;
	return 0;
}

/* Note in @slot the sample period, or frequency, of an event that samples. */
void unc_sampling_describe(const struct perf_event *event, bool freq,
			   struct unc_slot *slot)
{
	u64 hz = (u64)unc.gen->max_khz * 1000;

	slot->sampling.freq = freq ? event->attr.sample_freq : 0;
	if (!freq)
		slot->sampling.period = max_t(u64, event->attr.sample_period, 1);
	else /* begin with that of an event that counts every cycle */
		slot->sampling.period = max_t(u64, div64_u64(hz, 2 *
						event->attr.sample_freq), 1);
}

/*
 * Take an event's samples that are due.  Returns how many there are; @weight gets the
 * sum of their periods.  The slot is locked.
 */
u64 unc_sampling_take(struct unc_event *ue, const struct unc_slot *slot,
		      u64 *weight)
{
	u64 due = slot->sampling.seq - ue->seq;

	*weight = slot->sampling.mark - ue->mark;
	if (!due)
		return 0;
	ue->seq = slot->sampling.seq;
	ue->mark = slot->sampling.mark;
	ue->carry = slot->total - ue->mark;
	return due;
}

/*
 * Begin to deliver an event's samples on this CPU.
 * Context: on the event's CPU, interrupts off, its box locked.
 */
void unc_sampling_add(struct unc_event *ue)
{
	struct unc_package *pkg = ue->box->pkg;
	struct unc_overflow *ov = &pkg->overflow;
	u64 now = ktime_get_mono_fast_ns();

	list_add_tail(&ue->sampling, this_cpu_ptr(&unc_sampling_events));
	cpumask_set_cpu(smp_processor_id(), &pkg->sampling_cpus);
	if (!unc_box_signals(ue->box)) {
		atomic_inc(&ov->polled);
		unc_timer_want(pkg, now + NSEC_PER_MSEC);
		return;
	}
	unc_nmi_arm(NULL);
	unc_lock_raw(&ov->cores.lock);
	atomic_inc(&ov->signalled);
	WRITE_ONCE(ov->watch.on, true);
	ue->core = unc_pmi_map_core(pkg, smp_processor_id());
	unc_global_select_core(ov, ue->core, 1);
	unc_lock_raw_release(&ov->cores.lock);
	unc_timer_want(pkg, now + NSEC_PER_MSEC);
}

/*
 * Stop delivering an event's samples on this CPU.
 * Context: on the event's CPU, interrupts off, its box locked.
 */
void unc_sampling_del(struct unc_event *ue)
{
	struct unc_package *pkg = ue->box->pkg;

	list_del_init(&ue->sampling);
	if (list_empty(this_cpu_ptr(&unc_sampling_events)))
		cpumask_clear_cpu(smp_processor_id(), &pkg->sampling_cpus);
	if (!unc_box_signals(ue->box))
		atomic_dec(&pkg->overflow.polled);
	else if (unc_global_deselect_core(&pkg->overflow, ue->core))
		unc_pmi_raise();
	/* no CPU is interrupted for counters that are still armed */
	if (!atomic_read(&pkg->overflow.signalled))
		unc_timer_want(pkg, ktime_get_mono_fast_ns());
}

/* --- life cycle ---------------------------------------------------------- */

/* Find the functions that deliver samples. */
void unc_sampling_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu(unc_sampling_events, cpu));
	unc_perf_tick = unc_find_function("perf_event_task_tick");
	unc_perf_took = unc_find_function("perf_sample_event_took");
	unc_perf_overflow = unc_find_function("perf_event_overflow");
	if (unc_perf_overflow && unc_perf_tick)
		return;
	unc_perf_overflow = NULL;
	pr_warn("this kernel hides perf_event_overflow() (no kprobes?): events can be counted, not sampled\n");
}

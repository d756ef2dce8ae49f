// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that sample: when the next sample of a slot is due, and how samples get to
 * perf.
 *
 * Equal sampling events of a package share a slot, and so a counter.  A sample of the
 * slot is due when the slot's total has grown by the sample period.  The slot numbers its
 * samples, and each event remembers the number of the last sample that it took.  Each CPU
 * delivers the samples of its events (unc_sampling_deliver()).  So one counter gives
 * samples on every CPU that has an equal event.
 *
 * To arm a counter is to set it so that it overflows when the next sample is due.  Only
 * boxes that signal (unc_box_signals()) have armed counters: their overflow freezes the
 * package and interrupts a CPU.  The package's timer polls all other counters.
 * overflow.c handles the interrupt and polls.
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
#include "refresh.h"
#include "sampling.h"
#include "timer.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Frequency mode: shortest time (ns) over which the rate of a slot is measured. */
#define UNC_PACE_NS	(20 * NSEC_PER_MSEC)
/* Frequency mode: a period that is wrong by this factor is corrected at once. */
#define UNC_FAR_OFF	4
/* Samples that no event has taken, after which the slot's counter is not armed again. */
#define UNC_MAX_AHEAD	4

/*
 * perf's functions for drivers of core PMUs, which no kernel exports to modules
 * yet.  Without the first two, events cannot be sampled.
 */
static unc_overflow_fn unc_perf_overflow;	/* perf_event_overflow() */
static unc_tick_fn unc_perf_tick;		/* perf_event_task_tick() */
static unc_took_fn unc_perf_took;		/* perf_sample_event_took() */

/* Time (monotonic ns) of the CPU's last call of unc_perf_tick() by the driver. */
static DEFINE_PER_CPU(u64, unc_ticked);

/* Active sampling events of a CPU.  Only this CPU uses the list, with interrupts off. */
static DEFINE_PER_CPU(struct list_head, unc_sampling_events);

/* --- one slot ------------------------------------------------------------ */

/* Set a slot's counter.  The slot's next growth is counted from @value on. */
static void unc_sampling_set(struct unc_box *box, struct unc_slot *slot,
			     u64 value)
{
	slot->stamp = ktime_get_boot_fast_ns();
	slot->raw = value;
	unc_access_write_counter(box, slot->ctr, value);
}

/**
 * unc_sampling_has_pmi() - check whether an overflow of a slot interrupts a CPU
 * @box: the slot's box, which is locked
 * @slot: the slot
 *
 * While no event of the package samples in a box that signals, the PMI goes to no CPU.
 * Events that migrate are removed for a moment only, and sample again on the new perf
 * CPU.
 */
bool unc_sampling_has_pmi(const struct unc_box *box, const struct unc_slot *slot)
{
	return slot->migrating || atomic_read(&box->pkg->overflow.signalled);
}

/**
 * unc_sampling_is_due() - check whether a counter must be armed again
 * @slot: a slot that is armed and up to date
 *
 * Return: true if the counter has overflowed.  Also true if the counter overflows later
 * than the next sample: in frequency mode the period may have become shorter.
 */
bool unc_sampling_is_due(const struct unc_slot *slot)
{
	const struct unc_sampling *s = &slot->sampling;

	return (s64)(slot->total - s->set) >= 0 || (s64)(s->set - s->next) > 0;
}

/**
 * unc_sampling_may_arm() - check whether a slot's counter may be armed
 * @box: the slot's box, which is locked
 * @slot: the slot
 *
 * An overflow freezes the package, so arming needs freeze budget (freeze.c), and a CPU
 * that gets the PMI and ends the freeze.
 *
 * Arming also needs an event that takes the samples.  While perf throttles all events of
 * the slot, no event takes samples.  Overflows of an armed counter would continue, and on
 * a slow CPU their interrupts would leave no time for the tick that ends the throttling.
 */
bool unc_sampling_may_arm(const struct unc_box *box, const struct unc_slot *slot)
{
	return unc_sampling_has_pmi(box, slot) &&
	       slot->sampling.seq - slot->sampling.taken < UNC_MAX_AHEAD &&
	       unc_freeze_allowed(box->pkg);
}

/**
 * unc_sampling_arm() - set a counter to overflow when the next sample is due
 * @box: the box, which is locked
 * @slot: a slot that is up to date, and whose counter does not count
 *
 * A counter that may not be armed starts at 0.  It counts exactly, and the timer polls it
 * until it may be armed.
 *
 * A sample period that exceeds the range of the counter takes several overflows.
 */
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot)
{
	u64 mask = GENMASK_ULL(unc_access_bits(box, slot->ctr) - 1, 0);
	struct unc_sampling *s = &slot->sampling;
	u64 left;

	if (!unc_sampling_may_arm(box, slot)) {
		s->armed = false;
		unc_sampling_set(box, slot, 0);
		unc_timer_want(box->pkg, ktime_get_mono_fast_ns() + NSEC_PER_MSEC);
		return;
	}
	/* if a sample is due that unc_sampling_account() has not seen, overflow at once */
	left = clamp_t(s64, s->next - slot->total, 1, mask);
	s->armed = true;
	s->set = slot->total + left;
	unc_sampling_set(box, slot, mask + 1 - left);
}

/**
 * unc_sampling_rearm() - read a running counter, and arm it if it may be armed
 * @box: the box, which is locked
 * @slot: the counter's slot
 *
 * Counts between the read and the write of the counter would be lost.  So the box is
 * frozen meanwhile, even without freeze budget, or the counter is stopped if the box
 * cannot be frozen.
 */
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
 * Adapt the period of a slot in frequency mode.  The slot is up to date.
 *
 * perf itself would adapt the period in the scheduler's tick, by the counts since the
 * last tick.  An idle CPU has no tick, but the uncore counts on.  perf would take the
 * counts of the whole idle time for those of one tick.  So the driver divides the counts
 * by the time that has passed.
 */
static void unc_sampling_pace(struct unc_slot *slot)
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
	want = clamp_t(u64, div64_u64(want, s->freq), 1, S64_MAX);
	/* go halfway to a period that is near, at once to a period that is far off */
	if (want < UNC_FAR_OFF * s->period && s->period < UNC_FAR_OFF * want)
		want = (want + s->period) / 2;
	s->period = want;
	/* the next sample was planned with a much longer period: move it to a new period */
	if ((s64)(s->next - slot->total) > (s64)(2 * want))
		s->next = slot->total + want;
}

/**
 * unc_sampling_account() - note a new sample of a slot if the sample period has ended
 * @box: the box, which is locked
 * @slot: a slot that is up to date
 * @frozen_ns: how long the overflow has kept the package frozen, for the tracepoint
 *
 * Several periods may have ended since the last call, above all in boxes that are polled.
 * They become one sample.  With a fixed period that sample's period is a multiple of the
 * requested period, and the remaining counts belong to the next sample.  In frequency
 * mode the sample's period is all counts since the last sample.
 *
 * Return: whether a sample is due.
 */
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns)
{
	struct unc_sampling *s = &slot->sampling;
	u64 periods = 1;

	unc_sampling_pace(slot);
	if ((s64)(slot->total - s->next) < 0)
		return false;
	if (s->freq) {
		s->mark = slot->total;
	} else {
		periods = max_t(u64, div64_u64(slot->total - s->mark, s->period), 1);
		s->mark += periods * s->period;
	}
	s->next = s->mark + s->period;
	s->seq++;
	s->frozen_ns = frozen_ns;
	atomic64_inc(&box->pkg->stats.overflows);
	atomic64_add(periods - 1, &box->pkg->stats.merged);
	return true;
}

/**
 * unc_sampling_start() - begin the first sample period of a slot
 * @box: the box, which is locked
 * @slot: a slot that is up to date
 * @carry: counts of the slot's event since its last sample, before perf removed the event
 *	and added it again; the first sample includes these counts
 */
void unc_sampling_start(struct unc_box *box, struct unc_slot *slot, u64 carry)
{
	struct unc_sampling *s = &slot->sampling;

	s->mark = slot->total - carry;
	s->next = s->mark + s->period;
	s->taken = s->seq;
	s->armed = false;
	s->paced = ktime_get_mono_fast_ns();
	s->paced_total = slot->total;
	if (unc_box_signals(box)) {
		slot->arm = unc_sampling_arm;
		/*
		 * Counters that do not sample may have set overflow bits.  While its bit
		 * is set, an overflow of a counter is not signalled (§2.2.1.1).
		 */
		if (box->use.samplers == 1)
			unc_access_clear_status(box);
	}
	unc_timer_want(box->pkg, s->paced + NSEC_PER_MSEC);
}

/* --- delivery ------------------------------------------------------------ */

/*
 * Deliver a sample to perf.  @weight is the sample's period: the counts for which the
 * sample stands.
 * Context: on the event's CPU, interrupts off, no lock of the driver held.
 */
static void unc_sampling_output(struct unc_event *ue, u64 weight,
				struct pt_regs *regs)
{
	struct perf_event *event = ue->event;
	struct perf_sample_data data;
	u64 before = local_clock();

	event->hw.last_period = weight;
	perf_sample_data_init(&data, 0, weight);
	/* perf throttles the event, and starts it again in a later tick */
	if (unc_perf_overflow(event, &data, regs))
		ue->throttled = true;
	/* perf lowers its limit of samples a second when samples take too long */
	if (unc_perf_took)
		unc_perf_took(local_clock() - before);
}

/**
 * unc_sampling_flush() - deliver the last sample of an event that perf removes
 * @ue: the event
 * @weight: the sample's period, from unc_sampling_take(); 0: no sample is due
 *
 * No code was interrupted, so the sample has the address of the code that called the
 * driver.
 *
 * Context: on the event's CPU, interrupts off, no lock of the driver held.
 */
void unc_sampling_flush(struct unc_event *ue, u64 weight)
{
	struct pt_regs here;

	if (!weight)
		return;
	unc_pmi_caller(&here);
	unc_sampling_output(ue, weight, &here);
}

/*
 * Do perf's part of the scheduler's tick on an idle CPU, which has no tick.  In the tick
 * perf ends the throttling of events, and begins to count their samples anew.  This
 * function calls perf at most as often as the tick does.
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

/*
 * If a sample is due for an event that perf throttles, have the timer deliver it after
 * the throttling.  The event's box is locked.
 */
static void unc_sampling_defer(const struct unc_event *ue, const struct unc_slot *slot)
{
	struct unc_package *pkg = ue->box->pkg;

	if (ue->seq == slot->sampling.seq)
		return;
	WRITE_ONCE(pkg->overflow.deferred, true);
	unc_timer_want(pkg, ktime_get_mono_fast_ns() + NSEC_PER_MSEC);
}

/* Deliver the sample of an event if it is due.  Takes and drops the box's lock. */
static void unc_sampling_deliver_event(struct unc_event *ue,
				       struct pt_regs *regs)
{
	struct unc_box *box = ue->box;
	u64 weight = 0, frozen_ns;
	struct unc_slot *slot;
	unsigned int ctr;

	unc_lock_raw(&box->lock);
	slot = unc_event_slot(ue);
	if (ue->event->hw.state & PERF_HES_STOPPED)
		slot = NULL;
	if (slot && ue->throttled) {
		unc_sampling_defer(ue, slot);
	} else if (slot) {
		weight = unc_sampling_take(ue, slot);
		unc_event_count(ue, slot);
		frozen_ns = slot->sampling.frozen_ns;
		ctr = slot->ctr;
	}
	unc_lock_raw_release(&box->lock);
	if (!weight)
		return;
	trace_overflow(box->name, ctr, box->pkg->id, weight, frozen_ns);
	unc_sampling_output(ue, weight, regs);
}

/**
 * unc_sampling_deliver() - deliver the samples of this CPU's events
 * @pkg: the CPU's package
 * @regs: registers of the interrupted code
 *
 * Context: hard interrupt, so that no event of this CPU is closed meanwhile.
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

/**
 * unc_sampling_check() - check that an event can be sampled
 * @event: the event
 * @slot: the event's slot, as unc_slot_describe() has it
 *
 * Return: 0, -EOPNOTSUPP or -EINVAL, for event_init.
 */
int unc_sampling_check(const struct perf_event *event, const struct unc_slot *slot)
{
	/*
	 * Sample fields that are refused.  Only a core knows the address, the source and
	 * the latency of an access, and its transaction.
	 *
	 * For the size of the instruction's page perf walks page tables as for a user
	 * address.  Since Linux 6.5 that walk does not end at an entry that only the
	 * kernel's tables have, and the CPU hangs in the interrupt.
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
	return 0;
}

/**
 * unc_sampling_describe() - describe the sample period or frequency of an event
 * @event: the event
 * @freq: the event is in frequency mode
 * @slot: gets the period or frequency
 */
void unc_sampling_describe(const struct perf_event *event, bool freq,
			   struct unc_slot *slot)
{
	u64 hz = (u64)unc.gen->max_khz * 1000;

	slot->sampling.freq = freq ? event->attr.sample_freq : 0;
	if (!freq)
		slot->sampling.period = max_t(u64, event->attr.sample_period, 1);
	else /* as if the event counted in every second cycle of the fastest clock */
		slot->sampling.period = max_t(u64, div64_u64(hz, 2 *
						event->attr.sample_freq), 1);
}

/**
 * unc_sampling_take() - take the sample that is due for an event
 * @ue: the event, which joined @slot
 * @slot: the event's slot; the box is locked
 *
 * Samples of the slot that the event has missed are included in this sample.
 *
 * Return: the sample's period, in counts; 0 when no sample is due.
 */
u64 unc_sampling_take(struct unc_event *ue, struct unc_slot *slot)
{
	u64 weight = slot->sampling.mark - ue->mark;

	if (ue->seq == slot->sampling.seq)
		return 0;
	ue->seq = slot->sampling.seq;
	slot->sampling.taken = slot->sampling.seq;
	ue->mark = slot->sampling.mark;
	ue->carry = slot->total - ue->mark;
	return weight;
}

/**
 * unc_sampling_add() - begin to deliver an event's samples on this CPU
 * @ue: the event
 *
 * Context: on the event's CPU, interrupts off, its box locked.
 */
void unc_sampling_add(struct unc_event *ue)
{
	struct unc_package *pkg = ue->box->pkg;

	list_add_tail(&ue->sampling, this_cpu_ptr(&unc_sampling_events));
	cpumask_set_cpu(smp_processor_id(), &pkg->sampling_cpus);
	if (unc_box_signals(ue->box)) {
		unc_nmi_arm(NULL);
		unc_global_sampler_begin(&pkg->overflow);
	} else {
		atomic_inc(&pkg->overflow.polled);
	}
	unc_timer_want(pkg, ktime_get_mono_fast_ns() + NSEC_PER_MSEC);
}

/**
 * unc_sampling_del() - stop delivering an event's samples on this CPU
 * @ue: the event
 *
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
	else if (unc_global_sampler_end(&pkg->overflow))
		/* counters may still be armed, but no PMI comes: the timer handles them */
		unc_timer_want(pkg, ktime_get_mono_fast_ns());
}

/* --- life cycle ---------------------------------------------------------- */

/**
 * unc_sampling_init() - find the functions of perf that take samples
 *
 * Without them events can be counted, not sampled.
 */
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

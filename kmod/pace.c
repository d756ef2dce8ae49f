// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often an event samples: its period in frequency mode.
 *
 * perf sets it from the scheduler's tick, taking what was counted since the last
 * time for the count of one tick.  That holds for a core's events, which rest
 * when the core does.  The uncore works on while a CPU idles and has no tick.  So
 * the driver does it from its own timer, and perf's way finds nothing left to do.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/perf_event.h>

#include "xeon_uncore.h"

/* Over how long (ns) a rate is measured. */
#define UNC_PACE_NS	(20 * NSEC_PER_MSEC)
/* A period that is wrong by more than this factor is put right at once. */
#define UNC_FAR_OFF	4

static u64 unc_max_period(unsigned int bits)
{
	return GENMASK_ULL(bits - 1, 0);
}

/**
 * unc_pace_first_period() - where frequency mode begins
 * @event: the event, being opened
 *
 * perf begins with a period of 1, and an event that counts every cycle would
 * keep the package frozen for that.  Begin with the period of such an event; the
 * first look at the count finds a shorter one.
 */
void unc_pace_first_period(struct perf_event *event)
{
	u64 hz = (u64)unc.gen->max_khz * 1000;

	if (!event->attr.freq)
		return;
	event->hw.sample_period = max_t(u64, div64_u64(hz, 2 *
						event->attr.sample_freq), 1);
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
}

/**
 * unc_pace_begin() - a slot that samples starts, or goes on after a pause
 * @slot: the slot, up to date
 */
void unc_pace_begin(struct unc_slot *slot)
{
	slot->paced = ktime_get_mono_fast_ns();
	slot->paced_total = slot->total;
}

/**
 * unc_pace() - have a slot sample as often as was asked for
 * @slot: the slot, up to date
 * @bits: width of its counter
 *
 * Return: true when its next sample is to come sooner than planned.
 */
bool unc_pace(struct unc_slot *slot, unsigned int bits)
{
	struct hw_perf_event *hwc = &slot->event->hw;
	u64 now = ktime_get_mono_fast_ns();
	u64 passed = now - slot->paced;
	u64 count = slot->total - slot->paced_total;
	u64 period = hwc->sample_period, want;

	if (!slot->event->attr.freq || !slot->event->attr.sample_freq ||
	    passed < UNC_PACE_NS || (hwc->state & PERF_HES_STOPPED))
		return false;
	unc_pace_begin(slot);
	/* nothing happened: nothing was learned */
	if (!count)
		return false;
	want = unc_mul_div(count, NSEC_PER_SEC, passed);
	want = clamp_t(u64, div64_u64(want, slot->event->attr.sample_freq),
		       1, unc_max_period(bits));
	if (want < UNC_FAR_OFF * period && period < UNC_FAR_OFF * want)
		want = (want + period) / 2;
	/* perf's own changes to it are hidden; a lost one would do no harm */
	WRITE_ONCE(hwc->sample_period, want);
	if ((s64)(slot->next - slot->total) <= (s64)(2 * want))
		return false;
	slot->next = slot->total + want;
	return true;
}

/**
 * unc_pace_is_tick() - does perf stop an event only to adjust its period?
 * @event: the event
 * @how: flags of perf's stop callback
 */
bool unc_pace_is_tick(const struct perf_event *event, int how)
{
	return event->attr.freq && (how & PERF_EF_UPDATE);
}

/**
 * unc_pace_hide_count() - perf's tick finds that nothing was counted
 * @event: the event
 *
 * Context: on the event's CPU, interrupts off.
 */
void unc_pace_hide_count(struct perf_event *event)
{
	event->hw.freq_count_stamp = local64_read(&event->count);
}

/**
 * unc_pace_hide_time() - perf finds that the last sample was long ago
 * @event: the event, which is about to deliver one
 *
 * Or it would judge an event's rate by when its samples are delivered.
 *
 * Context: on the event's CPU, interrupts off.
 */
void unc_pace_hide_time(struct perf_event *event)
{
	event->hw.freq_time_stamp = 0;
}

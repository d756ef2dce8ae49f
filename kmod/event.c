// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event has counted so far, and for how long.
 *
 * While overflows keep a package frozen its events do not run.  perf thinks they
 * do: take that from the time that it has them running.  In hw.config_base is
 * what has been taken so far, in hw.event_base up to when, by perf's clock.  More
 * than has passed there must not be taken: times would go back.
 */
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include "xeon_uncore.h"
#include "compat.h"

/**
 * unc_event_time_begin() - an event begins to count
 * @event: the event
 * @box: its box, locked
 */
void unc_event_time_begin(struct perf_event *event, const struct unc_box *box)
{
	event->hw.config_base = unc_frozen_ns(box->pkg);
	event->hw.event_base = unc_context_time(event);
}

/**
 * unc_event_pass_over() - perf reads an event whose box cannot be looked at now
 * @event: the event
 *
 * Perf has it running up to now: what stood still of that is taken later, from what
 * runs then.
 *
 * Context: any, on the event's CPU.
 */
void unc_event_pass_over(struct perf_event *event)
{
	event->hw.event_base = unc_context_time(event);
}

static void unc_time_catch_up(struct perf_event *event, struct unc_box *box)
{
	s64 frozen = unc_frozen_ns(box->pkg) - event->hw.config_base;
	u64 now = unc_context_time(event);
	s64 passed = now - event->hw.event_base;

	/* what froze before the last look and was accounted since: later */
	frozen = min3(frozen, passed, (s64)event->total_time_running);
	event->hw.event_base = now;
	if (frozen <= 0)
		return;
	event->hw.config_base += frozen;
	event->total_time_running -= frozen;
}

/**
 * unc_event_catch_up() - add what the slot has counted since the last time
 * @event: an event of the slot
 * @slot: the slot, up to date; its box is locked
 */
void unc_event_catch_up(struct perf_event *event, const struct unc_slot *slot)
{
	u64 prev;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	prev = local64_xchg(&event->hw.prev_count, slot->total);
	local64_add(slot->total - prev, &event->count);
	unc_time_catch_up(event, event->pmu_private);
}

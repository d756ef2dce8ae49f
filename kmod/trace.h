/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's tracepoints.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xeon_uncore

#if !defined(XEON_UNCORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define XEON_UNCORE_TRACE_H

#include <linux/tracepoint.h>

/**
 * overflow - a sample of an event is about to be delivered
 * @box: name of the box's PMU
 * @counter: hardware counter that counts the event; 4 is the fixed counter
 * @package: physical package id
 * @period: the sample's period, in counts
 * @frozen_ns: time for which the counter's last overflow froze the package until the
 *	counter was read; 0 for overflows that the timer found
 *
 * Fires on the event's CPU, once for each event with a sample that is due.  If several
 * events share the counter, an overflow fires the tracepoint once for each of them.
 */
TRACE_EVENT(overflow,
	TP_PROTO(const char *box, unsigned int counter, int package,
		 u64 period, u64 frozen_ns),
	TP_ARGS(box, counter, package, period, frozen_ns),
	TP_STRUCT__entry(
		__string(box, box)
		__field(unsigned int, counter)
		__field(int, package)
		__field(u64, period)
		__field(u64, frozen_ns)
	),
	TP_fast_assign(
		unc_assign_str(box, box);
		__entry->counter = counter;
		__entry->package = package;
		__entry->period = period;
		__entry->frozen_ns = frozen_ns;
	),
	TP_printk("box=%s counter=%u package=%d period=%llu frozen_ns=%llu",
		  __get_str(box), __entry->counter, __entry->package,
		  __entry->period, __entry->frozen_ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measure the share of a clock's cycles that an event of package 0 counts, and the share
 * of the time for which package 0 was frozen, by the simulator's record and by the
 * driver's statistic. The simulator must have the real clock.
 */
#ifndef SELFTESTS_SHARE_H
#define SELFTESTS_SHARE_H

#include <stdint.h>

#include "perf.h"

enum { SHARE_WINDOWS = 20 };

/**
 * struct share - shares of the time of a measurement
 * @fd: event that counts the cycles of a clock
 * @khz: frequency of the clock
 * @counted: cycles that the event counted, divided by the cycles of the clock
 * @typical: median of @counted over SHARE_WINDOWS windows of the time. A host that stops
 *	a CPU during a freeze lowers @counted of a few windows only, and not the median.
 * @running: perf's time running, divided by its time enabled
 * @frozen: frozen time by the simulator's record, divided by the time
 * @paused: time for which the event's box did not count, because an overflow or software
 *	had frozen the box or its package or had disabled its counters, divided by the time.
 *	By the simulator's record, which is for all boxes: no other box may begin to count
 * @charged: frozen time by the driver's statistic, divided by the time
 */
struct share {
	int fd;
	unsigned int khz;
	double counted, typical, running, frozen, paused, charged;
};

/*
 * Measure @n shares for @ms milliseconds. The caller sets fd and khz of each share; all
 * other members are results. @between is called every few milliseconds with @arg, and
 * may be NULL.
 */
void share_measure(struct share *share, unsigned int n, unsigned int ms,
		   void (*between)(void *arg), void *arg);

#endif

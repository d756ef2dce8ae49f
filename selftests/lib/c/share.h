/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of a clock's cycles that an event of package 0 counts while time passes, and
 * the shares of the time for which the package was frozen, by the simulator's record and
 * by the driver's statistic. The simulator's clock is real.
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
 * @counted: cycles that the event counted, by cycles of the clock
 * @typical: median of @counted over SHARE_WINDOWS windows of the time. A host that stops
 *	a CPU during a freeze lowers @counted, but few windows.
 * @running: perf's time running by its time enabled
 * @frozen: frozen time by the simulator's record
 * @charged: frozen time by the driver's statistic
 */
struct share {
	int fd;
	unsigned int khz;
	double counted, typical, running, frozen, charged;
};

/*
 * Measure for @ms milliseconds: @fd and @khz of @n shares are set, all else is the
 * result. @between is called every few milliseconds with @arg, and may be NULL.
 */
void share_measure(struct share *share, unsigned int n, unsigned int ms,
		   void (*between)(void *arg), void *arg);

#endif

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

/**
 * struct share - shares of the time of a measurement
 * @fd: event that counts the cycles of a clock
 * @khz: frequency of the clock
 * @from: reading of the event at the beginning
 * @from_ns, @ns: begin of the measurement, and its length
 * @from_frozen, @from_charged: record and statistic at the beginning
 * @counted: cycles that the event counted, by cycles of the clock
 * @running: perf's time running by its time enabled
 * @frozen: frozen time by the simulator's record
 * @charged: frozen time by the driver's statistic
 */
struct share {
	int fd;
	unsigned int khz;
	struct event_reading from;
	uint64_t from_ns, ns, from_frozen, from_charged;
	double counted, running, frozen, charged;
};

void share_begin(struct share *share, int fd, unsigned int khz);
/* Fill in @ns and the shares. */
void share_end(struct share *share);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detect a stopped CPU. A host may stop a virtual CPU for seconds; delays by that are
 * not the driver's fault, and a test cannot judge them.
 */
#ifndef SELFTESTS_STALL_H
#define SELFTESTS_STALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct stall_watch {
	pthread_t thread;
	int cpu;
	atomic_bool stop;
	uint64_t worst_ms;
};

/* Watch a CPU from here on; bail out if that fails. */
void stall_watch_start(struct stall_watch *watch, int cpu);
/* The longest time, in milliseconds, for which the CPU was stopped */
uint64_t stall_watch_stop(struct stall_watch *watch);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Was a CPU there all the time?  A host may take a virtual one away for seconds;
 * what is late by then is not the driver's fault, and tells nothing about it.
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

/* Watches a CPU from here on; bails out when it cannot. */
void stall_watch_start(struct stall_watch *watch, int cpu);
/* For how many milliseconds the CPU stood still at most. */
uint64_t stall_watch_stop(struct stall_watch *watch);

#endif

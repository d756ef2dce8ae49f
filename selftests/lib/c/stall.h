/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detect a stopped CPU. A host may stop a virtual CPU for seconds. The driver is late then
 * without a fault, and a test cannot judge the delay.
 */
#ifndef SELFTESTS_STALL_H
#define SELFTESTS_STALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/**
 * struct stall_watch - a thread that detects whether its CPU stops
 * @worst_ms: longest sleep of the thread so far
 */
struct stall_watch {
	pthread_t thread;
	int cpu;
	atomic_bool stop;
	uint64_t worst_ms;
};

/* Start to watch a CPU; bail out if the thread cannot be started. */
void stall_watch_start(struct stall_watch *watch, int cpu);
/* End the thread. Return the longest time, in milliseconds, that the CPU was stopped. */
uint64_t stall_watch_stop(struct stall_watch *watch);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Detect a stopped CPU by a thread that sleeps and measures how long it slept. */
#include <sched.h>

#include "machine.h"
#include "sampler.h"
#include "stall.h"
#include "tap.h"

/*
 * Sleep 10 ms at a time, and keep the longest sleep. The thread's priority is above all
 * tasks of the CPU except the kernel's, so that it is late only on a stopped CPU.
 */
static void *watch_sleeps(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct stall_watch *watch = arg;
	uint64_t now, last, ms;

	cpu_pin(watch->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		tap_bail("SCHED_FIFO");
	last = now_ns();
	while (!watch->stop) {
		sleep_ms(10);
		now = now_ns();
		ms = (now - last) / 1000000;
		if (ms > watch->worst_ms)
			watch->worst_ms = ms;
		last = now;
	}
	return NULL;
}

void stall_watch_start(struct stall_watch *watch, int cpu)
{
	*watch = (struct stall_watch){ .cpu = cpu };
	if (pthread_create(&watch->thread, NULL, watch_sleeps, watch))
		tap_bail("CPU %d cannot be watched", cpu);
}

uint64_t stall_watch_stop(struct stall_watch *watch)
{
	watch->stop = true;
	pthread_join(watch->thread, NULL);
	return watch->worst_ms;
}

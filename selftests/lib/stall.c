// SPDX-License-Identifier: GPL-2.0-or-later
#include <sched.h>
#include <time.h>

#include "machine.h"
#include "stall.h"
#include "tap.h"

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Before all tasks of the CPU but the kernel's own: only a CPU can be late. */
static void *look(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct stall_watch *watch = arg;
	uint64_t now, last;

	cpu_pin(watch->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		tap_bail("SCHED_FIFO");
	last = now_ms();
	while (!watch->stop) {
		nanosleep(&pause, NULL);
		now = now_ms();
		if (now - last > watch->worst_ms)
			watch->worst_ms = now - last;
		last = now;
	}
	return NULL;
}

void stall_watch_start(struct stall_watch *watch, int cpu)
{
	*watch = (struct stall_watch){ .cpu = cpu };
	if (pthread_create(&watch->thread, NULL, look, watch))
		tap_bail("CPU %d cannot be watched", cpu);
}

uint64_t stall_watch_stop(struct stall_watch *watch)
{
	watch->stop = true;
	pthread_join(watch->thread, NULL);
	return watch->worst_ms;
}

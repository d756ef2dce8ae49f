// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples events for some seconds and prints how many samples each task got, in C:
//
//	samples imc/cas_count.rd,period=100000/ 5
#define _POSIX_C_SOURCE 200809L	// clock_gettime() under -std=c11

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <uncore/uncore.h>

#define PIDS 4194304	// process numbers of Linux are below this limit

struct histogram {
	unsigned long samples[PIDS], lost;
};

static void take(const struct uncore_sample *sample, void *arg)
{
	struct histogram *tasks = arg;

	if (sample->lost)
		tasks->lost += sample->lost;
	else if (sample->pid >= 0 && sample->pid < PIDS)
		tasks->samples[sample->pid]++;
}

// Time in ms until end, in seconds of CLOCK_MONOTONIC.
static int left_ms(time_t end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end - now.tv_sec) * 1000 - now.tv_nsec / 1000000;
}

static int collect(struct uncore_sampler *sampler, int seconds,
		   struct histogram *tasks)
{
	struct pollfd ready = { .fd = uncore_sampler_fd(sampler),
				.events = POLLIN };
	struct timespec now;
	int status = 0, left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	while (!status && (left = left_ms(now.tv_sec + seconds)) > 0) {
		poll(&ready, 1, left);
		status = uncore_sampler_drain(sampler, take, tasks);
	}
	return status;
}

int main(int argc, char **argv)
{
	static struct histogram tasks;
	struct uncore_sampling settings = { .size = sizeof(settings),
					    .period = 100000 };
	struct uncore_sampler *sampler = uncore_sampler_new(NULL);
	int status;

	if (!sampler)
		return 1;
	status = uncore_sampler_add_events(sampler, argc > 1 ? argv[1] :
					   "imc/cas_count.rd/");
	if (!status)
		status = uncore_sampler_open(sampler, &settings);
	if (!status)
		status = uncore_sampler_enable(sampler);
	if (!status)
		status = collect(sampler, argc > 2 ? atoi(argv[2]) : 5, &tasks);
	if (status)
		fprintf(stderr, "samples: %s\n", uncore_sampler_error(sampler));
	for (int pid = 0; pid < PIDS; pid++)
		if (tasks.samples[pid])
			printf("%7d  %lu samples\n", pid, tasks.samples[pid]);
	if (tasks.lost)
		printf("   lost  %lu samples\n", tasks.lost);
	uncore_sampler_free(sampler);
	return status != UNCORE_OK;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with regions, for selftests/command/uncore_regions.py: performs the steps in
 * its arguments, and prints the status of each call that failed.
 *
 *	begin=NAME	begin a region
 *	end		end a region
 *	many=N		begin and end N regions with different names
 *	deep=N		begin N regions, each in the one before, and end them
 *	file=PATH	write the next texts to this file
 *	write=TEXT	write a line
 *	wait=PATH	wait until this file exists
 *	sleep=MS	sleep
 *	time=N		begin and end a region N times; print the nanoseconds of each time
 *	threads=N	each of N threads of OpenMP does the remaining steps, one step after
 *			the other: all threads do a step before any does the next. "1:end"
 *			is a step for thread 1 only; thread 0 alone writes.
 *	fork		a new process does the remaining steps, and the program waits for it
 *	exec		execute the program again for the remaining steps
 *	close		close all descriptors except for standard ones, and open others
 *	kill		end by SIGKILL
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <uncore/uncore.h>

static const char *file;
static char **arguments;

static void report(const char *step, int status)
{
	if (status)
		printf("%s: %d\n", step, status);
	fflush(stdout);
}

/* Return the value of "NAME=VALUE" if the step has this name. */
static const char *value(const char *step, const char *name)
{
	const size_t size = strlen(name);

	return !strncmp(step, name, size) && step[size] == '=' ? step + size + 1
								: NULL;
}

static void write_line(const char *text)
{
	FILE *out = fopen(file, "w");

	if (!out || fprintf(out, "%s\n", text) < 0 || fclose(out)) {
		perror(file);
		exit(1);
	}
}

static void begin_many(int n)
{
	char name[32];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		report(name, uncore_region_begin(name));
		report(name, uncore_region_end());
	}
}

static void begin_deep(int n)
{
	int i, failed = 0;

	for (i = 0; i < n; i++)
		failed += uncore_region_begin("deep") != 0;
	for (i = 0; i < n; i++)
		failed += uncore_region_end() != 0;
	report("deep", failed);
}

static void measure(int n)
{
	struct timespec start, end;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < n; i++) {
		uncore_region_begin("cost");
		uncore_region_end();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
			  (double)(end.tv_nsec - start.tv_nsec)) / n);
}

/* Close all descriptors, and use their numbers for connected sockets. */
static void close_all(void)
{
	int i, pair[2];

	for (i = 3; i < 100; i++)
		close(i);
	for (i = 0; i < 10; i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
			exit(1);
}

static void do_step(const char *step, int is_first_thread)
{
	const char *text;

	if ((text = value(step, "begin")))
		report("begin", uncore_region_begin(text));
	else if (!strcmp(step, "end"))
		report(step, uncore_region_end());
	else if ((text = value(step, "many")))
		begin_many(atoi(text));
	else if ((text = value(step, "deep")))
		begin_deep(atoi(text));
	else if ((text = value(step, "time")))
		measure(atoi(text));
	else if ((text = value(step, "sleep")))
		usleep(1000 * (unsigned int)atoi(text));
	else if (!strcmp(step, "close"))
		close_all();
	else if (!strcmp(step, "kill"))
		raise(SIGKILL);
	else if (!is_first_thread)
		return;
	else if ((text = value(step, "write")))
		write_line(text);
	else if ((text = value(step, "file")))
		file = text;
	else if ((text = value(step, "wait")))
		while (access(text, F_OK))
			usleep(1000);
	else
		fprintf(stderr, "unknown step: %s\n", step);
}

static void do_in_threads(int threads, char **steps)
{
#pragma omp parallel num_threads(threads)
	{
		const int thread = omp_get_thread_num();
		char **step;

		for (step = steps; *step; step++) {
			const char *colon = strchr(*step, ':');

			if (colon != *step + 1)
				do_step(*step, !thread);
			else if (atoi(*step) == thread)
				do_step(colon + 1, 1);
#pragma omp barrier
		}
	}
}

static int do_steps(char **steps)
{
	for (; *steps; steps++) {
		const char *threads = value(*steps, "threads");

		if (threads) {
			do_in_threads(atoi(threads), steps + 1);
			return 0;
		}
		if (!strcmp(*steps, "fork")) {
			if (fork()) {
				wait(NULL);
				return 0;
			}
		} else if (!strcmp(*steps, "exec")) {
			*steps = arguments[0];
			execv("/proc/self/exe", steps);
			return 1;
		} else {
			do_step(*steps, 1);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	arguments = argv;
	return do_steps(argv + 1);
}

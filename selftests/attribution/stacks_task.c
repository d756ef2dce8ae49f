// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A task with very many stacks: it takes all paths, left or right at each of LEVELS
 * levels, and stays for a while at each end.
 *
 * usage: stacks_task CPU SECONDS
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/c/machine.h"

enum { LEVELS = 12, LOOPS = 200 };

static volatile unsigned long sink;

static __attribute__((noinline)) void stay(void)
{
	for (int i = 0; i < LOOPS; i++)
		cpu_relax();
}

static void left(unsigned int way, int level);
static void right(unsigned int way, int level);

/* Two that differ in name only, and in what keeps them apart. */
#define TURN(name, step)                                                       \
	static __attribute__((noinline)) void name(unsigned int way,           \
						   int level)                  \
	{                                                                      \
		if (!level)                                                    \
			stay();                                                \
		else if (way & 1)                                              \
			left(way >> 1, level - 1);                             \
		else                                                           \
			right(way >> 1, level - 1);                            \
		sink += (step);                                                \
	}

TURN(left, 1)
TURN(right, 2)

int main(int argc, char **argv)
{
	time_t end;
	cpu_set_t set;

	if (argc != 3) {
		fputs("usage: stacks_task CPU SECONDS\n", stderr);
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("stacks_task: sched_setaffinity");
		return 1;
	}
	end = time(NULL) + atoi(argv[2]);
	/* an odd step: neighbours in time have little in common */
	for (unsigned int way = 0; time(NULL) < end; way += 1237)
		left(way, LEVELS);
	return 0;
}

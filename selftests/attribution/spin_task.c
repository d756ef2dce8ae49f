// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spin on a CPU with a known stack, for tests of call chains: main() calls
 * spin_outer(), which calls spin_inner().
 *
 * usage: spin_task CPU SECONDS
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/c/machine.h"

/*
 * Call chains follow frame pointers, so each function needs its own stack frame.  The
 * Makefile compiles this file without optimisation.
 */
#define FRAME	__attribute__((noinline, noclone))

volatile unsigned long spin_sum;

FRAME void spin_inner(unsigned long n)
{
	while (n--) {
		spin_sum += n;
		cpu_relax();
	}
}

FRAME void spin_outer(time_t end)
{
	while (time(NULL) < end)
		spin_inner(1000);
	spin_sum++;
}

FRAME int main(int argc, char **argv)
{
	cpu_set_t set;

	if (argc != 3) {
		fputs("usage: spin_task CPU SECONDS\n", stderr);
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
	spin_outer(time(NULL) + atoi(argv[2]));
	return 0;
}

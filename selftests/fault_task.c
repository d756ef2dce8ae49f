// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A task that takes page faults at a steady rate and hardly sleeps, as programs
 * do that know nothing of the simulated hardware.  It gives its CPU away for a
 * moment after each round, so that who watches the scheduler sees it.
 *
 * usage: fault_task CPU PAGES TIMES PERIOD_US NAME
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PAGE = 4096 };

static void fail(const char *what)
{
	fprintf(stderr, "fault_task: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void touch(int pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		((volatile char *)memory)[i * PAGE] = 1;
	munmap(memory, pages * PAGE);
}

int main(int argc, char **argv)
{
	const struct timespec moment = { .tv_nsec = 50000 };
	uint64_t end;
	cpu_set_t set;

	if (argc != 6) {
		fputs("usage: fault_task CPU PAGES TIMES PERIOD_US NAME\n",
		      stderr);
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	prctl(PR_SET_NAME, argv[5]);
	end = now_us();
	for (int i = atoi(argv[3]); i > 0; i--) {
		end += atol(argv[4]);
		touch(atoi(argv[2]));
		nanosleep(&moment, NULL);
		while (now_us() < end)
			;
	}
	return 0;
}

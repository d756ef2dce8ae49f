// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A task that takes PAGES page faults in each of TIMES rounds, and sleeps for PERIOD_US
 * between two rounds, like a program that does not know the simulated hardware. With 0
 * PAGES the task spins for ever.
 *
 * usage: fault_task CPU PAGES TIMES PERIOD_US NAME
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PAGE = 4096 };

static void fail(const char *call)
{
	fprintf(stderr, "fault_task: %s: %s\n", call, strerror(errno));
	exit(1);
}

/* Take a page fault for each of @pages new pages. */
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
	const int pages = argc == 6 ? atoi(argv[2]) : 0;
	struct timespec period;
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
	period = (struct timespec){
		.tv_sec = atol(argv[4]) / 1000000,
		.tv_nsec = atol(argv[4]) % 1000000 * 1000,
	};
	for (volatile bool never = !pages; never;)
		;
	for (int i = atoi(argv[3]); i > 0; i--) {
		touch(pages);
		nanosleep(&period, NULL);
	}
	return 0;
}

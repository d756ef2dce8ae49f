// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cause memory traffic, for tests of the attribution of traffic to tasks: write
 * COUNT reads of memory to /dev/xeon_uncore_sim, TIMES times, and sleep for
 * SLEEP_US microseconds after each write.  A CPU of -1 means any CPU.
 *
 * usage: traffic_task CPU COUNT TIMES SLEEP_US [NAME]
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/c/machine.h"

static void fail(const char *step)
{
	fprintf(stderr, "traffic_task: %s: %s\n", step, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	struct timespec pause = { 0 };
	cpu_set_t set;
	char line[128];
	int fd, n;

	if (argc < 5) {
		fputs("usage: traffic_task CPU COUNT TIMES SLEEP_US [NAME]\n",
		      stderr);
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	if (atoi(argv[1]) >= 0 && sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
	if (argc > 5)
		prctl(PR_SET_NAME, argv[5]);
	pause.tv_sec = atol(argv[4]) / 1000000;
	pause.tv_nsec = atol(argv[4]) % 1000000 * 1000;
	fd = open("/dev/xeon_uncore_sim", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fail("/dev/xeon_uncore_sim");
	n = snprintf(line, sizeof(line),
		     "box=imc_0 event=0x4 umask=0x1 count=%s\n", argv[2]);
	for (int i = atoi(argv[3]); i > 0; i--) {
		if (write(fd, line, n) != n)
			fail("write");
		if (pause.tv_sec || pause.tv_nsec)
			nanosleep(&pause, NULL);
		else
			cpu_relax();
	}
	return 0;
}

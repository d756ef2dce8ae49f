// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a task on each of some CPUs.  In each of ROUNDS rounds, all tasks execute
 * heavy() while HEAVY lines of traffic are sent, then light() while LIGHT lines
 * are sent.  Tests of profiles thus know the functions' shares exactly.
 *
 * usage: shares_task TRAFFIC-FILE TRAFFIC-LINE HEAVY LIGHT ROUNDS CPU...
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/c/machine.h"

/*
 * Call chains follow frame pointers, so each function needs its own stack frame.  The
 * Makefile compiles this file without optimisation.
 */
#define FRAME	__attribute__((noinline, noclone))

/* Time after a line of traffic in which each CPU takes its sample */
#define SETTLE_NS	3000000

/*
 * Memory that the tasks share: the number of the current phase (even: heavy(),
 * odd: light()), and the number of tasks that have entered a phase, in total.
 */
struct phases {
	volatile unsigned int now, arrived;
};

static struct phases *phases;
static const char *line;
static int file, tasks;

static void wait_for_samples(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		cpu_relax();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec -
			 start.tv_nsec <
		 SETTLE_NS);
}

/*
 * Spend a phase in the calling function.  The first task, which has @parts lines
 * of traffic to send, waits until all tasks have entered the phase, sends the
 * lines and ends the phase.  The other tasks have no parts, and wait for the end
 * of the phase.
 */
static void phase(unsigned int number, int parts)
{
	__sync_fetch_and_add(&phases->arrived, 1);
	if (!parts) {
		while (phases->now == number)
			cpu_relax();
		return;
	}
	while (phases->arrived != tasks * (number + 1))
		cpu_relax();
	while (parts--) {
		if (write(file, line, strlen(line)) < 0) {
			perror("shares_task: traffic");
			exit(1);
		}
		wait_for_samples();
	}
	phases->now++;
}

FRAME void heavy(unsigned int number, int parts)
{
	phase(number, parts);
}

FRAME void light(unsigned int number, int parts)
{
	phase(number, parts);
}

static void run(int cpu, int n_heavy, int n_light, int rounds)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("shares_task: sched_setaffinity");
	for (int i = 0; i < rounds; i++) {
		heavy(2 * i, n_heavy);
		light(2 * i + 1, n_light);
	}
}

int main(int argc, char **argv)
{
	int rounds, status, failed = 0;

	if (argc < 7) {
		fputs("usage: shares_task FILE LINE HEAVY LIGHT ROUNDS CPU...\n",
		      stderr);
		return 2;
	}
	file = open(argv[1], O_WRONLY);
	line = argv[2];
	rounds = atoi(argv[5]);
	tasks = argc - 6;
	phases = mmap(NULL, sizeof(*phases), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file < 0 || phases == MAP_FAILED) {
		perror("shares_task");
		return 1;
	}
	for (int i = 1; i < tasks; i++)
		if (!fork()) {
			run(atoi(argv[6 + i]), 0, 0, rounds);
			_exit(0);
		}
	run(atoi(argv[6]), atoi(argv[3]), atoi(argv[4]), rounds);
	while (wait(&status) > 0)
		failed |= status;
	return !!failed;
}

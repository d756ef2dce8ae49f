/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that uses the PMUs at random and compares what it reads with the
 * model; random_use tells several of them when.
 */
#ifndef SELFTESTS_RANDOM_WORKER_H
#define SELFTESTS_RANDOM_WORKER_H

#include <pthread.h>

#include "random_model.h"

/* What the worker is told; it answers each with the same letter. */
enum {
	WORKER_WORK = 'w',	/* some operations, at one moment of the clock */
	WORKER_CHAOS = 'x',	/* operations until model.stop is set */
	WORKER_CLOSE = 'c',	/* check and close everything */
};

/**
 * struct crew - what all processes of a run share, in shared memory
 * @model: what everybody holds, and what it must show
 * @groups: held for reading where a group is opened, for writing where a CPU
 *	leaves: perf_group_detach() of 6.1 has a BUG for both at once
 * @operations: most of them that WORKER_WORK does
 */
struct crew {
	struct model model;
	pthread_rwlock_t groups;
	unsigned int operations;
};

/*
 * The worker's life: takes commands from @in, answers to @out, ends when @in
 * does.
 */
void worker_run(struct crew *crew, unsigned int number, uint64_t seed, int in,
		int out);

#endif

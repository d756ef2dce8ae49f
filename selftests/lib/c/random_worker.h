/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that uses the PMUs at random and compares counts with the model. random_use
 * starts several of them and sends commands.
 */
#ifndef SELFTESTS_RANDOM_WORKER_H
#define SELFTESTS_RANDOM_WORKER_H

#include <pthread.h>

#include "random_model.h"

/* Commands to the worker, which answers each with the same letter */
enum {
	WORKER_WORK = 'w',	/* some operations, at one moment of the clock */
	WORKER_CHAOS = 'x',	/* operations until model.stop is set */
	WORKER_CLOSE = 'c',	/* check and close everything */
};

/**
 * struct crew - shared memory of all processes of a run
 * @model: all events, and their expected counts
 * @groups: held for reading while a group is opened, for writing while a CPU goes
 * offline: perf_group_detach() of 6.1 has a BUG for both at once
 * @operations: the most that WORKER_WORK does
 */
struct crew {
	struct model model;
	pthread_rwlock_t groups;
	unsigned int operations;
};

/* Main loop of the worker: read commands from @in, answer to @out, end with @in. */
void worker_run(struct crew *crew, unsigned int number, uint64_t seed, int in,
		int out);

#endif

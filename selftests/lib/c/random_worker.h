/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The random worker: a process that opens, reads, controls and closes events at random
 * and compares their counts with the model. driver/random_use.c starts several workers
 * and sends commands to them.
 */
#ifndef SELFTESTS_RANDOM_WORKER_H
#define SELFTESTS_RANDOM_WORKER_H

#include "random_model.h"

/* Commands to the worker, which answers each with the same letter */
enum {
	WORKER_WORK = 'w',	/* run some operations while the clock is stopped */
	WORKER_CHAOS = 'x',	/* run operations until model.stop is set */
	WORKER_CLOSE = 'c',	/* check and close all events */
};

/*
 * Main loop of the worker: read commands from @in, answer to @out, and return at the
 * end of @in. @seed and @number determine the operations.
 */
void worker_run(struct crew *crew, unsigned int number, uint64_t seed, int in,
		int out);

#endif

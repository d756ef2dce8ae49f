// SPDX-License-Identifier: GPL-2.0-or-later
/* Main loop of the random worker: run operations at random, in their weights. */
#include <unistd.h>

#include "random_ops.h"
#include "random_worker.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static const struct {
	void (*run)(void);
	unsigned int weight;
} operations[] = {
	{ op_open, 20 }, { op_twin, 5 }, { op_group, 10 }, { op_join, 4 },
	{ op_read, 24 }, { op_enable, 12 }, { op_reset, 3 }, { op_period, 4 },
	{ op_refresh, 2 }, { op_map, 3 }, { op_nonsense, 2 }, { op_close, 16 },
	{ op_mixed, 4 },
};

/* Run an operation, chosen at random by its weight. */
static void operate(void)
{
	unsigned int weights = 0, pick;

	for (unsigned int i = 0; i < COUNT(operations); i++)
		weights += operations[i].weight;
	pick = rng_below(&rng, weights);
	for (unsigned int i = 0; i < COUNT(operations); i++) {
		if (pick < operations[i].weight) {
			operations[i].run();
			break;
		}
		pick -= operations[i].weight;
	}
	__atomic_add_fetch(&model->operations, 1, __ATOMIC_RELAXED);
}

void worker_run(struct crew *shared, unsigned int my_number, uint64_t seed,
		int in, int out)
{
	char command;

	crew = shared;
	model = &crew->model;
	number = my_number;
	self = &model->worker[number];
	rng_seed(&rng, seed * MODEL_WORKERS + number);
	while (read(in, &command, 1) == 1) {
		unsigned int n = 1 + rng_below(&rng, crew->operations);

		switch (command) {
		case WORKER_WORK:
			while (n--)
				operate();
			break;
		case WORKER_CHAOS:
			while (!__atomic_load_n(&model->stop, __ATOMIC_RELAXED))
				operate();
			break;
		case WORKER_CLOSE:
			close_all();
			break;
		}
		if (write(out, &command, 1) != 1)
			break;
	}
}

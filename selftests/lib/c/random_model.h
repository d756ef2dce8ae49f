/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected counts of random use: a model of boxes and their events that is independent of
 * the driver. The counts are exact if the simulator's clock stands while workers open,
 * stop or migrate events; the model marks each count that is not exact.
 */
#ifndef SELFTESTS_RANDOM_MODEL_H
#define SELFTESTS_RANDOM_MODEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"
#include "perf.h"

enum {
	MODEL_WORKERS = 4,
	MODEL_EVENTS = 20,	/* of a worker */
	MODEL_BOXES = 512,
	MODEL_LOG = 2048,	/* lines of the diary */
	MODEL_ALL = -1,		/* "worker" of a line that concerns all workers */
};

/* xorshift64* generator: the same seed gives the same numbers on every machine. */
struct rng {
	uint64_t state;
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* Return a number from 0 to @n - 1. */
unsigned int rng_below(struct rng *r, unsigned int n);
/* Return true in @percent of 100 calls. */
bool rng_chance(struct rng *r, unsigned int percent);

/**
 * struct model_box - a box of a package
 * @pmu: name of the PMU
 * @box_type: box type, "cbox"
 * @pkg: package
 * @type: perf's type number of the PMU
 * @hot: the workers use this box more than others
 * @dead: the PCI function was unbound; until the next reload of the driver
 * @tainted: perf may multiplex the events of this box, so the model knows bounds of the
 *	counts only; until no event of the box is enabled
 * @foreign: another program wrote the counters; until the next reload of the driver
 */
struct model_box {
	char pmu[PMU_NAME_MAX];
	const char *box_type;
	int pkg, type;
	bool hot, dead, tainted, foreign;
};

enum model_life { MODEL_FREE, MODEL_OPEN, MODEL_CLOSED };

/**
 * struct model_event - an event that a worker holds
 * @life: MODEL_CLOSED: the worker closed the event after the last quiet moment
 * @box: box that counts the event
 * @cat: event of the catalogue; NULL: a software event that leads a group
 * @shape, @config, @config1, @config2: configuration
 * @cpu: CPU of the perf context
 * @leader: index of the group's leader among the worker's events, or -1
 * @period: sample period; 0: the event does not sample
 * @enabled: the worker enabled the event
 * @was_enabled: the event was enabled at some time since the last quiet moment
 * @dead: the event's CPU went offline and the event did not migrate
 * @moved: the event migrated from another CPU
 * @limited: perf disables the event after some samples (refresh)
 * @sure: the event has a counter whenever it is enabled
 * @lo, @hi: lowest and highest possible count; equal while the count is exact
 * @total: count since the event was opened, unless @loose
 * @since, @samples: @total and number of samples when @period was last set
 * @loose: @total is not exact
 * @remade: the event was reset, its period was changed, it counted before its buffer was
 *	mapped, or it shares the counter of an equal event
 */
struct model_event {
	enum model_life life;
	struct model_box *box;
	const struct cat_event *cat;
	struct shape shape;
	uint64_t config, config1, config2;
	int cpu, leader;
	uint64_t period;
	bool enabled, was_enabled, dead, moved, limited, sure, loose, remade;
	uint64_t lo, hi;
	uint64_t total, since, samples;
};

struct model_worker {
	struct model_event event[MODEL_EVENTS];
};

/* A line of the diary: an operation of a worker, or of the machine (MODEL_ALL) */
struct model_line {
	int worker;
	char text[160];
};

/* The model, in memory that all processes of a run share */
struct model {
	struct model_box box[MODEL_BOXES];
	unsigned int boxes;
	struct model_worker worker[MODEL_WORKERS];
	unsigned int workers, failures;
	struct model_line diary[MODEL_LOG];
	unsigned int lines;
	uint64_t checks, exact_checks, operations, opened, samples;
	int online[64];		/* by CPU; in quiet moments only, except in chaos */
	bool chaos, stop;
};

/**
 * struct crew - memory that all processes of a run share
 * @model: all events, and their expected counts
 * @groups: held for reading while a group is opened, and for writing while a CPU goes
 *	offline: perf_group_detach() of 6.1 has a BUG if both happen at once
 * @operations: the most operations that WORKER_WORK runs
 */
struct crew {
	struct model model;
	pthread_rwlock_t groups;
	unsigned int operations;
};

/* List the boxes that the loaded driver has. Call it after each load of the driver. */
void model_find_boxes(struct model *m);
/* Choose the hot boxes. */
void model_heat(struct model *m, struct rng *r);
/* Return the control bits of a shape; inversion of the PCU's occupancy events is bit 30 */
uint64_t model_shape_bits(const struct cat_event *e, struct shape s);
/* Return whether @e obeys the opcode filter, the only filter that the workers set. */
bool model_obeys_opcode(const struct cat_event *e);

/*
 * Return whether an idle box can count the @n events of @set at once, by trying every
 * assignment of events to counters.
 */
bool model_fits(struct model_event *const *set, unsigned int n);
/* Return whether @e and its leader are enabled, and the CPU and the box of @e work. */
bool model_counts(const struct model_worker *w, const struct model_event *e);

/*
 * Call this at a quiet moment, when no worker opens, closes, enables or disables events.
 * Decide for each box whether all events since the last quiet moment had counters.
 */
void model_settle(struct model *m);
/* Add to all counts what the events count in @cycles cycles from cycle @start on. */
void model_pass(struct model *m, uint64_t start, uint64_t cycles);
/* Add @n transactions of event @e with opcode @opcode to the counts of @box. */
void model_transactions(struct model *m, const struct model_box *box,
			const struct cat_event *e, unsigned int opcode,
			uint64_t n);
/*
 * Handle that CPU @cpu went offline. Its events migrated to CPU @heir, where
 * perf_pmu_migrate_context() enables them, or ended if @heir is negative.
 */
void model_cpu_left(struct model *m, int cpu, int heir);
/* Handle that the PCI function of @box was unbound from the driver. */
void model_box_gone(struct model *m, struct model_box *box);

/* Write an operation of worker @worker, or of the machine (MODEL_ALL), to the diary. */
void model_note(struct model *m, int worker, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Print the last lines of the diary that name @pmu or concern all workers, oldest first.
 * "" prints the last lines about every PMU.
 */
void model_tell(const struct model *m, const char *pmu);

#endif

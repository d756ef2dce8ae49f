/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected counts of random use: a model of events on boxes that is independent of the
 * driver. It is exact while no time passes for the processes that open, stop or migrate
 * events, and marks counts that are not.
 */
#ifndef SELFTESTS_RANDOM_MODEL_H
#define SELFTESTS_RANDOM_MODEL_H

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
	MODEL_ALL = -1,		/* not of a worker: it concerns all */
};

/* xorshift64*: the same numbers everywhere for the same seed. */
struct rng {
	uint64_t state;
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* 0 to @n - 1 */
unsigned int rng_below(struct rng *r, unsigned int n);
/* true @percent times in a hundred */
bool rng_chance(struct rng *r, unsigned int percent);

/**
 * struct model_box - a box of a package
 * @pmu, @box_type, @pkg: its PMU, type and package; @type: perf's number of the PMU
 * @hot: one of the boxes that are used most
 * @dead: its PCI function was unbound; until the next reload
 * @tainted: perf may be multiplexing here, so counts are between bounds; until no event
 * is enabled any more
 * @foreign: another program has written its counters; until the next reload
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
 * @life: MODEL_CLOSED: closed since the last quiet moment
 * @box: the box that counts it
 * @cat: event of the catalogue; NULL: a software event that leads a group
 * @shape, @config, @config1, @config2: its configuration
 * @cpu: CPU of its perf context
 * @leader: index of its group's leader among the worker's events, or -1
 * @period: of a sampling event, else 0
 * @enabled: by its user; @was_enabled: at some time since the last quiet moment
 * @dead: its CPU went offline and it did not migrate
 * @moved: it migrated from another CPU
 * @limited: perf disables it after some samples (refresh)
 * @sure: it has a counter whenever it is enabled
 * @lo, @hi: its count is between these; equal while everything is exact
 * @total: count since it was opened, while that is exact
 * @since, @samples: @total and number of samples when @period was last set
 * @loose: @total is not exact any more
 * @remade: reset, or its period was changed, or it counted before it had a buffer for
 * its samples
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

/* A line of the diary; @worker may be MODEL_ALL. */
struct model_line {
	int worker;
	char text[160];
};

/* The whole model, in memory that the processes share. */
struct model {
	struct model_box box[MODEL_BOXES];
	unsigned int boxes;
	struct model_worker worker[MODEL_WORKERS];
	unsigned int workers, failures;
	struct model_line diary[MODEL_LOG];
	unsigned int lines;
	uint64_t checks, exact_checks, operations, opened, samples;
	int online[64];		/* by CPU; changes in quiet moments */
	bool chaos, stop;
};

/* Find the boxes; may be called again after a reload. */
void model_find_boxes(struct model *m);
/* Choose some boxes that are used most. */
void model_heat(struct model *m, struct rng *r);
/* Control bits of a shape; the PCU's occupancy events have separate ones */
uint64_t model_shape_bits(const struct cat_event *e, struct shape s);
/* The filters that are used here; all others are 0. */
bool model_obeys_opcode(const struct cat_event *e);

/*
 * Return whether an idle box could count all of these at once, by trying every
 * assignment.
 */
bool model_fits(struct model_event *const *set, unsigned int n);
/* Return whether it and its leader are enabled, and its CPU and box work. */
bool model_counts(const struct model_worker *w, const struct model_event *e);

/*
 * Handle a quiet moment, in which no event is opened, closed, enabled or disabled.
 * Decide whether all events since the last one had counters.
 */
void model_settle(struct model *m);
/* Account for @cycles cycles from cycle @start on. */
void model_pass(struct model *m, uint64_t start, uint64_t cycles);
/* Account for @n transactions of @e with opcode @opcode in @box. */
void model_transactions(struct model *m, const struct model_box *box,
			const struct cat_event *e, unsigned int opcode,
			uint64_t n);
/*
 * CPU @cpu went offline. Its events migrated to @heir, and are enabled then
 * (perf_pmu_migrate_context() does that), or ended if @heir is negative.
 */
void model_cpu_left(struct model *m, int cpu, int heir);
void model_box_gone(struct model *m, struct model_box *box);

/* Write an operation of worker @worker, or of all (MODEL_ALL), to the diary. */
void model_note(struct model *m, int worker, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Print the last lines of the diary about a PMU and about all, in order; "": the last
 * lines about any.
 */
void model_tell(const struct model *m, const char *pmu);

#endif

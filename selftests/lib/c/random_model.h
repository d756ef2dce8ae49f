/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What random use must have counted: a model of events on boxes that knows
 * nothing of how the driver does it.  It is exact while time stands still for
 * everybody who opens, stops or moves events, and says so where it is not.
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
	MODEL_ALL = -1,		/* not a worker's doing: it concerns all */
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
 * @pmu, @kind, @pkg: which it is; @type: perf's number of the PMU
 * @hot: one of those that are used most
 * @dead: its PCI function was taken away; until the next reload
 * @tainted: perf may take turns here just now, so counts are between bounds;
 *	until nothing is enabled any more
 */
struct model_box {
	char pmu[PMU_NAME_MAX];
	const char *kind;
	int pkg, type;
	bool hot, dead, tainted;
};

enum model_life { MODEL_FREE, MODEL_OPEN, MODEL_CLOSED };

/**
 * struct model_event - an event that a worker holds
 * @life: MODEL_CLOSED: closed since the last quiet moment
 * @box: where it counts
 * @cat: what; NULL: a software event that leads a group
 * @shape, @config, @config1, @config2: how
 * @cpu: whose perf context it is in
 * @leader: index of its group's leader among the worker's events, or -1
 * @period: of a sampling event, else 0
 * @enabled: by its user; @was_enabled: at some time since the last quiet moment
 * @dead: its CPU left and it did not move
 * @moved: it came from another CPU
 * @limited: perf disables it after some samples (refresh)
 * @sure: it has its counter whenever it is enabled
 * @lo, @hi: its count is between these; equal while everything is exact
 * @total: counted since it was opened, as long as that is exact
 * @since, @samples: @total and number of samples when @period was last set
 * @loose: @total is not exact any more
 * @remade: reset, or its period was changed, or it has counted before it had a
 *	buffer for its samples
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

/* Who did what; @worker may be MODEL_ALL. */
struct model_line {
	int worker;
	char text[160];
};

/* Everything; in memory that the processes share. */
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

/* Finds the boxes; may be called again after a reload. */
void model_find_boxes(struct model *m);
/* Picks some boxes that are used most. */
void model_heat(struct model *m, struct rng *r);
/* Control bits of a shape; the PCU's occupancy events have their own. */
uint64_t model_shape_bits(const struct cat_event *e, struct shape s);
/* The filters that are used here; all others stay 0. */
bool model_obeys_opcode(const struct cat_event *e);

/* Could an idle box count all of these at once? By trying every way. */
bool model_fits(struct model_event *const *set, unsigned int n);
/* Is it enabled, its leader too, its CPU and its box there? */
bool model_counts(const struct model_worker *w, const struct model_event *e);

/*
 * A quiet moment has come: nobody opens, closes, enables or disables. Judges
 * whether all that was there since the last one had its counters.
 */
void model_settle(struct model *m);
/* @cycles passed from cycle @start on. */
void model_pass(struct model *m, uint64_t start, uint64_t cycles);
/* @n transactions of @e with opcode @opcode came to @box. */
void model_transactions(struct model *m, const struct model_box *box,
			const struct cat_event *e, unsigned int opcode,
			uint64_t n);
/*
 * CPU @cpu has left. What was on it moved to @heir, which then is enabled
 * (perf_pmu_migrate_context() does that), or, when @heir is negative, ended.
 */
void model_cpu_left(struct model *m, int cpu, int heir);
void model_box_gone(struct model *m, struct model_box *box);

/* Notes what worker @worker does, or, MODEL_ALL, what happens to all. */
void model_note(struct model *m, int worker, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Prints, in their order, the last notes about a PMU and about what happened to
 * all; "": all of the last ones.
 */
void model_tell(const struct model *m, const char *pmu);

#endif

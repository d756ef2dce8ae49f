/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the random worker's process, which random_worker.c and the operations share,
 * and comparisons that report an event and the last operations.
 */
#ifndef SELFTESTS_RANDOM_STATE_H
#define SELFTESTS_RANDOM_STATE_H

#include "random_model.h"
#include "sampler.h"

enum { MAX_CPUS = 64, MAX_MEMBERS = 4 };

/**
 * struct holding - state of an open event that only its process has
 * @fd: the event's descriptor
 * @group_format: the event was opened with PERF_FORMAT_GROUP
 * @id: PERF_EVENT_IOC_ID of the event
 * @page: mapped page of a counting event, or NULL
 * @sampler: buffer of a sampling event that is not a member of a group
 * @last: the last reading in chaos
 * @cycles: the simulator's cycle at the last reading in chaos, or when it was opened
 */
struct holding {
	int fd;
	bool group_format;
	uint64_t id;
	void *page;
	struct sampler sampler;
	struct event_reading last;
	uint64_t cycles;
};

extern struct crew *crew;
extern struct model *model;
extern struct model_worker *self;
extern unsigned int number;
extern struct holding holdings[MODEL_EVENTS];
extern struct rng rng;

/* Return the holding of an event of this worker. */
struct holding *holding_of(const struct model_event *e);
/* Write an operation on @e and its result @value to the diary. */
void note(const struct model_event *e, const char *what, uint64_t value);
/*
 * Count a comparison. If @ok is false, count a failure, print @what with the value that
 * was read and its bounds, and for the first failures the diary of the PMU.
 */
void expect(bool ok, const struct model_event *e, const char *what,
	    uint64_t got, uint64_t lo, uint64_t hi);
void expect_eq(const struct model_event *e, const char *what, uint64_t got,
	       uint64_t want);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of a random worker's process, for random_worker.c and its operations. */
#ifndef SELFTESTS_RANDOM_STATE_H
#define SELFTESTS_RANDOM_STATE_H

#include "random_worker.h"
#include "sampler.h"

enum { MAX_CPUS = 64, MAX_MEMBERS = 4 };

/* State of its events that only this process knows */
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

struct holding *holding_of(const struct model_event *e);
void note(const struct model_event *e, const char *what, uint64_t value);
void expect(bool ok, const struct model_event *e, const char *what,
	    uint64_t got, uint64_t lo, uint64_t hi);
void expect_eq(const struct model_event *e, const char *what, uint64_t got,
	       uint64_t want);

#endif

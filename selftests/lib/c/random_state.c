// SPDX-License-Identifier: GPL-2.0-or-later
/* State of the random worker's process, and its comparisons. */
#include <inttypes.h>

#include "random_state.h"
#include "tap.h"

struct crew *crew;
struct model *model;
struct model_worker *self;
unsigned int number;
struct holding holdings[MODEL_EVENTS];
struct rng rng;

struct holding *holding_of(const struct model_event *e)
{
	return &holdings[e - self->event];
}

void note(const struct model_event *e, const char *what, uint64_t value)
{
	model_note(model, number, "%s event %td (config %#" PRIx64 "/%#" PRIx64
		   ", CPU %d, period %" PRIu64 ", leader %d): %s %" PRIi64,
		   e->box->pmu, e - self->event, e->config, e->config1, e->cpu,
		   e->period, e->leader, what, (int64_t)value);
}

void expect(bool ok, const struct model_event *e, const char *what,
	    uint64_t got, uint64_t lo, uint64_t hi)
{
	__atomic_add_fetch(&model->checks, 1, __ATOMIC_RELAXED);
	if (ok)
		return;
	__atomic_add_fetch(&model->failures, 1, __ATOMIC_RELAXED);
	check(false, "worker %u, %s of package %d, event %td%s%s: %s: got %"
	      PRIu64 ", want %" PRIu64 " to %" PRIu64, number, e->box->pmu,
	      e->box->pkg, e - self->event, e->cat ? " " : "",
	      e->cat ? e->cat->name : "", what, got, lo, hi);
	note(e, what, got);
	if (model->failures <= 3)
		model_tell(model, e->box->pmu);
}

void expect_eq(const struct model_event *e, const char *what, uint64_t got,
	       uint64_t want)
{
	expect(got == want, e, what, got, want, want);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Random choices of events, boxes, CPUs and configurations for the random worker. */
#include <string.h>

#include "random_ops.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* Find an unused entry of this worker's events. */
struct model_event *free_event(void)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_FREE)
			return &self->event[i];
	return NULL;
}

/* Choose an open event of this worker. */
struct model_event *any_event(void)
{
	unsigned int first = rng_below(&rng, MODEL_EVENTS);

	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		struct model_event *e;

		e = &self->event[(first + i) % MODEL_EVENTS];
		if (e->life == MODEL_OPEN)
			return e;
	}
	return NULL;
}

/* Choose a box; in 60 % of the calls a hot box, so that some boxes get many events. */
struct model_box *any_box(void)
{
	bool hot = rng_chance(&rng, 60);
	struct model_box *box;

	for (int i = 0; i < 100; i++) {
		box = &model->box[rng_below(&rng, model->boxes)];
		if (!hot || box->hot)
			break;
	}
	return box;
}

/* Return the CPU in the PMU's cpumask that runs all events of the package, or -1. */
int perf_cpu(const struct model_box *box)
{
	return pmu_cpu(box->pmu, box->pkg);
}

/* Choose an online CPU of the event's package, or the event's CPU if none is online. */
int package_cpu_of(const struct model_event *e)
{
	const struct model_box *box = e->box;
	int first = rng_below(&rng, MAX_CPUS);

	for (int i = 0; i < MAX_CPUS; i++) {
		int cpu = (first + i) % MAX_CPUS;

		if (model->online[cpu] && cpu_package(cpu) == box->pkg)
			return cpu;
	}
	return e->cpu;
}

/*
 * Choose the CPU argument of perf_event_open(2): in most calls the CPU in the cpumask,
 * otherwise any CPU of the package, from which the driver moves a counting event to the
 * CPU in the cpumask. The driver does not move a sampling event, so the CPU of a sampling
 * event is e->cpu, which sample_elsewhere() may have changed.
 */
int open_cpu(const struct model_event *e)
{
	if (!e->cat || e->period || rng_chance(&rng, 75))
		return e->cpu;
	return package_cpu_of(e);
}

/*
 * Move a sampling event to another CPU of the package (in chaos only). The event shares
 * the counter of an equal event, so its samples begin at an unknown count.
 */
void sample_elsewhere(struct model_event *e)
{
	e->cpu = package_cpu_of(e);
	e->remade = true;
}

/*
 * Mark @e, and the sampling events that are equal to it, as remade. Equal sampling events
 * share a counter, and its overflows may come at any phase of the count of each event.
 */
void note_sharing(struct model_event *e)
{
	for (unsigned int w = 0; w < model->workers; w++) {
		for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
			struct model_event *other = &model->worker[w].event[i];

			if (other == e || other->life != MODEL_OPEN ||
			    other->box != e->box || other->period != e->period ||
			    other->config != e->config || other->config1 != e->config1)
				continue;
			other->remade = true;
			e->remade = true;
		}
	}
}

/*
 * Return whether @e is an event of @type that the worker can use. The CBo's event 0x1f
 * (§2.3.1.1) counts the occupancy of another event. An event with "?" in its string, such
 * as the frequency bands, needs a filter, and the model knows the opcode filter only.
 */
static bool usable(const struct cat_event *e, const char *type)
{
	if (strcmp(e->box, type))
		return false;
	if (cat_is_relay(e))
		return false;
	return !strchr(e->string, '?') || model_obeys_opcode(e);
}

/* Choose an event of the catalogue for a box of @type. */
static const struct cat_event *any_cat(const char *type)
{
	size_t n;
	const struct cat_event *events = catalogue(&n), *e;

	for (;;) {
		e = &events[rng_below(&rng, n)];
		/* selftests/driver/filters.c tests filters other than the opcode filter */
		if (usable(e, type) &&
		    (!model_obeys_opcode(e) || !strstr(e->string, "nid")))
			return e;
	}
}

static unsigned int opcode_of(struct rng *r)
{
	static const unsigned int opcodes[] = { 0x180, 0x182, 0x187 };

	return opcodes[rng_below(r, COUNT(opcodes))];
}

/* Initialise @e for @box with a random event, threshold, inversion and opcode filter. */
void choose(struct model_event *e, struct model_box *box)
{
	*e = (struct model_event){
		.box = box, .cat = any_cat(box->box_type), .leader = -1,
		.sure = true,
	};
	if (!e->cat->fixed && !e->cat->free && rng_chance(&rng, 30)) {
		e->shape.thresh = 1 + rng_below(&rng, 3);
		e->shape.invert = rng_chance(&rng, 40);
	}
	e->config = e->cat->config | model_shape_bits(e->cat, e->shape);
	e->config1 = e->cat->config1;
	e->config2 = e->cat->config2;
	if (model_obeys_opcode(e->cat))
		e->config1 |= (uint64_t)opcode_of(&rng) << 52;
}

/*
 * Choose a sample period: more than 75 times the most that the event adds in a cycle,
 * and in chaos, where the clock runs, more than 10 million.
 */
void choose_period(struct model_event *e)
{
	unsigned int step = e->cat->max_inc / 2 + 1;

	e->period = model->chaos ? 10000019 + rng_below(&rng, 30000000) :
				   (150 + rng_below(&rng, 3000)) * step;
}

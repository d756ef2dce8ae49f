// SPDX-License-Identifier: GPL-2.0-or-later
/* Random choices: an event, a box, a CPU, a configuration. */
#include <string.h>

#include "random_ops.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

struct model_event *free_event(void)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_FREE)
			return &self->event[i];
	return NULL;
}

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

/* The CPU on which all events of the package run, or -1 */
int perf_cpu(const struct model_box *box)
{
	return pmu_cpu(box->pmu, box->pkg);
}

/* Choose an online CPU of the event's package. */
int package_cpu_of(const struct model_event *e)
{
	const struct model_box *box = e->box;
	int first = rng_below(&rng, MAX_CPUS);

	for (int i = 0; i < MAX_CPUS; i++) {
		int other = (first + i) % MAX_CPUS;

		if (model->online[other] && cpu_package(other) == box->pkg)
			return other;
	}
	return e->cpu;
}

/*
 * Choose a CPU to open an event for; mostly the one on which it will run. An event that
 * samples stays on its CPU: sample_elsewhere().
 */
int open_cpu(const struct model_event *e)
{
	if (!e->cat || e->period || rng_chance(&rng, 75))
		return e->cpu;
	return package_cpu_of(e);
}

/*
 * In chaos: sample another CPU. The event shares the counter of an equal one, so its
 * samples begin at an unknown count.
 */
void sample_elsewhere(struct model_event *e)
{
	e->cpu = package_cpu_of(e);
	e->remade = true;
}

/* Equal samplers share a counter, and their samples have its phase. */
void note_sharing(struct model_event *e)
{
	for (unsigned int w = 0; w < model->workers; w++) {
		for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
			struct model_event *o = &model->worker[w].event[i];

			if (o == e || o->life != MODEL_OPEN || o->box != e->box ||
			    o->period != e->period || o->config != e->config ||
			    o->config1 != e->config1)
				continue;
			o->remade = true;
			e->remade = true;
		}
	}
}

/* The frequency bands need a filter, the relay event (§2.3.1.1) another event. */
static bool usable(const struct cat_event *e, const char *type)
{
	if (strcmp(e->box, type))
		return false;
	if (!strcmp(type, "cbox") && (e->code == 0x1f))
		return false;
	return !strchr(e->string, '?') || model_obeys_opcode(e);
}

static const struct cat_event *any_cat(const char *type)
{
	size_t n;
	const struct cat_event *all = catalogue(&n), *e;

	for (;;) {
		e = &all[rng_below(&rng, n)];
		/* selftests/driver/filters.c tests filters other than the opcode's */
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

/* Choose the configuration of @e for @box: an event, a shape, filters. */
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

void choose_period(struct model_event *e)
{
	unsigned int step = e->cat->max_inc / 2 + 1;

	e->period = model->chaos ? 10000019 + rng_below(&rng, 30000000) :
				   (150 + rng_below(&rng, 3000)) * step;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations of the random worker that close events; each event is checked before. */
#include <sys/mman.h>
#include <unistd.h>

#include "random_ops.h"

static void close_event(struct model_event *e)
{
	struct holding *h = holding_of(e);

	check_event(e);
	if (model->chaos && e->period)
		check_last_samples(e);
	__atomic_add_fetch(&model->samples, sampler_drain(&h->sampler),
			   __ATOMIC_RELAXED);
	note(e, "close", 0);
	if (h->page)
		munmap(h->page, sysconf(_SC_PAGESIZE));
	if (h->sampler.ring)
		sampler_close(&h->sampler);
	else
		close(h->fd);
	e->life = MODEL_CLOSED;
	/* the members of the group become single events */
	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		struct model_event *member = &self->event[i];

		if (member->life != MODEL_OPEN ||
		    member->leader != e - self->event)
			continue;
		member->leader = -1;
		/*
		 * A member that did not count because its leader was disabled starts
		 * to count at a time that the model does not know.
		 */
		if (!e->enabled)
			e->box->tainted = true;
	}
	e->enabled = false;
}

void op_close(void)
{
	struct model_event *e = any_event();

	if (!e)
		return;
	/* in most calls close the members of the group before the leader */
	for (unsigned int i = MODEL_EVENTS; rng_chance(&rng, 85) && i--;)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			close_event(&self->event[i]);
	close_event(e);
}

void close_all(void)
{
	for (unsigned int i = MODEL_EVENTS; i--;)
		if (self->event[i].life == MODEL_OPEN)
			close_event(&self->event[i]);
}

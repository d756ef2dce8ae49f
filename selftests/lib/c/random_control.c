// SPDX-License-Identifier: GPL-2.0-or-later
/* Enable, disable, reset and map events at random; change their sample periods. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random_ops.h"

static void set_enabled(struct model_event *e, bool on)
{
	e->was_enabled |= on;
	if (on && !e->enabled)
		e->sure = true;
	e->enabled = on;
	/* the group is added and removed with its leader */
	for (unsigned int i = 0; on && i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			self->event[i].sure = true;
}

void op_enable(void)
{
	bool on = rng_chance(&rng, 60), all = rng_chance(&rng, 30);
	struct model_event *e = any_event();
	int err;

	if (!e)
		return;
	note(e, on ? "enable" : "disable", all);
	err = ioctl(holding_of(e)->fd, on ? PERF_EVENT_IOC_ENABLE :
				    PERF_EVENT_IOC_DISABLE,
		    all ? PERF_IOC_FLAG_GROUP : 0);
	expect_eq(e, "enable or disable", err ? errno : 0, 0);
	if (all && e->leader >= 0)
		e = &self->event[e->leader];
	set_enabled(e, on);
	for (unsigned int i = 0; all && i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			set_enabled(&self->event[i], on);
}

void op_reset(void)
{
	struct model_event *e = any_event();

	if (!e)
		return;
	note(e, "reset", 0);
	expect_eq(e, "reset", ioctl(holding_of(e)->fd, PERF_EVENT_IOC_RESET, 0) ?
			      errno : 0, 0);
	e->lo = e->hi = 0;
	e->remade = true;
	holding_of(e)->last.value = 0;
}

void op_period(void)
{
	struct model_event *e = any_event(), old;
	uint64_t period;
	int err;

	if (!e || !e->cat)
		return;
	old = *e;
	choose_period(e);
	period = e->period;
	e->period = old.period;
	if (old.period && !model->chaos)
		check_exact(e);
	note(e, "period", period);
	err = ioctl(holding_of(e)->fd, PERF_EVENT_IOC_PERIOD, &period) ? errno : 0;
	/*
	 * the perf CPU may have changed just before it was opened: then it samples with
	 * an event of the driver, which keeps its period
	 */
	if (model->chaos && err == EINVAL)
		return;
	expect_eq(e, "new period", err, old.period ? 0 : EINVAL);
	if (!old.period)
		return;
	e->samples += (e->total - e->since) / e->period;
	e->since = e->total;
	e->period = period;
	holding_of(e)->sampler.period = period;
	e->remade = true;
}

/* Let perf disable it after @n more samples. */
void op_refresh(void)
{
	unsigned int n = 1 + rng_below(&rng, 5);
	struct model_event *e = any_event();
	int err;

	if (!e || rng_chance(&rng, 60))
		return;
	note(e, "refresh", n);
	err = ioctl(holding_of(e)->fd, PERF_EVENT_IOC_REFRESH, n) ? errno : 0;
	expect_eq(e, "refresh", err, e->period ? 0 : EINVAL);
	if (err)
		return;
	set_enabled(e, true);
	e->limited = e->remade = e->loose = true;
	e->sure = false;
}

void op_map(void)
{
	struct model_event *e = any_event();
	size_t size = sysconf(_SC_PAGESIZE);
	struct holding *h;

	if (!e || !e->cat || e->period)
		return;
	h = holding_of(e);
	if (h->page) {
		munmap(h->page, size);
		h->page = NULL;
		return;
	}
	h->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	expect(h->page != MAP_FAILED, e, "mmap", errno, 0, 0);
	if (h->page == MAP_FAILED)
		h->page = NULL;
	else
		expect_eq(e, "may be read with rdpmc",
			  ((struct perf_event_mmap_page *)h->page)->cap_user_rdpmc,
			  0);
}

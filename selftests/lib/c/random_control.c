// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations of the random worker that enable, disable, reset and map events, and that
 * change sample periods.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random_ops.h"

/*
 * Tell the model that the user enabled or disabled an event. An event that was just
 * enabled has a counter until model_settle() finds that the events do not fit.
 */
static void set_enabled(struct model_event *e, bool on)
{
	e->was_enabled |= on;
	if (on && !e->enabled)
		e->sure = true;
	e->enabled = on;
	/* perf adds the members to the PMU when the leader is enabled */
	for (unsigned int i = 0; on && i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			self->event[i].sure = true;
}

/* Enable or disable an event, or by PERF_IOC_FLAG_GROUP its whole group. */
void op_enable(void)
{
	bool on = rng_chance(&rng, 60), group = rng_chance(&rng, 30);
	struct model_event *e = any_event();
	int err;

	if (!e)
		return;
	note(e, on ? "enable" : "disable", group);
	err = ioctl(holding_of(e)->fd, on ? PERF_EVENT_IOC_ENABLE :
				    PERF_EVENT_IOC_DISABLE,
		    group ? PERF_IOC_FLAG_GROUP : 0);
	expect_eq(e, "enable or disable", err ? errno : 0, 0);
	if (group && e->leader >= 0)
		e = &self->event[e->leader];
	set_enabled(e, on);
	for (unsigned int i = 0; group && i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			set_enabled(&self->event[i], on);
}

/* Set the count of an event to 0. */
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

/* Change the sample period; perf must refuse this for an event that does not sample. */
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
	 * If the perf CPU changed just before the event was opened, the event samples
	 * with an event of the driver, which keeps its period.
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

/*
 * Enable a sampling event for a few more samples (PERF_EVENT_IOC_REFRESH). perf disables
 * the event at a time that the model does not know, so its count is not exact any more.
 */
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

/* Map the page of a counting event, or unmap the page. It must not permit rdpmc. */
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

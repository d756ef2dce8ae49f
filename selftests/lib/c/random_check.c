// SPDX-License-Identifier: GPL-2.0-or-later
/* Read events, and compare counts and samples with the model. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "random_ops.h"
#include "sim.h"

/* Value and times of one event; of the whole group if it leads one */
int read_event(const struct model_event *e, struct event_reading *r)
{
	uint64_t buf[3 + 2 * (MODEL_EVENTS + 1)];
	const struct holding *h = holding_of(e);
	ssize_t n = read(h->fd, buf, sizeof(buf));

	if (n < 0)
		return -errno;
	if (!h->group_format) {
		*r = (struct event_reading){ buf[0], buf[1], buf[2] };
		return n == 4 * sizeof(*buf) ? 0 : -EIO;
	}
	r->enabled = buf[1];
	r->running = buf[2];
	for (unsigned int i = 0; i < buf[0]; i++) {
		if (buf[4 + 2 * i] == h->id) {
			r->value = buf[3 + 2 * i];
			return 0;
		}
	}
	return -EIO;
}

static void check_samples(struct model_event *e, uint64_t value)
{
	struct sampler *s = &holding_of(e)->sampler;
	uint64_t want;

	if (!s->ring || e->limited)
		return;
	if (!e->loose)
		want = e->samples + (e->total - e->since) / e->period;
	else if (!e->remade)
		want = value / e->period;
	else
		return;
	expect_eq(e, "samples", sampler_wait(s, want), want);
	expect_eq(e, "lost samples", s->lost, 0);
	expect_eq(e, "samples of a wrong period or before their time",
		  e->remade || e->loose || e->moved ? 0 : s->odd, 0);
}

/* The count must be within the model's bounds. */
void check_exact(struct model_event *e)
{
	struct event_reading r = { 0 };
	int err = read_event(e, &r);

	expect_eq(e, "read", -err, 0);
	expect(r.value >= e->lo && r.value <= e->hi, e, "count", r.value, e->lo,
	       e->hi);
	if (e->lo == e->hi)
		__atomic_add_fetch(&model->exact_checks, 1, __ATOMIC_RELAXED);
	expect(r.running <= r.enabled, e, "time running", r.running, 0,
	       r.enabled);
	if (e->period)
		check_samples(e, r.value);
}

/*
 * While other processes change everything: counts do not decrease, do not grow faster
 * than time allows, and an event that should run does run.
 */
static void check_moving(struct model_event *e)
{
	struct holding *h = holding_of(e);
	struct event_reading a = { 0 }, b = { 0 };
	bool ticks = e->cat && e->cat->period == 1 && e->cat->wave[0] == 1 &&
		     !e->shape.thresh;
	uint64_t before = sim_cycles(), most;
	int err = read_event(e, &a);

	expect_eq(e, "read", -err, 0);
	if (!e->cat)
		return;
	most = (sim_cycles() - h->cycles) *
	       (e->shape.thresh ? 1 : e->cat->max_inc ?: 1);
	h->cycles = before;
	expect(a.running <= a.enabled, e, "time running", a.running, 0,
	       a.enabled);
	expect(a.value >= h->last.value, e, "count goes back", a.value,
	       h->last.value, UINT64_MAX);
	expect(a.running >= h->last.running && a.enabled >= h->last.enabled, e,
	       "times go back", a.running, h->last.running, UINT64_MAX);
	/* a counter that another program has written may have any value */
	expect(a.value - h->last.value <= most || e->box->foreign, e,
	       "more than time allows", a.value - h->last.value, 0, most);
	h->last = a;
	if (!ticks || e->box->dead)
		return;
	for (int i = 0; i < 2000; i++) {
		read_event(e, &b);
		if (b.value > a.value || b.running - a.running < 1000000)
			break;
	}
	expect(b.value > a.value || b.running - a.running < 1000000, e,
	       "does not grow though it runs", b.value, a.value + 1, UINT64_MAX);
}

void check_event(struct model_event *e)
{
	if (model->chaos)
		check_moving(e);
	else
		check_exact(e);
}

void op_read(void)
{
	struct model_event *e = any_event();

	if (e)
		check_event(e);
}

/*
 * In chaos: the clock is stopped now, and perf has delivered what was due. The perf CPU may
 * have changed while the event was opened, and its first period may be shorter: compare
 * the sum of the periods.
 */
void check_last_samples(struct model_event *e)
{
	struct holding *h = holding_of(e);
	struct event_reading r;
	uint64_t rest;

	if (!h->sampler.ring || e->remade || e->limited || e->box->foreign)
		return;
	ioctl(h->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read_event(e, &r))
		return;
	sampler_drain(&h->sampler);
	rest = r.value - h->sampler.weight;
	expect(rest < e->period, e, "counts without a sample in the end", rest, 0,
	       e->period - 1);
	expect_eq(e, "lost samples", h->sampler.lost, 0);
}

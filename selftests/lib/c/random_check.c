// SPDX-License-Identifier: GPL-2.0-or-later
/* Read events, and compare counts and samples with the model. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "random_ops.h"
#include "sim.h"

/*
 * Read the value and the times of an event. read(2) of a group's leader returns the
 * values of all members: choose the value with the ID of the event.
 */
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

/*
 * Compare the number of samples with the count: the exact count since the period was
 * last set or, if the count is not exact but the event was never reset, @value.
 */
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

/* Check that the count is within the model's bounds. */
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
 * Check an event in chaos, while other processes migrate events and write counters: the
 * count does not decrease, does not grow faster than the cycles allow, and the count of
 * a clock event grows while perf's time running grows.
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
	/* a counter of a foreign box, which another program wrote, may have any value */
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
 * Check the samples of an event that chaos closes: the count must not contain a whole
 * period for which perf has not delivered a sample. If the perf CPU changed while the
 * event was opened, the first period is shorter, so compare the count with the sum of
 * the samples' periods and not with their number.
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that uses the PMUs at random.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "random_worker.h"
#include "sampler.h"
#include "sim.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

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

static struct crew *crew;
static struct model *model;
static struct model_worker *self;
static unsigned int number;
static struct holding holdings[MODEL_EVENTS];
static struct rng rng;

static struct holding *of(const struct model_event *e)
{
	return &holdings[e - self->event];
}

static void note(const struct model_event *e, const char *what, uint64_t value)
{
	model_note(model, number, "%s event %td (config %#" PRIx64 "/%#" PRIx64
		   ", CPU %d, period %" PRIu64 ", leader %d): %s %" PRIi64,
		   e->box->pmu, e - self->event, e->config, e->config1, e->cpu,
		   e->period, e->leader, what, (int64_t)value);
}

static void expect(bool ok, const struct model_event *e, const char *what,
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

static void expect_eq(const struct model_event *e, const char *what,
		      uint64_t got, uint64_t want)
{
	expect(got == want, e, what, got, want, want);
}

/* --- choosing ------------------------------------------------------------- */

static struct model_event *free_event(void)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_FREE)
			return &self->event[i];
	return NULL;
}

static struct model_event *any_event(void)
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

static struct model_box *any_box(void)
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
static int perf_cpu(const struct model_box *box)
{
	return pmu_cpu(box->pmu, box->pkg);
}

/* Choose an online CPU of the event's package. */
static int package_cpu_of(const struct model_event *e)
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
static int open_cpu(const struct model_event *e)
{
	if (!e->cat || e->period || rng_chance(&rng, 75))
		return e->cpu;
	return package_cpu_of(e);
}

/*
 * In chaos: sample another CPU. The event shares the counter of an equal one, so its
 * samples begin at an unknown count.
 */
static void sample_elsewhere(struct model_event *e)
{
	e->cpu = package_cpu_of(e);
	e->remade = true;
}

/* Equal samplers share a counter, and their samples have its phase. */
static void note_sharing(struct model_event *e)
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
static void choose(struct model_event *e, struct model_box *box)
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

static void choose_period(struct model_event *e)
{
	unsigned int step = e->cat->max_inc / 2 + 1;

	e->period = model->chaos ? 10000019 + rng_below(&rng, 30000000) :
				   (150 + rng_below(&rng, 3000)) * step;
}

/* --- opening -------------------------------------------------------------- */

static void attr_of(struct perf_event_attr *attr, const struct model_event *e)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr), .type = e->box->type,
		.config = e->config, .config1 = e->config1,
		.config2 = e->config2,
		.sample_period = e->period,
		.disabled = !e->enabled,
		/* the events of a group have one clock, and samplers use this one */
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING |
			       PERF_FORMAT_ID,
	};
	if (!e->cat) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_DUMMY;
	}
	if (e->leader < 0)
		attr->read_format |= PERF_FORMAT_GROUP;
}

/* Value and times of one event; of the whole group if it leads one */
static int read_event(const struct model_event *e, struct event_reading *r)
{
	uint64_t buf[3 + 2 * (MODEL_EVENTS + 1)];
	const struct holding *h = of(e);
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
 * Start a sampler that has its buffer now. Its CPU may be offline by now:
 * perf starts events that it migrates, and samples without a buffer are lost.
 */
static void start_sampler(struct model_event *e)
{
	struct event_reading r = { 0 };

	expect_eq(e, "read", -read_event(e, &r), 0);
	e->remade = r.value;
	if (e->enabled)
		expect_eq(e, "enable", -sampler_enable(&of(e)->sampler), 0);
}

/* Open the chosen event; return 0 or -errno. */
static int open_event(struct model_event *e)
{
	int group = e->leader < 0 ? -1 : holdings[e->leader].fd, fd;
	struct holding *h = of(e);
	struct perf_event_attr attr;

	*h = (struct holding){ .fd = -1, .group_format = e->leader < 0 };
	attr_of(&attr, e);
	h->cycles = sim_cycles();
	if (e->period && e->leader < 0) {
		attr.disabled = 1;
		fd = sampler_open_attr(&h->sampler, &attr, e->cpu);
		h->fd = fd ? fd : h->sampler.fd;
	} else {
		h->fd = perf_open(&attr, -1, open_cpu(e), group);
	}
	note(e, e->enabled ? "open" : "open disabled", h->fd);
	if (h->fd < 0)
		return h->fd;
	if (ioctl(h->fd, PERF_EVENT_IOC_ID, &h->id))
		expect_eq(e, "PERF_EVENT_IOC_ID", errno, 0);
	if (h->sampler.ring)
		start_sampler(e);
	if (e->period)
		note_sharing(e);
	e->was_enabled = e->enabled;
	e->life = MODEL_OPEN;
	__atomic_add_fetch(&model->opened, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Open a single event, or a group's leader, and check the result. */
static void open_alone(struct model_event *e)
{
	int err, want = e->box->dead ? -ENODEV : 0;

	if (e->cpu < 0)
		return;
	if (e->period && e->cat->free)
		want = want ? want : -EINVAL;
	err = open_event(e);
	/* the CPU, or in chaos the box, may fail at this moment */
	if (model->chaos && (err == -ENODEV || err == -EINVAL) && want != err)
		return;
	expect_eq(e, "open", -err, -want);
}

static void op_open(void)
{
	struct model_event *e = free_event();

	if (!e)
		return;
	choose(e, any_box());
	e->cpu = perf_cpu(e->box);
	e->enabled = rng_chance(&rng, 80);
	if (rng_chance(&rng, 30))
		choose_period(e);
	if (e->period && model->chaos && rng_chance(&rng, 50))
		sample_elsewhere(e);
	open_alone(e);
}

/* Open an equal event: it must share the counter of the first one. */
static void op_twin(void)
{
	struct model_event *e = free_event(), *first = any_event();

	if (!e || !first || !first->cat || first->period)
		return;
	choose(e, first->box);
	e->cat = first->cat;
	e->shape = first->shape;
	e->config = first->config;
	e->config1 = first->config1;
	e->config2 = first->config2;
	e->cpu = perf_cpu(e->box);
	e->enabled = true;
	open_alone(e);
}

static unsigned int members_of(const struct model_event *leader,
			       struct model_event **set)
{
	unsigned int n = 0;

	if (leader->cat)
		set[n++] = (struct model_event *)leader;
	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == leader - self->event)
			set[n++] = &self->event[i];
	return n;
}

/* Add a member to a group; refused if the events could never count together. */
static void join(struct model_event *leader)
{
	struct model_event *set[MODEL_EVENTS + 1], *e = free_event();
	unsigned int n = members_of(leader, set);
	int err, want = 0;

	if (!e || n >= MAX_MEMBERS + 1)
		return;
	choose(e, leader->box);
	e->cpu = leader->cpu;
	e->leader = leader - self->event;
	e->enabled = rng_chance(&rng, 90);
	set[n++] = e;
	if (e->box->dead)
		want = -ENODEV;
	else if (!model_fits(set, n))
		want = -EINVAL;
	err = open_event(e);
	/* its leader may have migrated, or the CPU may be offline */
	if (model->chaos && (err == -ENODEV || err == -EINVAL))
		return;
	expect_eq(e, "open in a group", -err, -want);
}

static void op_group(void)
{
	struct model_event *leader = free_event();
	unsigned int n = 1 + rng_below(&rng, MAX_MEMBERS - 1);

	if (!leader)
		return;
	pthread_rwlock_rdlock(&crew->groups);
	choose(leader, any_box());
	leader->cpu = perf_cpu(leader->box);
	leader->enabled = rng_chance(&rng, 60);
	if (rng_chance(&rng, 15))
		leader->cat = NULL;	/* perf moves it to the uncore's context */
	else if (rng_chance(&rng, 15))
		choose_period(leader);
	if (leader->cat)
		open_alone(leader);
	else if (leader->cpu >= 0)
		open_event(leader);
	while (leader->life == MODEL_OPEN && n--)
		join(leader);
	pthread_rwlock_unlock(&crew->groups);
}

/* Add a member late, after the group has counted for a while. */
static void op_join(void)
{
	struct model_event *leader = any_event();

	if (!leader || leader->leader >= 0 || leader->dead)
		return;
	/*
	 * A bug of perf (6.1 at least): a software event was moved to the uncore's
	 * context for its group, left the group and then migrated with its CPU. perf
	 * takes it for one that must still be moved, and locks that context's mutex
	 * twice.
	 */
	if (!leader->cat)
		return;
	pthread_rwlock_rdlock(&crew->groups);
	join(leader);
	pthread_rwlock_unlock(&crew->groups);
}

/* --- reading -------------------------------------------------------------- */

static void check_samples(struct model_event *e, uint64_t value)
{
	struct sampler *s = &of(e)->sampler;
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
static void check_exact(struct model_event *e)
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
	struct holding *h = of(e);
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

static void check_event(struct model_event *e)
{
	if (model->chaos)
		check_moving(e);
	else
		check_exact(e);
}

static void op_read(void)
{
	struct model_event *e = any_event();

	if (e)
		check_event(e);
}

/* --- controlling events --------------------------------------------------- */

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

static void op_enable(void)
{
	bool on = rng_chance(&rng, 60), all = rng_chance(&rng, 30);
	struct model_event *e = any_event();
	int err;

	if (!e)
		return;
	note(e, on ? "enable" : "disable", all);
	err = ioctl(of(e)->fd, on ? PERF_EVENT_IOC_ENABLE :
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

static void op_reset(void)
{
	struct model_event *e = any_event();

	if (!e)
		return;
	note(e, "reset", 0);
	expect_eq(e, "reset", ioctl(of(e)->fd, PERF_EVENT_IOC_RESET, 0) ?
			      errno : 0, 0);
	e->lo = e->hi = 0;
	e->remade = true;
	of(e)->last.value = 0;
}

static void op_period(void)
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
	err = ioctl(of(e)->fd, PERF_EVENT_IOC_PERIOD, &period) ? errno : 0;
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
	of(e)->sampler.period = period;
	e->remade = true;
}

/* Let perf disable it after @n more samples. */
static void op_refresh(void)
{
	unsigned int n = 1 + rng_below(&rng, 5);
	struct model_event *e = any_event();
	int err;

	if (!e || rng_chance(&rng, 60))
		return;
	note(e, "refresh", n);
	err = ioctl(of(e)->fd, PERF_EVENT_IOC_REFRESH, n) ? errno : 0;
	expect_eq(e, "refresh", err, e->period ? 0 : EINVAL);
	if (err)
		return;
	set_enabled(e, true);
	e->limited = e->remade = e->loose = true;
	e->sure = false;
}

static void op_map(void)
{
	struct model_event *e = any_event();
	size_t size = sysconf(_SC_PAGESIZE);
	struct holding *h;

	if (!e || !e->cat || e->period)
		return;
	h = of(e);
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

/*
 * In chaos: groups of several PMUs, for a moment. An event of software may join an event
 * of the uncore. Whether the events of two boxes may form a group is the kernel's to
 * decide.
 */
static void op_mixed(void)
{
	struct model_event *leader = any_event(), member;
	struct perf_event_attr attr;
	struct event_reading r;
	int fd;

	if (!model->chaos || !leader || !leader->cat || leader->leader >= 0)
		return;
	choose(&member, any_box());
	member.cpu = leader->cpu;
	member.leader = leader - self->event;
	member.enabled = true;
	if (rng_chance(&rng, 50))
		member.cat = NULL;
	else if (rng_chance(&rng, 50))
		choose_period(&member);
	attr_of(&attr, &member);
	if (rng_chance(&rng, 25))
		member.cpu = package_cpu_of(leader);
	pthread_rwlock_rdlock(&crew->groups);
	fd = perf_open(&attr, -1, member.cpu, of(leader)->fd);
	pthread_rwlock_unlock(&crew->groups);
	note(leader, "mixed member", fd);
	if (fd < 0)
		return;
	expect_eq(leader, "read of a mixed group", -read_event(leader, &r), 0);
	close(fd);
}

/* Open an event that must be refused, and that must not change anything. */
static void op_nonsense(void)
{
	struct model_event e;
	struct perf_event_attr attr;
	int fd, want = EINVAL;

	choose(&e, any_box());
	e.cpu = perf_cpu(e.box);
	/* no CPU of the package is online: refused for that reason */
	if (e.cpu < 0)
		return;
	attr_of(&attr, &e);
	switch (rng_below(&rng, 4)) {
	case 0:
		attr.config |= 1ULL << 62;
		break;
	case 1:
		attr.config2 = 1ULL << 62 | 1;
		attr.config = e.config & ~0xffULL;
		if (!strcmp(e.box->box_type, "qpi"))
			return;
		break;
	case 2:
		attr.precise_ip = 2;
		want = EOPNOTSUPP;
		break;
	case 3:
		e.cpu = -1;
		break;
	}
	fd = perf_open(&attr, e.cpu < 0 ? 0 : -1, e.cpu, -1);
	if (fd < 0 && (e.box->dead || model->chaos))
		return;
	expect(fd == -want, &e, "nonsense opens", fd < 0 ? -fd : 0, want, want);
	if (fd >= 0)
		close(fd);
}

/* --- closing -------------------------------------------------------------- */

/*
 * In chaos: the clock is stopped now, and perf has delivered what was due. The perf CPU may
 * have changed while the event was opened, and its first period may be shorter: compare
 * the sum of the periods.
 */
static void check_last_samples(struct model_event *e)
{
	struct holding *h = of(e);
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

static void close_event(struct model_event *e)
{
	struct holding *h = of(e);

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
	/* without their leader they are single events */
	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		struct model_event *member = &self->event[i];

		if (member->life != MODEL_OPEN ||
		    member->leader != e - self->event)
			continue;
		member->leader = -1;
		/*
		 * an event that was disabled through its leader starts at an unknown
		 * time
		 */
		if (!e->enabled)
			e->box->tainted = true;
	}
	e->enabled = false;
}

static void op_close(void)
{
	struct model_event *e = any_event();

	if (!e)
		return;
	/* mostly the members first */
	for (unsigned int i = MODEL_EVENTS; rng_chance(&rng, 85) && i--;)
		if (self->event[i].life == MODEL_OPEN &&
		    self->event[i].leader == e - self->event)
			close_event(&self->event[i]);
	close_event(e);
}

static void close_all(void)
{
	for (unsigned int i = MODEL_EVENTS; i--;)
		if (self->event[i].life == MODEL_OPEN)
			close_event(&self->event[i]);
}

/* --- the process ---------------------------------------------------------- */

static const struct {
	void (*run)(void);
	unsigned int weight;
} operations[] = {
	{ op_open, 20 }, { op_twin, 5 }, { op_group, 10 }, { op_join, 4 },
	{ op_read, 24 }, { op_enable, 12 }, { op_reset, 3 }, { op_period, 4 },
	{ op_refresh, 2 }, { op_map, 3 }, { op_nonsense, 2 }, { op_close, 16 },
	{ op_mixed, 4 },
};

static void operate(void)
{
	unsigned int all = 0, pick;

	for (unsigned int i = 0; i < COUNT(operations); i++)
		all += operations[i].weight;
	pick = rng_below(&rng, all);
	for (unsigned int i = 0; i < COUNT(operations); i++) {
		if (pick < operations[i].weight) {
			operations[i].run();
			break;
		}
		pick -= operations[i].weight;
	}
	__atomic_add_fetch(&model->operations, 1, __ATOMIC_RELAXED);
}

void worker_run(struct crew *shared, unsigned int my_number, uint64_t seed,
		int in, int out)
{
	char command;

	crew = shared;
	model = &crew->model;
	number = my_number;
	self = &model->worker[number];
	rng_seed(&rng, seed * MODEL_WORKERS + number);
	while (read(in, &command, 1) == 1) {
		unsigned int n = 1 + rng_below(&rng, crew->operations);

		switch (command) {
		case WORKER_WORK:
			while (n--)
				operate();
			break;
		case WORKER_CHAOS:
			while (!__atomic_load_n(&model->stop, __ATOMIC_RELAXED))
				operate();
			break;
		case WORKER_CLOSE:
			close_all();
			break;
		}
		if (write(out, &command, 1) != 1)
			break;
	}
}

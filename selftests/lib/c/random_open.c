// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Operations of the random worker that open events and groups, including events that
 * the kernel must refuse.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "random_ops.h"
#include "sim.h"

/* Fill in @attr for @e; a leader gets PERF_FORMAT_GROUP. */
static void attr_of(struct perf_event_attr *attr, const struct model_event *e)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr), .type = e->box->type,
		.config = e->config, .config1 = e->config1,
		.config2 = e->config2,
		.sample_period = e->period,
		.disabled = !e->enabled,
		/* all events of a group must have the clock of sampler_open_attr() */
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

/*
 * Enable a sampling event after its buffer was mapped. If the event's CPU went offline
 * since the event was opened, perf enabled the event when it migrated the event to
 * another CPU. A count that is not 0 shows this: mark the event, because samples from
 * before the buffer was mapped are lost.
 */
static void start_sampler(struct model_event *e)
{
	struct event_reading r = { 0 };

	expect_eq(e, "read", -read_event(e, &r), 0);
	e->remade = r.value;
	if (e->enabled)
		expect_eq(e, "enable", -sampler_enable(&holding_of(e)->sampler), 0);
}

/* Open the chosen event; return 0 or -errno. */
static int open_event(struct model_event *e)
{
	int group = e->leader < 0 ? -1 : holdings[e->leader].fd, fd;
	struct holding *h = holding_of(e);
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
	/* in chaos the CPU may go offline, or the box may die, during the call */
	if (model->chaos && (err == -ENODEV || err == -EINVAL) && want != err)
		return;
	expect_eq(e, "open", -err, -want);
}

void op_open(void)
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

/* Open an event that is equal to an open event, whose counter it must share. */
void op_twin(void)
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

/* Write the uncore events of the leader's group to @set; return their number. */
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

/*
 * Add a member to a group. The driver must refuse the member if an idle box could not
 * count all events of the group at once.
 */
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
	/* in chaos the leader may have migrated, or the CPU may be offline */
	if (model->chaos && (err == -ENODEV || err == -EINVAL))
		return;
	expect_eq(e, "open in a group", -err, -want);
}

/*
 * Open a group. Some leaders are a software event, which perf moves to the uncore's
 * context; some leaders sample.
 */
void op_group(void)
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
		leader->cat = NULL;	/* a software event */
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

/* Add a member to a group that has counted for a while. */
void op_join(void)
{
	struct model_event *leader = any_event();

	if (!leader || leader->leader >= 0 || leader->dead)
		return;
	/*
	 * Do not add a member to a software event, because of a bug of perf (6.1 at
	 * least). perf moves the software event to the uncore's context for its group.
	 * If the software event then leaves the group and migrates because its CPU goes
	 * offline, perf takes this event for an event that must still be moved, and
	 * locks the mutex of the uncore's context twice.
	 */
	if (!leader->cat)
		return;
	pthread_rwlock_rdlock(&crew->groups);
	join(leader);
	pthread_rwlock_unlock(&crew->groups);
}

/*
 * Add a software event or an event of any box to a group, and close it again (in chaos
 * only). The kernel decides whether events of two boxes may form a group, so accept both
 * success and failure. Afterwards a read of the leader must succeed.
 */
void op_mixed(void)
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
	fd = perf_open(&attr, -1, member.cpu, holding_of(leader)->fd);
	pthread_rwlock_unlock(&crew->groups);
	note(leader, "mixed member", fd);
	if (fd < 0)
		return;
	expect_eq(leader, "read of a mixed group", -read_event(leader, &r), 0);
	close(fd);
}

/*
 * Open an event that the kernel must refuse: with a config bit outside of the format,
 * with config2 in a box other than QPI, with precise_ip, or for a task instead of a CPU.
 * The open events must count as before.
 */
void op_nonsense(void)
{
	struct model_event e;
	struct perf_event_attr attr;
	int fd, want = EINVAL;

	choose(&e, any_box());
	e.cpu = perf_cpu(e.box);
	/* without an online CPU of the package the kernel refuses any event */
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

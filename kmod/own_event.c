// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the driver opens itself, on a package's perf CPU.
 *
 * The perf CPU is the CPU on which perf runs a package's events.  A sampling event of
 * another CPU is a follower: it stays on its CPU, to sample the tasks there, takes no
 * counter, and reads the counts of an equal event of the perf CPU.  So that there is an
 * equal event, the driver opens one for each follower; equal followers share it.  perf
 * schedules the driver's event fairly with all other events of the perf CPU.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

#include "own_event.h"

/* An event that the driver opens. */
struct unc_own_event {
	struct list_head list;		/* in unc_own_events */
	unsigned int users;		/* followers that need the event */
	struct perf_event_attr attr;	/* attributes of the event */
	unsigned int cpu;		/* perf CPU of the package at that time */
	struct unc_package *pkg;
	struct perf_event *event;	/* ERR_PTR() if it could not be opened */
	struct work_struct work;	/* opens the event */
};

static LIST_HEAD(unc_own_events);
static DEFINE_SPINLOCK(unc_own_lock);

/* Never called: the driver delivers no samples for these events. */
static void unc_own_overflow(struct perf_event *event,
			     struct perf_sample_data *data,
			     struct pt_regs *regs)
{
}

/**
 * unc_own_event_is() - check whether the driver opened an event itself
 * @event: the event
 */
bool unc_own_event_is(const struct perf_event *event)
{
	return event->overflow_handler == unc_own_overflow;
}

/*
 * Open the driver's event, in a work item.  perf holds the lock of a group's context
 * while a member of the group, here a follower, is opened.  Opening another event takes a
 * context's lock as well.
 */
static void unc_own_open(struct work_struct *work)
{
	struct unc_own_event *own = container_of(work, struct unc_own_event,
						 work);
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&own->attr, own->cpu, NULL,
						 unc_own_overflow, NULL);
	if (IS_ERR(event))
		pr_warn_ratelimited("cannot open the event on CPU %u that one on another CPU follows (error %ld)\n",
				    own->cpu, PTR_ERR(event));
	own->event = event;
}

/* Describe an event that is equal to the follower @event. */
static struct unc_own_event *unc_own_new(const struct perf_event *event,
					 struct unc_package *pkg)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct unc_event *ue = event->pmu_private;
	struct unc_own_event *own = kzalloc(sizeof(*own), GFP_KERNEL);

	if (!own)
		return NULL;
	own->users = 1;
	own->pkg = pkg;
	own->cpu = READ_ONCE(pkg->cpu);
	own->attr = (struct perf_event_attr){
		.type		= attr->type,
		.size		= sizeof(own->attr),
		.config		= attr->config,
		.config1	= attr->config1,
		.config2	= attr->config2,
		.freq		= ue->want.sampling.freq != 0,
		/* or the frequency: sample_period and sample_freq are a union */
		.sample_period	= attr->sample_period,
		.pinned		= attr->pinned,
		.exclusive	= attr->exclusive,
	};
	INIT_WORK(&own->work, unc_own_open);
	return own;
}

/**
 * unc_own_event_get() - open an equal event on the perf CPU of a follower's package
 * @event: the follower
 * @wait: wait until the equal event is open, and return the error of the open
 *
 * Equal followers share the event.  Without @wait an error is a line in the log.
 *
 * Return: the argument of unc_own_event_put(), or an ERR_PTR().
 * Context: process; with @wait without any lock of perf.
 */
struct unc_own_event *unc_own_event_get(struct perf_event *event, bool wait)
{
	const struct unc_event *ue = event->pmu_private;
	struct unc_own_event *own, *new = unc_own_new(event, ue->box->pkg);
	long err;

	if (!new)
		return ERR_PTR(-ENOMEM);
	spin_lock(&unc_own_lock);
	list_for_each_entry(own, &unc_own_events, list) {
		if (own->pkg != new->pkg ||
		    memcmp(&own->attr, &new->attr, sizeof(own->attr)))
			continue;
		own->users++;
		goto found;
	}
	list_add(&new->list, &unc_own_events);
	own = new;
	new = NULL;
found:
	spin_unlock(&unc_own_lock);
	if (!new)
		schedule_work(&own->work);
	kfree(new);
	if (!wait)
		return own;
	flush_work(&own->work);
	err = PTR_ERR_OR_ZERO(own->event);
	if (!err)
		return own;
	unc_own_event_put(own);
	return ERR_PTR(err);
}

/**
 * unc_own_event_put() - close the driver's event with its last follower
 * @own: from unc_own_event_get()
 *
 * Context: process, without any lock of perf.
 */
void unc_own_event_put(struct unc_own_event *own)
{
	bool last;

	spin_lock(&unc_own_lock);
	last = !--own->users;
	if (last)
		list_del(&own->list);
	spin_unlock(&unc_own_lock);
	if (!last)
		return;
	flush_work(&own->work);
	if (!IS_ERR_OR_NULL(own->event))
		perf_event_release_kernel(own->event);
	kfree(own);
}

/**
 * unc_own_event_resched() - have perf remove the events of a dead box
 * @work: the work item of the box's report
 *
 * The events of a box that died must stop running at once.  So the driver opens an event
 * of the box and closes it: perf removes all events of a CPU and adds them again when an
 * event is opened there.  The add of an event of a dead box fails.
 *
 * Context: process, without any lock of perf.
 */
void unc_own_event_resched(struct work_struct *work)
{
	struct unc_box *box = container_of(work, struct unc_box, report.resched);
	struct perf_event_attr attr = {
		.type	= READ_ONCE(box->report.pmu_type),
		.size	= sizeof(attr),
		.config	= box->type->regs.ctl_must,
		/* for another event perf would not remove the pinned events */
		.pinned	= 1,
	};
	unsigned int cpu = READ_ONCE(box->pkg->cpu);
	struct perf_event *event;

	if (!attr.type || cpu >= nr_cpu_ids)
		return;
	/* unc_slot_describe() refuses a control of 0 if controls have no enable bit */
	if (!(box->type->layout->en | attr.config))
		attr.config = BIT_ULL(__ffs64(box->type->regs.ctl_mask));
	event = perf_event_create_kernel_counter(&attr, cpu, NULL,
						 unc_own_overflow, NULL);
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

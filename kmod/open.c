// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening an event: checks that refuse the event, and the choice of its CPU.
 *
 * With pmu_prefix=uncore the driver replaces intel_uncore (unc.lenient).  Then it masks
 * unknown bits of config as intel_uncore does, instead of refusing the event.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ratelimit.h>
#include <linux/slab.h>

#include "box.h"
#include "compat.h"
#include "nmi.h"
#include "open.h"
#include "own_event.h"
#include "package.h"
#include "sampling.h"
#include "slot.h"

/* Get the event's config words, without the driver's own bits. */
static void unc_event_config(const struct perf_event *event, u64 config[3])
{
	config[0] = event->attr.config;
	if (!unc.lenient)
		config[0] &= ~UNC_CONFIG_LOCAL;
	config[1] = event->attr.config1;
	config[2] = event->attr.config2;
}

/*
 * Check whether an event is a copy for local reads: it takes no counter, and reads what
 * an equal event counts.  intel_uncore has no such events, and masks the bit.
 */
static bool unc_is_local(const struct perf_event *event)
{
	return !unc.lenient && (event->attr.config & UNC_CONFIG_LOCAL);
}

/*
 * Add the description of @event's slot to @slots, a list of @n different ones.  -EINVAL:
 * a box has fewer counters than the list needs.
 */
static int unc_collect(const struct perf_event *event, struct unc_slot *slots,
		       unsigned int *n)
{
	const struct unc_event *ue = event->pmu_private;
	unsigned int i;

	for (i = 0; i < *n; i++) {
		if (unc_slot_equals(&slots[i], &ue->want))
			return 0;
	}
	if (*n == unc_box_counters(ue->box))
		return -EINVAL;
	slots[(*n)++] = ue->want;
	return 0;
}

/* Add the descriptions of the slots of @event and of its group's members on its PMU. */
static int unc_collect_group(const struct perf_event *event, struct unc_slot *slots,
			     unsigned int *n)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int err;

	err = unc_collect(event, slots, n);
	if (!err && leader->pmu == event->pmu)
		err = unc_collect(leader, slots, n);
	for_each_sibling_event(sibling, leader) {
		if (!err && sibling->pmu == event->pmu)
			err = unc_collect(sibling, slots, n);
	}
	return err;
}

/*
 * Check that the members of a group that @event joins, and @event, could count at the
 * same time if no other event used the box.
 */
static int unc_validate_group(struct perf_event *event)
{
	const struct unc_event *ue = event->pmu_private;
	struct unc_slot *slots;
	unsigned int n = 0;
	int err;

	if (event->group_leader == event)
		return 0;
	slots = kmalloc_array(unc_box_counters(ue->box), sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	err = unc_collect_group(event, slots, &n);
	if (!err && !unc_slot_fit_all(slots, n))
		err = -EINVAL;
	kfree(slots);
	return err;
}

/*
 * Log that bits of an event's config were masked, with the name of the program, at most
 * once a minute.  intel_uncore masks unknown bits, and some programs rely on that.
 */
static void unc_tell_masked(const struct unc_type *type)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 1);
	char comm[TASK_COMM_LEN];

	ratelimit_set_flags(&limit, RATELIMIT_MSG_ON_RELEASE);
	if (!__ratelimit(&limit))
		return;
	get_task_comm(comm, current);
	pr_info("%*pE: %s: ignoring config bits outside the format, as %s does\n",
		(int)strlen(comm), comm, type->name, "intel_uncore");
}

/* Refuse bits without a meaning, or mask them. */
static int unc_check_config(const struct perf_event *event,
			    const struct unc_type *type, struct unc_slot *slot)
{
	u64 config[3], masked = 0;
	unsigned int w;

	unc_event_config(event, config);
	if (unc_config3(event) || unc_slot_describe(type, config, slot))
		return -EINVAL;
	for (w = 0; w < 3; w++)
		masked |= config[w] & ~slot->config[w];
	/* the driver's own event is a copy of a user's event, which was logged already */
	if (masked && !unc_own_event_is(event))
		unc_tell_masked(type);
	return 0;
}

/*
 * Check whether the leader of the group that @event joins has left its group.  perf
 * dissolves the groups of a package's events when the package's last CPU goes offline.
 * An event can still join a former leader.  But perf does not detach the event when that
 * leader is closed, and the event would keep a pointer to freed memory.
 */
static bool unc_leader_left(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;

	return leader != event &&
	       !(READ_ONCE(leader->attach_state) & PERF_ATTACH_GROUP);
}

/* Check whether a copy for local reads has an equal event to follow. */
static bool unc_is_counted(struct unc_pmu *pmu, const struct unc_box *box,
			   const struct unc_slot *want)
{
	const struct unc_event *ue;
	bool counted = false;

	spin_lock(&pmu->lock);
	list_for_each_entry(ue, &pmu->events, list)
		counted |= ue->box == box && !ue->follower &&
			   unc_slot_equals(&ue->want, want);
	spin_unlock(&pmu->lock);
	return counted;
}

/* Describe the slot that an event needs; refuse an event that no box can count. */
static int unc_check_event(struct perf_event *event, struct unc_box *box,
			   struct unc_slot *want)
{
	int err;

	if (box->dead && !unc_own_event_is(event))
		return -ENODEV;
	err = unc_check_config(event, box->type, want);
	if (err)
		return err;
	if (!unc_box_has_filters(box, want))
		return -ENODEV;
	if (unc_is_local(event))
		return !is_sampling_event(event) &&
		       unc_is_counted(to_unc_pmu(event->pmu), box, want) ? 0 : -EINVAL;
	if (!is_sampling_event(event))
		return 0;
	err = unc_sampling_check(event, want);
	if (!err)
		unc_sampling_describe(event, event->attr.freq, want);
	return err;
}

/*
 * Check whether an event is a follower.  All other events of a package run on its perf
 * CPU, so that perf schedules them fairly.  Followers stay on the CPU on which they are
 * opened, and read the slot of an equal event of the perf CPU.  They are the copies for
 * local reads and the events that sample another CPU.
 */
static bool unc_is_follower(struct perf_event *event,
			    const struct unc_package *pkg)
{
	if (unc_is_local(event))
		return true;
	return is_sampling_event(event) && !unc_own_event_is(event) &&
	       event->cpu != READ_ONCE(pkg->cpu);
}

/* Add an event to its PMU's list, or remove it. */
static void unc_event_list(struct unc_event *ue, bool add)
{
	struct unc_pmu *pmu = to_unc_pmu(ue->event->pmu);

	spin_lock(&pmu->lock);
	if (add)
		list_add_tail(&ue->list, &pmu->events);
	else
		list_del(&ue->list);
	spin_unlock(&pmu->lock);
}

/* Check whether the driver delivers samples of an event, which needs PMIs. */
static bool unc_is_delivered(struct perf_event *event)
{
	return is_sampling_event(event) && !unc_own_event_is(event);
}

static void unc_event_destroy(struct perf_event *event)
{
	struct unc_event *ue = event->pmu_private;

	unc_event_list(ue, false);
	if (ue->own)
		unc_own_event_put(ue->own);
	if (unc_is_delivered(event))
		unc_nmi_put();
	kfree(ue);
}

static struct unc_event *unc_event_new(struct perf_event *event,
				       struct unc_box *box,
				       const struct unc_slot *want)
{
	struct unc_event *ue = kzalloc(sizeof(*ue), GFP_KERNEL);

	if (!ue)
		return NULL;
	ue->event = event;
	ue->box = box;
	ue->want = *want;
	ue->slot = -1;
	ue->follower = unc_is_follower(event, box->pkg);
	INIT_LIST_HEAD(&ue->sampling);
	return ue;
}

/*
 * Register the NMI handlers for an event that samples, and open the driver's event for a
 * sampling follower.  unc_event_destroy() undoes both.
 *
 * Only an event that leads its group can wait for the driver's event: perf holds a lock
 * while a member is opened (own_event.c).
 */
static int unc_event_prepare(struct perf_event *event, struct unc_event *ue)
{
	struct unc_own_event *own;
	int err;

	if (unc_is_delivered(event)) {
		err = unc_nmi_get();
		if (err)
			return err;
	}
	if (ue->follower && !unc_is_local(event)) {
		own = unc_own_event_get(event, event->group_leader == event);
		if (IS_ERR(own)) {
			if (unc_is_delivered(event))
				unc_nmi_put();
			return PTR_ERR(own);
		}
		ue->own = own;
	}
	return 0;
}

static struct unc_box *unc_find_box(const struct perf_event *event)
{
	const struct unc_pmu *pmu = to_unc_pmu(event->pmu);
	struct unc_package *pkg = unc_package_of_cpu(event->cpu);

	return pkg ? pkg->boxes[pmu->number] : NULL;
}

/**
 * unc_open_event() - perf's event_init
 * @event: the event
 *
 * Return: 0, or a negative errno as perf documents them.
 * Context: process; perf holds the lock of the group's context if there is a group.
 */
int unc_open_event(struct perf_event *event)
{
	struct unc_slot want;
	struct unc_event *ue;
	struct unc_box *box;
	unsigned int cpu;
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* perf's error for a module that is being unloaded */
	if (!READ_ONCE(unc.ready))
		return -ENODEV;
	if (unc_counts_cgroup(event))
		return -EINVAL;
	/* the uncore does not count by task */
	if ((event->attach_state & PERF_ATTACH_TASK) || event->cpu < 0)
		return -EINVAL;
	if (has_branch_stack(event) || event->attr.precise_ip)
		return -EOPNOTSUPP;
	if (event->attr.freq && !event->attr.sample_freq)
		return -EINVAL;
	box = unc_find_box(event);
	if (!box)
		return -EINVAL;
	cpu = READ_ONCE(box->pkg->cpu);
	if (cpu >= nr_cpu_ids || unc_leader_left(event))
		return -ENODEV;
	err = unc_check_event(event, box, &want);
	if (err)
		return err;
	ue = unc_event_new(event, box, &want);
	if (!ue)
		return -ENOMEM;
	event->pmu_private = ue;
	err = unc_validate_group(event) ?: unc_event_prepare(event, ue);
	if (err) {
		kfree(ue);
		return err;
	}
	unc_event_list(ue, true);
	event->destroy = unc_event_destroy;
	/* perf would read the event on CPUs of the package's other dies as well */
	if (unc_dies_per_package() == 1)
		event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	/* the driver adapts the period itself: unc_sampling_pace() */
	if (event->attr.freq) {
		event->attr.freq = 0;
		event->hw.sample_period = want.sampling.period;
		event->hw.last_period = want.sampling.period;
		local64_set(&event->hw.period_left, want.sampling.period);
	}
	if (!ue->follower)
		event->cpu = cpu;
	return 0;
}

/**
 * unc_open_check_period() - perf's check_period
 * @event: an event that samples
 * @period: the new sample period, or frequency
 *
 * Return: 0 or -EINVAL.
 */
int unc_open_check_period(struct perf_event *event, u64 period)
{
	const struct unc_event *ue = event->pmu_private;

	/* the follower's samples come from the driver's event, whose period is fixed */
	if (ue->own && period != event->attr.sample_period)
		return -EINVAL;
	return ue->want.sampling.freq && !period ? -EINVAL : 0;
}

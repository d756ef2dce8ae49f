// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMUs: registration, and migration of their events.  A PMU has the boxes of one type
 * and index in all packages.
 *
 * All events of a package run on its perf CPU.  When that CPU goes offline, perf removes
 * its events and adds them on another CPU of the package, the new perf CPU: they migrate.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

#include "box.h"
#include "lock.h"
#include "package.h"
#include "pmu.h"
#include "pmus.h"
#include "sysfs.h"

/* --- registration -------------------------------------------------------- */

/* Guards unc.pmus against a CPU that goes offline concurrently. */
static DEFINE_MUTEX(unc_pmus_lock);

static void unc_pmu_free(struct unc_pmu *pmu)
{
	free_percpu(pmu->cpu);
	kfree(pmu);
}

/* Give a PMU's boxes perf's number of the PMU, which unc_own_event_resched() needs. */
static void unc_pmu_tell_boxes(const struct unc_pmu *pmu)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_box *box = unc.packages[i].boxes[pmu->number];

		if (box)
			WRITE_ONCE(box->report.pmu_type, pmu->pmu.type);
	}
}

static int unc_pmu_register(const struct unc_box *box)
{
	struct unc_pmu *pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
	int err = -ENOMEM;

	if (!pmu)
		return err;
	pmu->number = box->number;
	pmu->cpu = alloc_percpu(struct unc_cpu);
	if (!pmu->cpu)
		goto fail;

	spin_lock_init(&pmu->lock);
	INIT_LIST_HEAD(&pmu->events);
	pmu->pmu = unc_pmu_template;
	pmu->pmu.attr_groups = unc_sysfs_groups(box->type);
	err = perf_pmu_register(&pmu->pmu, box->name, -1);
	if (err) {
		pr_err("cannot register PMU %s (%d)%s\n", box->name, err,
		       err == -EEXIST ?
		       ": that name is taken, choose another pmu_prefix=" : "");
		/* modprobe takes -EEXIST for "loaded already", and reports success */
		if (err == -EEXIST)
			err = -EBUSY;
		goto fail;
	}
	unc_pmu_tell_boxes(pmu);
	mutex_lock(&unc_pmus_lock);
	list_add_tail(&pmu->list, &unc.pmus);
	mutex_unlock(&unc_pmus_lock);
	return 0;
fail:
	unc_pmu_free(pmu);
	return err;
}

/**
 * unc_pmus_register() - register a PMU for each box that any package has
 *
 * Return: 0 or a negative errno; unc_pmus_unregister() cleans up in both cases.
 * Context: process.
 */
int unc_pmus_register(void)
{
	const struct unc_box *box;
	unsigned int i;
	int err = 0;

	for (i = 0; i < unc.boxes_per_package && !err; i++) {
		box = unc_package_any_box(i);
		err = box ? unc_pmu_register(box) : 0;
	}
	return err;
}

/**
 * unc_pmus_unregister() - unregister all PMUs
 *
 * Context: process, after the hotplug callbacks are removed.
 */
void unc_pmus_unregister(void)
{
	struct unc_pmu *pmu, *next;

	list_for_each_entry_safe(pmu, next, &unc.pmus, list) {
		list_del(&pmu->list);
		perf_pmu_unregister(&pmu->pmu);
		unc_pmu_free(pmu);
	}
}

/* --- migration ----------------------------------------------------------- */

/* Check whether an event waits for a counter.  Events of a disabled group do not wait. */
static bool unc_is_waiting(const struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_INACTIVE &&
	       READ_ONCE(READ_ONCE(event->group_leader)->state) >=
	       PERF_EVENT_STATE_INACTIVE;
}

/* Count a PMU's events on a CPU, and those of them that wait for a counter. */
static unsigned int unc_pmu_count_events(struct unc_pmu *pmu, unsigned int cpu,
					 unsigned int *waiting)
{
	struct unc_event *ue;
	unsigned int n = 0;

	*waiting = 0;
	spin_lock(&pmu->lock);
	/* a leader that is closed meanwhile stays in memory */
	rcu_read_lock();
	list_for_each_entry(ue, &pmu->events, list) {
		if (READ_ONCE(ue->event->cpu) != cpu)
			continue;
		n++;
		*waiting += unc_is_waiting(ue->event);
	}
	rcu_read_unlock();
	spin_unlock(&pmu->lock);
	return n;
}

/*
 * Begin or end a migration of a box's events by this task.  During the migration the
 * slots of events that perf removes keep their counters (unc_del_counter() in pmu.c).
 */
static void unc_pmu_set_migrating(struct unc_box *box, bool on)
{
	unsigned long flags;

	flags = unc_lock_box(box);
	box->use.migrator = on ? current : NULL;
	if (on)
		box->use.migration = ++box->use.migrations;
	else
		unc_box_end_migration(box);
	unc_lock_release(box, flags);
}

/*
 * Migrate a PMU's events from CPU @from to CPU @to.  Counters run on while their events
 * migrate, so no count is lost.  If an event waits for a counter, the events are
 * multiplexed: then counters need not run on, because perf scales the counts of events
 * that it removes and adds.
 *
 * From Linux 6.2 until a repair of 2026, which 6.12.117 has, perf migrates only one event
 * and its group in a call.  So the call is repeated until no event is left on @from, or
 * none has moved.  A call waits for a grace period of RCU, so the loop makes no call
 * without events.
 */
static void unc_pmu_migrate(struct unc_pmu *pmu, struct unc_box *box,
			    unsigned int from, unsigned int to)
{
	unsigned int left, before, waiting;

	left = unc_pmu_count_events(pmu, from, &waiting);
	if (!left)
		return;
	if (!waiting)
		unc_pmu_set_migrating(box, true);
	do {
		before = left;
		perf_pmu_migrate_context(&pmu->pmu, from, to);
		left = unc_pmu_count_events(pmu, from, &waiting);
	} while (left && left < before);
	if (box->use.migration)
		unc_pmu_set_migrating(box, false);
}

/**
 * unc_pmus_migrate() - migrate a package's events to another CPU
 * @pkg: the package
 * @from: the perf CPU, which goes offline
 * @to: the perf CPU from now on
 *
 * Context: process, on a CPU of the package.
 */
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to)
{
	struct unc_pmu *pmu;

	mutex_lock(&unc_pmus_lock);
	list_for_each_entry(pmu, &unc.pmus, list) {
		struct unc_box *box = pkg->boxes[pmu->number];

		if (box)
			unc_pmu_migrate(pmu, box, from, to);
	}
	mutex_unlock(&unc_pmus_lock);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf calls.  A PMU stands for the boxes of one type and index in all
 * packages; an event's CPU says which of them it is about.
 *
 * Everything but event_init runs with interrupts off, mostly under perf's
 * context lock.  read() may also be called by a BPF program, and so from
 * anywhere that a kprobe or an NMI can hit.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "xeon_uncore.h"
#include "compat.h"

static struct unc_pmu *to_unc_pmu(struct pmu *pmu)
{
	return container_of(pmu, struct unc_pmu, pmu);
}

static struct unc_box *unc_event_box(const struct perf_event *event)
{
	return event->pmu_private;
}

static struct unc_slot *unc_event_slot(const struct perf_event *event)
{
	return &unc_event_box(event)->slot[event->hw.idx];
}

/* The box of a PMU that the running CPU can reach, or NULL. */
static struct unc_box *unc_local_box(const struct unc_pmu *pmu)
{
	struct unc_package *pkg = unc_package_of_cpu(smp_processor_id());

	return pkg ? *unc_box_place(pkg, pmu->type, pmu->index) : NULL;
}

static void unc_event_config(const struct perf_event *event, u64 config[3])
{
	config[0] = event->attr.config;
	config[1] = event->attr.config1;
	config[2] = event->attr.config2;
}

/* The event itself if it samples, else NULL. */
static struct perf_event *unc_sampler(struct perf_event *event)
{
	return is_sampling_event(event) ? event : NULL;
}

/* --- opening ------------------------------------------------------------- */

static bool unc_known_bits(const struct unc_type *type, const u64 config[3])
{
	const struct unc_field *f;
	u64 known[3] = { 0 };
	unsigned int w;

	for (f = type->fields; f->name; f++)
		known[f->word] |= f->mask;
	for (w = 0; w < 3; w++) {
		if (config[w] & ~known[w])
			return false;
	}
	return true;
}

/* Add what @event wants to a list of different wishes. */
static int unc_collect(struct perf_event *event, struct unc_slot *slots,
		       unsigned int *n)
{
	struct perf_event *sampler = unc_sampler(event);
	struct unc_slot slot;
	unsigned int i;
	u64 config[3];

	unc_event_config(event, config);
	if (unc_slot_describe(to_unc_pmu(event->pmu)->type, config, &slot))
		return -EINVAL;
	for (i = 0; i < *n && !sampler; i++) {
		if (!slots[i].event &&
		    !memcmp(slots[i].config, slot.config, sizeof(slot.config)))
			return 0;
	}
	if (*n == UNC_MAX_COUNTERS)
		return -EINVAL;
	slot.event = sampler;
	slots[(*n)++] = slot;
	return 0;
}

/* Could the group run if it had its box for itself? */
static int unc_validate_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	struct unc_slot slots[UNC_MAX_COUNTERS];
	unsigned int n = 0;

	if (unc_collect(event, slots, &n))
		return -EINVAL;
	if (leader == event)
		return 0;
	if (leader->pmu == event->pmu && unc_collect(leader, slots, &n))
		return -EINVAL;
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu &&
		    unc_collect(sibling, slots, &n))
			return -EINVAL;
	}
	return unc_slots_fit(slots, n) ? 0 : -EINVAL;
}

/*
 * The kernel's own driver masks bits that it does not know, and there are
 * programs that count on it.
 */
static void unc_tell_masked(const struct unc_type *type)
{
	static char told[8][TASK_COMM_LEN];
	static DEFINE_SPINLOCK(lock);
	char comm[TASK_COMM_LEN];
	bool tell = false;
	unsigned int i;

	get_task_comm(comm, current);
	spin_lock(&lock);
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		if (!strcmp(told[i], comm))
			break;
		if (!*told[i]) {
			strscpy(told[i], comm, sizeof(comm));
			tell = true;
			break;
		}
	}
	spin_unlock(&lock);
	if (tell)
		pr_info("%*pE: %s: ignoring config bits outside the format, as %s does\n",
			(int)strlen(comm), comm, type->name, "intel_uncore");
}

/* Refuse what means nothing, or mask it. */
static int unc_check_config(const struct perf_event *event,
			    const struct unc_type *type, struct unc_slot *slot)
{
	u64 config[3];

	unc_event_config(event, config);
	if (unc_config3(event))
		return -EINVAL;
	if (!unc.lenient && !unc_known_bits(type, config))
		return -EINVAL;
	if (unc_slot_describe(type, config, slot))
		return -EINVAL;
	if (memcmp(config, slot->config, sizeof(config)))
		unc_tell_masked(type);
	return 0;
}

/*
 * perf takes the groups of a CPU apart when that goes with its events in it, as
 * a package's last one does.  It lets others join what has led such a group, but
 * does not let go of them when that is closed: they would keep a pointer to it.
 */
static bool unc_leader_left(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;

	return leader != event &&
	       !(READ_ONCE(leader->attach_state) & PERF_ATTACH_GROUP);
}

static void unc_event_destroy(struct perf_event *event)
{
	atomic_dec(&to_unc_pmu(event->pmu)->events);
}

static int unc_event_init(struct perf_event *event)
{
	struct unc_pmu *pmu = to_unc_pmu(event->pmu);
	struct unc_package *pkg;
	struct unc_slot slot;
	struct unc_box *box;
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* as perf answers for a module that is being unloaded */
	if (!READ_ONCE(unc.ready))
		return -ENODEV;
	if (unc_counts_cgroup(event))
		return -EINVAL;
	/* the uncore knows no tasks */
	if ((event->attach_state & PERF_ATTACH_TASK) || event->cpu < 0)
		return -EINVAL;
	if (has_branch_stack(event) || event->attr.precise_ip)
		return -EOPNOTSUPP;
	if (event->attr.freq && !event->attr.sample_freq)
		return -EINVAL;

	pkg = unc_package_of_cpu(event->cpu);
	if (!pkg)
		return -EINVAL;
	box = *unc_box_place(pkg, pmu->type, pmu->index);
	if (!box)
		return -EINVAL;
	if (box->dead || unc_leader_left(event))
		return -ENODEV;

	err = unc_check_config(event, pmu->type, &slot);
	if (err)
		return err;
	/* the filters' PCI function is hidden or was removed */
	if (pmu->type->filters_apart && !box->filter_pdev &&
	    (slot.fields[0] | slot.fields[1] | slot.fields[2]))
		return -ENODEV;
	if (unc_sampler(event)) {
		err = unc_sampling_check(event, box, &slot);
		if (err)
			return err;
		unc_pace_first_period(event);
	}

	event->pmu_private = box;
	event->hw.idx = -1;
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	err = unc_validate_group(event);
	if (err)
		return err;
	atomic_inc(&pmu->events);
	event->destroy = unc_event_destroy;
	return 0;
}

/* --- counting ------------------------------------------------------------ */

/*
 * Hold the box frozen until perf lets go of the PMU on this CPU, so that all
 * that happens until then happens in one cycle of the box.
 */
static void unc_hold(struct unc_pmu *pmu, struct unc_box *box)
{
	struct unc_cpu *cpu = this_cpu_ptr(pmu->cpu);

	if (cpu->froze)
		return;
	cpu->froze = true;
	unc_box_freeze(box);
}

static void unc_let_go(struct unc_pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(pmu->cpu);
	struct unc_box *box;
	unsigned long flags;

	if (!cpu->froze)
		return;
	cpu->froze = false;
	box = unc_local_box(pmu);
	flags = unc_lock(box);
	unc_box_thaw(box);
	unc_unlock(box, flags);
}

/* The box is frozen by the first operation that needs it, not here. */
static void unc_pmu_disable(struct pmu *pmu)
{
	this_cpu_ptr(to_unc_pmu(pmu)->cpu)->disabled = true;
}

static void unc_pmu_enable(struct pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);

	cpu->disabled = false;
	/* perf enables the PMU after each event of a group: wait for the last */
	if (!(cpu->txn & PERF_PMU_TXN_ADD))
		unc_let_go(to_unc_pmu(pmu));
}

/*
 * What tells an event, when it comes, that its slot has run on since it went: both
 * happened in one move.  0: none is under way.
 */
static u64 unc_move_tag(const struct unc_box *box, const struct unc_slot *slot)
{
	return box->hold ? (u64)box->hold << 32 | slot->serial : 0;
}

static int unc_event_add(struct perf_event *event, int how)
{
	struct unc_box *box = unc_event_box(event);
	struct hw_perf_event *hwc = &event->hw;
	struct unc_slot *slot;
	unsigned long flags;
	u64 config[3];

	unc_event_config(event, config);
	flags = unc_lock(box);
	unc_hold(to_unc_pmu(event->pmu), box);
	if (unc_sampler(event))
		unc_clock_yield(box);
	slot = unc_slot_get(box, config, unc_sampler(event));
	if (!slot) {
		unc_unlock(box, flags);
		return -EAGAIN;
	}
	/*
	 * An event that only moves between CPUs finds its slot still running
	 * and goes on from where it was; any other starts here.
	 */
	if (!hwc->last_tag || hwc->last_tag != unc_move_tag(box, slot)) {
		unc_box_refresh(box, slot);
		local64_set(&hwc->prev_count, slot->total);
		unc_event_time_begin(event, box);
	}
	hwc->idx = slot - box->slot;
	hwc->last_tag = 0;
	hwc->state = how & PERF_EF_START ? 0 : PERF_HES_STOPPED;
	if (slot->event)
		unc_sampling_add(box, slot, event);
	unc_unlock(box, flags);
	return 0;
}

static void unc_event_del(struct perf_event *event, int how)
{
	struct unc_box *box = unc_event_box(event);
	struct hw_perf_event *hwc = &event->hw;
	struct unc_slot *slot = unc_event_slot(event);
	u64 due = 0, weight = 0;
	unsigned long flags;
	struct pt_regs here;

	flags = unc_lock(box);
	unc_hold(to_unc_pmu(event->pmu), box);
	unc_box_leave(box, slot);
	unc_event_catch_up(event, slot);
	if (slot->event) {
		unc_sampling_del(box, slot);
		if (!(hwc->state & PERF_HES_STOPPED))
			due = slot->due;
		weight = slot->weight;
	}
	hwc->last_tag = unc_move_tag(box, slot);
	unc_box_release(box, slot);
	hwc->idx = -1;
	hwc->state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	unc_unlock(box, flags);
	/* samples that nobody else will deliver any more */
	if (due)
		unc_sampling_deliver(event, due, weight,
				     unc_present_regs(&here));
}

/*
 * A counter that samples stops.  Another may serve more events: it runs on, and
 * this event does not look.  When perf only wants to adjust a period it has
 * interrupts off until it starts the event again: nothing need be done.
 */
static void unc_event_stop(struct perf_event *event, int how)
{
	struct unc_box *box = unc_event_box(event);
	struct unc_slot *slot;
	unsigned long flags;

	/* perf throttles whole groups, with members that are off */
	if ((event->hw.state & PERF_HES_STOPPED) || event->hw.idx < 0)
		return;
	if (unc_pace_is_tick(event, how)) {
		unc_pace_hide_count(event);
		event->hw.state |= PERF_HES_STOPPED | UNC_RUNS_ON;
		return;
	}
	flags = unc_lock(box);
	slot = unc_event_slot(event);
	if (slot->event)
		unc_box_run(box, slot, false);
	unc_box_refresh(box, slot);
	unc_event_catch_up(event, slot);
	if (slot->event)
		unc_sampling_stop(box, slot);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	unc_unlock(box, flags);
}

static void unc_event_start(struct perf_event *event, int how)
{
	struct unc_box *box = unc_event_box(event);
	struct unc_slot *slot;
	unsigned long flags;

	/* no slot: perf adjusts the period of an event that it takes off */
	if (!(event->hw.state & PERF_HES_STOPPED) || event->hw.idx < 0)
		return;
	if (event->hw.state & UNC_RUNS_ON) {
		event->hw.state = 0;
		if (!(how & PERF_EF_RELOAD))
			return;
		unc_event_stop(event, 0);
		local64_set(&event->hw.period_left, 0);
	}
	flags = unc_lock(box);
	slot = unc_event_slot(event);
	unc_box_refresh(box, slot);
	local64_set(&event->hw.prev_count, slot->total);
	unc_event_time_begin(event, box);
	event->hw.state = 0;
	if (slot->event) {
		unc_pace_begin(slot);
		if (how & PERF_EF_RELOAD)
			unc_sampling_restart(slot);
		if (unc_box_signals(box) && !box->ctr[slot->ctr].dirty)
			unc_sampling_arm(box, slot);
		unc_box_run(box, slot, true);
	}
	unc_unlock(box, flags);
}

/* --- reading ------------------------------------------------------------- */

/* Is the event's group read all at once, in commit? */
static bool unc_reads_group(struct unc_cpu *cpu, struct perf_event *event)
{
	unsigned int i;

	if (!(cpu->txn & PERF_PMU_TXN_READ))
		return false;
	for (i = 0; i < ARRAY_SIZE(cpu->leader); i++) {
		if (!cpu->leader[i])
			cpu->leader[i] = event->group_leader;
		if (cpu->leader[i] == event->group_leader)
			return true;
	}
	return false;
}

static void unc_event_read(struct perf_event *event)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(event->pmu)->cpu);
	struct unc_box *box = unc_event_box(event);
	unsigned long flags;

	if (in_nmi() || unc_reads_group(cpu, event))
		return;
	if (!unc_lock_to_read(box, &flags)) {
		unc_event_pass_over(event);
		return;
	}
	if (event->hw.idx >= 0) {
		unc_box_refresh(box, unc_event_slot(event));
		unc_event_catch_up(event, unc_event_slot(event));
	}
	unc_unlock(box, flags);
}

static bool unc_is_counting(const struct perf_event *event,
			    const struct pmu *pmu)
{
	return event->pmu == pmu && event->state == PERF_EVENT_STATE_ACTIVE &&
	       event->hw.idx >= 0;
}

/* Read each counter of a group once, all in the same cycle of the box. */
static void unc_read_group(struct perf_event *leader, struct pmu *pmu,
			   struct unc_box *box)
{
	struct perf_event *event;
	unsigned long slots = 0;
	bool several;
	unsigned int i;

	if (unc_is_counting(leader, pmu))
		slots |= BIT(leader->hw.idx);
	for_each_sibling_event(event, leader) {
		if (unc_is_counting(event, pmu))
			slots |= BIT(event->hw.idx);
	}
	several = hweight_long(slots) > 1;
	if (several)
		unc_box_freeze(box);
	for_each_set_bit(i, &slots, UNC_MAX_COUNTERS)
		unc_box_refresh(box, &box->slot[i]);
	if (several)
		unc_box_thaw(box);
	if (unc_is_counting(leader, pmu))
		unc_event_catch_up(leader, unc_event_slot(leader));
	for_each_sibling_event(event, leader) {
		if (unc_is_counting(event, pmu))
			unc_event_catch_up(event, unc_event_slot(event));
	}
}

static void unc_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);

	memset(cpu->leader, 0, sizeof(cpu->leader));
	barrier();
	cpu->txn = flags;
}

static void unc_cancel_txn(struct pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);

	cpu->txn = 0;
	if (!cpu->disabled)
		unc_let_go(to_unc_pmu(pmu));
}

static int unc_commit_txn(struct pmu *pmu)
{
	struct unc_cpu *cpu = this_cpu_ptr(to_unc_pmu(pmu)->cpu);
	struct unc_box *box;
	unsigned long flags;
	unsigned int i;

	if ((cpu->txn & PERF_PMU_TXN_READ) && cpu->leader[0]) {
		box = unc_local_box(to_unc_pmu(pmu));
		flags = unc_lock(box);
		for (i = 0; i < ARRAY_SIZE(cpu->leader) && cpu->leader[i]; i++)
			unc_read_group(cpu->leader[i], pmu, box);
		unc_unlock(box, flags);
	}
	/* counters that were assigned in an ADD transaction start here */
	unc_cancel_txn(pmu);
	return 0;
}

/* perf is about to change an event's period. */
static int unc_check_period(struct perf_event *event, u64 period)
{
	const struct unc_box *box = unc_event_box(event);
	struct unc_slot slot;
	u64 config[3];

	if (event->attr.freq)
		return 0;
	unc_event_config(event, config);
	if (unc_slot_describe(box->type, config, &slot))
		return -EINVAL;
	return unc_period_fits(box, &slot, period) ? 0 : -EINVAL;
}

/* --- registration -------------------------------------------------------- */

/* Guards unc.pmus against a CPU that goes offline meanwhile. */
static DEFINE_MUTEX(unc_pmus_lock);

static void unc_pmu_free(struct unc_pmu *pmu)
{
	free_percpu(pmu->cpu);
	kfree(pmu->name);
	kfree(pmu);
}

static int unc_pmu_register(const struct unc_type *type, unsigned int index)
{
	struct unc_pmu *pmu = kzalloc(sizeof(*pmu), GFP_KERNEL);
	int err = -ENOMEM;

	if (!pmu)
		return err;
	pmu->type = type;
	pmu->index = index;
	pmu->cpu = alloc_percpu(struct unc_cpu);
	pmu->name = unc_pmu_name(type, index);
	if (!pmu->cpu || !pmu->name)
		goto fail;

	pmu->pmu = (struct pmu){
		.module		= THIS_MODULE,
		.attr_groups	= unc_sysfs_groups(type),
		.capabilities	= PERF_PMU_CAP_NO_EXCLUDE,
		.task_ctx_nr	= perf_invalid_context,
		.event_init	= unc_event_init,
		.pmu_enable	= unc_pmu_enable,
		.pmu_disable	= unc_pmu_disable,
		.add		= unc_event_add,
		.del		= unc_event_del,
		.start		= unc_event_start,
		.stop		= unc_event_stop,
		.read		= unc_event_read,
		.start_txn	= unc_start_txn,
		.commit_txn	= unc_commit_txn,
		.cancel_txn	= unc_cancel_txn,
		.check_period	= unc_check_period,
	};
	err = perf_pmu_register(&pmu->pmu, pmu->name, -1);
	if (err) {
		pr_err("cannot register PMU %s (%d)%s\n", pmu->name, err,
		       err == -EEXIST ?
		       ": that name is taken, choose another pmu_prefix=" : "");
		goto fail;
	}
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
 * Context: process.
 * Return: 0 or a negative errno; unc_pmus_unregister() cleans up either way.
 */
int unc_pmus_register(void)
{
	const struct unc_type *type = unc.gen->types;
	unsigned int t, i;
	int err;

	for (t = 0; t < unc.gen->num_types; t++, type++) {
		for (i = 0; i < type->max_boxes; i++) {
			if (!unc_any_box(type, i))
				continue;
			err = unc_pmu_register(type, i);
			if (err)
				return err;
		}
	}
	return 0;
}

/**
 * unc_pmus_unregister() - take all PMUs back
 *
 * Context: process, after the hotplug callbacks are gone.
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

static void unc_set_holding(struct unc_box *box, bool hold)
{
	unsigned long flags;

	flags = unc_lock(box);
	if (hold)
		box->hold = ++box->holds;
	else
		unc_box_end_hold(box);
	unc_unlock(box, flags);
}

/*
 * From Linux 6.2 until a repair of 2026, which 6.12.117 has, perf moves only one event
 * and its group.  The others would be taken off with their CPU, for good.  Once there
 * is none left, asking again costs little.
 */
static void unc_pmu_migrate(struct unc_pmu *pmu, unsigned int from,
			    unsigned int to)
{
	unsigned int n;

	for (n = atomic_read(&pmu->events); n; n--) {
		perf_pmu_migrate_context(&pmu->pmu, from, to);
		cond_resched();
	}
}

/**
 * unc_pmus_migrate() - move a package's events from one CPU to another
 * @pkg: the package
 * @from: CPU that goes offline
 * @to: another of the package
 *
 * The counters run on while perf takes the events off one CPU and puts them on
 * the other, so nothing is lost in between.
 *
 * Context: process, on a CPU of the package.
 */
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to)
{
	struct unc_pmu *pmu;

	mutex_lock(&unc_pmus_lock);
	list_for_each_entry(pmu, &unc.pmus, list) {
		struct unc_box *box = *unc_box_place(pkg, pmu->type, pmu->index);

		if (!box)
			continue;
		unc_set_holding(box, true);
		unc_pmu_migrate(pmu, from, to);
		unc_set_holding(box, false);
	}
	mutex_unlock(&unc_pmus_lock);
}

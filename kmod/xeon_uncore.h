/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's state and the interfaces of its files.  A generation describes its
 * boxes in const tables (table.h); this directory is specific to no generation.
 */
#ifndef XEON_UNCORE_H
#define XEON_UNCORE_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "table.h"

#define UNC_NAME		"xeon_uncore"
#define UNC_NEVER		S64_MAX	/* a deadline that is not set */

/*
 * A passive copy of an event: it stays on its CPU, takes no counter, and reads what
 * an equal event of the package counts.  No register has this bit of config.
 */
#define UNC_CONFIG_LOCAL	BIT_ULL(63)

/**
 * struct unc_sampling - sampling of a slot
 * @period: sample period; 0: the slot does not sample
 * @freq: samples a second asked for, in frequency mode; @period then follows it
 * @next: the slot's @total at which the next sample is due
 * @set: the @next for which the counter was set
 * @mark: @total at the last sample
 * @seq: samples so far
 * @armed: the counter is set to overflow at @next, or is polled
 * @merge: the next sample is for all that was counted since the last one
 * @rest: not to be armed before then (monotonic ns): perf throttles its events
 * @paced: when the rate was last measured, in frequency mode
 * @paced_total: @total at that time
 * @frozen_ns: how long the last overflow kept the package frozen, for the trace
 */
struct unc_sampling {
	u64 period;
	u64 freq;
	u64 next;
	u64 set;
	u64 mark;
	u64 seq;
	bool armed;
	bool merge;
	u64 rest;
	u64 paced;
	u64 paced_total;
	u64 frozen_ns;
};

/**
 * struct unc_slot - what a box counts for one event or for several equal ones
 * @users: events that share it; 0: the slot is free, unless @held.  A free slot
 *	keeps its last @total for passive copies, and for an equal event that comes
 *	next.
 * @held: events that are migrating; their slot runs on
 * @serial: distinguishes successive uses of one slot for different events; 0: never
 *	used
 * @config: config, config1 and config2 of its events
 * @fields: bits of config, config1 and config2 that are filters in use
 * @allowed: hardware counters that may count it
 * @ctr: hardware counter that counts it
 * @arm: sets the counter to overflow, for a slot that samples in a box that signals
 * @sampling: its samples
 * @low_ns: nanoseconds in which it counts less than 2^32 at any clock
 * @raw: the counter's value at the last read
 * @total: counts since the slot came into use for these events
 * @stamp: monotonic time (ns) before @raw was read; 0: @raw is not known
 */
struct unc_slot {
	unsigned int users;
	unsigned int held;
	u32 serial;
	u64 config[3];
	u64 fields[3];
	u32 allowed;
	u8 ctr;
	void (*arm)(struct unc_box *box, struct unc_slot *slot);
	struct unc_sampling sampling;
	u64 low_ns;
	u64 raw;
	u64 total;
	u64 stamp;
};

/**
 * struct unc_counter - a hardware counter
 * @slot: index of the slot that it counts for, or -1
 * @ctl: last value written to its control register
 * @raw: its value, when @known
 * @known: it does not count and holds @raw
 * @dirty: @ctl is not what @slot requires; programmed when the box's change ends
 */
struct unc_counter {
	s8 slot;
	bool known;
	bool dirty;
	u64 ctl;
	u64 raw;
};

/**
 * struct unc_function - a PCI function that the driver has claimed
 * @regs: its registers, where they are mapped
 * @lock: guards @frozen and the box control; nests in the boxes' locks
 * @frozen: boxes for which the shared box control is frozen, a bit each
 * @num: entries of @box
 * @box: the boxes whose registers, or filters, it has
 */
struct unc_function {
	void __iomem *regs;
	raw_spinlock_t lock;
	u32 frozen;
	unsigned int num;
	struct unc_box *box[];
};

/**
 * struct unc_box - a box of a package
 * @lock: guards everything below @filter_regs and the box's registers.  Raw, taken
 *	with interrupts off by unc_lock_box(), on a CPU of the package, never in an NMI.
 * @type: its box type
 * @index: its number among the boxes of its type
 * @pkg: its package
 * @pdev: its PCI function
 * @regs: that function's registers, where they are mapped
 * @function: that function, when it has other boxes as well
 * @first: index of the box's first counter in the type's tables of registers
 * @filter_pdev: the PCI function of its filters, when that is another
 * @filter_regs: that one's registers, where they are mapped
 * @name: name of the PMU, for messages
 * @pmu_type: perf's number of that PMU
 * @bits: width of the general counters, as probed
 * @fixed_bits: width of the fixed counter, as probed
 * @other_ctr: the counters are at the type's @other_ctr
 * @undecided: they may be there, or may not
 * @kept: what a counter kept of all ones, when that makes no sense; else 0
 * @dead: it does not answer any more; counts stay as they are
 * @dead_logged: the log has a line on that
 * @report: irq_work that logs what was found with a lock held
 * @resched: has perf schedule the events of a dead box again
 * @frozen: its counters are stopped, by its control register or with its package
 * @still: they are stopped because an overflow has frozen the package
 * @changes: changes in progress, see unc_box_begin()
 * @since: when it was frozen at the cost of events that count; 0: it was not
 * @started: it has been probed
 * @idle: none of its counters is in use
 * @filters_known: filter registers that hold their @filter, a bit each
 * @migrating: number of the migration in progress; 0: none
 * @migrations: migrations so far
 * @active: slots in use
 * @samplers: those of them that sample
 * @serial: source of slot serials
 * @box_ctl: last value written to the box control register
 * @box_ctl_known: that register holds it
 * @slot: what is counted
 * @ctr: by which counters
 * @filter: last values written to the filter registers
 */
struct unc_box {
	raw_spinlock_t lock;
	const struct unc_type *type;
	unsigned int index;
	struct unc_package *pkg;
	struct pci_dev *pdev;
	void __iomem *regs;
	struct unc_function *function;
	u8 first;
	struct pci_dev *filter_pdev;
	void __iomem *filter_regs;
	const char *name;
	int pmu_type;
	u8 bits, fixed_bits;
	bool other_ctr, undecided;
	u64 kept;
	bool dead;
	atomic_t dead_logged;
	struct irq_work report;
	struct work_struct resched;
	bool frozen;
	bool still;
	u16 changes;
	u64 since;
	bool started;
	bool idle;
	u32 filters_known;
	u32 migrating;
	u32 migrations;
	unsigned int active;
	unsigned int samplers;
	u32 serial;
	u32 box_ctl;
	bool box_ctl_known;
	struct unc_slot slot[UNC_MAX_COUNTERS];
	struct unc_counter ctr[UNC_MAX_COUNTERS];
	u32 filter[];
};

/**
 * struct unc_freeze - the freeze budget of a package, and its shared freeze
 * @lock: guards the others; nests in the boxes' locks
 * @credit: nanoseconds for which boxes may be frozen while events count
 * @at: when @credit was brought up to date
 * @holders: boxes without a control register that need the package frozen
 * @since: when it was frozen for them; 0: at no event's cost
 */
struct unc_freeze {
	raw_spinlock_t lock;
	s64 credit;
	u64 at;
	unsigned int holders;
	u64 since;
};

/**
 * struct unc_overflow - overflow interrupts of a package
 * @lock: one CPU at a time handles overflows; nests outside of the boxes' locks
 * @ctl_lock: guards @ctl, @core_users and @watching; nests in all other locks
 * @cores: bits of the global control register that reach a CPU; 0: no PMI comes,
 *	and all boxes are polled
 * @latency: nanoseconds from an overflow to its NMI, as measured
 * @ctl: last value written to the global control register
 * @core_users: sampling events for the PMI of each of the generation's @cores
 * @signalled: sampling events in boxes that signal
 * @polled: sampling events in boxes that do not
 * @watching: @signalled is not 0, or late overflows and PMIs are still possible
 * @watch_until: when that ends, once @signalled is 0
 * @watched: when the timer last looked for overflows without a PMI
 * @first: box that the timer polled first when it last polled
 * @freeze: number of the package freeze that is, or will be, handled next
 * @handled: when overflows were last handled
 * @storm: overflows that followed one another without a pause
 */
struct unc_overflow {
	raw_spinlock_t lock;
	raw_spinlock_t ctl_lock;
	u64 cores;
	u64 latency;
	u64 ctl;
	u16 *core_users;
	atomic_t signalled;
	atomic_t polled;
	bool watching;
	u64 watch_until;
	u64 watched;
	unsigned int first;
	u32 freeze;
	u64 handled;
	unsigned int storm;
};

/**
 * struct unc_stats - statistics of a package, as sysfs shows them
 * @overflows: sample periods that ended
 * @overflow_frozen_ns: time for which overflows kept the package frozen: the
 *	handler's, and the measured latency
 * @by_timer: overflows that the timer found
 * @late: PMIs that found no overflow: it had been handled before, or they were the
 *	core PMU's
 * @throttled: overflows after which a counter was not armed at once, for lack of
 *	freeze budget or because perf throttled its events
 * @group_frozen_ns: time for which boxes were frozen for groups to be read or changed
 * @group_unfrozen: how often a box was not frozen for that, for lack of budget
 * @foreign_writes: registers that another program changed while they counted
 */
struct unc_stats {
	atomic64_t overflows;
	atomic64_t overflow_frozen_ns;
	atomic64_t by_timer;
	atomic64_t late;
	atomic64_t throttled;
	atomic64_t group_frozen_ns;
	atomic64_t group_unfrozen;
	atomic64_t foreign_writes;
};

/**
 * struct unc_timer - reads counters before they wrap, and polls
 * @timer: fires on the package's perf CPU
 * @poll: what it does beside reading counters; returns when to fire again
 * @lock: guards @timer and @expires; never taken with a box's lock held
 * @expires: when @timer fires, monotonic ns; UNC_NEVER: it is not started
 * @wanted: when it is to fire, at the latest
 * @work: starts it for @wanted
 * @refresh: when all running counters are to be read next
 * @refresh_narrow: when those are that wrap within a second
 * @kick: moves @timer back to the perf CPU
 */
struct unc_timer {
	struct hrtimer timer;
	u64 (*poll)(struct unc_package *pkg);
	raw_spinlock_t lock;
	s64 expires;
	atomic64_t wanted;
	struct irq_work work;
	atomic64_t refresh;
	atomic64_t refresh_narrow;
	call_single_data_t kick;
};

/**
 * struct unc_package - a processor package (socket)
 * @phys_id: topology_physical_package_id() of its CPUs
 * @cpu: the perf CPU, on which all of its events are scheduled, or nr_cpu_ids while
 *	all of its CPUs are offline
 * @domain: PCI domain of its uncore
 * @bus: PCI bus of its uncore, -1 when not found
 * @boxes: the boxes, types in the generation's order; NULL where absent
 * @active: boxes with slots in use
 * @idle: no box counts: other programs may have frozen the package
 * @samplers: boxes with slots that sample, by their place in @boxes
 * @sampling_cpus: CPUs with sampling events
 * @freeze: the freeze budget
 * @overflow: overflow interrupts
 * @timer: the package's timer
 * @stats: statistics
 * @foreign_logged: the log has a line on other programs that write registers
 * @kobj: its folder in sysfs
 */
struct unc_package {
	int phys_id;
	unsigned int cpu;
	int domain;
	int bus;
	struct unc_box **boxes;
	atomic_t active;
	bool idle;
	unsigned long *samplers;
	cpumask_t sampling_cpus;
	struct unc_freeze freeze;
	struct unc_overflow overflow;
	struct unc_timer timer;
	struct unc_stats stats;
	atomic_t foreign_logged;
	struct kobject *kobj;
};

/**
 * struct unc_event - the driver's part of a perf event
 * @event: the event
 * @box: what it counts in
 * @want: what it counts, as its slot has it
 * @list: in its PMU's list of events
 * @slot: index of its slot, or -1.  That of a follower may be another's by now:
 *	@serial tells.
 * @serial: serial of the slot that hw.prev_count, @seq and @mark are of
 * @seq: the slot's samples that the event has delivered
 * @mark: the slot's @total at the event's last sample
 * @carry: counts since its last sample, while it has no slot
 * @merge: the counter was not armed for a part of these: they are for one sample
 * @tag: a migration and a slot: the event was counting when it was taken off
 * @follower: it takes no counter and follows an equal event of the perf CPU
 * @own: the driver's event that a follower follows
 * @sampling: in the list of this CPU's sampling events
 * @core: bit of the global control register that sends its CPU the PMI, or -1
 */
struct unc_event {
	struct perf_event *event;
	struct unc_box *box;
	struct unc_slot want;
	struct list_head list;
	s8 slot;
	u32 serial;
	u64 seq;
	u64 mark;
	u64 carry;
	bool merge;
	u64 tag;
	bool follower;
	struct unc_own_event *own;
	struct list_head sampling;
	int core;
};

/**
 * struct unc_cpu - state of a PMU on one CPU, between perf's pmu_disable and
 * pmu_enable or between start_txn and commit_txn
 * @disabled: perf has the PMU disabled here
 * @changing: a change of the box is in progress, see unc_box_begin()
 * @txn: transaction flags
 */
struct unc_cpu {
	bool disabled;
	bool changing;
	unsigned int txn;
};

/**
 * struct unc_pmu - a perf PMU: the boxes of one type and index in all packages
 * @pmu: perf's part
 * @type: box type
 * @index: number of the boxes
 * @name: its name
 * @cpu: per-CPU state
 * @list: in the machine's list
 * @lock: guards @events
 * @events: its events, struct unc_event
 */
struct unc_pmu {
	struct pmu pmu;
	const struct unc_type *type;
	unsigned int index;
	char *name;
	struct unc_cpu __percpu *cpu;
	struct list_head list;
	spinlock_t lock;
	struct list_head events;
};

/**
 * struct unc_machine - everything; there is one, unc
 * @gen: the generation
 * @packages: packages with a CPU online when the module was loaded
 * @num_packages: how many
 * @boxes_per_package: length of unc_package.boxes
 * @pmus: struct unc_pmu, linked
 * @prefix: prefix of the PMUs' names
 * @lenient: bits that intel_uncore masks are masked, not refused
 * @resched: has perf schedule the events of a box again, in process context
 * @ready: loading has succeeded; no event may be opened before
 */
struct unc_machine {
	const struct unc_generation *gen;
	struct unc_package *packages;
	unsigned int num_packages;
	unsigned int boxes_per_package;
	struct list_head pmus;
	const char *prefix;
	bool lenient;
	void (*resched)(struct unc_box *box);
	bool ready;
};

/*
 * --- interfaces, a part for each file, the lowest file first ---
 *
 * A file calls only what is above its own part here (scripts/check-layers checks
 * this): registers, then boxes, then counter assignment, then sampling, then what
 * perf and the kernel call.  Calls in the other direction go through pointers: the
 * timer's poll, a slot's arm, the PMI's handlers.
 */

/* --- package.c: which packages and boxes there are ----------------------- */

extern struct unc_machine unc;

struct unc_package *unc_package_of_id(int id);
struct unc_package *unc_package_of_cpu(unsigned int cpu);
unsigned int unc_package_pick_cpu(const struct unc_package *pkg, unsigned int but);
struct unc_package *unc_package_of_bus(struct pci_bus *bus);
struct unc_box **unc_package_box_place(const struct unc_package *pkg,
				       const struct unc_type *type, unsigned int index);
unsigned int unc_package_box_number(const struct unc_box *box);
bool unc_package_any_box(const struct unc_type *type, unsigned int index);
struct unc_box *unc_package_clock_box(const struct unc_package *pkg);
unsigned int unc_access_num_filters(const struct unc_type *type);
char *unc_pmu_name(const struct unc_type *type, unsigned int index);
void unc_report_init(struct unc_box *box);
void unc_report_exit(struct unc_box *box);
void unc_report_dead(struct unc_box *box);
void unc_report_foreign(struct unc_box *box);

/*
 * @a * @mul / @div, all of 64 bits, at most U64_MAX.  The kernel's own function
 * divides by hardware, which faults when the result does not fit.
 */
static inline u64 unc_mul_div(u64 a, u64 mul, u64 div)
{
	if (mul_u64_u64_shr(a, mul, 64) >= div)
		return U64_MAX;
	return mul_u64_u64_div_u64(a, mul, div);
}

/* --- lock.c: locks, and which contexts may wait for them ------------------ */

unsigned long unc_lock_box(struct unc_box *box) __acquires(&box->lock);
void unc_lock_release(struct unc_box *box, unsigned long flags)
	__releases(&box->lock);
bool unc_lock_to_read(struct unc_box *box, unsigned long *flags);
void unc_lock_raw(raw_spinlock_t *lock) __acquires(lock);
void unc_lock_raw_release(raw_spinlock_t *lock) __releases(lock);

/* --- space_msr.c --------------------------------------------------------- */

extern const struct unc_space unc_space_msr;

/* --- space_pci.c --------------------------------------------------------- */

extern const struct unc_space unc_space_pci;

const char *unc_pci_access(void);

/* --- access.c: registers; call with the box's lock held ------------------ */

bool unc_access_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value);
unsigned int unc_access_bits(const struct unc_box *box, unsigned int ctr);
bool unc_access_reachable(const struct unc_box *box);
bool unc_access_present(struct unc_box *box);
int unc_access_probe(struct unc_box *box);
u64 unc_access_read_ctl(struct unc_box *box, unsigned int ctr);
void unc_access_write_ctl(struct unc_box *box, unsigned int ctr, u64 value);
void unc_access_write_filter(struct unc_box *box, unsigned int i, u32 value);
void unc_access_write_box_ctl(struct unc_box *box, u32 value);
void unc_access_write_counter(struct unc_box *box, unsigned int ctr, u64 value);
void unc_access_clear_status(struct unc_box *box);

/* --- global.c: a package's registers ------------------------------------ */

bool unc_global_look(u64 *ctl, u64 *status);
u64 unc_global_status(void);
void unc_global_clear(u64 status);
void unc_global_freeze(void);
void unc_global_restart(u64 ctl);
void unc_global_select(u64 cores);
void unc_global_unfreeze(struct unc_overflow *ov);
void unc_global_select_core(struct unc_overflow *ov, int core, int users);
bool unc_global_deselect_core(struct unc_overflow *ov, int core);
int unc_global_init(struct unc_package *pkg);
void unc_global_exit(struct unc_package *pkg);

/* --- freeze.c: freezing boxes within a budget ----------------------------- */

void unc_freeze_init(struct unc_package *pkg);
bool unc_freeze_allowed(struct unc_package *pkg);
void unc_freeze_charge(struct unc_package *pkg, u64 ns);
bool unc_freeze_get(struct unc_box *box, bool force);
void unc_freeze_put(struct unc_box *box);

/* --- box.c: counting; call with the box's lock held ---------------------- */

bool unc_box_signals(const struct unc_box *box);
int unc_box_start(struct unc_box *box, bool *found);
void unc_box_restore(struct unc_box *box);
void unc_box_lose_filters(struct unc_box *box);
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot);
void unc_box_reprogram(struct unc_box *box);
void unc_box_begin(struct unc_box *box);
void unc_box_begin_forced(struct unc_box *box);
void unc_box_end(struct unc_box *box);
void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot);
void unc_refresh_box(struct unc_box *box);
void unc_refresh_verify(struct unc_box *box);
void unc_refresh_verify_package(struct unc_box *box);
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr);
void unc_box_leave(struct unc_box *box, struct unc_slot *slot);
void unc_box_release(struct unc_box *box, struct unc_slot *slot);
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot);
void unc_box_end_migration(struct unc_box *box);
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run);

/* --- timer.c ------------------------------------------------------------- */

void unc_timer_init(struct unc_package *pkg,
		    u64 (*poll)(struct unc_package *pkg));
void unc_timer_want(struct unc_package *pkg, u64 at);
void unc_timer_refresh_by(struct unc_package *pkg, bool narrow);
void unc_timer_online(struct unc_package *pkg);
void unc_timer_exit(struct unc_package *pkg);
void unc_csd_wait(call_single_data_t *csd);

/* --- slot.c: which counter counts what ---------------------------------- */

int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot);
bool unc_slot_equals(const struct unc_slot *a, const struct unc_slot *b);
struct unc_slot *unc_slot_find(struct unc_box *box, const struct unc_slot *like);
struct unc_slot *unc_slot_get(struct unc_box *box, const struct unc_slot *like);
bool unc_slot_fit_all(const struct unc_slot *slots, unsigned int n);

/* --- event.c: an event and its slot --------------------------------------- */

struct unc_slot *unc_event_slot(struct unc_event *ue);
void unc_event_join(struct unc_event *ue, const struct unc_slot *slot);
void unc_event_count(struct unc_event *ue, const struct unc_slot *slot);

/* --- pmi.c: the interrupt ------------------------------------------------ */

/**
 * struct unc_pmi_calls - what a PMI leads to
 * @handle: handles the overflows of a package, see unc_overflow_handle()
 * @deliver: delivers this CPU's samples, see unc_sampling_deliver()
 */
struct unc_pmi_calls {
	void (*handle)(struct unc_package *pkg, u64 status, u64 since,
		       u32 freeze);
	void (*deliver)(struct unc_package *pkg, struct pt_regs *regs);
};

void unc_pmi_init(const struct unc_pmi_calls *calls);
void unc_pmi_exit(void);
int unc_nmi_get(void);
void unc_nmi_put(void);
void unc_nmi_arm(void);
void unc_nmi_cpu_online(void);
void unc_pmi_raise(void);
void unc_pmi_kick(struct unc_package *pkg);
bool unc_pmi_in_handler(bool on);
bool unc_nmi_settle(void);
struct pt_regs *unc_pmi_regs(struct pt_regs *here);
void unc_pmi_caller(struct pt_regs *here);
void unc_nmi_measure_begin(struct unc_package *pkg, struct cpumask *answered);
void unc_nmi_measure_end(void);

/* --- pmi_map.c: which core each bit interrupts ---------------------------- */

void unc_pmi_map_measure(struct unc_package *pkg);
void unc_pmi_map_online(void);
int unc_pmi_map_core(const struct unc_package *pkg, unsigned int cpu);
void unc_pmi_map_exit(void);


/* --- sampling.c: events that sample, and their samples ------------------- */

int unc_sampling_init(void);
int unc_sampling_check(const struct perf_event *event,
		       const struct unc_box *box, const struct unc_slot *slot);
bool unc_sampling_fits(const struct unc_box *box, const struct unc_slot *slot,
		       u64 period);
void unc_sampling_describe(const struct perf_event *event, bool freq,
			   struct unc_slot *slot);
void unc_sampling_start(struct unc_box *box, struct unc_slot *slot, u64 carry);
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns);
bool unc_sampling_has_pmi(const struct unc_box *box, const struct unc_slot *slot);
void unc_sampling_merge(struct unc_slot *slot);
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_rearm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_pace(struct unc_slot *slot, unsigned int bits);
u64 unc_sampling_take(struct unc_event *ue, const struct unc_slot *slot,
		      u64 *weight);
void unc_sampling_add(struct unc_event *ue);
void unc_sampling_del(struct unc_event *ue);
void unc_sampling_flush(struct unc_event *ue, u64 due, u64 weight);
void unc_sampling_deliver(struct unc_package *pkg, struct pt_regs *regs);

/* --- overflow.c: a package's overflows ----------------------------------- */

u64 unc_overflow_bits(const struct unc_box *box);
void unc_overflow_handle(struct unc_package *pkg, u64 status, u64 since,
			 u32 freeze);
u64 unc_overflow_poll(struct unc_package *pkg);

/* --- topology.c ---------------------------------------------------------- */

int unc_topology_init(void);
void unc_topology_exit(void);
struct unc_box *unc_topology_box(struct unc_package *pkg,
				 const struct unc_type *type, unsigned int index);
int unc_power_start(void);
void unc_power_stop(void);

/* --- pci.c --------------------------------------------------------------- */

int unc_pci_init(void);
void unc_pci_exit(void);

/* --- power.c: suspend, reboot, packages that come back ------------------- */

int unc_power_init(void);
void unc_power_exit(void);
void unc_power_suspend(struct unc_package *pkg);
void unc_power_resume(struct unc_package *pkg);

/* --- sysfs.c ------------------------------------------------------------- */

int unc_sysfs_init(void);
void unc_sysfs_exit(void);
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type);

/* --- package_sysfs.c ----------------------------------------------------- */

int unc_package_sysfs_init(void);
void unc_package_sysfs_exit(void);

/* --- own_event.c: events that the driver opens --------------------------- */

bool unc_own_event_is(const struct perf_event *event);
struct unc_own_event *unc_own_event_get(struct perf_event *event, bool wait);
void unc_own_event_put(struct unc_own_event *own);
void unc_own_event_resched(struct unc_box *box);

/* --- open.c: opening an event --------------------------------------------- */

int unc_open_event(struct perf_event *event);
int unc_open_check_period(struct perf_event *event, u64 period);

/* --- pmu.c: what perf calls ----------------------------------------------- */

extern const struct pmu unc_pmu_template;

/* --- pmus.c: registration, and events of a CPU that goes offline ----------- */

int unc_pmus_register(void);
void unc_pmus_unregister(void);
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to);

#endif

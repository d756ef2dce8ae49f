/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's state.  The interface of each file is in the header beside it, and
 * table.h has the types of the tables that describe the hardware.
 *
 * box		a part of the uncore with counters, such as a CBo or a memory channel
 * slot		what a box counts for one event, or for several equal events
 * perf CPU	the CPU of a package on which perf runs the package's events
 * follower	an event on another CPU; it takes no counter and reads the slot of an equal
 *		event of the perf CPU
 * arm		set a counter so that it overflows when the next sample is due
 * PMI		the interrupt that a package sends when a counter overflows
 * signal	a box that signals freezes its package, and has a PMI sent, when one of its
 *		counters overflows; the timer polls the counters of all other boxes
 */
#ifndef XEON_UNCORE_STATE_H
#define XEON_UNCORE_STATE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "table.h"

#define UNC_NAME		"xeon_uncore"
#define UNC_NEVER		S64_MAX	/* a deadline that is not set */

/*
 * A passive copy of an event: it stays on its CPU, takes no counter, and reads what
 * an equal event of the package counts.  No format field has this bit of config: in the
 * control of a counter it is the enable bit, which the driver sets.
 */
#define UNC_CONFIG_LOCAL	BIT_ULL(22)

struct unc_box;
struct unc_package;

/* --- what a box counts ---------------------------------------------------- */

/*
 * Sampling of a slot.  The slot numbers its samples.  Each event of the slot takes each
 * sample and delivers it to perf on the event's CPU.
 */
struct unc_sampling {
	u64 period;		/* sample period, in counts; 0: the slot does not sample */
	/* samples a second in frequency mode, which adapts @period; 0: fixed period */
	u64 freq;
	u64 next;		/* the slot's total at which the next sample is due */
	u64 mark;		/* the slot's total at which that sample's period begins */
	u64 seq;		/* number of the last sample that was due */
	u64 taken;		/* number of the last sample that any event has taken */
	bool armed;		/* the counter overflows when the slot's total is @set */
	u64 set;
	/* frequency mode: begin (monotonic ns) of the present measurement of the rate */
	u64 paced;
	u64 paced_total;	/* the slot's total at @paced */
	/* time for which the last overflow froze the package, for the tracepoint */
	u64 frozen_ns;
};

/* A count of a box, for one event or for several equal events. */
struct unc_slot {
	/*
	 * Events that share the slot, without followers.  A slot without events is free.
	 * It keeps its last total for its followers, and for the case that perf adds an
	 * equal event again.
	 */
	unsigned int users;
	/*
	 * Events that perf has removed to add them on a new perf CPU.  The counter runs
	 * on for these events.
	 */
	unsigned int migrating;
	u32 serial;		/* number of this use of the slot; 0: never used */
	u64 config[3];		/* config, config1 and config2 of the events */
	u64 fields[3];		/* bits of @config that set the filters of the events */
	u32 allowed;		/* counters that may count the events, a bit each */
	bool of_ctr0;		/* the events count the occupancy that counter 0 selects */
	u8 ctr;			/* hardware counter of the slot */
	/* arms the counter; NULL if the slot does not sample or the box does not signal */
	void (*arm)(struct unc_box *box, struct unc_slot *slot);
	struct unc_sampling sampling;
	/*
	 * Time (ns) in which the counter cannot count 2^32.  A read within this time
	 * needs the low half of a PCI counter only.
	 */
	u64 low_ns;
	/* time (ns) in which no event of the box can count 2^32, to bound credible growth */
	u64 most_ns;
	u64 raw;		/* the counter's value at the last read */
	u64 total;		/* counts since the slot came into use */
	/*
	 * Time (ns) just before @raw was read; 0: unknown.  By the boot clock, which runs
	 * in suspend to idle, as the counters do.
	 */
	u64 stamp;
};

/* Check whether events count in a slot. */
static inline bool unc_slot_in_use(const struct unc_slot *slot)
{
	return slot->users || slot->migrating;
}

/* A hardware counter. */
struct unc_counter {
	s8 slot;		/* index of the counter's slot, or -1 */
	bool known;		/* the counter is stopped, and its value is @raw */
	bool dirty;		/* unc_box_end() has to program the counter */
	u64 ctl;		/* last value written to the control register */
	u64 raw;		/* the counter's value, when @known */
};

/* A PCI function that the driver has claimed. */
struct unc_function {
	void __iomem *regs;	/* the function's registers, if mapped */
	raw_spinlock_t lock;	/* guards @frozen and the shared box control */
	u32 frozen;		/* boxes that need the shared freeze bit set, a bit each */
	unsigned int num;	/* entries of @box */
	struct unc_box *box[];	/* boxes with registers or filters in the function */
};

/* --- a box ---------------------------------------------------------------- */

/* Location of a box's registers. */
struct unc_box_io {
	s32 place;			/* what to add to the MSR numbers of the type's tables */
	struct pci_dev *pdev;		/* PCI function of the box */
	void __iomem *regs;		/* registers of @pdev, or of the box, if mapped */
	phys_addr_t address;		/* of the box's own memory; 0: it has none */
	struct unc_function *function;	/* @pdev, if other boxes share it */
	u8 first;			/* the box's first counter in the type's tables */
	struct pci_dev *filter_pdev;	/* PCI function of the filters, if not @pdev */
	void __iomem *filter_regs;	/* registers of @filter_pdev, if mapped */
};

/* Properties of a box that the driver probes at load. */
struct unc_box_probed {
	u8 bits;		/* width of the general counters */
	u8 fixed_bits;		/* width of the fixed counter */
	bool other_ctr;		/* counters are at the type's other addresses */
	bool undecided;		/* the probe did not tell which addresses counters have */
	bool unclocked;		/* the box's clock does not run */
	/*
	 * Value of a counter after a write of all ones, for a message; 0 if the value
	 * gave the counter's width.
	 */
	u64 kept;
};

/* Messages about a box, which are logged without the box's lock. */
struct unc_box_report {
	atomic_t dead_logged;		/* the log says that the box is dead */
	struct irq_work work;		/* logs the messages */
	struct work_struct resched;	/* has perf remove the events of a dead box */
	int pmu_type;			/* perf's number of the box's PMU, for @resched */
};

/* State of a box's registers. */
struct unc_box_hw {
	bool frozen;		/* the counters are stopped, by the box or its package */
	bool idle;		/* no counter is in use */
	bool box_ctl_known;	/* the box control register holds @box_ctl */
	u32 box_ctl;		/* last value written to the box control */
	u32 filters_known;	/* filter registers that hold @filter, a bit each */
	u16 changes;		/* calls of unc_box_begin() without unc_box_end() */
	/* begin (monotonic ns) of the present freeze; 0: no event loses counts by it */
	u64 since;
};

/* Use of a box. */
struct unc_box_use {
	unsigned int active;	/* slots in use */
	unsigned int samplers;	/* slots in use that sample */
	u32 serial;		/* last number that was given to a use of a slot */
	/* number of the migration to a new perf CPU that is in progress, or 0 */
	u32 migration;
	u32 migrations;		/* migrations so far */
	struct task_struct *migrator;	/* task that migrates the events, or NULL */
};

/*
 * A box of a package.  @lock guards @hw and all below it, and the box's registers.  It
 * is raw, taken with interrupts off (lock.c), on a CPU of the package, never in
 * an NMI.
 */
struct unc_box {
	raw_spinlock_t lock;
	const struct unc_type *type;
	unsigned int index;	/* number among the boxes of the type */
	unsigned int number;	/* index in unc_package.boxes */
	struct unc_package *pkg;
	const char *name;	/* name of the PMU */
	const char *place;	/* of the box in the machine, see hw/map.c; or NULL */
	/* the box does not answer, or was retired: no access any more, and totals stay */
	bool dead;
	struct unc_box_io io;
	struct unc_box_probed probed;
	struct unc_box_report report;
	struct unc_box_hw hw;
	struct unc_box_use use;
	struct unc_slot *slot;	/* unc_box_slots() of them */
	struct unc_counter *ctr;	/* by index, unc_box_counters() of them */
	u32 *filter;		/* last values written to the filter registers */
};

/* Return the number of indices of a box's counters; some may have no counter. */
static inline unsigned int unc_box_counters(const struct unc_box *box)
{
	return UNC_FREERUN0 + box->type->num_freerun;
}

/*
 * Slots of a box in addition to one for each counter.  They keep the last totals of
 * events that perf rotates.
 */
#define UNC_SPARE_SLOTS	4

static inline unsigned int unc_box_slots(const struct unc_box *box)
{
	return unc_box_counters(box) + UNC_SPARE_SLOTS;
}

/* --- a package ------------------------------------------------------------ */

/* The freeze budget of a package, and its shared freeze. */
struct unc_freeze {
	raw_spinlock_t lock;	/* guards all members; nests in the boxes' locks */
	s64 credit;		/* ns for which boxes may be frozen; negative: overdrawn */
	u64 at;			/* last update of @credit (monotonic ns) */
	unsigned int holders;	/* boxes that need the package frozen */
	/* begin (monotonic ns) of the present freeze; 0: no event loses counts by it */
	u64 since;
};

/* Polling for overflows whose PMI does not come.  Times are monotonic ns. */
struct unc_watch {
	bool on;		/* the timer polls: for events that need PMIs, until @until */
	u64 until;		/* end of the polling after the last such event */
	u64 next;		/* next check by the timer */
	/*
	 * The package's @clear when the timer found an overflow and left it to its PMI.
	 * If @clear is still the same at the next check, the PMI did not come.
	 */
	u64 clear;
};

/* Overflows of a package. */
struct unc_overflow {
	raw_spinlock_t lock;	/* held while a CPU handles overflows; boxes' locks nest */
	raw_spinlock_t ctl_lock;	/* guards @ctl, @watch; nests in all other locks */
	u64 ctl;		/* last value written to global control */
	struct unc_watch watch;
	bool has_pmi;		/* PMIs reach CPUs; else all boxes are polled */
	u64 latency;		/* ns from an overflow to its NMI, measured at load */
	/* last time (monotonic ns) at which the global status had no overflow bit */
	u64 clear;
	atomic_t signalled;	/* sampling events in boxes that signal */
	atomic_t polled;	/* sampling events in boxes that do not */
	unsigned int first;	/* first box of the timer's last poll, see overflow.c */
	bool deferred;		/* an event that perf throttles has a sample to deliver */
};

/* Statistics of a package; Documentation/ABI has what they mean. */
struct unc_stats {
	atomic64_t overflows;
	atomic64_t overflow_frozen_ns;
	atomic64_t by_timer;
	atomic64_t late;
	atomic64_t merged;
	atomic64_t group_frozen_ns;
	atomic64_t group_unfrozen;
	atomic64_t foreign_writes;
};

/* The timer that reads counters before they wrap, and polls. */
struct unc_timer {
	struct hrtimer timer;		/* fires on the package's perf CPU */
	u64 (*poll)(struct unc_package *pkg);	/* polls; returns when to fire again */
	raw_spinlock_t lock;		/* guards @timer, @expires; no box's lock held */
	s64 expires;			/* time at which @timer fires (monotonic ns) */
	/* deadline (monotonic ns) for which @work has still to start @timer */
	atomic64_t wanted;
	struct irq_work work;		/* starts @timer for @wanted */
	atomic64_t refresh;		/* time of the next read of all counters */
	/* time of the next read of narrow counters, which wrap within a second */
	atomic64_t refresh_narrow;
	unsigned int next_box;	/* next box to read and verify */
	call_single_data_t kick;	/* moves @timer back to the perf CPU */
};

/* A processor package (socket), or a die where packages have several (unc_cpu_package()). */
struct unc_package {
	int id;			/* unc_cpu_package() of its CPUs */
	int die;		/* topology_logical_die_id() of its CPUs */
	/* the perf CPU, which runs the package's events; nr_cpu_ids: all CPUs are offline */
	unsigned int cpu;
	int domain;		/* PCI domain of the package's buses */
	int first_bus, last_bus;	/* the package's PCI buses; -1 when not found */
	int node;		/* the UBox's node id; -1 when not found */
	struct unc_box **boxes;	/* in the order of the types; NULL where absent */
	atomic_t active;	/* boxes with slots in use */
	/*
	 * No box counts.  The next box that starts unfreezes the package, which another
	 * program may have frozen.
	 */
	bool idle;
	unsigned long *samplers;	/* boxes that sample, by their index in @boxes */
	cpumask_t sampling_cpus;	/* CPUs with sampling events */
	struct unc_freeze freeze;
	struct unc_overflow overflow;
	struct unc_timer timer;
	struct unc_stats stats;
	atomic_t foreign_logged;	/* the log has a line on foreign writes */
	struct kobject *kobj;	/* the package's folder in sysfs */
};

/* --- events and PMUs ------------------------------------------------------ */

/* The driver's part of a perf event. */
struct unc_event {
	struct perf_event *event;
	struct unc_box *box;	/* counts the event */
	struct unc_slot want;	/* description of the slot that the event needs */
	struct list_head list;	/* in the PMU's list of events */
	/*
	 * Index of the event's slot, or -1.  A follower's slot may have another @serial
	 * by now: then the slot counts other events.
	 */
	s8 slot;
	u32 serial;		/* serial of the slot of hw.prev_count, @seq and @mark */
	u64 seq;		/* number of the last sample that the event has taken */
	u64 mark;		/* total of the slot when that sample's period ended */
	/* counts since @mark, which the event keeps while perf has removed it */
	u64 carry;
	bool throttled;		/* perf throttles the event: it counts without samples */
	/* migration and slot of an event that perf has removed to migrate it; or 0 */
	u64 tag;
	bool follower;		/* takes no counter, reads the slot of an equal event */
	/* event that the driver opened for this follower; NULL: none */
	struct unc_own_event *own;
	struct list_head sampling;	/* in the CPU's list of sampling events */
};

/* A PMU on one CPU, between perf's pmu_disable and pmu_enable, or in a transaction. */
struct unc_cpu {
	bool disabled;		/* perf has the PMU disabled on the CPU */
	bool changing;		/* this CPU has called unc_box_begin() for the PMU's box */
	unsigned int txn;	/* perf's flags of the transaction, PERF_PMU_TXN_*; or 0 */
};

/* A perf PMU: the boxes of one type and index in all packages. */
struct unc_pmu {
	struct pmu pmu;
	unsigned int number;	/* index of the PMU's box in unc_package.boxes */
	struct unc_cpu __percpu *cpu;
	struct list_head list;	/* in the machine's list */
	spinlock_t lock;	/* guards @events */
	struct list_head events;
};

static inline struct unc_pmu *to_unc_pmu(struct pmu *pmu)
{
	return container_of(pmu, struct unc_pmu, pmu);
}

/* The machine; there is one, unc. */
struct unc_machine {
	const struct unc_generation *gen;
	struct unc_package *packages;	/* those with a CPU online at load */
	unsigned int num_packages;
	unsigned int boxes_per_package;
	struct list_head pmus;
	const char *prefix;	/* of the PMUs' names */
	/*
	 * pmu_prefix=uncore: the driver replaces intel_uncore, and clears bits of an
	 * event's config that the event does not use instead of refusing the event.
	 */
	bool lenient;
	bool ready;		/* loaded; no event may be opened before */
};

#endif

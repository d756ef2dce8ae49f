/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's state.  The interface of each file is in the header beside it, and
 * table.h has the types of the tables that describe the hardware.
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
 * an equal event of the package counts.  No register has this bit of config.
 */
#define UNC_CONFIG_LOCAL	BIT_ULL(63)

struct unc_box;
struct unc_package;

/* --- what a box counts ---------------------------------------------------- */

/* Sampling of a slot. */
struct unc_sampling {
	u64 period;		/* sample period; 0: the slot does not sample */
	u64 freq;		/* samples a second, in frequency mode; adapts @period */
	u64 next;		/* the slot's total at which the next sample is due */
	u64 mark;		/* the slot's total that its samples account for */
	u64 seq;		/* samples so far */
	u64 taken;		/* the last one that an event has taken */
	bool armed;		/* the counter overflows when the total is @set */
	u64 set;
	u64 paced;		/* when the rate was last measured, in frequency mode */
	u64 paced_total;	/* the slot's total at that time */
	u64 frozen_ns;		/* freeze of the last overflow, for the trace */
};

/* A count of a box, for one event or for several equal events. */
struct unc_slot {
	/*
	 * Events that share the slot.  A slot without events is free, and keeps its last
	 * total for followers, and for an equal event that perf adds next.
	 */
	unsigned int users;
	unsigned int migrating;	/* events that migrate; the counter runs on for them */
	u32 serial;		/* number of this use of the slot; 0: never used */
	u64 config[3];		/* config, config1 and config2 of the events */
	u64 fields[3];		/* bits of @config that are filters in use */
	u32 allowed;		/* hardware counters that may count the events */
	bool of_ctr0;		/* the events use counter 0's occupancy */
	u8 ctr;			/* hardware counter of the slot */
	/* sets the counter to overflow, where the box signals and the slot samples */
	void (*arm)(struct unc_box *box, struct unc_slot *slot);
	struct unc_sampling sampling;
	u64 low_ns;		/* time in which the counter counts less than 2^32 (ns) */
	u64 raw;		/* the counter's value at the last read */
	u64 total;		/* counts since the slot came into use */
	/* boot time (ns) just before @raw was read; 0: unknown.  Counters run in s2idle */
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
	bool dirty;		/* to be programmed when the box's change ends */
	u64 ctl;		/* last value written to the control register */
	u64 raw;		/* the counter's value, when @known */
};

/* A PCI function that the driver has claimed. */
struct unc_function {
	void __iomem *regs;	/* the function's registers, if mapped */
	raw_spinlock_t lock;	/* guards @frozen and the shared box control */
	u32 frozen;		/* boxes that need the box control frozen, a bit each */
	unsigned int num;	/* entries of @box */
	struct unc_box *box[];	/* boxes with registers or filters in the function */
};

/* --- a box ---------------------------------------------------------------- */

/* Location of a box's registers. */
struct unc_box_io {
	struct pci_dev *pdev;		/* PCI function of the box */
	void __iomem *regs;		/* registers of @pdev, if mapped */
	struct unc_function *function;	/* @pdev, if other boxes share it */
	u8 first;			/* the box's first counter in the type's tables */
	struct pci_dev *filter_pdev;	/* PCI function of the filters, if not @pdev */
	void __iomem *filter_regs;	/* registers of @filter_pdev, if mapped */
};

/* Properties of a box that the load has found out. */
struct unc_box_probed {
	u8 bits;		/* width of the general counters */
	u8 fixed_bits;		/* width of the fixed counter */
	bool other_ctr;		/* counters are at the type's other addresses */
	bool undecided;		/* the addresses of the counters are not certain */
	bool unclocked;		/* the box's clock does not run */
	u64 kept;		/* value of a counter after all ones, if it fits no width; or 0 */
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
	u32 filters_known;	/* filter registers with the driver's value, a bit each */
	u16 changes;		/* changes in progress, see unc_box_begin() */
	u64 since;		/* begin of a freeze by which events lose counts; or 0 */
};

/* Use of a box. */
struct unc_box_use {
	unsigned int active;	/* slots in use */
	unsigned int samplers;	/* slots in use that sample */
	u32 serial;		/* source of slot serials */
	u32 migration;		/* number of the migration in progress, or 0 */
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
	bool dead;		/* the box does not answer any more; counts stay */
	struct unc_box_io io;
	struct unc_box_probed probed;
	struct unc_box_report report;
	struct unc_box_hw hw;
	struct unc_box_use use;
	struct unc_slot slot[UNC_MAX_COUNTERS];
	struct unc_counter ctr[UNC_MAX_COUNTERS];
	u32 filter[];		/* last values written to the filter registers */
};

/* --- a package ------------------------------------------------------------ */

/* The freeze budget of a package, and its shared freeze. */
struct unc_freeze {
	raw_spinlock_t lock;	/* guards all members; nests in the boxes' locks */
	s64 credit;		/* ns for which boxes may be frozen */
	u64 at;			/* last update of @credit */
	unsigned int holders;	/* boxes that need the package frozen */
	u64 since;		/* begin of a freeze by which events lose counts; or 0 */
};

/* Polling for overflows whose PMI does not come. */
struct unc_watch {
	bool on;		/* a sampling event needs PMIs, or did until @until */
	u64 until;		/* end of the polling after the last such event */
	u64 next;		/* next check by the timer */
	u64 clear;		/* the package's @clear when the timer found an overflow */
};

/* Overflows of a package. */
struct unc_overflow {
	raw_spinlock_t lock;	/* held while a CPU handles overflows; boxes' locks nest */
	raw_spinlock_t ctl_lock;	/* guards @ctl, @watch; nests in all other locks */
	u64 ctl;		/* last value written to global control */
	struct unc_watch watch;
	bool has_pmi;		/* PMIs reach CPUs; else all boxes are polled */
	u64 latency;		/* ns from an overflow to its NMI, as measured */
	u64 clear;		/* last time at which the global status was clear */
	atomic_t signalled;	/* sampling events in boxes that signal */
	atomic_t polled;	/* sampling events in boxes that do not */
	unsigned int first;	/* first box of the timer's last poll */
	bool deferred;		/* a sample waits for the end of perf's throttling */
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
	atomic64_t wanted;		/* latest time at which @timer has to fire */
	struct irq_work work;		/* starts @timer for @wanted */
	atomic64_t refresh;		/* time of the next read of all counters */
	atomic64_t refresh_narrow;	/* the same of counters that wrap within a second */
	unsigned int next_box;	/* next box to verify */
	call_single_data_t kick;	/* moves @timer back to the perf CPU */
};

/* A processor package (socket). */
struct unc_package {
	int phys_id;		/* topology_physical_package_id() of its CPUs */
	/* the perf CPU, which runs the package's events; nr_cpu_ids: all CPUs are offline */
	unsigned int cpu;
	int domain;		/* PCI domain of the uncore */
	int bus;		/* PCI bus of the uncore, -1 when not found */
	struct unc_box **boxes;	/* in the order of the types; NULL where absent */
	atomic_t active;	/* boxes with slots in use */
	bool idle;		/* no box counts: other programs may have frozen the package */
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
	/* index of the slot, or -1; a follower's slot may count other events by now */
	s8 slot;
	u32 serial;		/* serial of the slot to which prev_count, @seq, @mark belong */
	u64 seq;		/* number of the slot's last sample that was delivered */
	u64 mark;		/* the slot's total at the event's last sample */
	u64 carry;		/* counts since the last sample, while there is no slot */
	bool throttled;		/* perf throttles the event: it counts without samples */
	u64 tag;		/* migration in which perf removed the event; 0: in none */
	bool follower;		/* takes no counter, follows an equal event */
	struct unc_own_event *own;	/* the driver's event that a follower follows */
	struct list_head sampling;	/* in the CPU's list of sampling events */
};

/* A PMU on one CPU, between perf's pmu_disable and pmu_enable, or in a transaction. */
struct unc_cpu {
	bool disabled;		/* perf has the PMU disabled on the CPU */
	bool changing;		/* a change is in progress, see unc_box_begin() */
	unsigned int txn;	/* transaction flags */
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
	bool lenient;		/* mask bits that intel_uncore masks */
	bool ready;		/* loaded; no event may be opened before */
};

#endif

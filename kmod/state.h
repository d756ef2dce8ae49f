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

/* What a box counts for one event or for several equal ones. */
struct unc_slot {
	/*
	 * Events that share it.  A slot without any is free, and keeps its last total
	 * for passive copies and for an equal event that comes next.
	 */
	unsigned int users;
	unsigned int migrating;	/* events that migrate; their slot runs on */
	u32 serial;		/* of its use for these events; 0: never used */
	u64 config[3];		/* config, config1 and config2 of its events */
	u64 fields[3];		/* bits of these that are filters in use */
	u32 allowed;		/* hardware counters that may count it */
	bool of_ctr0;		/* it counts what the event of counter 0 gives */
	u8 ctr;			/* hardware counter that counts it */
	/* sets the counter to overflow, where its box signals and the slot samples */
	void (*arm)(struct unc_box *box, struct unc_slot *slot);
	struct unc_sampling sampling;
	u64 low_ns;		/* it counts less than 2^32 in that time (ns) */
	u64 raw;		/* the counter's value at the last read */
	u64 total;		/* counts since the slot came into use */
	/* boot time (ns) before @raw was read; 0: not known.  Counters run in s2idle */
	u64 stamp;
};

/* Check whether events count in a slot. */
static inline bool unc_slot_in_use(const struct unc_slot *slot)
{
	return slot->users || slot->migrating;
}

/* A hardware counter. */
struct unc_counter {
	s8 slot;		/* index of the slot that it counts for, or -1 */
	bool known;		/* it does not count and holds @raw */
	bool dirty;		/* to be programmed when the box's change ends */
	u64 ctl;		/* last value written to its control register */
	u64 raw;		/* its value, when @known */
};

/* A PCI function that the driver has claimed. */
struct unc_function {
	void __iomem *regs;	/* its registers, where they are mapped */
	raw_spinlock_t lock;	/* guards @frozen and the shared box control */
	u32 frozen;		/* boxes that need that frozen, a bit each */
	unsigned int num;	/* entries of @box */
	struct unc_box *box[];	/* boxes whose registers, or filters, it has */
};

/* --- a box ---------------------------------------------------------------- */

/* Where a box's registers are. */
struct unc_box_io {
	struct pci_dev *pdev;		/* its PCI function */
	void __iomem *regs;		/* that function's registers, if mapped */
	struct unc_function *function;	/* that function, if it has other boxes */
	u8 first;			/* its first counter in the type's tables */
	struct pci_dev *filter_pdev;	/* function of its filters, if another */
	void __iomem *filter_regs;	/* that one's registers, if mapped */
};

/* What was found out about a box at load. */
struct unc_box_probed {
	u8 bits;		/* width of the general counters */
	u8 fixed_bits;		/* width of the fixed counter */
	bool other_ctr;		/* counters are at the type's other addresses */
	bool undecided;		/* they may be there, or may not */
	bool unclocked;		/* its clock does not run */
	u64 kept;		/* odd value that a counter kept of all ones; or 0 */
};

/* Messages about a box, which are logged without its lock. */
struct unc_box_report {
	atomic_t dead_logged;		/* the log has a line on its death */
	struct irq_work work;		/* logs */
	struct work_struct resched;	/* has perf schedule its events again */
	int pmu_type;			/* perf's number of its PMU, for that */
};

/* What a box's registers hold. */
struct unc_box_hw {
	bool frozen;		/* its counters are stopped, by it or its package */
	bool idle;		/* none of its counters is in use */
	bool box_ctl_known;	/* the box control register holds @box_ctl */
	u32 box_ctl;		/* last value written there */
	u32 filters_known;	/* filter registers that hold what was written */
	u16 changes;		/* changes in progress, see unc_box_begin() */
	u64 since;		/* when events began to lose by its freeze; 0: none do */
};

/* How much of a box is in use. */
struct unc_box_use {
	unsigned int active;	/* slots in use */
	unsigned int samplers;	/* those of them that sample */
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
	unsigned int index;	/* its number among the boxes of its type */
	unsigned int number;	/* and among all, see unc_package.boxes */
	struct unc_package *pkg;
	const char *name;	/* name of its PMU */
	bool dead;		/* it does not answer any more; its counts stay */
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
	raw_spinlock_t lock;	/* guards the others; nests in the boxes' locks */
	s64 credit;		/* ns for which boxes may be frozen */
	u64 at;			/* when @credit was brought up to date */
	unsigned int holders;	/* boxes that need the package frozen */
	u64 since;		/* when it was for them; 0: at no event's cost */
};

/* Polling for overflows whose PMI does not come. */
struct unc_watch {
	bool on;		/* a box signals, or did until lately */
	u64 until;		/* when that ends */
	u64 next;		/* when the timer checks next */
	u64 clear;		/* the package's @clear when the timer found an overflow */
};

/* Overflows of a package. */
struct unc_overflow {
	raw_spinlock_t lock;	/* of the CPU that handles them; boxes' locks nest */
	raw_spinlock_t ctl_lock;	/* guards @ctl, @watch; nests in all other locks */
	u64 ctl;		/* last value written to global control */
	struct unc_watch watch;
	bool has_pmi;		/* PMIs reach CPUs; else all boxes are polled */
	u64 latency;		/* ns from an overflow to its NMI, as measured */
	u64 clear;		/* when the global status was last seen clear */
	atomic_t signalled;	/* sampling events in boxes that signal */
	atomic_t polled;	/* sampling events in boxes that do not */
	unsigned int first;	/* box that the timer polled first last time */
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

/* Reads counters before they wrap, and polls. */
struct unc_timer {
	struct hrtimer timer;		/* fires on the package's perf CPU */
	u64 (*poll)(struct unc_package *pkg);	/* returns when to fire again */
	raw_spinlock_t lock;		/* guards @timer, @expires; no box's lock held */
	s64 expires;			/* when @timer fires (monotonic ns) */
	atomic64_t wanted;		/* when it has to, at the latest */
	struct irq_work work;		/* starts it for @wanted */
	atomic64_t refresh;		/* when all counters are to be read next */
	atomic64_t refresh_narrow;	/* when those that wrap within a second are */
	unsigned int next_box;	/* box that is verified next */
	call_single_data_t kick;	/* moves @timer back to the perf CPU */
};

/* A processor package (socket). */
struct unc_package {
	int phys_id;		/* topology_physical_package_id() of its CPUs */
	/* the perf CPU, which runs its events; nr_cpu_ids while all are offline */
	unsigned int cpu;
	int domain;		/* PCI domain of its uncore */
	int bus;		/* PCI bus of its uncore, -1 when not found */
	struct unc_box **boxes;	/* in the order of the types; NULL where absent */
	atomic_t active;	/* boxes with slots in use */
	bool idle;		/* none counts: other programs may have frozen it */
	unsigned long *samplers;	/* boxes that sample, by their place in @boxes */
	cpumask_t sampling_cpus;	/* CPUs with sampling events */
	struct unc_freeze freeze;
	struct unc_overflow overflow;
	struct unc_timer timer;
	struct unc_stats stats;
	atomic_t foreign_logged;	/* the log has a line on foreign writes */
	struct kobject *kobj;	/* its folder in sysfs */
};

/* --- events and PMUs ------------------------------------------------------ */

/* The driver's part of a perf event. */
struct unc_event {
	struct perf_event *event;
	struct unc_box *box;	/* counts it */
	struct unc_slot want;	/* its slot as it has to be */
	struct list_head list;	/* in its PMU's list of events */
	/* index of its slot, or -1; a follower's may have other events by now */
	s8 slot;
	u32 serial;		/* of the slot that prev_count, @seq, @mark are of */
	u64 seq;		/* the slot's samples that it has delivered */
	u64 mark;		/* the slot's total at its last sample */
	u64 carry;		/* counts since its last sample, while it has no slot */
	bool throttled;		/* perf throttles it: it counts, and is not sampled */
	u64 tag;		/* of the migration that took it off; 0: none did */
	bool follower;		/* takes no counter, follows an equal event */
	struct unc_own_event *own;	/* the driver's event that it follows */
	struct list_head sampling;	/* in its CPU's list of sampling events */
};

/* A PMU on one CPU, between perf's pmu_disable and pmu_enable, or in a transaction. */
struct unc_cpu {
	bool disabled;		/* perf has the PMU disabled here */
	bool changing;		/* a change is in progress, see unc_box_begin() */
	unsigned int txn;	/* transaction flags */
};

/* A perf PMU: the boxes of one type and index in all packages. */
struct unc_pmu {
	struct pmu pmu;
	unsigned int number;	/* of its box in each package */
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

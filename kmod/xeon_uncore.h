/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's core types.  A generation describes its boxes with const tables
 * (struct unc_generation, struct unc_type); everything else in this directory
 * works on those tables and knows no model of processor.
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
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct pci_bus;
struct pci_dev;
struct pci_driver;

#define UNC_NAME		"xeon_uncore"

/*
 * Of a box.  Some are on a stack: the tables are held against them when they are
 * compiled (hw/hw.h).  All else is allocated by what the tables say and what is
 * found.
 */
#define UNC_MAX_GENERAL		4	/* counters that count any event */
#define UNC_MAX_FREERUN		4
#define UNC_FIXED		UNC_MAX_GENERAL	/* hardware index of the fixed one */
#define UNC_FREERUN0		(UNC_FIXED + 1)
#define UNC_MAX_COUNTERS	(UNC_FREERUN0 + UNC_MAX_FREERUN)
#define UNC_NEVER		S64_MAX	/* a deadline that is none */

/*
 * For the counters that count one thing only config is no control register but
 * an event of this driver's own, and a unit mask that says which.
 */
#define UNC_CONFIG_EVENT	GENMASK(7, 0)
#define UNC_CONFIG_UMASK	GENMASK(15, 8)
#define UNC_EVENT_FIXED		0xff

/* --- tables: what a generation's hardware is like ------------------------ */

/* What the hardware asks of software beyond the ordinary. */
enum unc_quirk {
	/* a control register takes what is written twice in a row only */
	UNC_QUIRK_WRITE_TWICE	= BIT(0),
	/* box control takes one new bit a write, else #GP */
	UNC_QUIRK_STEPWISE	= BIT(1),
	/* a box may answer without a clock; it has a fixed counter that tells */
	UNC_QUIRK_UNCLOCKED	= BIT(2),
	/* box control does not reset: those bits are reserved or not this box's */
	UNC_QUIRK_NO_RESET	= BIT(3),
	/* the package's freeze is the box's, too: it has none of its own */
	UNC_QUIRK_FREEZE_ALL	= BIT(4),
};

/**
 * struct unc_layout - what the bits of a box's control registers do
 * @event: of a counter's control register, the event select, from bit 0 up
 * @ext: its ninth bit, where a type's @ctl_mask has that
 * @thresh: the threshold; with one, a counter counts at most 1 a cycle
 * @edge, @invert: bits that change the comparison with the threshold, and do
 *	nothing that is documented without one
 * @en: the counter counts while it is set.  0: while any bit of its control is
 * @ov_en: its overflow is told, in boxes that signal
 * @count: bits of the control register that are the count itself.  0: that has a
 *	register of its own
 * @frz: of the box control register, the box stands still
 * @rst: that clears its controls and its counters
 */
struct unc_layout {
	u64 event, ext, thresh;
	u64 edge, invert;
	u64 en, ov_en;
	u64 count;
	u32 frz, rst;
};

struct unc_box;
struct unc_slot;

/**
 * struct unc_space - how the registers of a kind of box are reached
 * @lockless: no access takes a lock; else one does where the registers are not
 *	mapped (struct unc_box's @regs)
 * @map: maps the registers that are in, or behind, a PCI function, or returns NULL
 *	where they are reached without; may sleep.  NULL: no box of this space has
 *	a function, the generation knows how many there are
 * @present: does the box answer?
 * @read: what a control register holds, 0 for one that faults
 * @write: sets a control register
 * @try_write: sets any register; returns 0, or a negative errno for one that
 *	faults.  NULL: none does
 * @write_filter: sets a filter register, where there is one
 * @read_counter: reads a counter, of which the bits of @mask matter, for a slot
 *	whose @raw and @stamp are those of its last read; returns false when the
 *	box has gone
 * @write_counter: sets a counter
 *
 * All but @map are called with the box's lock held and interrupts off, on a CPU of
 * its package, and never in an NMI; but for @present, of a box that has answered
 * before and is not dead.  Registers are those of the type's table: what they are
 * an address in, and where in it a box is, is the space's business.
 */
struct unc_space {
	bool lockless;
	void __iomem *(*map)(struct pci_dev *pdev);
	bool (*present)(struct unc_box *box);
	u64 (*read)(struct unc_box *box, u32 reg);
	void (*write)(struct unc_box *box, u32 reg, u64 value);
	int (*try_write)(struct unc_box *box, u32 reg, u64 value);
	void (*write_filter)(struct unc_box *box, u32 reg, u64 value);
	bool (*read_counter)(struct unc_box *box, u32 reg,
			     const struct unc_slot *slot, u64 mask, u64 *value);
	void (*write_counter)(struct unc_box *box, u32 reg, u64 value);
};

/**
 * struct unc_field - a field of perf's format directory
 * @name: its name
 * @word: 0 for config, 1 for config1, 2 for config2
 * @mask: its bits there; their union is what a user may set
 */
struct unc_field {
	const char *name;
	unsigned int word;
	u64 mask;
};

/**
 * struct unc_filter_use - which filter fields an event obeys
 * @mask: bits of config that decide
 * @value: what they must be
 * @fields: bits of config, config1 and config2 that are then filters.  Zero is
 *	a value like any other: two such events fit together when these bits are
 *	the same in both.
 */
struct unc_filter_use {
	u64 mask, value;
	u64 fields[3];
};

/**
 * struct unc_filter_reg - a register that filters all events of a box
 * @reg: MSR of the first box, or offset in configuration space
 * @word: 1 or 2: the part of the configuration that it holds
 * @shift: bit of that word which is bit 0 of the register
 * @mask: bits of the register
 * @when: when not 0, the register holds 0 unless (config & @when) == @is; for
 *	hardware with alternative sets of filters
 * @is: see @when
 */
struct unc_filter_reg {
	u32 reg;
	u8 word;
	u8 shift;
	u32 mask;
	u64 when, is;
};

/**
 * struct unc_event_info - what the counters must know of a documented event
 * @code: event select, with its ninth bit as bit 8
 * @ctrs: general counters that may count it
 * @max_inc: largest increment of one cycle
 */
struct unc_event_info {
	u16 code;
	u16 max_inc;
	u8 ctrs;
};

/**
 * struct unc_named_event - an entry of perf's events directory
 * @name: as the manual has it, in lower case
 * @config: perf's event string
 * @unit: unit of the scaled count, or NULL
 * @scale: factor from count to @unit, or NULL
 * @common: listed unless the module was told to list none
 */
struct unc_named_event {
	const char *name;
	const char *config;
	const char *unit;
	const char *scale;
	bool common;
};

/**
 * struct unc_freerun - a counter that nobody can stop or write
 * @umask: selects it, together with event=0xff
 * @reg: MSR or offset
 * @bits: width
 */
struct unc_freerun {
	u8 umask;
	u8 bits;
	u32 reg;
};

/**
 * struct unc_type - a kind of box
 * @name: middle part of the PMU's name
 * @space: how its registers are reached
 * @layout: what their bits do
 * @max_boxes: how many a package has at most
 * @general: counters that count any event
 * @bits: documented width of the counters; the real one is probed
 * @box_ctl: box control register, 0 when the box has none and so cannot be
 *	frozen, or only with the package
 * @status: box status register (overflow bits, write one to clear)
 * @status_mask: bits of @status
 * @ctl: control registers of the general counters, of the first box
 * @ctr: these counters
 * @other_ctr: where the counters are instead if @only_other_ctr keeps what is
 *	written and @only_ctr does not; both 0: that is not in question
 * @in_function: boxes that a PCI function has, whose box control and status they
 *	share; @ctl and @ctr have the registers of all of them in turn.  0: one
 * @in_tree: type that takes its place under the kernel's own driver's names, or NULL
 * @fixed_ctl: control register of the fixed counter, 0 when there is none
 * @fixed_ctr: fixed counter
 * @stride: distance between two boxes' registers, for MSRs
 * @box_ctl_base: bits of the box control register to be written as 1 always
 * @ctl_mask: bits of config that go to the control register
 * @ctl_must: those without which it counts nothing
 * @signals: an overflow of its counters can freeze the package and interrupt
 * @global: for boxes that signal, its bits in the global status, one
 *	mask a box; NULL: the boxes all have @global_bits
 * @global_bits: see @global
 * @quirks: enum unc_quirk
 * @max_inc: largest increment a cycle of events that no table knows
 * @fields: the format directory, ends with a NULL name
 * @uses: which events obey filters, ends with a mask of 0
 * @filters: filter registers, ends with @reg 0
 * @filters_apart: the filter registers are in a PCI function of their own
 * @io_bus: its PCI function is on the package's IO bus, not on the uncore's
 * @freerun: free-running counters, ends with @reg 0
 * @info: what is known of events, sorted by code
 * @num_info: entries of @info
 * @events: named events
 * @num_events: entries of @events
 */
struct unc_type {
	const char *name;
	const struct unc_space *space;
	const struct unc_layout *layout;
	u8 max_boxes;
	u8 general;
	u8 bits;
	u16 max_inc;
	u32 box_ctl, status, status_mask;
	u32 ctl[UNC_MAX_GENERAL], ctr[UNC_MAX_GENERAL];
	u32 other_ctr[UNC_MAX_GENERAL], only_ctr, only_other_ctr;
	u8 in_function;
	const struct unc_type *in_tree;
	u32 fixed_ctl, fixed_ctr;
	u32 stride;
	u32 box_ctl_base;
	u64 ctl_mask;
	u64 ctl_must;
	bool signals;
	const u64 *global;
	u64 global_bits;
	unsigned int quirks;
	const struct unc_field *fields;
	const struct unc_filter_use *uses;
	const struct unc_filter_reg *filters;
	bool filters_apart;
	bool io_bus;
	const struct unc_freerun *freerun;
	const struct unc_event_info *info;
	unsigned int num_info;
	const struct unc_named_event *events;
	unsigned int num_events;
};

/* What a PCI function is to us; driver_data of the generation's id table. */
enum unc_pci_role { UNC_PCI_BOX, UNC_PCI_FILTER };
#define UNC_PCI_DATA(type, idx, role) \
	(((unsigned long)(type) << 16) | ((idx) << 8) | (role))
#define UNC_PCI_TYPE(data)	((unsigned int)((data) >> 16))
#define UNC_PCI_INDEX(data)	((unsigned int)((data) >> 8) & 0xff)
#define UNC_PCI_ROLE(data)	((unsigned int)(data) & 0xff)

/**
 * struct unc_generation - a generation of processors
 * @name: prefix of the PMUs' names
 * @types: its box types
 * @num_types: how many
 * @pci_ids: the PCI functions that are or belong to boxes, NULL: none are
 * @rival: PCI driver that the kernel's own uncore driver has for it, or NULL
 * @ubox_device: PCI device that each uncore bus has one of
 * @map_bus: number of the package whose uncore is on such a device's bus, or a
 *	negative errno; may sleep
 * @map_io_bus: the package that an IO bus belongs to, of which one of its uncore
 *	buses says so, or NULL; may sleep
 * @max_khz: no uncore clock is faster
 * @global_ctl: MSR that unfreezes and says whom to interrupt; 0: there
 *	is none, and nothing freezes a package
 * @global_status: MSR that says who overflowed; write one to clear.  0: there is
 *	none, and nobody signals
 * @freeze: bit of @global_ctl that stops all boxes
 * @unfreeze: bit of @global_ctl that starts all boxes again
 * @wake: bit of @global_ctl that wakes a sleeping core for the interrupt
 * @cores: bits of @global_ctl that select cores
 * @count_boxes: how many boxes of @type package @pkg has, of a type whose boxes
 *	have no PCI function; may sleep.  NULL: as many as @type->max_boxes
 */
struct unc_package;
struct unc_generation {
	const char *name;
	const struct unc_type *types;
	unsigned int num_types;
	const struct pci_device_id *pci_ids;
	const char *rival;
	u16 ubox_device;
	int (*map_bus)(struct pci_dev *pdev);
	struct unc_package *(*map_io_bus)(struct pci_bus *bus);
	u32 max_khz;
	u32 global_ctl, global_status;
	u64 freeze, unfreeze, wake, cores;
	unsigned int (*count_boxes)(const struct unc_package *pkg,
				    const struct unc_type *type);
};

/* --- state: what is there and what it counts ----------------------------- */

/**
 * struct unc_slot - something that a box counts, for one or more events
 * @users: events that share it; 0: the slot is free, or @held
 * @held: kept running without users while events move to another CPU
 * @serial: tells apart successive uses of one slot
 * @config: what perf asked for, config, config1 and config2
 * @fields: bits of config, config1 and config2 that are filters in use
 * @allowed: hardware counters that may count it
 * @ctr: hardware counter that does
 * @event: the event that samples; it shares the slot with no other
 * @arm: sets the counter to overflow for it
 * @next: @total at which its next sample is due
 * @last: @total at its last sample, in frequency mode
 * @due: samples that are still to be delivered
 * @weight: the sum of their periods
 * @paced: when its period was last looked at, in frequency mode
 * @paced_total: @total at that time
 * @low_ns: nanoseconds in which it counts less than 2^32 for sure
 * @raw: the counter's value at the last read
 * @total: counts since the slot came into use
 * @stamp: when @raw was read, nanoseconds of the monotonic clock
 */
struct unc_slot {
	unsigned int users;
	bool held;
	u32 serial;
	u64 config[3];
	u64 fields[3];
	u32 allowed;
	u8 ctr;
	struct perf_event *event;
	void (*arm)(struct unc_box *box, struct unc_slot *slot);
	u64 next;
	u64 last;
	u64 due;
	u64 weight;
	u64 paced;
	u64 paced_total;
	u64 low_ns;
	u64 raw;
	u64 total;
	u64 stamp;
};

/**
 * struct unc_counter - a hardware counter
 * @slot: index of the slot that it serves, or -1
 * @ctl: what its control register was last given
 * @raw: its value, when @known
 * @known: it stands still at @raw
 * @dirty: @ctl is not what @slot wants; put right at the next flush
 */
struct unc_counter {
	s8 slot;
	bool known;
	bool dirty;
	u64 ctl;
	u64 raw;
};

/**
 * struct unc_freeze_account - for how long something may stand still
 * @credit: for so long (ns), while others' events count
 * @at: when that was
 * @since: since when it stands still at their cost; 0: it does not
 */
struct unc_freeze_account {
	s64 credit;
	u64 at;
	u64 since;
};

/**
 * struct unc_function - a PCI function that we have claimed
 * @regs: its registers, where they are mapped
 * @lock: guards @frozen and the box control; nests in the boxes' locks
 * @frozen: boxes for whose sake the box control is frozen, where they share it
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
 * @lock: guards everything below it and the box's registers.  Raw, taken with
 *	interrupts off by unc_lock(); any CPU of the package may take it, but
 *	not in an NMI.
 * @type: what it is
 * @index: which of its type, 0 to @type->max_boxes - 1
 * @pkg: where it is
 * @pdev: its PCI function
 * @regs: that function's registers, where they are mapped
 * @function: that function, when it has other boxes as well
 * @first: index of the box's first counter in the type's tables of registers
 * @filter_pdev: the PCI function of its filters, when they are apart
 * @filter_regs: that one's registers, where they are mapped
 * @name: name of the PMU, for messages
 * @bits: width of the general counters, as probed
 * @fixed_bits: width of the fixed counter, as probed
 * @other_ctr: the counters are at the type's @other_ctr
 * @undecided: they may be there, or may not
 * @kept: what a counter kept of all ones, when that makes no sense; else 0
 * @dead: it does not answer any more; counts stay as they are
 * @gone: says so in the log
 * @frozen: the hardware is frozen, by this box's control register or, where it
 *	has none, by its share in the package's freeze
 * @still: it is, because the package is frozen
 * @freezes: CPUs that want it frozen just now
 * @contended: since when that is so without a break, by more than one; 0: is not
 * @account: of its own freezes
 * @started: it has been brought into service, or that was tried
 * @hold: number of the move of events to another CPU that is under way, which
 *	keeps slots running; 0: none is
 * @holds: such moves so far
 * @active: slots in use
 * @samplers: those of them whose event samples
 * @serial: source of slot serials
 * @box_ctl: what the box control register was last given
 * @box_ctl_known: by us, that is
 * @slot: what is counted
 * @ctr: by what
 * @filter: what the type's filter registers were last given
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
	u8 bits, fixed_bits;
	bool other_ctr, undecided;
	u64 kept;
	bool dead;
	struct irq_work gone;
	bool frozen;
	bool still;
	u16 freezes;
	u64 contended;
	struct unc_freeze_account account;
	bool started;
	unsigned int active;
	unsigned int samplers;
	u32 hold;
	u32 holds;
	u32 serial;
	u32 box_ctl;
	bool box_ctl_known;
	struct unc_slot slot[UNC_MAX_COUNTERS];
	struct unc_counter ctr[UNC_MAX_COUNTERS];
	u32 filter[];
};

/**
 * struct unc_common_freeze - the package's freeze, as boxes use it that have none
 * of their own
 * @lock: guards the others; nests in the boxes' locks
 * @holders: boxes that want it; the first one freezes, the last one thaws
 * @account: of all of them
 */
struct unc_common_freeze {
	raw_spinlock_t lock;
	unsigned int holders;
	struct unc_freeze_account account;
};

/**
 * struct unc_overflow - a package's sampling events and what became of them
 * @lock: one CPU serves at a time; nests outside of the boxes' locks
 * @select_lock: guards @core_users, @ctl and the accounts of time; nests in all
 *	of them
 * @pmi_cores: bits of the global control register that reach a CPU, as
 *	measured; 0: no PMI comes, and all boxes are polled
 * @measuring: pmi.c finds that out now
 * @answered: CPUs that got a PMI, while @measuring
 * @latency: nanoseconds from an overflow to its NMI, as measured
 * @signalled: sampling events in boxes that signal
 * @polled: those in boxes that do not
 * @watching: @signalled is not 0, or was not until a short while ago: late
 *	freezes and PMIs of ours may still come
 * @watch_until: when that ends, once @signalled is 0
 * @freeze: number of the freeze that is, or will be, served next
 * @served: when overflows were last served
 * @credit: time (ns) that serving may take before it has to pause: what passed
 *	without overflows, less what overflows took
 * @thaw_at: when a package that was left frozen for want of @credit is to be
 *	unfrozen; 0: it is not
 * @frozen_at: since when it is frozen, then
 * @watched: when the timer last looked for overflows without a PMI
 * @clock: the box whose fixed counter ticks while the package counts, or NULL
 * @clock_on: it does so for us
 * @clock_khz: how fast
 * @clock_serial: of its slot when it was last read
 * @clock_total: its count then
 * @clock_at: when that was read; 0: never
 * @clock_frozen: what unc_frozen_ns() was then
 * @core_users: sampling events for the interrupt of each of the generation's @cores
 * @ctl: what the global control register was last given
 * @frozen_seq: guards @frozen_ns, @frozen_at and @thaw_at for who reads them without
 *	the lock
 * @frozen_ns: time for which overflows kept the package frozen, until @frozen_at
 * @count: sample periods that ended; perf throttles some samples in a storm
 * @timer_served: those that the timer found
 * @late: PMIs without an overflow: it had been served before they came
 * @spurious: NMIs that are no PMI and that nobody claimed while we were sampling
 */
struct unc_overflow {
	raw_spinlock_t lock;
	raw_spinlock_t select_lock;
	u64 pmi_cores;
	bool measuring;
	cpumask_t answered;
	u64 latency;
	atomic_t signalled;
	atomic_t polled;
	bool watching;
	u64 watch_until;
	u32 freeze;
	u64 served;
	s64 credit;
	u64 thaw_at;
	u64 frozen_at;
	u64 watched;
	struct unc_box *clock;
	bool clock_on;
	u32 clock_khz;
	u32 clock_serial;
	u64 clock_total;
	u64 clock_at;
	u64 clock_frozen;
	u16 *core_users;
	u64 ctl;
	seqcount_raw_spinlock_t frozen_seq;
	u64 frozen_ns;
	atomic64_t count;
	atomic64_t timer_served;
	atomic64_t late;
	atomic64_t spurious;
};

/**
 * struct unc_package - a processor package (socket)
 * @phys_id: topology_physical_package_id() of its CPUs
 * @cpu: the CPU that perf's tools use, or nr_cpu_ids while all are offline
 * @domain: PCI domain of its uncore
 * @bus: PCI bus of its uncore, -1 when not found
 * @timer: reads counters before they wrap
 * @poll: what else it does; returns when to come again
 * @timer_lock: guards @timer and @expires; never taken with a box's lock held
 * @expires: when @timer fires, monotonic ns; UNC_NEVER: it is not started
 * @wanted: somebody wants it to fire then
 * @timer_work: sees to that
 * @refresh: when all running counters are to be read next
 * @refresh_narrow: when those are that wrap within a second
 * @active: boxes that count
 * @kick: brings @timer back onto a CPU of the package
 * @samplers: boxes with sampling events, by their place in @boxes
 * @overflow: sampling
 * @freeze: shared by boxes that have none of their own
 * @frozen_ns: time for which boxes stood still for groups to be read or changed
 *	while others counted, of all boxes
 * @unfrozen: how often a box went on counting because it had stood still for
 *	long enough
 * @kobj: where these are in sysfs
 * @boxes: the boxes, types in the generation's order; NULL where absent
 */
struct unc_package {
	int phys_id;
	unsigned int cpu;
	int domain;
	int bus;
	struct hrtimer timer;
	u64 (*poll)(struct unc_package *pkg);
	raw_spinlock_t timer_lock;
	s64 expires;
	atomic64_t wanted;
	struct irq_work timer_work;
	atomic64_t refresh;
	atomic64_t refresh_narrow;
	atomic_t active;
	call_single_data_t kick;
	unsigned long *samplers;
	struct unc_overflow overflow;
	struct unc_common_freeze freeze;
	atomic64_t frozen_ns;
	atomic64_t unfrozen;
	struct kobject *kobj;
	struct unc_box **boxes;
};

/**
 * struct unc_cpu - what one CPU is doing to the box of one PMU, between perf's
 * pmu_disable and pmu_enable or between start_txn and commit_txn
 * @disabled: perf has the PMU disabled here
 * @froze: it holds a freeze of the box
 * @txn: transaction flags
 * @leader: leaders of the groups that are being read; a BPF program may come in
 *	between with one of its own
 */
struct unc_cpu {
	bool disabled;
	bool froze;
	unsigned int txn;
	struct perf_event *leader[2];
};

/**
 * struct unc_pmu - a perf PMU: the boxes of one type and index in all packages
 * @events: how many of its there are
 */
struct unc_pmu {
	struct pmu pmu;
	atomic_t events;
	const struct unc_type *type;
	unsigned int index;
	char *name;
	struct unc_cpu __percpu *cpu;
	struct list_head list;
};

/**
 * struct unc_machine - everything; there is one, unc
 * @gen: the generation
 * @packages: those with a CPU online when the module was loaded
 * @num_packages: how many
 * @boxes_per_package: length of unc_package.boxes
 * @pmus: struct unc_pmu, linked
 * @prefix: of the PMUs' names
 * @lenient: bits that the kernel's own driver masks are masked, not refused
 */
struct unc_machine {
	const struct unc_generation *gen;
	struct unc_package *packages;
	unsigned int num_packages;
	unsigned int boxes_per_package;
	struct list_head pmus;
	const char *prefix;
	bool lenient;
};

/* perf has stopped the event, but its counter runs on; in hw.state. */
#define UNC_RUNS_ON	PERF_HES_ARCH

/**
 * unc_is_stopped() - has the counter of an event that samples to stand still?
 * @event: the event
 */
static inline bool unc_is_stopped(const struct perf_event *event)
{
	return (event->hw.state & PERF_HES_STOPPED) &&
	       !(event->hw.state & UNC_RUNS_ON);
}

/*
 * --- the functions, a part a file, the lowest file first ---
 *
 * A file calls only what is above its own part here, as scripts/check-layers sees
 * to: registers, then boxes, then who gets which counter, then sampling, and what
 * perf and the kernel call on top.  What has to call the other way is handed in:
 * the timer's poll, a slot's arm, what a PMI leads to.
 */

/* --- machine.c: which packages and boxes there are ----------------------- */

extern struct unc_machine unc;

struct unc_package *unc_package_of_id(int id);
struct unc_package *unc_package_of_cpu(unsigned int cpu);
struct unc_package *unc_package_of_bus(struct pci_bus *bus);
struct unc_box **unc_box_place(const struct unc_package *pkg,
			       const struct unc_type *type, unsigned int index);
bool unc_any_box(const struct unc_type *type, unsigned int index);
unsigned int unc_num_filters(const struct unc_type *type);
char *unc_pmu_name(const struct unc_type *type, unsigned int index);
void unc_init_gone(struct unc_box *box);
void unc_box_gone(struct unc_box *box);

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

/* --- lock.c: locks, and who may wait for them ---------------------------- */

unsigned long unc_lock(struct unc_box *box) __acquires(&box->lock);
void unc_unlock(struct unc_box *box, unsigned long flags)
	__releases(&box->lock);
bool unc_lock_to_read(struct unc_box *box, unsigned long *flags);
void unc_raw_lock(raw_spinlock_t *lock) __acquires(lock);
void unc_raw_unlock(raw_spinlock_t *lock) __releases(lock);

/* --- space_msr.c --------------------------------------------------------- */

extern const struct unc_space unc_msr_space;

/* --- space_pci.c --------------------------------------------------------- */

extern const struct unc_space unc_pci_space;

const char *unc_pci_access(void);

/* --- access.c: registers; call with the box's lock held ------------------ */

bool unc_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value);
unsigned int unc_counter_bits(const struct unc_box *box, unsigned int ctr);
bool unc_box_reachable(const struct unc_box *box);
bool unc_box_present(struct unc_box *box);
int unc_probe_box(struct unc_box *box);
u64 unc_read_ctl(struct unc_box *box, unsigned int ctr);
void unc_write_ctl(struct unc_box *box, unsigned int ctr, u64 value);
void unc_write_filter(struct unc_box *box, unsigned int i, u32 value);
void unc_write_box_ctl(struct unc_box *box, u32 value);
void unc_write_counter(struct unc_box *box, unsigned int ctr, u64 value);
void unc_clear_status(struct unc_box *box);

/* --- package.c: a package as a whole ------------------------------------- */

bool unc_package_look(u64 *ctl, u64 *status);
u64 unc_global_status(void);
void unc_global_clear(u64 status);
void unc_package_freeze(void);
void unc_package_thaw(u64 ctl);
void unc_package_select(u64 cores);
void unc_unfreeze(struct unc_overflow *ov, u64 since);
void unc_stay_frozen(struct unc_overflow *ov, u64 since, u64 until);
void unc_account_frozen(struct unc_overflow *ov, s64 ns);
u64 unc_frozen_ns(struct unc_package *pkg);
void unc_overflow_charge(struct unc_overflow *ov, u64 ns);
void unc_overflow_select(struct unc_overflow *ov, int core, int users);
bool unc_overflow_leave(struct unc_overflow *ov, int core);
int unc_overflow_package_init(struct unc_package *pkg);
void unc_overflow_package_exit(struct unc_package *pkg);

/* --- box.c: counting; call with the box's lock held ---------------------- */

bool unc_box_signals(const struct unc_box *box);
void unc_freeze_init(struct unc_package *pkg);
int unc_box_start(struct unc_box *box, bool *found);
void unc_box_restore(struct unc_box *box);
void unc_box_lose_filters(struct unc_box *box);
void unc_box_reprogram(struct unc_box *box);
void unc_box_freeze(struct unc_box *box);
void unc_box_freeze_surely(struct unc_box *box);
void unc_box_thaw(struct unc_box *box);
void unc_box_refresh(struct unc_box *box, struct unc_slot *slot);
void unc_box_refresh_all(struct unc_box *box);
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr);
void unc_box_leave(struct unc_box *box, struct unc_slot *slot);
void unc_box_release(struct unc_box *box, struct unc_slot *slot);
void unc_box_end_hold(struct unc_box *box);
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run);

/* --- timer.c ------------------------------------------------------------- */

void unc_timer_init(struct unc_package *pkg,
		    u64 (*poll)(struct unc_package *pkg));
void unc_timer_want(struct unc_package *pkg, u64 at);
void unc_timer_refresh_by(struct unc_package *pkg, bool narrow);
void unc_timer_online(struct unc_package *pkg);
void unc_timer_exit(struct unc_package *pkg);

/* --- alloc.c: which counter counts what ---------------------------------- */

int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot);
struct unc_slot *unc_slot_get(struct unc_box *box, const u64 config[3],
			      struct perf_event *sampler);
bool unc_slots_fit(const struct unc_slot *slots, unsigned int n);

/* --- event.c: what an event has counted ---------------------------------- */

void unc_event_time_begin(struct perf_event *event, const struct unc_box *box);
void unc_event_pass_over(struct perf_event *event);
void unc_event_catch_up(struct perf_event *event, const struct unc_slot *slot);

/* --- pace.c -------------------------------------------------------------- */

void unc_pace_first_period(struct perf_event *event);
void unc_pace_begin(struct unc_slot *slot);
bool unc_pace(struct unc_slot *slot, unsigned int bits);
bool unc_pace_is_tick(const struct perf_event *event, int how);
void unc_pace_hide_count(struct perf_event *event);
void unc_pace_hide_time(struct perf_event *event);

/* --- pmi.c: the interrupt ------------------------------------------------ */

/**
 * struct unc_pmi_calls - what a PMI leads to
 * @serve: serves the overflows of a package, see unc_overflow_serve()
 * @deliver: delivers this CPU's samples, see unc_deliver()
 */
struct unc_pmi_calls {
	void (*serve)(struct unc_package *pkg, u64 status, u64 since,
		      u32 freeze);
	u64 (*deliver)(struct unc_package *pkg, struct pt_regs *regs);
};

int unc_pmi_init(const struct unc_pmi_calls *calls);
void unc_pmi_exit(void);
void unc_pmi_arm(void);
void unc_pmi_cpu_online(void);
void unc_pmi_measure(struct unc_package *pkg);
int unc_pmi_core(const struct unc_package *pkg, unsigned int cpu);
void unc_pmi_raise(void);
void unc_pmi_carry(unsigned int cpu);
bool unc_pmi_serving(bool on);
struct pt_regs *unc_present_regs(struct pt_regs *here);

/* --- sampling.c: events that sample, and their samples ------------------- */

int unc_sampling_init(void);
int unc_sampling_check(const struct perf_event *event,
		       const struct unc_box *box, const struct unc_slot *slot);
bool unc_period_fits(const struct unc_box *box, const struct unc_slot *slot,
		     u64 period);
void unc_sampling_add(struct unc_box *box, struct unc_slot *slot,
		      struct perf_event *event);
void unc_sampling_del(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_stop(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_restart(struct unc_slot *slot);
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns);
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_deliver(struct perf_event *event, u64 due, u64 weight,
			  struct pt_regs *regs);
u64 unc_deliver(struct unc_package *pkg, struct pt_regs *regs);

/* --- overflow.c: a package's overflows ----------------------------------- */

u64 unc_global_bits(const struct unc_box *box);
void unc_overflow_serve(struct unc_package *pkg, u64 status, u64 since,
			u32 freeze);
u64 unc_overflow_poll(struct unc_package *pkg);
void unc_clock_yield(struct unc_box *box);

/* --- topology.c ---------------------------------------------------------- */

int unc_topology_init(void);
void unc_topology_exit(void);
struct unc_box *unc_box_create(struct unc_package *pkg,
			       const struct unc_type *type, unsigned int index);
int unc_boxes_start(void);
void unc_boxes_stop(void);

/* --- pci.c --------------------------------------------------------------- */

int unc_pci_init(void);
void unc_pci_exit(void);

/* --- power.c: suspend, reboot, packages that come back ------------------- */

int unc_power_init(void);
void unc_power_exit(void);
void unc_package_suspend(struct unc_package *pkg);
void unc_package_resume(struct unc_package *pkg);

/* --- sysfs.c ------------------------------------------------------------- */

int unc_sysfs_init(void);
void unc_sysfs_exit(void);
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type);

/* --- package_sysfs.c ----------------------------------------------------- */

int unc_package_sysfs_init(void);
void unc_package_sysfs_exit(void);

/* --- pmu.c: what perf calls ---------------------------------------------- */

int unc_pmus_register(void);
void unc_pmus_unregister(void);
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to);

#endif

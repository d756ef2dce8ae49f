/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables that describe a generation's hardware: const data that hw/ fills and the
 * rest of the driver reads.
 */
#ifndef XEON_UNCORE_TABLE_H
#define XEON_UNCORE_TABLE_H

#include <linux/bits.h>
#include <linux/types.h>

struct pci_bus;
struct pci_dev;

/*
 * Limits of one box.  Lists of counters are on the stack; hw/hw.h checks the tables
 * against these at compile time.
 */
#define UNC_MAX_GENERAL		4	/* counters that count any event */
#define UNC_MAX_FREERUN		4
#define UNC_FIXED		UNC_MAX_GENERAL	/* index of the fixed counter */
#define UNC_FREERUN0		(UNC_FIXED + 1)
#define UNC_MAX_COUNTERS	(UNC_FREERUN0 + UNC_MAX_FREERUN)

/*
 * Fixed and free-running counters have no event select: config has an event code of
 * this driver and a unit mask that selects the counter.
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
	/* the box can be frozen with its package only */
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
 * @ov_en: its overflow is signalled, in boxes that signal
 * @count: bits of the control register that are the count itself.  0: the count
 *	is another register
 * @frz: of the box control register, the box is frozen
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
 * @pci: they are in a PCI function, which may be removed.  An access takes a lock where
 *	they are not mapped.  Else an access takes no lock, and the generation knows
 *	how many boxes there are
 * @present: does the box answer?
 * @read: what a control register holds, 0 for one that faults
 * @write: sets a control register
 * @try_write: sets any register; returns 0, or a negative errno for one that
 *	faults.  NULL: none does
 * @write_filter: sets a filter register, where there is one
 * @read_counter: reads a counter, of which the bits of @mask matter, for a slot
 *	whose @raw and @stamp are those of its last read; returns false when the
 *	box is dead
 * @write_counter: sets a counter
 *
 * All are called with the box's lock held and interrupts off, on a CPU of
 * its package, and never in an NMI; all but @present, of a box that has answered
 * before and is not dead.  Registers are those of the type's table: the
 * space finds the box's address for them.
 */
struct unc_space {
	bool pci;
	bool (*present)(struct unc_box *box);
	u64 (*read)(struct unc_box *box, u32 reg);
	void (*write)(struct unc_box *box, u32 reg, u64 value);
	int (*try_write)(struct unc_box *box, u32 reg, u64 value);
	void (*write_filter)(struct unc_box *box, u32 reg, u64 value);
	bool (*read_counter)(struct unc_box *box, u32 reg,
			     const struct unc_slot *slot, u64 mask, u64 *value);
	void (*write_counter)(struct unc_box *box, u32 reg, u64 value);
};

extern const struct unc_space unc_space_msr, unc_space_pci;

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
 * @common: listed unless the module parameter events is "none"
 */
struct unc_named_event {
	const char *name;
	const char *config;
	const char *unit;
	const char *scale;
	bool common;
};

/**
 * struct unc_freerun - a counter that cannot be stopped or written
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
 * @in_tree: type that takes its place under intel_uncore's names, or NULL
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
 * @filters_apart: the filter registers are in a separate PCI function
 * @io_bus: its PCI function is on the package's IO bus, not on the uncore's
 * @freerun: free-running counters, ends with @reg 0
 * @info: counters and increments of events, sorted by code
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
 * @map_bus: number of the package whose uncore is on that device's bus, or a
 *	negative errno; may sleep
 * @map_io_bus: the package that an IO bus belongs to, of which one of its uncore
 *	buses says so, or NULL; may sleep
 * @max_khz: no uncore clock is faster
 * @global_ctl: MSR that unfreezes a package and selects cores to
 *	interrupt; 0: there is none, and nothing freezes a package
 * @global_status: MSR that shows which boxes overflowed; write one to clear.  0:
 *	there is none, and no box signals
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

#endif

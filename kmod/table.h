/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables that describe a generation's hardware: const data that is generated from
 * events/ and that the driver reads.
 */
#ifndef XEON_UNCORE_TABLE_H
#define XEON_UNCORE_TABLE_H

#include <linux/bits.h>
#include <linux/types.h>

struct pci_bus;
struct pci_dev;
struct unc_box;
struct unc_package;
struct unc_slot;
struct unc_type;

/*
 * Limits of one box.  Lists of counters are on the stack; the compiler checks the
 * tables against these.
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

/* What the bits of a box's control registers do. */
struct unc_layout {
	u64 event;		/* event select, from bit 0 up */
	u64 ext;		/* its ninth bit, if the type's ctl_mask has that */
	u64 thresh;		/* threshold; with one, a counter counts 1 a cycle */
	u64 edge, invert;	/* of the comparison with it; nothing without one */
	u64 en;			/* it counts.  0: while any bit of its control is set */
	u64 ov_en;		/* its overflow is signalled, in boxes that signal */
	u64 count;		/* bits that are the count; 0: it has a register */
	u32 frz, rst;		/* of box control: freeze, clear controls and counters */
};

/*
 * How the registers of a box are reached.  All are called with the box's lock held and
 * interrupts off, on a CPU of its package, and never in an NMI; all but @present, of a
 * box that has answered before and is not dead.  Registers are those of the type's
 * table: the space finds the box's address for them.
 */
struct unc_space {
	/*
	 * They are in a PCI function, which may be removed, and an access takes a lock
	 * where they are not mapped.  Else an access takes none, and the generation
	 * knows how many boxes there are.
	 */
	bool pci;
	/* does the box answer? */
	bool (*present)(struct unc_box *box);
	/* a control register, or 0 for one that faults */
	u64 (*read)(struct unc_box *box, u32 reg);
	void (*write)(struct unc_box *box, u32 reg, u64 value);
	/* any register; a negative errno for one that faults.  NULL: none does */
	int (*try_write)(struct unc_box *box, u32 reg, u64 value);
	/* a filter register, where there is one */
	void (*write_filter)(struct unc_box *box, u32 reg, u64 value);
	/*
	 * A counter, of which the bits of @mask matter, for a slot with the raw value
	 * and stamp of its last read.  False when the box is dead.
	 */
	bool (*read_counter)(struct unc_box *box, u32 reg,
			     const struct unc_slot *slot, u64 mask, u64 *value);
	void (*write_counter)(struct unc_box *box, u32 reg, u64 value);
};

extern const struct unc_space unc_space_msr, unc_space_pci;

/*
 * Which filter fields an event obeys, if (config & @mask) == @value.  @fields are the
 * bits of config, config1 and config2 that are then filters.  Zero is a value like any
 * other: two such events fit together when these bits are the same in both.
 */
struct unc_filter_use {
	u64 mask, value;
	u64 fields[3];
};

/* A register that filters all events of a box. */
struct unc_filter_reg {
	u32 reg;		/* MSR of the first box, or offset in configuration space */
	u8 word;		/* 1 or 2: the part of the configuration that it holds */
	u8 shift;		/* bit of that word which is bit 0 of the register */
	u32 mask;		/* bits of the register */
	/*
	 * If not 0, the register holds 0 unless (config & @when) == @is; for hardware
	 * with alternative sets of filters.
	 */
	u64 when, is;
};

/* What the counters must know of a documented event. */
struct unc_event_info {
	u16 code;		/* event select, with its ninth bit as bit 8 */
	u16 max_inc;		/* largest increment of one cycle */
	u8 ctrs;		/* general counters that may count it */
	bool of_ctr0;		/* it counts what the event of counter 0 gives */
};

/* A file of perf's format or events directory. */
struct unc_text {
	const char *name;	/* of an event as the manual has it, in lower case */
	const char *text;
	bool common;		/* see unc_type_sysfs_init() */
};

/* A counter that cannot be stopped or written. */
struct unc_freerun {
	u8 umask;		/* selects it, together with event=0xff */
	u8 bits;		/* width */
	u32 reg;		/* MSR or offset */
};

/*
 * Where the general counters are instead, if @only_new keeps what is written and
 * @only_old does not; both 0: that is not in question.
 */
struct unc_type_moved {
	u32 ctr[UNC_MAX_GENERAL];
	u32 only_old, only_new;
};

/* Registers of a type's first box. */
struct unc_type_regs {
	/* box control; 0: it cannot be frozen, or only with the package */
	u32 box_ctl;
	u32 box_ctl_base;	/* bits of it to be written as 1 always */
	u32 status;		/* overflow bits, write one to clear */
	u32 status_mask;	/* bits of it */
	u32 ctl[UNC_MAX_GENERAL];	/* controls of the general counters */
	u32 ctr[UNC_MAX_GENERAL];	/* these counters */
	u32 fixed_ctl;		/* control of the fixed counter; 0: there is none */
	u32 fixed_ctr;
	u32 stride;		/* distance between two boxes, for MSRs */
	u64 ctl_mask;		/* bits of config that go to the control register */
	u64 ctl_must;		/* those without which it counts nothing */
	struct unc_type_moved moved;
};

/* How many boxes of a type without PCI functions a package has. */
struct unc_type_count {
	/* may sleep; NULL: as many as the type's max_boxes */
	unsigned int (*read)(const struct unc_package *pkg,
			     const struct unc_type *type);
	u8 min;			/* boxes of the smallest die */
};

/* A type's PCI functions. */
struct unc_type_pci {
	/*
	 * Boxes that a function has, whose box control and status they share; the
	 * tables have the registers of all of them in turn.  0: one.
	 */
	u8 in_function;
	bool io_bus;		/* it is on the package's IO bus, not on the uncore's */
	/* type that takes its place under intel_uncore's names, or NULL */
	const struct unc_type *in_tree;
};

/* What an overflow of a type's counters does. */
struct unc_type_overflow {
	bool signals;		/* it can freeze the package and interrupt */
	const u64 *status;	/* bits of a box in the global status, by its index */
	u64 status_bits;	/* those of all boxes, where that is NULL */
};

/* A type's filters. */
struct unc_type_filter {
	const struct unc_filter_use *uses;	/* ends with a mask of 0 */
	const struct unc_filter_reg *regs;	/* ends with a register of 0 */
	bool apart;		/* the registers are in a separate PCI function */
};

/* A type's events. */
struct unc_type_events {
	const struct unc_text *fields;
	unsigned int num_fields;
	const struct unc_event_info *info;	/* sorted by code */
	unsigned int num_info;
	const struct unc_text *named;		/* and their units and scales */
	unsigned int num_named;
	const struct unc_text *in_tree;		/* event files of intel_uncore */
	unsigned int num_in_tree;
};

/* A box type. */
struct unc_type {
	const char *name;	/* middle part of the PMU's name */
	const struct unc_space *space;
	const struct unc_layout *layout;
	u8 max_boxes;		/* of a package, at most */
	struct unc_type_count count;
	u8 general;		/* counters that count any event */
	u8 bits;		/* documented width; the real one is probed */
	u16 max_inc;		/* largest increment of events that no table knows */
	unsigned int quirks;	/* enum unc_quirk */
	struct unc_type_regs regs;
	struct unc_type_pci pci;
	struct unc_type_overflow overflow;
	struct unc_type_filter filter;
	struct unc_type_events events;
	const struct unc_freerun *freerun;	/* ends with a register of 0 */
};

/* What a PCI function is to the driver; driver_data of the generation's id table. */
enum unc_pci_role { UNC_PCI_BOX, UNC_PCI_FILTER };
#define UNC_PCI_DATA(type, idx, role) \
	(((unsigned long)(type) << 16) | ((idx) << 8) | (role))
#define UNC_PCI_TYPE(data)	((unsigned int)((data) >> 16))
#define UNC_PCI_INDEX(data)	((unsigned int)((data) >> 8) & 0xff)
#define UNC_PCI_ROLE(data)	((unsigned int)(data) & 0xff)

/* A generation's global registers, which are MSRs, and bits of the control. */
struct unc_global_regs {
	u32 ctl;		/* 0: there is none, and nothing freezes a package */
	u32 status;		/* boxes that overflowed; 0: there is none, none signals */
	u32 config;		/* how many CBos there are */
	u64 freeze, unfreeze;	/* stops all boxes; starts them again */
	u64 wake;		/* wakes a sleeping core for the interrupt */
	u64 cores;		/* selects cores */
};

/* The PCI device that each uncore bus has one of, and its registers. */
struct unc_ubox {
	u16 device;
	u16 node_id;		/* offset of the NUMA node's number */
	u16 node_map;		/* offset of the numbers of all packages' nodes */
};

/* A generation of processors. */
struct unc_generation {
	const char *name;	/* prefix of the PMUs' names */
	const struct unc_type *types;
	unsigned int num_types;
	const struct pci_device_id *pci_ids;	/* functions of boxes, or NULL */
	const char *in_tree;	/* intel_uncore's PCI driver for it, or NULL */
	struct unc_ubox ubox;
	u16 capability_device;	/* PCI device that identifies the die of a package */
	/* package whose uncore is on the bus of a UBox, or an errno; may sleep */
	int (*map_bus)(struct pci_dev *ubox);
	/* package of an IO bus, as one of its uncore buses says, or NULL; may sleep */
	struct unc_package *(*map_io_bus)(struct pci_bus *bus);
	u32 max_khz;		/* no uncore clock is faster */
	struct unc_global_regs global;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables that describe the hardware of a generation: constant data, generated from
 * events/.
 *
 * All boxes of a box type, such as the CBo, have the same registers and events.  A box
 * has general counters, and may have a fixed counter, which counts the box's clock, and
 * free-running counters.  Box control is the register that freezes the counters of a box.
 */
#ifndef XEON_UNCORE_TABLE_H
#define XEON_UNCORE_TABLE_H

#include <linux/bits.h>
#include <linux/types.h>

struct pci_dev;
struct unc_box;
struct unc_package;
struct unc_slot;
struct unc_type;

/*
 * Counters of a box by index.  A set of counters is a u32; the compiler checks that the
 * tables obey the limits.
 */
#define UNC_MAX_GENERAL		4	/* counters that count any event */
#define UNC_MAX_FREERUN		25
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

/* Peculiarities of a box type. */
enum unc_quirk {
	/* a counter's control takes a value only when the value is written twice */
	UNC_QUIRK_WRITE_TWICE	= BIT(0),
	/* a write of box control that sets more than one new bit faults */
	UNC_QUIRK_STEPWISE	= BIT(1),
	/* a box without a clock may answer: then its fixed counter does not count */
	UNC_QUIRK_UNCLOCKED	= BIT(2),
	/* the reset bits of box control are reserved, or reset other boxes as well */
	UNC_QUIRK_NO_RESET	= BIT(3),
	/* only the whole package can be frozen */
	UNC_QUIRK_FREEZE_ALL	= BIT(4),
};

/* Bits of a counter's control, and of box control. */
struct unc_layout {
	u64 event;		/* event select, from bit 0 up */
	u64 ext;		/* ninth bit of the event select, if ctl_mask has the bit */
	/* threshold; with a threshold a counter counts at most 1 in a cycle */
	u64 thresh;
	u64 edge, invert;	/* modes of the threshold's comparison */
	u64 en;			/* enable; 0: a counter with any bit set is enabled */
	u64 ov_en;		/* signal an overflow, see struct unc_type_overflow */
	/* bits of the register that hold the count; 0: the count has its own register */
	u64 count;
	u32 frz, rst;		/* box control: freeze; clear controls and counters */
};

/*
 * Access to the registers of boxes in one address space.  @reg is a register number of
 * the type's first box, from struct unc_type_regs.  The functions add the offset of the
 * box.
 *
 * Callers hold the box's lock, have interrupts off, run on a CPU of the box's package,
 * and are not in an NMI.  Only @present is called for a box that has not answered yet.
 */
struct unc_space {
	/*
	 * A PCI function has the registers, or their address in memory, and may be removed.
	 * An access takes a lock of the kernel if the registers are in the function's
	 * configuration space, and that is not mapped to memory.  False: an access takes no
	 * lock, and struct unc_type_count has the number of boxes.
	 */
	bool pci;
	/* Check whether a box answers.  @reg is a register that each such box has. */
	bool (*present)(struct unc_box *box, u32 reg);
	/* Read a control register; 0 if the read faults. */
	u64 (*read)(struct unc_box *box, u32 reg);
	void (*write)(struct unc_box *box, u32 reg, u64 value);
	/*
	 * Read and write the control of a counter.  If the control is written in two
	 * halves, the counter is enabled last, and disabled first.
	 */
	u64 (*read_ctl)(struct unc_box *box, u32 reg);
	void (*write_ctl)(struct unc_box *box, u32 reg, u64 value);
	/* Write any register; a negative errno if the write faults.  NULL: none faults */
	int (*try_write)(struct unc_box *box, u32 reg, u64 value);
	/* Write a filter register; nothing, where the filters are absent. */
	void (*write_filter)(struct unc_box *box, u32 reg, u64 value);
	/*
	 * Read the bits of @mask of a counter.  @slot has the value and the time of the
	 * last read: within @slot->low_ns the low half is enough.  Returns false when the
	 * box is dead.
	 */
	bool (*read_counter)(struct unc_box *box, u32 reg,
			     const struct unc_slot *slot, u64 mask, u64 *value);
	void (*write_counter)(struct unc_box *box, u32 reg, u64 value);
};

extern const struct unc_space unc_space_msr, unc_space_pci, unc_space_mmio;

/*
 * Filter fields that an event with (config & @mask) == @value obeys: @fields are the bits
 * of these fields in config, config1 and config2.  A box can count two events at the same
 * time only if the bits that both obey are equal.  A field of 0 counts as a value, too.
 *
 * If all of @fields are 0 in an event, they are @neutral: where filters of 0 pass nothing,
 * @neutral passes everything.
 */
struct unc_filter_use {
	u64 mask, value;
	u64 fields[3];
	u64 neutral[3];
};

/* A register that filters all events of a box. */
struct unc_filter_reg {
	u32 reg;		/* as in struct unc_type_regs */
	u8 word;		/* 1 or 2: the register holds bits of config1 or config2 */
	u8 shift;		/* number of the word's bit that is the register's bit 0 */
	u32 mask;		/* bits of the register */
	/*
	 * If @when is not 0, the driver writes 0 to the register unless
	 * (config & @when) == @is: the hardware has alternative sets of filters.
	 */
	u64 when, is;
};

/* Properties of a documented event that counter assignment needs. */
struct unc_event_info {
	u16 code;		/* event select, with its ninth bit as bit 8 */
	u16 max_inc;		/* largest increment in a cycle */
	u8 ctrs;		/* general counters that may count it, a bit each */
	/* the event counts the occupancy that counter 0 has selected (§2.3.6) */
	bool of_ctr0;
};

/* A file of perf's format or events directory. */
struct unc_text {
	const char *name;	/* file name; an event's is the manual's, in lower case */
	const char *text;	/* content */
	bool common;		/* the file is listed also if only common files are */
};

/* A counter that cannot be stopped or written. */
struct unc_freerun {
	u8 umask;		/* selects the counter, together with event=0xff */
	u8 bits;		/* width */
	u32 reg;
	const s32 *places;	/* as in struct unc_type_regs; NULL: the type's */
};

/*
 * Other addresses of the general counters: public sources disagree.  The other addresses
 * are valid if register @only_new keeps written values and register @only_old does not.
 * Both 0: there are no other addresses.
 */
struct unc_type_moved {
	u32 ctr[UNC_MAX_GENERAL];
	u32 only_old, only_new;
};

/*
 * Registers of a type's first box: MSRs, or offsets in the configuration space of the box's
 * function, or offsets in the box's memory.
 */
struct unc_type_regs {
	/* box control; 0: a box cannot be frozen, or only with the package */
	u32 box_ctl;
	u32 box_ctl_base;	/* bits of box control that must always be 1 */
	u32 status;		/* overflow bits; writing 1 clears a bit */
	u32 status_mask;	/* bits of @status */
	u32 ctl[UNC_MAX_GENERAL];	/* controls of the general counters */
	u32 ctr[UNC_MAX_GENERAL];	/* general counters */
	u32 fixed_ctl;		/* control of the fixed counter; 0: there is none */
	u32 fixed_ctr;
	/* what to add to an MSR's number for each box, by index; NULL: nothing */
	const s32 *places;
	/*
	 * Bits of config that go to the counter's control.  A control in PCI
	 * configuration space has 64 bits if @ctl_mask has a bit above 31, a control in
	 * memory has 32.
	 */
	u64 ctl_mask;
	u64 ctl_must;		/* bits of config without which a counter counts nothing */
	struct unc_type_moved moved;
};

/* Number of boxes in a package, for a box type without PCI functions. */
struct unc_type_count {
	/* Read the number; may sleep.  NULL: the number is the type's max_boxes */
	unsigned int (*read)(const struct unc_package *pkg,
			     const struct unc_type *type);
	u8 min;			/* number on the smallest die, see hw/die.c */
};

/* Place of a type's boxes in the machine, for the files dieN of the PMUs; see hw/map.c. */
struct unc_type_map {
	/* Return the text, or NULL.  The caller frees it.  May sleep.  NULL: no files */
	char *(*read)(const struct unc_box *box);
	u32 reg;		/* root buses; status of the link; or number of the stack */
	u32 peer;		/* other end of the link */
	u16 device;		/* of the function that has the number of the stack */
	const u8 *stacks;	/* box of each stack by that number */
};

/* A type's PCI functions. */
struct unc_type_pci {
	/*
	 * Boxes in a function, which share box control and status; 0: one box.  The
	 * arrays of struct unc_type_regs have the counters of all boxes of the function,
	 * box after box.
	 */
	u8 in_function;
	/* type that replaces this one with pmu_prefix=uncore, or NULL */
	const struct unc_type *in_tree;
};

/*
 * Addresses of boxes in memory, by registers of their PCI function.  A controller has one or
 * several boxes.
 */
struct unc_type_mmio {
	u16 base;		/* register: address bits 51:23 of all controllers */
	u16 bar;		/* register of the first controller: address bits 22:12 */
	u8 boxes;		/* of a controller */
	u32 first;		/* offset of a controller's first box from its address */
	u32 stride;		/* distance of the next */
	u32 size;		/* bytes of a box */
};

/*
 * Effect of an overflow of a type's counters.  Boxes that signal freeze the package and
 * have the UBox interrupt CPUs when a counter with .ov_en overflows.
 */
struct unc_type_overflow {
	bool signals;
	const u64 *status;	/* each box's bits in the global status, by index */
	u64 status_bits;	/* common bits of all boxes, where @status is NULL */
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
	const struct unc_text *named;		/* named events, units and scales */
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
	struct unc_type_map map;
	u8 general;		/* counters that count any event; may be 0 */
	u8 bits;		/* documented width; the load probes the real width */
	u16 max_inc;		/* largest increment of an undocumented event in a cycle */
	unsigned int quirks;	/* enum unc_quirk */
	struct unc_type_regs regs;
	struct unc_type_pci pci;
	struct unc_type_mmio mmio;
	struct unc_type_overflow overflow;
	struct unc_type_filter filter;
	struct unc_type_events events;
	const struct unc_freerun *freerun;
	u8 num_freerun;
};

/* Role of a PCI function. */
enum unc_pci_role { UNC_PCI_BOX, UNC_PCI_FILTER };

#define UNC_PCI_ANYWHERE	0xffff

/* A PCI function of a box.  Functions of several boxes may have the same device ID. */
struct unc_pci_row {
	u16 device;
	u16 devfn;		/* or UNC_PCI_ANYWHERE: the device ID identifies the box */
	u8 type;		/* index in unc_generation.types */
	u8 index;		/* number of the (first) box among the boxes of its type */
	u8 role;		/* enum unc_pci_role */
};

/* A generation's global registers, which are MSRs, and bits of the control. */
struct unc_global_regs {
	u32 ctl;		/* 0: there is none, and a package cannot be frozen */
	u32 status;		/* overflow bits of boxes; 0: there is none, no box signals */
	u32 config;		/* number of CBos */
	u64 freeze, unfreeze;	/* bits that stop, and start, all boxes */
	u64 wake;		/* bit that wakes a sleeping core for the interrupt */
	u64 cores;		/* bits that select the cores to interrupt */
};

/*
 * The UBox's PCI device, one in each package, and its registers.  A package has the UBox's
 * bus and the buses beside it, up to the bus of another package's UBox.
 */
struct unc_ubox {
	u16 device;
	bool lowest;		/* the UBox's bus is the package's lowest; else its highest */
	u8 above;		/* further buses of the package behind its highest */
	u16 node_id;		/* offset of the NUMA node's number */
	u16 node_map;		/* offset of the numbers of all packages' nodes */
};

/* The PCI device whose register tells which boxes a package's die has. */
struct unc_capability {
	u16 device;
	u16 reg;
	u64 chas;		/* the CHAs of the die, a bit each, from @reg on */
};

/* A generation of processors. */
struct unc_generation {
	const char *name;	/* prefix of the PMUs' names */
	u16 steppings;		/* of the CPU model, a bit each; 0: all */
	const struct unc_type *types;
	unsigned int num_types;
	const struct unc_pci_row *pci_rows;	/* ends with a device of 0; or NULL */
	const struct pci_device_id *pci_ids;	/* device IDs of @pci_rows, each once */
	const char *in_tree;	/* name of intel_uncore's PCI driver, or NULL */
	struct unc_ubox ubox;
	struct unc_capability capability;
	/* Find the package of a UBox's bus; a negative errno if unknown.  May sleep */
	int (*map_bus)(struct pci_dev *ubox);
	/* Read the node id of a UBox; a negative errno if it cannot be read.  May sleep */
	int (*node_of)(struct pci_dev *ubox);
	u32 max_khz;		/* clock (kHz) that no part reaches, to bound increments */
	struct unc_global_regs global;
};

#endif

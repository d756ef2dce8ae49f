/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of a Xeon's uncore performance monitors: registers in, counts and overflows
 * out. It is plain C without kernel headers, so the simulator and the host's unit tests
 * run the same code. Only the fronts (front/, clock/) use kprobes, PCI buses and timers.
 *
 * The caller serialises all functions of a model by one lock, except the functions that
 * are marked "lock-free".
 */
#ifndef XEON_UNCORE_SIM_MODEL_H
#define XEON_UNCORE_SIM_MODEL_H

#include "model/types.h"

#define MODEL_MAX_PACKAGES	16
#define MODEL_NODES		8	/* node ids in the UBox's map (§1.6.1) */
#define MODEL_MAX_COUNTERS	5	/* four general counters and a fixed counter */

#define MODEL_MAX_BUSES		16	/* PCI buses of a package */
#define MODEL_MAX_TYPES		16	/* box types of a generation */

/* Bytes of physical addresses that a package has for boxes with registers in memory */
#define MODEL_MEMORY_WINDOW	0x800000

/**
 * struct model_limits - numbers of boxes of a type that a package may have
 * @least: smallest number
 * @most: largest number, which is the default
 * @ends: the number is either @least or @most, by the die
 * @numbered: a single box has a number in its name, as other processors have more of them
 * @as: the box type that a package has as many boxes of; NULL: none
 */
struct model_limits {
	u8 least, most;
	bool ends, numbered;
	const char *as;
};

/* Clocks of a package; model_type.clock is the clock of a box type. */
enum model_clock {
	MODEL_UCLK,		/* the ring and its boxes */
	MODEL_DCLK,		/* the memory channels */
	MODEL_QCLK,		/* the QPI link layer */
	MODEL_PCLK,		/* the PCU */
	MODEL_IOCLK,		/* the IO stacks */
	MODEL_CLOCKS
};

#define MODEL_MAX_KHZ	10000000

/* Width of a counter, and the smallest width of a fixed counter, in bits */
#define MODEL_COUNTER_BITS	48
#define MODEL_MIN_FIXED_BITS	32

/* Parts that a package may lack */
enum {
	MODEL_MISSING_QPI_FILTERS = 1 << 0, /* the functions of match and mask registers */
	MODEL_MISSING_CAPID = 1 << 1,	/* the function that identifies the die */
	MODEL_MISSING_UBOX = 1 << 2,	/* the function that identifies the package */
	MODEL_MISSING_EXTENDED = 1 << 3, /* configuration space above 0xff */
};

/* Leftover register state */
enum {
	MODEL_DIRTY_FREEZE = 1 << 0,	/* the package is frozen */
	MODEL_DIRTY_STATUS = 1 << 1,	/* overflow bits of boxes and global */
	MODEL_DIRTY_COUNTERS = 1 << 2,	/* counters run, can interrupt, and have filters */
	MODEL_DIRTY_CORES = 1 << 3,	/* PMIs go to all cores */
	MODEL_DIRTY_BOXES = 1 << 4,	/* every box is frozen */
};

struct model_type;
struct model_function;

/**
 * struct model_generation - tables of a generation of processors: hw/
 * @name: as in PMU names
 * @cpu_family: family of the processors by CPUID
 * @cpu_model: model of the processors by CPUID
 * @steppings: steppings of the processors, a bit each; 0: all of the model
 * @ubox_device: PCI device ID of the UBox's function, by which the uncore is
 *	recognised; 0: the generation has no PCI functions
 * @counter_bits: documented width of the counters of the box types with QUIRK_NARROW
 * @freezes: a register of the package freezes all its counters
 * @frz_all: bit of the global control register that freezes the package
 * @unfrz_all: bit of the global control register that unfreezes the package
 * @wk_on_pmi: bit of the global control register with which PMIs wake sleeping cores
 * @core_sel: bits of the global control register that select cores; 0: no box
 *	interrupts
 * @types: the box types
 * @ntypes: number of @types, up to MODEL_MAX_TYPES
 * @num_c: name of the box type whose number of boxes software can read from
 *	U_MSR_PMON_GLOBAL_CONFIG.num_c or from a capability register
 * @die: name of the box type whose number of boxes depends on the die, which software can
 *	read from a capability register; NULL: none
 * @functions: PCI functions
 * @nfunctions: number of @functions
 * @nbuses: number of PCI root buses of a package. Bus 0 has the UBox's function.
 * @ubox_highest: bus 0 has the highest number of the package's buses: a bus without a UBox
 *	belongs to the package of the next higher bus with one. Otherwise bus 0 has the
 *	lowest number, and it is the next lower bus.
 * @above: with @ubox_highest the last buses of the list that have higher numbers than bus 0 all
 *	the same: they follow it
 * @second_devfn: PCI device and function of the second function of model_config.twice
 */
struct model_generation {
	const char *name;
	u8 cpu_family, cpu_model;
	u16 steppings;
	u16 ubox_device;
	u8 counter_bits;
	bool freezes;
	u64 frz_all, unfrz_all, wk_on_pmi;
	u32 core_sel;
	const struct model_type *types;
	u8 ntypes;
	const char *num_c, *die;
	const struct model_function *functions;
	u16 nfunctions;
	u8 nbuses;
	bool ubox_highest;
	u8 above;
	u8 second_devfn;
};

extern const struct model_generation model_hswep, model_bdwep, model_bdwde,
				     model_ivbep, model_snbep, model_xeon7100,
				     model_xeon7400, model_skx, model_clx, model_cpx,
				     model_icx, model_icxd, model_snr;

/* All generations; the last entry is NULL. */
extern const struct model_generation *const model_generations[];

/**
 * struct model_config - the simulated machine
 * @gen: the generation
 * @packages: sockets, 1 to MODEL_MAX_PACKAGES
 * @boxes: number of boxes of a package, of each of @gen->types
 * @segment_packages: packages whose buses are in the same PCI segment; 0: all packages
 * @counter_bits: width of the counters of the box types with QUIRK_NARROW, 44 or
 *	48: the generation has narrower counters there, or public sources disagree
 *	on the width. The counters of all other box types have 48 bits.
 * @fixed_bits: width of all fixed counters, MODEL_MIN_FIXED_BITS to 48
 * @num_c: reset value of U_MSR_PMON_GLOBAL_CONFIG.num_c, or -1 for the number
 *	of boxes of type @gen->num_c
 * @node_map: node id of each package, 3 bits each, in the format of the UBox's map
 *	(§1.6.1); 0: the node id of package n is n modulo MODEL_NODES
 * @counter_gp: a write of a narrow MSR counter with bits above its width faults
 * @write_whole: a control register of SBo or R3QPI changes only if software writes
 *	the same value twice, with no other write to the box in between (§2.4.1,
 *	§2.11.1)
 * @irp_counters: addresses of the IRPs' counters on Haswell and Broadwell, on which
 *	two tables of 331051 disagree: 0: Table 1-3; 1: Table 2-144; 2: Table 1-3,
 *	and the register that only Table 2-144 has keeps written values, but does
 *	not count
 * @missing: missing parts of each package, MODEL_MISSING_*
 * @twice: type of the PCI box that has a second function, or -1
 * @twice_box: number of that box in its package
 * @memory_base: physical address of the first package's window of MODEL_MEMORY_WINDOW bytes
 *	for boxes with registers in memory, a multiple of the window's size. The windows of
 *	the other packages follow.
 * @clock_khz: nominal frequency of each clock, up to MODEL_MAX_KHZ; 0: the frequency
 *	of UCLK. The model uses only the ratios to UCLK.
 */
struct model_config {
	const struct model_generation *gen;
	u32 packages;
	u32 boxes[MODEL_MAX_TYPES];
	u32 segment_packages;
	u32 counter_bits, fixed_bits;
	int num_c;
	u32 node_map;
	u32 counter_gp, write_whole, irp_counters;
	u32 missing[MODEL_MAX_PACKAGES];
	int twice;
	u32 twice_box;
	u64 memory_base;
	u32 clock_khz[MODEL_CLOCKS];
};

/**
 * struct model_delays - delays of an overflow, in cycles of the nominal UCLK
 * @freeze: from the overflow to the freeze, while all counters keep counting
 * @status: from the freeze to the bit in U_MSR_PMON_GLOBAL_STATUS
 * @pmi: from the global status bit to the PMI
 */
struct model_delays {
	u32 freeze, status, pmi;
};

/**
 * struct model_ops - functions of the front that the model calls
 * @pmi: send a PMI of package @pkg's UBox to the cores of @core_mask
 *	(U_MSR_PMON_GLOBAL_CTL.pmi_core_sel); with @wake sleeping cores wake up for
 *	the PMI (wk_on_pmi). Called under the model's lock.
 * @now_ns: return the monotonic time, which is only used for the times of freezes
 * @undefined: report a write of software that the manual calls undefined; @text is a
 *	short sentence
 *
 * Each function may be NULL. @ctx is the last argument of model_init().
 */
struct model_ops {
	void (*pmi)(void *ctx, unsigned int pkg, u32 core_mask, bool wake);
	u64 (*now_ns)(void *ctx);
	void (*undefined)(void *ctx, unsigned int pkg, const char *text);
};

/* Results of a register access. */
enum {
	MODEL_OK = 0,
	MODEL_NOT_MINE = -1,	/* not a register of the model: access the real register */
	MODEL_GP = -2,		/* the access faults (#GP) */
};

/* Direction of a QPI packet for the match and mask filter (§2.9.2.3) */
enum model_dir { MODEL_RX, MODEL_TX };

/**
 * struct model_txn - a number of equal transactions that the counters of a box may count
 * @box_type: type of the box that the transactions pass, by its index in the generation's
 *	table
 * @box: number of this box in its package
 * @pkg: package of this box
 * @code: event select, with the extension bit as bit 8; of the front-side bus of Xeon
 *	7100 and 7400 the number of the sub-event's bit in the 64-bit
 *	register; unused for their look-ups and snoops
 * @umask: unit-mask bits of the transactions' properties (see model_wave.rule)
 * @count: number of transactions. Each transaction is an increment of @value in a
 *	separate cycle with idle cycles around it: a threshold is compared with
 *	@value, and an edge detector counts a rising edge.
 * @value: increment of a transaction, at least 1
 * @tid: CBo thread/core id (FILTER0.tid); UBox: bit 0 thread, core from bit 1
 * @state: CBo line state, one-hot as in FILTER0.state (bit 0 I .. bit 6 M')
 * @link: CBo QPI link, one-hot as in FILTER0 bits 8:6
 * @nid: CBo target node, one-hot as in FILTER1.nid
 * @opc: CBo or CHA IDI opcode as in FILTER1.opc; HA: QPI opcode as in OPCODEMATCH
 * @nc: CBo request attribute, as in FILTER1.nc
 * @c6: CBo request attribute, as in FILTER1.c6
 * @isoc: CBo request attribute, as in FILTER1.isoc
 * @remote: CHA request attribute: the address belongs to memory of another package
 * @near: CHA request attribute: the memory is used as a cache of other memory
 * @port: IO stack's ports, a bit for each as in ch_mask
 * @fc: IO stack's classes of transactions, a bit for each as in fc_mask
 * @addr: HA physical address
 * @dir: direction of a QPI packet
 * @pkt: QPI packet, as the MATCH0 (pkt[0]) and MATCH1 (pkt[1]) words
 * @freq: PCU frequency in 100 MHz while the "transactions" (cycles) pass, for
 *	the four band events
 * @agent: of a look-up or a snoop of Xeon 7100 and 7400, one-hot as in the register;
 *	@state is one-hot as well
 * @type: of a look-up or a snoop, one-hot as in the register
 * @snoop: of a look-up or a snoop, one-hot as in the register
 * @flow: of a look-up, demand or prefetch, one-hot
 * @core: of a look-up, the core of the line as in core_module_select; of a snoop, the
 *	cores that have the line, a bit each (Xeon 7100; bit 0: this core), or the
 *	number of modules that have the line (Xeon 7400)
 * @fill: of a look-up, value of fill_eviction: 0 no fill, 2 a fill without an eviction,
 *	3 a fill with an eviction
 * @cross: the look-up is a cross snoop
 * @block: the snoop was blocked
 */
struct model_txn {
	unsigned int box_type, box, pkg;
	u32 code;
	u64 umask;
	u64 count;
	u32 value;
	u32 tid, state, link, nid, opc;
	bool nc, c6, isoc, remote, near;
	u32 port, fc;
	u64 addr;
	enum model_dir dir;
	u32 pkt[2];
	u32 freq;
	u32 agent, flow, type, snoop, core, fill;
	bool cross, block;
};

#define MODEL_RATE_ONE	1000000000
#define MODEL_MAX_RATE	255
#define MODEL_MAX_FLOWS	128	/* rates of a box */

/**
 * struct model_rate - transactions in a cycle
 * @whole: up to MODEL_MAX_RATE
 * @frac: fraction, in parts of MODEL_RATE_ONE
 */
struct model_rate {
	u32 whole, frac;
};

/* Rule by which a counter's umask selects transactions */
enum model_rule {
	MODEL_ANY,	/* bits are subevents: count a transaction with any of them */
	MODEL_ALL,	/* bits are conditions: count a transaction that meets all */
	MODEL_EXACT,	/* a number: count a transaction with the same umask */
};

#define MODEL_WAVE_MAX	16

/**
 * struct model_wave - values of an event while time passes
 * @code: event select, extension bit as bit 8
 * @umask: unit mask
 * @zeros: bits of a counter's umask; a counter with one of them set does not count
 *	this subevent
 * @rule: how a transaction's umask is compared with the counter's
 * @max_inc: largest increment of a cycle, as documented
 * @ctrs: general counters that can count the event, a bit for each counter
 * @period: cycles until @v repeats, 1 to MODEL_WAVE_MAX
 * @v: the event's value in cycle t is v[t % period]. The value of the PCU's band events
 *	is the frequency in 100 MHz, and the filter decides whether the cycle counts.
 *
 * events/generate.py makes the tables of waves, sorted by (code, umask).
 */
struct model_wave {
	u16 code;
	u64 umask;
	u64 zeros;
	u8 rule;
	u16 max_inc;
	u8 ctrs;
	u8 period;
	u16 v[MODEL_WAVE_MAX];
};

struct model;

/* Return the index of a generation's box type, or MODEL_MAX_TYPES if it has none. */
unsigned int model_find_type(const struct model_generation *gen, const char *name);
/* Set all numbers of boxes to the largest that the generation allows. */
void model_all_boxes(struct model_config *cfg);
/*
 * Set the number of boxes of a type, and of the types that have as many. Return 0, or -1 if
 * the number is not within @limits, which is set to the type's. A type that the generation
 * does not have has no boxes.
 */
int model_set_boxes(struct model_config *cfg, const char *name, u32 number,
		    struct model_limits *limits);

/* Size of a model in bytes; the caller passes zeroed memory of this size to model_init(). */
size_t model_size(void);
int model_init(struct model *m, const struct model_config *cfg,
	       const struct model_ops *ops, void *ctx);
/* Hardware reset of every register. The configuration, faults and rates stay. */
void model_reset(struct model *m);
/* Let free-running counters of events count what they do while firmware boots the machine. */
void model_boot(struct model *m);

/*
 * Give a box in PCI space a second function at model_generation.second_devfn. To be
 * called before the first access.
 */
void model_second_function(struct model *m, unsigned int box_type,
			   unsigned int box);
/* Put leftover state, MODEL_DIRTY_*, into the registers of every package. */
void model_make_dirty(struct model *m, u32 state);

/* --- registers ---------------------------------------------------------- */

/* Lock-free: return whether @msr is simulated. Called for every MSR access. */
bool model_msr_claims(const struct model *m, u32 msr);
/*
 * Lock-free: return whether @msr may be accessed without the model's lock (from an
 * NMI): true for reads of U_MSR_PMON_GLOBAL_STATUS and U_MSR_PMON_GLOBAL_CTL and
 * for writes of U_MSR_PMON_GLOBAL_STATUS.
 */
bool model_msr_lockless(const struct model *m, u32 msr, bool write);
int model_msr_read(struct model *m, unsigned int pkg, u32 msr, u64 *value);
int model_msr_write(struct model *m, unsigned int pkg, u32 msr, u64 value);

/* Return the segment of a package's buses, and the number of a bus in it. */
unsigned int model_segment(const struct model_config *c, unsigned int pkg);
u8 model_bus_number(const struct model_config *c, unsigned int pkg, unsigned int bus);
/*
 * Return the index of the bus below a root port of a root bus, whose number is the next one;
 * 0: the bus has no root port, or there are too many packages for the number.
 */
unsigned int model_bus_below(const struct model_config *c, unsigned int bus);

/*
 * PCI configuration space. @bus is the index in the list of a package's buses. @where is the
 * offset in the function's space, with any alignment; @size is 1, 2 or 4 bytes. Reads of an
 * absent function or an unreachable register return all ones, and writes are ignored.
 */
/* Return the offset of the first PMON register of a function, or 0 if it has none. */
unsigned int model_pci_first_register(const struct model *m, unsigned int bus,
				      unsigned int devfn);
/* Return whether an offset is reachable: without MMCONFIG only offsets up to 0xff are. */
bool model_pci_reachable(const struct model *m, unsigned int pkg,
			 unsigned int where);
u32 model_pci_read(struct model *m, unsigned int pkg, unsigned int bus,
		   unsigned int devfn, unsigned int where, unsigned int size);
void model_pci_write(struct model *m, unsigned int pkg, unsigned int bus,
		     unsigned int devfn, unsigned int where, unsigned int size,
		     u32 value);

/*
 * Registers in memory. @at is a physical address with any alignment; @size is 1, 2, 4 or 8
 * bytes, and an access may reach several registers or a part of one. Reads of addresses without
 * a register return 0, and writes are ignored.
 */
/* Return whether boxes of a generation have registers in memory. */
bool model_has_memory(const struct model_generation *gen);
/* Lock-free: return whether an address is in the window of a package. */
bool model_memory_claims(const struct model_config *c, u64 at);
u64 model_memory_read(struct model *m, u64 at, unsigned int size);
void model_memory_write(struct model *m, u64 at, unsigned int size, u64 value);

/* --- time and traffic --------------------------------------------------- */

/*
 * Time is counted in cycles of the nominal UCLK, clock_khz[MODEL_UCLK].
 *
 * Let up to @cycles cycles pass, and the matching number of cycles of the other clocks.
 * Return the number of cycles that passed. The number is less than @cycles if a counter
 * with ov_en overflowed, its package froze and software was just notified: the caller can
 * then let software handle the overflow before it continues. A frozen box does not count
 * the cycles that pass.
 */
u64 model_advance(struct model *m, u64 cycles);
/*
 * Return the cycles until the next overflow that freezes a package, or until the next
 * stage (enum model_stage) of a signalled overflow, whichever is first. U64_MAX: neither
 * is expected.
 */
u64 model_cycles_to_freeze(const struct model *m);
/* Return whether a freeze, a global status bit or a PMI of an overflow is pending. */
bool model_pending(const struct model *m);
/*
 * Return the packages, a bit each, in which the last stage of an overflow (enum
 * model_stage) has passed since the last call, and clear this set.
 */
u32 model_told(struct model *m);
/*
 * Change the frequency of a package's UCLK; 0 stops the clock, as package C6 does. The
 * frequencies of the other clocks stay. Return 0, or -1 if the package does not exist, the
 * frequency is too high, or the configuration has no nominal frequency of UCLK.
 */
int model_set_uclk(struct model *m, unsigned int pkg, u32 khz);
u32 model_uclk(const struct model *m, unsigned int pkg);
/* Set the delays of overflows that occur from now on. */
void model_set_delays(struct model *m, const struct model_delays *delays);
/*
 * Let transactions pass a box, whose counters count them. Return the number that passed:
 * t->count, or less if an overflow froze the package; or -1 if the box does not exist. A
 * frozen box does not count transactions, but they pass.
 */
s64 model_traffic(struct model *m, const struct model_txn *t);

/*
 * Rates: from now on @rate transactions with the properties of @t pass the box in each
 * cycle of its clock, evenly spread; t->count and t->value are ignored. After n cycles
 * floor(rate * n) transactions have passed, whatever the steps of the time. A change of
 * the rate keeps the fraction of the next transaction. Events and filters select these
 * transactions like traffic. An event code that has a rate in a box has no waveform in
 * that box.
 *
 * The front first calls model_give_rates() with model_rates_size() zeroed bytes.
 * model_rate_check() and model_rate() return 0; -1 if the box or the event does not exist
 * or the rate is too large; or -2 if the box has too many rates.
 */
size_t model_rates_size(const struct model *m);
void model_give_rates(struct model *m, void *memory);
int model_rate_check(struct model *m, const struct model_txn *t,
		     const struct model_rate *rate);
int model_rate(struct model *m, const struct model_txn *t,
	       const struct model_rate *rate);
/* From now on events without a rate count 0, and free-running counters stop. */
void model_only_rates(struct model *m);
/* Remove all rates: every event has its waveform again. */
void model_forget_rates(struct model *m);
/* Return the number of rates; @only is set if events without a rate count 0. */
unsigned int model_rates(const struct model *m, bool *only);

bool model_frozen(const struct model *m, unsigned int pkg);
/*
 * Return the time at which software last froze a package or a box whose counters are
 * enabled and which is still frozen; 0: there is no such freeze
 */
u64 model_held_since(const struct model *m);
/* Lock-free: return U_MSR_PMON_GLOBAL_STATUS. */
u64 model_global_status(const struct model *m, unsigned int pkg);
/*
 * Return the time in ns that packages were frozen by overflows until software unfroze
 * them, summed over all packages.
 */
u64 model_frozen_ns(const struct model *m);
/*
 * Return the time in ns that boxes paused: from the time at which a box stopped counting, as
 * it was frozen or its last counter was disabled, to the time at which it counted again.
 * Summed over all boxes; a pause that has not ended is not included.
 */
u64 model_paused_ns(const struct model *m);
u64 model_cycles(const struct model *m);
/*
 * Set the time to cycle 0: waveforms start again as after model_init(). Counters and all
 * other registers keep their values.
 */
void model_restart_cycles(struct model *m);

/* --- faults --------------------------------------------------------------*/

enum model_fault {
	MODEL_FAULT_DEAD_PCI,	/* the PCI function reads all ones */
	MODEL_FAULT_STUCK_STATUS, /* bits of the box status do not clear */
	MODEL_FAULT_NO_PMI,	/* an overflow sets its status and freezes, without a PMI */
	MODEL_FAULT_NO_CLOCK,	/* registers work, but counters do not count */
	MODEL_FAULT_DEAD_MEMORY, /* the registers in memory read all ones */
	MODEL_FAULTS
};

/*
 * Switch a fault of a box on or off. Return 0, or -1 if the box does not exist or cannot
 * have the fault.
 */
int model_fault(struct model *m, enum model_fault fault, unsigned int pkg,
		unsigned int box_type, unsigned int box, bool on);
/* Send a PMI that sets no status bit. */
void model_spurious_pmi(struct model *m, unsigned int pkg, u32 core_mask);

/*
 * Call @show for each register that differs from its reset value. Names are "cbox_3 ctl0",
 * "imc_1 box_ctl", ...
 */
void model_show_dirty(const struct model *m,
		      void (*show)(void *arg, unsigned int pkg,
				   const char *name, u64 value),
		      void *arg);

/* Return the name of a box type as in PMU names, "cbox", "imc", ...; NULL after the last. */
const char *model_box_type_name(const struct model *m, unsigned int box_type);
/* Return whether the registers of a box type are in PCI configuration space. */
bool model_box_type_pci(const struct model *m, unsigned int box_type);
/* Return the number of boxes of a type in a package. */
unsigned int model_boxes(const struct model *m, unsigned int box_type);
/*
 * Return whether transactions of a box type have an event code. Look-ups and snoops of
 * Xeon 7100 and 7400 have none.
 */
bool model_box_type_has_codes(const struct model *m, unsigned int box_type);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of a Xeon's uncore performance monitors: registers in, counts and overflows
 * out. It is plain C without kernel headers, so the simulator and the host's unit tests
 * run the same code. It does not depend on kprobes, PCI buses or clocks; the fronts do.
 *
 * Every function except those marked "lock-free" must be called under one lock of the
 * caller for the whole model.
 */
#ifndef XEON_UNCORE_SIM_MODEL_H
#define XEON_UNCORE_SIM_MODEL_H

#include "model/types.h"

#define MODEL_MAX_PACKAGES	16
#define MODEL_NODES		8	/* node ids of the UBox's map */
#define MODEL_MAX_COUNTERS	5	/* four general ones and a fixed one */

/*
 * The box types of all generations: in the order of the manual's chapter 2, and
 * those of Xeon 7100 and 7400.
 */
enum model_box_type {
	MODEL_UBOX, MODEL_CBOX, MODEL_SBOX, MODEL_HA, MODEL_IMC,
	MODEL_IRP, MODEL_PCU, MODEL_QPI, MODEL_R2PCIE, MODEL_R3QPI,
	MODEL_GBSQ, MODEL_GSNPQ, MODEL_FSB,
	MODEL_BOX_TYPES
};

/* Clocks of a package; each box type runs on one of them. */
enum model_clock {
	MODEL_UCLK,		/* of the ring and its boxes */
	MODEL_DCLK,		/* of the memory channels */
	MODEL_QCLK,		/* of the QPI link layer */
	MODEL_PCLK,		/* of the PCU */
	MODEL_CLOCKS
};

#define MODEL_MAX_KHZ	10000000

/* Bits of a counter, and the least that a fixed one can be narrowed to. */
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
 * @cpu_family, @cpu_model: the processors
 * @ubox_device: PCI device ID that identifies its uncore, 0: it has no PCI
 *	functions
 * @max_cboxes, @max_has, @max_imcs: CBos, home agents and memory channels that a
 *	package may have
 * @sboxes: number of SBos of a package, on the smallest die and on all others
 * @qpi_ports: largest number of ports of a package; 0: none
 * @counter_bits: width of the counters that may be narrower, as documented
 * @freezes: has a package a register that stops all its counters?
 * @core_sel: bits of the global control register that select cores; 0: no box
 *	interrupts
 * @types: the box types, by enum model_box_type; those without a name do not exist
 * @functions: PCI functions
 * @nfunctions: their number
 * @second_devfn: where a box may appear a second time
 */
struct model_generation {
	const char *name;
	u8 cpu_family, cpu_model;
	u16 ubox_device;
	u8 max_cboxes, max_has, max_imcs;
	u8 sboxes[2];
	u8 qpi_ports;
	u8 counter_bits;
	bool freezes;
	u32 core_sel;
	const struct model_type *types;
	const struct model_function *functions;
	u16 nfunctions;
	u8 second_devfn;
};

extern const struct model_generation model_hswep, model_bdwep, model_bdwde,
				     model_ivbep, model_snbep, model_xeon7100,
				     model_xeon7400;

/* All of them; the last one is NULL. */
extern const struct model_generation *const model_generations[];

/**
 * struct model_config - the simulated machine
 * @gen: the generation
 * @packages: sockets, 1 to MODEL_MAX_PACKAGES
 * @cboxes: CBos of a package, 1 to @gen->max_cboxes
 * @sboxes: SBos of a package, one of @gen->sboxes
 * @has: home agents of a package, 1 to @gen->max_has
 * @imcs: memory channels of a package, 1 to @gen->max_imcs
 * @qpi_ports: QPI ports of a package, and R3QPI links, 1 to @gen->qpi_ports
 * @counter_bits: width of the counters that the generation may have narrower,
 *	or on which public sources disagree, 44 or 48; the others always have 48
 * @fixed_bits: width of all fixed counters, MODEL_MIN_FIXED_BITS to 48
 * @num_c: what U_MSR_PMON_GLOBAL_CONFIG.num_c reads, or -1 for @cboxes
 * @node_map: node id of each package, 3 bits each, as the UBox's map has them
 *	(§1.6.1); 0: that of a package is its number, and of package 8 it is 0
 * @counter_gp: a write of a narrow MSR counter with bits above its width faults
 * @write_whole: the control registers of SBo and R3QPI record a value that is
 *	written twice with nothing in between (§2.4.1, §2.11.1)
 * @irp_counters: where the IRPs' counters are on Haswell and Broadwell: 0 as
 *	Table 1-3 of 331051 has them, 1 as Table 2-144; 2: as Table 1-3, and the
 *	other register of Table 2-144 keeps written values, but does not count
 * @missing: missing parts of each package, MODEL_MISSING_*
 * @twice: a PCI box that has a second function, or -1; @twice_box: its number
 * @clock_khz: the clocks, by their ratio to UCLK, up to MODEL_MAX_KHZ; 0: as
 *	UCLK
 */
struct model_config {
	const struct model_generation *gen;
	u32 packages, cboxes, sboxes, has, imcs, qpi_ports;
	u32 counter_bits, fixed_bits;
	int num_c;
	u32 node_map;
	u32 counter_gp, write_whole, irp_counters;
	u32 missing[MODEL_MAX_PACKAGES];
	int twice;
	u32 twice_box;
	u32 clock_khz[MODEL_CLOCKS];
};

/**
 * struct model_delays - delays of an overflow, in cycles of the nominal UCLK
 * @freeze: from the overflow to the freeze, while all counters keep counting
 * @status: from the freeze to the bit in U_MSR_PMON_GLOBAL_STATUS
 * @pmi: from that to the PMI
 */
struct model_delays {
	u32 freeze, status, pmi;
};

/**
 * struct model_ops - functions of the front that the model calls
 * @pmi: package @pkg's UBox sends a PMI to the cores of @core_mask
 *	(U_MSR_PMON_GLOBAL_CTL.pmi_core_sel); called under the model's lock
 * @now_ns: monotonic time, only for the times of freezes
 * @undefined: software made a write that the manual calls undefined; @what is a
 *	short sentence.  May be NULL.
 */
struct model_ops {
	void (*pmi)(void *ctx, unsigned int pkg, u32 core_mask, bool wake);
	u64 (*now_ns)(void *ctx);
	void (*undefined)(void *ctx, unsigned int pkg, const char *what);
};

/* Results of a register access. */
enum {
	MODEL_OK = 0,
	MODEL_NOT_MINE = -1,	/* not a register of the model: use the real one */
	MODEL_GP = -2,		/* the access faults (#GP) */
};

/* Direction of a QPI packet for the match and mask filter (§2.9.2.3) */
enum model_dir { MODEL_RX, MODEL_TX };

/**
 * struct model_txn - a number of equal transactions that the boxes may count
 * @box_type, @box, @pkg: the box they pass
 * @code: event select, with the extension bit as bit 8
 * @umask: the properties they have (see model_wave.rule)
 * @count: their number; each is an increment of @value in a separate cycle
 *	with idle cycles around it, so that a threshold sees @value and an edge
 *	detector one rising edge
 * @value: increment of one transaction, at least 1
 * @tid: CBo thread/core id (FILTER0.tid); UBox: bit 0 thread, core from bit 1
 * @state: CBo line state, one-hot as in FILTER0.state (bit 0 I .. bit 6 M')
 * @link: CBo QPI link, one-hot as in FILTER0 bits 8:6
 * @nid: CBo target node, one-hot as in FILTER1.nid
 * @opc: CBo IDI opcode as in FILTER1.opc; HA: QPI opcode as in OPCODEMATCH
 * @nc, @c6, @isoc: CBo request attributes
 * @addr: HA physical address
 * @dir, @pkt: QPI packet, as the MATCH0 (pkt[0]) and MATCH1 (pkt[1]) words
 * @freq: PCU frequency in 100 MHz while the "transactions" (cycles) pass, for
 *	the four band events
 *
 * Of Xeon 7100 and 7400 @code is the sub-event of the front-side bus, as the
 * number of its bit in the register; a look-up or a snoop has none, but
 * @agent, @type, @snoop: one-hot as in the register; as is @state
 * @flow: demand or prefetch, one-hot
 * @core: core of the line, as in core_module_select; of a snoop, the cores
 *	that have the line (bit 0: this one), or how many modules have it
 * @fill: value of fill_eviction for just this: 0, 2 or 3
 * @cross, @block: it is a cross snoop; a snoop that was blocked
 */
struct model_txn {
	enum model_box_type box_type;
	unsigned int box, pkg;
	u32 code, umask;
	u64 count;
	u32 value;
	u32 tid, state, link, nid, opc;
	bool nc, c6, isoc;
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

/* Rule by which an event's umask selects subevents */
enum model_rule {
	MODEL_ANY,	/* bits are subevents: one in common is enough */
	MODEL_ALL,	/* bits are conditions: each one set must hold */
	MODEL_EXACT,	/* a number, which must be the same */
};

#define MODEL_WAVE_MAX	16

/**
 * struct model_wave - values of an event while time passes
 * @code: event select, extension bit as bit 8
 * @umask: unit mask
 * @zeros: bits of the counter's umask with which it counts nothing
 * @rule: how a transaction's umask is compared with the counter's
 * @max_inc: largest increment of a cycle, as documented
 * @ctrs: general counters that can count the event, a bit each
 * @period: cycles until @v repeats, 1 to MODEL_WAVE_MAX
 * @v: the event's value in cycle t is v[t % period]; for the PCU's band
 *	events it is the frequency in 100 MHz, which the filter then compares
 *
 * Generated from events/; the tables are sorted by (code, umask).
 */
struct model_wave {
	u16 code;
	u8 umask;
	u8 zeros;
	u8 rule;
	u8 max_inc;
	u8 ctrs;
	u8 period;
	u8 v[MODEL_WAVE_MAX];
};

struct model;

/* Size of a model; the caller passes that many zeroed bytes to model_init(). */
size_t model_size(void);
int model_init(struct model *m, const struct model_config *cfg,
	       const struct model_ops *ops, void *ctx);
/* Hardware reset of every register; the configuration and faults stay. */
void model_reset(struct model *m);

/* Give a box in PCI space a second function, before the first access. */
void model_second_function(struct model *m, enum model_box_type box_type,
			   unsigned int box);
/* Set the leftover state @what, MODEL_DIRTY_*, in the registers of every package. */
void model_make_dirty(struct model *m, u32 what);

/* --- registers ---------------------------------------------------------- */

/* Lock-free: return whether @msr is simulated. Called for every MSR access. */
bool model_msr_claims(const struct model *m, u32 msr);
/*
 * Lock-free: return whether @msr may be accessed without the model's lock (from an
 * NMI). That holds for reads of U_MSR_PMON_GLOBAL_STATUS and U_MSR_PMON_GLOBAL_CTL and
 * for writes of U_MSR_PMON_GLOBAL_STATUS.
 */
bool model_msr_lockless(const struct model *m, u32 msr, bool write);
int model_msr_read(struct model *m, unsigned int pkg, u32 msr, u64 *value);
int model_msr_write(struct model *m, unsigned int pkg, u32 msr, u64 value);

/*
 * PCI configuration space. Package @pkg has an uncore bus and an IO bus (with the IRP);
 * @io_bus selects the bus. Registers of any alignment and of 1, 2 or 4 bytes. An absent
 * function reads all ones and ignores writes, and so does a register that cannot be
 * reached.
 */
/* Offset of the first register in a function of a box, or 0 */
unsigned int model_pci_first_register(const struct model *m, bool io_bus,
				      unsigned int devfn);
bool model_pci_reachable(const struct model *m, unsigned int pkg,
			 unsigned int where);
u32 model_pci_read(struct model *m, unsigned int pkg, bool io_bus,
		   unsigned int devfn, unsigned int where, unsigned int size);
void model_pci_write(struct model *m, unsigned int pkg, bool io_bus,
		     unsigned int devfn, unsigned int where, unsigned int size,
		     u32 value);

/* --- time and traffic --------------------------------------------------- */

/*
 * Time is counted in cycles of the nominal UCLK, clock_khz[MODEL_UCLK].
 *
 * Let up to @cycles of them pass, and in boxes with another clock the matching number.
 * Return the number of cycles that passed: fewer if a counter with ov_en overflowed,
 * its package froze and software was just notified, so that the caller can let software
 * handle the overflow before it continues. Cycles that pass while a box is frozen are
 * lost to it.
 */
u64 model_advance(struct model *m, u64 cycles);
/*
 * Cycles until the next overflow that freezes a package, or until the next consequence
 * of one; U64_MAX: none
 */
u64 model_cycles_to_freeze(const struct model *m);
/* Return whether a consequence of an overflow is still pending. */
bool model_pending(const struct model *m);
/* Packages, a bit each, whose freeze software was notified of since the last call */
u32 model_told(struct model *m);
/*
 * Change the frequency of a package's UCLK; 0 stops it, as package C6 does. The other
 * clocks keep theirs. Return -1 if the package does not exist, the frequency is too high,
 * or no nominal one was configured.
 */
int model_set_uclk(struct model *m, unsigned int pkg, u32 khz);
u32 model_uclk(const struct model *m, unsigned int pkg);
/* Set the delays of later overflows. */
void model_set_delays(struct model *m, const struct model_delays *delays);
/*
 * Offer transactions to the counters. Returns how many were offered before an
 * overflow froze the package (t->count when none did), or -1 when the box does
 * not exist.  Those offered to a frozen box are lost.
 */
s64 model_traffic(struct model *m, const struct model_txn *t);

/*
 * Rates: from now on a box sees this number of transactions like @t in each cycle of
 * its clock, evenly spread; @t's count and value are ignored. After n cycles it has
 * seen floor(rate * n), for any steps. A rate that changes keeps the fraction of the
 * next transaction. Counters take them as they take traffic. An event code of which a
 * box has any rate has no waveform there.
 *
 * The front first gives the model memory for them, model_rates_size() zeroed bytes.
 * model_rate_check() and model_rate() return 0, -1 if the box or the event does not
 * exist or the rate is too large, -2 if the box has too many.
 */
size_t model_rates_size(const struct model *m);
void model_give_rates(struct model *m, void *memory);
int model_rate_check(struct model *m, const struct model_txn *t,
		     const struct model_rate *rate);
int model_rate(struct model *m, const struct model_txn *t,
	       const struct model_rate *rate);
/* Events without a rate count 0, and free-running counters stop. */
void model_only_rates(struct model *m);
/* Waveforms everywhere. */
void model_forget_rates(struct model *m);
/* Number of rates; @only: model_only_rates() was called last */
unsigned int model_rates(const struct model *m, bool *only);

bool model_frozen(const struct model *m, unsigned int pkg);
/*
 * Time of the last freeze by software of boxes that are still frozen and would count;
 * 0: none
 */
u64 model_held_since(const struct model *m);
/* U_MSR_PMON_GLOBAL_STATUS; needs no lock. */
u64 model_global_status(const struct model *m, unsigned int pkg);
/* Time from the freezes of overflows to software's unfreezes, of all packages */
u64 model_frozen_ns(const struct model *m);
u64 model_cycles(const struct model *m);
/*
 * Count cycles from 0 again: waveforms are as after model_init(). Counters and
 * everything else keep their state.
 */
void model_restart_cycles(struct model *m);

/* --- faults --------------------------------------------------------------*/

enum model_fault {
	MODEL_FAULT_DEAD_PCI,	/* the function reads all ones */
	MODEL_FAULT_STUCK_STATUS, /* box status bits do not clear */
	MODEL_FAULT_NO_PMI,	/* overflow: status and freeze, but no PMI */
	MODEL_FAULT_NO_CLOCK,	/* registers work, but nothing is counted */
	MODEL_FAULTS
};

/* Switch a fault of one box on or off. Return -1 if the box does not exist. */
int model_fault(struct model *m, enum model_fault fault, unsigned int pkg,
		enum model_box_type box_type, unsigned int box, bool on);
/* A PMI without any status bit. */
void model_spurious_pmi(struct model *m, unsigned int pkg, u32 core_mask);

/*
 * Call @show for each register that differs from its reset value, for tests and people.
 * Names are "cbox_3 ctl0", "imc_1 box_ctl", ...
 */
void model_show_dirty(const struct model *m,
			  void (*show)(void *arg, unsigned int pkg,
				       const char *name, u64 value),
			  void *arg);

/*
 * Names of box types as in PMU names: "cbox", "imc", ...; number of boxes in a package
 */
const char *model_box_type_name(const struct model *m, enum model_box_type box_type);
bool model_box_type_pci(const struct model *m, enum model_box_type box_type);
unsigned int model_boxes(const struct model *m, enum model_box_type box_type);
/* Return whether its transactions have an event code. Look-ups and snoops have none. */
bool model_box_type_has_codes(const struct model *m, enum model_box_type box_type);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of a Xeon's uncore performance monitors: registers in, counts
 * and overflows out.  It is plain C without kernel headers, so that the
 * simulated hardware and the host's unit tests run the very same code.  It
 * knows nothing of kprobes, PCI buses or clocks; the fronts beside it do.
 *
 * Every function but those marked "lock-free" must be called under one lock
 * of the caller's for the whole model.
 */
#ifndef XEON_UNCORE_SIM_MODEL_H
#define XEON_UNCORE_SIM_MODEL_H

#include "model_types.h"

#define MODEL_MAX_PACKAGES	4
#define MODEL_MAX_COUNTERS	5	/* four general ones and a fixed one */

/* The box types of the generation, in the order of the manual's chapter 2. */
enum model_box_kind {
	MODEL_UBOX, MODEL_CBOX, MODEL_SBOX, MODEL_HA, MODEL_IMC,
	MODEL_IRP, MODEL_PCU, MODEL_QPI, MODEL_R2PCIE, MODEL_R3QPI,
	MODEL_BOX_KINDS
};

/**
 * struct model_config - the machine that is simulated
 * @packages: sockets, 1 to MODEL_MAX_PACKAGES
 * @cboxes: CBos of a package, 1 to 18
 * @sboxes: SBos of a package, 2 or 4
 * @has: home agents of a package, 1 or 2
 * @imcs: memory channels of a package, 1 to 8
 * @qpi_ports: QPI ports of a package, and R3QPI links, 1 to 3
 * @counter_bits: width of the counters on which public sources disagree
 *	(UBox, SBo, R3QPI), 44 or 48; the others always have 48
 * @num_c: what U_MSR_PMON_GLOBAL_CONFIG.num_c reads, or -1 for @cboxes
 */
struct model_config {
	u32 packages, cboxes, sboxes, has, imcs, qpi_ports;
	u32 counter_bits;
	int num_c;
};

/**
 * struct model_ops - what the model asks of its front
 * @pmi: package @pkg's UBox sends a PMI to the cores of @core_mask
 *	(U_MSR_PMON_GLOBAL_CTL.pmi_core_sel); called under the model's lock
 * @now_ns: monotonic time, for the frozen-time account only
 * @undefined: software wrote what the manual calls undefined; @what is a
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
	MODEL_NOT_MINE = -1,	/* no such register here: pass it on */
	MODEL_GP = -2,		/* the access faults (#GP) */
};

/* Who sends a QPI packet past the match/mask filter (§2.9.2.3). */
enum model_dir { MODEL_RX, MODEL_TX };

/**
 * struct model_txn - a number of like transactions that the boxes may count
 * @kind, @box, @pkg: the box they pass
 * @code: event select, with the extension bit as bit 8
 * @umask: the properties they have (see model_wave.rule)
 * @count: how many; each is an increment of @value in a cycle of its own
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
 */
struct model_txn {
	enum model_box_kind kind;
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
};

/* How an event's umask picks subevents. */
enum model_rule {
	MODEL_ANY,	/* bits are subevents: one in common is enough */
	MODEL_ALL,	/* bits are conditions: each one set must hold */
	MODEL_EXACT,	/* not bits but a number, which must be the same */
};

#define MODEL_WAVE_MAX	16

/**
 * struct model_wave - what an event does while nothing but time passes
 * @code: event select, extension bit as bit 8
 * @umask: unit mask
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
	u8 rule;
	u8 max_inc;
	u8 ctrs;
	u8 period;
	u8 v[MODEL_WAVE_MAX];
};

struct model;

/* Bytes that a model needs; the caller hands model_init() that many zeroes. */
size_t model_size(void);
int model_init(struct model *m, const struct model_config *cfg,
	       const struct model_ops *ops, void *ctx);
/* Hardware reset of every register; the configuration and faults stay. */
void model_reset(struct model *m);

/* --- registers ---------------------------------------------------------- */

/* Lock-free: is @msr one of the simulated ones? For every MSR access. */
bool model_msr_claims(const struct model *m, u32 msr);
/*
 * Lock-free: may @msr be accessed without the model's lock (from an NMI)?
 * True of reads of U_MSR_PMON_GLOBAL_STATUS and U_MSR_PMON_GLOBAL_CTL and of
 * writes of U_MSR_PMON_GLOBAL_STATUS.
 */
bool model_msr_lockless(u32 msr, bool write);
int model_msr_read(struct model *m, unsigned int pkg, u32 msr, u64 *value);
int model_msr_write(struct model *m, unsigned int pkg, u32 msr, u64 value);

/*
 * PCI configuration space.  Package @pkg has an uncore bus and an IO bus
 * (where the IRP sits); @io_bus says which.  Registers of any alignment and of
 * 1, 2 or 4 bytes; an absent function reads all ones and ignores writes.
 */
u32 model_pci_read(struct model *m, unsigned int pkg, bool io_bus,
		   unsigned int devfn, unsigned int where, unsigned int size);
void model_pci_write(struct model *m, unsigned int pkg, bool io_bus,
		     unsigned int devfn, unsigned int where, unsigned int size,
		     u32 value);

/* --- time and traffic --------------------------------------------------- */

/*
 * Let up to @cycles uncore cycles pass in every box of every package.  Returns
 * how many passed: fewer when a counter with ov_en overflowed and its package
 * froze just now, so that the caller can let software serve the overflow
 * before it goes on.  Cycles that pass while a box is frozen are lost to it.
 */
u64 model_advance(struct model *m, u64 cycles);
/* Cycles until the next overflow that freezes a package; U64_MAX: none. */
u64 model_cycles_to_freeze(const struct model *m);
/*
 * Offer transactions to the counters. Returns how many were offered before an
 * overflow froze the package (t->count when none did), or -1 when the box does
 * not exist.  Those offered to a frozen box are lost.
 */
s64 model_traffic(struct model *m, const struct model_txn *t);
bool model_frozen(const struct model *m, unsigned int pkg);
/* U_MSR_PMON_GLOBAL_STATUS; needs no lock. */
u64 model_global_status(const struct model *m, unsigned int pkg);
/* Time from overflows' freezes to software's unfreezes, of all packages. */
u64 model_frozen_ns(const struct model *m);
u64 model_cycles(const struct model *m);

/* --- faults --------------------------------------------------------------*/

enum model_fault {
	MODEL_FAULT_DEAD_PCI,	/* the function reads all ones */
	MODEL_FAULT_STUCK_STATUS, /* box status bits do not clear */
	MODEL_FAULT_NO_PMI,	/* overflow: status and freeze, but no PMI */
	MODEL_FAULTS
};

/* Switch a fault of one box on or off; -1 when there is no such box. */
int model_fault(struct model *m, enum model_fault fault, unsigned int pkg,
		enum model_box_kind kind, unsigned int box, bool on);
/* A PMI without any status bit. */
void model_spurious_pmi(struct model *m, unsigned int pkg, u32 core_mask);

/*
 * Registers that differ from their reset value, for tests and people:
 * calls @show for each. Names are "cbox_3 ctl0", "imc_1 box_ctl", ...
 */
void model_show_dirty(const struct model *m,
			  void (*show)(void *arg, unsigned int pkg,
				       const char *name, u64 value),
			  void *arg);

/* Names of box types as in PMU names: "cbox", "imc", ...; how many a package has. */
const char *model_kind_name(enum model_box_kind kind);
unsigned int model_boxes(const struct model *m, enum model_box_kind kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of the model share: the tables of a generation, and the
 * state of a simulated box. The fronts do not include this file.
 */
#ifndef XEON_UNCORE_SIM_MODEL_PRIV_H
#define XEON_UNCORE_SIM_MODEL_PRIV_H

#include "model/model.h"

#define MODEL_BIT(n)		(1u << (n))
#define MODEL_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

#define MODEL_FIXED		4	/* index of a box's fixed counter */
#define MODEL_MAX_BOXES		96	/* boxes of a package */
#define MODEL_MAX_FILTERS	8	/* filter registers of a box */
#define MODEL_MAX_FREE		25	/* free-running counters of a box */
#define MODEL_MAX_QUEUES	4	/* queues of a box whose occupancy software can clear */

/**
 * struct model_layout - positions of the fields in the registers of a box type
 * @ev_sel: event select of a counter's control register
 * @ev_sel_ext: its extension, bit 8 of an event code
 * @umask: unit mask
 * @umask_ext: its extension, which continues @umask and may have gaps
 * @q_occ_rst: clears the occupancy of a queue
 * @edge_det: edge detect
 * @ov_en: an overflow is signalled to the UBox
 * @en: enable
 * @invert: inverts the comparison with the threshold
 * @thresh_shift: first bit of the threshold, whose largest value is model_type.thresh
 * @occ_event: bit of @ev_sel that makes the event an occupancy, which alone has a unit mask;
 *	0: all events have one
 * @occ_invert: inverts the comparison of an occupancy
 * @occ_edge_det: edge detect of an occupancy
 * @rst_ctrl: of a box control, resets the control registers
 * @rst_ctrs: of a box control, resets the counters
 * @frz: of a box control, freezes the box
 * @frz_en: of a box control, without which @frz has no effect; 0: there is no such bit
 *
 * A register has the fields that model_reg.keep and model_reg.wo contain.
 */
struct model_layout {
	u64 ev_sel, ev_sel_ext, umask, umask_ext;
	u64 q_occ_rst, edge_det, ov_en, en, invert;
	u8 thresh_shift;
	u64 occ_event, occ_invert, occ_edge_det;
	u32 rst_ctrl, rst_ctrs, frz, frz_en;
};

/* Return the value of a field, @mask, which has bits without a gap. */
static inline u64 model_field(u64 value, u64 mask)
{
	return mask ? (value & mask) / (mask & -mask) : 0;
}

/* Return the bits of a field, @mask, without the field's gaps. */
static inline u64 model_gather(u64 value, u64 mask)
{
	unsigned int bit = 0;
	u64 field = 0;

	for (; mask; mask &= mask - 1, bit++)
		if (value & mask & -mask)
			field |= 1ULL << bit;
	return field;
}

enum model_reg_type {
	REG_BOX_CTL, REG_STATUS, REG_CTL, REG_CTR, REG_FILTER,
	REG_FREE,		/* a free-running counter */
	REG_GLOBAL_CTL, REG_GLOBAL_STATUS, REG_GLOBAL_CONFIG,
	REG_CONST,		/* reads @keep */
	REG_PACKAGE,		/* reads @keep and, in the lowest bits, the package's number */
	REG_BOX_MASK,		/* reads a bit for each box of generation.num_c, from @index on */
	REG_BUSES,		/* reads @keep and, from bus @index on, a byte for each bus */
	REG_NODE_ID,		/* reads the package's node id */
	REG_NODE_MAP,		/* reads the node ids of all packages */
	REG_LINK_STATUS,	/* reads @keep if another package is at the end of the link */
	REG_LINK_PEER,		/* reads the link's other end: node id in 19:16, port in 12:8 */
	REG_DIE,		/* reads 0 with the least boxes of generation.die, else @keep */
	REG_MEMORY_BASE,	/* at first bits 51:23 of the address of the package's window */
	REG_MEMORY_BAR,		/* at first @keep; like the base it keeps what is written */
	REG_ABSENT,		/* a register of other generations only: MSR accesses fault */
	REG_JOINT,		/* control in the upper half, count in the lower half */
	REG_JOINT_GLOBAL,	/* freezes, clears and reports all REG_JOINT counters */
};

/**
 * struct model_reg - a register, by its table in the manual
 * @at: MSR number, or offset from the first MSR of the box if model_type.stride or .bases
 *	is set; offset in PCI configuration space; offset in memory from the box's
 *	model_type.memory
 * @bytes: size in PCI space or memory, 4 or 8; in PCI space software accesses 8 bytes as
 *	two halves
 * @type: enum model_reg_type
 * @index: number of the counter, filter or free-running counter in its box
 * @box: number of the register's box in its PCI function, from 0
 * @keep: bits that keep written values; in a status register the bits that a
 *	written 1 clears (RW1C); of REG_JOINT, bits of the upper half, as @wo, @zero
 *	and @one
 * @wo: bits that act when written as 1 and read as 0
 * @zero: bits that must be written as 0; the manual calls the effect of a 1 undefined
 * @one: bits that must be written as 1; the manual calls the effect of a 0 undefined
 * @stride: distance of the registers of two boxes, if it is not model_type.stride
 * @bases: the register's MSR in each box, if that follows neither; else NULL
 * @bits: width of a free-running counter; 0: 32 in PCI space, 64 in an MSR or in memory
 * @counts: a free-running counter counts an event, not the cycles of the box's clock
 * @code: the event's code
 * @umask: the event's unit mask
 * @name: name in the output of model_show_dirty()
 */
struct model_reg {
	u32 at;
	u8 bytes;
	u8 type;
	u8 index;
	u8 box;
	u64 keep, wo, zero, one;
	u8 stride, bits;
	const u16 *bases;
	bool counts;
	u16 code;
	u8 umask;
	const char *name;
};

/* Comparison of a filter's field with an attribute of a transaction */
enum model_filter_op {
	FILTER_EQUAL,		/* the attribute equals the field */
	FILTER_MEETS,		/* the attribute and the field have a bit in common */
	FILTER_MEETS_IF_SET,	/* as FILTER_MEETS; a field of 0 passes every attribute */
	FILTER_NEEDS,		/* a field of 1 requires the attribute */
	FILTER_REACHES,		/* the attribute is at least the field */
	FILTER_PACKET,		/* QPI match and mask registers */
	FILTER_UMASK,		/* no field: a counter without @umask counts nothing */
	FILTER_COMMON,		/* no field: the unit masks have a bit of @umask in common */
	FILTER_EQUAL_IF_SET,	/* as FILTER_EQUAL; a field of 0 passes every attribute */
	FILTER_OPCODES,		/* bit 0: any; else equal to bits 15:6 or 25:16, unless 0 */
	FILTER_FILL,		/* field 1: any fill; 2, 3: equal; 0: passes everything */
	FILTER_CORES,		/* core_select of GSNPQ on Xeon 7100, which has two cores */
	FILTER_MODULES,		/* core_select of GSNPQ on Xeon 7400, which has three modules */
};

/* The attribute of struct model_txn that a filter compares */
enum model_attr {
	ATTR_NONE, ATTR_TID, ATTR_STATE, ATTR_LINK, ATTR_NID, ATTR_OPC,
	ATTR_NC, ATTR_C6, ATTR_ISOC, ATTR_ADDR, ATTR_FREQ,
	ATTR_AGENT, ATTR_FLOW, ATTR_TYPE, ATTR_SNOOP, ATTR_CORE, ATTR_FILL,
	ATTR_CROSS, ATTR_BLOCK, ATTR_HOME, ATTR_MEMORY, ATTR_PORT, ATTR_FC,
};

/**
 * struct model_filter - effect of a field of a filter register on an event
 * @first: smallest event code to which the filter applies
 * @last: largest event code to which the filter applies
 * @umask: the filter applies if the counter's umask has one of these bits; 0: always
 * @ctl: the filter applies if the counter's control register has all these bits
 * @drop_umask: the filter alone compares @umask, or @umask only enables the filter and is not
 *	a property of transactions
 * @op: comparison of the field with the attribute, enum model_filter_op
 * @attr: attribute of the transaction, enum model_attr
 * @in_ctl: the field is in the counter's control register
 * @reg: else the filter register of the field, which may continue in the next register
 * @shift: number of the field's first bit in its register
 * @width: number of bits of the field
 *
 * The filters of joint registers (QUIRK_JOINT) are conditions in the upper half of the
 * register and have only @op, @attr, @shift and @width.
 */
struct model_filter {
	u16 first, last;
	u8 umask;
	u64 ctl;
	bool drop_umask, in_ctl;
	u8 op, attr;
	u8 reg, shift, width;
};

/* Quirks of a box type */
/* counters have model_config.counter_bits bits */
#define QUIRK_NARROW		MODEL_BIT(0)
/* a new event select needs two writes: §2.4.2.2, §2.10.2.2, §2.11.2.2 */
#define QUIRK_WRITE_TWICE	MODEL_BIT(1)
/* .rst holds the counter at 0 until software clears it: §2.9.2.2 */
#define QUIRK_RST_STICKS	MODEL_BIT(2)
/* a write of the SBo's box control that sets more than one bit faults */
#define QUIRK_ONE_BIT_A_WRITE	MODEL_BIT(3)
/* with model_config.write_whole, each new value needs two writes: §2.4.1, §2.11.1 */
#define QUIRK_WRITE_WHOLE	MODEL_BIT(4)
/* overflows set no bit in the box status */
#define QUIRK_NO_STATUS		MODEL_BIT(5)
/* one register has the control and the count: Xeon 7100 and 7400 */
#define QUIRK_JOINT		MODEL_BIT(6)

/**
 * struct model_type - a box type
 * @name: name as in PMU names
 * @boxes: numbers of boxes that a package may have
 * @pci: the registers are in PCI configuration space
 * @memory: the registers are in memory: offset of each box from the start of its package's
 *	window. NULL, without @pci: the registers are MSRs
 * @quirks: QUIRK_*
 * @layout: positions of the fields in the registers
 * @counters: number of general counters of a box
 * @has_fixed: a box has a fixed counter as well
 * @status_shift: bit of counter 0 in the box status
 * @fixed_status: bit mask of the fixed counter in the box status; 0: it has none
 * @thresh: largest threshold
 * @queues: codes of the events that are the occupancy of a queue, which .q_occ_rst
 *	clears; 0 ends the list
 * @relay: code of the event that repeats on any counter the raw value of counter 0's
 *	event (§2.3.1.1); 0: none
 * @first: start of a range that contains all MSRs of the boxes of this type
 * @last: end of this range, inclusive
 * @base: first MSR of box 0
 * @stride: distance of the MSRs of two boxes; 0 for a single box, whose register table
 *	contains MSR numbers
 * @bases: first MSR of each box, where the boxes are at no equal distances; else NULL
 * @span: number of MSRs from there on that may be a box's
 * @in_function: number of boxes in a PCI function, which share box control and box
 *	status; 0: one box
 * @regs: the registers of a box
 * @nregs: number of @regs
 * @other_regs: the registers with model_config.irp_counters 1 and 2, if they differ
 * @nother_regs: numbers of @other_regs
 * @filters: the filters
 * @nfilters: number of @filters
 * @waves: the events
 * @nwaves: number of @waves
 * @ov: bits of the global status for each box, or NULL
 * @ov_fixed: bits of the global status for the fixed counter, if they differ from @ov
 * @clock: enum model_clock
 * @subevents: bits of a joint register's upper half that each select a sub-event
 * @must: bits of a joint register's upper half that must all be set, or it counts 0
 * @saturate: bit of a joint register's upper half with which the counter stops at its
 *	largest value; 0: none
 */
struct model_type {
	const char *name;
	struct model_limits boxes;
	bool pci;
	const u32 *memory;
	u8 quirks;
	const struct model_layout *layout;
	u8 counters;
	bool has_fixed;
	u8 status_shift;
	u8 fixed_status;
	u16 thresh;
	u16 queues[MODEL_MAX_QUEUES];
	u16 relay;
	u32 first, last;
	u32 base, stride;
	const u16 *bases;
	u8 span;
	u8 in_function;
	const struct model_reg *regs;
	u16 nregs;
	const struct model_reg *other_regs[2];
	u16 nother_regs[2];
	const struct model_filter *filters;
	u16 nfilters;
	const struct model_wave *waves;
	u16 nwaves;
	const u64 *ov;
	u64 ov_fixed;
	u8 clock;
	u32 subevents, must, saturate;
};

/**
 * struct model_function - a PCI function of a package
 * @devfn: device and function number
 * @bus: bus of the function in the list of the package's buses
 * @id: device ID
 * @class_code: class code
 * @type: name of the box type of @box
 * @box: the function exists if this box exists in the package
 * @pmon: the function has the box's PMON registers, and the faults of the box apply
 * @missing: bit of MODEL_MISSING_* with which a package lacks the function
 * @below: the function is a root port, the only one of its bus, and this is the index of the bus
 *	below, model_generation.nbuses or more; 0: it is no root port
 * @pcie: the function has a PCI Express capability and therefore 4096 bytes of space
 * @regs: registers of the function; NULL: the registers of the box if @pmon, or none
 * @nregs: number of @regs
 */
struct model_function {
	u8 devfn;
	u8 bus;
	u16 id;
	u32 class_code;
	const char *type;
	u8 box;
	bool pmon, pcie;
	u8 below;
	u8 missing;
	const struct model_reg *regs;
	u16 nregs;
};

/*
 * Count of a counter from flows. The sum of the flows has the value model_plan.steady in
 * some cycles, and one more in the others (high cycles).
 */
enum model_rates_shape {
	RATES_SUM,		/* all transactions: no threshold is set */
	RATES_ALWAYS,		/* 1 in every cycle */
	RATES_NEVER,		/* 0 */
	RATES_HIGH,		/* 1 in each high cycle */
	RATES_LOW,		/* 1 in each other cycle */
};

/**
 * struct model_plan - increments of an enabled counter
 * @period: cycles until @inc repeats
 * @inc: increment in each cycle of a period
 * @sum: sum of @inc over a period
 * @heads: number of cycles from @head_from on in which @head replaces @inc
 * @head: increments in these cycles
 * @head_from: cycle of the box's clock
 * @rated: the counter counts flows (model/rate.c), and the members above are unused
 * @shape: the way in which the counter counts flows, enum model_rates_shape
 * @steady: smallest sum of the flows in a cycle; the sum is one more in some cycles
 * @flows: the flows that the counter counts, a bit each
 */
struct model_plan {
	u8 period;
	u16 inc[MODEL_WAVE_MAX];
	u32 sum;
	u8 heads;
	u16 head[MODEL_WAVE_MAX];
	u64 head_from;
	bool rated;
	u8 shape;
	u16 steady;
	u32 flows[MODEL_MAX_FLOWS / 32];
};

/**
 * struct model_flow - transactions that pass a box at a rate
 * @txn: properties of the transactions
 * @rate: number of transactions in a cycle
 * @rest: fraction of the next transaction that has passed at cycle @from, in parts of
 *	MODEL_RATE_ONE
 * @from: cycle of the box's clock from which on @rate applies
 */
struct model_flow {
	struct model_txn txn;
	struct model_rate rate;
	u32 rest;
	u64 from;
};

/**
 * struct model_box - state of a box
 * @type: the box type
 * @pkg: package of the box
 * @index: number of the box in its package
 * @faults: faults that are on, a bit for each enum model_fault
 * @twice_ctl: 1 plus the number of the control register whose last write waits for a
 *	second write with the same value; 0: none
 * @twice_value: value of that write
 * @held: counters that .rst holds at 0, a bit each
 * @active: counters that are enabled, a bit each
 * @armed: counters of @active that signal an overflow to the UBox, a bit each
 * @status: box status
 * @box_ctl: box control, which software reads as 0
 * @ctl: control registers in effect; the upper halves of joint registers
 * @filter: filter registers
 * @ctr: counters
 * @free_from: cycle of the box's clock in which a free-running counter was 0; with
 *	@only_rates the value of the counter
 * @free_count: value of a free-running counter that counts an event
 * @cleared: for each entry of model_type.queues, 1 plus the cycle of the box's clock at
 *	whose beginning software last cleared the occupancy; 0: never
 * @stamp: cycle of the model's time up to which @ctr and @status have been brought
 * @frozen_at: time at which software last set .frz, in ns
 * @counting: the box has enabled counters and is not frozen
 * @paused_at: time at which the box last stopped counting, in ns; 0: never
 * @plan: increments of each counter of @active
 * @flow: the rates of the box
 * @flows: number of @flow
 * @only_rates: events without a rate count 0
 */
struct model_box {
	const struct model_type *type;
	u8 pkg, index;
	u8 faults;
	u8 twice_ctl;
	u64 twice_value;
	u8 held, active, armed;
	u32 status, box_ctl;
	u64 ctl[MODEL_MAX_COUNTERS];
	u32 filter[MODEL_MAX_FILTERS];
	u64 ctr[MODEL_MAX_COUNTERS];
	u64 free_from[MODEL_MAX_FREE], free_count[MODEL_MAX_FREE];
	u64 cleared[MODEL_MAX_QUEUES];
	u64 stamp;
	u64 frozen_at;
	bool counting;
	u64 paused_at;
	struct model_plan plan[MODEL_MAX_COUNTERS];
	struct model_flow *flow;
	u8 flows;
	bool only_rates;
};

/* Consequences of an overflow that is signalled to the UBox, in this order */
enum model_stage { STAGE_FREEZE, STAGE_STATUS, STAGE_PMI, STAGES };

#define MODEL_MAX_MESSAGES	4
#define MODEL_MAX_ADDRESSES	5	/* REG_MEMORY_BASE, and REG_MEMORY_BAR of four controllers */

/**
 * struct model_message - an overflow that was signalled to the UBox
 * @bits: bits that the overflow sets in U_MSR_PMON_GLOBAL_STATUS
 * @pmi: the UBox sends a PMI at the end
 * @stage: next stage, enum model_stage
 * @at: for each stage, the cycle of the model's time at the end of which it is due
 */
struct model_message {
	u64 bits;
	bool pmi;
	u8 stage;
	u64 at[STAGES];
};

/*
 * @num cycles of a clock pass in @den cycles of the model's time. The two numbers have no
 * common divisor.
 */
struct model_ratio {
	u32 num, den;
};

/**
 * struct model_package - global registers and state of a package, which its UBox manages
 * @status: U_MSR_PMON_GLOBAL_STATUS; atomic, because an NMI handler reads and clears it
 *	without the model's lock
 * @ctl: U_MSR_PMON_GLOBAL_CTL; atomic, because an NMI handler reads it without the lock
 * @config: U_MSR_PMON_GLOBAL_CONFIG
 * @frozen: all boxes are frozen
 * @by_overflow: an overflow froze the package, not software
 * @frozen_at: time of the last freeze or unfreeze, in ns
 * @message: overflows with a pending stage
 * @messages: number of @message
 * @address: the registers REG_MEMORY_* by their index. Firmware writes them once; the window
 *	does not move if software writes them
 * @uclk: the present frequency of UCLK by its ratio to the nominal frequency
 * @uclk_khz: the present frequency of UCLK; 0: it is stopped
 * @uclk_from: cycle of the model's time at which the frequency last changed
 * @uclk_cycles: UCLK cycles up to @uclk_from
 */
struct model_package {
	u64 status, ctl;
	u32 config;
	bool frozen, by_overflow;
	u64 frozen_at;
	struct model_message message[MODEL_MAX_MESSAGES];
	u8 messages;
	u32 address[MODEL_MAX_ADDRESSES];
	struct model_ratio uclk;
	u32 uclk_khz;
	u64 uclk_from, uclk_cycles;
};

/**
 * struct model - the machine
 * @cfg: the configuration
 * @gen: the generation
 * @ops: functions of the front
 * @ctx: argument of @ops
 * @first: index of the first box of each type in box[pkg]
 * @count: number of boxes of each type in a package
 * @boxes: number of boxes of a package
 * @ratio: nominal frequency of each clock by its ratio to UCLK
 * @delays: delays of overflows
 * @told: packages in which the last stage of an overflow has passed, a bit each; see
 *	model_told()
 * @cycles: the model's time, in cycles of the nominal UCLK
 * @deadline: cycle at the end of which the next armed counter overflows, or the next
 *	stage of a message is due
 * @deadline_known: @deadline is up to date
 * @frozen_ns: time that packages spent frozen by overflows until their unfreezes
 * @paused_ns: time that boxes which count again had not counted (model_box.counting)
 * @pkg: the packages
 * @box: the boxes of each package
 */
struct model {
	struct model_config cfg;
	const struct model_generation *gen;
	struct model_ops ops;
	void *ctx;
	u8 first[MODEL_MAX_TYPES], count[MODEL_MAX_TYPES];
	unsigned int boxes;
	struct model_ratio ratio[MODEL_CLOCKS];
	struct model_delays delays;
	u32 told;
	u64 cycles;
	u64 deadline;
	bool deadline_known;
	u64 frozen_ns, paused_ns;
	struct model_package pkg[MODEL_MAX_PACKAGES];
	struct model_box box[MODEL_MAX_PACKAGES][MODEL_MAX_BOXES];
};

/**
 * struct model_selection - the event that a counter has selected
 * @code: event select, with the extension bit as bit 8
 * @umask: unit mask
 * @ctl: value of the control register that selects the event
 * @ctr: number of that control register; 0 if the counter has the relay event
 *	(model_type.relay)
 */
struct model_selection {
	u64 ctl, umask;
	u32 code;
	unsigned int ctr;
};

/* Threshold, .invert and .edge_det of a control register (§1.4) */
struct model_shape {
	u32 thresh;
	bool invert, edge;
};

static inline bool model_one_bit(u64 value)
{
	return value && !(value & (value - 1));
}

/*
 * The files of the model from the lowest layer to the highest. A file calls only functions
 * of the files above it in this list.
 */

/* model/box.c */
u32 model_node_map(const struct model_config *c);
u32 model_config_reset(const struct model *m);
struct model_box *model_box(struct model *m, unsigned int pkg,
			    unsigned int box_type, unsigned int index);
u64 model_now_ns(const struct model *m);
unsigned int model_boxes_named(const struct model *m, const char *name);
bool model_function_of(const struct model_function *f, const struct model_box *b);
unsigned int model_in_function(const struct model_type *type);
bool model_in_msrs(const struct model_type *type);
unsigned int model_status_shift(const struct model_box *b);
u32 model_own_status(const struct model_box *b);
bool model_reg_shared(const struct model_reg *r);
bool model_reg_of(const struct model_box *b, const struct model_reg *r);
const struct model_reg *model_type_regs(const struct model *m,
					const struct model_type *type,
					unsigned int *count);

u64 model_memory_window(const struct model_config *c, unsigned int pkg);

/* model/clock.c */
void model_init_clocks(struct model *m);
u64 model_box_cycles(const struct model *m, const struct model_box *b, u64 at);
u64 model_box_uclk(const struct model *m, const struct model_box *b,
		   u64 cycles);
void model_change_uclk(struct model *m, unsigned int pkg, u32 khz);

/* model/event.c */
const struct model_wave *model_find_event(const struct model_type *type,
					  u32 code, unsigned int *count);
bool model_knows_event(const struct model_type *type, u32 code);
struct model_selection model_selected(const struct model_box *b,
				      unsigned int ctr);
struct model_shape model_shape_of(const struct model_box *b, unsigned int ctr);
u64 model_filter_field(const struct model_box *b, const struct model_filter *f, u64 ctl);

/* model/txn.c */
u64 model_attribute(const struct model_txn *t, unsigned int attr,
		    const struct model_filter *f);
bool model_field_passes(unsigned int op, u64 field, u64 attr);

/* model/joint.c */
bool model_joint_valid(const struct model_type *type);
void model_joint_plan(const struct model_box *b, unsigned int ctr,
		      struct model_plan *p);
bool model_joint_takes(const struct model_box *b, unsigned int ctr,
		       const struct model_txn *t);

/* model/match.c */
bool model_takes(const struct model_box *b, unsigned int ctr,
		 const struct model_txn *t);

/* model/rate.c */
u64 model_flow_passed(const struct model_flow *f, u64 cycle, u32 *rest);
struct model_flow *model_find_flow(const struct model_box *b,
				   const struct model_txn *t);
bool model_plan_takes(const struct model_plan *p, unsigned int flow);
bool model_plan_rates(const struct model_box *b, unsigned int ctr, u32 code,
		      u32 thresh, bool invert, bool edge, struct model_plan *p);
u64 model_rates_count(const struct model_box *b, const struct model_plan *p,
		      u64 from, u64 cycles);
u64 model_rates_reach(const struct model_box *b, const struct model_plan *p,
		      u64 from, u64 need);
void model_restart_rates(struct model_box *b);

bool model_plan_free_rates(const struct model_box *b, u32 code, u64 umask,
			   struct model_plan *p);

/* model/wave.c */
bool model_waves_valid(const struct model_type *type);
void model_clear_queue(const struct model *m, struct model_box *b, u32 code);
void model_plan_counter(const struct model_box *b, unsigned int ctr,
			struct model_plan *p);
u64 model_plan_count(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 cycles);
u64 model_plan_reach(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 need);

/* model/free.c */
void model_free_sync(struct model_box *b, u64 from, u64 cycles);
void model_free_traffic(struct model_box *b, const struct model_txn *t, u64 count);

/* model/sync.c */
unsigned int model_ctr_bits(const struct model *m, const struct model_box *b,
			    unsigned int ctr);
void model_count_on(const struct model *m, struct model_box *b,
		    unsigned int ctr, u64 count, bool over);
u32 model_status_bit(const struct model_box *b, unsigned int ctr);
bool model_box_counts(const struct model *m, const struct model_box *b);
unsigned int model_box_sync(const struct model *m, struct model_box *b);
void model_box_changed(struct model *m, struct model_box *b);
u64 model_box_deadline(const struct model *m, const struct model_box *b);
void model_set_frozen(struct model *m, unsigned int pkg, bool frozen);

/* model/overflow.c */
u64 model_global_bits(const struct model_box *b, unsigned int ctr);
u64 model_status_to_be(const struct model *m, unsigned int pkg);
void model_note_overflow(const struct model *m, const struct model_box *b,
			 unsigned int ctrs, struct model_message *message);
bool model_serve_messages(struct model *m, unsigned int pkg);
void model_post_message(struct model *m, unsigned int pkg,
			struct model_message *message);
bool model_overflow(struct model *m, struct model_box *b, unsigned int ctrs);
u64 model_message_deadline(const struct model_package *p);

/* model/joint_global.c */
u64 model_joint_global_read(const struct model *m, unsigned int pkg);
void model_joint_global_write(struct model *m, unsigned int pkg, u64 value);
bool model_joint_global_undefined(u64 value);

/* model/regs.c */
u64 model_reg_read(const struct model *m, const struct model_box *b,
		   const struct model_reg *r);
bool model_reg_dirty(const struct model *m, const struct model_box *b,
		     const struct model_reg *r, u64 *value);
int model_reg_write(struct model *m, struct model_box *b,
		    const struct model_reg *r, u64 value, u64 mask);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the model: the tables of a generation, and the state of a
 * simulated box. Not for the fronts.
 */
#ifndef XEON_UNCORE_SIM_MODEL_PRIV_H
#define XEON_UNCORE_SIM_MODEL_PRIV_H

#include "model/model.h"

#define MODEL_BIT(n)		(1u << (n))
#define MODEL_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

#define MODEL_FIXED		4	/* index of a box's fixed counter */
#define MODEL_MAX_BOXES		52	/* of a package */
#define MODEL_MAX_FILTERS	8	/* filter registers of a box */
#define MODEL_MAX_FREE		3	/* free-running counters of a box */
#define MODEL_MAX_QUEUES	4	/* whose occupancy software can clear */

/*
 * Fields of a counter's control register. The layout is the same in all boxes (§1.2),
 * except that some lack a field and that the PCU has another one (below);
 * model_reg.keep has the fields of a register.
 */
#define CTL_EV_SEL		0x000000ffu
#define CTL_UMASK		0x0000ff00u
#define CTL_UMASK_SHIFT		8
#define CTL_Q_OCC_RST		MODEL_BIT(16)	/* 329468, Table 2-40 */
#define CTL_RST			MODEL_BIT(17)
#define CTL_EDGE_DET		MODEL_BIT(18)
#define CTL_TID_EN		MODEL_BIT(19)
#define CTL_OV_EN		MODEL_BIT(20)
#define CTL_EV_SEL_EXT		MODEL_BIT(21)
#define CTL_EN			MODEL_BIT(22)
#define CTL_INVERT		MODEL_BIT(23)
#define CTL_THRESH_SHIFT	24

/* The PCU's, Table 2-158 */
#define CTL_OCC_EVENT		MODEL_BIT(7)	/* in ev_sel */
#define CTL_OCC_SEL		0x0000c000u
#define CTL_OCC_INVERT		MODEL_BIT(30)
#define CTL_OCC_EDGE_DET	MODEL_BIT(31)

#define BOX_CTL_RST_CTRL	MODEL_BIT(0)
#define BOX_CTL_RST_CTRS	MODEL_BIT(1)
#define BOX_CTL_FRZ		MODEL_BIT(8)
#define BOX_CTL_FRZ_EN		MODEL_BIT(16)	/* 327043, Table 2-9 */

/* U_MSR_PMON_GLOBAL_CTL, Table 2-2 */
#define GLOBAL_CTL_UNFRZ_ALL	MODEL_BIT(29)
#define GLOBAL_CTL_WK_ON_PMI	MODEL_BIT(30)
#define GLOBAL_CTL_FRZ_ALL	MODEL_BIT(31)

enum model_reg_type {
	REG_BOX_CTL, REG_STATUS, REG_CTL, REG_CTR, REG_FILTER,
	REG_FREE,		/* a free-running counter */
	REG_GLOBAL_CTL, REG_GLOBAL_STATUS, REG_GLOBAL_CONFIG,
	REG_CONST,		/* reads @keep */
	REG_NODE_ID,		/* reads the package's node id */
	REG_NODE_MAP,		/* reads those of all packages */
	REG_DIE,		/* reads @keep except on a die with few SBos: 0 */
	REG_ABSENT,		/* other generations have a register there: must not be accessed */
	REG_JOINT,		/* a counter below its control; the masks are those of the control */
	REG_JOINT_GLOBAL,	/* freezes, clears and reports all of these */
};

/**
 * struct model_reg - a register, by its table in the manual
 * @at: MSR number, or offset from the box's first; offset in PCI space
 * @bytes: size in PCI space
 * @type, @index: its meaning
 * @box: its box if a PCI function has several boxes: 0 for the first of them
 * @keep: bits that keep written values; of a status register those that a
 *	written 1 clears (RW1C)
 * @wo: bits that act when written as 1 and read as 0
 * @zero, @one: bits whose other value the manual calls undefined behaviour
 * @name: for output
 */
struct model_reg {
	u32 at;
	u8 bytes;
	u8 type;
	u8 index;
	u8 box;
	u32 keep, wo, zero, one;
	const char *name;
};

/* How a filter compares its field with a transaction */
enum model_filter_op {
	FILTER_EQUAL,		/* the attribute equals the field */
	FILTER_MEETS,		/* they have a bit in common */
	FILTER_MEETS_IF_SET,	/* the same, but a field of 0 filters nothing */
	FILTER_NEEDS,		/* a field of 1 asks for the attribute */
	FILTER_REACHES,		/* the attribute is at least the field */
	FILTER_PACKET,		/* QPI match and mask registers */
	FILTER_UMASK,		/* no field: without @umask nothing counts */
	FILTER_EQUAL_IF_SET,	/* equal, but a field of 0 filters nothing */
	FILTER_FILL,		/* 1: any but 0; 2, 3: equal; 0 filters nothing */
	FILTER_CORES,		/* GSNPQ's core_select: two cores ... */
	FILTER_MODULES,		/* ... or three modules */
};

/* The attribute of struct model_txn that a filter compares */
enum model_attr {
	ATTR_NONE, ATTR_TID, ATTR_STATE, ATTR_LINK, ATTR_NID, ATTR_OPC,
	ATTR_NC, ATTR_C6, ATTR_ISOC, ATTR_ADDR, ATTR_FREQ,
	ATTR_AGENT, ATTR_FLOW, ATTR_TYPE, ATTR_SNOOP, ATTR_CORE, ATTR_FILL,
	ATTR_CROSS, ATTR_BLOCK,
};

/**
 * struct model_filter - a filter register's effect on an event; or, of a joint
 * register, a condition in its upper half: @op, @attr, @shift and @width
 * @first, @last: the events that it applies to
 * @umask: it applies when the counter's umask has one of these bits; 0: always
 * @ctl: it applies when the control register has these bits
 * @drop_umask: @umask stands for the filter and is not a property itself
 * @op, @attr: the comparison
 * @reg, @shift, @width: the field; 64 bits of two registers may be spanned
 */
struct model_filter {
	u16 first, last;
	u8 umask;
	u32 ctl;
	bool drop_umask;
	u8 op, attr;
	u8 reg, shift, width;
};

/* Quirks of a box type */
#define QUIRK_NARROW		MODEL_BIT(0) /* counter_bits wide */
#define QUIRK_WRITE_TWICE	MODEL_BIT(1) /* §2.4.2.2 §2.10.2.2 §2.11.2.2 */
#define QUIRK_RST_STICKS	MODEL_BIT(2) /* §2.9.2.2 */
#define QUIRK_ONE_BIT_A_WRITE	MODEL_BIT(3) /* of the SBo's box control */
#define QUIRK_WRITE_WHOLE	MODEL_BIT(5) /* §2.4.1 §2.11.1 */
#define QUIRK_OCCUPANCY		MODEL_BIT(4) /* §2.8.2.2, the PCU's fields */
#define QUIRK_NO_STATUS		MODEL_BIT(6) /* overflows set no bit */
#define QUIRK_JOINT		MODEL_BIT(7) /* one register: control and count */

/**
 * struct model_type - a box type
 * @name: as in PMU names
 * @numbered: the name carries the box's number
 * @pci: its registers are in PCI configuration space
 * @quirks: QUIRK_*
 * @counters: general counters
 * @has_fixed: it has a fixed counter as well
 * @status_shift: bit of counter 0 in the status register
 * @fixed_status: status bit of the fixed counter, 0: it has none
 * @thresh: largest threshold
 * @queues: events that are the occupancy of a queue, which .q_occ_rst clears; 0:
 *	no more
 * @relay: event that repeats on any counter the raw value of counter 0's
 *	event (§2.3.1.1); 0: none
 * @first, @last: MSRs of all boxes of the type, for a quick check
 * @base, @stride: MSR of the first box, distance to the next; of a single box
 *	the register table has the MSR numbers themselves
 * @in_function: boxes that a PCI function has, which share box control and
 *	status; 0: one
 * @regs: the registers
 * @other_regs: those of model_config.irp_counters 1 and 2, where they differ
 * @filters: the filters
 * @waves: the events
 * @ov: the global status bits of each box, or NULL
 * @ov_fixed: those of the fixed counter where they differ
 * @clock: enum model_clock
 * @subevents: of a joint register's upper half, bits that are each an event
 * @must: bits without which it counts nothing
 * @saturate: bit with which it stops at its end; 0: none
 */
struct model_type {
	const char *name;
	bool numbered, pci;
	u8 quirks;
	u8 counters;
	bool has_fixed;
	u8 status_shift;
	u8 fixed_status;
	u8 thresh;
	u16 queues[MODEL_MAX_QUEUES];
	u16 relay;
	u32 first, last;
	u32 base, stride;
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
 * @devfn, @io_bus: where it is
 * @id, @class_code: device ID and class code
 * @box_type, @box: the function exists when this box does
 * @pmon: it is the box itself: faults of the box apply
 * @missing: its bit of MODEL_MISSING_*
 * @pcie: has a PCI Express capability and therefore 4096 bytes of space
 * @regs: its registers, those of the box if NULL
 */
struct model_function {
	u8 devfn;
	bool io_bus;
	u16 id;
	u32 class_code;
	u8 box_type, box;
	bool pmon, pcie;
	u8 missing;
	const struct model_reg *regs;
	u16 nregs;
};

/* Increment of a counter from flows: all transactions, or cycles by their value */
enum model_rates_shape {
	RATES_SUM, RATES_ALWAYS, RATES_NEVER, RATES_HIGH, RATES_LOW,
};

/**
 * struct model_plan - increments of an enabled counter
 * @period: cycles until @inc repeats
 * @inc: increment in each cycle
 * @sum: of a period
 * @head: increments instead in the @heads cycles from @head_from on
 * @rated: none of these, but flows: model/rate.c
 * @shape: how it counts them, enum model_rates_shape
 * @steady: their value in every cycle, which is one more in some
 * @flows: flows that it counts, a bit each
 */
struct model_plan {
	u8 period;
	u8 inc[MODEL_WAVE_MAX];
	u16 sum;
	u8 heads;
	u8 head[MODEL_WAVE_MAX];
	u64 head_from;
	bool rated;
	u8 shape;
	u16 steady;
	u32 flows[MODEL_MAX_FLOWS / 32];
};

/**
 * struct model_flow - transactions that pass a box at a rate
 * @txn: their properties
 * @rate: transactions a cycle
 * @rest: fraction of the next one at @from, in MODEL_RATE_ONE
 * @from: cycle of the box's clock
 */
struct model_flow {
	struct model_txn txn;
	struct model_rate rate;
	u32 rest;
	u64 from;
};

/**
 * struct model_box - state of a box
 * @cleared: of each queue of the type, 1 and the cycle of the box's clock at whose
 *	beginning its occupancy was last cleared; 0: never
 * @stamp: the cycle of the model's time up to which @ctr and @status are accounted
 * @frozen_at: time at which .frz was last set
 * @ctl: the control registers in effect; the upper halves of joint ones
 * @box_ctl: value last written
 * @free_from: cycle of the box's clock in which a free-running counter was 0;
 *	with @only_rates its value
 * @twice_ctl, @twice_value: control register (from 1) that was written last,
 *	and its value, of which a part waits for the second write; 0: none
 * @held: counters that .rst holds at 0
 * @active: counters with increments while the box counts
 * @armed: those of @active that signal an overflow to the UBox
 * @flow, @flows: its rates
 * @only_rates: events without a rate count nothing
 */
struct model_box {
	const struct model_type *type;
	u8 pkg, index;
	u8 faults;
	u8 twice_ctl;
	u32 twice_value;
	u8 held, active, armed;
	u32 status, box_ctl;
	u32 ctl[MODEL_MAX_COUNTERS];
	u32 filter[MODEL_MAX_FILTERS];
	u64 ctr[MODEL_MAX_COUNTERS];
	u64 free_from[MODEL_MAX_FREE];
	u64 cleared[MODEL_MAX_QUEUES];
	u64 stamp;
	u64 frozen_at;
	struct model_plan plan[MODEL_MAX_COUNTERS];
	struct model_flow *flow;
	u8 flows;
	bool only_rates;
};

/* Consequences of an overflow, in this order */
enum model_stage { STAGE_FREEZE, STAGE_STATUS, STAGE_PMI, STAGES };

#define MODEL_MAX_MESSAGES	4

/**
 * struct model_message - an overflow that was signalled to the UBox
 * @bits: bits that it sets in U_MSR_PMON_GLOBAL_STATUS
 * @pmi: it is followed by a PMI
 * @stage: next stage
 * @at: the cycle at the end of which each stage is
 */
struct model_message {
	u64 bits;
	bool pmi;
	u8 stage;
	u64 at[STAGES];
};

/* @num cycles of a clock pass in @den cycles of the model's time; no common divisor. */
struct model_ratio {
	u32 num, den;
};

/**
 * struct model_package - state of a package's UBox as the uncore's manager
 * @status, @ctl: U_MSR_PMON_GLOBAL_STATUS and _CTL; atomic, because an NMI
 *	handler reads both and clears @status without the model's lock
 * @config: U_MSR_PMON_GLOBAL_CONFIG
 * @frozen: all boxes are frozen, since @frozen_at
 * @by_overflow: an overflow froze them
 * @message, @messages: overflows that are pending
 * @uclk, @uclk_khz: the frequency of UCLK, 0: it is stopped
 * @uclk_from: cycle of the model's time at which that changed
 * @uclk_cycles: UCLK cycles until then
 */
struct model_package {
	u64 status;
	u32 ctl, config;
	bool frozen, by_overflow;
	u64 frozen_at;
	struct model_message message[MODEL_MAX_MESSAGES];
	u8 messages;
	struct model_ratio uclk;
	u32 uclk_khz;
	u64 uclk_from, uclk_cycles;
};

/**
 * struct model - the machine
 * @gen: its generation
 * @first, @count: boxes of a type in a package's part of @box
 * @boxes: boxes of a package
 * @ratio: the clocks
 * @delays: of overflows
 * @told: packages whose freeze software was notified of, a bit each
 * @cycles: the time, in cycles of the nominal UCLK
 * @deadline: cycle at the end of which the next armed counter overflows
 * @deadline_known: @deadline is up to date
 * @frozen_ns: time that packages spent frozen by overflows
 */
struct model {
	struct model_config cfg;
	const struct model_generation *gen;
	struct model_ops ops;
	void *ctx;
	u8 first[MODEL_BOX_TYPES], count[MODEL_BOX_TYPES];
	unsigned int boxes;
	struct model_ratio ratio[MODEL_CLOCKS];
	struct model_delays delays;
	u32 told;
	u64 cycles;
	u64 deadline;
	bool deadline_known;
	u64 frozen_ns;
	struct model_package pkg[MODEL_MAX_PACKAGES];
	struct model_box box[MODEL_MAX_PACKAGES][MODEL_MAX_BOXES];
};

/**
 * struct model_selection - the event that a counter has selected
 * @code, @umask: the event
 * @ctl: the control register that selects it
 * @ctr: its counter; another one where @relay applies
 */
struct model_selection {
	u32 code, umask, ctl;
	unsigned int ctr;
};

/* A comparison that a control register applies to an event's value (§1.4). */
struct model_shape {
	u32 thresh;
	bool invert, edge;
};

static inline bool model_one_bit(u32 value)
{
	return value && !(value & (value - 1));
}

/*
 * The files from the lowest layer to the highest: each uses those above it only.
 */

/* model/box.c */
u32 model_node_map(const struct model_config *c);
u32 model_config_reset(const struct model *m);
struct model_box *model_box(struct model *m, unsigned int pkg,
			    unsigned int box_type, unsigned int index);
u64 model_now_ns(const struct model *m);
unsigned int model_in_function(const struct model_type *type);
unsigned int model_status_shift(const struct model_box *b);
u32 model_own_status(const struct model_box *b);
bool model_reg_shared(const struct model_reg *r);
bool model_reg_of(const struct model_box *b, const struct model_reg *r);
const struct model_reg *model_type_regs(const struct model *m,
					const struct model_type *type,
					unsigned int *count);

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
u64 model_filter_field(const struct model_box *b, const struct model_filter *f);

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

/* model/wave.c */
bool model_waves_valid(const struct model_type *type);
void model_clear_queue(const struct model *m, struct model_box *b, u32 code);
void model_plan_counter(const struct model_box *b, unsigned int ctr,
			struct model_plan *p);
u64 model_plan_count(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 cycles);
u64 model_plan_reach(const struct model_box *b, const struct model_plan *p,
		     u64 from, u64 need);

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
			 unsigned int ctrs, struct model_message *word);
bool model_serve_messages(struct model *m, unsigned int pkg);
void model_post_message(struct model *m, unsigned int pkg,
			struct model_message *word);
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

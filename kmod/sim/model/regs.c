// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of the boxes and packages: the value of a read, and the effect of a write.
 */
#include "model/priv.h"

/*
 * Return whether the manual calls the effect of a write undefined: a bit that must be 0 is
 * written as 1, or a bit that must be 1 as 0. In a box control with QUIRK_ONE_BIT_A_WRITE
 * software sets the bits that must be 1 one after another, so a write that sets such a bit
 * may leave out the others.
 */
static bool undefined_write(const struct model_box *b,
			    const struct model_reg *r, u64 value, u64 mask)
{
	u64 missing;

	if (r->type == REG_JOINT_GLOBAL)
		return model_joint_global_undefined(value);
	if (r->type == REG_JOINT) {
		/* a control of 0 is off and needs no bits set */
		value >>= 32;
		return (value & r->zero) || (value && (~value & r->one));
	}
	missing = ~value & r->one & mask;
	if ((b->type->quirks & QUIRK_ONE_BIT_A_WRITE) &&
	    (value & ~b->box_ctl & r->one))
		missing = 0;
	return missing || (value & r->zero);
}

static const char *undefined_text(const struct model_reg *r)
{
	switch (r->type) {
	case REG_BOX_CTL:
		return "reserved bit of a box control not as it must be";
	case REG_STATUS:
		return "reserved bit of a box status written";
	case REG_CTL:
		return "reserved bit of a counter's control written";
	case REG_JOINT:
		return "reserved bit of a counter's control written, or bit 58 left out";
	case REG_FILTER:
		return "reserved bit of a filter written";
	case REG_ABSENT:
		return "write of a register that is not there";
	default:
		return "reserved bit of the global control written";
	}
}

/* Bits of a free-running counter */
static u64 free_mask(const struct model_box *b, const struct model_reg *r)
{
	if (r->bits)
		return (1ULL << r->bits) - 1;
	return b->type->pci ? 0xffffffffu : U64_MAX;
}

/* Return whether the die is the one with the least boxes of model_generation.die. */
static bool die_is_smallest(const struct model *m)
{
	unsigned int i = m->gen->die ? model_find_type(m->gen, m->gen->die) :
				       MODEL_MAX_TYPES;

	return i == MODEL_MAX_TYPES || m->count[i] == m->gen->types[i].boxes.least;
}

/* Return whether a package has a function on a bus. */
static bool bus_used(const struct model *m, unsigned int bus)
{
	const struct model_function *f = m->gen->functions, *end = f + m->gen->nfunctions;

	for (; f < end; f++)
		if (f->bus == bus && f->box < model_boxes_named(m, f->type))
			return true;
	return false;
}

/* Return the numbers of a package's root buses, a byte each; 0 for a bus without functions. */
static u64 bus_numbers(const struct model *m, unsigned int pkg)
{
	u64 numbers = 0;
	unsigned int i;

	for (i = 0; i < m->gen->nbuses; i++)
		if (bus_used(m, i))
			numbers |= (u64)model_bus_number(&m->cfg, pkg, i) << (8 * i);
	return numbers;
}

/*
 * Return the package at the other end of a link, which has the same number there, or the
 * number of packages for a link without another end. Two packages have all links between them,
 * four are all connected, and more packages are the corners of a cube.
 */
static unsigned int link_peer(const struct model *m, const struct model_box *b)
{
	unsigned int distance = 1, packages = m->cfg.packages, peer;

	if (packages > 4)
		distance = 1 << b->index;
	else if (packages > 2)
		distance = b->index + 1;
	peer = b->pkg ^ distance;
	return peer < packages ? peer : packages;
}

static u32 node_id(const struct model *m, unsigned int pkg)
{
	return model_node_map(&m->cfg) >> (3 * (pkg % MODEL_NODES)) & 7;
}

static u64 read_link(const struct model *m, const struct model_box *b,
		     const struct model_reg *r)
{
	unsigned int peer = link_peer(m, b);

	if (peer == m->cfg.packages)
		return 0;
	if (r->type == REG_LINK_STATUS)
		return r->keep;
	return node_id(m, peer) << 16 | (u32)b->index << 8;
}

/*
 * Return the value of a register outside the boxes. An NMI handler reads the global control
 * and the global status without the model's lock.
 */
static u64 read_global(const struct model *m, unsigned int pkg,
		       const struct model_reg *r)
{
	const struct model_package *p = &m->pkg[pkg];

	switch (r->type) {
	case REG_GLOBAL_CTL:
		return __atomic_load_n(&p->ctl, __ATOMIC_SEQ_CST);
	case REG_GLOBAL_STATUS:
		return __atomic_load_n(&p->status, __ATOMIC_SEQ_CST);
	case REG_GLOBAL_CONFIG:
		return p->config;
	case REG_BOX_MASK:
		return ((1ULL << model_config_reset(m)) - 1) >> r->index;
	case REG_BUSES:
		return bus_numbers(m, pkg) >> (8 * r->index) | r->keep;
	case REG_PACKAGE:
		return r->keep | pkg;
	case REG_NODE_ID:
		return node_id(m, pkg);
	case REG_NODE_MAP:
		return model_node_map(&m->cfg);
	case REG_DIE:
		return die_is_smallest(m) ? 0 : r->keep;
	case REG_MEMORY_BASE:
	case REG_MEMORY_BAR:
		return p->address[r->index];
	default:
		return r->keep;
	}
}

/* Return the value of a register. The caller has synced the box. */
u64 model_reg_read(const struct model *m, const struct model_box *b,
		   const struct model_reg *r)
{
	switch (r->type) {
	case REG_BOX_CTL:
		return 0;
	case REG_STATUS:
		return b->status;
	case REG_CTL:
		return b->ctl[r->index];
	case REG_CTR:
		return b->ctr[r->index];
	case REG_JOINT:
		return (u64)b->ctl[r->index] << 32 | b->ctr[r->index];
	case REG_JOINT_GLOBAL:
		return model_joint_global_read(m, b->pkg);
	case REG_FILTER:
		return b->filter[r->index];
	case REG_FREE:
		if (r->counts)
			return b->free_count[r->index] & free_mask(b, r);
		if (b->only_rates)
			return b->free_from[r->index] & free_mask(b, r);
		return (model_box_cycles(m, b, m->cycles) -
			b->free_from[r->index]) & free_mask(b, r);
	case REG_LINK_STATUS:
	case REG_LINK_PEER:
		return read_link(m, b, r);
	default:
		return read_global(m, b->pkg, r);
	}
}

/*
 * Return whether a register differs from its reset value. State that a read does not show
 * is added to @value at its bits: .frz, .rst while it holds the counter, .frz_all.
 */
bool model_reg_dirty(const struct model *m, const struct model_box *b,
		     const struct model_reg *r, u64 *value)
{
	u64 reset = 0;

	*value = model_reg_read(m, b, r);
	switch (r->type) {
	case REG_BOX_CTL:
		*value = b->box_ctl & b->type->layout->frz;
		break;
	case REG_CTL:
		if (b->held & MODEL_BIT(r->index))
			*value |= r->wo;
		break;
	case REG_GLOBAL_CTL:
		if (m->pkg[b->pkg].frozen)
			*value |= m->gen->frz_all;
		break;
	case REG_GLOBAL_CONFIG:
		reset = model_config_reset(m);
		break;
	case REG_JOINT_GLOBAL:
		*value |= m->pkg[b->pkg].frozen;
		break;
	case REG_JOINT:
	case REG_STATUS:
	case REG_CTR:
	case REG_FILTER:
	case REG_GLOBAL_STATUS:
		break;
	default:
		return false;
	}
	return *value != reset;
}

/*
 * Write a box control: freeze or unfreeze the box, and reset its control registers
 * (.rst_ctrl) and counters (.rst_ctrs).
 */
static int write_box_ctl(struct model *m, struct model_box *b,
			 const struct model_reg *r, u32 value, u32 mask)
{
	const struct model_layout *l = b->type->layout;
	u32 now = (b->box_ctl & ~mask) | value;
	u32 set = now & ~b->box_ctl;

	if ((b->type->quirks & QUIRK_ONE_BIT_A_WRITE) && (set & (set - 1)))
		return MODEL_GP;
	/* in a box control with .frz_en, .frz has no effect without .frz_en */
	if ((r->wo & l->frz_en) && !(now & l->frz_en))
		now &= ~l->frz;
	if (now & ~b->box_ctl & l->frz)
		b->frozen_at = model_now_ns(m);
	b->box_ctl = now;
	value &= r->wo;
	if (value & l->rst_ctrl) {
		memset(b->ctl, 0, sizeof(b->ctl));
		b->held = 0;
	}
	if (value & l->rst_ctrs)
		memset(b->ctr, 0, sizeof(b->ctr));
	model_box_changed(m, b);
	return MODEL_OK;
}

/*
 * Return the new value of a control register whose bits @part need two writes. §2.4.2.2,
 * §2.10.2.2, §2.11.2.2: a new event select takes effect when it is written for the second
 * time in a row, and until then the register keeps the old event select. §2.4.1 and §2.11.1
 * require two writes of the whole register, "twice with the same value".
 */
static u64 take_twice(struct model_box *b, unsigned int ctr, u64 now, u64 part)
{
	u64 old = b->ctl[ctr];

	if (!((now ^ old) & part) ||
	    (b->twice_ctl == ctr + 1 && !((now ^ b->twice_value) & part))) {
		b->twice_ctl = 0;
		return now;
	}
	b->twice_ctl = ctr + 1;
	b->twice_value = now;
	return (now & ~part) | (old & part);
}

/* Return the bits of a control register that must be written twice. */
static u64 twice_part(const struct model *m, const struct model_box *b)
{
	if (m->cfg.write_whole && (b->type->quirks & QUIRK_WRITE_WHOLE))
		return U64_MAX;
	return b->type->quirks & QUIRK_WRITE_TWICE ? b->type->layout->ev_sel : 0;
}

/* Write the control register of a counter. */
static void write_ctl(struct model *m, struct model_box *b,
		      const struct model_reg *r, u64 value, u64 mask)
{
	u64 now = ((b->ctl[r->index] & ~mask) | value) & r->keep;
	u64 part = twice_part(m, b);

	if (mask & part)
		now = take_twice(b, r->index, now, part);
	b->ctl[r->index] = now;
	if (value & b->type->layout->q_occ_rst)
		model_clear_queue(m, b, model_field(now, b->type->layout->ev_sel));
	if (value & r->wo)
		b->ctr[r->index] = 0;
	if ((b->type->quirks & QUIRK_RST_STICKS) && (mask & r->wo)) {
		if (value & r->wo)
			b->held |= MODEL_BIT(r->index);
		else
			b->held &= ~MODEL_BIT(r->index);
	}
	model_box_changed(m, b);
}

static int write_ctr(struct model *m, struct model_box *b, unsigned int ctr,
		     u64 value, u64 mask)
{
	u64 size = 1ULL << model_ctr_bits(m, b, ctr);

	if (m->cfg.counter_gp && model_in_msrs(b->type) && value >= size)
		return MODEL_GP;
	if (b->held & MODEL_BIT(ctr))
		return MODEL_OK;
	b->ctr[ctr] = ((b->ctr[ctr] & ~mask) | value) & (size - 1);
	if (b->armed)
		m->deadline_known = false;
	return MODEL_OK;
}

/* Write a joint register: the control and the count at once. */
static void write_joint(struct model *m, struct model_box *b,
			const struct model_reg *r, u64 value)
{
	b->ctl[r->index] = (u32)(value >> 32) & r->keep;
	b->ctr[r->index] = (u32)value;
	model_box_changed(m, b);
}

static void write_global_ctl(struct model *m, unsigned int pkg, u64 value,
			     u64 keep)
{
	__atomic_store_n(&m->pkg[pkg].ctl, value & keep, __ATOMIC_SEQ_CST);
	if (value & m->gen->frz_all)
		model_set_frozen(m, pkg, true);
	else if (value & m->gen->unfrz_all)
		model_set_frozen(m, pkg, false);
}

/* Clear bits of the global status. Lock-free, for NMI handlers. */
static void clear_global_status(struct model *m, unsigned int pkg, u64 value)
{
	__atomic_fetch_and(&m->pkg[pkg].status, ~value, __ATOMIC_SEQ_CST);
}

/*
 * Write the bits @mask of a register. Return MODEL_OK, or MODEL_GP if the write faults. A
 * write whose effect the manual calls undefined is reported to the front.
 */
int model_reg_write(struct model *m, struct model_box *b,
		    const struct model_reg *r, u64 value, u64 mask)
{
	bool undefined = undefined_write(b, r, value, mask);
	int result = MODEL_OK;
	u32 *filter;

	if (r->type == REG_ABSENT) {
		if (m->ops.undefined)
			m->ops.undefined(m->ctx, b->pkg, undefined_text(r));
		return MODEL_GP;
	}

	if (r->type == REG_GLOBAL_STATUS) {
		clear_global_status(m, b->pkg, value);
		return MODEL_OK;
	}
	model_box_sync(m, b);
	if (b->twice_ctl && (r->type != REG_CTL || r->index + 1 != b->twice_ctl))
		b->twice_ctl = 0;

	switch (r->type) {
	case REG_BOX_CTL:
		result = write_box_ctl(m, b, r, value, mask);
		break;
	case REG_STATUS:
		if (!(b->faults & MODEL_BIT(MODEL_FAULT_STUCK_STATUS)))
			b->status &= ~(value & r->keep);
		if (b->armed)
			m->deadline_known = false;
		break;
	case REG_CTL:
		write_ctl(m, b, r, value, mask);
		break;
	case REG_CTR:
		result = write_ctr(m, b, r->index, value, mask);
		break;
	case REG_JOINT:
		write_joint(m, b, r, value);
		break;
	case REG_JOINT_GLOBAL:
		model_joint_global_write(m, b->pkg, value);
		break;
	case REG_FILTER:
		filter = &b->filter[r->index];
		*filter = ((*filter & ~mask) | value) & r->keep;
		model_box_changed(m, b);
		break;
	case REG_FREE:
		/* read-only in the PCU (§2.8.2.2), writable in QPI (Table 2-178) */
		if (!b->type->pci || r->counts)
			return model_in_msrs(b->type) ? MODEL_GP : MODEL_OK;
		value |= model_reg_read(m, b, r) & ~mask;
		if (!b->only_rates)
			value = model_box_cycles(m, b, m->cycles) - value;
		b->free_from[r->index] = value;
		break;
	case REG_GLOBAL_CTL:
		write_global_ctl(m, b->pkg, value, r->keep);
		break;
	case REG_GLOBAL_CONFIG:
		m->pkg[b->pkg].config = value & r->keep;
		break;
	case REG_MEMORY_BASE:
	case REG_MEMORY_BAR:
		m->pkg[b->pkg].address[r->index] &= ~mask;
		m->pkg[b->pkg].address[r->index] |= value;
		break;
	default:
		break;
	}
	if (undefined && result == MODEL_OK && m->ops.undefined)
		m->ops.undefined(m->ctx, b->pkg, undefined_text(r));
	return result;
}

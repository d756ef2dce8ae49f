// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers: which one an MSR number or a PCI address is, what it reads and
 * what a write does.  Where the registers are is in the generation's tables.
 */
#include "model/priv.h"

/* PCI configuration header, as far as a bus scan looks at it: its dwords */
#define HEADER_ID			0x00
#define HEADER_STATUS		0x04
#define HEADER_CLASS		0x08
#define HEADER_TYPE		0x0c
#define HEADER_SUBSYSTEM		0x2c
#define HEADER_CAPABILITIES	0x34
#define FIRST_CAPABILITY	0x40

#define VENDOR_INTEL		0x8086u
#define REVISION		2u
#define HAS_CAPABILITIES	MODEL_BIT(20)
#define MULTI_FUNCTION	MODEL_BIT(23)
/* capability 10h, version 2, root complex integrated endpoint */
#define EXPRESS_RC_ENDPOINT	0x00920010u

/*
 * Does the manual call a write's behaviour undefined?  Where bits can only be
 * set one by one, a write on the way to the wanted ones is not held against
 * software.
 */
static bool undefined_write(const struct model_box *b,
			    const struct model_reg *r, u64 value, u64 mask)
{
	u32 missing;

	if (r->kind == REG_JOINT_GLOBAL)
		return model_joint_global_undefined(value);
	if (r->kind == REG_JOINT) {
		/* a control of 0 is off, and asks for nothing */
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
	switch (r->kind) {
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

/* --- boxes that share a PCI function ---------------------------------------- */

unsigned int model_in_function(const struct model_type *type)
{
	return type->in_function ? type->in_function : 1;
}

/* Bit of a box's counter 0 in the status register. */
unsigned int model_status_shift(const struct model_box *b)
{
	return b->type->status_shift +
	       b->index % model_in_function(b->type) * b->type->counters;
}

/* Bits of the status register that are the box's. */
u32 model_own_status(const struct model_box *b)
{
	if (model_in_function(b->type) == 1)
		return ~0u;
	return (MODEL_BIT(b->type->counters) - 1) << model_status_shift(b);
}

static bool is_shared(const struct model_reg *r)
{
	return r->kind == REG_BOX_CTL || r->kind == REG_STATUS;
}

/* Is a register of the type's one of this box? */
bool model_reg_of(const struct model_box *b, const struct model_reg *r)
{
	return is_shared(r) || r->box == b->index % model_in_function(b->type);
}

/* The registers of a type's boxes, as they are on this machine. */
const struct model_reg *model_type_regs(const struct model *m,
					const struct model_type *type,
					unsigned int *count)
{
	unsigned int other = m->cfg.irp_counters;

	if (other && type->other_regs[other - 1]) {
		*count = type->nother_regs[other - 1];
		return type->other_regs[other - 1];
	}
	*count = type->nregs;
	return type->regs;
}

/* --- reading ------------------------------------------------------------ */

static u64 free_mask(const struct model_box *b)
{
	return b->type->pci ? 0xffffffffu : U64_MAX;
}

/* Registers outside the boxes: their readers may hold no lock. */
static u64 read_global(const struct model *m, unsigned int pkg,
		       const struct model_reg *r)
{
	const struct model_package *p = &m->pkg[pkg];

	switch (r->kind) {
	case REG_GLOBAL_CTL:
		return __atomic_load_n(&p->ctl, __ATOMIC_SEQ_CST);
	case REG_GLOBAL_STATUS:
		return __atomic_load_n(&p->status, __ATOMIC_SEQ_CST);
	case REG_GLOBAL_CONFIG:
		return p->config;
	case REG_NODE_ID:
		return model_node_map(&m->cfg) >> (3 * (pkg % MODEL_NODES)) & 7;
	case REG_NODE_MAP:
		return model_node_map(&m->cfg);
	case REG_DIE:
		return m->cfg.sboxes > m->gen->sboxes[0] ? r->keep : 0;
	default:
		return r->keep;
	}
}

static u64 read_reg(const struct model *m, const struct model_box *b,
		    const struct model_reg *r)
{
	switch (r->kind) {
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
		if (b->only_rates)
			return b->free_from[r->index] & free_mask(b);
		return (model_box_cycles(m, b, m->cycles) -
			b->free_from[r->index]) & free_mask(b);
	default:
		return read_global(m, b->pkg, r);
	}
}

/*
 * Does a register differ from its reset value?  State that does not read back
 * is shown where it is written: .frz, .rst while it sticks, .frz_all.
 */
bool model_reg_dirty(const struct model *m, const struct model_box *b,
		     const struct model_reg *r, u64 *value)
{
	u64 reset = 0;

	*value = read_reg(m, b, r);
	switch (r->kind) {
	case REG_BOX_CTL:
		*value = b->box_ctl & BOX_CTL_FRZ;
		break;
	case REG_CTL:
		if (b->held & MODEL_BIT(r->index))
			*value |= r->wo;
		break;
	case REG_GLOBAL_CTL:
		if (m->pkg[b->pkg].frozen)
			*value |= GLOBAL_CTL_FRZ_ALL;
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

/* --- writing: @mask has the bits that the access covers ----------------- */

static int write_box_ctl(struct model *m, struct model_box *b,
			 const struct model_reg *r, u32 value, u32 mask)
{
	u32 now = (b->box_ctl & ~mask) | value;
	u32 set = now & ~b->box_ctl;

	if ((b->type->quirks & QUIRK_ONE_BIT_A_WRITE) && (set & (set - 1)))
		return MODEL_GP;
	/* where there is .frz_en, .frz does nothing without it */
	if ((r->wo & BOX_CTL_FRZ_EN) && !(now & BOX_CTL_FRZ_EN))
		now &= ~BOX_CTL_FRZ;
	if (now & ~b->box_ctl & BOX_CTL_FRZ)
		b->frozen_at = model_now_ns(m);
	b->box_ctl = now;
	value &= r->wo;
	if (value & BOX_CTL_RST_CTRL) {
		memset(b->ctl, 0, sizeof(b->ctl));
		b->held = 0;
	}
	if (value & BOX_CTL_RST_CTRS)
		memset(b->ctr, 0, sizeof(b->ctr));
	model_box_changed(m, b);
	return MODEL_OK;
}

/*
 * §2.4.2.2, §2.10.2.2, §2.11.2.2: a new event select takes hold when it is
 * written for the second time in a row; until then the old one stays.  §2.4.1
 * and §2.11.1 say so of the register, "twice with the same value".  @part:
 * the bits that this is about.
 */
static u32 take_twice(struct model_box *b, unsigned int ctr, u32 now, u32 part)
{
	u32 old = b->ctl[ctr];

	if (!((now ^ old) & part) ||
	    (b->twice_ctl == ctr + 1 && !((now ^ b->twice_value) & part))) {
		b->twice_ctl = 0;
		return now;
	}
	b->twice_ctl = ctr + 1;
	b->twice_value = now;
	return (now & ~part) | (old & part);
}

/* The bits of a control register that must be written twice. */
static u32 twice_part(const struct model *m, const struct model_box *b)
{
	if (m->cfg.write_whole && (b->type->quirks & QUIRK_WRITE_WHOLE))
		return ~0u;
	return b->type->quirks & QUIRK_WRITE_TWICE ? CTL_EV_SEL : 0;
}

static void write_ctl(struct model *m, struct model_box *b,
		      const struct model_reg *r, u32 value, u32 mask)
{
	u32 now = ((b->ctl[r->index] & ~mask) | value) & r->keep;
	u32 part = twice_part(m, b);

	if (mask & part)
		now = take_twice(b, r->index, now, part);
	b->ctl[r->index] = now;
	if (value & CTL_Q_OCC_RST)
		model_clear_queue(m, b, now & CTL_EV_SEL);
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

	if (m->cfg.counter_gp && !b->type->pci && value >= size)
		return MODEL_GP;
	if (b->held & MODEL_BIT(ctr))
		return MODEL_OK;
	b->ctr[ctr] = ((b->ctr[ctr] & ~mask) | value) & (size - 1);
	if (b->armed)
		m->deadline_known = false;
	return MODEL_OK;
}

/* Control and count at once: it counts from there on, if anything. */
static void write_joint(struct model *m, struct model_box *b,
			const struct model_reg *r, u64 value)
{
	b->ctl[r->index] = (u32)(value >> 32) & r->keep;
	b->ctr[r->index] = (u32)value;
	model_box_changed(m, b);
}

static void write_global_ctl(struct model *m, unsigned int pkg, u32 value,
			     u32 keep)
{
	__atomic_store_n(&m->pkg[pkg].ctl, value & keep, __ATOMIC_SEQ_CST);
	if (value & GLOBAL_CTL_FRZ_ALL)
		model_set_frozen(m, pkg, true);
	else if (value & GLOBAL_CTL_UNFRZ_ALL)
		model_set_frozen(m, pkg, false);
}

/* Lock-free, for NMI handlers. */
static void clear_global_status(struct model *m, unsigned int pkg, u64 value)
{
	__atomic_fetch_and(&m->pkg[pkg].status, ~value, __ATOMIC_SEQ_CST);
}

static int write_reg(struct model *m, struct model_box *b,
		     const struct model_reg *r, u64 value, u64 mask)
{
	bool wrong = undefined_write(b, r, value, mask);
	int result = MODEL_OK;
	u32 *filter;

	if (r->kind == REG_ABSENT) {
		if (m->ops.undefined)
			m->ops.undefined(m->ctx, b->pkg, undefined_text(r));
		return MODEL_GP;
	}

	if (r->kind == REG_GLOBAL_STATUS) {
		clear_global_status(m, b->pkg, value);
		return MODEL_OK;
	}
	model_box_sync(m, b);
	if (b->twice_ctl && (r->kind != REG_CTL || r->index + 1 != b->twice_ctl))
		b->twice_ctl = 0;

	switch (r->kind) {
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
		/* §2.8.2.2 and Table 2-178: RO in the PCU, RW in QPI */
		if (!b->type->pci)
			return MODEL_GP;
		value |= read_reg(m, b, r) & ~mask;
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
	default:
		break;
	}
	if (wrong && result == MODEL_OK && m->ops.undefined)
		m->ops.undefined(m->ctx, b->pkg, undefined_text(r));
	return result;
}

/* --- MSR ---------------------------------------------------------------- */

static const struct model_reg *find_reg(const struct model_reg *regs,
					unsigned int count, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (regs[i].at == at)
			return &regs[i];
	return NULL;
}

static const struct model_reg *find_msr(const struct model *m, u32 msr,
					unsigned int *kind, unsigned int *index)
{
	const struct model_type *type;
	unsigned int at;

	for (*kind = 0; *kind < MODEL_BOX_KINDS; ++*kind) {
		type = &m->gen->types[*kind];
		if (type->pci || msr < type->first || msr > type->last)
			continue;
		*index = 0;
		at = msr;
		if (type->stride) {
			*index = (msr - type->base) / type->stride;
			at = (msr - type->base) % type->stride;
		}
		if (*index < m->count[*kind])
			return find_reg(type->regs, type->nregs, at);
	}
	return NULL;
}

bool model_msr_claims(const struct model *m, u32 msr)
{
	unsigned int kind, index;

	return find_msr(m, msr, &kind, &index);
}

static bool lockless(const struct model_reg *r, bool write)
{
	return r->kind == REG_GLOBAL_STATUS ||
	       (r->kind == REG_GLOBAL_CTL && !write);
}

bool model_msr_lockless(const struct model *m, u32 msr, bool write)
{
	const struct model_type *ubox = &m->gen->types[MODEL_UBOX];
	const struct model_reg *r = find_reg(ubox->regs, ubox->nregs, msr);

	return r && lockless(r, write);
}

int model_msr_read(struct model *m, unsigned int pkg, u32 msr, u64 *value)
{
	const struct model_reg *r;
	unsigned int kind, index, i;
	struct model_box *b;

	r = find_msr(m, msr, &kind, &index);
	if (!r || pkg >= m->cfg.packages)
		return MODEL_NOT_MINE;
	if (r->kind == REG_ABSENT)
		return MODEL_GP;
	b = model_box(m, pkg, kind, index);
	if (!lockless(r, false))
		model_box_sync(m, b);
	/* it tells of counters in other boxes, too */
	for (i = 0; r->kind == REG_JOINT_GLOBAL && i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	*value = read_reg(m, b, r);
	return MODEL_OK;
}

int model_msr_write(struct model *m, unsigned int pkg, u32 msr, u64 value)
{
	const struct model_reg *r;
	unsigned int kind, index;

	r = find_msr(m, msr, &kind, &index);
	if (!r || pkg >= m->cfg.packages)
		return MODEL_NOT_MINE;
	return write_reg(m, model_box(m, pkg, kind, index), r, value, U64_MAX);
}

/* --- PCI configuration space -------------------------------------------- */

static const struct model_function *find_function(const struct model *m,
						  unsigned int pkg, bool io_bus,
						  unsigned int devfn)
{
	const struct model_function *f = m->gen->functions;
	bool second = devfn == m->gen->second_devfn;
	unsigned int i;

	if (pkg >= m->cfg.packages)
		return NULL;
	for (i = 0; i < m->gen->nfunctions; i++, f++) {
		if (f->io_bus != io_bus || f->box >= m->count[f->kind] ||
		    (f->missing & m->cfg.missing[pkg]))
			continue;
		if (second ? f->pmon && f->kind == m->cfg.twice &&
			     f->box == m->cfg.twice_box : f->devfn == devfn)
			return f;
	}
	return NULL;
}

/* A function's registers, which may be those of its box; @count: how many. */
static const struct model_reg *registers(const struct model *m,
					 const struct model_function *f,
					 unsigned int *count)
{
	const struct model_type *type = &m->gen->types[f->kind];

	if (f->regs || !f->pmon) {
		*count = f->nregs;
		return f->regs;
	}
	return model_type_regs(m, type, count);
}

unsigned int model_pci_first_register(const struct model *m, bool io_bus,
				      unsigned int devfn)
{
	const struct model_function *f = find_function(m, 0, io_bus, devfn);
	unsigned int i, count, first = 0;
	const struct model_reg *r;

	if (!f)
		return 0;
	r = registers(m, f, &count);
	for (i = 0; i < count; i++)
		if (r[i].kind < REG_GLOBAL_CTL && (!first || r[i].at < first))
			first = r[i].at;
	return first;
}

/* The register of which a dword is part; @shift: where in it. */
static const struct model_reg *find_dword(const struct model *m,
					  const struct model_function *f,
					  unsigned int where,
					  unsigned int *shift)
{
	const struct model_reg *r;
	unsigned int i, count;

	r = registers(m, f, &count);
	for (i = 0; i < count; i++, r++) {
		if (where < r->at || where >= r->at + r->bytes)
			continue;
		*shift = (where - r->at) * 8;
		return r;
	}
	return NULL;
}

static u32 read_header(const struct model_function *f, unsigned int where)
{
	switch (where) {
	case HEADER_ID:
		return VENDOR_INTEL | (u32)f->id << 16;
	case HEADER_STATUS:
		return f->pcie ? HAS_CAPABILITIES : 0;
	case HEADER_CLASS:
		return f->class_code << 8 | REVISION;
	case HEADER_TYPE:
		return f->devfn & 7 ? 0 : MULTI_FUNCTION;
	case HEADER_SUBSYSTEM:
		return VENDOR_INTEL;
	case HEADER_CAPABILITIES:
		return f->pcie ? FIRST_CAPABILITY : 0;
	case FIRST_CAPABILITY:
		return f->pcie ? EXPRESS_RC_ENDPOINT : 0;
	default:
		return 0;
	}
}

static bool dead(const struct model_function *f, const struct model_box *b)
{
	return f->pmon && (b->faults & MODEL_BIT(MODEL_FAULT_DEAD_PCI));
}

static u32 read_dword(const struct model *m, struct model_box *b,
		      const struct model_function *f, unsigned int where)
{
	unsigned int shift, i, count;
	const struct model_reg *r;
	u64 value = 0;

	r = find_dword(m, f, where, &shift);
	if (!r)
		return read_header(f, where);
	if (!is_shared(r)) {
		b += r->box;
		model_box_sync(m, b);
		return read_reg(m, b, r) >> shift;
	}
	count = model_in_function(b->type);
	for (i = 0; i < count; i++, b++) {
		model_box_sync(m, b);
		value |= read_reg(m, b, r);
	}
	return value >> shift;
}

static void write_dword(struct model *m, struct model_box *b,
			const struct model_function *f, unsigned int where,
			u32 value, u32 mask)
{
	unsigned int shift, i, count;
	const struct model_reg *r;

	r = find_dword(m, f, where, &shift);
	if (!r)
		return;
	count = is_shared(r) ? model_in_function(b->type) : 1;
	b += r->box;
	for (i = 0; i < count; i++, b++) {
		write_reg(m, b, r, (u64)value << shift, (u64)mask << shift);
		/* what is undefined is so once */
		value = (value & ~r->zero) | r->one;
	}
}

static u32 size_mask(unsigned int size)
{
	return size >= 4 ? 0xffffffffu : MODEL_BIT(size * 8) - 1;
}

bool model_pci_reachable(const struct model *m, unsigned int pkg,
			 unsigned int where)
{
	return where < 0x100 || (pkg < m->cfg.packages &&
				 !(m->cfg.missing[pkg] & MODEL_MISSING_EXTENDED));
}

u32 model_pci_read(struct model *m, unsigned int pkg, bool io_bus,
		   unsigned int devfn, unsigned int where, unsigned int size)
{
	const struct model_function *f = find_function(m, pkg, io_bus, devfn);
	unsigned int shift = where % 4 * 8;
	struct model_box *b;
	u64 value;

	if (!f || !model_pci_reachable(m, pkg, where))
		return size_mask(size);
	b = model_box(m, pkg, f->kind, f->box);
	if (dead(f, b))
		return size_mask(size);
	where -= where % 4;
	value = read_dword(m, b, f, where);
	if (shift + size * 8 > 32)
		value |= (u64)read_dword(m, b, f, where + 4) << 32;
	return value >> shift & size_mask(size);
}

void model_pci_write(struct model *m, unsigned int pkg, bool io_bus,
		     unsigned int devfn, unsigned int where, unsigned int size,
		     u32 value)
{
	const struct model_function *f = find_function(m, pkg, io_bus, devfn);
	unsigned int shift = where % 4 * 8;
	u64 bits, mask;
	struct model_box *b;

	if (!f || !model_pci_reachable(m, pkg, where))
		return;
	b = model_box(m, pkg, f->kind, f->box);
	if (dead(f, b))
		return;
	where -= where % 4;
	mask = (u64)size_mask(size) << shift;
	bits = (u64)(value & size_mask(size)) << shift;
	if ((u32)mask)
		write_dword(m, b, f, where, bits, mask);
	if (mask >> 32)
		write_dword(m, b, f, where + 4, bits >> 32, mask >> 32);
}

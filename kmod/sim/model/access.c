// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses to MSRs and PCI configuration space: find the register of an MSR number or a PCI
 * address in the generation's tables, and read or write it.
 */
#include "model/priv.h"

/* Offsets of the dwords of the PCI configuration header that a bus scan reads */
#define HEADER_ID			0x00
#define HEADER_STATUS		0x04
#define HEADER_CLASS		0x08
#define HEADER_TYPE		0x0c
#define HEADER_BUSES		0x18
#define HEADER_IO_WINDOW		0x1c
#define HEADER_MEMORY_WINDOW	0x20
#define HEADER_PREFETCH_WINDOW	0x24
#define HEADER_SUBSYSTEM		0x2c
#define HEADER_CAPABILITIES	0x34
#define FIRST_CAPABILITY	0x40

#define VENDOR_INTEL		0x8086u
#define REVISION		2u
#define HAS_CAPABILITIES	MODEL_BIT(20)
#define MULTI_FUNCTION	MODEL_BIT(23)
#define HEADER_TYPE_BRIDGE	MODEL_BIT(16)
#define NO_IO_WINDOW		0x000000f0u
#define NO_MEMORY_WINDOW	0x0000fff0u
/* capability 10h, version 2, root complex integrated endpoint */
#define EXPRESS_RC_ENDPOINT	0x00920010u

static const struct model_reg *find_reg(const struct model_reg *regs,
					unsigned int count, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (regs[i].at == at)
			return &regs[i];
	return NULL;
}

/* Return the number of the box that has an MSR among its @span MSRs, or the number of boxes. */
static unsigned int find_base(const u16 *bases, unsigned int boxes, unsigned int span, u32 msr)
{
	unsigned int box;

	for (box = 0; box < boxes; box++)
		if (msr >= bases[box] && msr - bases[box] < span)
			break;
	return box;
}

/* Return the register of an MSR among those with a stride or bases of their own, or NULL. */
static const struct model_reg *find_spread(const struct model_type *type, u32 msr,
					   unsigned int *index)
{
	const struct model_reg *r = type->regs, *end = r + type->nregs;
	unsigned int box;

	for (; r < end; r++) {
		if (r->bases)
			box = find_base(r->bases, type->boxes.most, 1, msr);
		else if (r->stride && msr >= r->at && !((msr - r->at) % r->stride))
			box = (msr - r->at) / r->stride;
		else
			continue;
		/* an MSR behind the last box's may be another register */
		if (box >= type->boxes.most)
			continue;
		*index = box;
		return r;
	}
	return NULL;
}

/*
 * Return the register of an MSR among those at the same offset from each box's first, with its
 * box in @index, or NULL.
 */
static const struct model_reg *find_placed(const struct model_type *type, u32 msr,
					   unsigned int *index)
{
	unsigned int at = msr;

	*index = 0;
	if (type->bases) {
		*index = find_base(type->bases, type->boxes.most, type->span, msr);
		if (*index == type->boxes.most)
			return NULL;
		at = msr - type->bases[*index];
	} else if (type->stride) {
		*index = (msr - type->base) / type->stride;
		at = (msr - type->base) % type->stride;
	}
	return find_reg(type->regs, type->nregs, at);
}

/* Return the register of an MSR, and its box in @box_type and @index; or NULL. */
static const struct model_reg *find_msr(const struct model *m, u32 msr,
					unsigned int *box_type, unsigned int *index)
{
	const struct model_type *type;
	const struct model_reg *r;

	for (*box_type = 0; *box_type < m->gen->ntypes; ++*box_type) {
		type = &m->gen->types[*box_type];
		if (!model_in_msrs(type) || msr < type->first || msr > type->last)
			continue;
		r = find_spread(type, msr, index);
		if (!r)
			r = find_placed(type, msr, index);
		if (r && *index < m->count[*box_type])
			return r;
	}
	return NULL;
}

bool model_msr_claims(const struct model *m, u32 msr)
{
	unsigned int box_type, index;

	return find_msr(m, msr, &box_type, &index);
}

/* Return whether a register may be accessed without the model's lock. */
static bool lockless(const struct model_reg *r, bool write)
{
	return r->type == REG_GLOBAL_STATUS ||
	       (r->type == REG_GLOBAL_CTL && !write);
}

bool model_msr_lockless(const struct model *m, u32 msr, bool write)
{
	unsigned int box_type, index;
	const struct model_reg *r = find_msr(m, msr, &box_type, &index);

	return r && lockless(r, write);
}

int model_msr_read(struct model *m, unsigned int pkg, u32 msr, u64 *value)
{
	const struct model_reg *r;
	unsigned int box_type, index, i;
	struct model_box *b;

	r = find_msr(m, msr, &box_type, &index);
	if (!r || pkg >= m->cfg.packages)
		return MODEL_NOT_MINE;
	if (r->type == REG_ABSENT)
		return MODEL_GP;
	b = model_box(m, pkg, box_type, index);
	if (!lockless(r, false))
		model_box_sync(m, b);
	/* MSR_EMON_L3_GL_CTL reports overflows of all boxes of the package */
	for (i = 0; r->type == REG_JOINT_GLOBAL && i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	*value = model_reg_read(m, b, r);
	return MODEL_OK;
}

int model_msr_write(struct model *m, unsigned int pkg, u32 msr, u64 value)
{
	const struct model_reg *r;
	unsigned int box_type, index;

	r = find_msr(m, msr, &box_type, &index);
	if (!r || pkg >= m->cfg.packages)
		return MODEL_NOT_MINE;
	return model_reg_write(m, model_box(m, pkg, box_type, index), r, value, U64_MAX);
}

/* Return the PCI function at an address, or NULL if the package lacks it. */
static const struct model_function *find_function(const struct model *m,
						  unsigned int pkg, unsigned int bus,
						  unsigned int devfn)
{
	const char *twice = m->cfg.twice < 0 ? "" : m->gen->types[m->cfg.twice].name;
	const struct model_function *f = m->gen->functions;
	bool second = devfn == m->gen->second_devfn;
	unsigned int i;

	if (pkg >= m->cfg.packages)
		return NULL;
	for (i = 0; i < m->gen->nfunctions; i++, f++) {
		if (f->bus != bus || (f->missing & m->cfg.missing[pkg]) ||
		    (f->below && !model_bus_below(&m->cfg, bus)))
			continue;
		if (second ? f->pmon && !strcmp(f->type, twice) &&
			     f->box == m->cfg.twice_box :
			     f->devfn == devfn &&
			     f->box < model_boxes_named(m, f->type))
			return f;
	}
	return NULL;
}

/* Return the registers of a function, and their number in @count. */
static const struct model_reg *registers(const struct model *m,
					 const struct model_function *f,
					 unsigned int *count)
{
	if (f->regs || !f->pmon) {
		*count = f->nregs;
		return f->regs;
	}
	return model_type_regs(m, &m->gen->types[model_find_type(m->gen, f->type)], count);
}

unsigned int model_pci_first_register(const struct model *m, unsigned int bus,
				      unsigned int devfn)
{
	const struct model_function *f = find_function(m, 0, bus, devfn);
	unsigned int i, count, first = 0;
	const struct model_reg *r;

	if (!f)
		return 0;
	r = registers(m, f, &count);
	for (i = 0; i < count; i++)
		if (r[i].type < REG_GLOBAL_CTL && (!first || r[i].at < first))
			first = r[i].at;
	return first;
}

/*
 * Return the register that contains the dword at offset @where, and in @shift the number
 * of the dword's first bit in the register; or NULL.
 */
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

/*
 * Return a dword of a root port's configuration header. Firmware has set the bus numbers, and
 * there is neither IO nor memory below: a window's first address is above its last.
 */
static u32 read_bridge_header(const struct model *m, unsigned int pkg,
			      const struct model_function *f, unsigned int where)
{
	u32 below;

	switch (where) {
	case HEADER_TYPE:
		return HEADER_TYPE_BRIDGE;
	case HEADER_BUSES:
		below = model_bus_number(&m->cfg, pkg, f->below);
		return model_bus_number(&m->cfg, pkg, f->bus) | below << 8 | below << 16;
	case HEADER_IO_WINDOW:
		return NO_IO_WINDOW;
	case HEADER_MEMORY_WINDOW:
	case HEADER_PREFETCH_WINDOW:
		return NO_MEMORY_WINDOW;
	default:
		return 0;
	}
}

/* Return a dword of the configuration header or the PCI Express capability. */
static u32 read_header(const struct model *m, unsigned int pkg,
		       const struct model_function *f, unsigned int where)
{
	if (f->below && where != HEADER_ID && where != HEADER_CLASS)
		return read_bridge_header(m, pkg, f, where);
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

/*
 * Read a dword of a function. A register that several boxes share is the OR of their
 * values. @b is the first box of the function.
 */
static u32 read_dword(const struct model *m, struct model_box *b,
		      const struct model_function *f, unsigned int where)
{
	unsigned int shift, i, count;
	const struct model_reg *r;
	u64 value = 0;

	r = find_dword(m, f, where, &shift);
	if (!r)
		return read_header(m, b->pkg, f, where);
	if (!model_reg_shared(r)) {
		b += r->box;
		model_box_sync(m, b);
		return model_reg_read(m, b, r) >> shift;
	}
	count = model_in_function(b->type);
	for (i = 0; i < count; i++, b++) {
		model_box_sync(m, b);
		value |= model_reg_read(m, b, r);
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
	count = model_reg_shared(r) ? model_in_function(b->type) : 1;
	b += r->box;
	for (i = 0; i < count; i++, b++) {
		model_reg_write(m, b, r, (u64)value << shift, (u64)mask << shift);
		/* report an undefined write for the first box only */
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

u32 model_pci_read(struct model *m, unsigned int pkg, unsigned int bus,
		   unsigned int devfn, unsigned int where, unsigned int size)
{
	const struct model_function *f = find_function(m, pkg, bus, devfn);
	unsigned int shift = where % 4 * 8;
	struct model_box *b;
	u64 value;

	if (!f || !model_pci_reachable(m, pkg, where))
		return size_mask(size);
	b = model_box(m, pkg, model_find_type(m->gen, f->type), f->box);
	if (dead(f, b))
		return size_mask(size);
	where -= where % 4;
	value = read_dword(m, b, f, where);
	if (shift + size * 8 > 32)
		value |= (u64)read_dword(m, b, f, where + 4) << 32;
	return value >> shift & size_mask(size);
}

void model_pci_write(struct model *m, unsigned int pkg, unsigned int bus,
		     unsigned int devfn, unsigned int where, unsigned int size,
		     u32 value)
{
	const struct model_function *f = find_function(m, pkg, bus, devfn);
	unsigned int shift = where % 4 * 8;
	u64 bits, mask;
	struct model_box *b;

	if (!f || !model_pci_reachable(m, pkg, where))
		return;
	b = model_box(m, pkg, model_find_type(m->gen, f->type), f->box);
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

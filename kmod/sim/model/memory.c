// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses to registers in memory: find the registers that an access reaches by its physical
 * address, and read or write the bytes that it reaches.
 */
#include "model/priv.h"

bool model_has_memory(const struct model_generation *gen)
{
	unsigned int i;

	for (i = 0; i < gen->ntypes; i++)
		if (gen->types[i].memory)
			return true;
	return false;
}

bool model_memory_claims(const struct model_config *c, u64 at)
{
	return at >= c->memory_base && at < model_memory_window(c, c->packages);
}

/* Return the register of a box that contains the byte at offset @where of the box, or NULL. */
static const struct model_reg *find_byte(const struct model *m, const struct model_type *type,
					 u32 where)
{
	const struct model_reg *r;
	unsigned int i, count;

	r = model_type_regs(m, type, &count);
	for (i = 0; i < count; i++, r++)
		if (where >= r->at && where - r->at < r->bytes)
			return r;
	return NULL;
}

/**
 * struct place - the register of a byte
 * @box: its box
 * @reg: the register
 * @byte: number of the byte in the register
 */
struct place {
	struct model_box *box;
	const struct model_reg *reg;
	unsigned int byte;
};

/* Find the register of the byte at a physical address. Return false if there is none. */
static bool find_place(struct model *m, u64 at, struct place *p)
{
	const struct model_type *type = m->gen->types;
	unsigned int pkg, i, k;
	u32 window;

	if (!model_memory_claims(&m->cfg, at))
		return false;
	pkg = (at - m->cfg.memory_base) / MODEL_MEMORY_WINDOW;
	window = (at - m->cfg.memory_base) % MODEL_MEMORY_WINDOW;
	for (i = 0; i < m->gen->ntypes; i++, type++) {
		for (k = 0; type->memory && k < m->count[i]; k++) {
			if (window < type->memory[k])
				continue;
			p->reg = find_byte(m, type, window - type->memory[k]);
			if (!p->reg)
				continue;
			p->box = model_box(m, pkg, i, k);
			p->byte = window - type->memory[k] - p->reg->at;
			return true;
		}
	}
	return false;
}

/* Return a mask of the lowest @bytes bytes. */
static u64 bytes_mask(unsigned int bytes)
{
	return bytes >= 8 ? U64_MAX : (1ULL << (8 * bytes)) - 1;
}

static bool dead(const struct model_box *b)
{
	return b->faults & MODEL_BIT(MODEL_FAULT_DEAD_MEMORY);
}

/* Return the number of bytes of the register from @p on, up to @most. */
static unsigned int bytes_left(const struct place *p, unsigned int most)
{
	unsigned int left = p->reg->bytes - p->byte;

	return left < most ? left : most;
}

u64 model_memory_read(struct model *m, u64 at, unsigned int size)
{
	unsigned int done, bytes;
	u64 value = 0, part;
	struct place p;

	for (done = 0; done < size; done += bytes) {
		bytes = 1;
		if (!find_place(m, at + done, &p))
			continue;
		bytes = bytes_left(&p, size - done);
		part = U64_MAX;
		if (!dead(p.box)) {
			model_box_sync(m, p.box);
			part = model_reg_read(m, p.box, p.reg) >> (8 * p.byte);
		}
		value |= (part & bytes_mask(bytes)) << (8 * done);
	}
	return value;
}

void model_memory_write(struct model *m, u64 at, unsigned int size, u64 value)
{
	unsigned int done, bytes, shift;
	struct place p;
	u64 part;

	for (done = 0; done < size; done += bytes) {
		bytes = 1;
		if (!find_place(m, at + done, &p))
			continue;
		bytes = bytes_left(&p, size - done);
		if (dead(p.box))
			continue;
		part = value >> (8 * done) & bytes_mask(bytes);
		shift = 8 * p.byte;
		model_reg_write(m, p.box, p.reg, part << shift, bytes_mask(bytes) << shift);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boxes: which ones a machine has, and what those in one PCI function share.
 */
#include "model/priv.h"

/* The node id of package i is in bits 3i+2:3i; from the eighth on they repeat. */
u32 model_node_map(const struct model_config *c)
{
	return c->node_map ? c->node_map : 076543210;
}

u32 model_config_reset(const struct model *m)
{
	return m->cfg.num_c >= 0 ? (u32)m->cfg.num_c : m->cfg.cboxes;
}

/* A box, or NULL when the machine has none such. */
struct model_box *model_box(struct model *m, unsigned int pkg,
			    unsigned int box_type, unsigned int index)
{
	if (pkg >= m->cfg.packages || box_type >= MODEL_BOX_TYPES ||
	    index >= m->count[box_type])
		return NULL;
	return &m->box[pkg][m->first[box_type] + index];
}

u64 model_now_ns(const struct model *m)
{
	return m->ops.now_ns ? m->ops.now_ns(m->ctx) : 0;
}

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

bool model_reg_shared(const struct model_reg *r)
{
	return r->type == REG_BOX_CTL || r->type == REG_STATUS;
}

/* Is a register of the type's one of this box? */
bool model_reg_of(const struct model_box *b, const struct model_reg *r)
{
	return model_reg_shared(r) || r->box == b->index % model_in_function(b->type);
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

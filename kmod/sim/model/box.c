// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the boxes of a machine and the registers of a box; the boxes of a PCI function share
 * box control and box status.
 */
#include "model/priv.h"

unsigned int model_find_type(const struct model_generation *gen, const char *name)
{
	unsigned int i;

	for (i = 0; i < gen->ntypes; i++)
		if (!strcmp(gen->types[i].name, name))
			return i;
	return MODEL_MAX_TYPES;
}

unsigned int model_boxes(const struct model *m, unsigned int box_type)
{
	return box_type < m->gen->ntypes ? m->count[box_type] : 0;
}

/* Return the number of boxes of a type, by its name, in a package. */
unsigned int model_boxes_named(const struct model *m, const char *name)
{
	return model_boxes(m, model_find_type(m->gen, name));
}

/* Return whether a PCI function belongs to a box. */
bool model_function_of(const struct model_function *f, const struct model_box *b)
{
	return f->box == b->index && !strcmp(f->type, b->type->name);
}

/*
 * Return the map of node ids: the node id of package i is in bits 3i+2:3i, and the node ids
 * of packages 0 to 7 repeat from package 8 on.
 */
u32 model_node_map(const struct model_config *c)
{
	return c->node_map ? c->node_map : 076543210;
}

unsigned int model_segment(const struct model_config *c, unsigned int pkg)
{
	return c->segment_packages ? pkg / c->segment_packages : 0;
}

/* Return the root port above a bus or, with @root, the root port of a root bus; or NULL. */
static const struct model_function *find_port(const struct model_generation *gen,
					      unsigned int bus, bool root)
{
	const struct model_function *f = gen->functions, *end = f + gen->nfunctions;

	for (; f < end; f++)
		if (f->below && (root ? f->bus : f->below) == bus)
			return f;
	return NULL;
}

/* Return the distance between two root buses of a package. */
static unsigned int bus_distance(const struct model_config *c)
{
	unsigned int n = c->segment_packages ? c->segment_packages : c->packages;

	return 128 / n / c->gen->nbuses;
}

unsigned int model_bus_below(const struct model_config *c, unsigned int bus)
{
	const struct model_function *port = find_port(c->gen, bus, true);

	return port && bus_distance(c) > 1 ? port->below : 0;
}

/*
 * The packages of a segment share its 256 buses evenly, as on boards. Bus 0 is the last of the
 * package's share, but for model_generation.above buses, or, unless it has the highest number,
 * the first, and the other buses follow.
 * Number 0 belongs to the virtual machine, so the first bus of the first package is in the
 * middle of its share.
 */
u8 model_bus_number(const struct model_config *c, unsigned int pkg, unsigned int bus)
{
	unsigned int n = c->segment_packages ? c->segment_packages : c->packages;
	unsigned int first, last, distance = bus_distance(c);
	unsigned int above = c->gen->above, at_ubox = c->gen->nbuses - above;

	if (bus >= c->gen->nbuses)
		return 1 + model_bus_number(c, pkg, find_port(c->gen, bus, false)->bus);
	pkg %= n;
	first = pkg ? 256 * pkg / n : 128 / n;
	if (!c->gen->ubox_highest)
		return first + bus * distance;
	last = 256 * (pkg + 1) / n - 1;
	if (bus && bus < at_ubox)
		return first + (bus - 1) * distance;
	return bus ? last - (c->gen->nbuses - 1 - bus) : last - above;
}

/* Return the reset value of U_MSR_PMON_GLOBAL_CONFIG. */
u32 model_config_reset(const struct model *m)
{
	if (m->cfg.num_c >= 0)
		return m->cfg.num_c;
	return m->gen->num_c ? model_boxes_named(m, m->gen->num_c) : 0;
}

/* Return a box, or NULL if the machine does not have it. */
struct model_box *model_box(struct model *m, unsigned int pkg,
			    unsigned int box_type, unsigned int index)
{
	if (pkg >= m->cfg.packages || box_type >= m->gen->ntypes ||
	    index >= m->count[box_type])
		return NULL;
	return &m->box[pkg][m->first[box_type] + index];
}

u64 model_now_ns(const struct model *m)
{
	return m->ops.now_ns ? m->ops.now_ns(m->ctx) : 0;
}

/* Return whether the registers of a box type are MSRs. */
bool model_in_msrs(const struct model_type *type)
{
	return !type->pci && !type->memory;
}

/* Return the physical address of a package's window for registers in memory. */
u64 model_memory_window(const struct model_config *c, unsigned int pkg)
{
	return c->memory_base + (u64)pkg * MODEL_MEMORY_WINDOW;
}

/* Return the number of boxes of a type in a PCI function. */
unsigned int model_in_function(const struct model_type *type)
{
	return type->in_function ? type->in_function : 1;
}

/* Return the bit number of a box's counter 0 in the box status. */
unsigned int model_status_shift(const struct model_box *b)
{
	return b->type->status_shift +
	       b->index % model_in_function(b->type) * b->type->counters;
}

/* Return the bits of the box status that belong to the counters of this box. */
u32 model_own_status(const struct model_box *b)
{
	if (model_in_function(b->type) == 1)
		return ~0u;
	return (MODEL_BIT(b->type->counters) - 1) << model_status_shift(b);
}

/* Return whether the boxes of a PCI function share a register. */
bool model_reg_shared(const struct model_reg *r)
{
	return r->type == REG_BOX_CTL || r->type == REG_STATUS;
}

/* Return whether a register in the table of the box type belongs to this box. */
bool model_reg_of(const struct model_box *b, const struct model_reg *r)
{
	return model_reg_shared(r) || r->box == b->index % model_in_function(b->type);
}

/*
 * Return the registers of a box type, and their number in @count. They depend on
 * model_config.irp_counters.
 */
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

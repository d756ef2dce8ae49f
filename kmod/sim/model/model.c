// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of the uncore as a whole: initialisation, hardware reset, freezes, faults, and
 * the list of registers that differ from their reset values.
 */
#include "model/priv.h"

const struct model_generation *const model_generations[] = {
	&model_hswep,
	&model_bdwep,
	&model_bdwde,
	&model_ivbep,
	&model_snbep,
	&model_xeon7100,
	&model_xeon7400,
	&model_skx,
	&model_clx,
	&model_cpx, &model_icx,
	&model_icxd, &model_snr,
	NULL
};

size_t model_size(void)
{
	return sizeof(struct model);
}

static bool within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

/* Check that the node ids of packages 0 to 7 differ; later packages repeat these ids. */
static bool node_map_valid(const struct model_config *c)
{
	u32 map = model_node_map(c);
	unsigned int pkg, seen = 0;

	for (pkg = 0; pkg < c->packages && pkg < MODEL_NODES; pkg++, map >>= 3) {
		if (seen & MODEL_BIT(map & 7))
			return false;
		seen |= MODEL_BIT(map & 7);
	}
	return true;
}

static bool clocks_valid(const u32 *khz)
{
	unsigned int i;

	for (i = 0; i < MODEL_CLOCKS; i++)
		if (khz[i] > MODEL_MAX_KHZ || (khz[i] && !khz[MODEL_UCLK]))
			return false;
	return true;
}

void model_all_boxes(struct model_config *cfg)
{
	unsigned int i;

	for (i = 0; i < cfg->gen->ntypes; i++)
		cfg->boxes[i] = cfg->gen->types[i].boxes.most;
}

/* Return the numbers of boxes that a type may have with the other numbers of @cfg. */
static struct model_limits limits_of(const struct model_config *cfg, unsigned int type)
{
	struct model_limits limits = cfg->gen->types[type].boxes;

	if (limits.as)
		limits.least = limits.most =
			cfg->boxes[model_find_type(cfg->gen, limits.as)];
	return limits;
}

static bool allowed(const struct model_limits *limits, u32 number)
{
	if (limits->ends)
		return number == limits->least || number == limits->most;
	return within(number, limits->least, limits->most);
}

int model_set_boxes(struct model_config *cfg, const char *name, u32 number,
		    struct model_limits *limits)
{
	unsigned int i, type = model_find_type(cfg->gen, name);

	*limits = (struct model_limits){ 0 };
	if (type < MODEL_MAX_TYPES)
		*limits = limits_of(cfg, type);
	if (!allowed(limits, number))
		return -1;
	for (i = 0; i < cfg->gen->ntypes; i++)
		if (i == type || (cfg->gen->types[i].boxes.as &&
				  !strcmp(cfg->gen->types[i].boxes.as, name)))
			cfg->boxes[i] = number;
	return 0;
}

static bool boxes_valid(const struct model_config *c)
{
	struct model_limits limits;
	unsigned int i;

	for (i = 0; i < c->gen->ntypes; i++) {
		limits = limits_of(c, i);
		if (!allowed(&limits, c->boxes[i]))
			return false;
	}
	return true;
}

/* Return whether REG_MEMORY_BASE has bits for the address of the last package's window. */
static bool memory_valid(const struct model_config *c)
{
	return !(c->memory_base % MODEL_MEMORY_WINDOW) &&
	       model_memory_window(c, c->packages) <= 1ULL << 52;
}

static bool config_valid(const struct model_config *c)
{
	return clocks_valid(c->clock_khz) && memory_valid(c) &&
	       within(c->packages, 1, MODEL_MAX_PACKAGES) &&
	       boxes_valid(c) && c->segment_packages <= c->packages &&
	       (c->counter_bits == 44 || c->counter_bits == MODEL_COUNTER_BITS) &&
	       within(c->fixed_bits, MODEL_MIN_FIXED_BITS, MODEL_COUNTER_BITS) &&
	       c->irp_counters <= 2 &&
	       c->num_c >= -1 && c->num_c <= 63 && node_map_valid(c);
}

/* Have the registers with addresses in memory hold what firmware has written. */
static void set_addresses(struct model *m)
{
	const struct model_function *f = m->gen->functions, *end = f + m->gen->nfunctions;
	const struct model_reg *r;
	unsigned int pkg;

	for (; f < end; f++)
		for (r = f->regs; f->regs && r < f->regs + f->nregs; r++)
			for (pkg = 0; pkg < m->cfg.packages; pkg++) {
				if (r->type == REG_MEMORY_BASE)
					m->pkg[pkg].address[r->index] =
						model_memory_window(&m->cfg, pkg) /
						MODEL_MEMORY_WINDOW;
				else if (r->type == REG_MEMORY_BAR)
					m->pkg[pkg].address[r->index] = r->keep;
			}
}

/**
 * model_init() - initialise a model to the state after a hardware reset
 * @m: model_size() zeroed bytes
 * @cfg: the machine
 * @ops: functions of the front, each of which may be NULL
 * @ctx: argument of the functions of @ops
 *
 * Return: 0, or -1 if @cfg or a table of waves is invalid.
 */
int model_init(struct model *m, const struct model_config *cfg,
	       const struct model_ops *ops, void *ctx)
{
	unsigned int box_type, pkg, i;
	struct model_box *b;

	if (!config_valid(cfg))
		return -1;
	m->cfg = *cfg;
	m->gen = cfg->gen;
	model_init_clocks(m);
	m->ops = *ops;
	m->ctx = ctx;
	for (box_type = 0; box_type < m->gen->ntypes; box_type++) {
		if (!model_waves_valid(&m->gen->types[box_type]))
			return -1;
		m->first[box_type] = m->boxes;
		m->count[box_type] = cfg->boxes[box_type];
		m->boxes += m->count[box_type];
	}
	if (m->boxes > MODEL_MAX_BOXES)
		return -1;
	for (pkg = 0; pkg < cfg->packages; pkg++) {
		for (box_type = 0; box_type < m->gen->ntypes; box_type++) {
			for (i = 0; i < m->count[box_type]; i++) {
				b = &m->box[pkg][m->first[box_type] + i];
				b->type = &m->gen->types[box_type];
				b->pkg = pkg;
				b->index = i;
			}
		}
	}
	set_addresses(m);
	model_reset(m);
	return 0;
}

void model_reset(struct model *m)
{
	unsigned int pkg, i, ctr;
	struct model_package *p;
	struct model_box *b, clean;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		p = &m->pkg[pkg];
		model_set_frozen(m, pkg, false);
		p->config = model_config_reset(m);
		__atomic_store_n(&p->status, 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&p->ctl, 0, __ATOMIC_SEQ_CST);
		p->messages = 0;
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			clean = (struct model_box){
				.type = b->type, .pkg = b->pkg,
				.index = b->index, .faults = b->faults,
				.stamp = m->cycles, .flow = b->flow,
				.flows = b->flows, .only_rates = b->only_rates,
			};
			*b = clean;
			for (ctr = 0; ctr < MODEL_MAX_FREE && !b->only_rates;
			     ctr++)
				b->free_from[ctr] =
					model_box_cycles(m, b, m->cycles);
		}
	}
	m->deadline_known = false;
}

u64 model_global_status(const struct model *m, unsigned int pkg)
{
	return __atomic_load_n(&m->pkg[pkg].status, __ATOMIC_SEQ_CST);
}

bool model_frozen(const struct model *m, unsigned int pkg)
{
	return pkg < m->cfg.packages && m->pkg[pkg].frozen;
}

u64 model_held_since(const struct model *m)
{
	const struct model_package *p;
	const struct model_box *b;
	unsigned int pkg, i;
	u64 since = 0;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		p = &m->pkg[pkg];
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			if (!b->active)
				continue;
			if (p->frozen && !p->by_overflow && p->frozen_at > since)
				since = p->frozen_at;
			if ((b->box_ctl & b->type->layout->frz) && b->frozen_at > since)
				since = b->frozen_at;
		}
	}
	return since;
}

u64 model_frozen_ns(const struct model *m)
{
	u64 ns = m->frozen_ns;
	unsigned int pkg;

	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		if (m->pkg[pkg].by_overflow)
			ns += model_now_ns(m) - m->pkg[pkg].frozen_at;
	return ns;
}

u64 model_paused_ns(const struct model *m)
{
	return m->paused_ns;
}

u64 model_cycles(const struct model *m)
{
	return m->cycles;
}

int model_fault(struct model *m, enum model_fault fault, unsigned int pkg,
		unsigned int box_type, unsigned int box, bool on)
{
	struct model_box *b = model_box(m, pkg, box_type, box);
	unsigned int i, count = 1;

	if (!b || (unsigned int)fault >= MODEL_FAULTS)
		return -1;
	if (fault == MODEL_FAULT_DEAD_MEMORY && !b->type->memory)
		return -1;
	if (fault == MODEL_FAULT_DEAD_PCI) {
		if (!b->type->pci)
			return -1;
		/* a dead PCI function affects all its boxes */
		count = model_in_function(b->type);
		b -= b->index % count;
	}
	for (i = 0; i < count; i++, b++) {
		model_box_sync(m, b);
		if (on)
			b->faults |= MODEL_BIT(fault);
		else
			b->faults &= ~MODEL_BIT(fault);
	}
	m->deadline_known = false;
	return 0;
}

void model_spurious_pmi(struct model *m, unsigned int pkg, u32 core_mask)
{
	if (pkg < m->cfg.packages && m->ops.pmi)
		m->ops.pmi(m->ctx, pkg, core_mask, false);
}

const char *model_box_type_name(const struct model *m, unsigned int box_type)
{
	if (box_type >= m->gen->ntypes)
		return NULL;
	return m->gen->types[box_type].name;
}

bool model_box_type_has_codes(const struct model *m, unsigned int box_type)
{
	return box_type < m->gen->ntypes &&
	       m->gen->types[box_type].nwaves;
}

bool model_box_type_pci(const struct model *m, unsigned int box_type)
{
	return box_type < m->gen->ntypes && m->gen->types[box_type].pci;
}

void model_second_function(struct model *m, unsigned int box_type,
			   unsigned int box)
{
	m->cfg.twice = box_type;
	m->cfg.twice_box = box;
}

/*
 * Write the name of a register into @text: "cbox_17 ctl0". No length is checked: the longest
 * name is shorter than the buffer of show_dirty().
 */
static void full_name(char *text, const struct model_box *b, const char *reg)
{
	const char *s;

	for (s = b->type->name; *s; s++)
		*text++ = *s;
	if (b->type->boxes.most > 1 || b->type->boxes.numbered) {
		*text++ = '_';
		if (b->index >= 10)
			*text++ = '0' + b->index / 10;
		*text++ = '0' + b->index % 10;
	}
	*text++ = ' ';
	for (s = reg; *s; s++)
		*text++ = *s;
	*text = '\0';
}

static void show_dirty(const struct model *m, const struct model_box *b,
		       const struct model_reg *regs, unsigned int count,
		       void (*show)(void *, unsigned int, const char *, u64),
		       void *arg)
{
	char name[40];
	unsigned int i;
	u64 value;

	for (i = 0; i < count; i++) {
		/* show a shared box control for the first box only */
		if (!model_reg_of(b, &regs[i]) ||
		    (regs[i].type == REG_BOX_CTL &&
		     b->index % model_in_function(b->type)) ||
		    !model_reg_dirty(m, b, &regs[i], &value))
			continue;
		full_name(name, b, regs[i].name);
		show(arg, b->pkg, name, value);
	}
}

void model_show_dirty(const struct model *m,
		      void (*show)(void *, unsigned int, const char *, u64),
		      void *arg)
{
	const struct model_function *f, *end;
	const struct model_reg *regs;
	unsigned int pkg, i, count;
	struct model_box b;

	end = m->gen->functions + m->gen->nfunctions;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		for (i = 0; i < m->boxes; i++) {
			b = m->box[pkg][i];
			model_box_sync(m, &b);
			regs = model_type_regs(m, b.type, &count);
			show_dirty(m, &b, regs, count, show, arg);
			for (f = m->gen->functions; f < end; f++)
				if (f->regs && model_function_of(f, &b))
					show_dirty(m, &b, f->regs, f->nregs,
						   show, arg);
		}
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of the uncore as a whole: its life cycle, time, and what a
 * package's UBox does about overflows (§2.1.1).  Registers, counting and
 * transactions are in the files beside this one.
 */
#include "model_priv.h"

/* What an overflow asks for */
#define SEND_FREEZE	MODEL_BIT(0)
#define SEND_PMI	MODEL_BIT(1)

size_t model_size(void)
{
	return sizeof(struct model);
}

static unsigned int boxes_of(const struct model_config *cfg, unsigned int kind)
{
	switch (kind) {
	case MODEL_CBOX:
		return cfg->cboxes;
	case MODEL_SBOX:
		return cfg->sboxes;
	case MODEL_HA:
		return cfg->has;
	case MODEL_IMC:
		return cfg->imcs;
	case MODEL_QPI:
	case MODEL_R3QPI:
		return cfg->qpi_ports;
	default:
		return 1;
	}
}

static bool within(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

static bool config_valid(const struct model_config *c)
{
	return within(c->packages, 1, MODEL_MAX_PACKAGES) &&
	       within(c->cboxes, 1, 18) &&
	       (c->sboxes == 2 || c->sboxes == 4) &&
	       within(c->has, 1, 2) && within(c->imcs, 1, 8) &&
	       within(c->qpi_ports, 1, 3) &&
	       (c->counter_bits == 44 || c->counter_bits == 48) &&
	       c->num_c >= -1 && c->num_c <= 31;
}

/**
 * model_init() - make a machine after a hardware reset
 * @m: model_size() zeroed bytes
 * @cfg: the machine
 * @ops: the front; its functions may be NULL
 * @ctx: argument of theirs
 *
 * Returns 0, or -1 when @cfg or the tables of events are not sound.
 */
int model_init(struct model *m, const struct model_config *cfg,
	       const struct model_ops *ops, void *ctx)
{
	unsigned int kind, pkg, i;
	struct model_box *b;

	if (!config_valid(cfg))
		return -1;
	m->cfg = *cfg;
	m->ops = *ops;
	m->ctx = ctx;
	for (kind = 0; kind < MODEL_BOX_KINDS; kind++) {
		if (!model_waves_valid(&model_types[kind]))
			return -1;
		m->first[kind] = m->boxes;
		m->count[kind] = boxes_of(cfg, kind);
		m->boxes += m->count[kind];
	}
	if (m->boxes > MODEL_MAX_BOXES)
		return -1;
	for (pkg = 0; pkg < cfg->packages; pkg++) {
		for (kind = 0; kind < MODEL_BOX_KINDS; kind++) {
			for (i = 0; i < m->count[kind]; i++) {
				b = &m->box[pkg][m->first[kind] + i];
				b->type = &model_types[kind];
				b->pkg = pkg;
				b->index = i;
			}
		}
	}
	model_reset(m);
	return 0;
}

u32 model_config_reset(const struct model *m)
{
	return m->cfg.num_c >= 0 ? (u32)m->cfg.num_c : m->cfg.cboxes;
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
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			clean = (struct model_box){
				.type = b->type, .pkg = b->pkg,
				.index = b->index, .faults = b->faults,
				.stamp = m->cycles,
			};
			*b = clean;
			for (ctr = 0; ctr < MODEL_MAX_FREE; ctr++)
				b->free_from[ctr] = m->cycles;
		}
	}
	m->deadline_known = false;
}

/* A box, or NULL when the machine has none such. */
struct model_box *model_box(struct model *m, unsigned int pkg,
			    unsigned int kind, unsigned int index)
{
	if (pkg >= m->cfg.packages || kind >= MODEL_BOX_KINDS ||
	    index >= m->count[kind])
		return NULL;
	return &m->box[pkg][m->first[kind] + index];
}

static u64 now_ns(const struct model *m)
{
	return m->ops.now_ns ? m->ops.now_ns(m->ctx) : 0;
}

/* Freeze or unfreeze all boxes of a package. */
void model_set_frozen(struct model *m, unsigned int pkg, bool frozen)
{
	struct model_package *p = &m->pkg[pkg];
	unsigned int i;

	if (p->frozen == frozen)
		return;
	for (i = 0; i < m->boxes; i++)
		model_box_sync(m, &m->box[pkg][i]);
	p->frozen = frozen;
	if (p->by_overflow)
		m->frozen_ns += now_ns(m) - p->frozen_at;
	p->by_overflow = false;
	m->deadline_known = false;
}

static u64 global_bits(const struct model_box *b, unsigned int ctr)
{
	if (ctr == MODEL_FIXED && b->type->ov_fixed)
		return b->type->ov_fixed;
	return b->type->ov ? b->type->ov[b->index] : 0;
}

/*
 * The UBox receives word of overflows: it notes them in its status register,
 * freezes everything and sends the PMI.  "In order to see a new freeze" the
 * status must have been cleared (§2.2.1.1), so an overflow that finds its bit
 * set does neither.  Returns what is to be done, for all boxes that overflow
 * in one cycle together.
 */
static unsigned int note_overflow(struct model *m, const struct model_box *b,
				  unsigned int ctrs)
{
	struct model_package *p = &m->pkg[b->pkg];
	unsigned int ctr, send = 0;
	u64 bits;

	for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++) {
		if (!(ctrs & MODEL_BIT(ctr)))
			continue;
		bits = global_bits(b, ctr);
		if (!(__atomic_fetch_or(&p->status, bits, __ATOMIC_SEQ_CST) &
		      bits))
			send |= SEND_FREEZE;
	}
	if (send && !(b->faults & MODEL_BIT(MODEL_FAULT_NO_PMI)))
		send |= SEND_PMI;
	return send;
}

static void freeze_on_overflow(struct model *m, unsigned int pkg,
			       unsigned int send)
{
	struct model_package *p = &m->pkg[pkg];
	u32 ctl = __atomic_load_n(&p->ctl, __ATOMIC_SEQ_CST);
	u32 cores = ctl & GLOBAL_CTL_PMI_CORE_SEL;

	model_set_frozen(m, pkg, true);
	p->by_overflow = true;
	p->frozen_at = now_ns(m);
	if ((send & SEND_PMI) && cores && m->ops.pmi)
		m->ops.pmi(m->ctx, pkg, cores, ctl & GLOBAL_CTL_WK_ON_PMI);
}

/* Counters @ctrs of @b, all with ov_en, overflowed. Did that freeze the package? */
bool model_overflow(struct model *m, struct model_box *b, unsigned int ctrs)
{
	unsigned int send = note_overflow(m, b, ctrs);

	if (send)
		freeze_on_overflow(m, b->pkg, send);
	return send;
}

/* It is the deadline: let the armed counters overflow. */
static bool serve_deadline(struct model *m)
{
	unsigned int pkg, i, overflowed, send;
	struct model_box *b;
	bool froze = false;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		send = 0;
		for (i = 0; i < m->boxes; i++) {
			b = &m->box[pkg][i];
			if (!b->armed)
				continue;
			overflowed = model_box_sync(m, b);
			send |= note_overflow(m, b, overflowed & b->armed);
		}
		if (!send)
			continue;
		freeze_on_overflow(m, pkg, send);
		froze = true;
	}
	m->deadline_known = false;
	return froze;
}

static u64 deadline(struct model *m)
{
	unsigned int pkg, i;
	u64 next;

	if (m->deadline_known)
		return m->deadline;
	m->deadline = U64_MAX;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		for (i = 0; i < m->boxes; i++) {
			next = model_box_deadline(m, &m->box[pkg][i]);
			if (next < m->deadline)
				m->deadline = next;
		}
	}
	m->deadline_known = true;
	return m->deadline;
}

/*
 * Only overflows that the UBox hears of are simulated on time; all other
 * counting is done when a box is looked at.
 */
u64 model_advance(struct model *m, u64 cycles)
{
	u64 left = cycles, next, step;

	for (;;) {
		next = deadline(m);
		step = next - m->cycles;
		if (next == U64_MAX || step > left) {
			m->cycles += left;
			return cycles;
		}
		m->cycles += step;
		left -= step;
		if (serve_deadline(m))
			return cycles - left;
	}
}

/*
 * The UBox's fixed counter has no status bit in the box, and any box may have
 * been cleared while the UBox was not: those overflows freeze nothing.
 */
u64 model_cycles_to_freeze(const struct model *m)
{
	unsigned int pkg, i, ctr;
	struct model_box b;
	u64 next = U64_MAX, status, at;

	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		status = __atomic_load_n(&m->pkg[pkg].status, __ATOMIC_SEQ_CST);
		for (i = 0; i < m->boxes; i++) {
			if (!m->box[pkg][i].armed)
				continue;
			b = m->box[pkg][i];
			for (ctr = 0; ctr < MODEL_MAX_COUNTERS; ctr++)
				if (status & global_bits(&b, ctr))
					b.armed &= ~MODEL_BIT(ctr);
			at = model_box_deadline(m, &b);
			if (at < next)
				next = at;
		}
	}
	return next == U64_MAX ? U64_MAX : next - m->cycles;
}

u64 model_global_status(const struct model *m, unsigned int pkg)
{
	return __atomic_load_n(&m->pkg[pkg].status, __ATOMIC_SEQ_CST);
}

bool model_frozen(const struct model *m, unsigned int pkg)
{
	return pkg < m->cfg.packages && m->pkg[pkg].frozen;
}

u64 model_frozen_ns(const struct model *m)
{
	u64 ns = m->frozen_ns;
	unsigned int pkg;

	for (pkg = 0; pkg < m->cfg.packages; pkg++)
		if (m->pkg[pkg].by_overflow)
			ns += now_ns(m) - m->pkg[pkg].frozen_at;
	return ns;
}

u64 model_cycles(const struct model *m)
{
	return m->cycles;
}

int model_fault(struct model *m, enum model_fault fault, unsigned int pkg,
		enum model_box_kind kind, unsigned int box, bool on)
{
	struct model_box *b = model_box(m, pkg, kind, box);

	if (!b || (unsigned int)fault >= MODEL_FAULTS)
		return -1;
	if (fault == MODEL_FAULT_DEAD_PCI && !b->type->pci)
		return -1;
	model_box_sync(m, b);
	if (on)
		b->faults |= MODEL_BIT(fault);
	else
		b->faults &= ~MODEL_BIT(fault);
	m->deadline_known = false;
	return 0;
}

void model_spurious_pmi(struct model *m, unsigned int pkg, u32 core_mask)
{
	if (pkg < m->cfg.packages && m->ops.pmi)
		m->ops.pmi(m->ctx, pkg, core_mask, false);
}

const char *model_kind_name(enum model_box_kind kind)
{
	return (unsigned int)kind < MODEL_BOX_KINDS ? model_types[kind].name :
						      NULL;
}

unsigned int model_boxes(const struct model *m, enum model_box_kind kind)
{
	return (unsigned int)kind < MODEL_BOX_KINDS ? m->count[kind] : 0;
}

/* "cbox_17 ctl0": the longest names fit well */
static void full_name(char *to, const struct model_box *b, const char *reg)
{
	const char *s;

	for (s = b->type->name; *s; s++)
		*to++ = *s;
	if (b->type->numbered) {
		*to++ = '_';
		if (b->index >= 10)
			*to++ = '0' + b->index / 10;
		*to++ = '0' + b->index % 10;
	}
	*to++ = ' ';
	for (s = reg; *s; s++)
		*to++ = *s;
	*to = '\0';
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
		if (!model_reg_dirty(m, b, &regs[i], &value))
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
	struct model_box b;
	unsigned int pkg, i;

	end = model_functions + model_nfunctions;
	for (pkg = 0; pkg < m->cfg.packages; pkg++) {
		for (i = 0; i < m->boxes; i++) {
			b = m->box[pkg][i];
			model_box_sync(m, &b);
			show_dirty(m, &b, b.type->regs, b.type->nregs, show,
				   arg);
			for (f = model_functions; f < end; f++)
				if (f->regs && f->box == b.index &&
				    &model_types[f->kind] == b.type)
					show_dirty(m, &b, f->regs, f->nregs,
						   show, arg);
		}
	}
}

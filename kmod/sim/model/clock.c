// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clocks of the boxes: convert cycles of the model's time to cycles of a box's clock
 * and back.
 */
#include "model/priv.h"

static u32 common_divisor(u32 a, u32 b)
{
	u32 rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static struct model_ratio ratio_of(u32 khz, u32 uclk)
{
	u32 divisor = common_divisor(khz, uclk);

	return (struct model_ratio){ khz / divisor, uclk / divisor };
}

void model_init_clocks(struct model *m)
{
	u32 uclk = m->cfg.clock_khz[MODEL_UCLK], khz;
	unsigned int i;

	for (i = 0; i < MODEL_CLOCKS; i++) {
		khz = m->cfg.clock_khz[i];
		m->ratio[i] = (struct model_ratio){ 1, 1 };
		if (khz)
			m->ratio[i] = ratio_of(khz, uclk);
	}
	for (i = 0; i < m->cfg.packages; i++) {
		m->pkg[i].uclk = (struct model_ratio){ 1, 1 };
		m->pkg[i].uclk_khz = uclk;
	}
}

/* Return the whole cycles of a clock in the first @cycles cycles of the model's time. */
static u64 scale(const struct model_ratio *r, u64 cycles)
{
	if (r->num == r->den)
		return cycles;
	/* two parts, because cycles * num may overflow */
	return cycles / r->den * r->num + cycles % r->den * r->num / r->den;
}

/*
 * Return the first cycle of the model's time at whose end @cycles cycles of a clock have
 * passed; U64_MAX: never.
 */
static u64 unscale(const struct model_ratio *r, u64 cycles)
{
	u64 whole, rest;

	if (r->num == r->den)
		return cycles;
	if (!r->num)
		return cycles ? U64_MAX : 0;
	whole = cycles / r->num;
	rest = cycles % r->num;
	if (whole >= U64_MAX / r->den)
		return U64_MAX;
	return whole * r->den + (rest * r->den + r->num - 1) / r->num;
}

/*
 * Return the cycles of the box's clock that have passed at cycle @at of the model's time.
 * For a box on UCLK, @at must not be before the last change of the frequency of UCLK.
 */
u64 model_box_cycles(const struct model *m, const struct model_box *b, u64 at)
{
	const struct model_package *p = &m->pkg[b->pkg];

	if (b->type->clock != MODEL_UCLK)
		return scale(&m->ratio[b->type->clock], at);
	return p->uclk_cycles + scale(&p->uclk, at - p->uclk_from);
}

/*
 * Return the first cycle of the model's time at whose end @cycles cycles of the box's clock
 * have passed; U64_MAX: never.
 */
u64 model_box_uclk(const struct model *m, const struct model_box *b, u64 cycles)
{
	const struct model_package *p = &m->pkg[b->pkg];
	u64 at;

	if (b->type->clock != MODEL_UCLK)
		return unscale(&m->ratio[b->type->clock], cycles);
	if (cycles <= p->uclk_cycles)
		return p->uclk_from;
	at = unscale(&p->uclk, cycles - p->uclk_cycles);
	return at < U64_MAX - p->uclk_from ? p->uclk_from + at : U64_MAX;
}

/* Change a package's UCLK from now on. The caller has synced the boxes of the package. */
void model_change_uclk(struct model *m, unsigned int pkg, u32 khz)
{
	struct model_package *p = &m->pkg[pkg];

	p->uclk_cycles += scale(&p->uclk, m->cycles - p->uclk_from);
	p->uclk_from = m->cycles;
	p->uclk = ratio_of(khz, m->cfg.clock_khz[MODEL_UCLK]);
	p->uclk_khz = khz;
}

u32 model_uclk(const struct model *m, unsigned int pkg)
{
	return pkg < m->cfg.packages ? m->pkg[pkg].uclk_khz : 0;
}

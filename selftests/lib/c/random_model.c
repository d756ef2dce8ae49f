// SPDX-License-Identifier: GPL-2.0-or-later
/* Expected counts of random use: see random_model.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "random_model.h"
#include "tap.h"

#define TOR_INSERTS	0x35
#define TOR_OCCUPANCY	0x36
#define LLC_LOOKUP	0x34
#define CTO_COUNT	0x138
#define QPI_MATCH_TX	(1ULL << 32)
#define UMASK_OPCODE	0x01

void rng_seed(struct rng *r, uint64_t seed)
{
	r->state = seed * 0x9e3779b97f4a7c15ULL + 0x1234567;
	for (int i = 0; i < 8; i++)
		rng_next(r);
}

uint64_t rng_next(struct rng *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	if (!r->state)
		r->state = 1;
	return r->state * 0x2545f4914f6cdd1dULL;
}

unsigned int rng_below(struct rng *r, unsigned int n)
{
	return (rng_next(r) >> 32) % n;
}

bool rng_chance(struct rng *r, unsigned int percent)
{
	return rng_below(r, 100) < percent;
}

/* --- boxes ---------------------------------------------------------------- */

void model_find_boxes(struct model *m)
{
	m->boxes = 0;
	for (int k = 0; *box_types[k]; k++) {
		char pmu[PMU_NAME_MAX];

		for (unsigned int i = 0; pmu_name(pmu, box_types[k], i); i++) {
			for (int pkg = 0; pkg < packages(); pkg++) {
				struct model_box *b = &m->box[m->boxes];

				if (m->boxes == MODEL_BOXES ||
				    pmu_cpu(pmu, pkg) < 0)
					continue;
				*b = (struct model_box){
					.box_type = box_types[k], .pkg = pkg,
					.type = pmu_type(pmu),
				};
				strcpy(b->pmu, pmu);
				m->boxes++;
			}
		}
	}
}

void model_heat(struct model *m, struct rng *r)
{
	for (unsigned int i = 0; i < m->boxes; i++)
		m->box[i].hot = rng_chance(r, 20);
}

uint64_t model_shape_bits(const struct cat_event *e, struct shape s)
{
	bool occupancy = !strcmp(e->box, "pcu") && (e->code & 0x80);

	return (uint64_t)s.thresh << 24 |
	       (s.invert ? 1ULL << (occupancy ? 30 : 23) : 0);
}

bool model_obeys_opcode(const struct cat_event *e)
{
	return !strcmp(e->box, "cbox") && (e->umask & UMASK_OPCODE) &&
	       (e->code == TOR_INSERTS || e->code == TOR_OCCUPANCY);
}

/* --- counters ------------------------------------------------------------- */

/* Return whether the events share a counter: equal events that do not sample do. */
static bool same_counter(const struct model_event *a,
			 const struct model_event *b)
{
	return !a->period && !b->period && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2;
}

/* Return whether both events, which are of one box, have this box type and code. */
static bool both(const struct model_event *a, const struct model_event *b,
		 const char *box_type, unsigned int code)
{
	return !strcmp(a->cat->box, box_type) && a->cat->code == code &&
	       b->cat->code == code;
}

/* Return whether the events need different values of the same filter. */
static bool collide(const struct model_event *a, const struct model_event *b)
{
	/* QPI's filters match either received or sent packets */
	if (both(a, b, "qpi", CTO_COUNT) &&
	    ((a->config ^ b->config) & QPI_MATCH_TX))
		return true;
	if (a->config1 == b->config1 && a->config2 == b->config2)
		return false;
	return (model_obeys_opcode(a->cat) && model_obeys_opcode(b->cat)) ||
	       both(a, b, "cbox", LLC_LOOKUP) || both(a, b, "qpi", CTO_COUNT);
}

/*
 * Return whether event @i and all later events of @set can have counters that are not in
 * the mask @taken. Bit 31 stands for the fixed counter.
 */
static bool place(struct model_event *const *set, unsigned int n,
		  unsigned int i, unsigned int taken)
{
	unsigned int want;

	if (i == n)
		return true;
	if (set[i]->cat->free)
		return place(set, n, i + 1, taken);
	for (unsigned int j = 0; j < i; j++)
		if (same_counter(set[i], set[j]))
			return place(set, n, i + 1, taken);
	want = set[i]->cat->fixed ? 1u << 31 : set[i]->cat->ctrs;
	for (unsigned int bit = 1; bit; bit <<= 1)
		if ((want & bit) && !(taken & bit) &&
		    place(set, n, i + 1, taken | bit))
			return true;
	return false;
}

bool model_fits(struct model_event *const *set, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < i; j++)
			if (collide(set[i], set[j]))
				return false;
	return place(set, n, 0, 0);
}

/* --- events --------------------------------------------------------------- */

static const struct model_event *leader_of(const struct model_worker *w,
					   const struct model_event *e)
{
	return e->leader < 0 ? e : &w->event[e->leader];
}

bool model_counts(const struct model_worker *w, const struct model_event *e)
{
	return e->life == MODEL_OPEN && e->enabled && !e->dead &&
	       leader_of(w, e)->enabled && e->cat && !e->box->dead;
}

#define for_each_event(m, w, e)						\
	for ((w) = (m)->worker; (w) < (m)->worker + (m)->workers; (w)++)	\
		for ((e) = (w)->event; (e) < (w)->event + MODEL_EVENTS; (e)++)

/* Most events of a box for which all assignments are tried; a box with more is tainted */
enum { MAX_SET = 12 };

/*
 * Taint the box if its events since the last quiet moment did not fit into its counters,
 * or if perf may have disabled an event after a refresh. No event of a tainted box is
 * sure of a counter. A box without enabled events is not tainted any more.
 */
static void settle_box(struct model *m, struct model_box *box)
{
	struct model_event *set[MAX_SET], *e;
	bool fits = true, limited = false, idle = true;
	struct model_worker *w;
	unsigned int n = 0;

	for_each_event(m, w, e) {
		if (e->life == MODEL_FREE || e->box != box || !e->cat ||
		    e->dead)
			continue;
		idle &= e->life != MODEL_OPEN || !e->enabled;
		if (!e->was_enabled)
			continue;
		limited |= e->limited;
		if (n < MAX_SET)
			set[n++] = e;
		else
			fits = false;
	}
	if (!fits || limited || !model_fits(set, n))
		box->tainted = true;
	if (box->tainted) {
		for_each_event(m, w, e)
			if (e->life != MODEL_FREE && e->box == box)
				e->sure = false;
	}
	if (idle)
		box->tainted = false;
}

void model_settle(struct model *m)
{
	struct model_worker *w;
	struct model_event *e;

	for (unsigned int i = 0; i < m->boxes; i++)
		settle_box(m, &m->box[i]);
	for_each_event(m, w, e) {
		if (e->life == MODEL_CLOSED)
			e->life = MODEL_FREE;
		e->was_enabled = e->enabled;
	}
}

/* Add @at_least to @at_most to the count of an enabled event, which may lack a counter. */
static void grow(struct model_event *e, uint64_t at_least, uint64_t at_most)
{
	e->hi += at_most;
	if (e->sure && at_least == at_most) {
		e->lo += at_least;
		e->total += at_least;
	} else if (at_most) {
		if (e->sure)
			e->lo += at_least;
		e->loose = true;
	}
}

void model_pass(struct model *m, uint64_t start, uint64_t cycles)
{
	struct model_worker *w;
	struct model_event *e;
	uint64_t n;

	for_each_event(m, w, e) {
		if (!model_counts(w, e))
			continue;
		n = cat_expect(e->cat, e->shape, start, cycles);
		grow(e, n, n);
	}
}

void model_transactions(struct model *m, const struct model_box *box,
			const struct cat_event *cat, unsigned int opcode,
			uint64_t n)
{
	struct model_worker *w;
	struct model_event *e;

	for_each_event(m, w, e) {
		uint64_t most = n;

		if (!model_counts(w, e) || e->box != box ||
		    e->cat->code != cat->code || e->cat->fixed || e->cat->free)
			continue;
		/* a transaction adds 1: a higher or inverted threshold does not count it */
		if (e->shape.thresh > 1 || (e->shape.thresh && e->shape.invert))
			most = 0;
		if (model_obeys_opcode(e->cat) && e->config1 >> 52 != opcode)
			most = 0;
		/* events with another unit mask may count the transactions or not */
		grow(e, e->cat->umask == cat->umask ? most : 0, most);
	}
}

void model_cpu_left(struct model *m, int cpu, int heir)
{
	struct model_worker *w;
	struct model_event *e;

	m->online[cpu] = false;
	for_each_event(m, w, e) {
		if (e->life != MODEL_OPEN || e->cpu != cpu || e->dead)
			continue;
		if (heir < 0) {
			e->dead = true;
			continue;
		}
		e->cpu = heir;
		e->moved = true;
		/* perf enables disabled events as well, and they may not fit */
		e->was_enabled = e->enabled = true;
	}
	model_settle(m);
}

void model_box_gone(struct model *m, struct model_box *box)
{
	struct model_worker *w;
	struct model_event *e;

	box->dead = true;
	for_each_event(m, w, e)
		if (e->life == MODEL_OPEN && e->box == box)
			e->loose = true;
}

/* --- the diary ------------------------------------------------------------ */

void model_note(struct model *m, int worker, const char *text, ...)
{
	unsigned int n = __atomic_fetch_add(&m->lines, 1, __ATOMIC_RELAXED);
	struct model_line *line = &m->diary[n % MODEL_LOG];
	va_list args;

	line->worker = worker;
	va_start(args, text);
	vsnprintf(line->text, sizeof(line->text), text, args);
	va_end(args);
}

/* Return whether the line names @pmu, or is about the machine. */
static bool concerns(const struct model_line *line, const char *pmu)
{
	return line->worker == MODEL_ALL || strstr(line->text, pmu);
}

void model_tell(const struct model *m, const char *pmu)
{
	unsigned int end = m->lines, left = 60;
	unsigned int oldest = end > MODEL_LOG ? end - MODEL_LOG : 0, first;

	for (first = end; first > oldest && left; first--)
		left -= concerns(&m->diary[(first - 1) % MODEL_LOG], pmu);
	for (; first < end; first++) {
		const struct model_line *line = &m->diary[first % MODEL_LOG];

		if (!concerns(line, pmu))
			continue;
		if (line->worker == MODEL_ALL)
			tap_diag("    %s", line->text);
		else
			tap_diag("    worker %d: %s", line->worker, line->text);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every name of every PMU: it opens, the control and filter registers then
 * hold what the catalogue says, and it counts its wave exactly. All boxes of
 * all packages count at once, as many names each as its counters allow.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

enum {
	MAX_BOXES = 256,	/* of all packages */
	MAX_BOXES_OF_TYPE = 32,	/* of one */
	MAX_GENERAL = 4,
	MAX_CHOSEN = 9,		/* general, and fixed or free-running ones */
	MAX_FILTERS = 8,
	MAX_FAILURES = 20,	/* that are reported for one PMU */
	CYCLES = 1009,		/* of the first round */
};

#define BIT(n)		(1ULL << (n))
#define BITS(lo, hi)	((~0ULL >> (63 - (hi))) & (~0ULL << (lo)))
#define CTL_EN		BIT(22)
#define MATCH_TX	BIT(32)		/* of QPI's config */
#define CBO_OCCUPANCY0	0x1f
#define CBO_TOR_INSERTS	0x35
#define CBO_TOR_OCCUPANCY 0x36
#define PCU_BAND0	0x0b
#define PCU_BAND3	0x0e
#define QPI_CTO_COUNT	0x138

/* --- registers, by the manual --------------------------------------------- */

/* Filter fields that an event string leaves to the user, as "?" */
static const struct field {
	const char *box, *name;
	unsigned int word, low;
	uint64_t valid;		/* valid values */
} fields[] = {
	{ "ubox", "filter_tid", 1, 0, 0x1 },
	{ "ubox", "filter_cid", 1, 1, 0x1f },
	{ "cbox", "filter_state", 1, 17, 0x7f },
	{ "cbox", "filter_nid", 1, 32, 0xffff },
	{ "cbox", "filter_opc", 1, 52, 0x1ff },
	{ "ha", "filter_addr", 1, 0, BITS(6, 45) },
	{ "ha", "filter_opc", 1, 48, 0x3f },
	{ "pcu", "filter_band0", 1, 0, 0xff },
	{ "pcu", "filter_band1", 1, 8, 0xff },
	{ "pcu", "filter_band2", 1, 16, 0xff },
	{ "pcu", "filter_band3", 1, 24, 0xff },
	{ "qpi", "match0", 1, 0, 0x8003fff8 },
	{ "qpi", "mask0", 2, 0, 0x8003fff8 },
};

/* Filter registers: the bits of config1 or config2 of each one */
struct filter_reg {
	const char *name;
	unsigned int word, shift;
	uint64_t mask;
	unsigned int at;	/* MSR of box 0, or offset */
};

/*
 * Registers of a box type: MSRs of box 0 and their distance, or PCI device IDs with
 * offsets of the first box there, and the distance. @apart are the IDs of the functions
 * that have the filters. IDs are Haswell's; other generations have the same lower byte.
 * @joint: the control is the upper half of a counter's register, and has no enable bit.
 */
struct type {
	const char *name;
	unsigned int general, stride, ctl, ctl_step, fixed;
	bool joint;
	uint16_t ids[8], apart[8];
	struct filter_reg filters[MAX_FILTERS];
};

#define HA_FILTERS { \
	{ "addrmatch0", 1, 0, BITS(6, 31), 0x40 }, \
	{ "addrmatch1", 1, 32, BITS(0, 13), 0x44 }, \
	{ "opcodematch", 1, 48, BITS(0, 5), 0x48 } }
#define QPI_RX_FILTERS \
	{ "rx_match0", 1, 0, 0x8003fff8, 0x228 }, \
	{ "rx_match1", 1, 32, 0x000f000f, 0x22c }, \
	{ "rx_mask0", 2, 0, 0x8003fff8, 0x238 }, \
	{ "rx_mask1", 2, 32, 0x000f000f, 0x23c }

static const struct type haswell[BOX_TYPES] = {
	{ "ubox", 2, 0, 0x705, 1, 0x703,
	  .filters = { { "filter", 1, 0, 0x3f, 0x707 } } },
	{ "cbox", 4, 0x10, 0xe01, 1, 0,
	  .filters = {
		{ "filter0", 1, 0, BITS(17, 23) | BITS(0, 8), 0xe05 },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15), 0xe06 } } },
	{ "sbox", 4, 10, 0x721, 1, 0, .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f30, 0x2f38 },
	  .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0,
	  .ids = { 0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5,
		   0x2fd0, 0x2fd1, 0x2fd4, 0x2fd5 } },
	{ "irp", 2, 8, 0xd8, 4, 0, .ids = { 0x2f39, 0x2f39 } },
	{ "pcu", 4, 0, 0x711, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0x715 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f32, 0x2f33, 0x2f3a },
	  .apart = { 0x2f86, 0x2f96, 0x2f46 },
	  .filters = {
		QPI_RX_FILTERS,
		{ "tx_match0", 1, 0, 0x8003fff8, 0x200 },
		{ "tx_match1", 1, 32, 0x000f000f, 0x204 },
		{ "tx_mask0", 2, 0, 0x8003fff8, 0x210 },
		{ "tx_mask1", 2, 32, 0x000f000f, 0x214 } } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f34 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f36, 0x2f37, 0x2f3e } },
};

static const struct type ivy_bridge[BOX_TYPES] = {
	{ "ubox", 2, 0, 0xc10, 1, 0xc08, .ids = { 0 } },
	{ "cbox", 4, 0x20, 0xd10, 1, 0,
	  .filters = {
		{ "filter0", 1, 0, BITS(17, 22) | BITS(0, 8), 0xd14 },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15), 0xd1a } } },
	{ "sbox", .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f30, 0x2f38 },
	  .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0,
	  .ids = { 0x2fb4, 0x2fb5, 0x2fb0, 0x2fb1,
		   0x2ff4, 0x2ff5, 0x2ff0, 0x2ff1 } },
	{ "irp", 2, 8, 0xd8, 4, 0, .ids = { 0x2f39, 0x2f39 } },
	{ "pcu", 4, 0, 0xc30, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0xc34 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f32, 0x2f33, 0x2f3a },
	  .apart = { 0x2f86, 0x2f96 }, .filters = { QPI_RX_FILTERS } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f34 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f36, 0x2f37, 0x2f3e } },
};

static const struct type sandy_bridge[BOX_TYPES] = {
	{ "ubox", 2, 0, 0xc10, 1, 0xc08, .ids = { 0 } },
	{ "cbox", 4, 0x20, 0xd10, 1, 0,
	  .filters = {
		{ "filter", 1, 0, BITS(10, 31) | BITS(0, 4), 0xd14 } } },
	{ "sbox", .ids = { 0 } },
	{ "ha", 4, 0, 0xd8, 4, 0, .ids = { 0x2f46 }, .filters = HA_FILTERS },
	{ "imc", 4, 0, 0xd8, 4, 0xf0, .ids = { 0x2fb0, 0x2fb1, 0x2fb4, 0x2fb5 } },
	{ "irp", .ids = { 0 } },
	{ "pcu", 4, 0, 0xc30, 1, 0,
	  .filters = { { "filter", 1, 0, BITS(0, 31), 0xc34 } } },
	{ "qpi", 4, 0, 0xd8, 4, 0, .ids = { 0x2f41, 0x2f42 },
	  .apart = { 0x2f86, 0x2f96 }, .filters = { QPI_RX_FILTERS } },
	{ "r2pcie", 4, 0, 0xd8, 4, 0, .ids = { 0x2f43 } },
	{ "r3qpi", 3, 0, 0xd8, 4, 0, .ids = { 0x2f44, 0x2f45 } },
};

static const struct type front_side[BOX_TYPES] = {
	{ "gbsq", 2, .ctl = 0x107cc, .ctl_step = 1, .joint = true },
	{ "gsnpq", 2, .ctl = 0x107ce, .ctl_step = 1, .joint = true },
	{ "fsb", 4, .ctl = 0x107d0, .ctl_step = 1, .joint = true },
};

/* Registers of Sandy Bridge at other addresses */
static const struct field sandy_bridge_fields[] = {
	{ "cbox", "filter_state", 1, 18, 0x1f },
	{ "cbox", "filter_nid", 1, 10, 0xff },
	{ "cbox", "filter_opc", 1, 23, 0x1ff },
};

/*
 * Registers of a generation, the bits of config1 that select a request, and fields that
 * override those of all generations
 */
static const struct layout {
	const char *generation;
	const struct type *types;
	uint64_t request;
	const struct field *own;
	unsigned int n_own;
} layouts[] = {
	{ "ivbep", ivy_bridge, BITS(52, 63), NULL, 0 },
	{ "snbep", sandy_bridge, BITS(23, 31), sandy_bridge_fields,
	  sizeof(sandy_bridge_fields) / sizeof(*sandy_bridge_fields) },
	{ "xeon7100", front_side, 0, NULL, 0 },
	{ "xeon7400", front_side, 0, NULL, 0 },
	/* and the link */
	{ NULL, haswell, BITS(52, 63) | BITS(6, 8), NULL, 0 },
};
static const struct layout *layout = layouts;

/* --- boxes, and their names in a round ------------------------------------ */

/* A name that is being counted */
struct chosen {
	const struct cat_event *e;
	uint64_t config[3];	/* of the catalogue, with "?" filled in */
	uint64_t used[3];	/* filter fields that the event obeys */
	char text[400];
	struct perf_event_attr attr;
	bool open, failed;
	int ctr;		/* general counter with this event, or -1 */
};

/* Register contents of a box, by the simulator */
struct registers {
	uint64_t ctl[MAX_GENERAL], fixed, filter[MAX_FILTERS];
};

static struct box {
	const struct type *type;
	unsigned int index, names, left, good, bad;
	int pkg, cpu;
	char pmu[PMU_NAME_MAX];
	char function[2][16];	/* in PCI space: of the box, of the filters */
	const struct cat_event **todo;	/* names to be counted, best first */
	struct chosen chosen[MAX_CHOSEN];
	unsigned int n;
	struct event_group group;
	struct registers regs;
	char *failures[MAX_FAILURES];
} boxes[MAX_BOXES];
static unsigned int n_boxes, rounds, raw_boxes, raw_wrong;
/* A box type of which one box has no PMU, but a later one has */
static const char *gap;

__attribute__((format(printf, 3, 4)))
static void fail(struct box *b, const struct cat_event *e, const char *why, ...)
{
	char text[512];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	if (b->bad < MAX_FAILURES &&
	    asprintf(&b->failures[b->bad], "%s: %s", e->name, text) < 0)
		tap_bail("out of memory");
	b->bad++;
	for (unsigned int i = 0; i < b->n; i++)
		b->chosen[i].failed |= b->chosen[i].e == e;
}

/* Return whether the box cannot count the name because its filters are unknown. */
static bool needs_filters(const struct box *b, const struct cat_event *e)
{
	return b->type->apart[0] && !b->type->apart[b->index] &&
	       e->code == QPI_CTO_COUNT;
}

static bool is_relay(const struct cat_event *e)
{
	return !strcmp(e->box, "cbox") && e->code == CBO_OCCUPANCY0;
}

/* Names that few groups have room for come first. */
static int rank(const struct cat_event *e)
{
	return is_relay(e) ? 2 : __builtin_popcount(e->ctrs);
}

/* Boxes start with different names, so that a mix-up shows. */
static void plan(struct box *b)
{
	size_t n, first = 0;
	const struct cat_event *e = catalogue(&n);
	unsigned int turn, useless = 0;

	while (first < n && strcmp(e[first].box, b->type->name))
		first++;
	for (b->names = 0; first + b->names < n &&
	     !strcmp(e[first + b->names].box, b->type->name); b->names++)
		;
	b->todo = calloc(b->names + 1, sizeof(*b->todo));
	if (!b->todo)
		tap_bail("out of memory");
	turn = b->names ? (b->index * 5 + b->pkg * 17) % b->names : 0;
	for (int r = 0; r <= MAX_GENERAL; r++)
		for (unsigned int i = 0; i < b->names; i++) {
			const struct cat_event *one =
				&e[first + (i + turn) % b->names];

			if (rank(one) != r)
				continue;
			if (needs_filters(b, one))
				useless++;
			else
				b->todo[b->left++] = one;
		}
	b->names -= useless;
}

/* A missing box has no readable registers, and that is reported. */
static void find_functions(struct box *b)
{
	if (b->type->ids[0])
		pci_find(b->function[0], b->type->ids[b->index], b->pkg);
	if (b->type->apart[0] && b->type->apart[b->index])
		pci_find(b->function[1], b->type->apart[b->index], b->pkg);
}

/* Return whether there is a PMU of a box beyond a missing one. */
static bool has_gap(const char *type, unsigned int missing)
{
	char name[PMU_NAME_MAX];

	for (unsigned int i = missing + 1; i < MAX_BOXES_OF_TYPE; i++)
		if (pmu_name(name, type, i))
			return true;
	return false;
}

static void find_boxes(void)
{
	int n_packages = packages();

	for (int p = 0; p < n_packages; p++)
		for (unsigned int k = 0; k < BOX_TYPES && layout->types[k].name; k++)
			for (unsigned int i = 0; n_boxes < MAX_BOXES; i++) {
				struct box *b = &boxes[n_boxes];

				b->type = &layout->types[k];
				if (!pmu_name(b->pmu, b->type->name, i)) {
					if (has_gap(b->type->name, i))
						gap = b->type->name;
					break;
				}
				b->index = i;
				b->pkg = p;
				b->cpu = pmu_cpu(b->pmu, p);
				find_functions(b);
				plan(b);
				n_boxes++;
			}
}

/* --- a name's configuration ----------------------------------------------- */

/* Values of a field on this generation */
static uint64_t valid_of(const struct field *f)
{
	return strcmp(f->name, "filter_state") ? f->valid :
						 f->valid & generation()->states;
}

/* A value for a field: another one in each round, never 0 */
static uint64_t value_for(const struct field *f)
{
	uint64_t x = (rounds + 1) * 0x9e3779b97f4a7c15 +
		     (f->low + f->name[strlen(f->name) - 1]) * 0x51ed27;

	if (!strcmp(f->box, "pcu"))	/* within the wave's frequencies */
		return 8 + x % 33;
	x = (x ^ x >> 29) & valid_of(f);
	return x ? x : valid_of(f);
}

static const struct field *find_field(const struct field *f, size_t n,
				      const char *box, const char *name,
				      size_t length)
{
	for (; n; n--, f++)
		if (!strcmp(f->box, box) && strlen(f->name) == length &&
		    !strncmp(f->name, name, length))
			return f;
	return NULL;
}

/* Filter bits that a name obeys in addition to those that it mentions */
static void add_companions(struct chosen *c)
{
	const struct cat_event *e = c->e;

	if (!strcmp(e->box, "cbox") && (e->umask & 1) &&
	    (e->code == CBO_TOR_INSERTS || e->code == CBO_TOR_OCCUPANCY))
		c->used[1] |= layout->request;
	if (!strcmp(e->box, "qpi") && e->code == QPI_CTO_COUNT)
		c->used[1] = c->used[2] = ~0ULL;
}

/* Fill in the parameters: the text for perf, and the expected words. */
static void configure(struct chosen *c, const struct cat_event *e)
{
	char copy[sizeof(e->string)], *save, *term;
	size_t at;

	memset(c, 0, sizeof(*c));
	c->e = e;
	c->ctr = -1;
	c->config[0] = e->config;
	c->config[1] = e->config1;
	c->config[2] = e->config2;
	at = snprintf(c->text, sizeof(c->text), "%s", e->name);
	snprintf(copy, sizeof(copy), "%s", e->string);
	for (term = strtok_r(copy, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		const struct field *f;
		size_t length = strcspn(term, "=");
		uint64_t value;

		if (strcmp(term + length, "=?"))
			continue;
		f = find_field(layout->own, layout->n_own, e->box, term, length);
		if (!f)
			f = find_field(fields, sizeof(fields) / sizeof(*fields),
				       e->box, term, length);
		if (!f)
			tap_bail("%s/%s/: what is %s?", e->box, e->name, term);
		value = value_for(f);
		c->config[f->word] |= value << f->low;
		c->used[f->word] |= valid_of(f) << f->low;
		at += snprintf(c->text + at, sizeof(c->text) - at,
			       ",%s=%#" PRIx64, f->name, value);
	}
	add_companions(c);
}

/* --- which names fit together --------------------------------------------- */

static bool is_special(const struct cat_event *e)
{
	return e->fixed || e->free;
}

/* Return whether each of the general events from @i on can get a counter. */
static bool counters_fit(const struct box *b, unsigned int i, unsigned int taken)
{
	if (i == b->n)
		return true;
	if (is_special(b->chosen[i].e))
		return counters_fit(b, i + 1, taken);
	for (unsigned int ctr = 0; ctr < b->type->general; ctr++)
		if ((b->chosen[i].e->ctrs & ~taken & BIT(ctr)) &&
		    counters_fit(b, i + 1, taken | BIT(ctr)))
			return true;
	return false;
}

/* Return whether the last chosen name is compatible with the others. */
static bool last_fits(const struct box *b)
{
	const struct chosen *last = &b->chosen[b->n - 1];
	bool relay = is_relay(last->e);

	for (unsigned int i = 0; i < b->n - 1; i++) {
		const struct chosen *c = &b->chosen[i];

		/* names of the same event, and the one filter of QPI */
		if (!memcmp(c->config, last->config, sizeof(c->config)) ||
		    (c->used[2] && last->used[2]))
			return false;
		/*
		 * it repeats the entries of counter 0, so counter 0's event must be
		 * known
		 */
		if (c->e->ctrs == 1)
			relay = false;
	}
	return !relay && counters_fit(b, 0, 0);
}

static void choose(struct box *b)
{
	unsigned int kept = 0;

	b->n = 0;
	for (unsigned int i = 0; i < b->left; i++) {
		if (b->n < MAX_CHOSEN) {
			configure(&b->chosen[b->n++], b->todo[i]);
			if (last_fits(b))
				continue;
			b->n--;
		}
		b->todo[kept++] = b->todo[i];
	}
	if (!b->n && kept)
		fail(b, b->todo[0], "it fits on no counter");
	b->left = b->n ? kept : 0;
}

/* --- opening -------------------------------------------------------------- */

static void open_one(struct box *b, struct chosen *c)
{
	int err = pmu_attr(&c->attr, b->pmu, c->text), fd;

	if (err) {
		fail(b, c->e, "'%s' means nothing to sysfs: %s", c->text,
		     strerror(-err));
		return;
	}
	if (c->attr.config != c->config[0] || c->attr.config1 != c->config[1] ||
	    c->attr.config2 != c->config[2]) {
		fail(b, c->e, "'%s' is %#llx,%#llx,%#llx in sysfs, %#" PRIx64
		     ",%#" PRIx64 ",%#" PRIx64 " in the catalogue", c->text,
		     c->attr.config, c->attr.config1, c->attr.config2,
		     c->config[0], c->config[1], c->config[2]);
		return;
	}
	c->attr.read_format |= PERF_FORMAT_GROUP;
	c->attr.disabled = !b->group.n;
	fd = perf_open(&c->attr, -1, b->cpu, b->group.n ? b->group.fd[0] : -1);
	if (fd < 0) {
		fail(b, c->e, "'%s' does not open: %s", c->text, strerror(-fd));
		return;
	}
	b->group.fd[b->group.n++] = fd;
	c->open = true;
}

static void open_all(struct box *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		open_one(b, &b->chosen[i]);
	if (b->group.n && ioctl(b->group.fd[0], PERF_EVENT_IOC_ENABLE, 0))
		tap_bail("%s: enable: %s", b->pmu, strerror(errno));
}

/* --- registers ------------------------------------------------------------ */

static void take_register(struct box *b, const char *reg, uint64_t value)
{
	unsigned int i;

	if (!strcmp(reg, "fixed_ctl"))
		b->regs.fixed = value;
	if (sscanf(reg, "ctl%u", &i) == 1 && i < MAX_GENERAL)
		b->regs.ctl[i] = value;
	for (i = 0; i < MAX_FILTERS && b->type->filters[i].name; i++)
		if (!strcmp(reg, b->type->filters[i].name))
			b->regs.filter[i] = value;
}

/* Registers that are not in the file have their reset value, 0. */
static void read_registers(void)
{
	FILE *f = fopen("/sys/kernel/debug/xeon_uncore_sim/registers", "re");
	char line[128], name[64], reg[64];
	struct box *b = boxes;
	uint64_t value;
	int pkg;

	if (!f)
		tap_bail("the simulated hardware shows no registers");
	for (unsigned int i = 0; i < n_boxes; i++)
		memset(&boxes[i].regs, 0, sizeof(boxes[i].regs));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d %63s %63s %" SCNx64, &pkg, name, reg,
			   &value) != 4)
			continue;
		/*
		 * the file is sorted by box, so the next line is mostly of the same box
		 */
		for (unsigned int i = 0; i < n_boxes &&
		     (b->pkg != pkg || strcmp(pmu_box(b->pmu), name)); i++)
			b = b + 1 < boxes + n_boxes ? b + 1 : boxes;
		if (b->pkg == pkg && !strcmp(pmu_box(b->pmu), name))
			take_register(b, reg, value);
	}
	fclose(f);
}

/* Each name is on one of its counters, and no other counter is enabled. */
static void check_controls(struct box *b)
{
	unsigned int taken = 0;
	bool fixed = false;

	for (struct chosen *c = b->chosen; c < b->chosen + b->n; c++) {
		/* no cycle has passed: below a joint control the count is 0 */
		uint64_t want = b->type->joint ? c->e->config :
				(uint32_t)(c->e->config | CTL_EN);

		if (!c->open)
			continue;
		fixed |= c->e->fixed;
		for (unsigned int i = 0; i < b->type->general; i++)
			if (!is_special(c->e) && b->regs.ctl[i] == want &&
			    !(taken & BIT(i)))
				c->ctr = i;
		if (is_special(c->e))
			continue;
		if (c->ctr < 0) {
			fail(b, c->e, "no control register holds %#" PRIx64,
			     want);
			continue;
		}
		taken |= BIT(c->ctr);
		if (!(c->e->ctrs & BIT(c->ctr)))
			fail(b, c->e, "is on counter %d, may be on %#x only",
			     c->ctr, c->e->ctrs);
	}
	for (unsigned int i = 0; i < b->type->general; i++)
		if (!(taken & BIT(i)) && b->regs.ctl[i])
			fail(b, b->chosen[0].e, "or another: control %u holds %#"
			     PRIx64, i, b->regs.ctl[i]);
	if (b->regs.fixed != (fixed ? CTL_EN : 0))
		fail(b, b->chosen[0].e, "or another: the fixed counter's control holds %#"
		     PRIx64, b->regs.fixed);
}

/*
 * Return whether a filter register belongs to the direction that the name does not
 * match.
 */
static bool other_side(const struct chosen *c, const struct filter_reg *r)
{
	return !strcmp(c->e->box, "qpi") &&
	       !(c->config[0] & MATCH_TX) != !strncmp(r->name, "rx", 2);
}

static void check_filters(struct box *b)
{
	for (struct chosen *c = b->chosen; c < b->chosen + b->n; c++)
		for (unsigned int i = 0; i < MAX_FILTERS; i++) {
			const struct filter_reg *r = &b->type->filters[i];
			uint64_t mask, want;

			if (!c->open || !r->name)
				continue;
			mask = c->used[r->word] >> r->shift & r->mask;
			want = c->config[r->word] >> r->shift & mask;
			if (other_side(c, r))
				want = 0;
			if ((b->regs.filter[i] & mask) != want)
				fail(b, c->e, "%s holds %#" PRIx64 ", want %#"
				     PRIx64 " in the bits %#" PRIx64, r->name,
				     b->regs.filter[i], want, mask);
		}
}

/*
 * Read a register of a box without the driver; @apart: of the function with the
 * filters.
 */
static bool raw_read(const struct box *b, unsigned int at, bool apart,
		     uint64_t *value)
{
	uint32_t word = 0;
	int err;

	if (!b->type->ids[0])
		return !msr_read(b->cpu, at + b->type->stride * b->index, value);
	/* two boxes may be in one function */
	err = pci_config_read(b->function[apart && b->type->apart[0]],
			      at + b->type->stride * b->index, &word);
	*value = word;
	return !err;
}

static bool raw_equal(const struct box *b, unsigned int at, bool apart,
		      uint64_t want)
{
	uint64_t value = 0;
	bool ok = raw_read(b, at, apart, &value) && value == want;

	if (!ok && raw_wrong++ < MAX_FAILURES)
		tap_diag("%s package %d: register %#x is %#" PRIx64
			 ", the simulator says %#" PRIx64, b->pmu, b->pkg, at,
			 value, want);
	return ok;
}

/* Compare rdmsr and setpci with the simulator's register file. */
static void check_raw(const struct box *b)
{
	const struct type *k = b->type;

	for (unsigned int i = 0; i < k->general; i++)
		raw_equal(b, k->ctl + i * k->ctl_step, false, b->regs.ctl[i]);
	if (k->fixed)
		raw_equal(b, k->fixed, false, b->regs.fixed);
	if (k->apart[0] && !k->apart[b->index])
		return;
	for (unsigned int i = 0; i < MAX_FILTERS && k->filters[i].name; i++)
		raw_equal(b, k->filters[i].at, true, b->regs.filter[i]);
	raw_boxes++;
}

/* --- counts --------------------------------------------------------------- */

/* The event that a counter sees: the CBo's relay event stands for another one. */
static const struct cat_event *seen_by(const struct box *b,
				       const struct chosen *c)
{
	if (!is_relay(c->e) || !c->ctr)
		return c->e;
	for (const struct chosen *o = b->chosen; o < b->chosen + b->n; o++)
		if (o->open && !is_special(o->e) && o->ctr == 0)
			return o->e;
	return c->e;
}

static uint64_t expected(const struct box *b, const struct chosen *c,
			 uint64_t start, uint64_t cycles)
{
	const struct cat_event *e = c->e;
	uint64_t n = 0;

	if (strcmp(e->box, "pcu") || e->code < PCU_BAND0 || e->code > PCU_BAND3)
		return cat_expect(seen_by(b, c), (struct shape){ 0 }, start,
				  cycles);
	for (uint64_t t = start; t < start + cycles; t++)
		n += e->wave[t % e->period] >=
		     (c->config[1] >> 8 * (e->code - PCU_BAND0) & 0xff);
	return n;
}

static void check_counts(struct box *b, uint64_t start, uint64_t cycles)
{
	struct event_reading times = { 0 };
	uint64_t got[MAX_GROUP];
	unsigned int i = 0;
	int err = group_read(&b->group, got, &times);

	for (struct chosen *c = b->chosen; c < b->chosen + b->n; c++) {
		uint64_t want;

		if (!c->open)
			continue;
		want = expected(b, c, start, cycles);
		if (err || times.enabled != times.running)
			fail(b, c->e, "did not count all the time, with %u names",
			     b->group.n);
		else if (got[i] != want)
			fail(b, c->e, "counted %" PRIu64 " in %" PRIu64
			     " cycles, want %" PRIu64, got[i], cycles, want);
		i++;
	}
}

/* --- the whole test ------------------------------------------------------- */

static bool round_of_all(void)
{
	uint64_t start = sim_cycles(), cycles = CYCLES + rounds;
	bool any = false;

	for (struct box *b = boxes; b < boxes + n_boxes; b++) {
		choose(b);
		open_all(b);
		any |= b->n != 0;
	}
	read_registers();
	for (struct box *b = boxes; b < boxes + n_boxes; b++) {
		if (!b->n)
			continue;
		check_controls(b);
		check_filters(b);
		if ((b - boxes + rounds) % 16 == 0)
			check_raw(b);
	}
	if (any && sim_advance(cycles))
		tap_bail("the clock does not advance");
	for (struct box *b = boxes; b < boxes + n_boxes; b++) {
		if (!b->n)
			continue;
		check_counts(b, start, cycles);
		for (unsigned int i = 0; i < b->n; i++)
			b->good += b->chosen[i].open && !b->chosen[i].failed;
		group_close(&b->group);
	}
	rounds++;
	return any;
}

/*
 * Count all names before the first test: the boxes of all types count at once. The tests
 * report the results.
 */
static void __attribute__((constructor)) count_all(void)
{
	struct rlimit files = { 65536, 65536 };
	unsigned int names = 0;

	while (layout->generation &&
	       strcmp(layout->generation, generation()->name))
		layout++;
	machine_setup("clock=manual", "");
	if (system("modprobe msr"))
		tap_diag("there is no msr module");
	if (setrlimit(RLIMIT_NOFILE, &files))
		tap_diag("limit of open files: %s", strerror(errno));
	find_boxes();
	while (round_of_all())
		;
	for (struct box *b = boxes; b < boxes + n_boxes; b++)
		names += b->names;
	tap_diag("%u names of %u boxes in %u rounds", names, n_boxes, rounds);
}

FIXTURE(type) {};
FIXTURE_VARIANT(type) { const char *type; };
VARIANTS_OF_ALL_TYPES(type);
NO_UNDEFINED_WRITES(type);

/* Return whether all names of a box are good, and print the failures. */
static bool report(const struct box *b)
{
	bool ok = b->names && b->good == b->names && !b->bad;

	if (ok)
		return true;
	tap_diag("%s package %d: %u of %u names are good, %u failures", b->pmu,
		 b->pkg, b->good, b->names, b->bad);
	for (unsigned int i = 0; i < b->bad && i < MAX_FAILURES; i++)
		tap_diag("%s", b->failures[i]);
	return false;
}

/* In each box, each name opens, programs its registers and counts exactly. */
TEST_F(type, every_name_of_every_box)
{
	unsigned int n = 0, names = 0;

	for (struct box *b = boxes; b < boxes + n_boxes; b++) {
		if (strcmp(b->type->name, variant->type))
			continue;
		n++;
		names += b->good;
		EXPECT_TRUE(report(b));
	}
	if (!n)
		SKIP(return, "no such PMU");
	TH_LOG("%u names of %u boxes", names, n);
}

TEST(boxes_have_numbers_without_a_gap)
{
	EXPECT_FALSE(gap) {
		TH_LOG("a box of type %s is missing", gap);
	}
}

/* Of all boxes in turn, in each round of some */
TEST(rdmsr_and_setpci_agree_with_the_simulator)
{
	EXPECT_LT(0, raw_boxes);
	EXPECT_EQ(0, raw_wrong);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every event name of every PMU: the event opens, the control and filter registers of its
 * box then have the catalogue's values, and its count is exactly that of its waveform. In
 * a round, all boxes of all packages count at the same time, each as many names as fit on
 * its counters; rounds follow until all names have been counted.
 *
 * usage: names [each-box]	Without the argument a name of a type with many boxes is counted
 *				in some of the boxes.
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
#include "lib/c/event_parameters.h"
#include "lib/c/filter_registers.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

enum {
	MAX_GENERAL = 4,	/* general counters of a box */
	MAX_BOXES = 1024,	/* of all packages */
	BOXES_A_NAME = 4,
	MAX_CHOSEN = 32,	/* names on general, fixed and free-running counters */
	MAX_FAILURES = 20,	/* reported failures of a PMU */
	CYCLES = 1009,		/* of the first round; each later round has one more */
};

#define BIT(n)		(1ULL << (n))
#define CTL_EN		BIT(22)
#define MATCH_TX	BIT(32)		/* of QPI's config: match transmitted packets */
#define PCU_BAND0	0x0b
#define PCU_BAND3	0x0e
#define QPI_CTO_COUNT	0x138

/* --- boxes, and their names in a round ------------------------------------ */

/* A name that a box counts in this round */
struct chosen {
	const struct cat_event *e;
	struct event_words words;
	struct perf_event_attr attr;
	bool open, failed;
	int ctr;		/* general counter of the event, or -1 */
};

/* Register values of a box, from the simulator */
struct registers {
	uint64_t ctl[MAX_GENERAL], fixed, filter[MAX_FILTERS];
};

/*
 * struct box - a box of a package
 * @names: number of names of its type that the box can count
 * @left: number of names in @todo
 * @good: number of names that had no failure
 * @bad: number of failures
 * @filters: filter registers
 * @function: PCI functions of the box and of its filters
 * @todo: names that have not been counted, by rank()
 * @chosen, @n: names of this round, and their number
 */
static struct box {
	const struct box_type *type;
	const struct filter_register *filters;
	unsigned int index, names, left, good, bad;
	int pkg, cpu;
	char pmu[PMU_NAME_MAX];
	char function[2][16];
	const struct cat_event **todo;
	struct chosen chosen[MAX_CHOSEN];
	unsigned int n;
	struct event_group group;
	struct registers regs;
	char *failures[MAX_FAILURES];
} boxes[MAX_BOXES];

static unsigned int n_boxes, rounds;

/* Number of boxes whose registers check_raw() has read, and of wrong register values */
static unsigned int raw_boxes, raw_wrong;

/* A box type that has a PMU of a box, but no PMU of a box with a lower number */
static const char *gap;

/* Note a failure of a name, and mark the name as failed if it is in this round. */
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

/*
 * Return whether the box cannot count the name: QPI's CTO_COUNT needs the packet filters,
 * and the PCI function with the filters of this box is unknown.
 */
static bool needs_filters(const struct box *b, const struct cat_event *e)
{
	return box_function(b->type->name, 0, "filter") &&
	       !box_function(b->type->name, b->index, "filter") &&
	       e->code == QPI_CTO_COUNT;
}

/*
 * Number of counters that the name may use: names with few counters are chosen first.
 * The relay event is chosen after the names that need counter 0, which it cannot count
 * beside.
 */
static int rank(const struct cat_event *e)
{
	return cat_is_relay(e) ? 2 : __builtin_popcount(e->ctrs);
}

static bool in_each_box;

/*
 * List the names of a box. Each box starts with another name, so that boxes of the same
 * type count different names in a round: a name on the registers of another box shows. Of a
 * type with many boxes, a box counts a share, and BOXES_A_NAME boxes or more count each name,
 * unless each box is to count all (@in_each_box).
 */
static void plan(struct box *b)
{
	size_t n, first = 0;
	const struct cat_event *e = catalogue(&n);
	const unsigned int n_packages = packages();
	const unsigned int all = most_boxes(b->type->name) * n_packages;
	const unsigned int share = in_each_box || all < BOXES_A_NAME ?
				   1 : all / BOXES_A_NAME;
	unsigned int offset, others = 0;

	while (first < n && strcmp(e[first].box, b->type->name))
		first++;
	for (b->names = 0; first + b->names < n &&
	     !strcmp(e[first + b->names].box, b->type->name); b->names++)
		;
	b->todo = calloc(b->names + 1, sizeof(*b->todo));
	if (!b->todo)
		tap_bail("out of memory");
	offset = b->names ? (b->index * 5 + b->pkg * 17) % b->names : 0;
	for (int r = 0; r <= MAX_GENERAL; r++)
		for (unsigned int i = 0; i < b->names; i++) {
			const struct cat_event *name =
				&e[first + (i + offset) % b->names];

			if (rank(name) != r)
				continue;
			if (needs_filters(b, name) ||
			    (name - e + b->index * n_packages + b->pkg) % share)
				others++;
			else
				b->todo[b->left++] = name;
		}
	b->names -= others;
}

/*
 * Find the PCI functions of a box and of its filters. The name of a function that does
 * not exist stays empty, and check_raw() reports that its registers cannot be read.
 */
static void find_functions(struct box *b)
{
	pci_find(b->function[0], b->type->name, b->index, "box", b->pkg);
	pci_find(b->function[1], b->type->name, b->index, "filter", b->pkg);
}

/* Return whether a box with a higher number than the box @missing has a PMU. */
static bool has_gap(const char *type, unsigned int missing)
{
	char name[PMU_NAME_MAX];

	for (unsigned int i = missing + 1; i < MOST_BOXES; i++)
		if (pmu_name(name, type, i))
			return true;
	return false;
}

static void find_boxes(void)
{
	int n_packages = packages();

	for (int p = 0; p < n_packages; p++)
		for (unsigned int k = 0; *box_types[k]; k++)
			for (unsigned int i = 0; n_boxes < MAX_BOXES; i++) {
				struct box *b = &boxes[n_boxes];

				b->type = box_type(box_types[k]);
				b->filters = filter_registers(b->type->name);
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

/* --- names that a box can count at the same time -------------------------- */

/* Return whether the event counts on a fixed or free-running counter. */
static bool is_special(const struct cat_event *e)
{
	return e->fixed || e->free;
}

/*
 * Return whether the chosen names from number @i on can all get a general counter that is
 * not in @taken, a bit for each counter. Try every assignment.
 */
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

/* Return whether both obey a filter of which they need different values. */
static bool differ_in_a_filter(const struct event_words *a, const struct event_words *b)
{
	bool differ = false;

	for (int w = 0; w < 3; w++)
		differ |= (a->held[w] ^ b->held[w]) & a->obeyed[w] & b->obeyed[w];
	return differ;
}

/* Return whether the box can count the last chosen name beside the other chosen names. */
static bool last_fits(const struct box *b)
{
	const struct chosen *last = &b->chosen[b->n - 1];
	bool relay = cat_is_relay(last->e);

	for (unsigned int i = 0; i < b->n - 1; i++) {
		const struct chosen *c = &b->chosen[i];

		/*
		 * Two names of the same event share a counter, and a box has one set of
		 * filters: count such names in different rounds.
		 */
		if (!memcmp(c->words.held, last->words.held, sizeof(c->words.held)) ||
		    differ_in_a_filter(&c->words, &last->words) ||
		    (c->words.obeyed[2] && last->words.obeyed[2]))
			return false;
		/*
		 * The relay event counts the entries of counter 0's event: expect no
		 * counts of an event that only counter 0 may have.
		 */
		if (c->e->ctrs == 1)
			relay = false;
	}
	return !relay && counters_fit(b, 0, 0);
}

/* Prepare a name for this round, with values for its parameters. */
static void prepare(struct chosen *c, const struct cat_event *e)
{
	memset(c, 0, sizeof(*c));
	c->e = e;
	c->ctr = -1;
	event_parameters_fill(&c->words, e, rounds);
}

/* Choose the names of a round from the names that have not been counted. */
static void choose(struct box *b)
{
	unsigned int kept = 0, general = 0;

	b->n = 0;
	for (unsigned int i = 0; i < b->left; i++) {
		bool special = is_special(b->todo[i]);

		if (b->n < MAX_CHOSEN && (special || general < b->type->general)) {
			prepare(&b->chosen[b->n++], b->todo[i]);
			if (last_fits(b)) {
				general += !special;
				continue;
			}
			b->n--;
		}
		b->todo[kept++] = b->todo[i];
	}
	if (!b->n && kept)
		fail(b, b->todo[0], "it fits on no counter");
	b->left = b->n ? kept : 0;
}

/* --- opening -------------------------------------------------------------- */

/*
 * Open a name. Its words by sysfs must be those of the catalogue. The first event of a
 * box is the group's leader, and disabled until all names of the box are open.
 */
static void open_name(struct box *b, struct chosen *c)
{
	int err = pmu_attr(&c->attr, b->pmu, c->words.text), fd;

	if (err) {
		fail(b, c->e, "'%s' means nothing to sysfs: %s", c->words.text,
		     strerror(-err));
		return;
	}
	if (c->attr.config != c->words.config[0] || c->attr.config1 != c->words.config[1] ||
	    c->attr.config2 != c->words.config[2]) {
		fail(b, c->e, "'%s' is %#llx,%#llx,%#llx in sysfs, %#" PRIx64
		     ",%#" PRIx64 ",%#" PRIx64 " in the catalogue", c->words.text,
		     c->attr.config, c->attr.config1, c->attr.config2,
		     c->words.config[0], c->words.config[1], c->words.config[2]);
		return;
	}
	c->attr.read_format |= PERF_FORMAT_GROUP;
	c->attr.disabled = !b->group.n;
	fd = perf_open(&c->attr, -1, b->cpu, b->group.n ? b->group.fd[0] : -1);
	if (fd < 0) {
		fail(b, c->e, "'%s' does not open: %s", c->words.text, strerror(-fd));
		return;
	}
	b->group.fd[b->group.n++] = fd;
	c->open = true;
}

/* Open the names of a round as a group, and enable the group. */
static void open_names(struct box *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		open_name(b, &b->chosen[i]);
	if (b->group.n && ioctl(b->group.fd[0], PERF_EVENT_IOC_ENABLE, 0))
		tap_bail("%s: enable: %s", b->pmu, strerror(errno));
}

/* --- registers ------------------------------------------------------------ */

/* Note the value of a register, by its name in the simulator's file. */
static void note_register(struct box *b, const char *reg, uint64_t value)
{
	unsigned int i;

	if (!strcmp(reg, "fixed_ctl"))
		b->regs.fixed = value;
	if (sscanf(reg, "ctl%u", &i) == 1 && i < MAX_GENERAL)
		b->regs.ctl[i] = value;
	for (i = 0; b->filters[i].name; i++)
		if (!strcmp(reg, b->filters[i].name))
			b->regs.filter[i] = value;
}

/*
 * Read the register values of all boxes. A register that is not in the simulator's file
 * has its reset value, 0.
 */
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
		 * The file is sorted by box, so the search starts at the box of the last
		 * line.
		 */
		for (unsigned int i = 0; i < n_boxes &&
		     (b->pkg != pkg || strcmp(pmu_box(b->pmu), name)); i++)
			b = b + 1 < boxes + n_boxes ? b + 1 : boxes;
		if (b->pkg == pkg && !strcmp(pmu_box(b->pmu), name))
			note_register(b, reg, value);
	}
	fclose(f);
}

/* The control register that counts an event; QPI has its bits 63:32 elsewhere. */
static uint64_t control_of(const struct cat_event *e)
{
	uint64_t config = strcmp(e->box, "qpi") ? e->config : (uint32_t)e->config;

	return config | CTL_EN;
}

/*
 * Check the control registers of a box: each name is on a counter that the catalogue
 * allows, and no other counter is enabled.
 */
static void check_controls(struct box *b)
{
	unsigned int taken = 0;
	bool fixed = false;

	for (struct chosen *c = b->chosen; c < b->chosen + b->n; c++) {
		/*
		 * With a joint control, the lower half of the register is the count: 0,
		 * because no cycle has passed yet.
		 */
		uint64_t want = generation()->one_a_cycle ? c->e->config :
				control_of(c->e);

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
 * Return whether a filter register of QPI is for received packets and the name matches
 * transmitted packets, or the reverse.
 */
static bool other_direction(const struct chosen *c, const struct filter_register *r)
{
	return !strcmp(c->e->box, "qpi") &&
	       !(c->words.config[0] & MATCH_TX) != !strncmp(r->name, "rx", 2);
}

/* Check the bits of the filter registers that the names of a box obey. */
static void check_filters(struct box *b)
{
	for (struct chosen *c = b->chosen; c < b->chosen + b->n; c++)
		for (unsigned int i = 0; b->filters[i].name; i++) {
			const struct filter_register *r = &b->filters[i];
			uint64_t mask, want;

			if (!c->open || !r->name)
				continue;
			mask = c->words.obeyed[r->word] >> r->shift & r->mask;
			want = c->words.held[r->word] >> r->shift & mask;
			if (other_direction(c, r))
				want = 0;
			if ((b->regs.filter[i] & mask) != want)
				fail(b, c->e, "%s holds %#" PRIx64 ", want %#"
				     PRIx64 " in the bits %#" PRIx64, r->name,
				     b->regs.filter[i], want, mask);
		}
}

/*
 * Read a register of a box without the driver, like rdmsr or setpci. A register in PCI space
 * has 32 bits, or 64 (@wide).
 */
static bool raw_read(const struct box *b, const char *name, bool is_filter, bool wide,
		     uint64_t *value)
{
	uint32_t reg = box_register(b->type->name, b->index, name), word = 0;
	const char *function = b->function[is_filter && b->function[1][0]];
	int err;

	if (b->type->memory) {
		err = memory_read(b->type->name, b->index, b->pkg, name, &word);
		*value = word;
		return !err;
	}
	if (!b->type->pci)
		return !msr_read(b->cpu, reg, value);
	err = pci_config_read(function, reg, &word);
	*value = word;
	if (wide && !err) {
		err = pci_config_read(function, reg + 4, &word);
		*value |= (uint64_t)word << 32;
	}
	return !err;
}

/* Compare a register, read without the driver, with the simulator's value. */
static void raw_equal(const struct box *b, const char *name, bool is_filter, uint64_t want)
{
	uint64_t value = 0;
	bool ok = raw_read(b, name, is_filter, want >> 32, &value) && value == want;

	if (!ok && raw_wrong++ < MAX_FAILURES)
		tap_diag("%s package %d: %s is %#" PRIx64 ", the simulator says %#"
			 PRIx64, b->pmu, b->pkg, name, value, want);
}

/* Compare the registers of a box, read like rdmsr and setpci do, with the simulator. */
static void check_raw(const struct box *b)
{
	bool separate = box_function(b->type->name, 0, "filter");
	char name[16];

	for (unsigned int i = 0; i < b->type->general; i++) {
		snprintf(name, sizeof(name), "ctl%u", i);
		raw_equal(b, name, false, b->regs.ctl[i]);
	}
	if (box_register(b->type->name, b->index, "fixed_ctl"))
		raw_equal(b, "fixed_ctl", false, b->regs.fixed);
	raw_boxes++;
	if (separate && !box_function(b->type->name, b->index, "filter"))
		return;
	for (unsigned int i = 0; b->filters[i].name; i++)
		raw_equal(b, b->filters[i].name, true, b->regs.filter[i]);
}

/* --- counts --------------------------------------------------------------- */

/*
 * Return the event whose waveform a name counts: for the CBo's relay event on counters 1
 * to 3, the event on counter 0.
 */
static const struct cat_event *counted_event(const struct box *b,
				       const struct chosen *c)
{
	if (!cat_is_relay(c->e) || !c->ctr)
		return c->e;
	for (const struct chosen *o = b->chosen; o < b->chosen + b->n; o++)
		if (o->open && !is_special(o->e) && o->ctr == 0)
			return o->e;
	return c->e;
}

/*
 * Expected count of a name from cycle @start on. An event of a PCU band counts the cycles
 * whose frequency is at least the band's filter value.
 */
static uint64_t expected(const struct box *b, const struct chosen *c,
			 uint64_t start, uint64_t cycles)
{
	const struct cat_event *e = c->e;
	uint64_t n = 0;

	if (strcmp(e->box, "pcu") || e->code < PCU_BAND0 || e->code > PCU_BAND3)
		return cat_expect(counted_event(b, c), (struct shape){ 0 }, start,
				  cycles);
	for (uint64_t t = start; t < start + cycles; t++)
		n += e->wave[t % e->period] >=
		     (c->words.config[1] >> 8 * (e->code - PCU_BAND0) & 0xff);
	return n;
}

/* Check that no name of a box was multiplexed and that all counts are exact. */
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

/* --- rounds, and their results -------------------------------------------- */

/* Count names in all boxes at the same time. Return false if no box has names left. */
static bool count_round(void)
{
	uint64_t start = sim_cycles(), cycles = CYCLES + rounds;
	bool any = false;

	for (struct box *b = boxes; b < boxes + n_boxes; b++) {
		choose(b);
		open_names(b);
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
 * Count all names before the first test, because the boxes of all types count at the same
 * time. The tests report the results of their box type.
 */
static void count_all(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	unsigned int names = 0;

	in_each_box = argc > 1 && !strcmp(argv[1], "each-box");
	machine_setup("clock=manual", "");
	if (system("modprobe msr"))
		tap_diag("there is no msr module");
	if (setrlimit(RLIMIT_NOFILE, &files))
		tap_diag("limit of open files: %s", strerror(errno));
	find_boxes();
	while (count_round())
		;
	for (struct box *b = boxes; b < boxes + n_boxes; b++)
		names += b->names;
	tap_diag("%u names of %u boxes in %u rounds", names, n_boxes, rounds);
}

FIXTURE(type) {};

FIXTURE_VARIANT(type) { const char *type; };

VARIANTS_OF_ALL_TYPES(type);
NO_UNDEFINED_WRITES(type);

/*
 * Return whether all names of a box were counted without a failure; print the failures.
 */
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

/* Each name opens, programs the right registers and counts exactly. */
TEST_F(type, every_name_counts_exactly)
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

/* Each round has compared the registers of some boxes; all boxes had their turn. */
TEST(rdmsr_and_setpci_agree_with_the_simulator)
{
	EXPECT_LT(0, raw_boxes);
	EXPECT_EQ(0, raw_wrong);
}

HARNESS_MAIN_AFTER(count_all);

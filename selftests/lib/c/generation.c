// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The generation of the machine's processor. Its family, model and stepping choose the rows of
 * the simulated hardware's table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "generation.h"
#include "tap.h"

enum { MAX_REGISTERS = 512, MAX_FUNCTIONS = 128, MAX_NAMES = 256, MAX_FIELDS = 9 };

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof(*(array)))

/* Counters without interrupts, thresholds and edges */
#define FRONTSIDE						\
	.narrow = 32, .one_a_cycle = true,			\
	.lacks = { "event", "inv", "thresh", "edge" }

#define HASWELL							\
	.written_twice = true, .narrow = 48,			\
	.tids = 0x3f, .states = 0x7f, .nids = 0xffff, .links_of = { 0x35, 0x01 }

#define SANDY_BRIDGE						\
	.narrow = 44, .tids = 0x1f

#define SKYLAKE							\
	.narrow = 48, .polled = true, .states = 0x3ff, .lacks = { "pcu/umask" }

#define ICE_LAKE						\
	.narrow = 48, .polled = true, .lacks = { "pcu/umask" }

static struct generation generations[] = {
	{ "hswep", HASWELL },
	{ "bdwep", HASWELL },
	{ "bdwde", HASWELL },
	{ "ivbep", SANDY_BRIDGE, .states = 0x3f, .nids = 0xffff, .links_of = { 0x32, 0x10 },
	  /* intel_uncore (6.1) supports two R3QPI boxes, and faults with a third */
	  .in_tree_sim = "qpi_ports=2",
	  .lacks = { "inv", "imc+inv", "ubox/filter_tid", "ubox/filter_cid",
		     "qpi/match_tx" } },
	{ "snbep", SANDY_BRIDGE, .states = 0x1f, .nids = 0xff,
	  .lacks = { "ubox/filter_tid", "ubox/filter_cid", "cbox/filter_link",
		     "cbox/filter_c6", "cbox/filter_nc", "cbox/filter_isoc",
		     "qpi/match_tx" } },
	{ "skx", SKYLAKE },
	{ "clx", SKYLAKE },
	{ "cpx", SKYLAKE },
	{ "icx", ICE_LAKE },
	{ "icxd", ICE_LAKE },
	{ "snr", .narrow = 48, .polled = true,
	  .lacks = { "pcu/umask", "ubox/filter_tid", "ubox/filter_cid" } },
	{ "xeon7100", FRONTSIDE },
	{ "xeon7400", FRONTSIDE },
};

/* A register of box 0, or of the box with number @box in the function of box 0 */
struct box_reg {
	char type[24], has[8], name[24];
	unsigned int box;
	uint32_t at;
	bool has_places;		/* else the type's */
	int places[MOST_BOXES];
};

/* The generation's part of the table */
static struct {
	struct box_type type[BOX_TYPES - 1];
	struct box_reg reg[MAX_REGISTERS];
	struct box_function function[MAX_FUNCTIONS];
	unsigned int types, regs, functions;
} table;

/* Names of the box types of all generations, of each */
static char names[MAX_NAMES][24];
static unsigned int n_names;

struct processor {
	unsigned int family, model, stepping;
};

static void read_processor(struct processor *p)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	/* of the first CPU, whose lines an empty one ends */
	while (f && fgets(line, sizeof(line), f) && *line != '\n') {
		sscanf(line, "cpu family : %u", &p->family);
		sscanf(line, "model : %u", &p->model);
		sscanf(line, "stepping : %u", &p->stepping);
	}
	if (f)
		fclose(f);
}

static unsigned int number(const char *text)
{
	return strtoul(text, NULL, 0);
}

/* Read a list of numbers, and return how many there are. */
static unsigned int read_places(char *text, int *places)
{
	unsigned int n = 0;
	char *number;

	while ((number = strsep(&text, ",")) && *number && n < MOST_BOXES)
		places[n++] = atoi(number);
	return n;
}

static void add_type(char *const *field)
{
	struct box_type *t = &table.type[table.types++];

	snprintf(t->name, sizeof(t->name), "%s", field[0]);
	t->boxes = number(field[1]);
	t->pci = !strcmp(field[2], "pci");
	t->memory = !strcmp(field[2], "memory");
	t->in_function = number(field[3]);
	t->general = number(field[4]);
	t->interrupts = number(field[5]);
	read_places(field[6], t->places);
}

static void add_register(char *const *field)
{
	struct box_reg *r = &table.reg[table.regs++];

	snprintf(r->type, sizeof(r->type), "%s", field[0]);
	snprintf(r->has, sizeof(r->has), "%s", field[1]);
	r->box = number(field[2]);
	snprintf(r->name, sizeof(r->name), "%s", field[3]);
	r->at = number(field[4]);
	r->has_places = read_places(field[5], r->places);
}

static void add_function(char *const *field)
{
	struct box_function *f = &table.function[table.functions++];

	snprintf(f->type, sizeof(f->type), "%s", field[0]);
	f->box = number(field[1]);
	snprintf(f->has, sizeof(f->has), "%s", field[2]);
	f->device = number(field[3]);
	sscanf(field[4], "%u.%u", &f->slot, &f->function);
}

/* Split a row, call its kind's function, and return false if the row is malformed. */
static bool read_row(char *line, const char *name)
{
	static const struct {
		const char *name;
		unsigned int fields;
		void (*add)(char *const *field);
	} kinds[] = {
		{ "processor", 3, NULL },
		{ "type", 7, add_type },
		{ "register", 6, add_register },
		{ "function", 5, add_function },
	};
	char *field[MAX_FIELDS];
	unsigned int n = 0;

	while (n < MAX_FIELDS && (field[n] = strsep(&line, "\t\n")))
		n++;
	if (n < 3 || n_names == MAX_NAMES)
		return false;
	if (!strcmp(field[1], "type"))
		snprintf(names[n_names++], sizeof(*names), "%s", field[2]);
	if (strcmp(field[0], name))
		return true;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(field[1], kinds[i].name))
			continue;
		if (n < 2 + kinds[i].fields)
			return false;
		if (kinds[i].add)
			kinds[i].add(field + 2);
		return table.types < BOX_TYPES - 1 && table.regs < MAX_REGISTERS &&
		       table.functions < MAX_FUNCTIONS;
	}
	return false;
}

/* Find the name of the generation of a processor in the table. */
static const char *name_of(FILE *f, const struct processor *p)
{
	unsigned int family, model, steppings;
	static char name[24];
	char line[512];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%23s processor %u %u %x", name, &family, &model,
			   &steppings) == 4 &&
		    family == p->family && model == p->model && steppings & 1U << p->stepping)
			return name;
	return generations[0].name;
}

static struct generation *find_generation(void)
{
	struct processor processor = { 0 };
	struct generation *g = generations;
	char path[512], line[512];
	const char *name;
	FILE *f;

	file_of_build(path, sizeof(path), "machines.tsv");
	f = fopen(path, "re");
	if (!f)
		tap_skip_all("%s: %s", path, strerror(errno));
	read_processor(&processor);
	name = name_of(f, &processor);
	while (strcmp(g->name, name))
		if (++g == generations + ARRAY_SIZE(generations))
			tap_bail("%s is a machine of %s, of which the tests know nothing",
				 path, name);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (!read_row(line, name))
			tap_bail("%s: a row of %s is malformed, or there are too many",
				 path, name);
	fclose(f);
	for (unsigned int i = 0; i < table.types; i++)
		table.type[i].interrupts &= !g->polled;
	for (unsigned int i = 0; i < BOX_TYPES; i++)
		g->types[i] = i < table.types ? table.type[i].name : "";
	return g;
}

const struct generation *generation(void)
{
	static const struct generation *found;

	if (!found)
		found = find_generation();
	return found;
}

const struct box_type *box_type(const char *name)
{
	generation();
	for (unsigned int i = 0; i < table.types; i++)
		if (!strcmp(table.type[i].name, name))
			return &table.type[i];
	return NULL;
}

bool names_absent_type(const char *name)
{
	generation();
	for (unsigned int i = 0; i < n_names; i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(name, names[i], length) && strchr("_", name[length]) &&
		    !box_type(names[i]))
			return true;
	}
	return false;
}

const struct box_type *box_named(const char *box, unsigned int *index)
{
	const char *last = strrchr(box, '_');
	char type[24];
	int end = 0;

	*index = 0;
	if (!last || sscanf(last, "_%u%n", index, &end) != 1 || last[end])
		last = box + strlen(box);
	snprintf(type, sizeof(type), "%.*s", (int)(last - box), box);
	return box_type(type);
}

unsigned int most_boxes(const char *type)
{
	const struct box_type *t = box_type(type);

	return t ? t->boxes : 0;
}

const char *box_type_of_many(void)
{
	const char *const *types = generation()->types, *const *type = types;

	while (**type && most_boxes(*type) < 2)
		type++;
	return **type ? *type : *types;
}

unsigned int package_boxes(void)
{
	unsigned int n = 0;

	generation();
	for (unsigned int i = 0; i < table.types; i++)
		if (table.type[i].general)
			n += table.type[i].boxes;
	return n;
}

const struct box_type *box_type_like(bool pci, bool interrupts, unsigned int general)
{
	generation();
	for (unsigned int i = 0; i < table.types; i++) {
		const struct box_type *t = &table.type[i];

		if (t->pci == pci && !t->memory && t->interrupts == interrupts &&
		    t->general >= general)
			return t;
	}
	return NULL;
}

uint32_t box_register(const char *type, unsigned int box, const char *name)
{
	const struct box_type *t = box_type(type);

	for (unsigned int i = 0; t && i < table.regs; i++) {
		const struct box_reg *r = &table.reg[i];

		if (strcmp(r->type, type) || strcmp(r->name, name) ||
		    r->box != box % t->in_function)
			continue;
		return r->at + (r->has_places ? r->places : t->places)[box];
	}
	return 0;
}

const struct box_function *box_function(const char *type, unsigned int box,
					const char *has)
{
	const struct box_type *t = box_type(type);

	for (unsigned int i = 0; t && i < table.functions; i++) {
		const struct box_function *f = &table.function[i];

		if (!strcmp(f->type, type) && f->box == box / t->in_function &&
		    !strcmp(f->has, has))
			return f;
	}
	return NULL;
}

/* Return whether boxes of @type do not have @field. */
static bool lacks(const char *type, const char *field)
{
	const char *const *row = generation()->lacks;
	size_t length = strlen(type);
	bool found = false;

	for (; *row; row++) {
		const char *name = strpbrk(*row, "/+");

		if (!name)
			found |= !strcmp(*row, field);
		else if (name - *row == (long)length &&
			 !strncmp(*row, type, length) && !strcmp(name + 1, field))
			return *name == '/';
	}
	return found;
}

bool generation_lacks(const char *type, const char *event)
{
	char copy[512], *save, *term;

	snprintf(copy, sizeof(copy), "%s", event);
	for (term = strtok_r(copy, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		term[strcspn(term, "=")] = '\0';
		if (lacks(type, term))
			return true;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parameters of event names: their fields by the manual, and values for them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event_parameters.h"
#include "generation.h"
#include "filter_registers.h"
#include "tap.h"

#define CBO_TOR_INSERTS	0x35
#define CBO_TOR_OCCUPANCY 0x36
#define QPI_CTO_COUNT	0x138

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof(*(array)))

/* A filter field: bits of config1 or config2 (@word) from bit @low on */
struct field {
	const char *box, *name;
	unsigned int word, low;
	uint64_t valid;		/* valid values */
};

static const struct field fields[] = {
	{ "ubox", "filter_tid", 1, 0, 0x1 },
	{ "ubox", "filter_cid", 1, 1, 0x1f },
	{ "cbox", "filter_state", 1, 17, 0x7f },
	{ "cbox", "filter_nid", 1, 32, 0xffff },
	{ "cbox", "filter_opc", 1, 52, 0x1ff },
	{ "cha", "filter_state", 1, 17, 0x3ff },
	{ "cha", "filter_link", 1, 9, 0xf },
	{ "ha", "filter_addr", 1, 0, BITS(6, 45) },
	{ "ha", "filter_opc", 1, 48, 0x3f },
	{ "pcu", "filter_band0", 1, 0, 0xff },
	{ "pcu", "filter_band1", 1, 8, 0xff },
	{ "pcu", "filter_band2", 1, 16, 0xff },
	{ "pcu", "filter_band3", 1, 24, 0xff },
	{ "qpi", "match0", 1, 0, 0x8003fff8 },
	{ "qpi", "mask0", 2, 0, 0x8003fff8 },
};

/* Fields of Sandy Bridge at other bits, or with other widths */
static const struct field sandy_bridge_fields[] = {
	{ "cbox", "filter_state", 1, 18, 0x1f },
	{ "cbox", "filter_nid", 1, 10, 0xff },
	{ "cbox", "filter_opc", 1, 23, 0x1ff },
};

/*
 * Bits of a CBo's config1 that select a request: the opcode, its flags and, on Haswell and
 * Broadwell, the link.
 */
static const struct {
	const char *generation;
	uint64_t bits;
} requests[] = {
	{ "ivbep", BITS(52, 63) },
	{ "snbep", BITS(23, 31) },
	{ NULL, BITS(52, 63) | BITS(6, 8) },
};

static uint64_t request_bits(void)
{
	unsigned int i = 0;

	while (requests[i].generation &&
	       strcmp(requests[i].generation, generation()->name))
		i++;
	return requests[i].bits;
}

/*
 * Bits of config1 that a box type's events with a code obey where its filter registers have
 * them, and the value that they have for an event that sets none of them: where 0 would count
 * nothing
 */
static const struct {
	const char *box;
	unsigned int first, last;
	uint64_t obeyed, neutral;
} neutrals[] = {
	{ "cha", 0x34, 0x34, BITS(17, 26), BITS(17, 26) },	/* lines in any state */
	{ "cha", 0x35, 0x36, BITS(32, 33), BITS(32, 33) },	/* remote, local memory */
	{ "cha", 0x35, 0x36, BITS(36, 37), BITS(36, 37) },	/* near memory, other */
	{ "cha", 0x35, 0x36, BITS(35, 35) | BITS(41, 60), BITS(35, 35) }, /* any opcode */
	{ "cha", 0x35, 0x36, BITS(61, 63), 0 },
};

/* Return the bits of config1 that the filter registers of a box type have. */
static uint64_t filter_bits(const char *type)
{
	uint64_t bits = 0;

	for (const struct filter_register *r = filter_registers(type); r->name; r++)
		if (r->word == 1)
			bits |= r->mask << r->shift;
	return bits;
}

/* Return the valid values of a field on this generation. */
static uint64_t valid_values(const struct field *f)
{
	return strcmp(f->name, "filter_state") ? f->valid :
						 f->valid & generation()->states;
}

/* Return a value for a field: another one in each round, never 0. */
static uint64_t value_for(const struct field *f, unsigned int round)
{
	uint64_t x = (round + 1) * 0x9e3779b97f4a7c15 +
		     (f->low + f->name[strlen(f->name) - 1]) * 0x51ed27;

	if (!strcmp(f->box, "pcu"))	/* within the frequencies of the PCU's waveforms */
		return 8 + x % 33;
	x = (x ^ x >> 29) & valid_values(f);
	return x ? x : valid_values(f);
}

static const struct field *search(const struct field *f, size_t n, const char *box,
				  const char *name, size_t length)
{
	for (; n; n--, f++)
		if (!strcmp(f->box, box) && strlen(f->name) == length &&
		    !strncmp(f->name, name, length))
			return f;
	return NULL;
}

/* Return the field of a box type whose name is the first @length bytes of @name. */
static const struct field *find_field(const char *box, const char *name, size_t length)
{
	const struct field *f = NULL;

	if (!strcmp(generation()->name, "snbep"))
		f = search(sandy_bridge_fields, ARRAY_SIZE(sandy_bridge_fields), box, name,
			   length);
	return f ? f : search(fields, ARRAY_SIZE(fields), box, name, length);
}

/* Add the filter fields that the event obeys although its string does not have them. */
static void add_obeyed(struct event_words *words, const struct cat_event *e)
{
	if (!strcmp(e->box, "cbox") && (e->umask & 1) &&
	    (e->code == CBO_TOR_INSERTS || e->code == CBO_TOR_OCCUPANCY))
		words->obeyed[1] |= request_bits();
	if (!strcmp(e->box, "qpi") && e->code == QPI_CTO_COUNT)
		words->obeyed[1] = words->obeyed[2] = ~0ULL;
	for (unsigned int i = 0; i < ARRAY_SIZE(neutrals); i++) {
		uint64_t bits;

		if (strcmp(neutrals[i].box, e->box) || e->code < neutrals[i].first ||
		    e->code > neutrals[i].last)
			continue;
		bits = filter_bits(e->box);
		words->obeyed[1] |= neutrals[i].obeyed & bits;
		if (!(words->config[1] & neutrals[i].obeyed))
			words->held[1] |= neutrals[i].neutral & bits;
	}
}

void event_parameters_fill(struct event_words *words, const struct cat_event *e,
			   unsigned int round)
{
	char copy[sizeof(e->string)], *save, *term;
	size_t end;

	memset(words, 0, sizeof(*words));
	words->config[0] = e->config;
	words->config[1] = e->config1;
	words->config[2] = e->config2;
	end = snprintf(words->text, sizeof(words->text), "%s", e->name);
	snprintf(copy, sizeof(copy), "%s", e->string);
	for (term = strtok_r(copy, ",", &save); term;
	     term = strtok_r(NULL, ",", &save)) {
		const struct field *f;
		size_t length = strcspn(term, "=");
		uint64_t value;

		if (strcmp(term + length, "=?"))
			continue;
		f = find_field(e->box, term, length);
		if (!f)
			tap_bail("%s/%s/: what is %s?", e->box, e->name, term);
		value = value_for(f, round);
		words->config[f->word] |= value << f->low;
		words->obeyed[f->word] |= valid_values(f) << f->low;
		end += snprintf(words->text + end, sizeof(words->text) - end,
				",%s=%#" PRIx64, f->name, value);
	}
	memcpy(words->held, words->config, sizeof(words->held));
	add_obeyed(words, e);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the event catalogue; compute expected counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "file.h"
#include "generation.h"
#include "tap.h"

enum { FIELDS = 11, MAX_EVENTS = 4096 };

static struct cat_event *events;
static size_t n_events;

/*
 * Parse a row of the table. Its fields are: box name perfstring config config1 config2
 * ctrs max_inc rule period values. Return false if the row is malformed.
 */
static bool parse(char *line, struct cat_event *e)
{
	char *field[FIELDS], *value, *save;

	for (int i = 0; i < FIELDS; i++) {
		field[i] = strsep(&line, "\t\n");
		if (!field[i])
			return false;
	}
	memset(e, 0, sizeof(*e));
	snprintf(e->box, sizeof(e->box), "%s", field[0]);
	snprintf(e->name, sizeof(e->name), "%s", field[1]);
	snprintf(e->string, sizeof(e->string), "%s", field[2]);
	e->config = strtoull(field[3], NULL, 0);
	e->config1 = strtoull(field[4], NULL, 0);
	e->config2 = strtoull(field[5], NULL, 0);
	e->code = (e->config & 0xff) | (e->config >> 21 & 1) << 8;
	e->umask = e->config >> 8 & 0xff;
	if (e->config && !(uint32_t)e->config)
		e->code = __builtin_ctzll(e->config);
	e->fixed = !strcmp(field[6], "fixed");
	e->free = !strcmp(field[6], "free");
	e->ctrs = e->fixed || e->free ? 0 : strtoul(field[6], NULL, 16);
	e->max_inc = strtoul(field[7], NULL, 0);
	e->exact = !strcmp(field[8], "exact");
	e->period = strtoul(field[9], NULL, 0);
	value = strtok_r(field[10], ",", &save);
	for (unsigned int i = 0; i < WAVE_MAX && value; i++) {
		e->wave[i] = strtoul(value, NULL, 0);
		value = strtok_r(NULL, ",", &save);
	}
	if (!e->period || e->fixed || e->free) {
		e->period = 1;
		e->wave[0] = 1;
	}
	return e->period <= WAVE_MAX;
}

static void read_table(void)
{
	const char *path = getenv("UNCORE_CATALOGUE");
	char line[1024], found[512], name[64] = "catalogue.tsv";
	FILE *f;

	if (!path) {
		if (strcmp(generation()->name, "hswep"))
			snprintf(name, sizeof(name), "catalogue-%s.tsv",
				 generation()->name);
		file_of_build(found, sizeof(found), name);
		path = found;
	}
	f = fopen(path, "re");
	if (!f)
		tap_skip_all("%s: %s", path, strerror(errno));
	events = calloc(MAX_EVENTS, sizeof(*events));
	if (!events)
		tap_bail("out of memory");
	while (fgets(line, sizeof(line), f)) {
		if (n_events == MAX_EVENTS || !parse(line, &events[n_events]))
			tap_bail("%s: row %zu is malformed, or too many", path,
				 n_events + 1);
		n_events++;
	}
	fclose(f);
}

const struct cat_event *catalogue(size_t *count)
{
	if (!events)
		read_table();
	if (count)
		*count = n_events;
	return events;
}

const struct cat_event *cat_end(void)
{
	return events + n_events;
}

const struct cat_event *cat_find(const char *box, const char *name)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, box) && !strcmp(e->name, name))
			return e;
	return NULL;
}

const struct cat_event *cat_find_code(const char *box, unsigned int code,
				      unsigned int umask)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, box) && e->code == code &&
		    e->umask == umask)
			return e;
	return NULL;
}

bool cat_is_relay(const struct cat_event *e)
{
	return !strcmp(e->name, "counter0_occupancy");
}

bool cat_is_plain(const struct cat_event *e, const char *type)
{
	return !strcmp(e->box, type) && !e->fixed && !e->free &&
	       !strchr(e->string, '?') && !cat_is_relay(e);
}

bool cat_has_code(const char *box, unsigned int code)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, box) && e->code == code)
			return true;
	return false;
}

bool cat_has_waves(const char *box)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, box) && e->period > 1)
			return true;
	return false;
}

/*
 * Return whether the event's value in cycle @t passes the threshold comparison or, without
 * a threshold, is not 0.
 */
static bool asserted(const struct cat_event *e, struct shape s, uint64_t t)
{
	unsigned int v = e->wave[t % e->period];

	if (!s.thresh)
		return v != 0;
	return s.invert ? v < s.thresh : v >= s.thresh;
}

uint64_t cat_expect(const struct cat_event *e, struct shape s, uint64_t start,
		    uint64_t cycles)
{
	uint64_t n = 0;

	for (uint64_t t = start; t < start + cycles; t++) {
		bool now = asserted(e, s, t);

		if (s.edge)
			n += now && !asserted(e, s, t - 1);
		else if (s.thresh)
			n += now;
		else
			n += e->wave[t % e->period];
	}
	return n;
}

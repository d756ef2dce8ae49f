/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event catalogue for tests, and expected counts: an independent reading of §1.4 of
 * the manual, one cycle at a time.
 */
#ifndef SELFTESTS_CATALOGUE_H
#define SELFTESTS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAVE_MAX	16

/**
 * struct cat_event - one named event
 * @box: "cbox"; @name: "llc_lookup.any"; @string: what sysfs events/NAME says
 * @config, @config1, @config2: the words of perf_event_attr, "?" filters as 0
 * @code: event select, the extension bit as bit 8; where there is none, the
 *	number of the lowest bit of config; @umask: bits 15:8 of config
 * @fixed, @free: counts on a fixed or free-running counter, else @ctrs has the
 *	general counters that may count it
 * @period, @wave: its value in cycle t is wave[t % period]
 */
struct cat_event {
	char box[16], name[64], string[256];
	uint64_t config, config1, config2;
	unsigned int code, umask, ctrs, max_inc;
	bool fixed, free;
	unsigned int period;
	unsigned int wave[WAVE_MAX];
};

/*
 * Read the table once ($UNCORE_CATALOGUE, default: catalogue.tsv, or catalogue-NAME.tsv
 * of another generation than hswep, beside the program, its folder or $UNCORE_BUILD).
 * @count may be NULL. Skip the program if the table is missing.
 */
const struct cat_event *catalogue(size_t *count);
/* The end of the table */
const struct cat_event *cat_end(void);
#define for_each_cat_event(e)						\
	for (const struct cat_event *e = catalogue(NULL); e != cat_end(); e++)

/* The event with that name, or NULL. */
const struct cat_event *cat_find(const char *box, const char *name);
/* The event with that code and unit mask, or NULL. */
const struct cat_event *cat_find_code(const char *box, unsigned int code,
				      unsigned int umask);

/* Return whether its box has waveforms; otherwise the box counts transactions only. */
bool cat_has_waves(const char *box);
/*
 * Return whether it is an event of box type @type for general counters, which needs
 * neither a filter nor an event on counter 0.
 */
bool cat_is_plain(const struct cat_event *e, const char *type);
/* Return whether the generation has any event with that code. */
bool cat_has_code(const char *box, unsigned int code);

/* Control bits that shape an event (§1.4) */
struct shape {
	unsigned int thresh;
	bool invert, edge;
};

/*
 * Increments of a counter with @shape in @cycles cycles from cycle @start on, if it was
 * programmed before @start (an edge needs the previous cycle).
 */
uint64_t cat_expect(const struct cat_event *e, struct shape shape,
		    uint64_t start, uint64_t cycles);

#endif

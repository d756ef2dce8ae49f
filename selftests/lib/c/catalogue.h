/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event catalogue for tests, and the expected counts of its events. The counts come
 * from an independent reading of §1.4 of the manual, and are added up cycle by cycle.
 */
#ifndef SELFTESTS_CATALOGUE_H
#define SELFTESTS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAVE_MAX	16

/**
 * struct cat_event - one named event
 * @box: box type, "cbox"
 * @name: name, "llc_lookup.any"
 * @string: event string, the text of the file events/NAME in sysfs
 * @config, @config1, @config2: fields of perf_event_attr, with 0 for "?" filters
 * @code: event select, with the extension bit as bit 8. If bits 31:0 of config are 0: the
 *	number of the lowest bit that is set in config
 * @umask: bits 15:8 of config
 * @ctrs: mask of the general counters that can count the event
 * @max_inc: the most that the event adds in a cycle
 * @fixed: the event counts on the fixed counter
 * @free: the event counts on a free-running counter
 * @exact: the bits of the unit mask mean nothing one by one: UPI's flits need a slot and a kind
 * @period, @wave: value of the event's waveform in cycle t is wave[t % period]
 */
struct cat_event {
	char box[24], name[64], string[256];
	uint64_t config, config1, config2;
	unsigned int code, umask, ctrs, max_inc;
	bool fixed, free, exact;
	unsigned int period;
	unsigned int wave[WAVE_MAX];
};

/*
 * Read the table of events, once, and return its first event. The file is
 * $UNCORE_CATALOGUE. Without this variable the file is catalogue.tsv for hswep, or
 * catalogue-NAME.tsv for another generation, beside the program, its folder or
 * $UNCORE_BUILD. @count gets the number of events, and may be NULL. Skip the program if
 * the file is missing.
 */
const struct cat_event *catalogue(size_t *count);
/* The end of the table: the address after the last event */
const struct cat_event *cat_end(void);
#define for_each_cat_event(e)						\
	for (const struct cat_event *e = catalogue(NULL); e != cat_end(); e++)

/* Find the event of box type @box with that name. Return NULL if there is none. */
const struct cat_event *cat_find(const char *box, const char *name);
/* Find the first event of box type @box with that code and unit mask, or return NULL. */
const struct cat_event *cat_find_code(const char *box, unsigned int code,
				      unsigned int umask);

/*
 * Return whether events of box type @box have waveforms in the simulator. Without
 * waveforms the box counts transactions only.
 */
bool cat_has_waves(const char *box);
/* Return whether @e counts on counters 1 to 3 the entries of counter 0's event (§2.3.1.1). */
bool cat_is_relay(const struct cat_event *e);
/*
 * Return whether @e is an event of box type @type for general counters that needs neither
 * a filter nor an event on counter 0.
 */
bool cat_is_plain(const struct cat_event *e, const char *type);
/* Return whether box type @box has an event with that code. */
bool cat_has_code(const char *box, unsigned int code);

/* Threshold, inversion and edge detection of a counter (§1.4) */
struct shape {
	unsigned int thresh;
	bool invert, edge;
};

/*
 * Return the count of @e with @shape in @cycles cycles from cycle @start on. The counter
 * must have been programmed before @start, because an edge needs the previous cycle.
 */
uint64_t cat_expect(const struct cat_event *e, struct shape shape,
		    uint64_t start, uint64_t cycles);

#endif

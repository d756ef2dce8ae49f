/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parameters of event names: the filter fields that an event string leaves to the user,
 * as in "event=0x34,umask=0x11,filter_state=?".
 */
#ifndef SELFTESTS_EVENT_PARAMETERS_H
#define SELFTESTS_EVENT_PARAMETERS_H

#include <stdint.h>

#include "catalogue.h"

/**
 * struct event_words - a named event with a value for each parameter
 * @config: config, config1 and config2 of perf_event_attr, by the catalogue and by the
 *	manual's positions of the filter fields
 * @obeyed: bits of @config that filter the event: the parameters, and filter fields that
 *	the event obeys although its string does not have them
 * @held: @config as the registers hold it: with the value that passes everything where the
 *	event has no value for a filter that it obeys
 * @text: the event for pmu_attr(): "llc_lookup.any,filter_state=0x1f"
 */
struct event_words {
	uint64_t config[3], obeyed[3], held[3];
	char text[400];
};

/*
 * Give each parameter of event @e a value other than 0, which depends on @round. Bail out
 * if the event string has an unknown parameter.
 */
void event_parameters_fill(struct event_words *words, const struct cat_event *e,
			   unsigned int round);

#endif

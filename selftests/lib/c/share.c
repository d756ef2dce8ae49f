// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure shares of a clock's cycles and of the time: see share.h.
 *
 * A host that stops the CPU of the test between two reads changes the result. So the order
 * of the reads makes a stop only add to the shares: the interval of each event's reads
 * contains the measured time, and the interval of the reads of the frozen time contains
 * those of the events.
 */
#include <stdlib.h>

#include "sampler.h"
#include "share.h"
#include "sim.h"
#include "tap.h"

enum { MOST = 16, BETWEEN_MS = 10 };

/**
 * struct moment - readings of all events and statistics at the end of a window
 * @frozen, @charged: frozen time by the simulator and by the driver, in ns
 * @paused: time for which boxes did not count, by the simulator, in ns
 * @begin, @end: time after and before the reads of the events, in ns: the next window
 *	begins at @begin, the window before ends at @end
 * @reading: readings of the events
 */
struct moment {
	uint64_t frozen, paused, charged, begin, end;
	struct event_reading reading[MOST];
};

static void take_moment(struct moment *m, const struct share *share,
			unsigned int n)
{
	m->end = now_ns();
	for (unsigned int i = 0; i < n; i++)
		if (event_read(share[i].fd, &m->reading[i]))
			tap_bail("an event cannot be read");
	m->begin = now_ns();
}

static void take_frozen(struct moment *m)
{
	m->frozen = sim_stat("frozen_ns");
	m->paused = sim_stat("paused_ns");
	m->charged = overflow_stat(0, "frozen_ns");
}

/* Return the cycles that event @i counted between two moments, by cycles of the clock. */
static double counted(const struct moment *from, const struct moment *to,
		      unsigned int i, unsigned int khz)
{
	double cycles = (double)(to->end - from->begin) * khz / 1000000;

	return (to->reading[i].value - from->reading[i].value) / cycles;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the median of counted() over all windows. */
static double median(const struct moment *moments, unsigned int i,
		     unsigned int khz)
{
	double values[SHARE_WINDOWS];

	for (unsigned int w = 0; w < SHARE_WINDOWS; w++)
		values[w] = counted(&moments[w], &moments[w + 1], i, khz);
	qsort(values, SHARE_WINDOWS, sizeof(*values), by_value);
	return values[SHARE_WINDOWS / 2];
}

/* Compute the results of event @i. */
static void finish(struct share *share, unsigned int i,
		   const struct moment *moments)
{
	const struct moment *from = &moments[0], *to = &moments[SHARE_WINDOWS];
	double ns = to->end - from->begin;

	share->counted = counted(from, to, i, share->khz);
	share->typical = median(moments, i, share->khz);
	share->running =
		(double)(to->reading[i].running - from->reading[i].running) /
		(to->reading[i].enabled - from->reading[i].enabled);
	share->frozen = (to->frozen - from->frozen) / ns;
	share->paused = (to->paused - from->paused) / ns;
	share->charged = (to->charged - from->charged) / ns;
}

void share_measure(struct share *share, unsigned int n, unsigned int ms,
		   void (*between)(void *arg), void *arg)
{
	static struct moment moments[SHARE_WINDOWS + 1];
	uint64_t end;

	if (n > MOST)
		tap_bail("%u shares are too many", n);
	take_frozen(&moments[0]);
	take_moment(&moments[0], share, n);
	for (unsigned int w = 1; w <= SHARE_WINDOWS; w++) {
		end = moments[0].begin + w * ms * 1000000ULL / SHARE_WINDOWS;
		while (now_ns() < end) {
			sleep_ms(BETWEEN_MS);
			if (between)
				between(arg);
		}
		take_moment(&moments[w], share, n);
	}
	take_frozen(&moments[SHARE_WINDOWS]);
	for (unsigned int i = 0; i < n; i++)
		finish(&share[i], i, moments);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of the cycles and of the time of a measurement.
 *
 * A host that stops the CPU of the test between two reads would change the result. Reads
 * are in an order in which the time of the event contains the measured time, and that of
 * the frozen times contains the event's: such a stop only adds to the shares.
 */
#include <stdlib.h>

#include "sampler.h"
#include "share.h"
#include "sim.h"
#include "tap.h"

enum { MOST = 16, BETWEEN_MS = 10 };

/* The state of all shares at a moment */
struct moment {
	uint64_t frozen, charged, begin, end;
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
	m->charged = overflow_stat(0, "frozen_ns");
}

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

static double median(const struct moment *moments, unsigned int i,
		     unsigned int khz)
{
	double values[SHARE_WINDOWS];

	for (unsigned int w = 0; w < SHARE_WINDOWS; w++)
		values[w] = counted(&moments[w], &moments[w + 1], i, khz);
	qsort(values, SHARE_WINDOWS, sizeof(*values), by_value);
	return values[SHARE_WINDOWS / 2];
}

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

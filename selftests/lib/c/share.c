// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of the cycles and of the time of a measurement.
 *
 * A host that stops the CPU of the test between two reads would change the result. Reads
 * are in an order in which the time of the event contains the measured time, and that of
 * the frozen times contains the event's: such a stop only adds to the shares.
 */
#include "sampler.h"
#include "share.h"
#include "sim.h"
#include "tap.h"

static void share_read(int fd, struct event_reading *reading)
{
	if (event_read(fd, reading))
		tap_bail("an event cannot be read");
}

void share_begin(struct share *share, int fd, unsigned int khz)
{
	share->fd = fd;
	share->khz = khz;
	share->from_frozen = sim_stat("frozen_ns");
	share->from_charged = overflow_stat(0, "frozen_ns");
	share_read(fd, &share->from);
	share->from_ns = now_ns();
}

void share_end(struct share *share)
{
	struct event_reading end;
	double cycles;

	share->ns = now_ns() - share->from_ns;
	share_read(share->fd, &end);
	cycles = (double)share->ns * share->khz / 1000000;
	share->counted = (end.value - share->from.value) / cycles;
	share->running = (double)(end.running - share->from.running) /
			 (end.enabled - share->from.enabled);
	share->charged = (double)(overflow_stat(0, "frozen_ns") -
				  share->from_charged) / share->ns;
	share->frozen = (double)(sim_stat("frozen_ns") - share->from_frozen) /
			share->ns;
}

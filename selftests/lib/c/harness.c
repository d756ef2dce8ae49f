// SPDX-License-Identifier: GPL-2.0-or-later
/* Prepare a program of harness.h before its first test. */
#include "catalogue.h"
#include "machine.h"
#include "sampler.h"
#include "tap.h"

void harness_prepare(void)
{
	machine_require();
	catalogue(NULL);
	if (keep_sample_rate())
		tap_bail("no perf_event_max_sample_rate");
	tap_use_harness();
}

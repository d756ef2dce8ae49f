// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the cost of an overflow: register accesses and frozen time from the overflow of
 * a counter until its package counts again, and the number of overflows per second that
 * the driver can handle. The program only prints figures.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/c/catalogue.h"
#include "lib/c/machine.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"
#include "lib/c/tap.h"

enum { ROUNDS = 101, PERIOD = 1000, STORM_PERIOD = 20000, STORM_MS = 2000 };

static const char *const stats[] = {
	"msr_read", "msr_write", "pci_read", "pci_write", "frozen_ns",
};
enum { ACCESSES = 4, FROZEN = 4, STATS = 5 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Return the median of the rounds, whose number is odd. In some rounds the driver's timer
 * has polled the counters as well, which the median ignores.
 */
static uint64_t median(uint64_t *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static void open_ticks(struct sampler *s, const char *type, uint64_t period)
{
	const struct cat_event *e = ticks_of(type);
	char pmu[PMU_NAME_MAX];

	if (!e || !pmu_name(pmu, type, 0) ||
	    sampler_open(s, pmu, pmu_cpu(pmu, 0), period, "config=%#" PRIx64,
			 e->config))
		tap_bail("%s cannot be sampled", type);
}

static void bench_overflow(const char *type, const char *space)
{
	static uint64_t seen[STATS][ROUNDS], accesses[ROUNDS];
	struct sampler s;

	open_ticks(&s, type, PERIOD);
	for (int i = 0; i < ROUNDS; i++) {
		sim_stats_clear();
		sim_advance(PERIOD);
		sampler_wait(&s, i + 1);
		accesses[i] = 0;
		for (int j = 0; j < STATS; j++) {
			seen[j][i] = sim_stat(stats[j]);
			if (j < ACCESSES)
				accesses[i] += seen[j][i];
		}
	}
	sampler_close(&s);
	printf("%-6s %-4s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
	       " %10" PRIu64 " %12.1f\n", type, space, median(seen[0]),
	       median(seen[1]), median(seen[2]), median(seen[3]), median(accesses),
	       median(seen[FROZEN]) / 1000.0);
}

/*
 * Measure the largest rate of overflows. The driver leaves half of the time to other
 * tasks.
 */
static void bench_storm(const char *type)
{
	uint64_t count, frozen, ns;
	struct sampler s;

	open_ticks(&s, type, STORM_PERIOD);
	count = overflow_stat(0, "count");
	frozen = overflow_stat(0, "frozen_ns");
	ns = now_ns();
	for (int i = 0; i < STORM_MS / 10; i++) {
		sleep_ms(10);
		sampler_drain(&s);
	}
	ns = now_ns() - ns;
	count = overflow_stat(0, "count") - count;
	frozen = overflow_stat(0, "frozen_ns") - frozen;
	printf("%-11s %10.0f %14.0f %%\n", type, count * 1e9 / ns,
	       frozen * 100.0 / ns);
	sampler_close(&s);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	catalogue(NULL);
	machine_setup("clock=manual", "");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	puts("\nFrom an overflow until the package counts again, medians; aim: 6 accesses for MSRs, 8 for PCI");
	printf("%-11s %10s %10s %10s %10s %10s %12s\n", "", "MSR reads",
	       "MSR writes", "PCI reads", "PCI writes", "all", "frozen us");
	bench_overflow("pcu", "MSR");
	bench_overflow("ubox", "MSR");
	bench_overflow("ha", "PCI");
	bench_overflow("imc", "PCI");
	bench_overflow("qpi", "PCI");

	machine_setup("clock=real uclk_khz=400000", "");
	printf("\nOne event with a period of %d cycles at 400 MHz\n%-11s %10s %16s\n",
	       STORM_PERIOD, "", "overflows/s", "time frozen");
	bench_storm("pcu");
	bench_storm("ha");
	return 0;
}

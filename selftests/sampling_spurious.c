// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PMI without any overflow is taken for one that is late while somebody samples:
 * no sample comes of it, and LVTPC is unmasked again. While nobody does it is not
 * the driver's. Run it where the log may say so.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define UNKNOWN	"NMI received for unknown reason"

enum {
	PERIOD = 7,
	SPURIOUS = 3,
	LATE_MS = 1200,
};

/* One every half second: the kernel limits the rate of its messages. */
static void send_spurious(int pkg)
{
	for (int i = 0; i < SPURIOUS; i++) {
		sim_fault("spurious_pmi pkg=%d cores=0x1", pkg);
		sleep_ms(500);
	}
}

static bool counted(int pkg, uint64_t before, unsigned int more)
{
	return check_eq(overflow_stat(pkg, "late") - before, more,
			"overflow_late of package %d", pkg);
}

static void test_nobody_samples(int pkg)
{
	uint64_t before = overflow_stat(pkg, "late");
	bool ok;

	log_mark();
	send_spurious(pkg);
	ok = counted(pkg, before, 0);
	/* nor do they leave LVTPC masked, where the others would be dropped */
	ok &= check_eq(log_count(UNKNOWN), SPURIOUS, "messages of the kernel");
	tap_ok(ok, "package %d: nobody samples, and they are no concern of ours",
	       pkg);
}

static void test_sampling(const char *kind, int pkg)
{
	const struct cat_event *e = plain_of(kind);
	uint64_t before;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: spurious interrupts", kind);
		return;
	}
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, pkg), PERIOD,
				    "config=%#" PRIx64, e->config), 0,
		      "%s opens", pmu);
	send_traffic(pmu, pkg, e, 10 * PERIOD, 1);
	/* where a CPU was held up, some of these have come late */
	sleep_ms(LATE_MS);
	before = overflow_stat(pkg, "late");
	log_mark();
	send_spurious(pkg);
	ok &= counted(pkg, before, SPURIOUS);
	ok &= check_eq(log_count(UNKNOWN), 0, "messages of the kernel");
	ok &= check_eq(overflow_stat(pkg, "spurious"), 0, "overflow_spurious");
	send_traffic(pmu, pkg, e, 10 * PERIOD, 1);
	ok &= check_eq(sampler_settle(&s, 20), 20, "samples");
	ok &= check_eq(event_count(s.fd), 20 * PERIOD, "count");
	sampler_close(&s);
	tap_ok(ok, "%s in package %d: they are taken for late ones, and no sample comes of them",
	       pmu, pkg);
}

int main(void)
{
	catalogue(NULL);
	machine_setup("clock=manual", "");
	for (int pkg = 0; pkg < packages(); pkg++) {
		test_nobody_samples(pkg);
		test_sampling("ha", pkg);
		test_sampling("pcu", pkg);
	}
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hardware as firmware, another tool or a kernel that died has left it: frozen,
 * with stale status, with counters that run and interrupt, with filters set.
 * The driver says so in one line a package, and then all is as after reset.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { CYCLES = 1009, TRAFFIC = 500, OVERFLOWS = 3 };

static const struct dirt {
	const char *name, *params;
	bool told;	/* what others will miss is told, a mere freeze is not */
} dirt[] = {
	{ "freeze", "dirty=freeze", false },
	{ "status", "dirty=status", true },
	{ "counters", "dirty=counters", true },
	{ "cores", "dirty=cores", true },
	{ "boxes", "dirty=boxes", false },
	{ "all", "dirty=all", true },
	{ "all, 44 bits", "dirty=all counter_bits=44 counter_gp=1", true },
};

/*
 * Events that obey filters and leave others open, and traffic that filters of
 * all ones would keep out.
 */
static bool unfiltered(int pkg)
{
	static const struct {
		const char *kind, *event, *traffic;
	} filtered[] = {
		{ "cbox", "event=0x35,umask=0x8", "event=0x35 umask=0x8 opc=0x182 nid=0x1" },
		{ "pcu", "event=0xb", "event=0xb freq=12" },
		{ "qpi", "event=0x138,match_tx=1,match_mc=0xe,mask_mc=0xf",
		  "event=0x138 dir=tx match0=0x1c00" },
		{ "qpi", "event=0x138,match_mc=0xe,mask_mc=0xf",
		  "event=0x138 dir=rx match0=0x1c00" },
	};
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (unsigned int i = 0; i < sizeof(filtered) / sizeof(filtered[0]); i++) {
		int fd;

		pmu_name(pmu, filtered[i].kind, 0);
		fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", filtered[i].event);
		ok &= check(fd >= 0, "%s/%s/ opens", pmu, filtered[i].event);
		ok &= check_eq(-sim_traffic("pkg=%d box=%s %s count=%d", pkg,
					    pmu_box(pmu), filtered[i].traffic,
					    TRAFFIC), 0, "traffic");
		ok &= check_eq(event_count(fd), TRAFFIC, "%s/%s/ of package %d",
			       pmu, filtered[i].event, pkg);
		close(fd);
	}
	return ok;
}

static void test_dirt(const struct dirt *d)
{
	char params[96];
	int lines;
	bool ok;

	snprintf(params, sizeof(params), "clock=manual %s", d->params);
	machine_setup_sim(params);
	ok = check(sim_dirty_registers() > 0, "the hardware is clean");
	log_mark();
	ok &= check_eq(-driver_load(""), 0, "the driver loads");
	lines = log_count("xeon_uncore: ") + log_count("xeon_uncore 0000");
	ok &= check_eq(lines, 1 + (d->told ? packages() : 0),
		       "lines in the log, with the summary");
	ok &= check_eq(log_count("had left"), d->told ? packages() : 0,
		       "lines that tell of it");
	tap_ok(ok, "%s: the driver loads, and tells in one line a package", d->name);
	if (!ok)
		log_show("xeon_uncore");

	ok = check_eq(pmus_there(), PACKAGE_BOXES, "PMUs");
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check_eq(boxes_that_count(pkg, CYCLES), PACKAGE_BOXES,
			       "boxes of package %d that count", pkg);
		ok &= unfiltered(pkg);
	}
	tap_ok(ok, "%s: all boxes are there and count exactly", d->name);

	ok = true;
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= samples_exactly("pcu", pkg, OVERFLOWS);
		ok &= samples_exactly("imc", pkg, OVERFLOWS);
		ok &= samples_exactly("cbox", pkg, OVERFLOWS);
		ok &= check_eq(overflow_stat(pkg, "spurious"), 0, "spurious");
	}
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	sim_show_registers();
	tap_ok(ok & log_clean(), "%s: sampling is exact, and nothing is left behind",
	       d->name);
}

int main(void)
{
	catalogue(NULL);
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	for (unsigned int i = 0; i < sizeof(dirt) / sizeof(dirt[0]); i++)
		test_dirt(&dirt[i]);
	return tap_end();
}

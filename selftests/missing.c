// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hardware with parts missing, or there twice, as firmware hides and fuses take:
 * one line in the log each, and what is there works, in the package where it is.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { CYCLES = 1009, OVERFLOWS = 3 };

/* UBox, CBos, SBos and PCU are on MSRs, all others on PCI. */
enum { MSR_BOXES = 1 + 18 + 4 + 1 };

static const struct lack {
	const char *params;
	const char *line;		/* what the log says, a time a package */
	int only;			/* the package that lacks it, -1: all */
	unsigned int boxes;		/* that such a package still has */
	bool filters;			/* of QPI, in such a package */
} lacks[] = {
	{ "missing=qpi_filters@1", "filter", 1, PACKAGE_BOXES, false },
	{ "missing=extended", "filter", -1, PACKAGE_BOXES, false },
	{ "missing=capid@1 sboxes=2", "2fc0", 1, PACKAGE_BOXES - 2, true },
	{ "missing=ubox@0", "no UBox", 0, MSR_BOXES, false },
	{ "missing=ubox@1", "no UBox", 1, MSR_BOXES, false },
	{ "missing=ubox", "no UBox", -1, MSR_BOXES, false },
	{ "twice=imc_0", "a second hswep_imc_0", -1, PACKAGE_BOXES, true },
	{ "counter_bits=44 counter_gp=1", NULL, -1, PACKAGE_BOXES, true },
};

/* An event with a filter of QPI's is refused where the filters are not. */
static bool filters_work(int pkg, bool there)
{
	int fd = event_open("hswep_qpi_0", pmu_cpu("hswep_qpi_0", pkg),
			    "event=0x138,match_mc=0xe,mask_mc=0xf");
	bool ok;

	if (!there)
		return check_eq(-fd, ENODEV, "errno of a filter in package %d",
				pkg);
	sim_traffic("pkg=%d box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=70",
		    pkg);
	sim_traffic("pkg=%d box=qpi_0 event=0x138 dir=rx match0=0 count=7", pkg);
	ok = check_eq(event_count(fd), 70, "packets that match, package %d", pkg);
	close(fd);
	return ok;
}

static void test_lack(const struct lack *l)
{
	unsigned int sboxes = strstr(l->params, "sboxes=2") ? 2 : 0;
	int lines = 0;
	char params[96];
	bool ok;

	snprintf(params, sizeof(params), "clock=manual %s", l->params);
	machine_setup_sim(params);
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	for (int pkg = 0; pkg < packages(); pkg++)
		lines += l->line && (l->only < 0 || l->only == pkg);
	ok &= check_eq(l->line ? log_count(l->line) : 0, lines,
		       "lines that tell of it");
	ok &= check_eq(log_count("xeon_uncore: ") +
		       log_count("xeon_uncore 0000"), 1 + lines,
		       "lines in the log, with the summary");
	if (!ok)
		log_show("xeon_uncore");
	tap_ok(ok, "%s: the driver loads, and tells in one line a package",
	       l->params);

	ok = true;
	for (int pkg = 0; pkg < packages(); pkg++) {
		bool whole = l->only >= 0 && l->only != pkg;
		unsigned int boxes = whole ? PACKAGE_BOXES - sboxes : l->boxes;

		ok &= check_eq(boxes_there(pkg), boxes, "boxes of package %d",
			       pkg);
		ok &= check_eq(boxes_that_count(pkg, CYCLES), boxes,
			       "boxes of package %d that count", pkg);
		ok &= samples_exactly("pcu", pkg, OVERFLOWS);
		if (boxes == MSR_BOXES)
			continue;
		ok &= filters_work(pkg, whole || l->filters);
		ok &= samples_exactly("imc", pkg, OVERFLOWS);
	}
	tap_ok(ok, "%s: what is there counts and samples exactly", l->params);
	ok = check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	sim_show_registers();
	tap_ok(ok & log_clean(), "%s: nothing is left behind", l->params);
}

int main(void)
{
	catalogue(NULL);
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	if (packages() < 2)
		tap_skip_all("needs two packages");
	for (unsigned int i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		test_lack(&lacks[i]);
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts and samples of all boxes, compared with the cycles and transactions sent. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "boxes.h"
#include "catalogue.h"
#include "generation.h"
#include "sampler.h"
#include "sim.h"
#include "tap.h"

enum { PERIOD = 7, MAX_OPEN = 128 };

/* Iterator over the PMUs that have counters to program */
struct walk {
	unsigned int type, index;
	char pmu[PMU_NAME_MAX];
};

/* Write the name of the next PMU to @w->pmu. Return false after the last PMU. */
static bool next_pmu(struct walk *w)
{
	for (; w->type < BOX_TYPES && *box_types[w->type]; w->type++, w->index = 0)
		if (box_type(box_types[w->type])->general &&
		    pmu_name(w->pmu, box_types[w->type], w->index)) {
			w->index++;
			return true;
		}
	return false;
}

bool box_exists(const char *type, unsigned int index)
{
	char pmu[PMU_NAME_MAX];

	return pmu_name(pmu, type, index);
}

unsigned int pmus_there(void)
{
	struct walk w = { 0 };
	unsigned int n = 0;

	while (next_pmu(&w))
		n++;
	return n;
}

unsigned int boxes_there(int pkg)
{
	struct walk w = { 0 };
	unsigned int n = 0;

	while (next_pmu(&w))
		n += pmu_cpu(w.pmu, pkg) >= 0;
	return n;
}

/*
 * Open the event that @event chooses for the box type, in each box of package @pkg, at
 * most MAX_OPEN events. Return the number of descriptors in @fd.
 */
static unsigned int open_each(int pkg, const struct cat_event *(*event)(const char *type),
			      int *fd)
{
	struct walk w = { 0 };
	unsigned int n = 0;
	int cpu;

	while (n < MAX_OPEN && next_pmu(&w)) {
		cpu = pmu_cpu(w.pmu, pkg);
		if (cpu < 0)
			continue;
		fd[n] = event_open(w.pmu, cpu, "config=%#" PRIx64,
				   event(box_types[w.type])->config);
		check(fd[n] >= 0, "%s of package %d: %s", w.pmu, pkg,
		      strerror(-fd[n]));
		n++;
	}
	return n;
}

/* Number of transactions that box @n of a package gets */
static uint64_t share(int pkg, unsigned int n)
{
	return 1000 * (pkg + 1) + n;
}

/* Send share() transactions to each box of package @pkg. */
static void send_each(int pkg)
{
	struct walk w = { 0 };
	unsigned int n = 0;

	while (next_pmu(&w))
		if (pmu_cpu(w.pmu, pkg) >= 0) {
			send_traffic(w.pmu, pkg, plain_of(box_types[w.type]),
				     share(pkg, n), 1);
			n++;
		}
}

unsigned int boxes_that_count(int pkg, uint64_t cycles)
{
	int ticks[MAX_OPEN], plain[MAX_OPEN];
	unsigned int n, right = 0, i = 0;
	struct walk w = { 0 };

	n = open_each(pkg, ticks_of, ticks);
	sim_advance(cycles);
	open_each(pkg, plain_of, plain);
	send_each(pkg);
	while (next_pmu(&w)) {
		if (pmu_cpu(w.pmu, pkg) < 0 || i == n)
			continue;
		right += check_eq(event_count(ticks[i]), cycles,
				  "%s of package %d: cycles", w.pmu, pkg) &&
			 check_eq(event_count(plain[i]), share(pkg, i),
				  "%s of package %d: transactions", w.pmu, pkg);
		i++;
	}
	for (i = 0; i < n; i++) {
		close(ticks[i]);
		close(plain[i]);
	}
	return right;
}

bool samples_exactly(const char *type, int pkg, unsigned int overflows)
{
	const struct cat_event *e = plain_of(type);
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;
	int err;

	if (!e || !pmu_name(pmu, type, 0))
		return check(false, "%s: no event, or no box", type);
	err = sampler_open(&s, pmu, pmu_cpu(pmu, pkg), PERIOD,
			   "config=%#" PRIx64, e->config);
	if (!check_eq(-err, 0, "%s/%s/ opens in package %d", pmu, e->name, pkg))
		return false;
	for (unsigned int i = 0; i < overflows; i++) {
		send_traffic(pmu, pkg, e, PERIOD, 1);
		sampler_wait(&s, i + 1);
	}
	ok = check_eq(sampler_settle(&s, overflows), overflows, "%s: samples",
		      pmu);
	ok &= check_eq(event_count(s.fd), overflows * PERIOD, "%s: count", pmu);
	ok &= sampler_clean(&s, pmu);
	sampler_close(&s);
	return ok;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What sampling must refuse at open, and with which error; what it must accept
 * besides; and that a storm of overflows stops neither the machine nor the
 * counting: perf's throttling works, and nothing is left frozen.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* --- refusals ------------------------------------------------------------ */

static bool refused(const struct perf_event_attr *attr, int cpu, int error,
		    const char *what)
{
	bool ok;
	int fd;

	sim_trace_clear();
	fd = perf_open(attr, -1, cpu, -1);
	ok = check(fd == -error, "%s: %s, expected %s", what,
		   fd >= 0 ? "opened" : strerror(-fd), strerror(error));
	ok &= check_eq(sim_trace_writes(), 0, "%s: register writes", what);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool accepted(const struct perf_event_attr *attr, int cpu,
		     const char *what)
{
	int fd = perf_open(attr, -1, cpu, -1);

	if (fd >= 0)
		close(fd);
	return check_eq(fd < 0 ? -fd : 0, 0, "%s", what);
}

static void test_periods(const char *kind)
{
	const struct cat_event *e = ticks_of(kind);
	char pmu[PMU_NAME_MAX];
	struct perf_event_attr base, attr;
	bool ok = true;
	int cpu;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: periods", kind);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	pmu_attr(&base, pmu, "");
	base.config = e->config;
	base.sample_type = SAMPLER_TYPE;
	for (unsigned int bits = 48; bits < 64; bits++) {
		attr = base;
		attr.sample_period = 1ULL << bits;
		ok &= refused(&attr, cpu, EINVAL, "a period that is too wide");
	}
	attr = base;
	attr.sample_period = UINT64_MAX >> 1;
	ok &= refused(&attr, cpu, EINVAL, "the widest period");
	tap_ok(ok, "%s: a period wider than the counter is refused", pmu);

	attr = base;
	attr.sample_period = (1ULL << 48) - 1;
	ok = accepted(&attr, cpu, "a period as wide as the counter");
	attr.sample_period = 1;
	ok &= accepted(&attr, cpu, "a period of 1");
	attr.freq = 1;
	attr.sample_freq = 100;
	ok &= accepted(&attr, cpu, "100 samples a second");
	tap_ok(ok, "%s: all other periods, and a frequency, are accepted", pmu);

	attr = base;
	attr.freq = 1;
	attr.sample_freq = 0;
	tap_ok(refused(&attr, cpu, EINVAL, "a frequency of 0"),
	       "%s: a frequency of 0 is refused", pmu);
}

/* The counters of which public sources say that they have 44 or 48 bits. */
static void test_narrow(void)
{
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	machine_setup("clock=manual counter_bits=44", "");
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		const struct cat_event *e = plain_of(box_kinds[k]);
		bool narrow = !strcmp(box_kinds[k], "ubox") ||
			      !strcmp(box_kinds[k], "sbox") ||
			      !strcmp(box_kinds[k], "r3qpi");
		int cpu;

		if (!e || !pmu_name(pmu, box_kinds[k], 0))
			continue;
		cpu = pmu_cpu(pmu, 0);
		pmu_attr(&attr, pmu, "");
		attr.config = e->config;
		attr.sample_period = (1ULL << 44) - 1;
		ok &= accepted(&attr, cpu, pmu);
		attr.sample_period = 1ULL << 44;
		ok &= narrow ? refused(&attr, cpu, EINVAL, pmu) :
			       accepted(&attr, cpu, pmu);
	}
	tap_ok(ok, "the width that counts is the one that was found");
}

static void test_free_running(void)
{
	char pmu[PMU_NAME_MAX];
	struct perf_event_attr attr;
	unsigned int tried = 0;
	size_t n;
	const struct cat_event *e = catalogue(&n);
	bool ok = true;

	for (size_t i = 0; i < n; i++) {
		if (!e[i].free || !pmu_name(pmu, e[i].box, 0))
			continue;
		pmu_attr(&attr, pmu, e[i].name);
		ok &= accepted(&attr, pmu_cpu(pmu, 0), e[i].name);
		attr.sample_period = 100000;
		ok &= refused(&attr, pmu_cpu(pmu, 0), EINVAL, e[i].name);
		attr.freq = 1;
		attr.sample_freq = 10;
		ok &= refused(&attr, pmu_cpu(pmu, 0), EINVAL, e[i].name);
		tried++;
	}
	tap_ok(ok && tried, "%u free-running counters can be read, not sampled",
	       tried);
}

/* What only a core can say of an event. */
static void test_impossible(const char *kind)
{
	static const struct {
		uint64_t type;
		const char *name;
	} types[] = {
		{ PERF_SAMPLE_ADDR, "address" },
		{ PERF_SAMPLE_PHYS_ADDR, "physical address" },
		{ PERF_SAMPLE_DATA_SRC, "data source" },
		{ PERF_SAMPLE_WEIGHT, "weight" },
		{ PERF_SAMPLE_WEIGHT_STRUCT, "three weights" },
		{ PERF_SAMPLE_TRANSACTION, "transaction" },
		{ PERF_SAMPLE_DATA_PAGE_SIZE, "data page size" },
	};
	const struct cat_event *e = plain_of(kind);
	struct perf_event_attr base, attr;
	char pmu[PMU_NAME_MAX];
	bool ok = true;
	int cpu;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: what it cannot say", kind);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	pmu_attr(&base, pmu, "");
	base.config = e->config;
	base.sample_period = 1000;
	base.sample_type = SAMPLER_TYPE;
	for (unsigned int i = 0; i < COUNT(types); i++) {
		attr = base;
		attr.sample_type |= types[i].type;
		ok &= refused(&attr, cpu, EOPNOTSUPP, types[i].name);
	}
	tap_ok(ok, "%s: samples with what only a core knows are refused", pmu);

	ok = true;
	for (unsigned int i = 1; i <= 3; i++) {
		attr = base;
		attr.precise_ip = i;
		ok &= refused(&attr, cpu, EOPNOTSUPP, "precise_ip");
	}
	attr = base;
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	ok &= refused(&attr, cpu, EOPNOTSUPP, "branch stack");
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK |
				  PERF_SAMPLE_BRANCH_USER;
	ok &= refused(&attr, cpu, EOPNOTSUPP, "branch call stack");
	attr = base;
	attr.aux_output = 1;
	ok &= refused(&attr, cpu, EOPNOTSUPP, "aux_output");
	tap_ok(ok, "%s: precise_ip, branch stacks and AUX output are refused",
	       pmu);
}

/* Everything that can be had of the interrupted program, in one sample. */
static void test_possible(const char *kind)
{
	const struct cat_event *e = plain_of(kind);
	uint64_t before = overflow_stat(0, "count");
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	bool ok;
	int fd;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: what it can say", kind);
		return;
	}
	pmu_attr(&attr, pmu, "");
	attr.config = e->config;
	attr.sample_period = 10;
	attr.sample_type = SAMPLER_TYPE | PERF_SAMPLE_IDENTIFIER |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ |
			   PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CODE_PAGE_SIZE |
			   PERF_SAMPLE_CGROUP;
	attr.sample_regs_intr = attr.sample_regs_user = 0xff;
	attr.sample_stack_user = 512;
	fd = perf_open(&attr, -1, pmu_cpu(pmu, 0), -1);
	ok = check_eq(fd < 0 ? -fd : 0, 0, "%s opens", pmu);
	send_traffic(pmu, 0, e, 200, 1);
	sleep_ms(20);
	ok &= check_eq(event_count(fd), 200, "count");
	ok &= check_eq(overflow_stat(0, "count") - before, 20, "overflow_count");
	close(fd);
	tap_ok(ok, "%s: registers, stacks, call chains and counts are accepted",
	       pmu);
}

/* --- storms -------------------------------------------------------------- */

struct runner {
	pthread_t thread;
	int cpu;
	_Atomic uint64_t work;
};

static atomic_bool stop_running;

static void *run(void *arg)
{
	struct runner *r = arg;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(r->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	while (!stop_running)
		r->work++;
	return NULL;
}

/* How far a program on @r's CPU comes in @ms, in parts of 1000 of @usual. */
static uint64_t progress(struct runner *r, unsigned int ms, double usual)
{
	uint64_t start = now_ns(), work = r->work;

	sleep_ms(ms);
	work = r->work - work;
	start = now_ns() - start;
	return usual > 0 ? 1000 * (work * 1e6 / start) / usual :
			   work * 1000000 / start;
}

/* Is time passing in every package, without anybody sampling? */
static bool nothing_frozen(void)
{
	uint64_t frozen = sim_stat("frozen_ns");
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int k = 0; k < BOX_KINDS; k++) {
			const struct cat_event *e = ticks_of(box_kinds[k]);
			uint64_t first;
			int fd;

			if (!e || !pmu_name(pmu, box_kinds[k], 0))
				continue;
			fd = event_open(pmu, pmu_cpu(pmu, pkg),
					"config=%#" PRIx64, e->config);
			first = event_count(fd);
			sleep_ms(2);
			ok &= check(event_count(fd) > first,
				    "%s in package %d stands still", pmu, pkg);
			close(fd);
		}
	}
	return ok & check_eq(sim_stat("frozen_ns"), frozen, "frozen_ns at rest");
}

/* A sample each cycle is asked for, for @ms, of @n kinds in all packages. */
static void storm(const char *const *kinds, unsigned int n, unsigned int ms,
		  unsigned int rate)
{
	struct runner r[2] = { 0 };
	struct sampler s[2 * BOX_KINDS];
	uint64_t usual[2], here[2], samples = 0, throttled = 0, most;
	unsigned int opened = 0;
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	max_sample_rate(rate);
	stop_running = false;
	r[0].cpu = package_cpu(0, 0);
	r[1].cpu = package_cpu(0, 1) >= 0 ? package_cpu(0, 1) : 0;
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			tap_bail("no thread");
	sleep_ms(20);
	for (unsigned int i = 0; i < 2; i++)
		usual[i] = progress(&r[i], 150, 0);
	for (unsigned int k = 0; k < n; k++) {
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++) {
			const struct cat_event *e = ticks_of(kinds[k]);

			if (!pmu_name(pmu, kinds[k], 0))
				continue;
			ok &= check_eq(-sampler_open(&s[opened], pmu,
						     pmu_cpu(pmu, pkg), 1,
						     "config=%#" PRIx64,
						     e->config), 0,
				       "%s opens", pmu);
			opened++;
		}
	}
	for (unsigned int i = 0; i < 2; i++)
		here[i] = progress(&r[i], ms / 2, usual[i]);
	for (unsigned int i = 0; i < opened; i++)
		sampler_disable(&s[i]);
	for (unsigned int i = 0; i < opened; i++) {
		samples += sampler_drain(&s[i]) + s[i].lost;
		throttled += s[i].throttled;
		sampler_close(&s[i]);
	}
	stop_running = true;
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(r[i].thread, NULL);
		ok &= check(here[i] >= 20, "a program on CPU %d comes %" PRIu64
			    " of 1000 as far as without", r[i].cpu, here[i]);
	}
	ok &= check(samples > 0, "no samples");
	tap_ok(ok, "%s%s: a storm; programs go on (%" PRIu64 " and %" PRIu64
	       " of 1000 parts)", kinds[0], n > 1 ? " and all others" : "",
	       here[0], here[1]);
	/* a tick's share more at the start, and slow machines miss ticks */
	most = 2ULL * opened * rate * (ms + 500) / 1000;
	ok = check(samples <= most, "%" PRIu64 " samples, may be %" PRIu64,
		   samples, most);
	tap_ok(ok & check(throttled || samples < most / 4, "never throttled"),
	       "%s%s: perf throttles it to %u a second (%" PRIu64
	       " samples, %" PRIu64 " times throttled)", kinds[0],
	       n > 1 ? " and all others" : "", rate, samples, throttled);
	tap_ok(nothing_frozen(), "%s%s: nothing stays frozen after the storm",
	       kinds[0], n > 1 ? " and all others" : "");
}

int main(void)
{
	static const char *const one[][1] = { { "pcu" }, { "imc" }, { "cbox" } };

	catalogue(NULL);
	test_narrow();
	machine_setup("clock=manual", "");
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		test_periods(box_kinds[k]);
		test_impossible(box_kinds[k]);
	}
	test_free_running();
	test_possible("ha");
	test_possible("cbox");
	machine_setup("clock=real", "");
	for (unsigned int i = 0; i < COUNT(one); i++)
		storm(one[i], 1, 2000, 1000);
	storm(box_kinds, BOX_KINDS, 2000, 1000);
	return tap_end();
}

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
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* --- refusals ------------------------------------------------------------ */

/*
 * Without a register write: the driver may just be done with an earlier event,
 * which it watches for 2 s, but not every time.
 */
static bool refused(const struct perf_event_attr *attr, int cpu, int error,
		    const char *what)
{
	unsigned int writes = 1;
	bool ok = true;

	for (unsigned int i = 0; ok && writes && i < 3; i++) {
		int fd;

		sim_trace_clear();
		fd = perf_open(attr, -1, cpu, -1);
		writes = sim_trace_writes();
		ok = check(fd == -error, "%s: %s, expected %s", what,
			   fd >= 0 ? "opened" : strerror(-fd), strerror(error));
		if (fd >= 0)
			close(fd);
	}
	return ok & check_eq(writes, 0, "%s: register writes", what);
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

/* An ioctl may set no period that open refuses; a good one is used from then on. */
static void test_new_period(const char *kind)
{
	static const uint64_t bad[] = { 0, 1ULL << 48, 1ULL << 62, 1ULL << 63 };
	const struct cat_event *e = plain_of(kind);
	uint64_t period = 50;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;

	if (!e || !pmu_name(pmu, kind, 0)) {
		tap_skip("no event, or no box", "%s: a new period", kind);
		return;
	}
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), 10,
				    "config=%#" PRIx64, e->config), 0,
		      "%s opens", pmu);
	for (unsigned int i = 0; i < COUNT(bad); i++) {
		period = bad[i];
		ok &= check(ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period) == -1 &&
			    errno == EINVAL, "a period of %#" PRIx64
			    " is not refused", period);
	}
	send_traffic(pmu, 0, e, 100, 1);
	ok &= check_eq(sampler_settle(&s, 10), 10, "samples by 10");
	s.period = period = 50;
	ok &= check_eq(ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period), 0,
		       "a period of 50");
	send_traffic(pmu, 0, e, 500, 1);
	ok &= check_eq(sampler_settle(&s, 20), 20, "samples by 10, then by 50");
	ok &= sampler_clean(&s, pmu);
	sampler_close(&s);
	tap_ok(ok, "%s: an ioctl sets a new period, but none that open refuses",
	       pmu);
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

	cpu_pin(r->cpu);
	while (!stop_running)
		r->work++;
	return NULL;
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

/* Sample periods that ended, by the driver's accounts. */
static uint64_t periods_ended(void)
{
	uint64_t count = 0;

	for (int pkg = 0; pkg < packages(); pkg++)
		count += overflow_stat(pkg, "count");
	return count;
}

/* A sample of each cycle is asked for, of @n kinds in all packages. */
static unsigned int open_storm(struct sampler *s, const char *const *kinds,
			       unsigned int n)
{
	unsigned int opened = 0;
	char pmu[PMU_NAME_MAX];

	for (unsigned int k = 0; k < n; k++)
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++)
			if (pmu_name(pmu, kinds[k], 0) &&
			    check_eq(-sampler_open(&s[opened], pmu,
						   pmu_cpu(pmu, pkg), 1,
						   "config=%#" PRIx64,
						   ticks_of(kinds[k])->config),
				     0, "%s opens", pmu))
				opened++;
	return opened;
}

/*
 * The most samples of an event that perf lets pass at @rate a second: a part of
 * it between two ticks of the scheduler, rounded up, which makes 1200 of 1000
 * where there are 300 ticks a second.  There are a hundred at least, and in @ns
 * may be two more than fit.
 */
static uint64_t most_samples(unsigned int rate, uint64_t ns)
{
	return rate * 6 / 5 * ns / 1000000000 + 2 * (rate / 100 + 1);
}

/* For @ms. */
static void storm(const char *const *kinds, unsigned int n, unsigned int ms,
		  unsigned int rate)
{
	uint64_t ended = periods_ended(), start = now_ns(), samples = 0;
	uint64_t counted = 0, throttled = 0, work[2], most;
	const char *others = n > 1 ? " and all others" : "";
	struct sampler s[2 * BOX_KINDS];
	struct runner r[2] = { 0 };
	unsigned int opened;
	bool ok, paired = true;

	max_sample_rate(rate);
	stop_running = false;
	r[0].cpu = package_cpu(0, 0);
	r[1].cpu = package_cpu(0, 1) >= 0 ? package_cpu(0, 1) : 0;
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			tap_bail("no thread");
	opened = open_storm(s, kinds, n);
	for (unsigned int i = 0; i < 2; i++)
		work[i] = r[i].work;
	sleep_ms(ms);
	for (unsigned int i = 0; i < 2; i++)
		work[i] = r[i].work - work[i];
	for (unsigned int i = 0; i < opened; i++)
		sampler_disable(&s[i]);
	most = opened * most_samples(rate, now_ns() - start);
	for (unsigned int i = 0; i < opened; i++) {
		samples += sampler_drain(&s[i]) + s[i].lost;
		throttled += s[i].throttled;
		/* the last one may have been stopped while it was throttled */
		paired &= check(s[i].lost || s[i].throttled - s[i].unthrottled <= 1,
				"event %u: %" PRIu64 " times throttled, %" PRIu64
				" unthrottled", i, s[i].throttled,
				s[i].unthrottled);
		counted += event_count(s[i].fd);
	}
	ended = periods_ended() - ended;
	for (unsigned int i = 0; i < opened; i++)
		sampler_close(&s[i]);
	stop_running = true;
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(r[i].thread, NULL);
	ok = check(opened, "nothing opens");
	ok &= check(work[0] && work[1], "programs came %" PRIu64 " and %" PRIu64
		    " steps far", work[0], work[1]);
	tap_ok(ok, "%s%s: a storm; programs go on", kinds[0], others);
	ok = check_eq(ended, counted, "periods that ended, of one count each");
	ok &= check(samples && samples <= ended, "%" PRIu64 " samples", samples);
	tap_ok(ok, "%s%s: each cycle that was counted ended a period", kinds[0],
	       others);
	ok = check(samples <= most, "%" PRIu64 " samples, may be %" PRIu64,
		   samples, most);
	ok &= check(throttled || samples == ended,
		    "samples are missing, and it was never throttled");
	tap_ok(ok, "%s%s: perf throttles it to %u a second (%" PRIu64
	       " samples, %" PRIu64 " times throttled)", kinds[0], others, rate,
	       samples, throttled);
	tap_ok(paired, "%s%s: each THROTTLE has its UNTHROTTLE", kinds[0],
	       others);
	tap_ok(nothing_frozen(), "%s%s: nothing stays frozen after the storm",
	       kinds[0], others);
}

/* What samples cost is told to perf, which lowers its limit when they cost much. */
static void test_cost_is_told(const char *kind)
{
	enum { RATE = 100000, SAMPLES = 1000, EACH = 100 };
	const struct cat_event *e = plain_of(kind);
	unsigned int limit = RATE;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	bool ok;
	FILE *f;

	pmu_name(pmu, kind, 0);
	/* so many a second would be 2.5 us each, which no emulated CPU can do */
	if (file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "25") ||
	    file_write("/proc/sys/kernel/perf_event_max_sample_rate", "100000"))
		tap_bail("perf's limit cannot be set");
	ok = check_eq(-sampler_open(&s, pmu, pmu_cpu(pmu, 0), EACH,
				    "config=%#" PRIx64, e->config), 0,
		      "%s opens", pmu);
	send_traffic(pmu, 0, e, SAMPLES * EACH, 1);
	sampler_close(&s);
	f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	ok &= check(f && fscanf(f, "%u", &limit) == 1, "no limit can be read");
	if (f)
		fclose(f);
	ok &= check(limit < RATE, "perf still allows %u samples a second", limit);
	tap_ok(ok, "%s: what samples cost is told to perf", pmu);
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
	test_new_period("ha");
	test_new_period("cbox");
	test_free_running();
	test_cost_is_told("ha");
	test_cost_is_told("cbox");
	/* large samples take long where the CPU is emulated: none is throttled */
	max_sample_rate(100000000);
	test_possible("ha");
	test_possible("cbox");
	machine_setup("clock=real", "");
	for (unsigned int i = 0; i < COUNT(one); i++)
		storm(one[i], 1, 2000, 1000);
	storm(box_kinds, BOX_KINDS, 2000, 1000);
	return tap_end();
}

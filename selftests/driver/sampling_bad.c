// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sampling events that the driver must refuse, with the error; attributes that the driver
 * must accept; and storms of overflows. In a storm perf throttles the events: programs
 * continue, counts are complete, and no package stays frozen.
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

#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

/* Fixtures that load modules with other parameters come last. */
MACHINE_OF_ALL_TESTS("clock=manual", "");

/* --- refusals ------------------------------------------------------------ */

/*
 * Check that open fails with @error and writes no register. For 2 s after an earlier
 * event the driver may still write registers because of late overflows, so one of three
 * attempts without a write is enough.
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

FIXTURE(refusals)
{
	char pmu[PMU_NAME_MAX];
	int cpu;
	struct perf_event_attr base;	/* without an event: tests set config */
};

FIXTURE_VARIANT(refusals) { const char *type; };

VARIANTS_OF_TYPES(refusals);

FIXTURE_SETUP(refusals)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->cpu = pmu_cpu(self->pmu, 0);
	ASSERT_EQ(0, -pmu_attr(&self->base, self->pmu, ""));
	self->base.sample_period = 1000;
	self->base.sample_type = SAMPLER_TYPE;
}

FIXTURE_TEARDOWN(refusals) { }

/* Some tools use perf's longest period as "never". */
TEST_F(refusals, periods_longer_than_the_counter_are_accepted)
{
	const struct cat_event *e = ticks_of(variant->type);
	struct perf_event_attr attr = self->base;

	if (!e)
		SKIP(return, "no event, or no box");
	attr.config = e->config;
	for (unsigned int bits = 48; bits < 63; bits++) {
		attr.sample_period = 1ULL << bits;
		EXPECT_TRUE(accepted(&attr, self->cpu, "a long period")) {
			TH_LOG("a period of 2^%u", bits);
		}
	}
	attr.sample_period = INT64_MAX;
	EXPECT_TRUE(accepted(&attr, self->cpu, "the longest period"));
	attr.sample_period++;
	EXPECT_TRUE(refused(&attr, self->cpu, EINVAL, "a longer period"));
}

TEST_F(refusals, other_periods_and_a_frequency_are_accepted)
{
	const struct cat_event *e = ticks_of(variant->type);
	struct perf_event_attr attr = self->base;

	if (!e)
		SKIP(return, "no event, or no box");
	attr.config = e->config;
	attr.sample_period = (1ULL << 48) - 1;
	EXPECT_TRUE(accepted(&attr, self->cpu, "as wide as the counter"));
	attr.sample_period = 1;
	EXPECT_TRUE(accepted(&attr, self->cpu, "a period of 1"));
	attr.freq = 1;
	attr.sample_freq = 100;
	EXPECT_TRUE(accepted(&attr, self->cpu, "100 samples a second"));
}

TEST_F(refusals, frequency_of_0)
{
	const struct cat_event *e = ticks_of(variant->type);
	struct perf_event_attr attr = self->base;

	if (!e)
		SKIP(return, "no event, or no box");
	attr.config = e->config;
	attr.freq = 1;
	attr.sample_freq = 0;
	EXPECT_TRUE(refused(&attr, self->cpu, EINVAL, "a frequency of 0"));
}

/*
 * Sample fields that only a core PMU can fill in. Some kernels hang if another PMU
 * accepts some of these fields.
 */
TEST_F(refusals, samples_with_what_only_a_core_knows)
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
		{ PERF_SAMPLE_CODE_PAGE_SIZE, "code page size" },
	};
	const struct cat_event *e = plain_of(variant->type);

	if (!e)
		SKIP(return, "no event, or no box");
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = self->base;

		attr.config = e->config;
		attr.sample_type |= types[i].type;
		EXPECT_TRUE(refused(&attr, self->cpu, EOPNOTSUPP, types[i].name));
	}
}

TEST_F(refusals, precise_ip_branch_stacks_and_aux_output)
{
	const struct cat_event *e = plain_of(variant->type);
	struct perf_event_attr attr;

	if (!e)
		SKIP(return, "no event, or no box");
	self->base.config = e->config;
	for (unsigned int i = 1; i <= 3; i++) {
		attr = self->base;
		attr.precise_ip = i;
		EXPECT_TRUE(refused(&attr, self->cpu, EOPNOTSUPP, "precise_ip"));
	}
	attr = self->base;
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	EXPECT_TRUE(refused(&attr, self->cpu, EOPNOTSUPP, "branch stack"));
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK |
				  PERF_SAMPLE_BRANCH_USER;
	EXPECT_TRUE(refused(&attr, self->cpu, EOPNOTSUPP, "branch call stack"));
	attr = self->base;
	attr.aux_output = 1;
	EXPECT_TRUE(refused(&attr, self->cpu, EOPNOTSUPP, "aux_output"));
}

FIXTURE(free_running) {};

FIXTURE_SETUP(free_running)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
}

FIXTURE_TEARDOWN(free_running) { }

TEST_F(free_running, counters_can_be_read_not_sampled)
{
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	unsigned int tried = 0;

	for_each_cat_event(e) {
		if (!e->free || !pmu_name(pmu, e->box, 0))
			continue;
		pmu_attr(&attr, pmu, e->name);
		EXPECT_TRUE(accepted(&attr, pmu_cpu(pmu, 0), e->name));
		attr.sample_period = 100000;
		EXPECT_TRUE(refused(&attr, pmu_cpu(pmu, 0), EINVAL, e->name));
		attr.freq = 1;
		attr.sample_freq = 10;
		EXPECT_TRUE(refused(&attr, pmu_cpu(pmu, 0), EINVAL, e->name));
		tried++;
	}
	EXPECT_GT(tried, 0);
}

/* --- accepted attributes --------------------------------------------------- */

FIXTURE(accepted)
{
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event;
};

FIXTURE_VARIANT(accepted) { const char *type; };

VARIANT_OF_TYPE(accepted, ha);
VARIANT_OF_TYPE(accepted, cbox);

FIXTURE_SETUP(accepted)
{
	/*
	 * large samples take long on an emulated CPU: perf must not throttle the events
	 */
	ASSERT_EQ(0, -max_sample_rate(100000000));
	self->event = plain_of(variant->type);
	if (!pmu_name(self->pmu, variant->type, 0))
		self->event = NULL;
}

FIXTURE_TEARDOWN(accepted) { }

/*
 * An ioctl cannot set a period that open refuses. A valid period is in effect from the
 * ioctl on.
 */
TEST_F(accepted, new_period_by_ioctl)
{
	static const uint64_t bad[] = { 0, 1ULL << 63, UINT64_MAX };
	const struct cat_event *e = self->event;
	uint64_t period;
	struct sampler s;

	if (!e)
		SKIP(return, "no event, or no box");
	ASSERT_EQ(0, -sampler_open(&s, self->pmu, pmu_cpu(self->pmu, 0), 10,
				   "config=%#" PRIx64, e->config));
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		period = bad[i];
		EXPECT_EQ(-1, ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period)) {
			TH_LOG("a period of %#" PRIx64, bad[i]);
		}
		EXPECT_EQ(EINVAL, errno);
	}
	send_traffic(self->pmu, 0, e, 100, 1);
	EXPECT_EQ(10, sampler_settle(&s, 10)) {
		TH_LOG("samples by 10");
	}
	s.period = period = 50;
	EXPECT_EQ(0, ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &period));
	send_traffic(self->pmu, 0, e, 500, 1);
	EXPECT_EQ(20, sampler_settle(&s, 20)) {
		TH_LOG("samples by 10, then by 50");
	}
	EXPECT_TRUE(sampler_clean(&s, self->pmu));
	sampler_close(&s);
}

/* Samples may have every field that describes the interrupted program. */
TEST_F(accepted, registers_stacks_call_chains_and_counts)
{
	const struct cat_event *e = self->event;
	uint64_t before = overflow_stat(0, "count") + package_stat(0, "throttled");
	struct perf_event_attr attr;
	int fd;

	if (!e)
		SKIP(return, "no event, or no box");
	pmu_attr(&attr, self->pmu, "");
	attr.config = e->config;
	attr.sample_period = 10;
	attr.sample_type = SAMPLER_TYPE | PERF_SAMPLE_IDENTIFIER |
			   PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ |
			   PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP;
	attr.sample_regs_intr = attr.sample_regs_user = 0xff;
	attr.sample_stack_user = 512;
	fd = perf_open(&attr, -1, pmu_cpu(self->pmu, 0), -1);
	ASSERT_GE(fd, 0) {
		TH_LOG("%s", strerror(-fd));
	}
	send_traffic(self->pmu, 0, e, 200, 1);
	sleep_ms(20);
	EXPECT_EQ(200, event_count(fd));
	EXPECT_EQ(20, overflow_stat(0, "count") + package_stat(0, "throttled") -
		      before);
	close(fd);
}

/*
 * The driver reports the time that a sample takes to perf. If the samples take too much
 * time, perf lowers its limit of the sample rate.
 */
TEST_F(accepted, cost_of_samples_is_told_to_perf)
{
	enum { RATE = 100000, SAMPLES = 1000, EACH = 100 };
	unsigned int limit = RATE;
	struct sampler s;
	FILE *f;

	if (!self->event)
		SKIP(return, "no event, or no box");
	/*
	 * 100,000 samples a second in 1 % of the time: 100 ns each, less than any
	 * sample takes
	 */
	ASSERT_EQ(0, -file_write("/proc/sys/kernel/perf_cpu_time_max_percent", "1"));
	ASSERT_EQ(0, -file_write("/proc/sys/kernel/perf_event_max_sample_rate",
				 "100000"));
	ASSERT_EQ(0, -sampler_open(&s, self->pmu, pmu_cpu(self->pmu, 0), EACH,
				   "config=%#" PRIx64, self->event->config));
	send_traffic(self->pmu, 0, self->event, SAMPLES * EACH, 1);
	sampler_close(&s);
	f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	ASSERT_NE(NULL, f);
	EXPECT_EQ(1, fscanf(f, "%u", &limit));
	fclose(f);
	EXPECT_LT(limit, RATE);
	EXPECT_EQ(0, -file_write("/proc/sys/kernel/perf_cpu_time_max_percent",
				 "25"));
}

/* --- narrow counters --------------------------------------------------------- */

FIXTURE(narrow) {};

FIXTURE_SETUP(narrow)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup("clock=manual counter_bits=44", "");
}

FIXTURE_TEARDOWN(narrow)
{
	EXPECT_TRUE(machine_leave());
}

/*
 * Public sources give some counters 44 bits or 48. The driver must use the width that it
 * has found out, here 44 bits: a sample period of 2^44 needs two overflows then.
 */
TEST_F(narrow, width_that_counts_is_the_one_that_was_found)
{
	unsigned int tried = 0;
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct cat_event *e = plain_of(box_types[k]);
		bool narrow = !strcmp(box_types[k], "ubox") ||
			      !strcmp(box_types[k], "sbox") ||
			      !strcmp(box_types[k], "r3qpi");
		int cpu;

		if (!e || !pmu_name(pmu, box_types[k], 0))
			continue;
		cpu = pmu_cpu(pmu, 0);
		if (!signals(box_types[k]))
			continue;
		ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, 1ULL << 44,
					   "config=%#" PRIx64, e->config));
		/* a narrow counter overflows before the period ends */
		EXPECT_TRUE(counter_is_set(pmu, narrow ? 1 : (1ULL << 48) -
							     (1ULL << 44)));
		sampler_close(&s);
		tried++;
	}
	EXPECT_GT(tried, 0);
}

/* --- storms -------------------------------------------------------------- */

enum { STORM_RATE = 1000, STORM_MS = 2000 };

/* A thread that does work on a CPU, to see whether programs continue in a storm */
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
	while (!stop_running) {
		r->work++;
		cpu_relax();
	}
	return NULL;
}

/* Without a sampling event, check that all boxes count and that no package is frozen. */
static bool nothing_frozen(void)
{
	uint64_t frozen = sim_stat("frozen_ns");
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++) {
		for (unsigned int k = 0; *box_types[k]; k++) {
			const struct cat_event *e = ticks_of(box_types[k]);
			uint64_t first;
			int fd;

			if (!e || !pmu_name(pmu, box_types[k], 0))
				continue;
			fd = event_open(pmu, pmu_cpu(pmu, pkg),
					"config=%#" PRIx64, e->config);
			first = event_count(fd);
			sleep_ms(2);
			ok &= check(event_count(fd) > first,
				    "%s in package %d is frozen", pmu, pkg);
			close(fd);
		}
	}
	return ok & check_eq(sim_stat("frozen_ns"), frozen, "frozen_ns at rest");
}

/* Number of samples, by the driver's statistics */
static uint64_t samples_taken(void)
{
	uint64_t count = 0;

	for (int pkg = 0; pkg < packages(); pkg++)
		count += overflow_stat(pkg, "count");
	return count;
}

/* Number of periods that ended without a separate sample, by the driver's statistics */
static uint64_t periods_merged(void)
{
	uint64_t count = 0;

	for (int pkg = 0; pkg < packages(); pkg++)
		count += package_stat(pkg, "throttled");
	return count;
}

/*
 * Open events that sample each cycle (a period of 1) in a box of @n types, in at most two
 * packages. Return the number of events.
 */
static unsigned int open_storm(struct sampler *s, const char *const *types,
			       unsigned int n)
{
	unsigned int opened = 0;
	char pmu[PMU_NAME_MAX];

	for (unsigned int k = 0; k < n; k++)
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++)
			if (pmu_name(pmu, types[k], 0) &&
			    check_eq(-sampler_open(&s[opened], pmu,
						   pmu_cpu(pmu, pkg), 1,
						   "config=%#" PRIx64,
						   ticks_of(types[k])->config),
				     0, "%s opens", pmu))
				opened++;
	return opened;
}

/*
 * Return the largest number of samples of an event that perf allows in @ns at a limit of
 * @rate a second. In each tick of the scheduler perf allows the tick's part of the rate,
 * rounded up, and the sample at which perf throttles the event. On an @idle CPU the driver
 * calls perf at the rate of the tick, too.
 */
static uint64_t most_samples(unsigned int rate, uint64_t ns, bool idle)
{
	const uint64_t second = 1000000000;
	uint64_t tick, hz;
	struct timespec t;

	/* the resolution of this clock is the tick */
	clock_getres(CLOCK_MONOTONIC_COARSE, &t);
	tick = t.tv_sec * second + t.tv_nsec;
	hz = second / tick;
	return ((rate + hz - 1) / hz + 1) * (ns / tick + 2) * (idle ? 2 : 1);
}

FIXTURE(throttled) {};

FIXTURE_VARIANT(throttled)
{
	bool busy;		/* a program runs: perf unthrottles in the tick */
};

FIXTURE_VARIANT_ADD(throttled, on_a_busy_cpu) { .busy = true };
FIXTURE_VARIANT_ADD(throttled, on_an_idle_cpu) { };

FIXTURE_SETUP(throttled)
{
	machine_setup_once("clock=manual", "");
	ASSERT_EQ(0, -max_sample_rate(STORM_RATE));
	ASSERT_EQ(0, -driver_freeze_budget(1000));
}

FIXTURE_TEARDOWN(throttled)
{
	EXPECT_EQ(0, -driver_freeze_budget(10));
}

/*
 * An event that perf throttles takes no samples, so the driver does not let its counter
 * overflow. Otherwise each overflow would interrupt a CPU that then has no time for
 * programs, nor for the tick in which perf ends the throttling. A sample that is due is
 * taken after that tick, without another overflow.
 */
TEST_F(throttled, event_does_not_interrupt)
{
	enum {
		PERIOD = 100,
		OVERFLOWS = 500,
		TAKEN_AT_ONCE = OVERFLOWS / 4,
		ROUNDS = 40,
	};
	const struct cat_event *e = plain_of("ha");
	uint64_t sent, pmi = sim_stat("pmi");
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	pid_t spinner = 0;
	int cpu;

	ASSERT_TRUE(pmu_name(pmu, "ha", 0));
	cpu = pmu_cpu(pmu, 0);
	if (variant->busy)
		spinner = cpu_spinner(cpu, 0);
	ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				   e->config));
	for (sent = OVERFLOWS; sent <= ROUNDS * OVERFLOWS; sent += OVERFLOWS) {
		send_traffic(pmu, 0, e, PERIOD * OVERFLOWS, 1);
		ASSERT_EQ(sent, sampler_wait(&s, sent));
		EXPECT_EQ(PERIOD * sent, event_count(s.fd));
	}
	pmi = sim_stat("pmi") - pmi;
	TH_LOG("%ju samples, %ju interrupts", (uintmax_t)s.samples, (uintmax_t)pmi);
	EXPECT_GT(s.throttled, 0);
	EXPECT_GT(pmi, 0);
	EXPECT_LT(pmi, ROUNDS * TAKEN_AT_ONCE);
	sleep_ms(100);
	EXPECT_TRUE(sampler_clean(&s, pmu));
	/* perf has ended the throttling: the next overflow interrupts again */
	pmi = sim_stat("pmi");
	send_traffic(pmu, 0, e, PERIOD, 1);
	sent = ROUNDS * OVERFLOWS + 1;
	EXPECT_EQ(sent, sampler_wait(&s, sent));
	EXPECT_EQ(pmi + 1, sim_stat("pmi"));
	sampler_close(&s);
	if (spinner)
		cpu_spinner_stop(spinner);
}

FIXTURE(storm) {};

FIXTURE_VARIANT(storm)
{
	const char *type;	/* NULL: all box types at the same time */
	const char *params;
};

FIXTURE_VARIANT_ADD(storm, pcu) { .type = "pcu" };
FIXTURE_VARIANT_ADD(storm, imc) { .type = "imc" };
FIXTURE_VARIANT_ADD(storm, cbox) { .type = "cbox" };
FIXTURE_VARIANT_ADD(storm, all) { };
/* without a freeze budget, only perf's throttling leaves time for programs */
FIXTURE_VARIANT_ADD(storm, all_without_limit) { .params = "freeze_budget=1000" };

FIXTURE_SETUP(storm)
{
	machine_setup("clock=real", variant->params ? variant->params : "");
	ASSERT_EQ(0, -max_sample_rate(STORM_RATE));
}

FIXTURE_TEARDOWN(storm)
{
	EXPECT_TRUE(machine_leave());
}

/*
 * Programs continue in a storm, because perf throttles the events, or the driver merges
 * periods when the freeze budget is used up. Each THROTTLE record has an UNTHROTTLE
 * record, all counts have samples, and no package stays frozen.
 */
TEST_F(storm, is_throttled_and_ends)
{
	const char *const *types = variant->type ? &variant->type : box_types;
	uint64_t ended = samples_taken(), by_driver = periods_merged();
	uint64_t start = now_ns(), samples = 0;
	uint64_t counted = 0, throttled = 0, work[2], most = 0, ns;
	struct sampler s[2 * BOX_TYPES];
	struct runner r[2] = { 0 };
	unsigned int opened, n = variant->type ? 1 : 0;

	for (; !variant->type && *box_types[n]; n++)
		;
	r[0].cpu = package_cpu(0, 0);
	r[1].cpu = package_cpu(0, 1) >= 0 ? package_cpu(0, 1) : 0;
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL, run, &r[i]));
	}
	opened = open_storm(s, types, n);
	EXPECT_GT(opened, 0) {
		TH_LOG("nothing opens");
	}
	for (unsigned int i = 0; i < 2; i++)
		work[i] = r[i].work;
	sleep_ms(STORM_MS);
	for (unsigned int i = 0; i < 2; i++)
		work[i] = r[i].work - work[i];
	for (unsigned int i = 0; i < opened; i++)
		sampler_disable(&s[i]);
	ns = now_ns() - start;
	for (unsigned int i = 0; i < opened; i++) {
		most += most_samples(STORM_RATE, ns, s[i].cpu != r[0].cpu &&
						     s[i].cpu != r[1].cpu);
		sampler_drain(&s[i]);
		samples += s[i].samples + s[i].lost;
		throttled += s[i].throttled;
		/* an event may have been disabled while it was throttled */
		EXPECT_TRUE(s[i].lost || s[i].throttled - s[i].unthrottled <= 1) {
			TH_LOG("event %u: %ju times throttled, %ju unthrottled", i,
			       (uintmax_t)s[i].throttled,
			       (uintmax_t)s[i].unthrottled);
		}
		counted += event_count(s[i].fd);
		/*
		 * samples account for the whole count, also while perf throttles the
		 * event
		 */
		EXPECT_TRUE(s[i].lost || s[i].weight == event_count(s[i].fd)) {
			TH_LOG("event %u: samples of %ju counts, counted %ju", i,
			       (uintmax_t)s[i].weight,
			       (uintmax_t)event_count(s[i].fd));
		}
	}
	ended = samples_taken() - ended;
	for (unsigned int i = 0; i < opened; i++)
		sampler_close(&s[i]);
	stop_running = true;
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_GT(work[i], 0) {
			TH_LOG("program %u does not continue", i);
		}
	}
	TH_LOG("%ju samples of at most %ju, %ju times throttled",
	       (uintmax_t)samples, (uintmax_t)most, (uintmax_t)throttled);
	/* each sample is of one count or more */
	EXPECT_LE(ended, counted);
	EXPECT_GT(samples, 0);
	EXPECT_LE(samples, ended);
	EXPECT_LE(samples, most);
	by_driver = periods_merged() - by_driver;
	EXPECT_TRUE(throttled || by_driver || samples == ended) {
		TH_LOG("samples are missing, and it was never throttled");
	}
	EXPECT_TRUE(nothing_frozen());
}

TEST_HARNESS_MAIN

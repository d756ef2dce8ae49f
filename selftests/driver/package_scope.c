// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver counts all events of a package on its perf CPU, whichever CPU an event was
 * opened on. Equal events share a counter, and a sampling event of another CPU still
 * samples that CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { MAX_CPUS = 16, COUNTERS = 4, PERIOD = 1000, ROUNDS = 20 };

static void __attribute__((constructor)) need_two_cpus(void)
{
	if (package_cpu(0, 1) < 0)
		tap_skip_all("needs a package with two CPUs");
}

/* Number of enabled general counters of a box of package 0 */
static unsigned int counters_in_use(const char *pmu)
{
	unsigned int n = 0;
	uint64_t value;
	char name[80];

	for (unsigned int i = 0; i < COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s ctl%u", pmu_box(pmu), i);
		n += sim_register(0, name, &value);
	}
	return n;
}

/* --- passive copies (local=1), which read the counter of an equal event ------------ */

FIXTURE(local)
{
	char pmu[PMU_NAME_MAX];
	int perf_cpu;
};

FIXTURE_VARIANT(local) { const char *type; };

VARIANT_OF_TYPE(local, cbox);
VARIANT_OF_TYPE(local, imc);
VARIANT_OF_TYPE(local, pcu);

FIXTURE_SETUP(local)
{
	machine_setup_once("clock=manual", "");
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->perf_cpu = pmu_cpu(self->pmu, 0);
}

FIXTURE_TEARDOWN(local)
{
	EXPECT_FALSE(sim_box_counts(pmu_box(self->pmu)));
	expect_no_complaint(_metadata);
}

TEST_F(local, copies_follow_the_event_exactly)
{
	int copy[MAX_CPUS], fd, cpu;
	unsigned int n = 0;

	fd = event_open(self->pmu, self->perf_cpu, "clockticks");
	ASSERT_GE(fd, 0);
	for (; n < MAX_CPUS && (cpu = package_cpu(0, n)) >= 0; n++) {
		copy[n] = event_open(self->pmu, cpu, "clockticks,local=1");
		ASSERT_GE(copy[n], 0);
	}
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		sim_advance(777);
		for (unsigned int i = 0; i < n; i++) {
			EXPECT_EQ(777 * round, event_count(copy[i])) {
				TH_LOG("copy %u, round %u", i, round);
			}
		}
	}
	EXPECT_EQ(1, counters_in_use(self->pmu));
	EXPECT_EQ(777 * ROUNDS, event_count(fd));
	sim_advance(223);
	close(fd);
	sim_advance(5000);
	EXPECT_EQ(0, counters_in_use(self->pmu));
	for (unsigned int i = 0; i < n; i++) {
		EXPECT_EQ(777 * ROUNDS + 223, event_count(copy[i])) {
			TH_LOG("copy %u, after the event was closed", i);
		}
		close(copy[i]);
	}
}

/*
 * A copy without an equal event that counts is refused: it would read 0 while it seems to
 * run all the time.
 */
TEST_F(local, copies_of_what_does_not_count_are_refused)
{
	struct event_reading r;
	int fd, copy;

	EXPECT_EQ(-EINVAL, event_open(self->pmu, self->perf_cpu, "clockticks,local=1"));
	/* an event of the box with another threshold is not equal */
	fd = event_open(self->pmu, self->perf_cpu, "clockticks,thresh=1");
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-EINVAL, event_open(self->pmu, self->perf_cpu, "clockticks,local=1"));
	close(fd);
	/* an equal event is disabled: the copy opens, but does not run */
	fd = event_open(self->pmu, self->perf_cpu, "clockticks");
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	copy = event_open(self->pmu, package_cpu(0, 1), "clockticks,local=1");
	ASSERT_GE(copy, 0);
	sim_advance(777);
	ASSERT_EQ(0, -event_read(copy, &r));
	EXPECT_EQ(0, r.value);
	EXPECT_EQ(0, r.running);
	EXPECT_GT(r.enabled, 0);
	close(copy);
	close(fd);
}

TEST_F(local, copies_cannot_sample)
{
	struct sampler s;

	EXPECT_EQ(EINVAL, -sampler_open(&s, self->pmu, self->perf_cpu, PERIOD,
					"clockticks,local=1"));
}

/* --- sampling on all CPUs ---------------------------------------------------------- */

static struct sampler samplers[MAX_CPUS];
/* Sum of the periods of each sampler's samples */
static uint64_t weights[MAX_CPUS];
static unsigned int n_samplers;

static void add_weight(struct sampler *s, const struct sample *sample)
{
	weights[s - samplers] += sample->period;
}

static int add_sampler(const char *pmu, int cpu)
{
	struct sampler *s = &samplers[n_samplers];
	int err = sampler_open(s, pmu, cpu, PERIOD, "clockticks");

	if (err)
		return err;
	s->each = add_weight;
	weights[n_samplers++] = 0;
	return 0;
}

/*
 * Let @n sample periods pass, with a pause after each: a box that is polled delivers all
 * samples that are due at the same moment.
 */
static void pass_periods(unsigned int n)
{
	while (n--) {
		sim_advance(PERIOD);
		sleep_ms(2);
	}
}

/*
 * Return whether each open sampler has @n sample periods, and the sum of its periods is
 * the event's count.
 */
static bool samples_are(uint64_t n, const char *when)
{
	bool ok = true;

	for (unsigned int i = 0; i < n_samplers; i++) {
		struct sampler *s = &samplers[i];

		if (s->fd < 0)
			continue;
		ok &= check_eq(sampler_wait(s, n), n, "%s: samples on CPU %d",
			       when, s->cpu);
		ok &= check_eq(weights[i], event_count(s->fd),
			       "%s: sum of the periods on CPU %d", when, s->cpu);
		ok &= sampler_clean(s, when);
	}
	return ok;
}

FIXTURE(sampling)
{
	char pmu[PMU_NAME_MAX];
	int perf_cpu, other;
};

FIXTURE_VARIANT(sampling) { const char *type; };

VARIANT_OF_TYPE(sampling, cbox);
VARIANT_OF_TYPE(sampling, ha);
VARIANT_OF_TYPE(sampling, imc);
VARIANT_OF_TYPE(sampling, pcu);

FIXTURE_SETUP(sampling)
{
	machine_setup_once("clock=manual", "");
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->perf_cpu = pmu_cpu(self->pmu, 0);
	self->other = pmu_other_cpu(self->pmu, 0);
}

FIXTURE_TEARDOWN(sampling)
{
	while (n_samplers)
		sampler_close(&samplers[--n_samplers]);
	EXPECT_FALSE(sim_box_counts(pmu_box(self->pmu)));
	expect_no_complaint(_metadata);
}

/* Number of the @nth sampler to be closed: first, last, second, ... */
static unsigned int closing_order(unsigned int nth)
{
	return nth % 2 ? n_samplers - 1 - nth / 2 : nth / 2;
}

TEST_F(sampling, on_all_cpus_takes_one_counter)
{
	uint64_t n = ROUNDS;
	int cpu;

	while (n_samplers < MAX_CPUS &&
	       (cpu = package_cpu(0, n_samplers)) >= 0) {
		ASSERT_EQ(0, -add_sampler(self->pmu, cpu));
	}
	pass_periods(ROUNDS);
	EXPECT_EQ(1, counters_in_use(self->pmu));
	EXPECT_TRUE(samples_are(n, "all"));
	for (unsigned int i = 0; i + 1 < n_samplers; i++) {
		sampler_close(&samplers[closing_order(i)]);
		EXPECT_EQ(1, counters_in_use(self->pmu));
		pass_periods(ROUNDS);
		n += ROUNDS;
		EXPECT_TRUE(samples_are(n, "some closed")) {
			TH_LOG("%u closed", i + 1);
		}
	}
}

TEST_F(sampling, on_another_cpu_alone_works)
{
	ASSERT_EQ(0, -add_sampler(self->pmu, self->other));
	pass_periods(ROUNDS);
	EXPECT_EQ(1, counters_in_use(self->pmu));
	EXPECT_TRUE(samples_are(ROUNDS, "alone"));
}

/* The perf CPU's event closes while another CPU's event samples. */
TEST_F(sampling, goes_on_when_the_perf_cpus_event_closes)
{
	ASSERT_EQ(0, -add_sampler(self->pmu, self->perf_cpu));
	ASSERT_EQ(0, -add_sampler(self->pmu, self->other));
	pass_periods(ROUNDS);
	EXPECT_TRUE(samples_are(ROUNDS, "both"));
	sampler_close(&samplers[0]);
	pass_periods(ROUNDS);
	EXPECT_TRUE(samples_are(2 * ROUNDS, "the other one"));
}

/*
 * A sampler's overflows freeze the package. These freezes must not change the times of
 * another event that is disabled by then.
 */
TEST_F(sampling, leaves_a_disabled_counters_times_alone)
{
	int fd = event_open(self->pmu, self->perf_cpu, "clockticks,thresh=1");
	struct event_reading r;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -add_sampler(self->pmu, self->perf_cpu));
	pass_periods(ROUNDS);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	pass_periods(ROUNDS);
	ASSERT_EQ(0, -event_read(fd, &r));
	EXPECT_EQ(ROUNDS * PERIOD, r.value);
	EXPECT_GT(r.running, 0);
	EXPECT_EQ(r.enabled, r.running);
	close(fd);
}

/*
 * An event that counts moves to the perf CPU, and perf has no groups of two CPUs. So an
 * event that counts is refused as a member of a group of another CPU, as intel_uncore
 * does. An event that samples is accepted: it stays on its CPU.
 */
TEST_F(sampling, counting_member_of_a_group_on_another_cpu_is_refused)
{
	struct perf_event_attr leader = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(leader),
		.config = PERF_COUNT_SW_DUMMY,
	}, attr;
	int lead, fd;

	ASSERT_EQ(0, -pmu_attr(&attr, self->pmu, "clockticks"));
	lead = perf_open(&leader, -1, self->other, -1);
	ASSERT_GE(lead, 0);
	EXPECT_EQ(-EINVAL, perf_open(&attr, -1, self->other, lead));
	attr.sample_period = PERIOD;
	fd = perf_open(&attr, -1, self->other, lead);
	EXPECT_GE(fd, 0);
	close(fd);
	close(lead);
	/* the same group on the perf CPU */
	attr.sample_period = 0;
	lead = perf_open(&leader, -1, self->perf_cpu, -1);
	ASSERT_GE(lead, 0);
	fd = perf_open(&attr, -1, self->perf_cpu, lead);
	ASSERT_GE(fd, 0);
	sim_advance(777);
	EXPECT_EQ(777, event_count(fd));
	close(fd);
	close(lead);
	for (int i = 0; i < 1000 && counters_in_use(self->pmu); i++)
		sleep_ms(1);
}

/* --- tasks -------------------------------------------------------------------------- */

/* Two spinning programs on a CPU, with different nice values, and their samples */
struct pair {
	pid_t pid[2];
	uint64_t samples[2];
};

static struct pair pairs[MAX_CPUS];

/* CPU time of a process in nanoseconds */
static uint64_t cpu_time(pid_t pid)
{
	struct timespec t;
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &t))
		tap_bail("no CPU clock of task %d", pid);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Count the samples that hit one of the two programs of the sampler's CPU. */
static void note_task(struct sampler *s, const struct sample *sample)
{
	struct pair *pair = &pairs[s - samplers];

	for (int i = 0; i < 2; i++)
		pair->samples[i] += (pid_t)sample->pid == pair->pid[i];
}

FIXTURE(tasks) {};

/* On an emulated machine a freeze takes milliseconds: set no limit for freezes. */
FIXTURE_SETUP(tasks)
{
	machine_setup("clock=real", "freeze_budget=1000");
	ASSERT_EQ(0, -max_sample_rate(100000000));
}

FIXTURE_TEARDOWN(tasks)
{
	while (n_samplers) {
		struct pair *pair = &pairs[--n_samplers];

		sampler_close(&samplers[n_samplers]);
		for (int i = 0; i < 2; i++)
			cpu_spinner_stop(pair->pid[i]);
	}
	expect_no_complaint(_metadata);
}

/*
 * On each CPU, the samples of the two programs are in proportion to their CPU times. The
 * test statistic is chi-squared with one degree of freedom, which exceeds 24 once in a
 * million. The sample period is not a multiple of a time slice.
 */
TEST_F(tasks, of_all_cpus_are_sampled_in_proportion)
{
	enum { EVERY = 27182818, TASKS_MS = 4000, LEAST = 100 };
	uint64_t time[MAX_CPUS][2];
	char pmu[PMU_NAME_MAX];
	int cpu;

	ASSERT_TRUE(pmu_name(pmu, "ha", 0));
	while (n_samplers < MAX_CPUS &&
	       (cpu = package_cpu(0, n_samplers)) >= 0) {
		struct pair *pair = &pairs[n_samplers];

		for (int i = 0; i < 2; i++)
			pair->pid[i] = cpu_spinner(cpu, 3 * i);
		ASSERT_EQ(0, -sampler_open(&samplers[n_samplers], pmu, cpu,
					   EVERY, "clockticks"));
		samplers[n_samplers++].each = note_task;
	}
	sleep_ms(100);
	for (unsigned int i = 0; i < n_samplers; i++) {
		for (int j = 0; j < 2; j++)
			time[i][j] = cpu_time(pairs[i].pid[j]);
		sampler_drain(&samplers[i]);
		memset(pairs[i].samples, 0, sizeof(pairs[i].samples));
	}
	sleep_ms(TASKS_MS);
	EXPECT_EQ(1, counters_in_use(pmu));
	for (unsigned int i = 0; i < n_samplers; i++) {
		struct pair *pair = &pairs[i];
		double n, total, expected, off;

		for (int j = 0; j < 2; j++)
			time[i][j] = cpu_time(pair->pid[j]) - time[i][j];
		sampler_drain(&samplers[i]);
		n = pair->samples[0] + pair->samples[1];
		total = time[i][0] + time[i][1];
		expected = n * time[i][0] / total;
		off = pair->samples[0] - expected;
		TH_LOG("CPU %d: %ju and %ju samples, CPU time %.3f", samplers[i].cpu,
		       (uintmax_t)pair->samples[0], (uintmax_t)pair->samples[1],
		       time[i][0] / total);
		EXPECT_GT(n, LEAST);
		EXPECT_LT(off * off / expected + off * off / (n - expected), 24);
	}
}

TEST_HARNESS_MAIN

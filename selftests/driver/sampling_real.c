// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sampling with the real clock. A disabled event has exactly count / period samples,
 * frequency mode finds the period, counting events beside a sampling event lose only the
 * frozen time, and call chains are of valid stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=real uclk_khz=400000", "freeze_budget=1000");

enum {
	UCLK_KHZ = 400000,	/* as uclk_khz above: slow, as emulated CPUs are */
	MAX_SAMPLERS = 2 * BOX_TYPES,
	BESIDE = 6,		/* counting events beside a sampling event */
};

static bool last_box(char *pmu, const char *type)
{
	unsigned int n = 0;

	while (pmu_name(pmu, type, n))
		n++;
	return n && pmu_name(pmu, type, n - 1);
}

/* --- disabled events ----------------------------------------------------- */

/* Check that a disabled event has all samples of its count, after a wait if need be. */
static bool all_there(struct sampler *s, const char *what)
{
	uint64_t count = event_count(s->fd), want = count / s->period;
	bool ok = check_eq(sampler_settle(s, want), want,
			   "%s: samples of a count of %" PRIu64, what, count);

	ok &= check(count > 0, "%s: it counted nothing", what);
	return ok & sampler_clean(s, what);
}

static void prepare(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	log_mark();
}

FIXTURE_OF(stopped, prepare(_metadata), expect_no_complaint(_metadata));

/* A box of each type samples at the same time, in at most two packages. */
TEST_F(stopped, all_box_types_at_once_have_all_samples)
{
	struct sampler s[MAX_SAMPLERS];
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	uint64_t sum = 0;

	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct cat_event *e = ticks_of(box_types[k]);

		ASSERT_TRUE(last_box(pmu, box_types[k]));
		for (int pkg = 0; pkg < packages() && pkg < 2; pkg++, n++) {
			ASSERT_EQ(0, -sampler_open(&s[n], pmu, pmu_cpu(pmu, pkg),
						   20000003 + 1000000 * n,
						   "config=%#" PRIx64,
						   e->config)) {
				TH_LOG("%s in package %d", pmu, pkg);
			}
		}
	}
	sleep_ms(2000);
	for (unsigned int i = 0; i < n; i++)
		sampler_disable(&s[i]);
	for (unsigned int i = 0; i < n; i++) {
		EXPECT_TRUE(all_there(&s[i], box_types[i / 2]));
		sum += s[i].samples;
		sampler_close(&s[i]);
	}
	EXPECT_GT(sum, 0);
}

FIXTURE_OF(on_and_off, prepare(_metadata), expect_no_complaint(_metadata));

FIXTURE_VARIANT(on_and_off) { const char *type; };

VARIANTS_OF_TYPES(on_and_off);

/* Disable and enable the event often, so that overflows are often pending. */
TEST_F(on_and_off, has_all_samples)
{
	enum { ROUNDS = 100 };
	const struct cat_event *e = ticks_of(variant->type);
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	ASSERT_NE(NULL, e);
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	ASSERT_EQ(0, -sampler_open(&s, pmu, pmu_cpu(pmu, 0), 400009,
				   "config=%#" PRIx64, e->config));
	for (unsigned int i = 0; i < loops(ROUNDS); i++) {
		usleep(500 + 37 * (i % 50));
		ASSERT_EQ(0, -sampler_disable(&s));
		if (i % 10 == 9) {
			ASSERT_TRUE(all_there(&s, pmu)) {
				TH_LOG("round %u", i);
			}
		}
		ASSERT_EQ(0, -sampler_enable(&s));
	}
	sampler_disable(&s);
	EXPECT_TRUE(all_there(&s, pmu));
	sampler_close(&s);
}

/* --- frequency ----------------------------------------------------------- */

static uint64_t period_sum, period_max;

static void add_period(struct sampler *s, const struct sample *sample)
{
	(void)s;
	period_sum += sample->period;
	if (sample->period > period_max)
		period_max = sample->period;
}

static void spin_ms(unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (now_ns() < end)
		cpu_relax();
}

FIXTURE_OF(frequency, prepare(_metadata), expect_no_complaint(_metadata));

FIXTURE_VARIANT(frequency)
{
	const char *type;
	unsigned int hz;
	bool busy;		/* keep the CPU busy, or mostly idle without a tick */
};

FIXTURE_VARIANT_ADD(frequency, ha_on_idle_cpu) { .type = "ha", .hz = 200 };
FIXTURE_VARIANT_ADD(frequency, ubox_on_idle_cpu) { .type = "ubox", .hz = 50 };
FIXTURE_VARIANT_ADD(frequency, cbox_on_idle_cpu) { .type = "cbox", .hz = 50 };
FIXTURE_VARIANT_ADD(frequency, ha_on_busy_cpu) { .type = "ha", .hz = 200, .busy = true };

FIXTURE_VARIANT_ADD(frequency, ubox_on_busy_cpu)
{
	.type = "ubox", .hz = 50, .busy = true,
};

FIXTURE_VARIANT_ADD(frequency, cbox_on_busy_cpu)
{
	.type = "cbox", .hz = 50, .busy = true,
};

/*
 * perf has half a second to find the period. A busy host may stop the machine, which then
 * takes too few samples: it is enough that one of ten intervals has the frequency.
 */
TEST_F(frequency, is_met_and_periods_add_up_to_the_count)
{
	void (*pass_ms)(unsigned int ms) = variant->busy ? spin_ms : sleep_ms;
	const struct cat_event *e = ticks_of(variant->type);
	uint64_t count, start, want = 0, before, got = 0;
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	struct sampler s;
	int cpu, i;

	ASSERT_NE(NULL, e);
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	cpu = pmu_cpu(pmu, packages() - 1);
	ASSERT_EQ(0, -pmu_attr(&attr, pmu, ""));
	attr.config = e->config;
	attr.freq = 1;
	attr.sample_freq = variant->hz;
	attr.disabled = 1;
	cpu_pin(variant->busy ? cpu : 0);
	ASSERT_EQ(0, -sampler_open_attr(&s, &attr, cpu));
	s.each = add_period;
	ASSERT_EQ(0, -sampler_enable(&s));
	pass_ms(500);
	for (i = 0; i < 10 && (got <= want / 2 || got >= want * 2); i++) {
		before = sampler_drain(&s);
		start = now_ns();
		pass_ms(2000);
		got = sampler_drain(&s) - before;
		want = variant->hz * (now_ns() - start) / 1000000000;
	}
	sampler_disable(&s);
	sampler_settle(&s, 0);
	count = event_count(s.fd);
	EXPECT_GT(got, want / 2);
	EXPECT_LT(got, want * 2);
	/* a sample's period is the count since the previous sample */
	EXPECT_LE(period_sum, count);
	EXPECT_LE(count - period_sum, 2 * period_max);
	EXPECT_TRUE(sampler_clean(&s, pmu));
	sampler_close(&s);
}

/*
 * perf refuses to open an event with a frequency above its limit of the sample rate. A
 * new frequency by ioctl is checked against the limit only if perf adapts the periods,
 * but here the driver does. perf then throttles the event when it samples more often
 * than the limit.
 */
TEST(frequency_above_the_limit_is_throttled)
{
	enum { LIMIT = 1000, LONG_MS = 2000 };
	uint64_t hz = 50 * LIMIT, count, before;
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	ASSERT_EQ(0, -max_sample_rate(LIMIT));
	ASSERT_TRUE(pmu_name(pmu, "ha", 0));
	ASSERT_EQ(0, -pmu_attr(&attr, pmu, ""));
	attr.config = ticks_of("ha")->config;
	attr.freq = 1;
	attr.sample_freq = hz;
	attr.disabled = 1;
	EXPECT_EQ(EINVAL, -sampler_open_attr(&s, &attr, pmu_cpu(pmu, 0)));
	attr.sample_freq = LIMIT / 10;
	ASSERT_EQ(0, -sampler_open_attr(&s, &attr, pmu_cpu(pmu, 0)));
	ASSERT_EQ(0, ioctl(s.fd, PERF_EVENT_IOC_PERIOD, &hz));
	ASSERT_EQ(0, -sampler_enable(&s));
	sleep_ms(500);
	before = sampler_drain(&s);
	sleep_ms(LONG_MS);
	count = sampler_drain(&s) - before;
	TH_LOG("%ju samples in %d ms", (uintmax_t)count, LONG_MS);
	EXPECT_GT(count, 10);
	EXPECT_LE(count, LIMIT * LONG_MS / 1000 * 3 / 2);
	sampler_close(&s);
	EXPECT_TRUE(log_clean());
}

/* --- counting beside a sampling event ------------------------------------ */

/**
 * struct instant - counts of package 0, read between two readings of a count of package 1
 * @here: counts of package 0
 * @there: mean of the two readings of package 1
 * @spread: half of the difference of the two readings, rounded up
 * @frozen_ns: frozen time by the simulator's record
 */
struct instant {
	uint64_t here[BESIDE];
	uint64_t there, spread;
	uint64_t frozen_ns;
};

/* Read all counts several times; keep the try with the smallest spread in @best. */
static void read_instant(const int *here, unsigned int n, int there,
			 struct instant *best)
{
	best->spread = UINT64_MAX;
	for (int i = 0; i < 100; i++) {
		struct instant now;
		uint64_t first, last;

		now.frozen_ns = sim_stat("frozen_ns");
		first = event_count(there);
		for (unsigned int j = 0; j < n; j++)
			now.here[j] = event_count(here[j]);
		last = event_count(there);
		now.there = first + (last - first) / 2;
		now.spread = (last - first) / 2 + 1;
		if (now.spread < best->spread)
			*best = now;
	}
}

FIXTURE_OF(frozen_time, prepare(_metadata), expect_no_complaint(_metadata));

FIXTURE_VARIANT(frozen_time) { const char *type; };

VARIANT_OF_TYPE(frozen_time, ha);
VARIANT_OF_TYPE(frozen_time, pcu);

/*
 * Package 1 is not sampled and counts all cycles. Package 0 must count less by exactly
 * the simulator's frozen time.
 */
TEST_F(frozen_time, is_all_that_counters_lose)
{
	static const char *const beside[BESIDE][2] = {
		{ "cbox", "clockticks" }, { "ha", "clockticks" },
		{ "ubox", "uclk" }, { "imc", "dclk" }, { "pcu", "clockticks" },
		{ "qpi", "clockticks" },
	};
	const struct cat_event *e = ticks_of(variant->type);
	struct instant before, after;
	char pmu[PMU_NAME_MAX], other[PMU_NAME_MAX];
	unsigned int n = 0;
	uint64_t frozen, freezes;
	const char *name[BESIDE];
	int here[BESIDE], there;
	struct sampler s;

	if (packages() < 2)
		SKIP(return, "needs two packages");
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	/*
	 * not a box of the sampler's type: it also stops while the sampler is
	 * programmed
	 */
	for (unsigned int i = 0; i < BESIDE; i++) {
		if (!strcmp(beside[i][0], variant->type))
			continue;
		ASSERT_TRUE(last_box(other, beside[i][0]));
		name[n] = beside[i][0];
		here[n] = event_open(other, pmu_cpu(other, 0), "%s", beside[i][1]);
		ASSERT_GE(here[n], 0);
		n++;
	}
	ASSERT_TRUE(pmu_name(other, "cbox", 0));
	there = event_open(other, pmu_cpu(other, 1), "clockticks");
	ASSERT_GE(there, 0);
	cpu_pin(pmu_cpu(pmu, 0));
	read_instant(here, n, there, &before);
	freezes = sim_stat("pmi");
	ASSERT_EQ(0, -sampler_open(&s, pmu, pmu_cpu(pmu, 0), 1000000,
				   "config=%#" PRIx64, e->config));
	sleep_ms(1000);
	sampler_close(&s);
	sleep_ms(50);
	freezes = sim_stat("pmi") - freezes;
	read_instant(here, n, there, &after);
	frozen = (after.frozen_ns - before.frozen_ns) * (UCLK_KHZ / 1000) / 1000;
	for (unsigned int i = 0; i < n; i++) {
		int64_t lost = (after.there - before.there) -
			       (after.here[i] - before.here[i]);
		int64_t more = lost - (int64_t)frozen;
		/* tolerance: the spreads, and a cycle at both ends of each freeze */
		int64_t grain = before.spread + after.spread + 2 * freezes;

		EXPECT_TRUE(more <= grain && -more <= grain) {
			TH_LOG("%s lost %" PRIi64 " cycles, frozen for %" PRIu64
			       ", grain %" PRIi64, name[i], lost, frozen, grain);
		}
		close(here[i]);
	}
	close(there);
	EXPECT_GT(freezes, 0);
	EXPECT_LE(s.samples, freezes);
}

/* --- call chains ---------------------------------------------------------- */

#define INTERRUPTS_ON	0x200		/* in the flags register */

/**
 * struct chains - samples that hit the kernel in task @pid
 * @on, @off: number of samples with the CPU's interrupts on, and off
 * @wrong: number of samples with a wrong call chain
 * @worst: the last of these
 */
struct chains {
	pid_t pid;
	unsigned int on, off, wrong;
	struct sample worst;
};

static struct chains chains;

/*
 * An overflow with interrupts off gives its sample when interrupts are on again. By
 * then the stack of the interrupted function is not valid any more, so the sample must
 * not have callers from that stack.
 */
static void check_chain(struct sampler *s, const struct sample *sample)
{
	bool on = sample->flags & INTERRUPTS_ON;
	bool right;

	(void)s;
	if (!sample->kernel || (pid_t)sample->tid != chains.pid)
		return;
	if (on)
		right = sample->sp && sample->calls > 1;
	else
		right = !sample->sp && !sample->bp && sample->calls == 1;
	right = right && sample->first == sample->ip;
	chains.on += on;
	chains.off += !on;
	if (right)
		return;
	chains.wrong++;
	chains.worst = *sample;
}

FIXTURE(call_chain)
{
	int fd;
};

FIXTURE_SETUP(call_chain)
{
	static char room[1 << 20];
	int cpu = package_cpu(0, 0), zero;

	log_mark();
	self->fd = event_open("hswep_cbox_0", cpu, "clockticks");
	ASSERT_GE(self->fd, 0);
	chains.pid = fork();
	ASSERT_GE(chains.pid, 0);
	if (chains.pid)
		return;
	/* a task that is mostly in the kernel, with interrupts off or on */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cpu_pin(cpu);
	zero = open("/dev/zero", O_RDONLY);
	for (;;) {
		event_count(self->fd);
		if (read(zero, room, sizeof(room)) < 0)
			_exit(1);
	}
}

FIXTURE_TEARDOWN(call_chain)
{
	kill(chains.pid, SIGKILL);
	waitpid(chains.pid, NULL, 0);
	close(self->fd);
	expect_no_complaint(_metadata);
}

TEST_F(call_chain, is_of_a_stack_that_is_there)
{
	struct perf_event_attr attr;
	struct sampler s;

	(void)self;
	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_ha_0", ""));
	attr.config = ticks_of("ha")->config;
	attr.sample_period = 2000003;
	attr.sample_type = SAMPLER_CHAIN;
	attr.exclude_callchain_user = 1;
	ASSERT_EQ(0, -sampler_open_attr(&s, &attr, package_cpu(0, 0)));
	s.each = check_chain;
	/* sample for at most ten seconds */
	for (unsigned int i = 0; i < 100; i++) {
		sleep_ms(100);
		sampler_drain(&s);
		if (chains.off >= 5 && chains.on >= 5)
			break;
	}
	sampler_close(&s);
	TH_LOG("%u samples in the kernel with interrupts on, %u with them off",
	       chains.on, chains.off);
	EXPECT_GT(chains.off, 0);
	EXPECT_GT(chains.on, 0);
	EXPECT_EQ(0, chains.wrong) {
		TH_LOG("the last: flags %#" PRIx64 ", sp %#" PRIx64 ", bp %#"
		       PRIx64 ", ip %#" PRIx64 ", %" PRIu64
		       " calls, the first %#" PRIx64, chains.worst.flags,
		       chains.worst.sp, chains.worst.bp, chains.worst.ip,
		       chains.worst.calls, chains.worst.first);
	}
}

/* --- samples without an NMI ----------------------------------------------------- */

/* Samples of task @pid, which is in the kernel for most of its time */
static struct {
	pid_t pid;
	unsigned int kernel, user, wrong;
	struct sample worst;
} polled;

static bool is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

/*
 * Check that the sampled instruction and stack are both of the kernel, or both of user
 * space.
 */
static void check_registers(struct sampler *s, const struct sample *sample)
{
	(void)s;
	if ((pid_t)sample->pid != polled.pid)
		return;
	if (sample->kernel)
		polled.kernel++;
	else
		polled.user++;
	/* a stack pointer of 0: the stack is unknown */
	if (sample->kernel == is_kernel(sample->ip) &&
	    (!sample->sp || sample->kernel == is_kernel(sample->sp)))
		return;
	polled.wrong++;
	polled.worst = *sample;
}

FIXTURE(polled) {};

FIXTURE_SETUP(polled)
{
	static char buf[1 << 20];
	int zero;

	machine_setup_once("clock=real uclk_khz=400000", "freeze_budget=1000");
	ASSERT_EQ(0, -max_sample_rate(100000000));
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_GE(zero, 0);
	polled.pid = fork();
	ASSERT_GE(polled.pid, 0);
	if (!polled.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		cpu_pin(package_cpu(0, 1));
		while (read(zero, buf, sizeof(buf)) > 0)
			;
		_exit(1);
	}
	close(zero);
}

FIXTURE_TEARDOWN(polled)
{
	kill(polled.pid, SIGKILL);
	waitpid(polled.pid, NULL, 0);
	expect_no_complaint(_metadata);
}

/*
 * A CBo does not interrupt: the driver's timer, or an IPI by the timer, takes the
 * samples.
 */
TEST_F(polled, samples_have_registers_of_the_kernel)
{
	struct perf_event_attr attr;
	struct sampler s;

	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_cbox_0", "clockticks"));
	attr.sample_period = 2000003;
	attr.sample_type = SAMPLER_CHAIN;
	ASSERT_EQ(0, -sampler_open_attr(&s, &attr, package_cpu(0, 1)));
	s.each = check_registers;
	for (unsigned int i = 0; i < 30; i++) {
		sleep_ms(100);
		sampler_drain(&s);
	}
	sampler_close(&s);
	TH_LOG("%u samples of the task in the kernel, %u in user space",
	       polled.kernel, polled.user);
	EXPECT_GT(polled.kernel, 20);
	EXPECT_GT(polled.kernel, polled.user);
	EXPECT_EQ(0, polled.wrong) {
		TH_LOG("the last: ip %#" PRIx64 ", sp %#" PRIx64,
		       polled.worst.ip, polled.worst.sp);
	}
}

TEST_HARNESS_MAIN

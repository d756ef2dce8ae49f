// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An event that is enabled and disabled all the time must not postpone the deadlines of
 * the driver's timer. The timer reads narrow counters before they wrap, polls boxes
 * without interrupts, and lets a package continue that pauses in a storm of overflows.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/bpf_read.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"
#include "lib/c/stall.h"

/* The fastest possible clock: counters of 32 bits wrap in 0.86 s. */
#define FASTEST	"clock=real uclk_khz=5000000"

/* --- an event that is enabled and disabled --------------------------------- */

struct toggler {
	pthread_t thread;
	int cpu, fd;
	atomic_bool stop;
	uint64_t rounds;
};

static void *toggle(void *arg)
{
	struct toggler *t = arg;

	/* on the event's CPU: the ioctls then send no IPI to another CPU */
	cpu_pin(t->cpu);
	for (; !t->stop; t->rounds++) {
		ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return NULL;
}

static void start_toggling(struct toggler *t, const char *pmu, int cpu,
			   const char *event, uint64_t period)
{
	struct perf_event_attr attr;
	int err = pmu_attr(&attr, pmu, event);

	*t = (struct toggler){ .cpu = cpu, .fd = -1 };
	attr.sample_period = period;
	if (!err)
		t->fd = perf_open(&attr, -1, cpu, -1);
	if (t->fd < 0 || pthread_create(&t->thread, NULL, toggle, t))
		tap_bail("%s/%s/ cannot be switched on and off", pmu, event);
}

/* Stop the thread and close its event. Return the number of its rounds. */
static uint64_t stop_toggling(struct toggler *t)
{
	t->stop = true;
	pthread_join(t->thread, NULL);
	close(t->fd);
	return t->rounds;
}

/* --- counters of 32 bits --------------------------------------------------- */

enum { MARGIN_BITS = 31, STALL_MS = 300, TRIES = 20 };

/* Count of the narrow counter, and of the wide counter before and after that read */
struct bracketed {
	uint64_t before, count, after;
};

static struct bracketed read_bracketed(int wide, int narrow)
{
	struct bracketed b;

	b.before = event_count(wide);
	b.count = event_count(narrow);
	b.after = event_count(wide);
	return b;
}

/*
 * Count for three seconds with a 48-bit counter, fd[0], and a 32-bit counter, fd[1].
 * Return the number of cycles that the 32-bit counter has lost at least; if negative, it
 * has counted too many. Set @cycles to the cycles that have passed at least.
 */
static int64_t count_lost_cycles(const int fd[2], uint64_t *cycles)
{
	enum { LONG_MS = 3000 };
	uint64_t least, count, most;
	struct bracketed begin, end;

	begin = read_bracketed(fd[0], fd[1]);
	sleep_ms(LONG_MS);
	/* if the counter has wrapped unseen, the driver loses counts in this read */
	end = read_bracketed(fd[0], fd[1]);
	least = end.before - begin.after;
	count = end.count - begin.count;
	most = end.after - begin.before;
	*cycles = least;
	return count < least ? least - count : count > most ? most - count : 0;
}

FIXTURE_OF(narrow, machine_setup_once(FASTEST, ""),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(narrow)
{
	const char *pmu, *event;	/* event that is enabled and disabled meanwhile */
};

FIXTURE_VARIANT_ADD(narrow, cbox_beside) { .pmu = "hswep_cbox_0", .event = "clockticks" };
FIXTURE_VARIANT_ADD(narrow, qpi_beside) { .pmu = "hswep_qpi_1", .event = "link_idle" };

TEST_F(narrow, link_idle_loses_no_wrap)
{
	int cpu = pmu_cpu("hswep_qpi_0", 0), fd[2], tries = 0;
	uint64_t wide, rounds, stalled;
	struct stall_watch watch;
	struct toggler t;
	int64_t lost;

	fd[0] = event_open("hswep_qpi_0", cpu, "clockticks");
	ASSERT_GE(fd[0], 0);
	fd[1] = event_open("hswep_qpi_0", cpu, "link_idle");
	ASSERT_GE(fd[1], 0);
	start_toggling(&t, variant->pmu, cpu, variant->event, 0);
	/* a CPU that the host stops cannot read the counter in time: try again */
	do {
		stall_watch_start(&watch, cpu);
		lost = count_lost_cycles(fd, &wide);
		stalled = stall_watch_stop(&watch);
	} while (stalled > STALL_MS && ++tries < TRIES);
	rounds = stop_toggling(&t);
	close(fd[0]);
	close(fd[1]);
	if (tries == TRIES)
		SKIP(return, "the host has no time for that CPU");
	EXPECT_GT(wide, 1ULL << 33);
	EXPECT_LT(lost, 1LL << MARGIN_BITS);
	EXPECT_GT(lost, -(1LL << MARGIN_BITS));
	EXPECT_GT(rounds, 0);
}

/* --- polling, and storms ------------------------------------------------------ */

FIXTURE(beside_another) {};

FIXTURE_SETUP(beside_another)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once(FASTEST, "");
}

FIXTURE_TEARDOWN(beside_another)
{
	expect_no_complaint(_metadata);
}

/*
 * While hswep_cbox_1's event is still being enabled and disabled, at least half of the
 * samples of hswep_cbox_0 must have arrived. CBos have no interrupts: the timer polls.
 */
TEST_F(beside_another, a_polled_event_has_its_samples)
{
	enum { PERIOD = 5000003, LONG_MS = 1500 };
	int cpu = pmu_cpu("hswep_cbox_0", 0);
	uint64_t count, samples;
	struct toggler t;
	struct sampler s;

	start_toggling(&t, "hswep_cbox_1", cpu, "clockticks", 1ULL << 40);
	ASSERT_EQ(0, -sampler_open(&s, "hswep_cbox_0", cpu, PERIOD,
				   "clockticks"));
	sleep_ms(LONG_MS);
	samples = sampler_drain(&s);
	count = event_count(s.fd);
	stop_toggling(&t);
	EXPECT_GT(count, 0);
	EXPECT_GE(samples, count / PERIOD / 2);
	sampler_disable(&s);
	count = event_count(s.fd);
	EXPECT_EQ(count / PERIOD, sampler_settle(&s, count / PERIOD));
	EXPECT_TRUE(sampler_clean(&s, "hswep_cbox_0"));
	sampler_close(&s);
}

/*
 * Let hswep_ha_0 overflow in each cycle. Return the number of overflows that the driver
 * handles in LONG_MS.
 */
static uint64_t count_storm_overflows(int cpu)
{
	enum { LONG_MS = 700 };
	uint64_t before = overflow_stat(0, "count");
	struct perf_event_attr attr;
	int fd;

	pmu_attr(&attr, "hswep_ha_0", "clockticks");
	attr.sample_period = 1;
	fd = perf_open(&attr, -1, cpu, -1);
	sleep_ms(LONG_MS);
	close(fd);
	return overflow_stat(0, "count") - before;
}

TEST_F(beside_another, a_storm_is_served)
{
	int cpu = pmu_cpu("hswep_ha_0", 0);
	uint64_t alone, beside;
	struct toggler t;

	alone = count_storm_overflows(cpu);
	start_toggling(&t, "hswep_cbox_1", cpu, "clockticks", 1ULL << 40);
	beside = count_storm_overflows(cpu);
	stop_toggling(&t);
	EXPECT_GT(alone, 0);
	/* a package whose deadline is always postponed handles a hundredth */
	EXPECT_GE(beside, alone / 40) {
		TH_LOG("overflows served, of %ju without the other event",
		       (uintmax_t)alone);
	}
}

/* --- while the timer runs ----------------------------------------------------- */

enum { BOXES = 17, EACH = 4, READS = BOXES * EACH };

/*
 * Open READS events with a counter each. The timer refreshes, that is reads, these
 * counters every 2 s (kmod/timer.c): many counters make the refresh long.
 */
static bool open_many(int cpu, int *fd)
{
	bool ok = true;

	for (unsigned int i = 0; i < READS; i++) {
		char pmu[PMU_NAME_MAX];

		if (!pmu_name(pmu, "cbox", 1 + i / EACH))
			tap_bail("too few boxes");
		fd[i] = event_open(pmu, cpu, "clockticks,thresh=%u", i % EACH);
		ok &= check(fd[i] >= 0, "%s opens", pmu);
	}
	return ok;
}

/*
 * Open a sampling event on @cpu while the timer refreshes counters on another CPU; a BPF
 * program makes the refresh slow. The sampling event needs the timer in a millisecond. At
 * the end of the refresh the timer sets a later deadline for the next refresh, which must
 * not replace the earlier deadline. Set @beside if the timer was still refreshing when
 * the event had opened. Return false if no refresh started, or the event does not open.
 */
static bool begin_beside(struct sampler *s, int cpu, bool *beside)
{
	enum { PERIOD = 1000, LIMIT_MS = 120000 };
	uint64_t end = now_ns() + LIMIT_MS * 1000000ULL;
	uint64_t reads = sim_stat("msr_read");
	int err;

	while (sim_stat("msr_read") == reads)
		if (!check(now_ns() < end, "no refresh in %d s",
			   LIMIT_MS / 1000))
			return false;
	err = sampler_open(s, "hswep_cbox_0", cpu, PERIOD, "clockticks");
	/* fewer than READS reads: the timer has not refreshed all counters yet */
	*beside = sim_stat("msr_read") - reads < READS;
	return check_eq(-err, 0, "hswep_cbox_0 opens on CPU %d", cpu);
}

FIXTURE(refresh) {};

FIXTURE_SETUP(refresh)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once("clock=manual", "");
}

FIXTURE_TEARDOWN(refresh)
{
	expect_no_complaint(_metadata);
}

/* An event that is opened during a refresh is polled before the next refresh. */
TEST_F(refresh, who_begins_beside_it_is_polled)
{
	enum { ROUNDS = 5, CYCLES = 1001, DELAY = 400000 };
	int home = package_cpu(0, 0), cpu = package_cpu(0, 1), fd[READS], err;
	struct bpf_delay delay;
	bool beside = false;
	struct sampler s;

	if (cpu < 0)
		SKIP(return, "needs two CPUs");
	err = bpf_delay_attach(&delay, "read_msr", home, DELAY);
	if (err)
		SKIP(return, "%s", strerror(-err));
	cpu_pin(cpu);
	ASSERT_TRUE(open_many(home, fd));
	for (unsigned int i = 0; !beside && i < ROUNDS; i++) {
		s = (struct sampler){ .fd = -1 };
		ASSERT_TRUE(begin_beside(&s, cpu, &beside));
		sim_advance(CYCLES);
		ASSERT_EQ(1, sampler_wait(&s, 1));
		sampler_close(&s);
	}
	bpf_delay_detach(&delay);
	for (unsigned int i = 0; i < READS; i++)
		close(fd[i]);
	if (!beside)
		SKIP(return, "the timer was always done before");
}

TEST_HARNESS_MAIN

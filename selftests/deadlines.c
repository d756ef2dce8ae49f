// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that come and go all the time put off nothing that is due: narrow
 * counters are read before they wrap, boxes without interrupts are polled, and a
 * package that pauses in a storm goes on.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/bpf_read.h"
#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/stall.h"
#include "lib/tap.h"

/* The fastest clock there is: counters of 32 bits wrap in 0.86 s. */
#define FASTEST	"clock=real uclk_khz=5000000"

/* --- an event that is switched on and off --------------------------------- */

struct toggler {
	pthread_t thread;
	int cpu, fd;
	atomic_bool stop;
	uint64_t rounds;
};

static void *toggle(void *arg)
{
	struct toggler *t = arg;

	/* on its CPU, where it takes no interrupt to another */
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

/* Returns how often it has been. */
static uint64_t stop_toggling(struct toggler *t)
{
	t->stop = true;
	pthread_join(t->thread, NULL);
	close(t->fd);
	return t->rounds;
}

/* --- counters of 32 bits --------------------------------------------------- */

enum { MARGIN_BITS = 31, STALL_MS = 300, TRIES = 20 };

/* What a counter had counted at a moment between two reads of another. */
struct beside {
	uint64_t before, count, after;
};

static struct beside read_beside(int wide, int narrow)
{
	struct beside b;

	b.before = event_count(wide);
	b.count = event_count(narrow);
	b.after = event_count(wide);
	return b;
}

/*
 * How many of the cycles that one of 48 bits counted one of 32 bits has lost at
 * least; negative: has too many.
 */
static int64_t lost_beside(const int fd[2], uint64_t *cycles)
{
	enum { LONG_MS = 3000 };
	uint64_t least, count, most;
	struct beside from, to;

	from = read_beside(fd[0], fd[1]);
	sleep_ms(LONG_MS);
	/* what is lost is lost when somebody reads */
	to = read_beside(fd[0], fd[1]);
	least = to.before - from.after;
	count = to.count - from.count;
	most = to.after - from.before;
	*cycles = least;
	return count < least ? least - count : count > most ? most - count : 0;
}

static void test_narrow(const char *pmu, const char *event)
{
	int cpu = pmu_cpu("hswep_qpi_0", 0), fd[2], tries = 0;
	uint64_t wide, rounds, stalled;
	struct stall_watch watch;
	struct toggler t;
	int64_t lost;
	bool ok;

	fd[0] = event_open("hswep_qpi_0", cpu, "clockticks");
	fd[1] = event_open("hswep_qpi_0", cpu, "link_idle");
	ok = check(fd[0] >= 0 && fd[1] >= 0, "clockticks and link_idle open");
	start_toggling(&t, pmu, cpu, event, 0);
	/* a CPU that is not there cannot read in time */
	do {
		stall_watch_start(&watch, cpu);
		lost = lost_beside(fd, &wide);
		stalled = stall_watch_stop(&watch);
	} while (stalled > STALL_MS && ++tries < TRIES);
	rounds = stop_toggling(&t);
	close(fd[0]);
	close(fd[1]);
	if (tries == TRIES) {
		tap_skip("the host has no time for that CPU",
			 "link_idle loses no wrap beside %s/%s/", pmu, event);
		return;
	}
	ok &= check(wide > 1ULL << 33, "only %" PRIu64 " cycles passed", wide);
	ok &= check(lost < 1LL << MARGIN_BITS && lost > -(1LL << MARGIN_BITS),
		    "%" PRIi64 " of %" PRIu64 " cycles lost", lost, wide);
	ok &= check(rounds > 0, "%s/%s/ was never switched", pmu, event);
	tap_ok(ok, "link_idle loses no wrap beside %s/%s/ (on and off %" PRIu64
	       " times)", pmu, event, rounds);
}

/* --- polling ---------------------------------------------------------------- */

/*
 * While the other one is switched on and off, not when it has ended: at least
 * half of the samples of what was counted have come.
 */
static void test_polled(void)
{
	enum { PERIOD = 5000003, LONG_MS = 1500 };
	int cpu = pmu_cpu("hswep_cbox_0", 0);
	uint64_t count, samples;
	struct toggler t;
	struct sampler s;
	bool ok;

	start_toggling(&t, "hswep_cbox_1", cpu, "clockticks", 1ULL << 40);
	ok = check_eq(-sampler_open(&s, "hswep_cbox_0", cpu, PERIOD,
				    "clockticks"), 0, "hswep_cbox_0 opens");
	sleep_ms(LONG_MS);
	samples = sampler_drain(&s);
	count = event_count(s.fd);
	stop_toggling(&t);
	ok &= check(count > 0 && samples >= count / PERIOD / 2,
		    "%" PRIu64 " samples of %" PRIu64 " came", samples,
		    count / PERIOD);
	sampler_disable(&s);
	count = event_count(s.fd);
	ok &= check_eq(sampler_settle(&s, count / PERIOD), count / PERIOD,
		       "samples in the end");
	ok &= sampler_clean(&s, "hswep_cbox_0");
	sampler_close(&s);
	tap_ok(ok, "a polled event has its samples while others come and go");
}

/* --- while the timer is at work ----------------------------------------------- */

enum { BOXES = 17, EACH = 4, READS = BOXES * EACH };

/* Counters that the timer refreshes every 10 s: many, so that it takes a while. */
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
 * A sampling event that begins on another CPU while the timer refreshes, which a
 * BPF program draws out: it wants the timer in a millisecond, and what the timer
 * itself wants when it is done, in 10 s, must not undo that. Sets @beside if the
 * timer was still at it then; false: it does not come at all.
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
	/* the timer's are not more than all */
	*beside = sim_stat("msr_read") - reads < READS;
	return check_eq(-err, 0, "hswep_cbox_0 opens on CPU %d", cpu);
}

static void test_beside_refresh(void)
{
	enum { ROUNDS = 5, CYCLES = 1001, DELAY = 400000 };
	int home = package_cpu(0, 0), cpu = package_cpu(0, 1), fd[READS], err;
	struct bpf_delay delay;
	bool ok, beside = false;
	struct sampler s;

	if (cpu < 0) {
		tap_skip("needs two CPUs", "beside a refresh");
		return;
	}
	err = bpf_delay_attach(&delay, "read_msr", home, DELAY);
	if (err) {
		tap_skip(strerror(-err), "beside a refresh");
		return;
	}
	cpu_pin(cpu);
	ok = open_many(home, fd);
	for (unsigned int i = 0; ok && !beside && i < ROUNDS; i++) {
		s = (struct sampler){ .fd = -1 };
		ok = begin_beside(&s, cpu, &beside);
		if (ok) {
			sim_advance(CYCLES);
			ok = check_eq(sampler_wait(&s, 1), 1, "samples");
		}
		sampler_close(&s);
	}
	bpf_delay_detach(&delay);
	for (unsigned int i = 0; i < READS; i++)
		close(fd[i]);
	if (ok && !beside)
		tap_skip("the timer was always done before", "beside a refresh");
	else
		tap_ok(ok, "who begins while the timer refreshes is polled before it does so again");
}

/* --- a storm ----------------------------------------------------------------- */

/* How many overflows of a storm of them are served. */
static uint64_t served(int cpu)
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

static void test_paused(void)
{
	int cpu = pmu_cpu("hswep_ha_0", 0);
	struct toggler t;
	uint64_t alone, beside;
	bool ok;

	alone = served(cpu);
	start_toggling(&t, "hswep_cbox_1", cpu, "clockticks", 1ULL << 40);
	beside = served(cpu);
	stop_toggling(&t);
	ok = check(alone > 0, "no overflow was served");
	/* a package that is put off for good has a hundredth */
	ok &= check(beside >= alone / 40, "%" PRIu64 " overflows served, %" PRIu64
		    " without the other event", beside, alone);
	tap_ok(ok, "a storm is served while others come and go (%" PRIu64
	       " overflows, %" PRIu64 " without)", beside, alone);
}

int main(void)
{
	catalogue(NULL);
	machine_setup(FASTEST, "");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	log_mark();
	test_narrow("hswep_cbox_0", "clockticks");
	test_narrow("hswep_qpi_1", "link_idle");
	test_polled();
	test_paused();
	machine_setup("clock=manual", "");
	test_beside_refresh();
	tap_ok(log_clean(), "the kernel's log has no warning");
	return tap_end();
}

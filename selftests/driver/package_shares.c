// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shares of a box's counters between events of two CPUs of a package, all of which run on
 * the perf CPU. The events get equal shares, unless an event is pinned or exclusive.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { COUNTERS = 4 };

static void __attribute__((constructor)) need_two_cpus(void)
{
	if (package_cpu(0, 1) < 0)
		tap_skip_all("needs a package with two CPUs");
}

/* Open an event with these flags of perf_event_attr. Return a descriptor or -errno. */
static int open_flagged(const char *pmu, int cpu, const char *event, bool pinned,
			bool exclusive)
{
	struct perf_event_attr attr;
	int err = pmu_attr(&attr, pmu, event);

	attr.pinned = pinned;
	attr.exclusive = exclusive;
	return err ? err : perf_open(&attr, -1, cpu, -1);
}

/*
 * Most rounds of waiting until shares are equal: on a slow machine perf rotates events
 * seldom.
 */
enum { ROUNDS = 30, ROUND_MS = 2000 };

/* Return the share of its enabled time for which an event ran, or -1. */
static double running_share(int fd)
{
	struct event_reading r;

	return event_read(fd, &r) || !r.enabled ? -1 :
	       (double)r.running / r.enabled;
}

/* --- shares of the counters ---------------------------------------------------- */

FIXTURE(share)
{
	char pmu[PMU_NAME_MAX];
	int perf_cpu, other;
};

FIXTURE_VARIANT(share) { const char *type; };

VARIANT_OF_TYPE(share, cbox);
VARIANT_OF_TYPE(share, imc);
VARIANT_OF_TYPE(share, ha);
VARIANT_OF_TYPE(share, pcu);

FIXTURE_SETUP(share)
{
	machine_setup_once("clock=real", "");
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->perf_cpu = pmu_cpu(self->pmu, 0);
	self->other = pmu_other_cpu(self->pmu, 0);
}

FIXTURE_TEARDOWN(share)
{
	expect_no_complaint(_metadata);
}

/* A pinned event keeps its counter while events of another CPU are multiplexed. */
TEST_F(share, of_a_pinned_event_is_all)
{
	int fd[COUNTERS], pinned;
	struct event_reading r;
	double least = 0;

	for (unsigned int i = 0; i < COUNTERS; i++) {
		fd[i] = event_open(self->pmu, self->perf_cpu, "clockticks,thresh=%u",
				   i + 1);
		ASSERT_GE(fd[i], 0);
	}
	pinned = open_flagged(self->pmu, self->other, "clockticks,thresh=9", true,
			      false);
	ASSERT_GE(pinned, 0);
	/*
	 * On a busy host perf's rotations are late: wait until each event has had its
	 * share.
	 */
	for (unsigned int i = 0; i < ROUNDS && least < 0.5; i++) {
		sleep_ms(ROUND_MS / 4);
		least = 1;
		for (unsigned int k = 0; k < COUNTERS; k++)
			least = fmin(least, running_share(fd[k]));
	}
	EXPECT_GE(least, 0.5);
	ASSERT_EQ(0, -event_read(pinned, &r));
	EXPECT_GT(r.running, 0);
	EXPECT_EQ(r.enabled, r.running);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		EXPECT_LT(running_share(fd[i]), 1) {
			TH_LOG("event %u has not made room", i);
		}
		close(fd[i]);
	}
	close(pinned);
}

/*
 * A pinned event that gets no counter is in the error state, as perf documents: read(2)
 * returns 0.
 */
TEST_F(share, of_one_pinned_event_too_many_is_an_error)
{
	int fd[COUNTERS + 1];
	struct event_reading r;

	for (unsigned int i = 0; i <= COUNTERS; i++) {
		char event[40];

		snprintf(event, sizeof(event), "clockticks,thresh=%u", i + 1);
		fd[i] = open_flagged(self->pmu, i % 2 ? self->other : self->perf_cpu,
				     event, true, false);
		ASSERT_GE(fd[i], 0);
	}
	sleep_ms(100);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		EXPECT_EQ(0, -event_read(fd[i], &r));
		EXPECT_EQ(r.enabled, r.running);
	}
	EXPECT_EQ(0, read(fd[COUNTERS], &r, sizeof(r)));
	for (unsigned int i = 0; i <= COUNTERS; i++)
		close(fd[i]);
}

/* While an exclusive event runs, no other event of its PMU runs. */
TEST_F(share, of_an_exclusive_event_is_not_shared)
{
	struct event_reading alone, beside;
	int exclusive, fd;

	fd = event_open(self->pmu, self->perf_cpu, "clockticks,thresh=1");
	exclusive = open_flagged(self->pmu, self->other, "clockticks,thresh=2",
				 false, true);
	ASSERT_GE(fd, 0);
	ASSERT_GE(exclusive, 0);
	sleep_ms(1000);
	ASSERT_EQ(0, -event_read(exclusive, &alone));
	ASSERT_EQ(0, -event_read(fd, &beside));
	EXPECT_GT(alone.running, 0);
	EXPECT_GT(beside.running, 0);
	EXPECT_LE(alone.running + beside.running,
		  beside.enabled + beside.enabled / 50) {
		TH_LOG("%ju and %ju of %ju ns", (uintmax_t)alone.running,
		       (uintmax_t)beside.running, (uintmax_t)beside.enabled);
	}
	close(exclusive);
	close(fd);
}

/*
 * The same for an exclusive event that samples another CPU. perf does not know for how
 * long that event had a counter, so its share is computed from its count: both events
 * count each cycle.
 */
TEST_F(share, of_an_exclusive_sampling_event_is_not_shared)
{
	struct perf_event_attr attr;
	struct event_reading beside;
	double share, other_share;
	struct sampler s;
	int fd;

	ASSERT_EQ(0, -max_sample_rate(100000000));
	fd = event_open(self->pmu, self->perf_cpu, "clockticks,thresh=1");
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -pmu_attr(&attr, self->pmu, "clockticks"));
	attr.exclusive = 1;
	attr.sample_period = 100000000;
	ASSERT_EQ(0, -sampler_open_attr(&s, &attr, self->other));
	sleep_ms(1000);
	ASSERT_EQ(0, -event_read(fd, &beside));
	ASSERT_GT(beside.value, 0);
	share = (double)beside.running / beside.enabled;
	other_share = event_count(s.fd) * share / beside.value;
	TH_LOG("%s: shares %.3f and %.3f", self->pmu, share, other_share);
	EXPECT_GT(share, 0);
	EXPECT_GT(other_share, 0);
	EXPECT_LE(share + other_share, 1.05);
	sampler_close(&s);
	close(fd);
}

/* --- shares in all box types at the same time --------------------------------------- */

/*
 * A box of package 0 and the events of two users. Each user has @n events, as many as the
 * box has counters.
 */
struct shared_box {
	char pmu[PMU_NAME_MAX];
	const struct cat_event *event;
	unsigned int n;
	int counting[2 * COUNTERS];
	struct sampler sampling[COUNTERS];
};

/* A box of each type; the event is NULL after the last */
static struct shared_box shared[BOX_TYPES];

/* Find the first box of a type, and an event that may use each of its counters. */
static bool find_shared(struct shared_box *b, const char *type)
{
	b->event = plain_of(type);
	if (!check(b->event && pmu_name(b->pmu, type, 0), "%s: a box and an event",
		   type))
		return false;
	b->n = __builtin_popcount(b->event->ctrs);
	return check(b->n >= 2, "%s: %u counters", type, b->n);
}

/*
 * Open the box's event with a threshold of @i + 1: events with different thresholds do
 * not share a counter.
 */
static int open_different(const struct shared_box *b, int cpu, unsigned int i)
{
	return event_open(b->pmu, cpu, "config=%#" PRIx64 ",thresh=%u",
			  b->event->config, i + 1);
}

/* Return whether each share of a box is half of the time, within 10 %. */
static bool are_fair(const char *pmu, const double *share, unsigned int n)
{
	double least = 2, most = -1;
	bool fair;

	for (unsigned int i = 0; i < n; i++) {
		least = share[i] < least ? share[i] : least;
		most = share[i] > most ? share[i] : most;
	}
	fair = least >= 0.45 && most <= 0.55;
	tap_diag("%s: %s shares, from %.3f to %.3f", pmu,
		 fair ? "equal" : "unequal", least, most);
	return fair;
}

/* Wait until the shares of all boxes are equal. Return false after ROUNDS rounds. */
static bool become_fair(bool (*fair)(const struct shared_box *b))
{
	unsigned int unfair = 1;

	for (unsigned int i = 0; i < ROUNDS && unfair; i++) {
		sleep_ms(ROUND_MS);
		unfair = 0;
		for (unsigned int k = 0; *box_types[k]; k++)
			unfair += !fair(&shared[k]);
	}
	return !unfair;
}

FIXTURE(users) {};

FIXTURE_SETUP(users)
{
	machine_setup_once("clock=real", "");
	ASSERT_EQ(0, -max_sample_rate(100000000));
	for (unsigned int k = 0; *box_types[k]; k++) {
		ASSERT_TRUE(find_shared(&shared[k], box_types[k]));
	}
}

FIXTURE_TEARDOWN(users)
{
	expect_no_complaint(_metadata);
}

static bool counting_is_fair(const struct shared_box *b)
{
	double share[2 * COUNTERS];

	for (unsigned int i = 0; i < 2 * b->n; i++)
		share[i] = running_share(b->counting[i]);
	return are_fair(b->pmu, share, 2 * b->n);
}

TEST_F(users, on_two_cpus_count_in_equal_shares)
{
	int perf_cpu = pmu_cpu(shared[0].pmu, 0);
	int other = pmu_other_cpu(shared[0].pmu, 0);

	for (struct shared_box *b = shared; b->event; b++) {
		for (unsigned int i = 0; i < 2 * b->n; i++) {
			b->counting[i] = open_different(b, i < b->n ? perf_cpu : other,
							i);
			ASSERT_GE(b->counting[i], 0);
		}
	}
	EXPECT_TRUE(become_fair(counting_is_fair));
}

/*
 * perf does not know for how long the sampling events of another CPU had a counter.
 * Their shares are computed from their counts: the first counting event has a threshold
 * of 1, so its count while it runs is the same.
 */
static bool sampling_is_fair(const struct shared_box *b)
{
	double share[2 * COUNTERS];
	struct event_reading scale;

	if (event_read(b->counting[0], &scale) || !scale.value || !scale.enabled)
		return false;
	for (unsigned int i = 0; i < b->n; i++) {
		share[i] = event_count(b->sampling[i].fd) * (double)scale.running /
			   scale.value / scale.enabled;
		share[b->n + i] = running_share(b->counting[i]);
	}
	return are_fair(b->pmu, share, 2 * b->n);
}

/*
 * Wait until each sampling event has a sample, because the freeze budget delays some
 * samples. Return the number of events without a sample.
 */
static unsigned int events_without_sample(void)
{
	unsigned int missing = 1;

	for (unsigned int i = 0; i < ROUNDS && missing; i++) {
		missing = 0;
		for (struct shared_box *b = shared; b->event; b++)
			for (unsigned int k = 0; k < b->n; k++)
				missing += !sampler_drain(&b->sampling[k]);
		if (missing)
			sleep_ms(ROUND_MS);
	}
	return missing;
}

/* One user counts, the other user samples another CPU. */
TEST_F(users, count_and_sample_in_equal_shares)
{
	enum { EVERY = 10000000 };	/* the clock has 100 million cycles a second */
	int perf_cpu = pmu_cpu(shared[0].pmu, 0);
	int other = pmu_other_cpu(shared[0].pmu, 0);

	ASSERT_EQ(0, -sim_rates("on"));
	for (struct shared_box *b = shared; b->event; b++) {
		ASSERT_EQ(0, -sim_rates("pkg=0 box=%s event=%#x umask=%#x rate=0.04",
					pmu_box(b->pmu), b->event->code,
					b->event->umask));
		for (unsigned int i = 0; i < b->n; i++) {
			b->counting[i] = open_different(b, perf_cpu, i);
			ASSERT_GE(b->counting[i], 0);
			/* events with the same period would share a counter */
			ASSERT_EQ(0, -sampler_open(&b->sampling[i], b->pmu, other,
						   EVERY + i, "config=%#" PRIx64,
						   b->event->config));
		}
	}
	EXPECT_TRUE(become_fair(sampling_is_fair));
	EXPECT_EQ(0, events_without_sample());
	for (struct shared_box *b = shared; b->event; b++) {
		for (unsigned int i = 0; i < b->n; i++)
			sampler_close(&b->sampling[i]);
	}
	EXPECT_EQ(0, -sim_rates("off"));
}

TEST_HARNESS_MAIN

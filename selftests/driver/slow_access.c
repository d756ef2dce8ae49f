// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU is stopped in an access, with the box's lock held. A read of an event of that
 * box waits, so that neither counts nor times ever decrease, and no count is an old one.
 * A reader whose CPU was stopped itself still waits.
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"

#define PCI_US	"/sys/module/xeon_uncore_sim/parameters/pci_us"

enum { AWAY_US = 50000, LONG_MS = 2000, READS = 10 };

/**
 * struct other - reads another event of the box in a loop, on another CPU
 * @fd: that event
 */
struct other {
	pthread_t thread;
	int fd;
	atomic_bool stop;
};

static void *keep_reading(void *arg)
{
	struct other *other = arg;

	while (!other->stop) {
		event_count(other->fd);
		cpu_relax();
	}
	return NULL;
}

static void stop_reading(struct other *other)
{
	if (other->stop)
		return;
	other->stop = true;
	pthread_join(other->thread, NULL);
}

FIXTURE(slow)
{
	struct other other;
	int fd;
};

FIXTURE_VARIANT(slow) { const char *type; };
VARIANT_OF_TYPE(slow, imc);
VARIANT_OF_TYPE(slow, qpi);

FIXTURE_SETUP(slow)
{
	int cpu2 = package_cpu(0, 1);
	char pmu[PMU_NAME_MAX];

	machine_setup("clock=real", "");
	log_mark();
	if (!pmu_name(pmu, variant->type, 0))
		SKIP(return, "no such PMU");
	if (cpu2 < 0)
		SKIP(return, "needs two CPUs in a package");
	self->fd = event_open(pmu, pmu_cpu(pmu, 0), "clockticks");
	self->other.fd = event_open(pmu, cpu2, "clockticks,thresh=1");
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other.fd, 0);
	ASSERT_EQ(0, pthread_create(&self->other.thread, NULL, keep_reading,
				    &self->other));
}

FIXTURE_TEARDOWN(slow)
{
	file_write(PCI_US, "0");
	stop_reading(&self->other);
	close(self->other.fd);
	close(self->fd);
	expect_nothing_left(_metadata);
}

/*
 * The package is frozen most of the time by the storm of another event. perf counts the
 * event as running, also while it cannot be read.
 */
TEST_F(slow, nothing_goes_back)
{
	struct event_reading before = { 0 }, now;
	uint64_t end = now_ns() + LONG_MS * 1000000ULL;
	unsigned int reads = 0;
	struct sampler storm;
	char us[16];

	ASSERT_EQ(0, max_sample_rate(100000000));
	ASSERT_EQ(0, -sampler_open(&storm, "hswep_pcu", pmu_cpu("hswep_pcu", 0),
				   1, "clockticks"));
	while (now_ns() < end || reads < READS) {
		/* now and then without a fault */
		snprintf(us, sizeof(us), "%d", reads % 4 ? AWAY_US : 0);
		ASSERT_EQ(0, file_write(PCI_US, us));
		event_read(self->fd, &now);
		EXPECT_GE(now.value, before.value);
		EXPECT_GE(now.enabled, before.enabled);
		EXPECT_GE(now.running, before.running) {
			TH_LOG("read %u", reads);
		}
		EXPECT_LE(now.running, now.enabled);
		before = now;
		reads++;
	}
	sampler_close(&storm);
}

/* Each read has all that was counted before. */
TEST_F(slow, no_count_is_an_old_one)
{
	uint64_t from, start, now;
	char us[16];

	from = event_count(self->fd);
	start = sim_cycles();
	snprintf(us, sizeof(us), "%d", AWAY_US);
	ASSERT_EQ(0, file_write(PCI_US, us));
	for (int i = 0; i < READS; i++) {
		now = sim_cycles();
		EXPECT_GE(event_count(self->fd) - from, now - start);
	}
	ASSERT_EQ(0, file_write(PCI_US, "0"));
	/* it may still be running */
	stop_reading(&self->other);
	now = sim_cycles();
	EXPECT_GE(event_count(self->fd) - from, now - start);
}

/* --- a reader whose CPU is stopped --------------------------------------------- */

enum { HELD_US = 10000, HELD_ROUNDS = 20, CYCLES = 1000 };

/**
 * struct holder - reads an event on another CPU, which is stopped with the box's lock
 * @begin: begin a round
 * @done: the round has ended
 * @fd: a copy of the event that follows it on @cpu
 */
struct holder {
	pthread_t thread;
	sem_t begin, done;
	int cpu, fd;
};

static void *read_in_rounds(void *arg)
{
	struct holder *h = arg;

	cpu_pin(h->cpu);
	for (int i = 0; i < HELD_ROUNDS; i++) {
		sem_wait(&h->begin);
		event_count(h->fd);
		sem_post(&h->done);
	}
	return NULL;
}

/* Runs without a pause, at which the virtual machine would run its next CPU. */
static void *spin(void *cpu)
{
	cpu_pin((intptr_t)cpu);
	for (volatile unsigned int i = 0;; i++)
		;
	return NULL;
}

FIXTURE(turns) {};
FIXTURE_VARIANT(turns) { int spinners; };
/* the reader tries without a pause */
FIXTURE_VARIANT_ADD(turns, others_idle) { .spinners = 0 };
/* the reader's CPU is stopped between two tries */
FIXTURE_VARIANT_ADD(turns, others_busy) { .spinners = 2 };

FIXTURE_SETUP(turns)
{
	machine_setup("clock=manual", "");
	log_mark();
	if (package_cpu(0, 1) < 0)
		SKIP(return, "needs two CPUs in a package");
}

FIXTURE_TEARDOWN(turns)
{
	expect_nothing_left(_metadata);
}

/*
 * The lock is held for a tenth of the time that a system call waits. The virtual machine
 * runs its CPUs one after the other, and busy ones for long. So a reader's CPU that finds
 * the lock taken and pauses may be stopped for longer than it would wait.
 */
TEST_F(turns, reader_gets_the_count)
{
	struct holder h = { .cpu = package_cpu(0, 1) };
	pthread_t spinner;
	char pmu[PMU_NAME_MAX];
	int fd, cpu;

	ASSERT_TRUE(pmu_name(pmu, "cbox", 0));
	fd = event_open(pmu, pmu_cpu(pmu, 0), "clockticks");
	ASSERT_GE(fd, 0);
	h.fd = event_open(pmu, h.cpu, "clockticks,local=1");
	ASSERT_GE(h.fd, 0);
	cpu_pin(pmu_cpu(pmu, 0));
	sem_init(&h.begin, 0, 0);
	sem_init(&h.done, 0, 0);
	ASSERT_EQ(0, pthread_create(&h.thread, NULL, read_in_rounds, &h));
	for (int i = 0; i < variant->spinners; i++) {
		cpu = package_cpu(1, i);
		if (cpu >= 0)
			ASSERT_EQ(0, pthread_create(&spinner, NULL, spin,
						    (void *)(intptr_t)cpu));
	}
	for (int i = 0; i < HELD_ROUNDS; i++) {
		ASSERT_EQ(0, sim_advance(CYCLES));
		ASSERT_EQ(0, -sim_hold("cpu=%d us=%d by=%d", h.cpu, HELD_US, h.cpu));
		sem_post(&h.begin);
		/* until the other CPU has the lock */
		sleep_ms(1 + i % 5);
		EXPECT_EQ(CYCLES * (i + 1), event_count(fd)) {
			TH_LOG("round %d", i);
		}
		sem_wait(&h.done);
	}
	pthread_join(h.thread, NULL);
	close(h.fd);
	close(fd);
}

TEST_HARNESS_MAIN

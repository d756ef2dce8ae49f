// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU is stopped in a register access while it holds the box's lock. A reader of
 * another event of the box must wait for the lock, so that counts and times never
 * decrease and no count is outdated. This holds for a reader whose own CPU was stopped,
 * too.
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
 * struct other - thread that reads another event of the box in a loop, on another CPU
 * @fd: descriptor of the other event
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
 * Counts and times do not go back while a storm of overflows of another box freezes the
 * package most of the time. perf takes the event for running, also while the box's lock
 * is held and the counter cannot be read.
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
		/* every fourth read is without a slow access */
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

/* Each read returns at least the cycles that had passed before the read. */
TEST_F(slow, no_count_is_an_old_one)
{
	uint64_t before, start, now;
	char us[16];

	before = event_count(self->fd);
	start = sim_cycles();
	snprintf(us, sizeof(us), "%d", AWAY_US);
	ASSERT_EQ(0, file_write(PCI_US, us));
	for (int i = 0; i < READS; i++) {
		now = sim_cycles();
		EXPECT_GE(event_count(self->fd) - before, now - start);
	}
	ASSERT_EQ(0, file_write(PCI_US, "0"));
	/* the other thread may still be in a slow read: wait for its end */
	stop_reading(&self->other);
	now = sim_cycles();
	EXPECT_GE(event_count(self->fd) - before, now - start);
}

/* --- a reader whose CPU is stopped --------------------------------------------- */

enum { HELD_US = 10000, HELD_ROUNDS = 20, CYCLES = 1000 };

/**
 * struct holder - thread on @cpu that is stopped while it reads an event with the box's lock
 * @begin: posted to begin a round
 * @done: posted when the round has ended
 * @fd: passive copy (local=1) of the test's event on @cpu
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

/*
 * Spin on a CPU without a pause instruction, at which the virtual machine would run its
 * next CPU.
 */
static void *spin(void *cpu)
{
	cpu_pin((intptr_t)cpu);
	for (volatile unsigned int i = 0;; i++)
		;
	return NULL;
}

FIXTURE(turns) {};

FIXTURE_VARIANT(turns)
{
	int spinners;		/* CPUs of the other package that spin */
};

/* the reader's CPU is not stopped between two attempts to take the lock */
FIXTURE_VARIANT_ADD(turns, others_idle) { .spinners = 0 };
/* the reader's CPU is stopped between two attempts */
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
 * The lock is held for a tenth of the time for which a system call waits for the lock.
 * The virtual machine runs its CPUs one after the other, and a busy CPU for long. So
 * the reader's CPU, which finds the lock taken and pauses, may be stopped for longer
 * than that time. The reader must get the count nevertheless.
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
		/* wait until the other CPU has the lock */
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

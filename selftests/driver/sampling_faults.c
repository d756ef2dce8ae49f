// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overflows under faults: interrupts that are lost or sent to the wrong CPU, status
 * bits that do not clear, events that are closed and CPUs that go offline while an
 * interrupt is pending, and unloading after a storm. Samples must not be lost, no
 * package may stay frozen, and later counts must be exact.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { OVERFLOWS = 20, CYCLES = 1000 };

static void load(struct __test_metadata *_metadata, const char *sim_params)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_once(sim_params, "");
}

static bool open_sampler(struct sampler *s, const char *pmu, int cpu,
			 uint64_t period, const struct cat_event *e)
{
	int err = sampler_open(s, pmu, cpu, period, "config=%#" PRIx64,
			       e->config);

	return check_eq(-err, 0, "%s/%s/ opens on CPU %d", pmu, e->name, cpu);
}

/*
 * After a fault, with the manual clock: check that a box of each type counts exactly in
 * package @pkg, and that iMC and UBox sample exactly.
 */
static bool unharmed(int pkg)
{
	int fd[BOX_TYPES];
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (unsigned int k = 0; *box_types[k]; k++) {
		pmu_name(pmu, box_types[k], 0);
		fd[k] = event_open(pmu, pmu_cpu(pmu, pkg), "config=%#" PRIx64,
				   ticks_of(box_types[k])->config);
	}
	sim_advance(CYCLES);
	for (unsigned int k = 0; *box_types[k]; k++) {
		ok &= check_eq(event_count(fd[k]), CYCLES,
			       "%s in package %d afterwards", box_types[k], pkg);
		close(fd[k]);
	}
	ok &= samples_exactly("imc", pkg, 3);
	return ok & samples_exactly("ubox", pkg, 3);
}

/* --- a package that is frozen by an overflow ------------------------------- */

/* The package freezes at once, but its global status shows the overflow later. */
FIXTURE_OF(frozen, load(_metadata, "clock=manual status_delay=1000"),
	   expect_no_complaint(_metadata));

/*
 * When the second event is opened, perf removes the first event, the only event of the
 * package, from its counter and adds the event again. The driver must not take the
 * package for idle then, or the next box that starts would unfreeze the package.
 */
TEST_F(frozen, package_remains_frozen_when_another_box_starts)
{
	enum { PERIOD = 500, STATUS_DELAY = 1000, SOME = 10 };
	const struct cat_event *e = ticks_of("ha");
	struct sampler s;
	int beside, imc, cpu;

	cpu = pmu_cpu("hswep_ha_0", 0);
	ASSERT_TRUE(open_sampler(&s, "hswep_ha_0", cpu, PERIOD, e));
	beside = event_open("hswep_ha_0", cpu, "config=%#" PRIx64 ",thresh=1",
			    e->config);
	ASSERT_GE(beside, 0);
	sim_advance(PERIOD);
	EXPECT_EQ(PERIOD, event_count(beside));
	sim_advance(SOME);
	EXPECT_EQ(PERIOD, event_count(beside));
	imc = event_open("hswep_imc_0", cpu, "clockticks");
	ASSERT_GE(imc, 0);
	sim_advance(SOME);
	EXPECT_EQ(PERIOD, event_count(beside));
	EXPECT_EQ(0, event_count(imc));

	/* after the delay the overflow is handled, and the package counts again */
	sim_advance(STATUS_DELAY);
	EXPECT_EQ(1, sampler_settle(&s, 1));
	EXPECT_EQ(event_count(beside), event_count(s.fd));
	close(imc);
	close(beside);
	sampler_close(&s);
}

/* --- a faulty box or interrupt -------------------------------------------- */

FIXTURE_OF(box_fault, load(_metadata, "clock=manual"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(box_fault)
{
	const char *fault;	/* no interrupt, or a status that does not clear */
	const char *type;
	bool by_timer;		/* the timer must find the overflows */
};

FIXTURE_VARIANT_ADD(box_fault, no_pmi_ha)
{
	.fault = "no_pmi",
	.type = "ha",
	.by_timer = true,
};

FIXTURE_VARIANT_ADD(box_fault, no_pmi_pcu)
{
	.fault = "no_pmi",
	.type = "pcu",
	.by_timer = true,
};

FIXTURE_VARIANT_ADD(box_fault, no_pmi_ubox)
{
	.fault = "no_pmi",
	.type = "ubox",
	.by_timer = true,
};

FIXTURE_VARIANT_ADD(box_fault, stuck_status_imc)
{
	.fault = "stuck_status",
	.type = "imc",
};

FIXTURE_VARIANT_ADD(box_fault, stuck_status_pcu)
{
	.fault = "stuck_status",
	.type = "pcu",
};

FIXTURE_VARIANT_ADD(box_fault, stuck_status_ubox)
{
	.fault = "stuck_status",
	.type = "ubox",
};

FIXTURE_VARIANT_ADD(box_fault, stuck_status_cbox)
{
	.fault = "stuck_status",
	.type = "cbox",
	.by_timer = true,
};

TEST_F(box_fault, costs_no_sample_and_nothing_remains_of_it)
{
	uint64_t timer = overflow_stat(0, "timer_served");
	char pmu[PMU_NAME_MAX];

	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	ASSERT_EQ(0, -sim_fault("%s pkg=0 box=%s on", variant->fault,
				pmu_box(pmu)));
	EXPECT_TRUE(samples_exactly(variant->type, 0, OVERFLOWS));
	if (variant->by_timer) {
		EXPECT_GE(overflow_stat(0, "timer_served") - timer, OVERFLOWS);
	}
	EXPECT_EQ(0, -sim_fault("%s pkg=0 box=%s off", variant->fault,
				pmu_box(pmu)));
	EXPECT_TRUE(unharmed(0));
}

FIXTURE_OF(wrong_cpu, load(_metadata, "clock=manual"),
	   expect_no_complaint(_metadata));

TEST_F(wrong_cpu, pmis_are_carried_over_and_leave_nothing)
{
	for (int pkg = 0; pkg < packages(); pkg++) {
		ASSERT_EQ(0, -sim_fault("wrong_cpu pkg=%d on", pkg));
		for (unsigned int k = 0; *box_types[k]; k++)
			EXPECT_TRUE(samples_exactly(box_types[k], pkg, OVERFLOWS));
		ASSERT_EQ(0, -sim_fault("wrong_cpu pkg=%d off", pkg));
	}
	for (int pkg = 0; pkg < packages(); pkg++)
		EXPECT_TRUE(unharmed(pkg));
}

/* --- traffic that continues ----------------------------------------------- */

/* A thread that sends transactions to a box until @stop */
struct stream {
	pthread_t thread;
	char pmu[PMU_NAME_MAX];
	int pkg;
	const struct cat_event *event;
	unsigned int pause_us;	/* pause that keeps a sampler's ring from getting full */
	atomic_bool stop;
};

static void *flow(void *arg)
{
	struct stream *s = arg;

	while (!s->stop) {
		send_traffic(s->pmu, s->pkg, s->event, 5, 1);
		if (s->pause_us)
			usleep(s->pause_us);
		else
			cpu_relax();
	}
	return NULL;
}

static void start_stream(struct stream *s, const char *type, int pkg)
{
	s->event = plain_of(type);
	s->pkg = pkg;
	s->stop = false;
	if (!s->event || !pmu_name(s->pmu, type, 0) ||
	    pthread_create(&s->thread, NULL, flow, s))
		tap_bail("no traffic for %s", type);
}

static void stop_stream(struct stream *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
}

/* --- CPUs that are stopped for a while ------------------------------------- */

#define SIM_PARAM(name)	"/sys/module/xeon_uncore_sim/parameters/" name

FIXTURE(away) {};

FIXTURE_VARIANT(away)
{
	const char *status_us;	/* time for which the CPU is stopped at a status read */
	const char *pci_us;	/* duration of a PCI register access */
};

#define AWAY(status, pci)						\
	FIXTURE_VARIANT_ADD(away, for_##status##_us_and_##pci) {	\
		.status_us = #status, .pci_us = #pci,			\
	}

AWAY(300, 30);
AWAY(600, 100);

FIXTURE_SETUP(away)
{
	load(_metadata, "clock=manual");
}

FIXTURE_TEARDOWN(away)
{
	file_write(SIM_PARAM("status_us"), "0");
	file_write(SIM_PARAM("pci_us"), "0");
	expect_no_complaint(_metadata);
}

/*
 * The timer's CPU reads the status of an overflow and is stopped. Another CPU handles the
 * overflow, and the next overflow arrives before the timer's CPU continues. That CPU must
 * not unfreeze the package before the next overflow is handled.
 */
TEST_F(away, what_a_cpu_saw_before_it_went_loses_nothing)
{
	enum { PERIOD = 700 };
	char pmu[PMU_NAME_MAX];
	struct sampler s[2];
	uint64_t count;

	if (package_cpu(0, 1) < 0)
		SKIP(return, "needs two CPUs in a package");
	ASSERT_TRUE(pmu_name(pmu, "imc", 0));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, -sampler_open(&s[i], pmu, package_cpu(0, i),
					   PERIOD << 10 * i, "clockticks"));
	count = sim_cycles();
	ASSERT_EQ(0, -file_write(SIM_PARAM("status_us"), variant->status_us));
	ASSERT_EQ(0, -file_write(SIM_PARAM("pci_us"), variant->pci_us));
	EXPECT_EQ(0, -sim_advance(200 * OVERFLOWS * PERIOD));
	EXPECT_EQ(0, -file_write(SIM_PARAM("pci_us"), "0"));
	count = sim_cycles() - count;
	for (int i = 0; i < 2; i++) {
		sampler_disable(&s[i]);
		EXPECT_EQ(count, event_count(s[i].fd)) {
			TH_LOG("event of CPU %d", s[i].cpu);
		}
		EXPECT_EQ(count / s[i].period,
			  sampler_settle(&s[i], count / s[i].period)) {
			TH_LOG("samples of CPU %d", s[i].cpu);
		}
		sampler_close(&s[i]);
	}
	EXPECT_TRUE(unharmed(0));
}

FIXTURE_OF(clear_status, load(_metadata, "clock=manual"), {
	file_write(SIM_PARAM("status_clear_us"), "0");
	expect_no_complaint(_metadata);
});

/*
 * Every two seconds the driver's timer unfreezes the package, in case another program
 * has frozen it. Here the timer reads a status without an overflow, and its CPU is
 * stopped; then an overflow freezes the package. The timer must leave this overflow to
 * the interrupt. Otherwise the counter continues, and the periods that end before the
 * interrupt become one sample.
 */
TEST_F(clear_status, of_the_timer_unfreezes_no_overflow)
{
	enum { PERIOD = 700, PERIODS = 5, MS = 5000 };
	uint64_t merged, count, end;
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	if (package_cpu(0, 1) < 0)
		SKIP(return, "needs two CPUs in a package");
	ASSERT_TRUE(pmu_name(pmu, "imc", 0));
	/* this CPU advances the manual clock while the timer's CPU is stopped */
	cpu_pin(package_cpu(0, 1));
	ASSERT_EQ(0, -driver_freeze_budget(1000));
	merged = package_stat(0, "throttled");
	ASSERT_EQ(0, -sampler_open(&s, pmu, pmu_cpu(pmu, 0), PERIOD, "clockticks"));
	count = sim_cycles();
	ASSERT_EQ(0, -file_write(SIM_PARAM("status_clear_us"), "1000"));
	for (end = now_ns() + MS * 1000000ull; now_ns() < end; sampler_drain(&s))
		EXPECT_EQ(0, -sim_advance(PERIODS * PERIOD));
	ASSERT_EQ(0, -file_write(SIM_PARAM("status_clear_us"), "0"));
	count = (sim_cycles() - count) / PERIOD;
	EXPECT_EQ(count, sampler_settle(&s, count));
	EXPECT_EQ(merged, package_stat(0, "throttled"));
	EXPECT_EQ(0, -driver_freeze_budget(10));
	sampler_close(&s);
}

/* Return whether the samples account for @count, except for less than a period. */
static bool has_all(const struct sampler *s, uint64_t count)
{
	return s->weight <= count && count - s->weight < s->period;
}

/* --- events that are closed ----------------------------------------------- */

FIXTURE_OF(deleted, load(_metadata, "clock=manual"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(deleted)
{
	const char *type;
	int rounds;
};

FIXTURE_VARIANT_ADD(deleted, ha) { .type = "ha", .rounds = 150 };
FIXTURE_VARIANT_ADD(deleted, pcu) { .type = "pcu", .rounds = 150 };
FIXTURE_VARIANT_ADD(deleted, ubox) { .type = "ubox", .rounds = 150 };
FIXTURE_VARIANT_ADD(deleted, sbox) { .type = "sbox", .rounds = 60 };

/* Close events with interrupts pending. Every second event is disabled first. */
TEST_F(deleted, events_lose_no_sample_and_nothing_remains_of_them)
{
	struct stream stream = { 0 };
	uint64_t samples = 0, count;

	start_stream(&stream, variant->type, 0);
	for (int i = 0; i < (int)loops(variant->rounds); i++) {
		int cpu = package_cpu(0, i % 2);
		struct sampler s;

		ASSERT_TRUE(open_sampler(&s, stream.pmu,
					 cpu < 0 ? package_cpu(0, 0) : cpu,
					 1 + i % 4, stream.event));
		usleep(i % 7 * 100);
		if (i % 2) {
			sampler_disable(&s);
			count = event_count(s.fd);
			sampler_wait(&s, count / s.period);
			EXPECT_TRUE(has_all(&s, count)) {
				TH_LOG("%ju samples of a count of %ju",
				       (uintmax_t)s.samples, (uintmax_t)count);
			}
		}
		samples += sampler_drain(&s);
		EXPECT_TRUE(sampler_clean(&s, stream.pmu));
		sampler_close(&s);
	}
	stop_stream(&stream);
	EXPECT_GT(samples, 0);
	EXPECT_TRUE(unharmed(0));
}

/* --- CPUs that go offline ------------------------------------------------- */

FIXTURE_OF(offline, load(_metadata, "clock=manual"),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(offline) { const char *type; };

VARIANT_OF_TYPE(offline, imc);
VARIANT_OF_TYPE(offline, pcu);
VARIANT_OF_TYPE(offline, cbox);

/*
 * Check the samples of an event, and close the event. If its CPU has @stayed online, all
 * samples must be there; otherwise the last sample may be missing.
 */
static void expect_samples(struct __test_metadata *_metadata, struct sampler *s,
			   bool stayed)
{
	uint64_t count;

	sampler_disable(s);
	count = event_count(s->fd);
	sampler_wait(s, count / 2);
	EXPECT_GT(s->samples, 0);
	EXPECT_LE(s->weight, count);
	if (stayed) {
		EXPECT_TRUE(has_all(s, count)) {
			TH_LOG("event of CPU %d, which stayed: %ju samples of a count of %ju",
			       s->cpu, (uintmax_t)s->samples, (uintmax_t)count);
		}
	}
	sampler_close(s);
}

/* The perf CPU's event migrates to the other CPU; the event of that CPU ends. */
TEST_F(offline, cpus_leave_with_interrupts_on_their_way)
{
	int pkg = packages() - 1, cpu[2];
	/* taking a CPU offline may take long: do not fill the rings meanwhile */
	struct stream stream = { .pause_us = 100 };
	struct sampler s[2];

	cpu[0] = package_cpu(pkg, 0);
	cpu[1] = package_cpu(pkg, 1);
	if (pkg < 1 || cpu[1] < 0)
		SKIP(return, "needs a second package with two CPUs");
	start_stream(&stream, variant->type, pkg);
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < 2; j++)
			ASSERT_TRUE(open_sampler(&s[j], stream.pmu, cpu[j], 2,
						 stream.event));
		/* each event may join a counter that the other event uses already */
		s[0].shares = true;
		s[1].shares = true;
		sleep_ms(20);
		for (int j = 0; j < 2; j++) {
			uint64_t due = event_count(s[j].fd) / 2;

			EXPECT_GE(sampler_wait(&s[j], due), due) {
				TH_LOG("CPU %d is there", cpu[j]);
			}
		}
		ASSERT_EQ(0, -cpu_set_online(cpu[i % 2], false));
		sleep_ms(20);
		ASSERT_EQ(0, -cpu_set_online(cpu[i % 2], true));
		for (int j = 0; j < 2; j++)
			expect_samples(_metadata, &s[j], j != i % 2);
	}
	stop_stream(&stream);
	EXPECT_TRUE(unharmed(pkg));
}

/* --- unloading the driver -------------------------------------------------- */

FIXTURE_OF(storm, load(_metadata, "clock=real"),
	   expect_no_complaint(_metadata));

/* Check that a box of each type counts in every package, with the real clock. */
static void expect_all_running(struct __test_metadata *_metadata)
{
	struct event_reading r;
	char pmu[PMU_NAME_MAX];
	int fd;

	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int k = 0; *box_types[k]; k++) {
			ASSERT_TRUE(pmu_name(pmu, box_types[k], 0));
			fd = event_open(pmu, pmu_cpu(pmu, pkg),
					"config=%#" PRIx64,
					ticks_of(box_types[k])->config);
			ASSERT_GE(fd, 0);
			sleep_ms(1);
			ASSERT_EQ(0, -event_read(fd, &r));
			EXPECT_GT(r.value, 0) {
				TH_LOG("%s in package %d is frozen", pmu, pkg);
			}
			close(fd);
		}
}

TEST_F(storm, the_driver_unloads_right_after_it)
{
	enum { ROUNDS = 4 };
	struct sampler s[2 * BOX_TYPES];
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		for (unsigned int k = 0; *box_types[k]; k++)
			for (int pkg = 0; pkg < packages() && pkg < 2; pkg++) {
				ASSERT_TRUE(pmu_name(pmu, box_types[k], 0));
				ASSERT_TRUE(open_sampler(&s[n++], pmu,
							 pmu_cpu(pmu, pkg), 5,
							 ticks_of(box_types[k])));
			}
		sleep_ms(100);
		while (n)
			sampler_close(&s[--n]);
		ASSERT_EQ(0, -driver_unload());
		EXPECT_EQ(0, sim_dirty_registers()) {
			sim_show_registers();
		}
		ASSERT_EQ(0, -driver_load(""));
	}
	expect_all_running(_metadata);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Overflows when something goes wrong: interrupts that are lost or come to the
 * wrong CPU, status bits that do not clear, events that end and CPUs that leave
 * while an interrupt is on its way, and the driver's end after a storm. Then no
 * sample is lost, nothing stays frozen, and counts are right afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum { OVERFLOWS = 20, CYCLES = 1000 };

static bool open_sampler(struct sampler *s, const char *pmu, int cpu,
			 uint64_t period, const struct cat_event *e)
{
	int err = sampler_open(s, pmu, cpu, period, "config=%#" PRIx64,
			       e->config);

	return check_eq(-err, 0, "%s/%s/ opens on CPU %d", pmu, e->name, cpu);
}

/* With the manual clock: all boxes of a package count, and can be sampled. */
static bool unharmed(int pkg)
{
	int fd[BOX_KINDS];
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		pmu_name(pmu, box_kinds[k], 0);
		fd[k] = event_open(pmu, pmu_cpu(pmu, pkg), "config=%#" PRIx64,
				   ticks_of(box_kinds[k])->config);
	}
	sim_advance(CYCLES);
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		ok &= check_eq(event_count(fd[k]), CYCLES,
			       "%s in package %d afterwards", box_kinds[k], pkg);
		close(fd[k]);
	}
	ok &= samples_exactly("imc", pkg, 3);
	return ok & samples_exactly("ubox", pkg, 3);
}

/* --- a box or the way of its interrupt is broken -------------------------- */

static void test_box_fault(const char *fault, const char *kind,
			   const char *what, bool by_timer)
{
	uint64_t timer = overflow_stat(0, "timer_served");
	char pmu[PMU_NAME_MAX];
	bool ok;

	pmu_name(pmu, kind, 0);
	ok = check(!sim_fault("%s pkg=0 box=%s on", fault, pmu_box(pmu)),
		   "%s of %s", fault, pmu_box(pmu));
	ok &= samples_exactly(kind, 0, OVERFLOWS);
	timer = overflow_stat(0, "timer_served") - timer;
	if (by_timer)
		ok &= check(timer >= OVERFLOWS, "served by the timer: %" PRIu64
			    " of %d", timer, OVERFLOWS);
	sim_fault("%s pkg=0 box=%s off", fault, pmu_box(pmu));
	tap_ok(ok, "%s: %s, all samples come", pmu, what);
	tap_ok(unharmed(0), "%s: %s, nothing remains of it", pmu, what);
}

static void test_wrong_cpu(void)
{
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check(!sim_fault("wrong_cpu pkg=%d on", pkg), "wrong_cpu");
		for (unsigned int k = 0; k < BOX_KINDS; k++)
			ok &= samples_exactly(box_kinds[k], pkg, OVERFLOWS);
		sim_fault("wrong_cpu pkg=%d off", pkg);
	}
	tap_ok(ok, "PMIs that come to the wrong CPU are carried over");
	ok = true;
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= unharmed(pkg);
	tap_ok(ok, "PMIs that came to the wrong CPU leave nothing");
}

/* --- traffic that goes on ------------------------------------------------- */

struct stream {
	pthread_t thread;
	char pmu[PMU_NAME_MAX];
	int pkg;
	const struct cat_event *event;
	atomic_bool stop;
};

static void *flow(void *arg)
{
	struct stream *s = arg;

	while (!s->stop)
		send_traffic(s->pmu, s->pkg, s->event, 5, 1);
	return NULL;
}

static void start_stream(struct stream *s, const char *kind, int pkg)
{
	s->event = plain_of(kind);
	s->pkg = pkg;
	s->stop = false;
	if (!s->event || !pmu_name(s->pmu, kind, 0) ||
	    pthread_create(&s->thread, NULL, flow, s))
		tap_bail("no traffic for %s", kind);
}

static void stop_stream(struct stream *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
}

/* --- events that end ------------------------------------------------------ */

static void test_deleted(const char *kind, int rounds)
{
	struct stream stream;
	uint64_t samples = 0;
	bool ok = true;

	start_stream(&stream, kind, 0);
	for (int i = 0; i < rounds; i++) {
		int cpu = package_cpu(0, i % 2);
		struct sampler s;

		if (!open_sampler(&s, stream.pmu,
				  cpu < 0 ? package_cpu(0, 0) : cpu, 1 + i % 4,
				  stream.event)) {
			ok = false;
			break;
		}
		usleep(i % 7 * 100);
		/* every other one is stopped first, and must be complete */
		if (i % 2) {
			uint64_t count;

			sampler_disable(&s);
			count = event_count(s.fd);
			ok &= check_eq(sampler_wait(&s, count / s.period),
				       count / s.period,
				       "samples of a count of %" PRIu64, count);
		}
		samples += sampler_drain(&s);
		ok &= sampler_clean(&s, stream.pmu);
		sampler_close(&s);
	}
	stop_stream(&stream);
	tap_ok(ok && samples, "%s: %d events end with interrupts on their way (%"
	       PRIu64 " samples)", stream.pmu, rounds, samples);
	tap_ok(unharmed(0), "%s: nothing remains of them", stream.pmu);
}

/* --- CPUs that leave ------------------------------------------------------ */

/* The perf CPU's event moves to the other one, that one's own event ends. */
static void test_offline(const char *kind)
{
	int pkg = packages() - 1, cpu[2];
	struct stream stream;
	bool ok = true;

	cpu[0] = package_cpu(pkg, 0);
	cpu[1] = package_cpu(pkg, 1);
	if (pkg < 1 || cpu[1] < 0) {
		tap_skip("needs a second package with two CPUs",
			 "%s: CPUs leave", kind);
		return;
	}
	start_stream(&stream, kind, pkg);
	for (int i = 0; i < 4 && ok; i++) {
		struct sampler s[2];

		for (int j = 0; j < 2; j++)
			ok &= open_sampler(&s[j], stream.pmu, cpu[j], 2,
					   stream.event);
		sleep_ms(20);
		for (int j = 0; j < 2; j++) {
			uint64_t due = event_count(s[j].fd) / 2;

			ok &= check(sampler_wait(&s[j], due) >= due,
				    "CPU %d is there, and has %" PRIu64
				    " of %" PRIu64 " samples", cpu[j],
				    s[j].samples, due);
		}
		ok &= check_eq(-cpu_set_online(cpu[i % 2], false), 0,
			       "CPU %d goes offline", cpu[i % 2]);
		sleep_ms(20);
		ok &= check_eq(-cpu_set_online(cpu[i % 2], true), 0,
			       "CPU %d comes back", cpu[i % 2]);
		for (int j = 0; j < 2; j++) {
			uint64_t count;

			sampler_disable(&s[j]);
			count = event_count(s[j].fd);
			sampler_wait(&s[j], count / 2);
			/* of the CPU that left the last ones may be missing */
			ok &= check(s[j].samples == count / 2 ||
				    (j == i % 2 && s[j].samples < count / 2),
				    "CPU %d left, event of CPU %d: %" PRIu64
				    " samples, count %" PRIu64, cpu[i % 2],
				    cpu[j], s[j].samples, count);
			ok &= check(s[j].samples > 0, "no samples");
			sampler_close(&s[j]);
		}
	}
	stop_stream(&stream);
	tap_ok(ok, "%s: CPUs leave with interrupts on their way", stream.pmu);
	tap_ok(unharmed(pkg), "%s: nothing remains of it", stream.pmu);
}

/* --- the driver's end ------------------------------------------------------ */

static void test_unload(int rounds)
{
	struct sampler s[2 * BOX_KINDS];
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int i = 0; i < rounds && ok; i++) {
		unsigned int n = 0;
		int err;

		for (unsigned int k = 0; k < BOX_KINDS; k++)
			for (int pkg = 0; pkg < packages() && pkg < 2; pkg++) {
				pmu_name(pmu, box_kinds[k], 0);
				ok &= open_sampler(&s[n++], pmu,
						   pmu_cpu(pmu, pkg), 5,
						   ticks_of(box_kinds[k]));
			}
		sleep_ms(100);
		while (n)
			sampler_close(&s[--n]);
		err = driver_unload();
		ok &= check_eq(-err, 0, "unload");
		ok &= check_eq(sim_dirty_registers(), 0,
			       "registers that are not reset");
		ok &= check_eq(-driver_load(""), 0, "load");
	}
	tap_ok(ok, "%d times unloaded right after a storm", rounds);
}

/* Time goes on by itself: it does in every box. */
static bool all_running(void)
{
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int k = 0; k < BOX_KINDS; k++) {
			int fd;

			pmu_name(pmu, box_kinds[k], 0);
			fd = event_open(pmu, pmu_cpu(pmu, pkg),
					"config=%#" PRIx64,
					ticks_of(box_kinds[k])->config);
			sleep_ms(1);
			ok &= check(event_count(fd) > 0 &&
				    event_count(fd) != UINT64_MAX,
				    "%s in package %d stands still", pmu, pkg);
			close(fd);
		}
	return ok;
}

int main(void)
{
	catalogue(NULL);
	machine_setup("clock=manual", "");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_box_fault("no_pmi", "ha", "no interrupt", true);
	test_box_fault("no_pmi", "pcu", "no interrupt", true);
	test_box_fault("no_pmi", "ubox", "no interrupt", true);
	test_box_fault("stuck_status", "imc", "status that does not clear", false);
	test_box_fault("stuck_status", "pcu", "status that does not clear", false);
	test_box_fault("stuck_status", "ubox", "status that does not clear", false);
	test_box_fault("stuck_status", "cbox", "status that does not clear", true);
	test_wrong_cpu();
	test_deleted("ha", 150);
	test_deleted("pcu", 150);
	test_deleted("ubox", 150);
	test_deleted("sbox", 60);
	test_offline("imc");
	test_offline("pcu");
	test_offline("cbox");
	machine_setup("clock=real", "");
	test_unload(4);
	tap_ok(all_running(), "then everything counts");
	return tap_end();
}

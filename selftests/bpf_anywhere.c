// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BPF programs read events of every CPU at tracepoints that the driver itself
 * passes, with locks held: in the start of its timer, in interrupts, between the
 * tasks. Nothing waits for itself, and counts and samples stay exact.
 */
#include <errno.h>
#include <inttypes.h>
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
#include "lib/tap.h"

enum { MAX_CPUS = 64, ROUNDS = 60, CYCLES = 1000, PERIOD = 700,
       PATIENCE_MS = 10000 };

static const char *const tracepoints[] = {
	"hrtimer_start", "hrtimer_cancel", "hrtimer_expire_entry",
	"irq_work_entry", "local_timer_entry", "nmi_handler", "sched_switch",
	"read_msr", "write_msr",
};

/* The same event on each CPU, in the box that is being worked on. */
static unsigned int open_everywhere(const char *pmu, int *fd)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		fd[cpu] = event_open(pmu, cpu, "clockticks");
	return cpus < MAX_CPUS ? cpus : MAX_CPUS;
}

/*
 * A count, read again while it is lower than it must be: whoever reads a box that all
 * of the machine's configuration space shares a lock with gives up after 20 ms and has
 * the event's last count (kmod/lock.c), which is no more than a host that takes away
 * the CPU of the lock's holder. What was not counted does not come by waiting. A box of
 * MSRs has its reader wait.
 */
static uint64_t count_of(const char *pmu, int fd, uint64_t want)
{
	bool shared = strstr(pmu, "_imc_");
	uint64_t count = event_count(fd);

	for (unsigned int i = 0; shared && i < PATIENCE_MS && count < want; i++) {
		sleep_ms(1);
		count = event_count(fd);
	}
	return count;
}

/*
 * Events of the box begin and end, and so start the timer; another one samples.
 */
static void test_at(const char *tracepoint, const char *pmu)
{
	int fd[MAX_CPUS], cpu = pmu_cpu(pmu, 0), err, other;
	unsigned int cpus = open_everywhere(pmu, fd);
	uint64_t start = sim_cycles(), want;
	struct bpf_reader reader;
	struct sampler s;
	uint64_t runs;
	bool ok;

	err = bpf_reader_attach(&reader, tracepoint, fd, cpus);
	if (err) {
		tap_skip(strerror(-err), "%s: read by BPF at %s", pmu, tracepoint);
		goto out;
	}
	ok = check_eq(-sampler_open(&s, pmu, cpu, PERIOD, "clockticks,thresh=1"),
		      0, "%s opens", pmu);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		other = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
		sim_advance(CYCLES);
		ok &= check_eq(count_of(pmu, other, CYCLES), CYCLES, "round %u", i);
		close(other);
	}
	want = sim_cycles() - start;
	sampler_disable(&s);
	ok &= check_eq(count_of(pmu, s.fd, want), want, "its sampling event");
	ok &= check_eq(sampler_wait(&s, want / PERIOD), want / PERIOD, "samples");
	sampler_close(&s);
	runs = bpf_reader_detach(&reader);
	for (unsigned int i = 0; i < cpus; i++)
		if (cpu_package(i) == 0)
			ok &= check_eq(count_of(pmu, fd[i], want), want,
				       "the event that is read on CPU %u", i);
	tap_ok(ok, "%s: counts and samples exact while BPF reads it at %s", pmu,
	       tracepoint);
	tap_diag("%" PRIu64 " times", runs);
	if (!strcmp(tracepoint, "hrtimer_start"))
		tap_ok(runs > 0, "%s: the program has run", pmu);
out:
	for (unsigned int i = 0; i < cpus; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int main(void)
{
	static const char *const pmus[] = { "hswep_cbox_0", "hswep_imc_0" };

	catalogue(NULL);
	machine_setup("clock=manual", "");
	log_mark();
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	for (unsigned int p = 0; p < sizeof(pmus) / sizeof(pmus[0]); p++)
		for (unsigned int t = 0;
		     t < sizeof(tracepoints) / sizeof(tracepoints[0]); t++)
			test_at(tracepoints[t], pmus[p]);
	tap_ok(log_clean(), "the kernel's log has no warning");
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sample is of the task that ran on the event's CPU when the counter overflowed,
 * whichever CPU took the interrupt. The tests run a spinning program on every CPU, in
 * both packages, and check that the samples of each CPU's event are of the CPU's
 * program.
 *
 * While events sample, the programs have the highest real-time priority. So each sample
 * must be of these programs, and a sample in user space must be in their loop.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/bpf_read.h"
#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	MAX_CPUS = 16,
	SAMPLES = 200,
	PERIOD = 5,
};

static void __attribute__((constructor)) need_two_packages(void)
{
	if (packages() < 2)
		tap_skip_all("needs two packages");
}

/* The fixture with the real clock comes last. */
MACHINE_OF_ALL_TESTS("clock=manual", "");

#define RT_RUNTIME "/proc/sys/kernel/sched_rt_runtime_us"

/* Spin in user space; the address of a sample identifies this function. */
static __attribute__((noinline, section("spinning"))) void spin(void)
{
	for (;;)
		cpu_relax();
}

/* Linker symbols of the start and end of that section */
extern const char __start_spinning[], __stop_spinning[];

struct spinner {
	int cpu;
	pid_t pid;
};

static struct spinner spinners[MAX_CPUS];
static unsigned int n_spinners;

/* With @alone give the programs' CPUs to the programs alone, by real-time priority. */
static void spin_alone(bool alone)
{
	struct sched_param param = { .sched_priority = alone ? 99 : 0 };

	for (unsigned int i = 0; i < n_spinners; i++)
		if (sched_setscheduler(spinners[i].pid,
				       alone ? SCHED_FIFO : SCHED_OTHER, &param))
			tap_bail("sched_setscheduler: %s", strerror(errno));
}

static char rt_runtime[32];

/*
 * Newer kernels have a deadline server, which gives CPU time to other tasks beside
 * real-time tasks: set its runtime to 0. The test does not restore the runtime: Linux
 * 6.12 would miscount then, and warn when the server stops the next time.
 */
static void no_fair_server(void)
{
	char path[80];

	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/kernel/debug/sched/fair_server/cpu%d/runtime",
			 cpu);
		file_write(path, "0");
	}
}

static void restore_rt_runtime(void)
{
	file_write(RT_RUNTIME, rt_runtime);
}

/* Have the kernel reserve no CPU time for tasks that are not real-time tasks. */
static void unlimited_rt(void)
{
	FILE *f = fopen(RT_RUNTIME, "re");

	if (!f || !fgets(rt_runtime, sizeof(rt_runtime), f))
		tap_bail(RT_RUNTIME " cannot be read");
	fclose(f);
	if (file_write(RT_RUNTIME, "-1"))
		tap_bail(RT_RUNTIME " cannot be written");
	/* also restore the limit after a test that fails halfway */
	atexit(restore_rt_runtime);
	no_fair_server();
}

/* Start a spinning program on every CPU of a package. */
static void start_spinners(int pkg)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		struct spinner *s = &spinners[n_spinners];

		s->cpu = package_cpu(pkg, i);
		if (s->cpu < 0)
			return;
		s->pid = fork();
		if (s->pid < 0)
			tap_bail("fork: %s", strerror(errno));
		if (!s->pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			cpu_pin(s->cpu);
			spin();
		}
		n_spinners++;
	}
}

static void stop_spinners(void)
{
	while (n_spinners) {
		cpu_spinner_stop(spinners[--n_spinners].pid);
	}
}

/**
 * struct tally - results from the samples of an event
 * @pid: the program on the event's CPU
 * @other: a task of a sample that is neither the program nor the stopper thread
 * @right: samples of the program or of the stopper thread
 * @inside: samples in the program's loop
 * @kernel: samples in the kernel
 * @driver: samples in the driver's code
 * @ran: the event had a counter
 */
struct tally {
	pid_t pid, other;
	unsigned int right, inside, kernel, driver;
	bool ran;
};

/* Address range of the driver's code */
static uint64_t driver_start, driver_end;

/* Read the address range of the driver's code from /proc/modules. */
static void find_driver(void)
{
	FILE *f = fopen("/proc/modules", "re");
	unsigned long start, size;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "xeon_uncore %lu %*s %*s %*s %lx", &size,
			   &start) == 2) {
			driver_start = start;
			driver_end = start + size;
		}
	if (f)
		fclose(f);
}

static struct tally tallies[MAX_CPUS];
static struct sampler samplers[MAX_CPUS];

/* Return whether a task is the CPU's stopper thread, which precedes real-time tasks. */
static bool is_stopper(pid_t tid, int cpu)
{
	char path[32], want[32], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	snprintf(want, sizeof(want), "migration/%d\n", cpu);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strcmp(name, want);
}

/* Add a sample to the tally of its event. */
static void note(struct sampler *s, const struct sample *sample)
{
	struct tally *t = &tallies[s - samplers];

	if (sample->ip >= driver_start && sample->ip < driver_end)
		t->driver++;
	if (((pid_t)sample->pid == t->pid && (pid_t)sample->tid == t->pid) ||
	    (sample->kernel && is_stopper(sample->tid, s->cpu)))
		t->right++;
	else
		t->other = sample->tid;
	if (sample->kernel)
		t->kernel++;
	else if (sample->ip >= (uintptr_t)__start_spinning &&
		 sample->ip < (uintptr_t)__stop_spinning)
		t->inside++;
}

/*
 * Note which events have had a counter. The UBox has only one counter for its clock, so
 * one of its events counts and the others wait. (The running time of an event may be 0
 * although the event has samples: a CPU's clock does not advance when its tick is late.)
 */
static void note_running(void)
{
	for (unsigned int i = 0; i < n_spinners; i++) {
		struct event_reading r = { 0 };

		event_read(samplers[i].fd, &r);
		tallies[i].ran = r.running;
	}
}

/*
 * Check that all samples are of the right program by pid and address, and that no
 * sample is of the driver.
 */
static bool named_well(const char *what)
{
	unsigned int ran = 0;
	bool ok = true;

	for (unsigned int i = 0; i < n_spinners; i++) {
		const struct sampler *s = &samplers[i];
		const struct tally *t = &tallies[i];

		if (!t->ran && !s->samples)
			continue;
		ran++;
		if (!check(s->samples > 0, "%s, CPU %d: no samples", what, s->cpu))
			return false;
		ok &= check(t->right == s->samples,
			    "%s, CPU %d: of %" PRIu64 " samples %u are of the program there, one is of task %d",
			    what, s->cpu, s->samples, t->right, t->other);
		ok &= check(t->inside + t->kernel == s->samples,
			    "%s, CPU %d: of %" PRIu64 " samples %u are of the program's loop, %u of the kernel",
			    what, s->cpu, s->samples, t->inside, t->kernel);
		/* interrupts on the CPU give samples of the kernel, but fewer */
		ok &= check(s->samples < SAMPLES || t->inside > t->kernel,
			    "%s, CPU %d: most of %" PRIu64 " samples, %u, are of the kernel",
			    what, s->cpu, s->samples, t->kernel);
		ok &= check_eq(t->driver, 0, "%s: samples of the driver", what);
		ok &= sampler_clean(s, what);
	}
	return ok && ran;
}

/* Open an event on the CPU of each program, with the programs alone on their CPUs. */
static bool open_all(const char *pmu, uint64_t period, const struct cat_event *e)
{
	bool ok = true;

	spin_alone(true);
	for (unsigned int i = 0; i < n_spinners; i++) {
		int err = sampler_open(&samplers[i], pmu, spinners[i].cpu,
				       period, "config=%#" PRIx64, e->config);

		ok &= check_eq(-err, 0, "%s opens on CPU %d", pmu,
			       spinners[i].cpu);
		samplers[i].each = note;
		tallies[i] = (struct tally){ .pid = spinners[i].pid };
	}
	return ok;
}

static void close_all(void)
{
	spin_alone(false);
	for (unsigned int i = 0; i < n_spinners; i++)
		sampler_close(&samplers[i]);
}

/*
 * Sample transactions of a box by an event on each CPU of the package, and check that the
 * samples tell the programs of the CPUs apart.
 */
static bool tell_apart(const char *type, int pkg, const char *how)
{
	const struct cat_event *e = plain_of(type);
	char pmu[PMU_NAME_MAX];
	bool ok;

	if (!e || !pmu_name(pmu, type, 0))
		return check(false, "no event, or no box");
	ok = open_all(pmu, PERIOD, e);
	/* with pauses, because CBo and SBo deliver all due samples at the same moment */
	for (unsigned int i = 0; i < SAMPLES; i++) {
		send_traffic(pmu, pkg, e, PERIOD, 1);
		if (!signals(type))
			sleep_ms(1);
	}
	for (unsigned int i = 0; i < n_spinners; i++)
		ok &= check_eq(sampler_wait(&samplers[i], SAMPLES), SAMPLES,
			       "%s: samples on CPU %d", pmu, spinners[i].cpu);
	note_running();
	ok &= named_well(how);
	close_all();
	return ok;
}

static void prepare(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	unlimited_rt();
	find_driver();
	ASSERT_NE(0, driver_start) {
		TH_LOG("where is the driver?");
	}
}

static void leave(void)
{
	stop_spinners();
	restore_rt_runtime();
}

/* Start programs on all CPUs of a package, and move this process to another package. */
static void spin_in(int pkg)
{
	cpu_pin(package_cpu((pkg + 1) % packages(), 0));
	start_spinners(pkg);
	sleep_ms(50);
}

FIXTURE_OF(samples, prepare(_metadata), leave());

FIXTURE_VARIANT(samples) { const char *type; };

VARIANTS_OF_TYPES(samples);

TEST_F(samples, name_the_program_of_the_events_cpu)
{
	char pmu[PMU_NAME_MAX];

	if (!plain_of(variant->type) || !pmu_name(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	for (int pkg = 0; pkg < 2; pkg++) {
		spin_in(pkg);
		EXPECT_TRUE(tell_apart(variant->type, pkg, variant->type)) {
			TH_LOG("package %d, on %u CPUs", pkg, n_spinners);
		}
		stop_spinners();
	}
}

FIXTURE(wrong_cpu) {};

FIXTURE_VARIANT(wrong_cpu) { const char *type; };

VARIANT_OF_TYPE(wrong_cpu, ha);
VARIANT_OF_TYPE(wrong_cpu, pcu);

FIXTURE_SETUP(wrong_cpu)
{
	prepare(_metadata);
	for (int pkg = 0; pkg < 2; pkg++) {
		ASSERT_EQ(0, -sim_fault("wrong_cpu pkg=%d on", pkg));
	}
}

FIXTURE_TEARDOWN(wrong_cpu)
{
	for (int pkg = 0; pkg < 2; pkg++)
		sim_fault("wrong_cpu pkg=%d off", pkg);
	leave();
}

/* Samples are of the task on the event's CPU, also if the PMI goes to another CPU. */
TEST_F(wrong_cpu, samples_name_the_program_of_the_events_cpu)
{
	for (int pkg = 0; pkg < 2; pkg++) {
		spin_in(pkg);
		EXPECT_TRUE(tell_apart(variant->type, pkg, "wrong CPU")) {
			TH_LOG("package %d, on %u CPUs", pkg, n_spinners);
		}
		stop_spinners();
	}
}

/* --- between two tasks ------------------------------------------------------ */

/* BPF program that delays the kernel in the middle of a task switch */
static struct bpf_delay between;

/* Number of samples with an address in this program */
static unsigned int between_tasks;

static void note_place(struct sampler *s, const struct sample *sample)
{
	(void)s;
	between_tasks += sample->ip >= between.start && sample->ip < between.end;
}

/* Start two programs on a CPU that wake each other in a loop. */
static void start_pair(int cpu, pid_t *pid)
{
	int pipes[2][2];

	if (pipe(pipes[0]) || pipe(pipes[1]))
		tap_bail("pipe: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		char byte = 0;

		pid[i] = fork();
		if (pid[i] < 0)
			tap_bail("fork: %s", strerror(errno));
		if (pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		cpu_pin(cpu);
		while (write(pipes[i][1], &byte, 1) == 1 &&
		       read(pipes[!i][0], &byte, 1) == 1)
			;
		_exit(1);
	}
	for (int i = 0; i < 2; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

FIXTURE(between_tasks)
{
	pid_t pid[2];
};

FIXTURE_VARIANT(between_tasks) { const char *type; };

VARIANT_OF_TYPE(between_tasks, ha);
VARIANT_OF_TYPE(between_tasks, pcu);

FIXTURE_SETUP(between_tasks)
{
	prepare(_metadata);
	cpu_pin(package_cpu(0, 0));
}

FIXTURE_TEARDOWN(between_tasks)
{
	for (int i = 0; i < 2; i++) {
		if (self->pid[i] <= 0)
			continue;
		kill(self->pid[i], SIGKILL);
		waitpid(self->pid[i], NULL, 0);
	}
	leave();
}

/*
 * An overflow during a task switch gives its sample when the second task runs. The
 * sample's address must not be that of the overflow, when the first task was mostly in
 * a BPF program: task and address must be of the same moment.
 */
TEST_F(between_tasks, a_samples_task_and_place_are_of_one_moment)
{
	enum { ROUNDS = 200, DELAY = 200000 };
	const struct cat_event *e = plain_of(variant->type);
	int pkg = packages() - 1, cpu = package_cpu(pkg, 0), err;
	unsigned int rounds = loops(ROUNDS);
	char pmu[PMU_NAME_MAX];
	struct sampler s;

	if (!e || !pmu_name(pmu, variant->type, 0))
		SKIP(return, "no event, or no box");
	ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				   e->config));
	s.each = note_place;
	start_pair(cpu, self->pid);
	err = bpf_delay_attach(&between, "sched_switch", cpu, DELAY);
	if (err) {
		sampler_close(&s);
		SKIP(return, "%s", strerror(-err));
	}
	for (unsigned int i = 0; i < rounds; i++) {
		send_traffic(pmu, pkg, e, PERIOD, 1);
		sampler_wait(&s, i + 1);
	}
	EXPECT_EQ(rounds, sampler_settle(&s, rounds));
	EXPECT_GT(bpf_delay_detach(&between), 0) {
		TH_LOG("the program never ran");
	}
	EXPECT_EQ(0, between_tasks) {
		TH_LOG("samples of one task, at the place of another");
	}
	sampler_close(&s);
}

/* --- real clock: random moments ------------------------------------------------- */

FIXTURE(real_clock) {};

FIXTURE_SETUP(real_clock)
{
	machine_setup("clock=real uclk_khz=400000", "freeze_budget=1000");
	prepare(_metadata);
}

FIXTURE_TEARDOWN(real_clock)
{
	leave();
	EXPECT_TRUE(machine_leave());
}

TEST_F(real_clock, samples_name_the_program_of_the_events_cpu)
{
	static const char *const types[] = { "imc", "ubox", "cbox" };

	spin_in(packages() - 1);
	for (unsigned int k = 0; k < ARRAY_SIZE(types); k++) {
		uint64_t samples = 0;
		char pmu[PMU_NAME_MAX];

		ASSERT_TRUE(pmu_name(pmu, types[k], 0));
		EXPECT_TRUE(open_all(pmu, 2000003, ticks_of(types[k])));
		sleep_ms(1000);
		/* before an event is disabled and leaves its counter to the next event */
		note_running();
		for (unsigned int i = 0; i < n_spinners; i++) {
			sampler_disable(&samplers[i]);
			samples += sampler_drain(&samplers[i]);
		}
		EXPECT_TRUE(named_well(types[k]));
		TH_LOG("%s: %ju samples", pmu, (uintmax_t)samples);
		EXPECT_GT(samples, 0);
		close_all();
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BPF programs read copies of an event on every CPU, at tracepoints that the kernel
 * passes while the driver holds its locks: when the driver starts its timer, in
 * interrupts, between tasks. Or a program reads an event while the program holds the
 * lock of a map that the driver's CPU waits for. No read may deadlock, and counts and
 * samples must stay exact.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/c/bpf_read.h"
#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	MAX_CPUS = 64,
	ROUNDS = 60,
	CYCLES = 1000,
	PERIOD = 700,
	PATIENCE_MS = 10000
};

MACHINE_OF_ALL_TESTS("clock=manual", "");

/* Get the PMU of a slice of the cache, which is called CHA from Skylake-SP on. */
static bool slice_pmu(char *pmu)
{
	return pmu_name(pmu, "cbox", 0) || pmu_name(pmu, "cha", 0);
}

/*
 * Open a passive copy of the event clockticks (local=1) on each CPU. Return the number of
 * CPUs.
 */
static unsigned int open_everywhere(const char *pmu, int *fd)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		fd[cpu] = event_open(pmu, cpu, "clockticks,local=1");
	return cpus < MAX_CPUS ? cpus : MAX_CPUS;
}

/*
 * Read an event until its count has reached @want, or for PATIENCE_MS. If the host stops
 * the CPU that holds the box's lock, a read returns the last known count (kmod/lock.c),
 * and a later read the true count. A count that the driver has lost stays lost.
 */
static uint64_t count_of(int fd, uint64_t want)
{
	uint64_t count = event_count(fd);

	for (unsigned int i = 0; i < PATIENCE_MS && count < want; i++) {
		sleep_ms(1);
		count = event_count(fd);
	}
	return count;
}

FIXTURE(read_by_bpf)
{
	char pmu[PMU_NAME_MAX];
	unsigned int cpus;
	int counting[2];
	int fd[MAX_CPUS];
};

FIXTURE_VARIANT(read_by_bpf) { const char *type, *tracepoint; };

#define READ_AT(box, at)						\
	FIXTURE_VARIANT_ADD(read_by_bpf, box##_at_##at) {		\
		.type = #box, .tracepoint = #at,			\
	}
#define READ_EVERYWHERE(box)						\
	READ_AT(box, hrtimer_start);					\
	READ_AT(box, hrtimer_cancel);					\
	READ_AT(box, hrtimer_expire_entry);				\
	READ_AT(box, irq_work_entry);					\
	READ_AT(box, local_timer_entry);				\
	READ_AT(box, nmi_handler);					\
	READ_AT(box, sched_switch);					\
	READ_AT(box, read_msr);						\
	READ_AT(box, write_msr)

READ_EVERYWHERE(cbox);
READ_EVERYWHERE(cha);
READ_EVERYWHERE(imc);

FIXTURE_SETUP(read_by_bpf)
{
	log_mark();
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	/* the events that the copies follow, on the perf CPU of each package */
	for (int pkg = 0; pkg < 2; pkg++)
		self->counting[pkg] = pkg < packages() ?
			event_open(self->pmu, pmu_cpu(self->pmu, pkg), "clockticks") : -1;
	ASSERT_GE(self->counting[0], 0);
	self->cpus = open_everywhere(self->pmu, self->fd);
}

/*
 * Wait until no counter of the box counts. A map of BPF programs releases its events in a
 * worker, when all programs that may use the map have ended. So the kernel removes the
 * events from their CPUs later than close(). Each removal freezes the box for a moment,
 * and must not happen in the next test.
 */
static bool rests(const char *box)
{
	for (unsigned int i = 0; i < PATIENCE_MS && sim_box_counts(box); i++)
		sleep_ms(1);
	return !sim_box_counts(box);
}

FIXTURE_TEARDOWN(read_by_bpf)
{
	for (unsigned int i = 0; i < self->cpus; i++)
		if (self->fd[i] >= 0)
			close(self->fd[i]);
	for (int pkg = 0; pkg < 2; pkg++)
		if (self->counting[pkg] >= 0)
			close(self->counting[pkg]);
	EXPECT_TRUE(rests(pmu_box(self->pmu)));
	EXPECT_TRUE(log_clean());
}

/*
 * Open and close events of the box, which starts the driver's timer, while another event
 * of the box samples and the BPF program reads the copies.
 */
TEST_F(read_by_bpf, counts_and_samples_stay_exact)
{
	int cpu = pmu_cpu(self->pmu, 0), err, other;
	uint64_t start = sim_cycles(), want, runs;
	const char *pmu = self->pmu;
	struct bpf_reader reader;
	struct sampler s;

	err = bpf_reader_attach(&reader, variant->tracepoint, self->fd, self->cpus);
	if (err)
		SKIP(return, "%s", strerror(-err));
	ASSERT_EQ(0, -sampler_open(&s, pmu, cpu, PERIOD, "clockticks,thresh=1"));
	for (unsigned int i = 0; i < loops(ROUNDS); i++) {
		other = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");
		sim_advance(CYCLES);
		EXPECT_EQ(CYCLES, count_of(other, CYCLES)) {
			TH_LOG("round %u", i);
		}
		close(other);
	}
	want = sim_cycles() - start;
	sampler_disable(&s);
	EXPECT_EQ(want, count_of(s.fd, want)) {
		TH_LOG("its sampling event");
	}
	EXPECT_EQ(want / PERIOD, sampler_wait(&s, want / PERIOD)) {
		TH_LOG("samples");
	}
	sampler_close(&s);
	runs = bpf_reader_detach(&reader);
	for (unsigned int i = 0; i < self->cpus; i++) {
		if (cpu_package(i) != 0)
			continue;
		EXPECT_EQ(want, count_of(self->fd[i], want)) {
			TH_LOG("the event that is read on CPU %u", i);
		}
	}
	TH_LOG("read %ju times", (uintmax_t)runs);
	if (!strcmp(variant->tracepoint, "hrtimer_start")) {
		EXPECT_GT(runs, 0);
	}
}

/* Return the ID of a kernel function in the kernel's BTF, or 0. */
static uint32_t kernel_function(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) : 0;

	btf__free(btf);
	return id > 0 ? id : 0;
}

/*
 * Attach a program to a kernel function that hash maps call with the bucket's lock held.
 * Linux 6.1 cannot attach to alloc_htab_elem(), which has too many arguments; Linux 7.3
 * does not trace __pcpu_freelist_pop().
 */
static int attach_bucket(struct bpf_bucket *b, const int *fd, unsigned int cpus)
{
	static const char *const tracepoint[2] = { "write_msr", "sys_enter" };
	static const char *const function[] = { "alloc_htab_elem", "__pcpu_freelist_pop" };
	int err = -ENOENT;

	for (unsigned int i = 0; err && i < 2; i++) {
		uint32_t id = kernel_function(function[i]);

		if (id)
			err = bpf_bucket_attach(b, id, tracepoint, fd, cpus);
	}
	return err;
}

/* A thread that passes the tracepoint sys_enter on another CPU of the package */
struct caller {
	pthread_t thread;
	int cpu;
	atomic_bool stop;
};

static void *keep_calling(void *arg)
{
	struct caller *c = arg;

	cpu_pin(c->cpu);
	while (!c->stop)
		syscall(SYS_getppid);
	return NULL;
}

/*
 * The perf CPU writes an MSR with the box's lock held, and the program at write_msr waits
 * there for the bucket's lock. Another CPU holds the bucket's lock (sys_enter), and a
 * program there reads an event of the box, which takes the box's lock.
 */
TEST(lock_of_a_map_and_lock_of_a_box_may_be_taken_in_either_order)
{
	int cpu, fd[MAX_CPUS], event, err;
	struct bpf_bucket bucket;
	struct caller c = { 0 };
	char pmu[PMU_NAME_MAX];
	unsigned int cpus;
	uint64_t start, want;

	log_mark();
	ASSERT_TRUE(slice_pmu(pmu));
	cpu = pmu_cpu(pmu, 0);
	c.cpu = pmu_other_cpu(pmu, 0);
	ASSERT_GE(c.cpu, 0);
	start = sim_cycles();
	event = event_open(pmu, cpu, "clockticks");
	ASSERT_GE(event, 0);
	cpus = open_everywhere(pmu, fd);
	err = attach_bucket(&bucket, fd, cpus);
	if (err)
		SKIP(return, "%s", strerror(-err));
	ASSERT_EQ(0, pthread_create(&c.thread, NULL, keep_calling, &c));
	cpu_pin(cpu);
	for (unsigned int i = 0; i < loops(ROUNDS); i++) {
		int other = event_open(pmu, cpu, "clockticks,thresh=2,inv=1");

		sim_advance(CYCLES);
		EXPECT_EQ(CYCLES, count_of(other, CYCLES)) {
			TH_LOG("round %u", i);
		}
		close(other);
	}
	c.stop = true;
	pthread_join(c.thread, NULL);
	want = sim_cycles() - start;
	EXPECT_GT(bpf_bucket_detach(&bucket), loops(ROUNDS));
	EXPECT_EQ(want, count_of(event, want));
	EXPECT_EQ(want, count_of(fd[c.cpu], want));
	for (unsigned int i = 0; i < cpus; i++)
		close(fd[i]);
	close(event);
	EXPECT_TRUE(rests(pmu_box(pmu)));
	EXPECT_TRUE(log_clean());
}

/* --- a group that another CPU reads ----------------------------------------- */

/*
 * QEMU emulates all CPUs in one thread, so the members of a group rarely change while
 * another CPU follows the group's list. To make a faulty driver hang in that list, set
 * CHANGES to 200, on Linux 6.8 or later.
 */
enum { IDLE = 200, MEMBERS = IDLE + 2, CHANGES = 15, RENEWED = 500 };

/* A group's leader, its last reading in one thread, and the number of wrong readings */
struct progress {
	int fd;
	struct event_reading last;
	unsigned int faults;
};

/* Read the group, and check that the leader's count and times never decrease. */
static void progress_check(struct progress *p)
{
	uint64_t buf[3 + MEMBERS];	/* nr, enabled, running, values */
	struct event_reading now, *last = &p->last;

	if (read(p->fd, buf, sizeof(buf)) < (ssize_t)(4 * sizeof(*buf))) {
		if (!p->faults++)
			tap_diag("read: %s", strerror(errno));
		return;
	}
	now = (struct event_reading){ buf[3], buf[1], buf[2] };
	if ((now.running > now.enabled || now.enabled < last->enabled ||
	     now.running < last->running || now.value < last->value) && !p->faults++)
		tap_diag("%ju in %ju of %ju ns, after %ju in %ju of %ju ns",
			 (uintmax_t)now.value, (uintmax_t)now.running,
			 (uintmax_t)now.enabled, (uintmax_t)last->value,
			 (uintmax_t)last->running, (uintmax_t)last->enabled);
	*last = now;
}

/* A thread that reads another group on another CPU of the package */
struct group_reader {
	pthread_t thread;
	struct progress progress;
	int cpu;
	uint64_t reads;
	atomic_bool stop;
};

static void *keep_reading(void *arg)
{
	struct group_reader *r = arg;

	cpu_pin(r->cpu);
	for (; !r->stop; r->reads++)
		progress_check(&r->progress);
	return NULL;
}

FIXTURE(changing_group)
{
	char pmu[PMU_NAME_MAX];
	int cpu, leader;
	struct group_reader reader;
	struct bpf_reader program;
	struct sampler sampler;
};

FIXTURE_VARIANT(changing_group)
{
	const char *tracepoint;
};

/* The program reads the leader in system calls of the other CPU, between reads there. */
FIXTURE_VARIANT_ADD(changing_group, read_in_system_calls)
{
	.tracepoint = "sys_enter",
};

/* The program reads the leader in the middle of the other CPU's read of its own group. */
FIXTURE_VARIANT_ADD(changing_group, read_in_register_reads)
{
	.tracepoint = "read_msr",
};

FIXTURE_SETUP(changing_group)
{
	struct group_reader *r = &self->reader;
	struct perf_event_attr attr;
	int fd[MAX_CPUS];

	log_mark();
	ASSERT_EQ(0, -max_sample_rate(100000000));
	ASSERT_TRUE(slice_pmu(self->pmu));
	self->cpu = pmu_cpu(self->pmu, 0);
	r->cpu = pmu_other_cpu(self->pmu, 0);
	ASSERT_GE(r->cpu, 0);
	ASSERT_EQ(0, -pmu_attr(&attr, self->pmu, "clockticks"));
	attr.read_format |= PERF_FORMAT_GROUP;
	r->progress.fd = perf_open(&attr, -1, r->cpu, -1);
	ASSERT_GE(r->progress.fd, 0);
	attr.disabled = 1;
	self->leader = perf_open(&attr, -1, self->cpu, -1);
	ASSERT_GE(self->leader, 0);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		fd[cpu] = cpu == r->cpu ? self->leader : -1;
	ASSERT_EQ(0, -bpf_reader_attach(&self->program, variant->tracepoint, fd,
					r->cpu + 1));
	ASSERT_EQ(0, -sampler_open(&self->sampler, self->pmu, self->cpu, PERIOD,
				   "clockticks,thresh=3,inv=1"));
	cpu_pin(self->cpu);
	ASSERT_EQ(0, pthread_create(&r->thread, NULL, keep_reading, r));
}

FIXTURE_TEARDOWN(changing_group)
{
	close(self->leader);
	close(self->reader.progress.fd);
	EXPECT_TRUE(rests(pmu_box(self->pmu)));
	EXPECT_TRUE(log_clean());
}

/*
 * From Linux 6.8 on a BPF program can read an event on any CPU of the event's package,
 * without perf's lock of the event. This test enables and disables the leader meanwhile,
 * and opens and closes members of its group: a member that counts, and many disabled
 * members, for which the driver has nothing to do.
 */
TEST_F(changing_group, counts_exactly)
{
	struct progress progress = { .fd = self->leader };
	struct group_reader *r = &self->reader;
	struct perf_event_attr counting, idle;
	unsigned int oldest = 0;
	uint64_t want = 0, runs;
	int fd[IDLE], member;

	ASSERT_EQ(0, -pmu_attr(&counting, self->pmu, "clockticks,thresh=2,inv=1"));
	idle = counting;
	idle.disabled = 1;
	for (unsigned int k = 0; k < IDLE; k++)
		fd[k] = perf_open(&idle, -1, self->cpu, self->leader);
	for (unsigned int i = 0; i < loops(CHANGES); i++) {
		member = perf_open(&counting, -1, self->cpu, self->leader);
		EXPECT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_ENABLE, 0));
		sim_advance(CYCLES);
		want += CYCLES;
		for (unsigned int k = 0; k < RENEWED; k++) {
			int *renewed = &fd[oldest++ % IDLE];

			ASSERT_EQ(0, close(*renewed));
			*renewed = perf_open(&idle, -1, self->cpu, self->leader);
		}
		progress_check(&progress);
		EXPECT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_DISABLE, 0));
		EXPECT_EQ(CYCLES, count_of(member, CYCLES)) {
			TH_LOG("change %u", i);
		}
		close(member);
		sim_advance(CYCLES / 2);
	}
	r->stop = true;
	pthread_join(r->thread, NULL);
	runs = bpf_reader_detach(&self->program);
	sampler_close(&self->sampler);
	TH_LOG("%ju reads on the other CPU, %ju runs of the program", (uintmax_t)r->reads,
	       (uintmax_t)runs);
	EXPECT_GT(r->reads, 0);
	EXPECT_GT(runs, loops(CHANGES));
	progress_check(&progress);
	EXPECT_EQ(want, progress.last.value);
	/* the other CPU's group was always enabled: it counted all cycles */
	progress_check(&r->progress);
	EXPECT_EQ(want + want / 2, r->progress.last.value);
	EXPECT_EQ(0, progress.faults);
	EXPECT_EQ(0, r->progress.faults);
	for (unsigned int k = 0; k < IDLE; k++)
		close(fd[k]);
}

TEST_HARNESS_MAIN

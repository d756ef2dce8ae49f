// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator's controls: clock, reset, UCLK, pace, holds and module parameters. The
 * tests of the model, and all tests of the driver, cover the simulated hardware.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { CYCLES = 1000 };

/* §2.3.2, Tables 2-10 and 2-11 */
#define BOX_ONES	(1U << 16 | 1U << 17)	/* .frz_en, and a reserved 1 */
#define BOX_FRZ		(BOX_ONES | 1U << 8)
#define CTL_EN		(1U << 22)

FIXTURE(simulator) {};

FIXTURE_SETUP(simulator) { }

FIXTURE_TEARDOWN(simulator)
{
	EXPECT_TRUE(machine_leave());
}

static void need_msr(struct __test_metadata *_metadata)
{
	ASSERT_TRUE(!access("/dev/cpu/0/msr", F_OK) || !system("modprobe msr")) {
		TH_LOG("the kernel has no msr driver");
	}
}

/*
 * A counter counts on when the clock changes between real and manual: it grows under the
 * real clock, stands when the manual clock begins, and then counts exactly the cycles of
 * "advance".
 */
TEST_F(simulator, clock_is_switched_and_no_count_lost)
{
	uint64_t running, still, exact;
	char pmu[PMU_NAME_MAX];
	int fd;

	machine_setup("clock=manual", "");
	EXPECT_EQ(0, sim_cycles()) {
		TH_LOG("a driver that loads leaves the manual clock at 0");
	}
	ASSERT_TRUE(pmu_name(pmu, "cbox", 0));
	fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");
	EXPECT_EQ(0, sim_clock_set("real"));
	EXPECT_EQ(EINVAL, -sim_advance(CYCLES));
	usleep(1000);
	running = event_count(fd);
	EXPECT_GT(running, 0);
	EXPECT_EQ(0, sim_clock_set("manual"));
	still = event_count(fd);
	EXPECT_GE(still, running);
	EXPECT_EQ(still, event_count(fd));
	EXPECT_EQ(0, sim_cycles());
	sim_advance(CYCLES);
	exact = event_count(fd) - still;
	EXPECT_EQ(CYCLES, exact);
	EXPECT_EQ(EINVAL, -sim_clock_set("slow"));
	EXPECT_EQ(CYCLES, event_count(fd) - still);
	close(fd);
}

/* A loss of power resets registers that were written without a driver. */
TEST_F(simulator, reset_leaves_no_register_as_written)
{
	static const struct {
		uint32_t msr;
		uint64_t value;
	} writes[] = { { 0x700, 1 }, { 0x705, 1 << 22 }, { 0xe06, 5 } };

	machine_setup_sim("clock=manual");
	need_msr(_metadata);
	for (unsigned int i = 0; i < ARRAY_SIZE(writes); i++)
		EXPECT_EQ(0, -msr_write(package_cpu(0, 0), writes[i].msr,
					writes[i].value));
	EXPECT_EQ(ARRAY_SIZE(writes), sim_dirty_registers());
	EXPECT_EQ(EINVAL, -sim_reset("0"));
	EXPECT_EQ(ERANGE, -sim_reset("2"));
	EXPECT_EQ(ARRAY_SIZE(writes), sim_dirty_registers());
	EXPECT_EQ(0, -sim_reset("1"));
	EXPECT_EQ(0, sim_dirty_registers());
}

/*
 * An overflow after 1000 cycles, a freeze 300 cycles later and the status bit 20 cycles
 * after the freeze: the counter counts the 300 cycles until the freeze, and no more.
 */
TEST_F(simulator, overflow_takes_what_the_delays_say)
{
	enum { UBOX_FIXED_CTL = 0x703, UBOX_FIXED_CTR, GLOBAL_CTL = 0x700,
	       GLOBAL_STATUS };
	const uint64_t en_ov_en = 1 << 22 | 1 << 20;
	uint64_t value = 0;
	int cpu;

	machine_setup_sim("clock=manual freeze_delay=300 status_delay=20 pmi_delay=7");
	need_msr(_metadata);
	cpu = package_cpu(0, 0);
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTR, (1ULL << 48) - CYCLES));
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTL, en_ov_en));
	sim_advance(CYCLES + 300);
	EXPECT_EQ(0, -msr_read(cpu, GLOBAL_STATUS, &value));
	EXPECT_EQ(0, value) {
		TH_LOG("status at the freeze");
	}
	/* not a cycle more: the simulator would then wait for software to unfreeze */
	sim_advance(20);
	EXPECT_EQ(0, -msr_read(cpu, GLOBAL_STATUS, &value));
	EXPECT_EQ(1, value) {
		TH_LOG("status after its delay");
	}
	sim_advance(6);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
	EXPECT_EQ(300, value) {
		TH_LOG("counted on");
	}
	msr_write(cpu, UBOX_FIXED_CTL, 0);
	msr_write(cpu, GLOBAL_STATUS, 1);
	msr_write(cpu, GLOBAL_CTL, 1 << 29);
}

/*
 * UCLK of package 0 slows down, stops and speeds up, and the UBox's fixed counter of the
 * package follows. UCLK of another package does not change.
 */
TEST_F(simulator, uclk_changes_and_stops)
{
	enum { UBOX_FIXED_CTL = 0x703, UBOX_FIXED_CTR };
	static const unsigned int khz[] = { 2500000, 1250000, 0, 5000000 };
	uint64_t value = 0, before, want = 0;
	int cpu, other;

	machine_setup_sim("clock=manual");
	need_msr(_metadata);
	cpu = package_cpu(0, 0);
	other = package_cpu(packages() - 1, 0);
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTL, CTL_EN));
	EXPECT_EQ(0, -msr_write(other, UBOX_FIXED_CTL, CTL_EN));
	for (unsigned int i = 0; i < ARRAY_SIZE(khz); i++) {
		EXPECT_EQ(0, -sim_uclk(0, khz[i]));
		sim_advance(CYCLES);
		want += (uint64_t)CYCLES * khz[i] / 2500000;
		EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
		EXPECT_EQ(want, value) {
			TH_LOG("at %u kHz", khz[i]);
		}
		EXPECT_EQ(0, -msr_read(other, UBOX_FIXED_CTR, &value));
		if (other != cpu)
			EXPECT_EQ((i + 1) * CYCLES, value);
	}

	EXPECT_EQ(0, -sim_clock_set("real"));
	EXPECT_EQ(0, -sim_uclk(0, 0));
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &before));
	usleep(1000);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
	EXPECT_EQ(before, value);
	EXPECT_EQ(0, -sim_uclk(0, 1200000));
	usleep(1000);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
	EXPECT_GE(value - before, 1200000);

	EXPECT_EQ(EINVAL, -sim_uclk(0, 99999));
	EXPECT_EQ(EINVAL, -sim_uclk(8, 1200000));
	msr_write(cpu, UBOX_FIXED_CTL, 0);
	msr_write(other, UBOX_FIXED_CTL, 0);
}

/* Bits above the width of a narrow fixed counter read as 0, and the counter wraps there. */
TEST_F(simulator, fixed_counter_is_narrow)
{
	enum { UBOX_FIXED_CTL = 0x703, UBOX_FIXED_CTR };
	uint64_t value = 0;
	int cpu;

	machine_setup_sim("clock=manual fixed_bits=44");
	need_msr(_metadata);
	cpu = package_cpu(0, 0);
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTR, (1ULL << 48) - 7));
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
	EXPECT_EQ((1ULL << 44) - 7, value);
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTL, CTL_EN));
	sim_advance(CYCLES);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &value));
	EXPECT_EQ(CYCLES - 7, value);
	msr_write(cpu, UBOX_FIXED_CTL, 0);
	/* with counter_gp=1 a write of bits above the width faults */
	EXPECT_EQ(0, -sim_unload());
	EXPECT_EQ(0, -sim_load("fixed_bits=44 counter_bits=48 counter_gp=1"));
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTR, (1ULL << 44) - 1));
	EXPECT_NE(0, msr_write(cpu, UBOX_FIXED_CTR, 1ULL << 44));
	EXPECT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTR, 0));
}

static uint64_t count_in(int cpu, uint32_t ctr)
{
	uint64_t value = UINT64_MAX;

	msr_read(cpu, ctr, &value);
	return value;
}

/*
 * The pace of the manual clock: between any two reads, counters of CBo 0 grow no faster
 * than at 4 GHz. Counter 0 counts cycles; counter 1 counts traffic, to which each
 * transaction adds more than one.
 */
FIXTURE(pace)
{
	uint32_t ctr;
	int cpu;
};

FIXTURE_SETUP(pace)
{
	uint32_t ctl;

	machine_setup_sim("clock=manual");
	need_msr(_metadata);
	self->cpu = package_cpu(0, 0);
	ctl = box_register("cbox", 0, "ctl0");
	self->ctr = box_register("cbox", 0, "ctr0");
	ASSERT_EQ(0, -msr_write(self->cpu, ctl, CTL_EN));
	ASSERT_EQ(0, -msr_write(self->cpu, ctl + 1, CTL_EN | 0x135));
}

FIXTURE_TEARDOWN(pace)
{
	uint32_t ctl = box_register("cbox", 0, "ctl0");

	msr_write(self->cpu, ctl, 0);
	msr_write(self->cpu, ctl + 1, 0);
	EXPECT_TRUE(machine_leave());
}

/* Read MSR @ctr from an open /dev/cpu/N/msr. Return 0 if the read fails. */
static uint64_t read_at(int fd, uint32_t ctr)
{
	uint64_t value;

	return pread(fd, &value, sizeof(value), ctr) == sizeof(value) ? value : 0;
}

/*
 * Read counter @ctr until the child process ends. Return the largest growth between two
 * reads beyond what 4 GHz allow in the time from the start of the first read to the end
 * of the second read. @reads gets the number of reads.
 */
static int64_t most_beyond(int cpu, uint32_t ctr, pid_t child, unsigned int *reads)
{
	int64_t beyond, most = INT64_MIN;
	uint64_t from, count, before;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	from = now_ns();
	before = read_at(fd, ctr);
	for (*reads = 0; !waitpid(child, NULL, WNOHANG); ++*reads) {
		uint64_t begun = now_ns();

		count = read_at(fd, ctr);
		beyond = (int64_t)(count - before) - (int64_t)(now_ns() - from) * 4;
		if (beyond > most)
			most = beyond;
		from = begun;
		before = count;
	}
	close(fd);
	return most;
}

TEST_F(pace, cycles_take_their_time)
{
	const uint64_t leap = 1ULL << 30;
	uint64_t start = now_ns();
	unsigned int reads;
	int64_t beyond;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		sim_advance(leap);
		for (int i = 0; i < 100; i++)
			sim_advance(CYCLES);
		_exit(0);
	}
	beyond = most_beyond(self->cpu, self->ctr, child, &reads);
	TH_LOG("%u reads, at most %jd beyond", reads, (intmax_t)beyond);
	EXPECT_LE(beyond, 0);
	EXPECT_GT(reads, 10);
	EXPECT_GE(now_ns() - start, (leap + 100 * CYCLES) / 4);
	EXPECT_LE(now_ns() - start, 30 * 1000000000ULL);
	EXPECT_EQ(leap + 100 * CYCLES, count_in(self->cpu, self->ctr));
}

TEST_F(pace, traffic_takes_its_time)
{
	enum { COUNT = 1000000, VALUE = 20 };
	uint64_t start = now_ns();
	unsigned int reads;
	int64_t beyond;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		sim_traffic("pkg=0 box=cbox_0 event=0x35 umask=0x1 value=%d count=%d",
			    VALUE, COUNT);
		_exit(0);
	}
	beyond = most_beyond(self->cpu, self->ctr + 1, child, &reads);
	TH_LOG("%u reads, at most %jd beyond", reads, (intmax_t)beyond);
	/* the simulator lets counters grow by so much at once */
	EXPECT_LE(beyond, 8000);
	EXPECT_GE(now_ns() - start, COUNT * VALUE / 4);
	EXPECT_EQ(COUNT * VALUE, count_in(self->cpu, self->ctr + 1));
}

TEST_F(pace, may_be_off)
{
	const uint64_t leap = 1ULL << 46;
	uint64_t start = now_ns();

	EXPECT_EQ(0, -sim_pace(false));
	EXPECT_EQ(0, -sim_advance(leap));
	EXPECT_EQ(leap, count_in(self->cpu, self->ctr));
	EXPECT_LE(now_ns() - start, 30 * 1000000000ULL);
}

/* Counter 0 of CBo 0 counts cycles (Table 2-12); tests freeze the CBo by .frz. */
FIXTURE(held)
{
	uint32_t box_ctl, ctl, ctr;
	int cpu;
};

FIXTURE_SETUP(held)
{
	machine_setup_sim("clock=manual");
	need_msr(_metadata);
	self->box_ctl = box_register("cbox", 0, "box_ctl");
	self->ctl = box_register("cbox", 0, "ctl0");
	self->ctr = box_register("cbox", 0, "ctr0");
	self->cpu = package_cpu(0, 0);
	ASSERT_EQ(0, -msr_write(self->cpu, self->ctl, CTL_EN));
}

FIXTURE_TEARDOWN(held)
{
	msr_write(self->cpu, self->ctl, 0);
	msr_write(self->cpu, self->box_ctl, BOX_ONES);
	EXPECT_TRUE(machine_leave());
}

/*
 * A CPU that froze a box for a moment may be delayed, as on a busy host. Cycles and
 * traffic then wait until the CPU unfreezes the box, and no count is lost.
 */
TEST_F(held, for_a_moment_and_nothing_passes)
{
	char frozen;
	int pipe_fd[2], status;
	pid_t pid;

	ASSERT_EQ(0, -msr_write(self->cpu, self->ctl + 1, CTL_EN | 0x135));
	ASSERT_EQ(0, pipe(pipe_fd));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (int i = 0; i < 2; i++) {
			msr_write(self->cpu, self->box_ctl, BOX_FRZ);
			if (write(pipe_fd[1], "", 1) != 1)
				_exit(1);
			usleep(200000);
			msr_write(self->cpu, self->box_ctl, BOX_ONES);
			usleep(200000);
		}
		_exit(0);
	}
	ASSERT_EQ(1, read(pipe_fd[0], &frozen, 1));
	EXPECT_EQ(0, -sim_traffic("pkg=0 box=cbox_0 event=0x35 umask=0x1 count=7"));
	EXPECT_EQ(7, count_in(self->cpu, self->ctr + 1));

	ASSERT_EQ(1, read(pipe_fd[0], &frozen, 1));
	EXPECT_EQ(0, -sim_advance(CYCLES));
	EXPECT_EQ(CYCLES, count_in(self->cpu, self->ctr));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Time does not wait for a box that stays frozen, and the box does not count. */
TEST_F(held, for_good_and_time_goes_on)
{
	ASSERT_EQ(0, -msr_write(self->cpu, self->box_ctl, BOX_FRZ));
	EXPECT_EQ(0, -sim_advance(CYCLES));
	EXPECT_EQ(0, count_in(self->cpu, self->ctr));
	EXPECT_EQ(0, -msr_write(self->cpu, self->box_ctl, BOX_ONES));
	EXPECT_EQ(0, -sim_advance(CYCLES));
	EXPECT_EQ(CYCLES, count_in(self->cpu, self->ctr));
}

/*
 * The simulator holds CPU b with interrupts off. Access to MSRs of CPU b from CPU a is an
 * asynchronous call on CPU b; a read of a software event of CPU b is a synchronous call.
 */
enum { HOLD_MS = 500, AGAIN_MS = 1500 };

FIXTURE(hold)
{
	int a, b;	/* CPUs of package 0 */
	int event;	/* descriptor of the software event of CPU b */
};

FIXTURE_SETUP(hold)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};

	machine_setup_sim("clock=manual");
	need_msr(_metadata);
	self->a = package_cpu(0, 0);
	self->b = package_cpu(0, 1);
	ASSERT_GE(self->b, 0);
	cpu_pin(self->a);
	self->event = syscall(SYS_perf_event_open, &attr, -1, self->b, -1, 0);
	ASSERT_GE(self->event, 0);
}

FIXTURE_TEARDOWN(hold)
{
	close(self->event);
	EXPECT_TRUE(machine_leave());
}

/* Read an MSR of @cpu; return how long the access took, in milliseconds. */
static unsigned int msr_ms(int cpu)
{
	uint64_t start = now_ns(), value;

	msr_read(cpu, 0x700, &value);
	return (now_ns() - start) / 1000000;
}

/* Read an event; return how long the read took, in milliseconds. */
static unsigned int event_ms(int fd)
{
	uint64_t start = now_ns();

	event_count(fd);
	return (now_ns() - start) / 1000000;
}

TEST_F(hold, begins_at_once)
{
	uint64_t start = now_ns();

	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d", self->b, HOLD_MS * 1000));
	msr_ms(self->b);
	EXPECT_GE(now_ns() - start, HOLD_MS * 1000000ULL / 2);
	EXPECT_LT(msr_ms(self->b), HOLD_MS / 2);
}

TEST_F(hold, begins_at_an_access)
{
	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d by=%d", self->b, HOLD_MS * 1000,
			       self->a));
	EXPECT_LT(event_ms(self->event), HOLD_MS / 2);
	/* the access that begins the hold does not wait for the end of the hold */
	EXPECT_LT(msr_ms(self->a), HOLD_MS / 2);
	EXPECT_GE(event_ms(self->event), HOLD_MS / 2);
	/* the second access does not begin another hold */
	msr_ms(self->a);
	EXPECT_LT(event_ms(self->event), HOLD_MS / 2);
	/* a CPU may hold itself */
	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d by=%d", self->a, HOLD_MS * 1000,
			       self->a));
	EXPECT_GE(msr_ms(self->a), HOLD_MS);
}

/* Between the two holds of a CPU synchronous calls run, and asynchronous calls do not. */
TEST_F(hold, again_before_asynchronous_calls)
{
	unsigned int ms;

	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d again_us=%d", self->b,
			       HOLD_MS * 1000, AGAIN_MS * 1000));
	ms = event_ms(self->event);
	EXPECT_GE(ms, HOLD_MS / 2);
	EXPECT_LT(ms, AGAIN_MS);
	EXPECT_GE(msr_ms(self->b), AGAIN_MS / 2);
	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d again_us=%d", self->b,
			       HOLD_MS * 1000, AGAIN_MS * 1000));
	EXPECT_GE(msr_ms(self->b), AGAIN_MS);
}

TEST_F(hold, refuses_what_it_cannot)
{
	EXPECT_EQ(EINVAL, -sim_hold("us=10"));
	EXPECT_EQ(EINVAL, -sim_hold("cpu=%d us=2000001", self->b));
	EXPECT_EQ(EINVAL, -sim_hold("cpu=%d us=10 by=9999", self->b));
	EXPECT_EQ(EINVAL, -sim_hold("cpu=%d ms=10", self->b));
	EXPECT_EQ(0, -sim_hold("cpu=%d us=%d", self->b, HOLD_MS * 1000));
	EXPECT_EQ(EBUSY, -sim_hold("cpu=%d us=10", self->b));
	/* unloading waits for the end of a hold */
}

FIXTURE(parameters) {};
FIXTURE_VARIANT(parameters)
{
	const char *params;	/* module parameters of the simulator */
	const char *line;	/* part of the line in the log */
};

/* Module parameters @text must be refused with a line in the log that has @message. */
#define REFUSED_WITH(name, text, message)				\
	FIXTURE_VARIANT_ADD(parameters, name) {				\
		.params = text, .line = message,			\
	}
#define REFUSED(name, text) REFUSED_WITH(name, text, "invalid " text " (expected ")

REFUSED(clock, "clock=slow");
REFUSED(resume, "resume=later");
REFUSED(packages, "packages=0");
REFUSED(uclk_khz, "uclk_khz=1");
REFUSED(dclk_khz, "dclk_khz=99999");
REFUSED(pclk_khz, "pclk_khz=10000001");
REFUSED(ioclk_khz, "ioclk_khz=1");
REFUSED(freeze_delay, "freeze_delay=1000000001");
REFUSED(dirty, "dirty=freeze,dust");
REFUSED(missing, "missing=ubox@9");
REFUSED(twice, "twice=cbox_0");
REFUSED(twice_imc, "twice=imc_8");
REFUSED(errata, "errata=none");
REFUSED(fixed_bits, "fixed_bits=31");
REFUSED(counter_gp, "counter_gp=1");
REFUSED_WITH(pmi_delay, "pmi_delay=soon", "`soon' invalid for parameter `pmi_delay'");

/* Names of generations, and limits that depend on the generation */
REFUSED_WITH(model, "model=bdw", "invalid model=bdw (expected one of: hswep bdwep");
REFUSED_WITH(cboxes_of_bdwep, "model=bdwep cboxes=25",
	     "invalid cboxes=25 (expected 1 to 24)");
REFUSED_WITH(sboxes_of_bdwep, "model=bdwep sboxes=2",
	     "invalid sboxes=2 (expected 0 or 4)");
REFUSED_WITH(cboxes_of_bdwde, "model=bdwde cboxes=17",
	     "invalid cboxes=17 (expected 1 to 16)");
REFUSED_WITH(cboxes_of_hswep, "model=hswep cboxes=19",
	     "invalid cboxes=19 (expected 1 to 18)");
REFUSED_WITH(sboxes_of_hswep, "model=hswep sboxes=0",
	     "invalid sboxes=0 (expected 2 or 4)");
REFUSED_WITH(has_of_snbep, "model=snbep has=2", "invalid has=2 (expected 1)");

/* The list boxes=, with box types and numbers that the generation does not have */
REFUSED_WITH(boxes_number, "model=hswep boxes=imc:4,cbox:19",
	     "invalid boxes=cbox:19 (expected 1 to 18)");
REFUSED_WITH(boxes_die, "model=hswep boxes=sbox:3",
	     "invalid boxes=sbox:3 (expected 2 or 4)");
REFUSED_WITH(boxes_same, "model=hswep boxes=qpi:2,r3qpi:3",
	     "invalid boxes=r3qpi:3 (expected 2)");
REFUSED_WITH(boxes_type, "model=hswep boxes=cha:3",
	     "invalid boxes=cha:3 (expected a box type of hswep, a colon and a number)");
REFUSED_WITH(boxes_text, "model=hswep boxes=cbox:many",
	     "invalid boxes=cbox:many (expected a box type of hswep, a colon and a number)");
REFUSED_WITH(boxes_no_number, "model=hswep boxes=cbox",
	     "invalid boxes=cbox (expected a box type of hswep, a colon and a number)");

FIXTURE_SETUP(parameters)
{
	driver_unload();
	sim_unload();
	log_mark();
}

FIXTURE_TEARDOWN(parameters)
{
	EXPECT_TRUE(machine_leave());
}

TEST_F(parameters, refused_with_one_line)
{
	EXPECT_EQ(EINVAL, -sim_load(variant->params));
	EXPECT_EQ(1, log_count(variant->line));
	EXPECT_EQ(1, log_count("xeon_uncore_sim: "));
	log_show("xeon_uncore_sim: ");
}

TEST_F(simulator, missing_nothing_is_no_mistake)
{
	driver_unload();
	sim_unload();
	EXPECT_EQ(0, -sim_load("missing="));
}

TEST_HARNESS_MAIN

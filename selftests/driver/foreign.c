// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Another program writes registers of the uncore, before and while the driver counts.
 * Counts stay right, and the driver reports writes that it detects.
 */
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define GLOBAL_CTL	0x700
#define FREEZE_ALL	(1ULL << 31)

#define BOX_FREEZE	(3ULL << 16 | 1 << 8)

enum {
	CYCLES = 1000,
	MANY = 1000000,
	CBOX0_BOX_CTL = 0xe00,
	CBOX0_FILTER0 = 0xe05,
	CBOX0_CTR = 0xe08,
	SBOX0_BOX_CTL = 0x720,
	UBOX_FIXED_CTL = 0x703,
	UBOX_FIXED_CTR = 0x704,
	FIXED_EN = 1 << 22
};

static void __attribute__((constructor)) need_msr(void)
{
	if (system("modprobe msr"))
		tap_skip_all("no msr module");
}

FIXTURE(foreign)
{
	int cpu;
	uint64_t writes;	/* foreign writes that the driver had reported before */
};

FIXTURE_SETUP(foreign)
{
	machine_setup("clock=manual", "");
	log_mark();
	self->cpu = pmu_cpu("hswep_cbox_0", 0);
	self->writes = package_stat(0, "foreign_writes");
}

FIXTURE_TEARDOWN(foreign)
{
	expect_nothing_left(_metadata);
}

/*
 * Return the count of @cycles cycles on the first counter of CBo 0, which the only event
 * of the box uses.
 */
static uint64_t counted(int cpu, uint64_t cycles)
{
	int fd = event_open("hswep_cbox_0", cpu, "clockticks");
	uint64_t count;

	if (fd < 0)
		return UINT64_MAX;
	sim_advance(cycles);
	count = event_count(fd);
	close(fd);
	return count;
}

TEST_F(foreign, value_of_an_idle_counter_is_not_counted)
{
	EXPECT_EQ(MANY, counted(self->cpu, MANY));
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_EQ(0, -msr_write(self->cpu, CBOX0_CTR + i, 77));
	}
	EXPECT_EQ(CYCLES, counted(self->cpu, CYCLES));
	EXPECT_EQ(self->writes, package_stat(0, "foreign_writes"));
}

/* The UBox's fixed counter has no reset bit. */
TEST_F(foreign, value_of_an_idle_fixed_counter_is_not_counted)
{
	int fd = event_open("hswep_ubox", self->cpu, "uclk");

	ASSERT_GE(fd, 0);
	sim_advance(MANY);
	EXPECT_EQ(MANY, event_count(fd));
	close(fd);
	ASSERT_EQ(0, -msr_write(self->cpu, 0x704, 77));
	fd = event_open("hswep_ubox", self->cpu, "uclk");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(fd));
	close(fd);
}

TEST_F(foreign, filter_that_was_cleared_is_written_again)
{
	static const char *const event = "event=0x34,umask=0x3,filter_state=0x1f";
	uint64_t before, after;
	int fd;

	fd = event_open("hswep_cbox_0", self->cpu, "%s", event);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -msr_read(self->cpu, CBOX0_FILTER0, &before));
	EXPECT_NE(0, before);
	close(fd);
	ASSERT_EQ(0, -msr_write(self->cpu, CBOX0_FILTER0, 0));
	fd = event_open("hswep_cbox_0", self->cpu, "%s", event);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, -msr_read(self->cpu, CBOX0_FILTER0, &after));
	EXPECT_EQ(before, after);
	close(fd);
}

TEST_F(foreign, value_of_a_counter_that_counts_is_not_counted)
{
	int fd = event_open("hswep_cbox_0", self->cpu, "clockticks");

	ASSERT_GE(fd, 0);
	sim_advance(MANY);
	EXPECT_EQ(MANY, event_count(fd));
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_EQ(0, -msr_write(self->cpu, CBOX0_CTR + i, 0));
	}
	EXPECT_EQ(MANY, event_count(fd));
	EXPECT_EQ(self->writes + 1, package_stat(0, "foreign_writes"));
	sim_advance(CYCLES);
	EXPECT_EQ(MANY + CYCLES, event_count(fd));
	EXPECT_EQ(1, log_count("another program writes its registers")) {
		log_show("xeon_uncore");
	}
	close(fd);
}

TEST_F(foreign, freeze_of_an_idle_package_is_ended)
{
	ASSERT_EQ(0, -msr_write(self->cpu, GLOBAL_CTL, FREEZE_ALL));
	EXPECT_EQ(CYCLES, counted(self->cpu, CYCLES));
}

/*
 * Bits 17:16 of an SBo's box control are 1; LIKWID clears both. A write that sets both
 * bits at once faults, so the driver must set them one after the other. This test clears
 * both bits before each write of the driver: before a second event starts, before that
 * event ends, and before the driver's check, which runs every two seconds.
 */
TEST_F(foreign, box_control_that_was_cleared_is_set_bit_by_bit)
{
	int first = event_open("hswep_sbox_0", self->cpu, "clockticks"), second;

	ASSERT_GE(first, 0);
	ASSERT_EQ(0, -msr_write(self->cpu, SBOX0_BOX_CTL, 0));
	second = event_open("hswep_sbox_0", self->cpu, "clockticks,thresh=1");
	ASSERT_GE(second, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(second));
	ASSERT_EQ(0, -msr_write(self->cpu, SBOX0_BOX_CTL, 0));
	close(second);
	sim_advance(CYCLES);
	EXPECT_EQ(2 * CYCLES, event_count(first));
	ASSERT_EQ(0, -msr_write(self->cpu, SBOX0_BOX_CTL, 0));
	sleep_ms(2500);
	/* the driver has set both bits again: this write does not fault */
	EXPECT_EQ(0, -msr_write(self->cpu, SBOX0_BOX_CTL, 3 << 16));
	EXPECT_EQ(0, log_count("unchecked MSR access"));
	close(first);
	/* the three writes of 0 above are undefined, and no write of the driver is */
	EXPECT_EQ(3, sim_stat("undefined"));
	machine_allow_undefined();
}

FIXTURE(frozen) {};

FIXTURE_VARIANT(frozen)
{
	uint32_t msr;
	uint64_t value;
	bool uclk;	/* an event counts the UBox's clock, too */
};

FIXTURE_VARIANT_ADD(frozen, package_with_a_clock)
{
	.msr = GLOBAL_CTL, .value = FREEZE_ALL, .uclk = true,
};

FIXTURE_VARIANT_ADD(frozen, package)
{
	.msr = GLOBAL_CTL, .value = FREEZE_ALL,
};

FIXTURE_VARIANT_ADD(frozen, box) { .msr = CBOX0_BOX_CTL, .value = BOX_FREEZE };

FIXTURE_SETUP(frozen)
{
	machine_setup("clock=real", "");
	log_mark();
}

FIXTURE_TEARDOWN(frozen)
{
	expect_nothing_left(_metadata);
}

/*
 * Another program freezes the package or a box while an event counts. Every two seconds
 * the driver writes the registers that unfreeze them. No register shows a freeze, so the
 * driver does not report the foreign write.
 */
TEST_F(frozen, is_unfrozen_while_it_counts)
{
	int cpu = pmu_cpu("hswep_ubox", 0), uclk = -1, fd;
	uint64_t writes = package_stat(0, "foreign_writes"), count;
	unsigned int i;

	if (variant->uclk) {
		uclk = event_open("hswep_ubox", cpu, "uclk");
		ASSERT_GE(uclk, 0);
	}
	fd = event_open("hswep_cbox_0", cpu, "clockticks");
	ASSERT_GE(fd, 0);
	sleep_ms(2500);
	ASSERT_EQ(0, -msr_write(cpu, variant->msr, variant->value));
	count = event_count(fd);
	for (i = 0; i < 100 && event_count(fd) == count; i++)
		sleep_ms(100);
	TH_LOG("unfrozen after %u ms", i * 100);
	EXPECT_LT(i, 100);
	EXPECT_EQ(writes, package_stat(0, "foreign_writes"));
	close(uclk);
	close(fd);
}

FIXTURE_OF(clock_beside, machine_setup("clock=real", ""), expect_nothing_left(_metadata));

/*
 * Another program, such as PCM, counts the UBox's clock. The driver counts an event of
 * another box, and must not stop the clock.
 */
TEST_F(clock_beside, goes_on_while_no_event_uses_it)
{
	int cpu = pmu_cpu("hswep_ha_0", 0), fd;
	uint64_t ctl = 0, first = 0, last = 0;

	ASSERT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTL, FIXED_EN));
	fd = event_open("hswep_ha_0", cpu, "clockticks");
	ASSERT_GE(fd, 0);
	/* wait for the driver's check of its registers, every two seconds */
	sleep_ms(2500);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTL, &ctl));
	EXPECT_EQ(FIXED_EN, ctl);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &first));
	sleep_ms(10);
	EXPECT_EQ(0, -msr_read(cpu, UBOX_FIXED_CTR, &last));
	EXPECT_GT(last, first);
	close(fd);
	ASSERT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTL, 0));
	ASSERT_EQ(0, -msr_write(cpu, UBOX_FIXED_CTR, 0));
}

TEST_HARNESS_MAIN

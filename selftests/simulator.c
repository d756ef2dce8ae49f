// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulated hardware's own controls: clock, reset, parameters. What the
 * hardware does is tested by the model's tests, and by all others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

enum { CYCLES = 1000 };

/* --- clock ----------------------------------------------------------------- */

/* What passes under the real clock is counted, and the manual one is exact. */
static void test_clock(void)
{
	uint64_t running, still, exact;
	char pmu[PMU_NAME_MAX];
	int fd;
	bool ok;

	machine_setup("clock=manual", "");
	tap_eq(sim_cycles(), 0, "a driver that loads leaves the manual clock at 0");
	ok = check(pmu_name(pmu, "cbox", 0), "no PMU");
	fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");
	ok &= check_eq(sim_clock_set("real"), 0, "real");
	ok &= check_eq(-sim_advance(CYCLES), EINVAL, "advance of the real clock");
	usleep(1000);
	running = event_count(fd);
	ok &= check(running > 0, "nothing passed");
	ok &= check_eq(sim_clock_set("manual"), 0, "manual");
	still = event_count(fd);
	ok &= check(still >= running, "%" PRIu64 " after %" PRIu64, still, running);
	ok &= check_eq(event_count(fd), still, "stands still");
	ok &= check_eq(sim_cycles(), 0, "cycles");
	sim_advance(CYCLES);
	exact = event_count(fd) - still;
	ok &= check_eq(exact, CYCLES, "cycles that passed");
	ok &= check_eq(-sim_clock_set("slow"), EINVAL, "errno");
	ok &= check_eq(event_count(fd) - still, CYCLES, "after that");
	close(fd);
	tap_ok(ok, "the clock is switched at run time, and no count is lost");
}

/* --- loss of power ---------------------------------------------------------- */

/* Registers written past any driver, which could not know of it. */
static bool write_some_registers(void)
{
	static const struct {
		uint32_t msr;
		uint64_t value;
	} some[] = { { 0x700, 1 }, { 0x705, 1 << 22 }, { 0xe06, 5 } };
	bool ok = true;

	if (access("/dev/cpu/0/msr", F_OK) && system("modprobe msr"))
		tap_bail("the kernel has no msr driver");
	for (unsigned int i = 0; i < COUNT(some); i++)
		ok &= check_eq(msr_write(package_cpu(0, 0), some[i].msr,
					 some[i].value), 0, "write");
	return ok & check_eq(sim_dirty_registers(), COUNT(some),
			     "registers that were written");
}

static void test_reset(void)
{
	bool ok;

	machine_setup_sim("clock=manual");
	ok = write_some_registers();
	ok &= check_eq(-sim_reset("0"), EINVAL, "errno of 0");
	ok &= check_eq(-sim_reset("2"), ERANGE, "errno of 2");
	ok &= check_eq(sim_dirty_registers(), 3, "after refused resets");
	ok &= check_eq(sim_reset("1"), 0, "reset");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are left");
	tap_ok(ok, "a reset leaves no register as it was written");
}

/* --- delays ----------------------------------------------------------------- */

/*
 * The way of an overflow through the simulator: of 1000 cycles to the overflow
 * and 300 to the freeze, nothing is lost and no more is counted.
 */
static void test_delays(void)
{
	enum { UBOX_FIXED_CTL = 0x703, UBOX_FIXED_CTR, GLOBAL_CTL = 0x700,
	       GLOBAL_STATUS };
	const uint64_t en_ov_en = 1 << 22 | 1 << 20;
	uint64_t value = 0;
	bool ok;
	int cpu;

	machine_setup_sim("clock=manual freeze_delay=300 status_delay=20 pmi_delay=7");
	if (access("/dev/cpu/0/msr", F_OK) && system("modprobe msr"))
		tap_bail("the kernel has no msr driver");
	cpu = package_cpu(0, 0);
	ok = check(!msr_write(cpu, UBOX_FIXED_CTR, (1ULL << 48) - CYCLES) &&
		   !msr_write(cpu, UBOX_FIXED_CTL, en_ov_en), "write");
	sim_advance(CYCLES + 300);
	msr_read(cpu, GLOBAL_STATUS, &value);
	ok &= check_eq(value, 0, "status at the freeze");
	/* not a cycle more: it would wait for somebody to unfreeze */
	sim_advance(20);
	msr_read(cpu, GLOBAL_STATUS, &value);
	ok &= check_eq(value, 1, "status after its delay");
	sim_advance(6);
	msr_read(cpu, UBOX_FIXED_CTR, &value);
	ok &= check_eq(value, 300, "counted on");
	msr_write(cpu, UBOX_FIXED_CTL, 0);
	msr_write(cpu, GLOBAL_STATUS, 1);
	msr_write(cpu, GLOBAL_CTL, 1 << 29);
	tap_ok(ok, "an overflow takes the time that the delays say");
}

/* --- parameters ------------------------------------------------------------ */

static void test_bad_parameters(void)
{
	static const struct {
		const char *params, *line;
	} bad[] = {
		{ "clock=slow", "clock=slow is not possible" },
		{ "resume=later", "resume=later is not possible" },
		{ "packages=0", "packages=0 is not possible" },
		{ "uclk_khz=1", "uclk_khz=1 is not possible" },
		{ "dclk_khz=99999", "dclk_khz=99999 is not possible" },
		{ "pclk_khz=10000001", "pclk_khz=10000001 is not possible" },
		{ "freeze_delay=1000000001",
		  "freeze_delay=1000000001 is not possible" },
		{ "pmi_delay=soon", "`soon' invalid for parameter `pmi_delay'" },
		{ "dirty=freeze,dust", "dirty=freeze,dust is not possible" },
		{ "missing=ubox@9", "missing=ubox@9 is not possible" },
		{ "missing=", NULL },
		{ "twice=cbox_0", "twice=cbox_0 is not possible" },
		{ "twice=imc_8", "twice=imc_8 is not possible" },
		{ "errata=none", "errata=none is not possible" },
		{ "counter_gp=1", "counter_gp=1 is not possible" },
	};

	driver_unload();
	sim_unload();
	for (unsigned int i = 0; i < COUNT(bad); i++) {
		bool ok;

		log_mark();
		if (!bad[i].line) {
			tap_eq(sim_load(bad[i].params), 0, "%s is none",
			       bad[i].params);
			sim_unload();
			continue;
		}
		ok = check_eq(-sim_load(bad[i].params), EINVAL, "errno");
		ok &= check_eq(log_count(bad[i].line), 1, "lines");
		ok &= check_eq(log_count("xeon_uncore_sim: "), 1, "all lines");
		tap_ok(ok, "%s is refused with one line", bad[i].params);
		log_show("xeon_uncore_sim: ");
	}
}

int main(void)
{
	test_clock();
	test_reset();
	test_delays();
	test_bad_parameters();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulated hardware's way from PMI to NMI, by itself: a CPU's local APIC
 * drops a PMI while its LVTPC is masked or not in NMI mode, and masks the entry
 * when it delivers. IA32_DEBUGCTL and pmi=off. NMIs are counted by the kernel,
 * which does not know them: run it where the log may say so, and where the local
 * APIC's page can be mapped (iomem=relaxed). Then the driver, of which somebody
 * has masked LVTPC.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define APIC_BASE	0xfee00000
#define APIC_LVTPC	0x340
#define LVT_FIXED	0x000fe
#define LVT_NMI		0x00400
#define LVT_MASKED	0x10000

#define DEBUGCTL	0x1d9
#define DEBUGCTL_PMI	(1 << 13)

enum { MAX_CPUS = 256, LIMIT_MS = 10000, ARRIVE_MS = 50, COMING_MS = 1100, PERIOD = 7 };

static volatile uint32_t *lvtpc;

/* Each CPU sees its own local APIC at the same address. */
static void set_lvtpc(int cpu, uint32_t value)
{
	cpu_pin(cpu);
	*lvtpc = value;
}

static uint32_t get_lvtpc(int cpu)
{
	cpu_pin(cpu);
	return *lvtpc;
}

/* NMIs of a CPU so far: a column of its line in /proc/interrupts. */
static uint64_t nmis(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[4096];
	uint64_t n = UINT64_MAX;

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "NMI:");
		int used;

		if (!at)
			continue;
		at += strlen("NMI:");
		for (int i = 0; i <= cpu; i++, at += used)
			if (sscanf(at, "%" SCNu64 "%n", &n, &used) != 1)
				tap_bail("no NMIs of CPU %d", cpu);
	}
	if (f)
		fclose(f);
	return n;
}

/*
 * A PMI to the core of @cpu, rank @rank of package @pkg; what comes of it.
 */
static bool sends(int cpu, int pkg, unsigned int rank, unsigned int arrive,
		  const char *when)
{
	uint64_t before = nmis(cpu), dropped = sim_stat("pmi_dropped");
	uint64_t end = now_ns() + LIMIT_MS * 1000000ULL;
	bool ok;

	ok = check_eq(-sim_fault("spurious_pmi pkg=%d cores=%#x", pkg,
				 1 << rank), 0, "the fault is taken");
	/* one way or the other; then time for what must not come */
	while (nmis(cpu) == before && sim_stat("pmi_dropped") == dropped &&
	       now_ns() < end)
		sleep_ms(1);
	sleep_ms(ARRIVE_MS);
	ok &= check_eq(nmis(cpu) - before, arrive, "CPU %d: NMIs with %s", cpu,
		       when);
	ok &= check_eq(sim_stat("pmi_dropped") - dropped, !arrive,
		       "CPU %d: dropped PMIs with %s", cpu, when);
	return ok;
}

static void test_lvtpc(int cpu, int pkg, unsigned int rank)
{
	bool ok = true;

	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	ok &= sends(cpu, pkg, rank, 0, "LVTPC masked");
	set_lvtpc(cpu, LVT_FIXED);
	ok &= sends(cpu, pkg, rank, 0, "LVTPC in fixed mode");
	ok &= check_eq(get_lvtpc(cpu), LVT_FIXED, "CPU %d: LVTPC", cpu);
	set_lvtpc(cpu, LVT_NMI);
	ok &= sends(cpu, pkg, rank, 1, "LVTPC in NMI mode");
	ok &= check_eq(get_lvtpc(cpu), LVT_NMI | LVT_MASKED,
		       "CPU %d: LVTPC after an NMI", cpu);
	ok &= sends(cpu, pkg, rank, 0, "LVTPC not written again");
	set_lvtpc(cpu, LVT_NMI);
	ok &= sends(cpu, pkg, rank, 1, "LVTPC written again");
	tap_ok(ok, "CPU %d: a PMI comes only through LVTPC in NMI mode, and masks it",
	       cpu);
}

static void test_debugctl(int cpu, int pkg, unsigned int rank)
{
	uint64_t value = ~0ULL;
	bool ok = true;

	set_lvtpc(cpu, LVT_NMI);
	ok &= check(!msr_read(cpu, DEBUGCTL, &value) && !value,
		    "CPU %d: IA32_DEBUGCTL is 0 first", cpu);
	ok &= sends(cpu, pkg, rank, 0, "IA32_DEBUGCTL clear");
	ok &= check_eq(get_lvtpc(cpu), LVT_NMI, "CPU %d: LVTPC", cpu);
	ok &= check(msr_write(cpu, DEBUGCTL, 1ULL << 40), "a reserved bit faults");
	ok &= check(!msr_write(cpu, DEBUGCTL, DEBUGCTL_PMI) &&
		    !msr_read(cpu, DEBUGCTL, &value) && value == DEBUGCTL_PMI,
		    "CPU %d: IA32_DEBUGCTL keeps bit 13", cpu);
	ok &= sends(cpu, pkg, rank, 1, "IA32_DEBUGCTL bit 13");
	tap_ok(ok, "CPU %d: with debugctl=1 a PMI needs bit 13 of its IA32_DEBUGCTL",
	       cpu);
}

static void for_each_cpu(void (*test)(int cpu, int pkg, unsigned int rank))
{
	for (int pkg = 0; pkg < packages(); pkg++)
		for (unsigned int n = 0; package_cpu(pkg, n) >= 0; n++)
			test(package_cpu(pkg, n), pkg, n);
}

static void map_lapic(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	char *page;

	if (fd < 0)
		tap_skip_all("no /dev/mem");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    APIC_BASE);
	close(fd);
	if (page == MAP_FAILED)
		tap_skip_all("the local APIC cannot be mapped: boot with iomem=relaxed");
	lvtpc = (volatile uint32_t *)(page + APIC_LVTPC);
}

/* An event that begins, has some samples, all of them, and ends. */
static bool samples(const char *pmu, int cpu, unsigned int n)
{
	struct sampler s;
	bool ok;

	ok = check_eq(-sampler_open(&s, pmu, cpu, PERIOD, "config=%#" PRIx64,
				    plain_of("ha")->config), 0, "%s opens", pmu);
	for (unsigned int i = 0; i < n; i++)
		send_traffic(pmu, 0, plain_of("ha"), PERIOD, 1);
	ok &= check_eq(sampler_settle(&s, n), n, "samples");
	sampler_close(&s);
	return ok;
}

/*
 * Nobody can tell a PMI that is on its way from one that somebody has masked, but
 * by waiting: meanwhile the timer serves.
 */
static void test_masked_for_good(void)
{
	const char *pmu = "hswep_ha_0";
	int cpu = pmu_cpu(pmu, 0);
	uint64_t dropped;
	bool ok;

	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	dropped = sim_stat("pmi_dropped");
	ok = samples(pmu, cpu, 3);
	ok &= check(sim_stat("pmi_dropped") > dropped, "no PMI was dropped");
	sleep_ms(COMING_MS);
	dropped = sim_stat("pmi_dropped");
	ok &= samples(pmu, cpu, 3);
	ok &= check_eq(sim_stat("pmi_dropped"), dropped, "dropped PMIs");
	ok &= check_eq(get_lvtpc(cpu), LVT_NMI, "CPU %d: LVTPC", cpu);
	tap_ok(ok, "%s: an LVTPC that somebody has masked is unmasked again", pmu);
}

/*
 * A moment at which it was found masked counts no more once it has been found as
 * it should be, without an NMI in between: the next PMI would be told twice.
 */
static void test_masked_again(void)
{
	const char *pmu = "hswep_ha_0";
	int cpu = pmu_cpu(pmu, 0);
	uint64_t dropped;
	bool ok;

	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	ok = samples(pmu, cpu, 0);
	set_lvtpc(cpu, LVT_NMI);
	ok &= samples(pmu, cpu, 0);
	sleep_ms(COMING_MS);
	set_lvtpc(cpu, LVT_NMI | LVT_MASKED);
	dropped = sim_stat("pmi_dropped");
	ok &= samples(pmu, cpu, 3);
	ok &= check(sim_stat("pmi_dropped") > dropped, "no PMI was dropped");
	set_lvtpc(cpu, LVT_NMI);
	tap_ok(ok, "%s: each time that LVTPC is masked has a second of its own",
	       pmu);
}

int main(void)
{
	catalogue(NULL);
	machine_setup_sim("clock=manual lvtpc=strict");
	map_lapic();
	for_each_cpu(test_lvtpc);

	machine_setup_sim("clock=manual lvtpc=strict debugctl=1");
	if (system("modprobe msr"))
		tap_skip("the kernel has no msr driver", "debugctl=1");
	else
		for_each_cpu(test_debugctl);

	machine_setup_sim("clock=manual lvtpc=strict pmi=off");
	set_lvtpc(0, LVT_NMI);
	tap_ok(sends(0, 0, 0, 0, "pmi=off"), "pmi=off: none comes");

	machine_setup("clock=manual lvtpc=strict", "");
	test_masked_for_good();
	test_masked_again();
	driver_unload();

	tap_ok(sim_unload() == 0 && sim_load("lvtpc=no") == -22 &&
	       sim_load("pmi=no") == -22 && sim_load("clock=manual") == 0,
	       "lvtpc= and pmi= refuse other words");
	return tap_end();
}

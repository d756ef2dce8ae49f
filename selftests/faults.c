// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A machine that misbehaves: PCI functions that stop answering, a register that
 * reports nonsense, another driver on the same hardware.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

enum { CYCLES = 1000 };

/* --- a PCI function that stops answering --------------------------------- */

/* Counts before, during and after a fault of one of a kind's boxes. */
struct victims {
	char pmu[PMU_NAME_MAX];
	int victim, twin, cbox;		/* the box, its twin in package 0, another */
	struct event_group group;	/* of the victim */
};

static bool open_victims(struct victims *v, const char *kind, unsigned int box,
			 int pkg)
{
	static const char *const events[] = { "event=0,thresh=1", "event=0,thresh=2,inv=1" };
	char cbox[PMU_NAME_MAX];
	bool ok;
	int err;

	*v = (struct victims){ .victim = -1 };
	if (!pmu_name(v->pmu, kind, box) || !pmu_name(cbox, "cbox", 0))
		return check(false, "no such PMU");
	v->victim = event_open(v->pmu, pmu_cpu(v->pmu, pkg), "event=0");
	v->twin = event_open(v->pmu, pmu_cpu(v->pmu, 0), "event=0");
	v->cbox = event_open(cbox, pmu_cpu(cbox, pkg), "event=0");
	err = group_open(&v->group, v->pmu, pmu_cpu(v->pmu, pkg), events, 2);
	ok = check(v->victim >= 0 && v->twin >= 0 && v->cbox >= 0, "open");
	return check(!err, "group: %s", strerror(-err)) && ok;
}

static bool expect(struct victims *v, uint64_t victim, uint64_t others,
		   const char *when)
{
	uint64_t values[2] = { 0 };
	bool ok;

	ok = check_eq(event_count(v->victim), victim, "%s, %s", v->pmu, when);
	ok &= check(!group_read(&v->group, values, NULL), "group read");
	ok &= check_eq(values[0], victim, "group, first, %s", when);
	ok &= check_eq(values[1], victim, "group, second, %s", when);
	ok &= check_eq(event_count(v->twin), others, "the other package's, %s",
		       when);
	ok &= check_eq(event_count(v->cbox), others, "cbox_0, %s", when);
	return ok;
}

/* For kinds whose event 0 is clockticks, so that counts are cycles. */
static void test_dead_pci(const char *kind, unsigned int box)
{
	int pkg = packages() - 1, fd;
	struct victims v;
	bool ok;

	machine_setup("clock=manual", "");
	ok = open_victims(&v, kind, box, pkg);
	if (pkg == 0) {
		tap_skip("needs two packages", "%s_%u stops answering", kind, box);
		return;
	}
	sim_advance(CYCLES);
	ok = ok && expect(&v, CYCLES, CYCLES, "before");
	log_mark();
	ok = ok && check(!sim_fault("dead_pci pkg=%d box=%s on", pkg,
				    pmu_box(v.pmu)), "fault");
	sim_advance(CYCLES);
	for (unsigned int i = 0; ok && i < 3; i++)
		ok &= expect(&v, CYCLES, 2 * CYCLES, "dead");
	/* Events may still come and go; they count nothing. */
	fd = event_open(v.pmu, package_cpu(pkg, 0), "event=0,thresh=3,inv=1");
	sim_advance(CYCLES);
	ok = ok && expect(&v, CYCLES, 3 * CYCLES, "dead for long");
	ok = ok && check(fd < 0 || event_count(fd) == 0,
			 "an event opened afterwards counts %" PRIu64,
			 event_count(fd));
	close(fd);
	tap_ok(ok, "%s package %d stops answering: last good count, the others go on",
	       v.pmu, pkg);
	tap_ok(check_eq(log_count("stopped answering"), 1, "warnings"),
	       "%s: one warning", v.pmu);
	log_show("stopped answering");

	/* Back again: still no jump, whatever the driver makes of it. */
	sim_fault("dead_pci pkg=%d box=%s off", pkg, pmu_box(v.pmu));
	sim_advance(CYCLES);
	tap_ok(check(event_count(v.victim) <= 4 * CYCLES, "count %" PRIu64,
		     event_count(v.victim)) &
	       check_eq(event_count(v.twin), 4 * CYCLES, "the other package's"),
	       "%s: no jump when it answers again", v.pmu);
	close(v.victim);
	close(v.twin);
	close(v.cbox);
	group_close(&v.group);
	tap_eq(driver_unload(), 0, "%s: the driver unloads after that", v.pmu);
}

/* Dead before the driver comes: the box of the other package is there. */
static void test_dead_from_start(void)
{
	int last = packages() - 1, fd;
	char pmu[PMU_NAME_MAX];
	bool ok;

	machine_setup_sim("clock=manual");
	ok = check(!sim_fault("dead_pci pkg=%d box=imc_7 on", last), "fault");
	ok &= check_eq(driver_load(""), 0, "the driver loads");
	if (last > 0) {
		ok = ok && check(pmu_name(pmu, "imc", 7), "no PMU") &&
		     check_eq(pmu_cpu(pmu, last), -1ULL, "cpumask of %d", last);
		fd = ok ? event_open(pmu, package_cpu(last, 0), "event=0") : 0;
		ok = ok && check(fd == -EINVAL || fd == -ENODEV, "open: %s",
				 fd < 0 ? strerror(-fd) : "succeeds");
		fd = ok ? event_open(pmu, package_cpu(0, 0), "event=0") : -1;
		sim_advance(CYCLES);
		ok = ok && check_eq(event_count(fd), CYCLES, "package 0");
		close(fd);
	} else {
		ok = ok && check(!pmu_name(pmu, "imc", 7), "%s is there", pmu);
	}
	tap_ok(ok, "a box that does not answer at load is left out");
}

/* --- a PCI function that is taken from the driver -------------------------- */

static bool unbind(const char *function)
{
	FILE *f = fopen("/sys/bus/pci/drivers/xeon_uncore/unbind", "we");

	if (!f)
		return false;
	fputs(function, f);
	return !fclose(f);
}

/* A counter that went on with .ov_en would freeze the package at its overflow. */
static void test_unbind(void)
{
	static const char *const left[] = {
		"imc_0 ctl0", "imc_0 ctl1", "imc_0 ctl2", "imc_0 ctl3",
		"imc_0 fixed_ctl", "imc_0 box_ctl", "imc_0 status",
	};
	int pkg = packages() - 1, cpu = pmu_cpu("hswep_imc_0", pkg);
	uint64_t value, pmis;
	char function[16];
	struct sampler s;
	int same, other;
	bool ok;

	machine_setup("clock=manual", "");
	same = event_open("hswep_imc_0", cpu, "dclk");
	other = event_open("hswep_cbox_0", cpu, "clockticks");
	ok = check_eq(-sampler_open(&s, "hswep_imc_0", cpu, 10 * CYCLES,
				    "clockticks"), 0, "hswep_imc_0 opens");
	sim_advance(CYCLES);
	log_mark();
	ok &= check(pci_find(function, 0x2fb0, pkg) && unbind(function),
		    "unbind");
	ok &= check_eq(log_count("removed while counting"), 1, "lines in the log");
	log_show("removed while counting");
	for (unsigned int i = 0; i < COUNT(left); i++)
		ok &= check(!sim_register(pkg, left[i], &value),
			    "%s is %#" PRIx64, left[i], value);
	pmis = sim_stat("pmi");
	sim_advance(20 * CYCLES);
	ok &= check_eq(sim_stat("pmi") - pmis, 0, "PMIs");
	ok &= check_eq(event_count(same), CYCLES, "its last count");
	ok &= check_eq(event_count(s.fd), CYCLES, "its sampling event's");
	ok &= check_eq(event_count(other), 21 * CYCLES, "another box");
	sampler_close(&s);
	close(same);
	close(other);
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	tap_ok(ok & log_clean(),
	       "a function that is unbound while it samples stops, and the others go on");
}

/* --- U_MSR_PMON_GLOBAL_CONFIG.num_c --------------------------------------- */

/* Nonsense: look for all 18, leave out those whose registers fault. */
static void test_num_c(unsigned int num_c, unsigned int cboxes)
{
	char params[64], pmu[PMU_NAME_MAX];
	unsigned int found = 0;
	bool ok = true;

	snprintf(params, sizeof(params), "clock=manual num_c=%u cboxes=%u",
		 num_c, cboxes);
	machine_setup_sim(params);
	log_mark();
	ok &= check_eq(driver_load(""), 0, "the driver loads");
	while (found < 32 && pmu_name(pmu, "cbox", found)) {
		int fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");

		sim_advance(CYCLES);
		ok &= check_eq(event_count(fd), CYCLES, "%s", pmu);
		close(fd);
		found++;
	}
	ok &= check_eq(found, cboxes, "CBos found");
	ok &= check_eq(log_count("CBos"), 1, "warnings");
	tap_ok(ok, "num_c=%u with %u CBos: clamped, with one warning", num_c,
	       cboxes);
	log_show("CBos");
}

/* --- intel_uncore --------------------------------------------------------- */

static void test_rival(void)
{
	char pmu[PMU_NAME_MAX];
	int err;

	machine_setup_sim("clock=manual");
	machine_allow_undefined();
	if (system("modprobe intel_uncore 2>/dev/null") ||
	    !module_loaded("intel_uncore")) {
		tap_skip("this kernel has no intel_uncore module",
			 "EBUSY beside intel_uncore");
		return;
	}
	log_mark();
	sim_trace_clear();
	err = driver_load("");
	tap_ok(check_eq(-err, EBUSY, "errno") &
	       check_eq(log_count("intel_uncore"), 1, "lines in the log") &
	       check_eq(sim_trace_writes(), 0, "register writes") &
	       check(!pmu_name(pmu, "cbox", 0), "%s is there", pmu),
	       "EBUSY beside intel_uncore, and one line that says so");
	log_show("intel_uncore");
	if (system("rmmod intel_uncore"))
		tap_bail("intel_uncore does not unload");
	tap_eq(driver_load(""), 0, "loads once intel_uncore is gone");
}

/* It comes after us, and is refused by the kernel's module loader. */
static void test_rival_after(void)
{
	bool ok;
	int fd;

	machine_setup("clock=manual", "");
	if (system("modinfo -n intel_uncore > /dev/null 2>&1")) {
		tap_skip("this kernel has no intel_uncore module",
			 "intel_uncore beside us");
		return;
	}
	fd = event_open("hswep_cbox_0", pmu_cpu("hswep_cbox_0", 0), "clockticks");
	sim_advance(CYCLES);
	log_mark();
	sim_trace_clear();
	ok = check(system("modprobe intel_uncore 2>/dev/null") != 0,
		   "modprobe succeeds");
	ok &= check(!module_loaded("intel_uncore"), "it is loaded");
	ok &= check_eq(log_count("intel_uncore"), 1, "lines in the log");
	ok &= check_eq(sim_trace_writes(), 0, "register writes");
	sim_advance(CYCLES);
	ok &= check_eq(event_count(fd), 2 * CYCLES, "cycles");
	close(fd);
	tap_ok(ok, "intel_uncore is refused beside us, in one line, and we count on");
	log_show("intel_uncore");
}

int main(void)
{
	static const struct {
		const char *kind;
		unsigned int box;
	} dead[] = { { "imc", 0 }, { "ha", 1 }, { "imc", 5 } };

	test_rival();
	test_rival_after();
	test_unbind();
	for (unsigned int i = 0; i < COUNT(dead); i++)
		test_dead_pci(dead[i].kind, dead[i].box);
	test_dead_from_start();
	test_num_c(0, 18);
	test_num_c(31, 18);
	test_num_c(0, 12);
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Sandy Bridge has not and its successors have: registers that freeze a
 * package and tell of overflows, one that counts CBos, and bits that reset HA and
 * iMC. And where the kernel's own driver is wrong about it. What all generations
 * do is in the other programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/rival.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

enum {
	CBOXES = 8, BOXES = 20, CYCLES = 1000, OVERFLOWS = 3,
	READS = 200, TRACE_LENGTH = 4096,
};

enum { BOX_RST = 0x3, BOX_FRZ = 1 << 8, BOX_FRZ_EN = 1 << 16, BOX_RSV = 1 << 17 };

#define SUMMARY	1	/* line in the log when the driver loads */

/* --- registers that are not there ------------------------------------------ */

/* Of Ivy Bridge: global control, status, configuration; status of UBox and PCU */
static const uint32_t absent_msrs[] = { 0xc00, 0xc01, 0xc06, 0xc15, 0xc35 };
enum { ABSENT_MSRS = sizeof(absent_msrs) / sizeof(*absent_msrs) };

enum { PCI_BOX_CTL = 0xf4, PCI_BOX_STATUS = 0xf8 };

/* Accesses of what is not there, and of box controls, by what they say. */
struct seen {
	unsigned int absent, freezes, without_enable, reserved, resets, no_resets;
};

static bool is_box_ctl(const struct sim_access *a)
{
	if (a->kind == SIM_PCIWR)
		return a->reg == PCI_BOX_CTL;
	return a->kind == SIM_WRMSR &&
	       (a->reg == 0xc24 || (a->reg >= 0xd00 && a->reg % 0x20 == 4));
}

static void note(const struct sim_access *a, void *arg)
{
	bool msr = a->kind == SIM_RDMSR || a->kind == SIM_WRMSR;
	struct seen *s = arg;

	s->absent += !msr && a->reg == PCI_BOX_STATUS;
	for (int i = 0; i < ABSENT_MSRS; i++)
		s->absent += msr && a->reg == absent_msrs[i];
	if (!is_box_ctl(a))
		return;
	s->freezes += !!(a->value & BOX_FRZ);
	s->without_enable += !(a->value & BOX_FRZ_EN);
	s->reserved += !!(a->value & BOX_RSV);
	/* HA is device 14, iMC device 16 */
	if (a->kind == SIM_PCIWR && (a->device == 14 || a->device == 16))
		s->no_resets += !!(a->value & BOX_RST);
	else
		s->resets += !!(a->value & BOX_RST);
}

static bool judge(const char *when, struct seen *all)
{
	struct seen s = { 0 };
	int n = sim_trace(note, &s);
	bool ok = check(n > 0 && n < TRACE_LENGTH, "%s: %d accesses", when, n);

	ok &= check_eq(s.absent, 0, "%s: accesses of what is not there", when);
	ok &= check_eq(s.without_enable, 0, "%s: writes without .frz_en", when);
	ok &= check_eq(s.reserved, 0, "%s: writes of reserved bit 17", when);
	ok &= check_eq(s.no_resets, 0, "%s: resets of HA and iMC", when);
	all->freezes += s.freezes;
	all->resets += s.resets;
	sim_trace_clear();
	return ok;
}

static void test_registers(void)
{
	static const char *const kinds[] = { "ubox", "cbox", "ha", "imc", "pcu" };
	struct seen all = { 0 };
	bool ok;

	machine_setup_sim("clock=manual");
	sim_trace_clear();
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("xeon_uncore: "), SUMMARY, "lines");
	ok &= judge("loading", &all);
	tap_ok(ok, "loading accesses no register that is not there");

	ok = check_eq(pmus_there(), BOXES, "PMUs");
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES,
			       "boxes of package %d that count", pkg);
		ok &= judge("counting", &all);
	}
	tap_ok(ok, "nor does counting in %d boxes, which is exact", BOXES);

	ok = true;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		ok &= samples_exactly(kinds[i], i % packages(), OVERFLOWS);
		ok &= judge("sampling", &all);
	}
	ok &= check_eq(sim_stat("pmi"), 0, "interrupts");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(overflow_stat(pkg, "cores"), 0,
			       "cores that package %d interrupts", pkg);
	tap_ok(ok, "nor does sampling, by a timer and exact");

	ok = check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= judge("unloading", &all);
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	sim_show_registers();
	ok &= check_eq(sim_stat("undefined"), 0, "undefined writes");
	tap_ok(ok & log_clean(), "nor does unloading; everything is reset");
	tap_ok(check(all.freezes, "no freeze") & check(all.resets, "no reset"),
	       "%u freezes have .frz_en, %u resets are of boxes that have them",
	       all.freezes, all.resets);
}

/* What the tests above rely on: the simulated hardware notices. */
static void test_absent(void)
{
	int cpu = package_cpu(0, 0);
	uint64_t value;
	bool ok = true;

	if (access("/dev/cpu/0/msr", F_OK) && system("modprobe msr")) {
		tap_skip("there is no msr module", "access of what is not there");
		return;
	}
	machine_setup_sim("clock=manual");
	for (int i = 0; i < ABSENT_MSRS; i++) {
		ok &= check_eq(-msr_read(cpu, absent_msrs[i], &value), EIO,
			       "reading MSR %#x", absent_msrs[i]);
		ok &= check_eq(-msr_write(cpu, absent_msrs[i], 0), EIO,
			       "writing MSR %#x", absent_msrs[i]);
		ok &= check_eq(sim_stat("undefined"), i + 1, "undefined writes");
	}
	machine_allow_undefined();
	tap_ok(ok, "such an MSR faults, and the simulated hardware counts writes");
}

/* --- CBos ------------------------------------------------------------------ */

static void test_few_cboxes(void)
{
	char pmu[PMU_NAME_MAX];
	bool ok;

	machine_setup_sim("clock=manual cboxes=6");
	log_mark();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	ok &= check_eq(log_count("xeon_uncore: "), SUMMARY, "lines");
	ok &= check(pmu_name(pmu, "cbox", 5), "no PMU of CBo 5");
	ok &= check(!pmu_name(pmu, "cbox", 6), "a PMU of CBo 6");
	for (int pkg = 0; pkg < packages(); pkg++)
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES - CBOXES + 6,
			       "boxes of package %d that count", pkg);
	tap_ok(ok, "CBos that do not answer are left out; more of them than cores are not");
}

/* --- freezing ---------------------------------------------------------------- */

/* With the clock running two counters agree only if they start and stop at once. */
static bool reads_agree(const char *kind)
{
	static const char *const events[] = { "config=0", "config=0x1000000" };
	struct perf_event_attr attrs[2];
	struct event_group g;
	char pmu[PMU_NAME_MAX];
	uint64_t values[2];
	int differ = 0;

	if (!check(pmu_name(pmu, kind, 0), "no %s", kind))
		return false;
	for (int i = 0; i < 2; i++)
		pmu_attr(&attrs[i], pmu, events[i]);
	attrs[0].disabled = 1;
	if (!check(!group_open_attr(&g, attrs, pmu_cpu(pmu, 0), 2) &&
		   !ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0),
		   "%s: a group", pmu))
		return false;
	for (int i = 0; i < READS; i++)
		differ += group_read(&g, values, NULL) || values[0] != values[1];
	group_close(&g);
	return check(values[0], "%s: nothing is counted", pmu) &
	       check_eq(differ, 0, "%s: reads that differ", pmu);
}

static void test_freezing(void)
{
	static const char *const kinds[] = { "cbox", "ha", "imc", "pcu" };
	bool ok;

	machine_setup("clock=real", "freeze_budget=1000");
	ok = true;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		ok &= reads_agree(kinds[i]);
	tap_ok(ok, "of %d reads of a group in CBo, HA, iMC and PCU each is of one instant",
	       READS);
}

/* --- the kernel's own driver -------------------------------------------------- */

static const struct difference {
	const char *box, *event, *traffic[4];
	int64_t theirs, ours;
	const char *why;
} differences[] = {
	{ "cbox_1", "event=0x34,umask=0x1f,filter_state=0x2",
	  { "box=cbox_1 event=0x34 umask=0x5f state=2 count=100",
	    "box=cbox_1 event=0x34 umask=0x5f state=1 count=10" }, 0, 100,
	  "CBo llc_lookup.any: its table of events with a filter lacks it, and without a state nothing is looked up" },
	{ "ha", "config=0x320,config1=0x0002000012340000",
	  { "box=ha event=0x20 umask=0x03 addr=0x12340000 opc=0x02 count=1000",
	    "box=ha event=0x20 umask=0x03 addr=0x12340000 opc=0x33 count=100",
	    "box=ha event=0x20 umask=0x03 addr=0 opc=0 count=1" }, 1, 1000,
	  "HA addr_opc_match: it never writes the match registers" },
	{ "pcu", "config=0x200003",
	  { "box=pcu event=0x103 count=100", "box=pcu event=0x03 count=10" },
	  10, 100,
	  "PCU core0_transition_cycles: it drops ev_sel_ext and counts another event" },
};
enum { DIFFERENCES = sizeof(differences) / sizeof(*differences) };

static void test_rival(void)
{
	int64_t counts[DRIVERS][DIFFERENCES];

	if (!rival_exists()) {
		tap_skip("no such module for this kernel", "intel_uncore");
		return;
	}
	for (int d = 0; d < DRIVERS; d++) {
		driver_setup(d, "clock=manual");
		for (int i = 0; i < DIFFERENCES; i++)
			counts[d][i] = driver_count(d, differences[i].box,
						    differences[i].event,
						    differences[i].traffic);
	}
	for (int i = 0; i < DIFFERENCES; i++) {
		const struct difference *c = &differences[i];
		bool ok = check_eq(counts[IN_TREE][i], c->theirs,
				   "under intel_uncore");

		ok &= check_eq(counts[OURS][i], c->ours, "under xeon_uncore");
		tap_ok(ok, "intel_uncore, %s", c->why);
	}
}

int main(void)
{
	if (strcmp(generation()->name, "snbep"))
		tap_skip_all("this processor is no Sandy Bridge");
	catalogue(NULL);
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_registers();
	test_absent();
	test_few_cboxes();
	test_freezing();
	test_rival();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differences of Sandy Bridge from its successors: Sandy Bridge has no registers that
 * freeze a package, report overflows or give the number of CBos, and no bits that reset
 * HA and iMC. Also tests known faults of the in-tree driver on Sandy Bridge. Features
 * of all generations have other test programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	CBOXES = 8,		/* of a package */
	BOXES = 20,		/* of a package */
	CYCLES = 1000,
	OVERFLOWS = 3,
	READS = 200,
	TRACE_LENGTH = 4096,
};

enum { BOX_RST = 0x3, BOX_FRZ = 1 << 8, BOX_FRZ_EN = 1 << 16, BOX_RSV = 1 << 17 };

#define SUMMARY	1	/* number of log lines when the driver loads */

static void __attribute__((constructor)) need_sandy_bridge(void)
{
	if (strcmp(generation()->name, "snbep"))
		tap_skip_all("this processor is not Sandy Bridge");
}

/* Fixtures that load the simulator with other parameters come last. */
MACHINE_OF_ALL_TESTS("clock=manual", "");

/* --- missing registers ----------------------------------------------------- */

/*
 * MSRs of Ivy Bridge that Sandy Bridge lacks: global control, status and configuration,
 * and the status of UBox and PCU
 */
static const uint32_t absent_msrs[] = { 0xc00, 0xc01, 0xc06, 0xc15, 0xc35 };
enum { ABSENT_MSRS = ARRAY_SIZE(absent_msrs) };

enum { PCI_BOX_CTL = 0xf4, PCI_BOX_STATUS = 0xf8 };

/**
 * struct access_counts - numbers of accesses of missing registers and of box controls
 * @absent: accesses of registers that Sandy Bridge lacks
 * @freezes: writes that freeze a box
 * @without_enable: writes without .frz_en
 * @reserved: writes that set the reserved bit 17
 * @resets: writes of the reset bits
 * @no_resets: writes of the reset bits to HA and iMC, which lack these bits
 */
struct access_counts {
	unsigned int absent, freezes, without_enable, reserved, resets, no_resets;
};

static bool is_box_ctl(const struct sim_access *a)
{
	if (a->type == SIM_PCIWR)
		return a->reg == PCI_BOX_CTL;
	return a->type == SIM_WRMSR &&
	       (a->reg == 0xc24 || (a->reg >= 0xd00 && a->reg % 0x20 == 4));
}

/* Count an access of the trace. */
static void note(const struct sim_access *a, void *arg)
{
	bool msr = a->type == SIM_RDMSR || a->type == SIM_WRMSR;
	struct access_counts *s = arg;

	s->absent += !msr && a->reg == PCI_BOX_STATUS;
	for (int i = 0; i < ABSENT_MSRS; i++)
		s->absent += msr && a->reg == absent_msrs[i];
	if (!is_box_ctl(a))
		return;
	s->freezes += !!(a->value & BOX_FRZ);
	s->without_enable += !(a->value & BOX_FRZ_EN);
	s->reserved += !!(a->value & BOX_RSV);
	/* HA is device 14, iMC device 16 */
	if (a->type == SIM_PCIWR && (a->device == 14 || a->device == 16))
		s->no_resets += !!(a->value & BOX_RST);
	else
		s->resets += !!(a->value & BOX_RST);
}

/*
 * Check the register accesses since the last call, and add freezes and resets to
 * @total.
 */
static void expect_valid_accesses(struct __test_metadata *_metadata,
				  struct access_counts *total, const char *when)
{
	struct access_counts s = { 0 };
	int n = sim_trace(note, &s);

	EXPECT_GT(n, 0);
	EXPECT_LT(n, TRACE_LENGTH) {
		TH_LOG("%s: not all are in the trace", when);
	}
	EXPECT_EQ(0, s.absent) {
		TH_LOG("%s: accesses of what is not there", when);
	}
	EXPECT_EQ(0, s.without_enable) {
		TH_LOG("%s: writes without .frz_en", when);
	}
	EXPECT_EQ(0, s.reserved) {
		TH_LOG("%s: writes of reserved bit 17", when);
	}
	EXPECT_EQ(0, s.no_resets) {
		TH_LOG("%s: resets of HA and iMC", when);
	}
	total->freezes += s.freezes;
	total->resets += s.resets;
	sim_trace_clear();
}

FIXTURE(registers)
{
	struct access_counts total;
};

FIXTURE_SETUP(registers)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	log_mark();
	sim_trace_clear();
}

FIXTURE_TEARDOWN(registers)
{
	EXPECT_TRUE(log_clean());
}

TEST_F(registers, absent_ones_not_accessed_by_counting)
{
	EXPECT_EQ(BOXES, pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(BOXES, boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
		expect_valid_accesses(_metadata, &self->total, "counting");
	}
}

/* Without overflow interrupts the driver's timer takes the samples. */
TEST_F(registers, absent_ones_not_accessed_by_sampling_and_unloading)
{
	static const char *const types[] = { "ubox", "cbox", "ha", "imc", "pcu" };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		EXPECT_TRUE(samples_exactly(types[i], i % packages(), OVERFLOWS));
		expect_valid_accesses(_metadata, &self->total, "sampling");
	}
	EXPECT_EQ(0, sim_stat("pmi"));
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(0, overflow_stat(pkg, "cores")) {
			TH_LOG("that package %d interrupts", pkg);
		}
	}
	EXPECT_EQ(0, -driver_unload());
	expect_valid_accesses(_metadata, &self->total, "unloading");
	EXPECT_EQ(0, sim_dirty_registers()) {
		sim_show_registers();
	}
	EXPECT_EQ(0, sim_stat("undefined"));
}

FIXTURE(loading)
{
	struct access_counts total;
};

FIXTURE_SETUP(loading)
{
	machine_setup_sim("clock=manual");
	sim_trace_clear();
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(loading)
{
	expect_nothing_left(_metadata);
}

/*
 * While the driver loads and unloads, it freezes boxes with .frz_en set and resets only
 * boxes that have reset bits.
 */
TEST_F(loading, absent_registers_not_accessed)
{
	EXPECT_EQ(SUMMARY, log_count("xeon_uncore: "));
	expect_valid_accesses(_metadata, &self->total, "loading");
	EXPECT_EQ(0, -driver_unload());
	expect_valid_accesses(_metadata, &self->total, "unloading");
	EXPECT_GT(self->total.freezes, 0);
	EXPECT_GT(self->total.resets, 0);
}

FIXTURE_OF(simulated, machine_setup_sim("clock=manual"),
	   EXPECT_TRUE(machine_leave()));

/* The tests above rely on the simulator, which must report accesses of absent MSRs. */
TEST_F(simulated, absent_msr_faults_and_its_writes_are_counted)
{
	int cpu = package_cpu(0, 0);
	uint64_t value;

	if (access("/dev/cpu/0/msr", F_OK) && system("modprobe msr"))
		SKIP(return, "there is no msr module");
	for (int i = 0; i < ABSENT_MSRS; i++) {
		EXPECT_EQ(EIO, -msr_read(cpu, absent_msrs[i], &value)) {
			TH_LOG("reading MSR %#x", absent_msrs[i]);
		}
		EXPECT_EQ(EIO, -msr_write(cpu, absent_msrs[i], 0)) {
			TH_LOG("writing MSR %#x", absent_msrs[i]);
		}
		EXPECT_EQ(i + 1, sim_stat("undefined"));
	}
	machine_allow_undefined();
}

/* --- CBos ------------------------------------------------------------------ */

FIXTURE(six_cboxes) {};

FIXTURE_SETUP(six_cboxes)
{
	machine_setup_sim("clock=manual cboxes=6");
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(six_cboxes)
{
	expect_nothing_left(_metadata);
}

/*
 * A processor has as many CBos as cores: the driver leaves out CBos that do not answer.
 */
TEST_F(six_cboxes, those_that_do_not_answer_are_left_out)
{
	char pmu[PMU_NAME_MAX];

	EXPECT_EQ(SUMMARY, log_count("xeon_uncore: "));
	EXPECT_TRUE(pmu_name(pmu, "cbox", 5));
	EXPECT_FALSE(pmu_name(pmu, "cbox", 6));
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(BOXES - CBOXES + 6, boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
	}
}

/* --- freezing ---------------------------------------------------------------- */

FIXTURE_OF(group_reads, machine_setup("clock=real", "freeze_budget=1000"),
	   EXPECT_TRUE(machine_leave()));

/*
 * Check that two counters of the same event agree in a group read. With the real clock
 * they agree only if they start and stop in the same cycle.
 */
static void expect_reads_agree(struct __test_metadata *_metadata, const char *type)
{
	static const char *const events[] = { "config=0", "config=0x1000000" };
	struct perf_event_attr attrs[2];
	struct event_group g;
	char pmu[PMU_NAME_MAX];
	uint64_t values[2];

	ASSERT_TRUE(pmu_name(pmu, type, 0));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, -pmu_attr(&attrs[i], pmu, events[i]));
	}
	attrs[0].disabled = 1;
	ASSERT_EQ(0, -group_open_attr(&g, attrs, pmu_cpu(pmu, 0), 2));
	ASSERT_EQ(0, ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < READS; i++) {
		ASSERT_EQ(0, -group_read(&g, values, NULL));
		ASSERT_EQ(values[0], values[1]) {
			TH_LOG("%s, read %d", pmu, i);
		}
	}
	EXPECT_GT(values[0], 0) {
		TH_LOG("%s: nothing is counted", pmu);
	}
	group_close(&g);
}

TEST_F(group_reads, are_of_one_instant_in_cbox_ha_imc_and_pcu)
{
	expect_reads_agree(_metadata, "cbox");
	expect_reads_agree(_metadata, "ha");
	expect_reads_agree(_metadata, "imc");
	expect_reads_agree(_metadata, "pcu");
}

/* --- the in-tree driver ------------------------------------------------------- */

/*
 * An event whose count by the in-tree driver (@theirs) is wrong, and the right count
 * (@ours)
 */
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

FIXTURE(intree)
{
	int64_t counts[DRIVERS][ARRAY_SIZE(differences)];
	bool exists;
};

FIXTURE_SETUP(intree)
{
	self->exists = in_tree_exists();
	for (int d = 0; self->exists && d < DRIVERS; d++) {
		driver_setup(d, "clock=manual");
		for (unsigned int i = 0; i < ARRAY_SIZE(differences); i++)
			self->counts[d][i] = driver_count(d, differences[i].box,
							  differences[i].event,
							  differences[i].traffic);
	}
}

FIXTURE_TEARDOWN(intree)
{
	driver_none();
	EXPECT_TRUE(machine_leave());
}

TEST_F(intree, is_wrong_where_we_say_so)
{
	if (!self->exists)
		SKIP(return, "no such module for this kernel");
	for (unsigned int i = 0; i < ARRAY_SIZE(differences); i++) {
		EXPECT_EQ(differences[i].theirs, self->counts[IN_TREE][i]) {
			TH_LOG("%s", differences[i].why);
		}
		EXPECT_EQ(differences[i].ours, self->counts[OURS][i]) {
			TH_LOG("%s", differences[i].why);
		}
	}
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faulty hardware: PCI functions that stop answering or are unbound from the driver, and
 * a register with an impossible number of CBos. And intel_uncore on the same hardware.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum { CYCLES = 1000 };

/* --- a PCI function that stops answering --------------------------------- */

/* Events that count before, during and after a fault of a box */
struct victims {
	char pmu[PMU_NAME_MAX];
	/* of the faulty box, of the same box in package 0, of cbox_0 in its package */
	int victim, twin, cbox;
	struct event_group group;	/* of the faulty box */
};

/* Open the events for box @box of a type in package @pkg, which is to fail. */
static bool open_victims(struct victims *v, const char *type, unsigned int box,
			 int pkg)
{
	static const char *const events[] = { "event=0,thresh=1", "event=0,thresh=2,inv=1" };
	char cbox[PMU_NAME_MAX];
	bool ok;
	int err;

	*v = (struct victims){ .victim = -1 };
	if (!pmu_name(v->pmu, type, box) || !pmu_name(cbox, "cbox", 0))
		return check(false, "no such PMU");
	v->victim = event_open(v->pmu, pmu_cpu(v->pmu, pkg), "event=0");
	v->twin = event_open(v->pmu, pmu_cpu(v->pmu, 0), "event=0");
	v->cbox = event_open(cbox, pmu_cpu(cbox, pkg), "event=0");
	err = group_open(&v->group, v->pmu, pmu_cpu(v->pmu, pkg), events, 2);
	ok = check(v->victim >= 0 && v->twin >= 0 && v->cbox >= 0, "open");
	return check(!err, "group: %s", strerror(-err)) && ok;
}

/* Check that all events of the faulty box have count @victim, and others @others. */
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

FIXTURE(dead_pci) {};

FIXTURE_VARIANT(dead_pci)
{
	const char *type;	/* its event 0 is clockticks: counts are cycles */
	unsigned int box;
};

FIXTURE_VARIANT_ADD(dead_pci, imc_0) { .type = "imc", .box = 0 };
FIXTURE_VARIANT_ADD(dead_pci, ha_1) { .type = "ha", .box = 1 };
FIXTURE_VARIANT_ADD(dead_pci, imc_5) { .type = "imc", .box = 5 };

FIXTURE_SETUP(dead_pci)
{
	machine_setup("clock=manual", "");
	log_mark();
}

FIXTURE_TEARDOWN(dead_pci)
{
	/*
	 * A worker of the driver makes perf schedule the events of the dead box, and
	 * holds a reference to the module: wait until the worker is done.
	 */
	EXPECT_EQ(0, -module_unload("xeon_uncore"));
	EXPECT_TRUE(machine_leave());
}

TEST_F(dead_pci, keeps_its_last_count_and_the_others_go_on)
{
	int pkg = packages() - 1, fd;
	struct victims v;

	if (pkg == 0)
		SKIP(return, "needs two packages");
	ASSERT_TRUE(open_victims(&v, variant->type, variant->box, pkg));
	sim_advance(CYCLES);
	ASSERT_TRUE(expect(&v, CYCLES, CYCLES, "before"));
	ASSERT_EQ(0, -sim_fault("dead_pci pkg=%d box=%s on", pkg,
				pmu_box(v.pmu)));
	sim_advance(CYCLES);
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_TRUE(expect(&v, CYCLES, 2 * CYCLES, "dead"));
	/* An event of the dead box can still be opened and closed; it counts nothing. */
	fd = event_open(v.pmu, package_cpu(pkg, 0), "event=0,thresh=3,inv=1");
	sim_advance(CYCLES);
	EXPECT_TRUE(expect(&v, CYCLES, 3 * CYCLES, "dead for long"));
	if (fd >= 0) {
		EXPECT_EQ(0, event_count(fd)) {
			TH_LOG("of an event opened afterwards");
		}
		close(fd);
	}
	EXPECT_EQ(1, log_count("stopped answering")) {
		log_show("stopped answering");
	}
	/*
	 * The box answers again. No count may jump, whether or not the driver uses the
	 * box again.
	 */
	EXPECT_EQ(0, -sim_fault("dead_pci pkg=%d box=%s off", pkg,
				pmu_box(v.pmu)));
	sim_advance(CYCLES);
	EXPECT_LE(event_count(v.victim), 4 * CYCLES);
	EXPECT_EQ(4 * CYCLES, event_count(v.twin));
	close(v.victim);
	close(v.twin);
	close(v.cbox);
	group_close(&v.group);
}

/* The events of a dead box do not run: time running stops, time enabled goes on. */
TEST_F(dead_pci, stops_the_time_running)
{
	int pkg = packages() - 1, fd;
	struct event_reading before, after;
	char pmu[PMU_NAME_MAX];

	ASSERT_TRUE(pmu_name(pmu, variant->type, variant->box));
	fd = event_open(pmu, pmu_cpu(pmu, pkg), "event=0");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	ASSERT_EQ(0, -event_read(fd, &before));
	EXPECT_EQ(before.enabled, before.running);
	ASSERT_EQ(0, -sim_fault("dead_pci pkg=%d box=%s on", pkg, pmu_box(pmu)));
	/* the driver detects the dead box in this read */
	event_count(fd);
	sleep_ms(200);
	ASSERT_EQ(0, -event_read(fd, &before));
	sleep_ms(200);
	ASSERT_EQ(0, -event_read(fd, &after));
	EXPECT_EQ(CYCLES, after.value);
	EXPECT_EQ(before.running, after.running);
	EXPECT_GT(after.enabled, before.enabled);
	EXPECT_EQ(0, -sim_fault("dead_pci pkg=%d box=%s off", pkg,
				pmu_box(pmu)));
	close(fd);
}

FIXTURE(dead_from_start) {};

FIXTURE_SETUP(dead_from_start)
{
	machine_setup_sim("clock=manual");
	ASSERT_EQ(0, -sim_fault("dead_pci pkg=%d box=imc_7 on",
				packages() - 1));
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(dead_from_start)
{
	EXPECT_TRUE(machine_leave());
}

/* imc_7 of the last package gets no CPU in the cpumask; imc_7 of package 0 works. */
TEST_F(dead_from_start, is_left_out)
{
	int last = packages() - 1, fd;
	char pmu[PMU_NAME_MAX];

	if (last == 0) {
		EXPECT_FALSE(pmu_name(pmu, "imc", 7));
		return;
	}
	ASSERT_TRUE(pmu_name(pmu, "imc", 7));
	EXPECT_EQ(-1, pmu_cpu(pmu, last));
	fd = event_open(pmu, package_cpu(last, 0), "event=0");
	EXPECT_TRUE(fd == -EINVAL || fd == -ENODEV) {
		TH_LOG("open: %s", fd < 0 ? strerror(-fd) : "succeeds");
	}
	fd = event_open(pmu, package_cpu(0, 0), "event=0");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(fd));
	close(fd);
}

/* --- a PCI function that is unbound from the driver ------------------------ */

FIXTURE(unbind) {};

FIXTURE_SETUP(unbind)
{
	machine_setup("clock=manual", "");
	log_mark();
}

FIXTURE_TEARDOWN(unbind)
{
	expect_nothing_left(_metadata);
}

/*
 * The driver stops the counters of imc_0 when imc_0 is unbound: a counter that kept
 * counting with .ov_en would freeze the package at its overflow.
 */
TEST_F(unbind, stops_what_samples_and_the_others_go_on)
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

	same = event_open("hswep_imc_0", cpu, "dclk");
	ASSERT_GE(same, 0);
	other = event_open("hswep_cbox_0", cpu, "clockticks");
	ASSERT_GE(other, 0);
	ASSERT_EQ(0, -sampler_open(&s, "hswep_imc_0", cpu, 10 * CYCLES,
				   "clockticks"));
	sim_advance(CYCLES);
	ASSERT_TRUE(pci_find(function, "imc", 0, "box", pkg));
	ASSERT_EQ(0, -file_write("/sys/bus/pci/drivers/xeon_uncore/unbind",
				 function));
	EXPECT_EQ(1, log_count("removed while counting")) {
		log_show("removed while counting");
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(left); i++) {
		EXPECT_FALSE(sim_register(pkg, left[i], &value)) {
			TH_LOG("%s is %#jx", left[i], (uintmax_t)value);
		}
	}
	pmis = sim_stat("pmi");
	sim_advance(20 * CYCLES);
	EXPECT_EQ(pmis, sim_stat("pmi"));
	EXPECT_EQ(CYCLES, event_count(same));
	EXPECT_EQ(CYCLES, event_count(s.fd));
	EXPECT_EQ(21 * CYCLES, event_count(other));
	sampler_close(&s);
	close(same);
	close(other);
}

/* An event whose filter's PCI function was unbound gets no counter. */
TEST_F(unbind, takes_the_filter_and_events_that_use_it)
{
	int pkg = packages() - 1, cpu = pmu_cpu("hswep_qpi_0", pkg), fd, plain;
	struct perf_event_attr attr;
	struct event_reading r;
	char function[16];

	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_qpi_0", 
			       "event=0x138,match_dnid=3,mask_dnid=0x1f"));
	attr.disabled = 1;
	fd = perf_open(&attr, -1, cpu, -1);
	ASSERT_GE(fd, 0);
	plain = event_open("hswep_qpi_0", cpu, "clockticks");
	ASSERT_GE(plain, 0);
	ASSERT_TRUE(pci_find(function, "qpi", 0, "filter", pkg));
	ASSERT_EQ(0, -file_write("/sys/bus/pci/drivers/xeon_uncore/unbind",
				 function));
	sim_advance(CYCLES);
	EXPECT_EQ(CYCLES, event_count(plain));
	/* perf multiplexes the event with clockticks */
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	sleep_ms(20);
	ASSERT_EQ(0, -event_read(fd, &r));
	EXPECT_EQ(0, r.running);
	EXPECT_GT(r.enabled, 0);
	EXPECT_EQ(ENODEV, -perf_open(&attr, -1, cpu, -1));
	close(fd);
	close(plain);
}

/* --- U_MSR_PMON_GLOBAL_CONFIG.num_c --------------------------------------- */

FIXTURE(num_c) {};

FIXTURE_VARIANT(num_c)
{
	const char *params;
	unsigned int cboxes;
};

FIXTURE_VARIANT_ADD(num_c, 0_of_18) { .params = "num_c=0 cboxes=18", .cboxes = 18 };
FIXTURE_VARIANT_ADD(num_c, 31_of_18) { .params = "num_c=31 cboxes=18", .cboxes = 18 };
FIXTURE_VARIANT_ADD(num_c, 0_of_12) { .params = "num_c=0 cboxes=12", .cboxes = 12 };

FIXTURE_SETUP(num_c)
{
	machine_setup_sim("clock=manual %s", variant->params);
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
}

FIXTURE_TEARDOWN(num_c)
{
	expect_nothing_left(_metadata);
}

/*
 * If num_c has an impossible value, the driver probes 18 CBos, and skips CBos whose
 * registers fault.
 */
TEST_F(num_c, is_clamped_with_one_warning)
{
	unsigned int found = 0;
	char pmu[PMU_NAME_MAX];

	while (found < 32 && pmu_name(pmu, "cbox", found)) {
		int fd = event_open(pmu, pmu_cpu(pmu, 0), "event=0");

		sim_advance(CYCLES);
		EXPECT_EQ(CYCLES, event_count(fd)) {
			TH_LOG("%s", pmu);
		}
		close(fd);
		found++;
	}
	EXPECT_EQ(variant->cboxes, found);
	EXPECT_EQ(1, log_count("CBos")) {
		log_show("CBos");
	}
}

/* --- intel_uncore --------------------------------------------------------- */

FIXTURE_OF(in_tree, machine_setup_sim("clock=manual"),
	   EXPECT_TRUE(machine_leave()));

/* If intel_uncore is loaded, this driver does not load and writes no register. */
TEST_F(in_tree, that_is_there_makes_us_leave_in_one_line)
{
	int err, lines, writes;
	char pmu[PMU_NAME_MAX];
	bool there;

	machine_allow_undefined();
	if (system("modprobe intel_uncore 2>/dev/null") ||
	    !module_loaded("intel_uncore"))
		SKIP(return, "this kernel has no intel_uncore module");
	log_mark();
	sim_trace_clear();
	err = driver_load("");
	lines = log_count("intel_uncore");
	writes = sim_trace_writes();
	there = pmu_name(pmu, "cbox", 0);
	ASSERT_EQ(0, system("rmmod intel_uncore"));
	EXPECT_EQ(EBUSY, -err);
	EXPECT_EQ(1, lines) {
		log_show("intel_uncore");
	}
	EXPECT_EQ(0, writes);
	EXPECT_FALSE(there) {
		TH_LOG("%s is there", pmu);
	}
	EXPECT_EQ(0, -driver_load("")) {
		TH_LOG("once intel_uncore is unloaded");
	}
}

/* If this driver is loaded, the kernel's module loader refuses to load intel_uncore. */
TEST_F(in_tree, that_comes_later_is_refused_in_one_line)
{
	int fd;

	ASSERT_EQ(0, -driver_load(""));
	if (system("modinfo -n intel_uncore > /dev/null 2>&1"))
		SKIP(return, "this kernel has no intel_uncore module");
	fd = event_open("hswep_cbox_0", pmu_cpu("hswep_cbox_0", 0), "clockticks");
	ASSERT_GE(fd, 0);
	sim_advance(CYCLES);
	log_mark();
	sim_trace_clear();
	EXPECT_NE(0, system("modprobe intel_uncore 2>/dev/null"));
	EXPECT_FALSE(module_loaded("intel_uncore"));
	EXPECT_EQ(1, log_count("intel_uncore")) {
		log_show("intel_uncore");
	}
	EXPECT_EQ(0, sim_trace_writes());
	sim_advance(CYCLES);
	EXPECT_EQ(2 * CYCLES, event_count(fd));
	close(fd);
}

TEST_HARNESS_MAIN

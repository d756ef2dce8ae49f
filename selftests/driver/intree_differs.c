// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults and gaps of the in-tree driver, intel_uncore. Each test shows the results of
 * intel_uncore and the results of this driver on the same simulated hardware.
 * intree_same.c has the cases in which both drivers are right.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/c/bpf_read.h"
#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/in_tree.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

/* Results of a measurement under one driver */
enum { NOTES = 12 };

struct notes {
	int64_t v[NOTES];
};

/* Results of the test's measurement under intel_uncore and under this driver */
static const struct notes *theirs, *ours;

/* Set theirs and ours to the results of @measurement. */
static void results_of(void (*measurement)(enum driver driver, struct notes *n));

/* Open an event for package 0 on the perf CPU. */
static int open_on(enum driver driver, const char *box, const char *event)
{
	const char *pmu = driver_pmu(driver, box);

	return event_open(pmu, pmu_cpu(pmu, 0), "%s", event);
}

/* Return the count of @event over @cycles cycles, or -errno of open. */
static int64_t count_cycles(enum driver driver, const char *box,
			    const char *event, uint64_t cycles)
{
	int fd = open_on(driver, box, event);
	int64_t count;

	if (fd < 0)
		return fd;
	sim_advance(cycles);
	count = event_count(fd);
	close(fd);
	return count;
}

/* --- named events -------------------------------------------------------- */

/* Return the number of events in the PMU's events directory. */
static int names_of(const char *pmu)
{
	char path[128];
	struct dirent *d;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path),
		 "/sys/bus/event_source/devices/%s/events", pmu);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((d = readdir(dir))) {
		const char *last = strrchr(d->d_name, '.');

		/* files of the unit and scale of an event are not events */
		if (d->d_name[0] != '.' &&
		    !(last && (!strcmp(last, ".scale") || !strcmp(last, ".unit"))))
			n++;
	}
	closedir(dir);
	return n;
}

static void named_events(enum driver driver, struct notes *n)
{
	char box[16];

	for (int k = 0; *box_types[k]; k++) {
		snprintf(box, sizeof(box), "%s_0", box_types[k]);
		if (pmu_type(driver_pmu(driver, box)) < 0)
			snprintf(box, sizeof(box), "%s", box_types[k]);
		n->v[k] = names_of(driver_pmu(driver, box));
	}
}

/* intel_uncore names 3 events, of the iMC; xeon_uncore names all of the catalogue. */
TEST(few_events_have_names)
{
	bool ok = true;

	results_of(named_events);
	for (int k = 0; *box_types[k]; k++) {
		int in_catalogue = 0;

		for_each_cat_event(e)
			in_catalogue += !strcmp(e->box, box_types[k]);
		ok &= check_eq(theirs->v[k], strcmp(box_types[k], "imc") ? 0 : 3,
			       "names that intel_uncore has for %s",
			       box_types[k]);
		ok &= check_eq(ours->v[k], in_catalogue,
			       "names that xeon_uncore has for %s",
			       box_types[k]);
	}
	EXPECT_TRUE(ok);
}

/* --- CBo: invert --------------------------------------------------------- */

static void cbox_invert(enum driver driver, struct notes *n)
{
	n->v[0] = count_cycles(driver, "cbox_0", "event=0,thresh=1,inv=1", 1000);
	n->v[1] = count_cycles(driver, "cbox_0", "event=0,thresh=2,inv=1", 1000);
}

/* intel_uncore has no format field inv for the CBo. */
TEST(cbox_has_no_invert)
{
	bool ok;

	results_of(cbox_invert);
	ok = check_eq(-theirs->v[0], ENOENT, "inv under intel_uncore");
	ok &= check_eq(ours->v[0], 0, "clockticks below 1 in 1000 cycles");
	ok &= check_eq(ours->v[1], 1000, "clockticks below 2 in 1000 cycles");
	EXPECT_TRUE(ok);
}

/* --- HA: address and opcode match ---------------------------------------- */

static const char *const ha_traffic[] = {
	"box=ha_0 event=0x20 umask=0x07 addr=0x12340000 opc=0x02 count=1000",
	"box=ha_0 event=0x20 umask=0x07 addr=0x12340000 opc=0x33 count=100",
	"box=ha_0 event=0x20 umask=0x07 addr=0x56780000 opc=0x02 count=10",
	"box=ha_0 event=0x20 umask=0x07 addr=0 opc=0 count=1",
	NULL
};

/*
 * intel_uncore has no format field filter_addr: configuration words pass the filter to
 * intel_uncore as well.
 */
static void ha_match(enum driver driver, struct notes *n)
{
	n->v[0] = driver_count(driver, "ha_0",
				"event=0x20,umask=0x01,filter_addr=0x12340000",
				ha_traffic);
	n->v[1] = driver_count(driver, "ha_0", "config=0x120,config1=0x12340000",
				ha_traffic);
	n->v[2] = driver_count(driver, "ha_0",
				"config=0x220,config1=0x0002000000000000",
				ha_traffic);
	n->v[3] = driver_count(driver, "ha_0",
				"config=0x320,config1=0x0002000012340000",
				ha_traffic);
}

/* intel_uncore never writes the match registers. */
TEST(ha_match_registers_are_not_written)
{
	bool ok;

	results_of(ha_match);
	ok = check_eq(-theirs->v[0], ENOENT, "filter_addr under intel_uncore");
	/* the match registers have their reset values: only the last packet passes */
	ok &= check_eq(theirs->v[1], 1, "address under intel_uncore");
	ok &= check_eq(theirs->v[2], 1, "opcode under intel_uncore");
	ok &= check_eq(theirs->v[3], 1, "both under intel_uncore");
	ok &= check_eq(ours->v[0], 1100, "address, by field");
	ok &= check_eq(ours->v[1], 1100, "address");
	ok &= check_eq(ours->v[2], 1010, "opcode");
	ok &= check_eq(ours->v[3], 1000, "both");
	EXPECT_TRUE(ok);
}

/* --- QPI: transmit filters, and port 2 ----------------------------------- */

static const char *const qpi_traffic[] = {
	"box=qpi_0 event=0x138 dir=tx match0=0x1c00 count=100",
	"box=qpi_0 event=0x138 dir=tx match0=0x1800 count=10",
	"box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=1",
	NULL
};

static const char *const qpi2_traffic[] = {
	"box=qpi_2 event=0x138 dir=rx match0=0x1c00 count=100",
	"box=qpi_2 event=0x138 dir=rx match0=0x1800 count=10",
	NULL
};

static void qpi_filters(enum driver driver, struct notes *n)
{
	n->v[0] = driver_count(driver, "qpi_0",
				"event=0x138,match_tx=1,match_mc=0xe,mask_mc=0xf",
				qpi_traffic);
	n->v[1] = driver_count(driver, "qpi_0",
				"event=0x138,match_mc=0xe,mask_mc=0xf",
				qpi_traffic);
	n->v[2] = driver_count(driver, "qpi_2",
				"event=0x138,match_mc=0xe,mask_mc=0xf",
				qpi2_traffic);
}

/* intel_uncore writes only the receive filters, and knows no filter device of port 2. */
TEST(qpi_transmit_and_port_2_have_no_filters)
{
	bool ok;

	results_of(qpi_filters);
	ok = check_eq(-theirs->v[0], ENOENT, "match_tx under intel_uncore");
	ok &= check_eq(theirs->v[1], 1, "received under intel_uncore");
	ok &= check_eq(ours->v[0], 100, "transmitted");
	ok &= check_eq(ours->v[1], 1, "received");
	/* under intel_uncore no mask of port 2 is set, so no packet is selected */
	ok &= check_eq(theirs->v[2], 0, "port 2 under intel_uncore");
	ok &= check_eq(ours->v[2], 100, "port 2");
	EXPECT_TRUE(ok);
}

/* --- PCU ----------------------------------------------------------------- */

enum { CTL_EXT = 1 << 21 };

/* Count event 0x100, which is undocumented. The driver must not count event 0 instead. */
static void pcu_extension(enum driver driver, struct notes *n)
{
	int fd = open_on(driver, "pcu", "config=0x200000");

	n->v[0] = fd;
	if (fd < 0)
		return;
	n->v[1] = driver_control("pcu") & (CTL_EXT | 0xff);
	sim_advance(1000);
	n->v[2] = event_count(fd);
	close(fd);
}

/* intel_uncore drops the extension bit and counts event 0. */
TEST(pcu_event_select_extension_is_dropped)
{
	bool ok;

	results_of(pcu_extension);
	ok = check(theirs->v[0] >= 0 && ours->v[0] >= 0, "event 0x100 opens");
	ok &= check_eq(theirs->v[1], 0, "event select under intel_uncore");
	ok &= check_eq(theirs->v[2], 1000, "count under intel_uncore");
	ok &= check_eq(ours->v[1], CTL_EXT, "event select");
	ok &= check_eq(ours->v[2], 0, "count");
	EXPECT_TRUE(ok);
}

/* Occupancy event 0x80: transitions to two or more cores in C0 */
static const char pcu_edge_event[] =
	"event=0x80,occ_sel=1,thresh=2,occ_edge=1";

static void pcu_edge(enum driver driver, struct notes *n)
{
	struct perf_event_attr attr;
	uint64_t start;
	int fd;

	pmu_attr(&attr, driver_pmu(driver, "pcu"), "occ_edge=1");
	n->v[0] = attr.config;
	fd = open_on(driver, "pcu", pcu_edge_event);
	n->v[1] = -1;
	if (fd < 0)
		return;
	sim_advance(48);
	start = event_count(fd);
	n->v[2] = sim_cycles();
	sim_advance(1000);
	n->v[1] = event_count(fd) - start;
	close(fd);
}

/* intel_uncore publishes occ_edge as config:14-51. */
TEST(pcu_occupancy_edge_is_elsewhere)
{
	const struct cat_event *e = cat_find_code("pcu", 0x80, 0x40);
	uint64_t want;
	bool ok;

	results_of(pcu_edge);
	ok = check_eq(theirs->v[0], 1 << 14, "occ_edge under intel_uncore");
	ok &= check_eq(ours->v[0], 1U << 31, "occ_edge");
	ASSERT_TRUE(e);
	want = cat_expect(e, (struct shape){ .thresh = 2, .edge = true },
			  ours->v[2], 1000);
	ok &= check(want > 0, "the wave has no edge");
	ok &= check_eq(ours->v[1], want, "edges");
	ok &= check(theirs->v[1] != (int64_t)want,
		    "intel_uncore counts the edges, too");
	EXPECT_TRUE(ok);
}

static void pcu_bands(enum driver driver, struct notes *n)
{
	static const char *const events[] = {
		"config=0x0b,config1=0x0000000a", "config=0x0c,config1=0x00001400",
		"config=0x0d,config1=0x001e0000", "config=0x0e,config1=0x28000000",
	};
	static const unsigned int freq[] = { 15, 25, 35, 45 };
	const char *pmu = driver_pmu(driver, "pcu");
	struct event_group g;
	uint64_t values[4] = { 0 };

	n->v[4] = group_open(&g, pmu, pmu_cpu(pmu, 0), events, 4);
	if (n->v[4])
		return;
	for (int f = 0, count = 1; f < 4; f++, count *= 10)
		for (int band = 0; band < 4; band++)
			sim_traffic("pkg=0 box=pcu event=%#x freq=%u count=%d",
				    0x0b + band, freq[f], count);
	n->v[5] = group_read(&g, values, NULL);
	for (int band = 0; band < 4; band++)
		n->v[band] = values[band];
	group_close(&g);
}

/* intel_uncore shifts the masks of the four bands by bits, and not by bytes. */
TEST(pcu_bands_are_shifted_by_bits)
{
	static const int want[] = { 1111, 1110, 1100, 1000 };
	int wrong = 0;
	bool ok;

	results_of(pcu_bands);
	ok = check(!ours->v[4] && !ours->v[5], "a group of four bands");
	for (int band = 0; band < 4; band++) {
		ok &= check_eq(ours->v[band], want[band], "band %d", band);
		wrong += theirs->v[band] != want[band];
	}
	/* intel_uncore's masks pass a part of the byte of band 0, and no other byte */
	ok &= check_eq(wrong, 3, "bands that are wrong under intel_uncore");
	EXPECT_TRUE(ok);
}

/* --- control registers that must be written twice ------------------------ */

static const struct twice {
	const char *box, *type;
} twice[] = {
	{ "sbox_0", "sbox" }, { "r2pcie", "r2pcie" }, { "r3qpi_0", "r3qpi" },
};

enum { TWICE = sizeof(twice) / sizeof(twice[0]) };

/*
 * Return an event of a box type for counter 0 that counts cycles, other than event 0,
 * which the control register selects after reset.
 */
static const struct cat_event *later_event(const char *type)
{
	for_each_cat_event(e)
		if (!strcmp(e->box, type) && e->code && !e->fixed &&
		    (e->ctrs & 1) && cat_expect(e, (struct shape){ 0 }, 0, 1000))
			return e;
	return NULL;
}

/*
 * Count an event before and after its control register is written twice. This must be
 * the first measurement after a reset of the hardware.
 */
static void write_twice(enum driver driver, struct notes *n)
{
	for (int i = 0; i < TWICE; i++) {
		const struct cat_event *e = later_event(twice[i].type);
		int64_t *v = &n->v[i * 4];
		int fd;

		if (!e)
			continue;
		fd = open_on(driver, twice[i].box, e->string);
		v[0] = sim_cycles();
		sim_advance(1000);
		v[1] = event_count(fd);
		if (driver == IN_TREE &&
		    !in_tree_write_twice(twice[i].box, 0, e->code))
			tap_bail("registers of %s cannot be written",
				 twice[i].box);
		v[2] = sim_cycles();
		sim_advance(1000);
		v[3] = event_count(fd) - v[1];
		close(fd);
	}
}

/* intel_uncore writes these control registers only once: they select another event. */
TEST(control_registers_are_written_once)
{
	results_of(write_twice);
	for (int i = 0; i < TWICE; i++) {
		const struct cat_event *e = later_event(twice[i].type);
		const int64_t *t = &theirs->v[i * 4], *o = &ours->v[i * 4];
		struct shape none = { 0 };
		bool ok;

		ASSERT_TRUE(e);
		ok = check_eq(o[1], cat_expect(e, none, o[0], 1000), "%s",
			      e->name);
		ok &= check_eq(o[3], cat_expect(e, none, o[2], 1000),
			       "%s, later", e->name);
		ok &= check((uint64_t)t[1] != cat_expect(e, none, t[0], 1000),
			    "intel_uncore is right at the first start");
		ok &= check_eq(t[3], cat_expect(e, none, t[2], 1000),
			       "%s under intel_uncore, its register written twice by hand",
			       e->name);
		EXPECT_TRUE(ok) {
			TH_LOG("%s", twice[i].box);
		}
	}
}

/* --- UBox: filter -------------------------------------------------------- */

static const char *const ubox_traffic[] = {
	"box=ubox event=0x42 umask=0x08 tid=0x07 count=100",
	"box=ubox event=0x42 umask=0x08 tid=0x06 count=10",
	"box=ubox event=0x42 umask=0x08 tid=0 count=1",
	NULL
};

static void ubox_filter(enum driver driver, struct notes *n)
{
	n->v[0] = driver_count(driver, "ubox", "config=0x842,config1=0x7",
				ubox_traffic);
}

/* intel_uncore always writes 0 to the UBox's filter. */
TEST(ubox_filter_is_always_0)
{
	bool ok;

	results_of(ubox_filter);
	ok = check_eq(theirs->v[0], 1, "core 3 thread 1 under intel_uncore");
	ok &= check_eq(ours->v[0], 100, "core 3 thread 1");
	EXPECT_TRUE(ok);
}

/* --- HA: an event for one counter only ------------------------------------ */

static const struct cat_event *restricted_event(void)
{
	return cat_find("ha", "conflict_cycles");
}

static void restricted(enum driver driver, struct notes *n)
{
	const struct cat_event *e = restricted_event();

	n->v[0] = sim_cycles();
	n->v[1] = e ? count_cycles(driver, "ha_0", e->string, 1000) : 0;
}

/* intel_uncore counts conflict_cycles on counter 0, which cannot count this event. */
TEST(ha_event_goes_to_the_wrong_counter)
{
	const struct cat_event *e = restricted_event();
	bool ok;

	results_of(restricted);
	ASSERT_TRUE(e);
	ASSERT_EQ(0, e->ctrs & 1);
	ok = check_eq(ours->v[1], cat_expect(e, (struct shape){ 0 }, ours->v[0],
					     1000), "%s", e->name);
	ok &= check_eq(theirs->v[1], 0, "%s under intel_uncore", e->name);
	EXPECT_TRUE(ok);
}

/* --- sampling ------------------------------------------------------------ */

enum { PERIOD = 100000, SAMPLES = 10 };

/* Count the PERF_RECORD_SAMPLE records in a ring of one page, up to @wanted. */
static int samples(const struct perf_event_mmap_page *ring, size_t page,
		   int wanted)
{
	const char *data = (const char *)ring + page;
	uint64_t head, at = 0;
	int n = 0;

	/* an irq_work delivers the samples a moment after the overflow: wait */
	for (int i = 0; i < 500 && n < wanted; i++) {
		head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
		while (at < head) {
			const struct perf_event_header *h =
				(const void *)(data + at % page);

			n += h->type == PERF_RECORD_SAMPLE;
			at += h->size;
		}
		if (n < wanted)
			usleep(10000);
	}
	return n;
}

static void sampling(enum driver driver, struct notes *n)
{
	const char *pmu = driver_pmu(driver, "imc_0");
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	void *ring;
	int fd;

	pmu_attr(&attr, pmu, "config=0");
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_TIME;
	fd = perf_open(&attr, -1, pmu_cpu(pmu, 0), -1);
	n->v[0] = fd;
	if (fd < 0)
		return;
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	sim_advance(SAMPLES * PERIOD);
	n->v[1] = samples(ring, page, SAMPLES);
	munmap(ring, 2 * page);
	close(fd);
}

/* intel_uncore refuses a sampling event with EINVAL. */
TEST(sampling_is_refused)
{
	bool ok;

	results_of(sampling);
	ok = check_eq(-theirs->v[0], EINVAL, "intel_uncore");
	ok &= check(ours->v[0] >= 0, "xeon_uncore: %s", strerror(-ours->v[0]));
	ok &= check_eq(ours->v[1], SAMPLES, "samples in %d periods", SAMPLES);
	EXPECT_TRUE(ok);
}

/* --- local reads --------------------------------------------------------- */

/* MSR writes on @cpu and on other CPUs */
struct programmers {
	int cpu, on_cpu, elsewhere;
};

static void note_programmer(const struct sim_access *a, void *arg)
{
	struct programmers *p = arg;

	if (a->type != SIM_WRMSR)
		return;
	if (a->cpu == p->cpu)
		p->on_cpu++;
	else
		p->elsewhere++;
}

/* Read an event in a BPF program on a CPU of package 0 that is not in the cpumask. */
static void local_reads(enum driver driver, struct notes *n)
{
	const char *pmu = driver_pmu(driver, "cbox_0");
	int cpu = package_cpu(0, 0);
	struct programmers writers;
	uint32_t value = 0;
	int fd, copy;

	if (cpu == pmu_cpu(pmu, 0))
		cpu = package_cpu(0, 1);
	n->v[0] = cpu;
	if (cpu < 0)
		return;
	writers = (struct programmers){ .cpu = cpu };
	sim_trace_clear();
	fd = event_open(pmu, cpu, "config=0");
	sim_trace(note_programmer, &writers);
	n->v[1] = writers.on_cpu;
	n->v[2] = writers.elsewhere;
	/* local=1: a copy that stays on its CPU, which intel_uncore does not have */
	copy = driver == OURS ? event_open(pmu, cpu, "config=0,local=1") : fd;
	sim_advance(1234);
	n->v[3] = bpf_event_read(copy, cpu, &value);
	n->v[4] = value;
	n->v[5] = event_count(fd);
	if (copy != fd)
		close(copy);
	close(fd);
}

/* intel_uncore has no copies that stay on a CPU. */
TEST(local_reads_have_no_copies)
{
	bool ok = true;

	results_of(local_reads);
	if (ours->v[0] < 0)
		SKIP(return, "package 0 has one CPU only");
	if (ours->v[3] == -ENOSYS)
		SKIP(return, "this kernel does not run the BPF program");
	ok &= check(!theirs->v[1] && theirs->v[2],
		    "intel_uncore programs the box on that CPU");
	/* from Linux 6.8 on a BPF program can read all events of its package */
	if (theirs->v[3])
		ok &= check_eq(-theirs->v[3], EINVAL,
			       "a BPF program's read under intel_uncore");
	else
		ok &= check_eq(theirs->v[4], 1234,
			       "what the BPF program reads under intel_uncore");
	ok &= check(!ours->v[1] && ours->v[2],
		    "xeon_uncore programs the box on that CPU");
	ok &= check_eq(-ours->v[3], 0, "a BPF program's read of a copy");
	ok &= check_eq(ours->v[4], 1234, "what the BPF program reads of it");
	ok &= check_eq(ours->v[5], 1234, "what read() reads");
	ok &= check_eq(theirs->v[5], 1234, "what read() reads under intel_uncore");
	EXPECT_TRUE(ok);
}

/* --- group reads; with the clock running --------------------------------- */

enum { READS = 2000 };

/* Return in how many group reads two counters of the same event differ, or -1. */
static int64_t differing_reads(enum driver driver, const char *box)
{
	static const char *const events[] = { "config=0", "config=0x1000000" };
	const char *pmu = driver_pmu(driver, box);
	struct perf_event_attr attrs[2];
	struct event_group g;
	uint64_t values[2];
	int differ = 0;

	for (int i = 0; i < 2; i++)
		pmu_attr(&attrs[i], pmu, events[i]);
	/* both must start in the same cycle */
	attrs[0].disabled = 1;
	if (group_open_attr(&g, attrs, pmu_cpu(pmu, 0), 2) ||
	    ioctl(g.fd[0], PERF_EVENT_IOC_ENABLE, 0))
		return -1;
	for (int i = 0; i < READS; i++) {
		if (group_read(&g, values, NULL))
			return -1;
		differ += values[0] != values[1];
	}
	group_close(&g);
	return differ;
}

static void group_reads(enum driver driver, struct notes *n)
{
	/*
	 * Reads in a row freeze the boxes for more than a hundredth of the time, the
	 * default freeze budget.
	 */
	if (driver == OURS)
		check(!driver_freeze_budget(1000), "freeze_budget");
	n->v[0] = differing_reads(driver, "cbox_0");
	n->v[1] = differing_reads(driver, "imc_0");
}

/* intel_uncore does not read a group at one instant. */
TEST(group_reads_are_not_of_one_instant)
{
	static const char *const boxes[] = { "cbox_0", "imc_0" };

	results_of(group_reads);
	for (int i = 0; i < 2; i++) {
		TH_LOG("%s: %d of %d reads differ under intel_uncore", boxes[i],
		       (int)theirs->v[i], READS);
		EXPECT_LT(0, theirs->v[i]);
		EXPECT_EQ(0, ours->v[i]);
	}
}

/* --- measurements --------------------------------------------------------- */

static const struct measurement {
	const char *sim_params;		/* hardware after reset; NULL: keep the state */
	void (*run)(enum driver driver, struct notes *n);
} measurements[] = {
	{ "clock=manual", write_twice },
	{ "clock=manual", named_events },
	{ NULL, cbox_invert },
	{ NULL, ha_match },
	{ NULL, qpi_filters },
	{ NULL, pcu_extension },
	{ NULL, pcu_edge },
	{ NULL, pcu_bands },
	{ NULL, ubox_filter },
	{ NULL, restricted },
	{ NULL, sampling },
	{ NULL, local_reads },
	{ "clock=real", group_reads },
};

enum { MEASUREMENTS = sizeof(measurements) / sizeof(measurements[0]) };

static struct notes notes[DRIVERS][MEASUREMENTS];

static void results_of(void (*measurement)(enum driver driver, struct notes *n))
{
	int i = 0;

	while (measurements[i].run != measurement)
		i++;
	theirs = &notes[IN_TREE][i];
	ours = &notes[OURS][i];
}

/* Run all measurements under one driver, then under the other. The tests compare. */
static void __attribute__((constructor)) measure_both(void)
{
	if (!in_tree_exists())
		tap_skip_all("no intel_uncore module for this kernel");
	for (int d = 0; d < DRIVERS; d++) {
		for (int i = 0; i < MEASUREMENTS; i++) {
			if (measurements[i].sim_params)
				driver_setup(d, measurements[i].sim_params);
			measurements[i].run(d, &notes[d][i]);
		}
		driver_none();
	}
}

TEST_HARNESS_MAIN

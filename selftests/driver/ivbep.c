// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features that only Ivy Bridge has: a second filter register of the CBo, a bit in the
 * home agent's control registers that clears the occupancy of a queue, a fifth control
 * register of the iMC, and invert in the iMC only. Where the manual, the datasheet and
 * the in-tree driver differ, porting.rst names the source that the driver follows. Other
 * test programs cover features of all generations.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define BIT(n)		(1ULL << (n))
#define NO_SHAPE	((struct shape){ 0 })

enum { BOXES = 36, CYCLES = 1009, OVERFLOWS = 3, TRACE_LENGTH = 4096 };

/* PCI device numbers of home agents and iMCs, their registers, bits of the controls */
enum { HA_0 = 14, HA_1 = 28, IMC_0 = 16, IMC_1 = 30 };
enum { CTL_FIRST = 0xd8, CTL_LAST = 0xe4, CTL_FIFTH = 0xe8 };
enum { CTL_QUEUE_RST = 16, CTL_RST = 17, CTL_EN = 22, CTL_INVERT = 23 };
enum { DEVICE_HA_0 = 0x0e30 };

static void __attribute__((constructor)) need_ivy_bridge(void)
{
	if (strcmp(generation()->name, "ivbep"))
		tap_skip_all("this processor is not Ivy Bridge");
	if (packages() < 2)
		tap_skip_all("needs two packages");
}

/* --- register writes ---------------------------------------------------------- */

/* Accesses of PCI control registers, by the bits that a write sets */
struct seen {
	unsigned int controls, queue_resets, resets, inverts, fifths;
};

static void note(const struct sim_access *a, void *arg)
{
	bool imc = a->device == IMC_0 || a->device == IMC_1;
	bool ha = a->device == HA_0 || a->device == HA_1;
	struct seen *s = arg;

	if (a->type != SIM_PCIRD && a->type != SIM_PCIWR)
		return;
	s->fifths += imc && a->reg == CTL_FIFTH;
	if (a->type != SIM_PCIWR || a->reg < CTL_FIRST || a->reg > CTL_LAST)
		return;
	s->controls++;
	s->queue_resets += ha && a->value & BIT(CTL_QUEUE_RST);
	s->resets += !!(a->value & BIT(CTL_RST));
	s->inverts += !imc && a->value & BIT(CTL_INVERT);
}

FIXTURE(controls)
{
	unsigned int written;	/* control registers, so far */
};

FIXTURE_SETUP(controls)
{
	ASSERT_EQ(0, -max_sample_rate(100000000));
	machine_setup_sim("clock=manual");
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	/* at load the driver measured which CPUs a PMI interrupts: drop these accesses */
	sim_trace_clear();
}

FIXTURE_TEARDOWN(controls)
{
	expect_nothing_left(_metadata);
}

/*
 * Check that since the last call no write has cleared a queue or a counter or inverted
 * outside of the iMCs, and that the fifth control was not accessed. Add the number of
 * writes of controls to @written.
 */
static void expect_no_clears(struct __test_metadata *_metadata,
			     unsigned int *written, const char *when)
{
	struct seen s = { 0 };
	int n = sim_trace(note, &s);

	EXPECT_GT(n, 0);
	EXPECT_LT(n, TRACE_LENGTH) {
		TH_LOG("%s: not all are in the trace", when);
	}
	EXPECT_EQ(0, s.queue_resets) {
		TH_LOG("%s: resets of a home agent's queue", when);
	}
	EXPECT_EQ(0, s.resets) {
		TH_LOG("%s: resets of a counter by its control", when);
	}
	EXPECT_EQ(0, s.inverts) {
		TH_LOG("%s: inverts in other boxes than iMCs", when);
	}
	EXPECT_EQ(0, s.fifths) {
		TH_LOG("%s: accesses of the iMC's fifth control", when);
	}
	*written += s.controls;
	sim_trace_clear();
}

/* Check that the count of an occupancy is exact while other events open and close. */
static void expect_occupancy_counts(struct __test_metadata *_metadata)
{
	const struct cat_event *e = cat_find("ha", "bt_occupancy.local");
	char pmu[PMU_NAME_MAX];
	uint64_t start;
	int fd, other;

	ASSERT_NE(NULL, e);
	ASSERT_TRUE(pmu_name(pmu, "ha", 1));
	start = sim_cycles();
	fd = event_open(pmu, pmu_cpu(pmu, 0), "%s", e->string);
	ASSERT_GE(fd, 0) {
		TH_LOG("%s: %s", e->name, strerror(-fd));
	}
	for (int i = 0; i < 5; i++) {
		other = event_open(pmu, pmu_cpu(pmu, 0), "event=0,thresh=%d", i);
		ASSERT_GE(other, 0) {
			TH_LOG("another: %s", strerror(-other));
		}
		sim_advance(CYCLES);
		close(other);
	}
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, 5 * CYCLES), event_count(fd));
	close(fd);
}

TEST_F(controls, counting_never_clears_a_queue)
{
	EXPECT_EQ(BOXES, pmus_there());
	for (int pkg = 0; pkg < packages(); pkg++) {
		EXPECT_EQ(BOXES, boxes_that_count(pkg, CYCLES)) {
			TH_LOG("of package %d", pkg);
		}
		expect_no_clears(_metadata, &self->written, "counting");
	}
	expect_occupancy_counts(_metadata);
	expect_no_clears(_metadata, &self->written, "an occupancy beside others");
	EXPECT_GT(self->written, 0) {
		TH_LOG("no control was written at all");
	}
}

/*
 * Sampling and unloading do not clear a queue either, and do not access the iMC's fifth
 * control.
 */
TEST_F(controls, sampling_and_unloading_never_do)
{
	static const char *const types[] = { "ha", "imc", "cbox", "pcu" };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		EXPECT_TRUE(samples_exactly(types[i], i % packages(), OVERFLOWS));
		expect_no_clears(_metadata, &self->written, "sampling");
	}
	EXPECT_EQ(0, -driver_unload());
	expect_no_clears(_metadata, &self->written, "unloading");
	EXPECT_GT(self->written, 0) {
		TH_LOG("no control was written at all");
	}
}

/* --- clearing a queue ------------------------------------------------------------ */

/*
 * Find the home agent 0 in which a counter is enabled for @event. Return a descriptor of
 * its PCI configuration space, and set @reg to the counter's control register. Return -1
 * if no home agent 0 counts the event.
 */
static int find_control(uint32_t event, off_t *reg)
{
	glob_t functions;
	int config = -1;

	if (glob("/sys/bus/pci/devices/*/config", 0, NULL, &functions))
		return -1;
	for (size_t i = 0; i < functions.gl_pathc && config < 0; i++) {
		int fd = open(functions.gl_pathv[i], O_RDWR | O_CLOEXEC);
		uint32_t id = 0, ctl;

		if (fd < 0)
			continue;
		for (*reg = CTL_FIRST; config < 0 && *reg <= CTL_LAST; *reg += 4) {
			if (pread(fd, &id, sizeof(id), 0) == sizeof(id) &&
			    id >> 16 == DEVICE_HA_0 &&
			    pread(fd, &ctl, sizeof(ctl), *reg) == sizeof(ctl) &&
			    ctl == (event | BIT(CTL_EN)))
				config = fd;
		}
		if (config < 0)
			close(fd);
		else
			*reg -= 4;
	}
	globfree(&functions);
	return config;
}

/* Return the number of entries in the queue in a cycle. */
static uint64_t occupancy(const struct cat_event *e, uint64_t cycle)
{
	return cat_expect(e, NO_SHAPE, cycle, 1);
}

FIXTURE(ivbep) {};

FIXTURE_SETUP(ivbep)
{
	log_mark();
	machine_setup("clock=manual", "");
}

FIXTURE_TEARDOWN(ivbep)
{
	expect_nothing_left(_metadata);
}

/*
 * Table 2-40: the reason why the driver never clears a queue's occupancy. Entries that
 * are in the queue at that moment are not counted until the queue has been empty.
 */
TEST_F(ivbep, cleared_queue_lacks_what_was_in_it_until_it_is_empty)
{
	const struct cat_event *e = cat_find("ha", "bt_occupancy.local");
	const uint32_t event = 0x43 | 0x01 << 8;
	uint64_t previous, counted = 0, sum = 0, before, start;
	const uint32_t clear = event | BIT(CTL_EN) | BIT(CTL_QUEUE_RST);
	char pmu[PMU_NAME_MAX];
	int fd, config;
	off_t reg = 0;

	ASSERT_NE(NULL, e);
	ASSERT_TRUE(pmu_name(pmu, "ha", 0));
	fd = event_open(pmu, pmu_cpu(pmu, 1), "%s", e->string);
	ASSERT_GE(fd, 0) {
		TH_LOG("%s", strerror(-fd));
	}
	config = find_control(event, &reg);
	ASSERT_GE(config, 0) {
		TH_LOG("no control register has it");
	}
	/* go to a cycle in which the queue has entries, and had some just before */
	do
		sim_advance(1);
	while (!(occupancy(e, sim_cycles() - 1) && occupancy(e, sim_cycles())));
	start = sim_cycles();
	before = event_count(fd);
	ASSERT_EQ(sizeof(clear), pwrite(config, &clear, sizeof(clear), reg));
	previous = occupancy(e, start - 1);
	for (int i = 0; i < CYCLES; i++) {
		uint64_t entries = occupancy(e, sim_cycles());

		counted = counted + entries > previous ? counted + entries - previous : 0;
		previous = entries;
		sum += counted;
		sim_advance(1);
		ASSERT_EQ(sum, event_count(fd) - before) {
			TH_LOG("%d cycles after it was cleared", i + 1);
		}
	}
	EXPECT_LT(sum, cat_expect(e, NO_SHAPE, start, CYCLES)) {
		TH_LOG("nothing is missing");
	}
	start = sim_cycles();
	before = event_count(fd);
	sim_advance(CYCLES);
	EXPECT_EQ(cat_expect(e, NO_SHAPE, start, CYCLES),
		  event_count(fd) - before) {
		TH_LOG("since it has been empty");
	}
	close(config);
	close(fd);
}

/* --- the CBo's filters --------------------------------------------------------- */

/*
 * The register and field of each filter. Other fields of the register are not checked:
 * fields that no event uses may keep their values.
 */
static const struct {
	const char *event, *reg;
	uint64_t field, value;
} filters[] = {
	{ "event=0x34,umask=0x11,filter_state=0x21", "filter0",
	  0x3f << 17, 0x21 << 17 },
	{ "event=0x35,umask=0x01,filter_opc=0x182", "filter1",
	  0x1ff << 20, 0x182 << 20 },
	{ "event=0x35,umask=0x41,filter_opc=0x187,filter_nid=0x8001", "filter1",
	  0x1ff << 20 | 0xffff, 0x187 << 20 | 0x8001 },
	{ "event=0x35,umask=0x08,tid_en=1,filter_tid=0x1f", "filter0",
	  0x1f, 0x1f },
	{ "event=0x35,umask=0x48,filter_nid=0x4", "filter1", 0xffff, 0x4 },
};

TEST_F(ivbep, two_filter_registers_hold_what_they_are_for)
{
	char pmu[PMU_NAME_MAX];

	ASSERT_TRUE(pmu_name(pmu, "cbox", 14));
	for (unsigned int i = 0; i < ARRAY_SIZE(filters); i++) {
		char name[32] = "cbox_14 ";
		uint64_t value = 0;
		int fd = event_open(pmu, pmu_cpu(pmu, 1), "%s", filters[i].event);

		ASSERT_GE(fd, 0) {
			TH_LOG("%s: %s", filters[i].event, strerror(-fd));
		}
		sim_register(1, strcat(name, filters[i].reg), &value);
		EXPECT_EQ(filters[i].value, value & filters[i].field) {
			TH_LOG("%s: %s", filters[i].event, filters[i].reg);
		}
		close(fd);
	}
}

/* --- invert ---------------------------------------------------------------------- */

/* The datasheet has invert in the iMC's controls; the in-tree driver does not. */
TEST_F(ivbep, imc_inverts)
{
	const struct shape below = { .thresh = 3, .invert = true };
	const struct cat_event *e = NULL;
	char pmu[PMU_NAME_MAX];
	uint64_t start, ctl = 0;
	size_t n;
	const struct cat_event *events = catalogue(&n);
	int fd;

	for (size_t i = 0; i < n && !e; i++)
		if (cat_is_plain(&events[i], "imc") && events[i].max_inc > below.thresh)
			e = &events[i];
	ASSERT_NE(NULL, e);
	ASSERT_TRUE(pmu_name(pmu, "imc", 7));
	start = sim_cycles();
	fd = event_open(pmu, pmu_cpu(pmu, 0), "%s,inv=1,thresh=%u", e->string,
			below.thresh);
	ASSERT_GE(fd, 0) {
		TH_LOG("%s: %s", e->name, strerror(-fd));
	}
	sim_advance(CYCLES);
	for (int i = 0; i < 4 && !ctl; i++) {
		char name[] = "imc_7 ctl0";

		name[sizeof(name) - 2] += i;
		sim_register(0, name, &ctl);
	}
	EXPECT_NE(0, ctl & BIT(CTL_INVERT));
	EXPECT_EQ(cat_expect(e, below, start, CYCLES), event_count(fd));
	close(fd);
}

TEST_F(ivbep, invert_of_other_boxes_is_refused)
{
	unsigned int tried = 0;
	char pmu[PMU_NAME_MAX];

	for (unsigned int k = 0; *box_types[k]; k++) {
		if (!strcmp(box_types[k], "imc") || !pmu_name(pmu, box_types[k], 0))
			continue;
		EXPECT_EQ(EINVAL, -event_open(pmu, pmu_cpu(pmu, 0), "config=%#llx",
					      BIT(CTL_INVERT))) {
			TH_LOG("%s with bit %d", pmu, CTL_INVERT);
		}
		tried++;
	}
	EXPECT_GT(tried, 0);
}

TEST_F(ivbep, bits_of_a_home_agent_that_clear_are_refused)
{
	char pmu[PMU_NAME_MAX];

	ASSERT_TRUE(pmu_name(pmu, "ha", 0));
	for (int bit = CTL_QUEUE_RST; bit <= CTL_RST; bit++) {
		EXPECT_EQ(EINVAL, -event_open(pmu, pmu_cpu(pmu, 0), "config=%#llx",
					      BIT(bit))) {
			TH_LOG("bit %d", bit);
		}
	}
}

TEST_HARNESS_MAIN

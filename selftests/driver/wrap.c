// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver extends counters that wrap around exactly. While an event counts, the
 * tests set its counter close to its end by direct register writes, without the driver.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

enum {
	AHEAD = 100,		/* cycles before the end */
	CYCLES = 2500,
	MAX_COUNTERS = 32,
};

/* A counter of a box */
struct place {
	const char *type;
	unsigned int box;
	bool last;		/* the last box, which differs between machines */
	const char *event;	/* NULL: the first event of the catalogue */
	bool fixed;
	bool disputed;		/* 44 or 48 bits, as the simulator's counter_bits says */
	bool joint;		/* 32 bits, the lower half of the control register */
};

static struct place places[] = {
	{ .type = "ubox", .disputed = true },
	{ .type = "ubox", .disputed = true, .fixed = true, .event = "uclk" },
	{ .type = "cbox", .box = 0 },
	{ .type = "cbox", .last = true },
	{ .type = "sbox", .box = 3, .disputed = true },
	{ .type = "pcu" },
	{ .type = "ha", .box = 1 },
	{ .type = "imc", .box = 0 },
	{ .type = "imc", .last = true, .fixed = true, .event = "dclk" },
	{ .type = "irp", .box = 1 },
	{ .type = "qpi", .box = 2 },
	{ .type = "r2pcie" },
	{ .type = "r3qpi", .box = 1, .disputed = true },
};

/* Counters of Xeon 7100 and 7400. Look-ups and snoops have no waveforms. */
static struct place front_side[] = {
	{ .type = "fsb", .joint = true, .event = "bus_clocks" },
	{ .type = "fsb", .joint = true, .event = "drdy" },
};

static struct place *the_places = places;
static unsigned int n_places = ARRAY_SIZE(places);

/* Fill in the numbers of the last boxes of this generation. */
static void find_last_boxes(void)
{
	for (unsigned int i = 0; i < n_places; i++)
		if (places[i].last)
			places[i].box = most_boxes(places[i].type) - 1;
}

static bool in_pci_space(const struct place *place)
{
	const struct box_type *type = box_type(place->type);

	return type && type->pci;
}

static void __attribute__((constructor)) prepare(void)
{
	if (system("modprobe msr"))
		tap_skip_all("no msr module");
	find_last_boxes();
	if (!generation()->one_a_cycle)
		return;
	the_places = front_side;
	n_places = ARRAY_SIZE(front_side);
}

/* An event that counts on the counter @place of a package */
struct counter {
	const struct place *place;
	const struct cat_event *event;
	int pkg, cpu, fd;
	unsigned int number;		/* of the counter in its box */
	char function[16];		/* PCI function */
	bool high_seen;			/* the driver has read the high half */
	bool ok;
};

/* Return the event that the counter counts, or NULL. */
static const struct cat_event *event_of(const struct place *place)
{
	if (place->event)
		return cat_find(place->type, place->event);
	for_each_cat_event(e)
		if (!strcmp(e->box, place->type) && !e->fixed && !e->free &&
		    e->ctrs & 1)
			return e;
	return NULL;
}

/* Find the counter that the driver chose, by the control register that is set. */
static bool counter_of(int pkg, const char *box, unsigned int *number)
{
	char name[80];
	uint64_t value;

	for (*number = 0; *number < 4; ++*number) {
		snprintf(name, sizeof(name), "%s ctl%u", box, *number);
		if (sim_register(pkg, name, &value))
			return true;
	}
	return false;
}

/* Open the event of a counter in a package, and find the counter. */
static void open_counter(struct counter *c, const struct place *place, int pkg)
{
	char pmu[PMU_NAME_MAX];

	*c = (struct counter){ .place = place, .pkg = pkg, .fd = -1 };
	c->event = event_of(place);
	if (!c->event || !pmu_name(pmu, place->type, place->box))
		return;
	c->cpu = pmu_cpu(pmu, pkg);
	c->fd = event_open(pmu, c->cpu, "config=%#" PRIx64, c->event->config);
	c->ok = check(c->fd >= 0, "%s: open: %s", pmu, strerror(-c->fd));
	if (c->ok && !place->fixed)
		c->ok = check(counter_of(pkg, pmu_box(pmu), &c->number),
			      "%s: no control register set", pmu);
	if (in_pci_space(place))
		c->ok &= check(pci_find(c->function, place->type, place->box, "box", pkg),
			       "no PCI function of %s", pmu);
}

/* Return the width of a counter in bits. Fixed counters always have 48 bits. */
static unsigned int width_of(const struct place *place, int counter_bits)
{
	if (place->joint)
		return 32;
	return place->disputed && !place->fixed ? counter_bits : 48;
}

/* Address of general counter @number of a box: an MSR, or an offset in the box's function */
static uint32_t counter_address(const char *type, unsigned int box, unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), generation()->one_a_cycle ? "ctl%u" : "ctr%u", number);
	return box_register(type, box, name);
}

static uint32_t address_of(const struct counter *c)
{
	if (c->place->fixed)
		return box_register(c->place->type, c->place->box, "fixed_ctr");
	return counter_address(c->place->type, c->place->box, c->number);
}

/* Write a counter without the driver, as wrmsr and setpci do. */
static bool set_register(struct counter *c, uint64_t value)
{
	uint32_t address = address_of(c);

	if (c->place->joint)
		value |= c->event->config;
	if (!in_pci_space(c->place))
		return !msr_write(c->cpu, address, value);
	return !pci_config_write(c->function, address, value) &&
	       !pci_config_write(c->function, address + 4, value >> 32);
}

/* Read a counter without the driver, as rdmsr and setpci do. */
static bool get_register(struct counter *c, uint64_t *value)
{
	uint32_t address = address_of(c), low, high;

	if (!in_pci_space(c->place)) {
		if (msr_read(c->cpu, address, value))
			return false;
		*value &= c->place->joint ? 0xffffffff : ~0ULL;
		return true;
	}
	if (pci_config_read(c->function, address, &low) ||
	    pci_config_read(c->function, address + 4, &high))
		return false;
	*value = low | (uint64_t)high << 32;
	return true;
}

/* Note whether an access of the trace reads the high half of the counter @arg. */
static void look_for_high(const struct sim_access *a, void *arg)
{
	struct counter *c = arg;
	unsigned int bus, device, function;

	if (sscanf(c->function, "%*x:%x:%x.%x", &bus, &device, &function) == 3 &&
	    a->type == SIM_PCIRD && a->bus == bus && a->device == device &&
	    a->function == function &&
	    a->reg == address_of(c) + 4)
		c->high_seen = true;
}

/*
 * Make the driver read the values that the test has written into the registers. The
 * driver does not read the high half of a PCI counter if, by real time and the event's
 * largest increment, the low half cannot have wrapped since the last read. But a write
 * by the test changes both halves. So read all events once a second until the driver
 * has read the high halves.
 */
static void absorb(struct counter *counters, unsigned int n, uint64_t *count)
{
	unsigned int left;

	for (unsigned int tries = 0; tries < 10; tries++) {
		if (tries)
			sleep(1);
		left = 0;
		for (unsigned int i = 0; i < n; i++) {
			struct counter *c = &counters[i];

			if (c->high_seen)
				continue;
			sim_trace_clear();
			count[i] = event_count(c->fd);
			if (in_pci_space(c->place))
				sim_trace(look_for_high, c);
			else
				c->high_seen = true;
			left += !c->high_seen;
		}
		if (!left)
			return;
	}
	for (unsigned int i = 0; i < n; i++)
		counters[i].ok &= check(counters[i].high_seen,
					"%s_%u: the high half is never read",
					counters[i].place->type,
					counters[i].place->box);
}

static uint64_t near_end(unsigned int width)
{
	return (1ULL << width) - AHEAD;
}

static uint64_t near_half(unsigned int width)
{
	(void)width;
	return 0x1234ffffff9cULL;	/* the low half carries after AHEAD counts */
}

static void show(const struct counter *c, unsigned int width)
{
	tap_diag("%s_%u of package %d, %s counter %u of %u bits", c->place->type,
		 c->place->box, c->pkg, c->place->fixed ? "fixed" : "general",
		 c->number, width);
}

FIXTURE(over) {};

FIXTURE_VARIANT(over)
{
	int counter_bits;
	uint64_t (*preset)(unsigned int width);
	bool pci_only;
};

FIXTURE_VARIANT_ADD(over, the_end_of_48_bits) { .counter_bits = 48, .preset = near_end };
FIXTURE_VARIANT_ADD(over, the_end_of_44_bits) { .counter_bits = 44, .preset = near_end };

FIXTURE_VARIANT_ADD(over, the_carry_into_the_high_half)
{
	.counter_bits = 48, .preset = near_half, .pci_only = true,
};

FIXTURE_SETUP(over)
{
	char params[64];

	snprintf(params, sizeof(params), "clock=manual counter_bits=%d",
		 variant->counter_bits);
	machine_setup(params, "");
	log_mark();
}

FIXTURE_TEARDOWN(over)
{
	EXPECT_TRUE(log_clean());
	EXPECT_TRUE(machine_leave());
}

/*
 * Set every counter to a value close to its end, and let cycles pass that make it wrap.
 */
TEST_F(over, counts_and_registers_are_exact)
{
	static struct counter counters[MAX_COUNTERS];
	uint64_t before[MAX_COUNTERS], start, gained, raw;
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_places; i++)
		if ((the_places[i].disputed || variant->counter_bits == 48) &&
		    (!variant->pci_only || in_pci_space(&the_places[i]))) {
			open_counter(&counters[n], &the_places[i],
				     n % packages());
			n++;
		}
	if (!n)
		SKIP(return, "no such counters");
	sim_advance(1000);
	for (unsigned int i = 0; i < n; i++) {
		struct counter *c = &counters[i];
		unsigned int width = width_of(c->place, variant->counter_bits);

		ASSERT_TRUE(c->ok) {
			TH_LOG("%s_%u does not count", c->place->type, c->place->box);
		}
		ASSERT_TRUE(set_register(c, variant->preset(width)));
	}
	absorb(counters, n, before);
	start = sim_cycles();
	sim_advance(CYCLES);
	for (unsigned int i = 0; i < n; i++) {
		struct counter *c = &counters[i];
		unsigned int width = width_of(c->place, variant->counter_bits);

		raw = 0;
		gained = cat_expect(c->event, (struct shape){ 0 }, start, CYCLES);
		EXPECT_TRUE(c->ok);
		EXPECT_GT(gained, AHEAD) {
			TH_LOG("the event is too rare");
		}
		EXPECT_EQ(gained, event_count(c->fd) - before[i]) {
			show(c, width);
		}
		EXPECT_TRUE(get_register(c, &raw));
		EXPECT_EQ((variant->preset(width) + gained) & ((1ULL << width) - 1),
			  raw) {
			show(c, width);
		}
		close(c->fd);
	}
}

/* --- the driver's timer -------------------------------------------------- */

/* MSRs that the timer must read */
struct read_watch {
	const uint32_t *msr;
	unsigned int msrs;
	unsigned int seen;	/* MSRs that have been read, a bit each */
};

static void watch_reads(const struct sim_access *a, void *arg)
{
	struct read_watch *w = arg;

	for (unsigned int i = 0; i < w->msrs; i++)
		if (a->type == SIM_RDMSR && a->reg == w->msr[i])
			w->seen |= 1U << i;
}

/*
 * Wait until the driver's timer has read all of the MSRs. The caller does not read events
 * meanwhile, so no other read is in the trace.
 */
static bool wait_for_timer(const uint32_t *msr, unsigned int msrs)
{
	const unsigned int all = (1U << msrs) - 1;
	struct read_watch w = { .msr = msr, .msrs = msrs };
	unsigned int tries = 0;

	for (sim_trace_clear(); w.seen != all && tries++ < 12000; usleep(10000)) {
		w.seen = 0;
		sim_trace(watch_reads, &w);
	}
	return check(w.seen == all,
		     "the timer has not read MSR %#x in two minutes",
		     msr[w.seen & 1]);
}

FIXTURE(timer) {};

FIXTURE_SETUP(timer)
{
	log_mark();
}

FIXTURE_TEARDOWN(timer)
{
	EXPECT_TRUE(log_clean());
	EXPECT_TRUE(machine_leave());
}

/*
 * Each round advances the 32-bit free-running counter, and the low halves of wider
 * counters, by half their range. If the timer did not read the counters in each round,
 * a read after three rounds would be ambiguous.
 */
TEST_F(timer, follows_narrow_counters_and_low_halves_around)
{
	enum { ROUNDS = 3 };
	static const struct {
		const char *type, *event;
	} watched[] = {
		{ "qpi", "link_idle" }, { "qpi", "clockticks" },
		{ "imc", "dclk" }, { "imc", "clockticks" }, { "ha", "clockticks" },
		{ "cbox", "clockticks" },
	};
	int fd[ARRAY_SIZE(watched)];
	char pmu[PMU_NAME_MAX];
	unsigned int number;
	uint32_t msr;

	if (generation()->one_a_cycle)
		SKIP(return, "no such counters");
	machine_setup("clock=manual", "");
	for (unsigned int i = 0; i < ARRAY_SIZE(watched); i++) {
		ASSERT_TRUE(pmu_name(pmu, watched[i].type, 0));
		fd[i] = event_open(pmu, pmu_cpu(pmu, 0), "%s",
				   watched[i].event);
		ASSERT_GE(fd[i], 0) {
			TH_LOG("%s/%s/", pmu, watched[i].event);
		}
	}
	ASSERT_TRUE(counter_of(0, "cbox_0", &number));
	msr = counter_address("cbox", 0, number);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_TRUE(wait_for_timer(&msr, 1));
		sim_advance(1ULL << 31);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(watched); i++) {
		EXPECT_EQ(ROUNDS * (1ULL << 31), event_count(fd[i])) {
			TH_LOG("%s/%s/", watched[i].type, watched[i].event);
		}
		close(fd[i]);
	}
}

/*
 * The driver does not count the value that another program writes into a counter: it
 * detects an impossible growth and continues from the new value, also when the counter
 * wraps.
 */
TEST_F(timer, follows_written_counters_over_their_end)
{
	static const struct {
		const char *type;
		unsigned int width;
	} watched[] = {
		{ "cbox", 48 }, { "sbox", 44 },
	};
	enum { N = ARRAY_SIZE(watched), LAPS = 2 };
	uint64_t start, counted[N] = { 0 }, before[N], foreign;
	const struct cat_event *e[N];
	char pmu[PMU_NAME_MAX];
	unsigned int number;
	uint32_t msr[N];
	int fd[N], idle;

	if (generation()->one_a_cycle)
		SKIP(return, "no such counters");
	machine_setup("clock=manual counter_bits=44", "");
	/* An event on a 32-bit counter makes the timer read counters more often. */
	ASSERT_TRUE(pmu_name(pmu, "qpi", 0));
	idle = event_open(pmu, pmu_cpu(pmu, 0), "link_idle");
	ASSERT_GE(idle, 0);
	for (unsigned int i = 0; i < N; i++) {
		e[i] = cat_find_code(watched[i].type, 0, 0);
		ASSERT_NE(NULL, e[i]);
		ASSERT_TRUE(pmu_name(pmu, watched[i].type, 0));
		fd[i] = event_open(pmu, pmu_cpu(pmu, 0), "event=0");
		ASSERT_GE(fd[i], 0);
		ASSERT_TRUE(counter_of(0, pmu_box(pmu), &number));
		msr[i] = counter_address(watched[i].type, 0, number);
	}
	foreign = package_stat(0, "foreign_writes");
	for (unsigned int lap = 0; lap < LAPS; lap++) {
		for (unsigned int i = 0; i < N; i++)
			before[i] = event_count(fd[i]);
		for (unsigned int i = 0; i < N; i++) {
			ASSERT_EQ(0, -msr_write(package_cpu(0, 0), msr[i],
						(1ULL << watched[i].width) - AHEAD));
		}
		/* The timer has to read the new value before the counter wraps. */
		ASSERT_TRUE(wait_for_timer(msr, N));
		for (unsigned int i = 0; i < N; i++) {
			EXPECT_EQ(before[i], event_count(fd[i])) {
				TH_LOG("%s_0 counts what was written",
				       watched[i].type);
			}
		}
		EXPECT_EQ(foreign + (lap + 1) * N,
			  package_stat(0, "foreign_writes"));
		start = sim_cycles();
		sim_advance(CYCLES);
		for (unsigned int i = 0; i < N; i++)
			counted[i] += cat_expect(e[i], (struct shape){ 0 }, start,
						 CYCLES);
		ASSERT_TRUE(wait_for_timer(msr, N));
	}
	for (unsigned int i = 0; i < N; i++) {
		EXPECT_EQ(counted[i], event_count(fd[i])) {
			TH_LOG("%s_0, %u bits", watched[i].type,
			       watched[i].width);
		}
		close(fd[i]);
	}
	EXPECT_EQ(1, log_count("another program")) {
		log_show("xeon_uncore");
	}
	close(idle);
}

/*
 * At the fastest bus clock, 800 MHz, a counter of 32 bits wraps in 5.4 s. Each round
 * advances the counter by half its range, and only the timer reads the counter.
 */
TEST_F(timer, follows_bus_clocks_around_twice)
{
	enum { ROUNDS = 5 };
	struct counter c;
	uint64_t value;
	uint32_t msr;

	if (!generation()->one_a_cycle)
		SKIP(return, "no such counters");
	machine_setup("clock=manual uclk_khz=800000", "");
	open_counter(&c, &front_side[0], 0);
	ASSERT_TRUE(c.ok);
	msr = address_of(&c);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		ASSERT_TRUE(wait_for_timer(&msr, 1));
		sim_advance(1ULL << 31);
	}
	EXPECT_EQ(ROUNDS * (1ULL << 31), event_count(c.fd));
	ASSERT_TRUE(get_register(&c, &value));
	EXPECT_EQ(ROUNDS * (1ULL << 31) & 0xffffffff, value);
	close(c.fd);
}

/* --- reads -------------------------------------------------------------------- */

FIXTURE(fast_clock) {};

FIXTURE_SETUP(fast_clock)
{
	log_mark();
}

FIXTURE_TEARDOWN(fast_clock)
{
	EXPECT_TRUE(log_clean());
	EXPECT_TRUE(machine_leave());
}

/*
 * With the real clock, the low halves of counters wrap between two reads. The reads are
 * so far apart that the driver must expect that and read the high halves.
 */
TEST_F(fast_clock, low_halves_go_round_between_two_reads)
{
	static const struct {
		const char *type;
		unsigned int box;
		const char *clock;
	} watched[] = {
		{ "imc", 0, "event=0" }, { "ha", 1, "clockticks" },
		{ "irp", 0, "clockticks" }, { "qpi", 0, "clockticks" },
	};
	enum { PMUS = ARRAY_SIZE(watched), SECONDS = 4 };
	uint64_t first[PMUS], begun[PMUS], least, most, count;
	char pmu[PMU_NAME_MAX];
	int fd[PMUS];

	if (generation()->one_a_cycle)
		SKIP(return, "no such counters");
	machine_setup("clock=real uclk_khz=4000000", "");
	for (unsigned int i = 0; i < PMUS; i++) {
		ASSERT_TRUE(pmu_name(pmu, watched[i].type, watched[i].box));
		fd[i] = event_open(pmu, pmu_cpu(pmu, 0), "%s",
				   watched[i].clock);
		ASSERT_GE(fd[i], 0) {
			TH_LOG("%s: %s", pmu, strerror(-fd[i]));
		}
		first[i] = event_count(fd[i]);
		begun[i] = sim_cycles();
	}
	sleep(SECONDS);
	for (unsigned int i = 0; i < PMUS; i++) {
		least = sim_cycles() - begun[i];
		count = event_count(fd[i]) - first[i];
		/*
		 * allow for counts between the read of the event and the read of the
		 * clock
		 */
		most = sim_cycles() - begun[i] + (1ULL << 31);
		EXPECT_GE(count, least) {
			TH_LOG("%s", watched[i].type);
		}
		EXPECT_LE(count, most) {
			TH_LOG("%s", watched[i].type);
		}
		EXPECT_GT(least, 1ULL << 32);
		close(fd[i]);
	}
}

TEST_HARNESS_MAIN

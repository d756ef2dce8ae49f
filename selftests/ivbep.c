// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What only Ivy Bridge has: a second filter register of the CBo, a bit of the
 * home agent's controls that clears a queue's occupancy, a fifth control register
 * of the iMC, and invert in the iMC alone. Porting.rst says whom the driver
 * follows where the manual, the datasheet and the kernel's own driver differ. What
 * all generations do is in the other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/boxes.h"
#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define BIT(n)		(1ULL << (n))
#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

enum { BOXES = 35, CYCLES = 1009, OVERFLOWS = 3, TRACE_LENGTH = 4096 };

/* PCI devices of home agents and memory controllers, and registers there */
enum { HA_0 = 14, HA_1 = 28, IMC_0 = 16, IMC_1 = 30 };
enum { CTL_FIRST = 0xd8, CTL_LAST = 0xe4, CTL_FIFTH = 0xe8 };
enum { CTL_QUEUE_RST = 16, CTL_RST = 17, CTL_EN = 22, CTL_INVERT = 23 };
enum { DEVICE_HA_0 = 0x0e30 };

/* --- what is written ---------------------------------------------------------- */

struct seen {
	unsigned int controls, queue_resets, resets, inverts, fifths;
};

static void note(const struct sim_access *a, void *arg)
{
	bool imc = a->device == IMC_0 || a->device == IMC_1;
	bool ha = a->device == HA_0 || a->device == HA_1;
	struct seen *s = arg;

	if (a->kind != SIM_PCIRD && a->kind != SIM_PCIWR)
		return;
	s->fifths += imc && a->reg == CTL_FIFTH;
	if (a->kind != SIM_PCIWR || a->reg < CTL_FIRST || a->reg > CTL_LAST)
		return;
	s->controls++;
	s->queue_resets += ha && a->value & BIT(CTL_QUEUE_RST);
	s->resets += !!(a->value & BIT(CTL_RST));
	s->inverts += !imc && a->value & BIT(CTL_INVERT);
}

static bool judge(const char *when, unsigned int *controls)
{
	struct seen s = { 0 };
	int n = sim_trace(note, &s);
	bool ok = check(n > 0 && n < TRACE_LENGTH, "%s: %d accesses", when, n);

	ok &= check_eq(s.queue_resets, 0, "%s: resets of a home agent's queue",
		       when);
	ok &= check_eq(s.resets, 0, "%s: resets of a counter by its control",
		       when);
	ok &= check_eq(s.inverts, 0, "%s: inverts in other boxes than iMCs", when);
	ok &= check_eq(s.fifths, 0, "%s: accesses of the iMC's fifth control",
		       when);
	*controls += s.controls;
	sim_trace_clear();
	return ok;
}

/* Occupancies, of which none may be disturbed by others that come and go. */
static bool occupancy_counts(void)
{
	const struct cat_event *e = cat_find("ha", "bt_occupancy.local");
	char pmu[PMU_NAME_MAX];
	uint64_t start;
	int fd, other;
	bool ok;

	if (!check(e, "no such event"))
		return false;
	ok = check(pmu_name(pmu, "ha", 1), "no second home agent");
	start = sim_cycles();
	fd = event_open(pmu, pmu_cpu(pmu, 0), "%s", e->string);
	ok &= check(fd >= 0, "%s: %s", e->name, strerror(-fd));
	for (int i = 0; ok && i < 5; i++) {
		other = event_open(pmu, pmu_cpu(pmu, 0), "event=0,thresh=%d", i);
		ok &= check(other >= 0, "another: %s", strerror(-other));
		sim_advance(CYCLES);
		close(other);
	}
	ok = ok && check_eq(event_count(fd),
			    cat_expect(e, (struct shape){ 0 }, start, 5 * CYCLES),
			    "%s", e->name);
	close(fd);
	return ok;
}

static void test_controls(void)
{
	static const char *const kinds[] = { "ha", "imc", "cbox", "pcu" };
	unsigned int controls = 0;
	bool ok;

	machine_setup_sim("clock=manual");
	sim_trace_clear();
	ok = check_eq(-driver_load(""), 0, "the driver loads");
	sim_trace_clear();	/* whom the interrupt reaches was measured */
	ok &= check_eq(pmus_there(), BOXES, "PMUs");
	for (int pkg = 0; pkg < packages(); pkg++) {
		ok &= check_eq(boxes_that_count(pkg, CYCLES), BOXES,
			       "boxes of package %d that count", pkg);
		ok &= judge("counting", &controls);
	}
	ok &= occupancy_counts();
	ok &= judge("an occupancy beside others", &controls);
	tap_ok(ok, "counting never clears a queue's occupancy, which stays exact");

	ok = true;
	for (unsigned int i = 0; i < COUNT(kinds); i++) {
		ok &= samples_exactly(kinds[i], i % packages(), OVERFLOWS);
		ok &= judge("sampling", &controls);
	}
	ok &= check_eq(-driver_unload(), 0, "the driver unloads");
	ok &= judge("unloading", &controls);
	ok &= check_eq(sim_dirty_registers(), 0, "registers that are not reset");
	sim_show_registers();
	ok &= check_eq(sim_stat("undefined"), 0, "undefined writes");
	ok &= check(controls, "no control was written at all");
	tap_ok(ok & log_clean(),
	       "nor do sampling and unloading; of the iMC four controls are used");
}

/* --- a queue that is cleared ----------------------------------------------------- */

/*
 * The control register of the only home agent 0 that counts @event: its function's
 * configuration space, open; -1: there is none.
 */
static int find_control(uint32_t event, off_t *reg)
{
	glob_t functions;
	int found = -1;

	if (glob("/sys/bus/pci/devices/*/config", 0, NULL, &functions))
		return -1;
	for (size_t i = 0; i < functions.gl_pathc && found < 0; i++) {
		int fd = open(functions.gl_pathv[i], O_RDWR | O_CLOEXEC);
		uint32_t id = 0, ctl;

		if (fd < 0)
			continue;
		for (*reg = CTL_FIRST; found < 0 && *reg <= CTL_LAST; *reg += 4) {
			if (pread(fd, &id, sizeof(id), 0) == sizeof(id) &&
			    id >> 16 == DEVICE_HA_0 &&
			    pread(fd, &ctl, sizeof(ctl), *reg) == sizeof(ctl) &&
			    ctl == (event | BIT(CTL_EN)))
				found = fd;
		}
		if (found < 0)
			close(fd);
		else
			*reg -= 4;
	}
	globfree(&functions);
	return found;
}

/* What is in the queue in one cycle. */
static uint64_t occupancy(const struct cat_event *e, uint64_t cycle)
{
	return cat_expect(e, (struct shape){ 0 }, cycle, 1);
}

/*
 * Table 2-40, and why the driver never does it: what was in the queue when it was
 * cleared is missing until the queue has been empty.
 */
static void test_queue_reset(void)
{
	const struct cat_event *e = cat_find("ha", "bt_occupancy.local");
	const uint32_t event = 0x43 | 0x01 << 8;
	uint64_t was, has = 0, sum = 0, before, start;
	const uint32_t clear = event | BIT(CTL_EN) | BIT(CTL_QUEUE_RST);
	char pmu[PMU_NAME_MAX];
	int fd = -ENODEV, config;
	off_t reg = 0;
	bool ok;

	machine_setup("clock=manual", "");
	ok = check(e && pmu_name(pmu, "ha", 0), "no home agent or no event");
	if (ok)
		fd = event_open(pmu, pmu_cpu(pmu, 1), "%s", e->string);
	ok = ok && check(fd >= 0, "%s", strerror(-fd));
	config = find_control(event, &reg);
	ok &= check(config >= 0, "no control register has it");
	/* to where it is in use, and stays so for a cycle */
	do
		sim_advance(1);
	while (ok && !(occupancy(e, sim_cycles() - 1) &&
		       occupancy(e, sim_cycles())));
	start = sim_cycles();
	before = event_count(fd);
	ok = ok && check_eq(pwrite(config, &clear, sizeof(clear), reg),
			    sizeof(clear), "bytes written");
	was = ok ? occupancy(e, start - 1) : 0;
	for (int i = 0; ok && i < CYCLES; i++) {
		uint64_t is = occupancy(e, sim_cycles());

		has = has + is > was ? has + is - was : 0;
		was = is;
		sum += has;
		sim_advance(1);
		ok &= check_eq(event_count(fd) - before, sum,
			       "%d cycles after it was cleared", i + 1);
	}
	ok = ok && check(sum < cat_expect(e, (struct shape){ 0 }, start, CYCLES),
			 "nothing is missing");
	start = sim_cycles();
	before = event_count(fd);
	sim_advance(CYCLES);
	ok = ok && check_eq(event_count(fd) - before,
			    cat_expect(e, (struct shape){ 0 }, start, CYCLES),
			    "since it has been empty");
	close(config);
	close(fd);
	tap_ok(ok, "a queue that somebody clears lacks what was in it until it is empty");
}

/* --- the CBo's filters --------------------------------------------------------- */

/* Fields that no event is using may stay as they were. */
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

static void test_filters(void)
{
	char pmu[PMU_NAME_MAX];
	bool ok;

	machine_setup("clock=manual", "");
	ok = check(pmu_name(pmu, "cbox", 14), "no CBo 14");
	for (unsigned int i = 0; ok && i < COUNT(filters); i++) {
		char name[32] = "cbox_14 ";
		uint64_t value = 0;
		int fd = event_open(pmu, pmu_cpu(pmu, 1), "%s", filters[i].event);

		ok &= check(fd >= 0, "%s: %s", filters[i].event, strerror(-fd));
		sim_register(1, strcat(name, filters[i].reg), &value);
		ok &= check_eq(value & filters[i].field, filters[i].value,
			       "%s: %s", filters[i].event, filters[i].reg);
		close(fd);
	}
	tap_ok(ok, "the CBo's two filter registers hold what they are for");
}

/* --- invert ---------------------------------------------------------------------- */

static void test_invert(void)
{
	const struct shape below = { .thresh = 3, .invert = true };
	const struct cat_event *e = NULL;
	char pmu[PMU_NAME_MAX];
	uint64_t start, ctl = 0;
	size_t n;
	const struct cat_event *all = catalogue(&n);
	bool ok;
	int fd;

	for (size_t i = 0; i < n && !e; i++)
		if (cat_is_plain(&all[i], "imc") && all[i].max_inc > below.thresh)
			e = &all[i];
	ok = check(e && pmu_name(pmu, "imc", 7), "nothing to invert");
	start = sim_cycles();
	fd = ok ? event_open(pmu, pmu_cpu(pmu, 0), "%s,inv=1,thresh=%u",
			     e->string, below.thresh) : -ENODEV;
	ok = ok && check(fd >= 0, "%s: %s", e->name, strerror(-fd));
	sim_advance(CYCLES);
	for (int i = 0; ok && i < 4 && !ctl; i++) {
		char name[] = "imc_7 ctl0";

		name[sizeof(name) - 2] += i;
		sim_register(0, name, &ctl);
	}
	ok = ok && check(ctl & BIT(CTL_INVERT), "control %#" PRIx64, ctl);
	ok = ok && check_eq(event_count(fd), cat_expect(e, below, start, CYCLES),
			    "%s below the threshold", e->name);
	close(fd);
	tap_ok(ok, "the iMC inverts, as the datasheet has it");

	ok = true;
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		if (!strcmp(box_kinds[k], "imc") || !pmu_name(pmu, box_kinds[k], 0))
			continue;
		fd = event_open(pmu, pmu_cpu(pmu, 0), "config=%#llx",
				BIT(CTL_INVERT));
		ok &= check_eq(-fd, EINVAL, "%s with bit 23", pmu);
	}
	tap_ok(ok, "no other box does: its bit is refused");

	ok = check(pmu_name(pmu, "ha", 0), "no home agent");
	for (int bit = CTL_QUEUE_RST; ok && bit <= CTL_RST; bit++) {
		fd = event_open(pmu, pmu_cpu(pmu, 0), "config=%#llx", BIT(bit));
		ok &= check_eq(-fd, EINVAL, "ha with bit %d", bit);
	}
	tap_ok(ok, "a home agent's bits that clear are refused");
}

int main(void)
{
	if (strcmp(generation()->name, "ivbep"))
		tap_skip_all("this processor is no Ivy Bridge");
	catalogue(NULL);
	if (packages() < 2)
		tap_skip_all("needs two packages");
	if (max_sample_rate(100000000))
		tap_bail("perf_event_max_sample_rate");
	test_controls();
	test_queue_reset();
	test_filters();
	test_invert();
	return tap_end();
}

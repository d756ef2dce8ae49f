// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the cost of counting under intel_uncore, the in-tree driver, and xeon_uncore on
 * the same simulated hardware: register accesses by type, and time. The program only
 * prints figures; driver/cost.c checks limits.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/boxes.h"
#include "lib/c/generation.h"
#include "lib/c/in_tree.h"
#include "lib/c/machine.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"
#include "lib/c/tap.h"

extern char **environ;

enum { EVENTS = 4, BATCHES = 21, READS = 50, RUNS = 3 };
enum { MAX_BOXES = 128, MAX_ROWS = 128 };
/*
 * Intervals of a short and of a long run of perf stat. Their difference excludes the cost
 * of start and end.
 */
enum { FEW = 2, MANY = 12 };
/* Time after which the freeze budget allows a freeze for a group again */
enum { BUDGET_MS = 600 };

enum access_type {
	MSR_READ, MSR_WRITE, PCI_READ, PCI_WRITE, MEMORY_READ, MEMORY_WRITE, ACCESS_TYPES
};
static const char *const access_stats[ACCESS_TYPES] = {
	"msr_read", "msr_write", "pci_read", "pci_write", "memory_read", "memory_write",
};
static const char *const access_names[ACCESS_TYPES] = {
	"MSR reads", "MSR writes", "PCI reads", "PCI writes", "memory reads",
	"memory writes",
};

/* A line of the table. print_table() omits lines of zeros. */
static struct row {
	char scenario[64];
	const char *figure;
	double value[DRIVERS];
	int digits;
} rows[MAX_ROWS];
static unsigned int n_rows;

static void put(enum driver driver, const char *scenario, const char *figure,
		double value, int digits)
{
	struct row *r = rows;

	while (r < rows + n_rows && (strcmp(r->scenario, scenario) ||
				     strcmp(r->figure, figure)))
		r++;
	if (r == rows + n_rows) {
		if (++n_rows == MAX_ROWS)
			tap_bail("the table is full");
		snprintf(r->scenario, sizeof(r->scenario), "%s", scenario);
		r->figure = figure;
		r->digits = digits;
	}
	r->value[driver] = value;
}

static void print_table(void)
{
	const char *last = "";

	printf("\n%-34s %-12s %12s %12s %7s\n", "", "",
	       driver_names[IN_TREE], driver_names[OURS], "ratio");
	for (struct row *r = rows; r < rows + n_rows; r++) {
		double theirs = r->value[IN_TREE], ours = r->value[OURS];

		if (!theirs && !ours)
			continue;
		printf("%-34s %-12s %12.*f %12.*f",
		       strcmp(last, r->scenario) ? r->scenario : "", r->figure,
		       r->digits, theirs, r->digits, ours);
		if (theirs)
			printf(" %7.2f", ours / theirs);
		putchar('\n');
		last = r->scenario;
	}
}

static void note_accesses(double n[ACCESS_TYPES])
{
	for (int k = 0; k < ACCESS_TYPES; k++)
		n[k] = sim_stat(access_stats[k]);
}

static void put_accesses(enum driver driver, const char *scenario,
			 const double n[ACCESS_TYPES])
{
	double sum = 0;

	for (int k = 0; k < ACCESS_TYPES; k++) {
		put(driver, scenario, access_names[k], n[k], 0);
		sum += n[k];
	}
	put(driver, scenario, "all", sum, 0);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/*
 * Return the microseconds of a read() in the median batch. Other programs that use the
 * machine slow down some batches.
 */
static double time_reads(const struct event_group *group)
{
	uint64_t values[EVENTS];
	double us[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		uint64_t began = now_ns();

		for (int i = 0; i < READS; i++)
			group_read(group, values, NULL);
		us[b] = (now_ns() - began) / READS / 1000;
	}
	return median(us, BATCHES);
}

/* Measure the start, the read and the stop of a group of @events, as in perf stat. */
static void bench_group(enum driver driver, const char *box, int events)
{
	static const char *const phases[] = { "start", "read", "stop" };
	const char *pmu = driver_pmu(driver, box);
	struct perf_event_attr attrs[EVENTS];
	struct event_group group;
	uint64_t values[EVENTS];
	double n[ACCESS_TYPES];
	char scenario[64], event[32];

	for (int i = 0; i < events; i++) {
		snprintf(event, sizeof(event), "config=%#x", i << 24);
		pmu_attr(&attrs[i], pmu, event);
	}
	attrs[0].disabled = 1;
	if (group_open_attr(&group, attrs, pmu_cpu(pmu, 0), events))
		tap_bail("a group on %s does not open", pmu);
	for (int phase = 0; phase < 3; phase++) {
		snprintf(scenario, sizeof(scenario), "%s, group of %d: %s", box, events,
			 phases[phase]);
		/* Wait, as time_reads() has used up the freeze budget. */
		if (phase == 2)
			sleep_ms(BUDGET_MS);
		sim_stats_clear();
		if (phase == 1)
			group_read(&group, values, NULL);
		else
			ioctl(group.fd[0], phase ? PERF_EVENT_IOC_DISABLE :
						   PERF_EVENT_IOC_ENABLE, 0);
		note_accesses(n);
		put_accesses(driver, scenario, n);
		if (phase == 1)
			put(driver, scenario, "us a read()",
			    time_reads(&group), 1);
	}
	group_close(&group);
}

/* Measure a single event and a group in a cache slice and in a memory channel. */
static void bench_groups(enum driver driver)
{
	static const char *const types[] = { "cbox", "cha", "imc" };
	char box[16];

	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!box_type(types[i]))
			continue;
		snprintf(box, sizeof(box), "%s_0", types[i]);
		bench_group(driver, box, 1);
		bench_group(driver, box, EVENTS);
	}
}

/*
 * The boxes for which both drivers have a PMU, with the number of events that a box can
 * count. These are the boxes of the in-tree driver, which has at most as many CBos as a
 * package has cores.
 */
static struct bench_box {
	char name[40];
	int counters;
} boxes[MAX_BOXES];
static unsigned int n_boxes;

static void find_boxes(void)
{
	n_boxes = 0;
	for (unsigned int k = 0; *box_types[k]; k++) {
		const struct box_type *t = box_type(box_types[k]);
		/* intel_uncore has one PMU for the boxes of a function */
		unsigned int most = t->boxes / t->in_function;

		for (unsigned int i = 0; i < most; i++) {
			struct bench_box *b = &boxes[n_boxes];

			if (most > 1)
				snprintf(b->name, sizeof(b->name), "%s_%u", t->name, i);
			else
				snprintf(b->name, sizeof(b->name), "%s", t->name);
			b->counters = t->general * t->in_function;
			n_boxes += b->counters &&
				   pmu_type(driver_pmu(IN_TREE, b->name)) >= 0;
			if (n_boxes == MAX_BOXES)
				tap_bail("the list of boxes is full");
		}
	}
}

/*
 * Run perf and discard its output. Return its run time in seconds; a negative number on
 * failure.
 */
static double run_perf(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	uint64_t began = now_ns();
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	status = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (status || waitpid(pid, &status, 0) != pid || status)
		return -1;
	return (now_ns() - began) / 1e9;
}

/*
 * Return the number of events of a box that perf stat can count without multiplexing.
 * perf opens each event of hswep_irp on both IRPs, which have half of the counters each.
 */
static int perf_events(enum driver driver, const struct bench_box *b)
{
	bool halved = driver == OURS && !strcmp(b->name, "irp");

	return halved ? b->counters / 2 : b->counters;
}

static void bench_interval(enum driver driver, bool grouped)
{
	static char events[16384];
	char count[16], *argv[] = { "perf", "stat", "-a", "-x,", "-I", "100",
				    "--interval-count", count, "-e", events,
				    NULL };
	double few[ACCESS_TYPES], many[ACCESS_TYPES];
	size_t len = 0;

	for (struct bench_box *b = boxes; b < boxes + n_boxes; b++) {
		len += snprintf(events + len, sizeof(events) - len, "%s%s",
				len ? "," : "", grouped ? "{" : "");
		for (int i = 0; i < perf_events(driver, b); i++)
			len += snprintf(events + len, sizeof(events) - len,
					"%s%s/config=%#x/", i ? "," : "",
					driver_pmu(driver, b->name), i << 24);
		len += snprintf(events + len, sizeof(events) - len, "%s",
				grouped ? "}" : "");
	}
	for (int run = 0; run < 2; run++) {
		snprintf(count, sizeof(count), "%d", run ? MANY : FEW);
		sim_stats_clear();
		if (run_perf(argv) < 0)
			tap_bail("perf stat -I 100 failed under %s",
				 driver_names[driver]);
		note_accesses(run ? many : few);
	}
	for (int k = 0; k < ACCESS_TYPES; k++)
		many[k] = (many[k] - few[k]) / (MANY - FEW);
	put_accesses(driver, grouped ? "perf stat -I 100, groups: interval" :
				       "perf stat -I 100: interval", many);
}

/*
 * Return the median run time of perf stat with a named event, in seconds. perf looks up
 * the name among the events of all PMUs. $PERF selects another perf than that in $PATH.
 */
static double time_named(enum driver driver)
{
	char *perf = getenv("PERF") ?: "perf", event[64];
	char *argv[] = { perf, "stat", "-e", event, "true", NULL };
	double seconds[RUNS];

	snprintf(event, sizeof(event), "%s/%s/", driver_pmu(driver, "imc_0"),
		 driver == OURS ? "cas_count.rd" : "cas_count_read");
	for (int i = 0; i < RUNS; i++) {
		seconds[i] = run_perf(argv);
		if (seconds[i] < 0) {
			printf("# %s does not count\n", event);
			return 0;
		}
	}
	return median(seconds, RUNS);
}

static void bench_named(enum driver driver)
{
	static const struct {
		const char *params, *scenario;
	} listings[] = {
		{ "events=common", "perf -e imc_0/<named>/, default" },
		{ "events=all", "perf -e imc_0/<named>/, events=all" },
	};

	for (int i = 0; i < 2; i++) {
		if (driver == OURS) {
			driver_none();
			if (driver_load(listings[i].params))
				tap_bail("%s: does not load", listings[i].params);
		}
		put(driver, listings[i].scenario, "ms, median",
		    time_named(driver) * 1000, 0);
	}
}

/*
 * Print the register accesses of loading the driver on this machine. The driver clears
 * all registers. The driver also measures which CPUs a PMI interrupts, and polls an MSR
 * for that, so the number of MSR reads is arbitrary.
 */
static void bench_load(void)
{
	double n[ACCESS_TYPES], sum = 0;
	unsigned int boxes = 0;

	machine_setup_sim("clock=real");
	sim_stats_clear();
	if (driver_load(""))
		tap_bail("it does not load");
	note_accesses(n);
	for (int pkg = 0; pkg < packages(); pkg++)
		boxes += boxes_there(pkg);
	printf("%-10s %3u boxes", generation()->name, boxes);
	for (int k = 0; k < ACCESS_TYPES; k++) {
		printf(" %6.0f %s", n[k], access_names[k]);
		sum += k == MSR_READ ? 0 : n[k];
	}
	printf(" %5.1f a box without the MSR reads\n", sum / boxes);
}

int main(int argc, char *argv[])
{
	enum driver first = in_tree_exists() ? IN_TREE : OURS;
	bool named_only = argc > 1 && !strcmp(argv[1], "named");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "load")) {
		bench_load();
		return 0;
	}
	if (first == OURS)
		puts("# there is no intel_uncore module for this kernel");
	for (enum driver driver = first; driver < DRIVERS; driver++) {
		printf("# measuring under %s ...\n", driver_names[driver]);
		driver_setup(driver, "clock=real");
		if (driver == IN_TREE)
			find_boxes();
		bench_named(driver);
		if (named_only)
			continue;
		bench_groups(driver);
		if (n_boxes) {
			bench_interval(driver, false);
			bench_interval(driver, true);
		}
	}
	print_table();
	printf("\n%u boxes both drivers have, in two packages; times are of simulated hardware in a VM.\n",
	       n_boxes);
	return 0;
}

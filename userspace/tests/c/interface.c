// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test uncore.h in a C program that is linked with the shared library. Without an
 * argument, count software events of the kernel. With an argument, the machine has a
 * driver and simulated hardware with a manual clock, and the argument is an event that
 * counts each cycle:
 *
 *	c-interface-test cbox_0/clockticks/
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <uncore/uncore.h>

#define ADVANCE		"/sys/kernel/debug/xeon_uncore_sim/advance"

enum {
	CYCLES = 12345,		/* cycles of a step of the manual clock */
	PERIOD = 1000,
	SAMPLES = 10,
	PATIENCE_MS = 30000,
	TRIED = 10,		/* listed events to add: each session takes time */
};

/* --- results -------------------------------------------------------------- */

static int results, failures;

static void ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++results, name);
	fflush(stdout);
	failures += !good;
}

static void skip(const char *name, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++results, name, reason);
}

/* Print a comment of TAP. */
static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

/* Compare two numbers; print both in a comment if they differ. */
static bool same(long long got, long long want, const char *label)
{
	if (got != want)
		say("%s: got %lld, want %lld", label, got, want);
	return got == want;
}

/* Look for a part in a text; print both in a comment if the text lacks the part. */
static bool has(const char *text, const char *part)
{
	if (!strstr(text, part))
		say("'%s' lacks '%s'", text, part);
	return strstr(text, part);
}

static struct uncore_session *session_of(const char *events,
					 const char *metrics)
{
	struct uncore_session *s = uncore_session_new(NULL);

	if ((events && uncore_session_add_events(s, events)) ||
	    (metrics && uncore_session_add_metrics(s, metrics)))
		say("%s", uncore_session_error(s));
	return s;
}

/* Open and enable a session; print a failure in a comment. */
static bool start(struct uncore_session *s)
{
	if (!uncore_session_open(s, 0) && !uncore_session_enable(s))
		return true;
	say("%s", uncore_session_error(s));
	return false;
}

static struct uncore_value value_at(const struct uncore_session *s, size_t i)
{
	struct uncore_value v = { .size = sizeof(v), .name = "", .pmu = "",
				  .unit = "" };

	same(uncore_session_value(s, i, &v), UNCORE_OK, "a value");
	return v;
}

/* --- on any machine ------------------------------------------------------- */

static void take_none(const struct uncore_sample *sample, void *arg)
{
	(void)sample;
	(void)arg;
}

static void test_null(void)
{
	struct uncore_session *s = uncore_session_new(NULL);
	struct uncore_sampler *sampler = uncore_sampler_new(NULL);
	const int codes[] = {
		uncore_session_add_events(NULL, "cycles"),
		uncore_session_add_events(s, NULL),
		uncore_session_add_metrics(NULL, "llc"),
		uncore_session_add_metrics(s, NULL),
		uncore_session_use_packages(NULL, NULL, 0),
		uncore_session_use_packages(s, NULL, 1),
		uncore_session_open(NULL, 0),
		uncore_session_close(NULL),
		uncore_session_enable(NULL),
		uncore_session_disable(NULL),
		uncore_session_read(NULL),
		uncore_session_sample(NULL),
		uncore_session_value(NULL, 0, NULL),
		uncore_session_value(s, 0, NULL),
		uncore_session_event(NULL, 0, NULL),
		uncore_session_event(s, 0, NULL),
		uncore_session_metric(NULL, 0, NULL),
		uncore_session_metric(s, 0, NULL),
		uncore_sampler_add_events(NULL, "cycles"),
		uncore_sampler_add_events(sampler, NULL),
		uncore_sampler_open(NULL, NULL),
		uncore_sampler_enable(NULL),
		uncore_sampler_disable(NULL),
		uncore_sampler_drain(NULL, take_none, NULL),
		uncore_sampler_drain(sampler, NULL, NULL),
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		good &= same(codes[i], UNCORE_INVALID, "a NULL argument");
	good &= has(uncore_sampler_error(sampler), "NULL");
	good &= has(uncore_session_error(NULL), "NULL");
	good &= has(uncore_sampler_error(NULL), "NULL");
	good &= same(uncore_session_packages(NULL), 0, "packages");
	good &= same(uncore_session_package(NULL, 0), -1, "a package");
	good &= same(uncore_session_list_events(NULL, NULL), 0, "events");
	good &= same(uncore_session_list_metrics(NULL, NULL), 0, "metrics");
	good &= same(uncore_session_evaluate(NULL, UNCORE_BOX, UNCORE_TOTAL),
		     0, "values");
	good &= same(uncore_session_elapsed(NULL, UNCORE_TOTAL), 0, "time");
	good &= same(uncore_session_sample_time(NULL), 0, "time");
	good &= !uncore_session_news(NULL);
	good &= same(uncore_sampler_fd(NULL), -1, "descriptor");
	uncore_session_free(NULL);
	uncore_sampler_free(NULL);
	uncore_sampler_free(sampler);
	uncore_session_free(s);
	ok(good, "a NULL argument is an error of each function");
}

static void test_enumerations(void)
{
	struct uncore_session *s = session_of("duration_time", NULL);
	bool good = start(s);

	good &= same(uncore_session_evaluate(s, 7, UNCORE_TOTAL), 0, "values");
	good &= has(uncore_session_error(s), "scope");
	good &= same(uncore_session_evaluate(s, UNCORE_BOX, 7), 0, "values");
	good &= has(uncore_session_error(s), "period");
	good &= same(uncore_session_elapsed(s, 7), 0, "time");
	uncore_session_free(s);
	s = session_of("duration_time", NULL);
	good &= same(uncore_session_open(s, 64), UNCORE_INVALID, "flag 64");
	good &= same(uncore_session_open(s, 0), UNCORE_OK, "no flag");
	uncore_session_free(s);
	ok(good, "numbers that no enumeration has are errors");
}

static void test_elapsed(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct uncore_session *s = session_of("duration_time", NULL);
	bool good = same(uncore_session_elapsed(s, UNCORE_TOTAL), 0, "closed");
	uint64_t total, last;
	struct uncore_value v;

	good &= start(s);
	good &= same(uncore_session_sample(s), UNCORE_OK, "sample");
	nanosleep(&pause, NULL);
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	nanosleep(&pause, NULL);
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	total = uncore_session_elapsed(s, UNCORE_TOTAL);
	last = uncore_session_elapsed(s, UNCORE_INTERVAL);
	good &= last >= 20000000 && total >= last + 20000000;
	say("%llu ns, the last %llu", (unsigned long long)total,
	    (unsigned long long)last);
	for (int scope = UNCORE_BOX; scope <= UNCORE_MACHINE; scope++) {
		good &= same(uncore_session_evaluate(s, scope, UNCORE_TOTAL), 1,
			     "values");
		v = value_at(s, 0);
		good &= same(v.raw, total, "duration_time");
		good &= v.value == (double)total && v.running == 1;
		good &= same(v.package, -1, "its package");
		good &= !strcmp(v.unit, "ns") && !strcmp(v.name, "duration_time");
		uncore_session_evaluate(s, scope, UNCORE_INTERVAL);
		good &= same(value_at(s, 0).raw, last, "its interval");
	}
	uncore_session_free(s);
	ok(good, "elapsed times, and duration_time has the same");
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

/* Open a session without a free descriptor, and again with the old limit. */
static void test_retry(const char *event)
{
	struct uncore_session *s = session_of(event, NULL);
	struct rlimit limit, low;
	bool good = true;
	int status;

	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = lowest_free_descriptor();
	setrlimit(RLIMIT_NOFILE, &low);
	status = uncore_session_open(s, 0);
	setrlimit(RLIMIT_NOFILE, &limit);
	good &= same(status, UNCORE_SYSTEM, "open without a descriptor");
	good &= has(uncore_session_error(s), "RLIMIT_NOFILE");
	good &= same(uncore_session_enable(s), UNCORE_MISUSE, "enable");
	good &= same(uncore_session_add_events(s, "duration_time"), UNCORE_OK,
		     "adding more");
	good &= start(s);
	good &= same(uncore_session_add_events(s, event), UNCORE_MISUSE,
		     "adding to an open session");
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	good &= same(uncore_session_evaluate(s, UNCORE_MACHINE, UNCORE_TOTAL),
		     2, "values");
	good &= same(uncore_session_close(s), UNCORE_OK, "close");
	good &= same(uncore_session_evaluate(s, UNCORE_MACHINE, UNCORE_TOTAL),
		     0, "values of a closed session");
	good &= start(s);
	uncore_session_free(s);
	ok(good, "a session that did not open can be opened again");
}

/* Structures of an older header have fewer members, of a newer header more. */
static void test_sizes(void)
{
	struct uncore_session *s = session_of(NULL, NULL);
	struct uncore_metric m = { .size = offsetof(struct uncore_metric, unit),
				   .unit = "untouched" };
	bool good = uncore_session_list_metrics(s, NULL) > 0;

	good &= same(uncore_session_metric(s, 0, &m), UNCORE_OK, "a metric");
	good &= !strcmp(m.unit, "untouched") && m.name[0];
	m.size = sizeof(m) + 8;
	good &= same(uncore_session_metric(s, 0, &m), UNCORE_OK, "a newer one");
	good &= same(m.size, sizeof(m), "what the library filled in");
	m.size = 0;
	good &= same(uncore_session_metric(s, 0, &m), UNCORE_INVALID, "size 0");
	m.size = sizeof(m);
	good &= same(uncore_session_metric(s, 100000, &m), UNCORE_MISUSE,
		     "beyond the end");
	good &= same(uncore_session_list_metrics(s, "no_such_metric"), 0,
		     "an unknown one");
	good &= has(uncore_session_error(s), "no_such_metric");
	uncore_session_free(s);
	ok(good, "structures of older and newer headers");
}

static void test_no_driver(void)
{
	struct uncore_session *s = session_of(NULL, NULL);
	size_t n = uncore_session_list_metrics(s, NULL);
	bool good = n > 0;

	for (size_t i = 0; i < n; i++) {
		struct uncore_metric m = { .size = sizeof(m) };

		uncore_session_metric(s, i, &m);
		good &= m.name[0] && has(m.reason, "no uncore driver");
	}
	good &= same(uncore_session_list_events(s, NULL), 0, "events");
	good &= same(uncore_session_add_metrics(s, "memory"), UNCORE_NO_DRIVER,
		     "a group of metrics");
	uncore_session_free(s);
	ok(good, "without a driver, metrics are listed with that reason");
}

/* --- sampling ------------------------------------------------------------- */

struct samples {
	int n, lost, of_this, wrong;
	int by_package[8];
	const char *pmu;
	uint64_t period;
};

static void count_sample(const struct uncore_sample *sample, void *arg)
{
	struct samples *taken = arg;

	if (sample->lost) {
		taken->lost += sample->lost;
		return;
	}
	taken->n++;
	taken->of_this += sample->pid == getpid() && sample->tid == getpid();
	taken->wrong += sample->size != sizeof(*sample) || !sample->time ||
			sample->period != taken->period || !sample->name[0] ||
			strcmp(sample->pmu, taken->pmu);
	if (sample->package >= 0 && sample->package < 8)
		taken->by_package[sample->package]++;
}

/* Poll the sampler's descriptor for at most @ms. */
static bool is_readable(struct uncore_sampler *sampler, int ms)
{
	struct pollfd ready = { .fd = uncore_sampler_fd(sampler),
				.events = POLLIN };

	return poll(&ready, 1, ms) == 1 && ready.revents & POLLIN;
}

/* Drain the sampler until @n samples were taken, for at most PATIENCE_MS. */
static void collect(struct uncore_sampler *sampler, int n, struct samples *taken)
{
	const time_t end = time(NULL) + PATIENCE_MS / 1000;

	while (taken->n < n && time(NULL) < end) {
		is_readable(sampler, 100);
		uncore_sampler_drain(sampler, count_sample, taken);
	}
}

static struct uncore_sampler *sampler_of(const char *event, uint64_t period)
{
	struct uncore_sampling settings = { .size = sizeof(settings),
					    .period = period, .wakeup = 1 };
	struct uncore_sampler *s = uncore_sampler_new(NULL);

	if (uncore_sampler_add_events(s, event) ||
	    uncore_sampler_open(s, &settings) || uncore_sampler_enable(s))
		say("%s", uncore_sampler_error(s));
	return s;
}

static void test_sampler_errors(void)
{
	struct uncore_sampling settings = { .size = sizeof(settings),
					    .pages = 3 };
	struct uncore_sampler *s = uncore_sampler_new(NULL);
	bool good = same(uncore_sampler_open(s, NULL), UNCORE_MISUSE, "empty");

	good &= same(uncore_sampler_add_events(s, "{page-faults"),
		     UNCORE_INVALID, "an open brace");
	good &= same(uncore_sampler_add_events(s, "duration_time"),
		     UNCORE_INVALID, "duration_time");
	good &= same(uncore_sampler_add_events(s, "page-faults"), UNCORE_OK,
		     "page-faults");
	good &= same(uncore_sampler_enable(s), UNCORE_MISUSE, "enable");
	good &= same(uncore_sampler_drain(s, take_none, NULL), UNCORE_MISUSE,
		     "drain");
	good &= same(uncore_sampler_fd(s), -1, "descriptor");
	good &= same(uncore_sampler_open(s, &settings), UNCORE_INVALID,
		     "3 pages");
	settings.size = 0;
	good &= same(uncore_sampler_open(s, &settings), UNCORE_INVALID,
		     "no size");
	good &= same(uncore_sampler_open(s, NULL), UNCORE_OK,
		     "open after failures");
	good &= same(uncore_sampler_open(s, NULL), UNCORE_MISUSE, "twice");
	uncore_sampler_free(s);
	ok(good, "a sampler's errors, and opening it after one");
}

/* The first write to each page of new memory is a page fault. */
static void test_page_faults(void)
{
	enum { PAGES = 300 };
	struct samples taken = { .pmu = "", .period = 1 };
	struct uncore_sampler *s = sampler_of("page-faults", 1);
	char *memory = malloc(PAGES * 4096);
	bool good;

	for (int i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * 4096] = 1;
	good = is_readable(s, PATIENCE_MS);
	collect(s, PAGES, &taken);
	say("%d samples, %d of this task, %d lost", taken.n, taken.of_this,
	    taken.lost);
	good &= taken.of_this + taken.lost >= PAGES - 1 &&
		same(taken.wrong, 0, "wrong samples");
	free(memory);
	uncore_sampler_free(s);
	ok(good, "a sampler's descriptor polls readable, and its samples name the task");
}

/* --- with a driver -------------------------------------------------------- */

/* Let the manual clock of the simulated hardware advance. */
static void advance(int cycles)
{
	char text[32];
	int fd = open(ADVANCE, O_WRONLY);
	int n = snprintf(text, sizeof(text), "%d", cycles);

	if (fd < 0 || write(fd, text, n) != n)
		say("%s: no advance by %d", ADVANCE, cycles);
	close(fd);
}

/* A listed event without parameters can be added if and only if it has no reason. */
static void test_listed_events(void)
{
	struct uncore_session *s = session_of(NULL, NULL);
	const size_t n = uncore_session_list_events(s, NULL);
	bool good = n >= 25;
	size_t of_box = 0;
	char box[64] = "";

	say("%zu events", n);
	for (size_t i = 0; i < n; i++) {
		struct uncore_event e = { .size = sizeof(e) };
		int status = 0;

		uncore_session_event(s, i, &e);
		if (!box[0])
			snprintf(box, sizeof(box), "%s", e.box);
		of_box += !strcmp(box, e.box);
		good &= !!strstr(e.text, e.name) && e.description[0] &&
			e.scale > 0 && !strstr(e.text, "=?") == !e.parameters[0];
		if (!e.parameters[0] && i % (n / TRIED + 1) == 0) {
			struct uncore_session *other = uncore_session_new(NULL);

			status = uncore_session_add_events(other, e.text);
			good &= same(!status, !e.reason[0], e.text);
			uncore_session_free(other);
		}
	}
	good &= same(uncore_session_list_events(s, box), of_box, box);
	good &= same(uncore_session_list_events(s, "nobox"), 0, "nobox");
	uncore_session_free(s);
	ok(good, "the events that are listed can be added");
}

static void test_listed_metrics(void)
{
	struct uncore_session *s = session_of(NULL, NULL);
	const size_t n = uncore_session_list_metrics(s, NULL);
	const size_t step = n / TRIED + 1;
	size_t available = 0;
	bool good = n > 0;

	for (size_t i = 0; i < n; i += step) {
		struct uncore_metric m = { .size = sizeof(m) };
		struct uncore_session *other = uncore_session_new(NULL);
		int status;

		uncore_session_metric(s, i, &m);
		status = uncore_session_add_metrics(other, m.name);
		good &= same(!status, !m.reason[0], m.name) &&
			!strcmp(uncore_session_error(other), m.reason) &&
			m.expression[0] && m.description[0] && m.groups[0];
		available += !status;
		uncore_session_free(other);
	}
	say("%zu metrics, 1 in %zu tried: %zu available", n, step, available);
	ok(good && available, "metrics are listed with the reasons of those that are unavailable");
	uncore_session_free(s);
}

static void test_counts(const char *event)
{
	struct uncore_session *s = session_of(event, NULL);
	const size_t packages = uncore_session_packages(s);
	bool good = start(s) && packages;
	size_t n;

	advance(CYCLES);
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	advance(2 * CYCLES);
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	n = uncore_session_evaluate(s, UNCORE_BOX, UNCORE_TOTAL);
	good &= same(n, packages, "values of one box");
	for (size_t i = 0; i < n; i++) {
		const struct uncore_value v = value_at(s, i);

		good &= same(v.raw, 3 * CYCLES, v.pmu) &&
			v.value == v.raw && v.running == 1 && !v.error &&
			!v.reason[0] && v.enabled_time &&
			v.enabled_time == v.running_time;
		good &= same(v.index, 0, "its event");
		good &= same(v.package, uncore_session_package(s, i),
			     "its package");
		good &= !!strchr(v.pmu, '_');
	}
	good &= same(uncore_session_evaluate(s, UNCORE_MACHINE,
					     UNCORE_INTERVAL), 1, "values");
	good &= same(value_at(s, 0).raw, 2 * CYCLES * packages, "the last step");
	uncore_session_free(s);
	ok(good, "counts by box and of the machine are exact");
}

static void test_packages(const char *event)
{
	struct uncore_session *s = session_of(event, NULL);
	const int last = uncore_session_package(s, uncore_session_packages(s) - 1);
	const int unknown = 1000;
	bool good = same(uncore_session_use_packages(s, &unknown, 1),
			 UNCORE_NOT_FOUND, "an unknown package");

	good &= has(uncore_session_error(s), "1000");
	good &= same(uncore_session_use_packages(s, &last, 1), UNCORE_OK,
		     "the last package");
	good &= start(s);
	advance(CYCLES);
	good &= same(uncore_session_read(s), UNCORE_OK, "read");
	good &= same(uncore_session_evaluate(s, UNCORE_BOX, UNCORE_TOTAL), 1,
		     "values of one box");
	good &= same(value_at(s, 0).package, last, "its package");
	good &= same(value_at(s, 0).raw, CYCLES, "its count");
	good &= !uncore_session_news(s);
	uncore_session_free(s);
	ok(good, "a session counts on the packages that were chosen");
}

static void test_samples(const char *event)
{
	struct uncore_session *names = session_of(event, NULL);
	const size_t packages = uncore_session_packages(names);
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct samples taken = { .pmu = "", .period = PERIOD };
	struct uncore_sampler *s = sampler_of(event, PERIOD);
	bool good;

	uncore_session_open(names, 0);
	uncore_session_evaluate(names, UNCORE_BOX, UNCORE_TOTAL);
	taken.pmu = value_at(names, 0).pmu;
	good = same(is_readable(s, 0), false, "readable before any sample");
	for (int i = 1; i <= SAMPLES; i++) {
		advance(PERIOD);
		good &= same(is_readable(s, PATIENCE_MS), true,
			     "readable after an overflow");
		collect(s, i * cpus, &taken);
	}
	good &= same(uncore_sampler_disable(s), UNCORE_OK, "disable");
	good &= same(taken.n, SAMPLES * cpus, "samples");
	good &= same(taken.wrong, 0, "wrong samples");
	good &= same(taken.lost, 0, "lost samples");
	for (size_t i = 0; i < packages; i++)
		good &= same(taken.by_package[uncore_session_package(names, i)],
			     SAMPLES * cpus / packages, "samples of a package");
	/*
	 * If a CPU's samples were drained before a poll for them, the next poll may
	 * still report the CPU's ring buffer as readable, once. A poll ends at the
	 * first such CPU: poll once for each CPU.
	 */
	for (int i = 0; i < cpus && is_readable(s, 0); i++)
		;
	good &= same(is_readable(s, 0), false, "readable without samples");
	uncore_session_free(names);
	uncore_sampler_free(s);
	ok(good, "samples of each CPU, each announced by the descriptor");
}

static bool may_count(void)
{
	struct uncore_session *s = session_of("page-faults", NULL);
	int status = uncore_session_open(s, 0);

	uncore_session_free(s);
	return status != UNCORE_PERMISSION;
}

int main(int argc, char **argv)
{
	printf("TAP version 13\n");
	test_null();
	test_enumerations();
	test_elapsed();
	test_sizes();
	if (may_count()) {
		test_retry(argc > 1 ? argv[1] : "page-faults");
		test_sampler_errors();
		test_page_faults();
	} else {
		skip("retries and sampling", "this user may not count");
	}
	if (argc > 1) {
		test_listed_events();
		test_listed_metrics();
		test_counts(argv[1]);
		test_packages(argv[1]);
		test_samples(argv[1]);
	} else {
		test_no_driver();
	}
	printf("1..%d\n", results);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

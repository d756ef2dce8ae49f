// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation of opening, first use, CPU hotplug and loading fails once in turn:
 * the operation returns an error without leftover state, and the next try works. Needs
 * a kernel with failslab and fail_page_alloc; its kmemleak checks at the end.
 *
 * usage: fault_injection [--tries N] [--first NTH] [STEP...]
 *
 * A step's allocations are counted first. If there are more than @tries, one in N
 * fails, beginning with number @first; a comment has N. Runs with --first 1, 2, ... N
 * cover all allocations.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define OF_THIS_THREAD	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define SMALL		"clock=manual cboxes=1 sboxes=2 has=1 imcs=1 qpi_ports=1"

/* More allocations than any step has. */
enum { MANY = 1000000 };

/* Also fail allocations that may sleep, of any order, without a line in the log. */
static bool configure(void)
{
	file_write(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	file_write(DEBUGFS "fail_page_alloc/min-order", "0");
	file_write(DEBUGFS "fail_page_alloc/verbose", "0");
	file_write(DEBUGFS "failslab/verbose", "0");
	if (file_write(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N"))
		tap_diag("without CONFIG_FAIL_PAGE_ALLOC: slabs only");
	return !file_write(OF_THIS_THREAD, "0") &&
	       !file_write(DEBUGFS "failslab/ignore-gfp-wait", "N");
}

/* --- steps ---------------------------------------------------------------- */

/**
 * struct step - an operation that allocates
 * @try: do it; 0 or -errno
 * @undo: undo it after success
 * @clean: is the state as before, after a failure or after @undo?
 * @path: whose allocations; NULL: this thread's
 * @optional: the kernel may make no allocation there, or may succeed without it
 */
struct step {
	const char *name;
	int (*try)(void);
	void (*undo)(void);
	bool (*clean)(void);
	const char *path;
	bool optional;
};

/*
 * A failure of the kernel itself: if memory is short, its BTF code drops a type of the
 * module and then refuses the other types with another error (kernel/bpf/btf.c,
 * btf_add_type()).
 */
#define BTF_REFUSED	"failed to validate module [xeon_uncore] BTF:"

static bool is_btf_refusal(void)
{
	static int seen;
	int all = log_count(BTF_REFUSED) - log_count(BTF_REFUSED " -12");
	bool is_new = all > seen;

	seen = all;
	return is_new;
}

/*
 * The module's file, opened once, because failures of a file system are not tested
 * here. 9p loses the number of a file that it cannot close on the host, and the host
 * then refuses that number, so no file can be opened any more.
 */
static int module = -1;

/* Load without event names, each of which takes some allocations in sysfs. */
static int try_load(void)
{
	return driver_load_from(module, "events=none");
}

static int try_load_names(void)
{
	return driver_load_from(module, "events=all");
}

static void undo_load(void)
{
	int err = driver_unload();

	check(!err, "unload: %s", strerror(-err));
}

static bool load_clean(void)
{
	bool ok = check(!module_loaded("xeon_uncore"), "it is still loaded") &
		  check(access("/sys/bus/pci/drivers/xeon_uncore", F_OK),
			"its PCI driver is still there") &
		  check(pmu_type("hswep_pcu") < 0, "a PMU is still there");

	if (sim_dirty_registers()) {
		sim_show_registers();
		ok = check(false, "registers are not as after reset");
	}
	return ok;
}

/*
 * Attributes prepared in advance: a step may contain only the system calls under test,
 * because reading sysfs without memory returns arbitrary results.
 */
static struct perf_event_attr attrs[BOX_TYPES];
static int n_attrs, home;

/* An event of each box type */
static void prepare_events(void)
{
	home = package_cpu(0, 0);
	for (unsigned int k = 0; k < BOX_TYPES; k++) {
		const struct cat_event *e = plain_of(box_types[k]);
		char pmu[PMU_NAME_MAX];

		if (e && pmu_name(pmu, box_types[k], 0) &&
		    !pmu_attr(&attrs[n_attrs], pmu, ""))
			attrs[n_attrs++].config = e->config;
	}
	if (!n_attrs)
		tap_bail("no event opens");
}

static int opened[BOX_TYPES], n_opened;

static void undo_open(void)
{
	while (n_opened)
		close(opened[--n_opened]);
}

static int try_open(void)
{
	for (int i = 0; i < n_attrs; i++) {
		int fd = perf_open(&attrs[i], -1, home, -1);

		if (fd < 0) {
			undo_open();
			return fd;
		}
		opened[n_opened++] = fd;
	}
	return 0;
}

static struct sampler sampler;

static void undo_sample(void)
{
	sampler_close(&sampler);
}

static struct perf_event_attr sampled;

static void prepare_sample(void)
{
	if (pmu_attr(&sampled, "hswep_ha_0", ""))
		tap_bail("hswep_ha_0 is not there");
	sampled.config = ticks_of("ha")->config;
	sampled.sample_period = 1000;
}

/* The first sampler of a package, its buffer, and its first sample. */
static int try_sample(void)
{
	int err = sampler_open_attr(&sampler, &sampled, home);

	if (!err)
		err = sim_advance(1500);
	if (!err && sampler_wait(&sampler, 1) != 1)
		err = -EIO;
	if (err)
		sampler_close(&sampler);
	return err;
}

/* After any failure, counting works as before. */
static bool counts(void)
{
	int fd = event_open("hswep_ha_0", package_cpu(0, 0), "config=%#" PRIx64,
			    ticks_of("ha")->config);
	bool ok;

	sim_advance(1003);
	ok = check_eq(event_count(fd), 1003, "clockticks afterwards");
	close(fd);
	return ok;
}

/* A CPU's file "online". */
static int online = -1;

static void prepare_hotplug(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	online = open(path, O_WRONLY | O_CLOEXEC);
	if (online < 0)
		tap_bail("%s: %s", path, strerror(errno));
}

static int try_leave(void)
{
	return pwrite(online, "0", 1, 0) == 1 ? 0 : -errno;
}

static int try_return(void)
{
	return pwrite(online, "1", 1, 0) == 1 ? 0 : -errno;
}

static void undo_leave(void)
{
	int err = try_return();

	check(!err, "the CPU does not come back: %s", strerror(-err));
}

static void undo_return(void)
{
	int err = try_leave();

	check(!err, "the CPU does not leave: %s", strerror(-err));
}

/* --- each allocation in turn ---------------------------------------------- */

/*
 * The file that selects the allocation of this thread that fails. Opening it takes some
 * allocations, reading and writing it none.
 */
static int nth_file = -1;

static void open_nth(const struct step *s)
{
	const char *path = s->path ?: OF_THIS_THREAD;

	nth_file = open(path, O_RDWR | O_CLOEXEC);
	if (nth_file < 0)
		tap_bail("%s: %s", path, strerror(errno));
}

static void fail_nth(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(nth_file, text, n, 0) != n)
		tap_bail("fail-nth cannot be written: %s", strerror(errno));
}

/* Return the number of allocations until one fails; 0: one has failed. */
static unsigned int left_to_fail(void)
{
	char text[16] = "";

	if (pread(nth_file, text, sizeof(text) - 1, 0) <= 0)
		tap_bail("fail-nth cannot be read: %s", strerror(errno));
	fail_nth(0);
	return strtoul(text, NULL, 10);
}

/* Count the allocations of a step without failures. Return whether it succeeded. */
static bool count_allocations(const struct step *s, unsigned int *n)
{
	int err;

	fail_nth(MANY);
	err = s->try();
	*n = MANY - left_to_fail();
	if (!check(!err, "%s, and nothing fails: %s", s->name, strerror(-err)))
		return false;
	s->undo();
	return s->clean();
}

/* Maximum number of tries of a step, and the first allocation that fails */
static unsigned int tries = 100, first = 1;

static void run_step(struct __test_metadata *_metadata, const struct step *s)
{
	unsigned int all, stride, nth, tried = 0, failed = 0;
	uint64_t start = now_ns();
	bool ok, came;
	int err;

	open_nth(s);
	ok = count_allocations(s, &all);
	/*
	 * odd: with kmemleak every other allocation is kmemleak's record of the one
	 * before
	 */
	stride = (all > tries ? (all + tries - 1) / tries : 1) | 1;
	TH_LOG("%u allocations, one in %u is to fail, from number %u on", all,
	       stride, first);
	/* the number differs from run to run: continue until no allocation fails */
	for (nth = first, came = ok; ok && came; nth += stride) {
		fail_nth(nth);
		err = s->try();
		came = !left_to_fail();
		tried += came;
		if (err)
			failed++;
		else
			s->undo();
		/* a kernel may succeed without an optional allocation */
		ok = check(!err || err == -ENOMEM || is_btf_refusal(),
			   "allocation %u: %s", nth, strerror(-err)) &
		     check(came || !err, "no allocation failed, but: %s",
			   strerror(-err)) &
		     s->clean();
	}
	close(nth_file);
	EXPECT_TRUE(ok);
	if (!s->optional) {
		EXPECT_LT(0, failed);
	}
	TH_LOG("%u allocations failed; %u times it gave up (%ju s)", tried,
	       failed, (uintmax_t)(now_ns() - start) / 1000000000);
}

/* --- the steps ------------------------------------------------------------ */

static int n_wanted;
static char **wanted;

static bool is_wanted(const char *name)
{
	for (int i = 0; i < n_wanted; i++)
		if (!strcmp(wanted[i], name))
			return true;
	return !n_wanted;
}

/* Allocations of the thread that runs the hotplug callbacks of CPU @cpu */
static bool hotplug_thread(char *path, size_t size, int cpu)
{
	char name[32], comm[32];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	bool found = false;

	snprintf(name, sizeof(name), "cpuhp/%d\n", cpu);
	while (proc && !found && (entry = readdir(proc))) {
		FILE *f;

		snprintf(path, size, "/proc/%.16s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		found = fgets(comm, sizeof(comm), f) && !strcmp(comm, name);
		fclose(f);
		snprintf(path, size, "/proc/%.16s/fail-nth", entry->d_name);
	}
	if (proc)
		closedir(proc);
	return found;
}

FIXTURE(use) {};
FIXTURE_VARIANT(use) { struct step step; };

FIXTURE_VARIANT_ADD(use, open) {
	{ "open", try_open, undo_open, counts, NULL, false }
};
FIXTURE_VARIANT_ADD(use, sample) {
	{ "sample", try_sample, undo_sample, counts, NULL, false }
};

FIXTURE_SETUP(use)
{
	prepare_events();
	prepare_sample();
}

FIXTURE_TEARDOWN(use)
{
	EXPECT_TRUE(log_clean());
}

TEST_F(use, fails_cleanly)
{
	if (!is_wanted(variant->step.name))
		SKIP(return, "not a step of the command line");
	run_step(_metadata, &variant->step);
}

/* In the thread that writes the file, or in the CPU's thread */
FIXTURE(hotplug)
{
	char path[64];
	int cpu;
};

FIXTURE_VARIANT(hotplug)
{
	struct step step;
	bool there, returns;
};

FIXTURE_VARIANT_ADD(hotplug, leave) {
	{ "leave", try_leave, undo_leave, counts, NULL, true }, false, false
};
FIXTURE_VARIANT_ADD(hotplug, leave_there) {
	{ "leave-there", try_leave, undo_leave, counts, NULL, true }, true, false
};
FIXTURE_VARIANT_ADD(hotplug, return) {
	{ "return", try_return, undo_return, counts, NULL, true }, false, true
};
FIXTURE_VARIANT_ADD(hotplug, return_there) {
	{ "return-there", try_return, undo_return, counts, NULL, true }, true, true
};

FIXTURE_SETUP(hotplug)
{
	self->cpu = packages() > 1 ? package_cpu(1, 1) : -1;
}

FIXTURE_TEARDOWN(hotplug)
{
	EXPECT_TRUE(log_clean());
}

TEST_F(hotplug, fails_cleanly)
{
	struct step step = variant->step;

	if (!is_wanted(step.name))
		SKIP(return, "not a step of the command line");
	if (self->cpu < 0 ||
	    !hotplug_thread(self->path, sizeof(self->path), self->cpu))
		SKIP(return, "no second CPU of a second package");
	if (variant->there)
		step.path = self->path;
	prepare_hotplug(self->cpu);
	if (variant->returns) {
		ASSERT_EQ(0, -try_leave());
	}
	run_step(_metadata, &step);
	if (!cpu_is_online(self->cpu))
		undo_leave();
	close(online);
}

FIXTURE_OF(load, ASSERT_EQ(0, -driver_unload()), EXPECT_TRUE(log_clean()));
FIXTURE_VARIANT(load) { struct step step; };

FIXTURE_VARIANT_ADD(load, without_names) {
	{ "load", try_load, undo_load, load_clean, NULL, false }
};
FIXTURE_VARIANT_ADD(load, with_names) {
	{ "load-names", try_load_names, undo_load, load_clean, NULL, false }
};

TEST_F(load, fails_cleanly)
{
	if (!is_wanted(variant->step.name))
		SKIP(return, "not a step of the command line");
	run_step(_metadata, &variant->step);
}

static void prepare(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		unsigned int n = strtoul(argv[i + 1], NULL, 0);

		if (!n)
			tap_bail("%s wants a number above 0", argv[i]);
		if (!strcmp(argv[i], "--tries"))
			tries = n;
		else if (!strcmp(argv[i], "--first"))
			first = n;
		else
			tap_bail("no option %s", argv[i]);
	}
	wanted = argv + i;
	n_wanted = argc - i;
	machine_setup_sim(SMALL);
	if (!configure())
		tap_skip_all("this kernel cannot let allocations fail (CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_DEBUG_FS)");
	log_mark();
	module = driver_open();
	if (module < 0)
		tap_bail("the driver's module: %s", strerror(-module));
	if (try_load())
		tap_bail("the driver does not load");
}

HARNESS_MAIN_AFTER(prepare);

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation of an operation fails in turn: of opening events, of the first samples,
 * of CPU hotplug and of loading the driver. The operation returns an error and leaves no
 * state behind, and then works again. Needs a kernel with failslab and fail_page_alloc;
 * the kernel's kmemleak, if any, checks at the end.
 *
 * usage: fault_injection [--tries N] [--first NTH] [STEP...]
 *
 * A step is an operation. The test first counts the allocations of a step. If there are
 * more than --tries, only one in STRIDE fails, beginning with number --first; a comment
 * in the output has STRIDE. Runs with --first 1, 2, ... STRIDE cover all allocations.
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

#define THREAD_FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define SMALL		"clock=manual cboxes=1 sboxes=2 has=1 imcs=1 qpi_ports=1"

/* More allocations than any step has. */
enum { MANY = 1000000 };

/*
 * Let allocations fail that may sleep, too, and pages of any order, without a line in the
 * log. Return false if the kernel has no failslab.
 */
static bool configure(void)
{
	file_write(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	file_write(DEBUGFS "fail_page_alloc/min-order", "0");
	file_write(DEBUGFS "fail_page_alloc/verbose", "0");
	file_write(DEBUGFS "failslab/verbose", "0");
	if (file_write(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N"))
		tap_diag("without CONFIG_FAIL_PAGE_ALLOC: slabs only");
	return !file_write(THREAD_FAIL_NTH, "0") &&
	       !file_write(DEBUGFS "failslab/ignore-gfp-wait", "N");
}

/* --- steps ---------------------------------------------------------------- */

/**
 * struct step - an operation that allocates
 * @try: do the operation; return 0 or -errno
 * @undo: undo the operation after it succeeded
 * @clean: after a failed @try or after @undo, return whether the state is as before @try
 * @path: fail-nth file of the thread whose allocations fail; NULL: this thread
 * @optional: the operation may not allocate, or may succeed without the allocation
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
 * A bug of the kernel: if an allocation fails, the kernel's BTF code drops a type of the
 * module, and then refuses the other types with an error that is not -ENOMEM
 * (kernel/bpf/btf.c, btf_add_type()).
 */
#define BTF_REFUSED	"failed to validate module [xeon_uncore] BTF:"

/* Return whether the kernel has logged such an error since the last call. */
static bool is_btf_refusal(void)
{
	static int seen;
	int refusals = log_count(BTF_REFUSED) - log_count(BTF_REFUSED " -12");
	bool is_new = refusals > seen;

	seen = refusals;
	return is_new;
}

/*
 * The module's file, opened only once, because this test is not about failures of file
 * systems. If 9p cannot close a file on the host, 9p loses the file's number. The host
 * later refuses that number for another file, so that no file can be opened any more.
 */
static int module = -1;

/* Load the driver without event names: each name takes some allocations in sysfs. */
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
 * Attributes of the events to open. They are prepared in advance: a step may contain only
 * the system calls under test, because a read of sysfs returns arbitrary results when its
 * allocations fail.
 */
static struct perf_event_attr attrs[BOX_TYPES];
static int n_attrs, home;

/* Prepare the attributes of an event of each box type. */
static void prepare_events(void)
{
	home = package_cpu(0, 0);
	for (unsigned int k = 0; *box_types[k]; k++) {
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

/* Open the first sampling event of a package with its buffer, and wait for a sample. */
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

/* Return whether counting still works after a failure. */
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

/* The file "online" of the CPU that leaves and returns */
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
 * The file fail-nth of the thread under test, which selects the allocation that fails. A
 * thread that opens the file allocates; a thread that reads or writes the file does not.
 */
static int nth_file = -1;

static void open_nth(const struct step *s)
{
	const char *path = s->path ?: THREAD_FAIL_NTH;

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

/*
 * Stop the fault injection. Return the number of allocations that were still to come
 * until one would have failed; 0: an allocation has failed.
 */
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

/* Run a step again and again; each time, another allocation fails. */
static void run_step(struct __test_metadata *_metadata, const struct step *s)
{
	unsigned int allocations, stride, nth, tried = 0, failed = 0;
	uint64_t start = now_ns();
	bool ok, injected;
	int err;

	open_nth(s);
	ok = count_allocations(s, &allocations);
	/*
	 * An odd stride: with kmemleak every other allocation is kmemleak's record of the
	 * previous allocation. With an even stride only records would fail, or no record.
	 */
	stride = (allocations > tries ? (allocations + tries - 1) / tries : 1) | 1;
	TH_LOG("%u allocations, one in %u is to fail, from number %u on", allocations,
	       stride, first);
	/* the number differs from run to run: continue until no allocation fails */
	for (nth = first, injected = ok; ok && injected; nth += stride) {
		fail_nth(nth);
		err = s->try();
		injected = !left_to_fail();
		tried += injected;
		if (err)
			failed++;
		else
			s->undo();
		/* the operation may succeed without an optional allocation */
		ok = check(!err || err == -ENOMEM || is_btf_refusal(),
			   "allocation %u: %s", nth, strerror(-err)) &
		     check(injected || !err, "no allocation failed, but: %s",
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

/*
 * Write the path of the fail-nth file of "cpuhp/@cpu" to @path, the thread that runs the
 * hotplug callbacks of the CPU. Return false if there is no such thread.
 */
static bool hotplug_thread(char *path, size_t size, int cpu)
{
	char name[32], comm[32];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	bool is_thread = false;

	snprintf(name, sizeof(name), "cpuhp/%d\n", cpu);
	while (proc && !is_thread && (entry = readdir(proc))) {
		FILE *f;

		snprintf(path, size, "/proc/%.16s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		is_thread = fgets(comm, sizeof(comm), f) && !strcmp(comm, name);
		fclose(f);
		snprintf(path, size, "/proc/%.16s/fail-nth", entry->d_name);
	}
	if (proc)
		closedir(proc);
	return is_thread;
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

/*
 * An allocation fails in the thread that writes the CPU's file "online", or in the CPU's
 * hotplug thread.
 */
FIXTURE(hotplug)
{
	char path[64];
	int cpu;
};

FIXTURE_VARIANT(hotplug)
{
	struct step step;
	bool in_cpu_thread, returns;
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
	if (variant->in_cpu_thread)
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

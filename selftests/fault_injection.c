// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation of loading, opening, first use and CPU hotplug fails once in
 * turn: that is a clean error and leaves nothing, and the next try works.  Needs
 * a kernel with failslab and fail_page_alloc; its kmemleak looks at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sampler.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define SMALL		"clock=manual cboxes=1 sboxes=2 has=1 imcs=1 qpi_ports=1"

enum { MAX_NTH = 100000, STRIDE = 17 };

/* Also allocations that may sleep, of any order, without a word in the log. */
static bool configure(void)
{
	file_write(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	file_write(DEBUGFS "fail_page_alloc/min-order", "0");
	file_write(DEBUGFS "fail_page_alloc/verbose", "0");
	file_write(DEBUGFS "failslab/verbose", "0");
	if (file_write(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N"))
		tap_diag("without CONFIG_FAIL_PAGE_ALLOC: slabs only");
	return !file_write(FAIL_NTH, "0") &&
	       !file_write(DEBUGFS "failslab/ignore-gfp-wait", "N");
}

/* --- what is tried -------------------------------------------------------- */

/**
 * struct step - something that allocates
 * @try: does it; 0 or -errno
 * @undo: what has succeeded
 * @clean: is all as before, after it has failed or been undone?
 * @stride: one allocation in so many fails, where there are thousands
 */
struct step {
	const char *name;
	int (*try)(void);
	void (*undo)(void);
	bool (*clean)(void);
	unsigned int stride;
};

static int try_load(void)
{
	return driver_load(NULL);
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

static int opened[BOX_KINDS], n_opened;

static void undo_open(void)
{
	while (n_opened)
		close(opened[--n_opened]);
}

/* An event of each kind of box. */
static int try_open(void)
{
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		const struct cat_event *e = plain_of(box_kinds[k]);
		char pmu[PMU_NAME_MAX];
		int fd;

		if (!e || !pmu_name(pmu, box_kinds[k], 0))
			continue;
		fd = event_open(pmu, package_cpu(0, 0), "config=%#" PRIx64,
				e->config);
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

/* The first sampler of a package, its buffer, and its first sample. */
static int try_sample(void)
{
	const struct cat_event *e = ticks_of("ha");
	int err = sampler_open(&sampler, "hswep_ha_0", package_cpu(0, 0), 1000,
			       "config=%#" PRIx64, e->config);

	if (err)
		return err;
	sim_advance(1500);
	if (sampler_wait(&sampler, 1) == 1)
		return 0;
	sampler_close(&sampler);
	return -EIO;
}

/* Whatever failed, counting goes on as if nothing had been. */
static bool counts(void)
{
	int fd = event_open("hswep_ha_0", package_cpu(0, 0), "clockticks");
	bool ok;

	sim_advance(1003);
	ok = check_eq(event_count(fd), 1003, "clockticks afterwards");
	close(fd);
	return ok;
}

static int away = -1;

static int try_leave(void)
{
	int cpu = package_cpu(1, 1), err = cpu_set_online(cpu, false);

	if (!err)
		away = cpu;
	return err;
}

static void undo_leave(void)
{
	cpu_set_online(away, true);
	away = -1;
}

static int try_return(void)
{
	int err = cpu_set_online(away, true);

	if (!err)
		away = -1;
	return err;
}

static void undo_return(void)
{
	try_leave();
}

/* --- each in turn --------------------------------------------------------- */

/* Did the allocation that was to fail come? */
static bool injected(void)
{
	char text[16] = "";
	int fd = open(FAIL_NTH, O_RDONLY | O_CLOEXEC);
	bool came = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
		    !atoi(text);

	if (fd >= 0)
		close(fd);
	file_write(FAIL_NTH, "0");
	return came;
}

static void test_step(const struct step *s, unsigned int stride)
{
	unsigned int nth, failed = 0, step = s->stride ? stride : 1;
	bool ok = true, came = true;

	for (nth = 1; ok && came && nth < MAX_NTH; nth += step) {
		char text[16];
		int err;

		snprintf(text, sizeof(text), "%u", nth);
		file_write(FAIL_NTH, text);
		err = s->try();
		came = injected();
		if (err)
			failed++;
		else
			s->undo();
		/* a kernel may do without something that it did not get */
		ok = check(!err || err == -ENOMEM, "allocation %u: %s", nth,
			   strerror(-err)) &
		     check(came || !err, "no allocation failed, but: %s",
			   strerror(-err)) &
		     s->clean();
	}
	tap_ok(ok && failed, "%s: of its %u allocations one in %u failed, %u times it had to give up",
	       s->name, nth, step, failed);
}

int main(int argc, char **argv)
{
	static const struct step load = {
		"loading", try_load, undo_load, load_clean, STRIDE,
	};
	static const struct step used[] = {
		{ "opening", try_open, undo_open, counts, 0 },
		{ "first sampling", try_sample, undo_sample, counts, 0 },
		{ "a CPU leaves", try_leave, undo_leave, counts, 0 },
	};
	static const struct step back = {
		"a CPU comes back", try_return, undo_return, counts, 0,
	};
	unsigned int stride = STRIDE;

	if (argc > 2 && !strcmp(argv[1], "--stride"))
		stride = strtoul(argv[2], NULL, 0);
	catalogue(NULL);
	machine_setup_sim(SMALL);
	if (!configure())
		tap_skip_all("this kernel cannot let allocations fail (CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_DEBUG_FS)");
	log_mark();
	test_step(&load, stride ? stride : 1);
	if (driver_load(NULL))
		tap_bail("the driver does not load any more");
	for (unsigned int i = 0; i < sizeof(used) / sizeof(*used); i++)
		test_step(&used[i], stride);
	if (packages() > 1 && package_cpu(1, 1) >= 0 && !try_leave()) {
		test_step(&back, stride);
		if (away >= 0)
			undo_leave();
	}
	tap_ok(log_clean(), "the kernel's log is clean");
	return tap_end();
}

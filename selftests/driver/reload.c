// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load the driver, count and unload the driver many times. After each round all registers
 * must have their reset values, and at the end the kernel must have logged no fault and
 * must not use more memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

/*
 * A debug kernel checks every access and is slow. Its KASAN also delays the reuse of
 * freed memory, so the test does not count objects there: kmemleak looks for leaks at
 * the end of the VM.
 */
enum {
	ROUNDS = 200,
	DEBUG_ROUNDS = 12,	/* on a debug kernel */
	WARM_UP = 20,		/* rounds before the first measurement */
	FULL_ROUNDS = 3,	/* of the full machine */
	COLLECTED_S = 6,	/* seconds in which the kernel returns freed memory */
	DROPS = 4,		/* times that measure() drops the caches */
};

/* Every box type, with few boxes: registering PMUs takes most of a round. */
#define SMALL	"clock=manual boxes=cbox:2,sbox:2,ha:1,imc:2,qpi:1"
#define FULL	"clock=manual"

/* --- memory in use --------------------------------------------------------- */

enum { MAX_CACHES = 400 };

/* Number of objects of each slab cache, and other memory in use */
struct memory {
	unsigned int n;
	struct cache {
		char name[64];
		long objects;
	} cache[MAX_CACHES];
	long percpu_kb, vmalloc_areas;
};

/* Return a value of /proc/meminfo, in KB. */
static long meminfo(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char key[64];
	long value, result = 0;

	while (f && fscanf(f, "%63[^:]: %ld%*[^\n]\n", key, &value) == 2)
		if (!strcmp(key, name))
			result = value;
	if (f)
		fclose(f);
	return result;
}

static long count_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* Return a number from a file of a slab cache in sysfs; 0 if there is no such file. */
static long slab_number(const char *cache, const char *name)
{
	char path[128];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/%s", cache, name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/*
 * Return whether the kernel counts single objects. Usually it counts all objects of a
 * CPU's current slab as in use: up to 512 objects, of which an unknown number is free.
 * With slub_debug= CPUs have no current slab, and caches are not merged.
 */
static bool objects_are_counted(void)
{
	return slab_number("kmalloc-8", "sanity_checks");
}

/*
 * Measure the memory in use. Drop the kernel's caches several times: an entry that was
 * used since the last drop, as for a file that the last measurement read, survives one
 * drop.
 */
static void measure(struct memory *m)
{
	char line[512];
	FILE *f;

	memset(m, 0, sizeof(*m));
	sync();
	for (int i = 0; i < DROPS; i++)
		file_write("/proc/sys/vm/drop_caches", "3");
	f = fopen("/proc/slabinfo", "re");
	while (f && fgets(line, sizeof(line), f) && m->n < MAX_CACHES)
		if (sscanf(line, "%63s %*d %*d %*d %*d", m->cache[m->n].name) == 1 &&
		    line[0] != '#')
			m->n++;
	if (f)
		fclose(f);
	for (unsigned int i = 0; i < m->n; i++)
		m->cache[i].objects = slab_number(m->cache[i].name, "objects");
	m->percpu_kb = meminfo("Percpu");
	m->vmalloc_areas = count_lines("/proc/vmallocinfo");
}

/* Return the number of objects of a cache; 0 if there is no such cache. */
static long objects_of(const struct memory *m, const char *name)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (!strcmp(m->cache[i].name, name))
			return m->cache[i].objects;
	return 0;
}

/*
 * Return whether the objects of any cache, per-CPU memory or vmalloc areas grew by at
 * least one in two rounds. With @say print the growth.
 */
static bool grew(const struct memory *before, const struct memory *after,
		 long rounds, bool say)
{
	bool grown = false;
	const char *name = "";
	long most = 0, more;

	for (unsigned int i = 0; i < after->n; i++) {
		const struct cache *c = &after->cache[i];

		more = c->objects - objects_of(before, c->name);
		if (more > most) {
			most = more;
			name = c->name;
		}
		/* other parts of the system may use more objects, too */
		if (2 * more < rounds)
			continue;
		grown = true;
		if (say)
			tap_diag("%s: %ld objects more", c->name, more);
	}
	more = after->percpu_kb - before->percpu_kb;
	grown |= 2 * more >= rounds;
	if (say)
		tap_diag("most: %ld objects more in %s; %ld KB per-CPU; %ld vmalloc areas",
			 most, name, more,
			 after->vmalloc_areas - before->vmalloc_areas);
	return grown || 2 * (after->vmalloc_areas - before->vmalloc_areas) >= rounds;
}

/*
 * Return whether memory is lost. Memory that is freed through RCU and work queues is in
 * use for some seconds more, so it is lost only if it is in use after WAIT_S seconds.
 */
static bool is_lost(const struct memory *before, long rounds)
{
	enum { WAIT_S = 30 };
	static struct memory now;
	bool grown = true;

	for (int i = 0; grown && i < WAIT_S; i++) {
		if (i)
			sleep(1);
		measure(&now);
		if (!now.n)
			tap_bail("/proc/slabinfo cannot be read");
		grown = grew(before, &now, rounds, false);
	}
	grew(before, &now, rounds, true);
	return grown;
}

/* --- a round -------------------------------------------------------------- */

/* In each package, a group of events of @pmu counts @cycles cycles exactly. */
static bool count_on(const char *pmu, uint64_t cycles)
{
	const char *const events[] = {
		"config=0", "config=0x1000000", "config=0x2000000",
	};
	struct event_group g;
	uint64_t values[3];
	bool ok = true;

	for (int pkg = 0; pkg < packages(); pkg++) {
		int err = group_open(&g, pmu, pmu_cpu(pmu, pkg), events, 3);

		if (!check(!err, "%s: %s", pmu, strerror(-err)))
			return false;
		sim_advance(cycles);
		ok &= check(!group_read(&g, values, NULL), "read of %s", pmu);
		ok &= check_eq(values[0], cycles, "%s", pmu);
		ok &= check_eq(values[1], cycles, "%s/thresh=1/", pmu);
		ok &= check_eq(values[2], 0, "%s/thresh=2/", pmu);
		group_close(&g);
	}
	return ok;
}

/* Load the driver, count and unload the driver. Check counts and registers. */
static bool load_count_unload(int i)
{
	static const char *const pmus[] = {
		"hswep_cbox_0", "hswep_imc_0", "hswep_sbox_0",
	};
	int err = driver_load(NULL);
	bool ok;

	if (!check(!err, "round %d: load: %s", i, strerror(-err)))
		return false;
	ok = true;
	for (int p = 0; p < 3; p++)
		ok &= count_on(pmus[p], 100 + i);
	err = driver_unload();
	ok &= check(!err, "round %d: unload: %s", i, strerror(-err));
	return ok & check(!sim_dirty_registers(),
			  "round %d: %u registers are not as after reset", i,
			  sim_dirty_registers());
}

/* --- tests ---------------------------------------------------------------- */

static bool debug;	/* the kernel has kmemleak */
static int rounds;

/*
 * Result of the test small_machine, in shared memory, for the test memory: each test is a
 * process, and only small_machine has the first measurement.
 */
static struct {
	bool measured, lost;
} *memory;

FIXTURE_OF(reload, log_mark(), expect_no_complaint(_metadata));

/* Counts are exact, and registers are as after reset. */
TEST_F(reload, full_machine)
{
	int full = debug ? 1 : FULL_ROUNDS;

	machine_setup_sim(FULL);
	ASSERT_EQ(0, sim_dirty_registers());
	for (int i = 0; i < full; i++) {
		ASSERT_TRUE(load_count_unload(i));
	}
}

TEST_F(reload, small_machine)
{
	static struct memory before;

	machine_setup_sim(SMALL);
	if (debug)
		TH_LOG("%d rounds instead of %d: this is a debug kernel", rounds,
		       ROUNDS);
	for (int i = 0; i < rounds; i++) {
		/* measure twice, because the first measurement allocates memory */
		if (i == WARM_UP - 1 || i == WARM_UP)
			measure(&before);
		if (i == WARM_UP) {
			sleep(COLLECTED_S);
			measure(&before);
		}
		ASSERT_TRUE(load_count_unload(i));
		if (i % 1000 == 999)
			TH_LOG("%d of %d rounds", i + 1, rounds);
	}
	if (debug || !objects_are_counted())
		return;
	memory->lost = is_lost(&before, rounds - WARM_UP);
	memory->measured = rounds > WARM_UP;
}

/* In the test small_machine, memory in use grew by less than one object in two rounds. */
TEST_F(reload, memory)
{
	if (debug)
		SKIP(return, "a debug kernel keeps freed memory back; kmemleak looks instead");
	if (!objects_are_counted())
		SKIP(return, "boot with slub_debug=F to have objects counted");
	ASSERT_TRUE(memory->measured);
	EXPECT_FALSE(memory->lost);
}

static void prepare(int argc, char **argv)
{
	debug = access(KMEMLEAK, F_OK) == 0;
	rounds = argc > 2 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) :
		 debug ? DEBUG_ROUNDS : ROUNDS;
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
}

HARNESS_MAIN_AFTER(prepare);

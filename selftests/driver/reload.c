// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load, count and unload many times: nothing remains in the registers, in the kernel's
 * log or in its memory.
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
 * A kernel that checks every access is slow. KASAN also delays the reuse of freed
 * memory, so objects are not counted there; kmemleak checks at the end of the VM's
 * life.
 */
enum { ROUNDS = 200, DEBUG_ROUNDS = 12, WARM_UP = 20, FULL_ROUNDS = 3,
       COLLECTED_S = 6, DROPS = 4 };

/* Every box type, and few boxes of each: most of a round is registering PMUs. */
#define SMALL	"clock=manual cboxes=2 sboxes=2 has=1 imcs=2 qpi_ports=1"
#define FULL	"clock=manual"

/* --- memory: caches in which a leak of one object a round shows ----------- */

enum { MAX_CACHES = 400 };
struct memory {
	unsigned int n;
	struct cache {
		char name[64];
		long objects;
	} cache[MAX_CACHES];
	long percpu_kb, vmalloc_areas;
};

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
 * Return whether the kernel counts objects one by one. Usually a slab that is a CPU's
 * current one counts as full: up to 512 objects of which an unknown number is in use.
 * With slub_debug= no CPU has a current slab, and caches are not merged.
 */
static bool objects_are_counted(void)
{
	return slab_number("kmalloc-8", "sanity_checks");
}

/*
 * Objects in use now. Entries that were used since the caches were last dropped survive
 * that once: those of the files that the last measurement read.
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

static long objects_of(const struct memory *m, const char *name)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (!strcmp(m->cache[i].name, name))
			return m->cache[i].objects;
	return 0;
}

/*
 * Return the number of objects that grew by one in every second round; report them if
 * asked to.
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
		/* the rest of the system may use more objects as well */
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
 * Wait for deferred frees: memory freed through RCU and work queues is returned some
 * seconds later. It counts as lost if it is not back by the end of the wait.
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

static bool one_round(int i)
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

/* Measured by one test, whose process compares itself, and reported by the next one */
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
		ASSERT_TRUE(one_round(i));
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
		/* twice: the first measurement allocates memory */
		if (i == WARM_UP - 1 || i == WARM_UP)
			measure(&before);
		if (i == WARM_UP) {
			sleep(COLLECTED_S);
			measure(&before);
		}
		ASSERT_TRUE(one_round(i));
		if (i % 1000 == 999)
			TH_LOG("%d of %d rounds", i + 1, rounds);
	}
	if (debug || !objects_are_counted())
		return;
	memory->lost = is_lost(&before, rounds - WARM_UP);
	memory->measured = rounds > WARM_UP;
}

/* No cache has an object more for every second round of the previous test. */
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random use: several processes open, group, read, map, control and close events of all
 * PMUs at random, while CPUs go offline and online, PCI functions are unbound and the
 * driver is reloaded.
 *
 * In an exact life of the driver, the simulator's clock is stopped while the processes
 * work, so the model knows every count. In a life of chaos the clock runs, another
 * program writes counters, a core PMU shares LVTPC, and events sample on all CPUs:
 * counts must be possible, and no NMI may be unknown.
 *
 * The printed seed repeats a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/random_worker.h"
#include "lib/c/sampler.h"
#include "lib/c/sim.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

#define SIM_PARAMETERS	"/sys/module/xeon_uncore_sim/parameters/"

enum {
	MAX_CPUS = 64,
	SECONDS = 60,
	CHAOS_MS = 4000,
	CHAOS_EVERY = 4,	/* every fourth life of the driver is chaos */
	OPERATIONS = 8,
	UCLK_KHZ = 400000,
	UNFREEZE_MS = 1000000,
};

static struct crew *crew;
static struct model *model;
static struct rng rng;
static struct {
	int in, out;
	pid_t pid;
} workers[MODEL_WORKERS];

/* Changes of the machine that --without excludes, to narrow a failure down */
static bool no_hotplug, no_unbind, no_chaos, no_writes;

/* Numbers of changes of the machine */
static struct {
	unsigned int lives, rounds, hotplugs, unbound, refused, written;
} tally;

/* --- the processes -------------------------------------------------------- */

static void start_worker(unsigned int i, uint64_t seed)
{
	int commands[2], answers[2];

	if (pipe2(commands, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	workers[i].pid = fork();
	if (workers[i].pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (!workers[i].pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(commands[1]);
		close(answers[0]);
		for (unsigned int j = 0; j < i; j++) {
			close(workers[j].in);
			close(workers[j].out);
		}
		worker_run(crew, i, seed, commands[0], answers[1]);
		fflush(stdout);
		_exit(0);
	}
	close(commands[0]);
	close(answers[1]);
	workers[i].in = answers[0];
	workers[i].out = commands[1];
}

static void start_workers(uint64_t seed)
{
	pthread_rwlockattr_t shared;

	crew = mmap(NULL, sizeof(*crew), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	model = &crew->model;
	model->workers = MODEL_WORKERS;
	crew->operations = OPERATIONS;
	pthread_rwlockattr_init(&shared);
	pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_rwlockattr_setkind_np(&shared,
				      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&crew->groups, &shared);
	for (unsigned int i = 0; i < MODEL_WORKERS; i++)
		start_worker(i, seed);
}

/* Worker @i has ended: print the last operations and its exit status, and bail out. */
static noreturn void worker_died(unsigned int i)
{
	int status = 0;

	model_tell(model, "");
	waitpid(workers[i].pid, &status, 0);
	tap_bail("worker %u has died, status %#x", i, status);
}

/* Send a command to all workers. */
static void send_workers(char command)
{
	for (unsigned int i = 0; i < MODEL_WORKERS; i++)
		if (write(workers[i].out, &command, 1) != 1)
			worker_died(i);
}

static void wait_for_workers(void)
{
	char answer;

	for (unsigned int i = 0; i < MODEL_WORKERS; i++)
		if (read(workers[i].in, &answer, 1) != 1)
			worker_died(i);
}

/* Send a command to all workers, and wait until all have answered. */
static void run_workers(char command)
{
	send_workers(command);
	wait_for_workers();
}

/* --- the machine ---------------------------------------------------------- */

/*
 * Set random delays of the freeze, the overflow status and the PMI, in cycles, or 0 for
 * all if not @some. Delays are for chaos only: the model does not know the cycles of a
 * frozen package, which are not counted.
 */
static void set_delays(bool some)
{
	static const struct {
		const char *name;
		unsigned int most;
	} delays[] = {
		{ "freeze_delay", 10000 }, { "status_delay", 10000 },
		{ "pmi_delay", 100000 },
	};

	for (unsigned int i = 0; i < COUNT(delays); i++) {
		unsigned int most = delays[i].most;
		char path[96], text[16];

		snprintf(path, sizeof(path), SIM_PARAMETERS "%s",
			 delays[i].name);
		snprintf(text, sizeof(text), "%u\n",
			 some && rng_chance(&rng, 50) ? rng_below(&rng, most) : 0);
		file_write(path, text);
	}
}

static int perf_cpu(int pkg)
{
	return pmu_cpu("hswep_pcu", pkg);
}

/* Tell the model which CPUs are online. */
static void update_online_cpus(void)
{
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		model->online[cpu] = cpu < sysconf(_SC_NPROCESSORS_CONF) &&
				     cpu_is_online(cpu);
}

static void fail(const char *what, int err)
{
	model->failures++;
	check(false, "%s: %s", what, strerror(err));
}

/* Return a random CPU that is online, or offline, and may change that; -1: none. */
static int pick_cpu(bool online)
{
	int first = rng_below(&rng, MAX_CPUS), others = 0, picked = -1;

	for (int i = 0; i < MAX_CPUS; i++) {
		int cpu = (first + i) % MAX_CPUS;

		if (cpu >= sysconf(_SC_NPROCESSORS_CONF) ||
		    !cpu_can_leave(cpu) || cpu_is_online(cpu) != online)
			continue;
		if (picked < 0)
			picked = cpu;
		else
			others++;
	}
	/*
	 * leave a CPU online that could be taken offline, so that some CPUs do the work
	 */
	return online && others < 1 ? -1 : picked;
}

/*
 * Take a CPU offline or online. The events of a perf CPU that goes offline migrate to the
 * package's next perf CPU: tell the model. In chaos the model does not know the counts.
 */
static void hotplug(void)
{
	bool leaves = rng_chance(&rng, 50);
	int cpu = pick_cpu(leaves), pkg, err, heir = -1;
	bool was_perfs;

	if (cpu < 0 || no_hotplug)
		return;
	pkg = cpu_package(cpu);
	was_perfs = leaves && perf_cpu(pkg) == cpu;
	pthread_rwlock_wrlock(&crew->groups);
	err = cpu_set_online(cpu, !leaves);
	pthread_rwlock_unlock(&crew->groups);
	if (err)
		fail(leaves ? "a CPU cannot leave" : "a CPU cannot come back",
		     -err);
	tally.hotplugs++;
	if (model->chaos) {
		model->online[cpu] = cpu_is_online(cpu);
		return;
	}
	if (leaves) {
		if (was_perfs)
			heir = perf_cpu(pkg);
		model_cpu_left(model, cpu, heir);
	} else {
		model->online[cpu] = true;
	}
	model_note(model, MODEL_ALL, "CPU %d %s, heir %d", cpu,
		   leaves ? "left" : "came back", heir);
}

/*
 * Take all CPUs online: the registers of a package without an online CPU cannot be
 * accessed.
 */
static void all_cpus_back(void)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (!cpu_is_online(cpu))
			cpu_set_online(cpu, true);
}

/* Tell the model that the PCI function of a box was unbound. */
static void note_unbound(const struct box_function *f, int pkg)
{
	for (unsigned int i = 0; i < model->boxes; i++) {
		struct model_box *box = &model->box[i];
		unsigned int index;
		const struct box_type *type = box_named(pmu_box(box->pmu), &index);

		if (box->pkg != pkg || box_function(type->name, index, "box") != f)
			continue;
		model_box_gone(model, box);
		model_note(model, MODEL_ALL, "%s of package %d unbound", box->pmu,
			   pkg);
	}
}

/* Choose a random box in PCI space, and return its function; NULL: there is none. */
static const struct box_function *choose_function(const struct model_box **box)
{
	for (unsigned int tries = 0; tries < 100; tries++) {
		const struct box_type *type;
		unsigned int index;

		*box = &model->box[rng_below(&rng, model->boxes)];
		type = box_named(pmu_box((*box)->pmu), &index);
		if (type->pci)
			return box_function(type->name, index, "box");
	}
	return NULL;
}

/* Unbind a random PCI function, and with it all boxes in this function. */
static void unbind(void)
{
	const struct model_box *box;
	const struct box_function *f = choose_function(&box);
	char name[16];
	int err;

	if (!f || box->dead || !pci_find(name, f->type, f->box, f->has, box->pkg))
		return;
	err = file_write("/sys/bus/pci/drivers/xeon_uncore/unbind", name);
	if (err)
		fail(name, -err);
	tally.unbound++;
	note_unbound(f, box->pkg);
}

/*
 * Clear the counters of a random box in MSRs without the driver, as another program may do;
 * not of a box that interrupts, whose samples would be lost.
 */
static void write_counters(void)
{
	struct model_box *box = &model->box[rng_below(&rng, model->boxes)];
	const struct box_type *type;
	unsigned int index;
	uint32_t first;
	int cpu;

	type = box_named(pmu_box(box->pmu), &index);
	if (no_writes || type->pci || type->memory || type->interrupts)
		return;
	first = box_register(type->name, index, "ctr0");
	cpu = pmu_cpu(box->pmu, box->pkg);
	if (cpu < 0)
		return;
	__atomic_store_n(&box->foreign, true, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < type->general; i++)
		if (msr_write(cpu, first + i, 0))
			return;
	model_note(model, MODEL_ALL, "%s of package %d: counters written",
		   box->pmu, box->pkg);
	tally.written++;
}

/*
 * Start a core PMU, which interrupts through LVTPC of all CPUs, with a random
 * frequency, or stop it.
 */
static void set_core_pmu(bool on)
{
	if (on && sim_core_pmu("hz=%u us=%u unmask=%s", 10 + rng_below(&rng, 500),
			       rng_below(&rng, 100),
			       rng_chance(&rng, 50) ? "late" : "early"))
		fail("core PMU", EINVAL);
	if (!on && sim_core_pmu("off"))
		fail("core PMU", EINVAL);
}

/* If any event is open, check that the driver cannot be unloaded. */
static void unload_in_use(void)
{
	bool used = false;

	for (unsigned int w = 0; w < MODEL_WORKERS; w++)
		for (unsigned int i = 0; i < MODEL_EVENTS; i++)
			used |= model->worker[w].event[i].life == MODEL_OPEN &&
				model->worker[w].event[i].cat;
	if (!used)
		return;
	if (driver_unload() != -EAGAIN)
		tap_bail("the driver unloads under its users");
	tally.refused++;
}

/* Send transactions for a random event, if it is open and the model knows its count. */
static void traffic(void)
{
	static const char *const types[] = {
		"cbox", "sbox", "imc", "irp", "r2pcie", "r3qpi",
	};
	struct model_worker *w = &model->worker[rng_below(&rng, MODEL_WORKERS)];
	struct model_event *e = &w->event[rng_below(&rng, MODEL_EVENTS)];
	unsigned int opcode, n = 1 + rng_below(&rng, 1000);
	bool has_traffic = false;

	for (unsigned int i = 0; i < COUNT(types); i++)
		has_traffic |= e->box && !strcmp(e->box->box_type, types[i]);
	if (e->life != MODEL_OPEN || !has_traffic || !e->cat || e->cat->fixed ||
	    e->cat->free || !e->cat->umask ||
	    (!strcmp(e->box->box_type, "cbox") && !model_obeys_opcode(e->cat)))
		return;
	opcode = rng_chance(&rng, 70) ? e->config1 >> 52 : 0x181;
	if (sim_traffic("pkg=%d box=%s event=%#x umask=%#x count=%u opc=%#x",
			e->box->pkg, pmu_box(e->box->pmu), e->cat->code,
			e->cat->umask, n, opcode))
		fail("traffic", EINVAL);
	model_transactions(model, e->box, e->cat, opcode, n);
	model_note(model, MODEL_ALL,
		   "%s of package %d: %u transactions of %s, opcode %#x",
		   e->box->pmu, e->box->pkg, n, e->cat->name, opcode);
}

/* Let random cycles of the manual clock pass, here and in the model. */
static void advance(void)
{
	uint64_t start = sim_cycles(), cycles = 1 + rng_below(&rng, 3000);
	int err = sim_advance(cycles);

	if (err)
		fail("advance", -err);
	model_pass(model, start, cycles);
	model_note(model, MODEL_ALL, "from cycle %" PRIu64 " on %" PRIu64
		   " more", start, cycles);
}

/* --- lives of the driver -------------------------------------------------- */

/* Load the driver for a life of chaos, or for an exact one. */
static void begin_life(bool chaos)
{
	int err;

	model->chaos = chaos;
	err = sim_clock_set(chaos ? "real" : "manual");
	if (err)
		tap_bail("the clock cannot be changed: %s", strerror(-err));
	if (chaos)
		set_core_pmu(true);
	err = driver_load("freeze_budget=1000");
	if (err)
		tap_bail("the driver does not load: %s", strerror(-err));
	model_find_boxes(model);
	model_heat(model, &rng);
	update_online_cpus();
	set_delays(chaos);
	tally.lives++;
}

/* Change the machine only while all workers wait, so that the model knows every count. */
static void exact_life(void)
{
	unsigned int rounds = 10 + rng_below(&rng, 20);

	while (rounds-- && !model->failures) {
		run_workers(WORKER_WORK);
		model_settle(model);
		if (rng_chance(&rng, 15))
			hotplug();
		if (rng_chance(&rng, 3) && !no_unbind)
			unbind();
		if (rng_chance(&rng, 3))
			unload_in_use();
		if (rng_chance(&rng, 40))
			traffic();
		advance();
		tally.rounds++;
	}
}

/* Change the machine while the workers use the events and the clock runs. */
static void chaos_life(void)
{
	uint64_t end = now_ns() + CHAOS_MS * 1000000ULL;

	model->stop = false;
	send_workers(WORKER_CHAOS);
	while (now_ns() < end) {
		sleep_ms(rng_below(&rng, 100));
		hotplug();
		write_counters();
		if (rng_chance(&rng, 10))
			set_core_pmu(rng_chance(&rng, 70));
	}
	set_core_pmu(false);
	__atomic_store_n(&model->stop, true, __ATOMIC_RELAXED);
	wait_for_workers();
}

/*
 * Close all events and unload the driver. All registers must then have their reset
 * values.
 */
static void end_life(void)
{
	int err;

	run_workers(WORKER_CLOSE);
	model_settle(model);
	set_delays(false);
	all_cpus_back();
	err = driver_unload();
	if (err)
		tap_bail("the driver does not unload: %s", strerror(-err));
	if (sim_dirty_registers()) {
		fail("registers are not as after reset", EIO);
		sim_show_registers();
	}
	if (sim_stat("undefined"))
		fail("undefined writes", EIO);
}

static void live(unsigned int seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL, reported = now_ns();

	for (unsigned int i = 0; now_ns() < end && !model->failures; i++) {
		bool chaos = i % CHAOS_EVERY == 1 && !no_chaos;

		begin_life(chaos);
		if (chaos)
			chaos_life();
		else
			exact_life();
		end_life();
		if (now_ns() - reported > 60000000000ULL) {
			reported = now_ns();
			tap_diag("%u lives, %" PRIu64 " operations, %u failures",
				 tally.lives, model->operations,
				 model->failures);
		}
	}
}

static uint64_t seed;
static unsigned int seconds = SECONDS;

static void options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 'S' },
		{ "seconds", required_argument, NULL, 's' },
		{ "without", required_argument, NULL, 'w' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (c == 'S')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 's')
			seconds = strtoul(optarg, NULL, 0);
		else if (c != 'w')
			tap_bail("usage: random_use [--seed N] [--seconds S] [--without hotplug|unbind|chaos|writes]");
		else if (!strcmp(optarg, "hotplug"))
			no_hotplug = true;
		else if (!strcmp(optarg, "unbind"))
			no_unbind = true;
		else if (!strcmp(optarg, "chaos"))
			no_chaos = true;
		else if (!strcmp(optarg, "writes"))
			no_writes = true;
	}
}

FIXTURE(random) {};

FIXTURE_SETUP(random)
{
	/*
	 * Let the manual clock wait until the driver has handled an overflow, also on a
	 * slow host: cycles of a frozen package are not counted.
	 */
	machine_setup_sim("clock=manual uclk_khz=%u unfreeze_ms=%u", UCLK_KHZ,
			  UNFREEZE_MS);
	ASSERT_EQ(0, max_sample_rate(100000000));
	ASSERT_EQ(0, -sim_nmi_listener(true));
	if (system("modprobe msr"))
		no_writes = true;
	log_mark();
	rng_seed(&rng, seed);
	start_workers(seed);
	atexit(all_cpus_back);
}

FIXTURE_TEARDOWN(random)
{
	all_cpus_back();
	EXPECT_TRUE(log_clean());
}

TEST_F(random, use_counts_as_the_model)
{
	TH_LOG("--seed %ju --seconds %u", (uintmax_t)seed, seconds);
	live(seconds);
	EXPECT_EQ(0, model->failures);
	EXPECT_LT(0, model->exact_checks);
	EXPECT_EQ(0, sim_stat("nmi_unknown"));
	TH_LOG("%u processes, %ju operations, %ju events: %ju comparisons, %ju of them exact",
	       MODEL_WORKERS, (uintmax_t)model->operations,
	       (uintmax_t)model->opened, (uintmax_t)model->checks,
	       (uintmax_t)model->exact_checks);
	TH_LOG("%ju samples; %u lives of the driver, %u rounds, %u CPUs came or went, %u functions taken away, %u times not unloaded, %u CBos written",
	       (uintmax_t)model->samples, tally.lives, tally.rounds,
	       tally.hotplugs, tally.unbound, tally.refused, tally.written);
}

static void prepare(int argc, char **argv)
{
	seed = now_ns() ^ getpid();
	options(argc, argv);
}

HARNESS_MAIN_AFTER(prepare);

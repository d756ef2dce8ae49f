// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "hold": a CPU is busy with interrupts off for a given time, at
 * once or from the next register access of another CPU on.
 *
 * After a hold the CPU runs the function calls that were queued for it in that time:
 * the synchronous ones first, then the others in their order.  With again_us= a
 * second hold is the first of these others.  A caller of kick_all_cpus_sync(), which
 * is a synchronous call, then returns while asynchronous calls that were queued
 * earlier have not run yet.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": hold: " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "sim.h"

#define SIM_HOLD_MAX_US		2000000
/* A CPU that disables interrupts itself, maybe for a lock of the caller */
#define SIM_HOLD_WAIT_NS	(20 * NSEC_PER_MSEC)

/**
 * struct sim_hold_request - contents of a line
 * @cpu: CPU to be held
 * @us: duration of the first hold
 * @again_us: duration of the second
 * @by: CPU whose next access begins it, or -1
 */
struct sim_hold_request {
	u32 cpu, us, again_us;
	int by;
};

static void sim_hold_first(void *info);
static void sim_hold_again(void *info);

/* @pending: calls that have not ended; @held: the first one has begun. */
static struct {
	struct mutex lock;
	struct sim_hold_request request;
	int armed_by;
	atomic_t pending;
	bool held;
	call_single_data_t first, again;
} sim_hold = {
	.lock = __MUTEX_INITIALIZER(sim_hold.lock),
	.armed_by = -1,
	.first = CSD_INIT(sim_hold_first, NULL),
	.again = CSD_INIT(sim_hold_again, NULL),
};

static void sim_hold_first(void *info)
{
	WRITE_ONCE(sim_hold.held, true);
	sim_away(sim_hold.request.us);
	atomic_dec(&sim_hold.pending);
}

static void sim_hold_again(void *info)
{
	sim_away(sim_hold.request.again_us);
	atomic_dec(&sim_hold.pending);
}

static void sim_hold_call(call_single_data_t *csd)
{
	atomic_inc(&sim_hold.pending);
	if (smp_call_function_single_async(sim_hold.request.cpu, csd))
		atomic_dec(&sim_hold.pending);
}

/* Hold the requested CPU.  Return once it is held, or cannot be. Preemption is off. */
static void sim_hold_begin(void)
{
	u64 until = sim_clock_ns(NULL) + SIM_HOLD_WAIT_NS;
	unsigned long flags;

	if (sim_hold.request.cpu == smp_processor_id()) {
		local_irq_save(flags);
		sim_away(sim_hold.request.us);
		local_irq_restore(flags);
		return;
	}
	WRITE_ONCE(sim_hold.held, false);
	sim_hold_call(&sim_hold.first);
	while (!READ_ONCE(sim_hold.held) && sim_clock_ns(NULL) < until)
		cpu_relax();
	if (sim_hold.request.again_us)
		sim_hold_call(&sim_hold.again);
}

/**
 * sim_hold_access() - begin a hold that waits for an access of this CPU
 *
 * Context: any but NMI; no lock of the simulator's is held.
 */
void sim_hold_access(void)
{
	int cpu = raw_smp_processor_id();

	if (likely(READ_ONCE(sim_hold.armed_by) != cpu))
		return;
	preempt_disable();
	if (cmpxchg(&sim_hold.armed_by, cpu, -1) == cpu)
		sim_hold_begin();
	preempt_enable();
}

static int sim_hold_number(char *word, struct sim_hold_request *r)
{
	static const struct {
		const char *key;
		size_t offset;
	} keys[] = {
		{ "cpu", offsetof(struct sim_hold_request, cpu) },
		{ "us", offsetof(struct sim_hold_request, us) },
		{ "again_us", offsetof(struct sim_hold_request, again_us) },
		{ "by", offsetof(struct sim_hold_request, by) },
	};
	char *text = strchr(word, '=');
	unsigned int i;
	u64 value;

	if (text)
		*text++ = '\0';
	for (i = 0; text && i < ARRAY_SIZE(keys); i++) {
		if (strcmp(word, keys[i].key))
			continue;
		if (sim_parse_u64(text, SIM_HOLD_MAX_US, &value)) {
			pr_warn("%s=%s: invalid value (expected 0 to %u)\n",
				word, text, SIM_HOLD_MAX_US);
			return -EINVAL;
		}
		*(u32 *)((char *)r + keys[i].offset) = value;
		return 0;
	}
	pr_warn("invalid key \"%s\" (expected cpu=, us=, again_us= or by=)\n",
		word);
	return -EINVAL;
}

static bool sim_hold_is_online(const char *key, u32 cpu)
{
	if (cpu < nr_cpu_ids && cpu_online(cpu))
		return true;
	pr_warn("%s=%u: invalid value (expected a CPU that is online)\n", key,
		cpu);
	return false;
}

/* Called with CPU hotplug locked. */
static int sim_hold_set(const struct sim_hold_request *r)
{
	if (!sim_hold_is_online("cpu", r->cpu) ||
	    (r->by >= 0 && !sim_hold_is_online("by", r->by)))
		return -EINVAL;
	WRITE_ONCE(sim_hold.armed_by, -1);
	if (atomic_read(&sim_hold.pending)) {
		pr_warn("the hold before has not ended: wait for it\n");
		return -EBUSY;
	}
	sim_hold.request = *r;
	if (r->by >= 0) {
		/* the access reads the request */
		smp_store_release(&sim_hold.armed_by, r->by);
		return 0;
	}
	preempt_disable();
	sim_hold_begin();
	preempt_enable();
	return 0;
}

/**
 * sim_hold_line() - hold a CPU, now or at an access
 * @line: "cpu=1 us=20000 again_us=50000 by=0"; changed.  Without by= the CPU is held
 *	when the write returns.
 *
 * Return: 0, -EINVAL for an invalid line or -EBUSY (the log names the cause).
 */
int sim_hold_line(char *line)
{
	struct sim_hold_request r = { .cpu = U32_MAX, .by = -1 };
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&line, " \t")))
		if (*word)
			ret = sim_hold_number(word, &r);
	if (ret)
		return ret;
	mutex_lock(&sim_hold.lock);
	cpus_read_lock();
	ret = sim_hold_set(&r);
	cpus_read_unlock();
	mutex_unlock(&sim_hold.lock);
	return ret;
}

/**
 * sim_hold_init() - do nothing: a line begins a hold
 */
int sim_hold_init(void)
{
	return 0;
}

/**
 * sim_hold_exit() - wait for the end of the last hold; accesses have ended
 */
void sim_hold_exit(void)
{
	while (atomic_read(&sim_hold.pending))
		usleep_range(100, 1000);
	/* The last call has been counted, but may not have returned. */
	synchronize_rcu();
}

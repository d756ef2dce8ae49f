// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "hold": hold a CPU, which spins with interrupts off for a given time,
 * at once or when another CPU next accesses a register.
 *
 * After a hold the held CPU runs the function calls (smp_call_function*()) that other CPUs
 * queued for it in the meantime: the synchronous calls first, then the asynchronous calls
 * in their order. With again_us= a second hold is the first of the asynchronous calls. A
 * caller of kick_all_cpus_sync(), which is a synchronous call, then returns while
 * asynchronous calls that were queued earlier have not run yet.
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
/*
 * Longest wait for the begin of a hold: the CPU may have interrupts off while it waits for
 * a lock that the caller holds.
 */
#define SIM_HOLD_WAIT_NS	(20 * NSEC_PER_MSEC)

/**
 * struct sim_hold_request - contents of a line of the control file
 * @cpu: CPU to be held
 * @us: duration of the first hold, in microseconds
 * @again_us: duration of the second hold, in microseconds; 0: no second hold
 * @by: CPU whose next register access begins the hold, or -1 for a hold at once
 */
struct sim_hold_request {
	u32 cpu, us, again_us;
	int by;
};

static void sim_hold_first(void *info);
static void sim_hold_again(void *info);

static struct {
	struct mutex lock;		/* serialises lines */
	struct sim_hold_request request;
	int armed_by;			/* CPU whose next access begins the hold, or -1 */
	atomic_t pending;		/* function calls that have not ended */
	bool held;			/* the call of @first has begun */
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

/*
 * Hold the requested CPU. Return when the hold has begun, or after SIM_HOLD_WAIT_NS. A hold
 * of this CPU has ended at the return. Called with preemption off.
 */
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
 * sim_hold_access() - begin the hold that waits for a register access of this CPU
 *
 * Context: any but NMI, without the model's lock.
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
		/* sim_hold_access() must see the new request */
		smp_store_release(&sim_hold.armed_by, r->by);
		return 0;
	}
	preempt_disable();
	sim_hold_begin();
	preempt_enable();
	return 0;
}

/**
 * sim_hold_line() - hold a CPU, now or at the next register access of another CPU
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
 * sim_hold_init() - do nothing: the control file begins a hold
 *
 * Return: 0.
 */
int sim_hold_init(void)
{
	return 0;
}

/**
 * sim_hold_exit() - wait for the end of the last hold; register accesses have ended
 */
void sim_hold_exit(void)
{
	while (atomic_read(&sim_hold.pending))
		usleep_range(100, 1000);
	/* The last call has decremented @pending, but may not have returned. */
	synchronize_rcu();
}

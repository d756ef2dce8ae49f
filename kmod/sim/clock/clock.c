// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of the model: uncore cycles follow the monotonic clock ("real"), or pass only
 * when the control file "advance" is written ("manual"), so that tests can expect exact
 * counts.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "sim.h"

/* Shortest expiry: a timer must not fire sooner than interrupts can be handled. */
#define SIM_TIMER_MIN_NS	(10 * NSEC_PER_USEC)
/* Software freezes a box for some microseconds, or on purpose for longer than this. */
#define SIM_HOLD_NS		NSEC_PER_SEC
/*
 * Longest expiry, to avoid overflows in the arithmetic: for a later overflow of a counter
 * the timer fires early and is started again.
 */
#define SIM_TIMER_MAX_CYCLES	(1ULL << 48)

static char *sim_clock = "real";
module_param_named(clock, sim_clock, charp, 0444);
MODULE_PARM_DESC(clock,
		 "At first, \"real\": cycles follow time, or \"manual\": they pass when told (default real)");

#define sim_uclk_khz	(sim.config.clock_khz[MODEL_UCLK])
module_param_named(uclk_khz, sim_uclk_khz, uint, 0444);
MODULE_PARM_DESC(uclk_khz, "Uncore clock in kHz at first (default 2500000)");
static unsigned int sim_unfreeze_ms = 10000;
module_param_named(unfreeze_ms, sim_unfreeze_ms, uint, 0644);
MODULE_PARM_DESC(unfreeze_ms, "How long the manual clock waits for software to handle an overflow, in ms (default 10000)");
module_param_named(dclk_khz, sim.config.clock_khz[MODEL_DCLK], uint, 0444);
MODULE_PARM_DESC(dclk_khz, "Clock of the memory channels in kHz (default: UCLK)");
module_param_named(qclk_khz, sim.config.clock_khz[MODEL_QCLK], uint, 0444);
MODULE_PARM_DESC(qclk_khz, "Clock of the QPI ports in kHz (default: UCLK)");
module_param_named(pclk_khz, sim.config.clock_khz[MODEL_PCLK], uint, 0444);
MODULE_PARM_DESC(pclk_khz, "Clock of the PCU in kHz (default: UCLK)");
module_param_named(ioclk_khz, sim.config.clock_khz[MODEL_IOCLK], uint, 0444);
MODULE_PARM_DESC(ioclk_khz, "Clock of the IO stacks in kHz (default: UCLK)");

/* State of the clock, guarded by the model's lock */
static struct {
	bool real;		/* cycles follow real time */
	u64 start_ns;		/* time at which the model was at @start_cycles */
	u64 start_cycles;
	struct hrtimer timer;	/* fires when the model will freeze a package */
	ktime_t expires;	/* expiry of @timer; KTIME_MAX: the timer is not started */
	struct irq_work start;	/* starts @timer at @expires */
	u64 owed;		/* cycles of a write of "advance" that are still to pass */
	u32 told;		/* packages whose overflow software must handle first */
} sim_time;

/* Serialises writes of "advance". */
static DEFINE_MUTEX(sim_advance_mutex);

/**
 * sim_away() - stop this CPU for a time, like firmware or a hypervisor
 * @us: duration in microseconds
 *
 * CPUs that wait for locks of this CPU stop as well.
 *
 * Context: any.
 */
void sim_away(unsigned int us)
{
	u64 until = sim_clock_ns(NULL) + us * NSEC_PER_USEC;

	while (us && sim_clock_ns(NULL) < until)
		cpu_relax();
}

/**
 * sim_clock_model_ns() - time of the model's present cycle
 * @ctx: unused
 *
 * On the real clock, the model reaches a cycle later than the monotonic clock, when
 * sim_clock_sync() is called. A freeze by an overflow has the time of the overflow's cycle.
 *
 * Context: under the model's lock.
 * Return: time in ns.
 */
u64 sim_clock_model_ns(void *ctx)
{
	u64 cycles = model_cycles(sim.model) - sim_time.start_cycles;

	if (!sim_time.real)
		return sim_clock_ns(NULL);
	return sim_time.start_ns + mul_u64_u32_div(cycles, USEC_PER_SEC,
						   sim_uclk_khz);
}

/* Let cycles pass without waiting for software to handle overflows. */
static void sim_pass(u64 cycles)
{
	u64 passed;

	while (cycles) {
		passed = model_advance(sim.model, cycles);
		if (WARN_ON_ONCE(!passed))
			break;
		cycles -= passed;
	}
}

/*
 * On the manual clock, return whether software froze a box with enabled counters less than
 * SIM_HOLD_NS ago, and has not unfrozen it. Called under the model's lock.
 */
static bool sim_is_held(void)
{
	u64 since;

	if (sim_time.real)
		return false;
	since = model_held_since(sim.model);
	return since && sim_clock_ns(NULL) - since < SIM_HOLD_NS;
}

/*
 * On the manual clock, let as many cycles of "advance" pass as the pace (pace.c) allows by
 * now. Software that reads a counter several times then sees its value grow with time.
 */
static void sim_pass_owed(void)
{
	u64 cycles, passed;

	if (!sim_time.owed || sim_time.told)
		return;
	if (sim_is_held()) {
		sim_pace_start();
		return;
	}
	cycles = sim_pace_allows(sim_time.owed);
	if (!cycles)
		return;
	model_told(sim.model);
	passed = model_advance(sim.model, cycles);
	sim_time.told = model_told(sim.model);
	if (WARN_ON_ONCE(!passed || passed > cycles))
		passed = cycles;
	sim_time.owed -= passed;
}

/**
 * sim_clock_sync() - bring the model up to the present
 *
 * To be called before each access to the model.
 *
 * Context: under the model's lock.
 */
void sim_clock_sync(void)
{
	u64 target, cycles;

	if (!sim_time.real) {
		sim_pass_owed();
		return;
	}

	target = sim_time.start_cycles +
		 mul_u64_u32_div(sim_clock_ns(NULL) - sim_time.start_ns,
				 sim_uclk_khz, USEC_PER_SEC);
	cycles = model_cycles(sim.model);
	if (target > cycles)	/* the NMI-safe clock may step back a little */
		sim_pass(target - cycles);
}

/**
 * sim_clock_rearm() - start the timer for the next overflow
 *
 * To be called after each change that may change the time of the next overflow.
 *
 * Context: under the model's lock.
 */
void sim_clock_rearm(void)
{
	u64 cycles, ns;
	ktime_t expires;

	if (!sim_time.real)
		return;

	cycles = model_cycles_to_freeze(sim.model);
	/* A timer that is still started finds no overflow, which costs little. */
	if (cycles == U64_MAX)
		return;
	cycles = min(cycles, SIM_TIMER_MAX_CYCLES);
	ns = mul_u64_u32_div(cycles, USEC_PER_SEC, sim_uclk_khz) + 1;
	ns = max_t(u64, ns, SIM_TIMER_MIN_NS);

	expires = ns_to_ktime(sim_clock_ns(NULL) + ns);
	/* Most register writes change the expiry little: keep the timer as it is. */
	if (expires >= sim_time.expires &&
	    expires - sim_time.expires < SIM_TIMER_MIN_NS)
		return;

	WRITE_ONCE(sim_time.expires, expires);
	irq_work_queue(&sim_time.start);
}

/*
 * Start the timer from an irq_work interrupt, which holds no locks. A register access may
 * hold a lock that another CPU takes while it holds a timer's lock: the kernel calls BPF
 * programs under the timer's lock, and they read events. Several CPUs may run this function
 * at once; the last of them uses the latest expiry.
 */
static void sim_start_timer(struct irq_work *work)
{
	ktime_t expires, now = READ_ONCE(sim_time.expires);

	do {
		expires = now;
		if (expires == KTIME_MAX)
			return;
		hrtimer_start(&sim_time.timer, expires,
			      HRTIMER_MODE_ABS_PINNED_HARD);
		now = READ_ONCE(sim_time.expires);
	} while (now != expires);
}

/**
 * sim_change() - change the model at the present time
 * @change: function that changes the model; the timer is started again for the next
 *	overflow
 *
 * Context: any but NMI; takes the model's lock.
 */
void sim_change(void (*change)(struct model *m))
{
	unsigned long flags;

	flags = sim_lock();
	sim_clock_sync();
	change(sim.model);
	sim_clock_rearm();
	sim_unlock(flags);
}

static enum hrtimer_restart sim_timer(struct hrtimer *timer)
{
	unsigned long flags;

	flags = sim_lock();
	WRITE_ONCE(sim_time.expires, KTIME_MAX);
	sim_clock_sync();
	/*
	 * Do not return HRTIMER_RESTART: a register write on another CPU may start the
	 * timer at the same time.
	 */
	sim_clock_rearm();
	sim_unlock(flags);
	return HRTIMER_NORESTART;
}

/**
 * sim_frozen_mask() - find the packages that are frozen
 *
 * Context: under the model's lock.
 * Return: the packages, a bit each.
 */
u32 sim_frozen_mask(void)
{
	unsigned int pkg;
	u32 mask = 0;

	for (pkg = 0; pkg < sim.config.packages; pkg++)
		if (model_frozen(sim.model, pkg))
			mask |= BIT(pkg);
	return mask;
}

/**
 * sim_clock_wait_unfreeze() - wait for software to handle overflows
 * @packages: packages that overflows have just frozen, a bit each
 *
 * Software has handled the overflow of a package when it unfreezes the package.
 *
 * Context: a task without locks; sleeps.
 * Return: 0 when software has unfrozen each package once, or after the time of the
 * parameter unfreeze_ms; -EINTR when the caller is being killed.
 */
int sim_clock_wait_unfreeze(u32 packages)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), READ_ONCE(sim_unfreeze_ms));
	unsigned long flags;
	u32 frozen;

	while (packages) {
		flags = sim_lock();
		frozen = sim_frozen_mask();
		sim_unlock(flags);

		/* A package that was unfrozen once is handled, even if it froze again. */
		packages &= frozen;
		if (packages && ktime_after(ktime_get(), deadline)) {
			pr_info("continuing though packages %#x are frozen: software did not handle their overflows in %u ms\n",
				packages, READ_ONCE(sim_unfreeze_ms));
			break;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		if (packages)
			usleep_range(20, 100);
	}
	return 0;
}

/**
 * sim_lock_at_rest() - take the model's lock to let cycles or traffic pass
 * @flags: the interrupt flags for sim_unlock()
 *
 * A driver freezes a box for some microseconds, and loses the few counts of that time. On
 * the manual clock it could lose many counts: the host may stop the virtual CPU that has
 * frozen a box, while another CPU lets any number of cycles pass. So the other CPU waits
 * until no box is frozen, or until a freeze has lasted for SIM_HOLD_NS, which means that
 * software wants it to last.
 *
 * Context: a task without locks; sleeps.
 * Return: 0 with the lock held, or -EINTR without the lock when the caller is being killed.
 */
int sim_lock_at_rest(unsigned long *flags)
{
	for (;;) {
		*flags = sim_lock();
		if (!sim_is_held())
			return 0;
		sim_unlock(*flags);
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(20, 100);
	}
}

/**
 * sim_clock_settle() - on the manual clock, let the delays of an overflow pass
 * @before: sim_frozen_mask() before the overflow
 *
 * For overflows by traffic, which takes no time of the model. If the overflow's freeze is
 * still pending, no time passes.
 *
 * Context: under the model's lock.
 * Return: packages that froze since @before, a bit each.
 */
u32 sim_clock_settle(u32 before)
{
	u32 frozen = sim_frozen_mask() & ~before;
	u64 cycles;

	while (!sim_time.real && frozen && model_pending(sim.model)) {
		cycles = model_cycles_to_freeze(sim.model);
		model_advance(sim.model, cycles);
		sim_pace_spend(cycles);
	}
	return frozen;
}

/* Begin a write of "advance". Called under the model's lock. */
static int sim_advance_begin(u64 cycles)
{
	if (sim_time.real)
		return -EINVAL;
	sim_time.owed = cycles;
	sim_time.told = 0;
	sim_pace_start();
	sim_pass_owed();
	return 0;
}

/*
 * Wait until software has handled the overflows of sim_time.told; without such an overflow,
 * until the pace allows more cycles. Called with the model's lock held, and releases it.
 */
static int sim_advance_wait(unsigned long flags)
	__releases(&sim.lock)
{
	u32 told = sim_time.told;
	u64 until;
	int ret;

	if (!told) {
		until = sim_pace_end() +
			sim_pace_ns(min(sim_time.owed,
					model_cycles_to_freeze(sim.model)));
		sim_unlock(flags);
		sim_pace_wait(until);
		return fatal_signal_pending(current) ? -EINTR : 0;
	}
	sim_unlock(flags);
	ret = sim_clock_wait_unfreeze(told);
	flags = sim_lock();
	sim_time.told = 0;
	sim_pace_start();
	sim_unlock(flags);
	return ret;
}

/* Let cycles pass; fail if the clock is the real one, or is switched to it meanwhile. */
static int sim_advance(u64 cycles)
{
	unsigned long flags;
	int ret;

	ret = sim_lock_at_rest(&flags);
	if (ret)
		return ret;
	ret = sim_advance_begin(cycles);
	while (!ret && (sim_time.owed || sim_time.told)) {
		ret = sim_advance_wait(flags);
		ret = ret ?: sim_lock_at_rest(&flags);
		if (ret)
			goto out;
		if (sim_time.real)
			ret = -EINVAL;
		else
			sim_pass_owed();
	}
	sim_unlock(flags);
	if (ret)
		pr_warn("advance: the clock is real; write manual to \"clock\" first\n");
out:
	flags = sim_lock();
	sim_time.owed = 0;
	sim_time.told = 0;
	sim_unlock(flags);
	return ret;
}

/**
 * sim_clock_advance() - let cycles pass on the manual clock
 * @cycles: number of cycles
 *
 * Context: a task without locks; sleeps.
 * Return: 0, -EINVAL when the clock is the real one (the log says so), or -EINTR when the
 * caller is being killed.
 */
int sim_clock_advance(u64 cycles)
{
	int ret;

	if (mutex_lock_killable(&sim_advance_mutex))
		return -EINTR;
	ret = sim_advance(cycles);
	mutex_unlock(&sim_advance_mutex);
	return ret;
}

/* Return 1 for "real", 0 for "manual", and -EINVAL for another name. */
static int sim_clock_parse(const char *name)
{
	if (!strcmp(name, "real"))
		return true;
	if (!strcmp(name, "manual"))
		return false;
	pr_err("invalid clock=%s (expected real or manual)\n", name);
	return -EINVAL;
}

/**
 * sim_clock_set() - switch to the other clock
 * @name: "real" or "manual"
 *
 * A switch to the manual clock sets the time of the model to cycle 0, so that later counts
 * do not depend on the time of the switch.
 *
 * Return: 0, or -EINVAL for another name (the log says so).
 */
int sim_clock_set(const char *name)
{
	int real = sim_clock_parse(name);
	unsigned long flags;

	if (real < 0)
		return real;

	flags = sim_lock();
	sim_clock_sync();
	if (sim_time.real != real) {
		sim_time.real = real;
		if (!real)
			model_restart_cycles(sim.model);
		sim_time.start_ns = sim_clock_ns(NULL);
		sim_time.start_cycles = model_cycles(sim.model);
		sim_clock_rearm();
	}
	sim_unlock(flags);
	return 0;
}

/**
 * sim_clock_name() - name of the clock that is in use
 *
 * Return: "real" or "manual".
 */
const char *sim_clock_name(void)
{
	return READ_ONCE(sim_time.real) ? "real" : "manual";
}

/**
 * sim_clock_check() - check the frequencies of the clocks in a configuration
 * @c: the configuration
 *
 * Return: 0, or -EINVAL (the log names the invalid parameter).
 */
int sim_clock_check(const struct model_config *c)
{
	static const char * const names[MODEL_CLOCKS] = {
		[MODEL_UCLK] = "uclk_khz", [MODEL_DCLK] = "dclk_khz",
		[MODEL_QCLK] = "qclk_khz", [MODEL_PCLK] = "pclk_khz",
		[MODEL_IOCLK] = "ioclk_khz",
	};
	unsigned int i;

	for (i = 0; i < MODEL_CLOCKS; i++) {
		if (i != MODEL_UCLK && !c->clock_khz[i])
			continue;
		if (c->clock_khz[i] >= SIM_MIN_KHZ &&
		    c->clock_khz[i] <= SIM_MAX_KHZ)
			continue;
		pr_err("invalid %s=%u (expected %u to %u)\n", names[i],
		       c->clock_khz[i], SIM_MIN_KHZ, SIM_MAX_KHZ);
		return -EINVAL;
	}
	return 0;
}

/**
 * sim_clock_init() - start the clock at cycle 0
 *
 * Return: 0, or -EINVAL for invalid parameters.
 */
int sim_clock_init(void)
{
	int real = sim_clock_parse(sim_clock);

	if (real < 0)
		return real;
	sim_time.real = real;
	sim_time.start_ns = sim_clock_ns(NULL);
	sim_time.expires = KTIME_MAX;
	sim_time.start = IRQ_WORK_INIT_HARD(sim_start_timer);
	unc_hrtimer_setup(&sim_time.timer, sim_timer, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}

/**
 * sim_clock_exit() - stop the clock; register accesses must have ended
 */
void sim_clock_exit(void)
{
	unsigned long flags;

	/* with the manual clock, the timer's handler does not start the timer again */
	flags = sim_lock();
	sim_time.real = false;
	sim_unlock(flags);
	irq_work_sync(&sim_time.start);
	hrtimer_cancel(&sim_time.timer);
}

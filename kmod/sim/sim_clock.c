// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time for the model: uncore cycles that follow the monotonic clock, or that
 * pass only when told, so that tests can expect exact counts.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "sim.h"

#define SIM_UCLK_MIN_KHZ	100000
#define SIM_UCLK_MAX_KHZ	10000000

/* Software has this long to serve an overflow before time goes on. */
#define SIM_THAW_MS		10000

/* No use in a timer that fires sooner than interrupts can be served. */
#define SIM_TIMER_MIN_NS	(10 * NSEC_PER_USEC)
/* A timer this far off fires early and looks again; no sum overflows. */
#define SIM_TIMER_MAX_CYCLES	(1ULL << 48)

static char *sim_clock = "real";
module_param_named(clock, sim_clock, charp, 0444);
MODULE_PARM_DESC(clock,
		 "\"real\": cycles follow time; \"manual\": they pass when told (default real)");

static unsigned int sim_uclk_khz = 2500000;
module_param_named(uclk_khz, sim_uclk_khz, uint, 0444);
MODULE_PARM_DESC(uclk_khz, "Uncore clock in kHz for clock=real (default 2500000)");

/* The clock's state, under the model's lock. */
static struct {
	bool real;		/* cycles follow the clock */
	u64 start_ns;		/* when cycle 0 was */
	struct hrtimer timer;	/* fires when the model will freeze a package */
	ktime_t expires;	/* when @timer will fire; KTIME_MAX: not armed */
} sim_time;

/**
 * sim_clock_ns() - monotonic time
 * @ctx: unused
 *
 * Needs no lock, so that registers may be accessed in any context.
 */
u64 sim_clock_ns(void *ctx)
{
	return ktime_get_mono_fast_ns();
}

/**
 * sim_clock_model_ns() - when the model's present cycle was
 * @ctx: unused
 *
 * The model learns late that time has passed; an overflow of then froze the
 * package then.  Called under the model's lock.
 */
u64 sim_clock_model_ns(void *ctx)
{
	if (!sim_time.real)
		return sim_clock_ns(NULL);
	return sim_time.start_ns + mul_u64_u32_div(model_cycles(sim.model),
						   USEC_PER_SEC, sim_uclk_khz);
}

/* Let cycles pass; software serves overflows whenever it comes to it. */
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

/**
 * sim_clock_sync() - bring the model up to the present
 *
 * Called under the model's lock before anything looks at the model.
 */
void sim_clock_sync(void)
{
	u64 target, cycles;

	if (!sim_time.real)
		return;

	target = mul_u64_u32_div(sim_clock_ns(NULL) - sim_time.start_ns,
				 sim_uclk_khz, USEC_PER_SEC);
	cycles = model_cycles(sim.model);
	if (target > cycles)	/* the fast clock may step back a little */
		sim_pass(target - cycles);
}

/**
 * sim_clock_rearm() - have the next overflow happen in time
 *
 * Called under the model's lock after anything that may have changed when a
 * counter overflows next.
 */
void sim_clock_rearm(void)
{
	u64 cycles, ns;
	ktime_t expires;

	if (!sim_time.real)
		return;

	cycles = model_cycles_to_freeze(sim.model);
	/* An armed timer finds nothing to do then; that is cheap enough. */
	if (cycles == U64_MAX)
		return;
	cycles = min(cycles, SIM_TIMER_MAX_CYCLES);
	ns = mul_u64_u32_div(cycles, USEC_PER_SEC, sim_uclk_khz) + 1;
	ns = max_t(u64, ns, SIM_TIMER_MIN_NS);

	expires = ns_to_ktime(sim_clock_ns(NULL) + ns);
	/* Much the same as before: most register writes change nothing. */
	if (expires >= sim_time.expires &&
	    expires - sim_time.expires < SIM_TIMER_MIN_NS)
		return;

	sim_time.expires = expires;
	hrtimer_start(&sim_time.timer, expires, HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart sim_timer(struct hrtimer *timer)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&sim.lock, flags);
	sim_time.expires = KTIME_MAX;
	sim_clock_sync();
	/* Not by a restart: a register write may start the timer meanwhile. */
	sim_clock_rearm();
	raw_spin_unlock_irqrestore(&sim.lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * sim_frozen_mask() - packages that are frozen, a bit each
 *
 * Called under the model's lock.
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
 * sim_wait_thaw() - wait for software to serve overflows
 * @packages: those that froze just now, a bit each
 *
 * Return: 0 when they are unfrozen or have had the time for it, -EINTR when
 * the caller is being killed.
 */
int sim_wait_thaw(u32 packages)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), SIM_THAW_MS);
	unsigned long flags;
	u32 frozen;

	while (packages) {
		raw_spin_lock_irqsave(&sim.lock, flags);
		frozen = sim_frozen_mask();
		raw_spin_unlock_irqrestore(&sim.lock, flags);

		/* One that froze again in the meantime was served before. */
		packages &= frozen;
		if (ktime_after(ktime_get(), deadline))
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (packages)
			usleep_range(20, 100);
	}
	return 0;
}

/**
 * sim_clock_advance() - let cycles pass on the manual clock
 * @cycles: how many
 *
 * Return: 0, -EINVAL when the clock is the real one, or -EINTR.
 */
int sim_clock_advance(u64 cycles)
{
	unsigned long flags;
	u64 passed;
	u32 frozen;
	int ret;

	if (sim_time.real) {
		pr_warn("advance: the clock runs by itself; load with clock=manual\n");
		return -EINVAL;
	}

	while (cycles) {
		raw_spin_lock_irqsave(&sim.lock, flags);
		frozen = sim_frozen_mask();
		passed = model_advance(sim.model, cycles);
		frozen = sim_frozen_mask() & ~frozen;
		raw_spin_unlock_irqrestore(&sim.lock, flags);

		if (WARN_ON_ONCE(!passed || passed > cycles))
			return -EIO;
		cycles -= passed;
		ret = sim_wait_thaw(frozen);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * sim_clock_init() - start time at cycle 0
 *
 * Return: 0, or -EINVAL for parameters that make no sense.
 */
int sim_clock_init(void)
{
	if (!strcmp(sim_clock, "real")) {
		sim_time.real = true;
	} else if (strcmp(sim_clock, "manual")) {
		pr_err("clock=%s is not possible: give real or manual\n",
		       sim_clock);
		return -EINVAL;
	}
	if (sim_uclk_khz < SIM_UCLK_MIN_KHZ || sim_uclk_khz > SIM_UCLK_MAX_KHZ) {
		pr_err("uclk_khz=%u is not possible: give %u to %u\n",
		       sim_uclk_khz, SIM_UCLK_MIN_KHZ, SIM_UCLK_MAX_KHZ);
		return -EINVAL;
	}

	sim_time.start_ns = sim_clock_ns(NULL);
	sim_time.expires = KTIME_MAX;
	hrtimer_init(&sim_time.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	sim_time.timer.function = sim_timer;
	return 0;
}

/**
 * sim_clock_exit() - stop; register accesses must have ended
 */
void sim_clock_exit(void)
{
	hrtimer_cancel(&sim_time.timer);
}

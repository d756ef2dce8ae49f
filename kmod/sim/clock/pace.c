// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pace of the manual clock: no counter grows faster than 4 GHz allow in the time
 * of the guest.  Software may then tell an impossible growth from a possible one,
 * whichever clock is in use.
 *
 * Growth reserves the time that it takes, from the end of the last reservation or
 * from now on, and happens at its end.  All callers but sim_pace_wait() hold the
 * model's lock.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "sim.h"

#define SIM_PACE_PER_NS		4
/* Longer waits sleep, for no longer than this at a time. */
#define SIM_PACE_SPIN_NS	(50 * NSEC_PER_USEC)
#define SIM_PACE_SLEEP_NS	(10 * NSEC_PER_MSEC)
/* Largest number of cycles that no conversion overflows with */
#define SIM_PACE_MAX_CYCLES	(1ULL << 40)
/* Growth by traffic that may happen at once. */
#define SIM_PACE_AT_ONCE	8000

static bool sim_pace_on = true;
module_param_named(pace, sim_pace_on, bool, 0644);
MODULE_PARM_DESC(pace,
		 "0: on the manual clock counters grow faster than 4 GHz allow (default 1)");

/* End of the last reservation. */
static u64 sim_pace_end_ns;

/* The clock that is fastest at present, and the nominal UCLK. */
static u32 sim_fastest_khz(void)
{
	u32 khz = sim.config.clock_khz[MODEL_UCLK];
	unsigned int i;

	for (i = 0; i < MODEL_CLOCKS; i++)
		khz = max(khz, sim.config.clock_khz[i]);
	for (i = 0; i < sim.config.packages; i++)
		khz = max(khz, model_uclk(sim.model, i));
	return khz;
}

/**
 * sim_pace_ns() - time that cycles take
 * @cycles: cycles of the nominal UCLK
 */
u64 sim_pace_ns(u64 cycles)
{
	cycles = min(cycles, SIM_PACE_MAX_CYCLES);
	if (!READ_ONCE(sim_pace_on))
		return 0;
	return DIV_ROUND_UP(mul_u64_u32_div(cycles, sim_fastest_khz(),
					    sim.config.clock_khz[MODEL_UCLK]),
			    SIM_PACE_PER_NS);
}

/**
 * sim_pace_allows() - take the cycles that the time since the last reservation allows
 * @cycles: maximum
 *
 * Return: number of cycles that may pass now.
 */
u64 sim_pace_allows(u64 cycles)
{
	u64 now = sim_clock_ns(NULL), ns, allowed;

	if (!READ_ONCE(sim_pace_on))
		return cycles;
	if (now <= sim_pace_end_ns)
		return 0;
	ns = now - sim_pace_end_ns;
	allowed = mul_u64_u32_div(min(ns * SIM_PACE_PER_NS, SIM_PACE_MAX_CYCLES),
				  sim.config.clock_khz[MODEL_UCLK],
				  sim_fastest_khz());
	allowed = min(allowed, cycles);
	sim_pace_end_ns += sim_pace_ns(allowed);
	return allowed;
}

/**
 * sim_pace_start() - discard the time before now
 */
void sim_pace_start(void)
{
	sim_pace_end_ns = max(sim_pace_end_ns, sim_clock_ns(NULL));
}

/**
 * sim_pace_spend() - delay later growth by cycles that have just passed
 * @cycles: number of cycles
 */
void sim_pace_spend(u64 cycles)
{
	sim_pace_start();
	sim_pace_end_ns += sim_pace_ns(cycles);
}

/**
 * sim_pace_reserve() - reserve time for traffic
 * @t: the transactions
 *
 * Return: number of transactions that fit into the reservation.
 */
u64 sim_pace_reserve(const struct model_txn *t)
{
	u64 count = t->count;

	if (!READ_ONCE(sim_pace_on))
		return count;
	count = clamp_t(u64, count, 1, SIM_PACE_AT_ONCE / max(t->value, 1U) ?: 1);
	sim_pace_start();
	sim_pace_end_ns += DIV_ROUND_UP(count * max(t->value, 1U), SIM_PACE_PER_NS);
	return count;
}

/**
 * sim_pace_end() - the end of the last reservation
 */
u64 sim_pace_end(void)
{
	return sim_pace_end_ns;
}

/**
 * sim_pace_wait() - wait until a time, or for a part of a long wait
 * @until_ns: the time
 *
 * Context: a task without locks.
 * Return: true if the wait is over.
 */
bool sim_pace_wait(u64 until_ns)
{
	u64 now = sim_clock_ns(NULL), us;

	if (now < until_ns && until_ns - now > SIM_PACE_SPIN_NS) {
		us = div_u64(min_t(u64, until_ns - now, SIM_PACE_SLEEP_NS),
			     NSEC_PER_USEC);
		usleep_range(us, us + 50);
		return sim_clock_ns(NULL) >= until_ns;
	}
	while (sim_clock_ns(NULL) < until_ns)
		cpu_relax();
	return true;
}

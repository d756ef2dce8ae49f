// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pace of the manual clock: no counter grows by more than 4 counts a nanosecond of the
 * guest's time (4 GHz). Software can then recognise an impossible growth of a counter with
 * either clock.
 *
 * Cycles and traffic reserve the time that they take, from the end of the last reservation
 * or from now on, whichever is later. Traffic passes at the end of its reservation.
 *
 * The model's lock guards the reservation: sim_pace_wait() is called without the lock, all
 * other functions that change or read the end of the reservation under it.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "sim.h"

/* Largest growth of a counter in a nanosecond */
#define SIM_PACE_PER_NS		4
/* Waits of up to this time spin, and longer waits sleep. */
#define SIM_PACE_SPIN_NS	(50 * NSEC_PER_USEC)
/* Longest sleep of one call of sim_pace_wait() */
#define SIM_PACE_SLEEP_NS	(10 * NSEC_PER_MSEC)
/* Largest number of cycles that a conversion to ns handles without an overflow */
#define SIM_PACE_MAX_CYCLES	(1ULL << 40)
/* Largest growth of a counter by the traffic of one reservation */
#define SIM_PACE_AT_ONCE	8000

static bool sim_pace_on = true;
module_param_named(pace, sim_pace_on, bool, 0644);
MODULE_PARM_DESC(pace,
		 "0: on the manual clock counters grow faster than 4 GHz allow (default 1)");

/* End of the last reservation, guarded by the model's lock */
static u64 sim_pace_end_ns;

/*
 * Return the highest frequency of all clocks: the nominal frequencies, and the present
 * UCLK of each package.
 */
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
 * sim_pace_ns() - convert cycles to the time that they must take
 * @cycles: cycles of the nominal UCLK
 *
 * Context: under the model's lock.
 * Return: time in ns; 0 with the parameter pace=0.
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
 * sim_pace_allows() - reserve the time since the last reservation for cycles
 * @cycles: largest number of cycles
 *
 * Context: under the model's lock.
 * Return: number of cycles that may pass now, which fit into that time.
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
 * sim_pace_start() - discard the unused time between the last reservation and now
 *
 * Context: under the model's lock.
 */
void sim_pace_start(void)
{
	sim_pace_end_ns = max(sim_pace_end_ns, sim_clock_ns(NULL));
}

/**
 * sim_pace_spend() - reserve time for cycles that have already passed
 * @cycles: number of cycles
 *
 * Cycles and traffic after them wait for the end of this reservation.
 *
 * Context: under the model's lock.
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
 * A reservation covers a growth of up to SIM_PACE_AT_ONCE counts.
 *
 * Context: under the model's lock.
 * Return: number of transactions for which time is reserved.
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
 * sim_pace_end() - find the end of the last reservation
 *
 * Context: under the model's lock.
 * Return: time in ns.
 */
u64 sim_pace_end(void)
{
	return sim_pace_end_ns;
}

/**
 * sim_pace_wait() - wait until a time, for SIM_PACE_SLEEP_NS at most
 * @until_ns: the time
 *
 * Context: a task without locks.
 * Return: true if the time has come, false if the caller must wait again.
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

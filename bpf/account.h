/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Division of a package's counts among tasks: the arithmetic and the windows.
 * Tasks, counters and maps are attribution.bpf.c's, which runs this code; the unit
 * tests run the same text against a plain model.
 *
 * A window is the time between two reads of a package's counters.  At its end the
 * counts are divided by the tasks' time, times weight; that is the window's rate.
 * A task that ran through whole windows is charged by the growth of the running
 * sum of rate times length.  If it got its CPU within a window, its copy of the
 * sum is adjusted when the window ends.  If its time slice ended within a window,
 * the slice is kept in the window's table and charged in the next window, a few
 * slices at each switch.  So a switch takes the same time for any number of tasks.
 * Reading at each switch is the case of windows without such tasks.
 *
 * All numbers are integers, with 64 bits before and 64 behind the binary point.
 * The remainder of a division is carried into the next window: shares, idle counts
 * and remainders add up to the counters' counts.
 *
 * The including file provides: packages[], cpus[], windows[], n_columns,
 * repeat(), REPEATED(), __always_inline, __noinline.
 */
#ifndef XEON_UNCORE_BPF_ACCOUNT_H
#define XEON_UNCORE_BPF_ACCOUNT_H

#include "attribution.h"

/* In an account that lasts longer, further time is not weighed. */
#define MAX_RAN		(1ULL << 62)
/* Places of a window's table that are tried for a task. */
#define PROBES		8
/* 2^64 divided by the golden ratio */
#define HASH_FACTOR	0x9e3779b97f4a7c15ULL
/* Slices of the last window that are charged at a switch. */
#define SLICES_A_SWITCH	2

/* Find or make a task's share; without room, that of dropped tasks. */
static struct attr_share *share_of(struct attr_package *p,
				   const struct attr_key *key);

/* --- numbers ------------------------------------------------------------- */

static __always_inline void number_add(struct attr_number *to,
				       struct attr_number n)
{
	__u64 sum = to->fraction + n.fraction;

	/* the carry, without a branch for the verifier to follow */
	to->whole += n.whole + (((to->fraction & n.fraction) |
				 ((to->fraction | n.fraction) & ~sum)) >> 63);
	to->fraction = sum;
}

static __always_inline struct attr_number number_minus(struct attr_number a,
						       struct attr_number b)
{
	struct attr_number n;

	n.fraction = a.fraction - b.fraction;
	n.whole = a.whole - b.whole -
		  (((~a.fraction & b.fraction) |
		    (~(a.fraction ^ b.fraction) & n.fraction)) >> 63);
	return n;
}

/* The upper half of the product. */
static __always_inline __u64 multiply_high(__u64 a, __u64 b)
{
	__u64 a0 = a & 0xffffffff, a1 = a >> 32;
	__u64 b0 = b & 0xffffffff, b1 = b >> 32;
	__u64 low = a0 * b1 + (a0 * b0 >> 32);
	__u64 middle = a1 * b0 + (low & 0xffffffff);

	return a1 * b1 + (low >> 32) + (middle >> 32);
}

static __always_inline struct attr_number number_times(struct attr_number n,
						       __u64 by)
{
	n.whole = n.whole * by + multiply_high(n.fraction, by);
	n.fraction *= by;
	return n;
}

/*
 * A quotient that is never too large, and exact for divisors below 2^48; for
 * others, up to 2^63, as good as 32 bits.
 */
static __always_inline struct attr_number number_over(struct attr_number n,
						      __u64 by)
{
	struct attr_number quotient;
	__u64 rest, digit;
	int coarse = by >> 48 != 0, i;

	if (coarse)
		by = (by >> 16) + 1;
	quotient.whole = n.whole / by;
	quotient.fraction = 0;
	rest = n.whole - quotient.whole * by;
	/* as on paper, a digit of 16 bits after the other */
	for (i = 48; i >= 0; i -= 16) {
		rest = rest << 16 | (n.fraction >> i & 0xffff);
		digit = rest / by;
		rest -= digit * by;
		quotient.fraction = quotient.fraction << 16 | digit;
	}
	if (coarse) {
		quotient.fraction = quotient.fraction >> 16 |
				    quotient.whole << 48;
		quotient.whole >>= 16;
	}
	return quotient;
}

/*
 * @rate times @by is added to @to.  A separate function: where a loop's
 * counter finds no register, kernels before 6.7 take the loop for an endless one.
 */
static __noinline void number_add_times(struct attr_number *to,
					const struct attr_number *rate,
					__u64 by)
{
	number_add(to, number_times(*rate, by));
}

/* What @sum grew by since @since, times @by, is added to @to. */
static __noinline void number_add_growth(struct attr_number *to,
					 const struct attr_number *sum,
					 struct attr_number *since, __u64 by)
{
	number_add(to, number_times(number_minus(*sum, *since), by));
	*since = *sum;
}

/* --- shares -------------------------------------------------------------- */

static __always_inline struct attr_window *window_of(__u32 package,
						     __u32 number)
{
	return &windows[package % ATTR_MAX_PACKAGES][number & 1];
}

static __always_inline void name_share(struct attr_share *share,
				       const char *comm, __u32 tgid,
				       __u32 window)
{
	share->tgid = tgid;
	/* a slice that is charged late may have an older name */
	if (share->comm[0] && (__s32)(window - share->named) < 0)
		return;
	__builtin_memcpy(share->comm, comm, sizeof(share->comm));
	share->named = window;
}

/* Charge the task on @c for all windows that have ended. */
static __noinline void settle(struct attr_package *p, struct attr_cpu *c,
		   struct attr_share *share)
{
	__u32 i;

	name_share(share, c->comm, c->tgid, p->window);
	share->stretches++;
	share->cpu_ns += p->opened - c->since;
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		number_add_growth(&share->count[i], &p->sum[i], &c->sum[i],
				  c->weight);
	c->since = p->opened;
}

static __always_inline bool same_task(const struct attr_key *a,
				      const struct attr_key *b)
{
	return a->pid == b->pid && a->start_time == b->start_time &&
	       a->cgroup == b->cgroup;
}

/* Find or make a task's slice in the open window's table. */
static __noinline struct attr_slice *slice_of(struct attr_package *p,
					      struct attr_window *w,
					      const struct attr_key *key)
{
	__u64 hash = key->start_time * HASH_FACTOR ^ key->cgroup;
	struct attr_slice *slice;
	__u32 i, place;

	hash = (hash * HASH_FACTOR ^ key->pid) * HASH_FACTOR;
	for (i = 0; i < PROBES; i++) {
		place = ((hash >> 48) + i) % ATTR_WINDOW_TASKS;
		slice = &w->slices[place];
		if (slice->window != p->window)
			goto make;
		if (same_task(&slice->key, key))
			return slice;
	}
	place = ATTR_WINDOW_TASKS;
	slice = &w->slices[place];
	if (slice->window == p->window)
		return slice;
make:
	__builtin_memset(slice, 0, sizeof(*slice));
	if (place < ATTR_WINDOW_TASKS)
		slice->key = *key;
	slice->window = p->window;
	i = w->used;
	if (i <= ATTR_WINDOW_TASKS) {
		w->place[i] = place;
		w->used = i + 1;
	}
	return slice;
}

/* The task's time on @c ends: keep its slice of the open window. */
static void end_slice(struct attr_package *p, struct attr_cpu *c,
		  const struct attr_key *key)
{
	__u64 ns = p->clock - c->since;
	struct attr_slice *slice;

	if (!ns)
		return;
	slice = slice_of(p, window_of(key->package, p->window), key);
	__builtin_memcpy(slice->comm, c->comm, sizeof(slice->comm));
	slice->tgid = c->tgid;
	slice->stretches++;
	slice->ns += ns;
	slice->ran += c->weight * ns;
}

/* Begin the time of the task that the caller has put into @c. */
static __noinline void begin_slice(struct attr_package *p, struct attr_cpu *c,
			     __u32 cpu)
{
	struct attr_window *w = window_of(c->package, p->window);
	__u32 i;

	c->since = p->clock;
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		c->sum[i] = p->sum[i];
	if (!c->pid)
		return;
	p->running++;
	p->weight += c->weight;
	if (p->clock == p->opened || c->listed == p->window)
		return;
	c->listed = p->window;
	i = w->entered;
	if (i < ATTR_MAX_CPUS) {
		w->cpu[i] = cpu;
		w->entered = i + 1;
	}
}

/* Replace the task with @key by @next.  @share: that of @key, if known. */
static __always_inline void switch_tasks(struct attr_package *p,
					 struct attr_cpu *c, __u32 cpu,
					 const struct attr_key *key,
					 struct attr_share *share,
					 const struct attr_task *next,
					 __u64 weight)
{
	if (c->watched && c->pid) {
		if (c->since < p->opened)
			settle(p, c, share ? share : share_of(p, key));
		end_slice(p, c, key);
		p->running--;
		p->weight -= c->weight;
	}
	c->watched = 1;
	c->pid = next->pid;
	c->tgid = next->tgid;
	c->start_time = next->start_time;
	c->cgroup = next->cgroup;
	__builtin_memcpy(c->comm, next->comm, sizeof(c->comm));
	c->weight = weight;
	begin_slice(p, c, cpu);
}

/* --- weights ------------------------------------------------------------- */

/* The mean weight; weights are from 1 to MAX_WEIGHT. */
#define MEAN_WEIGHT	1024
#define MAX_WEIGHT	(64 * MEAN_WEIGHT)
/* For how long the weight event's rates are remembered. */
#define TASK_MEMORY_NS	(100 * 1000 * 1000)
#define MEAN_MEMORY_NS	(1000 * 1000 * 1000)

/* Add @grown to @rate.  Counts that are older than @memory ns weigh less. */
static __always_inline void rate_add(struct attr_rate *rate,
				     const struct attr_rate *grown,
				     __u64 memory)
{
	__u64 times;

	rate->measured += grown->measured;
	rate->ns += grown->ns;
	if (rate->ns > memory) {
		times = rate->ns / memory + 1;
		rate->measured /= times;
		rate->ns /= times;
	}
}

/* Weigh a task by its rate, if any, against the mean of its package. */
static __always_inline __u64 weight_of(const struct attr_rate *mean,
				       const struct attr_rate *known)
{
	__u64 measured, expected, weight;

	if (!known || !known->ns || !mean->measured || !mean->ns)
		return MEAN_WEIGHT;
	/* the times in microseconds or so, so that the products fit */
	measured = known->measured * ((mean->ns >> 10) + 1);
	expected = mean->measured * ((known->ns >> 10) + 1);
	weight = measured * MEAN_WEIGHT / expected;
	if (weight < 1)
		return 1;
	return weight > MAX_WEIGHT ? MAX_WEIGHT : weight;
}

/* --- windows ------------------------------------------------------------- */

/* Set the package's time to @now: its tasks have run until then. */
static void advance(struct attr_package *p, __u64 now)
{
	__u64 step, most;

	if (!p->time) {
		p->time = now;
		p->clock = p->opened = p->now.at = now;
		p->window = 1;
	}
	if (now <= p->time)
		return;
	step = now - p->time;
	p->time = now;
	if (!p->running)
		p->idled += step;
	if (p->weight) {
		most = p->ran < MAX_RAN ? (MAX_RAN - p->ran) / p->weight : 0;
		if (step > most)
			step = most;
		p->ran += p->weight * step;
	}
	p->clock += step;
}

/* Charge the next slice of the last window. */
static long charge_slice(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window - 1);
	struct attr_slice *slice;
	struct attr_share *share;
	struct attr_key key;

	i = w->charged;
	if (i >= w->used || i > ATTR_WINDOW_TASKS)
		return 1;
	w->charged = i + 1;
	i = w->place[i];
	if (i > ATTR_WINDOW_TASKS)
		return 1;
	slice = &w->slices[i];
	key = slice->key;
	if (i < ATTR_WINDOW_TASKS) {
		share = share_of(p, &key);
		name_share(share, slice->comm, slice->tgid, slice->window);
	} else {
		share = &p->dropped[p->epoch & 1];
	}
	share->stretches += slice->stretches;
	share->cpu_ns += slice->ns;
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		number_add_times(&share->count[i], &w->rate[i], slice->ran);
	return 0;
}

/* A task that got its CPU within the open window has no part in its beginning. */
static long adjust_entered(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);
	struct attr_cpu *c;

	if (i >= ATTR_MAX_CPUS)
		return 1;
	c = &cpus[w->cpu[i] % ATTR_MAX_CPUS];
	if (!c->pid || c->since <= p->opened)
		return 0;
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		number_add_times(&c->sum[i], &w->rate[i],
				 c->since - p->opened);
	return 0;
}

/* Divide a column's counts of the open window, which ends. */
static long divide(__u32 column, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);
	struct attr_number all, rate = { 0, 0 };

	if (column >= ATTR_MAX_COLUMNS)
		return 1;
	if (!p->ran && !p->weight) {
		p->now.idle[column] += w->delta[column];
	} else {
		all = p->now.remainder[column];
		all.whole += w->delta[column];
		/* it may have had no time to run yet */
		if (p->ran)
			rate = number_over(all, p->ran);
		p->now.remainder[column] =
			number_minus(all, number_times(rate, p->ran));
		number_add(&p->sum[column],
			   number_times(rate, p->clock - p->opened));
	}
	w->rate[column] = rate;
	return 0;
}

REPEATED(charge_slice)
REPEATED(divide)
REPEATED(adjust_entered)

/* End the open window, whose @delta has the counts that were read. */
static void end_window(struct attr_package *p, __u32 package)
{
	struct attr_window *w = window_of(package, p->window);

	/* the table of the window before is used again: charge all its slices */
	repeat(ATTR_WINDOW_TASKS + 1, ATTR_WINDOW_TASKS + 1, charge_slice,
	       package);
	repeat(n_columns, ATTR_MAX_COLUMNS, divide, package);
	repeat(w->entered, ATTR_MAX_CPUS, adjust_entered, package);
	p->now.idle_ns += p->idled;
	p->now.at = p->time;
	p->idled = 0;
	p->ran = 0;
	p->opened = p->clock;
	p->window++;
	p->reads++;
	w = window_of(package, p->window);
	w->used = w->charged = w->entered = 0;
}

/* --- when to read -------------------------------------------------------- */

/*
 * Decide whether to read the counters, @since ns after the last read.  One read in
 * @resolution ns is enough, with two exceptions.  If the package becomes idle, no
 * task has the later counts: reads that were saved up are used for that.  And a read
 * empties a table that is nearly full.
 */
static __always_inline bool is_due(const struct attr_package *p,
				   const struct attr_window *w, __u64 since,
				   bool goes_idle, __u64 resolution)
{
	if (since >= resolution)
		return true;
	if (w->used >= ATTR_WINDOW_CROWD)
		return true;
	return goes_idle && p->running == 1 && p->spare >= resolution;
}

/* Account for a read @since ns after the last one. */
static __always_inline void pay_read(struct attr_package *p, __u64 since,
				     __u64 resolution)
{
	__u64 most = ATTR_SPARE_READS * resolution;

	p->spare += since < most ? since : most;
	if (p->spare > most)
		p->spare = most;
	p->spare -= p->spare < resolution ? p->spare : resolution;
}

#endif

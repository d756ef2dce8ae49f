/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a package's counts are divided among tasks: the arithmetic and the
 * windows, without where tasks, counters and maps come from.  attribution.bpf.c
 * runs this; the unit tests run the same text against a plain model.
 *
 * A window is the time between two reads of a package's counters.  At its end
 * what they counted is divided by the time, times weight, that tasks ran in it;
 * that gives a price.  A task that ran all through windows gets what the running
 * sum of price times length grew by.  One that came in mid-window has its share
 * of the sum put right when the window ends; one that left in mid-window waits
 * for that in the window's table.  So a switch takes the same time however many
 * tasks run, and each table's tasks get their shares a few a switch, in the
 * window after.  Reading at each switch is the case of windows in which nobody
 * comes and goes.
 *
 * All is in integers, of 64 bits before and 64 behind the binary point.  What a
 * division leaves goes into the next window: shares, idle time and what is left
 * over add up to what the counters saw.
 *
 * Who includes this has before: packages[], cpus[], windows[], n_columns,
 * bpf_loop(), __always_inline, __noinline.
 */
#ifndef XEON_UNCORE_BPF_ACCOUNT_H
#define XEON_UNCORE_BPF_ACCOUNT_H

#include "attribution.h"

/* In an account that lasts so long, time goes on but is not weighed. */
#define MAX_RAN		(1ULL << 62)
/* Places of a window's table that are tried for a task. */
#define PROBES		8
/* 2^64 divided by the golden ratio */
#define HASH_FACTOR	0x9e3779b97f4a7c15ULL
/* Tasks of the last window that get their shares at a switch. */
#define HOME_A_SWITCH	2

/* The share of a task, made if there is none; or that of those without one. */
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
 * @price times @by is added to @to.  A function of its own: where a loop's
 * counter finds no register, kernels before 6.7 take the loop for an endless one.
 */
static __noinline void number_add_times(struct attr_number *to,
					const struct attr_number *price,
					__u64 by)
{
	number_add(to, number_times(*price, by));
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
	/* one who comes home late may have had another name since */
	if (share->comm[0] && (__s32)(window - share->named) < 0)
		return;
	__builtin_memcpy(share->comm, comm, sizeof(share->comm));
	share->named = window;
}

/*
 * The task on @c gets its part of all windows that are over; of the open one it
 * will later.
 */
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

/* The task's place in the open window's table. */
static __noinline struct attr_stint *stint_of(struct attr_package *p,
					      struct attr_window *w,
					      const struct attr_key *key)
{
	__u64 hash = key->start_time * HASH_FACTOR ^ key->cgroup;
	struct attr_stint *stint;
	__u32 i, place;

	hash = (hash * HASH_FACTOR ^ key->pid) * HASH_FACTOR;
	for (i = 0; i < PROBES; i++) {
		place = ((hash >> 48) + i) % ATTR_WINDOW_TASKS;
		stint = &w->stints[place];
		if (stint->window != p->window)
			goto make;
		if (same_task(&stint->key, key))
			return stint;
	}
	place = ATTR_WINDOW_TASKS;
	stint = &w->stints[place];
	if (stint->window == p->window)
		return stint;
make:
	__builtin_memset(stint, 0, sizeof(*stint));
	if (place < ATTR_WINDOW_TASKS)
		stint->key = *key;
	stint->window = p->window;
	i = w->left;
	if (i <= ATTR_WINDOW_TASKS) {
		w->place[i] = place;
		w->left = i + 1;
	}
	return stint;
}

/* The task leaves @c: its part of the open window is remembered. */
static void leave(struct attr_package *p, struct attr_cpu *c,
		  const struct attr_key *key)
{
	__u64 ns = p->clock - c->since;
	struct attr_stint *stint;

	if (!ns)
		return;
	stint = stint_of(p, window_of(key->package, p->window), key);
	__builtin_memcpy(stint->comm, c->comm, sizeof(stint->comm));
	stint->tgid = c->tgid;
	stint->stretches++;
	stint->ns += ns;
	stint->ran += c->weight * ns;
}

/* A task has @c from now on; the caller has said which, and its weight. */
static __noinline void enter(struct attr_package *p, struct attr_cpu *c,
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
	i = w->came;
	if (i < ATTR_MAX_CPUS) {
		w->cpu[i] = cpu;
		w->came = i + 1;
	}
}

/*
 * @next gets the CPU from the task with @key, which may have its @share found
 * already.
 */
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
		leave(p, c, key);
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
	enter(p, c, cpu);
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

/* It is @now; those that run have run until then. */
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

/* One who left in the last window gets its share. */
static long take_home(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window - 1);
	struct attr_stint *stint;
	struct attr_share *share;
	struct attr_key key;

	i = w->home;
	if (i >= w->left || i > ATTR_WINDOW_TASKS)
		return 1;
	w->home = i + 1;
	i = w->place[i];
	if (i > ATTR_WINDOW_TASKS)
		return 1;
	stint = &w->stints[i];
	key = stint->key;
	if (i < ATTR_WINDOW_TASKS) {
		share = share_of(p, &key);
		name_share(share, stint->comm, stint->tgid, stint->window);
	} else {
		share = &p->unkept[p->epoch & 1];
	}
	share->stretches += stint->stretches;
	share->cpu_ns += stint->ns;
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		number_add_times(&share->count[i], &w->price[i], stint->ran);
	return 0;
}

/* A task that came in the open window has no part in what was before. */
static long put_right(__u32 i, __u32 *package)
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
		number_add_times(&c->sum[i], &w->price[i],
				 c->since - p->opened);
	return 0;
}

/* What a column's counters saw in the open window, which ends, is divided. */
static long divide(__u32 column, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);
	struct attr_number all, price = { 0, 0 };

	if (column >= ATTR_MAX_COLUMNS)
		return 1;
	if (!p->ran && !p->weight) {
		p->now.idle[column] += w->delta[column];
	} else {
		all = p->now.left[column];
		all.whole += w->delta[column];
		/* it may have had no time to run yet */
		if (p->ran)
			price = number_over(all, p->ran);
		p->now.left[column] =
			number_minus(all, number_times(price, p->ran));
		number_add(&p->sum[column],
			   number_times(price, p->clock - p->opened));
	}
	w->price[column] = price;
	return 0;
}

/* The counters were read: what they saw is in the open window's @delta. */
static void end_window(struct attr_package *p, __u32 package)
{
	struct attr_window *w = window_of(package, p->window);

	/* whoever left in the window before must be home: its place is needed */
	bpf_loop(ATTR_WINDOW_TASKS + 1, take_home, &package, 0);
	bpf_loop(n_columns, divide, &package, 0);
	bpf_loop(w->came, put_right, &package, 0);
	p->now.idle_ns += p->idled;
	p->now.at = p->time;
	p->idled = 0;
	p->ran = 0;
	p->opened = p->clock;
	p->window++;
	p->reads++;
	w = window_of(package, p->window);
	w->left = w->home = w->came = 0;
}

/* --- when to read -------------------------------------------------------- */

/*
 * Is it time to read the counters, @since the last time?  Once in @resolution ns
 * is enough.  But when
 * the last task leaves its package there is time to do so, and what comes then
 * is not a task's: a few reads that were not needed before are there for that.
 * And nobody may go nameless because so many ran.
 */
static __always_inline bool is_due(const struct attr_package *p,
				   const struct attr_window *w, __u64 since,
				   bool goes_idle, __u64 resolution)
{
	if (since >= resolution)
		return true;
	if (w->left >= ATTR_WINDOW_CROWD)
		return true;
	return goes_idle && p->running == 1 && p->spare >= resolution;
}

/* A read was made @since the one before it. */
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

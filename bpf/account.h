/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Division of a package's counts among tasks: the arithmetic and the windows.
 * attribution.bpf.c includes this code, and has tasks, counters, locks and maps; the
 * unit tests compare the same code with a plain model.
 *
 * A column is a sum of counters that the user sees as one number for each task.  All
 * counts, rates and sums below exist for each column.
 *
 * A window is the time between two reads of a package's counters.  To weigh the time of a
 * task is to multiply the time by the task's weight.  At the end of a window its rate is
 * computed: the weighed times of all tasks in the window are added up, and the counts of
 * the window are divided by this sum.
 *
 * Each package has a running sum (attr_package.sum): each window adds its rate times its
 * length.  A task that ran through whole windows is charged the growth of the running sum,
 * times the task's weight.  For that each CPU has a copy of the running sum
 * (attr_cpu.sum), made when the CPU's task was last charged.  If the task got its CPU
 * within a window, the copy is made when the window ends: the running sum at the begin of
 * the window, plus the window's rate times the time before the task.  If the task left its
 * CPU within a window, its time slice is kept in the CPU's table of slices and charged in
 * the next window.
 *
 * The weight of a task is 1, unless the user chose a weight event (weighted): an event
 * that each CPU counts for itself, such as LLC-load-misses.  Then a task's weight is its
 * rate of the weight event, relative to the mean rate of the package.
 *
 * A share has the counts of a task in the present account of user space.  There are two
 * maps of shares: while one map is filled, user space empties the other.  The lowest bit
 * of attr_package.epoch selects the map that is filled.  For each map attr_package.dropped
 * is the share of all tasks without room in the map.
 *
 * A CPU enters a window with its first switch in the window.  This switch takes the
 * package's lock and charges a few slices of the last window.  Further switches change
 * only members of the CPU, with the CPU's lock.  The end of a window takes the locks of
 * all CPUs that have entered the window.
 *
 * Shares, rates and remainders are fixed-point numbers with 64 bits before and 64 bits
 * after the binary point.  The remainder of a division is carried into the next window:
 * shares, idle counts and remainders add up to the counters' counts exactly.
 *
 * The including file provides: packages[], cpus[], windows[], n_columns, longest_ns,
 * weighted, share_of(), slices_of(), lock_cpu(), unlock_cpu(), repeat(), REPEATED(),
 * __always_inline, __noinline.  repeat(n, most, step, package) calls step(i, &package) for
 * each i below n, which is at most @most, until step returns not 0.  REPEATED(step)
 * defines the functions that repeat() needs for step.
 */
#ifndef XEON_UNCORE_BPF_ACCOUNT_H
#define XEON_UNCORE_BPF_ACCOUNT_H

#include "attribution.h"
#include "number.h"

/* Number of places in a CPU's table of slices that are tried for a task. */
#define PROBES		8
/* 2^64 divided by the golden ratio */
#define HASH_FACTOR	0x9e3779b97f4a7c15ULL
/*
 * Slices of the last window that a switch with the package's lock charges, after a first
 * slice that is charged without a loop: see charge_some().
 */
#define SLICES_AN_ENTRY	8
/* No fewer than the slices of a window: a CPU has at most ATTR_CPU_TASKS + 1. */
#define ALL_SLICES	(ATTR_MAX_CPUS * (ATTR_CPU_TASKS + 2))

/*
 * Find or create a task's share.  If the map of shares is full, get the share that is for
 * all tasks without room in the map.
 */
static struct attr_share *share_of(struct attr_package *p,
				   const struct attr_key *key);
/*
 * Get the table of a CPU's slices in a window.  A CPU has a table for even windows and a
 * table for odd windows: one is filled in the open window, the other is charged.
 */
static struct attr_slices *slices_of(__u32 cpu, __u64 window);
/*
 * Lock a CPU.  The caller runs on this CPU, or has the lock of the CPU's package.
 * @return false, without the lock, if the lock is busy for too long.
 */
static bool lock_cpu(__u32 cpu);
static void unlock_cpu(__u32 cpu);

/* --- shares -------------------------------------------------------------- */

static __always_inline struct attr_window *window_of(__u32 package,
						     __u64 number)
{
	return &windows[package % ATTR_MAX_PACKAGES][number & 1];
}

static __always_inline void name_share(struct attr_share *share,
				       const char *comm, __u32 tgid,
				       __u32 window)
{
	share->tgid = tgid;
	/* a slice of an older window, which is charged later, may have an older name */
	if (!comm[0] || (share->comm[0] && (__s32)(window - share->named) < 0))
		return;
	__builtin_memcpy(share->comm, comm, sizeof(share->comm));
	share->named = window;
}

/*
 * Charge the task that runs on @c for all windows that have ended.  The time that is
 * charged counts as a time slice (stretches).
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

/*
 * Find or create a task's slice in @s, the table of @c for @window.  If all places that
 * are tried have other tasks, get the last slice, for all tasks without a place.
 */
static __noinline struct attr_slice *slice_of(struct attr_cpu *c,
					      struct attr_slices *s, __u64 window,
					      const struct attr_key *key)
{
	__u64 hash = key->start_time * HASH_FACTOR ^ key->cgroup;
	struct attr_slice *slice;
	__u32 i, place;

	hash = (hash * HASH_FACTOR ^ key->pid) * HASH_FACTOR;
	for (i = 0; i < PROBES; i++) {
		place = ((hash >> 48) + i) % ATTR_CPU_TASKS;
		slice = &s->slice[place];
		if (slice->window != window)
			goto make;
		if (same_task(&slice->key, key))
			return slice;
	}
	place = ATTR_CPU_TASKS;
	slice = &s->slice[place];
	if (slice->window == window)
		return slice;
make:
	__builtin_memset(slice, 0, sizeof(*slice));
	if (place < ATTR_CPU_TASKS)
		slice->key = *key;
	slice->window = window;
	i = s->used;
	if (i <= ATTR_CPU_TASKS) {
		s->place[i] = place;
		s->used = c->used = i + 1;
	}
	return slice;
}

/*
 * Get the time that weights multiply, from @opened, the begin of a window, to @at, but not
 * over longest_ns.  Time in a window after longest_ns gets no share.  So the sum of the
 * weighed times of all tasks is at most ATTR_MAX_RAN, and does not overflow in a very long
 * window.
 */
static __always_inline __u64 weighed(__u64 opened, __u64 at)
{
	__u64 ns = at > opened ? at - opened : 0;

	return ns < longest_ns ? ns : longest_ns;
}

/*
 * End the time slice of the task on @c: add the time to the task's slice of the open
 * window, in the CPU's table.
 */
static __always_inline void end_slice(const struct attr_package *p,
				      struct attr_cpu *c, __u32 cpu,
				      const struct attr_key *key, __u64 now)
{
	struct attr_slices *s = slices_of(cpu, p->window);
	struct attr_slice *slice;
	__u64 ran;

	if (!s || now == c->since)
		return;
	ran = c->weight *
	      (weighed(p->opened, now) - weighed(p->opened, c->since));
	slice = slice_of(c, s, p->window, key);
	if (c->comm[0])
		__builtin_memcpy(slice->comm, c->comm, sizeof(slice->comm));
	slice->tgid = c->tgid;
	slice->stretches++;
	slice->ns += now - c->since;
	slice->ran += ran;
	c->ran += ran;
}

/* --- weights ------------------------------------------------------------- */

/* Weight of a task that has the mean rate.  Weights are from 1 to ATTR_MAX_WEIGHT. */
#define MEAN_WEIGHT	1024
/* Time over which a task's rate, or the mean rate, of the weight event is averaged. */
#define TASK_MEMORY_NS	(100 * 1000 * 1000)
#define MEAN_MEMORY_NS	(1000 * 1000 * 1000)

/*
 * Add the counts of @grown to @rate.  If @rate covers more than @memory ns, scale @rate
 * down, so that older counts weigh less than the counts to come.
 */
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

/*
 * Get the weight of a task: its rate of the weight event, relative to the mean rate of
 * its package.  @rate is NULL or has 0 ns if the task's rate is unknown.
 */
static __always_inline __u64 weight_of(const struct attr_rate *mean,
				       const struct attr_rate *rate)
{
	__u64 measured, expected, weight;

	if (!rate || !rate->ns || !mean->measured || !mean->ns)
		return MEAN_WEIGHT;
	/* times in units of about 1 us: the products fit into 64 bits */
	measured = rate->measured * ((mean->ns >> 10) + 1);
	expected = mean->measured * ((rate->ns >> 10) + 1);
	weight = measured * MEAN_WEIGHT / expected;
	if (weight < 1)
		return 1;
	return weight > ATTR_MAX_WEIGHT ? ATTR_MAX_WEIGHT : weight;
}

/* --- switches ------------------------------------------------------------ */

/*
 * Move @now into the open window; open the first window if there is none.  A CPU reads
 * the clock before it takes a lock, so that @now may be before the begin of the open
 * window or of the time slice on @c.  @return the latest of the three times.
 *
 * p->idle is the sum of the times at which the package became busy, less the sum of the
 * times at which it became idle.  While a task runs, p->idle is the package's idle time
 * so far.  The package counts as idle when the first window opens: subtract @now.
 */
static __always_inline __u64 in_window(struct attr_package *p,
				       const struct attr_cpu *c, __u64 now)
{
	if (!p->window) {
		p->window = 1;
		p->opened = p->now.at = now;
		p->idle = -now;
		window_of(c->package, 1)->opened = now;
	}
	if (now < p->opened)
		now = p->opened;
	return now < c->since ? c->since : now;
}

/*
 * Add @c to the CPUs that have entered the open window, at its first switch in the
 * window.  The caller has the package's lock.
 */
static __noinline void enter(struct attr_package *p, struct attr_cpu *c,
			     __u32 cpu)
{
	struct attr_window *w = window_of(c->package, p->window);
	struct attr_slices *s = slices_of(cpu, p->window);
	__u32 i = w->entered;

	c->entered = p->window;
	c->ran = 0;
	c->used = 0;
	if (s)
		s->used = 0;
	if (i < ATTR_MAX_CPUS) {
		w->cpu[i] = cpu;
		w->entered = i + 1;
	}
}

/*
 * Replace the task on @c, which has @key, by @next.  The caller has the package's lock,
 * or only the lock of @c if @c has entered the window.  The package becomes busy with its
 * first running task, and idle without a running task; see in_window() for p->idle.
 */
static __always_inline void switch_tasks(struct attr_package *p,
					 struct attr_cpu *c, __u32 cpu,
					 const struct attr_key *key,
					 const struct attr_task *next,
					 __u64 weight, __u64 now)
{
	bool was_busy = c->watched && c->pid;

	if (was_busy)
		end_slice(p, c, cpu, key, now);
	if (next->pid && !was_busy) {
		if (!__sync_fetch_and_add(&p->running, 1))
			__sync_fetch_and_add(&p->idle, now);
	} else if (!next->pid && was_busy) {
		if (__sync_fetch_and_add(&p->running, -1) == 1)
			__sync_fetch_and_add(&p->idle, -now);
	}
	c->watched = 1;
	c->pid = next->pid;
	c->tgid = next->tgid;
	c->start_time = next->start_time;
	c->cgroup = next->cgroup;
	c->owner = next->owner;
	__builtin_memcpy(c->comm, next->comm, sizeof(c->comm));
	c->weight = weight;
	c->since = now;
}

/*
 * Enter the open window if necessary, and switch.  The caller has the package's lock.  A
 * CPU that switches right at the begin of the window, as after its own read, does not
 * enter.  No time of the window is before the next task, so the running sum can be copied
 * now.  The CPU enters with its next switch in the window.
 * @share: share of the task with @key, or NULL.
 */
static __always_inline void enter_and_switch(struct attr_package *p,
					     struct attr_cpu *c, __u32 cpu,
					     const struct attr_key *key,
					     struct attr_share *share,
					     const struct attr_task *next,
					     __u64 weight, __u64 now)
{
	__u32 i;

	if (c->entered != p->window) {
		if (c->watched && c->pid) {
			if (c->since < p->opened)
				settle(p, c, share ? share : share_of(p, key));
			p->weight -= c->weight;
		}
		if (now == p->opened) {
			for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
				c->sum[i] = p->sum[i];
			if (next->pid)
				p->weight += weight;
		} else {
			enter(p, c, cpu);
		}
	}
	switch_tasks(p, c, cpu, key, next, weight, now);
}

/* Data of a context switch that a CPU collects before it takes a lock. */
struct turn {
	struct attr_task coming;	/* the next task */
	struct attr_key key;		/* the previous task */
	char comm[ATTR_COMM_LEN];	/* name of the previous task, if @seen */
	/*
	 * The task that leaves the CPU is the task in struct attr_cpu.  This is not so if
	 * the last switch was not accounted because a lock was busy.
	 */
	bool seen;
	__u32 cpu;
	__u64 now;
	struct attr_rate grown;		/* weight event's counts of the previous task */
	struct attr_rate rate;		/* rate of the next task; 0 ns: unknown */
};

/*
 * Update the previous task's name, and the weight event's counts on @c.  @return the
 * weight of the next task.
 */
static __always_inline __u64 update(const struct attr_package *p,
				    struct attr_cpu *c, const struct turn *t)
{
	if (t->seen)
		__builtin_memcpy(c->comm, t->comm, sizeof(c->comm));
	if (!weighted)
		return 1;
	c->grown.measured += t->grown.measured;
	c->grown.ns += t->grown.ns;
	return weight_of(&p->mean, &t->rate);
}

/*
 * Add the weight event's counts on @c to the package's mean rate.  The caller has the
 * package's lock, and no CPU can be in switch_alone() with the open window's number: all
 * CPUs that have entered the open window are locked, or no CPU has entered it yet.  So no
 * other CPU reads the mean rate.
 */
static __always_inline void add_grown(struct attr_package *p, struct attr_cpu *c)
{
	if (!weighted)
		return;
	rate_add(&p->mean, &c->grown, MEAN_MEMORY_NS);
	c->grown.measured = c->grown.ns = 0;
}

/*
 * Switch with only the lock of @c.  @return false, without a switch, if @c has to enter
 * the open window first.  If the lock is busy for too long, return true, also without a
 * switch: the next switch of @c accounts for the time.
 */
static __always_inline bool switch_alone(struct attr_package *p,
					 struct attr_cpu *c,
					 const struct turn *t)
{
	bool entered;

	if (!c->watched || c->entered != *(volatile __u64 *)&p->window)
		return false;
	if (!lock_cpu(t->cpu)) {
		__sync_fetch_and_add(&p->missed, 1);
		return true;
	}
	/* the open window cannot end while this CPU's lock is held: check again */
	entered = c->entered == *(volatile __u64 *)&p->window;
	if (entered)
		switch_tasks(p, c, t->cpu, &t->key, &t->coming,
			     update(p, c, t), in_window(p, c, t->now));
	unlock_cpu(t->cpu);
	return entered;
}

/* --- windows ------------------------------------------------------------- */

/*
 * Charge the next slice of the last window.  The members charging and charged of struct
 * attr_window have the position: the CPU and its slice.  @i, the number of the call, is
 * not used.  @return not 0 after the last slice.
 */
static long charge_slice(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window - 1);
	struct attr_slice *slice;
	struct attr_slices *s;
	struct attr_share *share;
	struct attr_key key;

	i = w->charging;
	if (i >= w->entered || i >= ATTR_MAX_CPUS)
		return 1;
	s = slices_of(w->cpu[i], p->window - 1);
	i = w->charged;
	w->charged = i + 1;
	if (!s || i + 1 >= s->used) {
		w->charging++;
		w->charged = 0;
	}
	if (!s || i >= s->used || i > ATTR_CPU_TASKS)
		return 0;
	i = s->place[i];
	if (i > ATTR_CPU_TASKS)
		return 1;
	slice = &s->slice[i];
	key = slice->key;
	if (i < ATTR_CPU_TASKS) {
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

/*
 * Lock CPU number @i of the CPUs that have entered the open window, and add the weighed
 * times of its tasks to the window's sum.  If the lock is busy for too long, return 1,
 * which ends the loop: lock_window() then finds w->locked below w->entered.
 */
static long lock_entered(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);
	struct attr_cpu *c;
	__u32 cpu;

	if (i >= ATTR_MAX_CPUS)
		return 1;
	cpu = w->cpu[i] % ATTR_MAX_CPUS;
	if (!lock_cpu(cpu))
		return 1;
	w->locked = i + 1;
	c = &cpus[cpu];
	w->ran += c->ran;
	if (c->pid) {
		/*
		 * The running task ran from c->since to the end of the window, which
		 * is not known until all CPUs are locked.  Subtract the time from the
		 * begin of the window to c->since.  end_window() adds the length of
		 * the whole window, times the weight.
		 */
		w->ran -= c->weight * weighed(w->opened, c->since);
		w->weight += c->weight;
	}
	/*
	 * If the CPU switched after the read of the counters, the window ends at the
	 * switch: the slice that the switch ended is in this window's table already.
	 */
	if (c->since > p->now.at)
		p->now.at = c->since;
	return 0;
}

static long unlock_entered(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);

	if (i >= ATTR_MAX_CPUS)
		return 1;
	unlock_cpu(w->cpu[i] % ATTR_MAX_CPUS);
	return 0;
}

/*
 * At the end of the open window, divide a column's counts in the window by p->ran, the sum
 * of the tasks' weighed times: get the rate of the window, and update the package's
 * running sum.
 */
static long divide(__u32 column, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window);
	struct attr_number counts, rate = { 0, 0 };

	if (column >= ATTR_MAX_COLUMNS)
		return 1;
	w->sum[column] = p->sum[column];
	if (!p->ran && !p->weight) {
		p->now.idle[column] += w->delta[column];
	} else {
		counts = p->now.remainder[column];
		counts.whole += w->delta[column];
		/* tasks are on CPUs, but may have run for 0 ns until now */
		if (p->ran)
			rate = number_over(counts, p->ran);
		p->now.remainder[column] =
			number_minus(counts, number_times(rate, p->ran));
		number_add(&p->sum[column],
			   number_times(rate, weighed(w->opened, p->now.at)));
	}
	w->rate[column] = rate;
	return 0;
}

/*
 * Unlock CPU number @i of the CPUs that have entered the last window.  Before, set the
 * CPU's copy of the running sum so that the task on the CPU is not charged for the part of
 * the window before the task got the CPU.
 */
static long leave_entered(__u32 i, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_window *w = window_of(*package, p->window - 1);
	struct attr_cpu *c;
	__u32 cpu, k;

	if (i >= ATTR_MAX_CPUS)
		return 1;
	cpu = w->cpu[i] % ATTR_MAX_CPUS;
	c = &cpus[cpu];
	add_grown(p, c);
	for (k = 0; c->pid && k < n_columns && k < ATTR_MAX_COLUMNS; k++) {
		c->sum[k] = w->sum[k];
		number_add_times(&c->sum[k], &w->rate[k],
				 weighed(w->opened, c->since));
	}
	unlock_cpu(cpu);
	return 0;
}

REPEATED(charge_slice)
REPEATED(lock_entered)
REPEATED(unlock_entered)
REPEATED(divide)
REPEATED(leave_entered)

static __always_inline bool has_slices(const struct attr_package *p,
				       __u32 package)
{
	const struct attr_window *w = window_of(package, p->window - 1);

	return w->charging < w->entered;
}

/* Charge all slices of the last window. */
static __always_inline void charge_all(const struct attr_package *p,
				       __u32 package)
{
	if (has_slices(p, package))
		repeat(ALL_SLICES, ALL_SLICES, charge_slice, package);
}

/*
 * Charge some slices of the last window.  Often the window has only one slice: charge
 * the first slice without a loop.
 */
static __always_inline void charge_some(const struct attr_package *p,
					__u32 package)
{
	if (has_slices(p, package))
		charge_slice(0, &package);
	if (has_slices(p, package))
		repeat(SLICES_AN_ENTRY, SLICES_AN_ENTRY, charge_slice, package);
}

/*
 * Lock all CPUs that have entered the open window, before the window ends.  The caller
 * has the package's lock.  The window will end at @now, or at the last switch if that is
 * later.  @return false if the lock of a CPU is busy for too long: then the window stays
 * open, unchanged.
 */
static bool lock_window(struct attr_package *p, __u32 package, __u64 now)
{
	struct attr_window *w = window_of(package, p->window);
	__u64 old_end = p->now.at;

	/*
	 * The next window is even if the last window was even: it fills the tables that
	 * still have the last window's slices.
	 */
	charge_all(p, package);
	w->locked = 0;
	w->ran = w->weight = 0;
	p->now.at = now > p->opened ? now : p->opened;
	repeat(w->entered, ATTR_MAX_CPUS, lock_entered, package);
	if (w->locked == w->entered)
		return true;
	repeat(w->locked, ATTR_MAX_CPUS, unlock_entered, package);
	p->now.at = old_end;
	return false;
}

/* Add the package's idle time in the open window, which ends at @end. */
static __always_inline void account_idle(struct attr_package *p, __u64 end)
{
	__u64 idle = p->idle + (p->running ? 0 : end) - p->idle_seen;

	/*
	 * The clocks of two CPUs may differ a little, and the package may have become busy
	 * by a clock that is behind the one by which it became idle: then the idle time
	 * comes out below 0.
	 */
	if ((__s64)idle < 0)
		idle = 0;
	if (idle > end - p->opened)
		idle = end - p->opened;
	p->now.idle_ns += idle;
	p->idle_seen += idle;
}

/*
 * End the open window, whose CPUs are locked, and unlock them.  The member delta of the
 * window has the counts since the last read.
 */
static void end_window(struct attr_package *p, __u32 package)
{
	struct attr_window *w = window_of(package, p->window);
	struct attr_window *next = window_of(package, p->window + 1);

	p->weight += w->weight;
	p->ran = p->weight * weighed(w->opened, p->now.at) + w->ran;
	repeat(n_columns, ATTR_MAX_COLUMNS, divide, package);
	account_idle(p, p->now.at);
	next->entered = next->charging = next->charged = 0;
	next->opened = p->opened = p->now.at;
	p->window++;
	p->reads++;
	repeat(w->entered, ATTR_MAX_CPUS, leave_entered, package);
}

/* --- when to read -------------------------------------------------------- */

/*
 * Decide whether to read the counters, @since ns after the last read.  One read in
 * @resolution ns is enough, with two exceptions.  If the table of @c is nearly full, a
 * read begins a new window with an empty table.  If the package becomes idle, a read
 * separates the tasks' counts from the counts to come, which belong to no task.
 *
 * A read because of idleness needs credit, p->spare, in ns of time.  Without this limit
 * tasks that alternate on two CPUs would cause a read at each switch.
 */
static __always_inline bool is_due(const struct attr_package *p,
				   const struct attr_cpu *c, __u64 since,
				   bool goes_idle, __u64 resolution)
{
	if (since >= resolution)
		return true;
	if (c->entered == p->window && c->used >= ATTR_CPU_CROWD)
		return true;
	return goes_idle && p->running == 1 && p->spare >= resolution;
}

/*
 * Update the package's credit of reads, p->spare in ns, after a read.  Credit grows with
 * time: add @since, the ns since the last read.  A read costs @resolution ns.  The credit
 * is limited to ATTR_SPARE_READS reads.
 */
static __always_inline void pay_read(struct attr_package *p, __u64 since,
				     __u64 resolution)
{
	__u64 limit = ATTR_SPARE_READS * resolution;

	p->spare += since < limit ? since : limit;
	if (p->spare > limit)
		p->spare = limit;
	p->spare -= p->spare < resolution ? p->spare : resolution;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which task caused the traffic: at each context switch the package's counts
 * since the last look are divided among the tasks that run on its CPUs.
 *
 * A package keeps, for each column, the running sum of "counts per unit of
 * weight".  A task's share is its weight times what that sum grew by between its
 * switch-in and its switch-out, so a switch takes the same time however many
 * tasks run.  Remainders of the division stay for the next one: what went to
 * tasks, to idle time and what is left over add up to what the counters saw.
 */
#include "kernel_types.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "attribution.h"

/* Tries to get a package's lock before a look is given up; some 10 ms. */
#define LOCK_TRIES	(1 << 20)

/* The mean weight; weights are from 1 to MAX_WEIGHT. */
#define MEAN_WEIGHT	1024
#define MAX_WEIGHT	(64 * MEAN_WEIGHT)
/* For how long the weight event's rates are remembered. */
#define TASK_MEMORY_NS	(100 * 1000 * 1000)
#define MEAN_MEMORY_NS	(1000 * 1000 * 1000)

const volatile __u32 n_events;
const volatile __u32 n_columns;
const volatile __u32 n_cpus;
/* Which column an event belongs to. */
const volatile __u32 column_of[ATTR_MAX_EVENTS];
/* There is an event on every CPU that weighs its task. */
const volatile bool weighted;

struct attr_package packages[ATTR_MAX_PACKAGES];
struct attr_cpu cpus[ATTR_MAX_CPUS];
/* Result of event_base(). */
__u64 base_found;

/* Of event e on CPU c: entry e * n_cpus + c. Sized when loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} events SEC(".maps");

/* What to add to it, so that all CPUs of a package see the same number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} bases SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} weight_events SEC(".maps");

/* One is filled while the user empties the other. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct attr_key);
	__type(value, struct attr_share);
	__uint(max_entries, 1);
} shares_even SEC(".maps"), shares_odd SEC(".maps");

/* The weight event's rate of tasks. */
struct rate {
	__u64 measured;
	__u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);	/* start time and thread number, hashed */
	__type(value, struct rate);
	__uint(max_entries, 1);
} rates SEC(".maps");

/* Too large for the stack. */
struct scratch {
	__u64 seen[ATTR_MAX_EVENTS];
	__u64 delta[ATTR_MAX_COLUMNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

static const struct attr_share no_share;

/* --- a package's lock ---------------------------------------------------- */

/*
 * bpf_spin_lock() is not for tracing programs.  All who take this lock run with
 * preemption off and not in an NMI, so it is held for a moment only; but a
 * hypervisor may take the holder's CPU away, so it is not waited for without
 * end.
 */
static bool try_lock(struct attr_package *p)
{
	return !__sync_val_compare_and_swap(&p->lock, 0, 1);
}

struct wait {
	__u32 package;
	bool locked;
};

static long wait_step(__u32 i, struct wait *w)
{
	w->locked = try_lock(&packages[w->package % ATTR_MAX_PACKAGES]);
	return w->locked;
}

static bool lock(struct attr_package *p, __u32 package)
{
	struct wait w = { .package = package };

	if (try_lock(p))
		return true;
	bpf_loop(LOCK_TRIES, wait_step, &w, 0);
	if (!w.locked)
		__sync_fetch_and_add(&p->missed, 1);
	return w.locked;
}

static void unlock(struct attr_package *p)
{
	/* an exchange, for its memory barrier */
	__sync_lock_test_and_set(&p->lock, 0);
}

/* --- counting ------------------------------------------------------------ */

/* An event that cannot be read here says 0: nothing new. */
static void read_events(struct scratch *s, __u32 cpu)
{
	struct bpf_perf_event_value value;
	__u64 *base;
	__u32 i, at;

	for (i = 0; i < n_events && i < ATTR_MAX_EVENTS; i++) {
		at = i * n_cpus + cpu;
		s->seen[i] = 0;
		base = bpf_map_lookup_elem(&bases, &at);
		if (base && !bpf_perf_event_read_value(&events, at, &value,
						       sizeof(value)))
			s->seen[i] = value.counter + *base;
	}
}

/* Another CPU may have read later and come here earlier: counts only grow. */
static void collect(struct attr_package *p, struct scratch *s)
{
	__u64 *seen, *delta;
	__u32 i;

	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		s->delta[i] = 0;
	for (i = 0; i < n_events && i < ATTR_MAX_EVENTS; i++) {
		seen = &p->now.seen[i];
		if (s->seen[i] <= *seen)
			continue;
		delta = &s->delta[column_of[i] % ATTR_MAX_COLUMNS];
		*delta += s->seen[i] - *seen;
		*seen = s->seen[i];
	}
}

/* Divide what came since the last look among those that have run since. */
static void divide(struct attr_package *p, struct scratch *s, __u64 now)
{
	__u64 amount, each;
	__u32 i;

	collect(p, s);
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++) {
		if (!s->delta[i])
			continue;
		if (!p->weight) {
			p->now.idle[i] += s->delta[i];
			continue;
		}
		amount = (s->delta[i] << ATTR_FRACTION_BITS) + p->now.left[i];
		each = amount / p->weight;
		p->now.left[i] = amount - each * p->weight;
		p->sum[i] += each;
	}
	if (now > p->now.at) {
		if (!p->running && p->now.at)
			p->now.idle_ns += now - p->now.at;
		p->now.at = now;
	}
}

/* --- tasks --------------------------------------------------------------- */

static struct attr_share *find_share(const struct attr_key *key, __u32 epoch)
{
	return epoch & 1 ? bpf_map_lookup_elem(&shares_odd, key) :
			   bpf_map_lookup_elem(&shares_even, key);
}

static struct attr_share *make_share(struct attr_package *p,
				     const struct attr_key *key, __u32 epoch)
{
	struct attr_share *share = find_share(key, epoch);
	long err;

	if (share)
		return share;
	err = epoch & 1 ?
		bpf_map_update_elem(&shares_odd, key, &no_share, BPF_NOEXIST) :
		bpf_map_update_elem(&shares_even, key, &no_share, BPF_NOEXIST);
	if (err)
		return NULL;
	__sync_fetch_and_add(&p->entries[epoch & 1], 1);
	return find_share(key, epoch);
}

static void credit(struct attr_share *share, const struct attr_package *p,
		   const struct attr_cpu *c)
{
	__u64 amount, fraction;
	__u32 i;

	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++) {
		amount = c->weight * (p->sum[i] - c->sum[i]);
		fraction = share->fraction[i] + (amount & ATTR_FRACTION_MASK);
		share->count[i] += (amount >> ATTR_FRACTION_BITS) +
				   (fraction >> ATTR_FRACTION_BITS);
		share->fraction[i] = fraction & ATTR_FRACTION_MASK;
	}
}

static __u64 cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* --- weights ------------------------------------------------------------- */

static __u64 rate_key(__u32 pid, __u64 start_time)
{
	return start_time ^ ((__u64)pid << 40);
}

/* What the weight event counted of the task that has run until now. */
static void measure(struct attr_cpu *c, __u64 now, struct rate *grown)
{
	struct bpf_perf_event_value value;
	struct rate *known;
	__u64 key;

	grown->measured = grown->ns = 0;
	if (bpf_perf_event_read_value(&weight_events, BPF_F_CURRENT_CPU, &value,
				      sizeof(value)))
		return;
	if (c->watched && c->pid && value.counter >= c->measured &&
	    now > c->since) {
		grown->measured = value.counter - c->measured;
		grown->ns = now - c->since;
	}
	c->measured = value.counter;
	if (!grown->ns)
		return;
	key = rate_key(c->pid, c->start_time);
	known = bpf_map_lookup_elem(&rates, &key);
	if (!known) {
		bpf_map_update_elem(&rates, &key, grown, BPF_ANY);
		return;
	}
	known->measured += grown->measured;
	known->ns += grown->ns;
	if (known->ns > TASK_MEMORY_NS) {
		known->measured /= 2;
		known->ns /= 2;
	}
}

static void update_mean(struct attr_package *p, const struct rate *grown)
{
	p->measured += grown->measured;
	p->measured_ns += grown->ns;
	if (p->measured_ns > MEAN_MEMORY_NS) {
		p->measured /= 2;
		p->measured_ns /= 2;
	}
}

/* A task of which nothing is known weighs as much as the mean. */
static __u64 weigh(const struct attr_package *p, const struct rate *known)
{
	__u64 measured, mean, weight;

	if (!known || !known->ns || !p->measured || !p->measured_ns)
		return MEAN_WEIGHT;
	/* the times in microseconds or so, so that the products fit */
	measured = known->measured * ((p->measured_ns >> 10) + 1);
	mean = p->measured * ((known->ns >> 10) + 1);
	weight = measured * MEAN_WEIGHT / mean;
	if (weight < 1)
		return 1;
	return weight > MAX_WEIGHT ? MAX_WEIGHT : weight;
}

/* --- looking ------------------------------------------------------------- */

static void stop_running(struct attr_package *p, struct attr_cpu *c)
{
	if (!c->watched || !c->pid)
		return;
	p->running--;
	p->weight -= c->weight;
}

static void start_running(struct attr_package *p, struct attr_cpu *c,
			  struct task_struct *task, const struct rate *known)
{
	__u32 i;

	c->watched = 1;
	c->pid = task->pid;
	c->tgid = task->tgid;
	c->start_time = task->start_time;
	c->cgroup = cgroup_of(task);
	bpf_core_read(c->comm, sizeof(c->comm), &task->comm);
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		c->sum[i] = p->sum[i];
	if (!c->pid)
		return;
	c->weight = weighted ? weigh(p, known) : 1;
	p->running++;
	p->weight += c->weight;
}

/* The task that has run on @c until now gets what came since the last time. */
static void give(struct attr_package *p, struct attr_cpu *c,
		 struct attr_share *share, __u64 now)
{
	share->tgid = c->tgid;
	share->stretches++;
	if (now > c->since)
		share->cpu_ns += now - c->since;
	credit(share, p, c);
}

static void settle(struct attr_package *p, struct attr_cpu *c,
		   struct attr_key *key, struct attr_share *share, __u32 epoch,
		   __u64 now)
{
	if (!c->watched || !c->pid)
		return;
	/* the maps changed places meanwhile */
	if (p->epoch != epoch)
		share = make_share(p, key, p->epoch);
	if (!share)
		share = &p->unkept[p->epoch & 1];
	else if (bpf_get_current_pid_tgid() << 32 >> 32 == c->pid)
		bpf_get_current_comm(share->comm, sizeof(share->comm));
	give(p, c, share, now);
}

/*
 * @prev has run on this CPU until now, and @next runs from here on.  When the
 * lock is not to be had it is as if nothing had happened: the CPU still is with
 * the task it was with, and the next look makes up for it.
 */
static int look(struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0, epoch;
	struct attr_key key = { 0 };
	struct rate grown = { 0 }, *known = NULL;
	struct attr_share *share = NULL;
	struct attr_package *p;
	struct scratch *s;
	struct attr_cpu *c;
	__u64 now, rate;

	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!s || cpu >= ATTR_MAX_CPUS || cpu >= n_cpus)
		return 0;
	c = &cpus[cpu];
	if (!c->watched && prev != next)
		return 0;
	p = &packages[c->package % ATTR_MAX_PACKAGES];
	c->looks++;
	read_events(s, cpu);
	now = bpf_ktime_get_ns();
	if (weighted) {
		measure(c, now, &grown);
		rate = rate_key(next->pid, next->start_time);
		known = bpf_map_lookup_elem(&rates, &rate);
	}
	epoch = *(volatile __u32 *)&p->epoch;
	if (c->watched && c->pid) {
		key.pid = c->pid;
		key.start_time = c->start_time;
		key.package = c->package;
		key.cgroup = prev->pid == c->pid ? cgroup_of(prev) : c->cgroup;
		share = make_share(p, &key, epoch);
	}

	if (!lock(p, c->package))
		return 0;
	divide(p, s, now);
	settle(p, c, &key, share, epoch, now);
	if (weighted)
		update_mean(p, &grown);
	stop_running(p, c);
	start_running(p, c, next, known);
	c->since = now;
	unlock(p);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return look(prev, next);
}

/* Run by the user on each CPU: account for the task that runs there. */
SEC("raw_tp/look")
int look_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return look(task, task);
}

/* --- for the user -------------------------------------------------------- */

/*
 * What came since a CPU was last looked at was divided when others were, and
 * belongs to this account, not to the next: its task gets it now.  It may be
 * running meanwhile; its next switch waits for the lock.
 */
static long settle_cpu(__u32 cpu, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_cpu *c = &cpus[cpu % ATTR_MAX_CPUS];
	struct attr_key key = { 0 };
	struct attr_share *share;
	__u32 i;

	if (c->package != *package || !c->watched || !c->pid)
		return 0;
	key.pid = c->pid;
	key.start_time = c->start_time;
	key.package = c->package;
	key.cgroup = c->cgroup;
	share = make_share(p, &key, p->epoch);
	if (!share)
		share = &p->unkept[p->epoch & 1];
	else if (!share->comm[0])
		__builtin_memcpy(share->comm, c->comm, sizeof(share->comm));
	/* no later than what is divided */
	give(p, c, share, p->now.at);
	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		c->sum[i] = p->sum[i];
	if (p->now.at > c->since)
		c->since = p->now.at;
	return 0;
}

/*
 * args[0]: a package, whose other map of shares is used from here on.  What its
 * counters were seen to count until now is in the one before, all of it.
 */
SEC("raw_tp/flip")
int flip(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 package = ctx->args[0];
	struct attr_package *p = &packages[package % ATTR_MAX_PACKAGES];

	if (!lock(p, package))
		return 1;
	bpf_loop(n_cpus, settle_cpu, &package, 0);
	p->flipped = p->now;
	p->epoch++;
	unlock(p);
	return 0;
}

/* args[0]: entry of events. Can this CPU read it? */
SEC("raw_tp/try_read")
int try_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_perf_event_value value;
	__u32 at = ctx->args[0];

	return bpf_perf_event_read_value(&events, at, &value, sizeof(value));
}

/*
 * args[0]: a descriptor of the user's, of an event that counts and that nobody
 * reads just now.  Events that share a counter began at different counts of it;
 * the driver remembers at which count an event was last brought up to date, so
 * that less its own count is where it began.
 */
SEC("raw_tp/event_base")
int event_base(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct perf_event *event;
	__u64 previous, count;
	__u32 fd = ctx->args[0];
	struct file **fds, *file;

	fds = BPF_CORE_READ(task, files, fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), fds + fd))
		return 1;
	event = BPF_CORE_READ(file, private_data);
	if (bpf_core_read(&previous, sizeof(previous), &event->hw.prev_count) ||
	    bpf_core_read(&count, sizeof(count), &event->count))
		return 1;
	base_found = previous - count;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attribution of traffic to tasks: programs that trace context switches, read the
 * packages' counters at some switches, and divide the counts among the tasks that ran
 * since the last read.  account.h has the arithmetic; this file has tasks, counters,
 * locks and maps.
 */
#include "kernel_types.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "attribution.h"

const volatile __u32 n_events;
const volatile __u32 n_columns;
const volatile __u32 n_cpus;
/* 1 + place of the controller whose version 1 hierarchy has the cgroups, or 0: version 2 */
const volatile __u32 v1_controller;
/* Column of an event. */
const volatile __u32 column_of[ATTR_MAX_EVENTS];
/* Shortest time between two reads of a package's counters, 0: read at each switch. */
const volatile __u64 resolution_ns;
/* Limit of the weighed time of a window, so that ATTR_MAX_RAN holds. */
const volatile __u64 longest_ns;
/* Every CPU has an event that weighs the CPU's task. */
const volatile bool weighted;
/* The kernel has bpf_loop(): since 5.17. */
const volatile bool has_loop;

struct attr_package packages[ATTR_MAX_PACKAGES];
struct attr_cpu cpus[ATTR_MAX_CPUS];
/* The open window and the last window of each package. */
struct attr_window windows[ATTR_MAX_PACKAGES][2];
/* Result of event_base(). */
__u64 base_found;

/* Entry e * n_cpus + c: event e on CPU c. The size is set before the load. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} events SEC(".maps");

/* Offset of each entry of events: all CPUs of a package get the same count. */
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

/* Programs fill one map while user space empties the other map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct attr_key);
	__type(value, struct attr_share);
	__uint(max_entries, 1);
} shares_even SEC(".maps"), shares_odd SEC(".maps");

/* Entries 2 * c and 2 * c + 1: CPU c's slices of the open window and the last window. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct attr_slices);
	__uint(max_entries, 1);
} slices SEC(".maps");

/* Rates of the weight event, by task. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);	/* start time and thread number, hashed */
	__type(value, struct attr_rate);
	__uint(max_entries, 1);
} rates SEC(".maps");

static const struct attr_share no_share;

/*
 * Call @step(i, &@package) for each i below @n, which is at most @most, until @step
 * returns not 0.  Without bpf_loop() the verifier checks each round of a loop.  The
 * verifier checks a global function once: two levels of loops are checked in time.
 */
#define SOME	256
#define repeat(n, most, step, package)					\
	do {								\
		if ((n) == 1) {						\
			step(0, &(package));				\
			break;						\
		}							\
		if (has_loop) {						\
			bpf_loop(n, step, &(package), 0);		\
			break;						\
		}							\
		for (__u32 from = 0; from < (most) &&			\
				     !step##_some(from, n, package);	\
		     from += SOME)					\
			;						\
	} while (0)
/* Define the functions that repeat() calls; @step has been declared. */
#define REPEATED(step)							\
	__noinline int step##_once(__u32 i, __u32 package)		\
	{								\
		return step(i, &package);				\
	}								\
	__noinline int step##_some(__u32 from, __u32 n, __u32 package)	\
	{								\
		for (__u32 i = 0; i < SOME; i++)			\
			if (from + i >= n ||				\
			    step##_once(from + i, package))		\
				return 1;				\
		return 0;						\
	}

/* With a read at each switch, each switch has the package's lock. */
#define cpu_locks	(resolution_ns != 0)

#include "account.h"
#include "lock.h"

/* Data that are too large for the stack. */
struct scratch {
	struct turn turn;
	__u64 seen[ATTR_MAX_EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

/* --- counting ------------------------------------------------------------ */

/* Read the events; 0, which adds no counts, for an event that this CPU cannot read. */
static __noinline void read_events(struct scratch *s, __u32 cpu)
{
	struct bpf_perf_event_value value;
	__u64 *base;
	__u32 i, key;

	for (i = 0; i < n_events && i < ATTR_MAX_EVENTS; i++) {
		key = i * n_cpus + cpu;
		s->seen[i] = 0;
		base = bpf_map_lookup_elem(&bases, &key);
		if (base && !bpf_perf_event_read_value(&events, key, &value,
						       sizeof(value)))
			s->seen[i] = value.counter + *base;
	}
}

/*
 * Add the counts since the last read to the window.  Another CPU may have read later and
 * taken the lock earlier: counts only grow.  Bases wrap: a difference with the highest bit
 * set is negative, and is dropped.
 */
static __noinline void collect(struct attr_package *p, struct attr_window *w,
			       const struct scratch *s)
{
	__u64 *seen;
	__u32 i;

	for (i = 0; i < n_columns && i < ATTR_MAX_COLUMNS; i++)
		w->delta[i] = 0;
	for (i = 0; i < n_events && i < ATTR_MAX_EVENTS; i++) {
		seen = &p->now.seen[i];
		if ((__s64)(s->seen[i] - *seen) <= 0)
			continue;
		w->delta[column_of[i] % ATTR_MAX_COLUMNS] +=
			s->seen[i] - *seen;
		*seen = s->seen[i];
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

static struct attr_share *share_of(struct attr_package *p,
				   const struct attr_key *key)
{
	struct attr_share *share = make_share(p, key, p->epoch);

	return share ? share : &p->dropped[p->epoch & 1];
}

static struct attr_slices *slices_of(__u32 cpu, __u64 window)
{
	__u32 key = 2 * cpu + (window & 1);

	return bpf_map_lookup_elem(&slices, &key);
}

static __u64 cgroup_of(struct task_struct *task)
{
	struct cgroup_subsys_state *css = NULL;

	/* loads of BTF pointers, which cost less than calls of a helper */
	if (!v1_controller)
		return task->cgroups->dfl_cgrp->kn->id;
	bpf_core_read(&css, sizeof(css),
		      &task->cgroups->subsys[0] + (v1_controller - 1));
	return BPF_CORE_READ(css, cgroup, kn, id);
}

/* --- weights ------------------------------------------------------------- */

static __u64 rate_key(__u32 pid, __u64 start_time)
{
	return start_time ^ ((__u64)pid << 40);
}

/* Read the weight event's counts of the task that has run until now. */
static void measure(struct attr_cpu *c, __u64 now, struct attr_rate *grown)
{
	struct bpf_perf_event_value value;
	struct attr_rate *rate, new_rate = { 0 };
	__u64 key;

	if (bpf_perf_event_read_value(&weight_events, BPF_F_CURRENT_CPU, &value,
				      sizeof(value)))
		return;
	if (c->watched && c->pid && value.counter >= c->measured &&
	    now > c->measured_at) {
		grown->measured = value.counter - c->measured;
		grown->ns = now - c->measured_at;
	}
	c->measured = value.counter;
	c->measured_at = now;
	if (!grown->ns)
		return;
	key = rate_key(c->pid, c->start_time);
	rate = bpf_map_lookup_elem(&rates, &key);
	if (!rate) {
		rate_add(&new_rate, grown, TASK_MEMORY_NS);
		bpf_map_update_elem(&rates, &key, &new_rate, BPF_ANY);
		return;
	}
	rate_add(rate, grown, TASK_MEMORY_NS);
}

/* --- switches and polls -------------------------------------------------- */

/* Must this switch or poll read the counters?  Of several CPUs, only one reads. */
static bool claim_read(struct attr_package *p, const struct attr_cpu *c,
		       __u64 now, bool goes_idle, bool asked, __u64 *since)
{
	__u64 read_at = *(volatile __u64 *)&p->read_at;

	*since = now > read_at ? now - read_at : 0;
	if (asked || !resolution_ns) {
		*(volatile __u64 *)&p->read_at = now;
		return true;
	}
	return is_due(p, c, *since, goes_idle, resolution_ns) &&
	       __sync_val_compare_and_swap(&p->read_at, read_at, now) ==
		       read_at;
}

/* Get the key of the task on @c. */
static void identify(const struct attr_cpu *c, struct attr_key *key)
{
	key->pid = c->pid;
	key->start_time = c->start_time;
	key->package = c->package;
	key->cgroup = c->cgroup;
}

static void describe(struct task_struct *task, struct attr_task *next)
{
	next->pid = task->pid;
	next->tgid = task->tgid;
	next->start_time = task->start_time;
	next->cgroup = cgroup_of(task);
	__builtin_memcpy(next->comm, task->comm, sizeof(next->comm));
}

/*
 * Switch with the package's lock.  @reads: @s has counts of a read @since ns after the
 * last read.
 */
static __always_inline void switch_locked(struct attr_package *p,
					  struct attr_cpu *c,
					  struct scratch *s, bool reads,
					  __u64 since)
{
	__u32 package = c->package, epoch = *(volatile __u32 *)&p->epoch;
	struct attr_share *share = NULL;
	struct turn *t = &s->turn;
	__u64 weight;

	/* find a share that is certainly needed before taking the lock */
	if (c->watched && c->pid &&
	    (reads || c->since < *(volatile __u64 *)&p->opened))
		share = make_share(p, &t->key, epoch);
	if (!lock_package(package)) {
		__sync_fetch_and_add(&p->missed, 1);
		return;
	}
	/* a flip may have exchanged the maps since */
	if (p->epoch != epoch)
		share = NULL;
	t->now = in_window(p, c, t->now);
	if (reads && lock_window(p, package, t->now)) {
		collect(p, window_of(package, p->window), s);
		add_grown(p, c);
		end_window(p, package);
		pay_read(p, since, resolution_ns);
		t->now = in_window(p, c, t->now);
	} else if (reads) {
		__sync_fetch_and_add(&p->missed, 1);
	}
	weight = update(p, c, t);
	enter_and_switch(p, c, t->cpu, &t->key, share, &t->coming, weight,
			 t->now);
	charge_some(p, package);
	unlock_package(package);
}

/*
 * Account for @prev, which has run on this CPU until now, and start the time of @next.
 * If a lock is busy, change nothing: struct attr_cpu keeps the previous task, and the
 * next switch or poll accounts for the time.
 */
static int look(struct task_struct *prev, struct task_struct *next, bool asked)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct attr_rate *task_rate;
	struct attr_package *p;
	struct scratch *s;
	struct attr_cpu *c;
	struct turn *t;
	__u64 since, key;
	bool reads;

	s = bpf_map_lookup_elem(&scratches, &zero);
	if (!s || cpu >= ATTR_MAX_CPUS || cpu >= n_cpus)
		return 0;
	c = &cpus[cpu];
	if (!c->watched && prev != next)
		return 0;
	p = &packages[c->package % ATTR_MAX_PACKAGES];
	t = &s->turn;
	t->cpu = cpu;
	c->looks++;
	t->now = bpf_ktime_get_ns();
	reads = claim_read(p, c, t->now, c->pid && !next->pid, asked, &since);
	if (reads) {
		read_events(s, cpu);
		t->now = bpf_ktime_get_ns();
	}
	if (weighted) {
		t->grown.measured = t->grown.ns = 0;
		measure(c, t->now, &t->grown);
		key = rate_key(next->pid, next->start_time);
		task_rate = bpf_map_lookup_elem(&rates, &key);
		t->rate.ns = 0;
		if (task_rate)
			t->rate = *task_rate;
	}
	describe(next, &t->coming);
	identify(c, &t->key);
	t->seen = prev->pid == c->pid;
	if (t->seen) {
		t->key.cgroup = cgroup_of(prev);
		__builtin_memcpy(t->comm, prev->comm, sizeof(t->comm));
	}
	if (reads || !switch_alone(p, c, t))
		switch_locked(p, c, s, reads, since);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return look(prev, next, false);
}

/*
 * Poll a CPU: read the counters, and account for the task that runs on the CPU.  User
 * space runs the program on each CPU.
 */
SEC("raw_tp/look")
int look_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return look(task, task, true);
}

/* End the time of the task that ran on @cpu when @cpu went offline. */
static __noinline void vacate(__u32 cpu)
{
	struct attr_cpu *c = &cpus[cpu % ATTR_MAX_CPUS];
	struct attr_task no_task = { 0 };
	struct attr_key key = { 0 };
	struct attr_package *p;
	__u32 package;

	c->departures++;
	if (!c->watched || !c->pid)
		return;
	package = c->package;
	p = &packages[package % ATTR_MAX_PACKAGES];
	if (!lock_package(package)) {
		__sync_fetch_and_add(&p->missed, 1);
		return;
	}
	identify(c, &key);
	enter_and_switch(p, c, cpu, &key, NULL, &no_task, 0,
			 in_window(p, c, bpf_ktime_get_ns()));
	unlock_package(package);
}

/*
 * The last switch of a CPU, from the task that stops the CPU, is not traced: the CPU is
 * offline already.  The CPU that controls the hotplug runs this program when the other
 * CPU is off.
 */
SEC("tp_btf/cpuhp_exit")
int BPF_PROG(on_hotplug, unsigned int cpu, int state, int step, int err)
{
	const int off = bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU);

	if (step == off && !err && cpu < ATTR_MAX_CPUS && cpu < n_cpus)
		vacate(cpu);
	return 0;
}

/* --- for user space ------------------------------------------------------ */

/*
 * Charge a CPU's task for all ended windows: their counts belong to this account, not
 * to the next account.  The task may be running; the CPU's next switch waits for the
 * lock.
 */
static long settle_cpu(__u32 cpu, __u32 *package)
{
	struct attr_package *p = &packages[*package % ATTR_MAX_PACKAGES];
	struct attr_cpu *c = &cpus[cpu % ATTR_MAX_CPUS];
	struct attr_key key = { 0 };

	if (c->package != *package || !c->watched || !c->pid ||
	    c->entered == p->window || c->since >= p->opened)
		return 0;
	identify(c, &key);
	settle(p, c, share_of(p, &key));
	return 0;
}

REPEATED(settle_cpu)

/*
 * Use the other map of shares for a package from now on.  The map in use so far has all
 * counts of the package until the last read.
 * args[0]: the package.
 */
SEC("raw_tp/flip")
int flip(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 package = ctx->args[0];
	struct attr_package *p = &packages[package % ATTR_MAX_PACKAGES];

	if (!lock_package(package)) {
		__sync_fetch_and_add(&p->missed, 1);
		return 1;
	}
	charge_all(p, package);
	repeat(n_cpus, ATTR_MAX_CPUS, settle_cpu, package);
	p->flipped = p->now;
	p->epoch++;
	unlock_package(package);
	return 0;
}

/* Check that this CPU can read an event. args[0]: entry of events. */
SEC("raw_tp/try_read")
int try_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_perf_event_value value;
	__u32 key = ctx->args[0];

	return bpf_perf_event_read_value(&events, key, &value, sizeof(value));
}

/*
 * Get the count of a counter at which an event began.  A package's event and its copies
 * begin at different counts of the counter.  The driver keeps the counter's count at the
 * last update of an event in hw.prev_count; the event's own count is subtracted.
 * args[0]: user space's descriptor of the event, which counts and is not being read.
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

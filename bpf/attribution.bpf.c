// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attribution of traffic to tasks: programs that watch context switches, read the
 * packages' counters now and then, and divide the counts among the tasks that ran
 * since.  account.h has the arithmetic; this file has tasks, counters, locks and
 * maps.
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
/* whose hierarchy of version 1 has the tasks' cgroups: its place and 1; or 0 */
const volatile __u32 v1_controller;
/* Which column an event belongs to. */
const volatile __u32 column_of[ATTR_MAX_EVENTS];
/* The least time between two reads of a package, 0: at each switch. */
const volatile __u64 resolution_ns;
/* Further time of a window is not weighed, so that ATTR_MAX_RAN holds. */
const volatile __u64 longest_ns;
/* There is an event on every CPU that weighs its task. */
const volatile bool weighted;
/* The kernel has bpf_loop(): since 5.17. */
const volatile bool has_loop;

struct attr_package packages[ATTR_MAX_PACKAGES];
struct attr_cpu cpus[ATTR_MAX_CPUS];
/* Of each package the window that is open and the one before. */
struct attr_window windows[ATTR_MAX_PACKAGES][2];
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

/* Entry 2 * c and the one after it: CPU c's slices of the open window and the last. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct attr_slices);
	__uint(max_entries, 1);
} slices SEC(".maps");

/* The weight event's rate of tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);	/* start time and thread number, hashed */
	__type(value, struct attr_rate);
	__uint(max_entries, 1);
} rates SEC(".maps");

static const struct attr_share no_share;

/*
 * Call @step(i, &@package) for each i below @n, which is at most @most, until it returns
 * other than 0.  Without bpf_loop() the verifier goes through each round of a loop.  It
 * checks a global function once, so that loops in two levels are checked in time.
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
/* What repeat() calls; @step has been declared. */
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

/* With a read at each switch, a switch has its package's lock. */
#define cpu_locks	(resolution_ns != 0)

#include "account.h"
#include "lock.h"

/* Too large for the stack. */
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

/* An event that cannot be read here says 0: nothing new. */
static __noinline void read_events(struct scratch *s, __u32 cpu)
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

/*
 * Another CPU may have read later and taken the lock earlier: counts only grow.  Bases
 * wrap: a difference with the highest bit set is negative, and is dropped.
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
	__u32 at = 2 * cpu + (window & 1);

	return bpf_map_lookup_elem(&slices, &at);
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

/* What the weight event counted of the task that has run until now. */
static void measure(struct attr_cpu *c, __u64 now, struct attr_rate *grown)
{
	struct bpf_perf_event_value value;
	struct attr_rate *known, first = { 0 };
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
	known = bpf_map_lookup_elem(&rates, &key);
	if (!known) {
		rate_add(&first, grown, TASK_MEMORY_NS);
		bpf_map_update_elem(&rates, &key, &first, BPF_ANY);
		return;
	}
	rate_add(known, grown, TASK_MEMORY_NS);
}

/* --- looking ------------------------------------------------------------- */

/* Has this look to read the counters?  Of several that could, one does. */
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

/* The task that @c has. */
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
 * With the package's lock.  @reads: @s has counts, which were read @since ns after
 * those before.
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

	/* found before the lock is taken, where it is known to be needed */
	if (c->watched && c->pid &&
	    (reads || c->since < *(volatile __u64 *)&p->opened))
		share = make_share(p, &t->key, epoch);
	if (!lock_package(package)) {
		__sync_fetch_and_add(&p->missed, 1);
		return;
	}
	/* the maps may have changed places since */
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
 * @prev has run on this CPU until now, and @next runs from here on.  When a
 * lock is not to be had it is as if nothing had happened: the CPU still is with
 * the task it was with, and the next look makes up for it.
 */
static int look(struct task_struct *prev, struct task_struct *next, bool asked)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct attr_rate *known;
	struct attr_package *p;
	struct scratch *s;
	struct attr_cpu *c;
	struct turn *t;
	__u64 since, rate;
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
		rate = rate_key(next->pid, next->start_time);
		known = bpf_map_lookup_elem(&rates, &rate);
		t->rate.ns = 0;
		if (known)
			t->rate = *known;
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
 * Run by the user on each CPU: read the counters, and account for the task that
 * runs there.
 */
SEC("raw_tp/look")
int look_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return look(task, task, true);
}

/* The task that @cpu had when it went has run until now. */
static __noinline void vacate(__u32 cpu)
{
	struct attr_cpu *c = &cpus[cpu % ATTR_MAX_CPUS];
	struct attr_task none = { 0 };
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
	enter_and_switch(p, c, cpu, &key, NULL, &none, 0,
			 in_window(p, c, bpf_ktime_get_ns()));
	unlock_package(package);
}

/*
 * A CPU's last switch, from the task that stopped it, is made when it is offline
 * already, where nothing is traced.  This is run by the CPU that has it stopped, when
 * it is off.
 */
SEC("tp_btf/cpuhp_exit")
int BPF_PROG(on_hotplug, unsigned int cpu, int state, int step, int err)
{
	const int off = bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU);

	if (step == off && !err && cpu < ATTR_MAX_CPUS && cpu < n_cpus)
		vacate(cpu);
	return 0;
}

/* --- for the user -------------------------------------------------------- */

/*
 * What was divided since a CPU was last looked at belongs to this account, not
 * to the next: its task gets it now.  It may be running; its next
 * switch waits for the lock.
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
 * args[0]: a package, whose other map of shares is used from here on.  What its
 * counters were seen to count until now is in the one before, all of it.
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

/* args[0]: entry of events. Can this CPU read it? */
SEC("raw_tp/try_read")
int try_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_perf_event_value value;
	__u32 at = ctx->args[0];

	return bpf_perf_event_read_value(&events, at, &value, sizeof(value));
}

/*
 * args[0]: a descriptor of the user's, of an event that counts and is not
 * being read.  A package's event and its copies began at different counts of
 * their counter.  The driver keeps in hw.prev_count at which count an event was
 * last brought up to date: that less its own count is where it began.
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

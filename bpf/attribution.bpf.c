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
/*
 * 1 + index in css_set.subsys[] of the controller whose hierarchy has the cgroups
 * (version 1), or 0 for cgroups of version 2.
 */
const volatile __u32 v1_controller;
/* Column to which the counts of an event are added. */
const volatile __u32 column_of[ATTR_MAX_EVENTS];
/* Shortest time between two reads of a package's counters; 0: read at each switch. */
const volatile __u64 resolution_ns;
/* Limit of the time of a window that weights multiply, so that ATTR_MAX_RAN holds. */
const volatile __u64 longest_ns;
/* Every CPU has an event that weighs the CPU's task. */
const volatile bool weighted;
/* The sets of tasks that have a share each: enum attr_by. */
const volatile __u32 by;
/* The kernel has bpf_loop(): since 5.17. */
const volatile bool has_loop;

struct attr_package packages[ATTR_MAX_PACKAGES];
struct attr_cpu cpus[ATTR_MAX_CPUS];
/* The open window and the last window of each package. */
struct attr_window windows[ATTR_MAX_PACKAGES][2];
/* Result of the program event_base. */
__u64 base_found;
/* Address of the task that starts the user's command, and the task's cgroup: see adopt(). */
__u64 launcher, launcher_cgroup;
/* Number of tasks without room in the map trees. */
__u64 unfollowed;

/*
 * Entry e * n_cpus + c is event e on CPU c.  User space sets max_entries before it loads
 * the programs.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} events SEC(".maps");

/*
 * Offset that is added to the count of each entry of events, so that all CPUs of a
 * package get the same count of a counter.
 */
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

/* The programs fill one of these maps while user space empties the other map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct attr_key);
	__type(value, struct attr_share);
	__uint(max_entries, 1);
} shares_even SEC(".maps"), shares_odd SEC(".maps");

/* Entries 2 * c and 2 * c + 1 are the slices of CPU c in even and in odd windows. */
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

/*
 * Roots of the trees of tasks that were started since the programs were attached.  A key
 * is the address of a task: it belongs to one task from the fork until the task is freed,
 * unlike a thread number, which may be in use again earlier.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct attr_owner);
	__uint(max_entries, 1);
} trees SEC(".maps");

static const struct attr_share no_share;

/*
 * Call @step(i, &@package) for each i below @n until @step returns not 0.  @most is the
 * largest possible @n.  On kernels without bpf_loop() the verifier follows each round of
 * a loop, but checks a global function only once.  Therefore the loop has two levels,
 * with the inner loop in a global function, @step_some().
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
/* Define the functions that repeat() calls for @step. */
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

/* If each switch reads the counters, each switch takes the package's lock. */
#define cpu_locks	(resolution_ns != 0)

#include "account.h"
#include "lock.h"

/* Data of the running program that are too large for its stack. */
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

/*
 * Read the counts of all events into @s->seen.  An event that this CPU cannot read has
 * the count 0, for which collect() adds nothing.
 */
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
 * Add the counts since the last read to the window.  Another CPU may have read the
 * counters later than this CPU but taken the lock earlier: then @s has older counts
 * than @p, which are dropped.  Because the offsets in bases wrap, a difference with the
 * highest bit set is negative.
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

	/* plain loads through BTF pointers, which cost less than calls of a helper */
	if (!v1_controller)
		return task->cgroups->dfl_cgrp->kn->id;
	bpf_core_read(&css, sizeof(css),
		      &task->cgroups->subsys[0] + (v1_controller - 1));
	return BPF_CORE_READ(css, cgroup, kn, id);
}

/* The cgroup that tells apart the shares of an owner. */
static __u64 share_cgroup(struct task_struct *task)
{
	return by == ATTR_BY_COMMAND ? 0 : cgroup_of(task);
}

/*
 * Get the root of a task's tree, or NULL.  Threads that the kernel starts for a process,
 * such as those of io_uring, are not traced by sched_process_fork: the tree of such a
 * thread is its process's.
 */
static struct attr_owner *find_root(struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct attr_owner *root = bpf_map_lookup_elem(&trees, &key);

	if (root || task->pid == task->tgid)
		return root;
	key = (__u64)task->group_leader;
	return bpf_map_lookup_elem(&trees, &key);
}

/* Get the process of a task as the root of a tree. */
static void become_root(struct task_struct *task, struct attr_owner *root)
{
	root->start_time = task->group_leader->start_time;
	root->pid = task->tgid;
}

/* Get the owner of a task's counts. */
static void own(struct task_struct *task, struct attr_owner *owner)
{
	struct attr_owner *root;

	owner->start_time = owner->pid = 0;
	if (by == ATTR_BY_CGROUP || !task->pid)
		return;
	if (by == ATTR_BY_TASK) {
		owner->start_time = task->start_time;
		owner->pid = task->pid;
		return;
	}
	root = find_root(task);
	if (root)
		*owner = *root;
	else if (by == ATTR_BY_TREE)
		become_root(task, owner);
}

/* Get the name of the owner of a task's counts: empty if the task is not the owner. */
static void name(struct task_struct *task, const struct attr_owner *owner,
		 char *comm)
{
	if (task->pid == owner->pid)
		__builtin_memcpy(comm, task->comm, ATTR_COMM_LEN);
	else
		__builtin_memset(comm, 0, ATTR_COMM_LEN);
}

/*
 * Put a new task into the tree of the task that started it.  The parent that the kernel
 * has for the task may be another (CLONE_PARENT), and may change later.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *starter, struct task_struct *task)
{
	struct attr_owner root = { 0 };
	__u64 key = (__u64)task;

	if ((__u64)starter == launcher)
		become_root(task, &root);
	else
		own(starter, &root);
	/* on_free fails if it interrupts a change of the map: the address may be in use */
	if (!root.pid)
		bpf_map_delete_elem(&trees, &key);
	else if (bpf_map_update_elem(&trees, &key, &root, BPF_ANY))
		__sync_fetch_and_add(&unfollowed, 1);
	return 0;
}

/* A task is freed after its last context switch. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(&trees, &key);
	return 0;
}

/* The task that runs this program starts the user's command. */
SEC("raw_tp/adopt")
int adopt(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	launcher = (__u64)task;
	launcher_cgroup = cgroup_of(task);
	return 0;
}

/* --- weights ------------------------------------------------------------- */

static __u64 rate_key(__u32 pid, __u64 start_time)
{
	return start_time ^ ((__u64)pid << 40);
}

/*
 * Read the weight event on this CPU.  @grown gets its counts since the last read, which
 * belong to the task on @c, and the task's rate is updated.
 */
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

/*
 * Decide whether this switch or poll reads the counters.  A poll always does.  Of several
 * CPUs that switch at the same time, only one reads.
 * @since: gets the time in ns since the last read.
 */
static bool claim_read(struct attr_package *p, const struct attr_cpu *c,
		       __u64 now, bool goes_idle, bool is_poll, __u64 *since)
{
	__u64 read_at = *(volatile __u64 *)&p->read_at;

	*since = now > read_at ? now - read_at : 0;
	if (is_poll || !resolution_ns) {
		*(volatile __u64 *)&p->read_at = now;
		return true;
	}
	return is_due(p, c, *since, goes_idle, resolution_ns) &&
	       __sync_val_compare_and_swap(&p->read_at, read_at, now) ==
		       read_at;
}

/* Get the key of the share of the task on @c. */
static void identify(const struct attr_cpu *c, struct attr_key *key)
{
	key->pid = c->owner.pid;
	key->start_time = c->owner.start_time;
	key->package = c->package;
	key->cgroup = c->cgroup;
}

/* Copy the properties of a task that gets the CPU. */
static void describe(struct task_struct *task, struct attr_task *next)
{
	next->pid = task->pid;
	next->start_time = task->start_time;
	next->cgroup = share_cgroup(task);
	own(task, &next->owner);
	next->tgid = by == ATTR_BY_TASK ? task->tgid : next->owner.pid;
	name(task, &next->owner, next->comm);
}

/*
 * Take the package's lock, end the window if the counters were read, and switch.
 * @reads: @s->seen has new counts, read @since ns after the last read.
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

	/* a share that is certainly needed: find it before taking the lock */
	if (c->watched && c->pid &&
	    (reads || c->since < *(volatile __u64 *)&p->opened))
		share = make_share(p, &t->key, epoch);
	if (!lock_package(package)) {
		__sync_fetch_and_add(&p->missed, 1);
		return;
	}
	/* flip() may have changed to the other map since */
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
 * Account for the time of @prev, which has run on this CPU until now, and begin the time
 * slice of @next.  In a poll, both are the running task.  If a lock is busy, nothing
 * changes: struct attr_cpu keeps the previous task, and the next switch or poll accounts
 * for the time.
 */
static int account_switch(struct task_struct *prev, struct task_struct *next,
			  bool is_poll)
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
	reads = claim_read(p, c, t->now, c->pid && !next->pid, is_poll, &since);
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
		t->key.cgroup = share_cgroup(prev);
		name(prev, &c->owner, t->comm);
	}
	if (reads || !switch_alone(p, c, t))
		switch_locked(p, c, s, reads, since);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	return account_switch(prev, next, false);
}

/*
 * Poll this CPU: read the counters, and account for the task that runs on the CPU.  User
 * space starts the program on each CPU (BPF_F_TEST_RUN_ON_CPU).
 */
SEC("raw_tp/look")
int look_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return account_switch(task, task, true);
}

/* End the time slice of the task that ran on @cpu when @cpu went offline. */
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
 * The last switch of a CPU that goes offline, away from the task that stops the CPU, is
 * not traced because the CPU is offline already.  The CPU that controls the hotplug runs
 * this program when @cpu is off.
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
 * Charge the task on @cpu for all windows that have ended, because their counts belong
 * to the account that flip() closes.  The task may be running on its CPU meanwhile: the
 * CPU's next switch needs the package's lock, which the caller has.
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
 * Use the other map of shares for a package from now on.  The map that was used until now
 * has all counts of the package until the last read.
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
	/* in two parts: the compiler copies up to 1024 bytes without a call */
	__builtin_memcpy(p->flipped.seen, p->now.seen, sizeof(p->now.seen));
	__builtin_memcpy(p->flipped.remainder, p->now.remainder,
			 sizeof(p->now) - sizeof(p->now.seen));
	p->epoch++;
	unlock_package(package);
	return 0;
}

/* Check that this CPU can read an event.  args[0]: entry in the map events. */
SEC("raw_tp/try_read")
int try_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_perf_event_value value;
	__u32 key = ctx->args[0];

	return bpf_perf_event_read_value(&events, key, &value, sizeof(value));
}

/*
 * Get the value that a counter had when an event began to count: the copies of an event
 * on the CPUs of a package begin at different values of the same counter.  The driver
 * keeps the counter's value at the last update of the event in hw.prev_count; subtract
 * the event's own count at this update.
 * args[0]: user space's descriptor of the event, which must be counting and must not be
 * read at the same time.
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

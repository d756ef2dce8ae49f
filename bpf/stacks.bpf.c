// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the traffic comes from: counts the stacks at which sampling events
 * overflow, in the kernel, so that no sample has to be copied out.
 */
#include "kernel_types.h"
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "stacks.h"

/* Samples that found no room in @counts; and stacks that found none. */
__u64 lost;
__u64 lost_stacks;

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, STACKS_DEPTH * sizeof(__u64));
	__uint(max_entries, 16384);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct stack_key);
	__type(value, struct stack_count);
	__uint(max_entries, 16384);
} counts SEC(".maps");

static __s32 stack(struct bpf_perf_event_data *ctx, __u64 flags)
{
	long id = bpf_get_stackid(ctx, &stacks, flags);

	/* -EFAULT: there is none, a kernel thread has no user stack */
	if (id == -17 || id == -12)
		__sync_fetch_and_add(&lost_stacks, 1);
	return id;
}

SEC("perf_event")
int on_overflow(struct bpf_perf_event_data *ctx)
{
	struct stack_count first = { 0 }, *count;
	struct stack_key key = { 0 };

	key.tgid = bpf_get_current_pid_tgid() >> 32;
	key.event = bpf_get_attach_cookie(ctx);
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	key.user = stack(ctx, BPF_F_USER_STACK);
	key.kernel = stack(ctx, 0);
	count = bpf_map_lookup_elem(&counts, &key);
	if (!count) {
		/* somebody else may have made it just now */
		bpf_map_update_elem(&counts, &key, &first, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&counts, &key);
	}
	if (!count) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&count->samples, 1);
	__sync_fetch_and_add(&count->events, ctx->sample_period);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

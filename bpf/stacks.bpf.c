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

/*
 * Each stack once, by a hash of 64 bits of its frames.  A map of type
 * STACK_TRACE has one place for all stacks whose hashes end in the same bits, and
 * drops the others.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, struct stack_frames);
	__uint(max_entries, 16384);
} stacks SEC(".maps");

/* Too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct stack_frames);
	__uint(max_entries, 1);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct stack_key);
	__type(value, struct stack_count);
	__uint(max_entries, 16384);
} counts SEC(".maps");

static __u64 hash_of(const struct stack_frames *frames, __u32 depth)
{
	__u64 hash = depth + 1;
	__u32 i;

	for (i = 0; i < STACKS_DEPTH && i < depth; i++) {
		hash = (hash ^ frames->address[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash ? hash : 1;
}

/* The key of the stack, which is in the map; 0: there is none. */
static __u64 stack(struct bpf_perf_event_data *ctx, __u64 flags)
{
	struct stack_frames *frames;
	__u32 zero = 0, depth;
	__u64 key;
	long size;

	frames = bpf_map_lookup_elem(&scratches, &zero);
	if (!frames)
		return 0;
	/* what it does not fill it clears */
	size = bpf_get_stack(ctx, frames, sizeof(*frames), flags);
	/* a kernel thread has no user stack */
	if (size <= 0)
		return 0;
	depth = size / sizeof(__u64);
	key = hash_of(frames, depth);
	if (bpf_map_lookup_elem(&stacks, &key))
		return key;
	if (!bpf_map_update_elem(&stacks, &key, frames, BPF_NOEXIST) ||
	    bpf_map_lookup_elem(&stacks, &key))
		return key;
	__sync_fetch_and_add(&lost_stacks, 1);
	return 0;
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

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stacks.bpf.c and its user share.
 */
#ifndef XEON_UNCORE_BPF_STACKS_H
#define XEON_UNCORE_BPF_STACKS_H

#ifdef __cplusplus
#include <linux/types.h>
#endif

#define STACKS_DEPTH	127	/* the kernel's own limit */
#define STACKS_COMM_LEN	16

/**
 * struct stack_frames - a stack
 * @address: innermost first; 0 behind the last one
 */
struct stack_frames {
	__u64 address[STACKS_DEPTH];
};

/**
 * struct stack_key - what samples are summed by
 * @user: key of the user stack, or 0: there is none
 * @kernel: key of the kernel stack, likewise
 * @tgid: the process
 * @event: which event, as its user numbers them
 * @comm: the task's name
 */
struct stack_key {
	__u64 user;
	__u64 kernel;
	__u32 tgid;
	__u32 event;
	char comm[STACKS_COMM_LEN];
};

/**
 * struct stack_count - how often
 * @samples: samples
 * @events: events that they stand for: the sum of their periods
 */
struct stack_count {
	__u64 samples;
	__u64 events;
};

#endif

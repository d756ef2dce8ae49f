/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel structures that the BPF programs read, with only the members that they
 * read.  libbpf finds the members' offsets when a program is loaded (CO-RE): a build
 * needs no kernel headers, and the same build runs on many kernels.
 */
#ifndef XEON_UNCORE_BPF_KERNEL_TYPES_H
#define XEON_UNCORE_BPF_KERNEL_TYPES_H

#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct file {
	void *private_data;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	__u32 pid;
	__u32 tgid;
	__u64 start_time;
	struct task_struct *group_leader;
	char comm[16];
	struct css_set *cgroups;
	struct files_struct *files;
};

/* local64_t, whose own member has another type */
struct local64 {
	__u64 value;
};

struct hw_perf_event {
	struct local64 prev_count;
};

struct perf_event {
	struct local64 count;
	struct hw_perf_event hw;
};

#pragma clang attribute pop

/*
 * The hotplug step at which a CPU is off.  The number differs between kernels: CO-RE
 * replaces it by the running kernel's.
 */
enum cpuhp_state {
	CPUHP_TEARDOWN_CPU = 1,
};

#endif

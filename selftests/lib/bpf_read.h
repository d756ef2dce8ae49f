/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a perf event as a BPF program does, on the CPU where it runs: no
 * interrupt to another CPU, so the kernel refuses an event that lives there.
 */
#ifndef SELFTESTS_BPF_READ_H
#define SELFTESTS_BPF_READ_H

#include <stdint.h>

/*
 * bpf_perf_event_read_value() of the event @fd, run on @cpu: its lower 31 bits
 * in @value. Returns 0, the helper's -errno, or -ENOSYS when the kernel cannot
 * run such programs.
 */
int bpf_event_read(int fd, int cpu, uint32_t *value);

/**
 * struct bpf_reader - a program that reads an event each time that a kernel's
 * tracepoint is passed, wherever that is
 */
struct bpf_reader {
	int map, program, link;
};

/*
 * @fd has an event for each CPU from 0 to @cpus - 1; negative ones are left out.
 * Returns 0 or -errno: -ENOENT for a tracepoint that the kernel lacks.
 */
int bpf_reader_attach(struct bpf_reader *r, const char *tracepoint,
		      const int *fd, unsigned int cpus);
/* Takes it away; returns how often it has run. */
uint64_t bpf_reader_detach(struct bpf_reader *r);

#endif

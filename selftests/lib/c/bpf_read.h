/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs of the tests: some read a perf event, on the CPU where they run; no
 * interrupt to another CPU, so the kernel refuses an event that lives there. One
 * just takes its time.
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

/**
 * struct bpf_delay - a program that keeps a CPU at a tracepoint for a while
 * @start, @end: where its code is
 */
struct bpf_delay {
	int program, link;
	uint64_t start, end;
};

/*
 * Each time that @cpu passes @tracepoint, for so many rounds of a loop: 200,000 are
 * some hundred microseconds. The kernel wants to see its end, and takes no program
 * with more than half a million. Returns 0 or -errno.
 */
int bpf_delay_attach(struct bpf_delay *d, const char *tracepoint, int cpu,
		     unsigned int rounds);
/* Takes it away; returns how often it has run. */
uint64_t bpf_delay_detach(struct bpf_delay *d);

#endif

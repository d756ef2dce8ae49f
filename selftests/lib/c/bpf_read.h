/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs of the tests. Some read a perf event, on the CPU where they run; without
 * an IPI, so the kernel refuses an event of another CPU. Others take time, or a lock.
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
 * struct bpf_reader - a program that reads an event each time the kernel passes a
 * tracepoint, on any CPU
 */
struct bpf_reader {
	int map, program, link;
};

/*
 * @fd has an event for each CPU from 0 to @cpus - 1; negative ones are skipped. Return
 * 0 or -errno: -ENOENT for a tracepoint that the kernel does not have.
 */
int bpf_reader_attach(struct bpf_reader *r, const char *tracepoint,
		      const int *fd, unsigned int cpus);
/* Detach it; return the number of its runs. */
uint64_t bpf_reader_detach(struct bpf_reader *r);

/**
 * struct bpf_bucket - a hash map whose one bucket is locked at two tracepoints, on any
 * CPU, and a program that reads an event each time the bucket is locked
 */
struct bpf_bucket {
	int hash, update, link[2], reader_map, reader, reader_link;
};

/*
 * @function: the function of the kernel that hash maps call with the bucket locked, its
 * number in the kernel's BTF. @fd has an event for each CPU, as bpf_reader_attach() takes
 * it. Return 0 or -errno.
 */
int bpf_bucket_attach(struct bpf_bucket *b, uint32_t function,
		      const char *const tracepoint[2], const int *fd, unsigned int cpus);
/* Detach all. Return the number of times that the event was read. */
uint64_t bpf_bucket_detach(struct bpf_bucket *b);

/**
 * struct bpf_delay - a program that keeps a CPU at a tracepoint for a while
 * @start, @end: address range of its code
 */
struct bpf_delay {
	int program, link;
	uint64_t start, end;
};

/*
 * Run N rounds of a loop each time @cpu passes @tracepoint: 200,000 rounds take some
 * hundred microseconds. The kernel verifies that the loop ends, and refuses more than
 * half a million rounds. Return 0 or -errno.
 */
int bpf_delay_attach(struct bpf_delay *d, const char *tracepoint, int cpu,
		     unsigned int rounds);
/* Detach it; return the number of its runs. */
uint64_t bpf_delay_detach(struct bpf_delay *d);

#endif

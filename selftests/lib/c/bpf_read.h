/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs of the tests. A reader reads a perf event on the CPU where it runs; it
 * cannot send an IPI, so the kernel refuses an event of another CPU. A delay program
 * takes time, and a bucket program takes a lock.
 */
#ifndef SELFTESTS_BPF_READ_H
#define SELFTESTS_BPF_READ_H

#include <stdint.h>

/*
 * Read the event @fd by bpf_perf_event_read_value() on @cpu, and write the lower 31 bits
 * of its count to @value. Return 0, the helper's -errno, or -ENOSYS if the kernel cannot
 * run such a program.
 */
int bpf_event_read(int fd, int cpu, uint32_t *value);

/**
 * struct bpf_reader - a program that reads the event of its CPU each time the kernel
 * passes a tracepoint, on any CPU
 * @map: map from CPUs to events
 * @program, @link: the program, and its attachment to the tracepoint
 */
struct bpf_reader {
	int map, program, link;
};

/*
 * Attach a reader to @tracepoint. @fd has the descriptor of an event for each CPU from 0
 * to @cpus - 1; CPUs with a negative descriptor are skipped. Return 0 or -errno: -ENOENT
 * for a tracepoint that the kernel does not have.
 */
int bpf_reader_attach(struct bpf_reader *r, const char *tracepoint,
		      const int *fd, unsigned int cpus);
/* Detach the reader; return the number of its runs. */
uint64_t bpf_reader_detach(struct bpf_reader *r);

/**
 * struct bpf_bucket - a program that locks a bucket of a hash map at two tracepoints, on
 * any CPU, and a reader that runs each time the bucket is locked
 * @hash: the hash map
 * @update, @link: the program that locks the bucket, and its attachments
 * @reader_map, @reader, @reader_link: the reader, as in struct bpf_reader
 */
struct bpf_bucket {
	int hash, update, link[2], reader_map, reader, reader_link;
};

/*
 * Attach both programs. @function is the number, in the kernel's BTF, of the kernel
 * function that a hash map calls while the bucket is locked. @fd has an event for each
 * CPU, as for bpf_reader_attach(). Return 0 or -errno.
 */
int bpf_bucket_attach(struct bpf_bucket *b, uint32_t function,
		      const char *const tracepoint[2], const int *fd, unsigned int cpus);
/* Detach both programs. Return the number of the reader's runs. */
uint64_t bpf_bucket_detach(struct bpf_bucket *b);

/**
 * struct bpf_delay - a program that keeps a CPU at a tracepoint for a while
 * @program, @link: the program, and its attachment to the tracepoint
 * @start, @end: address range of the program's compiled code
 */
struct bpf_delay {
	int program, link;
	uint64_t start, end;
};

/*
 * Attach a program that runs @rounds rounds of a loop each time @cpu passes @tracepoint:
 * 200,000 rounds take some hundred microseconds. The kernel verifies that the loop ends,
 * and refuses more than half a million rounds. Return 0 or -errno.
 */
int bpf_delay_attach(struct bpf_delay *d, const char *tracepoint, int cpu,
		     unsigned int rounds);
/* Detach the program; return the number of its runs. */
uint64_t bpf_delay_detach(struct bpf_delay *d);

#endif

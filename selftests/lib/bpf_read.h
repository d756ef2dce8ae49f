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

#endif

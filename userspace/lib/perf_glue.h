/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of libperf for C++: libperf's own headers are for C only.  perf_glue.c
 * calls libperf.  A return value below 0 is a negative error number.
 *
 * Events have numbers in the order of opening.  The number of a group is that of
 * its first event, the leader.
 */
#ifndef UNCORE_PERF_GLUE_H
#define UNCORE_PERF_GLUE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of open events, each on one or more CPUs, and their ring buffers. */
struct unc_perf;

struct unc_perf *unc_perf_new(void);
/* Close all events, and free the set. */
void unc_perf_delete(struct unc_perf *perf);

/*
 * Open an event on each of these CPUs.
 * @leader: number of the leader of the event's group; -1 if the event is a leader.
 * @members: for a leader, the number of events that the group will have.
 *
 * Returns the event's number.
 */
int unc_perf_open(struct unc_perf *perf, const struct perf_event_attr *attr,
		  const int *cpus, size_t n_cpus, int leader, int members);
/* Return the descriptor of an event on a CPU, by the CPU's index in @cpus. */
int unc_perf_fd(struct unc_perf *perf, int event, int cpu_index);
/* Return the number of events, and the number of CPUs of an event. */
int unc_perf_n_events(const struct unc_perf *perf);
int unc_perf_n_cpus(const struct unc_perf *perf, int event);
/*
 * Close an event on one CPU.  Several threads may call this at the same time, for
 * different events or CPUs.
 */
void unc_perf_close(struct unc_perf *perf, int event, int cpu_index);
/* Start and stop a group on all of its CPUs; @event is the leader. */
int unc_perf_enable(struct unc_perf *perf, int event);
int unc_perf_disable(struct unc_perf *perf, int event);

/* Map a ring buffer of @pages pages (a power of 2) for each CPU. */
int unc_perf_mmap(struct unc_perf *perf, int pages);
/*
 * Return a descriptor that is readable when a ring buffer has records; -1 before
 * unc_perf_mmap().
 */
int unc_perf_poll_fd(const struct unc_perf *perf);
/* Take all records out of the ring buffers, CPU after CPU; call @record for each. */
void unc_perf_drain(struct unc_perf *perf,
		    void (*record)(const struct perf_event_header *header,
				   int cpu, void *arg),
		    void *arg);

#ifdef __cplusplus
}

namespace uncore {

/*
 * Deleter for std::unique_ptr.  If close() waits in the kernel, the events are closed
 * in several threads, so that the waits overlap.
 */
struct perf_deleter {
	void operator()(unc_perf *perf) const;
};

} // namespace uncore
#endif

#endif

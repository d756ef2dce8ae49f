/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libuncore needs of libperf, without its headers, which are not for C++.
 * Return values below 0 are negative error numbers.
 */
#ifndef UNCORE_PERF_GLUE_H
#define UNCORE_PERF_GLUE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Events, in groups, on CPUs. */
struct unc_perf;

struct unc_perf *unc_perf_new(void);
/* Closes all events. */
void unc_perf_delete(struct unc_perf *perf);

/*
 * Opens an event on each of these CPUs.  @leader is the number of its group's
 * first event, or -1 for a new group.  @members is how many events a new group
 * will have.
 *
 * Returns the event's number.
 */
int unc_perf_open(struct unc_perf *perf, const struct perf_event_attr *attr,
		  const int *cpus, size_t n_cpus, int leader, int members);
/* The descriptor of an event on the CPU of that index. */
int unc_perf_fd(struct unc_perf *perf, int event, int cpu_index);
/* How many events were opened, and on how many CPUs this one was. */
int unc_perf_n_events(const struct unc_perf *perf);
int unc_perf_n_cpus(const struct unc_perf *perf, int event);
/* Closes an event on one CPU; several threads may do so at once, each for others. */
void unc_perf_close(struct unc_perf *perf, int event, int cpu_index);
/* Of a group's first event: starts and stops the group on all of its CPUs. */
int unc_perf_enable(struct unc_perf *perf, int event);
int unc_perf_disable(struct unc_perf *perf, int event);

/* Maps a ring buffer of that many pages (a power of 2) for each CPU. */
int unc_perf_mmap(struct unc_perf *perf, int pages);
/* Polls readable when a buffer has records; -1 before unc_perf_mmap(). */
int unc_perf_poll_fd(const struct unc_perf *perf);
/* Calls @record for each record there is, buffer after buffer. */
void unc_perf_drain(struct unc_perf *perf,
		    void (*record)(const struct perf_event_header *header,
				   int cpu, void *arg),
		    void *arg);

#ifdef __cplusplus
}

namespace uncore {

/* For std::unique_ptr.  Where closing an event waits, all are waited for at once. */
struct perf_deleter {
	void operator()(unc_perf *perf) const;
};

} // namespace uncore
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Independent events, not a group, that need counters of the same box: the kernel's
 * rotation multiplexes events that cannot count at the same time.
 */
#ifndef SELFTESTS_MULTIPLEXING_H
#define SELFTESTS_MULTIPLEXING_H

#include <stdbool.h>

/*
 * Open @n independent events of @pmu on @cpu; fd[i] is the descriptor of events[i], or
 * -errno. Return false and print a comment if an event does not open.
 */
bool events_open(int *fd, const char *pmu, int cpu, const char *const *events,
		 unsigned int n);
void events_close(int *fd, unsigned int n);

/*
 * Check that the event @fd has counted for all the time that it was enabled; @name is the
 * event's name in comments.
 */
bool event_unmultiplexed(int fd, const char *name);

/*
 * Poll until @condition(@arg) is true, which the kernel's rotation of multiplexed events
 * brings about. Return false after 30 seconds.
 */
bool wait_for_rotation(bool (*condition)(void *arg), void *arg);
/* A condition: both events of @arg, an array of two descriptors, have had a counter. */
bool both_ran(void *arg);

/* Number of enabled general counters of @pmu's box in package @pkg, in the simulator */
unsigned int counters_enabled(const char *pmu, int pkg);

#endif

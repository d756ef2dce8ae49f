// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Independent events of the same box, and the kernel's rotation of multiplexed events.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "generation.h"
#include "multiplexing.h"
#include "perf.h"
#include "sim.h"
#include "tap.h"

#define CTL_EN		(1ULL << 22)

enum { ROTATION_TIMEOUT_S = 30 };

bool events_open(int *fd, const char *pmu, int cpu, const char *const *events,
		 unsigned int n)
{
	bool ok = true;

	for (unsigned int i = 0; i < n; i++) {
		fd[i] = event_open(pmu, cpu, "%s", events[i]);
		ok &= check(fd[i] >= 0, "%s/%s/: %s", pmu, events[i],
			    strerror(-fd[i]));
	}
	return ok;
}

void events_close(int *fd, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		close(fd[i]);
}

bool event_unmultiplexed(int fd, const char *name)
{
	struct event_reading r;

	return check(!event_read(fd, &r), "%s: read", name) &&
	       check_eq(r.running, r.enabled, "%s: time running", name);
}

bool wait_for_rotation(bool (*condition)(void *arg), void *arg)
{
	time_t end = time(NULL) + ROTATION_TIMEOUT_S;

	/*
	 * Poll at irregular moments: if the rotation interval were as long as each sleep,
	 * every poll would see the same events.
	 */
	for (unsigned int tries = 0; !condition(arg); tries++) {
		if (time(NULL) > end)
			return false;
		usleep(700 * (1 + tries % 7));
	}
	return true;
}

bool both_ran(void *arg)
{
	struct event_reading a, b;
	int *fd = arg;

	return !event_read(fd[0], &a) && !event_read(fd[1], &b) &&
	       a.running && b.running;
}

unsigned int counters_enabled(const char *pmu, int pkg)
{
	/*
	 * The boxes of Xeon 7100 and 7400 have no enable bit: control and count are in one
	 * register, and a counter is enabled if the register is not 0.
	 */
	uint64_t enabled = generation_lacks("", "event") ? UINT64_MAX : CTL_EN;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t ctl = 0;
		char name[80];

		snprintf(name, sizeof(name), "%s ctl%u", pmu_box(pmu), i);
		n += sim_register(pkg, name, &ctl) && ctl & enabled;
	}
	return n;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions of libperf for C++ (perf_glue.h).  This file uses internal headers of
 * libperf, because the public ones have neither lists with groups of different PMUs
 * nor the descriptor of a group, with which one read() gets all of its counts.
 */
#include "perf_glue.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <internal/cpumap.h>
#include <internal/evlist.h>
#include <internal/evsel.h>
#include <internal/mmap.h>
#include <internal/xyarray.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>

struct unc_perf {
	struct perf_evlist *evlist;
	struct perf_thread_map *threads;
	/* events (evsels) by number; evlist owns the events */
	struct perf_evsel **evsels;
	int n_evsels;
	/* descriptor of unc_perf_poll_fd(), -1 without ring buffers */
	int epoll;
};

static int say_nothing(enum libperf_print_level level, const char *format,
		       va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

struct unc_perf *unc_perf_new(void)
{
	struct unc_perf *perf = calloc(1, sizeof(*perf));

	if (!perf)
		return NULL;
	perf->epoll = -1;
	libperf_init(say_nothing);
	perf->evlist = perf_evlist__new();
	perf->threads = perf_thread_map__new_dummy();
	if (!perf->evlist || !perf->threads) {
		unc_perf_delete(perf);
		return NULL;
	}
	perf_evlist__set_maps(perf->evlist, NULL, perf->threads);
	return perf;
}

void unc_perf_delete(struct unc_perf *perf)
{
	if (!perf)
		return;
	for (int i = 0; i < perf->n_evsels; i++) {
		struct perf_evsel *evsel = perf->evsels[i];

		perf_evsel__close(evsel);
		perf_evsel__free_id(evsel);
		perf_cpu_map__put(evsel->cpus);
		perf_cpu_map__put(evsel->own_cpus);
		perf_thread_map__put(evsel->threads);
	}
	if (perf->epoll >= 0)
		close(perf->epoll);
	perf_evlist__delete(perf->evlist);
	perf_thread_map__put(perf->threads);
	free(perf->evsels);
	free(perf);
}

/*
 * Copy attributes into libperf's structure.  libperf was compiled with the header of
 * its own sources, the caller with the header of the system, so the two structures
 * may have different sizes.  Members that only the caller's structure has cannot be
 * copied, and must be 0.  The copied size tells the kernel where the copy ends.
 *
 * Returns false if such a member is not 0.
 */
static bool convert_attr(struct perf_event_attr *to,
			 const struct perf_event_attr *from)
{
	const char *bytes = (const char *)from;
	const size_t size = from->size < sizeof(*to) ? from->size : sizeof(*to);

	for (size_t i = size; i < from->size; i++)
		if (bytes[i])
			return false;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, size);
	to->size = size;
	return true;
}

/* Make a map of CPUs.  libperf can only parse a map from text: "0,18,36". */
static struct perf_cpu_map *new_cpu_map(const int *cpus, size_t n)
{
	struct perf_cpu_map *map;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%s%d", i ? "," : "", cpus[i]);
	fclose(file);
	map = perf_cpu_map__new(text);
	free(text);
	return map;
}

static struct perf_evsel *add_evsel(struct unc_perf *perf,
				    struct perf_event_attr *attr,
				    const int *cpus, size_t n_cpus)
{
	struct perf_evsel **evsels, *evsel;

	evsels = realloc(perf->evsels,
			 (perf->n_evsels + 1) * sizeof(struct perf_evsel *));
	if (!evsels)
		return NULL;
	perf->evsels = evsels;
	evsel = perf_evsel__new(attr);
	if (!evsel)
		return NULL;
	evsel->own_cpus = new_cpu_map(cpus, n_cpus);
	evsel->cpus = perf_cpu_map__get(evsel->own_cpus);
	evsel->requires_cpu = true;
	perf_evlist__add(perf->evlist, evsel);
	evsels[perf->n_evsels++] = evsel;
	return evsel->own_cpus ? evsel : NULL;
}

int unc_perf_fd(struct unc_perf *perf, int event, int cpu_index)
{
	return *(int *)xyarray__entry(perf->evsels[event]->fd, cpu_index, 0);
}

int unc_perf_n_events(const struct unc_perf *perf)
{
	return perf->n_evsels;
}

int unc_perf_n_cpus(const struct unc_perf *perf, int event)
{
	const struct xyarray *fds = perf->evsels[event]->fd;

	return fds ? xyarray__max_x((struct xyarray *)fds) : 0;
}

void unc_perf_close(struct unc_perf *perf, int event, int cpu_index)
{
	int *fd = xyarray__entry(perf->evsels[event]->fd, cpu_index, 0);

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int unc_perf_open(struct unc_perf *perf, const struct perf_event_attr *attr,
		  const int *cpus, size_t n_cpus, int leader, int members)
{
	struct perf_event_attr copy;
	struct perf_evsel *evsel;
	int err;

	if (!convert_attr(&copy, attr))
		return -E2BIG;
	evsel = add_evsel(perf, &copy, cpus, n_cpus);
	if (!evsel)
		return -ENOMEM;
	if (leader >= 0)
		evsel->leader = perf->evsels[leader];
	else
		evsel->nr_members = members;
	err = perf_evsel__open(evsel, evsel->own_cpus, perf->threads);
	if (err)
		return err;
	/* libperf opens without O_CLOEXEC: child programs would inherit events */
	for (size_t i = 0; i < n_cpus; i++)
		fcntl(unc_perf_fd(perf, perf->n_evsels - 1, i), F_SETFD,
		      FD_CLOEXEC);
	return perf->n_evsels - 1;
}

int unc_perf_enable(struct unc_perf *perf, int event)
{
	return perf_evsel__enable(perf->evsels[event]) ? -errno : 0;
}

int unc_perf_disable(struct unc_perf *perf, int event)
{
	return perf_evsel__disable(perf->evsels[event]) ? -errno : 0;
}

/*
 * Make one descriptor for all ring buffers.  libperf's own array for poll() has an
 * entry for each event on each CPU, and these may be many.
 */
static int watch_buffers(struct unc_perf *perf)
{
	struct epoll_event readable = { .events = EPOLLIN };
	struct perf_mmap *map;

	perf->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (perf->epoll < 0)
		return -errno;
	perf_evlist__for_each_mmap(perf->evlist, map, false)
		if (epoll_ctl(perf->epoll, EPOLL_CTL_ADD, map->fd, &readable))
			return -errno;
	return 0;
}

int unc_perf_mmap(struct unc_perf *perf, int pages)
{
	errno = 0;
	if (perf_evlist__mmap(perf->evlist, pages))
		return errno ? -errno : -EINVAL;
	return watch_buffers(perf);
}

int unc_perf_poll_fd(const struct unc_perf *perf)
{
	return perf->epoll;
}

void unc_perf_drain(struct unc_perf *perf,
		    void (*record)(const struct perf_event_header *header,
				   int cpu, void *arg),
		    void *arg)
{
	struct perf_mmap *map;

	perf_evlist__for_each_mmap(perf->evlist, map, false) {
		union perf_event *event;

		if (perf_mmap__read_init(map) < 0)
			continue;
		while ((event = perf_mmap__read_event(map))) {
			record(&event->header, map->cpu.cpu, arg);
			perf_mmap__consume(map);
		}
		perf_mmap__read_done(map);
	}
}

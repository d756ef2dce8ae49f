/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libuncore for C, and for all languages that call C: count events and metrics
 * of the uncore by name, list them, and sample.
 *
 * This header is a stable ABI: a program that was built with it runs with each
 * later libuncore.so.1. Functions and members of structures are added, never
 * changed or removed. (The C++ headers in this folder are compatible in source
 * only; their library is libuncore++.so.)
 *
 * A box is a part of the uncore with counters of its own, such as a memory
 * controller (imc) or a slice of the last level cache (cbox). If more events are
 * added than a box has counters, the kernel multiplexes them: it lets some of them
 * count for a few milliseconds, their turn, then the next ones. An event is enabled
 * for all of this time, and running while it has a counter. Its value is scaled to
 * the enabled time.
 *
 *	#include <stdio.h>
 *	#include <unistd.h>
 *
 *	#include <uncore/uncore.h>
 *
 *	static int count(struct uncore_session *counts)
 *	{
 *		const char *line;
 *		size_t i, n;
 *
 *		if (uncore_session_add_metrics(counts, "mem_bw_total_rate") ||
 *		    uncore_session_open(counts, 0) ||
 *		    uncore_session_enable(counts))
 *			return -1;
 *		sleep(1);
 *		if (uncore_session_read(counts))
 *			return -1;
 *		while ((line = uncore_session_news(counts)))
 *			fprintf(stderr, "%s\n", line);
 *		n = uncore_session_evaluate(counts, UNCORE_PACKAGE,
 *					    UNCORE_TOTAL);
 *		for (i = 0; i < n; i++) {
 *			struct uncore_value v;
 *
 *			v.size = sizeof(v);
 *			if (uncore_session_value(counts, i, &v))
 *				return -1;
 *			printf("socket %d: %g %s %s\n", v.package, v.value,
 *			       v.unit, v.reason);
 *		}
 *		return 0;
 *	}
 *
 *	int main(void)
 *	{
 *		struct uncore_session *counts = uncore_session_new(NULL);
 *		int status = count(counts);
 *
 *		if (status)
 *			fprintf(stderr, "%s\n", uncore_session_error(counts));
 *		uncore_session_free(counts);
 *		return status ? 1 : 0;
 *	}
 *
 * Functions that return int return 0, or a code of enum uncore_status.
 * uncore_session_error() or uncore_sampler_error() then has a message for the user.
 * A pointer must not be NULL unless the function's comment allows NULL: for a NULL
 * session, sampler, string or structure a function returns UNCORE_INVALID, or 0 if
 * its result is a number of entries. Any thread may use an object, but only one
 * thread at a time. No function throws an exception. No function changes the state
 * of the program, as its CPU affinity, unless a flag asks for it. Strings are UTF-8.
 *
 * A structure begins with its size, which the caller sets to sizeof(): the library
 * writes only the members that the caller's structure has.
 */
#ifndef UNCORE_UNCORE_H
#define UNCORE_UNCORE_H

#include <stddef.h>
#include <stdint.h>

#ifndef UNCORE_EXPORT
#define UNCORE_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of errors. */
enum uncore_status {
	UNCORE_OK = 0,
	UNCORE_INVALID,	    /* a malformed string or argument */
	UNCORE_NOT_FOUND,   /* no such event, metric, PMU, field or value */
	UNCORE_CONFLICT,    /* events that can never be counted together */
	UNCORE_PERMISSION,  /* the kernel refuses the call to this user */
	UNCORE_UNSUPPORTED, /* the driver or the hardware lacks the feature */
	UNCORE_NO_DRIVER,   /* no uncore PMU on this machine */
	UNCORE_GONE,	    /* a CPU or a device disappeared */
	UNCORE_SYSTEM,	    /* any other failed system call */
	UNCORE_MISUSE,	    /* a call in the wrong state, as read before open */
};

/* The part of the machine over which a value is summed up. */
enum uncore_scope {
	UNCORE_BOX,	/* each box of each package */
	UNCORE_PACKAGE, /* all boxes of a package */
	UNCORE_MACHINE, /* all boxes */
};

/* The time that a value covers. */
enum uncore_period {
	/*
	 * From the previous uncore_session_read(), or uncore_session_enable()
	 * before the first read, to the last read or sample.
	 */
	UNCORE_INTERVAL,
	/* From uncore_session_enable() to the last read or sample. */
	UNCORE_TOTAL,
};

/* Flags of uncore_session_open(). */
enum {
	/*
	 * uncore_session_read() migrates the calling thread to the CPUs of each
	 * package in turn, reads the package's counters there, and restores the
	 * thread's affinity. Without the flag, the kernel interrupts a CPU of each
	 * package for each box.
	 */
	UNCORE_VISIT_PACKAGES = 1,
};

/*
 * An event's count or a metric's value for one box, one package or the machine. The
 * session owns the strings.
 */
struct uncore_value {
	size_t size;	   /* set by the caller: sizeof(struct uncore_value) */
	const char *name;  /* the event as it was added; the metric's name */
	const char *unit;  /* of value: "" for a plain count, "Bytes", "GiB/s",
			      "ns" for duration_time */
	const char *pmu;   /* "hswep_imc_0"; "" except with UNCORE_BOX */
	int package;	   /* see uncore_session_package(); -1 with
			      UNCORE_MACHINE and for duration_time */
	int is_metric;	   /* 1 for a metric, 0 for an event */
	double value;	   /* in unit; not a number if missing: an event never
			      ran, no box answers, or a metric divides by 0, is
			      outside of its possible range or has an error
			      larger than itself */
	double error;	   /* standard error of value from scaling, in unit; 0
			      if no event was multiplexed. Not a number if
			      unknown: with fewer than three reads, or if a
			      multiplexed event's count is 0. If the traffic
			      changes with the period of the multiplexing, or
			      nearly, value is off by more */
	double running;	   /* share of the enabled time for which the event was
			      counted, 0 to 1; for a metric, the smallest share
			      of its events */
	uint64_t raw;	   /* an event's count as the hardware counted it,
			      neither scaled nor converted to unit; 0 for a
			      metric */
	const char *reason; /* the reason for a missing value, or the boxes that
			       are missing from value; "" if neither applies */
	/* since LIBUNCORE_1.1: */
	size_t index; /* of the event or the metric: 0 is the first event. All
			 events come before all metrics, both in the order of
			 adding */
	uint64_t enabled_time; /* nanoseconds for which the event was enabled,
				  the sum over its counters; for a metric, the
				  mean over the counters of its events */
	uint64_t running_time; /* nanoseconds of enabled_time for which the
				  event was counted; 0 for a metric */
};

/* An event of the catalogue, of a box type that this machine has. */
struct uncore_event {
	size_t size;		 /* set by the caller */
	const char *text;	 /* "imc/cas_count.rd/", for
				    uncore_session_add_events(); a parameter has
				    "?" in the place of its value */
	const char *box;	 /* type of the box: "imc" */
	const char *name;	 /* "cas_count.rd" */
	const char *description; /* one sentence or more */
	const char *unit;	 /* of a count times scale: "", "Bytes" */
	const char *parameters;	 /* filter fields that the caller must give a
				    value, "filter_opc"; "" if none */
	double scale;		 /* factor from a count to unit; 1 for plain
				    counts */
	const char *reason;	 /* why this machine's driver does not count the
				    event; "" if it does */
};

/* A metric of the catalogue of this machine's generation. */
struct uncore_metric {
	size_t size;		 /* set by the caller */
	const char *name;	 /* "mem_bw_total_rate" */
	const char *box;	 /* box type of the metric's events */
	const char *description; /* one sentence or more */
	const char *unit;	 /* "GiB/s", "%", "cycles", ... */
	const char *groups;	 /* groups of metrics: "memory,bandwidth" */
	const char *expression;	 /* formula, in the syntax of perf's metrics */
	const char *reason;	 /* why this machine cannot count the metric; ""
				    if it can */
};

/* Events and metrics to count, and their counters while the session is open. */
struct uncore_session;

/* Get the version of the loaded library, "0.1.0". */
UNCORE_EXPORT const char *uncore_version(void);

/*
 * Create a session on this machine, with nothing to count yet.
 * @sysfs: path of sysfs; NULL for /sys.
 * Returns NULL only when memory runs out. If sysfs cannot be read, the next calls
 * return an error.
 */
UNCORE_EXPORT struct uncore_session *uncore_session_new(const char *sysfs);
/* Close all counters and free the session; NULL is allowed. */
UNCORE_EXPORT void uncore_session_free(struct uncore_session *session);
/*
 * Message of the session's last call: if the call failed, one line with the cause
 * and the remedy, otherwise "". The string is valid until the session's next call.
 */
UNCORE_EXPORT const char *
uncore_session_error(const struct uncore_session *session);

/* Number of packages of the machine; 0 if sysfs cannot be read. */
UNCORE_EXPORT size_t uncore_session_packages(const struct uncore_session *session);
/*
 * The number of the package with this index; -1 beyond the end. It is the
 * physical_package_id, or if packages have several dies (Cascade Lake-AP), the kernel's
 * number of the die in the machine: each die is a package here.
 */
UNCORE_EXPORT int uncore_session_package(const struct uncore_session *session,
					 size_t index);

/*
 * List the events of the catalogue for the box types of this machine.
 * @box: a box type, "imc"; NULL for all box types.
 * Returns the number of events; 0 for a box type that the machine lacks.
 */
UNCORE_EXPORT size_t uncore_session_list_events(struct uncore_session *session,
						const char *box);
/*
 * Get an event of the last uncore_session_list_events(). Its strings are valid
 * until the next uncore_session_list_events(). UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_event(const struct uncore_session *session,
				       size_t index, struct uncore_event *event);
/*
 * List metrics of the catalogue. Metrics that this machine cannot count have a
 * reason; uncore_session_add_metrics() leaves them out of a group.
 * @names: names of metrics or of groups of metrics, separated by commas; NULL for
 * all metrics.
 * Returns the number of metrics; 0 if a name is unknown.
 */
UNCORE_EXPORT size_t uncore_session_list_metrics(struct uncore_session *session,
						 const char *names);
/*
 * Get a metric of the last uncore_session_list_metrics(). Its strings are valid
 * until the next uncore_session_list_metrics(). UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_metric(const struct uncore_session *session,
					size_t index,
					struct uncore_metric *metric);

/*
 * Add events or metrics, before uncore_session_open(). The functions may be called
 * any number of times. A list with an error adds nothing.
 * @events: event strings, separated by commas, as "uncore stat -e" takes them.
 * @names: names of metrics or of groups of metrics, separated by commas, as
 * "uncore stat -M" takes them. Metrics of a group that this machine cannot count are
 * left out; uncore_session_list_metrics() has the reasons.
 */
UNCORE_EXPORT int uncore_session_add_events(struct uncore_session *session,
					    const char *events);
UNCORE_EXPORT int uncore_session_add_metrics(struct uncore_session *session,
					     const char *names);

/*
 * Count on these packages only, from the next uncore_session_open() on.
 * @packages: their numbers, see uncore_session_package(); NULL with a count of 0 for
 * all packages.
 * @count: number of packages in the list.
 * UNCORE_NOT_FOUND for a package that the machine lacks.
 */
UNCORE_EXPORT int uncore_session_use_packages(struct uncore_session *session,
					      const int *packages,
					      size_t count);

/*
 * Open the counters of all events and metrics, stopped. Each event takes a
 * descriptor in each package; a program with many events has to raise its limit
 * (RLIMIT_NOFILE). After a failure, the session is as before and may be opened
 * again. Boxes that do not answer are left out: uncore_session_news() names them.
 * @flags: UNCORE_VISIT_PACKAGES or 0.
 */
UNCORE_EXPORT int uncore_session_open(struct uncore_session *session,
				      unsigned int flags);
/* Close the counters. The events and metrics remain, and more may be added. */
UNCORE_EXPORT int uncore_session_close(struct uncore_session *session);
/* Start and stop all counters. After uncore_session_disable(), the counts stay. */
UNCORE_EXPORT int uncore_session_enable(struct uncore_session *session);
UNCORE_EXPORT int uncore_session_disable(struct uncore_session *session);
/*
 * Read all counters and end the interval: values are then of the time since the
 * read before, or since uncore_session_enable(). If a box stopped answering or a CPU
 * went offline, the function continues with the other boxes and CPUs:
 * uncore_session_news() names the lost ones, and values have a reason. UNCORE_GONE
 * if no box or CPU is left.
 */
UNCORE_EXPORT int uncore_session_read(struct uncore_session *session);
/*
 * Read all counters without ending the interval. Multiplexed events are scaled from
 * read to read, so samples between two uncore_session_read() calls make the values
 * more exact, and their errors known.
 */
UNCORE_EXPORT int uncore_session_sample(struct uncore_session *session);
/*
 * Take the next line about boxes and CPUs that did not answer when the session was
 * opened, were lost since, or count too little. Returns NULL after the last line; the
 * next read may bring more lines. The string is valid until the session's next call.
 */
UNCORE_EXPORT const char *uncore_session_news(struct uncore_session *session);
/*
 * Time in nanoseconds until the next uncore_session_sample(): long enough that every
 * event had a turn, and that samples take at most a twentieth of the time. 0 if no
 * event has been multiplexed yet.
 */
UNCORE_EXPORT uint64_t
uncore_session_sample_time(const struct uncore_session *session);
/*
 * Time in nanoseconds that the period covers; 0 if the session is not open.
 */
UNCORE_EXPORT uint64_t uncore_session_elapsed(const struct uncore_session *session,
					      enum uncore_period period);

/*
 * Compute the values of all events, then of all metrics, both in the order of
 * adding. The values of one event or metric are in the order of packages, then boxes.
 * Returns the number of values; 0 before uncore_session_open().
 */
UNCORE_EXPORT size_t uncore_session_evaluate(struct uncore_session *session,
					     enum uncore_scope scope,
					     enum uncore_period period);
/*
 * Get a value of the last uncore_session_evaluate(). Its strings are valid until the
 * next uncore_session_evaluate(). UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_value(const struct uncore_session *session,
				       size_t index, struct uncore_value *value);

/* Settings of uncore_sampler_open(). */
struct uncore_sampling {
	size_t size;		/* set by the caller */
	uint64_t period;	/* counts between two samples, for an event
				   without period=; 0: use frequency */
	uint64_t frequency;	/* samples a second, for an event without a
				   period; 0: 1000 */
	unsigned int pages;	/* pages of each CPU's ring buffer, a power of
				   2; 0: 128 */
	unsigned int wakeup;	/* number of samples after which the descriptor
				   is readable; 0: when a ring buffer is half
				   full */
};

/* A sample, or the number of samples that were lost on a CPU. */
struct uncore_sample {
	size_t size;	  /* bytes that the library has filled in */
	const char *name; /* of the event; the sampler owns the strings */
	const char *pmu;  /* "hswep_imc_0"; "" for an event of no box */
	int package;	  /* of the CPU, see uncore_session_package() */
	int cpu;	  /* CPU on which the sample was taken */
	int pid, tid;	  /* task that ran on the CPU; 0 for the idle task */
	uint64_t ip;	  /* instruction pointer */
	uint64_t time;	  /* nanoseconds of the kernel's clock for samples */
	uint64_t period;  /* number of counts for which the sample stands, its
			     weight */
	uint64_t lost;	  /* 0 for a sample; otherwise the number of samples
			     that were lost, and pid to period are 0 */
};

/* Events to sample, and their counters and ring buffers while it is open. */
struct uncore_sampler;

/*
 * Create a sampler on this machine. Each time that an event has counted a number of
 * times, the sampler records which task and code ran on a CPU. An event of a box is
 * sampled on all CPUs of its sockets: each of these CPUs has a sample for each
 * overflow of the counter.
 * @sysfs: as for uncore_session_new().
 * Returns NULL only when memory runs out, as uncore_session_new() does.
 */
UNCORE_EXPORT struct uncore_sampler *uncore_sampler_new(const char *sysfs);
/* Close all events and free the sampler; NULL is allowed. */
UNCORE_EXPORT void uncore_sampler_free(struct uncore_sampler *sampler);
/* Message of the sampler's last call, as uncore_session_error(). */
UNCORE_EXPORT const char *
uncore_sampler_error(const struct uncore_sampler *sampler);
/* Add events to sample, as uncore_session_add_events() does. */
UNCORE_EXPORT int uncore_sampler_add_events(struct uncore_sampler *sampler,
					    const char *events);
/*
 * Open the events, stopped. The function may be called again after a failure.
 * @settings: NULL for the defaults.
 */
UNCORE_EXPORT int uncore_sampler_open(struct uncore_sampler *sampler,
				      const struct uncore_sampling *settings);
/* Start or stop sampling. */
UNCORE_EXPORT int uncore_sampler_enable(struct uncore_sampler *sampler);
UNCORE_EXPORT int uncore_sampler_disable(struct uncore_sampler *sampler);
/*
 * Descriptor for poll(2), select(2) and event loops: readable when the ring buffers
 * have samples for uncore_sampler_drain(), and sometimes when all samples were taken
 * already. The sampler owns the descriptor: do not read or close it. -1 if the sampler
 * is not open.
 */
UNCORE_EXPORT int uncore_sampler_fd(const struct uncore_sampler *sampler);
/*
 * Take all samples out of the ring buffers, CPU after CPU, and call @take for each.
 * The samples of one CPU are in order of time. A sample is valid during the call of
 * @take only; @take must not call functions of this sampler.
 * @arg: passed on to @take.
 */
UNCORE_EXPORT int
uncore_sampler_drain(struct uncore_sampler *sampler,
		     void (*take)(const struct uncore_sample *sample, void *arg),
		     void *arg);

/*
 * Regions: parts of a program whose counts "uncore stat --regions" prints, by name
 * and socket. Without that command the calls do nothing and cost a few nanoseconds,
 * so that they can stay in a program. The command chooses the events and metrics,
 * opens and reads the counters, and needs the permission; the program does not.
 *
 *	#include <uncore/uncore.h>
 *
 *	void step(void)
 *	{
 *		uncore_region_begin("solve");
 *		...
 *		uncore_region_end();
 *	}
 *
 * A box counts for all tasks of its socket, so a region has the traffic of the whole
 * socket while any thread of any process of the command is in the region. Threads
 * and processes in the same region at the same time are counted once, not added up:
 * with OpenMP, call the functions outside of a parallel region, or in all of its
 * threads. A region of an MPI process counts on the sockets to which the process is
 * bound, if the launcher started several on the machine; all other regions count on
 * all sockets. Any number of processes bound to a socket counts it once.
 *
 * Regions nest; the outer region includes the inner ones. Each thread has regions of
 * its own, which are closed when it ends. A new process (fork) is in no region.
 *
 * Each call sends a request to the command, which reads all counters once: regions
 * shorter than a hundred times this are marked in the output. Do not call the
 * functions in a signal handler.
 */

/*
 * Begin a region in the calling thread.
 * @name: up to 255 bytes of UTF-8 without control characters. A name may be used any
 * number of times, also in another place of the program.
 * The call may be ignored that fails: the region is not counted then, and ends with
 * uncore_region_end() as any other. UNCORE_INVALID for such a name,
 * UNCORE_UNSUPPORTED beyond 10,000 names and for another version of the command,
 * UNCORE_GONE if the command does not answer any more.
 */
UNCORE_EXPORT int uncore_region_begin(const char *name);
/*
 * End the region that the calling thread began last. UNCORE_MISUSE if the thread is
 * in no region.
 */
UNCORE_EXPORT int uncore_region_end(void);

#ifdef __cplusplus
}
#endif

#endif

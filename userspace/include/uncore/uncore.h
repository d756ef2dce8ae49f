/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libuncore for C, and for all languages that call C: count events and metrics
 * of the uncore by name, list them, and sample.
 *
 * This header is a stable ABI: a program that was built with this header runs
 * with each later libuncore.so.1, for years. Functions and members of structures
 * are added, never changed or removed. (The C++ headers in the same folder are
 * compatible in source only: their library, libuncore++.so, has the interface's
 * version in its name.)
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
 * Functions that return int return 0 or a code of enum uncore_status; the message
 * for the code is uncore_session_error() or uncore_sampler_error(). A pointer
 * must not be NULL unless its description allows NULL: with a NULL session,
 * sampler, string or structure a function returns UNCORE_INVALID, or 0 if the
 * function returns a number of items. An object may be used in any thread, but
 * only in one thread at a time. No function throws an exception, and no function
 * changes the state of the calling program unless a flag asks for that change.
 * Strings are UTF-8.
 *
 * A structure begins with its size, which the caller sets to sizeof(): the
 * library fills in only the members that the caller's structure has.
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
	UNCORE_PERMISSION,  /* the kernel refuses this user */
	UNCORE_UNSUPPORTED, /* the driver or the hardware lacks a feature */
	UNCORE_NO_DRIVER,   /* no uncore PMU on this machine */
	UNCORE_GONE,	    /* a CPU or a device disappeared */
	UNCORE_SYSTEM,	    /* any other failed system call */
	UNCORE_MISUSE,	    /* a function was called too early or too late */
};

/* The part of the machine that a value covers. */
enum uncore_scope {
	UNCORE_BOX,	/* each box of each package */
	UNCORE_PACKAGE, /* all boxes of a package */
	UNCORE_MACHINE, /* all boxes */
};

/* The time that a value covers. */
enum uncore_period {
	UNCORE_INTERVAL, /* between the last two reads */
	UNCORE_TOTAL,	 /* since uncore_session_enable() */
};

/* Flags of uncore_session_open(). */
enum {
	/*
	 * uncore_session_read() moves the calling thread to a CPU of each
	 * package in turn, so that other CPUs need not be interrupted, and
	 * restores the thread's affinity.
	 */
	UNCORE_VISIT_PACKAGES = 1,
};

/*
 * An event's count or a metric's value in one box, one package or the machine.
 * The session owns the strings.
 */
struct uncore_value {
	size_t size;	   /* to be set by the caller: sizeof(struct
			      uncore_value) */
	const char *name;  /* of the event or the metric */
	const char *unit;  /* "", "Bytes", "GiB/s", "ns" for duration_time */
	const char *pmu;   /* "hswep_imc_0"; "" except with UNCORE_BOX */
	int package;	   /* physical_package_id; -1 with UNCORE_MACHINE and
			      for duration_time */
	int is_metric;	   /* 1 for a metric, 0 for an event */
	double value;	   /* in the unit; not a number if never counted */
	double error;	   /* standard error caused by multiplexing, in the
			      unit. Not a number if the error is unknown: with
			      fewer than three reads, or if an event counted 0
			      in the time that it ran. Traffic with the period
			      of the multiplexing, or nearly that period, causes
			      larger errors */
	double running;	   /* part of the time for which the event was counted,
			      0 to 1 */
	uint64_t raw;	   /* an event's count as read from the hardware; 0 for
			      a metric */
	const char *reason; /* reason for a missing value, or the boxes whose
			       counts the value lacks; "" if no box is missing */
	/* since LIBUNCORE_1.1: */
	size_t index; /* of the event or the metric: events come first, then
			 metrics, each in the order of adding */
	uint64_t enabled_time; /* nanoseconds for which the counters were
				  enabled: the sum over an event's counters, the
				  average over a metric's counters */
	uint64_t running_time; /* nanoseconds of enabled_time for which the
				  event was counted; 0 for a metric */
};

/* An event of the catalogue that a box of this machine has. */
struct uncore_event {
	size_t size;		 /* to be set by the caller */
	const char *text;	 /* for uncore_session_add_events(), with
				    parameters as "?": "imc/cas_count.rd/" */
	const char *box;	 /* type of the box: "imc" */
	const char *name;	 /* "cas_count.rd" */
	const char *description; /* one sentence or more */
	const char *unit;	 /* of a count times scale: "", "Bytes" */
	const char *parameters;	 /* fields that need a value, "filter_opc"; "" if
				    there is no such field */
	double scale;		 /* 1 for plain counts */
	const char *reason;	 /* why this machine's driver cannot count the
				    event; "" if it can */
};

/* A metric of the catalogue of this machine's generation. */
struct uncore_metric {
	size_t size;		 /* to be set by the caller */
	const char *name;	 /* "mem_bw_total_rate" */
	const char *box;	 /* type of the box whose events it uses */
	const char *description; /* one sentence or more */
	const char *unit;	 /* "GiB/s", "%", "cycles", ... */
	const char *groups;	 /* "memory,bandwidth" */
	const char *expression;	 /* in the syntax of perf's metrics */
	const char *reason;	 /* why this machine does not have the metric;
				    "" if it has */
};

struct uncore_session;

/* Get the version of the loaded library, "0.1.0". */
UNCORE_EXPORT const char *uncore_version(void);

/*
 * Create a session on this machine, without events and metrics.
 * @sysfs: folder of sysfs; NULL for /sys.
 * Returns NULL only if there is no memory. If the machine's description in sysfs
 * cannot be read, the later calls of the session return the error.
 */
UNCORE_EXPORT struct uncore_session *uncore_session_new(const char *sysfs);
/* Close all counters and free the session; NULL is allowed. */
UNCORE_EXPORT void uncore_session_free(struct uncore_session *session);
/*
 * Get the message of the last call if that call failed: one line with the cause
 * and the remedy. "" if it succeeded. Valid until the session's next call.
 */
UNCORE_EXPORT const char *
uncore_session_error(const struct uncore_session *session);

/* Get the number of packages of the machine; 0 if the machine cannot be read. */
UNCORE_EXPORT size_t uncore_session_packages(const struct uncore_session *session);
/*
 * Get the physical_package_id of package number @index, counted from 0; -1 beyond
 * the last package.
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
 * Get event number @index of the last uncore_session_list_events(), counted from
 * 0. The strings are valid until the next uncore_session_list_events().
 * UNCORE_MISUSE beyond the last event.
 */
UNCORE_EXPORT int uncore_session_event(const struct uncore_session *session,
				       size_t index, struct uncore_event *event);
/*
 * List metrics of the catalogue. A metric that this machine does not have is listed
 * with the reason; uncore_session_add_metrics() leaves it out of a group.
 * @names: names of metrics or of groups of metrics, separated by commas; NULL for
 * all metrics.
 * Returns the number of metrics; 0 if a name is unknown.
 */
UNCORE_EXPORT size_t uncore_session_list_metrics(struct uncore_session *session,
						 const char *names);
/*
 * Get metric number @index of the last uncore_session_list_metrics(), counted from
 * 0. The strings are valid until the next uncore_session_list_metrics().
 * UNCORE_MISUSE beyond the last metric.
 */
UNCORE_EXPORT int uncore_session_metric(const struct uncore_session *session,
					size_t index,
					struct uncore_metric *metric);

/*
 * Add events or metrics to count, any number of times before
 * uncore_session_open(): event strings as for "uncore stat -e", or names of
 * metrics or groups of metrics, separated by commas, as for "uncore stat -M".
 * Metrics of a group that this machine lacks are left out;
 * uncore_session_list_metrics() has the reasons. A list with an error adds
 * nothing.
 */
UNCORE_EXPORT int uncore_session_add_events(struct uncore_session *session,
					    const char *events);
UNCORE_EXPORT int uncore_session_add_metrics(struct uncore_session *session,
					     const char *names);

/*
 * Count on the given packages only, from the next uncore_session_open() on.
 * @packages: array of physical_package_ids, see uncore_session_package(); NULL
 * with a count of 0 for all packages.
 * UNCORE_NOT_FOUND for a package that the machine lacks.
 */
UNCORE_EXPORT int uncore_session_use_packages(struct uncore_session *session,
					      const int *packages,
					      size_t count);

/*
 * Open the counters of all events and metrics that were added, stopped. Each
 * event takes a descriptor on each package; the function does not change
 * RLIMIT_NOFILE. After a failure, the session is as before and may be opened
 * again. Boxes that do not answer are left out: uncore_session_news() names them.
 * @flags: UNCORE_VISIT_PACKAGES or 0.
 */
UNCORE_EXPORT int uncore_session_open(struct uncore_session *session,
				      unsigned int flags);
/*
 * Close the counters. The events and metrics that were added remain, and more may
 * be added.
 */
UNCORE_EXPORT int uncore_session_close(struct uncore_session *session);
/* Start or stop all counters. */
UNCORE_EXPORT int uncore_session_enable(struct uncore_session *session);
UNCORE_EXPORT int uncore_session_disable(struct uncore_session *session);
/*
 * Read all counters and begin a new interval. Boxes that stopped answering and
 * CPUs that went offline are not a failure while any other box can be read:
 * uncore_session_news() names them, and their values have a reason. UNCORE_GONE
 * if no box can be read.
 */
UNCORE_EXPORT int uncore_session_read(struct uncore_session *session);
/*
 * Read all counters without beginning a new interval. If events are multiplexed,
 * such reads make the scaling better, and the error of the scaling known.
 */
UNCORE_EXPORT int uncore_session_sample(struct uncore_session *session);
/*
 * Get the next line about a box or a CPU that did not answer when the session was
 * opened, was lost since, or counts too little. NULL if there is no further line
 * until the next read. Valid until the session's next call.
 */
UNCORE_EXPORT const char *uncore_session_news(struct uncore_session *session);
/*
 * Get the time in nanoseconds after which to call uncore_session_sample() again; 0
 * if no event has been multiplexed.
 */
UNCORE_EXPORT uint64_t
uncore_session_sample_time(const struct uncore_session *session);
/*
 * Get the time in nanoseconds of the interval: between the last two reads, or
 * between enabling and the only read. Total: from enabling to the last read. 0 if
 * the session is not open.
 */
UNCORE_EXPORT uint64_t uncore_session_elapsed(const struct uncore_session *session,
					      enum uncore_period period);

/*
 * Compute the values of the events and metrics that were added: events, then
 * metrics, each in the order of adding. The values of an event or metric are in
 * the order of packages, then of boxes.
 * Returns the number of values; 0 before uncore_session_open().
 */
UNCORE_EXPORT size_t uncore_session_evaluate(struct uncore_session *session,
					     enum uncore_scope scope,
					     enum uncore_period period);
/*
 * Get value number @index of the last uncore_session_evaluate(), counted from 0.
 * The strings are valid until the next uncore_session_evaluate(). UNCORE_MISUSE
 * beyond the last value.
 */
UNCORE_EXPORT int uncore_session_value(const struct uncore_session *session,
				       size_t index, struct uncore_value *value);

/* Settings of uncore_sampler_open(). */
struct uncore_sampling {
	size_t size;		/* to be set by the caller */
	uint64_t period;	/* counts between two samples, for an event
				   without period=; 0: use the frequency */
	uint64_t frequency;	/* samples a second, if there is no period;
				   0: 1000 */
	unsigned int pages;	/* pages of each CPU's ring buffer, a power of
				   2; 0: 128 */
	unsigned int wakeup;	/* number of samples that make the descriptor
				   readable; 0: half a ring buffer */
};

/* A sample, or a number of samples that were lost. The sampler owns the strings. */
struct uncore_sample {
	size_t size;	  /* size of the members that the library has set */
	const char *name; /* name of the event */
	const char *pmu;  /* "hswep_imc_0"; "" for an event without a box */
	int package;	  /* physical_package_id of the CPU */
	int cpu;	  /* the CPU that was sampled */
	int pid, tid;	  /* the task that ran on this CPU; 0 for the idle task */
	uint64_t ip;	  /* instruction pointer */
	uint64_t time;	  /* nanoseconds of the kernel's clock for samples */
	uint64_t period;  /* counts that this sample stands for */
	uint64_t lost;	  /* not 0: number of samples that were lost at this
			     place; then pid to period are 0 */
};

struct uncore_sampler;

/*
 * Create a sampler on this machine. A sampler records the task and the instruction
 * that ran on a CPU each time that an event has counted a number of times. A box's
 * event is sampled on all CPUs of the box's sockets: each of these CPUs has a
 * sample for each overflow.
 * @sysfs: as for uncore_session_new().
 * Returns NULL only if there is no memory, as uncore_session_new().
 */
UNCORE_EXPORT struct uncore_sampler *uncore_sampler_new(const char *sysfs);
/* Close all events and free the sampler; NULL is allowed. */
UNCORE_EXPORT void uncore_sampler_free(struct uncore_sampler *sampler);
/* Get the message of the last call if that failed, as uncore_session_error(). */
UNCORE_EXPORT const char *
uncore_sampler_error(const struct uncore_sampler *sampler);
/* Add events to sample, in the syntax of uncore_session_add_events(). */
UNCORE_EXPORT int uncore_sampler_add_events(struct uncore_sampler *sampler,
					    const char *events);
/*
 * Open the events, stopped. After a failure the function may be called again.
 * @settings: NULL for the defaults.
 */
UNCORE_EXPORT int uncore_sampler_open(struct uncore_sampler *sampler,
				      const struct uncore_sampling *settings);
/* Start or stop sampling. */
UNCORE_EXPORT int uncore_sampler_enable(struct uncore_sampler *sampler);
UNCORE_EXPORT int uncore_sampler_disable(struct uncore_sampler *sampler);
/*
 * Get a descriptor for poll(2), select(2) and event loops. The descriptor is
 * readable if there are samples to drain, and sometimes when all samples have been
 * drained already. It belongs to the sampler: do not read from it or close it. -1
 * if the sampler is not open.
 */
UNCORE_EXPORT int uncore_sampler_fd(const struct uncore_sampler *sampler);
/*
 * Call @take for each sample in the ring buffers, CPU after CPU. The samples of a
 * CPU are in order of time. A sample is valid during the call only; @take must not
 * call functions of this sampler.
 */
UNCORE_EXPORT int
uncore_sampler_drain(struct uncore_sampler *sampler,
		     void (*take)(const struct uncore_sample *sample, void *arg),
		     void *arg);

#ifdef __cplusplus
}
#endif

#endif

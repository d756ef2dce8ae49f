/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libuncore for C, and for all languages that call C: count events and metrics
 * of the uncore by name, list them, and sample.
 *
 * This header is a stable ABI: a program that was built with it runs with each
 * later libuncore.so.1, for years. Functions and members of structures are
 * added, never changed or removed. (The C++ headers beside it are compatible in
 * source only: their library, libuncore++.so, has the interface's version in its
 * name.)
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
 * Functions that return int return 0, or a code of enum uncore_status; the
 * message that goes with it is uncore_session_error() or uncore_sampler_error().
 * A pointer must not be NULL unless its description allows it: a NULL session,
 * sampler, string or structure is UNCORE_INVALID, or 0 of functions that return
 * a number of things. An object may be used in any thread, but in one at a time.
 * No function throws, and none changes the program around it except as a flag
 * says. Strings are UTF-8.
 *
 * A structure begins with its size, which the caller sets to sizeof(): the
 * library fills in what the caller has room for.
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

/* Codes of failure. */
enum uncore_status {
	UNCORE_OK = 0,
	UNCORE_INVALID,	    /* a malformed string or argument */
	UNCORE_NOT_FOUND,   /* no such event, metric, PMU, field or value */
	UNCORE_CONFLICT,    /* events that can never be counted together */
	UNCORE_PERMISSION,  /* the kernel refuses this user */
	UNCORE_UNSUPPORTED, /* the driver or the hardware lacks it */
	UNCORE_NO_DRIVER,   /* no uncore PMU on this machine */
	UNCORE_GONE,	    /* a CPU or a device disappeared */
	UNCORE_SYSTEM,	    /* any other failed system call */
	UNCORE_MISUSE,	    /* functions called in an order that makes no sense */
};

/* The part of the machine that a value is of. */
enum uncore_scope {
	UNCORE_BOX,	/* each box of each package */
	UNCORE_PACKAGE, /* all boxes of a package */
	UNCORE_MACHINE, /* all boxes */
};

/* The time that a value is of. */
enum uncore_period {
	UNCORE_INTERVAL, /* since the read before the last */
	UNCORE_TOTAL,	 /* since uncore_session_enable() */
};

/* Flags of uncore_session_open(). */
enum {
	/*
	 * uncore_session_read() moves the calling thread to a CPU of each
	 * package in turn, which spares other CPUs the interrupts, and restores
	 * its affinity.
	 */
	UNCORE_VISIT_PACKAGES = 1,
};

/* An event's count or a metric's value at one place. */
struct uncore_value {
	size_t size;	   /* to be set by the caller: sizeof() of this */
	const char *name;  /* the session's, as are all strings */
	const char *unit;  /* "", "Bytes", "GiB/s", "ns" of duration_time */
	const char *pmu;   /* "hswep_imc_0"; "" except with UNCORE_BOX */
	int package;	   /* physical_package_id; -1 with UNCORE_MACHINE and
			      for duration_time */
	int is_metric;	   /* 1 for a metric, 0 for an event */
	double value;	   /* in the unit; not a number where never counted */
	double error;	   /* standard error that multiplexing brings, in the
			      unit; not a number where unknown: with fewer
			      than three reads, or where an event was not
			      seen. Traffic that is periodic with the
			      multiplexing, or nearly, is off by more */
	double running;	   /* part of the time that it was counted, 0 to 1 */
	uint64_t raw;	   /* an event's count as the hardware has it; 0 for a
			      metric */
	const char *reason; /* why a value is missing, or which boxes are missing
			       from it; "" if none */
	/* since LIBUNCORE_1.1: */
	size_t index; /* of the event or the metric: events come first, both
			 in the order of adding */
	uint64_t enabled_time; /* nanoseconds for which it was enabled: the sum
				  over an event's counters, the average over a
				  metric's */
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
	const char *parameters;	 /* fields that it needs, "filter_opc"; "" */
	double scale;		 /* 1 for plain counts */
	const char *reason;	 /* why this machine's driver does not count it;
				    "" if it does */
};

/* A metric of the catalogue of this machine's generation. */
struct uncore_metric {
	size_t size;		 /* to be set by the caller */
	const char *name;	 /* "mem_bw_total_rate" */
	const char *box;	 /* type of the box whose events it is of */
	const char *description; /* one sentence or more */
	const char *unit;	 /* "GiB/s", "%", "cycles", ... */
	const char *groups;	 /* "memory,bandwidth" */
	const char *expression;	 /* in the syntax of perf's metrics */
	const char *reason;	 /* why this machine does not have it; "" if it
				    does */
};

struct uncore_session;

/* Version of the library that is loaded, "0.1.0". */
UNCORE_EXPORT const char *uncore_version(void);

/*
 * Create a session on this machine, with nothing to count yet.
 * @sysfs: where sysfs is; NULL for /sys.
 * Returns NULL only when memory runs out; a machine that cannot be read is an
 * error of the calls that follow.
 */
UNCORE_EXPORT struct uncore_session *uncore_session_new(const char *sysfs);
/* Close all counters and free the session; NULL is allowed. */
UNCORE_EXPORT void uncore_session_free(struct uncore_session *session);
/*
 * The message of the last call, if that failed: one line that says what is wrong
 * and what to do; "" otherwise. Good until the session's next call.
 */
UNCORE_EXPORT const char *
uncore_session_error(const struct uncore_session *session);

/* The number of packages of the machine; 0 when it cannot be read. */
UNCORE_EXPORT size_t uncore_session_packages(const struct uncore_session *session);
/* The physical_package_id of the package of that index; -1 beyond the end. */
UNCORE_EXPORT int uncore_session_package(const struct uncore_session *session,
					 size_t index);

/*
 * List the events of the catalogue that can be named on this machine.
 * @box: a box type, "imc"; NULL for all.
 * Returns how many there are; 0 for a box type that the machine lacks.
 */
UNCORE_EXPORT size_t uncore_session_list_events(struct uncore_session *session,
						const char *box);
/*
 * An event of the last uncore_session_list_events(). Strings are good until the
 * next one. UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_event(const struct uncore_session *session,
				       size_t index, struct uncore_event *event);
/*
 * List the metrics of the catalogue, each with the reason if this machine does
 * not have it: the metrics that uncore_session_add_metrics() leaves out.
 * @names: names of metrics or of groups of metrics, separated by commas; NULL for
 * all.
 * Returns how many there are; 0 when a name is unknown.
 */
UNCORE_EXPORT size_t uncore_session_list_metrics(struct uncore_session *session,
						 const char *names);
/*
 * A metric of the last uncore_session_list_metrics(). Strings are good until the
 * next one. UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_metric(const struct uncore_session *session,
					size_t index,
					struct uncore_metric *metric);

/*
 * Add what to count, before uncore_session_open(), any number of times: event
 * strings as "uncore stat -e" takes them, or names of metrics or groups of
 * metrics, separated by commas, as "uncore stat -M" does. Of a group, what this
 * machine lacks is left out; uncore_session_list_metrics() has the reasons. A
 * list with an error adds nothing.
 */
UNCORE_EXPORT int uncore_session_add_events(struct uncore_session *session,
					    const char *events);
UNCORE_EXPORT int uncore_session_add_metrics(struct uncore_session *session,
					     const char *names);

/*
 * Count on these packages only, from the next uncore_session_open() on.
 * @packages: their physical_package_id, see uncore_session_package(); NULL with
 * a count of 0 for all.
 * UNCORE_NOT_FOUND for a package that the machine lacks.
 */
UNCORE_EXPORT int uncore_session_use_packages(struct uncore_session *session,
					      const int *packages,
					      size_t count);

/*
 * Open the counters of what was added, stopped. It takes a descriptor for each
 * event on each package: RLIMIT_NOFILE is left as it is. After a failure, the
 * session is as before and may be opened again. Boxes that do not answer are
 * left out: uncore_session_news() names them.
 * @flags: UNCORE_VISIT_PACKAGES or 0.
 */
UNCORE_EXPORT int uncore_session_open(struct uncore_session *session,
				      unsigned int flags);
/* Close the counters. What was added remains, and more may be added. */
UNCORE_EXPORT int uncore_session_close(struct uncore_session *session);
/* Start and stop all counters. */
UNCORE_EXPORT int uncore_session_enable(struct uncore_session *session);
UNCORE_EXPORT int uncore_session_disable(struct uncore_session *session);
/*
 * Read all counters. Boxes that stopped answering and CPUs that went offline
 * are not a failure while any other is read: uncore_session_news() names them, and
 * values have a reason. UNCORE_GONE if none is left.
 */
UNCORE_EXPORT int uncore_session_read(struct uncore_session *session);
/*
 * Read all counters within an interval, which continues. If events are
 * multiplexed, this makes scaling better and its error known.
 */
UNCORE_EXPORT int uncore_session_sample(struct uncore_session *session);
/*
 * Take the next line about boxes and CPUs: they did not answer when the session
 * was opened, were lost since, or count too little. NULL if there is no other
 * line until the next read. Good until the session's next call.
 */
UNCORE_EXPORT const char *uncore_session_news(struct uncore_session *session);
/*
 * Time in nanoseconds after which to call uncore_session_sample() again; 0 where
 * no event has been multiplexed.
 */
UNCORE_EXPORT uint64_t
uncore_session_sample_time(const struct uncore_session *session);
/*
 * Time in nanoseconds between the last two reads (or enable and the only one), or
 * from enable to the last read; 0 when the session is not open.
 */
UNCORE_EXPORT uint64_t uncore_session_elapsed(const struct uncore_session *session,
					      enum uncore_period period);

/*
 * Make the values of what was added: events, then metrics, each in the order of
 * adding; of each by package, then by box.
 * Returns how many there are; 0 before uncore_session_open().
 */
UNCORE_EXPORT size_t uncore_session_evaluate(struct uncore_session *session,
					     enum uncore_scope scope,
					     enum uncore_period period);
/*
 * A value of the last uncore_session_evaluate(). Strings are good until the next
 * one. UNCORE_MISUSE beyond the end.
 */
UNCORE_EXPORT int uncore_session_value(const struct uncore_session *session,
				       size_t index, struct uncore_value *value);

/* Settings of uncore_sampler_open(). */
struct uncore_sampling {
	size_t size;		/* to be set by the caller */
	uint64_t period;	/* counts between two samples, for an event
				   without period=; 0: by frequency */
	uint64_t frequency;	/* samples a second without a period; 0: 1000 */
	unsigned int pages;	/* of each CPU's ring buffer, a power of 2;
				   0: 128 */
	unsigned int wakeup;	/* samples that make the descriptor readable;
				   0: when a ring buffer is half full */
};

/* A sample, or a number of samples that were lost. */
struct uncore_sample {
	size_t size;	  /* that the library has filled in */
	const char *name; /* of the event; the sampler's */
	const char *pmu;  /* "hswep_imc_0"; "" for an event of no box */
	int package;	  /* physical_package_id of the CPU */
	int cpu;	  /* that was sampled */
	int pid, tid;	  /* of the task that ran on it; 0 for the idle task */
	uint64_t ip;	  /* instruction pointer */
	uint64_t time;	  /* nanoseconds of the kernel's clock for samples */
	uint64_t period;  /* counts that this sample stands for */
	uint64_t lost;	  /* not 0: number of samples that were lost here; then
			     pid to period are 0 */
};

struct uncore_sampler;

/*
 * Create a sampler on this machine: it records what ran on a CPU each time that
 * an event has counted a number of times. A box's event is sampled on all CPUs of
 * its sockets: each of them has a sample for each overflow.
 * @sysfs: as for uncore_session_new(), also in what is returned.
 */
UNCORE_EXPORT struct uncore_sampler *uncore_sampler_new(const char *sysfs);
/* Close all events and free the sampler; NULL is allowed. */
UNCORE_EXPORT void uncore_sampler_free(struct uncore_sampler *sampler);
/* As uncore_session_error(). */
UNCORE_EXPORT const char *
uncore_sampler_error(const struct uncore_sampler *sampler);
/* Add what to sample, as uncore_session_add_events() does. */
UNCORE_EXPORT int uncore_sampler_add_events(struct uncore_sampler *sampler,
					    const char *events);
/*
 * Open the events, stopped. After a failure it may be called again.
 * @settings: NULL for the defaults.
 */
UNCORE_EXPORT int uncore_sampler_open(struct uncore_sampler *sampler,
				      const struct uncore_sampling *settings);
/* Start and stop sampling. */
UNCORE_EXPORT int uncore_sampler_enable(struct uncore_sampler *sampler);
UNCORE_EXPORT int uncore_sampler_disable(struct uncore_sampler *sampler);
/*
 * A descriptor for poll(2), select(2) and event loops: readable when there are
 * samples to drain, and at times when they have been drained already. The
 * sampler's: not to be read or closed. -1 when the sampler is not open.
 */
UNCORE_EXPORT int uncore_sampler_fd(const struct uncore_sampler *sampler);
/*
 * Call @take for each sample there is, CPU after CPU; those of one CPU are in
 * order of time. A sample is good during the call; @take must not call functions
 * of this sampler.
 */
UNCORE_EXPORT int
uncore_sampler_drain(struct uncore_sampler *sampler,
		     void (*take)(const struct uncore_sample *sample, void *arg),
		     void *arg);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libuncore for C, and for all languages that call C: events and metrics are
 * named, counted, and read as values.  What the C++ headers have beyond that
 * (plans, expressions, the catalogue, sampling) is not here.
 *
 *	struct uncore_session *counts = uncore_session_new(NULL);
 *
 *	if (uncore_session_add_metrics(counts, "mem_bw_total_rate") ||
 *	    uncore_session_open(counts, 0) || uncore_session_enable(counts))
 *		return complain(uncore_session_error(counts));
 *	sleep(1);
 *	uncore_session_read(counts);
 *	n = uncore_session_evaluate(counts, UNCORE_PACKAGE, UNCORE_TOTAL);
 *	for (i = 0; i < n; i++) {
 *		struct uncore_value v = { .size = sizeof(v) };
 *
 *		uncore_session_value(counts, i, &v);
 *		printf("%d %g %s\n", v.package, v.value, v.unit);
 *	}
 *	uncore_session_free(counts);
 *
 * Functions that return int return 0, or a code of enum uncore_status; the
 * message that goes with it is uncore_session_error().  A session may be used in
 * any thread, but in one at a time.  No function throws, and none changes the
 * program around it, but as told by flags.
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

/* What went wrong. */
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

/* What a value is of. */
enum uncore_scope {
	UNCORE_BOX,	/* each box of each package */
	UNCORE_PACKAGE, /* all boxes of a package */
	UNCORE_MACHINE, /* all boxes */
};

/* Which time it is of. */
enum uncore_period {
	UNCORE_INTERVAL, /* since the read before the last */
	UNCORE_TOTAL,	 /* since uncore_session_enable() */
};

/* Flags of uncore_session_open(). */
enum {
	/*
	 * uncore_session_read() has the calling thread visit each package's CPUs
	 * in turn, so as not to interrupt others; then its affinity is what it
	 * was.
	 */
	UNCORE_VISIT_PACKAGES = 1,
};

/* An event's count or a metric's value at one place. */
struct uncore_value {
	size_t size;	   /* to be set by the caller: sizeof() of this */
	const char *name;  /* the session's, as are all strings */
	const char *unit;  /* "", "Bytes", "GiB/s", ... */
	const char *pmu;   /* "hswep_imc_0"; "" but for UNCORE_BOX */
	int package;	   /* physical_package_id; -1 for UNCORE_MACHINE */
	int is_metric;
	double value;	   /* in the unit; not a number where never counted */
	double error;	   /* standard error that multiplexing brings; not a
			      number where unknown, with less than three reads */
	double running;	   /* part of the time that it was counted, 0 to 1 */
	uint64_t raw;	   /* an event's count as the hardware has it */
};

struct uncore_session;

/* "0.1.0"; of the library that is loaded. */
UNCORE_EXPORT const char *uncore_version(void);

/*
 * A session on this machine, with nothing to count yet.
 * @sysfs: where sysfs is; NULL for /sys.
 * NULL only when there is no memory; a machine that cannot be read is an error
 * of the calls that follow.
 */
UNCORE_EXPORT struct uncore_session *uncore_session_new(const char *sysfs);
/* Closes all; NULL is allowed. */
UNCORE_EXPORT void uncore_session_free(struct uncore_session *session);
/* What the last call that failed had to say: one line; "" when none did. */
UNCORE_EXPORT const char *
uncore_session_error(const struct uncore_session *session);

/* How many packages the machine has, and their numbers. */
UNCORE_EXPORT size_t uncore_session_packages(const struct uncore_session *session);
UNCORE_EXPORT int uncore_session_package(const struct uncore_session *session,
					 size_t index);

/*
 * What to count, before uncore_session_open(), any number of times: event strings
 * as "uncore stat -e" takes them, names of metrics or groups of metrics as
 * "uncore stat -M" does.  Of a group, what this machine lacks is left out.
 */
UNCORE_EXPORT int uncore_session_add_events(struct uncore_session *session,
					    const char *events);
UNCORE_EXPORT int uncore_session_add_metrics(struct uncore_session *session,
					     const char *names);

/*
 * Opens what was added, stopped.  It takes a descriptor for each event on each
 * package: RLIMIT_NOFILE is left as it is.
 */
UNCORE_EXPORT int uncore_session_open(struct uncore_session *session,
				      unsigned int flags);
UNCORE_EXPORT int uncore_session_enable(struct uncore_session *session);
UNCORE_EXPORT int uncore_session_disable(struct uncore_session *session);
/*
 * Reads all counters.  UNCORE_GONE names a box that stopped answering or a CPU
 * that went offline, once; whatever could be read is there.
 */
UNCORE_EXPORT int uncore_session_read(struct uncore_session *session);

/*
 * Makes the values of what was added, in that order: events, then metrics.
 * Returns how many there are; 0 before uncore_session_open().
 */
UNCORE_EXPORT size_t uncore_session_evaluate(struct uncore_session *session,
					     enum uncore_scope scope,
					     enum uncore_period period);
/* A value of the last uncore_session_evaluate(); UNCORE_MISUSE beyond its end. */
UNCORE_EXPORT int uncore_session_value(const struct uncore_session *session,
				       size_t index, struct uncore_value *value);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampling event with its ring buffer, which is read here and not by perf, so that
 * each sample is seen once and every lost one is noticed; and the driver's statistics
 * of overflows.
 */
#ifndef SELFTESTS_SAMPLER_H
#define SELFTESTS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

#include "catalogue.h"

/* Fields of each sample */
#define SAMPLER_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* Further fields if attr.sample_type has them: call chain and registers */
#define SAMPLER_CHAIN	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_INTR)

/**
 * struct sample - one that an event took
 * @kernel: it hit the kernel
 * @calls: with SAMPLER_CHAIN, the addresses of its call chain
 * @first: the first of them
 * @bp, @sp, @flags: with SAMPLER_CHAIN, what these registers were
 */
struct sample {
	uint64_t ip, time, period;
	uint32_t pid, tid, cpu;
	bool kernel;
	uint64_t calls, first;
	uint64_t bp, sp, flags;
};

/**
 * struct sampler - an event that samples
 * @fd: its descriptor, negative when it is not open
 * @cpu: where it is; every sample must come from there
 * @period: every sample's period must be a multiple of it; 0: perf chooses it
 * @chain: they have SAMPLER_CHAIN
 * @shares: the event joins one that counts already: its first period may be shorter
 * @weight: sum of the samples' periods
 * @samples: seen so far
 * @periods: sample periods that they account for, or their number when perf chooses it
 * @lost: samples that did not fit into the buffer
 * @throttled, @unthrottled: how often perf did that
 * @odd: samples with another CPU or period, or older than the one before
 * @last: the last one
 * @each: called for each one, may be NULL
 */
struct sampler {
	int fd, cpu;
	bool chain, shares;
	uint64_t period, weight;
	uint64_t samples, periods, lost, throttled, unthrottled, odd;
	struct sample last;
	void (*each)(struct sampler *s, const struct sample *sample);
	struct perf_event_mmap_page *ring;
	size_t ring_size;
};

/*
 * Open @attr, which has the period or frequency, on @cpu, and start it when it has its
 * buffer, unless attr.disabled is set. Return 0 or -errno.
 */
int sampler_open_attr(struct sampler *s, const struct perf_event_attr *attr,
		      int cpu);
/*
 * The same from an event string and a period. On a CPU that is not in the PMU's cpumask
 * the event shares the counter of one that is.
 */
int sampler_open(struct sampler *s, const char *pmu, int cpu, uint64_t period,
		 const char *event, ...) __attribute__((format(printf, 5, 6)));
/*
 * Read the buffer; return the number of sample periods so far. The driver delivers one
 * sample for all periods that have ended since it last read the counter.
 */
uint64_t sampler_drain(struct sampler *s);
/* Read the buffer until @n periods have been sampled, or a few seconds have passed. */
uint64_t sampler_wait(struct sampler *s, uint64_t n);
/* The same; then wait for samples that must not arrive. */
uint64_t sampler_settle(struct sampler *s, uint64_t n);
int sampler_enable(struct sampler *s);
int sampler_disable(struct sampler *s);
void sampler_close(struct sampler *s);
/*
 * Return whether all samples were in order, of the right CPU and period, and none was
 * lost.
 */
bool sampler_clean(const struct sampler *s, const char *what);

/*
 * Return whether boxes of this type can interrupt. CBo and SBo cannot: a timer polls
 * them.
 */
bool signals(const char *type);
/*
 * An event of this box type that counts each cycle, if necessary on a fixed counter;
 * and one for any general counter that obeys no filter. NULL: there is none.
 */
const struct cat_event *ticks_of(const char *type);
const struct cat_event *plain_of(const char *type);
/*
 * Send @n transactions of event @e to box @pmu of package @pkg, each of @value. For an
 * event with several conditions they just meet these.
 */
int send_traffic(const char *pmu, int pkg, const struct cat_event *e,
		 uint64_t n, unsigned int value);

/* Check that a counter of @pmu's box in package 0 is set to @value. */
bool counter_is_set(const char *pmu, uint64_t value);

/* /sys/module/xeon_uncore/package@pkg/@name; UINT64_MAX: not there. */
uint64_t package_stat(int pkg, const char *name);
/* The same of overflow_@name. */
uint64_t overflow_stat(int pkg, const char *name);
/*
 * Set perf's limit of samples a second, above which it throttles; the old limit is
 * restored at exit. Return 0 or -errno.
 */
int max_sample_rate(unsigned int samples_per_second);
/* Restore it at exit, whichever process sets it until then. Return 0 or -errno. */
int keep_sample_rate(void);
void sleep_ms(unsigned int ms);
/* Nanoseconds of the clock that samples use */
uint64_t now_ns(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampling event with its ring buffer; events and traffic for tests of sampling; the
 * driver's statistics of overflows; perf's sample rate limit. The tests read the ring
 * buffer without perf, so that they see each sample once and notice each lost sample.
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
 * struct sample - a sample
 * @ip, @time, @period, @pid, @tid, @cpu: fields of SAMPLER_TYPE
 * @kernel: the sample hit the kernel
 * @calls: with SAMPLER_CHAIN, number of addresses in the call chain
 * @first: with SAMPLER_CHAIN, first address of the call chain
 * @bp, @sp, @flags: with SAMPLER_CHAIN, values of these registers
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
 * @fd: descriptor, negative if the event is not open
 * @cpu: CPU of the event; every sample must come from this CPU
 * @chain: samples have the fields of SAMPLER_CHAIN
 * @shares: the event shares the counter of an event that counts already, so the first
 *	period may be shorter
 * @period: sample period, of which each sample's period must be a multiple; 0: perf
 *	chooses the sample period
 * @weight: sum of the samples' periods
 * @samples: number of samples so far
 * @periods: number of sample periods so far, at least one for each sample; the number of
 *	samples if perf chooses the sample period
 * @lost: number of samples that did not fit into the buffer
 * @throttled, @unthrottled: number of times that perf throttled and unthrottled the event
 * @odd: number of samples with a wrong CPU or period, or older than the sample before
 * @last: last sample
 * @each: function to call for each sample, or NULL
 * @ring, @ring_size: mapped ring buffer
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
 * Open the event of @attr, which has the sample period or the frequency, on @cpu, and map
 * its ring buffer. Then enable the event, unless attr.disabled is set. Return 0 or -errno.
 */
int sampler_open_attr(struct sampler *s, const struct perf_event_attr *attr,
		      int cpu);
/*
 * Open a sampling event as sampler_open_attr(), from an event string and a sample period.
 * If @cpu is not in the PMU's cpumask, the event shares the counter of an event on the
 * CPU in the cpumask. Return 0 or -errno.
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
/*
 * Read the buffer as sampler_wait(); then wait long enough for the driver's check for lost
 * PMIs, and read samples that must not arrive. Return the number of sample periods so far.
 */
uint64_t sampler_settle(struct sampler *s, uint64_t n);
int sampler_enable(struct sampler *s);
int sampler_disable(struct sampler *s);
void sampler_close(struct sampler *s);
/*
 * Return whether all samples were in order and had the right CPU and period, and no
 * sample was lost.
 */
bool sampler_clean(const struct sampler *s, const char *what);

/*
 * Return whether boxes of @type can interrupt. Haswell's CBo and SBo cannot: a timer
 * polls them.
 */
bool signals(const char *type);
/*
 * Find an event of box type @type that adds one in each cycle: of a general counter or,
 * if there is none, of the fixed counter. Return NULL if the box type has no such event.
 */
const struct cat_event *ticks_of(const char *type);
/*
 * Find the event of box type @type that the most general counters can count and that
 * needs no filter. Return NULL if the box type has no such event.
 */
const struct cat_event *plain_of(const char *type);
/*
 * Send @n transactions of event @e, each of value @value, to the box of @pmu in package
 * @pkg. If the event has several conditions, the transactions just meet the conditions.
 * Return 0 or -errno.
 */
int send_traffic(const char *pmu, int pkg, const struct cat_event *e,
		 uint64_t n, unsigned int value);

/* Wait some seconds until a counter of @pmu's box in package 0 has the value @value. */
bool counter_is_set(const char *pmu, uint64_t value);

/* Number in /sys/module/xeon_uncore/package@pkg/@name; UINT64_MAX if there is no file */
uint64_t package_stat(int pkg, const char *name);
/* Number in /sys/module/xeon_uncore/package@pkg/overflow_@name, as package_stat() */
uint64_t overflow_stat(int pkg, const char *name);
/*
 * Set perf's limit of samples a second, above which perf throttles an event. Restore the
 * old limit at exit. Return 0 or -errno.
 */
int max_sample_rate(unsigned int samples_per_second);
/*
 * Restore the current sample rate limit when this process exits, also if a child process
 * sets another limit. Return 0 or -errno.
 */
int keep_sample_rate(void);
void sleep_ms(unsigned int ms);
/* Nanoseconds of the clock that samples use */
uint64_t now_ns(void);

#endif

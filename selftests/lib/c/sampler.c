// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sampling event with its ring buffer, events and traffic for sampling tests, and the
 * driver's statistics.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <asm/perf_regs.h>

#include "perf.h"
#include "file.h"
#include "generation.h"
#include "machine.h"
#include "sampler.h"
#include "sim.h"
#include "tap.h"

#define RATE_LIMIT	"/proc/sys/kernel/perf_event_max_sample_rate"
#define CPU_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"

enum {
	RING_BYTES = 1 << 21,	/* a power of two; about 40,000 samples */
	WAIT_MS = 5000,
	SET_MS = 10000,		/* longer than an exhausted freeze budget takes to recover */
	SETTLE_MS = 60,		/* longer than the driver's check for lost PMIs takes */
	MAX_CALLS = 32,
	MAX_CONTEXTS = 4,	/* PERF_CONTEXT_KERNEL and PERF_CONTEXT_USER in a chain */
	REGISTERS = 3,
};

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

int sampler_open_attr(struct sampler *s, const struct perf_event_attr *attr,
		      int cpu)
{
	struct perf_event_attr a = *attr;
	void *ring;

	*s = (struct sampler){
		.cpu = cpu,
		.period = a.freq ? 0 : a.sample_period,
		.ring_size = RING_BYTES + sysconf(_SC_PAGESIZE),
	};
	s->chain = a.sample_type == SAMPLER_CHAIN;
	if (s->chain) {
		a.sample_max_stack = MAX_CALLS;
		a.sample_regs_intr = 1 << PERF_REG_X86_BP |
				     1 << PERF_REG_X86_SP |
				     1 << PERF_REG_X86_FLAGS;
	}
	a.sample_type |= SAMPLER_TYPE;
	a.use_clockid = 1;
	a.clockid = CLOCK_MONOTONIC;
	a.disabled = 1;
	s->fd = perf_open(&a, -1, cpu, -1);
	if (s->fd < 0)
		return s->fd;
	ring = mmap(NULL, s->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    s->fd, 0);
	if (ring == MAP_FAILED) {
		int err = -errno;

		close(s->fd);
		s->fd = err;
		return err;
	}
	s->ring = ring;
	return attr->disabled ? 0 : sampler_enable(s);
}

int sampler_open(struct sampler *s, const char *pmu, int cpu, uint64_t period,
		 const char *event, ...)
{
	struct perf_event_attr attr;
	char text[512];
	va_list args;
	int err;

	va_start(args, event);
	vsnprintf(text, sizeof(text), event, args);
	va_end(args);
	err = pmu_attr(&attr, pmu, text);
	if (err) {
		*s = (struct sampler){ .fd = err };
		return err;
	}
	attr.sample_period = period;
	err = sampler_open_attr(s, &attr, cpu);
	s->shares = true;
	for (int pkg = 0; pkg < packages(); pkg++)
		s->shares &= pmu_cpu(pmu, pkg) != cpu;
	return err;
}

int sampler_enable(struct sampler *s)
{
	return ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int sampler_disable(struct sampler *s)
{
	return ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

void sampler_close(struct sampler *s)
{
	if (s->ring)
		munmap(s->ring, s->ring_size);
	if (s->fd >= 0)
		close(s->fd);
	s->ring = NULL;
	s->fd = -EBADF;
}

/* A record of the ring buffer; fields of SAMPLER_TYPE in the order of perf's ABI */
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint64_t ip;
			uint32_t pid, tid;
			uint64_t time;
			uint32_t cpu, unused;
			uint64_t period;
			/*
			 * SAMPLER_CHAIN: number of addresses, addresses, ABI of the
			 * registers, registers
			 */
			uint64_t chain[1 + MAX_CALLS + MAX_CONTEXTS + 1 +
				       REGISTERS];
		} sample;
		struct {
			uint64_t id, lost;
		} lost;
	};
};

/* Read the call chain and the registers of a sample. */
static void take_chain(struct sample *sample, const uint64_t *chain)
{
	uint64_t n = *chain++;

	if (n > MAX_CALLS + MAX_CONTEXTS)
		tap_bail("a call chain of %" PRIu64 " addresses", n);
	for (; n--; chain++) {
		if (*chain >= PERF_CONTEXT_MAX)
			continue;
		if (!sample->calls++)
			sample->first = *chain;
	}
	if (*chain++ == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	/* registers are in the order of their numbers: BP, SP, FLAGS */
	sample->bp = *chain++;
	sample->sp = *chain++;
	sample->flags = *chain++;
}

/*
 * Return whether a sample's period is a multiple of the event's sample period. The first
 * period of an event that shares a counter may have any length.
 */
static bool is_right_period(const struct sampler *s, uint64_t period)
{
	return !s->period || (period && period % s->period == 0) ||
	       (s->shares && !s->samples);
}

/*
 * Number of sample periods of a sample, rounded up: the first period of an event that
 * shares a counter may be a part of a sample period.
 */
static uint64_t periods_of(const struct sampler *s, const struct sample *sample)
{
	return s->period ? (sample->period + s->period - 1) / s->period : 1;
}

/* Count a record of the ring buffer, and check its fields if it is a sample. */
static void take(struct sampler *s, const struct record *r)
{
	struct sample sample;

	switch (r->header.type) {
	case PERF_RECORD_SAMPLE:
		sample = (struct sample){
			.ip = r->sample.ip, .time = r->sample.time,
			.period = r->sample.period, .pid = r->sample.pid,
			.tid = r->sample.tid, .cpu = r->sample.cpu,
			.kernel = (r->header.misc &
				   PERF_RECORD_MISC_CPUMODE_MASK) ==
				  PERF_RECORD_MISC_KERNEL,
		};
		if (s->chain)
			take_chain(&sample, r->sample.chain);
		if ((int)sample.cpu != s->cpu || sample.time < s->last.time ||
		    !is_right_period(s, sample.period))
			s->odd++;
		s->samples++;
		s->periods += periods_of(s, &sample);
		s->weight += sample.period;
		s->last = sample;
		if (s->each)
			s->each(s, &sample);
		break;
	case PERF_RECORD_LOST:
		s->lost += r->lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		s->throttled++;
		break;
	case PERF_RECORD_UNTHROTTLE:
		s->unthrottled++;
		break;
	}
}

uint64_t sampler_drain(struct sampler *s)
{
	const char *data;
	uint64_t head, tail, size;

	if (!s->ring)
		return s->periods;
	data = (const char *)s->ring + s->ring->data_offset;
	size = s->ring->data_size;
	tail = s->ring->data_tail;
	head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		struct perf_event_header header;
		struct record r = { 0 };
		char *bytes = (char *)&r;

		/*
		 * Records consist of words of 8 bytes, so the end of the buffer may
		 * divide a record, but not a word.
		 */
		memcpy(&header, data + tail % size, sizeof(header));
		for (uint64_t i = 0; i < header.size && i < sizeof(r); i += 8)
			memcpy(bytes + i, data + (tail + i) % size, 8);
		take(s, &r);
		tail += header.size;
	}
	__atomic_store_n(&s->ring->data_tail, tail, __ATOMIC_RELEASE);
	return s->periods;
}

uint64_t sampler_wait(struct sampler *s, uint64_t n)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (sampler_drain(s) < n && now_ns() < end)
		sleep_ms(1);
	return s->periods;
}

uint64_t sampler_settle(struct sampler *s, uint64_t n)
{
	sampler_wait(s, n);
	sleep_ms(SETTLE_MS);
	return sampler_drain(s);
}

bool sampler_clean(const struct sampler *s, const char *what)
{
	bool ok = check_eq(s->lost, 0, "%s: lost records", what);

	return ok & check_eq(s->odd, 0,
			     "%s: samples of a wrong CPU, period or time",
			     what);
}

bool signals(const char *type)
{
	const struct box_type *t = box_type(type);

	return t && t->interrupts;
}

/* Return whether the event adds one in each cycle. */
static bool is_clock(const struct cat_event *e)
{
	for (unsigned int t = 0; t < e->period; t++)
		if (e->wave[t] != 1)
			return false;
	return true;
}

const struct cat_event *ticks_of(const char *type)
{
	const struct cat_event *fixed = NULL;

	for_each_cat_event(e) {
		if (strcmp(e->box, type) || e->free || !is_clock(e))
			continue;
		if (!e->fixed)
			return e;
		fixed = e;
	}
	return fixed;
}

const struct cat_event *plain_of(const char *type)
{
	const struct cat_event *best = NULL;
	int most = 0;

	for_each_cat_event(e) {
		int ctrs = __builtin_popcount(e->ctrs);

		if (!cat_is_plain(e, type) || e->exact || ctrs <= most ||
		    (e->period < 2 && cat_has_waves(type)))
			continue;
		best = e;
		most = ctrs;
	}
	return best;
}

/* Return the value of @field in an event string, or 0. */
static unsigned int term_of(const char *string, const char *field)
{
	size_t length = strlen(field);

	for (; string; string = strchr(string, ',')) {
		string += *string == ',';
		if (!strncmp(string, field, length) && string[length] == '=')
			return strtoul(string + length + 1, NULL, 0);
	}
	return 0;
}

static unsigned int lowest_bit(unsigned int value)
{
	return value & -value;
}

/*
 * Send look-ups or snoops to a box of Xeon 7100 or 7400. These transactions have
 * attributes and not an event; take the attributes from the fields of @e.
 */
static int send_attributes(const char *pmu, int pkg, const struct cat_event *e,
			   uint64_t n)
{
	unsigned int core = term_of(e->string, "core");
	unsigned int fill = term_of(e->string, "fill");

	if (!core)
		core = term_of(e->string, "module");
	/* for an event that counts fills of any kind send fills without an eviction */
	if (fill == 1)
		fill = 2;
	return sim_traffic("pkg=%d box=%s count=%" PRIu64
			   " agent=%#x flow=%#x type=%#x snoop=%#x state=%#x core=%u fill=%u cross=%u block=%u",
			   pkg, pmu_box(pmu), n,
			   /* by the register's bits, some of which the 7400 reserves */
			   lowest_bit(e->config >> 32 & 0x3f),
			   lowest_bit(term_of(e->string, "flow")),
			   lowest_bit(term_of(e->string, "type")),
			   lowest_bit(term_of(e->string, "snoop")),
			   lowest_bit(term_of(e->string, "state")), core, fill,
			   term_of(e->string, "cross"),
			   term_of(e->string, "block"));
}

int send_traffic(const char *pmu, int pkg, const struct cat_event *e,
		 uint64_t n, unsigned int value)
{
	if (!cat_has_waves(e->box))
		return send_attributes(pmu, pkg, e, n);
	return sim_traffic("pkg=%d box=%s event=%#x umask=%#x count=%" PRIu64
			   " value=%u", pkg, pmu_box(pmu), e->code, e->umask, n,
			   value);
}

/* Return whether a general counter or the fixed counter of a box in package 0 is @value. */
static bool any_counter_is(const char *box, uint64_t value)
{
	char name[64];
	uint64_t raw;

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s ctr%d", box, i);
		if (i == 4)
			snprintf(name, sizeof(name), "%s fixed_ctr", box);
		if (sim_register(0, name, &raw) && raw == value)
			return true;
	}
	return false;
}

bool counter_is_set(const char *pmu, uint64_t value)
{
	uint64_t end = now_ns() + SET_MS * 1000000ULL;
	const char *box = strchr(pmu, '_') + 1;

	while (now_ns() < end) {
		if (any_counter_is(box, value))
			return true;
		sleep_ms(1);
	}
	return check(false, "%s: no counter is set to %#jx", pmu,
		     (uintmax_t)value);
}

uint64_t package_stat(int pkg, const char *name)
{
	char path[128];
	uint64_t value;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/xeon_uncore/package%d/%s", pkg,
		 name);
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	/* the number is decimal, or hexadecimal with 0x */
	if (fscanf(f, "%" SCNi64, (int64_t *)&value) != 1)
		value = UINT64_MAX;
	fclose(f);
	return value;
}

uint64_t overflow_stat(int pkg, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "overflow_%s", name);
	return package_stat(pkg, file);
}

static char old_rate[32];	/* limit to restore at exit, or "" */

/*
 * Set the sample rate limit. perf refuses a new limit while the CPU time limit is off, so
 * set the CPU time limit to 25 % first. With a CPU time limit perf lowers the sample rate
 * limit when samples take long, as on an emulated CPU.
 */
static int set_rate(const char *rate)
{
	return file_write(CPU_PERCENT, "25") ?: file_write(RATE_LIMIT, rate);
}

static void restore_rate(void)
{
	set_rate(old_rate);
}

int keep_sample_rate(void)
{
	FILE *f;

	if (old_rate[0])
		return 0;
	f = fopen(RATE_LIMIT, "re");
	if (!f)
		return -ENOENT;
	if (!fgets(old_rate, sizeof(old_rate), f))
		old_rate[0] = '\0';
	fclose(f);
	if (!old_rate[0])
		return -ENOENT;
	atexit(restore_rate);
	return 0;
}

int max_sample_rate(unsigned int samples_per_second)
{
	char text[32];
	int err = keep_sample_rate();

	if (err)
		return err;
	snprintf(text, sizeof(text), "%u", samples_per_second);
	return set_rate(text) ?: file_write(CPU_PERCENT, "0");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What must be refused at open, with which error, and that nothing has been
 * programmed after it: reserved bits, filters without use, groups that can
 * never count together, and what an uncore cannot do at all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* --- refusals ------------------------------------------------------------ */

/* Opens @attr, expects @error and no write to any register. */
static bool refused(const struct perf_event_attr *attr, int pid, int cpu,
		    int group, int error, const char *what)
{
	bool ok;
	int fd;

	sim_trace_clear();
	fd = perf_open(attr, pid, cpu, group);
	ok = check(fd == -error, "%s: %s, expected %s", what,
		   fd >= 0 ? "opened" : strerror(-fd), strerror(error));
	ok &= check_eq(sim_trace_writes(), 0, "%s: register writes", what);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Bits of config, config1 and config2 that the PMU's format directory names. */
static void format_bits(const char *pmu, uint64_t bits[3])
{
	static const char *const fields[] = {
		"event", "umask", "edge", "inv", "thresh", "tid_en",
		"filter_tid", "filter_cid", "filter_link", "filter_state",
		"filter_nid", "filter_opc", "filter_c6", "filter_nc",
		"filter_isoc", "filter_addr", "occ_sel", "occ_invert",
		"occ_edge", "filter_band0", "filter_band1", "filter_band2",
		"filter_band3", "match_tx", "match0", "match1", "mask0", "mask1",
		"agent", "flow", "type", "snoop", "state", "core", "module",
		"fill", "cross", "block", "submask", "valid",
	};

	memset(bits, 0, 3 * sizeof(*bits));
	for (unsigned int i = 0; i < COUNT(fields); i++) {
		char file[64], text[64];
		unsigned int word = 0;
		char *p, *end;

		snprintf(file, sizeof(file), "format/%s", fields[i]);
		if (pmu_file(pmu, file, text, sizeof(text)))
			continue;
		sscanf(text, "config%u", &word);
		for (p = strchr(text, ':') + 1; *p; p = *end ? end + 1 : end) {
			unsigned int low = strtoul(p, &end, 10), high = low;

			if (*end == '-')
				high = strtoul(end + 1, &end, 10);
			for (; low <= high; low++)
				bits[word] |= 1ULL << low;
		}
	}
}

/*
 * The configuration of an event that opens: 0, or the first of the catalogue where
 * 0 is a counter that is off.
 */
static uint64_t right_config(const char *kind)
{
	size_t n;
	const struct cat_event *e;

	if (!generation()->one_a_cycle)
		return 0;
	e = catalogue(&n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, kind))
			return e[i].config;
	tap_bail("the catalogue has no event of %s", kind);
}

/* Every bit without a name, one at a time, over an event that is right. */
static void test_unknown_bits(const char *kind)
{
	char pmu[PMU_NAME_MAX], what[64];
	struct perf_event_attr attr;
	unsigned int n = 0;
	uint64_t known[3];
	bool ok = true;
	int cpu, fd;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: bits without a name", kind);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	format_bits(pmu, known);
	for (unsigned int bit = 0; bit < 3 * 64; bit++) {
		unsigned int word = bit / 64;
		uint64_t set = 1ULL << bit % 64;

		if (known[word] & set)
			continue;
		pmu_attr(&attr, pmu, "");
		attr.config = right_config(kind) | (word == 0 ? set : 0);
		attr.config1 = word == 1 ? set : 0;
		attr.config2 = word == 2 ? set : 0;
		snprintf(what, sizeof(what), "%s config%u bit %u", pmu, word,
			 bit % 64);
		ok &= refused(&attr, -1, cpu, -1, EINVAL, what);
		n++;
	}
	pmu_attr(&attr, pmu, "");
	attr.config = right_config(kind);
	fd = perf_open(&attr, -1, cpu, -1);
	ok &= check(fd >= 0, "without any the event does not open: %s",
		    strerror(-fd));
	close(fd);
	tap_ok(ok && n, "%s: %u bits without a name are refused", pmu, n);
}

/* An event string that is refused with EINVAL. */
struct bad_event {
	const char *what, *kind, *event;
};

static const struct bad_event bad_events[] = {
	{ "opcode of a clock", "cbox", "event=0,filter_opc=0x182" },
	{ "opcode of a lookup", "cbox", "event=0x34,umask=0x11,filter_opc=0x182" },
	{ "opcode without the opcode subevent", "cbox",
	  "event=0x35,umask=0x08,filter_opc=0x182" },
	{ "nc without the opcode subevent", "cbox",
	  "event=0x35,umask=0x08,filter_nc=1" },
	{ "isoc without the opcode subevent", "cbox",
	  "event=0x36,umask=0x08,filter_isoc=1" },
	{ "c6 of a clock", "cbox", "event=0,filter_c6=1" },
	{ "link of a clock", "cbox", "event=0,filter_link=1" },
	{ "state of a TOR event", "cbox",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_state=1" },
	{ "node without the node subevent", "cbox",
	  "event=0x35,umask=0x08,filter_nid=1" },
	{ "thread without tid_en", "cbox", "event=0x35,umask=0x08,filter_tid=2" },
	{ "thread of another event", "ubox", "event=0x46,filter_tid=1" },
	{ "core of another event", "ubox", "event=0x46,filter_cid=1" },
	{ "address of a clock", "ha", "event=0,filter_addr=0x1000" },
	{ "address with opcode subevents only", "ha",
	  "event=0x20,umask=0x02,filter_addr=0x1000" },
	{ "opcode with the address subevent only", "ha",
	  "event=0x20,umask=0x01,filter_addr=0x1000,filter_opc=1" },
	{ "address inside a cache line", "ha",
	  "event=0x20,umask=0x01,filter_addr=0x1020" },
	{ "band of a clock", "pcu", "event=0,filter_band0=20" },
	{ "another event's band", "pcu", "event=0x0b,filter_band1=20" },
	{ "umask of an ordinary event", "pcu", "event=0x60,umask=1" },
	{ "match of a clock", "qpi", "event=0x14,match_mc=0xe" },
	{ "mask of a clock", "qpi", "event=0x14,mask0=0x1fe0" },
	{ "transmit side of a clock", "qpi", "event=0x14,match_tx=1" },
	{ "match of event 0x38 without the extension", "qpi",
	  "event=0x38,match_mc=0xe" },
	{ "reserved bits of match0", "qpi", "event=0x138,match0=0x1,mask0=0x1" },
	{ "reserved bits of mask1", "qpi", "event=0x138,mask1=0x100000" },
	{ "threshold of a fixed counter", "ubox", "event=0xff,thresh=1" },
	{ "edge of a fixed counter", "ubox", "event=0xff,edge=1" },
	{ "inv of a fixed counter", "imc", "event=0xff,inv=1" },
	{ "threshold of a fixed counter", "imc", "event=0xff,thresh=1" },
	{ "unknown umask of a fixed counter", "imc", "event=0xff,umask=1" },
	{ "filter of a fixed counter", "ubox", "event=0xff,filter_tid=1" },
	{ "fixed counter of a box without one", "cbox", "event=0xff" },
	{ "fixed counter of a box without one", "sbox", "event=0xff" },
	{ "fixed counter of a box without one", "ha", "event=0xff" },
	{ "threshold of a free-running counter", "pcu",
	  "event=0xff,umask=0x12,thresh=1" },
	{ "edge of a free-running counter", "pcu", "event=0xff,umask=0x12,edge=1" },
	{ "filter of a free-running counter", "pcu",
	  "event=0xff,umask=0x13,filter_band0=20" },
	{ "C3 residency of a core", "pcu", "event=0xff,umask=0x10" },
	{ "C6 residency of a core", "pcu", "event=0xff,umask=0x11" },
	{ "unknown free-running counter", "pcu", "event=0xff,umask=0x1f" },
	{ "threshold of a free-running counter", "qpi",
	  "event=0xff,umask=0x10,thresh=1" },
	{ "match of a free-running counter", "qpi",
	  "event=0xff,umask=0x11,match_mc=0xe" },
	{ "extension of a free-running counter", "qpi", "event=0x1ff,umask=0x10" },
	{ "a control of 0, which is off", "gbsq", "config=0" },
	{ "a control of 0, which is off", "gsnpq", "config=0" },
	{ "a control of 0, which is off", "fsb", "config=0" },
	{ "the bus without its valid bit", "fsb", "submask=0x28000" },
	{ "saturation", "gbsq", "lookups.any,config=0x083fffff00000000" },
	{ "saturation", "gsnpq", "snoops.any,config=0x083fffff00000000" },
	{ "saturation", "fsb", "config=0x0c02800000000000" },
};

static void test_bad_event(const struct bad_event *b)
{
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	int err;

	if (!pmu_name(pmu, b->kind, 0)) {
		tap_skip("no such PMU", "%s: %s", b->kind, b->what);
		return;
	}
	if (generation_lacks(b->kind, b->event)) {
		tap_skip("no such field", "%s: %s", b->kind, b->what);
		return;
	}
	err = pmu_attr(&attr, pmu, b->event);
	tap_ok(check(!err, "%s: %s", b->event, strerror(-err)) &&
	       refused(&attr, -1, pmu_cpu(pmu, 0), -1, EINVAL, b->event),
	       "%s: %s", b->kind, b->what);
}

/* Groups whose last member is refused; all before it fit. */
struct bad_group {
	const char *what, *kind;
	const char *event[6];
};

static const struct bad_group bad_groups[] = {
	{ "five different events on four counters", "cbox",
	  { "event=0", "event=0,thresh=1", "event=0,thresh=2",
	    "event=0,thresh=3", "event=0,thresh=4" } },
	{ "five different events on four counters", "imc",
	  { "event=0", "event=0,thresh=1", "event=0,thresh=2",
	    "event=0,thresh=3", "event=0,thresh=4" } },
	{ "four different events on three counters", "r3qpi",
	  { "event=1", "event=1,thresh=1", "event=1,thresh=2",
	    "event=1,thresh=3" } },
	{ "three different events on two counters", "ubox",
	  { "event=0x46", "event=0x46,thresh=1", "event=0x46,thresh=2" } },
	{ "two events that need counter 0", "cbox",
	  { "event=0x36,umask=0x08", "event=0x11,umask=0x01" } },
	{ "two opcodes", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x182",
	    "event=0x35,umask=0x01,filter_opc=0x180" } },
	{ "an opcode, and the same with nc", "cbox",
	  { "event=0x35,umask=0x01,filter_opc=0x182",
	    "event=0x35,umask=0x01,filter_opc=0x182,filter_nc=1" } },
	{ "two states", "cbox",
	  { "event=0x34,umask=0x11,filter_state=1",
	    "event=0x34,umask=0x11,filter_state=2" } },
	{ "two nodes", "cbox",
	  { "event=0x35,umask=0x48,filter_nid=1",
	    "event=0x37,umask=0x41,filter_nid=2" } },
	{ "two threads", "cbox",
	  { "event=0,tid_en=1,filter_tid=1", "event=0x35,umask=0x08,tid_en=1,filter_tid=2" } },
	{ "two cores", "ubox",
	  { "event=0x42,umask=0x08,filter_cid=1",
	    "event=0x45,umask=0x01,filter_cid=2" } },
	{ "two addresses", "ha",
	  { "event=0x20,umask=0x01,filter_addr=0x1000",
	    "event=0x20,umask=0x01,filter_addr=0x2000" } },
	{ "two opcodes", "ha",
	  { "event=0x20,umask=0x04,filter_opc=1",
	    "event=0x20,umask=0x08,filter_opc=2" } },
	{ "two values of one band", "pcu",
	  { "event=0x0c,filter_band1=10", "event=0x0c,filter_band1=20" } },
	{ "two packet filters", "qpi",
	  { "event=0x138,match_mc=0xe,mask_mc=0xf",
	    "event=0x138,match_mc=0xc,mask_mc=0xf" } },
	{ "three different events on two counters", "gbsq",
	  { "lookups.any", "lookups.demand", "lookups.prefetch" } },
	{ "three different events on two counters", "gsnpq",
	  { "snoops.any", "snoops.hit", "snoops.hitm" } },
	{ "five different events on four counters", "fsb",
	  { "dbsy", "drdy", "bnr", "l_hit", "l_hitm" } },
	{ "receive and transmit filter", "qpi",
	  { "event=0x138,match_mc=0xe,mask_mc=0xf",
	    "event=0x138,match_mc=0xe,mask_mc=0xf,match_tx=1" } },
};

static void test_bad_group(const struct bad_group *b)
{
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	int fd[COUNT(b->event)];
	unsigned int n = 0, last = 0;
	bool ok = true;
	int cpu;

	while (last < COUNT(b->event) && b->event[last])
		last++;
	if (!last)
		return;
	if (generation_lacks(b->kind, b->event[last - 1])) {
		tap_skip("no such field", "%s: group: %s", b->kind, b->what);
		return;
	}
	if (!pmu_name(pmu, b->kind, 0)) {
		tap_skip("no such PMU", "%s: group: %s", b->kind, b->what);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	/* The leader is off, so that nothing but open itself could write. */
	for (; ok && n < last - 1; n++) {
		ok &= check(!pmu_attr(&attr, pmu, b->event[n]), "%s",
			    b->event[n]);
		attr.disabled = n == 0;
		fd[n] = perf_open(&attr, -1, cpu, n ? fd[0] : -1);
		ok &= check(fd[n] >= 0, "%s: %s", b->event[n],
			    strerror(-fd[n]));
	}
	if (ok) {
		ok &= check(!pmu_attr(&attr, pmu, b->event[last - 1]), "%s",
			    b->event[last - 1]);
		ok &= refused(&attr, -1, cpu, fd[0], EINVAL, b->event[last - 1]);
	}
	while (n--)
		close(fd[n]);
	tap_ok(ok, "%s: group: %s", b->kind, b->what);
}

static void test_group_of_two_boxes(void)
{
	char pmu[2][PMU_NAME_MAX];
	struct perf_event_attr attr;
	const char *kind = "cbox", *other = "cbox";
	bool ok;
	int fd;

	/* also where one register freezes both: perf has no groups across PMUs */
	if (generation()->one_a_cycle) {
		kind = "fsb";
		other = "gbsq";
	}
	if (!pmu_name(pmu[0], kind, 0) ||
	    !pmu_name(pmu[1], other, !strcmp(kind, other))) {
		tap_skip("no such PMU", "a group of two boxes");
		return;
	}
	pmu_attr(&attr, pmu[0], "");
	attr.config = right_config(kind);
	attr.disabled = 1;
	fd = perf_open(&attr, -1, pmu_cpu(pmu[0], 0), -1);
	ok = check(fd >= 0, "leader: %s", strerror(-fd));
	pmu_attr(&attr, pmu[1], "");
	attr.config = right_config(other);
	ok &= refused(&attr, -1, pmu_cpu(pmu[0], 0), fd, EINVAL,
		      "member of another box");
	close(fd);
	tap_ok(ok, "a group of two boxes");
}

/* --- what an uncore cannot do -------------------------------------------- */

static void test_attributes(const char *kind)
{
	char pmu[PMU_NAME_MAX];
	struct perf_event_attr base, attr;
	bool ok = true;
	int cpu;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: attributes", kind);
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	pmu_attr(&base, pmu, "");
	base.config = right_config(kind);
#define REFUSED(field, value, error)					\
	do {								\
		attr = base;						\
		attr.field = value;					\
		ok &= refused(&attr, -1, cpu, -1, error, #field);	\
	} while (0)
	REFUSED(exclude_user, 1, EINVAL);
	REFUSED(exclude_kernel, 1, EINVAL);
	REFUSED(exclude_hv, 1, EINVAL);
	REFUSED(exclude_idle, 1, EINVAL);
	REFUSED(exclude_host, 1, EINVAL);
	REFUSED(exclude_guest, 1, EINVAL);
	tap_ok(ok, "%s: exclude_* are refused", pmu);

	ok = true;
	REFUSED(precise_ip, 1, EOPNOTSUPP);
#undef REFUSED
	tap_ok(ok, "%s: precise_ip is refused", pmu);

	ok = refused(&base, getpid(), -1, -1, EINVAL, "pid");
	ok &= refused(&base, getpid(), cpu, -1, EINVAL, "pid and CPU");
	ok &= refused(&base, 0, cpu, -1, EINVAL, "the caller itself");
	tap_ok(ok, "%s: task-bound events are refused", pmu);

	ok = refused(&base, -1, -1, -1, EINVAL, "cpu=-1");
	tap_ok(ok, "%s: an event on no CPU is refused", pmu);
}

/* Kernels since 6.3 have config3; older ones refuse what they do not know. */
static void test_config3(const char *kind)
{
	struct {
		struct perf_event_attr attr;
		uint64_t config3;
	} wide = { .config3 = 1 };
	char pmu[PMU_NAME_MAX];
	int fd;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "%s: config3", kind);
		return;
	}
	pmu_attr(&wide.attr, pmu, "");
	wide.attr.config = right_config(kind);
	wide.attr.size = PERF_ATTR_SIZE_VER7 + sizeof(wide.config3);
	memmove((char *)&wide + PERF_ATTR_SIZE_VER7, &wide.config3,
		sizeof(wide.config3));
	sim_trace_clear();
	fd = perf_open(&wide.attr, -1, pmu_cpu(pmu, 0), -1);
	tap_ok(check(fd == -EINVAL || fd == -E2BIG, "%s",
		     fd < 0 ? strerror(-fd) : "opened") &
	       check_eq(sim_trace_writes(), 0, "register writes"),
	       "%s: a bit in config3 is refused", pmu);
	if (fd >= 0)
		close(fd);
}

static void test_unprivileged(void)
{
	char pmu[PMU_NAME_MAX];
	struct perf_event_attr attr;
	const char *kind = generation()->one_a_cycle ? "fsb" : "imc";
	int status = 0, cpu, child;
	FILE *f;

	if (!pmu_name(pmu, kind, 0)) {
		tap_skip("no such PMU", "a user without CAP_PERFMON");
		return;
	}
	cpu = pmu_cpu(pmu, 0);
	pmu_attr(&attr, pmu, "");
	attr.config = right_config(kind);
	f = fopen("/proc/sys/kernel/perf_event_paranoid", "we");
	if (f) {
		fputs("2\n", f);
		fclose(f);
	}
	sim_trace_clear();
	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(255);
		_exit(-perf_open(&attr, -1, cpu, -1));
	}
	waitpid(child, &status, 0);
	tap_ok(check(WIFEXITED(status), "the child died") &
	       check_eq(WEXITSTATUS(status), EACCES, "errno") &
	       check_eq(sim_trace_writes(), 0, "register writes"),
	       "a user without CAP_PERFMON gets EACCES");
}

/* --- a package without the box ------------------------------------------- */

/* The simulated hardware has one package less than the machine. */
static void test_absent_package(void)
{
	char params[64], pmu[PMU_NAME_MAX];
	struct perf_event_attr attr;
	int n = packages(), cpu;
	bool ok = true;

	if (n < 2) {
		tap_skip("one package only", "a package without the uncore");
		return;
	}
	snprintf(params, sizeof(params), "clock=manual packages=%d", n - 1);
	machine_setup(params, "");
	cpu = package_cpu(n - 1, 0);
	for (unsigned int k = 0; k < BOX_KINDS; k++) {
		if (!*box_kinds[k] || (generation_lacks(box_kinds[k], "event") &&
				       !generation()->one_a_cycle))
			continue;
		if (!check(pmu_name(pmu, box_kinds[k], 0), "no %s", box_kinds[k])) {
			ok = false;
			continue;
		}
		pmu_attr(&attr, pmu, "");
		attr.config = right_config(box_kinds[k]);
		ok &= check_eq(pmu_cpu(pmu, n - 1), -1ULL, "%s: cpumask", pmu);
		sim_trace_clear();
		int fd = perf_open(&attr, -1, cpu, -1);

		ok &= check(fd == -EINVAL || fd == -ENODEV, "%s on CPU %d: %s",
			    pmu, cpu, fd < 0 ? strerror(-fd) : "opened");
		ok &= check_eq(sim_trace_writes(), 0, "%s: register writes", pmu);
		close(fd);
		fd = event_open(pmu, package_cpu(0, 0), "config=%#" PRIx64,
				right_config(box_kinds[k]));
		ok &= check(fd >= 0, "%s on package 0: %s", pmu, strerror(-fd));
		close(fd);
	}
	tap_ok(ok, "a CPU of a package without the box is refused");
}

int main(void)
{
	catalogue(NULL);
	machine_setup("clock=manual", "");
	for (unsigned int k = 0; k < BOX_KINDS; k++)
		if (*box_kinds[k])
			test_unknown_bits(box_kinds[k]);
	for (unsigned int i = 0; i < COUNT(bad_events); i++)
		test_bad_event(&bad_events[i]);
	for (unsigned int i = 0; i < COUNT(bad_groups); i++)
		test_bad_group(&bad_groups[i]);
	test_group_of_two_boxes();
	test_attributes("cbox");
	test_attributes("imc");
	test_attributes("fsb");
	test_config3("cbox");
	test_config3("imc");
	test_config3("fsb");
	test_unprivileged();
	test_absent_package();
	return tap_end();
}

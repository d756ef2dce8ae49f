// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filters: mixed traffic goes in, and an event with a filter counts exactly
 * its share of it. What the share is, this file works out by itself from the
 * manual's filter tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/catalogue.h"
#include "lib/generation.h"
#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static int last_package;

/* Transaction @i comes 2^i times, so that a sum says who was counted. */
static uint64_t times(unsigned int i)
{
	return 1ULL << i;
}

/* --- CBo (Tables 2-18 and 2-19) ------------------------------------------ */

struct request {
	unsigned int event, umask, tid, state, link, nid, opc;
	bool nc, c6, isoc;
};

#define RXR_IRQ_RETRY	0x32
#define TOR(...)	{ .event = 0x35, __VA_ARGS__ }
#define LOOKUP(...)	{ .event = 0x34, __VA_ARGS__ }

/* Unit mask bits: 0 has an opcode, 1 miss, 3 all, 5 local, 6 has a node. */
static const struct request requests[] = {
	TOR(.umask = 0x49, .tid = 0x00, .nid = 0x0001, .opc = 0x182),
	TOR(.umask = 0x49, .tid = 0x06, .nid = 0x0002, .opc = 0x182),
	TOR(.umask = 0x4b, .tid = 0x07, .nid = 0x0002, .opc = 0x182),
	TOR(.umask = 0x69, .tid = 0x06, .nid = 0x0001, .opc = 0x180),
	TOR(.umask = 0x6b, .tid = 0x1f, .nid = 0x8000, .opc = 0x180),
	TOR(.umask = 0x49, .tid = 0x3f, .nid = 0x0004, .opc = 0x1e4,
	    .nc = true),
	TOR(.umask = 0x49, .tid = 0x20, .nid = 0x0001, .opc = 0x182,
	    .isoc = true),
	TOR(.umask = 0x49, .tid = 0x01, .nid = 0x0001, .opc = 0x182,
	    .c6 = true),
	TOR(.umask = 0x49, .tid = 0x02, .nid = 0x0001, .opc = 0x182,
	    .nc = true),
	TOR(.umask = 0x49, .tid = 0x02, .nid = 0x0008, .opc = 0x182,
	    .link = 1),
	TOR(.umask = 0x49, .tid = 0x02, .nid = 0x0008, .opc = 0x182,
	    .link = 2),
	TOR(.umask = 0x49, .tid = 0x02, .nid = 0x0008, .opc = 0x182,
	    .link = 4),
	LOOKUP(.umask = 0x53, .tid = 0x06, .state = 0x01, .nid = 0x0001),
	LOOKUP(.umask = 0x53, .tid = 0x06, .state = 0x02, .nid = 0x0002),
	LOOKUP(.umask = 0x53, .tid = 0x02, .state = 0x04, .nid = 0x0001),
	LOOKUP(.umask = 0x53, .tid = 0x02, .state = 0x08, .nid = 0x0002),
	LOOKUP(.umask = 0x53, .tid = 0x02, .state = 0x10, .nid = 0x0001),
	LOOKUP(.umask = 0x53, .tid = 0x02, .state = 0x20, .nid = 0x0002),
	LOOKUP(.umask = 0x53, .tid = 0x02, .state = 0x40, .nid = 0x0001),
	LOOKUP(.umask = 0x45, .tid = 0x02, .state = 0x40, .nid = 0x0001),
	{ .event = 0x37, .umask = 0x41, .nid = 0x0001 },
	{ .event = 0x37, .umask = 0x41, .nid = 0x0002 },
	{ .event = 0x32, .umask = 0x41, .nid = 0x0002 },
	{ .event = 0x32, .umask = 0x41, .nid = 0x0004 },
	{ .event = 0x32, .umask = 0x11, .link = 1 },
	{ .event = 0x32, .umask = 0x11, .link = 2 },
	{ .event = 0x32, .umask = 0x11, .link = 4 },
	{ .event = 0x36, .umask = 0x49, .opc = 0x182, .nid = 0x0001 },
	{ .event = 0x36, .umask = 0x49, .opc = 0x181, .nid = 0x0002 },
};

/* A filter; a field that is not set does not filter. */
struct cbox_case {
	const char *what;
	unsigned int event, umask;
	bool tid_en, by_state, by_nid, by_request;
	struct request f;
};

static const struct cbox_case cbox_cases[] = {
	{ "no filter", 0x35, 0x08, .f = { 0 } },
	{ "tid 0", 0x35, 0x08, .tid_en = true, .f = { .tid = 0 } },
	{ "tid: core 3 thread 0", 0x35, 0x08, .tid_en = true,
	  .f = { .tid = 0x06 } },
	{ "tid: core 3 thread 1", 0x35, 0x08, .tid_en = true,
	  .f = { .tid = 0x07 } },
	{ "tid 0x3f, of no core", 0x35, 0x08, .tid_en = true,
	  .f = { .tid = 0x3f } },
	{ "nid 0", 0x35, 0x48, .by_nid = true, .f = { .nid = 0x1 } },
	{ "nid 1", 0x35, 0x48, .by_nid = true, .f = { .nid = 0x2 } },
	{ "nid 0 or 2", 0x35, 0x48, .by_nid = true, .f = { .nid = 0x5 } },
	{ "nid 15", 0x35, 0x48, .by_nid = true, .f = { .nid = 0x8000 } },
	{ "opc DRd", 0x35, 0x01, .by_request = true, .f = { .opc = 0x182 } },
	{ "opc RFO", 0x35, 0x01, .by_request = true, .f = { .opc = 0x180 } },
	{ "opc DRd that missed", 0x35, 0x03, .by_request = true,
	  .f = { .opc = 0x182 } },
	{ "opc RFO to local memory", 0x35, 0x21, .by_request = true,
	  .f = { .opc = 0x180 } },
	{ "opc and nid", 0x35, 0x41, .by_nid = true, .by_request = true,
	  .f = { .nid = 0x1, .opc = 0x182 } },
	{ "opc, nid and tid", 0x35, 0x41, .tid_en = true, .by_nid = true,
	  .by_request = true, .f = { .nid = 0x2, .opc = 0x182, .tid = 0x06 } },
	{ "opc and nc", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .nc = true } },
	{ "opc and isoc", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .isoc = true } },
	{ "opc and c6", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .c6 = true } },
	{ "opc and link 0", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .link = 1 } },
	{ "opc and link 2", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .link = 4 } },
	{ "opc and links 0 and 1", 0x35, 0x01, .by_request = true,
	  .f = { .opc = 0x182, .link = 3 } },
	{ "opc, occupancy", 0x36, 0x01, .by_request = true,
	  .f = { .opc = 0x182 } },
	{ "opc and nid, occupancy", 0x36, 0x41, .by_nid = true,
	  .by_request = true, .f = { .opc = 0x181, .nid = 0x2 } },
	{ "state I", 0x34, 0x03, .by_state = true, .f = { .state = 0x01 } },
	{ "state S", 0x34, 0x03, .by_state = true, .f = { .state = 0x02 } },
	{ "state E", 0x34, 0x03, .by_state = true, .f = { .state = 0x04 } },
	{ "state M", 0x34, 0x03, .by_state = true, .f = { .state = 0x08 } },
	{ "state F", 0x34, 0x03, .by_state = true, .f = { .state = 0x10 } },
	{ "state D", 0x34, 0x03, .by_state = true, .f = { .state = 0x20 } },
	{ "state M'", 0x34, 0x03, .by_state = true, .f = { .state = 0x40 } },
	{ "states S and F", 0x34, 0x03, .by_state = true,
	  .f = { .state = 0x12 } },
	{ "any state", 0x34, 0x03, .by_state = true, .f = { .state = 0x7f } },
	{ "state and nid", 0x34, 0x43, .by_state = true, .by_nid = true,
	  .f = { .state = 0x7e, .nid = 0x2 } },
	{ "state and tid", 0x34, 0x03, .by_state = true, .tid_en = true,
	  .f = { .state = 0x7f, .tid = 0x06 } },
	{ "nid, victims", 0x37, 0x41, .by_nid = true, .f = { .nid = 0x2 } },
	{ "nid, retries", 0x32, 0x40, .by_nid = true, .f = { .nid = 0x4 } },
	{ "retries for want of credits", 0x32, 0x10, .f = { 0 } },
	{ "link 0, retries", 0x32, 0x10, .f = { .link = 1 } },
	{ "links 1 and 2, retries", 0x32, 0x10, .f = { .link = 6 } },
};

static bool cbox_counts(const struct cbox_case *c, const struct request *r)
{
	const struct request *f = &c->f;

	if (c->event != r->event || (c->umask & r->umask) != c->umask)
		return false;
	if (c->tid_en && f->tid != r->tid)
		return false;
	if (c->by_state && !(f->state & r->state))
		return false;
	if (c->by_nid && !(f->nid & r->nid))
		return false;
	if (f->link && !(f->link & r->link))
		return false;
	if (!c->by_request)
		return true;
	return f->opc == r->opc && (!f->nc || r->nc) && (!f->c6 || r->c6) &&
	       (!f->isoc || r->isoc);
}

/* Why this generation cannot have such a filter, or NULL. */
static const char *beyond(const struct cbox_case *c)
{
	const struct generation *g = generation();

	if (c->f.tid & ~g->tids)
		return "no such thread";
	if (c->by_state && !(c->f.state & g->states))
		return "no such state";
	if (c->f.nid & ~g->nids)
		return "no such node";
	if ((c->f.nc && generation_lacks("cbox", "filter_nc")) ||
	    (c->f.c6 && generation_lacks("cbox", "filter_c6")) ||
	    (c->f.isoc && generation_lacks("cbox", "filter_isoc")) ||
	    (c->f.link && generation_lacks("cbox", "filter_link")))
		return "no such field";
	if (c->f.link && (c->event != g->links_of.event ||
			  !(c->umask & g->links_of.umask)))
		return "links are not of this event";
	if (!cat_find_code("cbox", c->event, c->umask) &&
	    c->event == RXR_IRQ_RETRY)
		return "no such event";
	return NULL;
}

/* The event as a string; a field that is 0 may be one that there is not. */
static void cbox_string(const struct cbox_case *c, char *text, size_t size)
{
	const struct request *f = &c->f;
	const struct {
		const char *name;
		unsigned int value;
	} fields[] = {
		{ "tid_en", c->tid_en }, { "filter_tid", f->tid },
		{ "filter_state", f->state }, { "filter_link", f->link },
		{ "filter_nid", f->nid }, { "filter_opc", f->opc },
		{ "filter_nc", f->nc }, { "filter_c6", f->c6 },
		{ "filter_isoc", f->isoc },
	};
	int at = snprintf(text, size, "event=%#x,umask=%#x", c->event, c->umask);

	for (unsigned int i = 0; i < COUNT(fields); i++)
		if (fields[i].value)
			at += snprintf(text + at, size - at, ",%s=%#x",
				       fields[i].name, fields[i].value);
}

/* Everything into one box, and once more into a neighbour. */
static bool send_requests(int pkg, const char *box)
{
	bool ok = true;

	for (unsigned int i = 0; i < COUNT(requests); i++) {
		const struct request *r = &requests[i];

		ok &= !sim_traffic("pkg=%d box=%s event=%#x umask=%#x count=%" PRIu64
				   " tid=%#x state=%#x link=%#x nid=%#x opc=%#x nc=%d c6=%d isoc=%d",
				   pkg, box, r->event, r->umask, times(i),
				   r->tid, r->state, r->link, r->nid, r->opc,
				   r->nc, r->c6, r->isoc);
	}
	return check(ok, "traffic is refused");
}

static void test_cbox(const struct cbox_case *wanted, unsigned int box, int pkg)
{
	char pmu[PMU_NAME_MAX], other[PMU_NAME_MAX], text[256];
	const char *why = beyond(wanted);
	struct cbox_case here = *wanted, *c = &here;
	uint64_t want = 0;
	bool ok;
	int fd;

	/* of several states, those that there are */
	here.f.state &= generation()->states;
	if (why) {
		tap_skip(why, "cbox: %s", c->what);
		return;
	}
	if (!pmu_name(pmu, "cbox", box) || !pmu_name(other, "cbox", box ^ 1)) {
		tap_skip("no such PMU", "cbox: %s", c->what);
		return;
	}
	cbox_string(c, text, sizeof(text));
	fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", text);
	ok = check(fd >= 0, "%s/%s/: %s", pmu, text, strerror(-fd));
	ok &= send_requests(pkg, pmu_box(pmu));
	ok &= send_requests(pkg, pmu_box(other));
	for (unsigned int i = 0; i < COUNT(requests); i++)
		want += cbox_counts(c, &requests[i]) ? times(i) : 0;
	ok &= check(want, "the test sends none of these");
	if (fd >= 0)
		ok &= check_eq(event_count(fd), want, "%s/%s/", pmu, text);
	close(fd);
	tap_ok(ok, "%s package %d: %s", pmu, pkg, c->what);
}

/* --- UBox ---------------------------------------------------------------- */

static void test_ubox(unsigned int event, unsigned int umask, int pkg)
{
	static const unsigned int tids[] = { 0x00, 0x01, 0x06, 0x07, 0x3e };
	char pmu[PMU_NAME_MAX];
	bool ok = true;

	if (!pmu_name(pmu, "ubox", 0)) {
		tap_skip("no such PMU", "ubox: event %#x", event);
		return;
	}
	if (generation_lacks("ubox", "filter_tid,filter_cid")) {
		tap_skip("no such field", "ubox: event %#x", event);
		return;
	}
	for (unsigned int i = 0; i < COUNT(tids); i++) {
		int fd = event_open(pmu, pmu_cpu(pmu, pkg),
				    "event=%#x,umask=%#x,filter_tid=%u,filter_cid=%u",
				    event, umask, tids[i] & 1, tids[i] >> 1);

		ok &= check(fd >= 0, "open: %s", strerror(-fd));
		for (unsigned int j = 0; j < COUNT(tids); j++)
			ok &= check(!sim_traffic("pkg=%d box=ubox event=%#x umask=%#x tid=%#x count=%" PRIu64,
						 pkg, event, umask, tids[j],
						 times(j)),
				    "traffic is refused");
		if (fd >= 0)
			ok &= check_eq(event_count(fd), times(i),
				       "core %u thread %u", tids[i] >> 1,
				       tids[i] & 1);
		close(fd);
	}
	tap_ok(ok, "ubox package %d: event %#x by tid and cid", pkg, event);
}

/* --- HA (Tables 2-65 to 2-68) -------------------------------------------- */

#define ADDR_OPC_MATCH	0x20
#define HA_UMASK_ADDR	0x01

struct ha_match {
	const char *what;
	unsigned int umask;
	uint64_t addr;
	unsigned int opc;
};

static const struct ha_match ha_packets[] = {
	{ NULL, 0x07, 0x0000000000c0, 0x02 },
	{ NULL, 0x07, 0x0000000000c0, 0x33 },
	{ NULL, 0x07, 0x2345678000c0, 0x02 },
	{ NULL, 0x07, 0x2345678000ff, 0x02 },
	{ NULL, 0x0b, 0x234567800100, 0x02 },
	{ NULL, 0x0b, 0x000012345640, 0x33 },
	{ NULL, 0x13, 0x3fffffffffc0, 0x3f },
	{ NULL, 0x13, 0x1fffffffffc0, 0x02 },
};

static const struct ha_match ha_cases[] = {
	{ "address, low", 0x01, 0x0000000000c0, 0 },
	{ "address above 32 bits", 0x01, 0x2345678000c0, 0 },
	{ "address, all bits", 0x01, 0x3fffffffffc0, 0 },
	{ "opcode", 0x02, 0, 0x02 },
	{ "opcode, another", 0x02, 0, 0x33 },
	{ "address and opcode", 0x03, 0x2345678000c0, 0x02 },
	{ "address and another opcode", 0x03, 0x0000000000c0, 0x33 },
	{ "AD opcode", 0x04, 0, 0x02 },
	{ "BL opcode", 0x08, 0, 0x33 },
	{ "AK opcode", 0x10, 0, 0x3f },
};

static void test_ha(const struct ha_match *c, unsigned int box, int pkg)
{
	char pmu[PMU_NAME_MAX];
	uint64_t want = 0;
	bool ok = true;
	int fd;

	if (!pmu_name(pmu, "ha", box)) {
		tap_skip("no such PMU", "ha_%u: %s", box, c->what);
		return;
	}
	if (!cat_has_code("ha", ADDR_OPC_MATCH)) {
		tap_skip("the catalogue has no addr_opc_match", "%s: %s", pmu,
			 c->what);
		return;
	}
	fd = event_open(pmu, pmu_cpu(pmu, pkg),
			"event=%#x,umask=%#x,filter_addr=%#" PRIx64 ",filter_opc=%#x",
			ADDR_OPC_MATCH, c->umask, c->addr, c->opc);
	ok &= check(fd >= 0, "open: %s", strerror(-fd));
	for (unsigned int i = 0; i < COUNT(ha_packets); i++) {
		const struct ha_match *p = &ha_packets[i];

		ok &= check(!sim_traffic("pkg=%d box=%s event=0x20 umask=%#x addr=%#" PRIx64
					 " opc=%#x count=%" PRIu64, pkg,
					 pmu_box(pmu), p->umask, p->addr,
					 p->opc, times(i)),
			    "traffic is refused");
		if ((c->umask & p->umask) != c->umask)
			continue;
		if (c->umask & HA_UMASK_ADDR && p->addr >> 6 != c->addr >> 6)
			continue;
		if (c->umask & ~HA_UMASK_ADDR && p->opc != c->opc)
			continue;
		want += times(i);
	}
	ok &= check(want, "the test sends none of these");
	if (fd >= 0)
		ok &= check_eq(event_count(fd), want, "count");
	close(fd);
	tap_ok(ok, "%s package %d: %s", pmu, pkg, c->what);
}

/* --- PCU (Table 2-160) --------------------------------------------------- */

/* All four at once; the frequency passes each event's own threshold. */
static void test_pcu(const unsigned int *band, int pkg)
{
	static const unsigned int freq[] = { 8, 12, 16, 19, 20, 21, 26, 33, 40 };
	char text[4][64], pmu[PMU_NAME_MAX];
	const char *const events[] = { text[0], text[1], text[2], text[3] };
	uint64_t values[4], want;
	struct event_group g = { 0 };
	bool ok = true;
	int err;

	if (!pmu_name(pmu, "pcu", 0)) {
		tap_skip("no such PMU", "pcu: bands");
		return;
	}
	for (unsigned int b = 0; b < 4; b++)
		snprintf(text[b], sizeof(text[b]), "event=%#x,filter_band%u=%u",
			 0x0b + b, b, band[b]);
	err = group_open(&g, pmu, pmu_cpu(pmu, pkg), events, 4);
	ok &= check(!err, "open: %s", strerror(-err));
	for (unsigned int b = 0; b < 4; b++)
		for (unsigned int i = 0; i < COUNT(freq); i++)
			ok &= check(!sim_traffic("pkg=%d box=pcu event=%#x freq=%u count=%" PRIu64,
						 pkg, 0x0b + b, freq[i],
						 times(i)),
				    "traffic is refused");
	ok &= check(!group_read(&g, values, NULL), "read");
	for (unsigned int b = 0; ok && b < 4; b++) {
		want = 0;
		for (unsigned int i = 0; i < COUNT(freq); i++)
			want += freq[i] >= band[b] ? times(i) : 0;
		ok &= check_eq(values[b], want, "%s", text[b]);
	}
	group_close(&g);
	tap_ok(ok, "pcu package %d: bands %u, %u, %u and %u00 MHz at once", pkg,
	       band[0], band[1], band[2], band[3]);
}

/* --- QPI (Tables 2-172 to 2-176) ----------------------------------------- */

#define PKT(rnid4, dnid, mc, opc, vnw) \
	((uint32_t)(rnid4) << 31 | (dnid) << 13 | (mc) << 9 | (opc) << 5 | (vnw) << 3)

enum { HOM = 0x0, NDR = 0x2, SNP = 0x3, NCB = 0xc, DRS = 0xe };

struct packet {
	bool tx;
	uint32_t word[2];
};

static const struct packet packets[] = {
	{ false, { PKT(0, 1, DRS, 0x0, 0), 0x80000 } },
	{ false, { PKT(0, 2, DRS, 0x0, 1), 0x40002 } },
	{ false, { PKT(1, 1, DRS, 0x4, 2), 0x10003 } },
	{ false, { PKT(0, 3, NCB, 0x8, 0), 0x00004 } },
	{ false, { PKT(0, 1, HOM, 0x0, 0), 0x00000 } },
	{ false, { PKT(0, 1, SNP, 0x2, 3), 0x00005 } },
	{ true,  { PKT(0, 1, DRS, 0x0, 0), 0x80000 } },
	{ true,  { PKT(0, 2, DRS, 0x4, 1), 0x40002 } },
	{ true,  { PKT(1, 3, DRS, 0x4, 2), 0x20003 } },
	{ true,  { PKT(1, 3, NCB, 0x0, 0), 0x00003 } },
	{ true,  { PKT(0, 1, NDR, 0x8, 0), 0x00000 } },
};

struct qpi_case {
	const char *what, *terms;
	uint32_t match[2], mask[2];
};

static const struct qpi_case qpi_cases[] = {
	{ "message class", "match_mc=0xe,mask_mc=0xf",
	  { PKT(0, 0, DRS, 0, 0) }, { PKT(0, 0, 0xf, 0, 0) } },
	{ "opcode", "match_mc=0xe,mask_mc=0xf,match_opc=0x4,mask_opc=0xf",
	  { PKT(0, 0, DRS, 0x4, 0) }, { PKT(0, 0, 0xf, 0xf, 0) } },
	{ "destination node", "match_dnid=3,mask_dnid=0x1f",
	  { PKT(0, 3, 0, 0, 0) }, { PKT(0, 0x1f, 0, 0, 0) } },
	{ "remote node",
	  "match_rnid4=1,mask_rnid4=1,match_rnid30=3,mask_rnid30=0xf",
	  { PKT(1, 0, 0, 0, 0), 3 }, { PKT(1, 0, 0, 0, 0), 0xf } },
	{ "response data state", "match_rds=0x4,mask_rds=0xf",
	  { 0, 0x40000 }, { 0, 0xf0000 } },
	{ "virtual network", "match_vnw=2,mask_vnw=2",
	  { PKT(0, 0, 0, 0, 2) }, { PKT(0, 0, 0, 0, 2) } },
	{ "DRS.DataC_M, whole words",
	  "match0=0x1c00,mask0=0x1fe0,match1=0x80000,mask1=0xf0000",
	  { 0x1c00, 0x80000 }, { 0x1fe0, 0xf0000 } },
};

static void test_qpi(const struct qpi_case *c, unsigned int port, bool tx,
		     int pkg)
{
	const char *side = tx ? "match_tx=1," : "";
	char pmu[PMU_NAME_MAX];
	uint64_t want = 0;
	bool ok = true;
	int fd;

	if (!pmu_name(pmu, "qpi", port)) {
		tap_skip("no such PMU", "qpi_%u: %s", port, c->what);
		return;
	}
	if (generation_lacks("qpi", side)) {
		tap_skip("no such field", "%s, transmit: %s", pmu, c->what);
		return;
	}
	fd = event_open(pmu, pmu_cpu(pmu, pkg), "event=0x138,%s%s", side,
			c->terms);
	if (port >= generation()->qpi_filters) {
		tap_ok(check_eq(-fd, ENODEV, "open"),
		       "%s has no filters that are known: %s", pmu, c->what);
		return;
	}
	ok &= check(fd >= 0, "%s/event=0x138,%s%s/: %s", pmu, side, c->terms,
		    strerror(-fd));
	for (unsigned int i = 0; i < COUNT(packets); i++) {
		const struct packet *p = &packets[i];

		ok &= check(!sim_traffic("pkg=%d box=%s event=0x138 dir=%s match0=%#x match1=%#x count=%" PRIu64,
					 pkg, pmu_box(pmu), p->tx ? "tx" : "rx",
					 p->word[0], p->word[1], times(i)),
			    "traffic is refused");
		if (p->tx == tx &&
		    !((p->word[0] ^ c->match[0]) & c->mask[0]) &&
		    !((p->word[1] ^ c->match[1]) & c->mask[1]))
			want += times(i);
	}
	if (fd >= 0)
		ok &= check_eq(event_count(fd), want, "count");
	close(fd);
	tap_ok(ok, "%s package %d, %s: %s", pmu, pkg, tx ? "transmit" : "receive",
	       c->what);
}

int main(void)
{
	static const unsigned int rising[] = { 12, 16, 20, 26 };
	static const unsigned int falling[] = { 40, 33, 13, 8 };

	machine_setup("clock=manual", "");
	last_package = packages() - 1;
	for (unsigned int i = 0; i < COUNT(cbox_cases); i++)
		test_cbox(&cbox_cases[i], i % (generation()->cboxes & ~1U),
			  i % packages());
	for (int pkg = 0; pkg <= last_package; pkg++) {
		test_ubox(0x42, 0x08, pkg);
		test_ubox(0x45, 0x01, pkg);
		test_pcu(rising, pkg);
		test_pcu(falling, pkg);
	}
	for (unsigned int box = 0; box < 2; box++)
		for (unsigned int i = 0; i < COUNT(ha_cases); i++)
			test_ha(&ha_cases[i], box, box % packages());
	for (unsigned int port = 0; port < 3; port++)
		for (unsigned int i = 0; i < COUNT(qpi_cases); i++) {
			test_qpi(&qpi_cases[i], port, false, port % packages());
			test_qpi(&qpi_cases[i], port, true,
				 (port + 1) % packages());
		}
	return tap_end();
}

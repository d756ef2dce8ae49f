// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filters: of mixed traffic, an event with a filter counts exactly the transactions that
 * the filter passes. This file computes their number independently of the driver and the
 * simulator, from the manual's filter tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=manual", "");

/*
 * Return how often transaction @i is sent: 2^i times, so that a count shows which
 * transactions were counted.
 */
static uint64_t times(unsigned int i)
{
	return 1ULL << i;
}

/* --- CBo (Tables 2-18 and 2-19) ------------------------------------------ */

/* A transaction of the CBo; for a filter, the values that pass */
struct request {
	unsigned int event, umask, tid, state, link, nid, opc;
	bool nc, c6, isoc;
};

#define RXR_IRQ_RETRY	0x32
#define TOR(...)	{ .event = 0x35, __VA_ARGS__ }
#define LOOKUP(...)	{ .event = 0x34, __VA_ARGS__ }

/* Unit mask bits: 0 opcode match, 1 miss, 3 all, 5 local, 6 node match */
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

/* An event with a filter. A field of the filter that is not set passes all values. */
PLAIN_FIXTURE(cbox);

FIXTURE_VARIANT(cbox)
{
	unsigned int nth;	/* number of the variant: each variant uses another box */
	unsigned int event, umask;
	bool tid_en, by_state, by_nid, by_request;
	struct request f;
};

#define CBOX(name, event_, umask_, ...)					\
	FIXTURE_VARIANT_ADD(cbox, name) {				\
		.nth = __COUNTER__, .event = event_, .umask = umask_,	\
		__VA_ARGS__						\
	}

CBOX(no_filter, 0x35, 0x08, .f = { 0 });
CBOX(tid_0, 0x35, 0x08, .tid_en = true, .f = { .tid = 0 });
CBOX(tid_core_3_thread_0, 0x35, 0x08, .tid_en = true, .f = { .tid = 0x06 });
CBOX(tid_core_3_thread_1, 0x35, 0x08, .tid_en = true, .f = { .tid = 0x07 });
CBOX(tid_0x3f_of_no_core, 0x35, 0x08, .tid_en = true, .f = { .tid = 0x3f });
CBOX(nid_0, 0x35, 0x48, .by_nid = true, .f = { .nid = 0x1 });
CBOX(nid_1, 0x35, 0x48, .by_nid = true, .f = { .nid = 0x2 });
CBOX(nid_0_or_2, 0x35, 0x48, .by_nid = true, .f = { .nid = 0x5 });
CBOX(nid_15, 0x35, 0x48, .by_nid = true, .f = { .nid = 0x8000 });
CBOX(opc_DRd, 0x35, 0x01, .by_request = true, .f = { .opc = 0x182 });
CBOX(opc_RFO, 0x35, 0x01, .by_request = true, .f = { .opc = 0x180 });
CBOX(opc_DRd_that_missed, 0x35, 0x03,
     .by_request = true, .f = { .opc = 0x182 });
CBOX(opc_RFO_to_local_memory, 0x35, 0x21,
     .by_request = true, .f = { .opc = 0x180 });
CBOX(opc_and_nid, 0x35, 0x41,
     .by_nid = true, .by_request = true, .f = { .nid = 0x1, .opc = 0x182 });
CBOX(opc_nid_and_tid, 0x35, 0x41, .tid_en = true, .by_nid = true, .by_request = true,
     .f = { .nid = 0x2, .opc = 0x182, .tid = 0x06 });
CBOX(opc_and_nc, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .nc = true });
CBOX(opc_and_isoc, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .isoc = true });
CBOX(opc_and_c6, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .c6 = true });
CBOX(opc_and_link_0, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .link = 1 });
CBOX(opc_and_link_2, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .link = 4 });
CBOX(opc_and_links_0_and_1, 0x35, 0x01,
     .by_request = true, .f = { .opc = 0x182, .link = 3 });
CBOX(opc_occupancy, 0x36, 0x01, .by_request = true, .f = { .opc = 0x182 });
CBOX(opc_and_nid_occupancy, 0x36, 0x41,
     .by_nid = true, .by_request = true, .f = { .opc = 0x181, .nid = 0x2 });
CBOX(state_I, 0x34, 0x03, .by_state = true, .f = { .state = 0x01 });
CBOX(state_S, 0x34, 0x03, .by_state = true, .f = { .state = 0x02 });
CBOX(state_E, 0x34, 0x03, .by_state = true, .f = { .state = 0x04 });
CBOX(state_M, 0x34, 0x03, .by_state = true, .f = { .state = 0x08 });
CBOX(state_F, 0x34, 0x03, .by_state = true, .f = { .state = 0x10 });
CBOX(state_D, 0x34, 0x03, .by_state = true, .f = { .state = 0x20 });
CBOX(state_M_prime, 0x34, 0x03, .by_state = true, .f = { .state = 0x40 });
CBOX(states_S_and_F, 0x34, 0x03, .by_state = true, .f = { .state = 0x12 });
CBOX(any_state, 0x34, 0x03, .by_state = true, .f = { .state = 0x7f });
CBOX(state_and_nid, 0x34, 0x43,
     .by_state = true, .by_nid = true, .f = { .state = 0x7e, .nid = 0x2 });
CBOX(state_and_tid, 0x34, 0x03,
     .by_state = true, .tid_en = true, .f = { .state = 0x7f, .tid = 0x06 });
CBOX(nid_victims, 0x37, 0x41, .by_nid = true, .f = { .nid = 0x2 });
CBOX(nid_retries, 0x32, 0x40, .by_nid = true, .f = { .nid = 0x4 });
CBOX(retries_for_want_of_credits, 0x32, 0x10, .f = { 0 });
CBOX(link_0_retries, 0x32, 0x10, .f = { .link = 1 });
CBOX(links_1_and_2_retries, 0x32, 0x10, .f = { .link = 6 });

/* Return whether an event with filter @c counts request @r. */
static bool cbox_counts(const FIXTURE_VARIANT(cbox) *c,
			const struct request *r)
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

/* Return why this generation does not have the filter, or NULL. */
static const char *missing_feature(const FIXTURE_VARIANT(cbox) *c)
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

/* Write the event string, without fields of value 0: the generation may lack them. */
static void cbox_string(const FIXTURE_VARIANT(cbox) *c, char *text,
			size_t size)
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

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].value)
			at += snprintf(text + at, size - at, ",%s=%#x",
				       fields[i].name, fields[i].value);
}

/* Send all requests to a CBo. */
static bool send_requests(int pkg, const char *box)
{
	bool ok = true;

	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct request *r = &requests[i];

		ok &= !sim_traffic("pkg=%d box=%s event=%#x umask=%#x count=%" PRIu64
				   " tid=%#x state=%#x link=%#x nid=%#x opc=%#x nc=%d c6=%d isoc=%d",
				   pkg, box, r->event, r->umask, times(i),
				   r->tid, r->state, r->link, r->nid, r->opc,
				   r->nc, r->c6, r->isoc);
	}
	return check(ok, "traffic is refused");
}

/* Requests are also sent to a neighbour of the CBo, and must not be counted. */
TEST_F(cbox, counts_exactly_its_share)
{
	unsigned int box = variant->nth % (most_boxes("cbox") & ~1U);
	char pmu[PMU_NAME_MAX], other[PMU_NAME_MAX], text[256];
	FIXTURE_VARIANT(cbox) filter = *variant;
	int pkg = variant->nth % packages(), fd;
	const char *reason = missing_feature(variant);
	uint64_t want = 0;

	if (reason)
		SKIP(return, "%s", reason);
	if (!pmu_name(pmu, "cbox", box) || !pmu_name(other, "cbox", box ^ 1))
		SKIP(return, "no such PMU");
	/* only the states that filter_state of this generation has */
	filter.f.state &= generation()->states;
	cbox_string(&filter, text, sizeof(text));
	fd = event_open(pmu, pmu_cpu(pmu, pkg), "%s", text);
	ASSERT_GE(fd, 0) {
		TH_LOG("%s/%s/: %s", pmu, text, strerror(-fd));
	}
	ASSERT_TRUE(send_requests(pkg, pmu_box(pmu)));
	ASSERT_TRUE(send_requests(pkg, pmu_box(other)));
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++)
		want += cbox_counts(&filter, &requests[i]) ? times(i) : 0;
	EXPECT_GT(want, 0) {
		TH_LOG("the test sends none of these");
	}
	EXPECT_EQ(want, event_count(fd)) {
		TH_LOG("%s/%s/ of package %d", pmu, text, pkg);
	}
	close(fd);
}

/* --- UBox ---------------------------------------------------------------- */

PLAIN_FIXTURE(ubox);
FIXTURE_VARIANT(ubox) { unsigned int event, umask; };
FIXTURE_VARIANT_ADD(ubox, event_0x42) { .event = 0x42, .umask = 0x08 };
FIXTURE_VARIANT_ADD(ubox, event_0x45) { .event = 0x45, .umask = 0x01 };

/*
 * For each core and thread: send the transactions of all of them to the UBox, and check
 * that an event with filter_cid and filter_tid counts only this core and thread.
 */
static void expect_cores_and_threads(struct __test_metadata *_metadata,
				     const FIXTURE_VARIANT(ubox) *e,
				     const char *pmu, int pkg)
{
	static const unsigned int tids[] = { 0x00, 0x01, 0x06, 0x07, 0x3e };

	for (unsigned int i = 0; i < ARRAY_SIZE(tids); i++) {
		int fd = event_open(pmu, pmu_cpu(pmu, pkg),
				    "event=%#x,umask=%#x,filter_tid=%u,filter_cid=%u",
				    e->event, e->umask, tids[i] & 1, tids[i] >> 1);

		ASSERT_GE(fd, 0) {
			TH_LOG("open: %s", strerror(-fd));
		}
		for (unsigned int j = 0; j < ARRAY_SIZE(tids); j++) {
			ASSERT_EQ(0, -sim_traffic("pkg=%d box=ubox event=%#x umask=%#x tid=%#x count=%" PRIu64,
						  pkg, e->event, e->umask,
						  tids[j], times(j)));
		}
		EXPECT_EQ(times(i), event_count(fd)) {
			TH_LOG("core %u thread %u of package %d", tids[i] >> 1,
			       tids[i] & 1, pkg);
		}
		close(fd);
	}
}

TEST_F(ubox, counts_exactly_its_share)
{
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, "ubox", 0))
		SKIP(return, "no such PMU");
	if (generation_lacks("ubox", "filter_tid,filter_cid"))
		SKIP(return, "no such field");
	for (int pkg = 0; pkg < packages(); pkg++)
		expect_cores_and_threads(_metadata, variant, pmu, pkg);
}

/* --- HA (Tables 2-65 to 2-68) -------------------------------------------- */

#define ADDR_OPC_MATCH	0x20
#define HA_UMASK_ADDR	0x01

/* A packet of the home agent; for a filter, the values that pass */
static const struct ha_packet {
	unsigned int umask;
	uint64_t addr;
	unsigned int opc;
} ha_packets[] = {
	{ 0x07, 0x0000000000c0, 0x02 },
	{ 0x07, 0x0000000000c0, 0x33 },
	{ 0x07, 0x2345678000c0, 0x02 },
	{ 0x07, 0x2345678000ff, 0x02 },
	{ 0x0b, 0x234567800100, 0x02 },
	{ 0x0b, 0x000012345640, 0x33 },
	{ 0x13, 0x3fffffffffc0, 0x3f },
	{ 0x13, 0x1fffffffffc0, 0x02 },
};

PLAIN_FIXTURE(ha);
FIXTURE_VARIANT(ha) { struct ha_packet f; };

#define HA(name, ...)							\
	FIXTURE_VARIANT_ADD(ha, name) { .f = { __VA_ARGS__ } }

HA(address_low, 0x01, 0x0000000000c0, 0);
HA(address_above_32_bits, 0x01, 0x2345678000c0, 0);
HA(address_all_bits, 0x01, 0x3fffffffffc0, 0);
HA(opcode, 0x02, 0, 0x02);
HA(opcode_another, 0x02, 0, 0x33);
HA(address_and_opcode, 0x03, 0x2345678000c0, 0x02);
HA(address_and_another_opcode, 0x03, 0x0000000000c0, 0x33);
HA(AD_opcode, 0x04, 0, 0x02);
HA(BL_opcode, 0x08, 0, 0x33);
HA(AK_opcode, 0x10, 0, 0x3f);

/* Return whether an event with filter @c counts packet @p. */
static bool ha_counts(const struct ha_packet *c, const struct ha_packet *p)
{
	if ((c->umask & p->umask) != c->umask)
		return false;
	if (c->umask & HA_UMASK_ADDR && p->addr >> 6 != c->addr >> 6)
		return false;
	return !(c->umask & ~HA_UMASK_ADDR) || p->opc == c->opc;
}

static void expect_ha_share(struct __test_metadata *_metadata,
			    const struct ha_packet *c, unsigned int box)
{
	int pkg = box % packages(), fd;
	char pmu[PMU_NAME_MAX];
	uint64_t want = 0;

	if (!pmu_name(pmu, "ha", box))
		SKIP(return, "no such PMU");
	if (!cat_has_code("ha", ADDR_OPC_MATCH))
		SKIP(return, "the catalogue has no addr_opc_match");
	fd = event_open(pmu, pmu_cpu(pmu, pkg),
			"event=%#x,umask=%#x,filter_addr=%#" PRIx64 ",filter_opc=%#x",
			ADDR_OPC_MATCH, c->umask, c->addr, c->opc);
	ASSERT_GE(fd, 0) {
		TH_LOG("open: %s", strerror(-fd));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(ha_packets); i++) {
		const struct ha_packet *p = &ha_packets[i];

		ASSERT_EQ(0, -sim_traffic("pkg=%d box=%s event=0x20 umask=%#x addr=%#" PRIx64
					  " opc=%#x count=%" PRIu64, pkg,
					  pmu_box(pmu), p->umask, p->addr,
					  p->opc, times(i)));
		want += ha_counts(c, p) ? times(i) : 0;
	}
	EXPECT_GT(want, 0) {
		TH_LOG("the test sends none of these");
	}
	EXPECT_EQ(want, event_count(fd)) {
		TH_LOG("%s of package %d", pmu, pkg);
	}
	close(fd);
}

TEST_F(ha, ha_0_counts_exactly_its_share)
{
	expect_ha_share(_metadata, &variant->f, 0);
}

TEST_F(ha, ha_1_counts_exactly_its_share)
{
	expect_ha_share(_metadata, &variant->f, 1);
}

/* --- PCU (Table 2-160) --------------------------------------------------- */

PLAIN_FIXTURE(pcu);
FIXTURE_VARIANT(pcu) { unsigned int band[4]; };
FIXTURE_VARIANT_ADD(pcu, rising_bands) { .band = { 12, 16, 20, 26 } };
FIXTURE_VARIANT_ADD(pcu, falling_bands) { .band = { 40, 33, 13, 8 } };

static void expect_bands(struct __test_metadata *_metadata,
			 const unsigned int *band, const char *pmu, int pkg)
{
	static const unsigned int freq[] = { 8, 12, 16, 19, 20, 21, 26, 33, 40 };
	char text[4][64];
	const char *const events[] = { text[0], text[1], text[2], text[3] };
	struct event_group g = { 0 };
	uint64_t values[4], want;

	for (unsigned int b = 0; b < 4; b++)
		snprintf(text[b], sizeof(text[b]), "event=%#x,filter_band%u=%u",
			 0x0b + b, b, band[b]);
	ASSERT_EQ(0, -group_open(&g, pmu, pmu_cpu(pmu, pkg), events, 4));
	for (unsigned int b = 0; b < 4; b++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(freq); i++) {
			ASSERT_EQ(0, -sim_traffic("pkg=%d box=pcu event=%#x freq=%u count=%" PRIu64,
						  pkg, 0x0b + b, freq[i],
						  times(i)));
		}
	}
	ASSERT_EQ(0, -group_read(&g, values, NULL));
	for (unsigned int b = 0; b < 4; b++) {
		want = 0;
		for (unsigned int i = 0; i < ARRAY_SIZE(freq); i++)
			want += freq[i] >= band[b] ? times(i) : 0;
		EXPECT_EQ(want, values[b]) {
			TH_LOG("%s of package %d", text[b], pkg);
		}
	}
	group_close(&g);
}

/* All four bands count at once; traffic has frequencies below and above each band. */
TEST_F(pcu, four_at_once)
{
	char pmu[PMU_NAME_MAX];

	if (!pmu_name(pmu, "pcu", 0))
		SKIP(return, "no such PMU");
	for (int pkg = 0; pkg < packages(); pkg++)
		expect_bands(_metadata, variant->band, pmu, pkg);
}

/* --- QPI (Tables 2-172 to 2-176) ----------------------------------------- */

#define PKT(rnid4, dnid, mc, opc, vnw) \
	((uint32_t)(rnid4) << 31 | (dnid) << 13 | (mc) << 9 | (opc) << 5 | (vnw) << 3)

enum { HOM = 0x0, NDR = 0x2, SNP = 0x3, NCB = 0xc, DRS = 0xe };

/* A QPI packet in one direction: the words that match0 and match1 select */
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

PLAIN_FIXTURE(qpi);

FIXTURE_VARIANT(qpi)
{
	const char *terms;
	uint32_t match[2], mask[2];
};

FIXTURE_VARIANT_ADD(qpi, message_class)
{
	.terms = "match_mc=0xe,mask_mc=0xf",
	.match = { PKT(0, 0, DRS, 0, 0) }, .mask = { PKT(0, 0, 0xf, 0, 0) },
};

FIXTURE_VARIANT_ADD(qpi, opcode)
{
	.terms = "match_mc=0xe,mask_mc=0xf,match_opc=0x4,mask_opc=0xf",
	.match = { PKT(0, 0, DRS, 0x4, 0) }, .mask = { PKT(0, 0, 0xf, 0xf, 0) },
};

FIXTURE_VARIANT_ADD(qpi, destination_node)
{
	.terms = "match_dnid=3,mask_dnid=0x1f",
	.match = { PKT(0, 3, 0, 0, 0) }, .mask = { PKT(0, 0x1f, 0, 0, 0) },
};

FIXTURE_VARIANT_ADD(qpi, remote_node)
{
	.terms = "match_rnid4=1,mask_rnid4=1,match_rnid30=3,mask_rnid30=0xf",
	.match = { PKT(1, 0, 0, 0, 0), 3 }, .mask = { PKT(1, 0, 0, 0, 0), 0xf },
};

FIXTURE_VARIANT_ADD(qpi, response_data_state)
{
	.terms = "match_rds=0x4,mask_rds=0xf",
	.match = { 0, 0x40000 }, .mask = { 0, 0xf0000 },
};

FIXTURE_VARIANT_ADD(qpi, virtual_network)
{
	.terms = "match_vnw=2,mask_vnw=2",
	.match = { PKT(0, 0, 0, 0, 2) }, .mask = { PKT(0, 0, 0, 0, 2) },
};

FIXTURE_VARIANT_ADD(qpi, DRS_DataC_M_whole_words)
{
	.terms = "match0=0x1c00,mask0=0x1fe0,match1=0x80000,mask1=0xf0000",
	.match = { 0x1c00, 0x80000 }, .mask = { 0x1fe0, 0xf0000 },
};

static void expect_qpi_share(struct __test_metadata *_metadata,
			     const FIXTURE_VARIANT(qpi) *c, unsigned int port,
			     bool tx)
{
	const char *side = tx ? "match_tx=1," : "";
	int pkg = (port + tx) % packages(), fd;
	char pmu[PMU_NAME_MAX];
	uint64_t want = 0;

	if (!pmu_name(pmu, "qpi", port))
		SKIP(return, "no such PMU");
	if (generation_lacks("qpi", side))
		SKIP(return, "no such field");
	fd = event_open(pmu, pmu_cpu(pmu, pkg), "event=0x138,%s%s", side,
			c->terms);
	if (!box_function("qpi", port, "filter")) {
		/* no filters of this port are known */
		EXPECT_EQ(ENODEV, -fd);
		return;
	}
	ASSERT_GE(fd, 0) {
		TH_LOG("%s/event=0x138,%s%s/: %s", pmu, side, c->terms,
		       strerror(-fd));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(packets); i++) {
		const struct packet *p = &packets[i];

		ASSERT_EQ(0, -sim_traffic("pkg=%d box=%s event=0x138 dir=%s match0=%#x match1=%#x count=%" PRIu64,
					  pkg, pmu_box(pmu),
					  p->tx ? "tx" : "rx", p->word[0],
					  p->word[1], times(i)));
		if (p->tx == tx &&
		    !((p->word[0] ^ c->match[0]) & c->mask[0]) &&
		    !((p->word[1] ^ c->match[1]) & c->mask[1]))
			want += times(i);
	}
	EXPECT_EQ(want, event_count(fd)) {
		TH_LOG("%s of package %d, %s", pmu, pkg,
		       tx ? "transmit" : "receive");
	}
	close(fd);
}

#define QPI_SHARE(port, side, tx)					\
	TEST_F(qpi, qpi_##port##_counts_what_it_##side)			\
	{								\
		expect_qpi_share(_metadata, variant, port, tx);		\
	}

QPI_SHARE(0, receives, false)
QPI_SHARE(0, transmits, true)
QPI_SHARE(1, receives, false)
QPI_SHARE(1, transmits, true)
QPI_SHARE(2, receives, false)
QPI_SHARE(2, transmits, true)

TEST_HARNESS_MAIN

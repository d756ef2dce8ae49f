// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filters as shared resources. Events that need different values of a filter register, or
 * the same counter, are multiplexed; events whose filters are independent or equal count
 * at the same time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/multiplexing.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

MACHINE_OF_ALL_TESTS("clock=manual", "");

/* --- conflicts ----------------------------------------------------------- */

/* Two events that must not count at the same time, and traffic of each */
PLAIN_FIXTURE(conflict);

FIXTURE_VARIANT(conflict)
{
	const char *type;
	const char *event[2];
	const char *traffic[2];		/* of each event; NULL: check only the times */
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_events_that_need_counter_0)
{
	.type = "cbox",
	.event = { "event=0x36,umask=0x08", "event=0x11,umask=0x01" },
	.traffic = { "event=0x36 umask=0x08", "event=0x11 umask=0x01" },
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_opcodes)
{
	.type = "cbox",
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x35,umask=0x01,filter_opc=0x180",
	},
	.traffic = {
		"event=0x35 umask=0x01 opc=0x182",
		"event=0x35 umask=0x01 opc=0x180",
	},
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_states)
{
	.type = "cbox",
	.event = {
		"event=0x34,umask=0x03,filter_state=0x1",
		"event=0x34,umask=0x03,filter_state=0x10",
	},
	.traffic = {
		"event=0x34 umask=0x03 state=0x1",
		"event=0x34 umask=0x03 state=0x10",
	},
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_nodes)
{
	.type = "cbox",
	.event = {
		"event=0x35,umask=0x48,filter_nid=0x1",
		"event=0x37,umask=0x41,filter_nid=0x2",
	},
	.traffic = {
		"event=0x35 umask=0x48 nid=0x1",
		"event=0x37 umask=0x41 nid=0x2",
	},
};

FIXTURE_VARIANT_ADD(conflict, cbox_two_threads)
{
	.type = "cbox",
	.event = {
		"event=0x35,umask=0x08,tid_en=1,filter_tid=2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=3",
	},
	.traffic = {
		"event=0x35 umask=0x08 tid=2",
		"event=0x13 umask=0x01 tid=3",
	},
};

FIXTURE_VARIANT_ADD(conflict, ubox_two_threads)
{
	.type = "ubox",
	.event = {
		"event=0x42,umask=0x08,filter_tid=1",
		"event=0x45,umask=0x01,filter_cid=1",
	},
	.traffic = {
		"event=0x42 umask=0x08 tid=1",
		"event=0x45 umask=0x01 tid=2",
	},
};

FIXTURE_VARIANT_ADD(conflict, ha_two_addresses)
{
	.type = "ha",
	.event = {
		"event=0x20,umask=0x01,filter_addr=0x1000",
		"event=0x20,umask=0x01,filter_addr=0x2000",
	},
	.traffic = {
		"event=0x20 umask=0x01 addr=0x1000",
		"event=0x20 umask=0x01 addr=0x2000",
	},
};

FIXTURE_VARIANT_ADD(conflict, ha_two_opcodes)
{
	.type = "ha",
	.event = {
		"event=0x20,umask=0x04,filter_opc=0x1",
		"event=0x20,umask=0x08,filter_opc=0x2",
	},
	.traffic = {
		"event=0x20 umask=0x04 opc=0x1",
		"event=0x20 umask=0x08 opc=0x2",
	},
};

FIXTURE_VARIANT_ADD(conflict, pcu_two_values_of_band_2)
{
	.type = "pcu",
	.event = { "event=0x0d,filter_band2=20", "event=0x0d,filter_band2=30" },
};

FIXTURE_VARIANT_ADD(conflict, qpi_two_packet_filters)
{
	.type = "qpi",
	.event = {
		"event=0x138,match_mc=0xe,mask_mc=0xf",
		"event=0x138,match_mc=0xc,mask_mc=0xf",
	},
	.traffic = {
		"event=0x138 dir=rx match0=0x1c00",
		"event=0x138 dir=rx match0=0x1800",
	},
};

FIXTURE_VARIANT_ADD(conflict, qpi_two_packet_masks_of_one_match)
{
	.type = "qpi",
	.event = {
		"event=0x138,match_mc=0xc,mask_mc=0x8",
		"event=0x138,match_mc=0xc,mask_mc=0x4",
	},
	.traffic = {
		"event=0x138 dir=rx match0=0x1000",
		"event=0x138 dir=rx match0=0x800",
	},
};

/* Traffic for a box, and the event @fd that must count it */
struct sender {
	const char *box, *traffic;
	int fd;
};

/* Send the traffic of @arg, a sender, and return whether its event has counted any. */
static bool counted(void *arg)
{
	struct sender *s = arg;

	return !sim_traffic("pkg=0 box=%s count=10 %s", s->box, s->traffic) &&
	       event_count(s->fd) > 0;
}

/*
 * Return whether this generation's box type has the event of a string that begins with
 * "event=".
 */
static bool has_event(const char *type, const char *event)
{
	unsigned int code = 0;

	return sscanf(event, "event=%x", &code) == 1 && cat_has_code(type, code);
}

/* Find the PMU of box 1 of a type or, if the type has one box only, of that box. */
static bool any_pmu(char *pmu, const char *type)
{
	return pmu_name(pmu, type, 1) || pmu_name(pmu, type, 0);
}

/* Return the reason why this generation cannot count @event, or NULL if it can. */
static const char *missing_feature(const char *type, const char *event)
{
	char pmu[PMU_NAME_MAX];

	if (!any_pmu(pmu, type))
		return "no such PMU";
	if (!has_event(type, event))
		return "no such event";
	return generation_lacks(type, event) ? "no such field" : NULL;
}

TEST_F(conflict, never_count_together)
{
	const char *lacks = missing_feature(variant->type, variant->event[0]);
	struct event_reading first, second, first_again;
	char pmu[PMU_NAME_MAX];
	int fd[2];

	if (lacks)
		SKIP(return, "%s", lacks);
	any_pmu(pmu, variant->type);
	ASSERT_TRUE(events_open(fd, pmu, pmu_cpu(pmu, 0), variant->event, 2));
	ASSERT_TRUE(wait_for_rotation(both_ran, fd)) {
		TH_LOG("one of them never runs");
	}
	for (unsigned int i = 0; i < 2 && variant->traffic[i]; i++) {
		struct sender s = { pmu_box(pmu), variant->traffic[i], fd[i] };
		uint64_t other = event_count(fd[1 - i]);

		ASSERT_TRUE(wait_for_rotation(counted, &s)) {
			TH_LOG("%s never counts its own", variant->event[i]);
		}
		ASSERT_EQ(other, event_count(fd[1 - i])) {
			TH_LOG("%s counts the other's traffic",
			       variant->event[1 - i]);
		}
	}
	/*
	 * The running times of the two events must not overlap, so their sum is at most
	 * the time for which the first event has been enabled. That time is read
	 * first_again.
	 */
	ASSERT_EQ(0, -event_read(fd[0], &first));
	ASSERT_EQ(0, -event_read(fd[1], &second));
	ASSERT_EQ(0, -event_read(fd[0], &first_again));
	EXPECT_LE(first.running + second.running, first_again.enabled);
	events_close(fd, 2);
}

/* --- no conflict --------------------------------------------------------- */

/* Events whose filters are independent or equal, and traffic of each */
PLAIN_FIXTURE(company);

FIXTURE_VARIANT(company)
{
	const char *type;
	const char *event[4];
	const char *traffic[4];
	uint64_t count[4];	/* transactions of the traffic, if that is not NULL */
};

FIXTURE_VARIANT_ADD(company, cbox_opcode_and_state)
{
	.type = "cbox",
	.count = { 13, 29 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x34,umask=0x03,filter_state=0x10",
	},
	.traffic = {
		"event=0x35 umask=0x01 opc=0x182",
		"event=0x34 umask=0x03 state=0x10",
	},
};

FIXTURE_VARIANT_ADD(company, cbox_node_and_thread)
{
	.type = "cbox",
	.count = { 37, 53 },
	.event = {
		"event=0x37,umask=0x41,filter_nid=0x2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=7",
	},
	.traffic = {
		"event=0x37 umask=0x41 nid=0x2",
		"event=0x13 umask=0x01 tid=7",
	},
};

FIXTURE_VARIANT_ADD(company, cbox_opcode_state_node_and_thread)
{
	.type = "cbox",
	.count = { 11, 23, 31, 47 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x182",
		"event=0x34,umask=0x03,filter_state=0x10",
		"event=0x37,umask=0x41,filter_nid=0x2",
		"event=0x13,umask=0x01,tid_en=1,filter_tid=7",
	},
	.traffic = {
		"event=0x35 umask=0x01 opc=0x182",
		"event=0x34 umask=0x03 state=0x10",
		"event=0x37 umask=0x41 nid=0x2",
		"event=0x13 umask=0x01 tid=7",
	},
};

FIXTURE_VARIANT_ADD(company, cbox_one_opcode_in_two_events)
{
	.type = "cbox",
	.count = { 101, 203 },
	.event = {
		"event=0x35,umask=0x01,filter_opc=0x181",
		"event=0x36,umask=0x01,filter_opc=0x181",
	},
	.traffic = {
		"event=0x35 umask=0x01 opc=0x181",
		"event=0x36 umask=0x01 opc=0x181",
	},
};

FIXTURE_VARIANT_ADD(company, ha_address_of_one_opcode_of_the_other)
{
	.type = "ha",
	.count = { 19, 43 },
	.event = {
		"event=0x20,umask=0x01,filter_addr=0x1000",
		"event=0x20,umask=0x04,filter_opc=0x1",
	},
	.traffic = {
		"event=0x20 umask=0x01 addr=0x1000",
		"event=0x20 umask=0x04 opc=0x1",
	},
};

FIXTURE_VARIANT_ADD(company, pcu_four_bands)
{
	.type = "pcu",
	.count = { 3, 5, 7, 9 },
	.event = {
		"event=0x0b,filter_band0=12",
		"event=0x0c,filter_band1=20",
		"event=0x0d,filter_band2=28",
		"event=0x0e,filter_band3=36",
	},
	.traffic = {
		"event=0x0b freq=12",
		"event=0x0c freq=20",
		"event=0x0d freq=28",
		"event=0x0e freq=36",
	},
};

FIXTURE_VARIANT_ADD(company, qpi_a_packet_filter_and_events_without_one)
{
	.type = "qpi",
	.count = { 61 },
	.event = {
		"event=0x138,match_mc=0xe,mask_mc=0xf",
		"event=0x14",
		"event=0x08",
		"event=0x13,umask=0x01",
	},
	.traffic = { "event=0x138 dir=rx match0=0x1c00" },
};

/*
 * Return how many counters the catalogue allows to the first @n events together, with any
 * unit mask.
 */
static unsigned int room(const FIXTURE_VARIANT(company) *c, unsigned int n)
{
	unsigned int ctrs = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int code = strtoul(c->event[i] + strlen("event="),
					    NULL, 0);

		for_each_cat_event(e)
			if (!strcmp(e->box, c->type) && e->code == code)
				ctrs |= e->ctrs;
	}
	return __builtin_popcount(ctrs);
}

TEST_F(company, count_together)
{
	const char *lacks = missing_feature(variant->type, variant->event[0]);
	char pmu[PMU_NAME_MAX];
	unsigned int n = 0;
	int fd[4];

	while (n < 4 && variant->event[n])
		n++;
	if (!lacks && room(variant, n) < n)
		lacks = "fewer counters may have them";
	if (lacks)
		SKIP(return, "%s", lacks);
	any_pmu(pmu, variant->type);
	ASSERT_TRUE(events_open(fd, pmu, pmu_cpu(pmu, 0), variant->event, n));
	for (unsigned int i = 0; i < n; i++) {
		if (!variant->traffic[i])
			continue;
		ASSERT_EQ(0, -sim_traffic("pkg=0 box=%s count=%" PRIu64 " %s",
					  pmu_box(pmu), variant->count[i],
					  variant->traffic[i]));
	}
	for (unsigned int i = 0; i < n; i++) {
		if (variant->traffic[i]) {
			EXPECT_EQ(variant->count[i], event_count(fd[i])) {
				TH_LOG("%s", variant->event[i]);
			}
		}
		EXPECT_TRUE(event_unmultiplexed(fd[i], variant->event[i]));
	}
	events_close(fd, n);
}

TEST_HARNESS_MAIN

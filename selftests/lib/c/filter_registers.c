// SPDX-License-Identifier: GPL-2.0-or-later
/* The filter registers of each box type, by the manual. */
#include <stddef.h>
#include <string.h>

#include "filter_registers.h"
#include "generation.h"

#define HA_FILTERS \
	{ "addrmatch0", 1, 0, BITS(6, 31) }, \
	{ "addrmatch1", 1, 32, BITS(0, 13) }, \
	{ "opcodematch", 1, 48, BITS(0, 5) }
#define QPI_RX_FILTERS \
	{ "rx_match0", 1, 0, 0x8003fff8 }, \
	{ "rx_match1", 1, 32, 0x000f000f }, \
	{ "rx_mask0", 2, 0, 0x8003fff8 }, \
	{ "rx_mask1", 2, 32, 0x000f000f }
#define QPI_TX_FILTERS \
	{ "tx_match0", 1, 0, 0x8003fff8 }, \
	{ "tx_match1", 1, 32, 0x000f000f }, \
	{ "tx_mask0", 2, 0, 0x8003fff8 }, \
	{ "tx_mask1", 2, 32, 0x000f000f }

/* The first row of a box type whose generation is this one, or NULL for all others, holds. */
static const struct {
	const char *type, *generation;
	struct filter_register filters[MAX_FILTERS + 1];
} rows[] = {
	{ "ubox", "ivbep", { { .name = NULL } } },
	{ "ubox", "snbep", { { .name = NULL } } },
	{ "ubox", "snr", { { .name = NULL } } },
	{ "ubox", NULL, { { "filter", 1, 0, 0x3f } } },
	{ "cbox", "snbep", { { "filter", 1, 0, BITS(10, 31) | BITS(0, 4) } } },
	{ "cbox", "ivbep", {
		{ "filter0", 1, 0, BITS(17, 22) | BITS(0, 8) },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15) } } },
	{ "cbox", NULL, {
		{ "filter0", 1, 0, BITS(17, 23) | BITS(0, 8) },
		{ "filter1", 1, 32, BITS(20, 31) | BITS(0, 15) } } },
	{ "cha", "icx", { { "filter0", 1, 0, BITS(0, 8) } } },
	{ "cha", "icxd", { { "filter0", 1, 0, BITS(0, 8) } } },
	{ "cha", "snr", { { "filter0", 1, 0, BITS(0, 8) } } },
	{ "cha", NULL, {
		{ "filter0", 1, 0, BITS(17, 26) | BITS(0, 12) },
		{ "filter1", 1, 32, BITS(9, 31) | BITS(3, 5) | BITS(0, 1) } } },
	{ "ha", NULL, { HA_FILTERS } },
	{ "pcu", NULL, { { "filter", 1, 0, BITS(0, 31) } } },
	{ "qpi", "ivbep", { QPI_RX_FILTERS } },
	{ "qpi", "snbep", { QPI_RX_FILTERS } },
	{ "qpi", NULL, { QPI_RX_FILTERS, QPI_TX_FILTERS } },
};

const struct filter_register *filter_registers(const char *type)
{
	static const struct filter_register none[] = { { .name = NULL } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].type, type) &&
		    (!rows[i].generation || !strcmp(rows[i].generation, generation()->name)))
			return rows[i].filters;
	return none;
}

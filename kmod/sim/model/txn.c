// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of transactions, and their comparison with the field of a filter.
 */
#include "model/priv.h"

/* Return an attribute of a transaction, @attr of enum model_attr. */
u64 model_attribute(const struct model_txn *t, unsigned int attr,
		    const struct model_filter *f)
{
	switch (attr) {
	case ATTR_TID:
		return t->tid;
	case ATTR_STATE:
		return t->state;
	case ATTR_LINK:
		return t->link;
	case ATTR_NID:
		return t->nid;
	case ATTR_OPC:
		return t->opc;
	case ATTR_NC:
		return t->nc;
	case ATTR_C6:
		return t->c6;
	case ATTR_ISOC:
		return t->isoc;
	case ATTR_ADDR:
		/* only the address bits of the field: a cache line, not a byte */
		return (t->addr & ((1ULL << (f->shift + f->width)) - 1)) >>
		       f->shift;
	case ATTR_FREQ:
		return t->freq;
	case ATTR_AGENT:
		return t->agent;
	case ATTR_FLOW:
		return t->flow;
	case ATTR_TYPE:
		return t->type;
	case ATTR_SNOOP:
		return t->snoop;
	case ATTR_CORE:
		return t->core;
	case ATTR_FILL:
		return t->fill;
	case ATTR_CROSS:
		return t->cross;
	case ATTR_BLOCK:
		return t->block;
	case ATTR_HOME:
		return t->remote ? 1 : 2;
	case ATTR_MEMORY:
		return t->near ? 1 : 2;
	case ATTR_PORT:
		return t->port;
	case ATTR_FC:
		return t->fc;
	default:
		return 0;
	}
}

/* Return whether an attribute passes the field of a filter. */
bool model_field_passes(unsigned int op, u64 field, u64 attr)
{
	switch (op) {
	case FILTER_EQUAL:
		return attr == field;
	case FILTER_MEETS:
		return attr & field;
	case FILTER_MEETS_IF_SET:
		return !field || (attr & field);
	case FILTER_NEEDS:
		return !field || attr;
	case FILTER_EQUAL_IF_SET:
		return !field || attr == field;
	case FILTER_OPCODES:
		return (field & 1) || (attr && (attr == (field >> 6 & 0x3ff) ||
						attr == (field >> 16 & 0x3ff)));
	case FILTER_FILL:
		return !field || (field == 1 ? attr != 0 : attr == field);
	case FILTER_CORES:
		/*
		 * Bit 2 enables the filter. 0 in bits 1:0: exactly one core has the
		 * line; else: the cores in bits 1:0, and no others, have the line.
		 */
		if (!(field & 4))
			return true;
		return field & 3 ? attr == (field & 3) : attr == 1 || attr == 2;
	case FILTER_MODULES:
		if (!(field & 4))
			return true;
		/*
		 * Modules that have the line, by bits 1:0: 0 one, 1 at least one, 2 at
		 * least two, 3 all three.
		 */
		return field & 3 ? attr >= (field & 3) : attr == 1;
	default:
		return attr >= field;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions: an attribute of one, and whether it passes a field of a filter.
 */
#include "model/priv.h"

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
		/* the bits that the field has: cache lines, not bytes */
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
	default:
		return 0;
	}
}

/* Does an attribute pass a filter's field? */
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
	case FILTER_FILL:
		return !field || (field == 1 ? attr != 0 : attr == field);
	case FILTER_CORES:
		/* bit 2 switches it on; one core, or just the cores in the field */
		if (!(field & 4))
			return true;
		return field & 3 ? attr == (field & 3) : attr == 1 || attr == 2;
	case FILTER_MODULES:
		if (!(field & 4))
			return true;
		/* 0 one module, 1 one or more, 2 two or more, 3 all three */
		return field & 3 ? attr >= (field & 3) : attr == 1;
	default:
		return attr >= field;
	}
}

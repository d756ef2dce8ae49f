// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "traffic" and the device: transactions for the boxes to
 * count, one kind of transaction a line, strictly parsed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": traffic: " fmt

#include <linux/kernel.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "sim.h"

static int sim_parse_dir(char *text, struct model_txn *t)
{
	if (!strcmp(text, "rx"))
		t->dir = MODEL_RX;
	else if (!strcmp(text, "tx"))
		t->dir = MODEL_TX;
	else
		return -EINVAL;
	return 0;
}

/**
 * struct sim_key - what may stand before a "="
 * @name: the key
 * @offset: of the member of struct model_txn that it sets
 * @size: of that member
 * @min: the smallest number it takes
 * @max: the largest number it takes
 * @required: a line without it makes no sense
 */
struct sim_key {
	const char *name;
	u16 offset, size;
	u64 min, max;
	bool required;
};

#define SIM_KEY(key, member, lo, hi, ...) {			\
	.name = key,						\
	.offset = offsetof(struct model_txn, member),		\
	.size = sizeof_field(struct model_txn, member),		\
	.min = lo, .max = hi, __VA_ARGS__			\
}

/* The widths are those of the registers that a transaction is matched with. */
static const struct sim_key sim_keys[] = {
#define SIM_KEY_PKG	0
	SIM_KEY("pkg", pkg, 0, MODEL_MAX_PACKAGES - 1),
	SIM_KEY("event", code, 0, 0x1ff, .required = true),
	SIM_KEY("umask", umask, 0, 0xff),
	SIM_KEY("count", count, 0, S64_MAX, .required = true),
	SIM_KEY("value", value, 1, U32_MAX),
	SIM_KEY("tid", tid, 0, U32_MAX),
	SIM_KEY("state", state, 0, 0x7f),
	SIM_KEY("link", link, 0, 0x7),
	SIM_KEY("nid", nid, 0, 0xffff),
	SIM_KEY("opc", opc, 0, 0x1ff),
	SIM_KEY("nc", nc, 0, 1),
	SIM_KEY("c6", c6, 0, 1),
	SIM_KEY("isoc", isoc, 0, 1),
	SIM_KEY("addr", addr, 0, U64_MAX),
	SIM_KEY("match0", pkt[0], 0, U32_MAX),
	SIM_KEY("match1", pkt[1], 0, U32_MAX),
	SIM_KEY("freq", freq, 0, U32_MAX),
};

static void sim_set_member(struct model_txn *t, const struct sim_key *key,
			   u64 value)
{
	void *member = (void *)t + key->offset;

	switch (key->size) {
	case 1:
		*(bool *)member = value;
		break;
	case 4:
		*(u32 *)member = value;
		break;
	case 8:
		*(u64 *)member = value;
		break;
	}
}

static int sim_parse_number(unsigned int key_index, const char *text,
			    struct model_txn *t)
{
	const struct sim_key *key = &sim_keys[key_index];
	u64 value, max = key->max;

	BUILD_BUG_ON(sizeof(bool) != 1);

	if (key->offset == offsetof(struct model_txn, pkg))
		max = sim.config.packages - 1;

	if (sim_parse_u64(text, max, &value) || value < key->min) {
		pr_warn("%s=%s is not a number from %llu to 0x%llx\n",
			key->name, text, key->min, max);
		return -EINVAL;
	}
	sim_set_member(t, key, value);
	return 0;
}

/* One "key=value"; sets the key's bit in @seen, box and dir above the table's. */
static int sim_parse_pair(char *pair, struct model_txn *t, u32 *seen)
{
	enum { BOX = ARRAY_SIZE(sim_keys), DIR };
	char *value = strchr(pair, '=');
	unsigned int i;
	int ret;

	if (!value) {
		pr_warn("\"%s\" is not key=value\n", pair);
		return -EINVAL;
	}
	*value++ = '\0';

	if (!strcmp(pair, "box")) {
		i = BOX;
	} else if (!strcmp(pair, "dir")) {
		i = DIR;
	} else {
		for (i = 0; i < ARRAY_SIZE(sim_keys); i++)
			if (!strcmp(pair, sim_keys[i].name))
				break;
		if (i == ARRAY_SIZE(sim_keys)) {
			pr_warn("there is no key \"%s\"\n", pair);
			return -EINVAL;
		}
	}

	if (*seen & BIT(i)) {
		pr_warn("%s is given twice\n", pair);
		return -EINVAL;
	}
	*seen |= BIT(i);

	switch (i) {
	case BOX:
		ret = sim_parse_box(value, &t->kind, &t->box);
		if (ret)
			pr_warn("box=%s is no box of a package\n", value);
		return ret;
	case DIR:
		ret = sim_parse_dir(value, t);
		if (ret)
			pr_warn("dir=%s is neither rx nor tx\n", value);
		return ret;
	default:
		return sim_parse_number(i, value, t);
	}
}

/* @named_pkg: does the line say which package? */
static int sim_parse_txn(char *line, struct model_txn *t, bool *named_pkg)
{
	u32 seen = 0;
	unsigned int i;
	char *pair;
	int ret;

	*t = (struct model_txn) { .value = 1 };

	while ((pair = strsep(&line, " \t"))) {
		if (!*pair)
			continue;
		ret = sim_parse_pair(pair, t, &seen);
		if (ret)
			return ret;
	}

	for (i = 0; i < ARRAY_SIZE(sim_keys); i++) {
		if (sim_keys[i].required && !(seen & BIT(i))) {
			pr_warn("%s= is missing\n", sim_keys[i].name);
			return -EINVAL;
		}
	}
	if (!(seen & BIT(ARRAY_SIZE(sim_keys)))) {
		pr_warn("box= is missing\n");
		return -EINVAL;
	}
	*named_pkg = seen & BIT(SIM_KEY_PKG);
	return 0;
}

/* A package of the model, or one that it does not have. */
static unsigned int sim_running_package(void)
{
	return topology_physical_package_id(smp_processor_id());
}

/*
 * Let transactions pass; @here: in the package of the CPU that runs this. When an
 * overflow freezes the package, the rest passes after software has served it.
 */
static int sim_traffic_pass(struct model_txn *t, bool here)
{
	unsigned long flags;
	s64 passed;
	u32 frozen;
	int ret;

	while (t->count) {
		raw_spin_lock_irqsave(&sim.lock, flags);
		if (here)
			t->pkg = sim_running_package();
		here = false;
		sim_clock_sync();
		frozen = sim_frozen_mask();
		passed = model_traffic(sim.model, t);
		frozen = sim_frozen_mask() & ~frozen;
		sim_clock_rearm();
		raw_spin_unlock_irqrestore(&sim.lock, flags);

		if (passed < 0) {
			pr_warn("the package has no such box\n");
			return -EINVAL;
		}
		if (WARN_ON_ONCE(!passed || passed > t->count))
			return -EIO;
		t->count -= passed;
		ret = sim_wait_thaw(frozen);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * sim_traffic_line() - let the transactions of a line pass
 * @line: "pkg=0 box=cbox_0 event=0x35 umask=0x1 count=1000 ..."; changed
 *
 * Without pkg= it is package 0. Sleeps.
 *
 * Return: 0, -EINVAL for a line that makes no sense (the log says why), or
 * -EINTR.
 */
int sim_traffic_line(char *line)
{
	struct model_txn t;
	bool named;
	int ret;

	ret = sim_parse_txn(line, &t, &named);
	return ret ?: sim_traffic_pass(&t, false);
}

/**
 * sim_traffic_line_here() - the same, by the task that runs
 * @line: as for sim_traffic_line(); changed
 *
 * Without pkg= it is the package of the CPU where the task runs. Sleeps.
 *
 * Return: as sim_traffic_line().
 */
int sim_traffic_line_here(char *line)
{
	struct model_txn t;
	bool named;
	int ret;

	ret = sim_parse_txn(line, &t, &named);
	return ret ?: sim_traffic_pass(&t, !named);
}

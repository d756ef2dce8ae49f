// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "traffic" and the lines of /dev/xeon_uncore_sim: a line is a number of
 * equal transactions that pass a box and that its counters count. The parser of these lines
 * also parses the lines of the control file "rates".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>

#include "compat.h"
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
 * struct sim_key - a key of "key=value"
 * @name: the key
 * @offset: offset of the member of struct model_txn that the key sets
 * @size: size of that member
 * @min: smallest valid number
 * @max: largest valid number
 * @required: a line without the key is invalid
 * @traffic: the key is for lines of "traffic", not of "rates"
 */
struct sim_key {
	const char *name;
	u16 offset, size;
	u64 min, max;
	bool required, traffic;
};

#define SIM_KEY(key, member, lo, hi, ...) {			\
	.name = key,						\
	.offset = offsetof(struct model_txn, member),		\
	.size = sizeof_field(struct model_txn, member),		\
	.min = lo, .max = hi, __VA_ARGS__			\
}

/* The largest numbers are those of the register fields that filters compare. */
static const struct sim_key sim_keys[] = {
#define SIM_KEY_PKG	0
	SIM_KEY("pkg", pkg, 0, MODEL_MAX_PACKAGES - 1),
#define SIM_KEY_EVENT	1
	SIM_KEY("event", code, 0, 0x1ff, .required = true),
	SIM_KEY("umask", umask, 0, 0x3ffffffffULL),
	SIM_KEY("count", count, 0, S64_MAX, .required = true, .traffic = true),
	SIM_KEY("value", value, 1, U32_MAX, .traffic = true),
	SIM_KEY("tid", tid, 0, U32_MAX),
	SIM_KEY("state", state, 0, 0x3ff),
	SIM_KEY("link", link, 0, 0xf),
	SIM_KEY("nid", nid, 0, 0xffff),
	SIM_KEY("opc", opc, 0, 0x3ff),
	SIM_KEY("nc", nc, 0, 1),
	SIM_KEY("c6", c6, 0, 1),
	SIM_KEY("isoc", isoc, 0, 1),
	SIM_KEY("remote", remote, 0, 1),
	SIM_KEY("near", near, 0, 1),
	SIM_KEY("port", port, 0, 0xfff),
	SIM_KEY("fc", fc, 0, 0x7),
	SIM_KEY("addr", addr, 0, U64_MAX),
	SIM_KEY("match0", pkt[0], 0, U32_MAX),
	SIM_KEY("match1", pkt[1], 0, U32_MAX),
	SIM_KEY("freq", freq, 0, U32_MAX),
	SIM_KEY("agent", agent, 0, 0x3f),
	SIM_KEY("flow", flow, 0, 0x3),
	SIM_KEY("type", type, 0, 0x3f),
	SIM_KEY("snoop", snoop, 0, 0x7),
	SIM_KEY("core", core, 0, 0x3),
	SIM_KEY("fill", fill, 0, 0x3),
	SIM_KEY("cross", cross, 0, 1),
	SIM_KEY("block", block, 0, 1),
};

/* Set the member of @t that belongs to a key. */
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

/* Indices of keys that are not in sim_keys[] */
enum { SIM_KEY_BOX = ARRAY_SIZE(sim_keys), SIM_KEY_DIR, SIM_KEY_RATE, SIM_NO_KEY };

/* Return the index of a key in a line of "traffic" or, with @rate, of "rates". */
static unsigned int sim_find_key(const char *name, bool rate)
{
	unsigned int i;

	if (!strcmp(name, "box"))
		return SIM_KEY_BOX;
	if (!strcmp(name, "dir"))
		return SIM_KEY_DIR;
	if (rate && !strcmp(name, "rate"))
		return SIM_KEY_RATE;
	for (i = 0; i < ARRAY_SIZE(sim_keys); i++)
		if (!strcmp(name, sim_keys[i].name))
			break;
	return i == ARRAY_SIZE(sim_keys) || (rate && sim_keys[i].traffic) ?
	       SIM_NO_KEY : i;
}

/*
 * Parse the value of box=. In a line of "rates" (@rate is set) a box type without a number
 * means all boxes of the type.
 */
static int sim_parse_boxes(const char *text, struct model_txn *t,
			   struct sim_rate *rate)
{
	unsigned int box_type;

	for (box_type = 0; rate && box_type < sim.config.gen->ntypes; box_type++) {
		if (strcmp(text, model_box_type_name(sim.model, box_type)) ||
		    !model_boxes(sim.model, box_type))
			continue;
		t->box_type = box_type;
		t->box = 0;
		rate->all = true;
		return 0;
	}
	return sim_parse_box(text, &t->box_type, &t->box);
}

/* Parse a "key=value", and set the bit of the key in @seen. */
static int sim_parse_pair(char *pair, struct model_txn *t,
			  struct sim_rate *rate, unsigned long *seen)
{
	char *value = strchr(pair, '=');
	unsigned int i;
	int ret;

	if (!value) {
		pr_warn("\"%s\" is not key=value\n", pair);
		return -EINVAL;
	}
	*value++ = '\0';

	i = sim_find_key(pair, rate);
	if (i == SIM_NO_KEY) {
		pr_warn("unknown key \"%s\"\n", pair);
		return -EINVAL;
	}

	if (*seen & BIT(i)) {
		pr_warn("%s is given twice\n", pair);
		return -EINVAL;
	}
	*seen |= BIT(i);

	switch (i) {
	case SIM_KEY_BOX:
		ret = sim_parse_boxes(value, t, rate);
		if (ret)
			pr_warn("a package has no box=%s\n", value);
		return ret;
	case SIM_KEY_DIR:
		ret = sim_parse_dir(value, t);
		if (ret)
			pr_warn("dir=%s is neither rx nor tx\n", value);
		return ret;
	case SIM_KEY_RATE:
		ret = sim_parse_rate(value, &rate->rate);
		if (ret)
			pr_warn("rate= is not a number from 0 to %d with up to 9 digits after the point\n",
				MODEL_MAX_RATE);
		return ret;
	default:
		return sim_parse_number(i, value, t);
	}
}

/**
 * sim_parse_txn() - parse a line of transactions
 * @line: "pkg=0 box=cbox_0 event=0x35 umask=0x1 count=1000 ..."; changed
 * @t: result
 * @rate: result for a line of "rates", which has rate= instead of count=; NULL for a line
 *	of "traffic"
 * @named_pkg: result: the line has pkg=
 *
 * Return: 0, or -EINVAL (the log names the cause).
 */
int sim_parse_txn(char *line, struct model_txn *t, struct sim_rate *rate,
		  bool *named_pkg)
{
	unsigned long seen = 0;
	unsigned int i;
	char *pair;
	int ret;

	*t = (struct model_txn) { .value = 1 };

	while ((pair = strsep(&line, " \t"))) {
		if (!*pair)
			continue;
		ret = sim_parse_pair(pair, t, rate, &seen);
		if (ret)
			return ret;
	}

	if (!(seen & BIT(SIM_KEY_BOX))) {
		pr_warn("box= is missing\n");
		return -EINVAL;
	}
	if (!model_box_type_has_codes(sim.model, t->box_type))
		seen |= BIT(SIM_KEY_EVENT);
	for (i = 0; i < ARRAY_SIZE(sim_keys); i++) {
		if (sim_keys[i].required && !(seen & BIT(i)) &&
		    !(rate && sim_keys[i].traffic)) {
			pr_warn("%s= is missing\n", sim_keys[i].name);
			return -EINVAL;
		}
	}
	if (rate && !(seen & BIT(SIM_KEY_RATE))) {
		pr_warn("rate= is missing\n");
		return -EINVAL;
	}
	*named_pkg = seen & BIT(SIM_KEY_PKG);
	return 0;
}

/* Package of the CPU that runs this task; the model may not have such a package. */
static unsigned int sim_running_package(void)
{
	return unc_cpu_package(smp_processor_id());
}

/*
 * Wait until transactions may pass. On the manual clock reserve time for some of @t (pace.c)
 * and wait for its end; on the real clock do not wait. @part is set to the transactions that
 * may pass now.
 */
static int sim_traffic_wait(const struct model_txn *t, struct model_txn *part)
{
	unsigned long flags;
	u64 until = 0;

	*part = *t;
	flags = sim_lock();
	if (!strcmp(sim_clock_name(), "manual")) {
		part->count = sim_pace_reserve(t);
		until = sim_pace_end();
	}
	sim_unlock(flags);
	while (!sim_pace_wait(until))
		if (fatal_signal_pending(current))
			return -EINTR;
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * Let transactions pass, in package t->pkg or, with @running_pkg, in the package of the CPU
 * that runs this task. If an overflow freezes the package, the remaining transactions pass
 * after software has handled the overflow.
 */
static int sim_traffic_pass(struct model_txn *t, bool running_pkg)
{
	struct model_txn part;
	unsigned long flags;
	s64 passed;
	u32 frozen;
	int ret;

	while (t->count) {
		ret = sim_traffic_wait(t, &part);
		ret = ret ?: sim_lock_at_rest(&flags);
		if (ret)
			return ret;
		if (running_pkg)
			t->pkg = sim_running_package();
		running_pkg = false;
		part.pkg = t->pkg;
		sim_clock_sync();
		frozen = sim_frozen_mask();
		passed = model_traffic(sim.model, &part);
		frozen = sim_clock_settle(frozen);
		sim_clock_rearm();
		sim_unlock(flags);

		if (passed < 0) {
			pr_warn("the package has no such box\n");
			return -EINVAL;
		}
		if (WARN_ON_ONCE(!passed || passed > part.count))
			return -EIO;
		t->count -= passed;
		ret = sim_clock_wait_unfreeze(frozen);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * sim_traffic_line() - let the transactions of a line pass
 * @line: "pkg=0 box=cbox_0 event=0x35 umask=0x1 count=1000 ..."; changed
 *
 * Without pkg= the transactions pass in package 0.
 *
 * Context: a task without locks; sleeps.
 * Return: 0, -EINVAL for an invalid line (the log names the cause), or -EINTR when the
 * caller is being killed.
 */
int sim_traffic_line(char *line)
{
	struct model_txn t;
	bool named;
	int ret;

	ret = sim_parse_txn(line, &t, NULL, &named);
	return ret ?: sim_traffic_pass(&t, false);
}

/**
 * sim_traffic_line_here() - let transactions of the current task pass
 * @line: as for sim_traffic_line(); changed
 *
 * Without pkg= the transactions pass in the package of the CPU that runs the task.
 *
 * Context: a task without locks; sleeps.
 * Return: as sim_traffic_line().
 */
int sim_traffic_line_here(char *line)
{
	struct model_txn t;
	bool named;
	int ret;

	ret = sim_parse_txn(line, &t, NULL, &named);
	return ret ?: sim_traffic_pass(&t, !named);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "rates": a line sets the number of transactions of one type that pass a
 * box in each cycle, until another line changes the rate.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sim.h"

/* Memory of the model for rates, allocated for the first line */
static void *sim_rate_memory;
static DEFINE_MUTEX(sim_rate_mutex);

/* Give the model memory for rates, unless it has it. */
static int sim_rate_prepare(void)
{
	unsigned long flags;
	int ret = 0;

	mutex_lock(&sim_rate_mutex);
	if (!sim_rate_memory) {
		sim_rate_memory = kvzalloc(model_rates_size(sim.model),
					   GFP_KERNEL);
		if (sim_rate_memory) {
			flags = sim_lock();
			model_give_rates(sim.model, sim_rate_memory);
			sim_unlock(flags);
		} else {
			ret = -ENOMEM;
		}
	}
	mutex_unlock(&sim_rate_mutex);
	return ret;
}

/*
 * Set the rate of a box, or of all boxes of the type if the line has no box number. If the
 * rate is invalid for one of them, no rate is set.
 */
static int sim_rate_set(struct model_txn *t, const struct sim_rate *rate)
{
	unsigned int first = rate->all ? 0 : t->box;
	unsigned int end = rate->all ? model_boxes(sim.model, t->box_type) :
				       t->box + 1;
	unsigned long flags;
	unsigned int i;
	int ret = 0;

	flags = sim_lock();
	sim_clock_sync();
	for (i = first; i < end && !ret; i++) {
		t->box = i;
		ret = model_rate_check(sim.model, t, &rate->rate);
	}
	for (i = first; i < end && !ret; i++) {
		t->box = i;
		ret = model_rate(sim.model, t, &rate->rate);
	}
	sim_clock_rearm();
	sim_unlock(flags);

	if (!ret)
		return 0;
	if (ret == -2)
		pr_warn("a box has at most %d rates\n", MODEL_MAX_FLOWS);
	else
		pr_warn("the box has no event 0x%x\n", t->code);
	return -EINVAL;
}

/**
 * sim_rate_line() - take a line of the control file
 * @line: "on", "off" or "pkg=0 box=cbox event=0x35 umask=0x1 rate=0.01 ...";
 *	changed
 *
 * Context: a task without locks; sleeps.
 * Return: 0, -EINVAL for an invalid line (the log names the cause), or -ENOMEM.
 */
int sim_rate_line(char *line)
{
	struct sim_rate rate = { 0 };
	struct model_txn t;
	bool named;
	int ret;

	if (!strcmp(line, "on")) {
		sim_change(model_only_rates);
		return 0;
	}
	if (!strcmp(line, "off")) {
		sim_change(model_forget_rates);
		return 0;
	}
	ret = sim_parse_txn(line, &t, &rate, &named);
	ret = ret ?: sim_rate_prepare();
	return ret ?: sim_rate_set(&t, &rate);
}

/**
 * sim_rate_show() - print "on" if events without a rate count 0, else "off", and the number
 * of rates
 * @s: output
 */
void sim_rate_show(struct seq_file *s)
{
	unsigned long flags;
	unsigned int count;
	bool only;

	flags = sim_lock();
	count = model_rates(sim.model, &only);
	sim_unlock(flags);
	seq_printf(s, "%s %u\n", only ? "on" : "off", count);
}

/**
 * sim_rate_exit() - free the model's memory for rates; the model is not in use any more
 */
void sim_rate_exit(void)
{
	kvfree(sim_rate_memory);
}

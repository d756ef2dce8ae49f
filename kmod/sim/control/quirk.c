// SPDX-License-Identifier: GPL-2.0-only
/* Module parameters of quirky hardware: leftover register state, missing parts, errata. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sim.h"

static char *sim_dirty = "";
module_param_named(dirty, sim_dirty, charp, 0444);
MODULE_PARM_DESC(dirty,
		 "Leftover register state: freeze,status,counters,cores,boxes or all");

static char *sim_missing = "";
module_param_named(missing, sim_missing, charp, 0444);
MODULE_PARM_DESC(missing,
		 "What packages lack: qpi_filters,capid,ubox,extended or all, each with @PACKAGE or of all packages");

static char *sim_twice = "";
module_param_named(twice, sim_twice, charp, 0444);
MODULE_PARM_DESC(twice, "PCI box of every package that has a second function");

static char *sim_errata = "select";
module_param_named(errata, sim_errata, charp, 0444);
MODULE_PARM_DESC(errata,
		 "What needs a second write in control registers of SBo and R3QPI: \"select\" or \"whole\" (default select)");

module_param_named(counter_gp, sim.config.counter_gp, uint, 0444);
MODULE_PARM_DESC(counter_gp,
		 "1: MSR counters that are narrow fault when bits above are written (default 0)");

static const char * const sim_dirty_names[] = {
	"freeze", "status", "counters", "cores", "boxes",
};

static const char * const sim_missing_names[] = {
	"qpi_filters", "capid", "ubox", "extended",
};

/* Return the bit of a word in a list of names, all bits for "all", 0 for an unknown word. */
static u32 sim_word_bits(const char *word, const char * const *names,
			 unsigned int count)
{
	int i;

	if (!strcmp(word, "all"))
		return GENMASK(count - 1, 0);
	i = match_string(names, count, word);
	return i < 0 ? 0 : BIT(i);
}

/* Handle a word of missing=: "NAME" or "NAME@PACKAGE". */
static int sim_missing_word(char *word)
{
	char *name = strsep(&word, "@");
	u32 bits = sim_word_bits(name, sim_missing_names,
				 ARRAY_SIZE(sim_missing_names));
	unsigned int pkg;
	u64 only = 0;

	if (!bits)
		return -EINVAL;
	if (word && sim_parse_u64(word, sim.config.packages - 1, &only))
		return -EINVAL;
	for (pkg = 0; pkg < sim.config.packages; pkg++)
		if (!word || pkg == only)
			sim.config.missing[pkg] |= bits;
	return 0;
}

/* MODEL_DIRTY_*, from dirty= */
static u32 sim_dirty_bits;

static int sim_dirty_word(char *word)
{
	u32 bits = sim_word_bits(word, sim_dirty_names,
				 ARRAY_SIZE(sim_dirty_names));

	sim_dirty_bits |= bits;
	return bits ? 0 : -EINVAL;
}

/* Split the value of a parameter at its commas, and call @take for each word. */
static int sim_words(const char *name, const char *text, const char *help,
		     int (*take)(char *word))
{
	char *copy, *rest, *word;
	int ret = 0;

	if (!*text)
		return 0;
	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	for (rest = copy; !ret && (word = strsep(&rest, ",")); )
		ret = take(word);
	kfree(copy);
	if (ret)
		pr_err("invalid %s=%s (expected %s)\n", name, text, help);
	return ret;
}

/* Find the box of twice=, and give it a second function. */
static int sim_check_twice(void)
{
	char name[32];
	unsigned int box_type, box;

	for (box_type = 0; *sim_twice && box_type < sim.config.gen->ntypes; box_type++) {
		if (!model_box_type_pci(sim.model, box_type))
			continue;
		for (box = 0; box < model_boxes(sim.model, box_type); box++) {
			sim_box_name(name, sizeof(name), box_type, box);
			if (strcmp(name, sim_twice))
				continue;
			model_second_function(sim.model, box_type, box);
			return 0;
		}
	}
	if (!*sim_twice)
		return 0;
	pr_err("invalid twice=%s (expected a PCI box such as imc_0)\n",
	       sim_twice);
	return -EINVAL;
}

/**
 * sim_quirk_check() - check the parameters, and copy them into the configuration
 *
 * Return: 0, -ENOMEM, or -EINVAL (the log names the invalid parameter).
 */
int sim_quirk_check(void)
{
	struct model_config *c = &sim.config;
	int ret;

	ret = sim_words("dirty", sim_dirty,
			"freeze, status, counters, cores, boxes (a list) or all",
			sim_dirty_word);
	ret = ret ?: sim_words("missing", sim_missing,
			       "qpi_filters, capid, ubox, extended (a list) or all, and after each @ and a package",
			       sim_missing_word);
	if (ret)
		return ret;
	c->write_whole = !strcmp(sim_errata, "whole");
	if (!c->write_whole && strcmp(sim_errata, "select")) {
		pr_err("invalid errata=%s (expected select or whole)\n",
		       sim_errata);
		return -EINVAL;
	}
	if (c->counter_gp > 1 ||
	    (c->counter_gp && c->counter_bits == MODEL_COUNTER_BITS &&
	     c->fixed_bits == MODEL_COUNTER_BITS)) {
		pr_err("invalid counter_gp=%u (expected 0, or 1 with counter_bits=44 or with fixed_bits below 48)\n",
		       c->counter_gp);
		return -EINVAL;
	}
	return 0;
}

/**
 * sim_quirk_init() - apply twice= and dirty= to the model
 *
 * Return: 0, or -EINVAL for an invalid twice= (the log says so).
 */
int sim_quirk_init(void)
{
	unsigned long flags;
	int ret = sim_check_twice();

	if (ret)
		return ret;
	flags = sim_lock();
	model_make_dirty(sim.model, sim_dirty_bits);
	sim_unlock(flags);
	return 0;
}

/**
 * sim_quirk_exit() - do nothing: the state is part of the model
 */
void sim_quirk_exit(void)
{
}

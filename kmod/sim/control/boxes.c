// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters with the numbers of boxes of a package: boxes=, a list for all box types,
 * and a parameter for each of some box types, which are older.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "sim.h"

static char *sim_boxes = "";

/* Show how many boxes of each type a package has, as a list for boxes=. */
static int sim_show_boxes(char *text, const struct kernel_param *kp)
{
	const char *type;
	unsigned int i;
	int at = 0;

	for (i = 0; sim.model && (type = model_box_type_name(sim.model, i)); i++)
		at += sysfs_emit_at(text, at, "%s%s:%u", i ? "," : "", type,
				    model_boxes(sim.model, i));
	return at + sysfs_emit_at(text, at, "\n");
}

static const struct kernel_param_ops sim_boxes_ops = {
	.set = param_set_charp,
	.get = sim_show_boxes,
	.free = param_free_charp,
};

module_param_cb(boxes, &sim_boxes_ops, &sim_boxes, 0444);
MODULE_PARM_DESC(boxes,
		 "Boxes a package, a list such as cbox:18,imc:4 (default: all that the model has)");

/**
 * struct sim_number - a number of boxes from one of the older parameters
 * @param: name of the parameter
 * @type: name of the box type
 * @number: number of boxes
 */
struct sim_number {
	const char *param, *type;
	unsigned int number;
};

static struct sim_number sim_numbers[MODEL_MAX_TYPES];
static unsigned int sim_nnumbers;

/* Note the number of a parameter. The generation is not known before the last parameter. */
static int sim_note_number(const char *text, const struct kernel_param *kp)
{
	struct sim_number *n = &sim_numbers[sim_nnumbers];
	int ret;

	if (sim_nnumbers == ARRAY_SIZE(sim_numbers))
		return -ENOSPC;
	ret = kstrtouint(text, 0, &n->number);
	if (ret)
		return ret;
	n->param = kp->name;
	n->type = kp->arg;
	sim_nnumbers++;
	return 0;
}

/* Show how many boxes of the type a package has, whichever parameter says so. */
static int sim_show_number(char *text, const struct kernel_param *kp)
{
	const struct model_config *c = &sim.config;
	unsigned int type = c->gen ? model_find_type(c->gen, kp->arg) : MODEL_MAX_TYPES;

	return sysfs_emit(text, "%u\n", type < MODEL_MAX_TYPES ? c->boxes[type] : 0);
}

static const struct kernel_param_ops sim_number_ops = {
	.set = sim_note_number,
	.get = sim_show_number,
};

#define SIM_NUMBER(param, type)					\
	module_param_cb(param, &sim_number_ops, type, 0444);		\
	MODULE_PARM_DESC(param, "The same as boxes=" type ":NUMBER")

SIM_NUMBER(cboxes, "cbox");
SIM_NUMBER(sboxes, "sbox");
SIM_NUMBER(has, "ha");
SIM_NUMBER(imcs, "imc");
SIM_NUMBER(qpi_ports, "qpi");

/* Set the number of boxes of a type. The log has @text if the number is invalid. */
static int sim_set_boxes(struct model_config *c, const char *type, u32 number,
			 const char *text)
{
	struct model_limits limits;

	if (!model_set_boxes(c, type, number, &limits))
		return 0;
	if (limits.least == limits.most)
		pr_err("invalid %s (expected %u)\n", text, limits.most);
	else
		pr_err("invalid %s (expected %u %s %u)\n", text, limits.least,
		       limits.ends ? "or" : "to", limits.most);
	return -EINVAL;
}

/* Handle a word of boxes=: "TYPE:NUMBER". */
static int sim_boxes_word(struct model_config *c, char *word)
{
	char *type = strsep(&word, ":"), text[40];
	u64 number;

	snprintf(text, sizeof(text), "boxes=%s:%s", type, word ?: "");
	if (model_find_type(c->gen, type) == MODEL_MAX_TYPES ||
	    !word || sim_parse_u64(word, U32_MAX, &number)) {
		pr_err("invalid boxes=%s%s%s (expected a box type of %s, a colon and a number)\n",
		       type, word ? ":" : "", word ?: "", c->gen->name);
		return -EINVAL;
	}
	return sim_set_boxes(c, type, number, text);
}

/**
 * sim_boxes_check() - set the numbers of boxes, and check those of the parameters
 * @c: the configuration, whose generation is set
 *
 * Return: 0, -ENOMEM, or -EINVAL (the log names the invalid parameter).
 */
int sim_boxes_check(struct model_config *c)
{
	char *copy, *rest, *word, text[40];
	const struct sim_number *n;
	int ret = 0;

	model_all_boxes(c);
	for (n = sim_numbers; !ret && n < sim_numbers + sim_nnumbers; n++) {
		snprintf(text, sizeof(text), "%s=%u", n->param, n->number);
		ret = sim_set_boxes(c, n->type, n->number, text);
	}
	if (ret || !*sim_boxes)
		return ret;
	copy = kstrdup(sim_boxes, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	for (rest = copy; !ret && (word = strsep(&rest, ",")); )
		ret = sim_boxes_word(c, word);
	kfree(copy);
	return ret;
}

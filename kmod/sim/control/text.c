// SPDX-License-Identifier: GPL-2.0-only
/* Parse numbers, rates and names of boxes in the text of control files. */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "sim.h"

/**
 * sim_parse_u64() - parse a number, decimal or hexadecimal with 0x
 * @text: the number, without spaces
 * @max: largest valid number
 * @value: result
 *
 * Return: 0, -EINVAL if @text is not a number, -ERANGE if the number is too large.
 */
int sim_parse_u64(const char *text, u64 max, u64 *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long long v;
	int ret;

	/* Not base 0, in which a number with a leading zero is octal. */
	ret = kstrtoull(text, hex ? 16 : 10, &v);
	if (ret)
		return ret;
	if (v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

/**
 * sim_parse_rate() - parse a decimal fraction, such as "0.0125"
 * @text: the number, without spaces; changed
 * @rate: result
 *
 * Return: 0, or -EINVAL for an invalid or too large number, or more than nine digits after
 * the point.
 */
int sim_parse_rate(char *text, struct model_rate *rate)
{
	char *digit = strchr(text, '.');
	u32 one = MODEL_RATE_ONE;
	u64 whole;

	*rate = (struct model_rate){ 0 };
	if (digit) {
		*digit++ = '\0';
		if (!*digit)
			return -EINVAL;
		for (; *digit; digit++) {
			one /= 10;
			if (!isdigit(*digit) || !one)
				return -EINVAL;
			rate->frac += (*digit - '0') * one;
		}
	}
	if (!isdigit(*text) || kstrtoull(text, 10, &whole) ||
	    whole > MODEL_MAX_RATE)
		return -EINVAL;
	rate->whole = whole;
	return 0;
}

/**
 * sim_parse_box() - parse the name of a box, which is part of a PMU name: "imc_3", "pcu"
 * @text: the name
 * @box_type: result: the box type
 * @box: result: the box's number in its package
 *
 * Return: 0, or -EINVAL if packages do not have the box.
 */
int sim_parse_box(const char *text, unsigned int *box_type,
		  unsigned int *box)
{
	const char *name, *rest;
	unsigned int k;
	u64 n = 0;

	for (k = 0; (name = model_box_type_name(sim.model, k)); k++) {
		if (strncmp(text, name, strlen(name)))
			continue;
		rest = text + strlen(name);
		/* A name without a number is valid only if the package has one box of the type. */
		if (*rest ? *rest != '_' || sim_parse_u64(rest + 1, U32_MAX, &n) :
			    model_boxes(sim.model, k) != 1)
			continue;
		if (n >= model_boxes(sim.model, k))
			return -EINVAL;
		*box_type = k;
		*box = n;
		return 0;
	}
	return -EINVAL;
}

/**
 * sim_box_name() - print the name of a box, in the format of sim_parse_box()
 * @buf: result
 * @size: size of @buf
 * @box_type: type of the box
 * @box: the box's number in its package
 *
 * Return: return value of snprintf().
 */
int sim_box_name(char *buf, size_t size, unsigned int box_type,
		 unsigned int box)
{
	if (model_boxes(sim.model, box_type) == 1)
		return snprintf(buf, size, "%s", model_box_type_name(sim.model, box_type));
	return snprintf(buf, size, "%s_%u", model_box_type_name(sim.model, box_type), box);
}

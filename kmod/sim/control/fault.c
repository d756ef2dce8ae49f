// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "fault": switch faults of boxes and packages on and off, and raise
 * spurious PMIs and other NMIs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": fault: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "sim.h"

static const char * const sim_fault_names[MODEL_FAULTS] = {
	[MODEL_FAULT_DEAD_PCI] = "dead_pci",
	[MODEL_FAULT_STUCK_STATUS] = "stuck_status",
	[MODEL_FAULT_NO_PMI] = "no_pmi",
	[MODEL_FAULT_NO_CLOCK] = "no_clock",
	[MODEL_FAULT_DEAD_MEMORY] = "dead_memory",
};

/* Guards sim_faults, and serialises changes of faults. */
static DEFINE_MUTEX(sim_fault_mutex);

/* Faults that are on, a bit for each box, to print them */
static u32 sim_faults[MODEL_FAULTS][MODEL_MAX_PACKAGES][MODEL_MAX_TYPES];

/* Return the value of the next word of a line, which must be "KEY=value"; else NULL. */
static char *sim_next_value(char **line, const char *key)
{
	size_t len = strlen(key);
	char *word;

	do {
		word = strsep(line, " \t");
	} while (word && !*word);

	if (!word || strncmp(word, key, len) || word[len] != '=') {
		pr_warn("%s= is missing\n", key);
		return NULL;
	}
	return word + len + 1;
}

static int sim_next_package(char **line, unsigned int *pkg)
{
	char *text = sim_next_value(line, "pkg");
	u64 value;

	if (!text)
		return -EINVAL;
	if (sim_parse_u64(text, sim.config.packages - 1, &value)) {
		pr_warn("pkg=%s is not a number from 0 to %u\n", text,
			sim.config.packages - 1);
		return -EINVAL;
	}
	*pkg = value;
	return 0;
}

/* Handle "spurious_pmi pkg=0 cores=0x1": send a PMI without a status bit. */
static int sim_spurious_pmi(char *line)
{
	unsigned long flags;
	unsigned int pkg;
	char *text;
	u64 cores;
	int ret;

	ret = sim_next_package(&line, &pkg);
	if (ret)
		return ret;
	text = sim_next_value(&line, "cores");
	if (!text)
		return -EINVAL;
	if (line && *skip_spaces(line)) {
		pr_warn("\"%s\" after cores= is too much\n", line);
		return -EINVAL;
	}
	if (sim_parse_u64(text, U32_MAX, &cores)) {
		pr_warn("cores=%s is not a mask of 32 bits\n", text);
		return -EINVAL;
	}

	flags = sim_lock();
	sim_clock_sync();
	model_spurious_pmi(sim.model, pkg, cores);
	sim_unlock(flags);
	return 0;
}

/* Send an NMI that is not a PMI, as an operator may send it. */
static int sim_plain_nmi(char *line)
{
	char *text = sim_next_value(&line, "cpu");
	u64 cpu;

	if (!text)
		return -EINVAL;
	if (sim_parse_u64(text, nr_cpu_ids - 1, &cpu) || sim_pmi_send_plain(cpu)) {
		pr_warn("cpu=%s is not an online CPU\n", text);
		return -EINVAL;
	}
	return 0;
}

/* Parse the rest of a line, which must be "on" or "off". */
static int sim_next_switch(char *line, bool *on)
{
	char *text = line ? strim(line) : "";

	*on = !strcmp(text, "on");
	if (*on || !strcmp(text, "off"))
		return 0;
	pr_warn("\"%s\" is neither on nor off\n", text);
	return -EINVAL;
}

/* Handle "wrong_cpu pkg=0 on": send the PMIs of a package to the wrong cores. */
static int sim_wrong_cpu(char *line)
{
	unsigned int pkg;
	bool on;
	int ret;

	ret = sim_next_package(&line, &pkg);
	if (!ret)
		ret = sim_next_switch(line, &on);
	if (!ret)
		sim_pmi_misroute(pkg, on);
	return ret;
}

static int sim_switch_fault(enum model_fault fault, unsigned int pkg,
			    unsigned int box_type, unsigned int box, bool on)
{
	u32 *boxes = &sim_faults[fault][pkg][box_type];
	unsigned long flags;
	int ret;

	mutex_lock(&sim_fault_mutex);
	flags = sim_lock();
	sim_clock_sync();
	ret = model_fault(sim.model, fault, pkg, box_type, box, on);
	sim_clock_rearm();
	sim_unlock(flags);
	if (!ret)
		*boxes = on ? *boxes | BIT(box) : *boxes & ~BIT(box);
	mutex_unlock(&sim_fault_mutex);

	if (ret) {
		pr_warn("the fault %s does not exist for a %s\n", sim_fault_names[fault],
			model_box_type_name(sim.model, box_type));
		return -EINVAL;
	}
	return 0;
}

/**
 * sim_fault_line() - switch a fault on or off, or send an NMI
 * @line: "dead_pci pkg=0 box=imc_0 on", "wrong_cpu pkg=0 on",
 *	"spurious_pmi pkg=0 cores=0x1" or "nmi cpu=0"; changed
 *
 * Return: 0, or -EINVAL for an invalid line (the log names the cause).
 */
int sim_fault_line(char *line)
{
	unsigned int box_type, pkg, box;
	char *name, *text;
	int fault, ret;
	bool on;

	name = strsep(&line, " \t");
	if (!strcmp(name, "spurious_pmi"))
		return sim_spurious_pmi(line);
	if (!strcmp(name, "nmi"))
		return sim_plain_nmi(line);
	if (!strcmp(name, "wrong_cpu"))
		return sim_wrong_cpu(line);

	fault = match_string(sim_fault_names, MODEL_FAULTS, name);
	if (fault < 0) {
		pr_warn("unknown fault \"%s\"\n", name);
		return -EINVAL;
	}

	ret = sim_next_package(&line, &pkg);
	if (ret)
		return ret;
	text = sim_next_value(&line, "box");
	if (!text)
		return -EINVAL;
	if (sim_parse_box(text, &box_type, &box)) {
		pr_warn("a package has no box=%s\n", text);
		return -EINVAL;
	}

	ret = sim_next_switch(line, &on);
	if (ret)
		return ret;
	return sim_switch_fault(fault, pkg, box_type, box, on);
}

static void sim_show_boxes(struct seq_file *s, unsigned int fault,
			   unsigned int pkg)
{
	unsigned int box_type, box;
	unsigned long boxes;
	char name[32];

	for (box_type = 0; box_type < sim.config.gen->ntypes; box_type++) {
		boxes = sim_faults[fault][pkg][box_type];
		for_each_set_bit(box, &boxes, 32) {
			sim_box_name(name, sizeof(name), box_type, box);
			seq_printf(s, "%s pkg=%u box=%s on\n",
				   sim_fault_names[fault], pkg, name);
		}
	}
}

/**
 * sim_fault_show() - print the faults that are on, in the format of sim_fault_line()
 * @s: output
 */
void sim_fault_show(struct seq_file *s)
{
	unsigned int fault, pkg;

	mutex_lock(&sim_fault_mutex);
	for (fault = 0; fault < MODEL_FAULTS; fault++)
		for (pkg = 0; pkg < sim.config.packages; pkg++)
			sim_show_boxes(s, fault, pkg);
	mutex_unlock(&sim_fault_mutex);

	for (pkg = 0; pkg < sim.config.packages; pkg++)
		if (sim_pmi_misrouted(pkg))
			seq_printf(s, "wrong_cpu pkg=%u on\n", pkg);
}

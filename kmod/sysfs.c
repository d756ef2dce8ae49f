// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format, events and cpumask files of a PMU, made from the tables.  Boxes
 * of a type share their attribute groups.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "package.h"
#include "sysfs.h"

struct unc_attr {
	struct device_attribute dev;
	const struct unc_field *field;	/* of format attributes */
	const char *text;		/* of events and their units */
	char *name;			/* when it was allocated */
};

/* Files that the PMUs of a box type share. */
struct unc_type_sysfs {
	struct unc_attr *attrs;
	unsigned int num;
	struct attribute **format, **events;
	struct attribute_group format_group, events_group;
	const struct attribute_group *groups[4];
};

static struct unc_type_sysfs *unc_types_sysfs;

static const char *const unc_words[] = { "config", "config1", "config2" };

/*
 * Which of the catalogue's names to list.  perf reads all event files of all
 * PMUs, five times as many as there are, before it counts anything; a big
 * machine has thousands.  Tools that know the catalogue need none of them.
 */
enum unc_events { UNC_EVENTS_NONE, UNC_EVENTS_COMMON, UNC_EVENTS_ALL };
static const char *const unc_events_words[] = { "none", "common", "all" };
static int unc_events = UNC_EVENTS_COMMON;

static int unc_events_set(const char *text, const struct kernel_param *kp)
{
	int word = sysfs_match_string(unc_events_words, text);

	if (word < 0) {
		pr_err("events=%s: must be all, common or none\n", text);
		return word;
	}
	*(int *)kp->arg = word;
	return 0;
}

static int unc_events_get(char *page, const struct kernel_param *kp)
{
	return sysfs_emit(page, "%s\n", unc_events_words[*(int *)kp->arg]);
}

static const struct kernel_param_ops unc_events_ops = {
	.set = unc_events_set,
	.get = unc_events_get,
};
module_param_cb(events, &unc_events_ops, &unc_events, 0444);
MODULE_PARM_DESC(events,
		 "event names in sysfs: \"all\" of the catalogue, \"common\" ones (default) or \"none\"; perf reads them all each time it starts");

static bool unc_event_listed(const struct unc_named_event *e)
{
	return unc_events == UNC_EVENTS_ALL ||
	       (unc_events == UNC_EVENTS_COMMON && e->common);
}

/* "config:0-7,21" */
static ssize_t unc_format_show(struct device *dev,
			       struct device_attribute *attr, char *page)
{
	const struct unc_field *f = container_of(attr, struct unc_attr,
						 dev)->field;
	unsigned long mask = f->mask;
	unsigned int lo, hi;
	int n;

	n = sysfs_emit(page, "%s", unc_words[f->word]);
	for (lo = 0; (lo = find_next_bit(&mask, 64, lo)) < 64; lo = hi) {
		hi = find_next_zero_bit(&mask, 64, lo);
		n += sysfs_emit_at(page, n, "%c%u", mask & (BIT(lo) - 1) ?
				   ',' : ':', lo);
		if (hi - lo > 1)
			n += sysfs_emit_at(page, n, "-%u", hi - 1);
	}
	return n + sysfs_emit_at(page, n, "\n");
}

static ssize_t unc_text_show(struct device *dev, struct device_attribute *attr,
			     char *page)
{
	return sysfs_emit(page, "%s\n",
			  container_of(attr, struct unc_attr, dev)->text);
}

/* The CPUs on which tools open events: one of each package with the box. */
static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr,
			    char *page)
{
	struct unc_pmu *pmu = to_unc_pmu(dev_get_drvdata(dev));
	cpumask_var_t mask;
	unsigned int i;
	ssize_t n;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for (i = 0; i < unc.num_packages; i++) {
		const struct unc_package *pkg = &unc.packages[i];
		const struct unc_box *box = *unc_package_box_place(pkg, pmu->type,
								   pmu->index);
		unsigned int cpu = READ_ONCE(pkg->cpu);

		if (box && !box->dead && cpu < nr_cpu_ids)
			cpumask_set_cpu(cpu, mask);
	}
	n = sysfs_emit(page, "%*pbl\n", cpumask_pr_args(mask));
	free_cpumask_var(mask);
	return n;
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *unc_pmu_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL,
};

static const struct attribute_group unc_pmu_group = {
	.attrs = unc_pmu_attrs,
};

static struct unc_attr *unc_attr_add(struct unc_type_sysfs *t,
				     struct attribute **list, const char *name)
{
	struct unc_attr *a = &t->attrs[t->num++];

	sysfs_attr_init(&a->dev.attr);
	a->dev.attr.name = name;
	a->dev.attr.mode = 0444;
	*list = &a->dev.attr;
	return a;
}

static void unc_text_add(struct unc_type_sysfs *t, struct attribute **list,
			 const char *name, const char *text)
{
	struct unc_attr *a = unc_attr_add(t, list, name);

	a->text = text;
	a->dev.show = unc_text_show;
}

/* NAME.unit and NAME.scale */
static int unc_suffix_add(struct unc_type_sysfs *t, struct attribute **list,
			  const char *name, const char *suffix,
			  const char *text)
{
	char *full = kasprintf(GFP_KERNEL, "%s.%s", name, suffix);

	if (!full)
		return -ENOMEM;
	t->attrs[t->num].name = full;
	unc_text_add(t, list, full, text);
	return 0;
}

static int unc_events_init(const struct unc_type *type,
			   struct unc_type_sysfs *t)
{
	struct attribute **list = t->events;
	unsigned int i;

	for (i = 0; i < type->events.num_named; i++) {
		const struct unc_named_event *e = &type->events.named[i];

		if (!unc_event_listed(e))
			continue;
		unc_text_add(t, list++, e->name, e->config);
		if (e->unit && unc_suffix_add(t, list++, e->name, "unit",
					      e->unit))
			return -ENOMEM;
		if (e->scale && unc_suffix_add(t, list++, e->name, "scale",
					       e->scale))
			return -ENOMEM;
	}
	return 0;
}

/* A field of all PMUs, which no register has. */
static const struct unc_field unc_local_field = {
	.name = "local",
	.mask = UNC_CONFIG_LOCAL,
};

static void unc_format_add(struct unc_type_sysfs *t, struct attribute **list,
			   const struct unc_field *field)
{
	struct unc_attr *a = unc_attr_add(t, list, field->name);

	a->field = field;
	a->dev.show = unc_format_show;
}

static int unc_type_sysfs_init(const struct unc_type *type,
			       struct unc_type_sysfs *t)
{
	unsigned int fields = 0, texts = 0, i;
	const struct unc_field *f;

	for (f = type->events.fields; f->name; f++)
		fields++;
	for (i = 0; i < type->events.num_named; i++)
		if (unc_event_listed(&type->events.named[i]))
			texts += 1 + !!type->events.named[i].unit +
				 !!type->events.named[i].scale;

	t->attrs = kcalloc(fields + 1 + texts, sizeof(*t->attrs), GFP_KERNEL);
	t->format = kcalloc(fields + 2, sizeof(*t->format), GFP_KERNEL);
	t->events = kcalloc(texts + 1, sizeof(*t->events), GFP_KERNEL);
	if (!t->attrs || !t->format || !t->events)
		return -ENOMEM;

	for (i = 0; i < fields; i++)
		unc_format_add(t, &t->format[i], &type->events.fields[i]);
	/* intel_uncore has no such field */
	if (!unc.lenient)
		unc_format_add(t, &t->format[i], &unc_local_field);
	t->format_group.name = "format";
	t->format_group.attrs = t->format;
	t->events_group.name = "events";
	t->events_group.attrs = t->events;
	t->groups[0] = &t->format_group;
	t->groups[1] = &t->events_group;
	t->groups[2] = &unc_pmu_group;
	return unc_events_init(type, t);
}

/*
 * Make the attribute groups of all box types.  Returns 0 or -ENOMEM; unc_sysfs_exit()
 * cleans up either way.
 */
int unc_sysfs_init(void)
{
	unsigned int i;
	int err = 0;

	unc_types_sysfs = kcalloc(unc.gen->num_types, sizeof(*unc_types_sysfs),
				  GFP_KERNEL);
	if (!unc_types_sysfs)
		return -ENOMEM;
	for (i = 0; i < unc.gen->num_types && !err; i++)
		err = unc_type_sysfs_init(&unc.gen->types[i],
					  &unc_types_sysfs[i]);
	return err;
}

/* Free the attribute groups; no PMU uses them any more. */
void unc_sysfs_exit(void)
{
	unsigned int i, a;

	for (i = 0; unc_types_sysfs && i < unc.gen->num_types; i++) {
		struct unc_type_sysfs *t = &unc_types_sysfs[i];

		for (a = 0; a < t->num; a++)
			kfree(t->attrs[a].name);
		kfree(t->attrs);
		kfree(t->format);
		kfree(t->events);
	}
	kfree(unc_types_sysfs);
	unc_types_sysfs = NULL;
}

/* The attribute groups of a box type's PMUs. */
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type)
{
	return unc_types_sysfs[type - unc.gen->types].groups;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format, events, cpumask and dieN files of a PMU, made from the tables.  Boxes
 * of a type share their attribute groups.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "package.h"
#include "sysfs.h"

/* A folder of a PMU in sysfs. */
struct unc_folder {
	struct attribute_group group;
	struct perf_pmu_events_attr *files;
};

/* Files that the PMUs of a box type share. */
struct unc_type_sysfs {
	struct unc_folder format, events;
	const struct attribute_group *groups[5];
};

static struct unc_type_sysfs *unc_types_sysfs;

/*
 * Events that have a file in sysfs, by the module parameter "events".
 *
 * Before perf counts anything, it reads the event files of all PMUs: five times as many
 * files as there are events.  A big machine has thousands of event files.  Tools
 * that know the event catalogue need none of them.  With pmu_prefix=uncore tools expect
 * exactly the files of intel_uncore.
 */
enum unc_events { UNC_EVENTS_NONE, UNC_EVENTS_COMMON, UNC_EVENTS_ALL, UNC_EVENTS_IN_TREE };
static const char *const unc_events_words[] = { "none", "common", "all" };
static char *events;
module_param(events, charp, 0444);
MODULE_PARM_DESC(events,
		 "event names in sysfs: \"all\" of the catalogue, \"common\" ones (default) or \"none\"; with pmu_prefix=uncore the default is those of intel_uncore; perf reads them all each time it starts");

/* Return the choice of the module parameter or the default; -EINVAL: invalid parameter. */
static int unc_sysfs_events(void)
{
	if (events)
		return sysfs_match_string(unc_events_words, events);
	/* intel_uncore does not drive all generations, and then has no files to imitate */
	return unc.lenient && unc.gen->in_tree ? UNC_EVENTS_IN_TREE : UNC_EVENTS_COMMON;
}

/**
 * unc_sysfs_check() - check the module parameter "events"
 *
 * Return: 0 or -EINVAL.
 */
int unc_sysfs_check(void)
{
	if (unc_sysfs_events() >= 0)
		return 0;
	pr_err("events=%s: must be all, common or none\n", events);
	return -EINVAL;
}

/* Show the perf CPUs, on which tools open events: one of each package with the box. */
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
		const struct unc_box *box = pkg->boxes[pmu->number];
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

/* A file that tells the place of a PMU's box of one die. */
struct unc_place_file {
	struct device_attribute attr;
	const struct unc_package *pkg;
	char name[16];
};

static struct unc_place_file *unc_place_files;	/* of each package, for all PMUs */

static const char *unc_place(struct device *dev, const struct attribute *attr)
{
	const struct unc_pmu *pmu = to_unc_pmu(dev_get_drvdata(dev));
	const struct unc_place_file *file =
		container_of(attr, struct unc_place_file, attr.attr);
	const struct unc_box *box = file->pkg->boxes[pmu->number];

	return box ? box->place : NULL;
}

static ssize_t unc_place_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", unc_place(dev, &attr->attr));
}

static umode_t unc_place_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	return unc_place(kobj_to_dev(kobj), attr) ? attr->mode : 0;
}

static struct attribute_group unc_place_group = {
	.is_visible = unc_place_is_visible,
};

/* Make the files dieN, which a PMU has for the boxes whose place is known. */
static int unc_place_init(void)
{
	struct attribute **list = kcalloc(unc.num_packages + 1, sizeof(*list), GFP_KERNEL);
	struct unc_place_file *file;
	unsigned int i;

	unc_place_group.attrs = list;
	unc_place_files = kcalloc(unc.num_packages, sizeof(*file), GFP_KERNEL);
	if (!list || !unc_place_files)
		return -ENOMEM;
	for (i = 0; i < unc.num_packages; i++) {
		file = &unc_place_files[i];
		file->pkg = &unc.packages[i];
		snprintf(file->name, sizeof(file->name), "die%d", file->pkg->die);
		sysfs_attr_init(&file->attr.attr);
		file->attr.attr.name = file->name;
		file->attr.attr.mode = 0444;
		file->attr.show = unc_place_show;
		list[i] = &file->attr.attr;
	}
	return 0;
}

/* Fill a folder with a file for each text; without @all, for each common text. */
static int unc_folder_init(struct unc_folder *folder, const char *name,
			   const struct unc_text *texts, unsigned int num, bool all)
{
	struct perf_pmu_events_attr *file;
	const struct unc_text *text;
	struct attribute **list;
	unsigned int n = 0;

	for (text = texts; text < texts + num; text++)
		n += all || text->common;
	file = kcalloc(n, sizeof(*file), GFP_KERNEL);
	list = kcalloc(n + 1, sizeof(*list), GFP_KERNEL);
	folder->group.name = name;
	folder->group.attrs = list;
	folder->files = file;
	if (!file || !list)
		return -ENOMEM;
	for (text = texts; text < texts + num; text++) {
		if (!all && !text->common)
			continue;
		sysfs_attr_init(&file->attr.attr);
		file->attr.attr.name = text->name;
		file->attr.attr.mode = 0444;
		file->attr.show = perf_event_sysfs_show;
		file->event_str = text->text;
		*list++ = &file++->attr.attr;
	}
	return 0;
}

static void unc_folder_free(struct unc_folder *folder)
{
	kfree(folder->files);
	kfree(folder->group.attrs);
}

/*
 * Make the folders of a box type.  With pmu_prefix=uncore (unc.lenient) the format folder
 * has only the common fields, which intel_uncore has as well: it has no field "local".
 */
static int unc_type_sysfs_init(const struct unc_type *type,
			       struct unc_type_sysfs *t)
{
	const struct unc_type_events *e = &type->events;
	int which = unc_sysfs_events(), err;

	t->groups[0] = &t->format.group;
	t->groups[1] = &t->events.group;
	t->groups[2] = &unc_pmu_group;
	t->groups[3] = &unc_place_group;
	err = unc_folder_init(&t->format, "format", e->fields, e->num_fields,
			      !unc.lenient);
	if (err)
		return err;
	if (which == UNC_EVENTS_IN_TREE)
		return unc_folder_init(&t->events, "events", e->in_tree,
				       e->num_in_tree, true);
	return unc_folder_init(&t->events, "events", e->named,
			       which == UNC_EVENTS_NONE ? 0 : e->num_named,
			       which == UNC_EVENTS_ALL);
}

/**
 * unc_sysfs_init() - make the attribute groups of all box types
 *
 * Return: 0 or -ENOMEM; unc_sysfs_exit() cleans up in both cases.
 */
int unc_sysfs_init(void)
{
	unsigned int i;
	int err = unc_place_init();

	if (err)
		return err;
	unc_types_sysfs = kcalloc(unc.gen->num_types, sizeof(*unc_types_sysfs),
				  GFP_KERNEL);
	if (!unc_types_sysfs)
		return -ENOMEM;
	for (i = 0; i < unc.gen->num_types && !err; i++)
		err = unc_type_sysfs_init(&unc.gen->types[i],
					  &unc_types_sysfs[i]);
	return err;
}

/**
 * unc_sysfs_exit() - free the attribute groups, which no PMU uses any more
 */
void unc_sysfs_exit(void)
{
	unsigned int i;

	for (i = 0; unc_types_sysfs && i < unc.gen->num_types; i++) {
		unc_folder_free(&unc_types_sysfs[i].format);
		unc_folder_free(&unc_types_sysfs[i].events);
	}
	kfree(unc_types_sysfs);
	unc_types_sysfs = NULL;
	kfree(unc_place_files);
	unc_place_files = NULL;
	kfree(unc_place_group.attrs);
	unc_place_group.attrs = NULL;
}

/**
 * unc_sysfs_groups() - return the attribute groups of a box type's PMUs
 * @type: the box type
 */
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type)
{
	return unc_types_sysfs[type - unc.gen->types].groups;
}

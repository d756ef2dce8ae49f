// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/module/xeon_uncore/packageN/: statistics of each package on samples, overflows and
 * freezes.  Documentation/ABI/testing/sysfs-module-xeon_uncore describes the files.
 */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "package.h"
#include "package_sysfs.h"

/* Find the package of a folder; NULL before pkg->kobj is set and after it is cleared. */
static struct unc_package *unc_package_of(struct kobject *kobj)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].kobj == kobj)
			return &unc.packages[i];
	}
	return NULL;
}

#define UNC_PACKAGE_ATTR(name, format, value)				\
static ssize_t name##_show(struct kobject *kobj,			\
			   struct kobj_attribute *attr, char *page)	\
{									\
	struct unc_package *pkg = unc_package_of(kobj);			\
									\
	if (!pkg)							\
		return -ENODEV;						\
	return sysfs_emit(page, format "\n", value);			\
}									\
static struct kobj_attribute name##_attr = __ATTR_RO(name)

#define UNC_PACKAGE_COUNT(name, count)					\
	UNC_PACKAGE_ATTR(name, "%lld", (s64)atomic64_read(&pkg->stats.count))

UNC_PACKAGE_COUNT(overflow_count, overflows);
UNC_PACKAGE_COUNT(overflow_frozen_ns, overflow_frozen_ns);
UNC_PACKAGE_COUNT(overflow_timer_served, by_timer);
UNC_PACKAGE_COUNT(overflow_late, late);
UNC_PACKAGE_COUNT(throttled, merged);
UNC_PACKAGE_ATTR(overflow_cores, "%#llx", pkg->overflow.has_pmi ? unc.gen->global.cores : 0);
UNC_PACKAGE_COUNT(group_frozen_ns, group_frozen_ns);
UNC_PACKAGE_COUNT(group_unfrozen, group_unfrozen);
UNC_PACKAGE_COUNT(foreign_writes, foreign_writes);

static struct attribute *unc_package_attrs[] = {
	&overflow_count_attr.attr,
	&overflow_frozen_ns_attr.attr,
	&overflow_timer_served_attr.attr,
	&overflow_late_attr.attr,
	&throttled_attr.attr,
	&overflow_cores_attr.attr,
	&group_frozen_ns_attr.attr,
	&group_unfrozen_attr.attr,
	&foreign_writes_attr.attr,
	NULL,
};

static const struct attribute_group unc_package_group = {
	.attrs = unc_package_attrs,
};

/**
 * unc_package_sysfs_init() - make a folder in sysfs for each package
 *
 * Return: 0 or a negative errno; unc_package_sysfs_exit() cleans up in both cases.
 */
int unc_package_sysfs_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];
		struct kobject *kobj;
		char name[24];

		snprintf(name, sizeof(name), "package%d", pkg->id);
		kobj = kobject_create_and_add(name, &THIS_MODULE->mkobj.kobj);
		if (!kobj)
			return -ENOMEM;
		pkg->kobj = kobj;
		err = sysfs_create_group(kobj, &unc_package_group);
		if (err)
			return err;
	}
	return 0;
}

/**
 * unc_package_sysfs_exit() - remove the folders of all packages
 */
void unc_package_sysfs_exit(void)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		kobject_put(unc.packages[i].kobj);
		unc.packages[i].kobj = NULL;
	}
}

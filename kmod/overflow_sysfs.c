// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/module/xeon_uncore/packageN/: what sampling did, and what it cost, a
 * package.  Documentation/ABI/testing/sysfs-module-xeon_uncore describes it.
 */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include "xeon_uncore.h"

static const struct unc_overflow *unc_overflow_of(struct kobject *kobj)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		if (unc.packages[i].overflow.kobj == kobj)
			return &unc.packages[i].overflow;
	}
	return NULL;
}

#define UNC_OVERFLOW_ATTR(field)					\
static ssize_t overflow_##field##_show(struct kobject *kobj,		\
				       struct kobj_attribute *attr,	\
				       char *page)			\
{									\
	const struct unc_overflow *ov = unc_overflow_of(kobj);		\
									\
	if (!ov)							\
		return -ENODEV;						\
	return sysfs_emit(page, "%lld\n",				\
			  (s64)atomic64_read(&ov->field));		\
}									\
static struct kobj_attribute overflow_##field##_attr =			\
	__ATTR_RO(overflow_##field)

UNC_OVERFLOW_ATTR(count);
UNC_OVERFLOW_ATTR(frozen_ns);
UNC_OVERFLOW_ATTR(timer_served);
UNC_OVERFLOW_ATTR(spurious);

static struct attribute *unc_overflow_attrs[] = {
	&overflow_count_attr.attr,
	&overflow_frozen_ns_attr.attr,
	&overflow_timer_served_attr.attr,
	&overflow_spurious_attr.attr,
	NULL,
};

static const struct attribute_group unc_overflow_group = {
	.attrs = unc_overflow_attrs,
};

/**
 * unc_overflow_sysfs_init() - make a folder for each package
 *
 * Return: 0 or a negative errno; unc_overflow_sysfs_exit() cleans up either way.
 */
int unc_overflow_sysfs_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < unc.num_packages; i++) {
		struct unc_package *pkg = &unc.packages[i];
		struct kobject *kobj;
		char name[24];

		snprintf(name, sizeof(name), "package%d", pkg->phys_id);
		kobj = kobject_create_and_add(name, &THIS_MODULE->mkobj.kobj);
		if (!kobj)
			return -ENOMEM;
		pkg->overflow.kobj = kobj;
		err = sysfs_create_group(kobj, &unc_overflow_group);
		if (err)
			return err;
	}
	return 0;
}

/**
 * unc_overflow_sysfs_exit() - remove the packages' folders
 */
void unc_overflow_sysfs_exit(void)
{
	unsigned int i;

	for (i = 0; i < unc.num_packages; i++) {
		kobject_put(unc.packages[i].overflow.kobj);
		unc.packages[i].overflow.kobj = NULL;
	}
}

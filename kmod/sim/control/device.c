// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/xeon_uncore_sim: traffic of a task. The device takes the lines of the control file
 * "traffic". The transactions pass while the writing task runs, in the package of the task's
 * CPU unless the line has pkg=.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "sim.h"

static int sim_device_open(struct inode *inode, struct file *file)
{
	return sim_writer_open(file, sim_traffic_line_here);
}

static const struct file_operations sim_device_fops = {
	.owner = THIS_MODULE,
	.open = sim_device_open,
	.write = sim_writer_write,
	.release = sim_writer_release,
	.llseek = noop_llseek,
};

/* The mode of the control file "traffic": only root may write, and no user may read. */
static struct miscdevice sim_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME,
	.fops = &sim_device_fops,
	.mode = 0200,
};

/**
 * sim_device_init() - create the device
 *
 * Return: 0 or a negative error.
 */
int sim_device_init(void)
{
	int ret = misc_register(&sim_device);

	if (ret)
		pr_err("cannot register /dev/%s (error %d)\n", sim_device.name,
		       ret);
	return ret;
}

/**
 * sim_device_exit() - remove the device, which is not open
 */
void sim_device_exit(void)
{
	misc_deregister(&sim_device);
}

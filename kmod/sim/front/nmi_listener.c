// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "nmi_listener": a handler of NMI_UNKNOWN, like a watchdog's. The kernel
 * calls the handler for each NMI that no handler of NMI_LOCAL has claimed. The handler
 * counts these NMIs ("nmi_unknown" in the file "stats") and claims none.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <asm/nmi.h>

#include "sim.h"

static DEFINE_MUTEX(sim_listener_mutex);
static bool sim_listening;

static int sim_listener(unsigned int type, struct pt_regs *regs)
{
	sim_count(SIM_NMI_UNKNOWN);
	return NMI_DONE;
}

static int sim_listen(bool on)
{
	int ret = 0;

	mutex_lock(&sim_listener_mutex);
	if (on && !sim_listening)
		ret = register_nmi_handler(NMI_UNKNOWN, sim_listener, 0,
					   "sim_listener");
	else if (!on && sim_listening)
		unregister_nmi_handler(NMI_UNKNOWN, "sim_listener");
	if (!ret)
		sim_listening = on;
	mutex_unlock(&sim_listener_mutex);
	return ret;
}

/**
 * sim_nmi_listener_line() - register the listener or unregister it
 * @line: "on" or "off"
 *
 * Return: 0 or a negative error.
 */
int sim_nmi_listener_line(char *line)
{
	if (!strcmp(line, "on"))
		return sim_listen(true);
	if (!strcmp(line, "off"))
		return sim_listen(false);
	pr_warn("nmi_listener: \"%s\": invalid value (expected on or off)\n",
		line);
	return -EINVAL;
}

/**
 * sim_nmi_listener_show() - print whether the listener is registered
 * @s: output
 */
void sim_nmi_listener_show(struct seq_file *s)
{
	seq_puts(s, READ_ONCE(sim_listening) ? "on\n" : "off\n");
}

/**
 * sim_nmi_listener_init() - do nothing: the control file registers the listener
 *
 * Return: 0.
 */
int sim_nmi_listener_init(void)
{
	return 0;
}

/**
 * sim_nmi_listener_exit() - unregister the listener
 */
void sim_nmi_listener_exit(void)
{
	sim_listen(false);
}

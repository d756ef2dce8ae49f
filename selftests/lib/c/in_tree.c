// SPDX-License-Identifier: GPL-2.0-or-later
/* Load and unload the in-tree driver, and count its events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generation.h"
#include "machine.h"
#include "perf.h"
#include "in_tree.h"
#include "sim.h"
#include "tap.h"

#define IN_TREE_NAME	"intel_uncore"

const char *const driver_names[DRIVERS] = { IN_TREE_NAME, "xeon_uncore" };

bool in_tree_exists(void)
{
	/* A built-in driver was initialised before the simulator was loaded. */
	return module_loaded(IN_TREE_NAME) ||
	       !system("modprobe --dry-run --quiet " IN_TREE_NAME
		       " && ! modprobe --show-depends " IN_TREE_NAME
		       " | grep -q ^builtin");
}

static int unload(void)
{
	return module_unload(driver_names[OURS]) ?: module_unload(IN_TREE_NAME);
}

void driver_none(void)
{
	int err = unload();

	if (err)
		tap_bail("driver does not unload: %s", strerror(-err));
}

/* Unload both drivers at exit, before machine.c's handler of exit unloads the simulator. */
static void leave(void)
{
	int err = unload();

	if (err)
		tap_diag("driver does not unload: %s", strerror(-err));
}

static int load_in_tree(void)
{
	bool was_manual;
	int status;

	/* intel_uncore writes registers unconditionally, also in undefined ways */
	machine_allow_undefined();
	sim_clock_run(&was_manual);
	status = system("modprobe " IN_TREE_NAME);
	sim_clock_return(was_manual);
	return status ? -ENODEV : 0;
}

static void load(enum driver driver)
{
	static bool registered;
	int err;

	if (!registered)
		atexit(leave);
	registered = true;
	err = driver == OURS ? driver_load(NULL) : load_in_tree();
	if (err)
		tap_bail("%s does not load: %s", driver_names[driver],
			 strerror(-err));
}

void driver_setup(enum driver driver, const char *sim_params)
{
	const char *sized = generation()->in_tree_sim;

	driver_none();
	machine_setup_sim("%s %s", sim_params ? sim_params : "", sized ? sized : "");
	load(driver);
}

void driver_change(enum driver driver)
{
	driver_none();
	load(driver);
}

const char *driver_pmu(enum driver driver, const char *box)
{
	static char name[PMU_NAME_MAX];
	int length;

	/* intel_uncore has one PMU for both IRPs; its first counters are those of IRP 0 */
	if (driver == IN_TREE && !strcmp(box, "irp_0"))
		box = "irp";
	length = snprintf(name, sizeof(name), "%s_%s",
			  driver == OURS ? generation()->name : "uncore", box);
	/* the only box here of a type that may have several has a number */
	if (pmu_type(name) < 0) {
		snprintf(name + length, sizeof(name) - length, "_0");
		if (pmu_type(name) < 0)
			name[length] = '\0';
	}
	return name;
}

uint64_t driver_control(const char *box)
{
	char name[32];
	uint64_t ctl;

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s ctl%d", box, i);
		if (sim_register(0, name, &ctl) && ctl & CTL_EN)
			return ctl;
	}
	return 0;
}

int64_t driver_count(enum driver driver, const char *box, const char *event,
		     const char *const *lines)
{
	const char *pmu = driver_pmu(driver, box);
	int fd = event_open(pmu, pmu_cpu(pmu, 0), "%s", event);
	int64_t count;

	if (fd < 0)
		return fd;
	for (; *lines; lines++)
		if (sim_traffic("pkg=0 %s", *lines))
			tap_bail("traffic '%s' is refused", *lines);
	count = event_count(fd);
	close(fd);
	return count;
}

enum { CTL_EV_SEL = 0xff };

/* Write a control register of a box without the driver. */
static int write_control(const struct box_type *t, unsigned int box, int pkg,
			 const char *name, uint32_t value)
{
	uint32_t reg = box_register(t->name, box, name);
	char function[16];

	if (t->memory)
		return memory_write(t->name, box, pkg, name, value);
	if (!t->pci)
		return msr_write(package_cpu(pkg, 0), reg, value);
	if (!pci_find(function, t->name, box, "box", pkg))
		return -ENODEV;
	return pci_config_write(function, reg, value);
}

bool in_tree_write_twice(const char *box, int pkg, unsigned int event_select)
{
	unsigned int index;
	const struct box_type *t = box_named(box, &index);
	bool ok = true;

	if (!t->pci && !t->memory && access("/dev/cpu/0/msr", F_OK) && system("modprobe msr"))
		return false;
	for (unsigned int ctr = 0; ctr < t->general; ctr++) {
		char name[16], shown[48];
		uint64_t value = 0;

		snprintf(name, sizeof(name), "ctl%u", ctr);
		snprintf(shown, sizeof(shown), "%s %s", box, name);
		if (!sim_register(pkg, shown, &value) || !(value & CTL_EN))
			continue;
		value = (value & ~CTL_EV_SEL) | event_select;
		ok &= !write_control(t, index, pkg, name, value) &
		      !write_control(t, index, pkg, name, value);
	}
	return ok;
}

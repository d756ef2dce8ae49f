/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests that compare xeon_uncore with the in-tree driver, intel_uncore: load one driver
 * after the other on the same simulated hardware, and count the same events.
 */
#ifndef SELFTESTS_IN_TREE_H
#define SELFTESTS_IN_TREE_H

#include <stdbool.h>
#include <stdint.h>

enum driver { IN_TREE, OURS, DRIVERS };

/* "intel_uncore", "xeon_uncore". */
extern const char *const driver_names[DRIVERS];

/* Return whether the running kernel has an intel_uncore module. */
bool in_tree_exists(void);

/*
 * Set up a machine after reset with @driver: unload both drivers, load the simulator
 * again and then @driver. Bail out if a module does not load.
 */
void driver_setup(enum driver driver, const char *sim_params);
/* Unload both drivers and load @driver, without a reset of the simulated hardware. */
void driver_change(enum driver driver);
/* Unload both drivers; this is also done at exit. */
void driver_none(void);

/*
 * Name of the PMU of a box, "cbox_0", under @driver, which is loaded: "uncore_cbox_0". The name
 * is in a static buffer.
 */
const char *driver_pmu(enum driver driver, const char *box);

/*
 * Count @event in a box of package 0 while the traffic of @lines is sent. Each line lacks
 * "pkg=", and NULL ends @lines. Return the count, or -errno if the event does not open.
 */
int64_t driver_count(enum driver driver, const char *box, const char *event,
		     const char *const *lines);

/* Bit of a control register: the counter counts. */
enum { CTL_EN = 1 << 22 };

/* Return the control register of the only enabled counter of a box of package 0, or 0. */
uint64_t driver_control(const char *box);

/*
 * Write the control registers of a box's enabled counters twice in a row with event
 * select @event_select, not through the driver. SBo, R2PCIe and R3QPI need the second
 * write (§2.4.2.2, §2.10.2.2, §2.11.2.2), which intel_uncore does not do. Return false
 * if a write fails.
 */
bool in_tree_write_twice(const char *box, int pkg, unsigned int event_select);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The in-tree driver, intel_uncore, for tests that compare this project's driver with
 * it. Both run on the same simulated hardware, one after the other.
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
 * A machine after reset with that driver: unload any driver, load the simulator again
 * and then @driver. End the program if a module does not load.
 */
void driver_setup(enum driver driver, const char *sim_params);
/* Change the driver only; the simulated hardware is not reset. */
void driver_change(enum driver driver);
/* Unload the loaded driver; also done at exit. */
void driver_none(void);

/* PMU of box "cbox_0" under @driver, in a static buffer: "uncore_cbox_0". */
const char *driver_pmu(enum driver driver, const char *box);

/*
 * Return the count of @event of a box in package 0 over lines of traffic, each without
 * "pkg=", or -errno of open.
 */
int64_t driver_count(enum driver driver, const char *box, const char *event,
		     const char *const *lines);

/*
 * Write the control registers of a box's enabled counters twice in a row, without the
 * driver: SBo, R2PCIe and R3QPI need it (§2.4.2.2, §2.10.2.2, §2.11.2.2), and
 * intel_uncore does not do it. @event_select is the event select to write. Return false
 * if it fails.
 */
bool in_tree_write_twice(const char *box, int pkg, unsigned int event_select);

#endif

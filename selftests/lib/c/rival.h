/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own driver, intel_uncore, for tests that hold this project's
 * driver against it: both meet the same simulated hardware, one after the other.
 */
#ifndef SELFTESTS_RIVAL_H
#define SELFTESTS_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

enum driver { IN_TREE, OURS, DRIVERS };

/* "intel_uncore", "xeon_uncore". */
extern const char *const driver_names[DRIVERS];

/* Is there an intel_uncore module for the running kernel? */
bool rival_exists(void);

/*
 * A machine after reset with that driver: unloads whatever driver is there,
 * loads the simulated hardware anew and then @driver. Ends the program when
 * something does not load.
 */
void driver_setup(enum driver driver, const char *sim_params);
/* Changes the driver only; the simulated hardware stays as it is. */
void driver_change(enum driver driver);
/* Unloads whichever driver is loaded; happens by itself at exit. */
void driver_none(void);

/* PMU of box "cbox_0" under @driver, in a static buffer: "uncore_cbox_0". */
const char *driver_pmu(enum driver driver, const char *box);

/*
 * What @event of a box in package 0 counts over lines of traffic, each without its
 * "pkg=", or -errno of open.
 */
int64_t driver_count(enum driver driver, const char *box, const char *event,
		     const char *const *lines);

/*
 * Writes the control registers of a box's enabled counters twice in a row, past
 * the driver: SBo, R2PCIe and R3QPI want it (§2.4.2.2, §2.10.2.2, §2.11.2.2),
 * intel_uncore does not do it. @event_select is what they are to count. False
 * when it cannot be done.
 */
bool rival_write_twice(const char *box, int pkg, unsigned int event_select);

#endif

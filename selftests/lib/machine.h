/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine under test: loads and unloads the modules of this build, so that
 * each test program starts from hardware and driver after reset; and reads
 * the kernel's log.
 */
#ifndef SELFTESTS_MACHINE_H
#define SELFTESTS_MACHINE_H

#include <stdbool.h>

/*
 * insmod of this build's module ($UNCORE_BUILD, default: the only
 * build/<release> of the running kernel). 0 or -errno, as finit_module(2).
 */
int driver_load(const char *params);
int sim_load(const char *params);
/* 0 or -errno; 0 when it was not loaded. */
int driver_unload(void);
int sim_unload(void);
bool module_loaded(const char *name);

/*
 * Unloads both modules if they are there, loads both again with these
 * parameters, and has both unloaded at exit. Skips the program when the modules
 * are not built, ends it when they do not load. May be called again. The
 * simulated hardware gets as many packages as the machine has, unless
 * @sim_params says packages= too.
 */
void machine_setup(const char *sim_params, const char *driver_params);
/* The simulated hardware only, no driver. */
void machine_setup_sim(const char *sim_params);

/* From here on log_count() looks at new messages only. */
void log_mark(void);
/* How many lines of the kernel log since log_mark() contain @text. */
int log_count(const char *text);
/* Prints these lines as comments. */
void log_show(const char *text);

#endif

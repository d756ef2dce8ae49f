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
 * For every loop that waits or spins: a VM that emulates all CPUs in one thread runs
 * the next one now, and not when a time slice is over.
 */
#define cpu_relax()	__builtin_ia32_pause()

/*
 * insmod of $UNCORE_BUILD's module; without that, of the one that is built for the
 * running kernel, in build/<release>, or else installed for it. 0 or -errno, as
 * finit_module(2).
 * The driver lists all of the catalogue's names, unless @params has events=.
 * While the driver loads, the simulated hardware's clock runs.
 */
int driver_load(const char *params);
/* The same in two: that module's file, or -errno; and what loads it from there. */
int driver_open(void);
int driver_load_from(int fd, const char *params);
int sim_load(const char *params);
/*
 * How much of the time group reads may freeze a box, per mille; 1000: always, so
 * that all of them are of one instant. Until the driver is unloaded.
 */
int driver_freeze_budget(unsigned int per_mille);
/* 0 or -errno; 0 when it was not loaded. */
int driver_unload(void);
int sim_unload(void);
bool module_loaded(const char *name);
/*
 * The same of any module, and it waits for who still holds it: the kernel lets an
 * event that a BPF map held go a little after the map is closed.
 */
int module_unload(const char *name);

/*
 * Unloads both modules if they are there, loads both again with these
 * parameters, and has both unloaded at exit. Skips the program when the modules
 * are not built, ends it when they do not load. May be called again. The
 * simulated hardware gets as many packages as the machine has, unless
 * @sim_params says packages= too.
 */
void machine_setup(const char *sim_params, const char *driver_params);
/*
 * The same for tests of harness.h, each a process: when the one before has left the
 * modules there, as loaded with these parameters by this function, they stay.
 */
void machine_setup_once(const char *sim_params, const char *driver_params);
/* The simulated hardware only, no driver. */
void machine_setup_sim(const char *sim_params);
/* Skips the program when that cannot be done, and has both unloaded at exit. */
void machine_require(void);
/*
 * What happens at exit, for a process that does not come there: false, and why in a
 * comment, when something does not unload or has written what it must not.
 */
bool machine_leave(void);

/*
 * For harness.h, in the process that all tests are children of: skips the program
 * when the machine or the catalogue is missing, leaves all as it was when it ends.
 */
void harness_prepare(void);

/*
 * From here on, until the simulated hardware is loaded again, writes may be
 * such that the manual leaves their outcome open. Without it they fail the
 * program, when the hardware is unloaded.
 */
void machine_allow_undefined(void);

/* How many times slower the machine is said to be ($UNCORE_SLOWNESS, of vm/run). */
unsigned int slowness(void);
/* How often to do what a test does @rounds times: fewer times there, at least once. */
unsigned int loops(unsigned int rounds);

/* Writes @text to a file of the kernel's, at once. 0 or -errno. */
int file_write(const char *path, const char *text);

/* From here on this thread runs on that CPU only; bails out when it cannot. */
void cpu_pin(int cpu);
/*
 * Takes a CPU offline or back. 0 or -errno.  Linux gives a CPU ten seconds to come
 * up, which a host that is busy may take; it is then asked for again.
 */
int cpu_set_online(int cpu, bool online);
bool cpu_is_online(int cpu);
/* Can it be taken offline at all? */
bool cpu_can_leave(int cpu);

/* From here on log_count() looks at new messages only. */
void log_mark(void);
/* How many lines of the kernel log since log_mark() contain @text. */
int log_count(const char *text);
/* Prints these lines as comments. */
void log_show(const char *text);
/* Has the kernel complained since the mark? Prints what it said if so. */
bool log_clean(void);

#endif

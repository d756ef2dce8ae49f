/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine under test: loads and unloads the modules of this build, so that each
 * test program starts with hardware and driver after reset; and reads the kernel's log.
 */
#ifndef SELFTESTS_MACHINE_H
#define SELFTESTS_MACHINE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Call this in every loop that waits or spins: a VM that emulates all CPUs in one
 * thread then runs the next CPU at once, and not when a time slice is over.
 */
#define cpu_relax()	__builtin_ia32_pause()

/*
 * Load the module of $UNCORE_BUILD; without that, the one that is built for the running
 * kernel in build/<release>, or else installed for it. Return 0 or -errno, as
 * finit_module(2).
 *
 * The driver lists all names of the catalogue, unless @params has events=. While the
 * driver loads, the simulator's clock runs.
 */
int driver_load(const char *params);
/* The same in two steps: open the module's file (or -errno), and load it from there. */
int driver_open(void);
int driver_load_from(int fd, const char *params);
int sim_load(const char *params);
/*
 * Set the freeze budget, per mille of the time; 1000: no limit, so that all group reads
 * are of one instant. Until the driver is unloaded.
 */
int driver_freeze_budget(unsigned int per_mille);
/* Return 0 or -errno; 0 if it was not loaded. */
int driver_unload(void);
int sim_unload(void);
bool module_loaded(const char *name);
/*
 * Unload any module, and wait for its users: the kernel releases an event of a BPF map
 * some time after the map was closed.
 */
int module_unload(const char *name);

/*
 * Unload both modules if they are loaded, load both with these parameters, and have
 * both unloaded at exit. Skip the program if the modules are not built, end it if they
 * do not load. May be called again. The simulator gets as many packages as the machine
 * has, unless @sim_params has packages=.
 */
void machine_setup(const char *sim_params, const char *driver_params);
/*
 * The same for tests of harness.h, each of which is a process: modules that the
 * previous test loaded with these parameters by this function stay loaded. Mark the log.
 */
void machine_setup_once(const char *sim_params, const char *driver_params);
/* Load the simulator only, no driver. */
void machine_setup_sim(const char *sim_params, ...) __attribute__((format(printf, 1, 2)));
/* Skip the program if that fails, and have both unloaded at exit. */
void machine_require(void);
/*
 * The checks at exit, for a process that does not reach exit. Return false, and print
 * the reason as a comment, if a module does not unload or the driver made undefined
 * writes.
 */
bool machine_leave(void);

/*
 * For harness.h, in the parent process of all tests: skip the program if the machine or
 * the catalogue is missing, and restore the state at its end.
 */
void harness_prepare(void);

/*
 * Allow writes for which the manual leaves the outcome open, until the simulator is
 * loaded again. Otherwise such writes fail the program when the simulator is unloaded.
 */
void machine_allow_undefined(void);

/* Slowness factor of the machine ($UNCORE_SLOWNESS, from vm/run) */
unsigned int slowness(void);
/* Scale a number of rounds down on slow machines, to at least one. */
unsigned int loops(unsigned int rounds);

/* Pin this thread to a CPU; bail out if that fails. */
void cpu_pin(int cpu);
/*
 * Start a process that uses all the time of a CPU that others leave to its @nice value;
 * it ends with the caller at the latest. Bail out if that fails.
 */
pid_t cpu_spinner(int cpu, int nice);
void cpu_spinner_stop(pid_t pid);
/*
 * Take a CPU offline or online. Return 0 or -errno. Linux gives a CPU ten seconds to
 * come up, which a busy host may exceed; then try again.
 */
int cpu_set_online(int cpu, bool online);
bool cpu_is_online(int cpu);
/* Return whether it can be taken offline at all. */
bool cpu_can_leave(int cpu);

/* Make log_count() ignore earlier messages. */
void log_mark(void);
/* Number of lines of the kernel log since log_mark() that contain @text */
int log_count(const char *text);
/* Print these lines as comments. */
void log_show(const char *text);
/* Return whether the kernel has logged a fault since the mark; print it if so. */
bool log_clean(void);

#endif

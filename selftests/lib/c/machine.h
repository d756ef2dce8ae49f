/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine under test: load and unload the modules of this build, so that each test
 * program starts with the simulated hardware and the driver after reset; take CPUs
 * offline and online; read the kernel's log.
 */
#ifndef SELFTESTS_MACHINE_H
#define SELFTESTS_MACHINE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Call cpu_relax() in every busy-wait loop: a VM that emulates all CPUs in one thread
 * then runs the next CPU at once, and not at the end of a time slice.
 */
#define cpu_relax()	__builtin_ia32_pause()

/*
 * Load the driver. The module is that of $UNCORE_BUILD; without this variable, the module
 * that is built for the running kernel in build/<release>, or else the installed module.
 * Return 0 or -errno, as finit_module(2).
 *
 * The driver lists all names of the catalogue, unless @params has events=. While the
 * driver loads, the simulator's clock runs.
 */
int driver_load(const char *params);
/* Open the driver's module file for driver_load_from(). Return a descriptor or -errno. */
int driver_open(void);
/* Load the driver, as driver_load(), from the open module file @fd. */
int driver_load_from(int fd, const char *params);
/* Load the simulator, whose module is found like the driver's. Return 0 or -errno. */
int sim_load(const char *params);
/*
 * Set the driver's freeze budget, in per mille of the time, until the driver is unloaded.
 * 1000 is no limit: all counters of a group are read at one instant. Return 0 or -errno.
 */
int driver_freeze_budget(unsigned int per_mille);
/* Unload the driver. Return 0 or -errno; 0 if the driver was not loaded. */
int driver_unload(void);
/* Unload the simulator. Return 0 or -errno; 0 if the simulator was not loaded. */
int sim_unload(void);
bool module_loaded(const char *name);
/* Load a module of selftests/modules, such as "memory_user". Return 0 or -errno. */
int module_load(const char *name, const char *params, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Unload module @name, and wait a few seconds until the module has no user: the kernel
 * releases an event of a BPF map some time after the map was closed. Return 0 or -errno.
 */
int module_unload(const char *name);

/*
 * Unload both modules if they are loaded, load both with these parameters, and unload
 * both at exit. Skip the program if the modules are not built; bail out if a module does
 * not load. May be called again. The simulator gets as many packages as the machine has,
 * unless @sim_params has packages=.
 */
void machine_setup(const char *sim_params, const char *driver_params);
/*
 * Set up the machine as machine_setup(), for tests of harness.h, each of which is a
 * process: modules that an earlier test loaded by this function stay loaded if the
 * parameters are equal. Then mark the log by log_mark().
 */
void machine_setup_once(const char *sim_params, const char *driver_params);
/* Set up the machine as machine_setup(), but without the driver. */
void machine_setup_sim(const char *sim_params, ...) __attribute__((format(printf, 1, 2)));
/*
 * Skip the program without root or if the simulator is not built. Unload both modules at
 * exit.
 */
void machine_require(void);
/*
 * Unload both modules now, for a process that does not reach the handlers of exit().
 * Return false, and print the reason as a comment, if a module does not unload or the
 * driver made undefined writes.
 */
bool machine_leave(void);

/*
 * Prepare a program of harness.h, in the parent process of all tests: skip the program if
 * the modules or the catalogue are missing. At exit the modules are unloaded and perf's
 * sample rate limit is restored.
 */
void harness_prepare(void);

/*
 * Allow register writes whose effect the manual leaves undefined, until the simulator is
 * loaded again. Without this call such writes fail the program when the simulator is
 * unloaded.
 */
void machine_allow_undefined(void);

/* Slowness factor of the machine ($UNCORE_SLOWNESS, from vm/run) */
unsigned int slowness(void);
/* Scale a number of rounds down on slow machines, to at least one. */
unsigned int loops(unsigned int rounds);

/* Pin the calling thread to a CPU; bail out if that fails. */
void cpu_pin(int cpu);
/*
 * Start a process with nice value @nice that spins on @cpu. The kernel kills the process
 * when the caller ends. Bail out if fork() fails.
 */
pid_t cpu_spinner(int cpu, int nice);
/* Kill a process of cpu_spinner() and wait for its end. */
void cpu_spinner_stop(pid_t pid);
/*
 * Take a CPU offline or online. Return 0 or -errno. Linux gives a CPU ten seconds to
 * come up, and a CPU of a busy host may need more; then try again.
 */
int cpu_set_online(int cpu, bool online);
bool cpu_is_online(int cpu);
/* Return whether the kernel can take the CPU offline at all. */
bool cpu_can_leave(int cpu);

/* Make log_count(), log_show() and log_clean() ignore earlier messages. */
void log_mark(void);
/* Number of lines of the kernel log since log_mark() that contain @text */
int log_count(const char *text);
/* Print the lines of the kernel log since log_mark() that contain @text as comments. */
void log_show(const char *text);
/* Return false, and print the lines, if the kernel logged a fault since log_mark(). */
bool log_clean(void);

#endif

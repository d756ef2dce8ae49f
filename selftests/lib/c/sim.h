/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's controls in debugfs, and raw register accesses without the driver,
 * like rdmsr, wrmsr and setpci.
 */
#ifndef SELFTESTS_SIM_H
#define SELFTESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return whether the simulator is loaded. */
bool sim_present(void);

/*
 * Value of statistic @name (msr_read, pci_write, ...) in "stats"; UINT64_MAX if "stats"
 * has no such line
 */
uint64_t sim_stat(const char *name);
/* Set all statistics to 0. */
void sim_stats_clear(void);

/* Let @cycles uncore cycles pass on the manual clock. Return 0 or -errno. */
int sim_advance(uint64_t cycles);
/*
 * Set whether cycles of the manual clock, and traffic, take real time. Off is for jumps
 * of hours, after which a driver may take the growth of a counter for impossible. Loading
 * the simulator sets it to on. Return 0 or -errno.
 */
int sim_pace(bool on);
/* Simulate a loss of power by writing @text, "1", to "reset". Return 0 or -errno. */
int sim_reset(const char *text);

/* Choose the simulator's clock, "real" or "manual". Return 0 or -errno. */
int sim_clock_set(const char *name);
/*
 * Use the real clock while a driver loads, because the driver may measure the hardware.
 * Set @was_manual to whether the manual clock was in use. Without the simulator do
 * nothing.
 */
void sim_clock_run(bool *was_manual);
/* Restore the clock after sim_clock_run(). */
void sim_clock_return(bool was_manual);
/* Set the frequency of a package's UCLK; 0 stops UCLK. Return 0 or -errno. */
int sim_uclk(int pkg, unsigned int khz);
/* Cycles that have passed since the simulator was loaded or the clock stopped */
uint64_t sim_cycles(void);

/* Write a line to file @file of the simulator in debugfs. Return 0 or -errno. */
int sim_write(const char *file, const char *line, ...) __attribute__((format(printf, 2, 3)));

/* The macros write a line to the file of their name, and return 0 or -errno. */

/* Send transactions: "pkg=0 box=cbox_0 event=0x35 count=10" */
#define sim_traffic(...)	sim_write("traffic", __VA_ARGS__)
/* Set rates of events: "on", "off", "pkg=0 box=ha event=0x1 rate=0.5" */
#define sim_rates(...)	sim_write("rates", __VA_ARGS__)
/* Make hardware fail: "dead_pci pkg=0 box=imc_0 on" */
#define sim_fault(...)	sim_write("fault", __VA_ARGS__)
/* Simulate a core PMU: "hz=2000 unmask=late cpus=0", "off" */
#define sim_core_pmu(...)	sim_write("core_pmu", __VA_ARGS__)
/*
 * Register or unregister a listener on NMI_UNKNOWN, which counts in the statistic
 * nmi_unknown. Return 0 or -errno.
 */
int sim_nmi_listener(bool on);
/* Hold a CPU with interrupts off: "cpu=1 us=20000 again_us=50000 by=0" */
#define sim_hold(...)	sim_write("hold", __VA_ARGS__)

/*
 * Read the value of register @name, "cbox_3 ctl0", in "registers". Return false, and do
 * not set @value, if the register has its reset value.
 */
bool sim_register(int pkg, const char *name, uint64_t *value);
/*
 * Return whether a counter of a box, "cbox_3", of any package has a control register that
 * is set.
 */
bool sim_box_counts(const char *box);
/* Number of registers, of all packages, that differ from their reset values */
unsigned int sim_dirty_registers(void);
/* Print the first 20 registers that differ from their reset values as comments. */
void sim_show_registers(void);

enum sim_access_type {
	SIM_RDMSR, SIM_WRMSR, SIM_PCIRD, SIM_PCIWR, SIM_MEMRD, SIM_MEMWR
};

/* Bytes of physical addresses that a package has for registers in memory */
#define MEMORY_WINDOW	0x800000

/* An access to a PMON register, as a line of "trace" */
struct sim_access {
	uint64_t seq;
	int cpu;
	enum sim_access_type type;
	uint32_t reg;	/* MSR, offset in configuration space, or in the package's memory */
	unsigned int bus, device, function;
	uint64_t value;
};

/* Clear the trace. */
void sim_trace_clear(void);
/* Call @fn for each access since sim_trace_clear(); return their number. */
int sim_trace(void (*fn)(const struct sim_access *a, void *arg), void *arg);
/* Number of register writes since sim_trace_clear() */
int sim_trace_writes(void);

/*
 * Access an MSR through /dev/cpu/N/msr, which must exist (modprobe msr), and not through
 * the driver. Return 0 or -errno.
 */
int msr_read(int cpu, uint32_t msr, uint64_t *value);
int msr_write(int cpu, uint32_t msr, uint64_t value);
/*
 * Access the configuration space of a PCI function, by its name in sysfs: "0000:7f:14.0".
 * Return 0 or -errno.
 */
int pci_config_read(const char *function_name, unsigned int offset,
		    uint32_t *value);
int pci_config_write(const char *function_name, unsigned int offset,
		     uint32_t value);
/*
 * Find package @pkg's PCI function that has "box" or "filter" of a box, as box_function().
 * Write the name of the function to @name[16]. It is the @pkg-th function with its device ID
 * at its place in bus order, because the simulator's bus numbers ascend with the package.
 * Return false if there is no such function.
 */
bool pci_find(char *name, const char *type, unsigned int box, const char *has, int pkg);

/*
 * Physical address at which the registers of a box in memory begin, from the register
 * "memory_base" of the PCI function beside box 0; 0 if there is none
 */
uint64_t memory_find(const char *type, unsigned int box, int pkg);
/*
 * Access 32 bits of a register in memory through /dev/mem, and not through the driver. Return 0
 * or -errno.
 */
int memory_read(const char *type, unsigned int box, int pkg, const char *name, uint32_t *value);
int memory_write(const char *type, unsigned int box, int pkg, const char *name, uint32_t value);

#endif

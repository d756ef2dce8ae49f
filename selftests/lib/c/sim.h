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

/* A number of "stats" (msr_read, pci_write, ...); UINT64_MAX if it does not exist */
uint64_t sim_stat(const char *name);
void sim_stats_clear(void);

/* Let uncore cycles pass (clock=manual). Return 0 or -errno. */
int sim_advance(uint64_t cycles);
/*
 * Off: cycles of the manual clock, and traffic, take no time. For jumps of hours; a
 * driver may find that growth impossible. On again when the module is loaded. Return 0
 * or -errno.
 */
int sim_pace(bool on);
/* A loss of power, by writing @text, "1", to "reset". 0 or -errno. */
int sim_reset(const char *text);

/* "real" or "manual". 0 or -errno. */
int sim_clock_set(const char *name);
/*
 * Use the real clock while a driver loads, which may measure the hardware;
 * sim_clock_return() restores the old setting. Without simulated hardware do nothing.
 */
void sim_clock_run(bool *was_manual);
void sim_clock_return(bool was_manual);
/* Set the frequency of a package's UCLK; 0 stops it. Return 0 or -errno. */
int sim_uclk(int pkg, unsigned int khz);
/* Cycles that have passed since the module was loaded or the clock stopped. */
uint64_t sim_cycles(void);

/* One line for a file of debugfs. Return 0 or -errno. */
int sim_write(const char *file, const char *line, ...) __attribute__((format(printf, 2, 3)));

/* One line for "traffic": "pkg=0 box=cbox_0 event=0x35 count=10". 0 or -errno. */
#define sim_traffic(...)	sim_write("traffic", __VA_ARGS__)
/* One line for "rates": "on", "off", "pkg=0 box=ha event=0x1 rate=0.5". 0 or -errno. */
#define sim_rates(...)	sim_write("rates", __VA_ARGS__)
/* One line for "fault": "dead_pci pkg=0 box=imc_0 on". 0 or -errno. */
#define sim_fault(...)	sim_write("fault", __VA_ARGS__)
/* One line for "core_pmu": "hz=2000 unmask=late cpus=0", "off". 0 or -errno. */
#define sim_core_pmu(...)	sim_write("core_pmu", __VA_ARGS__)
/*
 * Register or unregister a listener on NMI_UNKNOWN; stats: nmi_unknown. Return 0 or
 * -errno.
 */
int sim_nmi_listener(bool on);
/* One line for "hold": "cpu=1 us=20000 again_us=50000 by=0". 0 or -errno. */
#define sim_hold(...)	sim_write("hold", __VA_ARGS__)

/*
 * Value of a register in "registers"; @name is "cbox_3 ctl0". False when it
 * has its reset value (and @value is untouched).
 */
bool sim_register(int pkg, const char *name, uint64_t *value);
/*
 * Return whether any counter of a box, "cbox_3", of any package has a control register
 * that is set.
 */
bool sim_box_counts(const char *box);
/* Number of registers, of all packages, that differ from their reset values */
unsigned int sim_dirty_registers(void);
/* Print the first ones as comments. */
void sim_show_registers(void);

enum sim_access_type { SIM_RDMSR, SIM_WRMSR, SIM_PCIRD, SIM_PCIWR };

/* An access to a PMON register, as the trace has it. */
struct sim_access {
	uint64_t seq;
	int cpu;
	enum sim_access_type type;
	uint32_t reg;			/* MSR, or offset in configuration space */
	unsigned int bus, device, function;
	uint64_t value;
};

void sim_trace_clear(void);
/* Call @fn for each access since sim_trace_clear(); return their number. */
int sim_trace(void (*fn)(const struct sim_access *a, void *arg), void *arg);
/* Number of register writes since sim_trace_clear() */
int sim_trace_writes(void);

/* Without the driver: 0 or -errno. /dev/cpu/N/msr must exist (modprobe msr). */
int msr_read(int cpu, uint32_t msr, uint64_t *value);
int msr_write(int cpu, uint32_t msr, uint64_t value);
/* @function_name as in sysfs: "0000:7f:14.0". */
int pci_config_read(const char *function_name, unsigned int offset,
		    uint32_t *value);
int pci_config_write(const char *function_name, unsigned int offset,
		     uint32_t value);
/*
 * Name of package @pkg's PCI function with a device ID of Haswell (vendor 8086), or the
 * corresponding one of this generation, in @name[16]: the @pkg-th function in bus
 * order, because buses of the simulator ascend with the package. Return false if there
 * is none.
 */
bool pci_find(char *name, uint16_t device_id, int pkg);

#endif

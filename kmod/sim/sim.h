/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel side of the simulator: functions that its fronts (MSRs, PCI, interrupts,
 * clock, control files) call from each other. The hardware itself is in model/, which does
 * not depend on the kernel.
 */
#ifndef XEON_UNCORE_SIM_H
#define XEON_UNCORE_SIM_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "model/model.h"

struct file;
struct inode;
struct kprobe;
struct pt_regs;
struct seq_file;

/**
 * struct sim - the simulated machine
 * @config: configuration from the module parameters
 * @delays: delays of overflows, module parameters that may be written at any time
 * @model: registers and counters of the machine
 * @lock: guards @model. MSRs and configuration space are accessed in any context, so the
 *	lock is raw and taken with interrupts off. An NMI must not wait for the lock; see
 *	sim_msr_access_nmi() in front/msr.c.
 */
struct sim {
	struct model_config config;
	struct model_delays delays;
	struct model *model;
	raw_spinlock_t lock;
};

extern struct sim sim;

/**
 * sim_lock() - take the model's lock without queueing for it
 *
 * The CPUs are virtual. In a queued spinlock the host may have stopped the CPU that is first
 * in the queue, and all other CPUs would wait for that CPU with interrupts off, at each
 * access. A kernel that detects its hypervisor does not queue for its spinlocks, but the
 * kernel on a simulated Xeon does not detect the hypervisor.
 *
 * Context: any but NMI; disables interrupts.
 * Return: the interrupt flags for sim_unlock().
 */
static inline unsigned long sim_lock(void)
	__acquires(&sim.lock)
{
	unsigned long flags;

	local_irq_save(flags);
	might_lock(&sim.lock);
	while (!raw_spin_trylock(&sim.lock))
		cpu_relax();
	return flags;
}

/**
 * sim_unlock() - release the model's lock
 * @flags: return value of sim_lock()
 */
static inline void sim_unlock(unsigned long flags)
	__releases(&sim.lock)
{
	raw_spin_unlock_irqrestore(&sim.lock, flags);
}

/* --- kprobes that redirect a function: front/probe.c ----------------------- */

void sim_probe_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

/* --- MSRs: front/msr.c ---------------------------------------------------- */

int sim_msr_init(void);
void sim_msr_exit(void);

/* --- CPUs that come online: front/hotplug.c -------------------------------- */

int sim_hotplug_init(void);
void sim_hotplug_exit(void);

/* --- PCI configuration space: front/pci.c --------------------------------- */

int sim_pci_init(void);
void sim_pci_exit(void);

/* --- Registers in memory: front/memory.c, mapping.c, devmem.c, move.c ------ */

/* The kernel has what simulating registers in memory takes. */
#if defined(CONFIG_MMIOTRACE) && defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define SIM_TRAPS_MEMORY	1

int sim_mapping_init(void);
void sim_mapping_exit(void);
int sim_devmem_init(void);
void sim_devmem_exit(void);
int sim_move(struct pt_regs *regs, unsigned long addr, u64 at);
#else
#define SIM_TRAPS_MEMORY	0

static inline int sim_mapping_init(void)
{
	return 0;
}

static inline void sim_mapping_exit(void)
{
}
#endif

int sim_memory_check(struct model_config *c);
void sim_memory_access(bool write, u64 at, unsigned int size, u64 *value);

/* --- Interrupts: front/pmi.c ---------------------------------------------- */

int sim_pmi_init(void);
void sim_pmi_exit(void);
void sim_pmi_misroute(unsigned int pkg, bool on);
bool sim_pmi_misrouted(unsigned int pkg);
int sim_pmi_send_plain(unsigned int cpu);
void sim_pmi(void *ctx, unsigned int pkg, u32 core_mask, bool wake);

/* --- NMIs on their way to a CPU: front/nmi.c ------------------------------- */

/* Causes of an NMI */
enum sim_nmi_cause {
	SIM_NMI_PMI = BIT(0),	/* a PMI of the uncore */
	SIM_NMI_CORE = BIT(1),	/* a PMI of the core PMU */
	SIM_NMI_PLAIN = BIT(2),	/* the control file "fault" */
	SIM_NMI_WAKE = BIT(3),	/* the PMI wakes a sleeping core */
};

int sim_nmi_init(void);
void sim_nmi_exit(void);
void sim_nmi_send(unsigned int cpu, u32 causes);
void sim_nmi_resume(void);
bool sim_nmi_hidden(void);

/* --- The local APIC: front/lapic.c ----------------------------------------- */

int sim_lapic_init(void);
void sim_lapic_online(void);
bool sim_lapic_enabled(void);
bool sim_lapic_delivers(void);
bool sim_lapic_masked(void);
bool sim_lapic_nmi_mode(void);
void sim_lapic_mask(void);
void sim_lapic_unmask(void);
bool sim_lapic_claims(u32 msr);
int sim_lapic_msr(bool write, u64 *value);

/* --- The core PMU: front/core_pmu.c ---------------------------------------- */

int sim_core_pmu_init(void);
void sim_core_pmu_exit(void);
bool sim_core_pmu_masks(unsigned int cpu, u64 ns);
int sim_core_pmu_line(char *line);
void sim_core_pmu_show(struct seq_file *s);

/* --- A listener on NMI_UNKNOWN: front/nmi_listener.c ------------------------ */

int sim_nmi_listener_init(void);
int sim_nmi_listener_line(char *line);
void sim_nmi_listener_show(struct seq_file *s);
void sim_nmi_listener_exit(void);

/* --- Time: clock/clock.c, clock/pace.c, clock/uclk.c -------------------------- */

#define SIM_MIN_KHZ	100000
#define SIM_MAX_KHZ	MODEL_MAX_KHZ

/**
 * sim_clock_ns() - monotonic time
 * @ctx: unused
 *
 * Context: any, NMIs included.
 * Return: time in ns.
 */
static inline u64 sim_clock_ns(void *ctx)
{
	return ktime_get_mono_fast_ns();
}

int sim_clock_init(void);
void sim_clock_exit(void);
void sim_away(unsigned int us);
u64 sim_clock_model_ns(void *ctx);
void sim_clock_sync(void);
void sim_clock_rearm(void);
void sim_change(void (*change)(struct model *m));
int sim_clock_advance(u64 cycles);
int sim_clock_set(const char *name);
const char *sim_clock_name(void);
int sim_clock_check(const struct model_config *c);
u32 sim_clock_settle(u32 before);
u32 sim_frozen_mask(void);
int sim_clock_wait_unfreeze(u32 packages);
int sim_lock_at_rest(unsigned long *flags);
u64 sim_pace_ns(u64 cycles);
u64 sim_pace_allows(u64 cycles);
void sim_pace_start(void);
void sim_pace_spend(u64 cycles);
u64 sim_pace_reserve(const struct model_txn *t);
u64 sim_pace_end(void);
bool sim_pace_wait(u64 until_ns);
int sim_uclk_line(char *line);
void sim_uclk_show(struct seq_file *s);

/* --- Delays of an overflow: clock/delay.c ------------------------------- */

int sim_delay_check(void);

/* --- Quirky hardware: control/quirk.c ---------------------------- */

int sim_quirk_check(void);
int sim_quirk_init(void);
void sim_quirk_exit(void);

/* --- Numbers of boxes: control/boxes.c -------------------------------------- */

int sim_boxes_check(struct model_config *c);

/* --- A CPU that is busy with interrupts off: clock/hold.c ------------------- */

void sim_hold_access(void);
int sim_hold_line(char *line);
int sim_hold_init(void);
void sim_hold_exit(void);

/* --- Loss of power: front/power.c ------------------------------------------ */

int sim_power_init(void);
void sim_power_exit(void);
void sim_power_reset(void);

/* --- Statistics: control/stats.c ---------------------------------------------- */

enum sim_stat {
	SIM_MSR_READ, SIM_MSR_WRITE, SIM_PCI_READ, SIM_PCI_WRITE,
	SIM_MEMORY_READ, SIM_MEMORY_WRITE,
	SIM_PMI, SIM_PMI_DROPPED, SIM_UNDEFINED,
	SIM_CORE_PMI, SIM_CORE_PMI_DROPPED, SIM_NMI_UNKNOWN,
	SIM_STATS
};

void sim_count(enum sim_stat stat);
void sim_record_msr(bool write, u32 msr, u64 value, bool fault);
void sim_record_pci(bool write, u8 bus, unsigned int devfn, unsigned int where,
		    u32 value);
void sim_record_memory(bool write, u64 at, u64 value);
void sim_undefined(void *ctx, unsigned int pkg, const char *text);
void sim_stats_show(struct seq_file *s);
void sim_stats_clear(void);
void sim_stats_log(void);
u64 sim_trace_last(void);
u64 sim_trace_first(void);
void sim_trace_show(struct seq_file *s, u64 seq);
void sim_trace_clear(void);

/* --- Text of the control files: control/text.c, control/traffic.c ... --- */

int sim_parse_u64(const char *text, u64 max, u64 *value);
int sim_parse_rate(char *text, struct model_rate *rate);
int sim_parse_box(const char *text, unsigned int *box_type, unsigned int *box);
int sim_box_name(char *buf, size_t size, unsigned int box_type,
		 unsigned int box);

/**
 * struct sim_rate - fields of a line of "rates" that a line of "traffic" does not have
 * @rate: the rate
 * @all: the line sets the rate of all boxes of the type
 */
struct sim_rate {
	struct model_rate rate;
	bool all;
};

int sim_parse_txn(char *line, struct model_txn *t, struct sim_rate *rate,
		  bool *named_pkg);
int sim_traffic_line(char *line);
int sim_traffic_line_here(char *line);
int sim_rate_line(char *line);
void sim_rate_show(struct seq_file *s);
void sim_rate_exit(void);
int sim_fault_line(char *line);
void sim_fault_show(struct seq_file *s);

/* --- Files that take lines: control/writer.c --------------------------------- */

int sim_writer_open(struct file *file, int (*line)(char *line));
ssize_t sim_writer_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos);
int sim_writer_release(struct inode *inode, struct file *file);
ssize_t sim_writer_text(int (*line)(char *line), const char __user *buf,
			size_t count);

/* --- Traffic of tasks: control/device.c, control/page_faults.c ------------- */

int sim_other_pmu_init(void);
void sim_other_pmu_exit(void);
int sim_device_init(void);
void sim_device_exit(void);
int sim_page_faults_init(void);
void sim_page_faults_exit(void);
int sim_page_faults_set(u32 lines);
void sim_page_faults_show(struct seq_file *s);

/* --- The control files: control/debugfs.c ----------------------------------- */

int sim_debugfs_init(void);
void sim_debugfs_exit(void);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of the accesses to the simulated hardware: the number of accesses ("stats"),
 * and the latest accesses one by one ("trace"). Accesses are recorded in any context, NMIs
 * included, so without a lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include "sim.h"

#define SIM_TRACE_SIZE	4096	/* a power of two */

enum sim_op {
	SIM_RDMSR, SIM_WRMSR, SIM_PCIRD, SIM_PCIWR, SIM_MEMRD, SIM_MEMWR, SIM_UNDEF
};

/**
 * struct sim_entry - an access in the trace
 * @seq: number of the access, from 1; 0 while the entry is being written
 * @value: value that was read or written
 * @text: for SIM_UNDEF, the reason why the access is undefined
 * @reg: MSR, offset in configuration space or physical address; for SIM_UNDEF the package
 * @cpu: CPU that made the access
 * @bus: PCI bus
 * @devfn: PCI device and function
 * @op: enum sim_op
 * @fault: the access faulted
 */
struct sim_entry {
	u64 seq;
	union {
		u64 value;
		const char *text;
	};
	u64 reg;
	u32 cpu;
	u8 bus, devfn, op;
	bool fault;
};

static struct sim_entry sim_trace[SIM_TRACE_SIZE];
static atomic64_t sim_trace_seq;	/* number of the last entry */
static atomic64_t sim_trace_floor;	/* number of the last entry that was cleared */

static atomic64_t sim_stats[SIM_STATS];
/* Sums of the statistics up to their last clearing, for the log at the end */
static atomic64_t sim_cleared[SIM_STATS];
/* Times by the model's record, and their values at the last clearing */
static const struct sim_time_stat {
	const char *name;
	u64 (*ns)(const struct model *m);
} sim_time_stats[] = {
	{ "frozen_ns", model_frozen_ns },
	{ "paused_ns", model_paused_ns },
};

static atomic64_t sim_time_floor[ARRAY_SIZE(sim_time_stats)];

static const char * const sim_stat_names[SIM_STATS] = {
	[SIM_MSR_READ] = "msr_read",
	[SIM_MSR_WRITE] = "msr_write",
	[SIM_PCI_READ] = "pci_read",
	[SIM_PCI_WRITE] = "pci_write",
	[SIM_MEMORY_READ] = "memory_read",
	[SIM_MEMORY_WRITE] = "memory_write",
	[SIM_PMI] = "pmi",
	[SIM_PMI_DROPPED] = "pmi_dropped",
	[SIM_UNDEFINED] = "undefined",
	[SIM_CORE_PMI] = "core_pmi",
	[SIM_CORE_PMI_DROPPED] = "core_pmi_dropped",
	[SIM_NMI_UNKNOWN] = "nmi_unknown",
};

/**
 * sim_count() - count an access or an interrupt
 * @stat: the statistic to increment
 *
 * Context: any, NMIs included.
 */
void sim_count(enum sim_stat stat)
{
	atomic64_inc(&sim_stats[stat]);
}

static void sim_record(const struct sim_entry *e)
{
	u64 seq = atomic64_inc_return(&sim_trace_seq);
	struct sim_entry *slot = &sim_trace[seq % SIM_TRACE_SIZE];

	WRITE_ONCE(slot->seq, 0);
	/* a reader that sees new contents must not see the old number */
	smp_wmb();
	slot->value = e->value;
	slot->reg = e->reg;
	slot->cpu = raw_smp_processor_id();
	slot->bus = e->bus;
	slot->devfn = e->devfn;
	slot->op = e->op;
	slot->fault = e->fault;
	/* a reader that sees the new number must see the new contents */
	smp_store_release(&slot->seq, seq);
}

/**
 * sim_record_msr() - record an MSR access in the trace
 * @write: the access was a write
 * @msr: number of the MSR
 * @value: value that was read or written
 * @fault: the access faulted
 *
 * Context: any, NMIs included.
 */
void sim_record_msr(bool write, u32 msr, u64 value, bool fault)
{
	sim_record(&(struct sim_entry) {
		.op = write ? SIM_WRMSR : SIM_RDMSR,
		.reg = msr,
		.value = value,
		.fault = fault,
	});
}

/**
 * sim_record_pci() - record an access to configuration space in the trace
 * @write: the access was a write
 * @bus: bus number
 * @devfn: device and function
 * @where: offset in configuration space
 * @value: value that was read or written
 *
 * Context: any.
 */
void sim_record_pci(bool write, u8 bus, unsigned int devfn, unsigned int where,
		    u32 value)
{
	sim_record(&(struct sim_entry) {
		.op = write ? SIM_PCIWR : SIM_PCIRD,
		.reg = where,
		.value = value,
		.bus = bus,
		.devfn = devfn,
	});
}

/**
 * sim_record_memory() - record an access to a register in memory in the trace
 * @write: the access was a write
 * @at: physical address
 * @value: value that was read or written
 *
 * Context: any, NMIs included.
 */
void sim_record_memory(bool write, u64 at, u64 value)
{
	sim_record(&(struct sim_entry) {
		.op = write ? SIM_MEMWR : SIM_MEMRD,
		.reg = at,
		.value = value,
	});
}

/**
 * sim_undefined() - report an access that the manual calls undefined
 * @ctx: unused
 * @pkg: package
 * @text: the reason, a short sentence in memory that is never freed
 *
 * The entry precedes the access itself in the trace.
 *
 * Context: any, NMIs included.
 */
void sim_undefined(void *ctx, unsigned int pkg, const char *text)
{
	sim_count(SIM_UNDEFINED);
	sim_record(&(struct sim_entry) {
		.op = SIM_UNDEF,
		.reg = pkg,
		.text = text,
	});
}

/* A time since the simulator was loaded, in ns */
static u64 sim_time_total(const struct sim_time_stat *stat)
{
	unsigned long flags;
	u64 ns;

	flags = sim_lock();
	sim_clock_sync();
	ns = stat->ns(sim.model);
	sim_unlock(flags);
	return ns;
}

static void sim_times_show(struct seq_file *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sim_time_stats); i++)
		seq_printf(s, "%s %lld\n", sim_time_stats[i].name,
			   sim_time_total(&sim_time_stats[i]) -
			   atomic64_read(&sim_time_floor[i]));
}

/**
 * sim_stats_show() - print the statistics, a line each
 * @s: output
 */
void sim_stats_show(struct seq_file *s)
{
	unsigned int i;

	for (i = 0; i < SIM_STATS; i++) {
		if (i == SIM_UNDEFINED)
			sim_times_show(s);
		seq_printf(s, "%s %lld\n", sim_stat_names[i],
			   atomic64_read(&sim_stats[i]));
	}
}

/**
 * sim_stats_clear() - reset all statistics to 0
 */
void sim_stats_clear(void)
{
	unsigned int i;

	for (i = 0; i < SIM_STATS; i++)
		atomic64_add(atomic64_xchg(&sim_stats[i], 0), &sim_cleared[i]);
	for (i = 0; i < ARRAY_SIZE(sim_time_stats); i++)
		atomic64_set(&sim_time_floor[i], sim_time_total(&sim_time_stats[i]));
}

/* A statistic since the simulator was loaded, whether or not it was cleared */
static s64 sim_stats_total(enum sim_stat stat)
{
	return atomic64_read(&sim_stats[stat]) +
	       atomic64_read(&sim_cleared[stat]);
}

/**
 * sim_stats_log() - log undefined writes and dropped PMIs
 *
 * selftests/vm/run checks these lines.
 */
void sim_stats_log(void)
{
	if (sim_stats_total(SIM_UNDEFINED))
		pr_warn("%lld undefined writes\n",
			sim_stats_total(SIM_UNDEFINED));
	if (sim_stats_total(SIM_PMI_DROPPED))
		pr_info("%lld PMIs dropped\n",
			sim_stats_total(SIM_PMI_DROPPED));
}

/**
 * sim_trace_last() - find the newest access
 *
 * Return: its number; 0 before the first access.
 */
u64 sim_trace_last(void)
{
	return atomic64_read(&sim_trace_seq);
}

/**
 * sim_trace_first() - find the oldest access in the trace
 *
 * Return: its number.
 */
u64 sim_trace_first(void)
{
	u64 last = sim_trace_last();
	u64 floor = atomic64_read(&sim_trace_floor);

	if (last > SIM_TRACE_SIZE)
		floor = max(floor, last - SIM_TRACE_SIZE);
	return floor + 1;
}

/**
 * sim_trace_show() - print an access of the trace
 * @s: output
 * @seq: number of the access; nothing is printed if its entry has been overwritten
 */
void sim_trace_show(struct seq_file *s, u64 seq)
{
	static const char * const op[] = {
		[SIM_RDMSR] = "rdmsr", [SIM_WRMSR] = "wrmsr",
		[SIM_PCIRD] = "pcird", [SIM_PCIWR] = "pciwr",
		[SIM_MEMRD] = "memrd", [SIM_MEMWR] = "memwr",
	};
	const struct sim_entry *slot = &sim_trace[seq % SIM_TRACE_SIZE];
	struct sim_entry e;

	/* read the number before the contents */
	if (smp_load_acquire(&slot->seq) != seq)
		return;
	e = *slot;
	smp_rmb();	/* copy the contents before reading the number again */
	if (READ_ONCE(slot->seq) != seq)
		return;

	seq_printf(s, "%llu %u ", seq, e.cpu);
	switch (e.op) {
	case SIM_RDMSR:
	case SIM_WRMSR:
		seq_printf(s, "%s 0x%llx ", op[e.op], e.reg);
		if (e.fault)
			seq_puts(s, "#GP\n");
		else
			seq_printf(s, "0x%llx\n", e.value);
		break;
	case SIM_PCIRD:
	case SIM_PCIWR:
		seq_printf(s, "%s %02x:%02x.%x 0x%llx 0x%llx\n", op[e.op], e.bus,
			   PCI_SLOT(e.devfn), PCI_FUNC(e.devfn), e.reg,
			   e.value);
		break;
	case SIM_MEMRD:
	case SIM_MEMWR:
		seq_printf(s, "%s 0x%llx 0x%llx\n", op[e.op], e.reg, e.value);
		break;
	case SIM_UNDEF:
		seq_printf(s, "undefined %llu %s\n", e.reg, e.text);
		break;
	}
}

/**
 * sim_trace_clear() - remove all accesses from the trace
 */
void sim_trace_clear(void)
{
	atomic64_set(&sim_trace_floor, sim_trace_last());
}

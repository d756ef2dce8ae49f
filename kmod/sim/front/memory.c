// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory front: registers at physical addresses that neither RAM nor a device has. This
 * file chooses the addresses and accesses the model. mapping.c and devmem.c bring the accesses
 * of the kernel and of programs here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hardirq.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/ratelimit.h>
#include <asm/processor.h>

#include "sim.h"

static unsigned int sim_memory_us;
module_param_named(memory_us, sim_memory_us, uint, 0644);
MODULE_PARM_DESC(memory_us, "microseconds that an access to a register in memory takes, as when firmware or a hypervisor has the CPU (default 0)");

/**
 * sim_memory_check() - choose the physical addresses of registers in memory
 * @c: configuration; the base is set
 *
 * The addresses are in the upper half of the physical address space, where nothing is. As on
 * hardware, no resource is requested for them.
 *
 * Return: 0, or -ENODEV if registers in memory cannot be simulated (the log names the cause).
 */
int sim_memory_check(struct model_config *c)
{
	u64 end = 1ULL << boot_cpu_data.x86_phys_bits;
	u64 size = (u64)c->packages * MODEL_MEMORY_WINDOW;
	u64 base;

	if (!model_has_memory(c->gen))
		return 0;
	if (!SIM_TRAPS_MEMORY) {
		pr_err("%s has registers in memory: not loading, because a kernel without CONFIG_MMIOTRACE and CONFIG_DYNAMIC_FTRACE_WITH_REGS cannot simulate them\n",
		       c->gen->name);
		return -ENODEV;
	}
	for (base = end / 2; base + size <= end; base += size) {
		if (region_intersects(base, size, 0, IORES_DESC_NONE) != REGION_DISJOINT)
			continue;
		c->memory_base = base;
		return 0;
	}
	pr_err("no free physical addresses for registers in memory: not loading\n");
	return -ENODEV;
}

/* Access the model, and count and record the access. Called under the model's lock. */
static void sim_memory_model(bool write, u64 at, unsigned int size, u64 *value)
{
	sim_clock_sync();
	if (write)
		model_memory_write(sim.model, at, size, *value);
	else
		*value = model_memory_read(sim.model, at, size);
	sim_count(write ? SIM_MEMORY_WRITE : SIM_MEMORY_READ);
	sim_record_memory(write, at, *value);
	if (write)
		sim_clock_rearm();
}

/*
 * Access a register in an NMI, which may have interrupted this CPU while it holds the model's
 * lock. If the lock is taken, a read returns 0 and a write is lost.
 */
static void sim_memory_access_nmi(bool write, u64 at, unsigned int size, u64 *value)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 3);

	if (raw_spin_trylock(&sim.lock)) {
		sim_memory_model(write, at, size, value);
		raw_spin_unlock(&sim.lock);
		return;
	}
	if (__ratelimit(&limit))
		pr_warn("%s of memory at 0x%llx in an NMI that interrupted a register access: %s\n",
			write ? "write" : "read", at, write ? "lost" : "reads 0");
	if (!write)
		*value = 0;
}

/**
 * sim_memory_access() - access registers in memory
 * @write: the access is a write
 * @at: physical address
 * @size: number of bytes, 1, 2, 4 or 8
 * @value: value that is written or has been read
 *
 * Context: any, NMIs included.
 */
void sim_memory_access(bool write, u64 at, unsigned int size, u64 *value)
{
	unsigned long flags;

	if (in_nmi()) {
		sim_memory_access_nmi(write, at, size, value);
		return;
	}
	sim_hold_access();
	flags = sim_lock();
	sim_memory_model(write, at, size, value);
	sim_unlock(flags);
	sim_away(READ_ONCE(sim_memory_us));
}

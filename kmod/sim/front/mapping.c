// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of the simulated memory by the kernel: ioremap() of simulated addresses gives pages
 * that no CPU can access, and the page fault of an access emulates the instruction
 * (front/move.c). No page is ever made accessible, so accesses of all CPUs and contexts reach
 * the model.
 *
 * The kernel's mmiotrace has functions where they are needed: at the end of ioremap(), at the
 * begin of iounmap(), and first in the handler of page faults. They are hooked, and mmiotrace
 * itself is not used.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mmiotrace.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/ptrace.h>

#include "front/hook.h"
#include "sim.h"

/*
 * A page of the simulated memory is mapped like PROT_NONE: not present, but with its physical
 * address, so it needs no other record of the mapping.
 */
static bool sim_is_armed(pteval_t entry)
{
	return (entry & (_PAGE_PRESENT | _PAGE_PROTNONE)) == _PAGE_PROTNONE;
}

/*
 * Find the physical address of a kernel address that is mapped to the simulated memory. Return
 * false if the address is not. Called in any context: the page tables of the kernel's mappings
 * are not freed.
 */
static bool sim_find_mapped(unsigned long addr, u64 *at)
{
	unsigned int level;
	unsigned long mask;
	pteval_t entry;
	pte_t *pte;

	pte = lookup_address(addr, &level);
	if (!pte)
		return false;
	entry = pte_val(READ_ONCE(*pte));
	mask = page_level_mask(level);
	*at = (entry & PTE_PFN_MASK & mask) | (addr & ~mask);
	return sim_is_armed(entry) && model_memory_claims(&sim.config, *at);
}

/* Make a page, or a large page, inaccessible. Return its size. */
static unsigned long sim_arm_page(unsigned long addr)
{
	unsigned int level;
	pte_t *pte;

	pte = lookup_address(addr, &level);
	if (WARN_ON_ONCE(!pte))
		return PAGE_SIZE;
	/*
	 * The entries of large pages have the same bits. No CPU can have the page in its TLB:
	 * the caller of ioremap() does not know the address yet.
	 */
	set_pte(pte, __pte((pte_val(*pte) & ~_PAGE_PRESENT) | _PAGE_PROTNONE));
	return page_level_size(level);
}

static bool sim_ioremap_takes(const struct pt_regs *regs)
{
	return model_memory_claims(&sim.config, regs->di);
}

/*
 * Runs in place of mmiotrace_ioremap() for simulated addresses. A module reference for each
 * mapping keeps the simulator loaded.
 */
static void sim_ioremap(resource_size_t at, unsigned long size, void __iomem *addr)
{
	unsigned long page = (unsigned long)addr & PAGE_MASK;
	unsigned long end = (unsigned long)addr + size;

	if (!try_module_get(THIS_MODULE))
		return;
	while (page < end)
		page += sim_arm_page(page);
}

static bool sim_iounmap_takes(const struct pt_regs *regs)
{
	u64 at;

	return sim_find_mapped(regs->di, &at);
}

/* Runs in place of mmiotrace_iounmap() for mappings of sim_ioremap(). */
static void sim_iounmap(const void __iomem *addr)
{
	module_put(THIS_MODULE);
}

/*
 * Take all page faults: kmmio's lists of pages, which the kernel's function would search, do
 * not exist unless mmiotrace runs. So mmiotrace cannot run meanwhile.
 */
static bool sim_fault_takes(const struct pt_regs *regs)
{
	return true;
}

/*
 * Runs in place of kmmio_handler() for page faults, with interrupts off. Return 1 if the address
 * is simulated and the instruction was emulated; otherwise the kernel handles the fault. A
 * program that accesses an address of the kernel gets its signal from the kernel.
 */
static int sim_fault(struct pt_regs *regs, unsigned long addr)
{
	u64 at;

	return addr >= TASK_SIZE_MAX && !user_mode(regs) && sim_find_mapped(addr, &at) &&
	       !sim_move(regs, addr, at);
}

/* The faults' hook is the first, so that no page without it can be armed. */
static struct sim_hook sim_hooks[] = {
	{ .function = "kmmio_handler", .takes = sim_fault_takes, .instead = sim_fault },
	{ .function = "mmiotrace_iounmap", .takes = sim_iounmap_takes,
	  .instead = sim_iounmap },
	{ .function = "mmiotrace_ioremap", .takes = sim_ioremap_takes,
	  .instead = sim_ioremap },
};

/*
 * The handler of page faults calls kmmio_handler() only if there is a probe of kmmio. This
 * probe has no length and therefore no page: kmmio's lists of pages exist only while mmiotrace
 * runs. Any mapped address will do.
 */
static struct kmmio_probe sim_kmmio;

/**
 * sim_mapping_init() - start the simulation of registers in memory
 *
 * Return: 0, -ENOMEM, or -ENODEV if the kernel lacks a function (the log names the function).
 */
int sim_mapping_init(void)
{
	int ret;

	if (!model_has_memory(sim.config.gen))
		return 0;
	ret = sim_hooks_set(sim_hooks, ARRAY_SIZE(sim_hooks));
	if (ret)
		return ret;
	sim_kmmio.addr = (unsigned long)&sim_kmmio & PAGE_MASK;
	ret = register_kmmio_probe(&sim_kmmio);
	if (ret) {
		pr_err("register_kmmio_probe() failed (error %d): not loading, because registers in memory cannot be simulated\n",
		       ret);
		ret = -ENODEV;
		goto remove;
	}
	ret = sim_devmem_init();
	if (!ret)
		return 0;
	unregister_kmmio_probe(&sim_kmmio);
	synchronize_rcu();
remove:
	sim_hooks_remove(sim_hooks, ARRAY_SIZE(sim_hooks));
	return ret;
}

/**
 * sim_mapping_exit() - stop the simulation of registers in memory, of which no mapping is left
 */
void sim_mapping_exit(void)
{
	if (!model_has_memory(sim.config.gen))
		return;
	sim_devmem_exit();
	unregister_kmmio_probe(&sim_kmmio);
	/* a fault that has seen the probe ends in our hook */
	synchronize_rcu();
	sim_hooks_remove(sim_hooks, ARRAY_SIZE(sim_hooks));
}

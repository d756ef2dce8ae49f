// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of the simulated memory by programs, through /dev/mem. The mapping never gets a
 * page: each access is a page fault, which emulates the program's instruction (front/move.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "compat.h"
#include "front/hook.h"
#include "sim.h"

static void sim_user_open(struct vm_area_struct *vma)
{
	/* a copy or a part of a mapping that has a reference */
	__module_get(THIS_MODULE);
}

static void sim_user_close(struct vm_area_struct *vma)
{
	module_put(THIS_MODULE);
}

/*
 * Emulate the instruction of the program, and let it continue after the instruction. The kernel
 * itself cannot access the mapping on behalf of the program, as in read() into the mapping.
 */
static vm_fault_t sim_user_fault(struct vm_fault *vmf)
{
	u64 at = ((u64)vmf->pgoff << PAGE_SHIFT) + offset_in_page(vmf->real_address);
	struct pt_regs *regs = task_pt_regs(current);

	if (!(vmf->flags & FAULT_FLAG_USER) || (vmf->flags & FAULT_FLAG_INSTRUCTION) ||
	    !user_64bit_mode(regs))
		return VM_FAULT_SIGBUS;
	switch (sim_move(regs, vmf->real_address, at)) {
	case 0:
		return VM_FAULT_NOPAGE;
	case -EAGAIN:
		/* The program repeats the instruction, whose page the kernel then reads in. */
		return VM_FAULT_NOPAGE;
	default:
		return VM_FAULT_SIGBUS;
	}
}

static const struct vm_operations_struct sim_user_ops = {
	.open = sim_user_open,
	.close = sim_user_close,
	.fault = sim_user_fault,
};

static bool sim_pages_claimed(u64 page)
{
	return model_memory_claims(&sim.config, page << PAGE_SHIFT);
}

/*
 * Get a reference of the module for a mapping. Return 0, -ENODEV, or -EPERM if a driver has
 * reserved a part of it for itself, as the kernel does.
 */
static int sim_get_pages(u64 page, u64 size)
{
	if (region_intersects(page << PAGE_SHIFT, size, IORESOURCE_MEM | IORESOURCE_EXCLUSIVE,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return -EPERM;
	return try_module_get(THIS_MODULE) ? 0 : -ENODEV;
}

#ifdef UNC_MMAP_PREPARE
static bool sim_mmap_takes(const struct pt_regs *regs)
{
	return sim_pages_claimed(((struct vm_area_desc *)regs->di)->pgoff);
}

/*
 * Runs in place of mmap_mem_prepare(). The reference stays if the kernel then cannot make the
 * mapping: the simulator cannot be unloaded any more.
 */
static int sim_mmap(struct vm_area_desc *desc)
{
	int err = sim_get_pages(desc->pgoff, desc->end - desc->start);

	if (err)
		return err;
	vma_desc_set_flags(desc, VMA_IO_BIT, VMA_PFNMAP_BIT, VMA_DONTEXPAND_BIT,
			   VMA_DONTDUMP_BIT);
	desc->vm_ops = &sim_user_ops;
	return 0;
}

static struct sim_hook sim_mmap_hook = {
	.function = "mmap_mem_prepare", .takes = sim_mmap_takes,
	.instead = sim_mmap,
};
#else
static bool sim_mmap_takes(const struct pt_regs *regs)
{
	return sim_pages_claimed(((struct vm_area_struct *)regs->si)->vm_pgoff);
}

/* Runs in place of mmap_mem() of /dev/mem for simulated addresses. */
static int sim_mmap(struct file *file, struct vm_area_struct *vma)
{
	int err = sim_get_pages(vma->vm_pgoff, vma->vm_end - vma->vm_start);

	if (err)
		return err;
	/* two adjacent mappings with these flags are not merged, so each is closed */
	unc_vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &sim_user_ops;
	return 0;
}

static struct sim_hook sim_mmap_hook = {
	.function = "mmap_mem", .takes = sim_mmap_takes, .instead = sim_mmap,
};
#endif

/**
 * sim_devmem_init() - start the simulation of memory for programs that map /dev/mem
 *
 * Return: 0, -ENOMEM, or -ENODEV if the kernel's function cannot be hooked (the log names it).
 */
int sim_devmem_init(void)
{
	if (!IS_ENABLED(CONFIG_DEVMEM))
		return 0;
	return sim_hooks_set(&sim_mmap_hook, 1);
}

/**
 * sim_devmem_exit() - stop the simulation of memory for programs, of which no mapping is left
 */
void sim_devmem_exit(void)
{
	if (IS_ENABLED(CONFIG_DEVMEM))
		sim_hooks_remove(&sim_mmap_hook, 1);
}

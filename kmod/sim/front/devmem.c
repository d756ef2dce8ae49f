// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of the simulated memory by programs, through /dev/mem. The mapping never gets a
 * page: each access is a page fault, which emulates the program's instruction (front/move.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>

#include "compat.h"
#include "front/hook.h"
#include "sim.h"

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
	.fault = sim_user_fault,
};

static bool sim_pages_claimed(u64 page)
{
	return model_memory_claims(&sim.config, page << PAGE_SHIFT);
}

/*
 * A mapping has a file of the simulator in place of /dev/mem. The file keeps the simulator
 * loaded. The kernel counts the file's references for copies and parts of the mapping, and
 * drops them where it cannot make the mapping.
 */
static const struct file_operations sim_user_file = {
	.owner = THIS_MODULE,
};

/*
 * Make the file of a mapping. Return an error pointer with -EPERM if a driver has reserved a
 * part of the mapping for itself, as the kernel does.
 */
static struct file *sim_get_pages(u64 page, u64 size)
{
	if (region_intersects(page << PAGE_SHIFT, size, IORESOURCE_MEM | IORESOURCE_EXCLUSIVE,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return ERR_PTR(-EPERM);
	return anon_inode_getfile(KBUILD_MODNAME, &sim_user_file, NULL, O_RDWR);
}

#ifdef UNC_MMAP_PREPARE
static bool sim_mmap_takes(const struct pt_regs *regs)
{
	return sim_pages_claimed(((struct vm_area_desc *)regs->di)->pgoff);
}

/* Runs in place of mmap_mem_prepare() of /dev/mem for simulated addresses. */
static int sim_mmap(struct vm_area_desc *desc)
{
	struct file *file = sim_get_pages(desc->pgoff, desc->end - desc->start);

	if (IS_ERR(file))
		return PTR_ERR(file);
	/* the mapping takes over the reference */
	desc->vm_file = file;
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
static int sim_mmap(struct file *devmem, struct vm_area_struct *vma)
{
	struct file *file = sim_get_pages(vma->vm_pgoff, vma->vm_end - vma->vm_start);

	if (IS_ERR(file))
		return PTR_ERR(file);
	/* takes a reference of its own */
	vma_set_file(vma, file);
	fput(file);
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

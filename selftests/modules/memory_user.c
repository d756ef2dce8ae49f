// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user of registers in memory, as a driver is: map the registers of a box, and access them
 * in every way that a driver may. selftests/sim/memory.c loads the module and writes the name
 * of a test to the parameter "run"; the write returns an error if an access was wrong.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define MAP_SIZE	0x4000

/* A box of Ice Lake's iMC; the tests leave all counters disabled */
#define BOX_STATUS	0x5c
#define CTR(n)		(0x08 + 8 * (n))
#define CTL(n)		(0x40 + 4 * (n))
#define CTR_BYTES	(4 * 8)
#define COUNTER_BITS	48

static ulong base;
module_param(base, ulong, 0444);
MODULE_PARM_DESC(base, "Physical address of a box; 0: none, for occupy= and fail=");

static bool reserve;
module_param(reserve, bool, 0444);
MODULE_PARM_DESC(reserve, "Reserve the box's page, as a driver does with its device's memory");

static char *occupy = "";
module_param(occupy, charp, 0444);
MODULE_PARM_DESC(occupy, "Function of the kernel that the simulator then cannot hook");

static char *fail = "";
module_param(fail, charp, 0444);
MODULE_PARM_DESC(fail, "Function of the kernel that returns NULL to the program that loads the module");

static ulong accesses = 60000;
module_param(accesses, ulong, 0644);
MODULE_PARM_DESC(accesses, "Accesses of the test \"cpus\", by which those of the others go");

static ulong ns;
module_param(ns, ulong, 0444);
MODULE_PARM_DESC(ns, "Result: nanoseconds of a read in the test \"time\"");

static void __iomem *box;
static atomic_long_t wrong;

static void expect(const char *what, u64 value, u64 expected)
{
	if (value == expected)
		return;
	if (atomic_long_inc_return(&wrong) <= 20)
		pr_info("%s: 0x%llx, not 0x%llx\n", what, value, expected);
}

/* --- widths ----------------------------------------------------------------- */

static const u64 pattern = 0x0000a1b2c3d4e5f6ULL;

static void run_reads(void)
{
	unsigned int i;

	writeq(pattern, box + CTR(0));
	expect("readq", readq(box + CTR(0)), pattern);
	for (i = 0; i < 8; i += 4)
		expect("readl", readl(box + CTR(0) + i), (u32)(pattern >> (8 * i)));
	for (i = 0; i < 8; i += 2)
		expect("readw", readw(box + CTR(0) + i), (u16)(pattern >> (8 * i)));
	for (i = 0; i < 8; i++)
		expect("readb", readb(box + CTR(0) + i), (u8)(pattern >> (8 * i)));
	expect("lo_hi_readq", lo_hi_readq(box + CTR(0)), pattern);
}

static void run_writes(void)
{
	unsigned int i;

	writeq(0, box + CTR(1));
	writel(0xfedcba98, box + CTR(1));
	writel(0xffff1234, box + CTR(1) + 4);
	expect("writel", readq(box + CTR(1)), 0x1234fedcba98ULL);
	writew(0x5678, box + CTR(1) + 2);
	expect("writew", readq(box + CTR(1)), 0x12345678ba98ULL);
	for (i = 0; i < 6; i++)
		writeb(0x10 + i, box + CTR(1) + i);
	expect("writeb", readq(box + CTR(1)), 0x151413121110ULL);
	writeq(U64_MAX, box + CTR(1));
	expect("writeq", readq(box + CTR(1)), GENMASK_ULL(COUNTER_BITS - 1, 0));
}

/* The instructions that compilers make of accesses, which are no functions of the kernel */
static void run_instructions(void)
{
	u64 wide = U64_MAX;
	s64 signs = 0;
	u32 half = 0;

	writeq(0x8182, box + CTR(2));
	asm volatile("movzbl %1, %0" : "=r" (half) : "m" (*(u8 __force *)(box + CTR(2))));
	expect("movzbl", half, 0x82);
	asm volatile("movzwl %1, %0" : "=r" (half) : "m" (*(u16 __force *)(box + CTR(2))));
	expect("movzwl", half, 0x8182);
	asm volatile("movsbq %1, %0" : "=r" (signs) : "m" (*(u8 __force *)(box + CTR(2))));
	expect("movsbq", signs, (u64)(s8)0x82);
	asm volatile("movswl %1, %0" : "=r" (half) : "m" (*(u16 __force *)(box + CTR(2))));
	expect("movswl", half, (u32)(s16)0x8182);
	asm volatile("movb %1, %h0" : "+Q" (wide) : "m" (*(u8 __force *)(box + CTR(2))));
	expect("movb to the second byte", wide, ~0xff00ULL | 0x8200);
	asm volatile("movw %1, %w0" : "+r" (wide) : "m" (*(u16 __force *)(box + CTR(2))));
	expect("movw", wide, ~0xffffULL | 0x8182);
	asm volatile("movl %1, %k0" : "+r" (wide) : "m" (*(u32 __force *)(box + CTR(2))));
	expect("movl", wide, 0x8182);
	writel(0x80000001, box + CTR(2));
	asm volatile("movslq %1, %0" : "=r" (signs) : "m" (*(u32 __force *)(box + CTR(2))));
	expect("movslq", signs, (u64)(s32)0x80000001);
	asm volatile("movq $-2, %0" : "=m" (*(u64 __force *)(box + CTR(2))));
	expect("movq of a constant", readq(box + CTR(2)), GENMASK_ULL(COUNTER_BITS - 1, 1));
	asm volatile("movl $0x12345678, %0" : "=m" (*(u32 __force *)(box + CTR(2))));
	expect("movl of a constant", readl(box + CTR(2)), 0x12345678);
	asm volatile("movw $0x4321, %0" : "=m" (*(u16 __force *)(box + CTR(2))));
	expect("movw of a constant", readl(box + CTR(2)), 0x12344321);
	asm volatile("movb $0x99, %0" : "=m" (*(u8 __force *)(box + CTR(2))));
	expect("movb of a constant", readl(box + CTR(2)), 0x12344399);
	asm volatile("movntil %1, %0" : "=m" (*(u32 __force *)(box + CTR(2))) : "r" (7));
	expect("movnti", readl(box + CTR(2)), 7);
	/* addresses with an index, an offset of 32 bits, and registers r8 to r15 */
	asm volatile("movq %0, %%r12; xorl %%r13d, %%r13d; movl 0x100(%%r12,%%r13,2), %%r14d;\n\t"
		     "movl %%r14d, %%r14d; movl -0x1000(%%r12,%%r13,8), %%r15d"
		     : : "r" (box + 0x1000 + CTR(2)) : "r12", "r13", "r14", "r15");
}

static void run_strings(void)
{
	u64 from[CTR_BYTES / 8], to[CTR_BYTES / 8] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(from); i++)
		from[i] = pattern + i;
	memcpy_toio(box + CTR(0), from, sizeof(from));
	for (i = 0; i < ARRAY_SIZE(from); i++)
		expect("memcpy_toio", readq(box + CTR(i)), from[i]);
	memcpy_fromio(to, box + CTR(0), sizeof(to));
	for (i = 0; i < ARRAY_SIZE(from); i++)
		expect("memcpy_fromio", to[i], from[i]);
	/* neither aligned nor a multiple of a register */
	memset(to, 0xee, sizeof(to));
	memcpy_fromio((u8 *)to + 1, box + CTR(0) + 3, 13);
	expect("memcpy_fromio, unaligned", memcmp((u8 *)to + 1, (u8 *)from + 3, 13), 0);
	expect("memcpy_fromio, byte behind", ((u8 *)to)[14], 0xee);
	memset_io(box + CTR(0), 0x5a, CTR_BYTES);
	for (i = 0; i < ARRAY_SIZE(from); i++)
		expect("memset_io", readq(box + CTR(i)), 0x5a5a5a5a5a5aULL);
}

/* A mapping of the package's whole window, which the kernel makes of large pages */
static void run_window(void)
{
	void __iomem *window = ioremap(base & ~(SZ_8M - 1), SZ_8M);

	if (!window) {
		expect("ioremap()", 0, 1);
		return;
	}
	writeq(pattern, window + (base & (SZ_8M - 1)) + CTR(2));
	expect("a write by large pages", readq(box + CTR(2)), pattern);
	expect("a read by large pages", readq(window + (base & (SZ_8M - 1)) + CTR(2)), pattern);
	iounmap(window);
}

static void run_widths(void)
{
	run_reads();
	run_writes();
	run_instructions();
	run_strings();
	run_window();
	expect("no register", readl(box + 0x1000), 0);
}

/* --- CPUs at the same time ----------------------------------------------------- */

/* A thread that runs @use(@arg) on a CPU until it returns */
static struct task_struct *start(int (*use)(void *arg), void *arg, unsigned int cpu)
{
	struct task_struct *task = kthread_create(use, arg, "memory/%u", cpu);

	if (IS_ERR(task)) {
		expect("kthread_create()", PTR_ERR(task), 0);
		return NULL;
	}
	kthread_bind(task, cpu);
	get_task_struct(task);
	wake_up_process(task);
	return task;
}

static void wait(struct task_struct *task)
{
	if (!task)
		return;
	kthread_stop(task);
	put_task_struct(task);
}

static void run_threads(int (*use)(void *arg))
{
	struct task_struct *tasks[4];
	unsigned int n, cpu = cpumask_first(cpu_online_mask);

	for (n = 0; n < ARRAY_SIZE(tasks); n++) {
		tasks[n] = start(use, (void *)(unsigned long)n, cpu);
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	for (n = 0; n < ARRAY_SIZE(tasks); n++)
		wait(tasks[n]);
}

/* Each CPU writes and reads a counter of its own in the same page. */
static int use_counter(void *arg)
{
	unsigned int n = (unsigned long)arg;
	u64 value;
	ulong i;

	for (i = 0; i < accesses / 4 / 2; i++) {
		value = (u64)(n + 1) << 40 | i;
		writeq(value, box + CTR(n));
		expect("a counter of this CPU", readq(box + CTR(n)), value);
		if (!(i % 1000))
			cond_resched();
	}
	return 0;
}

static void run_cpus(void)
{
	run_threads(use_counter);
}

/* Map the box, read a counter and unmap the box, while other CPUs do the same. */
static int use_mapping(void *arg)
{
	void __iomem *mine;
	ulong i;

	for (i = 0; i < accesses / 4 / 10; i++) {
		mine = ioremap(base, MAP_SIZE);
		if (!mine) {
			expect("ioremap()", 0, 1);
			break;
		}
		expect("a read of a new mapping", readq(mine + CTR(0)), pattern);
		iounmap(mine);
		cond_resched();
	}
	return 0;
}

static void run_maps(void)
{
	writeq(pattern, box + CTR(0));
	run_threads(use_mapping);
}

/* --- NMIs ------------------------------------------------------------------------ */

static atomic_long_t nmis, nmi_zeros;
static bool nmi_expected;

/* Read and write in an NMI. A read that finds the model busy returns 0, a write is lost. */
static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	u64 value;
	int i;

	if (!READ_ONCE(nmi_expected))
		return NMI_DONE;
	for (i = 0; i < 3; i++) {
		value = readq(box + CTR(3));
		if (!value)
			atomic_long_inc(&nmi_zeros);
		else
			expect("a read in an NMI", value, pattern);
	}
	writel(0x3, box + CTL(3));
	atomic_long_inc(&nmis);
	return NMI_HANDLED;
}

/* Send NMIs to CPUs that access the same page. */
static void run_nmis(void)
{
	struct task_struct *task;
	ulong i, sent = accesses / 30;
	unsigned int cpu;

	writeq(pattern, box + CTR(3));
	atomic_long_set(&nmis, 0);
	atomic_long_set(&nmi_zeros, 0);
	cpu = cpumask_last(cpu_online_mask);
	WRITE_ONCE(nmi_expected, true);
	task = start(use_counter, (void *)1UL, cpu);
	for (i = 0; i < sent; i++) {
		ulong before = atomic_long_read(&nmis);
		u64 until = ktime_get_mono_fast_ns() + NSEC_PER_SEC;

		preempt_disable();
		apic->send_IPI(cpu, NMI_VECTOR);
		preempt_enable();
		while (atomic_long_read(&nmis) == before && ktime_get_mono_fast_ns() < until)
			cpu_relax();
		cond_resched();
	}
	wait(task);
	WRITE_ONCE(nmi_expected, false);
	expect("NMIs", atomic_long_read(&nmis), sent);
	pr_info("%lu NMIs, %ld of %lu reads found the model busy\n", sent,
		atomic_long_read(&nmi_zeros), 3 * sent);
	writel(0, box + CTL(3));
}

/* --- duration ---------------------------------------------------------------------- */

static void run_time(void)
{
	u64 start = ktime_get_ns();
	int i;

	for (i = 0; i < 10000; i++)
		readq(box + CTR(0));
	ns = (ktime_get_ns() - start) / 10000;
}

/* --- parameter "run" --------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
} runs[] = {
	{ "widths", run_widths },
	{ "cpus", run_cpus },
	{ "maps", run_maps },
	{ "nmis", run_nmis },
	{ "time", run_time },
};

static int run_set(const char *text, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; box && i < ARRAY_SIZE(runs); i++) {
		if (!sysfs_streq(text, runs[i].name))
			continue;
		atomic_long_set(&wrong, 0);
		runs[i].run();
		for (i = 0; i < 4; i++)
			writeq(0, box + CTR(i));
		return atomic_long_read(&wrong) ? -EIO : 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = {
	.set = run_set,
};

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "Test to run: widths, cpus, maps, nmis, or time");

/* A kprobe with a post handler may change the instruction pointer, as a hook does. */
static void occupy_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static pid_t loader;

static void *return_null(void)
{
	return NULL;
}

static int fail_pre(struct kprobe *p, struct pt_regs *regs)
{
	if (current->tgid != loader)
		return 0;
	regs->ip = (unsigned long)return_null;
	return 1;
}

static struct kprobe probe = {
	.post_handler = occupy_post,
};

static int __init memory_user_init(void)
{
	int ret;

	if (*fail) {
		loader = current->tgid;
		probe.pre_handler = fail_pre;
	}
	if (*occupy || *fail) {
		probe.symbol_name = *fail ? fail : occupy;
		return register_kprobe(&probe);
	}
	if (reserve && !request_mem_region(base & PAGE_MASK, PAGE_SIZE, KBUILD_MODNAME))
		return -EBUSY;
	box = ioremap(base, MAP_SIZE);
	if (!box) {
		ret = -ENOMEM;
		goto release;
	}
	ret = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, KBUILD_MODNAME);
	if (ret)
		goto unmap;
	return 0;
unmap:
	iounmap(box);
release:
	if (reserve)
		release_mem_region(base & PAGE_MASK, PAGE_SIZE);
	return ret;
}

static void __exit memory_user_exit(void)
{
	if (*occupy || *fail) {
		unregister_kprobe(&probe);
		return;
	}
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
	iounmap(box);
	if (reserve)
		release_mem_region(base & PAGE_MASK, PAGE_SIZE);
}

module_init(memory_user_init);
module_exit(memory_user_exit);

MODULE_DESCRIPTION("Test of simulated registers in memory");
MODULE_LICENSE("GPL");

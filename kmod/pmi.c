// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work after a PMI, the interrupt of a counter's overflow: unc_overflow_work()
 * handles overflows and delivers samples.  The PMI is an NMI (nmi.c), which must not do
 * this work, so it queues an irq_work.  A CPU that has handled an overflow kicks the
 * other CPUs with sampling events by an IPI, and they do the work as well.
 *
 * A sample records the registers of interrupted code.  This file also finds these
 * registers in a hard interrupt.
 */
#include <linux/module.h>
#include <asm/unwind.h>

#include "compat.h"
#include "nmi.h"
#include "pmi.h"

/* An IPI from another CPU that has handled an overflow. */
struct unc_pmi {
	call_single_data_t csd;
	atomic_t kicked;	/* @csd is queued, and must not be queued again */
};

static DEFINE_PER_CPU(struct unc_pmi, unc_pmi);
/* unc_overflow_work(), which is in a higher layer */
static void (*unc_pmi_work)(void);

/**
 * unc_pmi_in_handler() - mark the driver's handlers, which NMIs do not sample
 * @on: true: a handler begins; false: the handler ends
 *
 * Context: hard interrupt.
 */
void unc_pmi_in_handler(bool on)
{
	this_cpu_write(unc_nmi.in_handler, on);
	barrier();
}

/**
 * unc_pmi_caller() - find the code that has called the driver, for a sample
 * @here: gets the caller's address; its stack and frame pointers are 0
 *
 * Functions of the driver are skipped.  If no caller is found, the address is schedule().
 *
 * Context: any but NMI, on the CPU to be sampled.
 */
void unc_pmi_caller(struct pt_regs *here)
{
	struct unwind_state state;
	unsigned long ip = 0;

	for (unwind_start(&state, current, NULL, NULL);
	     !ip && !unwind_done(&state); unwind_next_frame(&state)) {
		ip = unwind_get_return_address(&state);
		if (within_module(ip, THIS_MODULE))
			ip = 0;
	}
	memset(here, 0, sizeof(*here));
	perf_fetch_caller_regs(here);
	here->ip = ip ?: (unsigned long)schedule;
	here->sp = 0;
	here->bp = 0;
}

/**
 * unc_pmi_regs() - find the registers of the code that an interrupt has interrupted
 * @here: filled in by unc_pmi_caller() if these registers are not found
 *
 * get_irq_regs() does not have the registers in all interrupts; the unwinder does.
 *
 * Return: the registers, or @here.
 * Context: hard interrupt, on the CPU to be sampled.
 */
struct pt_regs *unc_pmi_regs(struct pt_regs *here)
{
	struct unwind_state state;
	struct pt_regs *regs;
	bool partial;

	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		regs = unwind_get_entry_regs(&state, &partial);
		if (regs && !partial)
			return regs;
	}
	unc_pmi_caller(here);
	return here;
}

static void unc_pmi_irq_work(struct irq_work *work)
{
	unc_pmi_work();
}

static void unc_pmi_kicked(void *data)
{
	/* clear before the work: a kick during the work queues the work again */
	atomic_set_release(this_cpu_ptr(&unc_pmi.kicked), 0);
	unc_pmi_work();
}

/**
 * unc_pmi_kick() - have the other CPUs of a package deliver their samples
 * @pkg: the package
 *
 * A CPU that has got the PMI itself needs no kick: its irq_work is still to run.
 *
 * Context: hard interrupt, no lock of the driver held.
 */
void unc_pmi_kick(struct unc_package *pkg)
{
	unsigned int cpu;

	/* samples are due before @pending is read; pairs with unc_nmi_take_hit() */
	smp_mb();
	for_each_cpu(cpu, &pkg->sampling_cpus) {
		struct unc_pmi *pmi = per_cpu_ptr(&unc_pmi, cpu);

		if (cpu == smp_processor_id() ||
		    READ_ONCE(per_cpu(unc_nmi, cpu).hit.pending) ||
		    atomic_xchg(&pmi->kicked, 1))
			continue;
		/* the IPI fails if the CPU goes offline: perf removes its events anyway */
		if (smp_call_function_single_async(cpu, &pmi->csd))
			atomic_set(&pmi->kicked, 0);
	}
}

/**
 * unc_pmi_init() - set up the work that an NMI queues
 * @work: handles overflows and delivers samples, in hard interrupts
 */
void unc_pmi_init(void (*work)(void))
{
	unsigned int cpu;

	unc_pmi_work = work;
	for_each_possible_cpu(cpu) {
		per_cpu(unc_nmi, cpu).work = IRQ_WORK_INIT_HARD(unc_pmi_irq_work);
		INIT_CSD(&per_cpu(unc_pmi, cpu).csd, unc_pmi_kicked, NULL);
	}
}

/**
 * unc_pmi_exit() - undo unc_pmi_init()
 *
 * Context: process; no event is left, and the boxes are reset.
 */
void unc_pmi_exit(void)
{
	unsigned int cpu;

	unc_nmi_exit();
	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu(unc_nmi, cpu).work);
		unc_csd_wait(&per_cpu(unc_pmi, cpu).csd);
	}
	/* wait for functions that an IPI calls: unc_csd_wait() does not */
	synchronize_rcu();
}

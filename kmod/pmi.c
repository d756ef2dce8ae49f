// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work that an NMI must not do: queued by the NMI (nmi.c), or by another CPU that
 * has handled an overflow.  And the registers of the code that a hard interrupt has
 * interrupted.
 */
#include <linux/module.h>
#include <asm/unwind.h>

#include "compat.h"
#include "nmi.h"
#include "pmi.h"

/* A kick from another CPU. */
struct unc_pmi {
	call_single_data_t csd;
	atomic_t kicked;	/* @csd is on its way */
};

static DEFINE_PER_CPU(struct unc_pmi, unc_pmi);
/* Handles overflows and delivers samples. */
static void (*unc_pmi_work)(void);

/**
 * unc_pmi_in_handler() - keep NMIs from sampling the driver's own code
 * @on: the driver's code begins; false: it ends
 *
 * Context: hard interrupt.
 */
void unc_pmi_in_handler(bool on)
{
	this_cpu_write(unc_nmi.in_handler, on);
	barrier();
}

/**
 * unc_pmi_caller() - find the code that has called the driver
 * @here: gets the caller's address, and no stack
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
 * unc_pmi_regs() - find the registers of the interrupted code
 * @here: registers to fill in where the interrupted code's are not found
 *
 * get_irq_regs() does not have the registers in all interrupts; the unwinder does.
 *
 * Return: the registers, or @here with an address and no stack.
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
	/* from here on it can be kicked again */
	atomic_set_release(this_cpu_ptr(&unc_pmi.kicked), 0);
	unc_pmi_work();
}

/**
 * unc_pmi_kick() - have the other CPUs of a package deliver their samples
 * @pkg: the package
 *
 * A CPU that has got the PMI itself needs no kick: its work is still to run.
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
		/* a CPU that goes offline has its events taken off in order */
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
	synchronize_rcu();
}

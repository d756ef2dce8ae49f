// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of the NMIs of the simulated hardware to a CPU.
 *
 * An interrupt of performance counters is sent as an NMI at once, whether its CPU is in a
 * program, has interrupts off, or is in a hard interrupt's handler. Another CPU cannot read
 * LVTPC of that CPU. So the simulator's handler on that CPU does the work of the local APIC
 * at the start of the NMI, before all other handlers:
 *
 *	LVTPC delivers NMIs	the handler masks LVTPC; the other handlers see the NMI
 *	LVTPC is masked		the interrupt is dropped, and the NMI hidden
 *	a kprobe's breakpoint	the NMI is hidden, and sent again after the breakpoint
 *
 * Kprobes do not nest, so during a breakpoint the kprobes of the MSR front (msr.c) do not
 * work, and an NMI handler that reads an MSR would not get the model's value. The breakpoint
 * of a simulated MSR ends in the MSR front, which calls sim_nmi_resume() to send the NMI.
 *
 * The kernel calls all handlers of an NMI. While an NMI is hidden, LVTPC reads unmasked and
 * the global status reads 0, so that no other handler takes the NMI for a PMI. The simulator
 * claims the NMI, and restores LVTPC at its end.
 *
 * An interrupt for a CPU with a pending NMI adds its cause to this NMI.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": nmi: " fmt

#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

#include "compat.h"
#include "sim.h"

/**
 * struct sim_nmi - NMIs of one CPU
 * @pending: causes of the NMI that was sent and has not begun, SIM_NMI_*; 0: none
 * @postponed: causes of the NMI that a breakpoint has postponed; 0: none
 * @again: sends the postponed NMI, unless the MSR front has sent it
 * @later: sends the postponed NMI if @again runs during a probe's handler, which may have
 *	interrupts on
 * @begun: sim_nmi_first() has run in the present NMI
 * @hidden: the present NMI is hidden from other handlers; outside NMIs, the last NMI was
 * @lvtpc: value of LVTPC at the start of a hidden NMI
 */
struct sim_nmi {
	atomic_t pending;
	atomic_t postponed;
	struct irq_work again;
	struct hrtimer later;
	bool begun, hidden;
	u32 lvtpc;
};

static DEFINE_PER_CPU(struct sim_nmi, sim_nmis);

static bool sim_sleep;
module_param_named(sleep, sim_sleep, bool, 0444);
MODULE_PARM_DESC(sleep,
		 "PMIs to idle cores are lost without wk_on_pmi (default 0)");

/* current_kprobe of the kernel: the kprobe whose breakpoint a CPU handles, or NULL */
static struct kprobe * __percpu *sim_current_kprobe;

static enum cpuhp_state sim_nmi_cpuhp;

#define SIM_NMI_LATER_NS	(100 * NSEC_PER_USEC)

/* --- sending --------------------------------------------------------------- */

/*
 * Send an NMI by the local APIC. In an NMI without x2APIC, the interrupted code may have
 * written one half of the ICR and not yet the other, so restore the half ICR2.
 */
static void sim_nmi_ipi(unsigned int cpu)
{
	bool save = in_nmi() && !x2apic_mode;
	u32 icr2 = 0;

	if (save)
		icr2 = apic->read(APIC_ICR2);
	apic->send_IPI(cpu, NMI_VECTOR);
	if (save)
		apic->write(APIC_ICR2, icr2);
}

/**
 * sim_nmi_send() - send an NMI to a CPU
 * @cpu: a CPU that is online
 * @causes: SIM_NMI_*
 *
 * Context: interrupts off, or NMI.
 */
void sim_nmi_send(unsigned int cpu, u32 causes)
{
	struct sim_nmi *nmi = per_cpu_ptr(&sim_nmis, cpu);

	if (!atomic_fetch_or(causes, &nmi->pending))
		sim_nmi_ipi(cpu);
}

/**
 * sim_nmi_resume() - send this CPU the NMI that a breakpoint has postponed, if any
 *
 * Context: any; does nothing in an NMI.
 */
void sim_nmi_resume(void)
{
	unsigned long flags;
	u32 causes;

	if (likely(!atomic_read(raw_cpu_ptr(&sim_nmis.postponed))) || in_nmi())
		return;
	local_irq_save(flags);
	causes = atomic_xchg(this_cpu_ptr(&sim_nmis.postponed), 0);
	if (causes)
		sim_nmi_send(smp_processor_id(), causes);
	local_irq_restore(flags);
}

/* Return whether this CPU handles the breakpoint of a kprobe. */
static bool sim_nmi_in_kprobe(void)
{
	return *this_cpu_ptr(sim_current_kprobe);
}

/*
 * Send the postponed NMI, or start a timer for it if the breakpoint has not ended: the
 * handler of another module's kretprobe has interrupts on, and an NMI that is sent and
 * postponed at once would interrupt the handler again and again, before its next instruction.
 */
static void sim_nmi_again(struct irq_work *work)
{
	struct sim_nmi *nmi = this_cpu_ptr(&sim_nmis);

	if (sim_nmi_in_kprobe())
		hrtimer_start(&nmi->later, ns_to_ktime(SIM_NMI_LATER_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
	else
		sim_nmi_resume();
}

static enum hrtimer_restart sim_nmi_later(struct hrtimer *timer)
{
	sim_nmi_resume();
	return HRTIMER_NORESTART;
}

/* --- the handlers ------------------------------------------------------------ */

/* Hide the present NMI from other handlers: LVTPC reads unmasked. */
static void sim_nmi_hide(struct sim_nmi *nmi)
{
	nmi->hidden = true;
	nmi->lvtpc = apic->read(APIC_LVTPC);
	sim_lapic_unmask();
}

/* Return whether the core is idle, and the PMI does not wake it. */
static bool sim_nmi_asleep(u32 causes)
{
	return !(causes & SIM_NMI_WAKE) && sim_sleep &&
	       is_idle_task(current);
}

/* Drop the causes that the local APIC or a sleeping core drops. Return the other causes. */
static u32 sim_nmi_accept(u32 causes)
{
	bool delivers = sim_lapic_delivers();

	if (causes & SIM_NMI_PMI &&
	    (!delivers || !sim_lapic_enabled() || sim_nmi_asleep(causes))) {
		sim_count(SIM_PMI_DROPPED);
		causes &= ~SIM_NMI_PMI;
	}
	if (causes & SIM_NMI_CORE && !delivers) {
		sim_count(SIM_CORE_PMI_DROPPED);
		causes &= ~SIM_NMI_CORE;
	}
	return causes & ~SIM_NMI_WAKE;
}

/* Handle the start of an NMI on this CPU. Return NMI_HANDLED if the NMI is hidden. */
static int sim_nmi_start(struct sim_nmi *nmi)
{
	u32 causes = atomic_xchg(&nmi->pending, 0);

	if (!causes)
		return NMI_DONE;
	if (sim_nmi_in_kprobe()) {
		atomic_or(causes, &nmi->postponed);
		irq_work_queue(&nmi->again);
		sim_nmi_hide(nmi);
		return NMI_HANDLED;
	}
	causes = sim_nmi_accept(causes);
	if (!causes) {
		sim_nmi_hide(nmi);
		return NMI_HANDLED;
	}
	if (causes & (SIM_NMI_PMI | SIM_NMI_CORE))
		sim_lapic_mask();
	return NMI_DONE;
}

/*
 * The first handler of NMI_LOCAL. The kernel's list may contain it twice (see
 * sim_nmi_lead()), and the second call in an NMI does nothing.
 */
static int sim_nmi_first(unsigned int type, struct pt_regs *regs)
{
	struct sim_nmi *nmi = this_cpu_ptr(&sim_nmis);

	if (nmi->begun)
		return NMI_DONE;
	nmi->begun = true;
	nmi->hidden = false;
	return sim_nmi_start(nmi);
}

/*
 * The handler at the end of an NMI: restore LVTPC after a hidden NMI. Handlers that are
 * registered later run after this handler. @hidden stays set, so the global status of a
 * hidden NMI reads 0 in these handlers as well.
 */
static int sim_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct sim_nmi *nmi = this_cpu_ptr(&sim_nmis);

	if (nmi->hidden)
		apic->write(APIC_LVTPC, nmi->lvtpc);
	nmi->begun = false;
	return NMI_DONE;
}

/**
 * sim_nmi_hidden() - check whether the present NMI is hidden from all other handlers
 *
 * Context: NMI.
 */
bool sim_nmi_hidden(void)
{
	return this_cpu_read(sim_nmis.hidden);
}

/* --- the first place in the list of handlers ------------------------------------ */

/*
 * The kernel puts a handler with NMI_FLAG_FIRST at the head of its list, before the handlers
 * that were registered earlier. If another module registers such a handler, the simulator
 * registers sim_nmi_first() again in another entry, and unregisters the old entry in a work
 * item.
 */
#define SIM_NMI_ENTRIES	4

/**
 * struct sim_nmi_entry - an entry of sim_nmi_first() in the kernel's list
 * @action: the kernel's part of the entry
 * @listed: the entry is in the list
 */
struct sim_nmi_entry {
	struct nmiaction action;
	bool listed;
};

#define SIM_NMI_ENTRY(text) {			\
	.action = {				\
		.handler = sim_nmi_first,	\
		.flags = NMI_FLAG_FIRST,	\
		.name = text,			\
	},					\
}

static struct sim_nmi_entry sim_nmi_entries[SIM_NMI_ENTRIES] = {
	SIM_NMI_ENTRY("sim_first0"), SIM_NMI_ENTRY("sim_first1"),
	SIM_NMI_ENTRY("sim_first2"), SIM_NMI_ENTRY("sim_first3"),
};

/* Guards @listed and sim_nmi_newest, the entry at the head of the list. */
static DEFINE_RAW_SPINLOCK(sim_nmi_entries_lock);
static struct sim_nmi_entry *sim_nmi_newest;

/* Return an entry that is not in the list, or NULL. */
static struct sim_nmi_entry *sim_nmi_spare(void)
{
	unsigned int i;

	for (i = 0; i < SIM_NMI_ENTRIES; i++)
		if (!sim_nmi_entries[i].listed)
			return &sim_nmi_entries[i];
	return NULL;
}

/* Put an entry at the head of the list. Return 0 or a negative error. */
static int sim_nmi_lead(void)
{
	struct sim_nmi_entry *entry;
	unsigned long flags;
	int ret = -EBUSY;

	raw_spin_lock_irqsave(&sim_nmi_entries_lock, flags);
	entry = sim_nmi_spare();
	if (entry) {
		INIT_LIST_HEAD(&entry->action.list);
		ret = __register_nmi_handler(NMI_LOCAL, &entry->action);
	}
	if (!ret) {
		entry->listed = true;
		sim_nmi_newest = entry;
	}
	raw_spin_unlock_irqrestore(&sim_nmi_entries_lock, flags);
	return ret;
}

/* Unregister an entry if it is in the list; the newest entry only if @newest is set. */
static void sim_nmi_unlist(struct sim_nmi_entry *entry, bool newest)
{
	bool listed;

	raw_spin_lock_irq(&sim_nmi_entries_lock);
	listed = entry->listed && (newest || entry != sim_nmi_newest);
	raw_spin_unlock_irq(&sim_nmi_entries_lock);
	if (!listed)
		return;
	unregister_nmi_handler(NMI_LOCAL, entry->action.name);
	raw_spin_lock_irq(&sim_nmi_entries_lock);
	entry->listed = false;
	raw_spin_unlock_irq(&sim_nmi_entries_lock);
}

static void sim_nmi_unlist_old(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < SIM_NMI_ENTRIES; i++)
		sim_nmi_unlist(&sim_nmi_entries[i], false);
}

static DECLARE_WORK(sim_nmi_old_work, sim_nmi_unlist_old);

/* The action that sim_nmi_register_other() registers at present */
static struct nmiaction *sim_nmi_passed;

/*
 * Replacement of __register_nmi_handler() for a handler that would precede the simulator's.
 * A kretprobe is no alternative: interrupts are on in its handler, and the driver's interrupts
 * would access MSRs without the MSR front there, because kprobes do not nest.
 */
static int sim_nmi_register_other(unsigned int type, struct nmiaction *action)
{
	int ret;

	WRITE_ONCE(sim_nmi_passed, action);
	ret = __register_nmi_handler(type, action);
	WRITE_ONCE(sim_nmi_passed, NULL);
	if (ret)
		return ret;
	if (sim_nmi_lead())
		pr_warn_once("a handler that precedes the simulator's stays the first\n");
	schedule_work(&sim_nmi_old_work);
	return 0;
}

/* Jump to sim_nmi_register_other() if another module's handler would be the first. */
static int sim_nmi_probe_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct nmiaction *action = (struct nmiaction *)regs->si;

	if (regs->di != NMI_LOCAL || !(action->flags & NMI_FLAG_FIRST) ||
	    action->handler == sim_nmi_first ||
	    action == READ_ONCE(sim_nmi_passed))
		return 0;
	regs->ip = (unsigned long)sim_nmi_register_other;
	return 1;
}
NOKPROBE_SYMBOL(sim_nmi_probe_pre);

#define SIM_NMI_PROBED	"__register_nmi_handler"

static struct kprobe sim_nmi_probe = {
	.symbol_name = SIM_NMI_PROBED,
	.pre_handler = sim_nmi_probe_pre,
	.post_handler = sim_probe_post,
};

/* --- life cycle ---------------------------------------------------------------- */

/*
 * Called before a CPU comes online: an NMI that was pending when the CPU went offline may
 * have been lost, so its causes are removed.
 */
static int sim_nmi_prepare(unsigned int cpu)
{
	atomic_set(per_cpu_ptr(&sim_nmis.pending, cpu), 0);
	atomic_set(per_cpu_ptr(&sim_nmis.postponed, cpu), 0);
	return 0;
}

/* Find the kernel's variable current_kprobe, which is not exported. */
static int sim_nmi_find_kprobe(void)
{
	unsigned long (*lookup)(const char *name);
	unsigned long address;

	lookup = unc_find_function("kallsyms_lookup_name");
	address = lookup ? lookup("current_kprobe") : 0;
	if (!address) {
		pr_err("this kernel hides current_kprobe: it must have CONFIG_KALLSYMS_ALL\n");
		return -ENODEV;
	}
	sim_current_kprobe = (struct kprobe * __percpu *)address;
	return 0;
}

/*
 * Return the offset in __register_nmi_handler() of the instruction after the call of ftrace.
 * A kprobe at the call itself would use ftrace, and its handler would run with interrupts on.
 * The driver's interrupts would access MSRs without the MSR front there, because kprobes do
 * not nest.
 */
static unsigned int sim_nmi_probe_offset(void)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	const u8 *code = unc_find_function(SIM_NMI_PROBED);
	unsigned int offset = 0;

	if (!code)
		return 0;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		offset = sizeof(endbr64);
	/* the NOP is a call (opcode 0xe8) while the function is traced */
	if (code[offset] != 0xe8 && memcmp(code + offset, nop, sizeof(nop)))
		return 0;
	return offset + sizeof(nop);
}

static int sim_nmi_register(void)
{
	int ret;

	sim_nmi_probe.offset = sim_nmi_probe_offset();
	ret = register_nmi_handler(NMI_LOCAL, sim_nmi_last, 0, "sim_last");
	if (ret)
		return ret;
	ret = sim_nmi_lead();
	if (ret)
		goto last;
	ret = register_kprobe(&sim_nmi_probe);
	if (ret)
		goto first;
	return 0;

first:
	sim_nmi_unlist(sim_nmi_newest, true);
last:
	unregister_nmi_handler(NMI_LOCAL, "sim_last");
	return ret;
}

/**
 * sim_nmi_init() - register the handlers
 *
 * Return: 0 or a negative error.
 */
int sim_nmi_init(void)
{
	unsigned int cpu;
	int ret;

	ret = sim_nmi_find_kprobe();
	if (ret)
		return ret;
	for_each_possible_cpu(cpu) {
		struct sim_nmi *nmi = per_cpu_ptr(&sim_nmis, cpu);

		nmi->again = IRQ_WORK_INIT_HARD(sim_nmi_again);
		unc_hrtimer_setup(&nmi->later, sim_nmi_later, CLOCK_MONOTONIC,
				  HRTIMER_MODE_REL_PINNED_HARD);
	}
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					"xeon_uncore_sim:nmi", sim_nmi_prepare,
					NULL);
	if (ret < 0)
		return ret;
	sim_nmi_cpuhp = ret;
	ret = sim_nmi_register();
	if (ret)
		cpuhp_remove_state_nocalls(sim_nmi_cpuhp);
	return ret;
}

static bool sim_nmi_is_pending(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (atomic_read(per_cpu_ptr(&sim_nmis.pending, cpu)) ||
		    atomic_read(per_cpu_ptr(&sim_nmis.postponed, cpu)))
			return true;
	return false;
}

/**
 * sim_nmi_exit() - wait for the last NMI, and unregister the handlers
 *
 * The caller sends no NMIs any more.
 */
void sim_nmi_exit(void)
{
	unsigned int cpu, i;

	while (sim_nmi_is_pending())
		usleep_range(100, 1000);
	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu(sim_nmis, cpu).again);
		hrtimer_cancel(&per_cpu(sim_nmis, cpu).later);
	}
	unregister_kprobe(&sim_nmi_probe);
	cancel_work_sync(&sim_nmi_old_work);
	/* Unregister sim_nmi_first() first: sim_nmi_last() ends each NMI that it has begun. */
	for (i = 0; i < SIM_NMI_ENTRIES; i++)
		sim_nmi_unlist(&sim_nmi_entries[i], true);
	unregister_nmi_handler(NMI_LOCAL, "sim_last");
	cpuhp_remove_state_nocalls(sim_nmi_cpuhp);
}

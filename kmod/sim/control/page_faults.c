// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file "page_faults": memory traffic of programs that do not know the simulator.
 * A page fault in user mode moves cache lines through the memory channels of the package of
 * the faulting CPU.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": page_faults: " fmt

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "sim.h"

#define SIM_TRACEPOINT	"page_fault_user"

/* CAS_COUNT (§2.6.7): regular reads, and writes in write major mode */
#define SIM_CAS_COUNT	0x04
#define SIM_CAS_RD_REG	0x01
#define SIM_CAS_WR_WMM	0x04

static struct {
	struct mutex mutex;		/* serialises sim_page_faults_set() */
	struct tracepoint *tracepoint;	/* NULL: the kernel does not have it */
	unsigned int box_type;		/* of memory channels */
	u32 lines;			/* cache lines for each fault; 0: off */
	atomic64_t faults;		/* number of faults since the last switch on */
} sim_faults = {
	.mutex = __MUTEX_INITIALIZER(sim_faults.mutex),
};

/*
 * Let CAS commands pass a memory channel. If an overflow freezes the package, its counters
 * do not count the remaining commands, as on hardware.
 */
static void sim_cas(struct model_txn *t, u32 umask, u64 count)
{
	s64 passed;

	t->umask = umask;
	for (t->count = count; t->count; t->count -= passed) {
		passed = model_traffic(sim.model, t);
		if (WARN_ON_ONCE(passed <= 0 || passed > t->count))
			break;
	}
}

/*
 * Handler of the tracepoint. Consecutive cache lines go to consecutive channels. Writes
 * clear the page, and reads fetch its contents, so each line is written and read.
 *
 * The fault was in user mode, so this CPU does not hold the model's lock, and the handler
 * may take it.
 */
static void sim_page_fault(void *unused, unsigned long address,
			   struct pt_regs *regs, unsigned long error_code)
{
	struct model_txn t = {
		.box_type = sim_faults.box_type, .code = SIM_CAS_COUNT, .value = 1,
	};
	u32 lines = READ_ONCE(sim_faults.lines);
	u32 imcs = sim.config.boxes[sim_faults.box_type];
	unsigned long flags;
	u32 n;

	flags = sim_lock();
	t.pkg = unc_cpu_package(smp_processor_id());
	if (t.pkg < sim.config.packages) {
		sim_clock_sync();
		for (t.box = 0; t.box < imcs; t.box++) {
			n = lines / imcs + (t.box < lines % imcs);
			sim_cas(&t, SIM_CAS_RD_REG, n);
			sim_cas(&t, SIM_CAS_WR_WMM, n);
		}
		sim_clock_rearm();
	}
	sim_unlock(flags);
	atomic64_inc(&sim_faults.faults);
}

static int sim_page_faults_on(void)
{
	int ret;

	if (sim_faults.box_type == MODEL_MAX_TYPES) {
		pr_warn("this machine has no memory channels\n");
		return -EOPNOTSUPP;
	}
	if (!sim_faults.tracepoint) {
		pr_warn("this kernel has no tracepoint %s\n", SIM_TRACEPOINT);
		return -EOPNOTSUPP;
	}
	ret = tracepoint_probe_register(sim_faults.tracepoint, sim_page_fault,
					NULL);
	if (ret)
		pr_warn("cannot use tracepoint %s (error %d)\n", SIM_TRACEPOINT,
			ret);
	return ret;
}

static void sim_page_faults_off(void)
{
	tracepoint_probe_unregister(sim_faults.tracepoint, sim_page_fault,
				    NULL);
	tracepoint_synchronize_unregister();
}

/**
 * sim_page_faults_set() - switch the traffic of page faults on or off
 * @lines: cache lines that each fault writes and reads; 0: no traffic
 *
 * Return: 0, -EOPNOTSUPP if the machine has no memory channels or the kernel has no
 * tracepoint for page faults, or another negative error.
 */
int sim_page_faults_set(u32 lines)
{
	u32 before;
	int ret = 0;

	mutex_lock(&sim_faults.mutex);
	before = sim_faults.lines;
	if (lines && !before) {
		WRITE_ONCE(sim_faults.lines, lines);
		atomic64_set(&sim_faults.faults, 0);
		ret = sim_page_faults_on();
	} else if (!lines && before) {
		sim_page_faults_off();
	}
	WRITE_ONCE(sim_faults.lines, ret ? before : lines);
	mutex_unlock(&sim_faults.mutex);
	return ret;
}

/**
 * sim_page_faults_show() - print the number of lines, and of faults
 * @s: output
 */
void sim_page_faults_show(struct seq_file *s)
{
	seq_printf(s, "lines %u\nfaults %lld\n", READ_ONCE(sim_faults.lines),
		   atomic64_read(&sim_faults.faults));
}

static void sim_find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, SIM_TRACEPOINT))
		sim_faults.tracepoint = tp;
}

/**
 * sim_page_faults_init() - find the tracepoint and the memory channels; the traffic is off at
 * first
 *
 * Return: 0; without the tracepoint sim_page_faults_set() fails.
 */
int sim_page_faults_init(void)
{
	sim_faults.box_type = model_find_type(sim.config.gen, "imc");
	for_each_kernel_tracepoint(sim_find_tracepoint, NULL);
	return 0;
}

/**
 * sim_page_faults_exit() - switch the traffic of page faults off
 */
void sim_page_faults_exit(void)
{
	sim_page_faults_set(0);
}

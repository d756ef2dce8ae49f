// SPDX-License-Identifier: GPL-2.0-only
/*
 * The local APIC between a PMI and its CPU: the local vector table's entry for performance
 * counters (LVTPC), and the bit of IA32_DEBUGCTL that enables PMIs of the uncore.
 *
 * A virtual machine's local APIC keeps the value that software writes to LVTPC, but
 * delivers no interrupt through it. This file implements the rules of the SDM (volume
 * 3, "Local Vector Table"): a masked entry drops the interrupt, and delivering one
 * masks the entry.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/msr-index.h>

#include "sim.h"

/* ENABLE_UNCORE_PMI, which other documents call Offcore_PMI_EN */
#define DEBUGCTL_UNCORE_PMI	BIT_ULL(13)
/* LBR, BTF, TR to FREEZE_WHILE_SMM, RTM; all other bits are reserved. */
#define DEBUGCTL_BITS		(GENMASK_ULL(15, 6) | GENMASK_ULL(1, 0))

static char *sim_lvtpc = "strict";
module_param_named(lvtpc, sim_lvtpc, charp, 0444);
MODULE_PARM_DESC(lvtpc,
		 "\"strict\": PMIs come through the local APIC's LVTPC, and are dropped while it is masked or not in NMI mode; \"ignore\": they always come (default strict)");

static bool sim_debugctl;
module_param_named(debugctl, sim_debugctl, bool, 0444);
MODULE_PARM_DESC(debugctl,
		 "PMIs come only to CPUs with bit 13 of IA32_DEBUGCTL set (default 0)");

static bool sim_lvtpc_strict;

/* IA32_DEBUGCTL of each CPU: an emulated CPU does not keep the bits */
static DEFINE_PER_CPU(u64, sim_debugctls);

/**
 * sim_lapic_enabled() - check whether IA32_DEBUGCTL of this CPU enables PMIs
 *
 * Context: any, NMIs included.
 * Return: true with bit 13 set, or with the parameter debugctl=0.
 */
bool sim_lapic_enabled(void)
{
	return !sim_debugctl ||
	       this_cpu_read(sim_debugctls) & DEBUGCTL_UNCORE_PMI;
}

/**
 * sim_lapic_mask() - mask LVTPC, as the delivery of an NMI through it does
 *
 * Context: on the CPU, at the start of the NMI.
 */
void sim_lapic_mask(void)
{
	if (sim_lvtpc_strict)
		apic->write(APIC_LVTPC, apic->read(APIC_LVTPC) | APIC_LVT_MASKED);
}

/**
 * sim_lapic_unmask() - unmask LVTPC of this CPU in NMI mode, like perf's NMI handler
 *
 * Context: any, NMIs included.
 */
void sim_lapic_unmask(void)
{
	apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/**
 * sim_lapic_masked() - check whether LVTPC of this CPU is masked
 *
 * Context: any, NMIs included.
 * Return: true if masked; false with the parameter lvtpc=ignore.
 */
bool sim_lapic_masked(void)
{
	return sim_lvtpc_strict && apic->read(APIC_LVTPC) & APIC_LVT_MASKED;
}

/**
 * sim_lapic_nmi_mode() - check whether the delivery mode of this CPU's LVTPC is NMI
 *
 * Context: any, NMIs included.
 */
bool sim_lapic_nmi_mode(void)
{
	return (apic->read(APIC_LVTPC) & APIC_MODE_MASK) == APIC_DM_NMI;
}

/**
 * sim_lapic_delivers() - check whether LVTPC of this CPU delivers NMIs
 *
 * Context: any, NMIs included.
 * Return: true if LVTPC is unmasked and in NMI mode, or with the parameter lvtpc=ignore.
 */
bool sim_lapic_delivers(void)
{
	return !sim_lvtpc_strict || (!sim_lapic_masked() && sim_lapic_nmi_mode());
}

/**
 * sim_lapic_claims() - check whether this file simulates an MSR
 * @msr: number of the MSR
 */
bool sim_lapic_claims(u32 msr)
{
	return msr == MSR_IA32_DEBUGCTLMSR && sim_debugctl;
}

/**
 * sim_lapic_msr() - access IA32_DEBUGCTL of this CPU
 * @write: the access is a write
 * @value: value to write, or result of the read
 *
 * Context: any, NMIs included; interrupts off, or no other access to this CPU.
 * Return: MODEL_OK, or MODEL_GP for reserved bits.
 */
int sim_lapic_msr(bool write, u64 *value)
{
	if (write && *value & ~DEBUGCTL_BITS)
		return MODEL_GP;
	if (write)
		this_cpu_write(sim_debugctls, *value);
	else
		*value = this_cpu_read(sim_debugctls);
	return MODEL_OK;
}

/**
 * sim_lapic_online() - reset IA32_DEBUGCTL of this CPU when it comes online
 *
 * The virtual machine itself resets LVTPC, which is masked then.
 */
void sim_lapic_online(void)
{
	this_cpu_write(sim_debugctls, 0);
}

/**
 * sim_lapic_init() - check the parameters
 *
 * Return: 0, -EINVAL for an invalid parameter, or -ENODEV without a local APIC.
 */
int sim_lapic_init(void)
{
	sim_lvtpc_strict = !strcmp(sim_lvtpc, "strict");
	if (!sim_lvtpc_strict && strcmp(sim_lvtpc, "ignore")) {
		pr_err("invalid lvtpc=%s (expected strict or ignore)\n",
		       sim_lvtpc);
		return -EINVAL;
	}
	if (!boot_cpu_has(X86_FEATURE_APIC)) {
		pr_err("this machine has no local APIC, through which PMIs come\n");
		return -ENODEV;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LVTPC, the local APIC's entry for performance counters, of each CPU, and the kernel's
 * count of NMIs. LVTPC is accessed through /dev/mem, which a kernel allows with
 * iomem=relaxed.
 */
#ifndef SELFTESTS_LAPIC_H
#define SELFTESTS_LAPIC_H

#include <stdint.h>

#define LVT_FIXED	0x000fe
#define LVT_NMI		0x00400
#define LVT_MASKED	0x10000

/*
 * Map the page of the local APIC. Once is enough for a program and its child processes.
 * Skip the program if the page cannot be mapped.
 */
void lapic_map(void);

/*
 * Write and read LVTPC of @cpu. Both functions pin the caller to @cpu, because the local
 * APICs of all CPUs have the same address.
 */
void set_lvtpc(int cpu, uint32_t value);
uint32_t get_lvtpc(int cpu);

/* Number of NMIs of a CPU so far, from /proc/interrupts */
uint64_t nmis(int cpu);

#endif

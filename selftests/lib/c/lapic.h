/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local APIC's entry for performance counters (LVTPC) of each CPU, and the
 * kernel's count of NMIs. It needs a kernel that lets /dev/mem map the local APIC
 * (iomem=relaxed).
 */
#ifndef SELFTESTS_LAPIC_H
#define SELFTESTS_LAPIC_H

#include <stdint.h>

#define LVT_FIXED	0x000fe
#define LVT_NMI		0x00400
#define LVT_MASKED	0x10000

/* Map the page, once for a program and its children; skip the program if that fails. */
void lapic_map(void);

/* Both move the caller to @cpu: each CPU has its local APIC at the same address. */
void set_lvtpc(int cpu, uint32_t value);
uint32_t get_lvtpc(int cpu);

/* Number of NMIs of a CPU so far, from /proc/interrupts */
uint64_t nmis(int cpu);

#endif

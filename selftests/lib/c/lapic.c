// SPDX-License-Identifier: GPL-2.0-or-later
/* LVTPC of each CPU, and the kernel's count of NMIs. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lapic.h"
#include "machine.h"
#include "tap.h"

#define APIC_BASE	0xfee00000
#define APIC_LVTPC	0x340

static volatile uint32_t *lvtpc;

void set_lvtpc(int cpu, uint32_t value)
{
	cpu_pin(cpu);
	*lvtpc = value;
}

uint32_t get_lvtpc(int cpu)
{
	cpu_pin(cpu);
	return *lvtpc;
}

/* Read the column of @cpu in the line "NMI:" of /proc/interrupts. */
uint64_t nmis(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[4096];
	uint64_t n = UINT64_MAX;

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "NMI:");
		int used;

		if (!at)
			continue;
		at += strlen("NMI:");
		for (int i = 0; i <= cpu; i++, at += used)
			if (sscanf(at, "%" SCNu64 "%n", &n, &used) != 1)
				tap_bail("no NMIs of CPU %d", cpu);
	}
	if (f)
		fclose(f);
	return n;
}

void lapic_map(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	char *page;

	if (fd < 0)
		tap_skip_all("no /dev/mem");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    APIC_BASE);
	close(fd);
	if (page == MAP_FAILED)
		tap_skip_all("the local APIC cannot be mapped: boot with iomem=relaxed");
	lvtpc = (volatile uint32_t *)(page + APIC_LVTPC);
}

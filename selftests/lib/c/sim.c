// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulator's controls in debugfs, and raw register accesses: see sim.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "generation.h"
#include "sim.h"
#include "tap.h"

#define MEMORY_PAGE	0x1000L
#define CONTROL		"/sys/kernel/debug/xeon_uncore_sim/"
#define PCI_DEVICES	"/sys/bus/pci/devices/"

bool sim_present(void)
{
	return access(CONTROL "stats", F_OK) == 0;
}

uint64_t sim_stat(const char *name)
{
	FILE *f = fopen(CONTROL "stats", "re");
	uint64_t value, result = UINT64_MAX;
	char key[64];

	while (f && fscanf(f, "%63s %" SCNu64, key, &value) == 2)
		if (!strcmp(key, name))
			result = value;
	if (f)
		fclose(f);
	return result;
}

void sim_stats_clear(void)
{
	file_write(CONTROL "stats", "0\n");
}

int sim_advance(uint64_t cycles)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", cycles);
	return file_write(CONTROL "advance", text);
}

int sim_pace(bool on)
{
	return file_write("/sys/module/xeon_uncore_sim/parameters/pace",
			  on ? "1\n" : "0\n");
}

int sim_reset(const char *text)
{
	return file_write(CONTROL "reset", text);
}

int sim_clock_set(const char *name)
{
	return file_write(CONTROL "clock", name);
}

void sim_clock_run(bool *was_manual)
{
	FILE *f = fopen(CONTROL "clock", "re");
	char name[16] = "";

	if (f && fscanf(f, "%15s", name) != 1)
		name[0] = '\0';
	if (f)
		fclose(f);
	*was_manual = !strcmp(name, "manual");
	if (*was_manual)
		sim_clock_set("real");
}

void sim_clock_return(bool was_manual)
{
	if (was_manual)
		sim_clock_set("manual");
}

int sim_uclk(int pkg, unsigned int khz)
{
	char text[48];

	snprintf(text, sizeof(text), "pkg=%d khz=%u\n", pkg, khz);
	return file_write(CONTROL "uclk", text);
}

uint64_t sim_cycles(void)
{
	FILE *f = fopen(CONTROL "advance", "re");
	uint64_t cycles;

	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%" SCNu64, &cycles) != 1)
		cycles = UINT64_MAX;
	fclose(f);
	return cycles;
}

int sim_write(const char *file, const char *line, ...)
{
	char path[128], text[512];
	va_list args;

	snprintf(path, sizeof(path), CONTROL "%s", file);
	va_start(args, line);
	vsnprintf(text, sizeof(text) - 1, line, args);
	va_end(args);
	strcat(text, "\n");
	return file_write(path, text);
}

int sim_nmi_listener(bool on)
{
	return file_write(CONTROL "nmi_listener", on ? "on\n" : "off\n");
}

bool sim_register(int pkg, const char *name, uint64_t *value)
{
	FILE *f = fopen(CONTROL "registers", "re");
	char line[256], box[64], reg[64], want[136], got[136];
	uint64_t v;
	bool found = false;
	int p;

	snprintf(want, sizeof(want), "%d %s", pkg, name);
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d %63s %63s %" SCNi64, &p, box, reg,
			   (int64_t *)&v) != 4)
			continue;
		snprintf(got, sizeof(got), "%d %s %s", p, box, reg);
		found = !strcmp(got, want);
		if (found)
			*value = v;
	}
	if (f)
		fclose(f);
	return found;
}

bool sim_box_counts(const char *box)
{
	FILE *f = fopen(CONTROL "registers", "re");
	char line[256], name[64], reg[64];
	bool counts = false;

	while (f && !counts && fgets(line, sizeof(line), f))
		counts = sscanf(line, "%*d %63s %63s", name, reg) == 2 &&
			 !strcmp(name, box) &&
			 (!strncmp(reg, "ctl", 3) || !strcmp(reg, "fixed_ctl"));
	if (f)
		fclose(f);
	return counts;
}

unsigned int sim_dirty_registers(void)
{
	FILE *f = fopen(CONTROL "registers", "re");
	char line[256];
	unsigned int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n;
}

void sim_show_registers(void)
{
	FILE *f = fopen(CONTROL "registers", "re");
	char line[256];

	for (int n = 0; f && n < 20 && fgets(line, sizeof(line), f); n++)
		tap_diag("register: %.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

void sim_trace_clear(void)
{
	file_write(CONTROL "trace", "0\n");
}

/* Parse a line of "trace"; return false if it is not an access. */
static bool parse_access(const char *line, struct sim_access *a)
{
	static const char *const types[] = { "rdmsr", "wrmsr", "pcird", "pciwr",
					     "memrd", "memwr" };
	char type[16];
	uint64_t address;
	int used;

	memset(a, 0, sizeof(*a));
	if (sscanf(line, "%" SCNu64 " %d %15s %n", &a->seq, &a->cpu, type,
		   &used) != 3)
		return false;
	for (a->type = SIM_RDMSR; strcmp(types[a->type], type); a->type++)
		if (a->type == SIM_MEMWR)
			return false;
	if (a->type >= SIM_MEMRD && sscanf(line + used, "%" SCNx64 " %" SCNx64, &address,
					   &a->value) == 2) {
		a->reg = address % MEMORY_WINDOW;
		return true;
	}
	if (a->type <= SIM_WRMSR)
		return sscanf(line + used, "%" SCNx32 " %" SCNx64, &a->reg,
			      &a->value) == 2;
	return sscanf(line + used, "%x:%x.%x %" SCNx32 " %" SCNx64, &a->bus,
		      &a->device, &a->function, &a->reg, &a->value) == 5;
}

int sim_trace(void (*fn)(const struct sim_access *a, void *arg), void *arg)
{
	FILE *f = fopen(CONTROL "trace", "re");
	struct sim_access a;
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (!parse_access(line, &a))
			continue;
		n++;
		if (fn)
			fn(&a, arg);
	}
	if (f)
		fclose(f);
	return n;
}

static void count_write(const struct sim_access *a, void *arg)
{
	*(int *)arg += a->type == SIM_WRMSR || a->type == SIM_PCIWR || a->type == SIM_MEMWR;
}

int sim_trace_writes(void)
{
	int n = 0;

	sim_trace(count_write, &n);
	return n;
}

/* Read or write @size bytes at offset @at of a file. Return 0 or -errno. */
static int transfer(const char *path, off_t at, void *data, size_t size,
		    bool out)
{
	int fd = open(path, (out ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = out ? pwrite(fd, data, size, at) : pread(fd, data, size, at);
	err = n < 0 ? -errno : n == (ssize_t)size ? 0 : -EIO;
	close(fd);
	return err;
}

static int msr_access(int cpu, uint32_t msr, uint64_t *value, bool out)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	return transfer(path, msr, value, sizeof(*value), out);
}

int msr_read(int cpu, uint32_t msr, uint64_t *value)
{
	return msr_access(cpu, msr, value, false);
}

int msr_write(int cpu, uint32_t msr, uint64_t value)
{
	return msr_access(cpu, msr, &value, true);
}

static int pci_access(const char *name, unsigned int offset, uint32_t *value,
		      bool out)
{
	char path[320];

	snprintf(path, sizeof(path), PCI_DEVICES "%s/config", name);
	return transfer(path, offset, value, sizeof(*value), out);
}

int pci_config_read(const char *name, unsigned int offset, uint32_t *value)
{
	return pci_access(name, offset, value, false);
}

int pci_config_write(const char *name, unsigned int offset, uint32_t value)
{
	return pci_access(name, offset, &value, true);
}

/* Return whether a function, by its name in sysfs, is the one of a box. */
static bool is_function(const char *name, const struct box_function *f)
{
	unsigned int slot, function;
	uint32_t id;

	return sscanf(name, "%*x:%*x:%x.%u", &slot, &function) == 2 && slot == f->slot &&
	       function == f->function && !pci_config_read(name, 0, &id) &&
	       id == ((uint32_t)f->device << 16 | 0x8086);
}

bool pci_find(char *name, const char *type, unsigned int box, const char *has, int pkg)
{
	const struct box_function *f = box_function(type, box, has);
	struct dirent **list;
	int n = f ? scandir(PCI_DEVICES, &list, NULL, alphasort) : -1;
	bool found = false;

	for (int i = 0; i < n; i++) {
		if (!found && is_function(list[i]->d_name, f) && !pkg--) {
			snprintf(name, 16, "%.15s", list[i]->d_name);
			found = true;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return found;
}

uint64_t memory_find(const char *type, unsigned int box, int pkg)
{
	uint32_t at = box_register(type, 0, "memory_base"), base;
	char function[16];

	if (!at || !pci_find(function, type, 0, "beside", pkg) ||
	    pci_config_read(function, at - box_type(type)->places[0], &base))
		return 0;
	/* bits 51:23 of the address */
	return ((uint64_t)base << 23) + box_type(type)->places[box];
}

/* Read a register in memory through /dev/mem, or write it (@write). Return 0 or -errno. */
static int access_memory(const char *type, unsigned int box, int pkg, const char *name,
			 bool write, uint32_t *value)
{
	uint64_t at = memory_find(type, box, pkg);
	volatile uint32_t *reg;
	void *page;
	int fd, err;

	if (!at)
		return -ENODEV;
	fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	at += box_register(type, box, name) - box_type(type)->places[box];
	page = mmap(NULL, MEMORY_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    at & -MEMORY_PAGE);
	err = page == MAP_FAILED ? -errno : 0;
	close(fd);
	if (err)
		return err;
	reg = (void *)((char *)page + at % MEMORY_PAGE);
	if (write)
		*reg = *value;
	else
		*value = *reg;
	munmap(page, MEMORY_PAGE);
	return 0;
}

int memory_read(const char *type, unsigned int box, int pkg, const char *name, uint32_t *value)
{
	return access_memory(type, box, pkg, name, false, value);
}

int memory_write(const char *type, unsigned int box, int pkg, const char *name, uint32_t value)
{
	return access_memory(type, box, pkg, name, true, &value);
}

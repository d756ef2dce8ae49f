// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic that has an author: /dev/xeon_uncore_sim, whose transactions pass in
 * the package of the CPU that writes, and page faults that move cache lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/machine.h"
#include "lib/perf.h"
#include "lib/sim.h"
#include "lib/tap.h"

#define DEVICE		"/dev/xeon_uncore_sim"
#define FAULTS		"/sys/kernel/debug/xeon_uncore_sim/page_faults"
#define LINE		"box=imc_0 event=0x4 umask=0x1 count=%d\n"

enum { CHANNELS = 8, PACKAGES = 4, PAGES = 1000, PAGE = 4096 };

static int device_write(const char *text, size_t length)
{
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != length)
		err = -EIO;
	close(fd);
	return err;
}

static int device_line(const char *text)
{
	return device_write(text, strlen(text));
}

/* An iMC event on every channel of a package. */
static void open_channels(int pkg, const char *event, int fd[CHANNELS])
{
	char pmu[PMU_NAME_MAX];

	for (int i = 0; i < CHANNELS; i++) {
		if (!pmu_name(pmu, "imc", i))
			tap_bail("there is no iMC channel %d", i);
		fd[i] = event_open(pmu, package_cpu(pkg, 0), "%s", event);
		if (fd[i] < 0)
			tap_bail("%s/%s/: %s", pmu, event, strerror(-fd[i]));
	}
}

static uint64_t sum_channels(const int fd[CHANNELS])
{
	uint64_t sum = 0;

	for (int i = 0; i < CHANNELS; i++)
		sum += event_count(fd[i]);
	return sum;
}

static void close_channels(const int fd[CHANNELS])
{
	for (int i = 0; i < CHANNELS; i++)
		close(fd[i]);
}

static void test_packages(void)
{
	int n = packages(), fd[PACKAGES] = { -1 };
	char line[128];

	for (int p = 0; p < n; p++)
		fd[p] = event_open("hswep_imc_0", package_cpu(p, 0),
				   "cas_count.rd");
	for (int p = 0; p < n; p++) {
		cpu_pin(package_cpu(p, 1));
		snprintf(line, sizeof(line), LINE, 1000 + p);
		tap_eq(device_line(line), 0, "a line is taken on package %d", p);
	}
	for (int p = 0; p < n; p++)
		tap_eq(event_count(fd[p]), 1000 + p,
		       "the package of the writer's CPU counts it: %d", p);
	cpu_pin(package_cpu(0, 0));
	snprintf(line, sizeof(line), "pkg=%d " LINE, n - 1, 7);
	device_line(line);
	tap_eq(event_count(fd[n - 1]), 1000 + n - 1 + 7,
	       "a package that is named is taken");
	tap_eq(event_count(fd[0]), 1000, "and the writer's is not");
	for (int p = 0; p < n; p++)
		close(fd[p]);
}

static void test_text(void)
{
	int fd = event_open("hswep_imc_0", package_cpu(0, 0), "cas_count.rd");
	int dev = open(DEVICE, O_WRONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	cpu_pin(package_cpu(0, 0));
	dprintf(dev, LINE "\n  \n" LINE, 1, 2);
	tap_eq(event_count(fd), 3, "several lines and empty ones in a write");
	dprintf(dev, "box=imc_0 event=4 umask=1 count=10");
	tap_eq(event_count(fd), 13, "a line without newline is a line");
	close(dev);

	/* a buffer that is full in the middle of a line */
	file = open_memstream(&text, &size);
	while (ftell(file) < 4096)
		fprintf(file, LINE, 1);
	fclose(file);
	dev = open(DEVICE, O_WRONLY | O_CLOEXEC);
	if (write(dev, text, 4096) != 4096)
		tap_diag("write: %s", strerror(errno));
	if (write(dev, text + 4096, size - 4096) < 0)
		tap_diag("write: %s", strerror(errno));
	close(dev);
	tap_eq(event_count(fd), 13 + size / (strlen(LINE) - 1),
	       "a line that a full buffer cut in two");
	free(text);
	close(fd);
}

static void test_refused(void)
{
	static const struct {
		const char *line;
		int err;
	} lines[] = {
		{ "", 0 },
		{ "\n", 0 },
		{ "nonsense\n", -EINVAL },
		{ "box=imc_0 event=0x4\n", -EINVAL },
		{ "box=imc_9 event=0x4 count=1\n", -EINVAL },
		{ "box=imc event=0x4 count=1\n", -EINVAL },
		{ "pkg=9 box=imc_0 event=0x4 count=1\n", -EINVAL },
		{ "pkg=-1 box=imc_0 event=0x4 count=1\n", -EINVAL },
		{ "box=imc_0 event=0x4 count=1 count=1\n", -EINVAL },
		{ "box=imc_0 event=0x400 count=1\n", -EINVAL },
		{ "box=imc_0 event=0x4 count=18446744073709551616\n", -EINVAL },
	};
	char longer[600];
	struct stat st;
	int fd;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		tap_eq(device_line(lines[i].line), lines[i].err, "\"%.*s\"",
		       (int)strcspn(lines[i].line, "\n"), lines[i].line);
	memset(longer, 'x', sizeof(longer));
	tap_eq(device_write(longer, sizeof(longer)), -EINVAL,
	       "600 characters without a newline");
	tap_eq(device_write(NULL, 100), -EFAULT, "a buffer that is not there");
	tap_ok(!stat(DEVICE, &st) && S_ISCHR(st.st_mode) &&
	       (st.st_mode & 07777) == 0200 && !st.st_uid,
	       "only root may write to it");
	fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	tap_ok(read(fd, longer, 1) < 0 && errno == EINVAL,
	       "there is nothing to be read");
	close(fd);
}

/* The device keeps the module, and unloading takes the device along. */
static void test_life(void)
{
	int dev = open(DEVICE, O_WRONLY | O_CLOEXEC);

	driver_unload();
	tap_ok(sim_unload() < 0, "a module whose device is open stays");
	close(dev);
	tap_eq(sim_unload(), 0, "and goes when it is closed");
	tap_ok(access(DEVICE, F_OK) && errno == ENOENT, "so does the device");
}

static uint64_t faults_taken(void)
{
	unsigned long long lines, faults = 0;
	FILE *file = fopen(FAULTS, "re");

	if (!file)
		return 0;
	if (fscanf(file, "lines %llu faults %llu", &lines, &faults) != 2)
		tap_diag("%s reads something else", FAULTS);
	fclose(file);
	return faults;
}

/* As an unmodified program does it: use memory for the first time. */
static void touch_pages(void)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	munmap(memory, PAGES * PAGE);
}

static void test_page_faults(unsigned int lines)
{
	int reads[PACKAGES][CHANNELS] = { 0 };
	int writes[PACKAGES][CHANNELS] = { 0 };
	int n = packages(), last = n - 1;
	uint64_t rd = 0, wr = 0, faults, others = 0;
	char text[16];

	for (int p = 0; p < n; p++) {
		open_channels(p, "cas_count.rd", reads[p]);
		open_channels(p, "cas_count.wr", writes[p]);
	}
	cpu_pin(package_cpu(last, 1));
	snprintf(text, sizeof(text), "%u", lines);
	tap_eq(file_write(FAULTS, text), 0, "%u lines for each page fault", lines);
	touch_pages();
	tap_eq(file_write(FAULTS, "0"), 0, "no more");
	faults = faults_taken();
	touch_pages();
	for (int p = 0; p < n; p++) {
		rd += sum_channels(reads[p]);
		wr += sum_channels(writes[p]);
		if (p != last)
			others += sum_channels(reads[p]);
	}
	tap_ok(faults >= PAGES, "%llu faults were seen, at least %d",
	       (unsigned long long)faults, PAGES);
	tap_eq(faults_taken(), faults, "and none when it is off");
	tap_eq(rd, faults * lines, "each read %u lines", lines);
	tap_eq(wr, faults * lines, "each wrote %u lines", lines);
	tap_ok(rd - others >= (uint64_t)PAGES * lines,
	       "in the package of the CPU that faulted");
	tap_eq(event_count(reads[last][0]) - event_count(reads[last][7]),
	       lines % CHANNELS ? (rd - others) / lines : 0,
	       "consecutive lines go to consecutive channels");
	for (int p = 0; p < n; p++) {
		close_channels(reads[p]);
		close_channels(writes[p]);
	}
}

/* Sampling the traffic that faults make: the freeze comes in the fault. */
static void test_page_faults_overflow(void)
{
	struct perf_event_attr attr;
	int fd, cpu = package_cpu(0, 0);
	uint64_t faults;

	if (pmu_attr(&attr, "hswep_imc_0", "cas_count.rd"))
		tap_bail("no cas_count.rd");
	attr.sample_period = 100;
	fd = perf_open(&attr, -1, cpu, -1);
	cpu_pin(package_cpu(0, 1));
	file_write(FAULTS, "64");
	touch_pages();
	file_write(FAULTS, "0");
	faults = faults_taken();
	tap_ok(fd >= 0 && faults >= PAGES && event_count(fd) > 0,
	       "page faults whose traffic is sampled");
	close(fd);
}

static void test_page_faults_bad(void)
{
	static const char *const bad[] = { "x", "-1", "4294967296", "1 2", "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		tap_ok(file_write(FAULTS, bad[i]) < 0 || !*bad[i],
		       "page_faults refuses \"%s\"", bad[i]);
	tap_eq(faults_taken() && file_write(FAULTS, "0"), 0, "off twice is off");
}

int main(void)
{
	machine_setup("clock=manual", NULL);
	test_packages();
	test_text();
	test_refused();
	test_page_faults(64);
	test_page_faults(65);
	test_page_faults_overflow();
	test_page_faults_bad();
	test_life();
	/* unloading switches the mode off */
	machine_setup("clock=manual", NULL);
	file_write(FAULTS, "64");
	driver_unload();
	tap_eq(sim_unload(), 0, "unloading while page faults make traffic");
	touch_pages();
	return tap_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traffic that tasks cause: writes to /dev/xeon_uncore_sim, which send transactions in
 * the package of the writing CPU, and page faults, which move cache lines.
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

#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

#define DEVICE		"/dev/xeon_uncore_sim"
#define FAULTS		"/sys/kernel/debug/xeon_uncore_sim/page_faults"
#define LINE		"box=imc_0 event=0x4 umask=0x1 count=%d\n"

enum { CHANNELS = 8, PACKAGES = 4, PAGES = 1000, PAGE = 4096 };

/* Open the device and write to it. Return 0 or -errno. */
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

/* Open an iMC event on each memory channel of a package. */
static void open_channels(struct __test_metadata *_metadata, int pkg,
			  const char *event, int fd[CHANNELS])
{
	char pmu[PMU_NAME_MAX];

	for (int i = 0; i < CHANNELS; i++) {
		ASSERT_TRUE(pmu_name(pmu, "imc", i));
		fd[i] = event_open(pmu, package_cpu(pkg, 0), "%s", event);
		ASSERT_GE(fd[i], 0) {
			TH_LOG("%s/%s/: %s", pmu, event, strerror(-fd[i]));
		}
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

/* --- the device ------------------------------------------------------------- */

FIXTURE_OF(device, machine_setup_once("clock=manual", ""),
	   expect_no_complaint(_metadata));

TEST_F(device, the_package_of_the_writers_cpu_counts)
{
	int n = packages(), fd[PACKAGES] = { -1 };
	char line[128];

	ASSERT_LE(n, PACKAGES);
	for (int p = 0; p < n; p++) {
		fd[p] = event_open("hswep_imc_0", package_cpu(p, 0),
				   "cas_count.rd");
		ASSERT_GE(fd[p], 0);
	}
	for (int p = 0; p < n; p++) {
		cpu_pin(package_cpu(p, 1));
		snprintf(line, sizeof(line), LINE, 1000 + p);
		EXPECT_EQ(0, -device_line(line));
	}
	for (int p = 0; p < n; p++)
		EXPECT_EQ(1000 + p, event_count(fd[p]));
	/* a line with pkg= sends to that package and not to the package of the CPU */
	cpu_pin(package_cpu(0, 0));
	snprintf(line, sizeof(line), "pkg=%d " LINE, n - 1, 7);
	EXPECT_EQ(0, -device_line(line));
	EXPECT_EQ(1000 + n - 1 + 7, event_count(fd[n - 1]));
	EXPECT_EQ(1000, event_count(fd[0]));
	for (int p = 0; p < n; p++)
		close(fd[p]);
}

TEST_F(device, takes_several_lines_empty_ones_and_parts)
{
	int fd = event_open("hswep_imc_0", package_cpu(0, 0), "cas_count.rd");
	int dev = open(DEVICE, O_WRONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	ASSERT_GE(fd, 0);
	ASSERT_GE(dev, 0);
	cpu_pin(package_cpu(0, 0));
	dprintf(dev, LINE "\n  \n" LINE, 1, 2);
	EXPECT_EQ(3, event_count(fd));
	/* the last line needs no newline */
	dprintf(dev, "box=imc_0 event=4 umask=1 count=10");
	EXPECT_EQ(13, event_count(fd));
	close(dev);

	/* two writes, of which the first ends in the middle of a line */
	file = open_memstream(&text, &size);
	while (ftell(file) < 4096)
		fprintf(file, LINE, 1);
	fclose(file);
	dev = open(DEVICE, O_WRONLY | O_CLOEXEC);
	EXPECT_EQ(4096, write(dev, text, 4096));
	EXPECT_EQ(size - 4096, write(dev, text + 4096, size - 4096));
	close(dev);
	EXPECT_EQ(13 + size / (strlen(LINE) - 1), event_count(fd));
	free(text);
	close(fd);
}

TEST_F(device, refuses_what_it_does_not_understand)
{
	static const struct {
		const char *line;
		int err;
	} lines[] = {
		{ "", 0 },
		{ "\n", 0 },
		{ "nonsense\n", EINVAL },
		{ "box=imc_0 event=0x4\n", EINVAL },
		{ "box=imc_9 event=0x4 count=1\n", EINVAL },
		{ "box=imc event=0x4 count=1\n", EINVAL },
		{ "pkg=9 box=imc_0 event=0x4 count=1\n", EINVAL },
		{ "pkg=-1 box=imc_0 event=0x4 count=1\n", EINVAL },
		{ "box=imc_0 event=0x4 count=1 count=1\n", EINVAL },
		{ "box=imc_0 event=0x400 count=1\n", EINVAL },
		{ "box=imc_0 event=0x4 count=18446744073709551616\n", EINVAL },
	};
	char longer[600];

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		EXPECT_EQ(lines[i].err, -device_line(lines[i].line)) {
			TH_LOG("%s", lines[i].line);
		}
	}
	/* a line that is longer than the simulator's buffer */
	memset(longer, 'x', sizeof(longer));
	EXPECT_EQ(EINVAL, -device_write(longer, sizeof(longer)));
	EXPECT_EQ(EFAULT, -device_write(NULL, 100));
}

TEST_F(device, only_root_may_write_and_nobody_reads)
{
	struct stat st;
	char byte;
	int fd;

	ASSERT_EQ(0, stat(DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0200, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
	fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

/* --- page faults ------------------------------------------------------------- */

/* Number of page faults that moved lines so far */
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

/* Touch new memory, so that each page faults once, as in any program. */
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

/* Make each page fault move @lines cache lines; 0: none. Return 0 or -errno. */
static int faults_move(unsigned int lines)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", lines);
	return file_write(FAULTS, text);
}

FIXTURE_OF(page_faults, machine_setup_once("clock=manual", ""),
	   expect_no_complaint(_metadata));

FIXTURE_VARIANT(page_faults)
{
	unsigned int lines;	/* cache lines that each page fault moves */
};

FIXTURE_VARIANT_ADD(page_faults, of_64_lines) { .lines = 64 };
FIXTURE_VARIANT_ADD(page_faults, of_65_lines) { .lines = 65 };

TEST_F(page_faults, read_and_write_their_lines_where_they_happen)
{
	int reads[PACKAGES][CHANNELS], writes[PACKAGES][CHANNELS];
	int n = packages(), last = n - 1;
	uint64_t rd = 0, wr = 0, faults, others = 0;

	ASSERT_LE(n, PACKAGES);
	for (int p = 0; p < n; p++) {
		open_channels(_metadata, p, "cas_count.rd", reads[p]);
		open_channels(_metadata, p, "cas_count.wr", writes[p]);
	}
	cpu_pin(package_cpu(last, 1));
	ASSERT_EQ(0, -faults_move(variant->lines));
	touch_pages();
	ASSERT_EQ(0, -faults_move(0));
	faults = faults_taken();
	touch_pages();
	for (int p = 0; p < n; p++) {
		rd += sum_channels(reads[p]);
		wr += sum_channels(writes[p]);
		if (p != last)
			others += sum_channels(reads[p]);
	}
	EXPECT_GE(faults, PAGES);
	/* page faults of the second touch_pages() move no lines */
	EXPECT_EQ(faults, faults_taken());
	EXPECT_EQ(faults * variant->lines, rd);
	EXPECT_EQ(faults * variant->lines, wr);
	EXPECT_GE(rd - others, (uint64_t)PAGES * variant->lines);
	/* consecutive lines go to consecutive channels */
	EXPECT_EQ(variant->lines % CHANNELS ? (rd - others) / variant->lines : 0,
		  event_count(reads[last][0]) - event_count(reads[last][7]));
	for (int p = 0; p < n; p++) {
		close_channels(reads[p]);
		close_channels(writes[p]);
	}
}

/* The traffic of page faults overflows a sampling counter: the freeze is in the fault. */
TEST_F(page_faults, overflow_a_counter)
{
	int fd, cpu = package_cpu(0, 0);
	struct perf_event_attr attr;

	ASSERT_EQ(0, -pmu_attr(&attr, "hswep_imc_0", "cas_count.rd"));
	attr.sample_period = 100;
	fd = perf_open(&attr, -1, cpu, -1);
	ASSERT_GE(fd, 0);
	cpu_pin(package_cpu(0, 1));
	ASSERT_EQ(0, -faults_move(variant->lines));
	touch_pages();
	ASSERT_EQ(0, -faults_move(0));
	EXPECT_GE(faults_taken(), PAGES);
	EXPECT_GT(event_count(fd), 0);
	close(fd);
}

FIXTURE_OF(page_faults_file, machine_setup_once("clock=manual", ""),
	   expect_no_complaint(_metadata));

TEST_F(page_faults_file, takes_a_number_and_nothing_else)
{
	static const char *const bad[] = { "x", "-1", "4294967296", "1 2" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_GT(0, file_write(FAULTS, bad[i])) {
			TH_LOG("\"%s\" is taken", bad[i]);
		}
	}
	/* 0 may be written while the mode is off */
	EXPECT_EQ(0, -faults_move(0));
	EXPECT_EQ(0, -faults_move(0));
}

/* --- unloading the module ---------------------------------------------------- */

FIXTURE_OF(end, machine_setup_once("clock=manual", ""),
	   expect_nothing_left(_metadata));

/* The simulator does not unload while the device is open, and removes the device. */
TEST_F(end, waits_for_the_device_and_takes_it_along)
{
	int dev = open(DEVICE, O_WRONLY | O_CLOEXEC);

	ASSERT_GE(dev, 0);
	ASSERT_EQ(0, -driver_unload());
	EXPECT_GT(0, sim_unload());
	close(dev);
	EXPECT_EQ(0, -sim_unload());
	EXPECT_EQ(-1, access(DEVICE, F_OK));
	EXPECT_EQ(ENOENT, errno);
}

/* Unloading the simulator ends the traffic of page faults. */
TEST_F(end, switches_page_faults_off)
{
	ASSERT_EQ(0, -faults_move(64));
	ASSERT_EQ(0, -driver_unload());
	EXPECT_EQ(0, -sim_unload());
	touch_pages();
}

TEST_HARNESS_MAIN

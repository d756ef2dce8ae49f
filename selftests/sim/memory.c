// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulated registers in memory, without the driver: accesses of kernel code by the module
 * memory_user, and of a program through /dev/mem, which maps memory that is not RAM.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/sim.h"

#define USER		"memory_user"
#define PARAMETERS	"/sys/module/" USER "/parameters/"
#define TRACED		"/sys/kernel/debug/tracing/enabled_functions"

enum { MAP_SIZE = 0x4000, PAGE = 0x1000 };

/* Offsets of a memory channel's registers in its box */
enum { CTR0 = 0x08, CTR1 = 0x10, NOTHING = 0x1000 };

/* The box type of the tests: the first in memory whose counters can be written */
static const char *memory_type(void)
{
	const char *const *type = generation()->types;

	while (**type && !(box_type(*type)->memory && box_type(*type)->general))
		type++;
	return **type ? *type : NULL;
}

static void __attribute__((constructor)) need_memory(void)
{
	if (!memory_type())
		tap_skip_all("%s has no registers in memory", generation()->name);
	if (system("grep -q ' kmmio_handler$' /proc/kallsyms"))
		tap_skip_all("this kernel has no mmiotrace");
}

static uint64_t last_box(void)
{
	const char *type = memory_type();

	return memory_find(type, most_boxes(type) - 1, packages() - 1);
}

static bool log_has_fault(void)
{
	return !log_clean();
}

/* --- kernel code ------------------------------------------------------------- */

FIXTURE(kernel) {};

FIXTURE_VARIANT(kernel)
{
	const char *run;
};

FIXTURE_VARIANT_ADD(kernel, all_widths) { .run = "widths" };
FIXTURE_VARIANT_ADD(kernel, cpus_in_one_page) { .run = "cpus" };
FIXTURE_VARIANT_ADD(kernel, mappings_that_come_and_go) { .run = "maps" };
FIXTURE_VARIANT_ADD(kernel, nmis) { .run = "nmis" };

FIXTURE_SETUP(kernel)
{
	machine_setup_sim("clock=manual");
	log_mark();
	ASSERT_NE(0, last_box());
	ASSERT_EQ(0, -module_load(USER, "base=%#" PRIx64 " accesses=%u", last_box(),
				  loops(60000)));
}

FIXTURE_TEARDOWN(kernel)
{
	EXPECT_EQ(0, -module_unload(USER));
	EXPECT_EQ(0, sim_dirty_registers()) {
		sim_show_registers();
	}
	EXPECT_TRUE(machine_leave());
	EXPECT_FALSE(log_has_fault());
}

TEST_F(kernel, every_access_is_right)
{
	uint64_t reads = sim_stat("memory_read"), writes = sim_stat("memory_write");

	EXPECT_EQ(0, -file_write(PARAMETERS "run", variant->run)) {
		log_show(USER);
	}
	EXPECT_LT(reads, sim_stat("memory_read"));
	EXPECT_LT(writes, sim_stat("memory_write"));
}

/* --- a program ----------------------------------------------------------------- */

FIXTURE(program)
{
	volatile char *box;
	uint64_t at;
};

static volatile char *map_box(uint64_t at)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *map = mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 at & -(uint64_t)PAGE);

	close(fd);
	return map == MAP_FAILED ? NULL : (volatile char *)map + at % PAGE;
}

FIXTURE_SETUP(program)
{
	machine_setup_sim("clock=manual");
	log_mark();
	self->at = last_box();
	self->box = map_box(self->at);
	ASSERT_NE(NULL, self->box);
}

FIXTURE_TEARDOWN(program)
{
	if (self->box)
		munmap((void *)(self->box - self->at % PAGE), MAP_SIZE);
	EXPECT_EQ(0, -sim_reset("1"));
	EXPECT_TRUE(machine_leave());
	EXPECT_FALSE(log_has_fault());
}

#define AT(type, offset)	(*(volatile type *)(self->box + (offset)))

TEST_F(program, reads_and_writes)
{
	AT(uint64_t, CTR0) = 0x123456789abc;
	EXPECT_EQ(0x123456789abc, AT(uint64_t, CTR0));
	EXPECT_EQ(0x56789abc, AT(uint32_t, CTR0));
	EXPECT_EQ(0x1234, AT(uint32_t, CTR0 + 4));
	EXPECT_EQ(0x1234, AT(uint16_t, CTR0 + 4));
	EXPECT_EQ(0x9a, AT(uint8_t, CTR0 + 1));
	AT(uint32_t, CTR0 + 4) = 0xfedc;
	AT(uint8_t, CTR0) = 0x77;
	EXPECT_EQ(0xfedc56789a77, AT(uint64_t, CTR0));
	EXPECT_EQ(0, AT(uint64_t, NOTHING));
}

TEST_F(program, copies)
{
	uint64_t copy[2] = { 0x111122223333, 0x444455556666 };
	volatile void *to = self->box + CTR0;
	const void *from = copy;
	size_t bytes = sizeof(copy);

	__asm__ volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (bytes) : : "memory");
	EXPECT_EQ(0x111122223333, AT(uint64_t, CTR0));
	EXPECT_EQ(0x444455556666, AT(uint64_t, CTR1));
	memset(copy, 0, sizeof(copy));
	to = copy;
	from = (const void *)(self->box + CTR0);
	bytes = sizeof(copy) / sizeof(*copy);
	__asm__ volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (bytes) : : "memory");
	EXPECT_EQ(0x111122223333, copy[0]);
	EXPECT_EQ(0x444455556666, copy[1]);
	EXPECT_EQ(0, bytes);
}

/* The kernel does not access the registers for a program: write() from them fails. */
TEST_F(program, the_kernel_does_not_access_them_for_it)
{
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	EXPECT_EQ(-1, write(fds[1], (void *)(self->box + CTR0), 8));
	EXPECT_EQ(EFAULT, errno);
	close(fds[0]);
	close(fds[1]);
}

/* An instruction that is not a move ends the program by a signal, with a line in the log. */
TEST_F(program, other_instructions_are_told)
{
	int status = 0;
	pid_t pid;

	pid = fork();
	if (!pid) {
		__asm__ volatile("lock incl %0" : "+m" (AT(uint32_t, CTR0)));
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGBUS, WTERMSIG(status));
	EXPECT_EQ(1, log_count("unknown access to memory"));
}

/* A child has the mapping as well. */
TEST_F(program, forks)
{
	int status = -1;
	pid_t pid;

	AT(uint64_t, CTR0) = 41;
	pid = fork();
	if (!pid) {
		AT(uint64_t, CTR0) = AT(uint64_t, CTR0) + 1;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(42, AT(uint64_t, CTR0));
}

/* --- unloading, and kernels that cannot do it ------------------------------------- */

PLAIN_FIXTURE(module);

TEST_F(module, stays_while_a_program_has_a_mapping)
{
	volatile char *box;
	int status;
	pid_t pid;

	machine_setup_sim(" ");
	box = map_box(last_box());
	ASSERT_NE(NULL, box);
	EXPECT_EQ(EAGAIN, -sim_unload());
	pid = fork();
	if (!pid)
		pause();
	/* a part of the mapping, and then the child's mapping */
	EXPECT_EQ(0, munmap((void *)(box - (uintptr_t)box % PAGE + PAGE), PAGE));
	EXPECT_EQ(EAGAIN, -sim_unload());
	EXPECT_EQ(0, munmap((void *)(box - (uintptr_t)box % PAGE), MAP_SIZE));
	EXPECT_EQ(EAGAIN, -sim_unload());
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(machine_leave());
}

TEST_F(module, stays_while_the_kernel_has_a_mapping)
{
	machine_setup_sim(" ");
	ASSERT_EQ(0, -module_load(USER, "base=%#" PRIx64, last_box()));
	EXPECT_EQ(EAGAIN, -sim_unload());
	EXPECT_EQ(0, -module_unload(USER));
	EXPECT_TRUE(machine_leave());
}

/*
 * From 7.0 on the kernel allocates a mapping after the simulator has described it. If the
 * allocation fails, the simulator is not in use.
 */
TEST_F(module, unloads_after_a_mapping_that_failed)
{
	volatile char *box;
	uint64_t at;
	int err;

	machine_setup_sim(" ");
	at = last_box();
	ASSERT_EQ(0, -module_load(USER, "fail=vm_area_alloc"));
	box = map_box(at);
	err = errno;
	EXPECT_EQ(0, -module_unload(USER));
	EXPECT_EQ(NULL, box);
	EXPECT_EQ(ENOMEM, err);
	EXPECT_TRUE(machine_leave());
}

/* Return whether a function of the kernel is hooked. */
static bool hooked(const char *function)
{
	char line[256], name[64];
	FILE *f = fopen(TRACED, "re");
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s", name) == 1 && !strcmp(name, function))
			found = true;
	if (f)
		fclose(f);
	return found;
}

/* A machine without registers in memory has no hooks. */
TEST_F(module, hooks_only_if_needed)
{
	machine_setup_sim(" ");
	EXPECT_TRUE(hooked("kmmio_handler"));
	machine_setup_sim("model=hswep");
	EXPECT_FALSE(hooked("kmmio_handler"));
	EXPECT_TRUE(machine_leave());
}

/* If a function cannot be hooked, the simulator says so in a line, and leaves no other hook. */
TEST_F(module, is_refused_without_a_function)
{
	static const char *const functions[] = {
		"kmmio_handler", "mmiotrace_iounmap", "mmiotrace_ioremap",
		/* a kernel has one of these */
		"mmap_mem", "mmap_mem_prepare",
	};
	int err;

	machine_leave();
	for (unsigned int i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		err = module_load(USER, "occupy=%s", functions[i]);
		if (err == -ENOENT && !strncmp(functions[i], "mmap_mem", 8))
			continue;
		ASSERT_EQ(0, err);
		log_mark();
		EXPECT_EQ(ENODEV, -sim_load("")) {
			TH_LOG("without %s()", functions[i]);
			machine_leave();
		}
		EXPECT_EQ(1, log_count("xeon_uncore_sim: "));
		EXPECT_EQ(1, log_count(functions[i]));
		EXPECT_EQ(0, -module_unload(USER));
		EXPECT_FALSE(hooked("kmmio_handler"));
	}
	EXPECT_TRUE(log_clean());
}

/* --- other faults ------------------------------------------------------------- */

/* A program that reads the kernel's memory gets its signal, whatever the simulator hooks. */
TEST(a_program_that_reads_the_kernel_ends)
{
	static const uintptr_t places[] = { 0xffffffff81000000, 0xffffffffff600000, 0xffff888000000000 };

	machine_setup_sim("clock=manual");
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		pid_t child = fork();
		int status = 0;

		ASSERT_GE(child, 0);
		if (!child)
			_exit(*(volatile char *)places[i] & 0);
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) {
			TH_LOG("%#jx: status %#x", (uintmax_t)places[i], status);
		}
	}
	EXPECT_TRUE(log_clean());
}

TEST_HARNESS_MAIN

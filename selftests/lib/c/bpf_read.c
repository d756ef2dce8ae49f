// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * BPF programs of the tests. Each program is a short array of instructions, so that the
 * tests need no BPF compiler.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_read.h"
#include "tap.h"

/* Call bpf(2). Return its result, a descriptor or 0, or -errno. */
static int bpf(int command, union bpf_attr *attr, unsigned int size)
{
	int fd = syscall(SYS_bpf, command, attr, size);

	return fd < 0 ? -errno : fd;
}

/* Create a map from CPUs to events. */
static int make_map(unsigned int cpus)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4, .value_size = 4, .max_entries = cpus,
	};

	return bpf(BPF_MAP_CREATE, &create, sizeof(create));
}

static int map_event(int map, uint32_t cpu, int event_fd)
{
	union bpf_attr update = {
		.map_fd = map,
		.key = (uintptr_t)&cpu, .value = (uintptr_t)&event_fd,
	};

	return bpf(BPF_MAP_UPDATE_ELEM, &update, sizeof(update));
}

/*
 * Load a program for the kernel function with number @function in the kernel's BTF, or
 * for raw tracepoints if @function is 0. Return a descriptor or -errno.
 */
static int load(uint32_t function, const struct bpf_insn *program, unsigned int n)
{
	union bpf_attr load = {
		.prog_type = function ? BPF_PROG_TYPE_TRACING :
					BPF_PROG_TYPE_RAW_TRACEPOINT,
		.expected_attach_type = function ? BPF_TRACE_FENTRY : 0,
		.attach_btf_id = function,
		.insns = (uintptr_t)program,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &load, sizeof(load));
}

/*
 * Load a program that reads the event of its CPU in @map. At a raw tracepoint it returns
 * the error, or the lower 31 bits of the count; at a function it returns 0.
 */
static int make_program(uint32_t function, int map)
{
	const struct bpf_insn program[] = {
		/* r1 = map; r2 = this CPU's entry; r3 = buffer; r4 = its size */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = 2, .imm = -1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 3,
		  .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 3,
		  .imm = -(int)sizeof(struct bpf_perf_event_value) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4,
		  .imm = sizeof(struct bpf_perf_event_value) },
		{ .code = BPF_JMP | BPF_CALL,
		  .imm = BPF_FUNC_perf_event_read_value },
		/* skip to the exit, at a function to the AND with 0, if r0 is an error */
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 0,
		  .off = function ? 1 : 2 },
		{ .code = BPF_LDX | BPF_DW | BPF_MEM, .dst_reg = 0,
		  .src_reg = 10,
		  .off = -(int)sizeof(struct bpf_perf_event_value) },
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = 0,
		  .imm = function ? 0 : 0x7fffffff },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(function, program, sizeof(program) / sizeof(program[0]));
}

int bpf_event_read(int fd, int cpu, uint32_t *value)
{
	union bpf_attr run = { 0 };
	int map = make_map(cpu + 1), program, err;
	int32_t result;

	if (map < 0)
		return -ENOSYS;
	program = map_event(map, cpu, fd) ? -1 : make_program(0, map);
	if (program < 0) {
		close(map);
		return -ENOSYS;
	}
	run.test.prog_fd = program;
	run.test.flags = BPF_F_TEST_RUN_ON_CPU;
	run.test.cpu = cpu;
	err = bpf(BPF_PROG_TEST_RUN, &run, sizeof(run));
	close(program);
	/* closing the map's last descriptor removes the event from the map */
	close(map);
	if (err < 0)
		return -ENOSYS;
	result = run.test.retval;
	if (result < 0)
		return result;
	*value = result;
	return 0;
}

/* Make the kernel count the runs of BPF programs ("1") or not ("0"). */
static void count_runs(const char *on)
{
	int fd = open("/proc/sys/kernel/bpf_stats_enabled", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, on, strlen(on)) < 0)
		tap_diag("programs are not counted: %s", strerror(errno));
	close(fd);
}

/*
 * Attach a program to @tracepoint or, if @tracepoint is NULL, to the kernel function for
 * which it was loaded. Return a descriptor or -errno.
 */
static int attach(int program, const char *tracepoint)
{
	union bpf_attr attach = {
		.raw_tracepoint.name = (uintptr_t)tracepoint,
		.raw_tracepoint.prog_fd = program,
	};

	count_runs("1");
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attach, sizeof(attach));
}

static int get_info(int program, struct bpf_prog_info *info)
{
	union bpf_attr get = {
		.info.bpf_fd = program, .info.info_len = sizeof(*info),
		.info.info = (uintptr_t)info,
	};

	return bpf(BPF_OBJ_GET_INFO_BY_FD, &get, sizeof(get));
}

/* Close a program and its attachment. Return the number of the program's runs. */
static uint64_t detach(int program, int link)
{
	struct bpf_prog_info info = { 0 };

	if (link >= 0)
		close(link);
	if (program >= 0) {
		get_info(program, &info);
		close(program);
	}
	count_runs("0");
	return info.run_cnt;
}

/*
 * Create a map with the events @fd of CPUs 0 to @cpus - 1, and load a program that reads
 * the event of its CPU. Return 0 or -errno.
 */
static int load_reader(uint32_t function, const int *fd, unsigned int cpus, int *map,
		       int *program)
{
	int err = 0;

	*map = make_map(cpus);
	if (*map < 0)
		return *map;
	for (unsigned int cpu = 0; cpu < cpus && !err; cpu++)
		if (fd[cpu] >= 0)
			err = map_event(*map, cpu, fd[cpu]);
	if (err)
		return err;
	*program = make_program(function, *map);
	return *program < 0 ? *program : 0;
}

int bpf_reader_attach(struct bpf_reader *r, const char *tracepoint,
		      const int *fd, unsigned int cpus)
{
	int err;

	*r = (struct bpf_reader){ .map = -1, .program = -1, .link = -1 };
	err = load_reader(0, fd, cpus, &r->map, &r->program);
	if (!err) {
		r->link = attach(r->program, tracepoint);
		err = r->link < 0 ? r->link : 0;
	}
	if (err)
		bpf_reader_detach(r);
	return err;
}

uint64_t bpf_reader_detach(struct bpf_reader *r)
{
	uint64_t runs = detach(r->program, r->link);

	close(r->map);
	return runs;
}

/* Create the hash map of struct bpf_bucket. */
static int make_hash(void)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = 8, .value_size = 8, .max_entries = 16,
	};

	return bpf(BPF_MAP_CREATE, &create, sizeof(create));
}

/*
 * Load a program that adds an element to the hash map and deletes it. The kernel locks
 * the element's bucket for both.
 */
static int make_update(int hash)
{
	const struct bpf_insn program[] = {
		/* r1 = map; r2 = address of a 0, the key; r3 = r2, the value; r4 = BPF_ANY */
		{ .code = BPF_ST | BPF_DW | BPF_MEM, .dst_reg = 10, .off = -8 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = hash },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 3, .src_reg = 2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = BPF_ANY },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_update_elem },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = hash },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -8 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_delete_elem },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(0, program, sizeof(program) / sizeof(program[0]));
}

int bpf_bucket_attach(struct bpf_bucket *b, uint32_t function,
		      const char *const tracepoint[2], const int *fd, unsigned int cpus)
{
	int err;

	*b = (struct bpf_bucket){ -1, -1, { -1, -1 }, -1, -1, -1 };
	err = load_reader(function, fd, cpus, &b->reader_map, &b->reader);
	if (!err)
		err = b->reader_link = attach(b->reader, NULL);
	if (err >= 0)
		err = b->hash = make_hash();
	if (err >= 0)
		err = b->update = make_update(b->hash);
	for (unsigned int i = 0; i < 2 && err >= 0; i++)
		err = b->link[i] = attach(b->update, tracepoint[i]);
	if (err >= 0)
		return 0;
	bpf_bucket_detach(b);
	return err;
}

uint64_t bpf_bucket_detach(struct bpf_bucket *b)
{
	uint64_t runs;

	close(b->link[1]);
	detach(b->update, b->link[0]);
	runs = detach(b->reader, b->reader_link);
	close(b->hash);
	close(b->reader_map);
	return runs;
}

/* Load a program that runs a loop of @rounds rounds if it runs on @cpu. */
static int make_delay(int cpu, unsigned int rounds)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_JMP | BPF_CALL,
		  .imm = BPF_FUNC_get_smp_processor_id },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 0, .off = 3,
		  .imm = cpu },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1,
		  .imm = rounds },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -1 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 1, .off = -2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(0, program, sizeof(program) / sizeof(program[0]));
}

int bpf_delay_attach(struct bpf_delay *d, const char *tracepoint, int cpu,
		     unsigned int rounds)
{
	struct bpf_prog_info info = {
		.nr_jited_ksyms = 1, .jited_ksyms = (uintptr_t)&d->start,
	};
	int err;

	*d = (struct bpf_delay){ .program = make_delay(cpu, rounds), .link = -1 };
	err = d->program < 0 ? d->program : get_info(d->program, &info);
	/* the kernel did not compile the program, or hides addresses from the caller */
	if (!err && (!d->start || !info.jited_prog_len))
		err = -EOPNOTSUPP;
	if (!err) {
		d->end = d->start + info.jited_prog_len;
		d->link = attach(d->program, tracepoint);
		err = d->link < 0 ? d->link : 0;
	}
	if (err)
		bpf_delay_detach(d);
	return err;
}

uint64_t bpf_delay_detach(struct bpf_delay *d)
{
	return detach(d->program, d->link);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a perf event as a BPF program does. The program is a handful of
 * instructions written out here, so that the tests need no BPF compiler.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_read.h"

static int bpf(int command, union bpf_attr *attr, unsigned int size)
{
	int fd = syscall(SYS_bpf, command, attr, size);

	return fd < 0 ? -errno : fd;
}

/* A map from CPUs to events, with one entry. */
static int make_map(int event_fd, uint32_t cpu)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4, .value_size = 4, .max_entries = cpu + 1,
	};
	union bpf_attr update = {
		.key = (uintptr_t)&cpu, .value = (uintptr_t)&event_fd,
	};
	int map = bpf(BPF_MAP_CREATE, &create, sizeof(create)), err;

	if (map < 0)
		return map;
	update.map_fd = map;
	err = bpf(BPF_MAP_UPDATE_ELEM, &update, sizeof(update));
	if (err < 0) {
		close(map);
		return err;
	}
	return map;
}

static int make_program(int map)
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
		/* an error is the result; otherwise the counter's low bits */
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 0, .off = 2 },
		{ .code = BPF_LDX | BPF_DW | BPF_MEM, .dst_reg = 0,
		  .src_reg = 10,
		  .off = -(int)sizeof(struct bpf_perf_event_value) },
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = 0,
		  .imm = 0x7fffffff },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)program,
		.insn_cnt = sizeof(program) / sizeof(program[0]),
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &load, sizeof(load));
}

int bpf_event_read(int fd, int cpu, uint32_t *value)
{
	union bpf_attr run = { 0 };
	int map = make_map(fd, cpu), program, err;
	int32_t result;

	if (map < 0)
		return -ENOSYS;
	program = make_program(map);
	if (program < 0) {
		close(map);
		return -ENOSYS;
	}
	run.test.prog_fd = program;
	run.test.flags = BPF_F_TEST_RUN_ON_CPU;
	run.test.cpu = cpu;
	err = bpf(BPF_PROG_TEST_RUN, &run, sizeof(run));
	close(program);
	/* not before: the entry goes with the map's last descriptor */
	close(map);
	if (err < 0)
		return -ENOSYS;
	result = run.test.retval;
	if (result < 0)
		return result;
	*value = result;
	return 0;
}

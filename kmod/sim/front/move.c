// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emulation of an instruction that accesses the simulated memory: the moves between memory and
 * a general register, a constant or other memory that compilers use for such accesses. The
 * address is that of the page fault, so only the instruction's length is decoded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/ratelimit.h>
#include <linux/uaccess.h>

#include "sim.h"

#define SIM_CODE_MAX	15	/* the longest instruction */

/**
 * struct sim_code - the bytes of an instruction
 * @byte: the bytes
 * @count: number of @byte that could be read
 * @next: number of the next byte to decode
 */
struct sim_code {
	u8 byte[SIM_CODE_MAX];
	unsigned int count, next;
};

/* The other side of a move, besides the simulated memory */
enum sim_other {
	SIM_REGISTER,		/* the register @reg */
	SIM_CONSTANT,		/* the constant @constant */
	SIM_MEMORY,		/* memory, at %rsi or %rdi */
};

/**
 * struct sim_insn - a decoded instruction
 * @other: other side of the move, enum sim_other
 * @write: the simulated memory is the destination; unknown for SIM_MEMORY
 * @string: movs or stos, which advances %rsi and %rdi
 * @repeat: the instruction repeats %rcx times
 * @sign: the value is extended by its sign
 * @rex: the instruction has a REX prefix
 * @size: bytes of memory
 * @wide: bytes of the register
 * @reg: number of the register
 * @constant: the constant
 */
struct sim_insn {
	u8 other;
	bool write, string, repeat, sign, rex;
	u8 size, wide, reg;
	u64 constant;
};

/* Prefixes of an instruction */
struct sim_prefixes {
	bool narrow;		/* 66: 16 bits */
	bool address;		/* 67: addresses of 32 bits */
	bool repeat;		/* f2, f3 */
	u8 rex;			/* 0: none */
};

#define REX_W	BIT(3)
#define REX_R	BIT(2)

static bool sim_take(struct sim_code *c, u8 *byte)
{
	if (c->next >= c->count)
		return false;
	*byte = c->byte[c->next++];
	return true;
}

/* Take a constant of @bytes bytes, extended by its sign. */
static bool sim_take_constant(struct sim_code *c, unsigned int bytes, u64 *value)
{
	unsigned int i;
	u8 byte = 0;

	*value = 0;
	for (i = 0; i < bytes; i++) {
		if (!sim_take(c, &byte))
			return false;
		*value |= (u64)byte << (8 * i);
	}
	*value = sign_extend64(*value, 8 * bytes - 1);
	return true;
}

/* Take the prefixes, and return the first byte of the operation in @op. */
static bool sim_take_prefixes(struct sim_code *c, struct sim_prefixes *p, u8 *op)
{
	while (sim_take(c, op)) {
		switch (*op) {
		case 0x66:
			p->narrow = true;
			break;
		case 0x67:
			p->address = true;
			break;
		case 0xf2:
		case 0xf3:
			p->repeat = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
			/* a segment is part of the address */
			break;
		case 0x40 ... 0x4f:
			p->rex = *op;
			return sim_take(c, op);
		default:
			return true;
		}
	}
	return false;
}

/* Take the bytes of the address in memory. Return the number of the register in @reg. */
static bool sim_take_address(struct sim_code *c, const struct sim_prefixes *p, u8 *reg)
{
	unsigned int bytes;
	u8 modrm, sib = 0;
	u64 offset;

	if (!sim_take(c, &modrm) || modrm >> 6 == 3)
		return false;
	*reg = (modrm >> 3 & 7) | (p->rex & REX_R ? 8 : 0);
	if ((modrm & 7) == 4 && !sim_take(c, &sib))
		return false;
	switch (modrm >> 6) {
	case 0:
		bytes = (modrm & 7) == 5 || ((modrm & 7) == 4 && (sib & 7) == 5) ? 4 : 0;
		break;
	case 1:
		bytes = 1;
		break;
	default:
		bytes = 4;
		break;
	}
	return !bytes || sim_take_constant(c, bytes, &offset);
}

/* Decode a two-byte operation, after its first byte 0f. */
static bool sim_decode_0f(struct sim_code *c, const struct sim_prefixes *p, struct sim_insn *insn)
{
	u8 op;

	if (!sim_take(c, &op) || p->repeat)
		return false;
	switch (op) {
	case 0xb6:		/* movzx from 8 bits */
	case 0xb7:		/* movzx from 16 bits */
	case 0xbe:		/* movsx from 8 bits */
	case 0xbf:		/* movsx from 16 bits */
		insn->size = op & 1 ? 2 : 1;
		insn->sign = op & 8;
		break;
	case 0xc3:		/* movnti */
		insn->write = true;
		break;
	default:
		return false;
	}
	return sim_take_address(c, p, &insn->reg);
}

/* Decode an instruction. Return false if it is not a known move. */
static bool sim_decode(struct sim_code *c, struct sim_insn *insn)
{
	struct sim_prefixes p = {};
	u8 op;

	if (!sim_take_prefixes(c, &p, &op))
		return false;
	insn->rex = p.rex;
	insn->wide = p.rex & REX_W ? 8 : p.narrow ? 2 : 4;
	insn->size = insn->wide;
	if (op == 0x0f)
		return sim_decode_0f(c, &p, insn);

	/* the even ones are those of 8 bits */
	if (op != 0x63 && !(op & 1))
		insn->size = insn->wide = 1;
	switch (op) {
	case 0x88:		/* mov to memory */
	case 0x89:
		insn->write = true;
		fallthrough;
	case 0x8a:		/* mov from memory */
	case 0x8b:
		return !p.repeat && sim_take_address(c, &p, &insn->reg);
	case 0x63:		/* movsxd */
		insn->size = min_t(u8, insn->wide, 4);
		insn->sign = true;
		return !p.repeat && sim_take_address(c, &p, &insn->reg);
	case 0xc6:		/* mov of a constant */
	case 0xc7:
		insn->other = SIM_CONSTANT;
		insn->write = true;
		return !p.repeat && sim_take_address(c, &p, &insn->reg) &&
		       !(insn->reg & 7) &&
		       sim_take_constant(c, min_t(u8, insn->size, 4), &insn->constant);
	case 0xa4:		/* movs */
	case 0xa5:
		insn->other = SIM_MEMORY;
		fallthrough;
	case 0xaa:		/* stos, from %rax */
	case 0xab:
		insn->write = true;
		insn->string = true;
		insn->repeat = p.repeat;
		return !p.address;
	default:
		return false;
	}
}

/* Return where the saved value of a register is, by its number in an instruction. */
static unsigned long *sim_register(struct pt_regs *regs, unsigned int number)
{
	unsigned long *const registers[] = {
		&regs->ax, &regs->cx, &regs->dx, &regs->bx,
		&regs->sp, &regs->bp, &regs->si, &regs->di,
		&regs->r8, &regs->r9, &regs->r10, &regs->r11,
		&regs->r12, &regs->r13, &regs->r14, &regs->r15,
	};

	return registers[number];
}

/*
 * Return whether the register is %ah, %ch, %dh or %bh, the second byte of the register @number.
 * With a REX prefix their numbers are those of other registers.
 */
static bool sim_is_high(const struct sim_insn *insn, unsigned int *number)
{
	*number = insn->reg;
	if (insn->wide > 1 || insn->rex || insn->reg < 4)
		return false;
	*number -= 4;
	return true;
}

static u64 sim_read_register(struct pt_regs *regs, const struct sim_insn *insn)
{
	unsigned int number;
	bool high = sim_is_high(insn, &number);

	return *sim_register(regs, number) >> (high ? 8 : 0);
}

static void sim_write_register(struct pt_regs *regs, const struct sim_insn *insn, u64 value)
{
	unsigned int number, shift = sim_is_high(insn, &number) ? 8 : 0;
	unsigned long *reg = sim_register(regs, number);
	u64 mask;

	if (insn->sign)
		value = sign_extend64(value, 8 * insn->size - 1);
	switch (insn->wide) {
	case 8:
		*reg = value;
		break;
	case 4:
		/* the upper half becomes 0 */
		*reg = (u32)value;
		break;
	default:
		mask = (insn->wide == 2 ? 0xffff : 0xff) << shift;
		*reg = (*reg & ~mask) | (value << shift & mask);
		break;
	}
}

/* Store @size bytes of @value in the kernel's memory. */
static bool sim_store_kernel(unsigned long addr, unsigned int size, u64 value)
{
	u32 half = value;
	u16 word = value;
	u8 byte = value;

	switch (size) {
	case 1:
		__put_kernel_nofault((void *)addr, &byte, u8, failed);
		break;
	case 2:
		__put_kernel_nofault((void *)addr, &word, u16, failed);
		break;
	case 4:
		__put_kernel_nofault((void *)addr, &half, u32, failed);
		break;
	default:
		__put_kernel_nofault((void *)addr, &value, u64, failed);
		break;
	}
	return true;
failed:
	return false;
}

/* Read or write other memory of a movs. Return false if that is not possible at present. */
static bool sim_other_memory(struct pt_regs *regs, bool write, unsigned long addr,
			     unsigned int size, u64 *value)
{
	unsigned long left;

	if (!user_mode(regs))
		return write ? sim_store_kernel(addr, size, *value) :
			       !copy_from_kernel_nofault(value, (void *)addr, size);
	if (!write)
		return !copy_from_user_nofault(value, (void __user *)addr, size);
	if (!access_ok((void __user *)addr, size))
		return false;
	pagefault_disable();
	left = __copy_to_user_inatomic((void __user *)addr, value, size);
	pagefault_enable();
	return !left;
}

/* Move a value between the simulated memory and other memory. */
static int sim_move_memory(struct pt_regs *regs, const struct sim_insn *insn,
			   unsigned long addr, u64 at)
{
	u64 value = 0;

	if (addr == regs->si) {
		sim_memory_access(false, at, insn->size, &value);
		if (!sim_other_memory(regs, true, regs->di, insn->size, &value))
			return -EFAULT;
		return 0;
	}
	if (addr != regs->di || !sim_other_memory(regs, false, regs->si, insn->size, &value))
		return -EFAULT;
	sim_memory_access(true, at, insn->size, &value);
	return 0;
}

static void sim_move_value(struct pt_regs *regs, const struct sim_insn *insn, u64 at)
{
	u64 value;

	if (!insn->write) {
		sim_memory_access(false, at, insn->size, &value);
		sim_write_register(regs, insn, value);
		return;
	}
	value = insn->other == SIM_CONSTANT ? insn->constant : sim_read_register(regs, insn);
	if (insn->size < 8)
		value &= (1ULL << (8 * insn->size)) - 1;
	sim_memory_access(true, at, insn->size, &value);
}

/*
 * Advance the registers of a movs or stos. Return whether the instruction repeats: then it runs
 * again, and the next page fault emulates its next move.
 */
static bool sim_advance_string(struct pt_regs *regs, const struct sim_insn *insn)
{
	long step = regs->flags & X86_EFLAGS_DF ? -insn->size : insn->size;

	if (insn->other == SIM_MEMORY)
		regs->si += step;
	regs->di += step;
	return insn->repeat && --regs->cx;
}

static bool sim_read_code(struct pt_regs *regs, struct sim_code *c, unsigned int count)
{
	c->count = count;
	if (user_mode(regs))
		return !copy_from_user_nofault(c->byte, (void __user *)regs->ip, count);
	return !copy_from_kernel_nofault(c->byte, (void *)regs->ip, count);
}

/* Read the instruction. It may be the last of its page, without a page behind. */
static bool sim_fetch(struct pt_regs *regs, struct sim_code *c)
{
	unsigned long in_page = PAGE_SIZE - offset_in_page(regs->ip);

	return sim_read_code(regs, c, SIM_CODE_MAX) ||
	       (in_page < SIM_CODE_MAX && sim_read_code(regs, c, in_page));
}

/**
 * sim_move() - emulate an instruction that accesses the simulated memory
 * @regs: registers of the instruction, which then are those after the instruction
 * @addr: virtual address of the access
 * @at: its physical address
 *
 * Context: page fault in any context, NMIs included, or of a program.
 * Return: 0; -EAGAIN if the instruction cannot be read at present; -EINVAL if it is not known
 * (the log has its bytes); or -EFAULT if its other memory cannot be accessed.
 */
int sim_move(struct pt_regs *regs, unsigned long addr, u64 at)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 3);
	struct sim_insn insn = {};
	struct sim_code code = {};
	int ret;

	if (!sim_fetch(regs, &code))
		return -EAGAIN;
	if (!sim_decode(&code, &insn)) {
		if (__ratelimit(&limit))
			pr_err("unknown access to memory at 0x%llx by the instruction %*ph at 0x%lx\n",
			       at, (int)code.count, code.byte, regs->ip);
		return -EINVAL;
	}
	if (insn.other == SIM_MEMORY) {
		ret = sim_move_memory(regs, &insn, addr, at);
		if (ret)
			return ret;
	} else {
		sim_move_value(regs, &insn, at);
	}
	if (!insn.string || !sim_advance_string(regs, &insn))
		regs->ip += code.next;
	return 0;
}

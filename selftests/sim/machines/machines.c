// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the machines of the simulated hardware as a table, from the simulator's own tables,
 * which are typed from the manuals. The tests take box types, registers and PCI functions
 * from this table, so that they neither repeat them nor take them from the event catalogue.
 *
 * A row is GENERATION KIND FIELDS, separated by tabs, with these kinds and fields:
 *
 *   processor	family, model, steppings of the model as a mask
 *   type	name, most boxes of a package, "msr", "pci" or "memory", boxes in a function,
 *		general counters, 1 if it interrupts, distance of each box's MSRs from the
 *		first box's; in memory offset of each box in the package's window
 *   function	box type, number of the box, what it has, device ID, slot.function
 *   register	box type, what its function has, number of the box in its function, name,
 *		address (in memory the offset from the box's address), and distances as the
 *		type's where they are the register's own
 *
 * What a function has is "box" (the box's counters), "filter" (its filter registers alone)
 * or "beside".
 */
#include <stdio.h>

#include "model/priv.h"

static const struct model_generation *gen;

/* Print the distance of each box's registers from the first box's. */
static void print_places(unsigned int boxes, const u16 *bases, unsigned int stride)
{
	for (unsigned int i = 0; i < boxes; i++)
		printf("%s%d", i ? "," : "",
		       bases ? bases[i] - bases[0] : (int)(stride * i));
}

/* @first: MSR of the first box to which the register's address is relative, or 0 */
static void print_register(const char *type, const char *has, const struct model_reg *reg,
			   unsigned int boxes, unsigned int first)
{
	if (!reg->name || reg->type == REG_ABSENT)
		return;
	printf("%s\tregister\t%s\t%s\t%u\t%s\t%#x\t", gen->name, type, has, reg->box,
	       reg->name, reg->bases ? reg->bases[0] : reg->at + first);
	if (reg->bases || reg->stride)
		print_places(boxes, reg->bases, reg->stride);
	printf("\n");
}

static const char *space(const struct model_type *type)
{
	if (type->memory)
		return "memory";
	return type->pci ? "pci" : "msr";
}

static void print_type(const struct model_type *type)
{
	unsigned int first = type->bases ? type->bases[0] : type->stride ? type->base : 0;

	printf("%s\ttype\t%s\t%u\t%s\t%u\t%u\t%d\t", gen->name, type->name,
	       type->boxes.most, space(type), type->in_function ? type->in_function : 1,
	       type->counters, gen->core_sel && type->ov);
	if (type->memory)
		for (unsigned int i = 0; i < type->boxes.most; i++)
			printf("%s%u", i ? "," : "", type->memory[i]);
	else
		print_places(type->boxes.most, type->bases, type->stride);
	printf("\n");
	for (unsigned int i = 0; i < type->nregs; i++)
		print_register(type->name, "box", &type->regs[i], type->boxes.most, first);
}

static const char *what_it_has(const struct model_function *f)
{
	if (f->pmon)
		return "box";
	return f->nregs && f->regs[0].type == REG_FILTER ? "filter" : "beside";
}

static void print_function(const struct model_function *f)
{
	const char *has = what_it_has(f);

	printf("%s\tfunction\t%s\t%u\t%s\t%#x\t%u.%u\n", gen->name, f->type, f->box, has,
	       f->id, f->devfn >> 3, f->devfn & 7);
	/* the functions of the type's other boxes have the same registers */
	for (unsigned int i = 0; !f->box && f->regs && i < f->nregs; i++)
		print_register(f->type, has, &f->regs[i], 1, 0);
}

int main(void)
{
	for (unsigned int g = 0; model_generations[g]; g++) {
		gen = model_generations[g];
		printf("%s\tprocessor\t%u\t%u\t%#x\n", gen->name, gen->cpu_family,
		       gen->cpu_model, gen->steppings ?: 0xffff);
		for (unsigned int i = 0; i < gen->ntypes; i++)
			print_type(&gen->types[i]);
		for (unsigned int i = 0; i < gen->nfunctions; i++)
			print_function(&gen->functions[i]);
	}
	return 0;
}

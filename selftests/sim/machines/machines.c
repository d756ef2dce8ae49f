// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the machines of the simulated hardware as a table, from the simulator's own tables,
 * which are typed from the manuals. The tests take box types, registers and PCI functions
 * from this table, so that they neither repeat them nor take them from the event catalogue.
 *
 * A row is GENERATION KIND FIELDS, separated by tabs, with these kinds and fields:
 *
 *   processor	family, model, steppings of the model as a mask
 *   type	name, most boxes of a package, "msr", "pci" or "memory", boxes in a function, general
 *		counters, 1 if it interrupts, distance of the MSRs of two boxes
 *   function	box type, number of the box, what it has, device ID, slot.function
 *   register	box type, what its function has, number of the box in its function, name,
 *		address
 *
 * What a function has is "box" (the box's counters), "filter" (its filter registers alone)
 * or "beside".
 */
#include <stdio.h>

#include "model/priv.h"

static const struct model_generation *gen;

static void print_register(const char *type, const char *has, const struct model_reg *reg)
{
	if (reg->name && reg->type != REG_ABSENT)
		printf("%s\tregister\t%s\t%s\t%u\t%s\t%#x\n", gen->name, type, has,
		       reg->box, reg->name, reg->at);
}

static const char *space(const struct model_type *type)
{
	if (type->memory)
		return "memory";
	return type->pci ? "pci" : "msr";
}

static void print_type(const struct model_type *type)
{
	printf("%s\ttype\t%s\t%u\t%s\t%u\t%u\t%d\t%#x\n", gen->name, type->name,
	       type->boxes.most, space(type),
	       type->in_function ? type->in_function : 1, type->counters,
	       gen->core_sel && type->ov, type->stride);
	for (unsigned int i = 0; i < type->nregs; i++) {
		struct model_reg reg = type->regs[i];

		reg.at += type->stride ? type->base : 0;
		print_register(type->name, "box", &reg);
	}
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
		print_register(f->type, has, &f->regs[i]);
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

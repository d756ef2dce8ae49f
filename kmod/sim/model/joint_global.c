// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSR_EMON_L3_GL_CTL of Xeon 7100 and 7400, which freezes, clears and reports all
 * joint counters. Sections are those of the SDM, volume 3B.
 */
#include "model/priv.h"

/* MSR_EMON_L3_GL_CTL, §18.24.5; the other bits are reserved */
#define GL_FREEZE		0x1u
#define GL_UNFREEZE		0x2u
#define GL_CLEAR		0x4u
#define GL_SELECT_SHIFT		16	/* counters whose counts GL_CLEAR clears */
#define GL_SELECT		0x00ff0000u
#define GL_OVERFLOW_SHIFT	48	/* counters that overflowed */

/* The control bits read as 0: the manual does not say that written values are kept. */
u64 model_joint_global_read(const struct model *m, unsigned int pkg)
{
	u64 status = 0;
	unsigned int i;

	/* The manual does not say how overflow bits are cleared, so they stay set. */
	for (i = 0; i < m->boxes; i++)
		if (m->box[pkg][i].type->quirks & QUIRK_JOINT)
			status |= m->box[pkg][i].status;
	return status << GL_OVERFLOW_SHIFT;
}

static void clear_counts(struct model *m, struct model_box *b, u32 select)
{
	unsigned int ctr;

	model_box_sync(m, b);
	for (ctr = 0; ctr < b->type->counters; ctr++)
		if (select & MODEL_BIT(ctr + b->type->status_shift))
			b->ctr[ctr] = 0;
}

void model_joint_global_write(struct model *m, unsigned int pkg, u64 value)
{
	u32 select = (value & GL_SELECT) >> GL_SELECT_SHIFT;
	unsigned int i;

	if (value & GL_FREEZE)
		model_set_frozen(m, pkg, true);
	for (i = 0; (value & GL_CLEAR) && i < m->boxes; i++)
		clear_counts(m, &m->box[pkg][i], select);
	if ((value & GL_UNFREEZE) && !(value & GL_FREEZE))
		model_set_frozen(m, pkg, false);
}

/*
 * Return whether a write is undefined: it freezes and unfreezes at once, or writes a
 * reserved bit.
 */
bool model_joint_global_undefined(u64 value)
{
	return (value & ~(u64)(GL_FREEZE | GL_UNFREEZE | GL_CLEAR | GL_SELECT)) ||
	       ((value & GL_FREEZE) && (value & GL_UNFREEZE));
}

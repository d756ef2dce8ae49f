/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All boxes of a machine: which there are, whether each counts exactly what
 * happens in it, and whether it samples exactly. With the manual clock.
 */
#ifndef SELFTESTS_BOXES_H
#define SELFTESTS_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "perf.h"

/* Boxes of a package that has all, in the order of box_kinds; 43 together. */
enum { PACKAGE_BOXES = 43 };
extern const unsigned int package_boxes[BOX_KINDS];

/* How many PMUs there are, and how many with a CPU of package @pkg. */
unsigned int pmus_there(void);
unsigned int boxes_there(int pkg);

/*
 * How many boxes of package @pkg count @cycles cycles when these pass, and of
 * transactions, another number to each box, those that are theirs. The others
 * are told of in comments.
 */
unsigned int boxes_that_count(int pkg, uint64_t cycles);

/*
 * @overflows of a kind's first box, one by one, give as many samples, in the
 * end. What comes while the timer sets a counter again, because nothing has
 * signalled, is not counted: so the next only comes when the last was served.
 */
bool samples_exactly(const char *kind, int pkg, unsigned int overflows);

#endif

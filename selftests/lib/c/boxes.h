/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of all boxes of a machine on the manual clock: their number, and whether each
 * box counts its cycles and transactions exactly and takes the right number of samples.
 */
#ifndef SELFTESTS_BOXES_H
#define SELFTESTS_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "perf.h"

/* Whether box @index of a type has a PMU */
bool box_exists(const char *type, unsigned int index);
/* Number of PMUs with counters to program, which these functions know alone */
unsigned int pmus_there(void);
/* Number of PMUs whose cpumask has a CPU of package @pkg, so of boxes in the package */
unsigned int boxes_there(int pkg);

/*
 * Let @cycles cycles pass, and send a different number of transactions to each box of
 * package @pkg. Return the number of boxes whose counts of cycles and transactions are
 * exact. Print a comment for each wrong count.
 */
unsigned int boxes_that_count(int pkg, uint64_t cycles);

/*
 * Let a counter of the first box of @type overflow @overflows times. Return whether each
 * overflow gave a sample. A polled counter loses counts while the timer rearms the
 * counter, so wait for the sample of each overflow before the next overflow.
 */
bool samples_exactly(const char *type, int pkg, unsigned int overflows);

#endif

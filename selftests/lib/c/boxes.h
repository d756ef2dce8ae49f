/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All boxes of a machine: their number, whether each counts exactly its cycles and
 * transactions, and whether it samples exactly. With the manual clock.
 */
#ifndef SELFTESTS_BOXES_H
#define SELFTESTS_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "perf.h"

/* Boxes of a package that has all box types, in the order of box_types; 43 together */
enum { PACKAGE_BOXES = 43 };
extern const unsigned int package_boxes[BOX_TYPES];

/* Number of PMUs, and number of PMUs with a CPU of package @pkg */
unsigned int pmus_there(void);
unsigned int boxes_there(int pkg);

/*
 * Let @cycles cycles pass, and send another number of transactions to each box of
 * package @pkg. Return the number of boxes with exact counts; comments name the others.
 */
unsigned int boxes_that_count(int pkg, uint64_t cycles);

/*
 * Let the first box of a type overflow @overflows times. Return whether each overflow
 * gives a sample. Counts during the timer's rearming of a polled counter are lost, so
 * the next overflow follows after the last one was handled.
 */
bool samples_exactly(const char *type, int pkg, unsigned int overflows);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comments on standard output, comparisons with comments, and the end of a program or
 * test before its time. The results are those of harness.h.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define TAP_PRINTF(f) __attribute__((format(printf, f, f + 1)))

/* A comment line. */
void tap_diag(const char *text, ...) TAP_PRINTF(1);

/*
 * Comparisons for loops and functions of tests: print a comment if the comparison
 * fails, up to 20 comments a test. Return whether it held.
 */
bool check(bool ok, const char *what, ...) TAP_PRINTF(2);
bool check_eq(uint64_t got, uint64_t want, const char *what, ...) TAP_PRINTF(3);

/* End the program, or harness.h's test: nothing can be tested here. Exit 4; 1 there. */
noreturn void tap_skip_all(const char *why, ...) TAP_PRINTF(1);
/* The same: the tests cannot continue. Exit 1. */
noreturn void tap_bail(const char *why, ...) TAP_PRINTF(1);
/* From here on the kernel's harness prints results; all other output is a comment. */
void tap_use_harness(void);

#endif

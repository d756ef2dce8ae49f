/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TAP comments on standard output, comparisons that print comments, and functions that
 * skip or end a program or a test. harness.h prints the results of tests.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define TAP_PRINTF(f) __attribute__((format(printf, f, f + 1)))

/* Print a comment line. */
void tap_diag(const char *text, ...) TAP_PRINTF(1);

/*
 * Compare values in loops and functions of tests: print a comment if the comparison
 * fails, up to 20 comments a test. Return whether the comparison succeeded.
 */
bool check(bool ok, const char *what, ...) TAP_PRINTF(2);
bool check_eq(uint64_t got, uint64_t want, const char *what, ...) TAP_PRINTF(3);

/*
 * End the program with exit status 4, because the machine lacks something that the test
 * needs. A test of harness.h is a process of its own, and ends with exit status 1.
 */
noreturn void tap_skip_all(const char *why, ...) TAP_PRINTF(1);
/* End the program, or the test of harness.h, with status 1: tests cannot continue. */
noreturn void tap_bail(const char *why, ...) TAP_PRINTF(1);
/* Leave the TAP header and the results to the kernel's harness; print comments only. */
void tap_use_harness(void);

#endif

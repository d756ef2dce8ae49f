/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results by the kernel's kselftest.h, for programs that know their number at the end:
 * one line a result on standard output, diagnostics as comments, exit 0, 1 or 4 (skip).
 * And comparisons and comments for all programs, also those of harness.h.
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define TAP_PRINTF(f) __attribute__((format(printf, f, f + 1)))

/* One result line. Returns @ok. */
bool tap_ok(bool ok, const char *name, ...) TAP_PRINTF(2);
/* One result line: are two numbers equal? Prints both if not. */
bool tap_eq(uint64_t got, uint64_t want, const char *name, ...) TAP_PRINTF(3);
/* One result line with the reason why nothing was tested. */
void tap_skip(const char *why, const char *name, ...) TAP_PRINTF(2);
/* A comment line. */
void tap_diag(const char *text, ...) TAP_PRINTF(1);

/*
 * Comparisons without a result line, for many comparisons under one name: print a
 * comment if the comparison fails, up to 20 comments. Return whether it held.
 */
bool check(bool ok, const char *what, ...) TAP_PRINTF(2);
bool check_eq(uint64_t got, uint64_t want, const char *what, ...) TAP_PRINTF(3);

/* End the program, or harness.h's test: nothing can be tested here. Exit 4; 1 there. */
noreturn void tap_skip_all(const char *why, ...) TAP_PRINTF(1);
/* The same: the tests cannot continue. Exit 1. */
noreturn void tap_bail(const char *why, ...) TAP_PRINTF(1);
/* Print the plan. Return the value to return from main(). */
int tap_end(void);

/* From here on the kernel's harness prints results; all other output is a comment. */
void tap_use_harness(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results in the Test Anything Protocol, as kselftest prints them: one line a
 * result on standard output, diagnostics as comments, exit 0, 1 or 4 (skip).
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
/* One result line that says why nothing was tested. */
void tap_skip(const char *why, const char *name, ...) TAP_PRINTF(2);
/* A comment line. */
void tap_diag(const char *text, ...) TAP_PRINTF(1);

/*
 * No result line of their own, for many comparisons under one name: a comment
 * when the comparison fails. After 20 comments they go on silently. Return
 * whether it held.
 */
bool check(bool ok, const char *what, ...) TAP_PRINTF(2);
bool check_eq(uint64_t got, uint64_t want, const char *what, ...) TAP_PRINTF(3);

/* Ends the program: nothing here can be tested. Exit 4. */
noreturn void tap_skip_all(const char *why, ...) TAP_PRINTF(1);
/* Ends the program: the tests cannot go on. Exit 1. */
noreturn void tap_bail(const char *why, ...) TAP_PRINTF(1);
/* Prints the plan; the value to return from main(). */
int tap_end(void);

#endif

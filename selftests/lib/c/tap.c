// SPDX-License-Identifier: GPL-2.0-or-later
/* Comments, comparisons, and ends of programs, printed by kselftest.h: see tap.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest.h"
#include "tap.h"

enum { MAX_CHECK_COMMENTS = 20, TEXT_MAX = 1024 };

static unsigned int comments;	/* of failed comparisons in this process */
static pid_t harness;		/* parent process of the tests of harness.h, or 0 */

static void start(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!harness)
		ksft_print_header();
}

void tap_use_harness(void)
{
	harness = getpid();
	start();
}

/*
 * Return whether this process is a test of harness.h. A test cannot end the other tests;
 * the parent process can, and prints the TAP header before.
 */
static bool in_one_of_many(void)
{
	if (harness && getpid() != harness)
		return true;
	if (harness)
		ksft_print_header();
	return false;
}

static void comment(const char *text, va_list args)
{
	char line[TEXT_MAX];

	start();
	vsnprintf(line, sizeof(line), text, args);
	ksft_print_msg("%s\n", line);
}

void tap_diag(const char *text, ...)
{
	va_list args;

	va_start(args, text);
	comment(text, args);
	va_end(args);
}

/* Count a comment. Return whether this process may still print it. */
static bool may_comment(void)
{
	if (++comments == MAX_CHECK_COMMENTS + 1)
		tap_diag("... and more");
	return comments <= MAX_CHECK_COMMENTS;
}

bool check(bool ok, const char *what, ...)
{
	va_list args;

	if (ok || !may_comment())
		return ok;
	va_start(args, what);
	comment(what, args);
	va_end(args);
	return false;
}

bool check_eq(uint64_t got, uint64_t want, const char *what, ...)
{
	va_list args;

	if (got == want || !may_comment())
		return got == want;
	va_start(args, what);
	comment(what, args);
	va_end(args);
	tap_diag("    got %" PRIu64 " (%#" PRIx64 "), want %" PRIu64
		 " (%#" PRIx64 ")", got, got, want, want);
	return false;
}

noreturn void tap_skip_all(const char *why, ...)
{
	char text[TEXT_MAX];
	va_list args;

	start();
	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	if (!in_one_of_many())
		ksft_exit_skip("%s\n", text);
	ksft_print_msg("cannot be tested: %s\n", text);
	exit(KSFT_FAIL);
}

noreturn void tap_bail(const char *why, ...)
{
	char text[TEXT_MAX];
	va_list args;

	start();
	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	if (!in_one_of_many())
		ksft_exit_fail_msg("%s\n", text);
	ksft_print_msg("%s\n", text);
	exit(KSFT_FAIL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Results by kselftest.h. The plan comes last, so that a test need not know the
 * machine's number of boxes in advance.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest.h"
#include "tap.h"

enum { MAX_CHECK_COMMENTS = 20, TEXT_MAX = 1024 };

static unsigned int comments;
static pid_t harness;	/* the parent process of the tests */

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

/* A test cannot end the other tests; the parent process can. */
static bool in_one_of_many(void)
{
	if (harness && getpid() != harness)
		return true;
	if (harness)
		ksft_print_header();
	return false;
}

static void result(bool ok, const char *name, va_list args)
{
	char text[TEXT_MAX];

	start();
	vsnprintf(text, sizeof(text), name, args);
	ksft_test_result(ok, "%s\n", text);
	comments = 0;
}

bool tap_ok(bool ok, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(ok, name, args);
	va_end(args);
	return ok;
}

bool tap_eq(uint64_t got, uint64_t want, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(got == want, name, args);
	va_end(args);
	if (got != want)
		tap_diag("got %" PRIu64 " (%#" PRIx64 "), want %" PRIu64
			 " (%#" PRIx64 ")", got, got, want, want);
	return got == want;
}

/* ksft_test_result_skip() would not print skipped results. */
void tap_skip(const char *why, const char *name, ...)
{
	va_list args;

	start();
	ksft_inc_xskip_cnt();
	printf("ok %u ", ksft_test_num());
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	printf(" # SKIP %s\n", why);
	comments = 0;
}

static void comment(const char *text, va_list args)
{
	char all[TEXT_MAX];

	start();
	vsnprintf(all, sizeof(all), text, args);
	ksft_print_msg("%s\n", all);
}

void tap_diag(const char *text, ...)
{
	va_list args;

	va_start(args, text);
	comment(text, args);
	va_end(args);
}

/* Return whether another comment under this result is printed. */
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

int tap_end(void)
{
	start();
	ksft_set_plan(ksft_test_num());
	ksft_print_cnts();
	return ksft_get_fail_cnt() ? KSFT_FAIL : KSFT_PASS;
}

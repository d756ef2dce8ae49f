// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Results in the Test Anything Protocol. The plan comes last, so that a test
 * need not know beforehand how many boxes the machine has.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

enum { EXIT_SKIP = 4, MAX_CHECK_COMMENTS = 20 };

static unsigned int results, failures, comments;

static void start(void)
{
	static bool started;

	if (!started)
		puts("TAP version 13");
	started = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void result(bool ok, const char *name, va_list args, const char *tail)
{
	start();
	printf("%s %u - ", ok ? "ok" : "not ok", ++results);
	vprintf(name, args);
	printf("%s%s\n", tail ? " # SKIP " : "", tail ? tail : "");
	failures += !ok;
	comments = 0;
}

bool tap_ok(bool ok, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(ok, name, args, NULL);
	va_end(args);
	return ok;
}

bool tap_eq(uint64_t got, uint64_t want, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(got == want, name, args, NULL);
	va_end(args);
	if (got != want)
		tap_diag("got %" PRIu64 " (%#" PRIx64 "), want %" PRIu64
			 " (%#" PRIx64 ")", got, got, want, want);
	return got == want;
}

void tap_skip(const char *why, const char *name, ...)
{
	va_list args;

	va_start(args, name);
	result(true, name, args, why);
	va_end(args);
}

static void comment(const char *text, va_list args)
{
	start();
	fputs("# ", stdout);
	vprintf(text, args);
	putchar('\n');
}

void tap_diag(const char *text, ...)
{
	va_list args;

	va_start(args, text);
	comment(text, args);
	va_end(args);
}

/* Is there room for one more comment under this result? */
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
	va_list args;

	va_start(args, why);
	start();
	fputs("1..0 # SKIP ", stdout);
	vprintf(why, args);
	putchar('\n');
	va_end(args);
	exit(EXIT_SKIP);
}

noreturn void tap_bail(const char *why, ...)
{
	va_list args;

	va_start(args, why);
	start();
	fputs("Bail out! ", stdout);
	vprintf(why, args);
	putchar('\n');
	va_end(args);
	exit(EXIT_FAILURE);
}

int tap_end(void)
{
	start();
	printf("1..%u\n", results);
	if (failures)
		tap_diag("%u of %u failed", failures, results);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

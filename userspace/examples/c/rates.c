// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints metrics of each socket once a second, in C:
//
//	rates mem_bw_total_rate,qpi 5
#define _POSIX_C_SOURCE 200809L	// nanosleep() under -std=c11

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <uncore/uncore.h>

static void print(struct uncore_session *counts)
{
	size_t n = uncore_session_evaluate(counts, UNCORE_PACKAGE,
					   UNCORE_INTERVAL);
	const char *line;

	while ((line = uncore_session_news(counts)))
		fprintf(stderr, "rates: %s\n", line);
	for (size_t i = 0; i < n; i++) {
		struct uncore_value v = { .size = sizeof(v) };

		if (!uncore_session_value(counts, i, &v))
			printf("socket %d: %s %.3f %s\n", v.package, v.name,
			       v.value, v.unit);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct timespec second = { .tv_sec = 1 };
	int status, seconds = argc > 2 ? atoi(argv[2]) : 5;
	struct uncore_session *counts = uncore_session_new(NULL);

	if (!counts)
		return 1;
	status = uncore_session_add_metrics(counts, argc > 1 ? argv[1] :
					    "mem_bw_total_rate");
	if (!status)
		status = uncore_session_open(counts, UNCORE_VISIT_PACKAGES);
	if (!status)
		status = uncore_session_enable(counts);
	while (!status && seconds--) {
		nanosleep(&second, NULL);
		status = uncore_session_read(counts);
		if (!status)
			print(counts);
	}
	if (status)
		fprintf(stderr, "rates: %s\n", uncore_session_error(counts));
	uncore_session_free(counts);
	return status != UNCORE_OK;
}

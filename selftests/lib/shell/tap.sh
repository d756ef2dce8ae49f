# SPDX-License-Identifier: GPL-2.0-or-later
# TAP for shell tests: source this file, call the functions below, end with tap_end.
# The exit status is that of kselftest: 0 passed, 1 failed, 4 skipped.
# shellcheck shell=bash

tap_results=0 tap_failures=0
echo "TAP version 13"

# tap_diag TEXT...: print a comment line for each line of TEXT.
tap_diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# tap_ok STATUS NAME: print a result line; STATUS 0 is passed. Return STATUS.
tap_ok()
{
	local word=ok
	(($1 == 0)) || { word='not ok'; tap_failures=$((tap_failures + 1)); }
	tap_results=$((tap_results + 1))
	echo "$word $tap_results - $2"
	return "$1"
}

# tap_eq GOT WANT NAME: print a result line, and both values if they differ.
tap_eq()
{
	[[ $1 == "$2" ]]
	tap_ok $? "$3" || tap_diag "got '$1', want '$2'"
}

# tap_skip REASON NAME: print the result line of a skipped test.
tap_skip()
{
	tap_results=$((tap_results + 1))
	echo "ok $tap_results - $2 # SKIP $1"
}

# tap_skip_all REASON: end the script with status 4, because it cannot test anything.
tap_skip_all()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# tap_bail REASON: end the script with status 1, because the tests cannot continue.
tap_bail()
{
	echo "Bail out! $*"
	exit 1
}

# tap_end: print the plan, and end the script with the exit status of the results.
tap_end()
{
	echo "1..$tap_results"
	((tap_failures == 0)) || tap_diag "$tap_failures of $tap_results failed"
	exit $((tap_failures != 0))
}

# SPDX-License-Identifier: GPL-2.0-or-later
# TAP for shell tests: source this, call the functions below, end with tap_end.
# Exit status as kselftest's: 0 passed, 1 failed, 4 skipped.
# shellcheck shell=bash

tap_results=0 tap_failures=0
echo "TAP version 13"

# A comment line for each line of the arguments.
tap_diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# tap_ok STATUS NAME: a result line; STATUS is 0 for passed.
tap_ok()
{
	local word=ok
	(($1 == 0)) || { word='not ok'; tap_failures=$((tap_failures + 1)); }
	tap_results=$((tap_results + 1))
	echo "$word $tap_results - $2"
	return "$1"
}

# tap_eq GOT WANT NAME: a result line, and both values when they differ.
tap_eq()
{
	[[ $1 == "$2" ]]
	tap_ok $? "$3" || tap_diag "got '$1', want '$2'"
}

# tap_skip WHY NAME: a result line with the reason why nothing was tested.
tap_skip()
{
	tap_results=$((tap_results + 1))
	echo "ok $tap_results - $2 # SKIP $1"
}

# tap_skip_all WHY: end the script, nothing can be tested.
tap_skip_all()
{
	echo "1..0 # SKIP $*"
	exit 4
}

# tap_bail WHY: end the script, the tests cannot continue.
tap_bail()
{
	echo "Bail out! $*"
	exit 1
}

# The plan, and the exit status.
tap_end()
{
	echo "1..$tap_results"
	((tap_failures == 0)) || tap_diag "$tap_failures of $tap_results failed"
	exit $((tap_failures != 0))
}

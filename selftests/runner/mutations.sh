#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Check that all mutations of selftests/runner/mutations.list apply to the sources, and that
# selftests/runner/mutate refuses a mutation that does not: no test would run on changed code.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
# shellcheck source=selftests/lib/shell/tap.sh
. selftests/lib/shell/tap.sh
list=$(mktemp)
trap 'rm -f "$list"' EXIT

said=$(selftests/runner/mutate --dry-run)
tap_ok $? 'every mutation applies' || tap_diag "$said"

# try FIND FILE: apply a list with one mutation, which replaces FIND in FILE
try()
{
	printf '%s\n' "=== $2" '[stale] exact' "- $1" > "$list"
	said=$(selftests/runner/mutate --dry-run --list "$list" 2>&1)
}

try 'no such text' kmod/main.c
tap_eq "$?$said" "1stale does not apply any more: kmod/main.c must have 'no such text' once" \
	'a text that is not there is noticed'
try 'pr_err(' kmod/main.c
tap_eq "$?" 1 'a text that is there several times is noticed'
tap_end

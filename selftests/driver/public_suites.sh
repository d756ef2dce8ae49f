#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that public test suites make of a kernel's uncore PMUs: Intel's LKVS
# (pmu_tests.sh), the perf_event_tests (sysfs files of PMUs) and PAPI's component
# perf_event_uncore. With pmu_prefix=uncore each check has the same result as with
# intel_uncore.
here=$(dirname "$0")
# shellcheck source=selftests/lib/shell/tap.sh
. "$here/../lib/shell/tap.sh"
# shellcheck source=selftests/lib/shell/machine.sh
. "$here/../lib/shell/machine.sh"

command -v perf > /dev/null || tap_skip_all "perf is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"; unload' EXIT
devices=/sys/bus/event_source/devices

# --- LKVS -----------------------------------------------------------------------

# A CBo's clockticks in a second are a plausible number in perf's columns.
check_fixed_counter()
{
	local value
	value=$(perf stat -e uncore_cbox_0/clockticks/ -a -x, sleep 1 2>&1 > /dev/null |
		cut -d, -f1)
	[[ $value =~ ^[0-9]+$ ]] && ((value > 1000000 && value < 10000000000))
}

# Each event that perf lists for an uncore PMU opens. The check opens an event name that
# several boxes have on the first box only.
check_listed_events()
{
	local event failed=0
	perf list 2> /dev/null | grep uncore | grep PMU | awk '{ print $1 }' |
		sort -t / -k 2,2 -u > "$work/listed"
	while read -r event; do
		perf stat -a -e "$event" true > "$work/out" 2>&1 && continue
		tap_diag "$event: $(tail -1 "$work/out")"
		failed=1
	done < "$work/listed"
	[[ -s $work/listed ]] && ((!failed))
}

# The kernel's log has no message about a dropped box.
check_log()
{
	! dmesg | grep -E 'Disable the uncore|Drop the duplicate uncore unit|Invalid address is detected for uncore type'
}

# --- perf_event_tests -----------------------------------------------------------

# all_files_match GLOB REGEX: all lines of the existing files match the expression
all_files_match()
{
	local files
	mapfile -t files < <(compgen -G "$devices/uncore_*/$1")
	((${#files[@]})) || return
	# One grep for all files: each takes a tenth of a second on an emulated CPU.
	grep -HEv "$2" "${files[@]}" > "$work/odd" 2>&1
	[[ $? == 1 ]] && return
	tap_diag "$(< "$work/odd")"
	return 1
}

check_formats()
{
	all_files_match 'format/*' '^config[12]?:[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$'
}

# An event file has terms with numbers, and no "?" that the user has to replace.
check_event_files()
{
	all_files_match 'events/*[a-z]' '^[a-z_0-9]+(=0x[0-9a-f]+)?(,[a-z_0-9]+(=0x[0-9a-f]+)?)*$|^[0-9.e-]+$|^MiB$'
}

check_cpumask()
{
	all_files_match cpumask '^[0-9]+([,-][0-9]+)*$'
}

# --- PAPI's perf_event_uncore ----------------------------------------------------

# counted EVENTS OPTION...: perf counts each event on CPU 0, not multiplexed, above 0
counted()
{
	local events=$1
	shift
	perf stat -x, -C 0 -e "$events" "$@" sleep 0.2 > /dev/null 2> "$work/out" &&
		awk -F, '$1 !~ /^[0-9]+$/ || $1 == 0 || $5 != "100.00" { bad = 1 }
			END { exit bad || !NR }' "$work/out" && return
	tap_diag "$(< "$work/out")"
	return 1
}

check_multiple_events()
{
	counted uncore_imc_0/clockticks/,uncore_imc_1/clockticks/,uncore_qpi_0/event=0x14/ &&
		counted '{uncore_imc_0/clockticks/,uncore_imc_0/event=0x0/}'
}

# The same event on several boxes of a type.
check_several_cboxes()
{
	local box events=''
	for box in "$devices"/uncore_cbox_?; do
		events+=${events:+,}$(basename "$box")/event=0x0/
	done
	counted "$events"
}

# An uncore event cannot be opened for a process.
check_attached_event()
{
	! perf stat -x, -e uncore_imc_0/clockticks/ -p $$ sleep 0.1 2>&1 | grep -q '^[0-9]'
}

# Uncore counters do not know user mode: an event that excludes the kernel is refused.
check_user_mode_only()
{
	! perf stat -x, -a -e uncore_imc_0/clockticks/u true 2>&1 | grep -q '^[0-9]'
}

# --- with both drivers --------------------------------------------------------------

checks=$(declare -F | sed -n 's/^declare -f check_//p')

# run_checks DRIVER: run all checks and write a line for each to $work/DRIVER
run_checks()
{
	local check
	dmesg -C
	for check in $checks; do
		if "check_$check" >&2; then
			printf '%s passes\n' "$check"
		else
			printf '%s fails\n' "$check"
		fi
	done > "$work/$1"
}

load_sim packages="$sockets"
modprobe intel_uncore || tap_skip_all "the kernel has no intel_uncore"
run_checks in_tree
rmmod intel_uncore
load_driver pmu_prefix=uncore
run_checks ours

for check in $checks; do
	result=$(grep "^$check " "$work/ours")
	expected=$(grep "^$check " "$work/in_tree")
	[[ $result == "$expected" ]]
	tap_ok $? "$check gives what it gives with intel_uncore" ||
		tap_diag "$result; with intel_uncore: $expected"
done
# intel_uncore of Linux 6.1 has no event clockticks for Haswell's CBo
! grep 'fails$' "$work/in_tree" | grep -qv '^fixed_counter '
tap_ok $? "with intel_uncore, each check passes but that of a CBo's clock" ||
	tap_diag "$(< "$work/in_tree")"
tap_end
